//! Rewrites wait for idle dies: a command that reached the die first never waits for one, and any other for at
//! most the one operation in progress. Watched from outside, command by command.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use ftlab::device::assemble_with;
use ftlab::scheduler::{Activity, Arrival, Kind, Origin};
use ftlab::units::SimTime;
use ftlab_torture::{AnyProbe, Listens};
use proptest::prelude::*;

use super::drive;
use crate::common::{Spec, regulating};
use crate::contents::cases;

/// A command from its arrival on.
#[derive(Clone, Copy, Debug)]
struct Life {
    die: u32,
    kind: Kind,
    origin: Origin,
    at: SimTime,
    begun: Option<SimTime>,
    /// The ends of its work in the cells and on the bus.
    cells: Option<SimTime>,
    bus: Option<SimTime>,
}

impl Life {
    /// Whether it is over at `now`, as far as known.
    fn is_over(&self, now: SimTime) -> bool {
        let last = if self.kind == Kind::Read { self.bus } else { self.cells };
        last.is_some_and(|end| end <= now)
    }

    fn end(&self) -> SimTime {
        self.cells.max(self.bus).expect("it has ended")
    }
}

/// All commands, in order of arrival.
#[derive(Clone, Debug, Default)]
struct Lives(Rc<RefCell<BTreeMap<u64, Life>>>);

impl Listens for Lives {
    fn arrives(&mut self, arrival: &Arrival) {
        let &Arrival { kind, origin, die, at, sequence, .. } = arrival;
        let mut lives = self.0.borrow_mut();
        if origin == Origin::Rewrite {
            let busy = lives.values().find(|life| life.die == die.get() && !life.is_over(at));
            assert!(busy.is_none(), "a rewrite comes at {at} to a die that has {busy:?}");
        }
        let (die, begun, cells, bus) = (die.get(), None, None, None);
        lives.insert(sequence, Life { die, kind, origin, at, begun, cells, bus });
    }

    fn cell(&mut self, activity: &Activity) {
        self.spent(activity).cells = Some(activity.until);
    }

    fn bus(&mut self, activity: &Activity) {
        self.spent(activity).bus = Some(activity.until);
    }
}

impl Lives {
    fn spent(&self, activity: &Activity) -> std::cell::RefMut<'_, Life> {
        std::cell::RefMut::map(self.0.borrow_mut(), |lives| {
            let life = lives.get_mut(&activity.sequence).expect("what begins has come");
            life.begun.get_or_insert(activity.from);
            life
        })
    }

    /// Returns how many commands waited while a rewrite had their die.
    fn check(&self) -> u32 {
        let lives: Vec<Life> = self.0.borrow().values().copied().collect();
        let rewrites = lives.iter().filter(|life| life.origin == Origin::Rewrite);
        let rewrites: Vec<_> = rewrites.collect();
        let mut delayed = 0;
        for life in lives.iter().filter(|life| life.origin != Origin::Rewrite) {
            let begun = life.begun.expect("everything has begun");
            let in_the_way = rewrites.iter().filter(|rewrite| {
                rewrite.die == life.die
                    && rewrite.begun.is_some_and(|from| from < begun)
                    && rewrite.end() > life.at
            });
            let in_the_way: Vec<_> = in_the_way.collect();
            assert!(in_the_way.len() <= 1, "{life:?} waits for {in_the_way:?}");
            delayed += in_the_way.len() as u32;
        }
        delayed
    }
}

/// First come, first served, and nothing is suspended: a command waits for all that came before.
fn in_order(spec: Spec) -> Spec {
    let overlaps = |path: &str| path.starts_with("nand.multi_plane.");
    spec.without(overlaps).set("scheduler.policy", "fifo")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases().cases / 4, ..cases() })]

    #[test]
    fn a_rewrite_delays_by_one_operation_at_most((spec, depth, steps) in regulating::run(300)) {
        let spec = in_order(spec);
        let lives = Lives::default();
        let mut device = assemble_with(spec.setup(), AnyProbe::new(lives.clone()), ());
        drive(&mut device, &spec, depth, &steps);
        lives.check();
    }
}
