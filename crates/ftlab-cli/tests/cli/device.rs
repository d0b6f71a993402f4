//! Devices that are aged, saved, shown, loaded and run.

use serde_json::Value;

use crate::common::{Done, Place, fails};

const SAVE: &str = "device save --device tiny --precondition fill,age -o aged.ftlab";
const LOAD: &str = "--workload randwrite-4k --requests 3000 --no-output --json";

fn ok(done: Done) -> String {
    assert_eq!(done.code, 0, "{}", done.err);
    done.out
}

fn json(done: Done) -> Value {
    serde_json::from_str(&ok(done)).expect("JSON")
}

/// Runs a valid command that fails because of what happens to the device.
#[track_caller]
fn fails_in_use(place: &Place, line: &str, parts: &[&str]) {
    let done = place.run(line);
    assert_eq!(done.code, 1, "{line}: {}{}", done.out, done.err);
    for part in parts {
        assert!(done.err.contains(part), "{line}: no {part:?} in {}", done.err);
    }
}

/// Returns the measured part of a report, without the preparation and the notes on it.
fn measured(result: &Value) -> Value {
    let mut report = result["report"].clone();
    let notes = report["notes"].as_array_mut().unwrap();
    notes.retain(|note| {
        !note.as_str().unwrap().starts_with("The device was prepared without a clock")
    });
    report["phases"] = report["phases"].as_array().unwrap().last().unwrap().clone();
    report
}

#[test]
fn a_run_from_an_image_is_the_run_that_was_not_interrupted_for_it() {
    for set in ["cache.policy=none", "cache.policy=lru --set cache.capacity=1MiB"] {
        let place = Place::new();
        ok(place.run(&format!("{SAVE} --set {set}")));
        let loaded = json(place.run(&format!("run --image aged.ftlab {LOAD}")));
        let line = format!("run --device tiny --set {set} --precondition fill,age {LOAD}");
        let straight = json(place.run(&line));
        assert_eq!(measured(&loaded), measured(&straight), "{set}");
        assert_eq!(loaded["replay"], straight["replay"]);
        assert_eq!(loaded["precondition"][0]["story"], straight["precondition"]);
        let story = &straight["precondition"];
        assert_eq!((&story[0]["step"], &story[1]["step"]), (&"fill".into(), &"age".into()));
        assert_eq!(story[1]["verdict"], "steady");
    }
}

/// The health of a device is that since it was new.
#[test]
fn what_failed_before_an_image_was_saved_counts() {
    let set = "--set cache.policy=none --set ftl.over_provisioning=40% \
               --set nand.faults.program_failures=200000";
    let place = Place::new();
    ok(place.run(&format!("{SAVE} {set}")));
    let loaded = json(place.run(&format!("run --image aged.ftlab {LOAD}")));
    let straight =
        json(place.run(&format!("run --device tiny {set} --precondition fill,age {LOAD}")));
    let health = &straight["report"]["health"];
    assert_eq!(&loaded["report"]["health"], health);
    assert!(health["program_failures"].as_u64() > Some(10), "{health}");
}

#[test]
fn other_policies_share_an_ageing() {
    let place = Place::new();
    ok(place.run(SAVE));
    let set = "--set cache.policy=lru --set cache.capacity=1MiB --set scheduler.policy=read-first";
    let told = ok(place.run(&format!("device load aged.ftlab {set} -o other.ftlab")));
    assert!(told.contains("Starts afresh          write buffer, scheduler"), "{told}");
    let set = format!("{set} --set host.link.interface=sata-3");
    let run = json(place.run(&format!("run --image aged.ftlab {set} {LOAD}")));
    assert!(run["report"]["gc"]["runs"].as_u64().unwrap() > 0);
    let shown = json(place.run("device show other.ftlab --json"));
    assert_eq!(shown["story"][0]["step"], "image");
    assert_eq!(shown["state"]["mapped_pages"], 6_144);
    let table = ok(place.run("device show aged.ftlab"));
    for part in [
        "tiny, 25.2 MB",
        "sequential fill",
        "ageing",
        "steady",
        "Utilisation",
        "Erases",
        "Mapping                page",
    ] {
        assert!(table.contains(part), "no {part} in {table}");
    }
}

