//! What a page is told: the results of the program, at any pace; what is seen meanwhile; and messages for what is wrong.

use std::path::Path;

use bytes::Bytes;
use ftlab_lab::Lab;
use ftlab_lab::device;
use ftlab_lab::experiment::{Experiment, LoadSource, NamedRun};
use ftlab_lab::result::to_json;
use ftlab_web::Desk;
use ftlab_workload::trace;
use serde_json::{Value, json};

/// The machines of the five papers, MQSim's, a drive as they are sold, and a toy with three loads.
const PLANS: [Given; 10] = [
    ("tiny", "", "randwrite-4k", "requests=3000 precondition=fill,age"),
    ("tiny", "ftl.gc.victim=cost-benefit", "mixed-70-30-zipf", "requests=3000 precondition=fill"),
    ("tiny", "", "noisy-neighbour", "requests=2000"),
    ("tlc-32g", "nand.pages_per_block=24", "mixed-70-30-zipf", "requests=2000 precondition=fill"),
    ("rw-scheduler", "", "rw-scheduler-80", "requests=2000"),
    ("channel-management", "", "randwrite-4k", "requests=2000"),
    ("prlru", "", "randwrite-4k", "requests=2000 queue_depth=8"),
    ("cosmos-openssd", "", "randwrite-4k", "requests=1000"),
    ("agcr", "", "randwrite-4k", "requests=2000"),
    ("mqsim", "", "randwrite-4k", "requests=2000 queue_depth=3"),
];

/// A device, settings, a workload, and options.
type Given = (&'static str, &'static str, &'static str, &'static str);

/// Words with a name and a value.
fn words(text: &str) -> Vec<(&str, &str)> {
    text.split_whitespace().map(|word| word.split_once('=').expect("name=value")).collect()
}

fn plan(at: usize) -> Value {
    let (device, set, workload, options) = PLANS[at];
    let set: Vec<&str> = set.split_whitespace().collect();
    let options: serde_json::Map<_, _> =
        words(options).into_iter().map(|(name, text)| (name.to_owned(), json!(text))).collect();
    json!({ "device": device, "set": set, "workload": workload, "options": options, "seed": "7" })
}

fn asked(desk: &mut Desk, question: &Value) -> Value {
    let answer: Value = serde_json::from_str(&desk.answer(&question.to_string())).unwrap();
    assert_eq!(answer.get("error"), None, "{question}");
    answer
}

fn refused(desk: &mut Desk, question: &Value) -> String {
    let answer: Value = serde_json::from_str(&desk.answer(&question.to_string())).unwrap();
    answer["error"].as_str().unwrap_or_else(|| panic!("{question} is answered")).to_owned()
}

/// Runs to the end in steps of `step_ns`, or in stretches of `looks`. Returns the frames.
fn to_end(desk: &mut Desk, run: u32, step_ns: Option<u64>, looks: u32) -> Vec<Value> {
    let mut frames = Vec::new();
    loop {
        let now = frames.last().map_or(0, |frame: &Value| frame["now_ns"].as_u64().unwrap());
        let until = step_ns.map(|step| now + step);
        let go =
            json!({ "ask": "go", "run": run, "until_ns": until, "looks": looks, "spans": true });
        let frame = asked(desk, &go);
        let ended = frame["ended"] == true;
        frames.push(frame);
        if ended {
            return frames;
        }
    }
}

fn natively(load: LoadSource, device: &str, set: &str, options: &str) -> String {
    let config =
        device::load(device, &device::settings(&set.split_whitespace().collect::<Vec<_>>()))
            .unwrap();
    let mut named = NamedRun::default();
    words(options).iter().for_each(|(name, text)| named.options.set(name, text).unwrap());
    let experiment = Experiment::new(load, &named.options).unwrap();
    let measured = Lab::default().run(&experiment, &config, 7, &mut (), None).unwrap();
    to_json(&measured.document).unwrap()
}

