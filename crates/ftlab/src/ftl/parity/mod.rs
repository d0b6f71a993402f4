//! Parity across dies. The FTL fills superblocks ([`Superblocks`]). Each of their stripes has a page that is the XOR of
//! the others, so that a page which cannot be read, or the pages of a dead die, are computed from the rest.
//!
//! The FTL above sees only a volume of fewer, larger blocks. This module maps it to flash: which
//! commands of the dies a command of the volume becomes, when parity is programmed, and what is
//! read instead of an unreadable page. The parity of a stripe that is not full is kept in DRAM.

mod image;
pub(crate) mod loss;
pub(crate) mod room;
pub(crate) mod submit;

use std::collections::{BTreeMap, BTreeSet};

use crate::counters::counters;
use crate::nand::{Stripe, Superblocks};
use crate::options::declare::{choices, options};
use crate::scheduler::{CommandId, Load, Origin};
use crate::units::{BlockId, DieId, Ppn};

options! {
    /// Parity across dies, which saves the data of a die that fails.
    pub struct ParityOptions at "ftl.parity" {
        /// Which pages parity protects together.
        policy: ParityPolicy = "none",
            source "default: the data of a die is lost with it, as in drives without parity";
        /// Dies of a stripe, including the one that holds its parity: one in this many dies' worth of
        /// capacity goes into parity.
        width: u32 = "4", in "2"..="64", unit "dies",
            source "assumed; drives of many dies use 8 to 64 (Micron calls it RAIN)",
            applies_with "ftl.parity.policy" is "dies";
    }
}

choices! {
    /// Which pages parity protects together.
    pub enum ParityPolicy {
        /// None: there is no parity.
        None = "none",
        /// Pages at the same place of several dies form a stripe.
        Dies = "dies",
    }
}

impl ParityOptions {
    /// Dies of a stripe; none without parity.
    #[must_use]
    pub fn stripe(&self) -> Option<u32> {
        (self.policy == ParityPolicy::Dies).then_some(self.width)
    }
}

counters! {
    /// Costs and benefits of parity.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct ParityCounts {
        /// Parity pages that were programmed, except failed programs.
        programs: u64, unit "flash pages", at "parity/parity_programs", label "flash pages of parity programmed";
        /// Flash pages that could not be read, and were computed from the rest of their stripes.
        reconstructed: u64, unit "flash pages", at "parity/reconstructed_reads";
        /// Flash pages that were read for this.
        reads: u64, unit "flash pages", at "parity/reconstruction_reads";
        /// Flash pages that could not be computed either, because more of their stripes was missing; counted each
        /// time that they were requested.
        lost: u64, unit "flash pages", at "parity/lost_reads";
        /// Blocks of superblocks that were not erased with the others because their dies were dead.
        spared_erases: u64, unit "blocks";
    }
}

/// The state of a parity's copy on flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OnFlash {
    /// Its program has not begun.
    No,
    /// It is being programmed.
    Leaves,
    /// It is on flash.
    Yes,
    /// Its program failed, or that of a page which it covers. The copy is useless, and DRAM keeps
    /// the parity until the superblock is erased.
    Useless,
}

/// The parity of a stripe in DRAM, until it and all pages that it covers are on flash.
#[derive(Clone, Copy, Debug)]
struct Running {
    /// A bit for each member whose page it covers.
    covered: u64,
    /// A bit for each of these whose page is on flash; the others are still in DRAM.
    programmed: u64,
    /// The origin of the last submitted page of the stripe, or none. The parity is programmed under
    /// the same origin, since programs of a block from different origins might be reordered.
    origin: Option<Origin>,
    /// The state of its copy on flash.
    on_flash: OnFlash,
}

impl Running {
    /// Nothing is covered.
    const fn new() -> Running {
        Running { covered: 0, programmed: 0, origin: None, on_flash: OnFlash::No }
    }

    /// Whether the parity is still to be programmed.
    fn waits(&self) -> bool {
        self.on_flash == OnFlash::No
    }

    /// Whether nothing of it has to stay in DRAM.
    fn is_done(&self) -> bool {
        self.on_flash == OnFlash::Yes && self.covered & !self.programmed == 0
    }
}

/// Why a page of a stripe cannot be used to compute others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Missing {
    /// The parity does not cover it.
    LeftOut,
    /// It is the parity, and was never programmed.
    Parity,
}

/// Stripes of a superblock that were begun after dies of its group had died.
#[derive(Clone, Debug, Default)]
struct Narrow {
    /// Stripes with lower numbers have begun.
    begun: u32,
    /// For the stripes from this one on: the dies that were dead when they were begun, one bit each.
    dead: Vec<(u32, u64)>,
}

/// The pages of the volume, and the parity, from which a page can be computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rest {
    /// The stripe.
    pub stripe: Stripe,
    /// A bit for each member of the superblock whose page is needed.
    pub members: u64,
    /// The member that holds the parity; none while it is in DRAM.
    pub parity: Option<u32>,
}

