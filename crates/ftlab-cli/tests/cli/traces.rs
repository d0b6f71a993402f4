//! A run's notes on its trace: pages that share a place, odd clocks and shapes.

use serde_json::{Value, json};

use super::common::{Place, fails};

/// Returns 4 KiB writes, one per millisecond, to (stream, page) pairs.
fn writes(pages: impl IntoIterator<Item = (u32, u64)>) -> String {
    let line = |(at, (stream, page)): (u64, (u32, u64))| {
        let time = 129_000_000_000_000_000 + at * 10_000;
        format!("{time},test,{stream},Write,{},4096,0\n", page * 4_096)
    };
    (0..).zip(pages).map(line).collect()
}

fn run(place: &Place, rest: &str) -> Value {
    let done = place.run(&format!("run --device tiny --no-output --json {rest}"));
    assert_eq!(done.code, 0, "{rest}: {}", done.err);
    serde_json::from_str(&done.out).expect("JSON")
}

fn notes(result: &Value, with: &str) -> Vec<String> {
    let notes = result["report"]["notes"].as_array().expect("a list").iter();
    let notes = notes.filter_map(Value::as_str).filter(|note| note.contains(with));
    notes.map(str::to_owned).collect()
}

#[test]
fn streams_that_share_addresses_are_counted_and_noted_with_the_remedy() {
    let place = Place::new();
    // Two streams share 100 of 300 pages; a third has its own.
    let pages = (0..200).map(|page| (1, page)).chain((100..300).map(|page| (2, page)));
    place.write("two.csv", writes(pages.chain([(3, 500)])).as_bytes());
    let shared = json!({
        "touched_pages_4k": 301, "folded_pages_4k": 0, "shared_pages_4k": 100, "streams": 3,
        "sharing_streams": 2,
    });
    for address in ["as-is", "fold", "scale"] {
        let result = run(&place, &format!("--trace two.csv --address {address}"));
        assert_eq!(result["replay"]["sharing"], shared, "{address}");
        let told = notes(&result, "share addresses");
        assert_eq!(told.len(), 1, "{address}");
        for text in ["2 of the 3 streams", "301 touched pages", "100 (33.2 %)", "`address` compact"]
        {
            assert!(told[0].contains(text), "{address}: no {text} in {}", told[0]);
        }
        assert_eq!(notes(&result, "was folded"), [""; 0]);
    }
    let apart = run(&place, "--trace two.csv --address partition");
    assert_eq!(apart["replay"]["sharing"]["shared_pages_4k"], 0);
    let packed = run(&place, "--trace two.csv --address compact");
    assert_eq!(packed["replay"].get("sharing"), None);
    for result in [apart, packed] {
        assert_eq!(notes(&result, "share addresses"), [""; 0]);
        // No page is written twice, so none is hit in the buffer.
        assert_eq!(result["report"]["cache"]["write_hit_pages"].as_u64().unwrap_or(0), 0);
    }
    let workload = run(&place, "--workload randwrite-4k --requests 100");
    assert_eq!(workload["replay"].get("sharing"), None);
}

#[test]
fn a_trace_larger_than_the_device_is_not_scaled_and_what_folding_merges_is_noted() {
    let place = Place::new();
    // The device has 6,144 pages; no page is written twice.
    place.write("large.csv", writes((0..600).map(|at| (0, at * 20))).as_bytes());
    let line = "run --device tiny --trace large.csv --address scale";
    fails(&place, line, &["scaled onto the device", "help: choose a larger device, or compact"]);
    let scale = "run --device tiny --trace trace.csv --address scale:25MiB";
    fails(&place, scale, &["scaled onto the device"]);
    let folded = run(&place, "--trace large.csv --address fold");
    // 6,144 is no multiple of 20, so no folded page meets another.
    assert_eq!(folded["replay"]["sharing"]["folded_pages_4k"], 0);
    assert_eq!(notes(&folded, "was folded"), [""; 0]);
    place.write("even.csv", writes((0..600).map(|at| (0, at * 32))).as_bytes());
    let folded = run(&place, "--trace even.csv --address fold");
    assert_eq!(folded["replay"]["sharing"]["folded_pages_4k"], 192);
    let told = notes(&folded, "was folded");
    assert!(told[0].contains("of 192 touched pages of 4 KiB, 192 (100.0 %)"), "{told:?}");
    assert!(told[0].contains("`address` compact"), "{told:?}");
}

