//! Comparisons of prepared devices: with equal preparation whatever the capacity, or with different
//! preparations.

use serde_json::Value;

use super::common::Place;
use super::common::fails;

fn compared(place: &Place, line: &str) -> Value {
    let done = place.run(line);
    assert_eq!(done.code, 0, "{line}: {}", done.err);
    let folder = line.split_whitespace().skip_while(|word| *word != "-o").nth(1).expect("a folder");
    place.json(&format!("{folder}/compare.json"))
}

fn says(comparison: &Value, part: &str) -> usize {
    let notes = comparison["notes"].as_array().expect("notes");
    notes.iter().filter(|note| note.as_str().is_some_and(|note| note.contains(part))).count()
}

#[test]
fn devices_of_different_capacity_are_prepared_by_the_same_rule() {
    let place = Place::new();
    let line = "compare tiny --vary ftl.over_provisioning=20%,28% --precondition fill,age:limit=4 \
                --workload randwrite-4k --requests 500 --seeds 1 --quiet -o out";
    let comparison = compared(&place, line);
    assert_eq!(says(&comparison, "differ in capacity"), 1);
    let capacity = |at: usize| comparison["variants"][at]["capacity_bytes"].clone();
    assert_ne!(capacity(0), capacity(1));
    let again = compared(&place, "compare out --quiet -o again");
    assert_eq!(again["precondition"], comparison["precondition"]);
    assert_eq!(again["precondition"][1]["step"], "age");
    assert_eq!(says(&again, "prepared differently"), 0);
    assert_eq!(place.run("report out -o page.html --quiet").code, 0);
    // The largest allowed limit is a valid load, too.
    let most = "compare tiny --vary ftl.over_provisioning=20%,28% --precondition \
                age:limit=1000:tolerance=100%:window=2:round=1% --workload randwrite-4k \
                --requests 100 --seeds 1 --no-output --quiet";
    let done = place.run(most);
    assert_eq!(done.code, 0, "{}", done.err);
}

#[test]
fn a_fresh_device_is_compared_with_an_aged_one() {
    let place = Place::new();
    let rest = "--workload randwrite-4k --requests 500 --seeds 2 --quiet -o";
    let varied = compared(
        &place,
        &format!("compare tiny --vary precondition=none,\"fill,age:limit=4\" {rest} out"),
    );
    let named = "--variant fresh --variant aged:precondition=\"fill,age:limit=4\"";
    let named = compared(&place, &format!("compare tiny {named} {rest} named"));
    for comparison in [&varied, &named] {
        assert!(comparison["precondition"].is_null());
        let [fresh, aged] = [0, 1].map(|at| &comparison["variants"][at]);
        assert_eq!(fresh["precondition"], serde_json::json!([]));
        assert_eq!(aged["precondition"][1]["step"], "age");
        assert_eq!(aged["settings"][0], "precondition=fill,age:limit=4");
        assert_eq!(fresh["config_blake3"], aged["config_blake3"]);
        assert_eq!(says(comparison, "prepared differently"), 1);
        assert_eq!(says(comparison, "are the same device"), 0);
    }
    assert_eq!(varied["variants"][0]["name"], "no precondition");
    assert_eq!(varied["variants"][1]["name"], "fill,age:limit=4");
    assert_eq!(named["variants"][1]["name"], "aged");
    assert_eq!(named["metrics"], varied["metrics"]);
    // An aged device writes more than the host does.
    let wa = named["metrics"].as_array().unwrap().iter();
    let wa = wa.clone().find(|one| one["id"] == "report/write_amplification/write_amplification");
    if let Some(wa) = wa {
        assert!(wa["variants"][1]["mean"].as_f64() > wa["variants"][0]["mean"].as_f64(), "{wa}");
    }
    // The same as finished results given one by one, with seeds and preparations mixed.
    let (one, other) = ("named/runs/1-fresh", "named/runs/2-aged");
    let results = format!("{one}/seed-1 {one}/seed-2 {other}/seed-1 {other}/seed-2");
    let again = compared(&place, &format!("compare {results} --quiet -o again"));
    assert_eq!(again["metrics"], named["metrics"]);
    assert_eq!(says(&again, "prepared differently"), 1);
    let page = String::from_utf8(place.read("again/report.html")).unwrap();
    assert!(page.contains("prepared differently"));
    // If the descriptions are equal, the differing key is named.
    let windows = "--vary precondition=\"fill,age:limit=4\",\"fill,age:limit=5\"";
    let differ = compared(&place, &format!("compare tiny {windows} {rest} windows"));
    assert_eq!(says(&differ, "rule.limit_drive_writes: 4 against 5"), 1, "{}", differ["notes"]);
}

