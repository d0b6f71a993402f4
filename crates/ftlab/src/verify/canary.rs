//! Planted bugs: each breaks a promise in one place, and the swarm has to find it. If it does not, the
//! checks are too weak, and its silence says nothing about real bugs.
//!
//! A bug is there only in builds in which devices can check themselves, and only in a device in which it
//! was planted. Elsewhere [`Plant`] is empty, and its question a constant `false`.

/// The bugs that can be planted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Canary {
    /// The older copy of a page that was written again stays valid.
    OldCopyStays,
    /// An older copy is reported to the victim policy as lost, and its valid bit stays.
    ValidBitStays,
    /// A page that collection has copied is still looked for at its old place.
    CopyNotMapped,
    /// An erased block is listed as free twice.
    BlockFreeTwice,
    /// A flush waits for nothing.
    FlushWaitsForNothing,
    /// A read does not look into the write buffer.
    ReadPassesBuffer,
    /// A page whose trim came while it was being programmed comes back.
    TrimForgotten,
    /// A page that is written in part loses what it held on flash.
    OlderSectorsLost,
    /// A bus falls free in the middle of a transfer.
    BusFreeEarly,
    /// An erase goes before everything that waits for its die.
    ErasePassesReads,
    /// One operation serves two pages of the same plane.
    PlaneServesTwo,
    /// A chip that does one thing at a time begins something on each of its dies.
    ChipDoesTwo,
    /// A bus serves by age alone, though data is to go out first.
    BeginsBeforeData,
    /// An operation that was left for reads goes on where it would have been by then.
    PauseCostsNothing,
    /// What comes out of DRAM was done before it was asked for.
    EventInThePast,
    /// Of requests that are done at the same moment, one is not told.
    CompletionLost,
    /// A block that is full is not made known to the victim policy, if its plane collects just then.
    NeverACandidate,
    /// Copies do not note which sectors they hold.
    SectorsForgotten,
    /// The last page of a block that is collected is not copied, unless others take it along.
    LastPageNotCopied,
    /// An erase that is done still counts as load of its die.
    LoadDrifts,
    /// An erase is done and not counted.
    EraseNotCounted,
    /// A read that waits for the bus is not charged for it.
    WaitNotAccounted,
    /// A read of an old copy is done and not given back.
    CommandKept,
    /// A merge of blocks takes the first page from its data block, though a newer copy lies in the log.
    NewerCopyForgotten,
    /// A page that a throttle has left over is still looked for at its old place.
    MovedNotMapped,
    /// A copy of a page that two logical pages share notes the first of them alone.
    SecondOwnerForgotten,
    /// A shared page is given up as soon as one of its two owners leaves.
    SharedPageFreedEarly,
    /// Of two pages that were packed, the second is still looked for where it lay.
    PartnerNotMapped,
    /// What was read from flash is kept, though something newer was written meanwhile.
    StaleReadKept,
    /// What was read stays in the read cache when it is written or deallocated.
    OldReadServed,
    /// What was read comes into the read cache, though something newer is in the write buffer.
    ReadBesideWrite,
    /// An entry of the map that differs from flash makes room for another one, and is not written.
    DirtyEntryForgotten,
    /// Collection moves a page, and nobody tells the map on flash.
    CopyNotInMap,
    /// What a copy was programmed at is taken for something else.
    ClassOfCopyLost,
    /// A page that the host writes stays what it was before, a page that is read or one that nobody knows.
    WriteNotRemembered,
    /// A rewrite does not wait until its die has nothing else to do.
    RewriteCutsIn,
    /// A page that was rewritten lies there from then on, whatever was written meanwhile.
    RewriteOverNewer,
    /// Parity across dies misses the last page of data of its stripe.
    ParityMissesLastPage,
    /// A page is computed without one of those that it takes.
    ComputedWithoutOne,
    /// A page is computed from one whose program failed.
    FailedPageCounts,
    /// After a power cut: what was being programmed counts.
    TornPageBelieved,
    /// After a power cut: what was deallocated counts.
    DeallocationForgotten,
    /// After a power cut: of several versions of a page the one in the block that was opened first counts.
    OlderVersionWins,
    /// After a power cut: of a page in two parts only the newer one is found.
    FragmentNotRecovered,
    /// A copy that collection makes has no version: recovery does not know what it is.
    CopyWithoutVersion,
    /// A checkpoint leaves out the last part of the map that has changed.
    CheckpointMissesPart,
    /// After a power cut: what of a cycle of writes was on flash counts, though the rest was not.
    HalfCycleCounts,
    /// After a power cut: a merge counts, whatever of it was done.
    HalfMergeCounts,
    /// After a power cut: nobody knows of which pages data was lost.
    LostMarksForgotten,
    /// A write that is to be on flash is acknowledged from DRAM.
    ForceIgnored,
}

