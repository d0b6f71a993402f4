//! `blocks.parquet`: a row for each block, or for a group of neighbours if a plane has very many.

use ftlab::ftl::BlockState;
use ftlab::stats::BlockGroup;

use super::columns::{Column, ColumnTable};

const fn column(name: &'static str, unit: &'static str) -> Column {
    Column { name, bits: 64, unit }
}

const COUNT: &str = "blocks";

/// The number of columns that identify the blocks and count operations.
const HEAD: usize = 10;

const COLUMNS: [Column; HEAD + STATES.len()] = [
    column("die", "the die's number"),
    column("plane", "the plane's number on the device"),
    column("first_block", "the number within its plane of the first block"),
    column("blocks", COUNT),
    column("erases", "erases since the device was new, the sum over the blocks"),
    column("erases_min", "erases of the block that was erased least"),
    column("erases_max", "erases of the block that was erased most"),
    column("measured_erases", "erases since the first measured phase began, the sum"),
    column("measured_collections", "choices by collection since then, the sum"),
    column("valid_pages", "pages (mapping units) at the end, the sum"),
    column(STATES[0], COUNT),
    column(STATES[1], COUNT),
    column(STATES[2], COUNT),
    column(STATES[3], COUNT),
    column(STATES[4], COUNT),
    column(STATES[5], COUNT),
    column(STATES[6], COUNT),
];

/// The columns that count states, in the order of [`BlockState::ALL`]. A new state needs a name
/// here and a column above.
const STATES: [&str; BlockState::ALL.len()] = [
    "free_blocks",
    "open_blocks",
    "closed_blocks",
    "collecting_blocks",
    "failing_blocks",
    "bad_blocks",
    "dead_blocks",
];

/// Returns the blocks of a run.
pub fn table(map: &[BlockGroup]) -> ColumnTable {
    let about = "A row for each block at the end of the run, or for neighbours of a plane if the \
                 device has very many.";
    let mut table = ColumnTable::new(about, &COLUMNS);
    for group in map {
        let head: [u64; HEAD] = [
            u64::from(group.die.get()),
            u64::from(group.plane.get()),
            u64::from(group.first),
            u64::from(group.blocks),
            group.erases,
            u64::from(group.erases_min),
            u64::from(group.erases_max),
            group.measured_erases,
            group.measured_collections,
            group.valid,
        ];
        let states = group.states.map(u64::from);
        let row: [u64; COLUMNS.len()] = std::array::from_fn(|at| {
            head.get(at).copied().unwrap_or_else(|| states[at - head.len()])
        });
        table.push(row);
    }
    table
}
