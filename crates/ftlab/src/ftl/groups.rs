//! Reclaim groups: sets of planes among which streams, and with them the data of the host, are divided. A stream is written on the
//! planes of its group only, and collection, which copies within a plane, leaves data there.
//!
//! Each group has an equal part of the dies, in the order of their numbers, which go through a channel before they come to the next
//! one: groups share no bus if there are no more of them than channels. Superblocks of several dies go over all channels, and so do
//! groups of them.
//!
//! A group has its share of the logical capacity and of the spare blocks. What the host writes to a group that holds more goes to
//! the group that holds the least, until the host has put data elsewhere or deallocated it. So the drive can be filled through one
//! group, each group always finds blocks that are worth collecting, and no write waits for ever.
//!
//! Source: NVM Express TP4146a, reclaim groups. It leaves their make-up and what happens when one is full to the drive.

use crate::engine::skills::{ALL, RARE, Skills, any};
use crate::ftl::placement::Placement;
use crate::ftl::room::refresh_writable;
use crate::ftl::streams::fdp::PlacementEvent;
use crate::ftl::streams::{StreamsPolicy, WriteStream};
use crate::ftl::superblock::SuperblockState;
use crate::ftl::{BlockState, Ftl, FtlSetup};
use crate::image::{Damage, ImageReader};
use crate::units::{BlockId, DieId, PlaneId, Ppn};

/// The reclaim groups of a device that has several.
#[derive(Clone, Debug)]
pub(crate) struct ReclaimGroups {
    /// By plane: its group.
    of_planes: Vec<u8>,
    /// By group: pages of the host that lie there.
    live: Vec<u32>,
    /// The pages that a group may hold before writes to it go elsewhere.
    share: u32,
    /// The placements of all groups but the first, which has that of the device: whose turn it is in a group does not depend on
    /// what is written in others.
    placements: Vec<Placement>,
}

impl ReclaimGroups {
    /// The groups of an empty device; none if there is one.
    pub fn of(setup: &FtlSetup) -> Option<Box<ReclaimGroups>> {
        let count = setup.streams.counts().groups;
        if count == 1 {
            return None;
        }
        let geometry = &setup.geometry;
        let members = setup.superblock.as_ref().map(SuperblockState::members);
        let single = members.filter(|members| members.span().dies == 1);
        let dies_each = (geometry.dies() / u32::from(count)).max(1);
        let group = |plane: PlaneId| {
            let die = geometry.die_of(plane);
            let die: DieId = single.map_or(die, |members| members.flash().die_in_group(die, 0));
            (die.get() / dies_each) as u8
        };
        Some(Box::new(ReclaimGroups {
            of_planes: (0..geometry.planes()).map(PlaneId::new).map(group).collect(),
            live: vec![0; usize::from(count)],
            share: setup.logical_pages.div_ceil(u32::from(count)),
            placements: vec![setup.placement.clone(); usize::from(count) - 1],
        }))
    }

    fn count(&self) -> u8 {
        self.live.len() as u8
    }

    fn of_stream(&self, stream: WriteStream) -> u8 {
        stream.at() as u8 % self.count()
    }

    fn is_full(&self, group: u8) -> bool {
        self.live[usize::from(group)] > self.share
    }

    /// The stream in which writes of a host stream go to flash now: the same handle of another group if its own is full.
    fn target(&self, stream: WriteStream) -> WriteStream {
        let own = self.of_stream(stream);
        if !self.is_full(own) {
            return stream;
        }
        let least = (0..self.count()).min_by_key(|&group| self.live[usize::from(group)]);
        WriteStream::new(stream.at() as u8 - own + least.unwrap_or(own))
    }
}

impl Ftl {
    /// The reclaim group of a plane; zero if there is one.
    #[must_use]
    pub fn group_of(&self, plane: PlaneId) -> u8 {
        self.space.groups.as_ref().map_or(0, |groups| groups.of_planes[plane.at()])
    }

    /// By reclaim group: pages of the host that lie there. Empty if there is one group.
    #[must_use]
    pub fn live_by_group(&self) -> &[u32] {
        self.space.groups.as_ref().map_or(&[], |groups| &groups.live)
    }

    /// Places a flash page of a host stream in its group, or elsewhere if that is full.
    pub(in crate::ftl) fn place_in_group(
        &mut self,
        stream: WriteStream,
        place: impl FnOnce(WriteStream, &mut Ftl) -> Option<Ppn>,
    ) -> Option<Ppn> {
        let target = self.space.groups.as_ref().map_or(stream, |groups| groups.target(stream));
        self.swap_placement(target);
        let at = place(target, self);
        self.swap_placement(target);
        let at = at?;
        if target != stream
            && let Some(log) = self.policies.streams.log_mut()
        {
            log.counts.outside_pages += u64::from(self.geometry.units_per_page());
            log.life.left_groups = true;
        }
        Some(at)
    }

    /// Puts the placement of a stream's group in the place of that of the device, or back.
    fn swap_placement(&mut self, stream: WriteStream) {
        let Some(groups) = &mut self.space.groups else { return };
        let group = groups.of_stream(stream);
        if let Some(further) = group.checked_sub(1) {
            let own = &mut groups.placements[usize::from(further)];
            std::mem::swap(&mut self.policies.placement, own);
        }
    }

