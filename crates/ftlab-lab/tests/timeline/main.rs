//! What a record of a run says agrees with the run's result, on devices of all kinds.

mod random;

use std::collections::BTreeMap;

use ftlab::config::Config;
use ftlab::host::Op;
use ftlab::scheduler::Kind;
use ftlab::units::{Nanos, SimTime};
use ftlab_lab::Lab;
use ftlab_lab::device::{load, settings};
use ftlab_lab::experiment::{Experiment, LoadSource, RunOptions};
use ftlab_lab::result::to_json;
use ftlab_lab::timeline::{
    Again, Doing, FlashPart, RequestChoice, StoryPiece, Traced, Windows, own_work, windows_of,
};

const DEVICES: [&[&str]; 10] = [
    &[],
    &["scheduler.policy=read-first"],
    &["scheduler.policy=read-first", "scheduler.suspend=program-and-erase"],
    &["cache.policy=none"],
    &["nand.planes_per_die=4", "nand.multi_plane.program=on", "nand.multi_plane.erase=on"],
    &["nand.planes_per_die=4", "nand.multi_plane.independent_reads=on", "cache.policy=none"],
    &["nand.cache_ops.read=on", "nand.cache_ops.program=on"],
    &["host.queues=2", "host.link.rate=1GB/s"],
    &["ftl.mapping.policy=dftl"],
    &["ftl.gc.copyback=on"],
];

fn experiment(workload: &str) -> Experiment {
    let options = RunOptions {
        requests: Some(1_500),
        precondition: Some("fill,age".to_owned()),
        ..RunOptions::default()
    };
    Experiment::new(LoadSource::workload(workload).unwrap(), &options).unwrap()
}

/// Performs a run and records all of it.
fn whole(config: &Config, experiment: &Experiment) -> Traced {
    let lab = Lab::default();
    let again = Again { lab: &lab, experiment, config, seed: 3 };
    again.trace(&Windows::new([(SimTime::ZERO, SimTime::FOREVER)]), &mut ()).unwrap()
}

fn total(spans: impl Iterator<Item = (SimTime, SimTime)>) -> Nanos {
    Nanos(spans.map(|(from, until)| (until - from).0).sum())
}

#[test]
fn the_pieces_of_a_request_follow_each_other_and_sum_to_its_time() {
    for sets in DEVICES {
        let config =
            load("tiny", &settings(sets)).unwrap_or_else(|error| panic!("{sets:?}: {error}"));
        let traced = whole(&config, &experiment("mixed-70-30-zipf"));
        assert!(traced.requests.len() >= 1_500, "{sets:?}");
        let mut told = 0;
        let stories = traced.stories();
        for request in &traced.requests {
            let spent = &request.done.completion.breakdown;
            let in_flash = spent.admission
                + spent.translation
                + spent.queue
                + spent.gc
                + spent.bus
                + spent.cell;
            let pieces = stories.of(request);
            let sum: u64 = pieces.iter().map(|piece| piece.length().0).sum();
            assert_eq!(sum, in_flash.0, "{sets:?}: {request:?}");
            assert!(pieces.windows(2).all(|pair| pair[0].until == pair[1].from), "{sets:?}");
            assert!(pieces.iter().all(|piece| piece.from < piece.until), "{sets:?}");
            told += usize::from(!pieces.is_empty());
        }
        assert!(told > 500, "{sets:?}: {told} of {}", traced.requests.len());
    }
}

#[test]
fn a_read_works_as_long_as_its_account_says() {
    for sets in DEVICES {
        let config = load("tiny", &settings(sets)).unwrap();
        let traced = whole(&config, &experiment("mixed-70-30-zipf"));
        let reads = traced.requests.iter().filter(|one| one.done.completion.request.op == Op::Read);
        let stories = traced.stories();
        for read in reads.filter(|one| one.in_flash() > Nanos::ZERO) {
            let spent = &read.done.completion.breakdown;
            let pieces = stories.of(read);
            let works = |part| {
                let own = pieces.iter().filter(|piece| piece.depth == 0);
                let own = own.filter(|piece| piece.doing == Doing::Works(part));
                total(own.map(|piece| (piece.from, piece.until)))
            };
            if spent.translation == Nanos::ZERO {
                assert_eq!(works(FlashPart::Cells), spent.cell, "{sets:?}: {read:?}");
                assert_eq!(works(FlashPart::Bus), spent.bus, "{sets:?}: {read:?}");
            }
        }
    }
}

#[test]
fn waits_for_the_devices_own_work_agree_with_the_account() {
    for sets in DEVICES {
        let config = load("tiny", &settings(sets)).unwrap();
        let traced = whole(&config, &experiment("mixed-70-30-zipf"));
        let (mut told, mut accounted) = (0, 0);
        let stories = traced.stories();
        for read in &traced.requests {
            if read.done.completion.request.op != Op::Read {
                continue;
            }
            let waits: Vec<StoryPiece> =
                stories.of(read).into_iter().filter(|piece| piece.depth == 0).collect();
            told += own_work(&waits, &traced.record).0;
            accounted += read.done.completion.breakdown.gc.0;
        }
        // Cells and register that work for different commands at once are split otherwise where one follows the other.
        let overlap = sets.iter().any(|set| set.starts_with("nand.cache_ops"));
        // Behind a command that waits for other planes, a read waits for the command by the account, and for the bus by its
        // story.
        let apart = sets.contains(&"nand.multi_plane.independent_reads=on");
        let least = if apart { told / 50 } else { u64::from(overlap) * (told / 10_000) };
        assert!(accounted > 0 && told.abs_diff(accounted) <= least, "{sets:?}: {told} {accounted}");
    }
}

