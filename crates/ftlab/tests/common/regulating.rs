//! Random devices that choose the cost of a write page by page.

use ftlab::host::Op;
use ftlab::units::Nanos;
use proptest::prelude::*;
use proptest::sample::select;

use super::random::{self, Run, Step, Text, legal, wider};
use super::{Spec, caching, failing, on_demand, policies};

/// Programs of `options.toml`, by cost.
pub const PROGRAM_BY_COST: [Nanos; 3] = [Nanos(450_011), Nanos(600_013), Nanos(800_029)];

/// Cell timings that leave a choice of costs.
pub fn timings() -> Vec<&'static str> {
    let mut all = policies("nand.timing.policy");
    all.retain(|timing| {
        let spec = Spec::small().set("nand.timing.policy", timing);
        spec.config().options.nand.timing.policy.knows_costs()
    });
    all
}

/// Any regulator, often the one that uses each page's history.
pub fn cost() -> impl Strategy<Value = Text> {
    let mut regulators = policies("ftl.cost.policy");
    regulators.extend(["agcr"; 4]);
    let prior = select(vec!["as-written", "as-written", "as-written", "low", "medium", "high"]);
    let history = select(vec!["last-access", "hysteresis"]);
    let rewrite = (prop::bool::weighted(0.8), select(vec![1u32, 2, 8, 256]));
    let waits = select(vec!["die", "device"]);
    (select(regulators), prior, history, rewrite, waits).prop_map(
        |(policy, prior, history, (rewrite, queue), waits)| {
            let rewrite = if rewrite { "on" } else { "off" };
            format!(
                "ftl.cost.policy = {policy}
                ftl.cost.prior = {prior}
                ftl.cost.history = {history}
                ftl.cost.rewrite = {rewrite}
                ftl.cost.rewrite_queue = {queue}
                ftl.cost.waits = {waits}"
            )
        },
    )
}

/// Any device with translation, on cells that offer several costs.
pub fn spec() -> impl Strategy<Value = Spec> {
    let any = prop_oneof![
        3 => random::drawn(),
        1 => failing::drawn(),
        1 => on_demand::drawn(),
        1 => caching::drawn(),
    ];
    (any, cost(), 0u32..=2, random::share()).prop_map(|(spec, cost, more, share)| {
        let spec = random::mixing(spec).set("nand.timing.policy", "by-cost").with(&cost);
        legal(wider(spec, more), share)
    })
}

/// A few writes and a few reads of each page in turn, with pauses in which dies fall idle.
pub fn steps(count: usize) -> impl Strategy<Value = Vec<Step>> {
    let op = prop_oneof![
        10 => Just(Op::Write),
        14 => Just(Op::Read),
        1 => Just(Op::Trim),
        1 => Just(Op::Flush),
    ];
    // Half of the steps go to the same place as the step before.
    let again = (random::step(), op, 0u32..8, any::<bool>(), 0u64..4_000_000);
    let step = again.prop_map(|(step, op, share, stays, pause)| {
        let pause = if step.pause > Nanos::ZERO { Nanos(pause) } else { Nanos::ZERO };
        (stays, Step { op, place: share * 8_191, eighths: step.eighths.min(16), pause, ..step })
    });
    proptest::collection::vec(step, count / 2..=count).prop_map(|steps| {
        let mut last = None;
        let follow = |(stays, step): (bool, Step)| {
            let step = match last.filter(|_| stays) {
                Some(Step { place, hot, aligned, .. }) => Step { place, hot, aligned, ..step },
                None => step,
            };
            last = Some(step);
            step
        };
        steps.into_iter().map(follow).collect()
    })
}

/// A run of such a device.
pub fn run(count: usize) -> impl Strategy<Value = Run> {
    (spec(), select(vec![1usize, 1, 2, 4, 8, 32]), steps(count))
}