    /// Whether a stalled program of a stream may find a place, now that a plane takes writes again.
    #[must_use]
    pub(crate) fn may_place(&self, plane: PlaneId, stream: WriteStream) -> bool {
        match &self.space.groups {
            None => self.may_write(plane, stream),
            Some(groups) => !self.space.writable[groups.target(stream).at()].dies.is_empty(),
        }
    }
}

/// Whether a stream may be written on a plane. The drive's own data may lie anywhere.
pub(in crate::ftl) fn admits(plane: PlaneId, stream: WriteStream, ftl: &Ftl) -> bool {
    let Some(groups) = &ftl.space.groups else { return true };
    !stream.is_of_policy() || groups.of_stream(stream) == groups.of_planes[plane.at()]
}

/// A plane of another group with free blocks, for a planted bug.
pub(in crate::ftl) fn outside_of(plane: PlaneId, ftl: &Ftl) -> PlaneId {
    let mut planes = (0..ftl.geometry.planes()).map(PlaneId::new);
    let is_outside = |&other: &PlaneId| {
        ftl.group_of(other) != ftl.group_of(plane)
            && ftl.free_blocks(other) > ftl.space.thresholds.start
    };
    planes.find(is_outside).unwrap_or(plane)
}

/// Pages of the host became valid on a block.
#[inline]
pub(in crate::ftl) fn came_to<const S: Skills>(block: BlockId, pages: u32, ftl: &mut Ftl) {
    if any(S, RARE) && ftl.space.groups.is_some() {
        note_pages(block, pages, ftl);
    }
}

#[cold]
fn note_pages(block: BlockId, pages: u32, ftl: &mut Ftl) {
    let group = ftl.group_of(ftl.geometry.plane_of(block));
    let Some(groups) = &mut ftl.space.groups else { return };
    let was_full = groups.is_full(group);
    groups.live[usize::from(group)] += pages;
    if groups.is_full(group)
        && !was_full
        && let Some(log) = ftl.policies.streams.log_mut()
    {
        log.note(PlacementEvent::GroupFull { group });
    }
}

/// A page of a block is not valid any more.
#[inline]
pub(in crate::ftl) fn left<const S: Skills>(block: BlockId, ftl: &mut Ftl) {
    if any(S, RARE) && ftl.space.groups.is_some() {
        let group = ftl.group_of(ftl.geometry.plane_of(block));
        if let Some(groups) = &mut ftl.space.groups {
            groups.live[usize::from(group)] -= 1;
        }
    }
}

/// Begins with what lies on flash: of a new device, an image, or what a power cut left.
pub(in crate::ftl) fn begin(ftl: &mut Ftl) {
    if ftl.space.groups.is_none() {
        return;
    }
    let live = live_on_flash(ftl);
    if let Some(groups) = &mut ftl.space.groups {
        groups.live = live;
    }
    (0..ftl.geometry.planes()).map(PlaneId::new).for_each(|at| refresh_writable::<ALL>(at, ftl));
}

/// The placements of further groups, as they are saved.
pub(in crate::ftl) fn placements(ftl: &Ftl) -> &[Placement] {
    ftl.space.groups.as_ref().map_or(&[], |groups| &groups.placements)
}

/// Loads them.
///
/// # Errors
/// They are damaged.
pub(in crate::ftl) fn load_placements(
    from: &mut ImageReader<'_>,
    ftl: &mut Ftl,
) -> Result<(), Damage> {
    let groups = ftl.space.groups.iter_mut();
    groups.flat_map(|groups| &mut groups.placements).try_for_each(|it| it.load(from))
}

/// The stream that stands for data of which nothing is known, on a plane: `first`, in the group of the plane.
pub(in crate::ftl) fn of_unknown(first: WriteStream, plane: PlaneId, ftl: &Ftl) -> WriteStream {
    WriteStream::new(first.at() as u8 + ftl.group_of(plane))
}

/// It is not known with which identifiers the data on flash was written.
pub(in crate::ftl) fn knows_nothing(ftl: &mut Ftl) {
    if ftl.space.groups.is_some()
        && let Some(log) = ftl.policies.streams.log_mut()
    {
        log.life.left_groups = true;
    }
}

/// By group: the valid pages of its blocks.
fn live_on_flash(ftl: &Ftl) -> Vec<u32> {
    let mut live = vec![0; ftl.live_by_group().len()];
    for block in (0..ftl.geometry.blocks()).map(BlockId::new) {
        let group = ftl.group_of(ftl.geometry.plane_of(block));
        live[usize::from(group)] += ftl.blocks.valid(block);
    }
    live
}

/// Checks that each stream lies on the planes of its group, and that what groups hold is counted.
///
/// # Errors
/// The first disagreement, in words.
pub(in crate::ftl) fn audit(ftl: &Ftl) -> Result<(), String> {
    if ftl.space.groups.is_none() {
        return Ok(());
    }
    for block in (0..ftl.geometry.blocks()).map(BlockId::new) {
        let (plane, stream) = (ftl.geometry.plane_of(block), ftl.blocks.stream(block));
        if ftl.blocks.state(block) != BlockState::Free && !admits(plane, stream, ftl) {
            return Err(format!("{block:?} of {stream:?} lies outside of its reclaim group"));
        }
    }
    let (counted, live) = (ftl.live_by_group(), live_on_flash(ftl));
    match counted == live {
        true => Ok(()),
        false => Err(format!("reclaim groups count {counted:?} pages, and hold {live:?}")),
    }
}