#[test]
fn results_are_those_of_the_program_at_any_pace() {
    let mut paused = 0;
    for (at, (device, set, workload, options)) in PLANS.iter().enumerate() {
        let expected = natively(LoadSource::workload(workload).unwrap(), device, set, options);
        let mut step = None;
        for looks in [1_000_000, 1, 1000] {
            let mut desk = Desk::default();
            asked(&mut desk, &json!({ "ask": "open", "run": 0, "plan": plan(at) }));
            let frames = to_end(&mut desk, 0, step, looks);
            paused += usize::from(frames.len() > 1);
            let result = asked(&mut desk, &json!({ "ask": "result", "run": 0 }));
            assert_eq!(result["text"], expected, "{device} in steps of {step:?}");
            // A twentieth of the run at a time.
            step = frames.last().and_then(|frame| frame["now_ns"].as_u64()).map(|now| now / 20 + 1);
        }
    }
    assert!(paused > PLANS.len(), "only {paused} runs paused");
}

#[test]
fn a_trace_from_memory_gives_the_result_of_its_file() {
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/traces/office-20k.csv.gz");
    let mut reader = flate2::read::GzDecoder::new(std::fs::File::open(&file).unwrap());
    let mut text = String::new();
    std::io::Read::read_to_string(&mut reader, &mut text).unwrap();
    let held = Some(Bytes::from(text.clone()));
    let reading = trace::Options::default();
    let load = LoadSource::Trace { file: "office.csv".to_owned(), held, reading };
    let expected = natively(load, "tiny", "", "address=fold requests=2000");
    let mut desk = Desk::default();
    desk.keep(text.into_bytes());
    let mut plan = json!({ "device": "tiny", "trace": "office.csv", "seed": "7" });
    plan["options"] = json!({ "address": "fold", "requests": "2000" });
    asked(&mut desk, &json!({ "ask": "open", "run": 0, "plan": plan }));
    to_end(&mut desk, 0, Some(1_000_000_000), 1000);
    assert_eq!(asked(&mut desk, &json!({ "ask": "result", "run": 0 }))["text"], expected);
}

/// By die, and then by channel, the spans of a run in steps of `step_ns`, after the cuts of those that were suspended; and
/// how many were cut.
fn spans_of(desk: &mut Desk, plan: &Value, step_ns: u64) -> (Vec<Vec<(u64, u64)>>, usize) {
    let facts = asked(desk, &json!({ "ask": "open", "run": 3, "plan": plan }));
    let frames = to_end(desk, 3, Some(step_ns), 1000);
    let [dies, channels] = ["dies", "channels"].map(|of| facts[of].as_u64().unwrap() as usize);
    let mut places = vec![Vec::new(); dies + channels];
    let mut cuts = 0;
    for frame in &frames {
        assert_eq!(frame["left_out"], 0);
        for span in frame["spans"].as_array().unwrap() {
            let [of_bus, place, _, _, from, until] =
                [0, 1, 2, 3, 4, 5].map(|at| span[at].as_u64().unwrap());
            places[of_bus as usize * dies + place as usize].push((from, until));
        }
        for cut in frame["cuts"].as_array().unwrap() {
            let [die, from, until] = [0, 1, 2].map(|at| cut[at].as_u64().unwrap());
            let span = places[die as usize].iter_mut().rev().find(|span| span.0 == from).unwrap();
            span.1 = until;
            cuts += 1;
        }
    }
    (places, cuts)
}

/// Nanoseconds that each place was busy, of all purposes.
fn busy_of(frame: &Value) -> Vec<u64> {
    let of_origins = frame["shares"]["busy_ns"].as_array().unwrap();
    let places = of_origins[0].as_array().unwrap().len();
    let at = |place: usize| of_origins.iter().map(|of| of[place].as_u64().unwrap()).sum();
    (0..places).map(at).collect()
}

