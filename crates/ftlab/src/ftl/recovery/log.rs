//! The same where blocks are merged: which block holds each data block, which are log blocks, and which are erased
//! because a merge had filled them in vain, or had emptied them.
//!
//! The first spare area of a block says what it was opened for. A block can hold a data block if every page that
//! counts is in it or in a log block: then a merge into it had come to its end, whatever was left to be erased; if
//! not, the merge had not, and what it copied still lies where it was. So the candidate that was opened last and can
//! hold the data block does. Log blocks that lie in place are candidates, too (switch and partial merges); that one has become
//! a data block is noted in the system area, at no cost, as deallocations are here.

use super::super::Ftl;
use super::super::mapping::hybrid::{DataBlock, LogTables, Spot};
use super::Plan;
use super::record::Role;
use crate::ftl::mapping::MappingPolicy;
use crate::ftl::recovery::rebuild;
use crate::image::Damage;
use crate::units::{BlockId, Lpn, Ppn};
use crate::verify::Canary;

/// What was found of a logical page: its highest version, and all copies of it.
#[derive(Clone, Debug, Default)]
struct Copies {
    version: u64,
    places: Vec<Ppn>,
}

/// Gives every block its part, maps every page, and erases what nothing counts on.
pub(in crate::ftl) fn recover_log(plan: &mut Plan, ftl: &mut Ftl) -> Result<(), Damage> {
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
        of.places.first().into_iter().for_each(|&at| rebuild::put_back(page, at, ftl));
    }
    Ok(())
}

/// Of each page all copies of its highest version, those in blocks that were opened first first.
fn copies(scanned: &[BlockId], pages: u32, ftl: &Ftl) -> Vec<Copies> {
    let record = ftl.features.record.as_deref().expect("what recovers has a record");
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

/// By data block: the block that holds it.
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

/// Whether every page that counts of a data block is in this block, or in a log block.
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

/// Decides between copies of one version: that in the data block goes before those in log blocks, and no other
/// block counts as one. Log blocks of which all that counts lies elsewhere, too, are given up, the oldest first.
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

/// Notes what each block is from now on. All are full.
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

/// What the first spare area of a block says that is opened.
pub(in crate::ftl) fn note_role(block: BlockId, role: Role, ftl: &mut Ftl) {
    if let Some(record) = ftl.features.record.as_deref_mut() {
        record.set_role(block, role);
    }
}