#[test]
fn folding_and_streams_are_told_each_with_its_own_count() {
    let place = Place::new();
    // Two streams touch the same 200 pages in 4 turns of the 6,144 pages; one other page is folded, too.
    let of = |stream| {
        (0..4).flat_map(move |turn| (0..200).map(move |page| (stream, turn * 6_144 + page)))
    };
    let alone = [(1, 1_000), (1, 6_144 + 1_000)];
    place.write("both.csv", writes(of(1).chain(of(2)).chain(alone)).as_bytes());
    let result = run(&place, "--trace both.csv --address fold");
    let expected = json!({
        "touched_pages_4k": 201, "folded_pages_4k": 201, "shared_pages_4k": 200, "streams": 2,
        "sharing_streams": 2,
    });
    assert_eq!(result["replay"]["sharing"], expected);
    let (shared, folded) = (notes(&result, "share addresses"), notes(&result, "was folded"));
    assert!(shared[0].contains("200 (99.5 %) belong"), "{shared:?}");
    assert!(!shared[0].contains("partition") && shared[0].contains("compact"), "{shared:?}");
    assert!(folded[0].contains("touched pages of 4 KiB, 201 (100.0 %)"), "{folded:?}");
    assert!(folded[0].contains("larger device"), "{folded:?}");
}

#[test]
fn one_request_has_no_rate() {
    let place = Place::new();
    place.write("one.csv", writes([(0, 7)]).as_bytes());
    assert_eq!(run(&place, "--trace one.csv")["report"]["host"]["iops"], Value::Null);
    let table = place.run("run --device tiny --no-output --trace one.csv");
    let row = table.out.lines().find(|line| line.trim_start().starts_with("all ")).expect("a row");
    let cells: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(cells[..3], ["all", "1", "-"], "{}", table.out);
    let inspected = place.run("trace inspect one.csv");
    assert!(!inspected.out.contains("requests a second"), "{}", inspected.out);
}

#[test]
fn a_run_warns_of_the_shape_of_its_trace() {
    let place = Place::new();
    let pages = || (0..200).map(|at| (0, at * 7_919 % 6_000));
    place.write("twice.csv", writes(pages().chain(pages())).as_bytes());
    let warned = |file: &str| run(&place, &format!("--trace {file}"))["warnings"].to_string();
    assert!(warned("twice.csv").contains("2 copies of its first 200 requests, one after another"));
    let fast = writes(pages()).replace("0000,test", ",test");
    place.write("fast.csv", fast.as_bytes());
    assert!(warned("fast.csv").contains("(`time_unit` us)"), "{}", warned("fast.csv"));
    for line in ["run --device tiny --no-output --trace", "trace inspect", "trace inspect --json"] {
        let told = place.run(&format!("{line} fast.csv")).out.replace("\n  ", " ");
        assert!(told.contains("(--time-unit us)") && !told.contains('`'), "{line}: {told}");
    }
    let converted = place.run("trace convert fast.csv fast.parquet");
    assert!(converted.err.contains("(--time-unit us)"), "{}", converted.err);
    assert_eq!(warned("trace.csv"), "[]");
}

#[test]
fn events_of_blkparse_go_by_name_and_by_letter() {
    let place = Place::new();
    let line = |at: u64| format!("8,0 0 {at} 0.{:09} 7 C W {} + 8 [x]\n", at * 1_000_000, at * 8);
    place.write("done.txt", (0..20).map(line).collect::<String>().as_bytes());
    fails(&place, "trace inspect done.txt", &["20 completions (C)", "--blkparse-event complete"]);
    for name in ["complete", "C"] {
        let done = place.run(&format!("trace inspect --json done.txt --blkparse-event {name}"));
        let found: Value = serde_json::from_str(&done.out).expect("JSON");
        assert_eq!(found["requests"], 20, "{name}");
    }
    let wrong = "trace inspect done.txt --blkparse-event X";
    fails(&place, wrong, &["issue, queue, complete"]);
}

