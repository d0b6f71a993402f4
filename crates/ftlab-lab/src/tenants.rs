//! Which tenants of a workload or jobs of fio use which submission queue.

use std::ops::Range;

use ftlab::host::Queues;
use ftlab::stats::{Report, phase_called};
use ftlab_workload::generate::{Phase, Workload};

/// A tenant, and the numbers of its streams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tenant {
    name: String,
    streams: Range<u32>,
}

/// Returns the measured phases of a workload as tenants.
pub fn of_workload(workload: &Workload) -> Vec<Tenant> {
    measured(workload).flat_map(of_group).collect()
}

/// Returns the groups of concurrent phases that contain a measured phase.
fn measured(workload: &Workload) -> impl Iterator<Item = &[Phase]> {
    let groups = workload.phases.chunk_by(|_, next| next.with_previous);
    groups.filter(|group| group.iter().any(|phase| phase.measure))
}

/// Returns a note if tenants share one queue and so have no figures of their own.
pub fn note_on_sharing(workload: &Workload, queues: &Queues) -> Option<String> {
    let tenants = measured(workload).map(of_group).find(|tenants| tenants.len() > 1)?;
    let names: Vec<&str> = tenants.iter().map(|tenant| tenant.name.as_str()).collect();
    (queues.count() == 1).then(|| {
        format!(
            "The tenants {} share one submission queue: the figures are for all of them together. With \
             host.queues = {} each has its own.",
            names.join(", "),
            tenants.len()
        )
    })
}

/// Returns the tenants of phases that play together. Phases without a stream number of their own
/// get consecutive streams.
fn of_group(group: &[Phase]) -> Vec<Tenant> {
    let mut next = 0;
    let tenant = |phase: &Phase| {
        let first = phase.first_stream.unwrap_or(next);
        next = first + phase.streams;
        Tenant { name: phase_called(&phase.name), streams: first..next }
    };
    group.iter().map(tenant).collect()
}

/// Returns the jobs of fio as tenants; each has one stream.
pub fn of_jobs(names: &[String]) -> Vec<Tenant> {
    let tenant =
        |(stream, name): (u32, &String)| Tenant { name: name.clone(), streams: stream..stream + 1 };
    (0..).zip(names).map(tenant).collect()
}

/// Adds to a report which tenants used each queue.
pub fn name_queues(report: &mut Report, tenants: &[Tenant], queues: &Queues) {
    // This many consecutive streams cover all the queues that they can use.
    let most = queues.count() as usize;
    for tenant in tenants {
        for stream in tenant.streams.clone().take(most) {
            let Some(queue) = report.host.queues.get_mut(queues.of(stream).at()) else { continue };
            if !queue.tenants.contains(&tenant.name) {
                queue.tenants.push(tenant.name.clone());
            }
        }
    }
}

/// How many characters of a long name are shown: from its start, and from its end, where names such
/// as `database-a` and `database-b` differ.
const SHOWN: (usize, usize) = (10, 10);

/// Returns short labels for queues with these tenants: the tenants' names, or the queue number;
/// both where the names would be ambiguous.
pub fn queue_labels<'a>(tenants: impl Iterator<Item = &'a [String]>) -> Vec<String> {
    let names: Vec<String> = tenants.map(|names| shortened(&names.join(" + "))).collect();
    let label = |(queue, name): (usize, &String)| {
        let is_alone = names.iter().filter(|other| *other == name).count() == 1;
        match name.as_str() {
            "" => format!("queue {queue}"),
            // A tenant's name may look like a queue's label.
            name if is_alone && !name.starts_with("queue ") => name.to_owned(),
            name => format!("queue {queue} {name}"),
        }
    };
    names.iter().enumerate().map(label).collect()
}

