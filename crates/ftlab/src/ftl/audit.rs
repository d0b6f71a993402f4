//! The FTL's promises, checked from end to end: what tests call, and what a run never needs.

use super::gc::VictimPolicy;
use super::{BlockState, Ftl};
use crate::engine::skills;
use crate::ftl::fragments;
use crate::ftl::mapping::MappingPolicy;
use crate::ftl::merge;
use crate::ftl::slc;
use crate::units::{BlockId, Lpn, PlaneId};

impl Ftl {
    /// Checks that mapping, spare area, valid bits and counts agree.
    ///
    /// # Errors
    /// The first disagreement, in words.
    pub fn audit(&self) -> Result<(), String> {
        let mapped = self.audit_mapping()?;
        let mut valid = 0;
        for block in (0..self.geometry.blocks()).map(BlockId::new) {
            valid += self.audit_block(block)?;
        }
        if mapped != valid {
            return Err(format!("{mapped} pages are mapped to, but {valid} are valid on flash"));
        }
        (0..self.geometry.planes()).map(PlaneId::new).try_for_each(|plane| self.audit_plane(plane))
    }

    /// Every mapped page names a valid copy of its own. Returns how many physical pages are mapped to.
    fn audit_mapping(&self) -> Result<u64, String> {
        let mut mapped = 0;
        if !self.translates() {
            return Ok(mapped);
        }
        if self.packs() {
            return fragments::audit::audit_fragments(self);
        }
        let pages = match self.mapping.dftl() {
            Some(map) => {
                map.audit()?;
                map.all_pages()
            }
            None => self.logical_pages,
        };
        for page in (0..pages).map(Lpn::new) {
            let Some(at) = self.mapping.look_up(page) else { continue };
            mapped += 1;
            let (block, unit) = self.geometry.place_of(at);
            if !self.blocks.is_valid(block, unit) || self.spare.owner(at) != Some(page) {
                let owner = self.spare.owner(at);
                return Err(format!("{page:?} is mapped to {at:?}, which holds {owner:?}"));
            }
        }
        Ok(mapped)
    }

    /// A block's count is the number of its valid bits. Returns it.
    fn audit_block(&self, block: BlockId) -> Result<u64, String> {
        let mut valid = 0;
        let mut next = self.blocks.next_valid(block, 0);
        while let Some(unit) = next {
            valid += 1;
            next = self.blocks.next_valid(block, unit + 1);
        }
        let (counted, programmed) = (self.blocks.valid(block), self.blocks.programmed(block));
        if valid != counted || valid > programmed {
            return Err(format!(
                "{block:?} counts {counted} valid pages, has {valid}, and {programmed} programmed"
            ));
        }
        if self.blocks.state(block) == BlockState::Free && programmed > 0 {
            return Err(format!("{block:?} is free with {programmed} pages programmed"));
        }
        Ok(u64::from(valid))
    }

    /// Free blocks are counted, and every block is free, open, closed or collected.
    fn audit_plane(&self, plane: PlaneId) -> Result<(), String> {
        let blocks = self.geometry.shape().blocks_per_plane;
        let free = (0..blocks)
            .map(|index| self.geometry.block_in(plane, index))
            .filter(|&block| {
                self.blocks.state(block) == BlockState::Free && !slc::cache::is_own_slc(block, self)
            })
            .count();
        let counted = self.free_blocks(plane);
        if free != counted as usize {
            return Err(format!("{plane:?} counts {counted} free blocks and has {free}"));
        }
        if self.has_log() {
            return merge::audit::audit_log(plane, self);
        }
        self.audit_lists(plane)?;
        self.audit_candidates(plane)?;
        for stream in self.streams.all_host_streams() {
            if self.writable[stream.at()].planes[plane.at()]
                != self.is_writable::<{ skills::ALL }>(plane, stream)
            {
                return Err(format!("{plane:?} is noted as what it is not: writable, or full"));
            }
        }
        slc::cache::audit_slc(plane, self)
    }

    /// The victim policy knows exactly the blocks that are closed, but for those of the SLC cache.
    fn audit_candidates(&self, plane: PlaneId) -> Result<(), String> {
        let mut known = self.victim.candidates(plane);
        known.sort_unstable_by_key(|block| block.get());
        let all = 0..self.geometry.shape().blocks_per_plane;
        let all = all.map(|index| self.geometry.block_in(plane, index));
        let is_one = |&block: &BlockId| {
            self.blocks.state(block) == BlockState::Closed && !self.blocks.is_slc(block)
        };
        let closed: Vec<_> = all.filter(is_one).collect();
        if known != closed {
            return Err(format!("{plane:?}: {closed:?} are closed, candidates are {known:?}"));
        }
        Ok(())
    }

    /// What a plane lists as erased, as open and as waiting to be collected is so, and is listed once.
    fn audit_lists(&self, plane: PlaneId) -> Result<(), String> {
        let state = &self.planes[plane.at()];
        let open = state.open_blocks();
        let open = open.filter(|&(stream, _, next)| next < self.blocks.units_in(stream));
        let open = open.map(|(_, block, _)| (block, BlockState::Open));
        let erased = state.erased().map(|block| (block, BlockState::Free));
        let wanted = state.wanted.iter().map(|wanted| (wanted.block, BlockState::Collecting));
        let run = state.collecting().map(|block| (block, BlockState::Collecting));
        let mut listed: Vec<_> = open.chain(erased).chain(wanted).chain(run).collect();
        for &(block, should) in &listed {
            let is = self.blocks.state(block);
            // A block that failed waits as what it is; at the end of the device's life it is filled up.
            let fails = is == BlockState::Failing
                && (should == BlockState::Collecting
                    || self.read_only && should == BlockState::Open);
            if is != should && !fails || self.geometry.plane_of(block) != plane {
                return Err(format!("{block:?} is {is:?}, but {plane:?} lists it as {should:?}"));
            }
        }
        listed.sort_unstable_by_key(|(block, _)| block.get());
        match listed.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            Some(pair) => Err(format!("{plane:?} lists {:?} twice", pair[0].0)),
            None => Ok(()),
        }
    }
}
