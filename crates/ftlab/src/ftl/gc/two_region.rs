//! Two regions (2R), as 2R-FIFO: victims are taken in the order in which blocks were filled, but blocks that are too full
//! are passed over. A hand goes through the queue and stays where it found a victim. When it has passed most of the queue,
//! it begins again at its head, and accepts fuller blocks until it finds one.
//!
//! Only the choice of the victim is new here. The regions of 2R are those of `ftl.streams.policy = "single"`: host writes go
//! to the normal region, what survives a collection goes to blocks of copies, which are the cold region, and a cold page that
//! the host writes again is back in the normal one. 2R-Greedy, which takes the emptiest block of both regions, is `greedy`.
//!
//! Source: Kang, Choi, Oh and Lee, "2R: Efficiently Isolating Cold Pages in Flash Storages", PVLDB 13(11), 2020. Its text
//! was not at hand; this follows its abstract, and the queue, limits and hand of a later simulator that compares with it.
//! Departures: that simulator empties several victims into one block and keeps cold blocks together in the queue. Here one
//! block is collected at a time, and blocks of both regions stand in the order in which they were filled.

use super::{VictimPolicy, VictimView};
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::policy::{NoOptions, Parts, Policy};
use crate::shape::Geometry;
use crate::units::{BlockId, PlaneId};

/// A block is too full with this share of valid pages or more, in percent.
const TOO_FULL: u32 = 70;
/// What this share rises by each time the hand begins again without a victim.
const RISE: u32 = 5;
/// The share of the queue, in percent, behind which the hand begins again.
const DEPTH: u64 = 70;

/// The candidates of a plane.
#[derive(Clone, Debug, Default)]
struct RegionQueue {
    /// In the order in which they were filled.
    blocks: Vec<BlockId>,
    /// The number of blocks in front of the hand.
    passed: usize,
}

impl RegionQueue {
    /// Removes the block at a place.
    fn take(&mut self, place: usize) -> BlockId {
        self.passed -= usize::from(place < self.passed);
        self.blocks.remove(place)
    }
}

/// Candidates in the order in which they were filled, and how far the hand is.
#[derive(Clone, Debug)]
pub struct TwoRegion {
    /// By plane.
    queues: Vec<RegionQueue>,
    units_per_block: u32,
    most_valid: u32,
    blocks_per_plane: u32,
}

impl Policy for TwoRegion {
    const NAME: &'static str = "two-region";
    const SUMMARY: &'static str =
        "first in, first out, but blocks that are too full are passed over (2R-FIFO)";
    const SOURCE: &'static str = "Kang et al., PVLDB 2020";
    type Options = NoOptions;

    fn build(_options: &Self::Options, parts: &Parts<'_>) -> Self {
        TwoRegion::new(parts.geometry)
    }

    fn save(&self, out: &mut ImageWriter) {
        let TwoRegion { queues, units_per_block: _, most_valid: _, blocks_per_plane: _ } = self;
        queues.iter().for_each(|queue| out.number(queue.passed as u64));
    }

    fn load(&mut self, from: &mut ImageReader<'_>) -> Result<(), Damage> {
        let most = u64::from(self.blocks_per_plane) + 1;
        for queue in &mut self.queues {
            queue.passed = from.below(most, "the place of a hand")? as usize;
        }
        Ok(())
    }
}

impl TwoRegion {
    /// No candidates yet.
    #[must_use]
    pub fn new(geometry: &Geometry) -> TwoRegion {
        TwoRegion {
            queues: vec![RegionQueue::default(); geometry.planes() as usize],
            units_per_block: geometry.units_per_block(),
            most_valid: super::most_valid(geometry),
            blocks_per_plane: geometry.blocks() / geometry.planes(),
        }
    }
}

impl VictimPolicy for TwoRegion {
    fn closed(&mut self, view: &VictimView<'_>, block: BlockId) {
        self.queues[view.plane.at()].blocks.push(block);
    }

    fn lost_page(&mut self, _view: &VictimView<'_>, _block: BlockId) {}

    fn withdrawn(&mut self, view: &VictimView<'_>, block: BlockId) {
        let queue = &mut self.queues[view.plane.at()];
        if let Some(place) = queue.blocks.iter().position(|&at| at == block) {
            queue.take(place);
        }
    }

    fn candidates(&self, plane: PlaneId) -> Vec<BlockId> {
        self.queues[plane.at()].blocks.clone()
    }

    fn choose(&mut self, view: &VictimView<'_>) -> Option<BlockId> {
        let queue = &mut self.queues[view.plane.at()];
        let depth = (queue.blocks.len() as u64 * DEPTH).div_ceil(100) as usize;
        let worth = |block: BlockId, most: u32| {
            let valid = view.blocks.valid(block);
            valid <= self.most_valid && valid * 100 < most * self.units_per_block
        };
        for most in (TOO_FULL..=100).step_by(RISE as usize) {
            let mut within = queue.passed.min(depth)..depth;
            if let Some(place) = within.find(|&at| worth(queue.blocks[at], most)) {
                queue.passed = place;
                return Some(queue.take(place));
            }
            queue.passed = 0;
        }
        let place = (0..queue.blocks.len()).find(|&at| worth(queue.blocks[at], 100))?;
        Some(queue.take(place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ftl::Blocks;
    use crate::shape::Shape;
    use crate::units::Bytes;

    const UNITS: u32 = 10;

    #[test]
    fn the_hand_passes_full_blocks_and_stays_where_it_found_one() {
        let geometry = Geometry::new(Shape {
            channels: 1,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 1,
            blocks_per_plane: 10,
            pages_per_block: UNITS,
            page_size: Bytes::from_kib(4),
            mapping_unit: Bytes::from_kib(4),
        });
        let plane = PlaneId::new(0);
        let mut blocks = Blocks::new(&geometry);
        // The youngest three are behind the hand's depth, although one of them is empty.
        let valid = [9, 5, 8, 6, 8, 9, 9, 0, 9, 9];
        for (block, &valid) in (0..).map(BlockId::new).zip(&valid) {
            (0..valid).for_each(|unit| blocks.set_valid(block, unit));
        }
        let view = VictimView { plane, blocks: &blocks };
        let mut policy = TwoRegion::new(&geometry);
        (0..10).for_each(|block| policy.closed(&view, BlockId::new(block)));
        let chosen = |policy: &mut TwoRegion| policy.choose(&view).map(BlockId::get);
        assert_eq!(chosen(&mut policy), Some(1), "the first with less than 70 %");
        assert_eq!(chosen(&mut policy), Some(3), "the next one");
        // What was filled first is withdrawn, so one block fewer is in front of the hand.
        policy.withdrawn(&view, BlockId::new(0));
        assert_eq!(policy.queues[0].passed, 1);
        // Seven are left. Five of them are within its depth, and the empty one is the fifth.
        assert_eq!(chosen(&mut policy), Some(7));
        assert_eq!(chosen(&mut policy), Some(2), "the first with less than 85 %");
        assert_eq!(chosen(&mut policy), Some(4));
        assert_eq!(chosen(&mut policy), Some(5), "the first with less than 95 %");
        assert_eq!(policy.candidates(plane), [6, 8, 9].map(BlockId::new));
    }
}
