//! Logical pages in fragments, and physical pages with two owners, for the mapping
//! `reconstruction`. Under any other mapping, a page has one fragment, the whole of it.
//!
//! *Owners* are recorded in the spare area and stay there when they leave. An owner *lives* in a
//! physical page if the mapping says that a fragment of it lies there. A physical page is valid as long as somebody
//! lives in it. Therefore owners may leave at any time, even between the placement and the end of a program.

pub(crate) mod audit;
pub(crate) mod image;
pub(crate) mod room;

pub(super) use room::PackRoom;

use crate::engine::skills;
use crate::ftl::mapping::{MappingPolicy, Places, Reconstruction};
use crate::ftl::streams::StreamsPolicy;
use crate::ftl::{Ftl, fragments};
use crate::units::{BlockId, Lpn, Ppn, SectorMask};
use crate::verify::Canary;

/// A part of a logical page on flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// Its place.
    pub at: Ppn,
    /// Its sectors that are current there.
    pub sectors: SectorMask,
}

/// The fragments of a logical page, the newest first. They share no sector.
pub type Fragments = [Option<Fragment>; 2];

/// A logical page, with the sectors of it that are programmed somewhere.
pub type OwnerPart = (Lpn, SectorMask);

/// Whether two parts of different logical pages fit into one page, whose sectors are `full`.
fn is_pack([first, second]: [OwnerPart; 2], full: SectorMask) -> bool {
    let is_part =
        |sectors: SectorMask| !sectors.is_empty() && sectors != full && full.covers(sectors);
    let room = full.count();
    let both = [first.1, second.1];
    first.0 != second.0
        && both.into_iter().all(is_part)
        && both.map(SectorMask::count).iter().sum::<u32>() <= room
}

impl Ftl {
    /// Whether two logical pages may be written into one physical page.
    #[inline]
    #[must_use]
    pub fn packs(&self) -> bool {
        self.map.mapping.packs()
    }

    /// The fragments of a page: none if it is not on flash, and at most one unless the mapping packs pages.
    #[inline]
    #[must_use]
    pub fn fragments(&self, page: Lpn) -> Fragments {
        match self.map.mapping.rmap() {
            Some(map) => parts_at(page, map.places(page), self),
            None => {
                let at = self.map.mapping.look_up(page);
                [at.map(|at| Fragment { at, sectors: self.map.spare.sectors(at) }), None]
            }
        }
    }

    /// The table of fragments, if the mapping packs pages.
    #[must_use]
    pub fn rmap(&self) -> Option<&Reconstruction> {
        self.map.mapping.rmap()
    }

    /// Number of logical pages on flash.
    #[must_use]
    pub fn mapped_pages(&self) -> u64 {
        let blocks = || (0..self.geometry.blocks()).map(BlockId::new);
        match self.map.mapping.rmap() {
            Some(map) => map.mapped(),
            None => blocks().map(|block| u64::from(self.blocks.valid(block))).sum(),
        }
    }
}

/// Whether these sectors of a page may be packed: they are not the whole page, and afterwards at
/// most one of its present fragments still owns sectors. If there is no [room](fragment_room), a
/// pack must not leave a page in more fragments than before.
#[must_use]
pub(crate) fn may_pack(page: Lpn, sectors: SectorMask, ftl: &Ftl) -> bool {
    let partial = !sectors.is_empty() && sectors != ftl.full_page();
    let stays = |fragment: &Fragment| !fragment.sectors.without(sectors).is_empty();
    ftl.packs()
        && partial
        && ftl.fragments(page).iter().flatten().filter(|fragment| stays(fragment)).count() < 2
}

/// How many more pages may have two fragments, as limited by the entries of RMAP and by the room on flash.
#[must_use]
pub(crate) fn fragment_room(ftl: &Ftl) -> u32 {
    let Some(map) = ftl.rmap() else { return 0 };
    map.entries().saturating_sub(map.pieces().fragmented).min(fragments::room::room_for_pieces(ftl))
}

