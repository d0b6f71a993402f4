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
    let mut plan =
        json!({ "device": "tiny", "trace": "office.csv", "trace_text": text, "seed": "7" });
    plan["options"] = json!({ "address": "fold", "requests": "2000" });
    asked(&mut desk, &json!({ "ask": "open", "run": 0, "plan": plan }));
    to_end(&mut desk, 0, Some(1_000_000_000), 1000);
    assert_eq!(asked(&mut desk, &json!({ "ask": "result", "run": 0 }))["text"], expected);
}

/// By die, the spans of a run in steps of `step_ns`, after the cuts of those that were suspended; and the last frame.
fn spans_of(plan: &Value, step_ns: u64) -> (Vec<Vec<(u64, u64)>>, Value, usize) {
    let mut desk = Desk::default();
    let facts = asked(&mut desk, &json!({ "ask": "open", "run": 3, "plan": plan }));
    let mut frames = to_end(&mut desk, 3, Some(step_ns), 1000);
    let mut dies = vec![Vec::new(); facts["dies"].as_u64().unwrap() as usize];
    let mut cuts = 0;
    for frame in &frames {
        assert_eq!(frame["left_out"], 0);
        for span in frame["spans"].as_array().unwrap() {
            let [of_bus, die, _, _, from, until] =
                [0, 1, 2, 3, 4, 5].map(|at| span[at].as_u64().unwrap());
            if of_bus == 0 {
                dies[die as usize].push((from, until));
            }
        }
        for cut in frame["cuts"].as_array().unwrap() {
            let [die, from, until] = [0, 1, 2].map(|at| cut[at].as_u64().unwrap());
            let span = dies[die as usize].iter_mut().rev().find(|span| span.0 == from).unwrap();
            span.1 = until;
            cuts += 1;
        }
    }
    (dies, frames.pop().unwrap(), cuts)
}

/// The cells of a die do one thing at a time, and the spans are nearly all of the time that the die was occupied.
#[test]
fn spans_are_what_the_counters_count() {
    let suspending = json!({
        "device": "tiny", "seed": "1", "workload": "mixed-70-30-zipf",
        "set": ["scheduler.policy=read-first", "scheduler.suspend=program-and-erase"],
        "options": { "requests": "3000", "precondition": "fill" },
    });
    for (plan, is_cut) in [(plan(0), false), (suspending, true)] {
        let (dies, last, cuts) = spans_of(&plan, 50_000);
        assert_eq!(cuts > 0, is_cut, "{cuts} spans were cut");
        for (die, spans) in dies.iter().enumerate() {
            let overlap = spans.windows(2).find(|pair| pair[1].0 < pair[0].1);
            assert_eq!(overlap, None, "die {die} does one thing at a time");
            let seen: u64 = spans.iter().map(|(from, until)| until - from).sum();
            let counted = last["die_busy_ns"][die].as_u64().unwrap();
            assert!(seen <= counted && seen * 10 > counted * 8, "die {die}: {seen} of {counted}");
        }
    }
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
        (json!({ "device": "tiny", "trace": "t.csv", "trace_text": "what is this\n" }), "t.csv"),
        (json!({ "device": "tiny", "workload": "fill", "options": { "speed": "fast" } }), "speed"),
        (json!({ "device": "tiny", "workload": "fill", "options": { "sped": "1" } }), "sped"),
        (json!({ "devise": "tiny" }), "devise"),
        (json!({ "device": "tiny", "workload": "fill", "seed": "-1" }), "seed"),
        (json!({ "device": "tiny", "trace": "t.csv" }), "trace_text"),
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
