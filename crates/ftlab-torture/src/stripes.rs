//! Parity for tests: real XORs of the contents of flash pages. A page that parity was not told
//! about, or too late, is computed wrongly.

use std::collections::{BTreeMap, BTreeSet};

use ftlab::ftl::parity::Rest;
use ftlab::nand::{Stripe, StripeLayout};
use ftlab::units::{BlockId, Ppn};

use crate::versions::GARBAGE;

/// The content of a flash page, in words.
pub type Words = Vec<u64>;

/// The parity of all stripes, in DRAM and on flash.
#[derive(Clone, Debug)]
pub struct Parity {
    layout: StripeLayout,
    running: BTreeMap<Stripe, Words>,
    /// By stripe with data: the pages of the volume that its parity covers.
    covered: BTreeMap<Stripe, BTreeSet<Ppn>>,
    /// By flash page of the device.
    on_flash: BTreeMap<Ppn, Words>,
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
            computed: 0,
        }
    }

    /// Returns the layout of stripes on flash.
    pub fn layout(&self) -> &StripeLayout {
        &self.layout
    }

    /// Adds a page to the parity of its stripe.
    pub fn cover(&mut self, stripe: Stripe, first: Ppn, words: &[u64]) {
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
    }

    /// Drops the parity of a stripe in DRAM.
    pub fn forget(&mut self, stripe: Stripe) {
        self.running.remove(&stripe);
        self.covered.remove(&stripe);
    }

    /// Loses what is in DRAM.
    pub fn lose_power(&mut self) {
        self.running.clear();
    }

    /// Erases a superblock.
    pub fn erase(&mut self, block: BlockId) {
        self.running.retain(|stripe, _| stripe.block != block);
        self.covered.retain(|stripe, _| stripe.block != block);
        let Parity { layout, on_flash, .. } = self;
        on_flash.retain(|&at, _| layout.stripe_on_flash(at).0.block != block);
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
