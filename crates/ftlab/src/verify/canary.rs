//! Planted bugs: each breaks a promise in one place, and the swarm must find it. If it does not, the
//! checks are too weak, and their silence says nothing about real bugs.
//!
//! A bug exists only in builds in which devices can check themselves, and only in a device in which it was
//! planted. Elsewhere [`Plant`] is empty, and [`Plant::is`] is a constant `false`.

/// The bugs that can be planted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Canary {
    /// The older copy of a page that is written again stays valid.
    OldCopyStays,
    /// An older copy is reported to the victim policy as invalid, but its valid bit stays.
    ValidBitStays,
    /// A page that collection has copied is still mapped to its old place.
    CopyNotMapped,
    /// An erased block is listed as free twice.
    BlockFreeTwice,
    /// A flush waits for nothing.
    FlushWaitsForNothing,
    /// A read does not look into the write buffer.
    ReadPassesBuffer,
    /// A page whose trim came while it was being programmed comes back.
    TrimForgotten,
    /// A page that is written in part loses its data on flash.
    OlderSectorsLost,
    /// A bus becomes free in the middle of a transfer.
    BusFreeEarly,
    /// An erase goes before everything that waits for its die.
    ErasePassesReads,
    /// One operation serves two pages of the same plane.
    PlaneServesTwo,
    /// A chip that does one thing at a time begins something on each of its dies.
    ChipDoesTwo,
    /// A bus serves in order of arrival alone, although data should go out first.
    BeginsBeforeData,
    /// A suspended operation resumes as if it had continued in the meantime.
    PauseCostsNothing,
    /// What comes out of DRAM was done before it was requested.
    EventInThePast,
    /// If several requests complete at the same time, one completion is lost.
    CompletionLost,
    /// A full block is not reported to the victim policy if its plane is collecting just then.
    NeverACandidate,
    /// Copies do not record which sectors they hold.
    SectorsForgotten,
    /// The last page of a collected block is not copied, unless others take it along.
    LastPageNotCopied,
    /// A completed erase still counts in the load of its die.
    LoadDrifts,
    /// A completed erase is not counted.
    EraseNotCounted,
    /// A read is not charged for its wait for the bus.
    WaitNotAccounted,
    /// The read of a read-modify-write is done but not released.
    CommandKept,
    /// A merge of blocks takes the first page from its data block, although the log has a newer copy.
    NewerCopyForgotten,
    /// A page left over by a throttle is still mapped to its old place.
    MovedNotMapped,
    /// A copy of a page that two logical pages share records only the first of them.
    SecondOwnerForgotten,
    /// A shared page is invalidated as soon as one of its two owners leaves.
    SharedPageFreedEarly,
    /// Of two packed pages, the second is still mapped to its old place.
    PartnerNotMapped,
    /// Data that was read from flash is kept, although newer data was written meanwhile.
    StaleReadKept,
    /// A page stays in the read cache when it is written or deallocated.
    OldReadServed,
    /// A page enters the read cache although newer data is in the write buffer.
    ReadBesideWrite,
    /// What a page brings is looked up in its place only when it is decoded.
    LookedUpWhenDecoded,
    /// Parts of the front end count as busy for all that they have accepted, not as it passes.
    BusyInAdvance,
    /// A dirty entry of the map is evicted without being written.
    DirtyEntryForgotten,
    /// Collection moves a page without updating the map on flash.
    CopyNotInMap,
    /// The cost class of a copy is lost.
    ClassOfCopyLost,
    /// A regulator does not learn that the host writes a page.
    WriteNotRemembered,
    /// A rewrite does not wait until its die has nothing else to do.
    RewriteCutsIn,
    /// A rewritten page becomes current whatever was written meanwhile.
    RewriteOverNewer,
    /// Parity across dies misses the last data page of its stripe.
    ParityMissesLastPage,
    /// A page is reconstructed without one of the pages needed.
    ComputedWithoutOne,
    /// After a power cut: a parity that is computed again misses a page.
    RecomputedWithoutOne,
    /// After a power cut: the parity of a stripe that was not full is not computed again.
    StripeNotRecomputed,
    /// A superblock is filled on its bad blocks, too.
    BadMemberFilled,
    /// A page is reconstructed from one whose program failed.
    FailedPageCounts,
    /// Of the superblocks that a death has left without protection, the last one is forgotten.
    ParityNotRebuilt,
    /// After a power cut: pages that were being programmed count.
    TornPageBelieved,
    /// After a power cut: of a flash page that was being programmed, such as a word line, the first half counts.
    TornPartBelieved,
    /// After a power cut: deallocated data counts.
    DeallocationForgotten,
    /// After a power cut: of several versions of a page, the one in the block that was opened first
    /// counts.
    OlderVersionWins,
    /// After a power cut: of a page in two parts, only the newer one is found.
    FragmentNotRecovered,
    /// A copy made by collection has no version, so recovery cannot identify it.
    CopyWithoutVersion,
    /// A checkpoint leaves out the last changed part of the map.
    CheckpointMissesPart,
    /// A block of the SLC cache is opened without a note of when, so that recovery believes an older checkpoint.
    CacheOpenedUnseen,
    /// After a power cut: the part of a cycle of writes that was on flash counts, although the rest was
    /// not.
    HalfCycleCounts,
    /// After a power cut: an incomplete merge counts.
    HalfMergeCounts,
    /// After a power cut: it is forgotten which pages lost data.
    LostMarksForgotten,
    /// After a power cut: it is forgotten what lay on dead dies.
    ForgetsTheDead,
    /// A write with force unit access is acknowledged from DRAM.
    ForceIgnored,
    /// A reset leaves the last page of its zone behind.
    LastPageOfZoneStays,
    /// After a power cut, a write pointer is a page ahead of the data of its zone.
    PointerAheadOfData,
    /// Copies of all handles go to the reclaim units of the first one.
    HandlesMixed,
    /// A reclaim unit that one handle fills is given to another one.
    UnitChosenTwice,
    /// Collection copies a page to another reclaim group.
    CopyLeavesGroup,
}

