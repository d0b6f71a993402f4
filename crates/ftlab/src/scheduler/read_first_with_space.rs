//! Host reads first, as long as there is space: when a plane of their die runs out of free blocks, they wait for their turn
//! with everything else, so that collection is not kept from freeing blocks, and writes not from going on.
//!
//! A die is short of space from `short_at` free blocks in any of its planes on, until all of them have `ample_at`. The
//! device tells the flash how many there are with each host read ([`View::is_short_of_space`]), so a read is ranked by what
//! is free when it arrives. While a die is short, nothing is suspended for its reads either.
//!
//! Reads keep their order: behind a read that waits for its turn, later ones wait, too, even if there is space again.

use super::{Arrival, CommandId, Kind, Origin, SchedulerPolicy, View};
use crate::image::keeps_nothing;
use crate::options::declare::options;
use crate::policy::{Parts, Policy};
use crate::scheduler::{SchedulerFacts, SpaceLimits};
use crate::units::DieId;

options! {
    /// When a die is short of space.
    pub struct ReadFirstWithSpaceOptions at "scheduler" {
        /// Free blocks of any plane of a die at or below which its host reads no longer go first.
        short_at: u32 = "1", in "1"..="100000", unit "blocks",
            source "as ftl.gc.reserve: with fewer the host can't open a block";
        /// Free blocks of all its planes at which they do again.
        ample_at: u32 = "2", in "2"..="100000", unit "blocks",
            source "assumed: one more, a block a time as ftl.gc.stop";
    }
}

/// Added to the rank of everything but host reads that go first; larger than any sequence number.
const BEHIND_FIRST_READS: u64 = 1 << 63;

/// Priority of host reads while there is space.
#[derive(Clone, Debug)]
pub struct ReadFirstWithSpace {
    limits: SpaceLimits,
    /// The host reads that wait for each die.
    dies: Vec<WaitingReads>,
}

/// Waiting host reads of a die: how many, and the rank of the last.
#[derive(Clone, Copy, Debug, Default)]
struct WaitingReads {
    count: u32,
    last: u64,
}

impl Policy for ReadFirstWithSpace {
    const NAME: &'static str = "read-first-with-space";
    const SUMMARY: &'static str = "host reads go first while their die has free blocks; then everything is served in order of arrival";
    const SOURCE: &'static str =
        "own design, after what drives near saturation show: reads lose their priority";
    type Options = ReadFirstWithSpaceOptions;

    fn build(options: &Self::Options, parts: &Parts<'_>) -> Self {
        ReadFirstWithSpace::new(options, parts.geometry.dies())
    }

    keeps_nothing!(ReadFirstWithSpace { limits, dies });
}

impl SchedulerFacts for ReadFirstWithSpace {
    fn space_limits(options: &Self::Options) -> Option<SpaceLimits> {
        let ReadFirstWithSpaceOptions { short_at, ample_at } = *options;
        Some(SpaceLimits { short_at, ample_at })
    }
}

impl ReadFirstWithSpace {
    /// Returns a policy for `dies` dies, where nothing waits.
    #[must_use]
    pub fn new(options: &ReadFirstWithSpaceOptions, dies: u32) -> ReadFirstWithSpace {
        let ReadFirstWithSpaceOptions { short_at, ample_at } = *options;
        let limits = SpaceLimits { short_at, ample_at };
        ReadFirstWithSpace { limits, dies: vec![WaitingReads::default(); dies as usize] }
    }
}

impl SchedulerPolicy for ReadFirstWithSpace {
    fn follows_space(&self) -> Option<SpaceLimits> {
        Some(self.limits)
    }

    fn rank(&mut self, arrival: &Arrival, view: &View<'_>) -> u64 {
        let Arrival { kind, origin, die, sequence, .. } = *arrival;
        let in_turn = sequence | BEHIND_FIRST_READS;
        if (kind, origin) != (Kind::Read, Origin::Host) {
            return in_turn;
        }
        let own = if view.is_short_of_space(die) { in_turn } else { sequence };
        let reads = &mut self.dies[die.at()];
        let rank = if reads.count > 0 { own.max(reads.last) } else { own };
        *reads = WaitingReads { count: reads.count + 1, last: rank };
        rank
    }

    fn begins(&mut self, die: DieId, id: CommandId, view: &View<'_>) {
        let command = view.command(id);
        if (command.kind, command.origin) == (Kind::Read, Origin::Host) {
            self.dies[die.at()].count -= 1;
        }
    }
}
