//! Checkpoints: what the system area says of the map, which parts of the map have changed since, and which blocks have
//! to be looked at beside it.

use crate::ftl::Ftl;
use crate::ftl::mapping::MappingPolicy;
use crate::shape::Geometry;
use crate::units::{BlockId, Lpn, Ppn};
use crate::verify::Canary;

/// What an entry takes in the system area: a place, and the low half of a version.
const ENTRY: u64 = 8;

/// What the map said of a logical page.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entry {
    /// The version; zero if the page was nowhere.
    pub version: u64,
    /// Where it lay, raw.
    place: u32,
}

impl Entry {
    pub(super) fn place(&self) -> Option<Ppn> {
        Ppn::from_raw(self.place)
    }
}

/// A checkpoint that is being written: it counts when all of it is on flash.
#[derive(Clone, Debug)]
struct Draft {
    /// Segments, with their entries one after the other.
    segments: Vec<u32>,
    entries: Vec<Entry>,
    openings: u64,
    open: Vec<BlockId>,
}

/// The last checkpoint.
#[derive(Clone, Debug)]
pub(in crate::ftl) struct Snapshot {
    entries: Vec<Entry>,
    /// Entries in a flash page of the system area.
    per_segment: u32,
    /// By segment: whether the map has changed since.
    changed: Vec<bool>,
    /// Blocks that were opened by then.
    openings: u64,
    /// Those of them that were not full, in rising order.
    open: Vec<BlockId>,
    draft: Option<Box<Draft>>,
    /// Segments that were ever written.
    written: Vec<bool>,
}

impl Snapshot {
    /// Of an empty map.
    pub(super) fn new(geometry: &Geometry, logical_pages: u32) -> Snapshot {
        let per_segment = (geometry.shape().page_size.0 / ENTRY) as u32;
        let segments = logical_pages.div_ceil(per_segment) as usize;
        Snapshot {
            entries: vec![Entry::default(); logical_pages as usize],
            per_segment,
            changed: vec![false; segments],
            openings: 0,
            open: Vec::new(),
            draft: None,
            written: vec![false; segments],
        }
    }

    /// The map says something else of a page.
    #[inline]
    pub(in crate::ftl) fn changes(&mut self, page: Lpn) {
        let segment = page.get() / self.per_segment;
        if let Some(changed) = self.changed.get_mut(segment as usize) {
            *changed = true;
        }
    }

    /// What the checkpoint says of each page.
    pub(super) fn entries(&self) -> impl Iterator<Item = (Lpn, &Entry)> {
        (0..).map(Lpn::new).zip(&self.entries)
    }

    /// Whether a block was being filled at the checkpoint, or was opened since: `opening` says when.
    pub(super) fn is_older_than(&self, block: BlockId, opening: u64) -> bool {
        opening > self.openings || self.open.binary_search(&block).is_ok()
    }

    /// Flash pages of the system area that hold it.
    pub(super) fn pages(&self) -> u32 {
        self.written.iter().filter(|&&written| written).count() as u32 + 1
    }
}

/// Begins a checkpoint. Returns how many flash pages of the system area it takes; none if one is being written.
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
        first..(first + per_segment).min(ftl.logical_pages)
    });
    let entries = pages.map(|page| entry(Lpn::new(page), ftl)).collect();
    let open = unfinished(ftl).collect();
    let (openings, needed) = (record.openings(), segments.len() as u32 + 1);
    let draft = Draft { segments, entries, openings, open };
    let snapshot = ftl.features.record.as_deref_mut()?.snapshot.as_deref_mut()?;
    snapshot.changed.fill(false);
    snapshot.draft = Some(Box::new(draft));
    Some(needed)
}

/// Blocks in use of which something may still be on its way.
fn unfinished(ftl: &Ftl) -> impl Iterator<Item = BlockId> {
    let all = (0..ftl.geometry.blocks()).map(BlockId::new);
    all.filter(|&block| {
        let programmed = ftl.blocks.programmed(block);
        ftl.features.record.as_ref().is_some_and(|record| record.opening(block) > 0)
            && programmed < ftl.blocks.units_of(block)
            && ftl.blocks.state(block) != super::super::BlockState::Free
    })
}

/// What the map says of a page.
fn entry(page: Lpn, ftl: &Ftl) -> Entry {
    let (Some(at), Some(record)) = (ftl.map.mapping.look_up(page), ftl.features.record.as_deref())
    else {
        return Entry::default();
    };
    let version = record.version(at, false).map_or(0, |(version, _)| version);
    Entry { version, place: at.to_raw() }
}

/// All of a checkpoint is on flash: it counts.
pub(crate) fn end_checkpoint(ftl: &mut Ftl) {
    let Some(snapshot) =
        ftl.features.record.as_deref_mut().and_then(|record| record.snapshot.as_deref_mut())
    else {
        return;
    };
    let Some(draft) = snapshot.draft.take() else { return };
    let Draft { segments, entries, openings, open } = *draft;
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

/// A device that was just loaded was switched off in order: it had written its map.
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

/// A checkpoint that was being written is lost. What has changed since the last one is what differs.
pub(in crate::ftl) fn give_up_checkpoint(ftl: &mut Ftl) {
    let Some(mut record) = ftl.features.record.take() else { return };
    if let Some(mut snapshot) = record.snapshot.take() {
        snapshot.draft = None;
        for page in (0..ftl.logical_pages).map(Lpn::new) {
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
