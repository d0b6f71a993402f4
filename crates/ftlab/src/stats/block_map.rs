//! The history of each block: erases, collections, valid pages, state. The table behind a heat map.
//!
//! Devices have up to millions of blocks. Adjacent blocks of a plane are combined until the table
//! has a limited number of rows.

use crate::device::{Contents, Device};
use crate::ftl::BlockState;
use crate::scheduler::Probe;
use crate::units::{DieId, PlaneId};

/// The most rows, unless the device has more planes.
const MOST_ROWS: u32 = 1 << 17;

/// Adjacent blocks of one plane: a single one, unless the device is large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockGroup {
    /// The die.
    pub die: DieId,
    /// The plane.
    pub plane: PlaneId,
    /// The number of the first block within its plane.
    pub first: u32,
    /// How many blocks.
    pub blocks: u32,
    /// Erases since the device was new, the sum.
    pub erases: u64,
    /// Of the block that was erased least.
    pub erases_min: u32,
    /// Of the block that was erased most.
    pub erases_max: u32,
    /// Erases since the first measured phase began, the sum.
    pub measured_erases: u64,
    /// How often collection chose them since then, the sum.
    pub measured_collections: u64,
    /// Valid pages (mapping units), the sum.
    pub valid: u64,
    /// How many are in each state, in the order of [`BlockState::ALL`].
    pub states: [u32; BlockState::ALL.len()],
}

/// The counters of all blocks at one moment.
#[derive(Clone, Debug)]
pub(super) struct BlockMarks {
    erases: Vec<u32>,
    collections: Vec<u32>,
}

impl BlockMarks {
    pub fn of<P: Probe, C: Contents>(device: &Device<P, C>) -> BlockMarks {
        let blocks = device.ftl().blocks();
        BlockMarks {
            erases: blocks.all_erases().collect(),
            collections: blocks.all_collections().collect(),
        }
    }
}

/// All blocks, plane by plane. `marks` are from the start of the measurement.
pub(super) fn groups<P: Probe, C: Contents>(
    device: &Device<P, C>,
    marks: Option<&BlockMarks>,
) -> Vec<BlockGroup> {
    let geometry = device.ftl().geometry();
    let per_plane = geometry.shape().blocks_per_plane;
    let rows_per_plane = (MOST_ROWS / geometry.planes()).clamp(1, per_plane);
    let step = per_plane.div_ceil(rows_per_plane);
    let planes = (0..geometry.planes()).map(PlaneId::new);
    planes
        .flat_map(|plane| (0..per_plane).step_by(step as usize).map(move |first| (plane, first)))
        .map(|(plane, first)| {
            let blocks = step.min(per_plane - first);
            group(device, marks, &BlockGroup::empty(geometry.die_of(plane), plane, first, blocks))
        })
        .collect()
}

impl BlockGroup {
    fn empty(die: DieId, plane: PlaneId, first: u32, blocks: u32) -> BlockGroup {
        BlockGroup {
            die,
            plane,
            first,
            blocks,
            erases: 0,
            erases_min: u32::MAX,
            erases_max: 0,
            measured_erases: 0,
            measured_collections: 0,
            valid: 0,
            states: [0; BlockState::ALL.len()],
        }
    }
}

fn group<P: Probe, C: Contents>(
    device: &Device<P, C>,
    marks: Option<&BlockMarks>,
    empty: &BlockGroup,
) -> BlockGroup {
    let (blocks, geometry) = (device.ftl().blocks(), device.ftl().geometry());
    let mut group = *empty;
    for index in group.first..group.first + group.blocks {
        let block = geometry.block_in(group.plane, index);
        let (erases, collections) = (blocks.erases(block), blocks.collections(block));
        let (erases_before, collections_before) =
            marks.map_or((0, 0), |marks| (marks.erases[block.at()], marks.collections[block.at()]));
        group.erases += u64::from(erases);
        group.erases_min = group.erases_min.min(erases);
        group.erases_max = group.erases_max.max(erases);
        group.measured_erases += u64::from(erases - erases_before);
        group.measured_collections += u64::from(collections - collections_before);
        group.valid += u64::from(blocks.valid(block));
        group.states[blocks.state(block) as usize] += 1;
    }
    group
}