/// An image made from an image shows its whole history, with the seeds.
#[test]
fn the_chain_of_images_is_shown() {
    let place = Place::new();
    ok(place.run(&format!("{SAVE} --seed 7")));
    let step = "--precondition randread-4k --all-phases --seed 8";
    ok(place.run(&format!("device save --image aged.ftlab {step} -o b.ftlab")));
    ok(place.run("device load b.ftlab -o c.ftlab"));
    let shown = ok(place.run("device show c.ftlab"));
    let lines: Vec<&str> = shown.lines().collect();
    assert!(lines[0].ends_with("seed 8"), "{shown}");
    assert_eq!(lines[1], "Prepared by            image b, seed 8, made by");
    assert_eq!(lines[2].trim(), "image aged, seed 7, made by");
    assert!(lines[3].trim().starts_with("sequential fill of 25.2 MB, "), "{shown}");
    assert!(lines[4].trim().starts_with("ageing by age: steady after "), "{shown}");
    let workload = lines.iter().find(|line| line.contains("workload randread-4k, "));
    let depth = |line: &str| line.len() - line.trim_start().len();
    assert_eq!(depth(workload.expect("what was played on b")), depth(lines[2]), "{shown}");
    assert_eq!(depth(lines[3]), depth(lines[2]) + 2, "{shown}");
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    ok(place.run("device save --device tiny -o new.ftlab"));
    ok(place.run("device load new.ftlab -o newer.ftlab"));
    let shown = ok(place.run("device show newer.ftlab"));
    assert!(shown.lines().nth(2).unwrap().ends_with("  nothing: it is fresh"), "{shown}");
}

#[test]
fn who_takes_an_image_for_something_else_is_told() {
    let place = Place::new();
    ok(place.run("device save --device tiny -o a.ftlab -q"));
    let of = |device: &str| format!("run {device} {LOAD}");
    fails(&place, &of("--device a.ftlab"), &["is an image", "--image a.ftlab"]);
    fails(&place, &of("--image tiny"), &["tiny is a built-in device", "--device", "saved device"]);
    fails(&place, &of("--image gone.ftlab"), &["no such file", "saved device"]);
    let other = of("--image a.ftlab --device tlc-32g");
    fails(&place, &other, &["leave out --device", "(tiny)", "make an image"]);
}

#[test]
fn an_image_is_aged_further() {
    let place = Place::new();
    ok(place.run(SAVE));
    let again = "device save --image aged.ftlab --precondition randwrite-4k -o older.ftlab --quiet";
    ok(place.run(again));
    let wear = |name: &str| {
        let shown = json(place.run(&format!("device show {name} --json")));
        shown["state"]["erases_mean"].as_f64().unwrap()
    };
    assert!(wear("older.ftlab") > 2.0 * wear("aged.ftlab"));
}

#[test]
fn images_are_replaced_only_on_demand() {
    let place = Place::new();
    let save = "device save --device tiny --precondition fill -o a.ftlab --quiet";
    ok(place.run(save));
    let first = place.read("a.ftlab");
    fails(&place, save, &["a.ftlab already contains an image", "--force"]);
    ok(place.run(&format!("{save} --force --seed 2")));
    assert_ne!(place.read("a.ftlab"), first);
    let onto = |file: &str| save.replace("a.ftlab", file);
    fails(&place, &onto("trace.csv"), &["trace.csv exists and is not an image"]);
    fails(&place, &onto("."), &["is a folder"]);
    fails(&place, &onto("new/a.ftlab"), &["there is no folder new", "remedy"]);
    assert_eq!(place.entries(), ["a.ftlab", "trace.csv"]);
}

