//! The workings of the SLC cache: its blocks by plane, where the host may write, and what is folded when.
//!
//! A block is in SLC mode while its stream is [`WriteStream::SLC`]. Folding is a collection of
//! [`Purpose::Fold`] of the oldest closed SLC block. It happens
//!
//! - while the host is idle, if the configuration says so;
//! - when the cache is full and the host is to wait for it;
//! - when a plane lacks free blocks: a borrowed block holds only a fraction of its native capacity,
//!   so it goes before any other victim.
//!
//! Folding cannot deadlock. A fold copies at most half a block, so it needs at most one free block. A borrowed block is
//! returned for it. A block of the cache's own is not, so it is treated like a block that is being retired: it waits
//! while only the reserve is left, and the host may not take the block that it may need. The host waits for a fold only
//! while the plane has an SLC block to fold.

use std::collections::VecDeque;

use super::super::gc::{Purpose, VictimPolicy, Wanted};
use super::super::placement::Writable;
use super::super::streams::WriteStream;
use super::super::{BlockState, Ftl};
use super::{Lent, SlcCache, SlcSetup, WhenFull};
use crate::counters::counters;
use crate::engine::skills::{self, Skills};
use crate::ftl::gc::collection::erases_victim;
use crate::ftl::slc::SlcCachePolicy;
use crate::ftl::superblock;
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::nand::CellMode;
use crate::scheduler::DieSet;
use crate::shape::Geometry;
use crate::units::{BlockId, PlaneId, Ppn};
use crate::verify::Canary;

counters! {
    /// What the SLC cache did, in pages (mapping units). Folded pages are counted with other collections, by purpose.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct SlcCounts {
        /// Pages that the host wrote to the cache.
        written: u64, unit "pages", at "slc_cache/written_pages", label "pages written";
        /// Pages that the host wrote past the cache, to blocks of full density.
        bypassed: u64, unit "pages", at "slc_cache/bypassed_pages", label "bypassed";
        /// Pages that the host read from the cache.
        read: u64, unit "pages", at "slc_cache/read_pages", label "read";
    }
}

/// The cache in one plane.
#[derive(Clone, Debug, Default)]
pub(in crate::ftl) struct CachePlane {
    /// Free blocks of the cache's own, in the order in which they were erased.
    pub own_free: VecDeque<BlockId>,
    /// Full blocks, in the order in which they were filled.
    pub closed: VecDeque<BlockId>,
    /// SLC blocks in use.
    pub in_use: u32,
    /// The borrowed ones among them.
    pub borrowed: u32,
    /// The block that is being folded at the cache's request.
    pub folding: Option<BlockId>,
}

/// The SLC cache.
#[derive(Clone, Debug)]
pub struct CacheState {
    policy: SlcCache,
    when_full: WhenFull,
    pub(in crate::ftl) planes: Vec<CachePlane>,
    /// The planes on which the host may write to the cache.
    pub(in crate::ftl) writable: Writable,
    pub(in crate::ftl) counts: SlcCounts,
    /// Whether whole flash pages are folded within their plane.
    fold_inside: bool,
    /// Whether the host has been idle for long enough.
    idle: bool,
}

impl CacheState {
    /// An empty cache, with blocks of so many mapping units; none if the policy is "none".
    pub(in crate::ftl) fn new(
        setup: SlcSetup,
        geometry: &Geometry,
        units_per_block: u32,
    ) -> Option<Box<CacheState>> {
        // The device holds the timer.
        let SlcSetup { policy, when_full, fold_after_idle: _, bits: _, fold_inside } = setup;
        if policy.is_off() {
            return None;
        }
        let blocks = geometry.shape().blocks_per_plane;
        let own = blocks - policy.own_blocks()..blocks;
        let plane = |plane| CachePlane {
            own_free: own.clone().map(|index| geometry.block_in(plane, index)).collect(),
            ..CachePlane::default()
        };
        let planes = geometry.planes();
        Some(Box::new(CacheState {
            planes: (0..planes).map(PlaneId::new).map(plane).collect(),
            writable: Writable {
                planes: vec![true; planes as usize],
                dies: DieSet::all(geometry),
                next_unit: vec![0; planes as usize],
                units_per_block,
            },
            policy,
            when_full,
            fold_inside,
            counts: SlcCounts::default(),
            idle: false,
        }))
    }

