//! What tables say, and how wide they are.

use serde_json::Value;

use super::common::Place;

/// Formats a number with thousands separators, as in the tables.
fn count(number: u64) -> String {
    match (number / 1000, number % 1000) {
        (0, rest) => rest.to_string(),
        (more, rest) => format!("{},{rest:03}", count(more)),
    }
}

/// Returns the text of the row with this name, including continuation lines.
fn line(table: &str, name: &str) -> Option<String> {
    let mut lines = table.lines().skip_while(|line| !line.starts_with(name));
    let first = lines.next()?.strip_prefix(name)?.trim().to_owned();
    let rest = lines.take_while(|line| line.starts_with(' ')).map(str::trim);
    Some(std::iter::once(first.as_str()).chain(rest).collect::<Vec<_>>().join(" "))
}

/// Padding in blocks is shown if there was any.
#[test]
fn padding_is_told() {
    let place = Place::new();
    let run = |padding: &str, rest: &str| {
        let line = "run --device tiny --set cache.policy=bplru --set cache.capacity=256KiB --precondition fill \
                    --workload randwrite-4k --requests 500 --no-output";
        let done = place.run(&format!("{line} --set cache.padding={padding} {rest}"));
        assert_eq!(done.code, 0, "{}", done.err);
        done.out
    };
    let result: Value = serde_json::from_str(&run("on", "--json")).expect("JSON");
    let pages = result["report"]["cache"]["padded_pages"].as_u64().expect("a count");
    let expected = format!("{} pages read and programmed again to fill up blocks", count(pages));
    assert_eq!(line(&run("on", ""), "Padding"), Some(expected));
    assert_eq!(line(&run("off", ""), "Padding"), None);
}