#[test]
fn what_does_not_fit_or_is_damaged_is_refused() {
    let place = Place::new();
    ok(place.run("device save --device tiny --precondition fill -o a.ftlab --quiet"));
    let run = format!("run --image a.ftlab {LOAD}");
    let other = format!("{run} --set nand.blocks_per_plane=64 --set ftl.over_provisioning=50%");
    let parts = ["does not fit", "nand.blocks_per_plane is 32 in the image and 64", "remedy"];
    fails(&place, &other, &parts);
    fails(&place, &format!("{run} --set ftl.over_provisioning=50%"), &["ftl.over_provisioning"]);
    fails(&place, "device load a.ftlab --device plain-32g", &["nand.page_size is 4KiB"]);
    fails(&place, "device show nothing.ftlab", &["can't read the image nothing.ftlab"]);
    fails(&place, "device show trace.csv", &["not an image", "ftlab device save"]);
    let whole = place.read("a.ftlab");
    let show = |bytes: &[u8], parts: &[&str]| {
        place.write("b.ftlab", bytes);
        fails(&place, "device show b.ftlab", parts);
    };
    show(&whole[..whole.len() / 2], &["damaged", "ends before"]);
    let mut changed = whole.clone();
    let middle = whole.len() / 2;
    changed[middle] ^= 0xff;
    show(&changed, &["damaged"]);
    let mut newer = whole.clone();
    newer[8] = 99;
    show(&newer, &["has format 99"]);
    let mut turned = whole;
    turned[8..12].reverse();
    show(&turned, &["byte order"]);
}

/// An image whose sections are followed by so many zeros that they have 256 MiB.
fn stretched(whole: &[u8], level: i32) -> Vec<u8> {
    const PREAMBLE: usize = 12;
    const LENGTH: usize = size_of::<u64>();
    let mut sections = zstd::decode_all(&whole[PREAMBLE + LENGTH..]).unwrap();
    sections.resize(256 << 20, 0);
    let packed = zstd::encode_all(&sections[..], level).unwrap();
    [&whole[..PREAMBLE], &(packed.len() as u64).to_le_bytes(), &packed].concat()
}

/// The file is small when compressed, but claims to be larger than any device.
#[test]
fn a_small_file_that_claims_to_be_huge_is_refused() {
    let place = Place::new();
    ok(place.run("device save --device tiny -o a.ftlab --quiet"));
    place.write("b.ftlab", &stretched(&place.read("a.ftlab"), 1));
    assert!(place.read("b.ftlab").len() < 100_000);
    fails(&place, "device show b.ftlab", &["more than a device of its size can have"]);
}

/// The device named in a file can be huge, so the file's size bounds what is unpacked, too.
#[test]
fn a_small_file_of_a_huge_device_is_not_unpacked_without_bound() {
    let place = Place::new();
    ok(place.run("device save --device tlc-512g -o a.ftlab --quiet"));
    place.write("b.ftlab", &stretched(&place.read("a.ftlab"), 19));
    assert!(place.read("b.ftlab").len() < 60_000);
    fails(&place, "device show b.ftlab", &["more than 4096 times its length"]);
}

#[test]
fn steps_that_make_no_sense_are_told() {
    let place = Place::new();
    let line = |steps: &str| format!("run --device tiny --precondition {steps} {LOAD}");
    for (steps, part) in [
        ("fill,,age", "a step without a name"),
        ("fill:0%", "not a share between 0 % and 100 %"),
        ("fill:101%", "not a share"),
        ("fill:backwards", "not backwards"),
        ("age:window=1", "window is a number of rounds from 2"),
        ("age:limit=none", "limit is a number of drive writes"),
        ("age:speed=2", "not speed"),
        ("age:limit=1:window=6", "before a window of rounds is full"),
        ("fil", "did you mean fill"),
    ] {
        fails(&place, &line(steps), &[part]);
    }
    let of_trace = "run --device tiny --precondition age:self --trace trace.csv --no-output";
    fails(&place, of_trace, &["only a measured workload"]);
    let reads = "run --device tiny --precondition age:self --workload randread-4k --no-output";
    fails(&place, reads, &["writes nothing"]);
}

