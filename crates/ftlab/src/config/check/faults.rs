//! The requirements of faults: their targets exist, and the mapping can continue without them.

use super::{Checker, text};
use crate::config::resolve::{ShapeCounts, shape};
use crate::nand::Scheduled;

const SCHEDULE: &str = "nand.faults.schedule";

/// The faults that a device may schedule if its blocks can't be replaced.
pub(super) const READS_ONLY: &str = "only unreadable pages, such as [\"1s: page 0 is unreadable\"]";

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
    }

    /// Checks that no fault for good is scheduled twice.
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
