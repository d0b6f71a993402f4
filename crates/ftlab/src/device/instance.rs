//! Which set of skills a device runs on: the smallest that holds all that it has.
//!
//! Each layer says what it has; what it does not name costs a device nothing. A device that has something which
//! no smaller set names runs on all of them.

use crate::device::{Contents, Device};
use crate::engine::skills::{self, Skills};
use crate::ftl::Kernel;
use crate::ftl::service::Signals;
use crate::scheduler::Probe;

impl<P: Probe, C: Contents> Device<P, C> {
    /// Chooses the set. To be called when the device is put together, and when it has taken up a state.
    pub(super) fn choose_skills(&mut self) {
        let has =
            self.base.kernel.flash.skills() | self.base.kernel.ftl.skills() | self.own_skills();
        let sets = [skills::PLAIN, skills::COMMON];
        let fitting = sets.into_iter().find(|set| has & !set == 0);
        self.skills = fitting.unwrap_or(skills::ALL);
        self.base.wakes = self.wakes();
    }

    /// Runs on a set from now on that holds its own. Nothing changes but the time that it takes to simulate.
    pub fn use_skills(&mut self, set: Skills) {
        debug_assert_eq!(self.skills & !set, 0, "the device has skills that the set lacks");
        self.skills |= set;
    }

    /// The set on which it runs.
    #[must_use]
    pub fn skills(&self) -> Skills {
        self.skills
    }

    /// What somebody in this device wants to hear of.
    fn wakes(&self) -> Signals {
        let Kernel { ftl, flash, .. } = &self.base.kernel;
        let fails = flash.hazards().is_some() || ftl.life().is_some();
        let hazards = if fails { Signals::HAZARDS } else { Signals::NONE };
        let held = match ftl.triggers().preemptible {
            true => Signals::HELD_BACK,
            false => Signals::NONE,
        };
        self.base.services.wakes().and(hazards).and(held)
    }

    /// What the device has beside flash and FTL.
    fn own_skills(&self) -> Skills {
        let parts = [
            self.base.desk.front.is_some(),
            self.base.direct.is_some(),
            self.base.reads.cache.is_on(),
            self.base.buffer.rules.keeps_reads,
            self.base.buffer.keeps_versions(),
            self.writes.cycles.gate().is_some(),
            self.base.idle.patrol().is_some(),
        ];
        let rare = if parts.contains(&true) { skills::RARE } else { 0 };
        self.base.services.skills()
            | rare
            | if self.base.buffer.rules.row > 1 { skills::ROWS } else { 0 }
    }
}