/// The cells of a die do one thing at a time. The spans are nearly all of the time that the dies were occupied, and shares
/// of busy time are those of the spans, however often the page looks.
#[test]
fn spans_and_shares_are_what_the_counters_count() {
    let suspending = json!({
        "device": "tiny", "seed": "1", "workload": "mixed-70-30-zipf",
        "set": ["scheduler.policy=read-first", "scheduler.suspend=program-and-erase"],
        "options": { "requests": "3000", "precondition": "fill" },
    });
    for (plan, is_cut) in [(plan(0), false), (suspending, true)] {
        let mut desk = Desk::default();
        let (places, cuts) = spans_of(&mut desk, &plan, 50_000);
        assert_eq!(cuts > 0, is_cut, "{cuts} spans were cut");
        let result = asked(&mut desk, &json!({ "ask": "result", "run": 3 }));
        asked(&mut desk, &json!({ "ask": "open", "run": 4, "plan": plan }));
        let last = to_end(&mut desk, 4, None, 1_000_000).pop().unwrap();
        let sums = places.iter().map(|spans| spans.iter().map(|(from, until)| until - from).sum());
        let sums: Vec<u64> = sums.collect();
        assert_eq!(busy_of(&last), sums, "spans that were looked at, and shares that were not");
        let result: Value = serde_json::from_str(result["text"].as_str().unwrap()).unwrap();
        let occupied = |of: &str| {
            let share = result["report"]["utilisation"]["dies_ratio"][of].as_f64().unwrap();
            share * last["now_ns"].as_f64().unwrap()
        };
        let dies = 4;
        for (die, spans) in places[..dies].iter().enumerate() {
            let overlap = spans.windows(2).find(|pair| pair[1].0 < pair[0].1);
            assert_eq!(overlap, None, "die {die} does one thing at a time");
        }
        let seen = sums[..dies].iter().sum::<u64>() as f64;
        let counted = occupied("mean") * dies as f64;
        assert!(seen <= counted && seen > counted * 0.8, "{seen} of {counted}");
    }
}

/// An operation of several planes takes the time of its die once.
#[test]
fn planes_that_work_together_count_once() {
    let mut desk = Desk::default();
    let mut plan = plan(3);
    plan["options"]["requests"] = json!("6000");
    asked(&mut desk, &json!({ "ask": "open", "run": 0, "plan": plan }));
    let last = to_end(&mut desk, 0, None, 1000).pop().unwrap();
    let result = asked(&mut desk, &json!({ "ask": "result", "run": 0 }));
    let result: Value = serde_json::from_str(result["text"].as_str().unwrap()).unwrap();
    let report = &result["report"];
    let share = report["utilisation"]["dies_ratio"]["mean"].as_f64().unwrap();
    let (dies, busy) = (16, busy_of(&last));
    let seen = busy[..dies].iter().sum::<u64>() as f64 / dies as f64;
    let counted = share * report["host"]["duration_ns"].as_f64().unwrap();
    assert!(seen < counted * 1.001 && seen > counted * 0.8, "{seen} of {counted}");
}

#[test]
fn shares_over_time_are_told_by_purpose() {
    let mut desk = Desk::default();
    asked(&mut desk, &json!({ "ask": "open", "run": 0, "plan": plan(0) }));
    let frame = to_end(&mut desk, 0, None, 1000).pop().unwrap();
    let shares = &frame["shares"];
    let (now, window) = (frame["now_ns"].as_u64().unwrap(), shares["window_ns"].as_u64().unwrap());
    let places = busy_of(&frame).len();
    // The drive is aged: hosts' writes and collection keep its dies busy, and nothing else does.
    for (origin, is_there) in [(0, true), (1, false), (2, true)] {
        let windows = shares["by_origin"][origin].as_str().unwrap();
        assert_eq!(windows.len(), if is_there { (now / window) as usize * places } else { 0 });
        let told: u64 = windows.bytes().map(|share| u64::from(share - b'0')).sum();
        let told = told as f64 / 63.0 * window as f64;
        let of_origin = shares["busy_ns"][origin].as_array().unwrap();
        let busy = of_origin.iter().map(|ns| ns.as_f64().unwrap()).sum::<f64>();
        assert!((told / busy.max(1.0) - f64::from(is_there)).abs() < 0.1, "{told} of {busy}");
    }
}

