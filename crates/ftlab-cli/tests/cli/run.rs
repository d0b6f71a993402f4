//! `ftlab run` as users run it: what it prints and what it writes.

use super::common::{Place, entries, fails};
use serde_json::{Value, json};

const RUN: &str = "run --device tiny --trace trace.csv";

#[test]
fn a_run_prints_a_table_and_writes_a_result() {
    let place = Place::new();
    let done = place.run(RUN);
    assert_eq!(done.code, 0, "{}", done.err);
    for expected in ["tiny", "Latency", "p99.99", "Write amplification", "never started"] {
        assert!(done.out.contains(expected), "{expected} is missing in\n{}", done.out);
    }
    assert!(done.out.lines().all(|line| line.chars().count() <= 80), "{}", done.out);
    assert!(!done.out.contains('\x1b') && !done.err.contains('\x1b'), "no colours in a pipe");
    assert!(done.err.contains("ftlab-results/tiny-trace-1"), "{}", done.err);
    let folder = place.path("ftlab-results/tiny-trace-1");
    assert_eq!(
        entries(&folder),
        [
            "blocks.parquet",
            "config.toml",
            "latencies.parquet",
            "result.json",
            "run.json",
            "timeline.parquet"
        ]
    );
    // The number counts up.
    assert_eq!(place.run(RUN).code, 0);
    assert_eq!(entries(&place.path("ftlab-results")), ["tiny-trace-1", "tiny-trace-2"]);
}

#[test]
fn the_head_of_the_table_tells_of_changed_options_and_important_notes() {
    let place = Place::new();
    let lines = |line: &str| {
        let done = place.run(&format!("{line} --no-output"));
        assert_eq!(done.code, 0, "{}", done.err);
        done.out.lines().take(3).map(str::to_owned).collect::<Vec<_>>()
    };
    let plain = lines(RUN);
    assert!(plain[0].starts_with("tiny, "), "{plain:?}");
    assert!(plain[2].starts_with("Read the notes below: "), "{plain:?}");
    assert!(plain[2].ends_with("of read pages never written; GC never started."), "{plain:?}");
    let one = lines(&format!("{RUN} --set ftl.placement.policy=static"));
    assert!(one[0].starts_with("tiny with 1 option changed, "), "{one:?}");
    let sets = "--set ftl.placement.policy=static --set scheduler.policy=read-first";
    let two = lines(&format!("{RUN} {sets}"));
    assert!(two[0].starts_with("tiny with 2 options changed, "), "{two:?}");
    place.write("changed.toml", b"base = 'tiny'\n[ftl.placement]\npolicy = 'static'\n");
    let file = lines("run --device changed.toml --trace trace.csv");
    assert!(file[0].starts_with("tiny with 1 option changed, "), "{file:?}");
    place.write(
        "named.toml",
        b"base = 'tiny'\n[device]\nname = 'mine'\n[ftl.placement]\npolicy = 'static'\n",
    );
    let named = lines("run --device named.toml --trace trace.csv");
    assert!(named[0].starts_with("mine, "), "{named:?}");
}

/// Parts of the controller that take time, and what amplification consists of, have lines; others have none.
#[test]
fn the_table_tells_of_parts_only_where_they_take_time() {
    const PARTS: [&str; 5] =
        ["Decoders in use", "DRAM in use", "Link in use", "Processor in use", "Amplification by"];
    let place = Place::new();
    let table = |sets: &str| {
        let done = place.run(&format!("{RUN} --no-output {sets}"));
        assert_eq!(done.code, 0, "{}", done.err);
        done.out
    };
    let plain = table("");
    assert!(plain.contains("Dies in use"), "{plain}");
    assert!(PARTS.iter().all(|part| !plain.contains(part)), "{plain}");
    let all = table(
        "--set controller.ecc.engines=1 --set controller.dram.bandwidth=6.4GB/s --set host.link.interface=pcie-3x4 \
         --set host.command_time=1us --set ftl.recovery.policy=scan",
    );
    assert!(PARTS.iter().all(|part| all.contains(part)), "{all}");
    assert!(all.contains(" in, ") && all.contains("data 1.0000, system area 0.0000"), "{all}");
    let sata = table("--set host.link.interface=sata-3");
    assert!(sata.contains(" both ways"), "{sata}");
}

