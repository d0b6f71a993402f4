//! Malicious files, and names that lead elsewhere. They are refused quickly and within bounded
//! memory, and nothing is written outside the named folder.

use super::common::{Place, entries, fails};

/// Reading any of these would never end.
#[cfg(unix)]
#[test]
fn files_without_end_are_refused() {
    let place = Place::new();
    let load = "--workload randwrite-4k --requests 10 --no-output";
    let too_long = ["longer than 32 MiB", "right file"];
    fails(&place, &format!("run --device /dev/zero {load}"), &["/dev/zero"]);
    fails(&place, "run --device tiny --workload /dev/zero --no-output", &too_long);
    fails(&place, "run --device tiny --fio /dev/zero --no-output", &["longer than 32 MiB"]);
    fails(&place, "run --device tiny --trace /dev/zero --no-output", &["a line is longer"]);
    fails(&place, &format!("run --image /dev/zero {load}"), &["not an image"]);
    place.write(
        "w.toml",
        b"name = 'w'\n[[phase]]\nwrites = '100%'\nsize = '4KiB'\nrequests = 1\n\
        address = { kind = 'histogram', file = '/dev/zero' }\n",
    );
    fails(&place, "run --device tiny --workload w.toml --no-output", &["longer than 32 MiB"]);
    place.write("job.fio", b"include /dev/zero\n[job]\nsize=1m\nrw=read\n");
    fails(&place, "run --device tiny --fio job.fio --no-output", &["longer than 32 MiB"]);
}

/// Names of variants, devices, workloads and experiments become names of folders.
#[test]
fn names_do_not_lead_out_of_the_folder() {
    let place = Place::new();
    let tiny = "base = \"tiny\"\n[device]\nname = \"../../../evil\"\n";
    place.write("evil.toml", tiny.as_bytes());
    place.write(
        "w.toml",
        b"name = '/../../evil'\n[[phase]]\nwrites = '100%'\nsize = '4KiB'\n\
        requests = 10\n",
    );
    let args = [
        "compare",
        "evil.toml",
        "--variant",
        "../../evil:ftl.gc.stop=5",
        "--variant",
        "/evil:ftl.gc.stop=6",
        "--workload",
        "w.toml",
        "--seeds",
        "1",
        "-q",
        "-o",
        "deep/er/out",
    ];
    let done = place.command(&args).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(place.entries(), ["deep", "evil.toml", "trace.csv", "w.toml"]);
    assert_eq!(entries(&place.path("deep/er")), ["out"]);
    assert_eq!(entries(&place.path("deep/er/out/runs")), ["1-______evil", "2-_evil"]);
    // By default the folder's name is built from the names.
    assert_eq!(place.run("run --device evil.toml --workload w.toml -q").code, 0);
    let results = entries(&place.path("ftlab-results"));
    assert!(results.len() == 1 && results[0].ends_with("evil-1"), "{results:?}");
    assert_eq!(place.entries(), ["deep", "evil.toml", "ftlab-results", "trace.csv", "w.toml"]);
}

#[cfg(unix)]
#[test]
fn links_are_not_followed_when_results_are_written() {
    let place = Place::new();
    let run = "run --device tiny --trace trace.csv -q -o link";
    std::fs::create_dir(place.path("elsewhere")).unwrap();
    place.write("elsewhere/precious", b"mine");
    for to in ["elsewhere", "nowhere"] {
        std::os::unix::fs::symlink(to, place.path("link")).unwrap();
        fails(&place, run, &["link"]);
        fails(&place, &format!("{run} --force"), &["link"]);
        std::fs::remove_file(place.path("link")).unwrap();
    }
    assert_eq!(place.read("elsewhere/precious"), b"mine");
}

/// A damaged result is reported with its file.
#[test]
fn damaged_results_are_refused_with_the_file() {
    let place = Place::new();
    assert_eq!(place.run("run --device tiny --trace trace.csv -q -o a").code, 0);
    for file in ["latencies.parquet", "timeline.parquet", "blocks.parquet", "result.json"] {
        let whole = place.read(&format!("a/{file}"));
        for damaged in [&whole[..whole.len() / 2], b"", b"PAR1PAR1", b"{}"] {
            place.write(&format!("a/{file}"), damaged);
            fails(&place, "report a -o page.html", &[file, "remedy: "]);
        }
        place.write(&format!("a/{file}"), &whole);
    }
    assert_eq!(place.run("report a -o page.html -q").code, 0);
}

