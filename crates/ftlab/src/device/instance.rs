//! Chooses the set of skills that a device runs on, the smallest one that holds all its skills, and calls what was
//! compiled for it.
//!
//! Each layer reports its skills; a device does not pay for skills that its set lacks. A device
//! with a skill that no smaller set holds runs on all skills.

use crate::device::{Contents, Device};
use crate::engine::skills::{self, Skills};
use crate::ftl::Kernel;
use crate::ftl::service::Signals;
use crate::scheduler::Probe;

/// Calls a method of a device as it was compiled for the set that the device runs on.
macro_rules! on_its_skills {
    ($device:ident, $call:ident($($argument:ident),*)) => {
        match $device.skills {
            skills::PLAIN => $device.$call::<{ skills::compiled(skills::PLAIN) }>($($argument),*),
            skills::COMMON => $device.$call::<{ skills::compiled(skills::COMMON) }>($($argument),*),
            skills::ABOVE_FLASH => {
                $device.$call::<{ skills::compiled(skills::ABOVE_FLASH) }>($($argument),*)
            }
            _ => $device.$call::<{ skills::ALL }>($($argument),*),
        }
    };
}
pub(super) use on_its_skills;

impl<P: Probe, C: Contents> Device<P, C> {
    /// Chooses the set. Call it when the device is assembled, and when it has loaded a state.
    pub(super) fn choose_skills(&mut self) {
        let foresees = if self.base.death_classes().is_some() { skills::RARE } else { 0 };
        let has = self.base.kernel.flash.skills()
            | self.base.kernel.ftl.skills()
            | self.own_skills()
            | foresees;
        let sets = [skills::PLAIN, skills::COMMON, skills::ABOVE_FLASH];
        let fitting = sets.into_iter().find(|set| has & !set == 0);
        self.skills = fitting.unwrap_or(skills::ALL);
        self.base.wakes = self.wakes();
    }

    /// Also runs with the skills of `set`, which must hold the device's own. Only the speed of the simulation changes.
    pub fn use_skills(&mut self, set: Skills) {
        debug_assert_eq!(self.skills & !set, 0, "the device has skills that the set lacks");
        self.skills |= set;
    }

    /// The set that the device runs on.
    #[must_use]
    pub fn skills(&self) -> Skills {
        self.skills
    }

    /// The notifications that some part of this device needs.
    fn wakes(&self) -> Signals {
        let Kernel { ftl, flash, .. } = &self.base.kernel;
        let fails = flash.hazards().is_some() || ftl.life().is_some();
        let hazards = if fails { Signals::HAZARDS } else { Signals::NONE };
        let held = match ftl.triggers().preemptible {
            true => Signals::HELD_BACK,
            false => Signals::NONE,
        };
        let journal = &self.base.services.journal;
        let delays =
            ftl.superblock().is_some() || journal.as_ref().is_some_and(|it| it.has_index());
        let effects = if delays { Signals::EFFECTS } else { Signals::NONE };
        self.base.services.wakes().and(hazards).and(held).and(effects)
    }

    /// The skills of the device itself, besides flash and FTL.
    fn own_skills(&self) -> Skills {
        let parts = [
            self.base.desk.front.is_some(),
            self.base.direct.is_some(),
            self.base.zones.is_some(),
            self.base.hints.is_some(),
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
