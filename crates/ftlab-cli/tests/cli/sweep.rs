//! `ftlab sweep`: its table holds what single runs give, whatever is shared, interrupted or reused on the way.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;

use super::common::{Place, entries};

/// Two axes: an option of the device, and one of the run, so that points share a preparation.
pub const SWEEP: &str = "\
name = 'small'
seeds = 2
[run]
device = 'tiny'
workload = 'mixed-70-30-zipf'
precondition = 'fill,age'
requests = 400
[[axis]]
option = 'ftl.over_provisioning'
values = '25%..50%'
steps = 3
[[axis]]
option = 'queue_depth'
name = 'depth'
values = [1, 8]
";

fn swept(place: &Place, text: &str, line: &str) -> String {
    place.write("sweep.toml", text.as_bytes());
    let done = place.run(&format!("sweep sweep.toml {line}"));
    assert_eq!(done.code, 0, "{}", done.err);
    done.err
}

/// Returns the files of a sweep, except those that tell who made it, or what of its runs differs from time to time.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    collect(folder, "", &mut all);
    all
}

fn collect(folder: &Path, within: &str, all: &mut BTreeMap<String, Vec<u8>>) {
    for name in entries(folder) {
        let (path, place) = (folder.join(&name), format!("{within}{name}"));
        if path.is_dir() {
            collect(&path, &format!("{place}/"), all);
        } else if name != "run.json" && name != "report.html" {
            all.insert(place, fs::read(path).unwrap());
        }
    }
}

/// Returns the rows of the CSV table by the names of its columns.
fn csv(place: &Place, name: &str) -> Vec<BTreeMap<String, String>> {
    let text = String::from_utf8(place.read(name)).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned));
    let head: Vec<String> = lines.next().unwrap().collect();
    lines.map(|cells| head.iter().cloned().zip(cells).collect()).collect()
}

#[test]
fn the_table_holds_what_single_runs_give() {
    let place = Place::new();
    swept(&place, SWEEP, "-o out --quiet");
    let rows = csv(&place, "out/sweep.csv");
    assert_eq!(rows.len(), 3 * 2 * 2);
    for (at, row) in rows.iter().enumerate() {
        let (spare, depth, seed) = (&row["ftl.over_provisioning"], &row["depth"], &row["seed"]);
        let line = format!(
            "run --device tiny --set ftl.over_provisioning={spare}% --workload mixed-70-30-zipf --precondition fill,age \
             --requests 400 --queue-depth {depth} --seed {seed} --quiet -o single-{at}"
        );
        let done = place.run(&line);
        assert_eq!(done.code, 0, "{}", done.err);
        let result = place.json(&format!("single-{at}/result.json"));
        let host = &result["report"]["host"];
        for (key, expected) in [
            ("iops", &host["iops"]),
            ("throughput", &host["throughput_mb_per_s"]),
            ("read.latency.mean", &host["read"]["latency_ns"]["mean"]),
            ("write.latency.p50", &host["write"]["latency_ns"]["p50"]),
            ("write_amplification.total", &result["report"]["write_amplification"]["total_ratio"]),
        ] {
            let found = row[key].parse::<f64>().ok();
            assert_eq!(found, expected.as_f64(), "{key} of {row:?}");
        }
        // Points share the prepared device, with the same bytes in all files but the one that says where options come
        // from.
        let run = format!("out/runs/{}/seed-{seed}", at / 2 + 1);
        let [shared, single] = [run.clone(), format!("single-{at}")].map(|folder| {
            let mut all = files(&place.path(&folder));
            assert!(all.remove("config.toml").is_some() && all.len() >= 4, "{:?}", all.keys());
            all
        });
        assert!(shared == single, "{run}");
    }
}

#[test]
fn parquet_and_csv_are_the_same_table() {
    let place = Place::new();
    swept(&place, SWEEP, "-o out --quiet --seeds 1");
    let rows = csv(&place, "out/sweep.csv");
    let reader = SerializedFileReader::new(File::open(place.path("out/sweep.parquet")).unwrap());
    let reader = reader.unwrap();
    let metadata = reader.metadata().file_metadata().key_value_metadata().unwrap();
    let metadata: BTreeMap<&str, &str> =
        metadata.iter().filter_map(|one| Some((one.key.as_str(), one.value.as_deref()?))).collect();
    assert_eq!(metadata["unit.ftl.over_provisioning"], "%");
    assert_eq!(metadata["name.read.latency.p50"], "read latency, p50");
    assert_eq!(metadata["unit.read.latency.p50"], "ns");
    let found: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
    assert_eq!(found.len(), rows.len());
    for (found, expected) in found.iter().zip(&rows) {
        assert_eq!(found.get_column_iter().count(), expected.len());
        for (name, field) in found.get_column_iter() {
            let text = match field {
                Field::Double(value) => value.to_string(),
                Field::ULong(seed) => seed.to_string(),
                Field::Str(text) => text.clone(),
                Field::Null => String::new(),
                other => panic!("{name}: {other:?}"),
            };
            assert_eq!(text, expected[name], "{name}");
        }
    }
}