/// What is not a result is reported as what it is, with a remedy.
#[test]
fn what_is_no_result_is_told_as_what_it_is() {
    let place = Place::new();
    std::fs::create_dir(place.path("empty")).unwrap();
    place.write("notes.txt", b"nothing of the kind\n");
    assert_eq!(place.run("run --device tiny --trace trace.csv -q -o a").code, 0);
    for (named, expected) in [
        ("trace.csv", &["trace.csv: this is a trace (format msr), not a result", "--trace"][..]),
        ("notes.txt", &["notes.txt is a file, and a result is a folder"]),
        ("a/result.json", &["a/result.json is a part of a result", "name its folder, a"]),
        ("empty", &["empty is a folder without a result"]),
        ("gone", &["there is no result gone", "check the path"]),
        ("notes.txt/gone", &["there is no result notes.txt/gone", "check the path"]),
    ] {
        fails(&place, &format!("report {named} -o page.html"), &[expected, &["remedy"]].concat());
        fails(&place, &format!("report a {named} -o page.html"), expected);
    }
}

/// A path that leads through a file, and one that is too long.
#[test]
fn paths_that_lead_nowhere_are_told_as_such() {
    let place = Place::new();
    let long = "x".repeat(300);
    let load = "--workload randread-4k --requests 5";
    for line in [
        "run --device tiny --trace trace.csv/inside --no-output".to_owned(),
        format!("run --device trace.csv/inside.toml {load} --no-output"),
        format!("run --image trace.csv/inside {load} --no-output"),
        "run --device tiny --workload trace.csv/inside.toml --no-output".to_owned(),
        "run --device tiny --fio trace.csv/inside.fio --no-output".to_owned(),
        "trace convert trace.csv trace.csv/out.parquet".to_owned(),
    ] {
        fails(&place, &line, &["Not a directory", "one of its folders is a file"]);
    }
    for line in [
        format!("run --device tiny --trace {long} --no-output"),
        format!("run --device {long}.toml {load} --no-output"),
    ] {
        fails(&place, &line, &["too long", "choose a shorter name"]);
    }
}

/// Measuring takes the same memory however many requests there are.
#[cfg(target_os = "linux")]
#[test]
fn memory_does_not_grow_with_requests() {
    let place = Place::new();
    place.write(
        "w.toml",
        b"name = 'w'\n[[phase]]\nreads = '50%'\nwrites = '48%'\ntrims = '1%'\nflushes = '1%'\n\
        size = '4KiB'\narrivals = { kind = 'closed', queue_depth = 8 }\nrequests = 100000000\n",
    );
    let peak = |requests: u32| {
        let line = format!(
            "run --device tiny --set cache.policy=lru --workload w.toml --precondition fill --accesses -q \
             --requests {requests} -o out-{requests}"
        );
        let args: Vec<&str> = line.split_whitespace().collect();
        peak_kib(place.command(&args).spawn().unwrap())
    };
    let (few, many) = (peak(60_000), peak(600_000));
    assert!(
        many < few + 2048,
        "{few} KiB for 60,000 requests and {many} KiB for ten times as many"
    );
}

/// Inspecting a trace takes the same memory however long it is, however much it touches and however many streams it has.
#[cfg(target_os = "linux")]
#[test]
fn memory_does_not_grow_with_a_trace() {
    use std::io::Write as _;
    let place = Place::new();
    let peak = |requests: u64| {
        let args = ["trace", "inspect", "-", "--format", "msr", "--json"];
        let mut command = place.command(&args);
        command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut lines = std::io::BufWriter::new(child.stdin.take().unwrap());
        let writer = std::thread::spawn(move || {
            let mut random = ftlab::engine::Stream::new(1, "a long trace");
            for number in 0..requests {
                // Of 4 PiB more and more is used.
                let (disk, range) = (random.below(1 << 31), (number + 1).saturating_mul(64 << 30));
                let (at, page) = (number * 1_000, random.below(range.min(4 << 50) / 4096));
                writeln!(lines, "{at},h,{disk},Write,{},4096,1", page * 4096).unwrap();
            }
        });
        let most = peak_kib(child);
        writer.join().unwrap();
        most
    };
    let (few, many) = (peak(200_000), peak(2_000_000));
    // From 200,000 to 2 million requests the peak rose by 8 MiB, and from 3 to 9 million by 1 MiB.
    assert!(
        many < few + 16384 && many < 160 << 10,
        "{few} KiB for 200,000 requests and {many} KiB for ten times as many"
    );
}

/// The most memory that a process has until it ends, which must be well.
#[cfg(target_os = "linux")]
fn peak_kib(mut child: std::process::Child) -> u64 {
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0;
    while child.try_wait().unwrap().is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse().ok());
        most = most.max(kib.unwrap_or(0u64));
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    assert!(child.wait().unwrap().success() && most > 0);
    most
}