#[test]
fn the_keys_of_the_result_stay_what_they_are() {
    let place = Place::new();
    assert_eq!(place.run(&format!("{RUN} -o result --quiet")).code, 0);
    let result = place.json("result/result.json");
    assert_eq!(result["schema_version"], 2);
    assert_eq!(result["complete"], true);
    assert_eq!(result["seed"], 1);
    assert_eq!(result["load"]["kind"], "trace");
    assert_eq!(result["load"]["format"], "msr");
    assert_eq!(result["load"]["requests"], 2_000);
    assert_eq!(result["load"]["digest_blake3"].as_str().map(str::len), Some(64));
    assert_eq!(result["device"]["config_blake3"].as_str().map(str::len), Some(64));
    assert_eq!(result["device"]["config"]["nand"]["channels"], 2);
    let host = &result["report"]["host"];
    assert_eq!(host["requests"], 2_000);
    assert_eq!(host["read"]["requests"], 667);
    assert_eq!(host["write"]["bytes"], 1_333 * 4_096);
    for key in ["iops", "throughput_mb_per_s", "duration_ns"] {
        assert!(host[key].is_number(), "{key}: {}", host[key]);
    }
    for key in ["mean", "p50", "p90", "p99", "max"] {
        assert!(host["write"]["latency_ns"][key].is_number(), "{key}");
    }
    assert_eq!(host["write"]["latency_ns"]["p99_99"], Value::Null, "too few requests for it");
    let report = &result["report"];
    for key in ["runs", "copied_pages", "stale_copied_pages", "erased_blocks"] {
        assert!(report["gc"][key].is_number(), "{key}");
    }
    assert_eq!(report["write_amplification"]["total_ratio"], 1.0);
    assert_eq!(report["steady_state"]["verdict"], "gc_never_started");
    assert_eq!(report["flash_commands"]["host"]["programs"], 1_333);
    assert_eq!(report["cache"], Value::Null);
    assert!(report["utilisation"]["dies_ratio"]["mean"].is_number());
    assert_eq!(result["replay"]["pacing"]["kind"], "source");
    assert_eq!(result["replay"]["address"]["kind"], "as-is");
    assert!(result["assumed"].as_array().is_some_and(|assumed| !assumed.is_empty()));
}

#[test]
fn the_same_run_gives_the_same_bytes() {
    let place = Place::new();
    for (line, seed) in [
        (RUN, 1),
        ("run --device tiny --workload randwrite-4k --requests 30000", 7),
        ("run --device tiny --set cache.policy=lru --trace trace.csv --precondition fill", 3),
    ] {
        for folder in ["a", "b"] {
            let done = place.run(&format!("{line} --seed {seed} --records --force -o {folder}"));
            assert_eq!(done.code, 0, "{}", done.err);
        }
        for file in [
            "result.json",
            "timeline.parquet",
            "latencies.parquet",
            "blocks.parquet",
            "requests.parquet",
        ] {
            let (a, b) = (place.read(&format!("a/{file}")), place.read(&format!("b/{file}")));
            assert!(a == b, "{file} of {line}");
        }
    }
    let folders = ["--seed 1 -o one", "--seed 2 -o two"];
    let line = "run --device tiny --workload randwrite-4k --requests 3000 --quiet";
    folders.iter().for_each(|rest| assert_eq!(place.run(&format!("{line} {rest}")).code, 0));
    assert!(place.read("one/result.json") != place.read("two/result.json"), "the seed counts");
}

