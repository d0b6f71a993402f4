//! Checkpoints: the map as stored in the system area, the parts of the map that changed since, and
//! the blocks that recovery has to scan in addition.
//!
//! Of a map on flash, a checkpoint holds only what flash does not: the places of the translation pages, and the entries in
//! memory that differ from them. All of that is written each time. A translation page that has moved since is found by the
//! scan, like any page, and a newer copy holds what the old one did, or later entries.

use crate::ftl::Ftl;
use crate::ftl::mapping::{Dftl, Mapping, MappingPolicy};
use crate::shape::Geometry;
use crate::units::{BlockId, Bytes, Lpn, Ppn};
use crate::verify::Canary;

/// The size of an entry in the system area: a place, and the low half of a version.
const ENTRY: u64 = 8;

/// The entry of a logical page in the map.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MapEntry {
    /// The version. Zero if the page was not mapped.
    pub version: u64,
    /// Its place, raw.
    place: u32,
}

impl MapEntry {
    pub(super) fn place(&self) -> Option<Ppn> {
        Ppn::from_raw(self.place)
    }
}

/// A checkpoint that is being written. It counts when all of it is on flash.
#[derive(Clone, Debug)]
struct Draft {
    /// Segments to write. Their entries follow each other in `entries`.
    segments: Vec<u32>,
    entries: Vec<MapEntry>,
    openings: u64,
    open: Vec<BlockId>,
    /// Flash pages of the system area that it takes.
    pages: u32,
}

/// The last checkpoint.
#[derive(Clone, Debug)]
pub(in crate::ftl) struct Snapshot {
    entries: Vec<MapEntry>,
    /// Entries in a flash page of the system area.
    per_segment: u32,
    /// By segment: whether the map has changed since.
    changed: Vec<bool>,
    /// Number of blocks opened before the checkpoint.
    openings: u64,
    /// The blocks that were open at the checkpoint, in ascending order.
    open: Vec<BlockId>,
    draft: Option<Box<Draft>>,
    /// By segment: whether it was ever written.
    written: Vec<bool>,
    /// If it holds only what a map on flash does not: flash pages of the last checkpoint.
    of_map_on_flash: Option<u32>,
}

impl Snapshot {
    /// Creates the checkpoint of an empty map.
    pub(super) fn new(geometry: &Geometry, logical_pages: u32, mapping: &Mapping) -> Snapshot {
        let per_segment = (geometry.shape().page_size.0 / ENTRY) as u32;
        let pages = mapping.dftl().map_or(logical_pages, Dftl::all_pages);
        let segments = pages.div_ceil(per_segment) as usize;
        Snapshot {
            entries: vec![MapEntry::default(); pages as usize],
            per_segment,
            changed: vec![false; segments],
            openings: 0,
            open: Vec::new(),
            draft: None,
            written: vec![false; segments],
            of_map_on_flash: mapping.dftl().map(|_| 1),
        }
    }

    /// From now on a checkpoint holds the whole map, even if it is on flash: it stands for the index, which names what
    /// was on dies that die.
    fn hold_all(&mut self) {
        self.of_map_on_flash = None;
    }

    /// Records that the entry of a page changed.
    #[inline]
    pub(in crate::ftl) fn changes(&mut self, page: Lpn) {
        let segment = page.get() / self.per_segment;
        if let Some(changed) = self.changed.get_mut(segment as usize) {
            *changed = true;
        }
    }

    /// Returns the entry of each page in the checkpoint.
    pub(super) fn entries(&self) -> impl Iterator<Item = (Lpn, &MapEntry)> {
        (0..).map(Lpn::new).zip(&self.entries)
    }

    /// Whether a block was open at the checkpoint or was opened since. `opening` is its position in
    /// the order of openings.
    pub(super) fn is_older_than(&self, block: BlockId, opening: u64) -> bool {
        opening > self.openings || self.open.binary_search(&block).is_ok()
    }

    /// Returns the number of flash pages of the system area that hold the checkpoint.
    pub(super) fn pages(&self) -> u32 {
        let written = || self.written.iter().filter(|&&written| written).count() as u32 + 1;
        self.of_map_on_flash.unwrap_or_else(written)
    }
}

/// Has checkpoints hold the whole map.
pub(crate) fn checkpoint_all(ftl: &mut Ftl) {
    let record = ftl.features.record.as_deref_mut();
    record
        .and_then(|record| record.snapshot.as_deref_mut())
        .into_iter()
        .for_each(Snapshot::hold_all);
}

