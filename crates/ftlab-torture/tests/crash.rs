//! Small crash tests: some thousand power cuts over all designs, dying dies, and planted bugs that must be found.

#![cfg(any(debug_assertions, feature = "verify"))]

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::Mutex;
use std::time::Instant;

use ftlab::verify::Canary;
use ftlab_torture::crash::{Case, CrashTally, DESIGNS};

/// The seeds of a case of every design, with `FTLAB_LONG=1`; some thousand cuts.
const SEEDS: u64 = 24;
/// The first of them, otherwise.
const FIRST_SEEDS: u64 = 12;
/// The seeds within which a planted bug must be found.
const PATIENCE: u64 = 60;

#[test]
fn nothing_is_lost_when_power_is_cut_or_dies_die() {
    let mut met = CrashTally::default();
    let is_long = std::env::var_os("FTLAB_LONG").is_some();
    let seeds = if is_long { SEEDS } else { FIRST_SEEDS };
    for seed in 0..seeds {
        for design in &DESIGNS {
            let case = Case::draw(design, seed);
            match case.run() {
                Ok(tally) => met.add(&tally),
                Err(found) => {
                    let line = case.line();
                    let small = case.shrink(None);
                    let still = small.run().err().unwrap_or_default();
                    panic!(
                        "{found}\n\nreplay: ftlab torture --replay {line}\n\nshrunk: {still}\nreplay: ftlab \
                         torture --replay {}\n{small}",
                        small.line()
                    );
                }
            }
        }
    }
    let recoveries = std::mem::take(&mut met.recoveries);
    println!("{met:?}");
    assert_eq!(recoveries.len() as u64, met.cuts - met.cut_coming_up);
    // Crash tests that reach nothing find nothing. The numbers are for all seeds.
    let met = [
        ("cuts", met.cuts, 3_000),
        ("cuts with commands in the device", met.cut_at_work, 500),
        ("cuts while blocks are emptied", met.cut_collecting, 100),
        ("killed processes", met.killed, 500),
        ("cuts right after power-up", met.cut_again, 200),
        ("cuts while the device comes up", met.cut_coming_up, 200),
        ("torn flash pages", met.torn, 100),
        ("half-erased blocks", met.half_erased, 20),
        ("units rolled back", met.rolled_back, 9),
        ("faults", met.faults, 10),
        ("zones out of service", met.retired, 30),
        ("dies that died", met.deaths, 45),
        ("computed pages", met.computed, 500),
        ("lost pages that were judged", met.judged, 20),
        ("devices on which more fails than parity covers", met.beyond, 3),
    ];
    let rare: Vec<_> =
        met.iter().filter(|(_, times, least)| times * SEEDS < least * seeds).collect();
    assert!(rare.is_empty(), "hardly ever met: {rare:?}");
}

/// Bugs of different kinds that crash tests must find: a lost invalidation, a flush that does not
/// wait for its data, an off-by-one in collection, a stale cache, a fragment that recovery misses;
/// and everything else that only a power cut, or a dead die, reveals.
const PLANTED: [Canary; 5] = [
    Canary::OldCopyStays,
    Canary::FlushWaitsForNothing,
    Canary::LastPageNotCopied,
    Canary::OldReadServed,
    Canary::ReadPassesBuffer,
];

#[test]
fn planted_bugs_are_found() {
    // `FTLAB_CANARY=HalfMergeCounts` plants only that bug.
    let only = std::env::var("FTLAB_CANARY").ok();
    let is_planted =
        |canary: &Canary| only.as_ref().is_none_or(|only| *only == format!("{canary:?}"));
    let all = PLANTED.into_iter().chain(Canary::OF_POWER_CUTS).chain(Canary::OF_DEATHS);
    let left = Mutex::new(all.filter(is_planted));
    let next = || left.lock().expect("nothing panics with it").next();
    let survived = Mutex::new(Vec::new());
    let workers = std::thread::available_parallelism().map_or(1, NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(canary) = next() {
                    if !is_found(canary) {
                        survived.lock().expect("nothing panics with it").push(canary);
                    }
                }
            });
        }
    });
    let survived = survived.into_inner().expect("nothing panics with it");
    assert!(
        survived.is_empty(),
        "{survived:?}: not found. Strengthen what is judged, or what is drawn"
    );
}

/// Whether a planted bug is found soon enough.
fn is_found(canary: Canary) -> bool {
    let began = Instant::now();
    let found = (0..PATIENCE)
        .flat_map(|seed| DESIGNS.iter().map(move |design| Case::draw(design, seed)))
        .find_map(|case| Some((case.line(), case.run_with(Some(canary)).err()?)));
    if let Some((line, said)) = &found {
        let said = said.lines().find(|line| !line.starts_with("panicked")).unwrap_or_default();
        println!("{canary:?}: {line}, {:.1?}: {said}", began.elapsed());
    }
    found.is_some()
}

/// A line determines a case, including its shrinking.
#[test]
fn a_line_replays_its_case() {
    let canary = Some(Canary::FlushWaitsForNothing);
    let mut cases = (0..PATIENCE).map(|seed| Case::draw(&DESIGNS[0], seed));
    let failing = cases.find(|case| case.run_with(canary).is_err()).expect("one finds it");
    let small = failing.clone().shrink(canary);
    let again = Case::replay(&small.line()).expect("it is a line");
    assert_eq!(again.to_string(), small.to_string());
    assert_eq!(again.run_with(canary), small.run_with(canary));
    assert!(again.cuts() <= failing.cuts() && again.settings.len() < failing.settings.len());
    for (bad, word) in [
        ("", "design"),
        ("none:1", "packed"),
        ("page", "seed"),
        ("page:x", "seed"),
        ("page:1:q", "`q`"),
        ("page:1:r=999", "does not have"),
    ] {
        assert!(Case::replay(bad).is_err_and(|said| said.contains(word)), "{bad}");
    }
}

/// The seeds of a design that are drawn twice.
const DRAWN_TWICE: u64 = 4;

/// The same seeds draw the same cases, and every design has its defining options.
#[test]
fn designs_are_drawn_as_they_are_named() {
    let mut policies = BTreeMap::<&str, usize>::new();
    for design in &DESIGNS {
        for seed in 0..8 {
            let case = Case::draw(design, seed);
            if seed < DRAWN_TWICE {
                assert_eq!(case.to_string(), Case::draw(design, seed).to_string());
            }
            let recovery = case.settings.get("ftl.recovery.policy").expect("it is set");
            let mut known = ["scan", "checkpoint", "none"].into_iter();
            let name = known.rfind(|name| recovery.contains(name));
            *policies.entry(name.expect("it is one of them")).or_default() += 1;
            let fails = case.settings.get("nand.faults.schedule");
            assert!(design.loses_power() || fails.is_some_and(|faults| faults.len() > 4), "{case}");
        }
    }
    assert_eq!(policies.len(), 3, "{policies:?}");
    assert!(policies.values().all(|&times| times >= 8), "{policies:?}");
}
