//! Every preparation step, phase and run draws its own random numbers. If two of them sent the same
//! addresses, pages written together would be overwritten together, and the write amplification
//! measured on a prepared device would silently be too low.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;

use crate::common::Place;

/// What one phase sent: the first address of each request, in order.
struct Sent {
    what: String,
    starts: Vec<u64>,
}

/// Returns the phases of a run, unmeasured ones first. Sequential phases are left out: they repeat
/// each other by design.
fn sent(place: &Place, folder: &str, what: &str) -> Vec<Sent> {
    let file = File::open(place.path(&format!("{folder}/requests.parquet"))).unwrap();
    let mut phases: BTreeMap<u64, Vec<(u64, u64)>> = BTreeMap::new();
    for row in SerializedFileReader::new(file).unwrap().get_row_iter(None).unwrap() {
        let row = row.unwrap();
        let column = |name: &str| match row.get_column_iter().find(|(known, _)| *known == name) {
            Some((_, Field::ULong(value))) => *value,
            Some((_, Field::UInt(value))) => u64::from(*value),
            other => panic!("{name}: {other:?}"),
        };
        phases.entry(column("phase")).or_default().push((column("index"), column("lba")));
    }
    let phases = phases.into_iter().map(|(phase, mut requests)| {
        requests.sort_unstable();
        let starts = requests.into_iter().map(|(_, lba)| lba).collect();
        Sent { what: format!("{what}, phase {phase}"), starts }
    });
    phases.filter(|sent| !sent.starts.is_sorted()).collect()
}

/// Plays `line` and adds what it sent.
fn play(place: &Place, line: &str, history: &mut Vec<Sent>) {
    let folder = format!("run-{}", place.entries().len());
    let done = place.run(&format!("run {line} --records --quiet -o {folder}"));
    assert_eq!(done.code, 0, "{line}: {}", done.err);
    let new = sent(place, &folder, line);
    assert!(!new.is_empty(), "{line} sends nothing at random");
    history.extend(new);
}

/// Returns the chance that a request of one list starts at the same place as one of the other.
fn chance_to_meet(one: &[u64], other: &[u64]) -> f64 {
    let shares = |starts: &[u64]| {
        let mut shares: BTreeMap<u64, f64> = BTreeMap::new();
        for start in starts {
            *shares.entry(*start).or_default() += 1.0 / starts.len() as f64;
        }
        shares
    };
    let others = shares(other);
    shares(one).iter().map(|(start, share)| share * others.get(start).unwrap_or(&0.0)).sum()
}

/// The longest run in common of two independent lists of n and m requests, of which any two match
/// with chance p, is about log(n m) / log(1 / p) (Arratia and Waterman, "An Erdős-Rényi law with
/// shifts", 1985). More than twice that, plus a few for short lists, is no coincidence.
fn assert_independent(one: &Sent, other: &Sent) {
    let meet = chance_to_meet(&one.starts, &other.starts);
    if meet == 0.0 {
        return;
    }
    let pairs = (one.starts.len() * other.starts.len()) as f64;
    let run = (2.0 * pairs.ln() / (1.0 / meet).ln()).ceil() as usize + 4;
    assert!(run < 100, "{}: skewed too much for this test", one.what);
    let runs: HashSet<&[u64]> = one.starts.windows(run).collect();
    let common = other.starts.windows(run).position(|window| runs.contains(window));
    assert_eq!(common, None, "{} and {} share {run} requests", one.what, other.what);
}

fn assert_all_independent(history: &[Sent]) {
    for (at, one) in history.iter().enumerate() {
        history[at + 1..].iter().for_each(|other| assert_independent(one, other));
    }
}

const ADDRESSES: [(&str, &str); 3] = [
    ("uniform", "{ kind = 'uniform' }"),
    ("zipf", "{ kind = 'zipf', theta = 0.9 }"),
    ("hot", "{ kind = 'hot-cold', hot_space = '20%', hot_accesses = '80%' }"),
];