/// Begins a checkpoint. Returns the number of flash pages of the system area that it needs, or
/// `None` if a checkpoint is already being written.
pub(crate) fn begin_checkpoint(ftl: &mut Ftl) -> Option<u32> {
    let record = ftl.features.record.as_deref()?;
    let snapshot = record.snapshot.as_deref().filter(|snapshot| snapshot.draft.is_none())?;
    let changed = (0u32..).zip(&snapshot.changed).filter(|&(_, &changed)| changed);
    let mut segments: Vec<u32> = changed.map(|(segment, _)| segment).collect();
    if ftl.plant.is(Canary::CheckpointMissesPart) {
        segments.pop();
    }
    let per_segment = snapshot.per_segment;
    let pages = segments.iter().flat_map(|segment| {
        let first = segment * per_segment;
        first..(first + per_segment).min(snapshot.entries.len() as u32)
    });
    let entries = pages.map(|page| entry(Lpn::new(page), ftl)).collect();
    let open = unfinished(ftl).collect();
    let openings = record.openings();
    let beside = ftl.map.mapping.dftl().filter(|_| snapshot.of_map_on_flash.is_some());
    let pages = match beside {
        None => segments.len() as u32 + 1,
        Some(map) => pages_beside(map, ftl.geometry.shape().page_size),
    };
    let draft = Draft { segments, entries, openings, open, pages };
    let snapshot = ftl.features.record.as_deref_mut()?.snapshot.as_deref_mut()?;
    snapshot.changed.fill(false);
    snapshot.draft = Some(Box::new(draft));
    Some(pages)
}

/// Flash pages of a checkpoint that holds what a map on flash has in memory: one of its own, those for the directory and
/// the entries that differ, and each translation page that is being written, or waits for it.
fn pages_beside(map: &Dftl, page_size: Bytes) -> u32 {
    let entries = u64::from(map.translation_pages()) + map.dirty_entries();
    1 + (entries * ENTRY).div_ceil(page_size.0) as u32 + map.pages_in_memory() as u32
}

/// Returns the blocks in use that are not completely programmed.
fn unfinished(ftl: &Ftl) -> impl Iterator<Item = BlockId> {
    let all = (0..ftl.geometry.blocks()).map(BlockId::new);
    all.filter(|&block| {
        let programmed = ftl.blocks.programmed(block);
        ftl.features.record.as_ref().is_some_and(|record| record.opening(block) > 0)
            && programmed < ftl.blocks.units_of(block)
            && ftl.blocks.state(block) != super::super::BlockState::Free
    })
}

/// Returns the entry of a page in the map.
fn entry(page: Lpn, ftl: &Ftl) -> MapEntry {
    let (Some(at), Some(record)) = (ftl.map.mapping.look_up(page), ftl.features.record.as_deref())
    else {
        return MapEntry::default();
    };
    let version = record.version(at, false).map_or(0, |(version, _)| version);
    MapEntry { version, place: at.to_raw() }
}

/// Ends a checkpoint whose pages are all on flash. From now on it counts.
pub(crate) fn end_checkpoint(ftl: &mut Ftl) {
    let Some(snapshot) =
        ftl.features.record.as_deref_mut().and_then(|record| record.snapshot.as_deref_mut())
    else {
        return;
    };
    let Some(draft) = snapshot.draft.take() else { return };
    let Draft { segments, entries, openings, open, pages } = *draft;
    if let Some(known) = &mut snapshot.of_map_on_flash {
        *known = pages;
    }
    let mut left = entries.into_iter();
    for segment in segments {
        snapshot.written[segment as usize] = true;
        let first = (segment * snapshot.per_segment) as usize;
        let end = (first + snapshot.per_segment as usize).min(snapshot.entries.len());
        for to in &mut snapshot.entries[first..end] {
            *to = left.next().unwrap_or_default();
        }
    }
    (snapshot.openings, snapshot.open) = (openings, open);
}

/// Writes a checkpoint of a device that was just loaded. It was switched off in an orderly way, so
/// its map was written.
pub(in crate::ftl) fn checkpoint_at_rest(ftl: &mut Ftl) {
    if let Some(snapshot) =
        ftl.features.record.as_deref_mut().and_then(|record| record.snapshot.as_deref_mut())
    {
        snapshot.draft = None;
        snapshot.changed.fill(true);
        if begin_checkpoint(ftl).is_some() {
            end_checkpoint(ftl);
        }
    }
}

/// Gives up a checkpoint that was being written, and finds what changed since the last complete
/// one.
pub(in crate::ftl) fn give_up_checkpoint(ftl: &mut Ftl) {
    let Some(mut record) = ftl.features.record.take() else { return };
    if let Some(mut snapshot) = record.snapshot.take() {
        snapshot.draft = None;
        for page in (0..snapshot.entries.len() as u32).map(Lpn::new) {
            let (entry, at) = (snapshot.entries[page.at()], ftl.map.mapping.look_up(page));
            let found = at.and_then(|at| record.version(at, false));
            let version = found.map_or(0, |(version, _)| version);
            if at != entry.place() || version != entry.version {
                snapshot.changes(page);
            }
        }
        record.snapshot = Some(snapshot);
    }
    ftl.features.record = Some(record);
}
