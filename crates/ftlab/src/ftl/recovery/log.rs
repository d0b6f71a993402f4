//! Recovery of a mapping with a log: which block holds each data block, which blocks are log
//! blocks, and which blocks are erased because an unfinished merge filled them, or a merge emptied
//! them.
//!
//! The first spare area of a block records the purpose for which it was opened. A block can hold a
//! data block if every current page of the data block is in it or in a log block. In that case the
//! merge into the block was complete, even if old blocks were not erased yet. Otherwise the merge
//! was not complete, and the sources of its copies still exist. So the data block is held by the
//! most recently opened candidate that can hold it. Log blocks whose pages all lie at their own
//! offsets are candidates, too (switch and partial merges). The system area records that a log
//! block has become a data block. This costs nothing in the model, like trims for these mappings.

use super::super::Ftl;
use super::super::mapping::hybrid::{DataBlock, LogTables, Spot};
use super::RecoveryPlan;
use super::record::Role;
use crate::ftl::mapping::MappingPolicy;
use crate::ftl::recovery::rebuild;
use crate::image::Damage;
use crate::units::{BlockId, Lpn, Ppn};
use crate::verify::Canary;

/// The copies found of a logical page: the highest version, and all places that hold it.
#[derive(Clone, Debug, Default)]
struct Copies {
    version: u64,
    places: Vec<Ppn>,
}

/// Assigns a role to every block, maps every page, and erases blocks without current data.
pub(in crate::ftl) fn recover_log(plan: &mut RecoveryPlan, ftl: &mut Ftl) -> Result<(), Damage> {
    let pages = ftl.logical_pages;
    if let Some(tables) = ftl.map.mapping.log_mut() {
        tables.begin_load();
    }
    let scanned = rebuild::scanned_blocks(ftl);
    let mut copies = copies(&scanned, pages, ftl);
    let holders = holders(&scanned, &copies, ftl);
    settle_copies(&scanned, &holders, &mut copies, ftl);
    let counting = copies.iter().filter_map(|of| of.places.first());
    let in_use = rebuild::marks(counting.map(|&at| ftl.geometry.block_of(at)), ftl);
    let (kept, spent): (Vec<BlockId>, Vec<BlockId>) =
        scanned.iter().partition(|block| in_use[block.at()]);
    for block in spent {
        rebuild::erase_at_power_up(block, plan, ftl);
    }
    give_parts(&kept, &holders, ftl);
    for (page, of) in (0..).map(Lpn::new).zip(&copies) {
        if let Some(&at) = of.places.first() {
            check_place(page, at, &holders, ftl)?;
            rebuild::put_back(page, at, ftl);
        }
    }
    Ok(())
}

/// In the block that holds its data block, a page lies at its own offset. Nothing else tells where it is.
fn check_place(page: Lpn, at: Ppn, holders: &[Option<BlockId>], ftl: &Ftl) -> Result<(), Damage> {
    let spot = tables(ftl).spot(page);
    let (block, unit) = ftl.geometry.place_of(at);
    match holders[spot.data.get() as usize] == Some(block) && unit != spot.offset {
        true => Err(Damage(format!("{page:?} lies at {at:?}, which is another page's place"))),
        false => Ok(()),
    }
}

/// Returns all copies of the highest version of each page, in the order in which their blocks were
/// opened.
fn copies(scanned: &[BlockId], pages: u32, ftl: &Ftl) -> Vec<Copies> {
    let record = ftl.features.record.as_deref().expect("a device that recovers has a record");
    let mut copies = vec![Copies::default(); pages as usize];
    for at in scanned.iter().flat_map(|&block| rebuild::pages_of(block, ftl)) {
        let Some(((version, _), page)) = record.version(at, false).zip(ftl.map.spare.owner(at))
        else {
            continue;
        };
        let of = &mut copies[page.at()];
        if version < of.version || rebuild::is_deallocated(page, version, ftl) {
            continue;
        }
        if version > of.version {
            *of = Copies { version, places: Vec::new() };
        }
        of.places.push(at);
    }
    copies
}

fn tables(ftl: &Ftl) -> &LogTables {
    ftl.map.mapping.log().expect("a mapping with a log").0
}

fn role(block: BlockId, ftl: &Ftl) -> Role {
    ftl.features.record.as_deref().map_or(Role::Log, |record| record.role(block))
}

/// Returns the block that holds each data block.
fn holders(scanned: &[BlockId], copies: &[Copies], ftl: &Ftl) -> Vec<Option<BlockId>> {
    let tables = tables(ftl);
    let mut candidates = vec![Vec::new(); tables.all_data_blocks().count()];
    for &block in scanned.iter().rev() {
        match role(block, ftl) {
            Role::Data(data) => candidates[data.get() as usize].push(block),
            Role::HomedLog(data) if lies_in_place(block, ftl) => {
                candidates[data.get() as usize].push(block);
            }
            Role::HomedLog(_) | Role::Log => {}
        }
    }
    let all = tables.all_data_blocks().zip(candidates);
    all.map(|(data, candidates)| {
        candidates.into_iter().find(|&block| can_hold(block, data, copies, ftl))
    })
    .collect()
}

