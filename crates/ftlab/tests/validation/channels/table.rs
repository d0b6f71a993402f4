//! The thesis's figures from the naive machine, to compare with the specification's. They take
//! minutes, so run them by hand: `cargo test --release -p ftlab --test validation channels::table --
//! --ignored --nocapture`.

use super::machine::{Params, Planner};
use super::{Random, mlc};

const REQUESTS: u32 = 2_000_000;
const KIB: u64 = 1024;
/// 16 GiB in blocks of 512 KiB.
const BLOCKS: u32 = 32_768;
const PLANNERS: [Planner; 4] =
    [Planner::Synchronised, Planner::SuperDataBlock, Planner::CycleStealing, Planner::None];
const CHANNELS: [u32; 4] = [1, 2, 4, 8];

/// 16 GiB, MLC, with this much for the log.
fn device(channels: u32, over_provision_permille: u32, planner: Planner) -> Params {
    let data = BLOCKS / channels;
    mlc(channels, data, data * over_provision_permille / 1000, planner)
}

fn planners(throttle: Option<u32>) {
    println!(
        "IOPS, 2.5 % OP, throttle {throttle:?}: whole run (second half) at 1, 2, 4, 8 channels"
    );
    for planner in PLANNERS {
        let runs = CHANNELS.map(|channels| {
            Random::run(Params { throttle, ..device(channels, 25, planner) }, REQUESTS, 1)
        });
        let cells = runs.map(|run| format!("{:.1} ({:.1})", run.whole, run.steady));
        println!("  {planner:?}: {}", cells.join("  "));
    }
}

fn headline() -> f64 {
    let run = |planner| {
        let params = device(8, 25, planner);
        Random::run(Params { buffer_bytes: 32 * KIB, throttle: Some(8), ..params }, REQUESTS, 1)
    };
    let (stealing, gang) = (run(Planner::CycleStealing), run(Planner::Synchronised));
    println!(
        "headline: {:.2} / {:.2} = {:.3}; second half {:.2} / {:.2} = {:.3}",
        stealing.whole,
        gang.whole,
        stealing.whole / gang.whole,
        stealing.steady,
        gang.steady,
        stealing.steady / gang.steady
    );
    stealing.whole / gang.whole
}

fn write_cycles(in_order: bool) {
    println!("write cycles a request, 0/8/16/32/64/128 KiB, in order: {in_order}");
    for channels in CHANNELS {
        let cells = [0, 8, 16, 32, 64, 128].map(|kib| {
            let params = device(channels, 25, Planner::CycleStealing);
            let gating = Params { buffer_bytes: kib * KIB, in_order, ..params };
            let cycles = Random::run(gating, REQUESTS / 10, 1).machine.finish().write_cycles;
            format!("{:.3}", cycles as f64 / f64::from(REQUESTS / 10))
        });
        println!("  {channels} channels: {}", cells.join("  "));
    }
}

/// The largest reclaim of each round, where a round merges as many data blocks as there are.
fn merges_per_reclaim(throttle: Option<u32>) {
    for channels in [1, 8] {
        let params = Params { throttle, ..device(channels, 100, Planner::CycleStealing) };
        let reclaims = Random::run(params, REQUESTS, 1).machine.finish().reclaims;
        let mut rounds = Vec::new();
        let mut merged = 0;
        for reclaim in &reclaims {
            rounds.resize((merged / BLOCKS) as usize + 1, 0);
            let round = rounds.last_mut().unwrap();
            *round = reclaim.merges.max(*round);
            merged += reclaim.merges + reclaim.others_merges;
        }
        let mean = reclaims.iter().map(|reclaim| f64::from(reclaim.merges)).sum::<f64>()
            / reclaims.len() as f64;
        let longest = reclaims.iter().map(|reclaim| reclaim.time).max().unwrap();
        println!(
            "merges a reclaim, 10 % OP, {channels} channels, throttle {throttle:?}: {} reclaims, first {}, mean {mean:.2}, \
             largest of each round {rounds:?}, longest {:.3} s",
            reclaims.len(),
            reclaims[0].merges,
            longest as f64 / 1e9
        );
    }
}

#[test]
#[ignore = "minutes; optimised and by hand"]
fn thesis_by_hand() {
    let ratio = headline();
    planners(None);
    planners(Some(8));
    write_cycles(false);
    write_cycles(true);
    merges_per_reclaim(None);
    merges_per_reclaim(Some(8));
    assert!((3.60..3.85).contains(&ratio), "{ratio}");
}
