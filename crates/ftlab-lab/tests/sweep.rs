//! Sweeps as a library: what is made of values is what a file makes, and a table depends on its rows alone.

use ftlab_lab::Lab;
use ftlab_lab::experiment::LoadSource;
use ftlab_lab::sweep::{
    DeviceChoice, GivenDevice, PointSettings, Prepared, Spacing, Sweep, SweepAxis, SweepPlan,
    SweepRun, SweepValue, of_text,
};

fn base(settings: &[(&str, &str)]) -> PointSettings {
    let mut base = PointSettings::default();
    settings.iter().for_each(|(option, value)| base.set("base", option, value).unwrap());
    base
}

/// Two devices by three loads, with two seeds; the loads share the preparation of each device.
fn sweep() -> Sweep {
    let load = |name: &str, workload: &str, depth: Option<&str>| {
        let mut value = SweepValue::named(name);
        value.settings.load = Some(LoadSource::workload(workload).unwrap());
        depth.iter().for_each(|depth| value.settings.set("load", "queue_depth", depth).unwrap());
        value
    };
    let loads = vec![
        load("writes", "randwrite-4k", None),
        load("mixed", "mixed-70-30-zipf", Some("4")),
        load("deep", "mixed-70-30-zipf", Some("32")),
    ];
    let spare = SweepAxis::range("ftl.over_provisioning", "25%..50%", 2, Spacing::Linear).unwrap();
    let base = base(&[("device", "tiny"), ("precondition", "fill,age"), ("requests", "300")]);
    Sweep { seeds: 2, ..Sweep::new("small", base, vec![spare, SweepAxis::named("load", loads)]) }
}

const FILE: &str = "name = 'small'\nseeds = 2\n[run]\ndevice = 'tiny'\nprecondition = 'fill,age'\nrequests = 300\n\
    [[axis]]\noption = 'ftl.over_provisioning'\nvalues = '25%..50%'\nsteps = 2\n\
    [[axis]]\nname = 'load'\nvalues = [{ name = 'writes', workload = 'randwrite-4k' },\n\
    { name = 'mixed', workload = 'mixed-70-30-zipf', queue_depth = 4 },\n\
    { name = 'deep', workload = 'mixed-70-30-zipf', queue_depth = 32 }]\n";

#[test]
fn values_make_what_a_file_makes() {
    let lab = Lab::default();
    let plan = SweepPlan::new(&lab, sweep()).unwrap();
    let of_file = SweepPlan::new(&lab, of_text("small.toml", FILE).unwrap()).unwrap();
    assert_eq!(plan.runs(), 12);
    assert_eq!(plan.label(4), "ftl.over_provisioning 50%, load mixed");
    assert_eq!(plan.fingerprint().unwrap(), of_file.fingerprint().unwrap());
    assert_eq!(plan.points()[4].at, [1, 1]);
    assert_eq!(plan.points()[4].config.options.device.name, "tiny");
}

#[test]
fn a_table_depends_on_its_rows_alone() {
    let lab = Lab { threads: 2, ..Lab::default() };
    let plan = SweepPlan::new(&lab, sweep()).unwrap();
    let whole = plan.perform(&lab, None, &(), |_| ()).unwrap();
    // One by one, as several machines would perform them, and in another order.
    let mut apart: Vec<_> =
        plan.all_runs().into_iter().map(|run| plan.perform_one(&lab, run).unwrap()).collect();
    assert_eq!(whole, apart);
    apart.reverse();
    let [one, other] = [&whole, &apart].map(|rows| plan.table(rows).unwrap());
    assert_eq!(one, other);
    assert_eq!(one.parquet().unwrap(), other.parquet().unwrap());
    assert_eq!(one.csv().unwrap(), other.csv().unwrap());
    // A document that came from elsewhere gives the same row.
    let sent = whole[5].document.as_ref().expect("it is not in a folder");
    let SweepRun { point, seed } = plan.all_runs()[5];
    let row = plan.row(point, seed, &serde_json::from_str(sent).unwrap()).unwrap();
    assert_eq!(
        (row.metrics.as_slice(), &row.inputs),
        (whole[5].metrics.as_slice(), &whole[5].inputs)
    );
    // Rows that are missing, or there twice, are no table.
    let missing = plan.table(&whole[1..]).unwrap_err();
    assert!(missing.text().contains("25%, load writes with seed 1 is missing"), "{missing}");
    apart.push(apart[0].clone());
    assert!(plan.table(&apart).unwrap_err().text().contains("there twice"));
    assert!(plan.row(point, seed + 1, &serde_json::from_str(sent).unwrap()).is_err());
}

#[test]
fn a_device_prepared_once_gives_the_same_rows_on_any_number_of_threads() {
    let victims = SweepAxis::list("ftl.gc.victim", &["greedy", "fifo", "cost-benefit"]).unwrap();
    let rows = |threads| {
        let lab = Lab { threads, ..Lab::default() };
        let settings = base(&[
            ("device", "tiny"),
            ("workload", "randwrite-4k"),
            ("precondition", "fill,age"),
            ("requests", "300"),
        ]);
        let sweep = Sweep::new("victims", settings, vec![victims.clone()]);
        let sweep = Sweep { seeds: 2, prepared: Prepared::Base, ..sweep };
        let plan = SweepPlan::new(&lab, sweep).unwrap();
        plan.perform(&lab, None, &(), |_| ()).unwrap()
    };
    assert_eq!(rows(1), rows(3));
}

#[test]
fn a_configuration_in_memory_is_a_device() {
    let config = ftlab_lab::device::load("tiny", &[]).unwrap();
    let mut settings = base(&[("workload", "randread-4k"), ("requests", "50")]);
    let device =
        GivenDevice { name: "mine".to_owned(), text: config.canonical(), ..GivenDevice::default() };
    settings.device = Some(DeviceChoice::Given(device));
    let depth = SweepAxis::list("queue_depth", &["1", "2"]).unwrap();
    let lab = Lab::default();
    let plan = SweepPlan::new(&lab, Sweep::new("text", settings, vec![depth])).unwrap();
    let table = plan.table(&plan.perform(&lab, None, &(), |_| ()).unwrap()).unwrap();
    assert_eq!((table.rows(), table.means(0).len()), (2, 2));
    let refused = SweepAxis::list("queue_depth", &["many"]).map(drop).unwrap_err();
    assert!(refused.text().contains("no queue depth"), "{refused}");
}
