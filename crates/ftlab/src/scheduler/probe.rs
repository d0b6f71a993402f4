//! Observation of the flash, and of what its commands are for.

use super::command::{Arrival, Command, Origin};
use crate::nand::Kind;
use crate::units::{BlockId, ChannelId, DieId, PlaneId, Ppn, RequestId, SimTime};

/// A span of time in which a part of the device was busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Activity {
    /// What was done.
    pub kind: Kind,
    /// Its purpose.
    pub origin: Origin,
    /// Number of commands that arrived before the one that is served ([`Arrival::sequence`]).
    pub sequence: u64,
    /// The page; the first one of a flash page or block.
    pub page: Ppn,
    /// The die.
    pub die: DieId,
    /// Its channel.
    pub channel: ChannelId,
    /// The start.
    pub from: SimTime,
    /// The end.
    pub until: SimTime,
}

/// Something that happened beside the flash. It explains why commands come, and what was waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// The host submitted a request.
    Submitted {
        /// The request.
        request: RequestId,
        /// The submitter's mark.
        tag: u32,
    },
    /// Something that a request waited for has come.
    Settled {
        /// The request.
        request: RequestId,
    },
    /// A command is done, and its owner hears of it next. Until the next note of this kind or the next submission, what
    /// happens at this moment follows from it.
    Done {
        /// Its number ([`Arrival::sequence`]).
        sequence: u64,
    },
    /// A plane begins to empty a block.
    Collects {
        /// The plane.
        plane: PlaneId,
        /// The block.
        victim: BlockId,
        /// Its valid pages (mapping units).
        valid: u32,
        /// The purpose, in words.
        purpose: &'static str,
    },
    /// A plane has emptied its block, or given up.
    Collected {
        /// The plane.
        plane: PlaneId,
    },
    /// A plane with log blocks begins to merge.
    Merges {
        /// The plane.
        plane: PlaneId,
        /// The log block that is emptied, if one is.
        victim: Option<BlockId>,
        /// The data blocks that are merged.
        merges: u32,
        /// The pages that have to be copied, as far as that is known.
        copies: u32,
    },
    /// A plane has done its merges. Merges that are carried out at once tell it ahead of time.
    Merged {
        /// The plane.
        plane: PlaneId,
    },
    /// The command that is just done failed, or read what cannot be corrected.
    Failed {
        /// Its number ([`Arrival::sequence`]).
        sequence: u64,
    },
    /// A die is found to be dead.
    DieDied {
        /// The die.
        die: DieId,
    },
    /// How full the device is, told to probes that [follow](Probe::follows) it.
    Levels(Levels),
}

/// How full a device is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Levels {
    /// Free blocks of the plane that has the fewest.
    pub free_blocks: u32,
    /// Pages in the write buffer that are not on flash yet.
    pub buffered_pages: u32,
}

/// Observes the flash without changing it. The default does nothing and costs nothing.
pub trait Probe {
    /// Whether it observes anything at all.
    const ACTIVE: bool = true;

    /// Called when a command arrives, before it waits for its die.
    fn arrives(&mut self, _arrival: &Arrival, _command: &Command) {}
    /// Called for a span in which the cells of a die are busy.
    fn cell(&mut self, _activity: &Activity) {}
    /// Called for a span in which the bus of a channel is busy.
    fn bus(&mut self, _activity: &Activity) {}
    /// Called for a span in which what was read waits for an engine that decodes it, or is being decoded.
    fn decoding(&mut self, _activity: &Activity) {}
    /// Called for a span in which what was read moves into DRAM, or waits for its turn.
    fn filling_dram(&mut self, _activity: &Activity) {}
    /// Called when the cells suspend an activity that was already reported. The rest is reported
    /// when they resume.
    fn pause(&mut self, _activity: &Activity, _at: SimTime) {}
    /// Whether it wants to know how full the device is at this time.
    fn follows(&self, _at: SimTime) -> bool {
        false
    }
    /// Called when something happens beside the flash.
    fn note(&mut self, _at: SimTime, _note: Note) {}
}

impl Probe for () {
    const ACTIVE: bool = false;
}
