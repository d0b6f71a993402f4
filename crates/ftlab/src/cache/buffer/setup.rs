//! The setup of a buffer, the fixed rules that follow from it, and its counts.

use super::super::WriteBuffer;
use super::super::view::BufferShape;
use super::Space;
use crate::counters::counters;
use crate::units::Nanos;

/// The setup of a buffer.
#[derive(Clone, Debug)]
pub struct BufferSetup {
    /// The policy, with its initial state.
    pub policy: WriteBuffer,
    /// Capacity in units of `space`, or `None` if pages are only staged.
    pub capacity: Option<u32>,
    /// What the capacity counts.
    pub space: Space,
    /// Sizes that policies depend on.
    pub shape: BufferShape,
    /// Whether pages that are read from flash stay as clean ones.
    pub keeps_reads: bool,
    /// Dirty room, in units of `space`, above which write-back starts. At or below it, pages are written back only
    /// to make room.
    pub write_back_above: u32,
    /// Maximum number of flash pages under way at once, or `None` for no limit.
    pub programs_in_flight: Option<u32>,
    /// Flash pages that one program serves: as many are written back together if enough is dirty. There must always
    /// be room for a whole row under way.
    pub row: u32,
    /// Number of flash pages in a batch; the next batch starts when all of them are on flash. `None` if each is
    /// written back by itself.
    pub write_back_together: Option<u32>,
    /// The rule by which write-backs start per plane, at most one on each, or `None` if they start as they come.
    pub gate: Option<Gate>,
    /// Time to move a request's data to or from DRAM.
    pub latency: Nanos,
}

/// How write-backs start if each plane has at most one: see `device/write/cycle.rs`. This requires a placement that fixes
/// the plane of a page, and mapping units of a flash page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gate {
    /// Whether write-backs form cycles: the next starts when all of the previous one have ended.
    pub barrier: bool,
    /// Whether a cycle is the longest run of pages in eviction order without two on the same plane, and its pages
    /// become current together. Only for cycles.
    pub prefix: bool,
}

/// Whether a write has waited for its turn to come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entering {
    /// It is new.
    New,
    /// It is the first of those that wait.
    Waited,
}

counters! {
    /// What the write buffer did, in pages (mapping units).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct BufferCounts {
        /// Written pages that were in the buffer already.
        write_hits: u64, unit "pages", at "cache/write_hit_pages";
        /// Written pages that were not.
        write_misses: u64, unit "pages", at "cache/write_miss_pages";
        /// Read pages with all wanted sectors in the buffer.
        read_hits: u64, unit "pages", at "cache/read_hit_pages";
        /// Read pages with wanted sectors missing in the buffer. These came from flash or a read cache, or were never
        /// written.
        read_misses: u64, unit "pages", at "cache/read_miss_pages";
        /// Pages written back to flash.
        written_back: u64, unit "pages", at "cache/written_back_pages", compared lower "buffer, written back";
        /// Programs with two pages packed onto one physical page, each of which saved a program.
        packs: u64, unit "programs", at "cache/packed_programs", compared higher if any "buffer, programs saved";
        /// Pages read from flash and written again to fill up a block.
        padded: u64, unit "pages", at "cache/padded_pages", compared lower if any "buffer, padding";
        /// Clean pages that left without being written.
        dropped: u64, unit "pages", at "cache/dropped_pages";
        /// Written pages that had to wait for room.
        waited: u64, unit "pages", at "cache/waited_pages";
        /// Cycles of write-backs.
        cycles: u64, unit "cycles";
    }
}

/// The fixed rules that follow from a [`BufferSetup`].
#[derive(Clone, Debug)]
pub struct BufferRules {
    /// Capacity, or `None` if pages are only staged.
    pub capacity: Option<u32>,
    /// Whether pages that are read from flash stay as clean ones.
    pub keeps_reads: bool,
    /// Dirty room above which write-back starts.
    pub write_back_above: u32,
    /// Maximum number of flash pages under way at once.
    pub programs_in_flight: Option<u32>,
    /// Flash pages that one program serves.
    pub row: u32,
    /// Number of flash pages in a batch, if there are batches.
    pub write_back_together: Option<u32>,
    /// The rule by which write-backs start, if they start per plane.
    pub gate: Option<Gate>,
    /// Time to move a request's data to or from DRAM.
    pub latency: Nanos,
}

impl BufferRules {
    pub(super) fn of(setup: &BufferSetup) -> BufferRules {
        BufferRules {
            capacity: setup.capacity,
            keeps_reads: setup.keeps_reads,
            write_back_above: setup.write_back_above,
            programs_in_flight: setup.programs_in_flight,
            row: setup.row,
            write_back_together: setup.write_back_together,
            gate: setup.gate,
            latency: setup.latency,
        }
    }
}