#[test]
fn ageing_that_ends_at_its_limit_says_so() {
    let place = Place::new();
    let short = "--precondition age:limit=1:tolerance=0.1%";
    let run = json(place.run(&format!("run --device tiny {short} {LOAD}")));
    assert_eq!(run["precondition"][1]["verdict"], "not_steady");
    assert!(run["warnings"][0].as_str().unwrap().contains("its limit of 1 drive writes"));
    let fresh = "--set ftl.over_provisioning=300% --precondition age:limit=2";
    let save = format!("device save --device tiny {fresh} -o a.ftlab");
    fails_in_use(&place, &save, &["garbage collection never started"]);
    assert_eq!(
        json(place.run("device show a.ftlab --json"))["story"][1]["verdict"],
        "gc_never_started"
    );
}

#[test]
fn fills_go_as_far_as_they_are_told() {
    let place = Place::new();
    for (steps, mapped) in [("fill:50%", 3_072), ("fill:random", 6_144), ("fill:random:25%", 1_536)]
    {
        let save = format!("device save --device tiny --precondition {steps} -o a.ftlab --force");
        ok(place.run(&save));
        let shown = json(place.run("device show a.ftlab --json"));
        assert_eq!(shown["state"]["mapped_pages"], mapped, "{steps}");
    }
    // Ageing keeps to the part that was filled.
    ok(place.run("device save --device tiny --precondition fill:50%,randread-4k -o b.ftlab"));
    let aged = "device save --device tiny --precondition \
                fill:90%,age -o c.ftlab";
    ok(place.run(aged));
    let state = &json(place.run("device show c.ftlab --json"))["state"];
    let share = state["mapped_pages"].as_f64().unwrap() / state["logical_pages"].as_f64().unwrap();
    assert!((share - 0.9).abs() < 0.01, "{share}");
}

#[test]
fn the_measured_load_ages_the_device_itself() {
    let place = Place::new();
    let run = json(place.run(&format!("run --device tiny --precondition fill,age:self {LOAD}")));
    let aged = &run["precondition"][1];
    assert_eq!(
        (&aged["verdict"], &aged["load"]["name"]),
        (&"steady".into(), &"randwrite-4k".into())
    );
}

#[test]
fn a_device_that_ends_while_it_is_preconditioned_is_an_error_and_leaves_nothing() {
    let place = Place::new();
    let before = place.entries();
    let failing = "--device tiny --precondition fill --set cache.policy=lru \
                   --set cache.capacity=128KiB --set cache.programs_per_die=1 \
                   --set nand.faults.program_failures=1000000000";
    let told = ["reached its end while preconditioning", "acknowledged", "remedy"];
    let run = format!("run {failing} --workload randread-4k -o results");
    fails_in_use(&place, &run, &told);
    fails_in_use(&place, &format!("device save {failing} -o dead.ftlab"), &told);
    assert_eq!(place.entries(), before);
}