/// Writes to a few pages again and again; the rest is never written.
const HOT: &[u8] = b"name = \"hot\"
[[phase]]
name = \"hot\"
writes = \"100%\"
size = \"4KiB\"
address = { kind = \"uniform\" }
region = { size = \"10%\" }
arrivals = { kind = \"closed\", queue_depth = 8 }
requests = 60000
";

/// Blocks are moved to level wear, and because they went bad; table and result keep the two apart.
#[test]
fn blocks_moved_to_level_wear_and_off_bad_ones_are_told_apart() {
    let place = Place::new();
    place.write("hot.toml", HOT);
    let wear = "--set ftl.wear.policy=threshold --set ftl.wear.threshold=5";
    let faults = "--set nand.faults.program_failures=200000 --set ftl.over_provisioning=60%";
    let run = |settings: &str, rest: &str| {
        let line = "run --device tiny --precondition fill --workload hot.toml --no-output";
        let done = place.run(&format!("{line} {settings} {rest}"));
        assert_eq!(done.code, 0, "{}", done.err);
        done.out
    };
    let plain = run("", "");
    assert_eq!((line(&plain, "Blocks moved"), line(&plain, "Flash commands, moves")), (None, None));
    for (settings, levels, retires) in
        [(wear, true, false), (faults, false, true), (&format!("{wear} {faults}"), true, true)]
    {
        let table = run(settings, "");
        let result: Value = serde_json::from_str(&run(settings, "--json")).expect("JSON");
        let of = |purpose: &str, what: &str| {
            result["report"]["gc"]["by_purpose"][purpose][what].as_u64().expect("a count")
        };
        let part = |purpose: &str, why: &str| {
            let (runs, copies) = (of(purpose, "runs"), of(purpose, "copied_pages"));
            (runs > 0).then(|| format!("{} {why} ({} copies)", count(runs), count(copies)))
        };
        let level = part("wear_level", "for wear levelling");
        let retire = part("retire", "off blocks that go bad");
        assert_eq!((level.is_some(), retire.is_some()), (levels, retires), "{table}");
        let expected: Vec<String> = level.into_iter().chain(retire).collect();
        assert_eq!(line(&table, "Blocks moved"), Some(expected.join(", ")), "{table}");
        assert!(line(&table, "Flash commands, moves").is_some(), "{table}");
        assert_eq!(line(&table, "Bad blocks").is_some(), retires, "{table}");
    }
}

/// Parity over four dies, one of which dies between the first fill and the end of the load.
const DIES: &[u8] = b"base = \"tiny\"
ftl.over_provisioning = \"100%\"
ftl.placement.policy = \"dynamic\"
ftl.parity.policy = \"dies\"
nand.faults.schedule = [\"700ms: die 3 dies\"]
";

/// A dead die is named, with what parity rebuilt, and no data is called lost.
#[test]
fn what_parity_computed_is_told() {
    let place = Place::new();
    place.write("dies.toml", DIES);
    let run = |rest: &str| {
        let line = "run --device dies.toml --workload mixed-70-30-zipf --requests 4000 --no-output";
        let done = place.run(&format!("{line} {rest}"));
        assert_eq!(done.code, 0, "{}", done.err);
        done.out
    };
    let table = run("");
    let result: Value = serde_json::from_str(&run("--json")).expect("JSON");
    let of = |what: &str| result["report"]["parity"][what].as_u64().expect("a count");
    let programs =
        format!("over 4 dies; {} flash pages of parity programmed", count(of("parity_programs")));
    assert_eq!(line(&table, "Parity"), Some(programs), "{table}");
    let computed = format!(
        "{} unreadable flash pages, from {} others; 0 could not be rebuilt",
        count(of("reconstructed_reads")),
        count(of("reconstruction_reads"))
    );
    assert_eq!(line(&table, "Rebuilt by parity"), Some(computed), "{table}");
    assert!(of("reconstructed_reads") > 0 && of("lost_reads") == 0, "{table}");
    assert!(
        line(&table, "Dead dies")
            .is_some_and(|told| told.starts_with("1, commands that failed there: "))
    );
    assert!(!table.contains("Data is lost"), "{table}");
}

/// With everything enabled that adds a column.
#[test]
fn tables_are_narrow() {
    let place = Place::new();
    let narrow = |line: &str| {
        let done = place.run(line);
        assert_eq!(done.code, 0, "{}", done.err);
        assert!(done.out.lines().all(|line| line.chars().count() <= 80), "{}", done.out);
        done.out
    };
    let queues = "--set host.queues=4 --set host.outstanding=8 --set host.command_time=1us \
                  --set host.link.rate=1GB/s";
    let load = "--workload mixed-70-30-zipf --requests 20000 --no-output";
    let table = narrow(&format!("run --device tiny {load} {queues}"));
    for part in ["submission", "front end", "link", "admission", "GC", "cell"] {
        assert!(table.contains(part), "no {part} in {table}");
    }
    let vary = "--vary ftl.gc.copies_per_write=2,4000000 --vary ftl.gc.preemptible=on,off";
    let compared = narrow(&format!("compare tiny {vary} --seeds 1 {load}"));
    let title = "ftl.gc.copies_per_write=2, ftl.gc.preemptible=off against";
    assert!(compared.contains(title) && compared.contains("baseline  variant"), "{compared}");
    let fitting = narrow(&format!("compare tiny --vary ftl.gc.start=2,3 --seeds 1 {load}"));
    assert!(fitting.contains("ftl.gc.start=2  ftl.gc.start=3"), "{fitting}");
}

/// Unreadable requests count as done: a column gives their number, and a note says so.
#[test]
fn unreadable_and_refused_requests_have_columns() {
    let place = Place::new();
    let run = |settings: &str, rest: &str| {
        let load = "--precondition fill --workload randread-4k --requests 400 --no-output";
        let done = place.run(&format!("run --device tiny {load} {settings} {rest}"));
        assert_eq!(done.code, 0, "{}", done.err);
        done.out
    };
    let plain = run("", "");
    assert!(!plain.contains("unreadable") && !plain.contains("refused"), "{plain}");
    let faults = "--set nand.faults.read_failures=100000000";
    let table = run(faults, "");
    let result: Value = serde_json::from_str(&run(faults, "--json")).expect("JSON");
    let read = &result["report"]["host"]["read"];
    let unreadable = read["unreadable_requests"].as_u64().expect("a count");
    assert!(unreadable > 10 && read["requests"] == 400, "{read}");
    let head = table.lines().find(|line| line.starts_with("Host")).expect("the table of the host");
    assert!(head.ends_with("moved  unreadable"), "{head}");
    let of_reads = table.lines().find(|line| line.starts_with("read ")).expect("reads");
    assert_eq!(of_reads.split_whitespace().last(), Some(&*unreadable.to_string()), "{table}");
    let told = format!(
        "{unreadable} requests of the host ended as unreadable: they count in requests, IOPS"
    );
    let flat = table.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains(&told), "{table}");
    let compared = place.run(
        "compare tiny --vary nand.faults.read_failures=100000000,200000000 --precondition fill \
         --workload randread-4k --requests 400 --seeds 2 --no-output",
    );
    assert!(line(&compared.out, "reads, unreadable").is_some(), "{}", compared.out);
}

/// Padding is a metric like any other, if there is any.
#[test]
fn padding_is_compared() {
    let place = Place::new();
    let vary = "--vary ftl.gc.start=2,3 --set nand.page_size=16KiB --set ftl.mapping.unit=4KiB";
    let load = "--workload randwrite-4k --queue-depth 1 --requests 300 --seeds 1 --no-output";
    let done = place.run(&format!("compare tiny {vary} {load}"));
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(line(&done.out, "padding, pages").is_some(), "{}", done.out);
    let none = place.run(&format!("compare tiny --vary ftl.gc.start=2,3 {load}"));
    assert_eq!(line(&none.out, "padding, pages"), None, "{}", none.out);
}

/// A fault that never comes has a note; one whose time an image has passed has a warning.
#[test]
fn faults_out_of_time_are_told() {
    let place = Place::new();
    let load = "--workload randwrite-4k --requests 200 --no-output";
    let schedule = |text: &str| format!("nand.faults.schedule=[\"{text}\"]");
    let run = |start: &str, fault: &str| {
        let set = schedule(fault);
        let line = format!("run {start} {load} --set");
        let args: Vec<&str> = line.split_whitespace().chain([set.as_str()]).collect();
        let output = place.command(&args).output().expect("the program can be started");
        let out = String::from_utf8(output.stdout).expect("UTF-8");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        out.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let late = run("--device tiny", "1d: die 3 dies");
    assert!(late.contains("\"1d: die 3 dies\" never came, because the run ended before"), "{late}");
    let in_time = run("--device tiny", "1us: page 5 is unreadable");
    assert!(!in_time.contains("nand.faults.schedule"), "{in_time}");
    let save = "device save --device tiny --precondition fill:timed -o filled.ftlab -q";
    assert_eq!(place.run(save).code, 0);
    let passed = run("--image filled.ftlab", "1us: page 5 is unreadable");
    let told = "\"1us: page 5 is unreadable\" is earlier than the clock of the image filled.ftlab";
    assert!(passed.contains(told) && passed.contains("it takes effect at once"), "{passed}");
    let ahead = run("--image filled.ftlab", "1d: page 5 is unreadable");
    assert!(
        !ahead.contains("is earlier than the clock") && ahead.contains("never came"),
        "{ahead}"
    );
}

/// An image reports the data on its dead dies.
#[test]
fn an_image_tells_its_dead_dies() {
    let place = Place::new();
    let early = String::from_utf8_lossy(DIES).replace("700ms", "1ms");
    place.write("dies.toml", early.as_bytes());
    let saved = place.run("device save --device dies.toml --precondition fill -o dead.ftlab");
    assert_eq!(saved.code, 0, "{}", saved.err);
    let shown = place.run("device show dead.ftlab").out;
    let dead = line(&shown, "Dead dies").expect("a line of dead dies");
    assert!(dead.starts_with("number 3, with 0 host pages"), "{shown}");
    let state = place.run("device show dead.ftlab --json").out;
    let state = serde_json::from_str::<Value>(&state).expect("JSON")["state"].take();
    assert_eq!(state["dead_dies"], serde_json::json!([3]));
    let bare = early.replace("ftl.parity.policy = \"dies\"\n", "");
    place.write("bare.toml", bare.as_bytes());
    assert_eq!(
        place.run("device save --device bare.toml --precondition fill -o bare.ftlab -q").code,
        0
    );
    let state = place.run("device show bare.ftlab --json").out;
    let state = serde_json::from_str::<Value>(&state).expect("JSON")["state"].take();
    let (dead, lost) = (&state["blocks"]["dead"], &state["pages_on_dead_dies"]);
    assert!(dead.as_u64() > Some(0) && state["blocks"]["bad"] == 0, "{state}");
    let shown = place.run("device show bare.ftlab").out;
    assert!(line(&shown, "Blocks").expect("blocks").ends_with(&format!("0 bad, {dead} dead")));
    let told = format!("number 3, with {lost} host pages");
    assert_eq!(line(&shown, "Dead dies"), Some(told), "{shown}");
    assert_eq!(place.run("device save --device tiny -o new.ftlab -q").code, 0);
    let new = place.run("device show new.ftlab").out;
    assert!(line(&new, "Dead dies").is_none() && !new.contains(" dead"), "{new}");
}
