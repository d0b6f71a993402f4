//! What a buffer is made of, what follows from that and holds all along, and what is counted.

use super::super::WriteBuffer;
use super::super::view::Shape;
use super::Space;
use crate::counters::counters;
use crate::units::Nanos;

/// What a buffer is made of.
#[derive(Clone, Debug)]
pub struct BufferSetup {
    /// What goes first.
    pub policy: WriteBuffer,
    /// What fits, in what `space` counts; none if pages are only staged.
    pub capacity: Option<u32>,
    /// What the capacity counts.
    pub space: Space,
    /// Sizes that policies go by.
    pub shape: Shape,
    /// Whether pages that were read from flash stay as clean ones.
    pub keeps_reads: bool,
    /// Write-back begins when more than this is dirty, counted likewise; otherwise only for room.
    pub write_back_above: u32,
    /// Flash pages on their way to flash at once, at the most; none if every page goes at once.
    pub programs_in_flight: Option<u32>,
    /// Flash pages that are written back together, where so many are dirty: as many as one program
    /// serves. A whole row has to be allowed on its way.
    pub row: u32,
    /// Flash pages that go together, the next ones when all of these have arrived; none if each goes by
    /// itself.
    pub flush_pages: Option<u32>,
    /// Write-backs begin by planes, at most one on each; none if they begin as they come.
    pub gate: Option<Gate>,
    /// Moving a request's data to or from DRAM.
    pub latency: Nanos,
}

/// How write-backs begin where each plane has at most one: see `device/cycle.rs`. For placement that
/// fixes the plane of a page, and mapping units of a flash page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gate {
    /// Write-backs form cycles: the next one begins when all of the last have ended.
    pub barrier: bool,
    /// A cycle is the longest run of pages, in the order of the policy, in which no plane comes twice,
    /// and its pages become current together. For cycles only.
    pub prefix: bool,
}

/// Whether a write has waited for its turn to come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// It comes anew.
    New,
    /// It waited, and is the first to do so.
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
        /// Read pages of which all wanted sectors were in the buffer.
        read_hits: u64, unit "pages", at "cache/read_hit_pages";
        /// Read pages of which not all wanted sectors were in the buffer: they came from flash or a read cache, or were
        /// never written.
        read_misses: u64, unit "pages", at "cache/read_miss_pages";
        /// Pages written back to flash.
        written_back: u64, unit "pages", at "cache/written_back_pages", compared lower "buffer, written back";
        /// Programs that put parts of two pages onto one physical page: so many programs were saved.
        packs: u64, unit "programs", at "cache/packed_programs", compared higher if any "buffer, programs saved";
        /// Pages read from flash and written again, to fill up a block.
        padded: u64, unit "pages", at "cache/padded_pages", compared lower if any "buffer, padding";
        /// Clean pages that left the buffer without being written.
        dropped: u64, unit "pages", at "cache/dropped_pages";
        /// Written pages that had to wait for room.
        waited: u64, unit "pages", at "cache/waited_pages";
        /// Cycles of write-backs.
        cycles: u64, unit "cycles";
    }
}

/// What follows from the setup of a buffer and holds all along.
#[derive(Clone, Debug)]
pub struct BufferRules {
    /// What fits; none if pages are only staged.
    pub capacity: Option<u32>,
    /// Whether pages that were read from flash stay as clean ones.
    pub keeps_reads: bool,
    /// Write-back begins when more than this is dirty.
    pub write_back_above: u32,
    /// Flash pages on their way to flash at once, at the most.
    pub programs_in_flight: Option<u32>,
    /// Flash pages that are written back together, where so many are dirty.
    pub row: u32,
    /// Flash pages that go together, the next ones when all of these have arrived.
    pub flush_pages: Option<u32>,
    /// How write-backs begin, if they do so by planes.
    pub gate: Option<Gate>,
    /// Moving a request's data to or from DRAM.
    pub latency: Nanos,
}

impl BufferRules {
    /// What follows from a setup.
    pub(super) fn of(setup: &BufferSetup) -> BufferRules {
        BufferRules {
            capacity: setup.capacity,
            keeps_reads: setup.keeps_reads,
            write_back_above: setup.write_back_above,
            programs_in_flight: setup.programs_in_flight,
            row: setup.row,
            flush_pages: setup.flush_pages,
            gate: setup.gate,
            latency: setup.latency,
        }
    }
}