/// A device that died cannot be measured, but it can be saved and shown.
#[test]
fn ageing_that_wears_the_device_out_says_so() {
    let place = Place::new();
    let worn = "--device tiny --precondition fill,age --set nand.endurance.policy=fixed \
                --set nand.endurance.cycles=3";
    let told = ["end of its life while it was prepared", "ageing", "nothing to measure", "remedy"];
    fails_in_use(&place, &format!("run {worn} {LOAD}"), &told);
    // On one thread: with several, the other run may wear out first.
    let line =
        format!("compare {worn} --vary ftl.gc.start=2,3 --workload randread-4k --seeds 1 -j 1");
    let line = line.replace("--device tiny", "tiny");
    fails_in_use(&place, &line, &["the run of ftl.gc.start=2 with seed 1 failed", told[0]]);
    fails_in_use(
        &place,
        &format!("device save {worn} -o dead.ftlab"),
        &["reached the end of its life"],
    );
    let shown = json(place.run("device show dead.ftlab --json"));
    assert_eq!(shown["story"][1]["verdict"], "end_of_life");
    // It still serves reads; writes cannot be measured.
    let reads = LOAD.replace("randwrite", "randread");
    let run = json(place.run(&format!("run --image dead.ftlab {reads}")));
    let note = run["report"]["notes"][0].as_str().unwrap();
    assert!(note.contains("end of its life") && !note.contains("0.000 GB"), "{note}");
    let told = ["nothing was measured", "3,000 requests were refused", "remedy"];
    fails_in_use(&place, &format!("run --image dead.ftlab {LOAD}"), &told);
}

/// The unmeasured first phase of a workload must not undo an ageing.
#[test]
fn a_prepared_device_is_not_filled_again() {
    let place = Place::new();
    ok(place.run(SAVE));
    let names = |run: &Value| -> Vec<String> {
        let phases = run["report"]["phases"].as_array().unwrap().iter();
        phases.map(|phase| phase["name"].as_str().unwrap().to_owned()).collect()
    };
    let notes = |run: &Value| run["report"]["notes"].to_string();
    let load = "--workload mixed-70-30-zipf --requests 3000 --no-output --json";
    let from_image = json(place.run(&format!("run --image aged.ftlab {load}")));
    assert_eq!(names(&from_image), ["mixed"]);
    assert_eq!(from_image["replay"]["skipped_phases"], serde_json::json!(["fill"]));
    assert!(notes(&from_image).contains("begins with fill, not measured: skipped"));
    let aged = format!("run --device tiny --precondition fill,age {load}");
    assert_eq!(names(&json(place.run(&aged))), ["fill", "age", "mixed"]);
    let all = json(place.run(&format!("{aged} --all-phases")));
    assert_eq!(names(&all), ["fill", "age", "fill", "mixed"]);
    assert!(all["replay"]["skipped_phases"].is_null() && !notes(&all).contains("skipped"));
    // A new device is filled as usual, and the measured phase is the same either way.
    let fresh = json(place.run(&format!("run --device tiny {load}")));
    assert_eq!(names(&fresh), ["fill", "mixed"]);
    let filled = json(place.run(&format!("run --device tiny --precondition fill {load}")));
    assert_eq!(names(&filled), ["fill", "mixed"]);
    assert_eq!(measured(&filled)["host"]["requests"], measured(&fresh)["host"]["requests"]);
    // The same holds for a step of the preconditioning.
    let step = "--precondition fill,age,mixed-70-30-zipf --workload randwrite-4k --requests 10";
    let run = json(place.run(&format!("run --device tiny {step} --no-output --json")));
    assert_eq!(names(&run), ["fill", "age", "mixed", "1"]);
    assert_eq!(run["precondition"][2]["skipped_phases"], serde_json::json!(["fill"]));
    assert!(notes(&run).contains("mixed-70-30-zipf begins with fill"));
}