#[test]
fn json_goes_to_standard_output_and_is_the_file() {
    let place = Place::new();
    let done = place.run(&format!("{RUN} --json -o result"));
    assert_eq!(done.code, 0);
    assert_eq!(done.out.as_bytes(), place.read("result/result.json"));
    let alone = place.run(&format!("{RUN} --json --no-output"));
    assert_eq!(alone.out, done.out);
    assert_eq!(place.entries(), ["result", "trace.csv"]);
}

#[test]
fn the_shown_configuration_is_the_one_that_ran() {
    let place = Place::new();
    let set = "--set scheduler.policy=read-first";
    assert_eq!(place.run(&format!("{RUN} {set} -o one --quiet")).code, 0);
    let again = "run --device one/config.toml --trace trace.csv -o two --quiet";
    let done = place.run(again);
    assert_eq!(done.code, 0, "{}", done.err);
    assert_eq!(place.read("one/result.json"), place.read("two/result.json"));
}

#[test]
fn standard_input_and_the_ways_to_replay() {
    let place = Place::new();
    let mut command = place.command(&["run", "--device", "tiny", "--trace", "-", "--json"]);
    let file = std::fs::File::open(place.path("trace.csv")).unwrap();
    let output = command.arg("--no-output").stdin(file).output().unwrap();
    let piped: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(piped["report"]["host"]["requests"], 2_000);

    let pacing = |rest: &str| {
        let done = place.run(&format!("{RUN} --no-output --json {rest}"));
        assert_eq!(done.code, 0, "{rest}: {}", done.err);
        serde_json::from_str::<Value>(&done.out).unwrap()
    };
    let closed = pacing("--queue-depth 8");
    assert_eq!(
        closed["replay"]["pacing"],
        json!({"kind": "closed", "depth_requests": 8, "think_time_ns": 0})
    );
    assert_eq!(pacing("--replay asap")["replay"]["pacing"]["kind"], "dependencies");
    let open = pacing("--replay open --speed 2");
    assert_eq!(open["replay"]["pacing"]["speed_ratio"], 2.0);
    let duration = |result: &Value| result["report"]["host"]["duration_ns"].as_u64().unwrap();
    assert!(duration(&open) < duration(&piped) * 51 / 100);
    assert!(duration(&closed) < duration(&open));
    assert_eq!(pacing("--requests 10")["report"]["host"]["requests"], 10);
    assert_eq!(pacing("--address scale")["replay"]["address"]["span_sectors"], 16_000);
    assert_eq!(pacing("--address partition")["replay"]["address"]["slices"], 1);
}

#[test]
fn a_precondition_is_played_and_not_measured() {
    let place = Place::new();
    let done = place.run(&format!("{RUN} --precondition fill --no-output --json"));
    assert_eq!(done.code, 0, "{}", done.err);
    let result: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(result["report"]["host"]["requests"], 2_000);
    assert_eq!(result["report"]["unwritten_read_pages"], 0);
    assert_eq!(result["report"]["phases"][0]["measured"], false);
    assert_eq!(result["precondition"][0]["step"], "fill");
}

#[test]
fn the_files_of_columns_hold_what_was_played() {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    let place = Place::new();
    assert_eq!(place.run(&format!("{RUN} --records -o result --quiet")).code, 0);
    let open = |name: &str| {
        SerializedFileReader::new(std::fs::File::open(place.path(name)).unwrap()).unwrap()
    };
    let requests = open("result/requests.parquet");
    let metadata = requests.metadata().file_metadata();
    assert_eq!(metadata.num_rows(), 2_000);
    let units = metadata.key_value_metadata().unwrap();
    assert!(units.iter().any(|pair| pair.key == "unit.lba" && pair.value.is_some()));
    let column = |row: &parquet::record::Row, name: &str| -> u64 {
        let (_, field) = row.get_column_iter().find(|(known, _)| *known == name).unwrap();
        match field {
            parquet::record::Field::ULong(value) => *value,
            parquet::record::Field::UInt(value) => u64::from(*value),
            parquet::record::Field::UByte(value) => u64::from(*value),
            other => panic!("{name}: {other}"),
        }
    };
    let parts =
        ["host_queue_ns", "buffer_ns", "admission_ns", "queue_ns", "gc_ns", "bus_ns", "cell_ns"];
    let mut sum = 0;
    for row in requests.get_row_iter(None).unwrap() {
        let row = row.unwrap();
        let latency = column(&row, "latency_ns");
        assert_eq!(parts.iter().map(|part| column(&row, part)).sum::<u64>(), latency);
        sum += if column(&row, "op") == 1 { latency } else { 0 };
    }
    let result = place.json("result/result.json");
    let write = &result["report"]["host"]["write"];
    assert_eq!(write["latency_ns"]["mean"], sum as f64 / write["requests"].as_f64().unwrap());
    let timeline = open("result/timeline.parquet");
    let rows = timeline.get_row_iter(None).unwrap().map(Result::unwrap);
    assert_eq!(rows.map(|row| column(&row, "write_latency_sum_ns")).sum::<u64>(), sum);
}