    /// Saves the order of its free blocks. The full blocks and their order are saved with the others.
    pub(in crate::ftl) fn save(&self, out: &mut ImageWriter) {
        let CacheState {
            policy: _,
            when_full: _,
            planes,
            writable: _,
            counts: _,
            fold_inside: _,
            idle: _,
        } = self;
        for CachePlane { own_free, closed: _, in_use: _, borrowed: _, folding: _ } in planes {
            out.list(own_free.iter().map(|block| block.get()));
        }
    }

    /// Whether nothing is folded before planes lack free blocks.
    pub(in crate::ftl) fn waits_for_shortage(&self) -> bool {
        self.when_full == WhenFull::Bypass && !self.idle
    }

    /// Whether whole flash pages are folded within their plane.
    pub(in crate::ftl) fn folds_inside(&self) -> bool {
        self.fold_inside
    }

    /// Native blocks of a plane that may be partly filled because of the cache: the one that it borrows, and that of the
    /// host's stream, as the host may wait for the cache instead.
    pub(in crate::ftl) fn open_blocks(&self) -> u32 {
        1 + u32::from(self.policy.may_borrow(Lent { borrowed: 0, spare: u32::MAX }))
    }

    /// Blocks of each plane that are always in SLC mode.
    pub(in crate::ftl) fn own_blocks(&self) -> u32 {
        self.policy.own_blocks()
    }
}

impl Ftl {
    /// The cache's counters; none without a cache.
    #[must_use]
    pub fn slc_counts(&self) -> Option<&SlcCounts> {
        self.features.slc.as_ref().map(|cache| &cache.counts)
    }

    /// The current cell mode of a block.
    #[inline]
    #[must_use]
    pub fn mode_of<const S: Skills>(&self, block: BlockId) -> CellMode {
        match &self.features.slc {
            _ if !skills::any(S, skills::SLC) => CellMode::Native,
            Some(_) if self.blocks.is_slc(block) => CellMode::Slc,
            _ => CellMode::Native,
        }
    }

    /// The cell mode at a place.
    #[inline]
    #[must_use]
    pub fn mode_at<const S: Skills>(&self, at: Ppn) -> CellMode {
        match &self.features.slc {
            _ if !skills::any(S, skills::SLC) => CellMode::Native,
            None => CellMode::Native,
            Some(_) => self.mode_of::<S>(self.geometry.block_of(at)),
        }
    }

    /// The SLC blocks of a plane that are in use, and the full ones among them.
    #[must_use]
    pub fn slc_blocks(&self, plane: PlaneId) -> (u32, u32) {
        let planes = self.features.slc.as_ref().map(|cache| &cache.planes[plane.at()]);
        planes.map_or((0, 0), |plane| (plane.in_use, plane.closed.len() as u32))
    }
}

/// Blocks of each plane that are always in SLC mode: the last ones.
pub(in crate::ftl) fn own_slc_blocks(ftl: &Ftl) -> u32 {
    ftl.features.slc.as_ref().map_or(0, |cache| cache.own_blocks())
}

/// Blocks of each plane that are not the cache's own: the first ones.
pub(in crate::ftl) fn native_blocks(ftl: &Ftl) -> u32 {
    ftl.geometry.shape().blocks_per_plane - own_slc_blocks(ftl)
}

/// Whether a block is always in SLC mode.
pub(in crate::ftl) fn is_own_slc(block: BlockId, ftl: &Ftl) -> bool {
    ftl.geometry.index_in_plane(block) >= native_blocks(ftl)
}

