//! Parity for tests: real XORs of the contents of flash pages. A page that parity was not told
//! about, or too late, is computed wrongly.

use std::collections::{BTreeMap, BTreeSet};

use ftlab::ftl::parity::Rest;
use ftlab::nand::{Stripe, StripeLayout};
use ftlab::units::{BlockId, Ppn};

use crate::versions::GARBAGE;

/// The content of a flash page, in words.
pub type Words = Vec<u64>;

/// A flash page that could not be read, nor computed from the rest of its stripe.
#[derive(Clone, Copy, Debug)]
pub struct Loss {
    /// Its first page.
    pub first: Ppn,
    /// What was left of its stripe; none without parity.
    pub left: Option<Left>,
}

/// What is left of a stripe without one of its pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// The page is computed from the flash pages of these members, one bit each.
    Computable(Stripe, u64),
    /// Its parity went with the power, with a program that failed, or with a die.
    NoParity(Stripe),
    /// Its parity should be there, but does not cover the page.
    NotCovered,
    /// The page never counted: its program failed, or its die was dead before the index named it.
    ProgramFailed,
}

/// The parity of all stripes, in DRAM and on flash.
#[derive(Clone, Debug)]
pub struct Parity {
    layout: StripeLayout,
    running: BTreeMap<Stripe, Words>,
    /// By stripe with data: the pages of the volume that its parity covers.
    covered: BTreeMap<Stripe, BTreeSet<Ppn>>,
    /// By flash page of the device.
    on_flash: BTreeMap<Ppn, Words>,
    /// Pages that were covered by parity which is gone: before it came to flash, or with its program.
    gone: BTreeSet<Ppn>,
    /// The number of rebuilt pages.
    pub computed: u64,
}

fn add(to: &mut Words, words: &[u64]) {
    to.resize(to.len().max(words.len()), 0);
    to.iter_mut().zip(words).for_each(|(sum, word)| *sum ^= word);
}

/// Whether two sums differ; missing words are zero.
fn differ(one: &[u64], other: &[u64]) -> bool {
    let mut sum = one.to_vec();
    add(&mut sum, other);
    sum.iter().any(|&word| word != 0)
}

impl Parity {
    /// Creates the parity of an empty volume.
    pub fn new(layout: StripeLayout) -> Parity {
        Parity {
            layout,
            running: BTreeMap::new(),
            covered: BTreeMap::new(),
            on_flash: BTreeMap::new(),
            gone: BTreeSet::new(),
            computed: 0,
        }
    }

    /// Returns the layout of stripes on flash.
    pub fn layout(&self) -> &StripeLayout {
        &self.layout
    }

    /// Adds a page to the parity of its stripe.
    pub fn cover(&mut self, stripe: Stripe, first: Ppn, words: &[u64]) {
        self.gone.remove(&first);
        let is_new = self.covered.entry(stripe).or_default().insert(first);
        assert!(is_new, "{first:?} comes into the parity of {stripe:?} again");
        add(self.running.entry(stripe).or_default(), words);
    }

    /// Removes a page from the parity of its stripe.
    pub fn uncover(&mut self, stripe: Stripe, first: Ppn, words: &[u64]) {
        let was_there = self.covered.entry(stripe).or_default().remove(&first);
        assert!(was_there, "{first:?} is not in the parity of {stripe:?}");
        add(self.running.entry(stripe).or_default(), words);
    }

    /// Programs the parity of a stripe to flash.
    pub fn program(&mut self, stripe: Stripe, at: Ppn) {
        // It may cover nothing, if all pages of the stripe would be on dead dies.
        let words = self.running.entry(stripe).or_default().clone();
        self.covered.entry(stripe).or_default();
        let before = self.on_flash.insert(at, words);
        assert!(before.is_none(), "parity over old data at {at:?}");
    }

    /// Drops parity that was programmed.
    pub fn drop_program(&mut self, at: Ppn) {
        let dropped = self.on_flash.remove(&at);
        assert!(dropped.is_some(), "no parity was programmed at {at:?}");
        self.parity_is_gone(self.layout.stripe_on_flash(at).0);
    }

    /// Drops the parity of a stripe in DRAM.
    pub fn forget(&mut self, stripe: Stripe) {
        self.parity_is_gone(stripe);
        self.running.remove(&stripe);
        self.covered.remove(&stripe);
    }

    /// Loses what is in DRAM.
    pub fn lose_power(&mut self) {
        let mut running: Vec<Stripe> = std::mem::take(&mut self.running).into_keys().collect();
        running.retain(|&stripe| self.parity_on_flash(stripe).is_none());
        running.into_iter().for_each(|stripe| self.parity_is_gone(stripe));
    }

