//! The cost of a demand-paged map, in counts.

use crate::counters::counters;

/// The reason why a translation page is read or programmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// The host reads a page whose entry is not in memory.
    HostRead,
    /// The cache writes back a page whose entry is not in memory.
    WriteBack,
    /// A dirty entry is evicted for an entry that a host read needs.
    RoomForRead,
    /// A dirty entry is evicted for an entry that a write-back needs.
    RoomForWrite,
    /// Garbage collection moved pages whose entries are not in memory.
    Collection,
    /// Pages were trimmed whose entries are not in memory.
    Trim,
    /// After a power cut, the translation page differs from the recovered map.
    Recovery,
}

impl Cause {
    /// All causes, in the order in which counters list them.
    pub const ALL: [Cause; 7] = [
        Cause::HostRead,
        Cause::WriteBack,
        Cause::RoomForRead,
        Cause::RoomForWrite,
        Cause::Collection,
        Cause::Trim,
        Cause::Recovery,
    ];

    /// Returns the cause of an eviction that a look-up for this cause makes necessary.
    #[must_use]
    pub const fn of_room(self) -> Cause {
        match self {
            Cause::HostRead => Cause::RoomForRead,
            _ => Cause::RoomForWrite,
        }
    }
}

counters! {
    /// What demand paging of the map cost.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct DemandCounts {
        /// Look-ups by host reads that found the entry in memory and continued at once.
        read_hits: u64, unit "look-ups", at "translation/read_hits";
        /// Look-ups by host reads that did not find the entry, or found it still being fetched for others.
        read_misses: u64, unit "look-ups", at "translation/read_misses", compared lower "map, misses of reads";
        /// Look-ups by write-backs that found the entry in memory and continued at once.
        write_hits: u64, unit "look-ups", at "translation/write_hits";
        /// Look-ups by write-backs that did not find the entry, or found it still being fetched for others.
        write_misses: u64, unit "look-ups", at "translation/write_misses", compared lower "map, misses of writes";
        /// Look-ups that found the entry in the host's memory, from where it was read.
        from_host: u64, unit "look-ups", at "translation/host_memory_reads", label "entries read from the host's memory", compared lower if any "map, reads of host memory";
        /// Entries that differed from flash and lay in the host's memory, from where they were read because their translation
        /// page was updated.
        updates_from_host: u64, unit "entries", at "translation/host_memory_update_reads", label "entries read from the host's memory to be written back", compared lower if any "map, reads of host memory for updates";
        /// Misses that read nothing themselves, because their entry was being fetched, or their translation page read or
        /// updated, for others.
        shared: u64, unit "look-ups", at "translation/shared_misses";
        /// Misses in translation pages that were never written. They read nothing.
        unwritten: u64, unit "look-ups", at "translation/unwritten_misses";
        /// Entries that were evicted.
        evicted: u64, unit "entries", at "translation/evicted_entries";
        /// Evicted entries that differed from flash, so that their translation page was updated.
        write_backs: u64, unit "entries", at "translation/written_back_entries", compared lower "map, written back";
        /// Other entries in memory that were written along with their translation page.
        batched: u64, unit "entries", at "translation/batched_entries";
        /// Entries that were evicted while their page was being programmed, and inserted again with its new place.
        reinserted: u64, unit "entries", at "translation/reinserted_entries";
        /// Pages moved by garbage collection whose entries were in memory and changed only there.
        lazy: u64, unit "entries", at "translation/lazy_entries";
        /// Flash pages of the map that were read, by [`Cause`].
        reads: [u64; Cause::ALL.len()], unit "flash pages";
        /// Flash pages of the map that were programmed, by [`Cause`].
        programs: [u64; Cause::ALL.len()], unit "flash pages";
        /// Flash pages of the map whose program failed.
        failed: u64, unit "flash pages";
        /// Blocks of the map that were garbage-collected.
        blocks: u64, unit "blocks", at "translation/collected_blocks";
        /// Of these, the blocks that went bad because an operation on them failed.
        lost_blocks: u64, unit "blocks";
        /// Pages (mapping units) of the map that garbage collection copied.
        copies: u64, unit "pages";
    }
}

impl DemandCounts {
    /// Returns the number of programmed flash pages of the map, without the copies of garbage
    /// collection.
    #[must_use]
    pub fn programmed(&self) -> u64 {
        self.programs.iter().sum()
    }
}