/// Whether a block joins the free blocks of its plane after it was emptied for this purpose.
pub(in crate::ftl) fn returns_block(wanted: &Wanted, ftl: &Ftl) -> bool {
    erases_victim(wanted.purpose, ftl) && !is_own_slc(wanted.block, ftl)
}

/// Whether the cache could open another block in a plane.
fn slc_has_block(plane: PlaneId, cache: &CacheState, ftl: &Ftl) -> bool {
    let may_hold = !superblock::room::has_single_pages(plane, ftl);
    may_hold && (!cache.planes[plane.at()].own_free.is_empty() || may_borrow(plane, cache, ftl))
}

/// Whether the cache may take one of a plane's free blocks.
fn may_borrow(plane: PlaneId, cache: &CacheState, ftl: &Ftl) -> bool {
    let borrowed = cache.planes[plane.at()].borrowed;
    let spare = ftl.free_blocks(plane).saturating_sub(ftl.space.thresholds.stop);
    cache.policy.may_borrow(Lent { borrowed, spare })
}

/// Whether the host may write to the cache in a plane.
pub(in crate::ftl) fn is_slc_writable(plane: PlaneId, cache: &CacheState, ftl: &Ftl) -> bool {
    let units = ftl.blocks.slc_units();
    ftl.space.planes[plane.at()].has_room(WriteStream::SLC, units)
        || slc_has_block(plane, cache, ftl)
}

/// Whether the host has to wait for the cache of a plane instead of bypassing it.
#[inline]
pub(in crate::ftl) fn slc_holds(plane: PlaneId, ftl: &Ftl) -> bool {
    ftl.features.slc.as_ref().is_some_and(|cache| {
        cache.when_full == WhenFull::Fold && cache.planes[plane.at()].in_use > 0
    })
}

/// Takes the next flash page of the cache in a plane. Opens another block if necessary.
pub(in crate::ftl) fn take_slc_page(plane: PlaneId, ftl: &mut Ftl) -> Option<Ppn> {
    let (step, whole) = (ftl.geometry.units_per_page(), ftl.blocks.slc_units());
    let state = &mut ftl.space.planes[plane.at()];
    let begun = state.next_page(WriteStream::SLC, step, whole);
    let (block, unit) = match begun {
        Some(place) => place,
        None => {
            open_slc_block(plane, ftl)?;
            ftl.space.planes[plane.at()].next_page(WriteStream::SLC, step, whole)?
        }
    };
    let next = match ftl.features.superblock.is_some() {
        false => unit + step,
        true => superblock::room::after_place(plane, WriteStream::SLC, (block, unit), ftl),
    };
    if let Some(cache) = &mut ftl.features.slc {
        cache.writable.next_unit[plane.at()] = if next == whole { 0 } else { next };
    }
    if begun.is_none() || next == whole {
        crate::ftl::room::refresh_writable::<{ skills::ALL }>(plane, ftl);
    }
    Some(ftl.geometry.page_at(block, unit))
}

fn open_slc_block(plane: PlaneId, ftl: &mut Ftl) -> Option<()> {
    if superblock::room::has_single_pages(plane, ftl) {
        return None;
    }
    let may_borrow = may_borrow(plane, ftl.features.slc.as_ref()?, ftl);
    let own = ftl.features.slc.as_mut()?.planes[plane.at()].own_free.pop_front();
    let block = match own {
        Some(block) => block,
        None if may_borrow => crate::ftl::room::take_free_block(plane, true, ftl)?,
        None => return None,
    };
    let state = &mut ftl.features.slc.as_mut()?.planes[plane.at()];
    state.in_use += 1;
    state.borrowed += u32::from(own.is_none());
    ftl.space.planes[plane.at()].open(WriteStream::SLC, block);
    ftl.blocks.open(block, WriteStream::SLC);
    if ftl.features.superblock.is_some()
        && superblock::room::holds_nothing(plane, WriteStream::SLC, block, ftl)
    {
        return None;
    }
    if let Some(record) = &mut ftl.features.record
        && !ftl.plant.is(Canary::CacheOpenedUnseen)
    {
        record.opened(block);
    }
    Some(())
}