impl Canary {
    /// Bugs that show while the device has power.
    pub const WITH_POWER: [Canary; 45] = [
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
        Canary::LookedUpWhenDecoded,
        Canary::BusyInAdvance,
        Canary::DirtyEntryForgotten,
        Canary::CopyNotInMap,
        Canary::ClassOfCopyLost,
        Canary::WriteNotRemembered,
        Canary::RewriteCutsIn,
        Canary::RewriteOverNewer,
        Canary::ParityMissesLastPage,
        Canary::BadMemberFilled,
        Canary::LastPageOfZoneStays,
        Canary::HandlesMixed,
        Canary::UnitChosenTwice,
        Canary::CopyLeavesGroup,
    ];

    /// Bugs that show when a die has died or a page cannot be read, with parity.
    pub const OF_DEATHS: [Canary; 4] = [
        Canary::ParityMissesLastPage,
        Canary::ComputedWithoutOne,
        Canary::FailedPageCounts,
        Canary::ParityNotRebuilt,
    ];

    /// Bugs that show after a power cut.
    pub const OF_POWER_CUTS: [Canary; 16] = [
        Canary::TornPageBelieved,
        Canary::TornPartBelieved,
        Canary::DeallocationForgotten,
        Canary::OlderVersionWins,
        Canary::FragmentNotRecovered,
        Canary::CopyWithoutVersion,
        Canary::CheckpointMissesPart,
        Canary::CacheOpenedUnseen,
        Canary::HalfCycleCounts,
        Canary::HalfMergeCounts,
        Canary::LostMarksForgotten,
        Canary::ForgetsTheDead,
        Canary::RecomputedWithoutOne,
        Canary::StripeNotRecomputed,
        Canary::ForceIgnored,
        Canary::PointerAheadOfData,
    ];
}

/// The bug planted in a part of a device, if any.
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

    /// Whether this bug is planted.
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