/// A device without an FTL runs as it is; preparing or saving it is refused.
#[test]
fn a_device_without_translation_runs_and_is_not_prepared() {
    let place = Place::new();
    let load =
        "name = 'x'\n[[phase]]\nreads = '50%'\nwrites = '50%'\nsize = '4KiB'\nrequests = 500";
    place.write("load.toml", load.as_bytes());
    let run = "run --device rw-scheduler --workload load.toml";
    let done = place.run(&format!("{run} --no-output --json"));
    assert_eq!(done.code, 0, "{}", done.err);
    let result: Value = serde_json::from_str(&done.out).unwrap();
    let report = &result["report"];
    assert_eq!(report["write_amplification"]["total_ratio"], 1.0);
    assert_eq!(report["steady_state"]["verdict"], "nothing_to_collect");
    assert_eq!(report["unwritten_read_pages"], 0);
    let notes: Vec<_> = report["notes"].as_array().unwrap().iter().collect();
    assert!(notes[0].as_str().unwrap().contains("physical addresses"), "{notes:?}");
    let refused = ["translates no addresses", "remedy: leave --precondition and --image out"];
    fails(&place, &format!("{run} --precondition fill"), &refused);
    let compare =
        "compare rw-scheduler --vary scheduler.policy=fifo,read-first --workload load.toml";
    fails(&place, &format!("{compare} --precondition fill"), &refused);
    let save = "device save --device rw-scheduler -o image.ftlab";
    fails(&place, save, &["no state that an image could hold", "remedy"]);
    let paged = "run --device tiny --workload load.toml --set ftl.mapping.policy=physical";
    fails(&place, paged, &["set ftl.over_provisioning to \"0%\""]);
}

