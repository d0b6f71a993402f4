//! Which requests of a run are looked at.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use ftlab::host::Op;
use ftlab::units::{Nanos, SimTime};
use ftlab_workload::replay::Completed;

use super::Windows;

/// Which requests to keep. Indices are those of `requests.parquet`.
#[derive(Clone, Debug)]
pub enum Choice {
    /// The measured ones that took longest, so many of each operation.
    Slowest(BTreeMap<Op, usize>),
    /// The measured one with this index.
    Index(u64),
    /// All that touch some windows.
    Within(Windows),
}

/// Keeps the chosen requests of a run.
#[derive(Clone, Debug)]
pub struct Chooser {
    choice: Choice,
    /// By operation, the slowest last.
    slowest: BTreeMap<Op, BTreeMap<(Nanos, Reverse<u64>), Completed>>,
    others: Vec<Completed>,
}

impl Chooser {
    /// Keeps these.
    #[must_use]
    pub fn new(choice: Choice) -> Chooser {
        Chooser { choice, slowest: BTreeMap::new(), others: Vec::new() }
    }

    /// Looks at a request that has completed; `measured` says whether results count it.
    pub fn look(&mut self, done: &Completed, measured: bool) {
        match &self.choice {
            Choice::Slowest(many) if measured => {
                let op = done.completion.request.op;
                let many = many.get(&op).copied().unwrap_or(0);
                let slowest = self.slowest.entry(op).or_default();
                slowest.insert((done.latency(), Reverse(done.index)), *done);
                if slowest.len() > many {
                    slowest.pop_first();
                }
            }
            Choice::Index(index) if measured && done.index == *index => self.others.push(*done),
            Choice::Within(windows) if windows.meet(done.arrived, done.completion.finished) => {
                self.others.push(*done);
            }
            _ => {}
        }
    }

    /// Returns the chosen requests: by operation, the slowest first; or in the order of completion.
    #[must_use]
    pub fn chosen(self) -> Vec<Completed> {
        let slowest = self.slowest.into_values().flat_map(|of| of.into_values().rev());
        slowest.chain(self.others).collect()
    }
}

/// Returns the time from the arrival to the end of a request.
#[must_use]
pub fn window_of(done: &Completed) -> (SimTime, SimTime) {
    (done.arrived, done.completion.finished)
}