/// Replaces the middle of a long name by an ellipsis.
fn shortened(name: &str) -> String {
    let (start, end) = SHOWN;
    let left_out = name.chars().count().saturating_sub(start + end);
    match left_out {
        0 => name.to_owned(),
        _ => {
            let first: String = name.chars().take(start).collect();
            let last: String = name.chars().skip(start + left_out).collect();
            format!("{first}…{last}")
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use ftlab::config::{Config, Layer};
    use ftlab::device::{DeviceSetup, assemble};
    use ftlab::host::StreamMap;
    use ftlab::stats::{Circumstances, Recorder};
    use ftlab_workload::generate::Generator;
    use ftlab_workload::replay::{Next, Source};

    use super::*;
    use crate::load;

    const LOAD: &str = "name = 'x'
[[phase]]
name = 'before'
measure = false
writes = '100%'
size = '4KiB'
streams = 9
requests = 9
[[phase]]
name = 'one'
reads = '100%'
size = '4KiB'
streams = 2
requests = 20
[[phase]]
name = 'two'
with_previous = true
writes = '100%'
size = '4KiB'
first_stream = 5
requests = 20
[[phase]]
name = 'three'
with_previous = true
writes = '100%'
size = '4KiB'
streams = 3
requests = 20
";

    #[test]
    fn tenants_have_the_streams_that_the_generator_gives_them() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("x.toml");
        std::fs::write(&path, LOAD).unwrap();
        let workload = load::workload(path.to_str().unwrap()).unwrap();
        let mut source = Generator::new(&workload, 1 << 20, 1).unwrap();
        source.skip_unmeasured_lead();
        assert!(matches!(source.next_item(), Next::Phase(_)));
        let names = ["one", "two", "three"];
        let mut seen: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        for (tenant, name) in names.into_iter().enumerate() {
            while let Some(arrival) = source.next_of(tenant).unwrap() {
                seen.entry(name).or_default().push(arrival.stream);
            }
        }
        let tenants = of_workload(&workload);
        assert_eq!(tenants.iter().map(|one| &*one.name).collect::<Vec<_>>(), names);
        for tenant in &tenants {
            let streams = seen.get_mut(&*tenant.name).unwrap();
            streams.sort_unstable();
            streams.dedup();
            assert_eq!(*streams, tenant.streams.clone().collect::<Vec<_>>(), "{}", tenant.name);
        }
    }

    #[test]
    fn a_queue_has_the_names_of_all_who_use_it() {
        let tenant = |name: &str, streams| Tenant { name: name.to_owned(), streams };
        let named = |map| {
            let layers = [Layer::preset("tiny"), Layer::set(1, "host.queues=3")];
            let device = assemble(DeviceSetup::new(&Config::load(&layers).unwrap(), 1));
            let mut recorder = Recorder::new(&device);
            recorder.phase_started("only", true, &device);
            recorder.phase_ended(&device);
            let mut report = recorder.report(&device, &Circumstances::default());
            let queues = Queues { depths: vec![1; 3], weights: vec![1; 3], map, round: None };
            let tenants =
                [tenant("a", 0..1), tenant("b", 2..4), tenant("c", 1..2), tenant("c", 4..5)];
            name_queues(&mut report, &tenants, &queues);
            queue_labels(report.host.queues.iter().map(|queue| &*queue.tenants))
        };
        assert_eq!(named(StreamMap::Modulo), ["a + b", "c", "b"]);
        assert_eq!(named(StreamMap::Saturate), ["a", "c", "b + c"]);
    }

    /// Returns the labels of queues with these tenants.
    fn labels(queues: &[&[&str]]) -> Vec<String> {
        let owned = |names: &&[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let queues: Vec<Vec<String>> = queues.iter().map(owned).collect();
        queue_labels(queues.iter().map(Vec::as_slice))
    }

    #[test]
    fn labels_are_short() {
        assert_eq!(labels(&[&[], &["reader"]]), ["queue 0", "reader"]);
        assert_eq!(labels(&[&["exactly-twenty-chars"]]), ["exactly-twenty-chars"]);
        assert_eq!(labels(&[&["twenty-one-characters"]]), ["twenty-one…characters"]);
        assert_eq!(labels(&[&["äöüäöüäöüäöüäöüäöü", "b"]]), ["äöüäöüäöüä…äöüäöü + b"]);
    }

    #[test]
    fn labels_tell_queues_apart() {
        assert_eq!(labels(&[&["a"], &["b"], &["a"]]), ["queue 0 a", "b", "queue 2 a"]);
        assert_eq!(
            labels(&[&["customer-database-primary-a"], &["customer-database-primary-b"]]),
            ["customer-d…-primary-a", "customer-d…-primary-b"]
        );
        // They differ only in the part that is not shown.
        assert_eq!(
            labels(&[&["customer-database-1-of-primary"], &["customer-database-2-of-primary"]]),
            ["queue 0 customer-d…of-primary", "queue 1 customer-d…of-primary"]
        );
        assert_eq!(labels(&[&["queue 1"], &[]]), ["queue 0 queue 1", "queue 1"]);
        assert_eq!(labels(&[&["a"], &["a"], &["queue 0 a"]])[2], "queue 2 queue 0 a");
    }
}