/// A copy that loses power recovers, collects and reads: none of that is what the drive does.
#[test]
fn copies_that_lose_power_are_not_seen() {
    let set = ["ftl.recovery.policy=scan", "cache.policy=lru", "cache.capacity=256KiB"];
    let last = |options: Value| {
        let mut desk = Desk::default();
        opened(&mut desk, &set, "randwrite-4k", &options);
        let frames = to_end(&mut desk, 0, None, 1000);
        let spans = frames.iter().map(|frame| frame["spans"].as_array().unwrap().len());
        let spans: usize = spans.sum();
        let result = asked(&mut desk, &json!({ "ask": "result", "run": 0 }));
        (frames.last().unwrap().clone(), spans, result)
    };
    let (whole, spans, _) = last(json!({ "requests": "9000" }));
    let (cut, spans_of_cut, result) = last(json!({ "requests": "9000", "cut_power": "20ms" }));
    let result: Value = serde_json::from_str(result["text"].as_str().unwrap()).unwrap();
    assert!(result["power_cuts"]["cuts"].as_array().unwrap().len() > 3, "power was cut");
    let collected = |frame: &Value| frame["host"]["collections"].clone();
    assert_eq!(result["report"]["gc"]["runs"], collected(&cut));
    assert!(collected(&cut).as_u64().unwrap() > 3);
    assert_eq!((collected(&whole), spans), (collected(&cut), spans_of_cut));
    assert_eq!(busy_of(&whole), busy_of(&cut));
}

#[test]
fn write_amplification_is_that_of_the_result() {
    // Without a write buffer, with one that absorbs writes, with a map on flash, and with parity.
    for set in [
        "ftl.over_provisioning=28%",
        "cache.policy=lru cache.capacity=256KiB",
        "ftl.mapping.policy=dftl",
        "ftl.over_provisioning=120% ftl.parity.policy=dies ftl.parity.width=4",
    ] {
        let mut desk = Desk::default();
        let set: Vec<&str> = set.split(' ').collect();
        opened(
            &mut desk,
            &set,
            "randwrite-4k",
            &json!({ "requests": "9000", "precondition": "fill" }),
        );
        let frames = to_end(&mut desk, 0, None, 1);
        let result = asked(&mut desk, &json!({ "ask": "result", "run": 0 }));
        let result: Value = serde_json::from_str(result["text"].as_str().unwrap()).unwrap();
        let told = |frame: &Value| frame["host"]["write_amplification_ratio"].as_f64();
        let total = result["report"]["write_amplification"]["total_ratio"].as_f64();
        assert_eq!(told(frames.last().unwrap()), total, "{set:?}");
        // Just before the end it is hardly another.
        let before = told(&frames[frames.len() - 2]).unwrap();
        assert!((before / total.unwrap() - 1.0).abs() < 0.2, "{set:?}: {before}, then {total:?}");
    }
}

/// Trims and flushes are requests, too. What was done before the phase does not count, and a merge counts once.
#[test]
fn requests_collections_and_merges_are_those_of_the_result() {
    let counts = |device: &str, set: &[&str], workload: &str, options: Value| {
        let mut desk = Desk::default();
        let plan = json!({ "device": device, "set": set, "workload": workload, "options": options, "seed": "1" });
        asked(&mut desk, &json!({ "ask": "open", "run": 0, "plan": plan }));
        let frame = to_end(&mut desk, 0, None, 1000).pop().unwrap();
        let result = asked(&mut desk, &json!({ "ask": "result", "run": 0 }));
        let result: Value = serde_json::from_str(result["text"].as_str().unwrap()).unwrap();
        let (host, report) = (&frame["host"], &result["report"]);
        assert_eq!(host["requests"], report["host"]["requests"], "{device}");
        assert_eq!(host["collections"], report["gc"]["runs"], "{device}");
        let kinds = ["switch", "partial", "full"];
        let merges: u64 = kinds.iter().filter_map(|kind| report["merges"][kind].as_u64()).sum();
        assert_eq!(host["merges"], merges, "{device}");
        let all = |op: &str| host[op]["requests"].as_u64().unwrap();
        let others = host["requests"].as_u64().unwrap() - all("read") - all("write");
        (others, host["collections"].as_u64().unwrap(), merges)
    };
    let filled = json!({ "requests": "9000", "precondition": "fill" });
    let (others, ..) = counts("tiny", &[], "lsm", json!({}));
    assert!(others > 100, "{others} trims and flushes");
    let (_, collections, _) = counts("tiny", &[], "randwrite-4k", filled);
    assert!(collections > 3, "{collections} collections");
    let small = ["ftl.capacity=64MiB", "nand.blocks_per_plane=40", "ftl.over_provisioning=20%"];
    let (.., merges) =
        counts("channel-management", &small, "randwrite-4k", json!({ "requests": "9000" }));
    assert!(merges > 3, "{merges} merges");
}