/// Requests after the measured ones count in no figure about requests.
#[test]
fn results_leave_out_what_follows_the_measured_requests() {
    let place = Place::new();
    let file = |first: &str| {
        format!(
            "name = 'mix'\n[[phase]]\nname = 'mix'\nreads = '50%'\nwrites = '50%'\nsize = '4KiB'\n\
             requests = 5000\narrivals = {{ kind = 'poisson', rate = '4000/s' }}\n{first}"
        )
    };
    place.write("first.toml", file("measure_first = 1000").as_bytes());
    place.write("plain.toml", file("").as_bytes());
    let run = |line: &str, folder: &str| {
        let done = place.run(&format!("run --device tiny {line} --records -o {folder} --quiet"));
        assert_eq!(done.code, 0, "{}", done.err);
        place.json(&format!("{folder}/result.json"))["report"].take()
    };
    let first = run("--workload first.toml", "first");
    let plain = run("--workload plain.toml --requests 1000", "plain");
    let phase = &first["phases"][0];
    assert_eq!((&first["host"]["requests"], &phase["requests"]), (&json!(1000), &json!(1000)));
    assert!(phase["unmeasured_requests"].as_u64().unwrap() > 0, "{phase}");
    // The measured requests fare as in a run that ends with them, because nothing overtakes here.
    for op in ["read", "write"] {
        assert_eq!(first["host"][op], plain["host"][op], "{op}");
    }
    assert_eq!(first["host"]["duration_ns"], plain["host"]["duration_ns"]);
    let note = first["notes"].as_array().unwrap().iter().filter_map(Value::as_str);
    assert_eq!(note.filter(|note| note.contains("measure_first")).count(), 1);
    // Arrivals end at 401 us, long before the measured writes do; the phase has no name.
    let dry = file("measure_first = 400")
        .replace("name = 'mix'\nreads", "reads")
        .replace("requests = 5000", "requests = 401")
        .replace("{ kind = 'poisson', rate = '4000/s' }", "{ kind = 'constant', period = '1us' }");
    place.write("dry.toml", dry.as_bytes());
    let said = |folder: &str, text: &str| {
        let report = &place.json(&format!("{folder}/result.json"))["report"];
        let notes = report["notes"].as_array().unwrap().iter().filter_map(Value::as_str);
        notes.filter(|note| note.contains(text)).count()
    };
    run("--workload dry.toml", "dry");
    assert_eq!(said("dry", "The requests of phase 1 ended before the measured ones"), 1);
    assert_eq!(said("dry", "Only the first requests of phase 1 are measured"), 1);
    assert_eq!(said("first", "ended before"), 0);
    place.write("bad.toml", file("measure_first = 6000").as_bytes());
    fails(&place, "run --device tiny --workload bad.toml", &["measure_first", "5000", "bad.toml:"]);
}

#[test]
fn requests_that_are_cut_at_the_end_are_noted() {
    let place = Place::new();
    // The last page of the device and the one after it.
    let end = 6_144 * 4_096;
    let line = format!("129000000000000000,t,0,Write,{},8192,0\n", end - 4_096);
    place.write("end.csv", line.as_bytes());
    let done = place.run("run --device tiny --trace end.csv --address fold --no-output --json");
    let result: Value = serde_json::from_str(&done.out).expect("JSON");
    assert_eq!(result["replay"]["clipped_bytes"], 4_096);
    let notes = result["report"]["notes"].to_string();
    let told = "1 requests reached beyond the end of the device";
    assert!(notes.contains(told) && notes.contains("4.10 kB were dropped"), "{notes}");
    let whole = place.run("run --device tiny --trace trace.csv --address fold --no-output --json");
    assert!(!whole.out.contains("reached beyond"), "{}", whole.out);
}

#[test]
fn queues_and_tenants_have_results_of_their_own() {
    let place = Place::new();
    let line = "run --device tiny --workload noisy-neighbour --set host.queues=2 \
                --set host.outstanding=4 --set host.arbitration.policy=weighted-round-robin \
                --set host.arbitration.weights=[3,1] -o out";
    let done = place.run(line);
    assert_eq!(done.code, 0, "{}", done.err);
    for expected in ["Queue  tenant  weight", "Fairness", "submission", "reader + writer"] {
        assert!(done.out.contains(expected), "{expected} is missing in\n{}", done.out);
    }
    assert!(done.out.lines().all(|line| line.chars().count() <= 80), "{}", done.out);
    assert!(entries(&place.path("out")).contains(&"queues.parquet".to_owned()));
    let host = place.json("out/result.json")["report"]["host"].take();
    let of = |at: usize, key: &str| host["queues"][at][key].clone();
    assert_eq!((of(0, "weight"), of(1, "weight")), (json!(3), json!(1)));
    assert_eq!(of(0, "write")["requests"], json!(0));
    assert_eq!(of(1, "read")["requests"], json!(0));
    let requests = |at| of(at, "requests").as_u64().expect("a count");
    assert_eq!(Some(requests(0) + requests(1)), host["requests"].as_u64());
    assert!(requests(0) > 100 && requests(1) > 100);
    let jain = host["fairness"]["jain_requests_ratio"].as_f64().expect("two queues were used");
    assert!((0.5..1.0).contains(&jain), "{jain}");
}