/// Closes a full block of the cache.
pub(in crate::ftl) fn slc_closed(block: BlockId, ftl: &mut Ftl) {
    let plane = ftl.geometry.plane_of(block);
    if let Some(cache) = &mut ftl.features.slc {
        cache.planes[plane.at()].closed.push_back(block);
    }
    // Somebody may be waiting for a block to fold.
    ftl.space.hungry[plane.at()] = false;
    ftl.space.fed.push(plane);
}

/// A block of the cache is about to be emptied.
pub(in crate::ftl) fn slc_withdrawn(block: BlockId, ftl: &mut Ftl) {
    let plane = ftl.geometry.plane_of(block);
    if let Some(cache) = &mut ftl.features.slc {
        cache.planes[plane.at()].closed.retain(|&closed| closed != block);
    }
}

/// A block in SLC mode was erased or retired.
pub(in crate::ftl) fn slc_emptied(block: BlockId, erased: bool, ftl: &mut Ftl) {
    let (plane, own) = (ftl.geometry.plane_of(block), is_own_slc(block, ftl));
    let Some(cache) = &mut ftl.features.slc else { return };
    let state = &mut cache.planes[plane.at()];
    state.in_use -= 1;
    state.borrowed -= u32::from(!own);
    state.folding = state.folding.filter(|&folding| folding != block);
    if own && erased {
        state.own_free.push_back(block);
    }
}

/// The borrowed block that was filled first. A plane that lacks free blocks folds it before it collects anything else.
pub(in crate::ftl) fn oldest_borrowed(plane: PlaneId, ftl: &Ftl) -> Option<BlockId> {
    let cache = ftl.features.slc.as_ref()?;
    let mut closed = cache.planes[plane.at()].closed.iter().copied();
    closed.find(|&block| !is_own_slc(block, ftl))
}

/// The next block to fold in a plane, if a fold is due.
pub(in crate::ftl) fn fold_due(plane: PlaneId, ftl: &mut Ftl) -> Option<Wanted> {
    let cache = ftl.features.slc.as_ref()?;
    let state = &cache.planes[plane.at()];
    let full = cache.when_full == WhenFull::Fold && !slc_has_block(plane, cache, ftl);
    if !(full || cache.idle) || state.folding.is_some() {
        return None;
    }
    let block = *state.closed.front()?;
    ftl.features.slc.as_mut()?.planes[plane.at()].folding = Some(block);
    Some(Wanted { block, purpose: Purpose::Fold })
}

/// Sets whether the host has been idle for long enough to fold the cache.
#[inline]
pub(crate) fn set_idle_for_cache(idle: bool, ftl: &mut Ftl) {
    if let Some(cache) = &mut ftl.features.slc {
        cache.idle = idle;
    }
}

/// Counts pages that the host wrote or read.
#[inline]
pub(in crate::ftl) fn count_slc<const S: Skills>(at: Ppn, pages: u64, count: Count, ftl: &mut Ftl) {
    if !skills::any(S, skills::SLC) {
        return;
    }
    let mode = ftl.mode_at::<S>(at);
    let Some(cache) = &mut ftl.features.slc else { return };
    let counts = &mut cache.counts;
    match (count, mode) {
        (Count::Written, CellMode::Slc) => counts.written += pages,
        (Count::Written, CellMode::Native) => counts.bypassed += pages,
        (Count::Read, CellMode::Slc) => counts.read += pages,
        (Count::Read, CellMode::Native) => {}
    }
}

/// The free blocks of the cache's own in a plane.
pub(in crate::ftl) fn free_slc_blocks(plane: PlaneId, ftl: &Ftl) -> impl Iterator<Item = BlockId> {
    let planes = ftl.features.slc.iter().map(move |cache| &cache.planes[plane.at()]);
    planes.flat_map(|plane| plane.own_free.iter().copied())
}