/// Where no request came to an end, nobody looked.
#[test]
fn free_blocks_are_known_in_every_window() {
    let mut desk = Desk::default();
    opened(&mut desk, &[], "noisy-neighbour", &json!({ "requests": "2000" }));
    let frame = to_end(&mut desk, 0, None, 1000).pop().unwrap();
    let of = |name: &str| frame["series"][name].as_array().unwrap().clone();
    let without = |name: &str| of(name).iter().filter(|value| value.is_null()).count();
    assert!(without("write_p99_ns") > 0, "some windows have nothing");
    assert_eq!(without("free_blocks"), 0);
}

/// A page knows which of its boxes an option is in.
#[test]
fn a_wrong_option_is_told_with_the_place_where_it_is_written() {
    let mut desk = Desk::default();
    let open = |set: Value, beside: Value| {
        let plan = json!({ "device": "tiny", "set": set, "beside": beside, "workload": "fill", "seed": "1" });
        json!({ "ask": "open", "run": 0, "plan": plan })
    };
    let set = json!(["ftl.gc.victim=fifo", "ftl.gc.start=3"]);
    let error = refused(&mut desk, &open(set, json!(["cache.policy=lru", "nand.blocks=3"])));
    assert!(error.contains("\"A second drive beside it\", line 2"), "{error}");
    let error = refused(&mut desk, &open(json!(["nand.blocks=3"]), json!([])));
    assert!(error.contains("\"More options\"") && !error.contains("line"), "{error}");
}

#[test]
fn notes_of_a_run_are_those_of_its_result() {
    let mut desk = Desk::default();
    let text = "128166372003061629,hm,1,Read,383496192,32768,113736\n128166372016382155,hm,1,Write,2822144,65536,87\n";
    let plan = json!({ "device": "tiny", "trace": "t.csv", "seed": "1", "options": { "address": "fold" } });
    desk.keep(text.into());
    asked(&mut desk, &json!({ "ask": "open", "run": 0, "plan": plan }));
    to_end(&mut desk, 0, None, 1000);
    let told = asked(&mut desk, &json!({ "ask": "result", "run": 0 }));
    let result: Value = serde_json::from_str(told["text"].as_str().unwrap()).unwrap();
    for (told, of) in [
        (&told["notes"], &result["report"]["notes"]),
        (&told["warnings"], &result["warnings"]),
        (&told["assumed"], &result["assumed"]),
    ] {
        assert_eq!(told.as_array().unwrap().len(), of.as_array().unwrap().len());
    }
    assert!(!told["assumed"].as_array().unwrap().is_empty(), "a trace leaves something open");
    assert!(!told["notes"].as_array().unwrap().is_empty(), "two requests are few");
}