#[cfg(unix)]
#[test]
fn a_pipe_is_read_once() {
    let place = Place::new();
    let pipe = place.path("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let expected = run(&place, "--trace trace.csv --queue-depth 2");
    let trace = place.read("trace.csv");
    let writer = std::thread::spawn(move || std::fs::write(pipe, trace));
    let found = run(&place, "--trace pipe --queue-depth 2");
    writer.join().unwrap().unwrap();
    assert_eq!(found["report"], expected["report"]);
    fails(&place, "run --device tiny --trace pipe --address scale", &["read only once", "remedy"]);
    fails(
        &place,
        "compare tiny --vary ftl.gc.start=2,3 --trace pipe",
        &["read only once", "remedy"],
    );
}

#[test]
fn two_traces_are_compared_and_each_is_described() {
    let place = Place::new();
    place.write("scan.csv", writes((0..400).map(|at| (0, at % 100))).as_bytes());
    place.write("hot.csv", writes((0..400).map(|at| (0, at % 10))).as_bytes());
    let told = place.run("trace inspect scan.csv").out;
    assert!(told.contains("Sequential") && told.contains("Zipf exponent 0.00"), "{told}");
    let told = place.run("trace compare scan.csv hot.csv").out;
    assert!(told.contains("reuse_pages"), "{told}");
    let json = place.run("trace compare scan.csv hot.csv --json").out;
    let found: Value = serde_json::from_str(&json).expect("JSON");
    let named = |list: &str, name: &str| {
        let list = found[list].as_array().expect("a list");
        list.iter().find(|one| one["name"] == name).expect("known").clone()
    };
    assert_eq!(named("figures", "pages")["ratio"], 0.1);
    assert_eq!(named("distances", "reuse_pages")["kolmogorov_smirnov"], 1.0);
    assert_eq!(named("distances", "write_bytes")["total_variation"], 0.0);
    fails(&place, "trace compare scan.csv none.csv", &["none.csv", "remedy"]);
}

#[test]
fn pages_of_traces_are_whole_and_replace_only_their_like() {
    let place = Place::new();
    place.write("scan.csv", writes((0..400).map(|at| (0, at % 100))).as_bytes());
    place.write("hot.csv", writes((0..400).map(|at| (at as u32 % 2, at % 10))).as_bytes());
    place.write("other.html", b"<!DOCTYPE html><title>mine</title>");
    let plain = place.run("trace inspect hot.csv --json").out;
    let told = place.run("trace inspect hot.csv --json --page hot.html");
    assert_eq!((told.code, &told.out), (0, &plain), "{}", told.err);
    let page = String::from_utf8(place.read("hot.html")).expect("text");
    for text in ["ftlab: the load hot", "Streams of hot", "</html>", "default-src 'none'"] {
        assert!(page.contains(text), "{text}");
    }
    assert!(!page.contains("src=") && !page.contains("Differences"), "it is complete in itself");
    let plain = place.run("trace compare scan.csv hot.csv").out;
    let told = place.run("trace compare scan.csv hot.csv --page both.html");
    assert_eq!((told.code, &told.out), (0, &plain), "{}", told.err);
    let page = String::from_utf8(place.read("both.html")).expect("text");
    assert!(page.contains("Differences") && page.contains("\"loads\":[\"A: scan\",\"B: hot\"]"));
    let accesses = place.run("trace inspect hot.csv --accesses --page hot.html --force");
    assert_eq!(accesses.code, 0, "{}", accesses.err);
    let page = String::from_utf8(place.read("hot.html")).expect("text");
    assert!(page.contains("How reads and writes share pages"));

    let refused = |line: &str, expected: &[&str]| fails(&place, line, expected);
    refused("trace inspect hot.csv --page hot.html", &["already exists", "--force", "--page"]);
    refused("trace compare scan.csv hot.csv --page both.html", &["already exists", "--force"]);
    refused("trace inspect hot.csv --page other.html --force", &["other.html", "--page"]);
    refused("trace inspect hot.csv --page none/hot.html", &["none/hot.html", "remedy"]);
    refused("trace inspect none.csv --page none.html", &["none.csv", "remedy"]);
    refused("trace inspect hot.csv --force", &["--page"]);
    assert_eq!(place.read("other.html"), b"<!DOCTYPE html><title>mine</title>");
    assert!(!place.path("none.html").exists(), "nothing is left of a page that failed");
}

#[test]
fn a_trace_without_times_is_not_played_at_once_in_silence() {
    let place = Place::new();
    let line = |at: u64| format!("W,{},4096\n", at % 50 * 4_096);
    place.write("bare.csv", (0..200).map(line).collect::<String>().as_bytes());
    let bare = "--trace bare.csv --columns op=1,offset=2,size=3";
    let warned = |result: &Value| {
        let warnings = result["warnings"].as_array().expect("a list").iter();
        let told = warnings.filter_map(Value::as_str).filter(|text| text.contains("no times"));
        told.map(str::to_owned).collect::<Vec<_>>()
    };
    let [told] = &warned(&run(&place, bare))[..] else { panic!("no warning") };
    assert!(told.contains("all arrive at once") && told.contains("queue_depth"), "{told}");
    // What it advises works, and needs no warning.
    for remedy in ["--queue-depth 4", "--replay asap"] {
        assert_eq!(warned(&run(&place, &format!("{bare} {remedy}"))), [""; 0], "{remedy}");
    }
    assert_eq!(warned(&run(&place, "--trace trace.csv")), [""; 0]);
    // No figure of time is told of it, and why.
    let inspect = "trace inspect bare.csv --columns op=1,offset=2,size=3";
    let done = place.run(&format!("{inspect} --page bare.html"));
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.out.contains("all requests have the same time"), "{}", done.out);
    let page = String::from_utf8(place.read("bare.html")).expect("text");
    let compared = place.run("trace compare bare.csv bare.csv --columns op=1,offset=2,size=3");
    assert!(compared.err.contains("all requests have the same time"), "{}", compared.err);
    // Before the scripts there are the tables and the figures.
    let shown = page.split("</script>").next().expect("a page");
    for text in [done.out.as_str(), shown] {
        for of_time in ["requests a second", "in any second", "Gaps", "Dispersion", "an hour"] {
            assert!(!text.contains(of_time), "{of_time}: {text}");
        }
    }
}

