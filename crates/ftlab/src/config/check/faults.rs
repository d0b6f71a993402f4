//! What faults ask for: things that are on the device, and a mapping that can go on without what failed.

use super::{Checker, text};
use crate::config::resolve::{ShapeCounts, shape};
use crate::nand::Scheduled;

const RECOVERY: &str = "ftl.recovery.policy";
const SCHEDULE: &str = "nand.faults.schedule";

/// What a device may schedule whose blocks can't be exchanged for others.
pub(super) const READS_ONLY: &str =
    "what can't be read alone, such as [\"1s: page 0 is unreadable\"]";

impl Checker<'_, '_> {
    pub(super) fn faults(&mut self) {
        let schedule = &self.options.nand.faults.schedule;
        let shape = shape(self.options);
        let Some(counts) = ShapeCounts::of(&shape) else { return };
        let blocks = counts.planes * u64::from(shape.blocks_per_plane);
        let paths: Vec<&str> = [SCHEDULE].into_iter().chain(super::GEOMETRY).collect();
        for scheduled in schedule {
            let (kind, number) = scheduled.fault.names();
            let there = match kind {
                "die" => self.dies(&counts),
                "plane" => counts.planes,
                "block" => blocks,
                _ => blocks * u64::from(shape.pages_per_block),
            };
            if u64::from(number) >= there {
                let message = format!(
                    "{}: the device has {there} {kind}s, the last of which is {kind} {}",
                    text(scheduled),
                    there.saturating_sub(1)
                );
                let remedy = format!("name one from 0 to {}", there.saturating_sub(1));
                self.fail(&paths, message, remedy);
            }
        }
        self.twice(schedule);
        self.death_and_recovery(schedule);
    }

    /// What lay on a die that died can't be told from what never was there, after a power cut.
    fn death_and_recovery(&mut self, schedule: &[Scheduled]) {
        let recovers = self.options.ftl.recovery.policy.survives();
        let dies = schedule.iter().any(|scheduled| scheduled.fault.is_for_good());
        if recovers && dies {
            let message = "after a power cut nothing says which pages lay on a die that died: what was written \
                           before would come back in their place, so that is refused"
                .to_owned();
            let remedy = format!("set {RECOVERY} to \"none\", or let no die die");
            self.fail(&[SCHEDULE, RECOVERY], message, remedy);
        }
    }

    /// A die dies once.
    fn twice(&mut self, schedule: &[Scheduled]) {
        for (number, scheduled) in schedule.iter().enumerate() {
            let before = &schedule[..number];
            let same = |other: &&Scheduled| other.fault == scheduled.fault;
            let Some(other) = before.iter().find(same).filter(|_| scheduled.fault.is_for_good())
            else {
                continue;
            };
            let message =
                format!("{} and {} are the same fault twice", text(other), text(scheduled));
            self.fail(&[SCHEDULE], message, "leave one of them out".to_owned());
        }
    }
}