/// Tenants age a device like a single phase does, and results list the ageing as one phase.
#[test]
fn tenants_age_the_device_too() {
    let place = Place::new();
    let line = "run --device tiny --precondition age:self:limit=6 --workload noisy-neighbour \
                --no-output --json";
    let run = json(place.run(line));
    let aged = &run["precondition"][1];
    assert!(aged["written_bytes"].as_u64().unwrap() > 25_000_000, "{aged}");
    let phases = run["report"]["phases"].as_array().unwrap();
    let names: Vec<&str> = phases.iter().map(|phase| phase["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["fill", "age", "reader + writer"]);
    assert!(phases[1]["requests"].as_u64().unwrap() > 100, "{}", phases[1]);
}

/// A device that can fail reaches its end of life before GC runs out of room. A device that can't
/// fail must not be given more bad blocks than GC can do with.
#[test]
fn bad_blocks_that_leave_no_room_to_collect_are_refused() {
    let place = Place::new();
    let bad = "--device tiny --set nand.blocks_per_plane=64 --set ftl.over_provisioning=60% \
               --set ftl.mapping.unit=flash-page --set nand.faults.factory_bad=20%";
    ok(place.run(&format!("device save {bad} --precondition fill -o bad.ftlab")));
    let run = format!("run --image bad.ftlab --set nand.faults.factory_bad=0% {LOAD}");
    ok(place.run(&run));
    let narrow = "--set ftl.gc.start=16 --set ftl.gc.stop=17 --set ftl.gc.reserve=15";
    let told = ["good blocks", "ftl.gc.reserve (15 now)", "remedy"];
    fails(&place, &format!("{run} {narrow}"), &told);
}

/// Blocks of an SLC cache hold a share of their pages that depends on the cell type.
#[test]
fn an_slc_cache_on_other_cells_does_not_fit() {
    let place = Place::new();
    let cached = "--device tiny --set ftl.over_provisioning=60% --set ftl.slc_cache.policy=static \
                  --set ftl.slc_cache.blocks=4";
    ok(place.run(&format!("device save {cached} --precondition fill:20% -o slc.ftlab")));
    let line = "device load slc.ftlab --set nand.cell=qlc";
    fails(&place, line, &["nand.cell is tlc, behind an SLC cache, in the image and qlc"]);
    ok(place.run("device save --device tiny -o plain.ftlab"));
    ok(place.run("device load plain.ftlab --set nand.cell=qlc"));
}

/// Options that an image has already decided can't be set, and trying says so.
#[test]
fn options_that_an_image_overrides_are_named() {
    let place = Place::new();
    ok(place.run(SAVE));
    let plain = place.run("device load aged.ftlab");
    assert_eq!((plain.code, plain.err.as_str()), (0, ""));
    let bad = "--set nand.faults.factory_bad=1%";
    let loaded = place.run(&format!("device load aged.ftlab {bad}"));
    assert!(loaded.out.contains(" 0 bad"), "{}", loaded.out);
    let told = "nand.faults.factory_bad = 1% has no effect";
    assert!(loaded.err.contains(told), "{}", loaded.err);
    let run = json(place.run(&format!("run --image aged.ftlab {bad} {LOAD}")));
    assert!(run["warnings"][0].as_str().unwrap().starts_with(told), "{}", run["warnings"]);
    let saved = place.run(&format!("device save --image aged.ftlab {bad} -o again.ftlab"));
    assert!(saved.code == 0 && saved.err.contains(told), "{}", saved.err);
    let worn = "--set nand.endurance.policy=fixed --set nand.endurance.cycles";
    let loaded = place.run(&format!("device load aged.ftlab {worn}=2"));
    assert!(loaded.err.contains("blocks endure 2 cycles"), "{}", loaded.err);
    let loaded = place.run(&format!("device load aged.ftlab {worn}=3000"));
    assert_eq!((loaded.code, loaded.err.as_str()), (0, ""));
}

/// A device that dies while being filled is saved as it is, and the command does not claim that it was filled.
#[test]
fn a_device_that_dies_while_it_is_filled_is_told_of() {
    let place = Place::new();
    place.write("faults.toml", b"base = 'tiny'\n[nand.faults]\nschedule = ['10ms: die 1 dies']\n[ftl.placement]\npolicy = 'dynamic'\n");
    let line = "device save --device faults.toml --precondition fill,randwrite-4k -o dead.ftlab";
    let told = ["end of its life", "in the step fill", "later steps were skipped"];
    fails_in_use(&place, line, &told);
    assert!(place.path("dead.ftlab").is_file());
}