#[test]
fn images_are_compared() {
    let place = Place::new();
    for (name, steps) in [("young", "fill:50%"), ("old", "fill,age:limit=4")] {
        let line =
            format!("device save --device tiny --precondition {steps} -o {name}.ftlab --quiet");
        let done = place.run(&line);
        // Ageing that does not reach a steady state shows in the exit code, but is saved.
        assert!(done.code == 0 || name == "old", "{}", done.err);
    }
    let rest = "--workload randwrite-4k --requests 500 --seeds 2 --quiet -o";
    let named = compared(&place, &format!("compare young.ftlab old.ftlab {rest} named"));
    let varied = format!("compare tiny --vary image=young.ftlab,old.ftlab {rest} varied");
    let varied = compared(&place, &varied);
    for comparison in [&named, &varied] {
        let names = [0, 1].map(|at| comparison["variants"][at]["name"].clone());
        assert_eq!(names, ["young", "old"]);
        assert_eq!(comparison["variants"][1]["precondition"][0]["name"], "old");
        assert_eq!(says(comparison, "young: image young; old: image old"), 1);
    }
    assert_eq!(named["metrics"], varied["metrics"]);
    let both = "compare young.ftlab old.ftlab --image old.ftlab --workload randwrite-4k -o no";
    fails(&place, both, &["image is given twice", "remedy"]);
    fails(&place, "compare tiny --vary image=none,no.ftlab --workload randwrite-4k", &["no.ftlab"]);
}

/// A note of a run appears in the comparison, once or for each variant.
#[test]
fn notes_of_runs_are_kept() {
    let place = Place::new();
    let line = "compare tiny --variant fresh --variant filled:precondition=fill \
                --workload mixed-70-30-zipf --requests 500 --seeds 2 --quiet -o out";
    let comparison = compared(&place, line);
    let notes = |folder: &str| {
        let result = place.json(&format!("out/runs/{folder}/seed-1/result.json"));
        result["report"]["notes"].as_array().unwrap().clone()
    };
    let (fresh, filled) = (notes("1-fresh"), notes("2-filled"));
    assert!(!fresh.is_empty() && !filled.is_empty());
    let kept = comparison["notes"].as_array().unwrap();
    for note in fresh.iter().chain(&filled) {
        let note = note.as_str().unwrap();
        let both = fresh.iter().any(|one| one == note) && filled.iter().any(|one| one == note);
        let found = kept.iter().filter(|kept| kept.as_str().unwrap().contains(note)).count();
        assert_eq!(found, if both { 1 } else { found.clamp(1, 2) }, "{note}: {kept:?}");
    }
    let table = place.run("compare out --no-output");
    assert!(
        table.out.contains("begins with fill") || !says_any(&filled, "begins with"),
        "{}",
        table.out
    );
}

fn says_any(notes: &[Value], part: &str) -> bool {
    notes.iter().any(|note| note.as_str().is_some_and(|note| note.contains(part)))
}

/// A policy that had nothing to decide changed nothing, and a note says so.
#[test]
fn a_difference_that_never_came_into_play_is_told() {
    let place = Place::new();
    let line =
        "compare tiny --vary ftl.gc.victim=greedy,fifo --trace trace.csv --seeds 2 --quiet -o out";
    let comparison = compared(&place, line);
    assert_eq!(says(&comparison, "greedy and fifo have the same figures with every seed"), 1);
    let line = "compare tiny --vary ftl.gc.victim=greedy,random --precondition fill \
                --workload randwrite-4k --requests 5000 --seeds 1 --quiet -o act";
    assert_eq!(says(&compared(&place, line), "had no effect"), 0);
}

/// The page of one result says how to reproduce the result.
#[test]
fn the_page_of_one_result_names_its_run() {
    let place = Place::new();
    let done = place.run("run --device tiny --trace trace.csv -o one --quiet");
    assert_eq!(done.code, 0, "{}", done.err);
    assert_eq!(place.run("report one -o page.html --quiet").code, 0);
    let page = String::from_utf8(place.read("page.html")).unwrap();
    let again =
        page.split("How to reproduce it").nth(1).expect("how").split("</dl>").next().unwrap();
    assert!(again.contains("run --device tiny --trace trace.csv"), "{again}");
    assert!(!again.contains("page.html") && !page.contains("--seeds"), "{again}");
}

/// `--force` replaces only what ftlab wrote.
#[test]
fn files_of_others_are_not_replaced() {
    let place = Place::new();
    let line = "run --device tiny --trace trace.csv --quiet -o r1";
    assert_eq!(place.run(line).code, 0);
    assert_eq!(place.run(&format!("{line} --force")).code, 0);
    place.write("r1/note.txt", b"years of work");
    fails(&place, &format!("{line} --force"), &["r1/note.txt", "not replaced", "remedy"]);
    assert_eq!(place.read("r1/note.txt"), b"years of work");
    let line = "compare tiny --vary ftl.gc.start=2,3 --trace trace.csv --seeds 1 --quiet -o c1";
    assert_eq!(place.run(line).code, 0);
    assert_eq!(place.run(&format!("{line} --force")).code, 0);
    place.write("c1/runs/1-ftl_gc_start_2/seed-1/note.txt", b"years of work");
    let done = place.run(&format!("{line} --force"));
    assert!(done.code == 2 && done.err.contains("seed-1/note.txt"), "{}", done.err);
}