#[test]
fn what_does_not_fit_in_a_page_is_told_before_it_runs() {
    let mut desk = Desk::default();
    let catalog = asked(&mut desk, &json!({ "ask": "catalog" }));
    let too_large: Vec<&String> = catalog["too_large"].as_object().unwrap().keys().collect();
    assert_eq!(too_large, ["p5520-1.92t", "qlc-2t"]);
    let open = |run: u32, device: &str| {
        let plan = json!({ "device": device, "workload": "fill", "seed": "1" });
        json!({ "ask": "open", "run": run, "plan": plan })
    };
    let error = refused(&mut desk, &open(0, "qlc-2t"));
    assert!(error.starts_with("qlc-2t needs about ") && error.contains("remedy"), "{error}");
    // One fits, and two do not.
    asked(&mut desk, &open(0, "tlc-1t"));
    let error = refused(&mut desk, &open(1, "tlc-1t"));
    assert!(error.contains(" are taken"), "{error}");
    asked(&mut desk, &open(1, "tiny"));
}

#[test]
fn options_that_the_page_lacks_are_told_as_those_of_the_program() {
    let mut desk = Desk::default();
    desk.keep(b"what is this\n".to_vec());
    let plan = json!({ "device": "tiny", "trace": "t.csv", "seed": "1" });
    let error = refused(&mut desk, &json!({ "ask": "open", "run": 0, "plan": plan }));
    assert!(error.contains("--format") && error.contains("ftlab trace convert"), "{error}");
    // This one is a knob.
    let options = json!({ "cut_power": "1s" });
    let plan = json!({ "device": "tiny", "workload": "fill", "options": options, "seed": "1" });
    let error = refused(&mut desk, &json!({ "ask": "open", "run": 0, "plan": plan }));
    assert!(error.contains("\"cut power every\"") && !error.contains("--"), "{error}");
}

#[test]
fn series_and_blocks_agree_with_the_frame() {
    let mut desk = Desk::default();
    let facts = asked(&mut desk, &json!({ "ask": "open", "run": 0, "plan": plan(0) }));
    let frame = to_end(&mut desk, 0, None, 1000).pop().unwrap();
    let (series, blocks) = (&frame["series"], &frame["blocks"]);
    let sum = |of: &str| {
        series[of].as_array().unwrap().iter().map(|value| value.as_u64().unwrap()).sum::<u64>()
    };
    assert_eq!(sum("writes"), frame["host"]["write"]["requests"].as_u64().unwrap());
    assert_eq!(sum("write_bytes"), frame["host"]["write"]["bytes"].as_u64().unwrap());
    let cells = facts["planes"].as_u64().unwrap() * facts["blocks_per_plane"].as_u64().unwrap();
    assert_eq!(blocks["state"].as_array().unwrap().len() as u64, cells);
    assert!(blocks["valid"].as_array().unwrap().contains(&json!(255)));
}

#[test]
fn a_run_stops_where_something_happens() {
    let mut desk = Desk::default();
    let open = json!({ "ask": "open", "run": 0, "plan": { "device": "tiny", "workload": "randwrite-4k", "seed": "1" } });
    asked(&mut desk, &open);
    let go = |stop_at: Value| json!({ "ask": "go", "run": 0, "looks": 1_000_000, "stop_at": stop_at, "spans": false });
    let frame = asked(&mut desk, &go(json!("collection")));
    assert_eq!((&frame["stopped"], &frame["ended"]), (&json!(true), &json!(false)));
    // It has just begun.
    assert!(frame["copied_pages"].as_u64().unwrap() < 10, "{frame}");
    let slowest = |frame: &Value| frame["host"]["write"]["max_ns"].as_u64().unwrap_or(0);
    let next = asked(&mut desk, &go(json!({ "slow": slowest(&frame) + 1 })));
    assert!(slowest(&next) > slowest(&frame) && next["stopped"] == true, "{frame} {next}");
    let single = asked(&mut desk, &go(json!("anything")));
    assert!(single["now_ns"].as_u64() > next["now_ns"].as_u64());
    assert!(single["now_ns"].as_u64().unwrap() < next["now_ns"].as_u64().unwrap() + 10_000_000);
}

/// Opens a run as number 0.
fn opened(desk: &mut Desk, set: &[&str], workload: &str, options: &Value) {
    let plan = json!({ "device": "tiny", "set": set, "workload": workload, "options": options, "seed": "7" });
    asked(desk, &json!({ "ask": "open", "run": 0, "plan": plan }));
}