/// Whether every current page of a data block is in this block or in a log block.
fn can_hold(holder: BlockId, data: DataBlock, copies: &[Copies], ftl: &Ftl) -> bool {
    let tables = tables(ftl);
    let own = |at: &Ppn| {
        let block = ftl.geometry.block_of(*at);
        block == holder || !matches!(role(block, ftl), Role::Data(_))
    };
    let pages = (0..tables.pages_per_block()).map(|offset| tables.page_at(Spot { data, offset }));
    let mut found = pages.filter_map(|page| copies.get(page.at()));
    ftl.plant.is(Canary::HalfMergeCounts)
        || found.all(|of| of.places.is_empty() || of.places.iter().any(own))
}

/// Whether every page of a block lies at its own offset.
fn lies_in_place(block: BlockId, ftl: &Ftl) -> bool {
    let tables = tables(ftl);
    rebuild::pages_of(block, ftl).all(|at| {
        let (_, unit) = ftl.geometry.place_of(at);
        match ftl.features.record.as_deref().and_then(|record| record.version(at, false)) {
            None => true,
            Some(_) => ftl.map.spare.owner(at).is_none_or(|page| tables.spot(page).offset == unit),
        }
    })
}

/// Chooses between copies of one version. The copy in the block that holds the data block comes
/// before those in log blocks. Copies in blocks of other data blocks do not count. Log blocks are
/// given up, the oldest first, if all their current data also lies elsewhere.
fn settle_copies(
    scanned: &[BlockId],
    holders: &[Option<BlockId>],
    copies: &mut [Copies],
    ftl: &Ftl,
) {
    let tables = tables(ftl);
    for (page, of) in (0..).map(Lpn::new).zip(copies.iter_mut()) {
        let holder = holders[tables.spot(page).data.get() as usize];
        of.places.retain(|&at| {
            let block = ftl.geometry.block_of(at);
            Some(block) == holder || !matches!(role(block, ftl), Role::Data(_))
        });
        of.places.sort_by_key(|&at| Some(ftl.geometry.block_of(at)) != holder);
    }
    let holds = rebuild::marks(holders.iter().copied().flatten(), ftl);
    for &block in scanned.iter().filter(|block| !holds[block.at()]) {
        let here = |at: &Ppn| ftl.geometry.block_of(*at) == block;
        let owners = || {
            let owners = rebuild::pages_of(block, ftl).filter_map(|at| ftl.map.spare.owner(at));
            owners.filter(|page| page.get() < ftl.logical_pages)
        };
        let elsewhere = |of: &Copies| of.places.is_empty() || !of.places.iter().all(here);
        if owners().all(|page| elsewhere(&copies[page.at()])) {
            owners().for_each(|page| copies[page.at()].places.retain(|at| !here(at)));
        }
    }
}

/// Records the role of each block. All blocks are full from now on.
fn give_parts(kept: &[BlockId], holders: &[Option<BlockId>], ftl: &mut Ftl) {
    let pages = ftl.geometry.units_per_block();
    let mut held: Vec<Option<u32>> = vec![None; ftl.geometry.blocks() as usize];
    for (data, holder) in (0..).zip(holders) {
        holder.iter().for_each(|holder| held[holder.at()] = Some(data));
    }
    let in_place: Vec<bool> = kept.iter().map(|&block| lies_in_place(block, ftl)).collect();
    for (&block, in_place) in kept.iter().zip(in_place) {
        let plane = ftl.geometry.plane_of(block);
        let role = role(block, ftl);
        let Some(tables) = ftl.map.mapping.log_mut() else { return };
        match (held[block.at()], role) {
            (Some(data), _) => {
                let data = DataBlock::numbered(data);
                tables.open_data(data, block);
                if let Some(record) = ftl.features.record.as_deref_mut() {
                    record.set_role(block, Role::Data(data));
                }
            }
            (None, Role::HomedLog(data)) => tables.open(plane, block, Some(data)),
            (None, Role::Log | Role::Data(_)) => tables.open(plane, block, None),
        }
        let strays = if in_place { pages - 1 } else { pages };
        if let Some(tables) = ftl.map.mapping.log_mut() {
            tables.take(block, pages - 1, strays);
        }
    }
}

/// Records the purpose of a block that is opened, which its first spare area stores.
pub(in crate::ftl) fn note_role(block: BlockId, role: Role, ftl: &mut Ftl) {
    if let Some(record) = ftl.features.record.as_deref_mut() {
        record.set_role(block, role);
    }
}
