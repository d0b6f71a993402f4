//! The log's promises, checked: what tests call.

use crate::ftl::mapping::MappingPolicy;
use crate::ftl::mapping::hybrid::{LogTables, Spot};
use crate::ftl::{BlockState, Ftl};
use crate::units::{BlockId, PlaneId};

/// Blocks of a plane that data or the log have begun to fill.
pub(in crate::ftl) fn open_in_log(plane: PlaneId, ftl: &Ftl) -> Vec<BlockId> {
    let Some((tables, _)) = ftl.map.mapping.log() else { return Vec::new() };
    let mut blocks = blocks_in_use(tables, plane);
    blocks.retain(|&block| ftl.blocks.state(block) == BlockState::Open);
    blocks
}

/// The log of a plane: its blocks are in use once, as many as there should be; the newest copies are the
/// valid pages of its log blocks; the block that stays free is there.
pub(in crate::ftl) fn audit_log(plane: PlaneId, ftl: &Ftl) -> Result<(), String> {
    let Some((tables, _)) = ftl.map.mapping.log() else { return Ok(()) };
    let mut used = blocks_in_use(tables, plane);
    let number = used.len();
    used.sort_unstable();
    used.dedup();
    if used.len() != number {
        return Err(format!("{plane:?} uses a block for two things"));
    }
    for &block in &used {
        let (state, taken) = (ftl.blocks.state(block), tables.taken(block));
        let programmed = ftl.blocks.programmed(block);
        let known = matches!(state, BlockState::Open | BlockState::Closed);
        if !known || programmed > taken || taken > ftl.geometry.units_per_block() {
            return Err(format!("{block:?} is {state:?}, {programmed} of {taken} programmed"));
        }
    }
    let (log, share) = (tables.used(plane), tables.shares().log);
    let listed = tables.logs(plane).count();
    // One more while the throttle moves pages to it.
    if log > share + 1
        || log as usize != listed
        || tables.logs(plane).any(|log| !tables.is_log(log))
    {
        return Err(format!("{plane:?} has {log} log blocks of {share}, {listed} are listed"));
    }
    audit_copies(tables, plane, ftl)
}

/// Map and slots are inverse: as many pages have their newest copy in the log as its blocks hold valid ones,
/// and each of those is where the map says.
fn audit_copies(tables: &LogTables, plane: PlaneId, ftl: &Ftl) -> Result<(), String> {
    let mut mapped = 0;
    let data = tables.all_data_blocks().filter(|&data| tables.plane_of(data) == plane);
    for data in data {
        if tables.own_logs(data).count() != tables.own_log_count(data) as usize {
            return Err(format!("{data:?} has another number of log blocks than is counted"));
        }
        for (offset, at) in tables.newer(data) {
            let block = ftl.geometry.block_of(at);
            let page = tables.page_at(Spot { data, offset });
            let home = tables.home_of(block);
            if !tables.is_log(block) || home.is_some_and(|home| home != data) {
                return Err(format!("{page:?} is looked for in {block:?}, no log block for it"));
            }
            mapped += 1;
        }
    }
    let valid: u32 = tables.logs(plane).map(|log| ftl.blocks.valid(log)).sum();
    if mapped != valid {
        return Err(format!("{plane:?} maps {mapped} pages to its log, which has {valid}"));
    }
    Ok(())
}

/// The blocks of a plane that hold data blocks, and those of the log.
fn blocks_in_use(tables: &LogTables, plane: PlaneId) -> Vec<BlockId> {
    let data = tables.all_data_blocks().filter(|&data| tables.plane_of(data) == plane);
    data.filter_map(|data| tables.block_of(data)).chain(tables.logs(plane)).collect()
}
