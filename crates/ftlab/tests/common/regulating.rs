//! What writes cost, described for tests, and random devices on which that is decided page by page.

use ftlab::ftl::cost::{
    Agcr, AgcrOptions, CostSetup, HighWrite, HistoryRule, LowWrite, QueueDriven, Regulator,
    Traditional,
};
use ftlab::host::Op;
use ftlab::nand::timing::{ByCost, Ispp, IsppOptions, Timing, TimingPolicy};
use ftlab::nand::{CostClass, Crowd, Prior, ReliabilityOptions};
use ftlab::options::Switch;
use ftlab::shape::Cell;
use ftlab::units::{Nanos, Ratio};
use proptest::prelude::*;
use proptest::sample::select;

use super::random::{self, Step};
use super::{
    ERASE, MappingKind, RegulatorKind, Spec, TimingKind, caching, failing, on_demand, timing,
};

/// What decides what writes cost, described.
#[derive(Clone, Copy, Debug)]
pub struct CostSpec {
    pub policy: RegulatorKind,
    pub prior: Prior,
    pub history: HistoryRule,
    pub rewrite: bool,
    /// Flash pages that a die remembers.
    pub remembers: u32,
    pub waits: Crowd,
}

/// All writes cost the same.
pub const SAME_COST: CostSpec = CostSpec {
    policy: RegulatorKind::Traditional,
    prior: Prior { class: CostClass::Medium, as_written: true },
    history: HistoryRule::LastAccess,
    rewrite: true,
    remembers: 256,
    waits: Crowd::Die,
};

/// About the paper's table, the lowest cost first. Odd ends keep things apart in time.
pub const READ_BY_COST: [Nanos; 3] = [Nanos(70_001), Nanos(170_003), Nanos(310_007)];
pub const PROGRAM_BY_COST: [Nanos; 3] = [Nanos(450_011), Nanos(600_013), Nanos(800_029)];

pub fn by_cost() -> Timing {
    let (read, program) = (READ_BY_COST.to_vec(), PROGRAM_BY_COST.to_vec());
    Timing::ByCost(ByCost { read, program, erase: ERASE })
}

/// The model behind the table, as it is by default. Odd ends, again.
pub fn ispp() -> Timing {
    let reliability = ReliabilityOptions {
        program_step: vec![400, 300, 225],
        rated_step: 300,
        rated_cycles: 3_000,
        rated_age: Nanos(365 * 86_400_000_000_000),
        fresh_errors: 600,
        cycled_errors: 2_000,
        retained_errors: 3_000,
        disturbed_errors: 0,
        disturbed_reads: 100_000,
        wear_at_least: Ratio::percent(100),
        age_at_least: Ratio::percent(100),
        references: vec![1, 3, 7],
        corrects: vec![4_000, 7_000, 12_000],
        retries: 3,
        retry_gain: Ratio::percent(30),
    };
    let (program_volt, sense, bit) = (Nanos(180_011), Nanos(10_001), Nanos(20_003));
    let options = IsppOptions { reliability, program_volt, sense, bit };
    Timing::Ispp(Ispp::new(&options, Cell::Mlc, ERASE))
}

impl CostSpec {
    fn regulator(&self) -> Regulator {
        match self.policy {
            RegulatorKind::Traditional => Regulator::Traditional(Traditional),
            RegulatorKind::HighWrite => Regulator::HighWrite(HighWrite),
            RegulatorKind::LowWrite => Regulator::LowWrite(LowWrite),
            RegulatorKind::QueueDriven => Regulator::QueueDriven(QueueDriven { waits: self.waits }),
            RegulatorKind::Agcr => Regulator::Agcr(Agcr::new(&AgcrOptions {
                history: self.history,
                rewrite: if self.rewrite { Switch::On } else { Switch::Off },
                rewrite_queue: self.remembers,
            })),
        }
    }
}

impl Spec {
    /// What regulates costs, if the cells leave a choice.
    pub(super) fn cost_setup(&self) -> Option<CostSetup> {
        let knows_costs = timing(self.timing).knows_costs();
        let setup = || CostSetup { regulator: self.cost.regulator(), rewrites: self.rewrites() };
        knows_costs.then(setup)
    }

    /// Pages that a die remembers, if any is rewritten: a log has no place of its own for it.
    pub(super) fn rewrites(&self) -> Option<u32> {
        let places = self.log.shares.data == 0 && self.mapping != MappingKind::Physical;
        let rewrites = self.cost.rewrite && self.cost.policy == RegulatorKind::Agcr;
        (places && rewrites).then_some(self.cost.remembers)
    }
}

/// Any regulator, often the one that looks at what pages have been through.
pub fn cost() -> impl Strategy<Value = CostSpec> {
    let mut policies = RegulatorKind::ALL.to_vec();
    policies.extend([RegulatorKind::Agcr; 4]);
    let class = select(&CostClass::ALL[..]);
    let prior = (class, any::<bool>()).prop_map(|(class, as_written)| Prior { class, as_written });
    let history = select(vec![HistoryRule::LastAccess, HistoryRule::Hysteresis]);
    let rewrite = (prop::bool::weighted(0.8), select(vec![1u32, 2, 8, 256]));
    let waits = select(vec![Crowd::Die, Crowd::Device]);
    (select(policies), prior, history, rewrite, waits).prop_map(
        |(policy, prior, history, (rewrite, remembers), waits)| CostSpec {
            policy,
            prior,
            history,
            rewrite,
            remembers,
            waits,
        },
    )
}

/// Any device with translation, on cells that know costs.
pub fn spec() -> impl Strategy<Value = Spec> {
    let any = prop_oneof![
        3 => random::spec(),
        1 => failing::spec(),
        1 => on_demand::spec(),
        1 => caching::spec(),
    ];
    let costs = (cost(), select(vec![TimingKind::ByCost]));
    (any, costs, 0u32..=3).prop_map(|(spec, (cost, timing), more)| {
        let mut spec = Spec { timing, cost, ..spec };
        spec.shape.blocks_per_plane += more;
        if spec.most_logical_pages() == 0 {
            spec.shape.blocks_per_plane += 1;
        }
        spec.logical_pages = spec.logical_pages.min(spec.most_logical_pages());
        spec
    })
}

/// Pages are written a few times and read a few times, in turns, with pauses in which dies fall idle.
pub fn steps(count: usize) -> impl Strategy<Value = Vec<Step>> {
    let op = prop_oneof![
        10 => Just(Op::Write),
        14 => Just(Op::Read),
        1 => Just(Op::Trim),
        1 => Just(Op::Flush),
    ];
    // Half of the steps go where the one before went.
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

/// A run: a device, how many commands it may hold at once, and the commands.
pub fn run(count: usize) -> impl Strategy<Value = (Spec, usize, Vec<Step>)> {
    (spec(), select(vec![1usize, 1, 2, 4, 8, 32]), steps(count))
}