impl Canary {
    /// Those that a device betrays while it has power.
    pub const WITH_POWER: [Canary; 38] = [
        Canary::OldCopyStays,
        Canary::ValidBitStays,
        Canary::CopyNotMapped,
        Canary::BlockFreeTwice,
        Canary::FlushWaitsForNothing,
        Canary::ReadPassesBuffer,
        Canary::TrimForgotten,
        Canary::OlderSectorsLost,
        Canary::BusFreeEarly,
        Canary::ErasePassesReads,
        Canary::PlaneServesTwo,
        Canary::ChipDoesTwo,
        Canary::BeginsBeforeData,
        Canary::PauseCostsNothing,
        Canary::EventInThePast,
        Canary::CompletionLost,
        Canary::NeverACandidate,
        Canary::SectorsForgotten,
        Canary::LastPageNotCopied,
        Canary::LoadDrifts,
        Canary::EraseNotCounted,
        Canary::WaitNotAccounted,
        Canary::CommandKept,
        Canary::NewerCopyForgotten,
        Canary::MovedNotMapped,
        Canary::SecondOwnerForgotten,
        Canary::SharedPageFreedEarly,
        Canary::PartnerNotMapped,
        Canary::StaleReadKept,
        Canary::OldReadServed,
        Canary::ReadBesideWrite,
        Canary::DirtyEntryForgotten,
        Canary::CopyNotInMap,
        Canary::ClassOfCopyLost,
        Canary::WriteNotRemembered,
        Canary::RewriteCutsIn,
        Canary::RewriteOverNewer,
        Canary::ParityMissesLastPage,
    ];

    /// Those that show when a die died, or a page can't be read, where there is parity.
    pub const OF_DEATHS: [Canary; 3] =
        [Canary::ParityMissesLastPage, Canary::ComputedWithoutOne, Canary::FailedPageCounts];

    /// Those that show when power was cut.
    pub const OF_POWER_CUTS: [Canary; 10] = [
        Canary::TornPageBelieved,
        Canary::DeallocationForgotten,
        Canary::OlderVersionWins,
        Canary::FragmentNotRecovered,
        Canary::CopyWithoutVersion,
        Canary::CheckpointMissesPart,
        Canary::HalfCycleCounts,
        Canary::HalfMergeCounts,
        Canary::LostMarksForgotten,
        Canary::ForceIgnored,
    ];
}

/// The bug that a part of a device carries, if any.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Plant {
    #[cfg(any(feature = "verify", debug_assertions))]
    canary: Option<Canary>,
}

impl Plant {
    /// Plants a bug.
    #[cfg(any(feature = "verify", debug_assertions))]
    pub(crate) fn plant(&mut self, canary: Canary) {
        self.canary = Some(canary);
    }

    /// Whether it is this one.
    #[inline(always)]
    #[cfg_attr(
        not(any(feature = "verify", debug_assertions)),
        expect(clippy::unused_self, reason = "it is empty")
    )]
    pub(crate) fn is(self, canary: Canary) -> bool {
        #[cfg(any(feature = "verify", debug_assertions))]
        return self.canary == Some(canary);
        #[cfg(not(any(feature = "verify", debug_assertions)))]
        {
            let _ = canary;
            false
        }
    }
}