/// Records the contents of a placed pack of the host.
pub(crate) fn record_pack(at: Ppn, parts: [OwnerPart; 2], ftl: &mut Ftl) {
    assert!(is_pack(parts, ftl.full_page()), "{parts:?} can't be packed");
    ftl.map.spare.record_pack(at, parts);
    parts.iter().for_each(|&(page, _)| ftl.policies.streams.wrote(page));
    let alone = parts.map(|(page, _)| ftl.look_up(page).is_none());
    if let Some(record) = &mut ftl.features.record {
        record.wrote_pack(at, alone);
    }
}

/// The pack at `at` is programmed, and `page` is one of its two pages: its part there becomes its
/// newest fragment. Call this for each of the two that was not deallocated meanwhile, before
/// [`programmed_for_host`](Ftl::programmed_for_host).
pub(crate) fn commit_fragment(page: Lpn, at: Ppn, ftl: &mut Ftl) {
    let sectors = ftl.map.spare.sectors_of(at, page);
    let former = ftl.fragments(page);
    let mut stay = former.iter().flatten().filter(|part| !part.sectors.without(sectors).is_empty());
    let older = stay.next().map(|part| part.at);
    assert!(stay.next().is_none(), "{page:?} at {at:?} would have a third part: {former:?}");
    put(page, at, older, ftl);
    let (block, unit) = ftl.geometry.place_of(at);
    if ftl.blocks.is_valid(block, unit) {
        rmap_mut(ftl).joined();
    } else {
        ftl.blocks.set_valid(block, unit);
        rmap_mut(ftl).packed();
    }
    for Fragment { at, .. } in former.into_iter().flatten() {
        if Some(at) != older {
            leave(page, at, ftl);
        }
    }
}

/// The logical pages that a copy of the page at `from` holds.
#[must_use]
pub(crate) fn owners_of_copy(from: Ppn, ftl: &Ftl) -> [Option<Lpn>; 2] {
    match ftl.packs() {
        true => parts_to_copy(from, ftl).map(|part| part.map(|(page, _)| page)),
        false => [ftl.map.spare.owner(from), None],
    }
}

/// The table of fragments, for changes.
pub(in crate::ftl) fn rmap_mut(ftl: &mut Ftl) -> &mut Reconstruction {
    ftl.map.mapping.rmap_mut().expect("only a mapping that packs pages has fragments")
}

/// Maps a page to `newer` and, if there is one, to `older`.
pub(in crate::ftl) fn put(page: Lpn, newer: Ppn, older: Option<Ppn>, ftl: &mut Ftl) {
    let before = rmap_mut(ftl).places(page);
    rmap_mut(ftl).put(page, newer, older);
    fragments::room::count_places(page, before, [Some(newer), older], ftl);
}

fn parts_at(page: Lpn, [newer, older]: Places, ftl: &Ftl) -> Fragments {
    let programmed = |at| Fragment { at, sectors: ftl.map.spare.sectors_of(at, page) };
    let newer = newer.map(programmed);
    let covered = newer.map_or(SectorMask::EMPTY, |newer| newer.sectors);
    let older = older
        .map(programmed)
        .map(|older| Fragment { sectors: older.sectors.without(covered), ..older });
    [newer, older]
}

/// [`commit`](Ftl::commit) for pages with fragments: all former ones leave.
#[cold]
pub(in crate::ftl) fn commit_gathered(page: Lpn, at: Ppn, ftl: &mut Ftl) {
    let former = rmap_mut(ftl).places(page);
    put(page, at, None, ftl);
    let (block, unit) = ftl.geometry.place_of(at);
    ftl.blocks.set_valid(block, unit);
    if !ftl.plant.is(Canary::OldCopyStays) {
        former.into_iter().flatten().for_each(|at| leave(page, at, ftl));
    }
}

/// [`trim`](Ftl::trim) for pages with fragments.
#[cold]
pub(in crate::ftl) fn trim_fragments(page: Lpn, ftl: &mut Ftl) -> Option<Ppn> {
    let former = rmap_mut(ftl).places(page);
    let newest = ftl.map.mapping.trim(page)?;
    fragments::room::count_places(page, former, [None, None], ftl);
    ftl.counts.trimmed += 1;
    former.into_iter().flatten().for_each(|at| leave(page, at, ftl));
    Some(newest)
}

