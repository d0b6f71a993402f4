//! Checks of the log's invariants, for tests.

use crate::ftl::mapping::MappingPolicy;
use crate::ftl::mapping::hybrid::{LogTables, Spot};
use crate::ftl::{BlockState, Ftl};
use crate::units::{BlockId, PlaneId};

/// Returns the blocks of a plane that data or the log have begun to fill.
pub(in crate::ftl) fn open_in_log(plane: PlaneId, ftl: &Ftl) -> Vec<BlockId> {
    let Some((tables, _)) = ftl.map.mapping.log() else { return Vec::new() };
    let mut blocks = blocks_in_use(tables, plane);
    blocks.retain(|&block| ftl.blocks.state(block) == BlockState::Open);
    blocks
}

/// Checks the log of a plane: each block has one use and a valid state, the number of log blocks is
/// right, and the log blocks hold the newest copies.
pub(in crate::ftl) fn audit_log(plane: PlaneId, ftl: &Ftl) -> Result<(), String> {
    let Some((tables, _)) = ftl.map.mapping.log() else { return Ok(()) };
    let mut used = blocks_in_use(tables, plane);
    let number = used.len();
    used.sort_unstable();
    used.dedup();
    if used.len() != number {
        return Err(format!("{plane:?} uses the same block twice"));
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
    // One more is allowed, while the throttle moves pages to it.
    if log > share + 1
        || log as usize != listed
        || tables.logs(plane).any(|log| !tables.is_log(log))
    {
        return Err(format!("{plane:?} has {log} log blocks of {share}, but {listed} are listed"));
    }
    audit_copies(tables, plane, ftl)
}

/// Checks that the map and the log blocks agree: the newest copy of each page in the log is in a
/// log block that may hold it, and the number of these copies is the number of valid pages in the
/// log blocks.
fn audit_copies(tables: &LogTables, plane: PlaneId, ftl: &Ftl) -> Result<(), String> {
    let mut mapped = 0;
    let data = tables.all_data_blocks().filter(|&data| tables.plane_of(data) == plane);
    for data in data {
        if tables.own_logs(data).count() != tables.own_log_count(data) as usize {
            return Err(format!("the count of log blocks of {data:?} differs from its list"));
        }
        for (offset, at) in tables.newer(data) {
            let block = ftl.geometry.block_of(at);
            let page = tables.page_at(Spot { data, offset });
            let home = tables.home_of(block);
            if !tables.is_log(block) || home.is_some_and(|home| home != data) {
                return Err(format!(
                    "{page:?} is mapped to {block:?}, which is no log block for it"
                ));
            }
            mapped += 1;
        }
    }
    let valid: u32 = tables.logs(plane).map(|log| ftl.blocks.valid(log)).sum();
    if mapped != valid {
        return Err(format!(
            "{plane:?} maps {mapped} pages to its log, which has {valid} valid pages"
        ));
    }
    Ok(())
}

/// Returns the blocks of a plane that hold data blocks, and its log blocks.
fn blocks_in_use(tables: &LogTables, plane: PlaneId) -> Vec<BlockId> {
    let data = tables.all_data_blocks().filter(|&data| tables.plane_of(data) == plane);
    data.filter_map(|data| tables.block_of(data)).chain(tables.logs(plane)).collect()
}
