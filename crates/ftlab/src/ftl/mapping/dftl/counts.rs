//! What a demand-paged map cost.

/// What a translation page is read or programmed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// The host reads a page whose entry is not in memory.
    HostRead,
    /// A page is written back whose entry is not in memory.
    WriteBack,
    /// An entry that differs from flash makes room for one that the host reads by.
    RoomForRead,
    /// The same for one that is written back.
    RoomForWrite,
    /// Collection has moved pages whose entries are not in memory.
    Collection,
    /// Pages were deallocated whose entries are not in memory.
    Trim,
    /// After a power cut: the page does not say what recovery found.
    Recovery,
}

impl Cause {
    /// All of them, in the order in which counters list them.
    pub const ALL: [Cause; 7] = [
        Cause::HostRead,
        Cause::WriteBack,
        Cause::RoomForRead,
        Cause::RoomForWrite,
        Cause::Collection,
        Cause::Trim,
        Cause::Recovery,
    ];

    /// What an eviction is for that a look-up asks for.
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
    /// Look-ups of the host's reads that found the entry in memory, and went on at once.
    pub read_hits: u64,
    /// Those that did not, or found it still being fetched for others.
    pub read_misses: u64,
    /// Look-ups of write-backs that found the entry in memory, and went on at once.
    pub write_hits: u64,
    /// Those that did not, or found it still being fetched for others.
    pub write_misses: u64,
    /// Misses that read nothing themselves: their entry was being fetched, or their page read or rewritten,
    /// for others.
    pub shared: u64,
    /// Misses in translation pages that were never written: nothing is read.
    pub unwritten: u64,
    /// Entries that made room for others.
    pub evicted: u64,
    /// Of these, those that differed from flash: their page was rewritten.
    pub write_backs: u64,
    /// Other entries in memory that were written along with their page.
    pub batched: u64,
    /// Entries that had gone while their page was being programmed, and came back with its new place.
    pub reinserted: u64,
    /// Pages moved by collection whose entries were in memory, and changed there alone.
    pub lazy: u64,
    /// Flash pages of the map that were read, by [`Cause`].
    pub reads: [u64; Cause::ALL.len()],
    /// Flash pages of the map that were programmed, by [`Cause`].
    pub programs: [u64; Cause::ALL.len()],
    /// Flash pages of the map whose program failed.
    pub failed: u64,
    /// Blocks of the map that were collected.
    pub blocks: u64,
    /// Of these, those that went bad: something failed on them.
    pub lost_blocks: u64,
    /// Pages (mapping units) of the map that collection copied.
    pub copies: u64,
}

impl DemandCounts {
    /// Two counts, number by number.
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

    /// Flash pages of the map that were programmed, but for copies of collection.
    #[must_use]
    pub fn programmed(&self) -> u64 {
        self.programs.iter().sum()
    }
}