/// Returns the spans of one part, by die or bus, or by plane where planes sense on their own; those of commands that share
/// an operation once.
fn spans(traced: &Traced, part: FlashPart) -> BTreeMap<u32, Vec<(SimTime, SimTime)>> {
    let mut all: BTreeMap<u32, Vec<(SimTime, SimTime)>> = BTreeMap::new();
    for command in traced.record.commands.values() {
        let die = command.die;
        let places = match (part, &traced.apart) {
            (FlashPart::Bus | FlashPart::Decoder | FlashPart::Dram, _) => {
                vec![command.channel.get()]
            }
            (FlashPart::Cells, None) => vec![die.get()],
            (FlashPart::Cells, Some(flash)) if command.kind == Kind::Read => {
                vec![flash.plane_of_page(command.page).get()]
            }
            (FlashPart::Cells, Some(flash)) => {
                (0..flash.planes_per_die()).map(|index| flash.plane_in(die, index).get()).collect()
            }
        };
        for place in places {
            let of = command.spans.iter().filter(|span| span.part == part);
            all.entry(place).or_default().extend(of.map(|span| (span.from, span.until)));
        }
    }
    for spans in all.values_mut() {
        spans.sort_unstable();
        if part == FlashPart::Cells {
            spans.dedup();
        }
    }
    all
}

/// Dies and buses do one thing at a time, and a command is in one place at a time.
fn check_order(traced: &Traced, device: &str) {
    for part in [FlashPart::Cells, FlashPart::Bus] {
        for (place, spans) in spans(traced, part) {
            for pair in spans.windows(2) {
                assert!(pair[0].1 <= pair[1].0, "{part:?} {place}: {pair:?} on {device}");
            }
        }
    }
    for pair in traced.record.commands.values().flat_map(|one| one.spans.windows(2)) {
        assert!(pair[0].until <= pair[1].from, "one command in two places: {pair:?} on {device}");
    }
}

#[test]
fn what_a_die_or_a_bus_does_never_overlaps() {
    for sets in DEVICES {
        let config = load("tiny", &settings(sets)).unwrap();
        let traced = whole(&config, &experiment("mixed-70-30-zipf"));
        check_order(&traced, &format!("{sets:?}"));
        let collections = &traced.record.collections;
        assert!(collections.iter().any(|one| one.until.is_some()), "{sets:?}");
    }
}

#[test]
fn the_second_time_shows_what_the_first_measured() {
    let (lab, config) = (Lab::default(), load("tiny", &[]).unwrap());
    let experiment = experiment("mixed-70-30-zipf");
    let again = Again { lab: &lab, experiment: &experiment, config: &config, seed: 3 };
    let slowest = again
        .choose(RequestChoice::Slowest(5), &mut ())
        .unwrap()
        .slowest
        .remove(&Op::Read)
        .unwrap();
    assert_eq!(slowest.len(), 5);
    assert!(slowest.is_sorted_by_key(|one| std::cmp::Reverse(one.latency())));
    let traced = again.trace(&windows_of(&slowest), &mut ()).unwrap();
    let all = whole(&config, &experiment);
    for slow in &slowest {
        let find = |traced: &Traced| {
            let mut same = traced.requests.iter().filter(|one| one.done == *slow);
            same.next().map(|one| traced.stories().of(one)).expect("it is there")
        };
        assert_eq!(find(&traced), find(&all), "the window holds all that matters");
    }
    let one = again.choose(RequestChoice::Index(slowest[0].index), &mut ()).unwrap();
    assert_eq!(one.others, [slowest[0]]);
}

/// Merges are done at once if nobody looks, which must show in no number.
#[test]
fn who_looks_changes_nothing_where_merges_are_done_at_once() {
    let preset = ftlab::options::presets::find("channel-management").unwrap();
    let by_type = preset.text.replace(
        "policy = \"plain\"\nread = \"166us\" # [1]\nprogram = \"906us\" # [1]\n",
        "policy = \"page-type\"\nread_by_type = [\"50us\", \"300us\"]\nprogram_by_type = [\"300us\", \"1500us\"]\n",
    );
    assert_ne!(by_type, preset.text);
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("by-type.toml");
    std::fs::write(&file, by_type).unwrap();
    for device in [file.to_str().unwrap(), "channel-management"] {
        let config = load(device, &[]).unwrap();
        let options = RunOptions { requests: Some(110_000), ..RunOptions::default() };
        let load = LoadSource::workload("randwrite-4k").unwrap();
        let experiment = Experiment::new(load, &options).unwrap();
        let lab = Lab::default();
        let again = Again { lab: &lab, experiment: &experiment, config: &config, seed: 3 };
        let alone = again.choose_with_result(RequestChoice::Slowest(0), &mut ()).unwrap().0;
        let seen = whole(&config, &experiment);
        let (one, other) = (to_json(&alone).unwrap(), to_json(&*seen.document).unwrap());
        let differ = one.lines().zip(other.lines()).filter(|(one, other)| one != other);
        assert_eq!(differ.collect::<Vec<_>>(), [], "{device}");
        let energy = &alone.report.energy;
        assert!(energy.read_j > 0.0 && energy.erase_j > 0.0, "{device}: {energy:?}");
    }
}

/// A window that is cut out begins with the levels that held then.
#[test]
fn a_part_of_a_record_knows_the_levels_at_its_start() {
    let config = load("tiny", &[]).unwrap();
    let traced = whole(&config, &experiment("randwrite-4k"));
    let levels = &traced.record.levels;
    assert!(levels.len() > 20);
    let (before, after) = (levels[10], levels[11]);
    let from = SimTime(before.0.0.midpoint(after.0.0));
    let part = traced.within(Windows::new([(from, levels[15].0)]));
    assert_eq!(part.record.levels[0], (from, before.1));
    assert_eq!(part.record.levels[1..], levels[11..=15]);
}