    /// Erases a superblock.
    pub fn erase(&mut self, block: BlockId) {
        self.running.retain(|stripe, _| stripe.block != block);
        self.covered.retain(|stripe, _| stripe.block != block);
        let volume = self.layout.volume().clone();
        self.gone.retain(|&page| volume.block_of(page) != block);
        let Parity { layout, on_flash, .. } = self;
        on_flash.retain(|&at, _| layout.stripe_on_flash(at).0.block != block);
    }

    /// The pages covered by parity that is in DRAM only, on the flash of the device.
    pub fn held_by_open_stripes(&self) -> impl Iterator<Item = Ppn> {
        let covered = self.running.keys().filter_map(|stripe| self.covered.get_key_value(stripe));
        let open = covered.filter(|&(&stripe, _)| self.parity_on_flash(stripe).is_none());
        open.flat_map(|(&stripe, pages)| pages.iter().map(move |&page| (stripe, page))).map(
            |(stripe, page)| {
                let member = self.layout.member_at(stripe, self.layout.stripe_of(page).1);
                self.layout.on_flash(stripe, member)
            },
        )
    }

    fn parity_is_gone(&mut self, stripe: Stripe) {
        self.gone.extend(self.covered.get(&stripe).into_iter().flatten());
    }

    /// The member that holds the parity of a stripe, if it is on flash. Without some of its dies, another one may.
    fn parity_on_flash(&self, stripe: Stripe) -> Option<u32> {
        let mut members = 0..self.layout.width();
        members.find(|&member| self.on_flash.contains_key(&self.layout.on_flash(stripe, member)))
    }

    /// What is left of the stripe of a flash page.
    pub fn left_without(&self, first: Ppn) -> Left {
        let (stripe, _) = self.layout.stripe_of(first);
        let on_flash = self.parity_on_flash(stripe);
        let is_there = on_flash.is_some() || self.running.contains_key(&stripe);
        match self.covered.get(&stripe).filter(|covered| is_there && covered.contains(&first)) {
            Some(covered) => {
                let place_of = |page: &Ppn| self.layout.stripe_of(*page).1;
                let member_of = |page: &Ppn| self.layout.member_at(stripe, place_of(page));
                let others = covered.iter().filter(|&&page| page != first);
                let data = others.fold(0, |members, page| members | 1 << member_of(page));
                let parity = on_flash.map_or(0, |member| 1 << member);
                Left::Computable(stripe, data | parity)
            }
            None if self.gone.contains(&first) => Left::NoParity(stripe),
            None => Left::NotCovered,
        }
    }

    /// Computes a page from the rest of its stripe; `data` returns the contents of pages of the volume.
    pub fn compute(&mut self, rest: &Rest, data: impl Fn(Ppn) -> Words) -> Words {
        self.computed += 1;
        let Rest { stripe, members, parity } = *rest;
        let mut sum = match parity {
            None => self.running.get(&stripe).expect("it is in DRAM").clone(),
            Some(member) => {
                assert!(members >> member & 1 == 1, "parity that is not read: {rest:?}");
                let at = self.layout.on_flash(stripe, member);
                self.on_flash.get(&at).expect("it was programmed").clone()
            }
        };
        let others = (0..self.layout.width()).filter(|&member| members >> member & 1 == 1);
        for member in others.filter(|&member| Some(member) != parity) {
            let place = self.layout.place_of(stripe, member).expect("it is one of data");
            add(&mut sum, &data(self.layout.page_at(stripe, place)));
        }
        sum
    }

    /// Checks that the parity of every stripe is the XOR of the pages that it covers, and that
    /// parity on flash covers at least `least` pages.
    pub fn check(&self, least: usize, words: impl Fn(Ppn) -> Words) -> Result<(), String> {
        let of = |stripe: &Stripe| {
            let mut sum = Words::new();
            self.covered[stripe].iter().for_each(|&first| add(&mut sum, &words(first)));
            sum
        };
        // Lost pages have no content to compare.
        let is_lost = |stripe: &Stripe| {
            self.covered[stripe].iter().any(|&first| words(first).contains(&u64::from(GARBAGE)))
        };
        let closed =
            self.on_flash.iter().map(|(&at, words)| (self.layout.stripe_on_flash(at).0, words));
        for (stripe, parity) in closed {
            if self.covered[&stripe].len() < least {
                return Err(format!("{stripe:?} is closed over {:?}", self.covered[&stripe]));
            }
            if !is_lost(&stripe) && differ(&of(&stripe), parity) {
                return Err(format!("the parity of {stripe:?} on flash is not that of its pages"));
            }
        }
        match self
            .running
            .iter()
            .find(|(stripe, parity)| !is_lost(stripe) && differ(&of(stripe), parity))
        {
            Some((stripe, _)) => {
                let covered = &self.covered[stripe];
                Err(format!("the parity of {stripe:?} in DRAM is not that of {covered:?}"))
            }
            None => Ok(()),
        }
    }
}