#[test]
fn threads_do_not_show() {
    let place = Place::new();
    for jobs in [1, 2, 5] {
        swept(&place, SWEEP, &format!("-j {jobs} -o out-{jobs} --quiet"));
    }
    let [one, two, five] = [1, 2, 5].map(|jobs| files(&place.path(&format!("out-{jobs}"))));
    assert!(one == two && one == five);
}

#[test]
fn a_complete_sweep_is_not_done_again() {
    let place = Place::new();
    let first = swept(&place, SWEEP, "-o out");
    assert!(first.contains("Result: out, table: out/sweep.csv, page: out/report.html"), "{first}");
    let again = place.run("sweep sweep.toml -o out --json");
    assert!(again.err.contains("already complete"), "{}", again.err);
    assert_eq!(again.out.as_bytes(), place.read("out/sweep.json"));
    let other = place.run("sweep sweep.toml -o out --seeds 3");
    assert_eq!(other.code, 2);
    assert!(other.err.contains("out already contains a result"), "{}", other.err);
}

#[test]
fn an_extended_file_reuses_what_has_finished() {
    let place = Place::new();
    swept(&place, SWEEP, "-o out --quiet");
    let more = SWEEP.replace("[1, 8]", "[2, 1, 8]");
    let told = swept(&place, &more, "-o out --force");
    assert!(told.contains("12 of 18 runs had finished before"), "{told}");
    swept(&place, &more, "-o whole --quiet");
    assert!(files(&place.path("out")) == files(&place.path("whole")));
    // Another load is another sweep.
    let other = more.replace("requests = 400", "requests = 401");
    let told = swept(&place, &other, "-o out --force");
    assert!(!told.contains("had finished"), "{told}");
}