/// Goes on until something happens, with a look at everything.
fn until(desk: &mut Desk, stop_at: &str) -> Value {
    loop {
        let go = json!({ "ask": "go", "run": 0, "looks": 1000, "stop_at": stop_at, "spans": false, "views": true });
        let frame = asked(desk, &go);
        if frame["stopped"] == true || frame["ended"] == true {
            return frame;
        }
    }
}

#[test]
fn a_run_stops_when_a_die_dies() {
    let mut desk = Desk::default();
    let dying = [
        "ftl.over_provisioning=120%",
        "ftl.placement.policy=dynamic",
        "nand.faults.schedule=100ms: die 1 dies",
    ];
    opened(&mut desk, &dying, "mixed-70-30-zipf", &json!({ "requests": "20000" }));
    let frame = until(&mut desk, "die_death");
    assert_eq!((&frame["stopped"], &frame["ended"]), (&json!(true), &json!(false)));
    let now = frame["now_ns"].as_u64().unwrap();
    assert!((100_000_000..110_000_000).contains(&now), "the next operation finds it dead: {now}");
    // Die 1 has the third and the fourth of the planes.
    let (states, per_plane) = (&frame["blocks"]["state"], frame["blocks"]["per_plane"].as_u64());
    let dead = frame["blocks"]["states"].as_array().unwrap().iter().position(|name| name == "dead");
    let (dead, per_plane) = (dead.unwrap() as u64, per_plane.unwrap() as usize);
    for (at, state) in states.as_array().unwrap().iter().enumerate() {
        assert_eq!(state.as_u64() == Some(dead), matches!(at / per_plane, 2 | 3), "cell {at}");
    }
}

#[test]
fn a_run_stops_when_the_slc_cache_is_full() {
    let mut desk = Desk::default();
    let cached =
        ["ftl.over_provisioning=60%", "ftl.slc_cache.policy=static", "ftl.slc_cache.blocks=4"];
    opened(&mut desk, &cached, "randwrite-4k", &json!({ "requests": "20000" }));
    let frame = until(&mut desk, "slc_cache_full");
    assert_eq!((&frame["stopped"], &frame["ended"]), (&json!(true), &json!(false)));
    // Four blocks in each of eight planes hold a third of 32 pages each: it is neither hardly used nor passed for long.
    let written = frame["host"]["write"]["requests"].as_u64().unwrap();
    assert!((200..700).contains(&written), "{written} pages were written");
}

#[test]
fn a_policy_that_knows_the_future_sees_the_load_beforehand() {
    let mut desk = Desk::default();
    let (set, options) = ("nand.blocks_per_plane=128 ftl.streams.policy=future", "requests=9000");
    let words: Vec<&str> = set.split(' ').collect();
    opened(&mut desk, &words, "mixed-70-30-zipf", &json!({ "requests": "9000" }));
    let frames = to_end(&mut desk, 0, None, 1);
    let (before, after): (Vec<&Value>, _) = frames.iter().partition(|f| f["beside_clock"] == true);
    assert!(before.len() > 2 && after.len() > 2, "{} and {} frames", before.len(), after.len());
    for frame in before {
        let doing = frame["doing"].as_str().unwrap();
        assert!(doing.starts_with("beforehand, for ftl.streams.policy"), "{doing}");
        assert_eq!((&frame["now_ns"], &frame["spans"]), (&json!(0), &json!([])));
    }
    let expected =
        natively(LoadSource::workload("mixed-70-30-zipf").unwrap(), "tiny", set, options);
    let result = asked(&mut desk, &json!({ "ask": "result", "run": 0 }));
    assert_eq!(result["text"], expected);
}

