//! Parity for tests: real XORs of what flash pages carry, kept beside them, so that a page which parity was
//! not told of, or was told of too late, is computed wrong.

use std::collections::{BTreeMap, BTreeSet};

use ftlab::ftl::parity::Rest;
use ftlab::nand::{Stripe, Superblocks};
use ftlab::units::{BlockId, Ppn};

use crate::versions::GARBAGE;

/// What a flash page carries, in words.
pub type Words = Vec<u64>;

/// The parity of all stripes, in DRAM and on flash.
#[derive(Clone, Debug)]
pub struct Parity {
    superblocks: Superblocks,
    running: BTreeMap<Stripe, Words>,
    /// By stripe that holds something: the pages of the volume that its parity covers.
    covered: BTreeMap<Stripe, BTreeSet<Ppn>>,
    /// By flash page of the device.
    on_flash: BTreeMap<Ppn, Words>,
    /// Pages that were computed.
    pub computed: u64,
}

fn add(to: &mut Words, words: &[u64]) {
    to.resize(to.len().max(words.len()), 0);
    to.iter_mut().zip(words).for_each(|(sum, word)| *sum ^= word);
}

/// Whether two sums differ; what is missing of one is zero.
fn differ(one: &[u64], other: &[u64]) -> bool {
    let mut sum = one.to_vec();
    add(&mut sum, other);
    sum.iter().any(|&word| word != 0)
}

impl Parity {
    /// Nothing is programmed.
    pub fn new(superblocks: Superblocks) -> Parity {
        Parity {
            superblocks,
            running: BTreeMap::new(),
            covered: BTreeMap::new(),
            on_flash: BTreeMap::new(),
            computed: 0,
        }
    }

    /// How superblocks lie on flash.
    pub fn superblocks(&self) -> &Superblocks {
        &self.superblocks
    }

    /// A page comes into the parity of its stripe.
    pub fn cover(&mut self, stripe: Stripe, first: Ppn, words: &[u64]) {
        let is_new = self.covered.entry(stripe).or_default().insert(first);
        assert!(is_new, "{first:?} comes into the parity of {stripe:?} again");
        add(self.running.entry(stripe).or_default(), words);
    }

    /// A page leaves the parity of its stripe.
    pub fn uncover(&mut self, stripe: Stripe, first: Ppn, words: &[u64]) {
        let was_there = self.covered.entry(stripe).or_default().remove(&first);
        assert!(was_there, "{first:?} is not in the parity of {stripe:?}");
        add(self.running.entry(stripe).or_default(), words);
    }

    /// The parity of a stripe goes to flash.
    pub fn program(&mut self, stripe: Stripe, at: Ppn) {
        // It may cover nothing: a stripe whose pages were all to lie on dead dies.
        let words = self.running.entry(stripe).or_default().clone();
        self.covered.entry(stripe).or_default();
        let before = self.on_flash.insert(at, words);
        assert!(before.is_none(), "parity over old data at {at:?}");
    }

    /// What was programmed as parity counts for nothing.
    pub fn drop_program(&mut self, at: Ppn) {
        let dropped = self.on_flash.remove(&at);
        assert!(dropped.is_some(), "no parity was programmed at {at:?}");
    }

    /// A stripe does without what of its parity is in DRAM.
    pub fn forget(&mut self, stripe: Stripe) {
        self.running.remove(&stripe);
    }

    /// A superblock is erased.
    pub fn erase(&mut self, block: BlockId) {
        self.running.retain(|stripe, _| stripe.block != block);
        self.covered.retain(|stripe, _| stripe.block != block);
        let Parity { superblocks, on_flash, .. } = self;
        let blocks: Vec<_> = (0..superblocks.width())
            .map(|member| superblocks.block_on_flash(block, member))
            .collect();
        on_flash.retain(|&at, _| !blocks.contains(&superblocks.flash().block_of(at)));
    }

    /// What a page must be, as the rest of its stripe has it; `data` has what the pages of the volume carry.
    pub fn compute(&mut self, rest: &Rest, data: impl Fn(Ppn) -> Words) -> Words {
        self.computed += 1;
        let Rest { stripe, members, parity } = *rest;
        let mut sum = match parity {
            None => self.running.get(&stripe).expect("it is in DRAM").clone(),
            Some(member) => {
                assert!(members >> member & 1 == 1, "parity that is not read: {rest:?}");
                let at = self.superblocks.on_flash(stripe, member);
                self.on_flash.get(&at).expect("it was programmed").clone()
            }
        };
        let others = (0..self.superblocks.width()).filter(|&member| members >> member & 1 == 1);
        for member in others.filter(|&member| Some(member) != parity) {
            let place = self.superblocks.place_of(stripe, member).expect("it is one of data");
            add(&mut sum, &data(self.superblocks.page_at(stripe, place)));
        }
        sum
    }

    /// Checks that the parity of every stripe is the XOR of what the pages carry that it covers: on flash of
    /// `least` pages or more.
    pub fn check(&self, least: usize, words: impl Fn(Ppn) -> Words) -> Result<(), String> {
        let of = |stripe: &Stripe| {
            let mut sum = Words::new();
            self.covered[stripe].iter().for_each(|&first| add(&mut sum, &words(first)));
            sum
        };
        // What was lost holds nothing any more that could be compared.
        let is_lost = |stripe: &Stripe| {
            self.covered[stripe].iter().any(|&first| words(first).contains(&u64::from(GARBAGE)))
        };
        let closed =
            self.on_flash.iter().map(|(&at, words)| (stripe_at(&self.superblocks, at).0, words));
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

/// The stripe of a page on flash, and which member of it the page is.
pub(crate) fn stripe_at(superblocks: &Superblocks, at: Ppn) -> (Stripe, u32) {
    let (flash, volume) = (superblocks.flash(), superblocks.volume());
    let block = flash.block_of(at);
    let die = flash.die_of_page(at);
    let (group, member) = superblocks.group_of(die);
    let plane = flash.plane_of(block).get() - flash.plane_in(die, 0).get();
    let block = volume.block_in(volume.plane_in(group, plane), flash.index_in_plane(block));
    (Stripe { block, row: flash.flash_page_in_block(at) }, member)
}