#[cfg(unix)]
#[test]
fn a_killed_sweep_goes_on_where_it_stood() {
    use std::process::Stdio;
    use std::time::Duration;
    let place = Place::new();
    let long = SWEEP.replace("requests = 400", "requests = 20000");
    swept(&place, &long, "-o whole --quiet");
    for ms in [300, 600] {
        let mut command = place.command(&["sweep", "sweep.toml", "-o", "out", "-j", "2"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(ms));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let told = swept(&place, &long, "-o out");
    assert!(told.contains("had finished before") || told.contains("complete"), "{told}");
    assert!(files(&place.path("out")) == files(&place.path("whole")));
}

#[cfg(unix)]
#[test]
fn an_interrupted_sweep_keeps_its_runs() {
    let place = Place::new();
    place.write("w.toml", super::common::ENDLESS);
    let endless = SWEEP.replace("requests = 400\n", "").replace(
        "[[axis]]\noption = 'queue_depth'\nname = 'depth'\nvalues = [1, 8]\n",
        "[[axis]]\nname = 'load'\nvalues = [{ name = 'short', workload = 'mixed-70-30-zipf', requests = 400 }, { name = \
         'endless', workload = 'w.toml' }]\n",
    );
    place.write("sweep.toml", endless.as_bytes());
    let line = "sweep sweep.toml -o out -j 1";
    let done = super::common::interrupted(&place, line, std::process::Stdio::null());
    assert_eq!(done.code, 130, "{}", done.err);
    assert!(done.err.contains("finished runs are in out.partial"), "{}", done.err);
    let again = endless.replace(
        "'endless', workload = 'w.toml' }",
        "'other', workload = 'randwrite-4k', requests = 9 }",
    );
    let told = swept(&place, &again, "-o out");
    assert!(told.contains("1 of 12 runs had finished before"), "{told}");
}

#[test]
fn a_device_prepared_once_is_an_image_for_all_points() {
    let place = Place::new();
    let once = SWEEP.replace("requests = 400", "requests = 400\nprepare = 'base'").replace(
        "option = 'ftl.over_provisioning'\nvalues = '25%..50%'\nsteps = 3",
        "option = 'ftl.gc.victim'\nvalues = ['greedy', 'fifo']",
    );
    swept(&place, &once, "-o out --quiet");
    for seed in [1, 2] {
        let line = format!(
            "device save --device tiny --precondition fill,age --seed {seed} -o base.ftlab --force --quiet"
        );
        let saved = place.run(&line);
        assert_eq!(saved.code, 0, "{}", saved.err);
        let line = format!(
            "run --image base.ftlab --set ftl.gc.victim=fifo --workload mixed-70-30-zipf --requests 400 --queue-depth 8 \
             --seed {seed} -o single --force --quiet"
        );
        let done = place.run(&line);
        assert_eq!(done.code, 0, "{}", done.err);
        let run = format!("out/runs/4/seed-{seed}/result.json");
        assert_eq!(place.json(&run), place.json("single/result.json"));
        assert_eq!(place.json(&run)["precondition"][0]["step"], "image");
    }
    let again = place.run("sweep sweep.toml -o out");
    assert!(again.err.contains("already complete"), "{}", again.err);
    // Its fingerprint differs from that of a sweep in which each point has its own past.
    let each = once.replace("prepare = 'base'\n", "");
    let told = swept(&place, &each, "-o out --force");
    assert!(!told.contains("had finished"), "{told}");
}

#[test]
fn names_numbers_and_loads_are_axes() {
    let place = Place::new();
    place.write(
        "own.toml",
        b"name = 'own'\n[[phase]]\nwrites = '100%'\nsize = '4KiB'\n\
        arrivals = { kind = 'closed', queue_depth = 1 }\nrequests = 90\n",
    );
    let text = "name = 'loads'\n[run]\nset = ['ftl.gc.stop=9']\nrequests = 50\n\
        [[axis]]\noption = 'device'\nvalues = ['tiny']\n\
        [[axis]]\nname = 'what'\nlabel = 'What'\nvalues = [\n\
        { name = 'a trace', trace = 'trace.csv', address = 'fold' },\n\
        { name = 'mine', label = 'My load', workload = 'own.toml', set = ['ftl.gc.victim=fifo'] },\n\
        { name = 'random, small', workload = 'randwrite-4k', queue_depth = 2 },\n]\n";
    fs::create_dir(place.path("in")).unwrap();
    for file in ["trace.csv", "own.toml"] {
        fs::copy(place.path(file), place.path(&format!("in/{file}"))).unwrap();
    }
    place.write("in/sweep.toml", text.as_bytes());
    let done = place.run("sweep in/sweep.toml -o out --json");
    assert_eq!(done.code, 0, "{}", done.err);
    let document: serde_json::Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(document["axes"][1]["values"][1]["label"], "My load");
    assert_eq!(document["points"][2]["at"]["what"], "random, small");
    let text = String::from_utf8(place.read("out/sweep.csv")).unwrap();
    assert!(text.contains("tiny,\"random, small\",1,"), "{text}");
    assert!(text.starts_with("device,what,seed,throughput,iops,"), "{text}");
    let mine = place.json("out/runs/2/seed-1/result.json");
    assert_eq!(mine["load"]["name"], "own");
    assert_eq!(mine["device"]["config"]["ftl"]["gc"]["victim"], "fifo");
    // Reads do not occur in all loads, so their latencies are unknown there.
    let rows = csv(&place, "out/sweep.csv");
    assert_eq!(
        (rows[0]["read.latency.mean"].is_empty(), &*rows[1]["read.latency.mean"]),
        (false, "")
    );
}

#[test]
fn the_page_says_what_the_table_says() {
    let place = Place::new();
    swept(&place, SWEEP, "-o out --quiet");
    let page = String::from_utf8(place.read("out/report.html")).unwrap();
    let document = place.json("out/sweep.json");
    let mean = document["points"][0]["metrics"]["iops"]["mean"].as_f64().unwrap();
    assert!(page.contains(&format!("<data value=\"{mean}\">")), "{mean}");
    assert!(page.contains("6 points: ftl.over_provisioning (3) by depth (2); seeds 1 to 2"));
    assert!(page.contains("At a glance") && page.contains("Best point"));
    // The name of a language is no address that is fetched.
    let addresses = page.replace("http://www.w3.org/2000/svg", "").contains("http://");
    assert!(page.contains("noscript") && !addresses && page.contains("Content-Security-Policy"));
    let one = place.run("sweep sweep.toml --no-output --seeds 1");
    assert!(one.out.contains("small: means over 1 seed") && one.out.contains("25%"), "{}", one.out);
    assert!(one.err.is_empty(), "{}", one.err);
}
