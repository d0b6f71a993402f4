//! The cost of a demand-paged map, in counts.

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

/// Counts since the device was switched on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DemandCounts {
    /// Look-ups by host reads that found the entry in memory and continued at once.
    pub read_hits: u64,
    /// Look-ups by host reads that did not find the entry, or found it still being fetched for
    /// others.
    pub read_misses: u64,
    /// Look-ups by write-backs that found the entry in memory and continued at once.
    pub write_hits: u64,
    /// Look-ups by write-backs that did not find the entry, or found it still being fetched for
    /// others.
    pub write_misses: u64,
    /// Misses that read nothing themselves, because their entry was being fetched, or their
    /// translation page read or updated, for others.
    pub shared: u64,
    /// Misses in translation pages that were never written. They read nothing.
    pub unwritten: u64,
    /// Entries that were evicted.
    pub evicted: u64,
    /// Evicted entries that differed from flash, so that their translation page was updated.
    pub write_backs: u64,
    /// Other entries in memory that were written along with their translation page.
    pub batched: u64,
    /// Entries that were evicted while their page was being programmed, and inserted again with its
    /// new place.
    pub reinserted: u64,
    /// Pages moved by garbage collection whose entries were in memory and changed only there.
    pub lazy: u64,
    /// Flash pages of the map that were read, by [`Cause`].
    pub reads: [u64; Cause::ALL.len()],
    /// Flash pages of the map that were programmed, by [`Cause`].
    pub programs: [u64; Cause::ALL.len()],
    /// Flash pages of the map whose program failed.
    pub failed: u64,
    /// Blocks of the map that were garbage-collected.
    pub blocks: u64,
    /// Of these, the blocks that went bad because an operation on them failed.
    pub lost_blocks: u64,
    /// Pages (mapping units) of the map that garbage collection copied.
    pub copies: u64,
}

impl DemandCounts {
    /// Combines two counts, number by number.
    #[must_use]
    pub fn zip(&self, other: &DemandCounts, f: fn(u64, u64) -> u64) -> DemandCounts {
        let (a, b) = (self, other);
        let each = |a: [u64; Cause::ALL.len()], b: [u64; Cause::ALL.len()]| {
            std::array::from_fn(|at| f(a[at], b[at]))
        };
        DemandCounts {
            read_hits: f(a.read_hits, b.read_hits),
            read_misses: f(a.read_misses, b.read_misses),
            write_hits: f(a.write_hits, b.write_hits),
            write_misses: f(a.write_misses, b.write_misses),
            shared: f(a.shared, b.shared),
            unwritten: f(a.unwritten, b.unwritten),
            evicted: f(a.evicted, b.evicted),
            write_backs: f(a.write_backs, b.write_backs),
            batched: f(a.batched, b.batched),
            reinserted: f(a.reinserted, b.reinserted),
            lazy: f(a.lazy, b.lazy),
            reads: each(a.reads, b.reads),
            programs: each(a.programs, b.programs),
            failed: f(a.failed, b.failed),
            blocks: f(a.blocks, b.blocks),
            lost_blocks: f(a.lost_blocks, b.lost_blocks),
            copies: f(a.copies, b.copies),
        }
    }

    /// Returns the number of programmed flash pages of the map, without the copies of garbage
    /// collection.
    #[must_use]
    pub fn programmed(&self) -> u64 {
        self.programs.iter().sum()
    }
}
