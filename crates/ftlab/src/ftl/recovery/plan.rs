//! The reads and erases at power-up.
//!
//! In addition to spare areas and a checkpoint, power-up reads the lists of the device from the
//! system area: bad blocks, pages whose data is lost, and pages on flash that never count.

use crate::ftl::parity::Recomputed;
use crate::ftl::recovery::rebuild;
use crate::ftl::superblock::Members;
use std::collections::BTreeSet;

use super::super::{BlockState, Blocks, Ftl};
use super::Record;
use crate::nand::CellMode;
use crate::shape::Geometry;
use crate::units::{BlockId, DieId, PlaneId, Ppn};

/// The size of a page in a list: its number.
const LISTED: u64 = size_of::<u32>() as u64;

/// Flash pages of a block whose spare areas are read, from the first one on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The block of flash.
    pub block: BlockId,
    /// The number of flash pages.
    pub pages: u32,
    /// The mode of their cells.
    pub mode: CellMode,
}

/// A block that is erased.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Erasing {
    /// The block.
    pub block: BlockId,
    /// The mode of its cells before.
    pub mode: CellMode,
}

/// The reads and erases at power-up.
#[derive(Clone, Debug, Default)]
pub struct RecoveryPlan {
    /// Spare areas to read.
    pub spares: Vec<Reading>,
    /// Number of flash pages to read: those of the lists, of the checkpoint, and of a map that is
    /// stored on flash.
    pub map_pages: u32,
    /// Blocks that are erased before the device is ready.
    pub erases: Vec<Erasing>,
    /// Stripes whose parity is computed again from their pages, which are read.
    pub stripes: Vec<Recomputed>,
    /// Blocks of flash that are bad, and are not erased with the superblocks that they belong to.
    pub bad: BTreeSet<BlockId>,
    /// Whether a page of the journal is written to list the pages that never count.
    pub marks_void: bool,
    /// Dies that do not answer. Each is tried once, and nothing else is done there.
    pub dead: Vec<DieId>,
}

/// Plans the reads. Of each block of flash, the first spare area is read. Of a scanned block, the others are
/// read too, up to the first that is erased.
pub(in crate::ftl) fn plan(
    blocks: &Blocks,
    half_erased: &[BlockId],
    begun: &BTreeSet<Ppn>,
    ftl: &Ftl,
) -> RecoveryPlan {
    let half_erased = rebuild::marks(half_erased.iter().copied(), ftl);
    let record = ftl.features.record.as_deref().expect("a device that recovers has a record");
    let units = ftl.geometry.units_per_page();
    let mut plan = RecoveryPlan::default();
    // That a die does not answer shows when it is read.
    plan.spares.extend(record.dead.iter().map(|&die| first_of(die, ftl)));
    for block in (0..ftl.geometry.blocks()).map(BlockId::new) {
        if rebuild::is_on_dead_die(block, ftl) || blocks.state(block) == BlockState::Bad {
            continue;
        }
        let written = last_written(&ftl.geometry, begun, block, blocks.programmed(block)) / units;
        let whole = blocks.units_of(block) / units;
        let scanned = is_scanned(record, block) && !half_erased[block.at()];
        let read = |written: u32, whole: u32| match scanned {
            true => (written + 1).min(whole),
            false => 1,
        };
        let mode = blocks.mode(block);
        match ftl.features.members() {
            None => plan.spares.push(Reading { block, pages: read(written, whole), mode }),
            Some(members) => {
                let filled = Filled { block, written, whole, mode };
                plan.spares.extend(readings_of(&filled, members, record, read));
            }
        }
    }
    plan.map_pages = record.snapshot.as_ref().map_or(0, |snapshot| snapshot.pages());
    plan.map_pages += list_pages(blocks, ftl);
    plan
}

/// How far a superblock is filled, in flash pages.
struct Filled {
    block: BlockId,
    written: u32,
    whole: u32,
    mode: CellMode,
}

/// The readings of the blocks of a superblock; `read(written, whole)` says how many pages are read of a block.
fn readings_of(
    filled: &Filled,
    members: &Members,
    record: &Record,
    read: impl Fn(u32, u32) -> u32,
) -> Vec<Reading> {
    let &Filled { block, written, whole, mode } = filled;
    let (flash, span) = (members.flash(), members.span());
    let in_row = span.pages_in_row();
    let live = members.live(block).filter_map(|member| {
        let at = flash.member(block, member);
        // A superblock is filled round its blocks. With parity each has a page in every row.
        let of_member = |pages: u32| match span.has_parity {
            true => pages.div_ceil(in_row),
            false => pages.saturating_sub(member).div_ceil(in_row),
        };
        let answers = !record.dead.contains(&flash.die_of(flash.plane_of(at)));
        let pages = read(of_member(written), of_member(whole));
        answers.then_some(Reading { block: at, pages, mode })
    });
    live.collect()
}

/// The reading that shows that a die is dead.
fn first_of(die: DieId, ftl: &Ftl) -> Reading {
    let plane_of = |planes: u32| PlaneId::new(die.get() * planes);
    let block = match ftl.features.members() {
        None => ftl.geometry.block_in(plane_of(ftl.geometry.planes_per_die()), 0),
        Some(members) => {
            let flash = members.flash();
            flash.block_in(plane_of(flash.planes_per_die()), 0)
        }
    };
    Reading { block, pages: 1, mode: CellMode::Native }
}

/// Returns the number of flash pages of the system area that hold the lists.
fn list_pages(blocks: &Blocks, ftl: &Ftl) -> u32 {
    let record = ftl.features.record.as_deref().expect("a device that recovers has a record");
    let used = (0..ftl.geometry.blocks()).map(BlockId::new);
    let used = used.filter(|&block| blocks.programmed(block) > 0);
    let never_counts = |at: &Ppn| record.holds_nothing(*at) && ftl.map.spare.owner(*at).is_some();
    let void =
        used.flat_map(|block| rebuild::pages_of(block, ftl)).filter(never_counts).count() as u64;
    let mask = u64::from(ftl.geometry.sectors_per_unit().div_ceil(u8::BITS));
    let bad = u64::from(ftl.geometry.blocks().div_ceil(u8::BITS));
    let bytes = bad + void * LISTED + ftl.lost().pages() * (LISTED + mask);
    bytes.div_ceil(ftl.geometry.shape().page_size.0) as u32
}

/// Returns how far a block is written or torn, counting programs that were only begun.
fn last_written(
    geometry: &Geometry,
    begun: &BTreeSet<Ppn>,
    block: BlockId,
    programmed: u32,
) -> u32 {
    let pages = geometry.page_at(block, 0)..geometry.page_at(block, geometry.units_per_block());
    let last = begun.range(pages).next_back().map(|&at| geometry.place_of(at).1);
    last.map_or(programmed, |last| programmed.max(last + geometry.units_per_page()))
}

/// Whether all written pages of a block are scanned.
pub(super) fn is_scanned(record: &Record, block: BlockId) -> bool {
    let opening = record.opening(block);
    record.snapshot.as_ref().is_none_or(|snapshot| snapshot.is_older_than(block, opening))
}