/// It can be paused, and tells how far it is.
#[test]
fn a_preparation_without_a_clock_waits_as_well() {
    let mut desk = Desk::default();
    let options = json!({ "precondition": "fill,age", "requests": "100" });
    opened(&mut desk, &["nand.blocks_per_plane=256"], "randwrite-4k", &options);
    let go = |looks: u32| json!({ "ask": "go", "run": 0, "looks": looks, "spans": true });
    let mut told = Vec::new();
    loop {
        let frame = asked(&mut desk, &go(1));
        // A look at what stands still does not let it go on.
        assert_eq!(asked(&mut desk, &go(0))["doing"], frame["doing"]);
        if frame["beside_clock"] != true {
            break;
        }
        assert_eq!(frame["now_ns"], 0);
        told.push(frame["doing"].as_str().unwrap().to_owned());
    }
    assert_eq!(told[0], "fill: 100 %");
    assert!(told.iter().all(|text| !text.contains("1 rounds")), "{told:?}");
    assert!(
        told.len() > 2 && told[1].starts_with("age: ") && told[1].ends_with(" requests"),
        "{told:?}"
    );
}

#[test]
fn what_is_wrong_is_told_in_the_words_of_the_program() {
    let mut desk = Desk::default();
    let open = |mut plan: Value| {
        if plan.get("seed").is_none() {
            plan["seed"] = json!("1");
        }
        json!({ "ask": "open", "run": 0, "plan": plan })
    };
    for (plan, told) in [
        (json!({ "device": "tinny", "workload": "randwrite-4k" }), "did you mean"),
        (json!({ "device": "tiny", "workload": "randwrite" }), "randwrite-4k"),
        (json!({ "device": "tiny", "set": ["nand.blocks=3"], "workload": "fill" }), "nand.blocks"),
        (json!({ "device": "a.toml", "device_text": "[nand\n", "workload": "fill" }), "a.toml"),
        (
            json!({ "device": "a.toml", "device_text": "base = \"other.toml\"\n", "workload": "fill" }),
            "other.toml",
        ),
        (
            json!({ "device": "tiny", "workload": "w.toml", "workload_text": "[[phase]]\nwrites = 3\n" }),
            "w.toml",
        ),
        (json!({ "device": "tiny", "workload": "fill", "options": { "speed": "fast" } }), "speed"),
        (json!({ "device": "tiny", "workload": "fill", "options": { "sped": "1" } }), "sped"),
        (json!({ "devise": "tiny" }), "devise"),
        (json!({ "device": "tiny", "workload": "fill", "seed": "-1" }), "seed"),
        // No trace was kept.
        (json!({ "device": "tiny", "trace": "t.csv" }), "t.csv: the file is empty"),
    ] {
        let error = refused(&mut desk, &open(plan.clone()));
        assert!(error.contains(told), "{plan}: {error}");
    }
    assert!(refused(&mut desk, &json!({ "ask": "result", "run": 9 })).contains("no run 9"));
    assert!(refused(&mut desk, &json!({ "ask": "dance" })).contains("dance"));
    assert!(desk.answer("{").contains("no question"));
}

#[test]
fn two_runs_go_on_side_by_side() {
    let mut desk = Desk::default();
    for run in 0..2 {
        asked(&mut desk, &json!({ "ask": "open", "run": run, "plan": plan(run as usize) }));
    }
    let go = |run: u32| json!({ "ask": "go", "run": run, "looks": 1, "spans": false });
    asked(&mut desk, &go(0));
    asked(&mut desk, &go(1));
    let (a, b) = (to_end(&mut desk, 0, None, 9).len(), to_end(&mut desk, 1, None, 9).len());
    assert!(a > 0 && b > 0);
    let text =
        |desk: &mut Desk, run| asked(desk, &json!({ "ask": "result", "run": run }))["text"].clone();
    assert_ne!(text(&mut desk, 0), text(&mut desk, 1));
    asked(&mut desk, &json!({ "ask": "close", "run": 0 }));
    assert!(refused(&mut desk, &go(0)).contains("no run 0"));
    let catalog = asked(&mut desk, &json!({ "ask": "catalog" }));
    assert!(catalog["devices"].to_string().contains("tlc-32g"));
}