fn place() -> Place {
    let place = Place::new();
    for (name, address) in ADDRESSES {
        let text = format!(
            "name = '{name}'\n[[phase]]\nreads = '20%'\nwrites = '80%'\nsize = '4KiB'\nrequests = 3000\n\
             address = {address}\n"
        );
        place.write(&format!("{name}.toml"), text.as_bytes());
    }
    place
}

/// A past bug: all 3,000 measured addresses were the first of the ageing.
#[test]
fn the_measured_load_does_not_repeat_the_ageing() {
    let (place, mut history) = (Place::new(), Vec::new());
    let line =
        "--device tiny --workload randwrite-4k --requests 3000 --precondition fill:timed,age:timed";
    play(&place, line, &mut history);
    let [aged, measured] = &history[..] else { panic!("an ageing and a load") };
    let same = aged.starts.iter().zip(&measured.starts).filter(|(one, other)| one == other).count();
    // Among 3,000 pairs over 6,144 places, half a pair matches by chance.
    assert!(same < 10, "{same} of {} addresses are the same", measured.starts.len());
    assert_all_independent(&history);
}

/// Compares the steps of a run with each other and with the measured load.
#[test]
fn steps_and_loads_of_one_run_have_nothing_in_common() {
    let place = place();
    for (name, _) in ADDRESSES {
        for steps in [
            format!("age:self:limit=2,{name}.toml,{name}.toml"),
            format!(
                "fill:random:timed,age:timed:limit=2,fill:random:timed,age:timed:limit=2,{name}.toml"
            ),
            format!("{name}.toml,age:timed:limit=2,uniform.toml,zipf.toml,hot.toml"),
        ] {
            let mut history = Vec::new();
            let line = format!("--device tiny --workload {name}.toml --precondition {steps}");
            play(&place, &line, &mut history);
            assert_all_independent(&history);
        }
    }
}

/// An image's random numbers continue where its steps ended, even for an image of an image, and with any seed.
#[test]
fn what_follows_an_image_has_nothing_in_common_with_what_made_it() {
    let place = place();
    let steps = "uniform.toml,fill:random:timed,age:timed:limit=2";
    for (from, then, file) in [
        ("--device tiny", steps, "once.ftlab"),
        ("--image once.ftlab", "age:timed:limit=2", "twice.ftlab"),
    ] {
        let done =
            place.run(&format!("device save {from} --precondition {then} -o {file} --quiet"));
        assert!(done.code < 2, "{}", done.err);
    }
    let mut history = Vec::new();
    // The steps that made the images; the measured load of seed 1 follows below.
    play(
        &place,
        &format!("--device tiny --precondition {steps},age:timed:limit=2 --workload uniform.toml"),
        &mut history,
    );
    history.pop();
    for seed in [1, 2] {
        let line = "--image twice.ftlab --precondition uniform.toml,age:timed:limit=2,fill:random:timed --workload uniform.toml";
        play(&place, &format!("{line} --seed {seed}"), &mut history);
    }
    assert!(history.len() > 10, "{}", history.len());
    assert_all_independent(&history);
}

/// A run from an image equals a run that goes through the image's steps itself, also if more steps follow.
#[test]
fn steps_count_on_from_those_of_an_image() {
    let place = place();
    let done =
        place.run("device save --device tiny --precondition fill,uniform.toml -o a.ftlab --quiet");
    assert_eq!(done.code, 0, "{}", done.err);
    let (mut in_two, mut at_once) = (Vec::new(), Vec::new());
    let load = "--workload uniform.toml --precondition";
    play(&place, &format!("--image a.ftlab {load} uniform.toml"), &mut in_two);
    play(&place, &format!("--device tiny {load} fill,uniform.toml,uniform.toml"), &mut at_once);
    let last = |history: &[Sent]| -> Vec<Vec<u64>> {
        history[history.len() - 2..].iter().map(|sent| sent.starts.clone()).collect()
    };
    assert_eq!(last(&in_two), last(&at_once));
}