/// The mapping does not name `at` for `page` any more.
fn leave(page: Lpn, at: Ppn, ftl: &mut Ftl) {
    let mut owners = ftl.map.spare.parts(at).into_iter().flatten();
    let early = ftl.plant.is(Canary::SharedPageFreedEarly);
    if !early && owners.any(|(other, _)| other != page && lives(other, at, ftl)) {
        rmap_mut(ftl).parted();
    } else {
        ftl.invalidate::<{ skills::ALL }>(at);
    }
}

/// Whether a fragment of a page lies at a place.
fn lives(page: Lpn, at: Ppn, ftl: &Ftl) -> bool {
    ftl.map.mapping.rmap().is_some_and(|map| map.places(page).contains(&Some(at)))
}

/// The owners of a place that live there, with the sectors that were programmed.
pub(in crate::ftl) fn living(at: Ppn, ftl: &Ftl) -> [Option<OwnerPart>; 2] {
    ftl.map.spare.parts(at).map(|part| part.filter(|&(page, _)| lives(page, at, ftl)))
}

/// The first owner that lives at a place, or the first of all.
#[cold]
pub(in crate::ftl) fn first_owner(at: Ppn, ftl: &Ftl) -> Option<Lpn> {
    let mut living = living(at, ftl).into_iter().flatten();
    let part = living.next().or(ftl.map.spare.parts(at)[0]);
    part.map(|(page, _)| page)
}

/// Records the contents of a copy of the page at `from`: the programmed sectors of each page that
/// lives there. If all have left, any former owner will do.
#[cold]
pub(in crate::ftl) fn record_copy_of_parts(from: Ppn, to: Ppn, ftl: &mut Ftl) {
    let parts = parts_to_copy(from, ftl)
        .map(|part| part.map(|(page, sectors)| (page, noted_of_copy(sectors, ftl))));
    let forgets = ftl.plant.is(Canary::SecondOwnerForgotten);
    match parts {
        [Some(first), Some(second)] if !forgets => ftl.map.spare.record_pack(to, [first, second]),
        [Some((page, sectors)), _] | [None, Some((page, sectors))] => {
            ftl.map.spare.release(to);
            ftl.map.spare.record(to, page, sectors);
        }
        [None, None] => unreachable!("{from:?}, which was valid, has an owner"),
    }
    note_versions_of_copy(from, to, ftl);
}

/// Records the versions of the pages in a copy.
fn note_versions_of_copy(from: Ppn, to: Ppn, ftl: &mut Ftl) {
    let source = ftl.map.spare.parts(from);
    let was_second = |(page, _): OwnerPart| source[1].is_some_and(|(second, _)| second == page);
    let parts = ftl.map.spare.parts(to).map(|part| part.map(was_second));
    if let Some(record) = &mut ftl.features.record {
        record.copied_parts(from, to, parts);
    }
}

/// The sectors that a copy records.
fn noted_of_copy(sectors: SectorMask, ftl: &Ftl) -> SectorMask {
    if ftl.plant.is(Canary::SectorsForgotten) { SectorMask::EMPTY } else { sectors }
}

/// Maps everything that still lives at `from` to `to`. Returns false if nothing does.
#[cold]
pub(in crate::ftl) fn relocate_parts(from: Ppn, to: Ppn, ftl: &mut Ftl) -> bool {
    let parts = ftl.map.spare.parts(to);
    let moved =
        parts.into_iter().flatten().filter(|&(page, _)| ftl.map.mapping.relocate(page, from, to));
    moved.count() > 0
}

/// The parts in a copy of the page at `from`: those that live there or, if all have left, the former ones.
fn parts_to_copy(from: Ppn, ftl: &Ftl) -> [Option<OwnerPart>; 2] {
    match living(from, ftl) {
        [None, None] => ftl.map.spare.parts(from),
        living => living,
    }
}