/// Loads what [`CacheState::save`] wrote, after the planes. The rest follows from the blocks.
pub(in crate::ftl) fn load_slc(from: &mut ImageReader<'_>, ftl: &mut Ftl) -> Result<(), Damage> {
    for plane in (0..ftl.geometry.planes()).map(PlaneId::new) {
        let blocks = ftl.geometry.shape().blocks_per_plane;
        let own = own_slc_blocks(ftl);
        let all = || (0..blocks).map(|index| ftl.geometry.block_in(plane, index));
        let died = |block: BlockId| ftl.blocks.state(block) == BlockState::Dead;
        let used = all().filter(|&block| ftl.blocks.is_slc(block) && !died(block));
        let borrowed = used.clone().filter(|&block| !is_own_slc(block, ftl)).count() as u32;
        let used = used.count() as u32;
        let Some(cache) = &ftl.features.slc else {
            match used {
                0 => continue,
                _ => return Err(Damage::new("blocks are in SLC mode, but there is no cache")),
            }
        };
        if let Some(stray) = all().skip((blocks - own) as usize).find(|&block| {
            let out = matches!(
                ftl.blocks.state(block),
                BlockState::Free | BlockState::Bad | BlockState::Dead
            );
            !out && !ftl.blocks.is_slc(block)
        }) {
            return Err(Damage(format!("{stray:?} belongs to the cache, but is not in SLC mode")));
        }
        let mut folds = ftl.space.planes[plane.at()].wanted.iter();
        let folding = folds.find(|wanted| wanted.purpose == Purpose::Fold);
        let mut state = CachePlane {
            in_use: used,
            borrowed,
            folding: folding.map(|wanted| wanted.block),
            ..cache.planes[plane.at()].clone()
        };
        state.own_free.clear();
        for block in from.list(BlockId::MAX_INDEX, "a free block of the SLC cache")? {
            let block = BlockId::new(block);
            let known = block.get() < ftl.geometry.blocks()
                && ftl.geometry.plane_of(block) == plane
                && is_own_slc(block, ftl);
            if !known || ftl.blocks.state(block) != BlockState::Free {
                return Err(Damage(format!("{block:?} is not a free block of the cache")));
            }
            state.own_free.push_back(block);
        }
        if let Some(cache) = &mut ftl.features.slc {
            cache.planes[plane.at()] = state;
        }
    }
    check_open_slc(ftl)
}

/// Checks that an open block is in SLC mode if and only if its stream is the cache's.
fn check_open_slc(ftl: &Ftl) -> Result<(), Damage> {
    let mut open = ftl.space.planes.iter().flat_map(|plane| plane.open_blocks());
    match open.find(|&(of, block, _)| (of == WriteStream::SLC) != ftl.blocks.is_slc(block)) {
        None => Ok(()),
        Some((_, block, _)) => Err(Damage(format!("{block:?} is open in two modes"))),
    }
}

/// After a power cut: counts the blocks in SLC mode, and lists the cache's own that are free. The closed ones follow by
/// [`slc_loaded`].
pub(in crate::ftl) fn recover_slc(ftl: &mut Ftl) {
    let (native, blocks) = (native_blocks(ftl), ftl.geometry.shape().blocks_per_plane);
    let Ftl { blocks: table, geometry, features, .. } = ftl;
    let Some(cache) = &mut features.slc else { return };
    for (plane, state) in (0..).map(PlaneId::new).zip(&mut cache.planes) {
        let slc = |range: std::ops::Range<u32>| {
            let all = range.map(|index| geometry.block_in(plane, index));
            all.filter(|&block| table.is_slc(block)).count() as u32
        };
        let borrowed = slc(0..native);
        let in_use = borrowed + slc(native..blocks);
        *state = CachePlane { in_use, borrowed, ..CachePlane::default() };
    }
    list_own_free(ftl);
}