/// The mapping of superblocks to flash.
#[derive(Clone, Debug)]
pub struct Stripes {
    superblocks: Superblocks,
    /// The load that placement balances: commands by group of dies.
    load: Load,
    /// Stripes whose parity is in DRAM.
    running: BTreeMap<Stripe, Running>,
    /// Pages that hold nothing useful, by stripe and member: their programs failed, or they were skipped.
    missing: BTreeMap<(Stripe, u32), Missing>,
    /// By group: a bit for each die that is known to be dead.
    dead: Vec<u64>,
    /// Whether any die is dead.
    any_dead: bool,
    /// Superblocks that were open when a die of their group died, or were opened later.
    narrow: BTreeMap<BlockId, Narrow>,
    /// By superblock: commands in flight that its erase waits for.
    under_way: Vec<u32>,
    /// Erases that wait for commands in flight.
    erases: Vec<(BlockId, CommandId)>,
    /// By erase in progress: the number of its blocks that are erased or skipped.
    erasing: BTreeMap<u32, u32>,
    /// Reads whose pages are being computed.
    rebuilding: BTreeSet<u32>,
    counts: ParityCounts,
}

impl Stripes {
    /// All superblocks are erased.
    #[must_use]
    pub fn new(superblocks: Superblocks) -> Stripes {
        Stripes {
            load: Load::new(superblocks.volume()),
            under_way: vec![0; superblocks.volume().blocks() as usize],
            dead: vec![0; superblocks.volume().dies() as usize],
            any_dead: false,
            narrow: BTreeMap::new(),
            superblocks,
            running: BTreeMap::new(),
            missing: BTreeMap::new(),
            erases: Vec::new(),
            erasing: BTreeMap::new(),
            rebuilding: BTreeSet::new(),
            counts: ParityCounts::default(),
        }
    }

    /// The layout of superblocks on flash.
    #[must_use]
    pub fn superblocks(&self) -> &Superblocks {
        &self.superblocks
    }

    /// Costs and benefits of parity.
    #[must_use]
    pub fn counts(&self) -> &ParityCounts {
        &self.counts
    }

    /// Commands by group of dies, waiting or running.
    #[inline]
    #[must_use]
    pub fn dies(&self) -> &Load {
        &self.load
    }

    /// Blocks that are erased or skipped, of superblocks whose erase is not done.
    pub(crate) fn erased_in_part(&self) -> u64 {
        self.erasing.values().map(|&blocks| u64::from(blocks)).sum()
    }

    /// The group of a die.
    #[must_use]
    pub fn group_of(&self, die: DieId) -> DieId {
        self.superblocks.group_of(die).0
    }

    /// The stripe of a page of the volume, and the member that holds the page.
    fn member_of(&self, page: Ppn) -> (Stripe, u32) {
        let (stripe, place) = self.superblocks.stripe_of(page);
        (stripe, self.superblocks.member_at(stripe, place))
    }

    /// The stripe of a page of the volume, and the members from whose pages it can be computed;
    /// none if too many of them failed or were never programmed.
    #[must_use]
    pub fn rest_of(&self, page: Ppn) -> Option<Rest> {
        let (stripe, member) = self.member_of(page);
        let own = 1 << member;
        let rest = match self.running.get(&stripe) {
            Some(running) => {
                let members = running.covered & !own;
                (running.covered & own != 0).then_some(Rest { stripe, members, parity: None })?
            }
            None => {
                let parity = Some(self.parity_of(stripe)?);
                let all = u64::MAX >> (u64::BITS - self.superblocks.width());
                let others = all & !own & !self.dead_at_begin(stripe);
                let is_there =
                    |&member: &u32| self.why_missing(stripe, member) != Some(Missing::LeftOut);
                let members = members(others).filter(is_there).fold(0, |set, at| set | 1 << at);
                Rest { stripe, members, parity }
            }
        };
        let lacks = |member| self.why_missing(stripe, member) == Some(Missing::Parity);
        let own_counts = self.why_missing(stripe, member).is_none();
        (own_counts && !members(rest.members).any(lacks)).then_some(rest)
    }

    /// The physical blocks of a superblock, and how far each is programmed, after this many flash
    /// pages of the volume; without those of dead dies. If a die is the last one of its group, the
    /// last of these pages may have been skipped.
    pub(crate) fn on_flash(
        &self,
        block: BlockId,
        pages: u32,
    ) -> impl Iterator<Item = (BlockId, u32)> {
        let superblocks = &self.superblocks;
        let data = superblocks.width() - 1;
        let (row, begun) = (pages / data, pages % data);
        let stripe = Stripe { block, row };
        let parity = self.parity_of(stripe);
        let live = (0..superblocks.width()).filter(move |&member| !self.is_dead(block, member));
        live.map(move |member| {
            let place = superblocks.place_of(stripe, member).filter(|_| parity != Some(member));
            let is_begun = place.is_some_and(|place| place < begun);
            (superblocks.block_on_flash(block, member), row + u32::from(is_begun))
        })
    }

    /// A superblock holds nothing any more.
    pub(in crate::ftl) fn forget(&mut self, block: BlockId) {
        let rows = Stripe { block, row: 0 }..Stripe { block, row: u32::MAX };
        let running = self.running.range(rows.clone()).map(|(&stripe, _)| stripe);
        for stripe in running.collect::<Vec<_>>() {
            self.running.remove(&stripe);
        }
        let missing = self.missing.range((rows.start, 0)..(rows.end, 0)).map(|(&at, _)| at);
        for at in missing.collect::<Vec<_>>() {
            self.missing.remove(&at);
        }
        self.narrow.remove(&block);
    }
}

/// The members in a set.
pub(super) fn members(set: u64) -> impl Iterator<Item = u32> {
    let next = |&left: &u64| Some(left & (left - 1)).filter(|&left| left != 0);
    std::iter::successors(Some(set).filter(|&set| set != 0), next).map(u64::trailing_zeros)
}
