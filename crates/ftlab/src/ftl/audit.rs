//! Checks of the FTL's invariants, which tests call and normal runs never need.

use crate::engine::skills;
use crate::ftl::gc::{VictimPolicy, kept};
use crate::ftl::mapping::MappingPolicy;
use crate::ftl::parity::rebuild;
use crate::ftl::{BlockState, Ftl, fragments, groups, merge, slc, superblock};
use crate::units::{BlockId, Lpn, PlaneId};

impl Ftl {
    /// Checks that mapping, spare area, valid bits and counts agree.
    ///
    /// # Errors
    /// The first disagreement, in words.
    pub fn audit(&self) -> Result<(), String> {
        superblock::room::audit(self)?;
        let mapped = audit_mapping(self)?;
        let mut valid = 0;
        for block in (0..self.geometry.blocks()).map(BlockId::new) {
            valid += audit_block(block, self)?;
        }
        if mapped != valid {
            return Err(format!("{mapped} pages are mapped to, but {valid} are valid on flash"));
        }
        groups::audit(self)?;
        rebuild::audit(self)?;
        (0..self.geometry.planes()).map(PlaneId::new).try_for_each(|plane| audit_plane(plane, self))
    }
}

/// Checks that every mapped page names a valid copy of its own. Returns how many physical pages are
/// mapped.
fn audit_mapping(ftl: &Ftl) -> Result<u64, String> {
    let mut mapped = 0;
    if !ftl.translates() {
        return Ok(mapped);
    }
    if ftl.packs() {
        return fragments::audit::audit_fragments(ftl);
    }
    let pages = match ftl.map.mapping.dftl() {
        Some(map) => {
            map.audit()?;
            map.all_pages()
        }
        None => ftl.logical_pages,
    };
    for page in (0..pages).map(Lpn::new) {
        let Some(at) = ftl.map.mapping.look_up(page) else { continue };
        mapped += 1;
        let (block, unit) = ftl.geometry.place_of(at);
        if !ftl.blocks.is_valid(block, unit) || ftl.map.spare.owner(at) != Some(page) {
            let owner = ftl.map.spare.owner(at);
            return Err(format!("{page:?} is mapped to {at:?}, which holds {owner:?}"));
        }
    }
    Ok(mapped)
}

/// Checks that a block's count equals the number of its valid bits. Returns it.
fn audit_block(block: BlockId, ftl: &Ftl) -> Result<u64, String> {
    let mut valid = 0;
    let mut next = ftl.blocks.next_valid(block, 0);
    while let Some(unit) = next {
        valid += 1;
        next = ftl.blocks.next_valid(block, unit + 1);
    }
    let (counted, programmed) = (ftl.blocks.valid(block), ftl.blocks.programmed(block));
    if valid != counted || valid > programmed {
        return Err(format!(
            "{block:?} counts {counted} valid pages, has {valid}, and {programmed} programmed"
        ));
    }
    if ftl.blocks.state(block) == BlockState::Free && programmed > 0 {
        return Err(format!("{block:?} is free with {programmed} pages programmed"));
    }
    Ok(u64::from(valid))
}

/// Checks the number of free blocks of a plane, its lists of blocks, and what depends on them.
fn audit_plane(plane: PlaneId, ftl: &Ftl) -> Result<(), String> {
    let blocks = ftl.geometry.shape().blocks_per_plane;
    let free = (0..blocks)
        .map(|index| ftl.geometry.block_in(plane, index))
        .filter(|&block| {
            ftl.blocks.state(block) == BlockState::Free && !slc::cache::is_own_slc(block, ftl)
        })
        .count();
    let counted = ftl.free_blocks(plane);
    if free != counted as usize {
        return Err(format!("{plane:?} counts {counted} free blocks, but has {free}"));
    }
    if ftl.map.mapping.has_log() {
        return merge::audit::audit_log(plane, ftl);
    }
    audit_lists(plane, ftl)?;
    audit_candidates(plane, ftl)?;
    for stream in ftl.policies.streams.all_host_streams() {
        if ftl.space.writable[stream.at()].planes[plane.at()]
            != crate::ftl::room::is_writable::<{ skills::ALL }>(plane, stream, ftl)
        {
            return Err(format!("{plane:?} is wrongly marked as writable, or as full"));
        }
    }
    slc::cache::audit_slc(plane, ftl)
}

/// Checks that the victim policy knows exactly the closed blocks, except those that the streams policy keeps, and those
/// of the SLC cache.
fn audit_candidates(plane: PlaneId, ftl: &Ftl) -> Result<(), String> {
    let mut known = ftl.policies.victim.candidates(plane);
    known.sort_unstable_by_key(|block| block.get());
    let all = 0..ftl.geometry.shape().blocks_per_plane;
    let all = all.map(|index| ftl.geometry.block_in(plane, index));
    let is_one = |&block: &BlockId| {
        ftl.blocks.state(block) == BlockState::Closed
            && !ftl.blocks.is_slc(block)
            && !kept::is_kept(block, ftl)
    };
    let closed: Vec<_> = all.filter(is_one).collect();
    if known != closed {
        return Err(format!("{plane:?}: {closed:?} are closed, but the candidates are {known:?}"));
    }
    Ok(())
}

/// Checks that the erased, open and waiting blocks that a plane lists are in that state, and are
/// listed once.
fn audit_lists(plane: PlaneId, ftl: &Ftl) -> Result<(), String> {
    let state = &ftl.space.planes[plane.at()];
    let open = state.open_blocks();
    let open = open.filter(|&(stream, _, next)| next < ftl.blocks.units_in(stream));
    let open = open.map(|(_, block, _)| (block, BlockState::Open));
    let erased = state.erased().map(|block| (block, BlockState::Free));
    let wanted = state.wanted.iter().map(|wanted| (wanted.block, BlockState::Collecting));
    let run = state.collecting().map(|block| (block, BlockState::Collecting));
    let mut listed: Vec<_> = open.chain(erased).chain(wanted).chain(run).collect();
    for &(block, should) in &listed {
        let is = ftl.blocks.state(block);
        // A failed block keeps its state while it waits. At the end of the device's life it is
        // filled up.
        let fails = is == BlockState::Failing
            && (should == BlockState::Collecting
                || ftl.health.read_only && should == BlockState::Open);
        if is != should && !fails || ftl.geometry.plane_of(block) != plane {
            return Err(format!("{block:?} is {is:?}, but {plane:?} lists it as {should:?}"));
        }
    }
    listed.sort_unstable_by_key(|(block, _)| block.get());
    match listed.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        Some(pair) => Err(format!("{plane:?} lists {:?} twice", pair[0].0)),
        None => Ok(()),
    }
}