#[test]
fn files_for_a_folder_that_is_missing_are_refused_before_any_work() {
    let place = Place::new();
    for line in [
        "trace inspect nothing.csv --page no/such/page.html",
        "trace compare nothing.csv nothing.csv --page no/such/page.html",
        "trace fit nothing.csv -o no/such/like.toml",
        "trace fit nothing.csv -o like.toml --page no/such/page.html",
        "trace convert nothing.csv no/such/new.parquet",
    ] {
        // The trace is missing too, which is noticed later.
        fails(&place, line, &["there is no folder no/such", "mkdir -p no/such"]);
    }
    assert!(!place.path("like.toml").exists());
}

#[test]
fn compared_figures_have_units_that_read_well() {
    let place = Place::new();
    let line = |at: u64| {
        let time = 129_000_000_000_000_000_u64 + at * 100;
        format!("{time},test,0,Write,{},8192,0\n", at * 8_192)
    };
    place.write("even.csv", (0..500).map(line).collect::<String>().as_bytes());
    let done = place.run("trace compare even.csv even.csv");
    assert_eq!(done.code, 0, "{}", done.err);
    let row = |name: &str| done.out.lines().find(|line| line.contains(name)).expect("a row");
    assert!(row("mean_gap_ns").contains("10.0 us"), "{}", done.out);
    assert!(row("mean_write_bytes").contains("8.19 kB"), "{}", done.out);
}
