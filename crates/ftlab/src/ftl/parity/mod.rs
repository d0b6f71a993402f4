//! Parity across dies. Each stripe of a superblock ([`StripeLayout`]) has a page that is the XOR of the others, so that a
//! page which cannot be read, or the pages of a dead die, are computed from the rest.
//!
//! Commands go to flash as without parity. This module watches them: it programs parity behind the last page of a stripe
//! ([`program`]), and reads the rest of a stripe instead of a page that is unreadable ([`read`]). The parity of a stripe
//! that is not full is kept in DRAM.

mod image;
mod kept;
mod members;
mod program;
mod read;
pub(crate) mod rebuild;
mod recovery;

use std::collections::BTreeMap;

pub(in crate::ftl) use kept::KeptStripe;
pub use recovery::Recomputed;
pub(in crate::ftl) use recovery::come_up;

use crate::counters::counters;
use crate::ftl::Ftl;
use crate::ftl::superblock::Members;
use crate::nand::{Stripe, StripeLayout};
use crate::options::Switch;
use crate::options::declare::{choices, options};
use crate::scheduler::{CommandId, Origin};
use crate::units::{BlockId, Nanos, Ppn};

use rebuild::Exposed;

options! {
    /// Parity across dies, which saves the data of a die that fails.
    pub struct ParityOptions at "ftl.parity" {
        /// Which pages parity protects together.
        policy: ParityPolicy = "none",
            source "default: the data of a die is lost with it, as in drives without parity";
        /// Dies of a stripe, including the one that holds its parity: one in this many dies' worth of
        /// capacity goes into parity. With superblocks, those of a superblock.
        width: u32 = "4", in "2"..="64", unit "dies",
            source "assumed; drives of many dies use 8 to 64 (Micron calls it RAIN)",
            applies_with "ftl.parity.policy" is "dies";
        /// Whether the FTL, once a die is found dead, moves the data of all stripes that have lost a page with it to new
        /// stripes over the remaining dies. Until then, a second death in the group loses data. One superblock of a plane
        /// of a group at a time, and collection for space goes first.
        rebuild: Switch = "off",
            source "default: nothing is moved for a death alone; lost data is computed from its stripe at each read",
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

    /// Whether stripes that have lost a page with a die are rebuilt.
    #[must_use]
    pub fn rebuilds(&self) -> bool {
        self.policy == ParityPolicy::Dies && self.rebuild.is_on()
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
        /// Superblocks emptied, to rebuild them or for space, that a death had left without protection.
        restored: u64, unit "superblocks", at "parity/restored_superblocks";
        /// Flash pages of data that were copied out of them.
        restored_pages: u64, unit "flash pages", at "parity/restored_pages";
        /// Time during which some stripes had no protection: from when a death was found until the last of them was
        /// restored. Never over while a group has a single live die.
        exposed: Nanos, unit "ns", at "parity/exposed_ns";
    }
}

/// The state of a parity's copy on flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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

impl OnFlash {
    /// All states, ordered by number.
    const ALL: [OnFlash; 4] = [OnFlash::No, OnFlash::Leaves, OnFlash::Yes, OnFlash::Useless];
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

/// The pages of a stripe from which another one can be computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rest {
    /// The stripe.
    pub stripe: Stripe,
    /// A bit for each member of the superblock whose page is needed.
    pub members: u64,
    /// The member that holds the parity; none while it is in DRAM.
    pub parity: Option<u32>,
}

/// The stripes of a device.
#[derive(Clone, Debug)]
pub struct Stripes {
    layout: StripeLayout,
    /// Stripes whose parity is in DRAM.
    running: BTreeMap<Stripe, Running>,
    /// Pages that hold nothing useful, by stripe and member: their programs failed, or they were skipped.
    missing: BTreeMap<(Stripe, u32), Missing>,
    /// Superblocks that were open when a die of their group died, or were opened later.
    narrow: BTreeMap<BlockId, Narrow>,
    /// By superblock: commands in flight that its erase waits for.
    under_way: Vec<u32>,
    /// Erases that wait for commands in flight.
    erases: Vec<(BlockId, CommandId)>,
    /// By read whose page is being computed: reads in flight for it.
    rebuilding: BTreeMap<u32, u32>,
    /// Stripes that are full, whose parity is programmed behind the commands that are being submitted.
    due: Vec<Stripe>,
    /// Superblocks that deaths have left without protection.
    exposed: Exposed,
    counts: ParityCounts,
}

impl Stripes {
    /// All superblocks are erased.
    #[must_use]
    pub fn new(layout: StripeLayout) -> Stripes {
        Stripes {
            under_way: vec![0; layout.volume().blocks() as usize],
            layout,
            running: BTreeMap::new(),
            missing: BTreeMap::new(),
            narrow: BTreeMap::new(),
            erases: Vec::new(),
            rebuilding: BTreeMap::new(),
            due: Vec::new(),
            exposed: Exposed::default(),
            counts: ParityCounts::default(),
        }
    }

    /// The layout of stripes on flash.
    #[must_use]
    pub fn layout(&self) -> &StripeLayout {
        &self.layout
    }

    /// Costs and benefits of parity.
    #[must_use]
    pub fn counts(&self) -> &ParityCounts {
        &self.counts
    }

    /// The stripe of a page of data, and the member that holds the page.
    fn member_of(&self, page: Ppn) -> (Stripe, u32) {
        let (stripe, place) = self.layout.stripe_of(page);
        (stripe, self.layout.member_at(stripe, place))
    }

    /// The stripe of a page of data, and the members from whose pages it can be computed;
    /// none if too many of them failed or were never programmed.
    #[must_use]
    pub fn rest_of(&self, page: Ppn, known: &Members) -> Option<Rest> {
        let (stripe, member) = self.member_of(page);
        let own = 1 << member;
        let rest = match self.running.get(&stripe) {
            Some(running) => {
                let members = running.covered & !own;
                (running.covered & own != 0).then_some(Rest { stripe, members, parity: None })?
            }
            None => {
                let parity = Some(self.parity_of(stripe, known)?);
                let all = u64::MAX >> (u64::BITS - self.layout.width());
                let others = all & !own & !self.lost_at_begin(stripe, known);
                let is_there =
                    |&member: &u32| self.why_missing(stripe, member) != Some(Missing::LeftOut);
                let members = members(others).filter(is_there).fold(0, |set, at| set | 1 << at);
                Rest { stripe, members, parity }
            }
        };
        let lacks = |member| self.why_missing(stripe, member) == Some(Missing::Parity);
        let own_counts = self.why_missing(stripe, member).is_none();
        (own_counts && !self::members(rest.members).any(lacks)).then_some(rest)
    }

    /// The blocks of a superblock that hold pages, and how far each is programmed, after this many flash pages of data. If
    /// a die is the last one of its group, the last of these pages may have been skipped.
    pub(crate) fn on_flash<'a>(
        &'a self,
        block: BlockId,
        pages: u32,
        known: &'a Members,
    ) -> impl Iterator<Item = (BlockId, u32)> + 'a {
        let (layout, planes) = (&self.layout, self.layout.planes());
        let in_row = known.span().pages_in_row();
        let (row, begun) = (pages / in_row, pages % in_row);
        known.live(block).map(move |at| {
            let (member, plane) = (at / planes, at % planes);
            let stripe = Stripe { block, number: row * planes + plane };
            let parity = self.parity_of(stripe, known);
            let place = layout.place_of(stripe, member).filter(|_| parity != Some(member));
            let is_taken = |place: u32| place * planes + plane < begun;
            let is_begun = place.is_some_and(is_taken);
            let has_page = |place: u32| is_taken(place) && self.is_page(stripe, place, known);
            // The parity follows the last page.
            let is_done = || match self.running.get(&stripe) {
                Some(running) => !running.waits(),
                None => (0..layout.width() - 1).any(has_page),
            };
            let has_parity = parity == Some(member) && is_done();
            (layout.flash().member(block, at), row + u32::from(is_begun || has_parity))
        })
    }

    /// A superblock holds nothing any more.
    pub(in crate::ftl) fn forget(&mut self, block: BlockId) {
        let rows = Stripe { block, number: 0 }..Stripe { block, number: u32::MAX };
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

/// A superblock is erased at power-up, or retired: nothing is known of its stripes any more.
pub(in crate::ftl) fn forget(block: BlockId, ftl: &mut Ftl) {
    if let Some(stripes) = &mut ftl.features.stripes {
        stripes.forget(block);
        ftl.features.record.iter_mut().for_each(|record| record.touch_block(block));
    }
}

/// The members in a set.
fn members(set: u64) -> impl Iterator<Item = u32> {
    let next = |&left: &u64| Some(left & (left - 1)).filter(|&left| left != 0);
    std::iter::successors(Some(set).filter(|&set| set != 0), next).map(u64::trailing_zeros)
}
