//! Collects the results of cases in the order of their numbers.

use std::collections::BTreeMap;

use ftlab_torture::crash::{Case, CrashTally, Design};

use super::document::{DesignDocument, Failed, TortureDocument};

/// The torture stops after this many failures; more would add nothing.
const MOST_LOSSES: u64 = 20;

/// Returns the case of a number: each seed gives one case of every design.
pub fn case(designs: &[&'static Design], seed: u64, number: u64) -> Case {
    let count = designs.len() as u64;
    Case::draw(designs[(number % count) as usize], seed.wrapping_add(number / count))
}

/// The result of a case.
pub struct RanCase {
    /// The planned cuts.
    pub cuts: u64,
    /// Its counts, or the failure.
    pub found: Result<CrashTally, Failed>,
}

impl RanCase {
    /// Runs a case.
    pub fn of(case: Case) -> RanCase {
        let (cuts, found) = (case.cuts(), case.run());
        RanCase { cuts, found: found.map_err(|said| Failed::new(case, said)) }
    }
}

/// The results of all cases up to some number.
pub struct Ledger {
    designs: Vec<DesignDocument>,
    seed: u64,
    /// How many cuts are enough.
    enough: Option<u64>,
    /// The first case that is not recorded yet, and the results of later ones.
    next: u64,
    waiting: BTreeMap<u64, RanCase>,
    cuts: u64,
    failures: Vec<Failed>,
}

impl Ledger {
    /// Creates an empty ledger.
    pub fn new(designs: Vec<&'static Design>, seed: u64, enough: Option<u64>) -> Ledger {
        let designs = designs.into_iter().map(DesignDocument::new).collect();
        let (waiting, failures) = (BTreeMap::new(), Vec::new());
        Ledger { designs, seed, enough, next: 0, waiting, cuts: 0, failures }
    }

    /// Returns the cuts of the recorded cases.
    pub fn cuts(&self) -> u64 {
        self.cuts
    }

    /// Returns the number of recorded failures.
    pub fn losses(&self) -> u64 {
        self.failures.len() as u64
    }

    /// Whether the requested number of cuts, or the limit of failures, is reached.
    pub fn has_enough(&self) -> bool {
        self.enough.is_some_and(|cuts| self.cuts >= cuts) || self.losses() >= MOST_LOSSES
    }

    /// Takes the result of a case. It is recorded once all cases before it are, unless those were
    /// enough.
    pub fn take(&mut self, number: u64, ran: RanCase) {
        self.waiting.insert(number, ran);
        while !self.has_enough() {
            let Some(RanCase { cuts, found }) = self.waiting.remove(&self.next) else { return };
            let design = (self.next % self.designs.len() as u64) as usize;
            self.designs[design].add(cuts, &found);
            self.failures.extend(found.err());
            self.cuts += cuts;
            self.next += 1;
        }
    }

    /// Returns the results. The first failure is reduced to a small case.
    pub fn into_document(self) -> TortureDocument {
        let Ledger { mut designs, seed, next, cuts, mut failures, .. } = self;
        failures.iter_mut().take(1).for_each(Failed::shrink);
        let rounds = next.div_ceil(designs.len() as u64).saturating_sub(1);
        designs.iter_mut().for_each(DesignDocument::finish);
        TortureDocument {
            first_seed: seed,
            last_seed: seed.wrapping_add(rounds),
            cases: next,
            cuts,
            deaths: designs.iter().map(|design| design.deaths).sum(),
            losses: failures.len() as u64,
            designs,
            failures,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab_torture::crash::DESIGNS;

    fn ran(cuts: u64) -> RanCase {
        RanCase { cuts, found: Ok(CrashTally { cuts, ..CrashTally::default() }) }
    }

    #[test]
    fn cases_are_taken_in_their_order_and_no_more_than_enough() {
        let mut ledger = Ledger::new(DESIGNS.iter().collect(), 5, Some(10));
        ledger.take(2, ran(7));
        ledger.take(1, ran(10));
        assert_eq!((ledger.cuts(), ledger.has_enough()), (0, false));
        ledger.take(0, ran(4));
        assert_eq!((ledger.cuts(), ledger.has_enough()), (14, true));
        let document = ledger.into_document();
        assert_eq!((document.cases, document.first_seed, document.last_seed), (2, 5, 5));
    }
}
