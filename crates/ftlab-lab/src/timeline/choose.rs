//! Which requests of a run are looked at.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use ftlab::host::Op;
use ftlab::units::{Nanos, SimTime};
use ftlab_workload::replay::Completed;

use super::Windows;

/// Which requests to keep. Indices are those of `requests.parquet`.
#[derive(Clone, Debug)]
pub enum RequestChoice {
    /// The measured ones that took longest, so many of each operation.
    Slowest(usize),
    /// The measured one with this index.
    Index(u64),
    /// All that touch some windows.
    Within(Windows),
}

/// Keeps the chosen requests of a run.
#[derive(Clone, Debug)]
pub struct Chooser {
    choice: RequestChoice,
    /// By operation, the slowest last.
    slowest: BTreeMap<Op, BTreeMap<(Nanos, Reverse<u64>), Completed>>,
    /// By operation, how many were measured.
    measured: BTreeMap<Op, u64>,
    others: Vec<Completed>,
}

/// The chosen requests of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// By operation, the slowest first.
    pub slowest: BTreeMap<Op, Vec<Completed>>,
    /// By operation, how many were measured, if the slowest were wanted.
    pub measured: BTreeMap<Op, u64>,
    /// Those chosen otherwise, in the order of completion.
    pub others: Vec<Completed>,
}

impl Chooser {
    /// Keeps these.
    #[must_use]
    pub fn new(choice: RequestChoice) -> Chooser {
        let (slowest, measured) = (BTreeMap::new(), BTreeMap::new());
        Chooser { choice, slowest, measured, others: Vec::new() }
    }

    /// Looks at a request that has completed; `measured` says whether results count it.
    pub fn look(&mut self, done: &Completed, measured: bool) {
        match &self.choice {
            RequestChoice::Slowest(many) if measured => {
                let op = done.completion.request.op;
                *self.measured.entry(op).or_default() += 1;
                let slowest = self.slowest.entry(op).or_default();
                let key = (done.latency(), Reverse(done.index));
                if slowest.len() == *many {
                    if slowest.first_key_value().is_none_or(|(fastest, _)| key < *fastest) {
                        return;
                    }
                    slowest.pop_first();
                }
                slowest.insert(key, *done);
            }
            RequestChoice::Index(index) if measured && done.index == *index => {
                self.others.push(*done)
            }
            RequestChoice::Within(windows)
                if windows.meet(done.arrived, done.completion.finished) =>
            {
                self.others.push(*done);
            }
            _ => {}
        }
    }

    /// Returns the chosen requests.
    #[must_use]
    pub fn chosen(self) -> Chosen {
        let Chooser { slowest, measured, others, .. } = self;
        let ranked =
            |(op, of): (Op, BTreeMap<_, Completed>)| (op, of.into_values().rev().collect());
        Chosen { slowest: slowest.into_iter().map(ranked).collect(), measured, others }
    }
}

/// Returns the time from the arrival to the end of a request.
#[must_use]
pub fn window_of(done: &Completed) -> (SimTime, SimTime) {
    (done.arrived, done.completion.finished)
}
