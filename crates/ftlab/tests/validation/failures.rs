//! Blocks, operations, pages and dies that fail, by chance and when they are told to: what was acknowledged is there, or
//! its read ends with an error; never does a read return what was not written.

use ftlab::ftl::gc::Purpose;
use ftlab::ftl::wear::EndReason;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngSeed, TestRunner};

use crate::common::failing;
use crate::common::{PlacementKind, Spec};
use crate::contents::{Bench, cases, random_steps};

proptest! {
    #![proptest_config(cases())]

    /// Bad blocks, failed programs and erases, worn-out blocks, and the end of the device's life: what
    /// was acknowledged is there, whatever happens.
    #[test]
    fn failures_lose_nothing((spec, depth, steps) in failing::run(600)) {
        let mut bench = Bench::new(&spec, None);
        let checked = bench.run(depth, &steps);
        prop_assert!(checked.is_ok(), "{}", checked.unwrap_err());
    }
}

proptest! {
    #![proptest_config(cases())]

    /// Dies die, programs, erases and pages fail when they are told to, reads fail by chance: what is read is what
    /// was written, or the read ends with an error.
    #[test]
    fn mishaps_return_no_wrong_data((spec, depth, steps) in failing::mishap_run(600)) {
        let mut bench = Bench::new(&spec, None);
        let checked = bench.run(depth, &steps);
        prop_assert!(checked.is_ok(), "{}", checked.unwrap_err());
    }
}

/// The random runs of [`failures_lose_nothing`] meet everything that can go wrong.
#[test]
fn failures_of_every_kind_occur() {
    let config = ProptestConfig { rng_seed: RngSeed::Fixed(2), ..ProptestConfig::default() };
    let mut runner = TestRunner::new(config);
    let mut met = std::collections::BTreeMap::<&str, u32>::new();
    for _ in 0..500 {
        let tree = failing::run(600).new_tree(&mut runner).expect("no filter rejects");
        let (spec, depth, steps) = tree.current();
        let mut bench = Bench::new(&spec, None);
        assert_eq!(bench.run(depth, &steps), Ok(()));
        let Some(life) = bench.device.ftl().life() else { continue };
        let losses = life.losses();
        let retired = bench.device.ftl_counts().by_purpose[Purpose::Retire as usize];
        let end = bench.device.end_of_life();
        let reason = end.map(|end| end.reason);
        for (name, occurs) in [
            ("factory bad", losses.factory_bad > 0),
            ("program failures", losses.program_failures > 0),
            ("erase failures", losses.erase_failures > 0),
            ("emptied and given up", retired.pages > 0),
            ("lives on with losses", losses.grown_bad > 0 && end.is_none()),
            ("too few blocks", reason == Some(EndReason::TooFewBlocks)),
            ("ends with a write buffer", end.is_some() && !bench.write_through),
            ("ends without a write buffer", end.is_some() && bench.write_through),
            ("ends in use", end.is_some_and(|end| end.host_written.0 > 0)),
            ("refused", bench.refused > 0),
            ("left in DRAM", end.is_some_and(|end| end.left_in_dram)),
        ] {
            *met.entry(name).or_default() += u32::from(occurs);
        }
    }
    println!("{met:#?}");
    let never: Vec<_> = met.iter().filter(|(_, times)| **times < 3).collect();
    assert!(never.is_empty(), "too rare: {never:?}, of {met:#?}");
}

/// The random runs of [`mishaps_return_no_wrong_data`] meet what they are for.
#[test]
fn mishaps_of_every_kind_occur() {
    let config = ProptestConfig { rng_seed: RngSeed::Fixed(2), ..ProptestConfig::default() };
    let mut runner = TestRunner::new(config);
    let mut met = std::collections::BTreeMap::<&str, u32>::new();
    for _ in 0..500 {
        let tree = failing::mishap_run(600).new_tree(&mut runner).expect("no filter rejects");
        let (spec, depth, steps) = tree.current();
        let mut bench = Bench::new(&spec, None);
        assert_eq!(bench.run(depth, &steps), Ok(()));
        let Some(hazards) = bench.device.flash().hazards() else { continue };
        let (counts, ftl) = (hazards.counts(), bench.device.ftl());
        let (dead, dies) = (ftl.dead_dies().len() as u32, spec.geometry().dies());
        let end = bench.device.end_of_life();
        let losses = ftl.life().map(|life| *life.losses()).unwrap_or_default();
        let collected = ftl.counts().gc_pages > 0;
        let is_static = spec.placement == PlacementKind::Static;
        let on_others = dead > 0 && dead < dies;
        for (name, occurs) in [
            ("a die died", dead > 0),
            ("all dies died", dead == dies),
            ("unreadable by schedule or chance", counts.unreadable > 0),
            ("an unreadable request", bench.unreadable > 0),
            ("collected beside a dead die", on_others && collected && end.is_none()),
            ("static, without a die", on_others && is_static && end.is_none()),
            ("dynamic, without a die", on_others && !is_static && end.is_none()),
            ("refused, and not at the end", bench.refused > 0 && end.is_none()),
            ("the others have no room", on_others && end.is_some()),
            ("a program fails by schedule", dead == 0 && losses.program_failures > 0),
            ("an erase fails by schedule", dead == 0 && losses.erase_failures > 0),
            ("pages lost, and good ones", ftl.lost_pages() > 0 && bench.unreadable < 5),
        ] {
            *met.entry(name).or_default() += u32::from(occurs);
        }
    }
    println!("{met:#?}");
    let never: Vec<_> = met.iter().filter(|(_, times)| **times < 3).collect();
    assert!(never.is_empty(), "too rare: {never:?}, of {met:#?}");
}

/// Most erases fail: the life is short, and loses nothing.
#[test]
fn a_short_life_loses_nothing() {
    for seed in 0..12 {
        let mut spec = Spec::small();
        spec.shape.blocks_per_plane = 64;
        spec.life.seed = seed.into();
        spec.life.faults.erase_failures = 800_000_000;
        spec.logical_pages = spec.most_logical_pages() / 100 * 75;
        let mut bench = Bench::new(&spec, None);
        assert_eq!(bench.run(8, &random_steps(seed, 1_500)), Ok(()));
        assert!(bench.device.end_of_life().is_some(), "four of five erases fail");
    }
}