/// Lists the free blocks of the cache's own, the least worn first.
pub(in crate::ftl) fn list_own_free(ftl: &mut Ftl) {
    let own = native_blocks(ftl)..ftl.geometry.shape().blocks_per_plane;
    let Ftl { blocks, geometry, features, .. } = ftl;
    let Some(cache) = &mut features.slc else { return };
    for (plane, state) in (0..).map(PlaneId::new).zip(&mut cache.planes) {
        let all = own.clone().map(|index| geometry.block_in(plane, index));
        let mut free: Vec<BlockId> =
            all.filter(|&block| blocks.state(block) == BlockState::Free).collect();
        free.sort_by_key(|&block| blocks.erases(block));
        state.own_free = free.into();
    }
}

/// A block that was being emptied keeps its data, because there was no room for it. It is still the oldest.
pub(in crate::ftl) fn slc_stays(block: BlockId, ftl: &mut Ftl) {
    let plane = ftl.geometry.plane_of(block);
    if let Some(cache) = &mut ftl.features.slc {
        let state = &mut cache.planes[plane.at()];
        state.closed.push_front(block);
        state.folding = state.folding.filter(|&folding| folding != block);
    }
}

/// The die of a plane has died, and its part of the cache with it.
pub(in crate::ftl) fn slc_died(plane: PlaneId, ftl: &mut Ftl) {
    if let Some(cache) = &mut ftl.features.slc {
        cache.planes[plane.at()] = CachePlane::default();
        cache.writable.next_unit[plane.at()] = 0;
    }
}

/// A full block of the cache was loaded, or found after a power cut. Call this in the order of closing.
pub(in crate::ftl) fn slc_loaded(block: BlockId, ftl: &mut Ftl) {
    let plane = ftl.geometry.plane_of(block);
    if let Some(cache) = &mut ftl.features.slc {
        cache.planes[plane.at()].closed.push_back(block);
    }
}

/// Checks the cache's state against the blocks.
pub(in crate::ftl) fn audit_slc(plane: PlaneId, ftl: &Ftl) -> Result<(), String> {
    let Some(cache) = &ftl.features.slc else { return Ok(()) };
    let state = &cache.planes[plane.at()];
    let blocks = ftl.geometry.shape().blocks_per_plane;
    let all = || (0..blocks).map(|index| ftl.geometry.block_in(plane, index));
    let is = |block: BlockId| ftl.blocks.state(block);
    let in_slc = |&block: &BlockId| ftl.blocks.is_slc(block) && is(block) != BlockState::Dead;
    let slc: Vec<BlockId> = all().filter(in_slc).collect();
    let borrowed = slc.iter().filter(|&&block| !is_own_slc(block, ftl)).count();
    if (slc.len(), borrowed) != (state.in_use as usize, state.borrowed as usize) {
        return Err(format!("{plane:?} has {slc:?} in SLC mode, but counts {state:?}"));
    }
    let candidates = ftl.policies.victim.candidates(plane);
    for block in slc {
        let closed = state.closed.contains(&block);
        if closed != (is(block) == BlockState::Closed) || candidates.contains(&block) {
            return Err(format!("{block:?} is {:?}, but in SLC mode", is(block)));
        }
        if ftl.blocks.programmed(block) > ftl.blocks.slc_units() {
            return Err(format!("{block:?} holds more than one bit per cell"));
        }
    }
    for block in all().filter(|&block| is_own_slc(block, ftl)) {
        let (free, listed) = (is(block) == BlockState::Free, state.own_free.contains(&block));
        let in_use = !matches!(is(block), BlockState::Bad | BlockState::Dead) && !free;
        if free != listed || in_use != in_slc(&block) {
            return Err(format!("{block:?} belongs to the cache, but is {:?}", is(block)));
        }
    }
    match cache.writable.planes[plane.at()] == is_slc_writable(plane, cache, ftl) {
        true => Ok(()),
        false => Err(format!("the cache of {plane:?} is wrongly marked as writable, or as full")),
    }
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ftl) enum Count {
    /// Pages that the host wrote.
    Written,
    /// Pages that the host read.
    Read,
}
