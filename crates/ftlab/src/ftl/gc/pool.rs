//! The candidates of each plane in an array, for policies that draw at random. Joining, leaving and
//! drawing take constant time. Blocks worth collecting come first, so that one of them can be drawn
//! if the block that a policy picked frees nothing.

use crate::engine::Stream;
use crate::shape::Geometry;
use crate::units::{BlockId, PlaneId};

/// The candidates of a plane.
#[derive(Clone, Debug, Default)]
struct Members {
    blocks: Vec<BlockId>,
    /// The number of blocks at the front that are worth collecting.
    worth: u32,
}

/// The candidates of all planes.
#[derive(Clone, Debug)]
pub struct Pool {
    planes: Vec<Members>,
    /// By block: its position among the candidates of its plane.
    places: Vec<u32>,
    /// With more valid pages than this, collecting a block does not free a flash page.
    most_valid: u32,
}

impl Pool {
    /// No candidates yet.
    pub fn new(geometry: &Geometry) -> Pool {
        Pool {
            planes: vec![Members::default(); geometry.planes() as usize],
            places: vec![0; geometry.blocks() as usize],
            most_valid: super::most_valid(geometry),
        }
    }

    fn put(&mut self, plane: PlaneId, place: u32, block: BlockId) {
        self.planes[plane.at()].blocks[place as usize] = block;
        self.places[block.at()] = place;
    }

    fn swap(&mut self, plane: PlaneId, one: u32, other: u32) {
        let (first, second) = (self.get(plane, one), self.get(plane, other));
        self.put(plane, one, second);
        self.put(plane, other, first);
    }

    /// The candidate at a position below [`count`](Self::count).
    pub fn get(&self, plane: PlaneId, place: u32) -> BlockId {
        self.planes[plane.at()].blocks[place as usize]
    }

    /// The number of candidates of a plane.
    pub fn count(&self, plane: PlaneId) -> u32 {
        self.planes[plane.at()].blocks.len() as u32
    }

    /// The candidates of a plane in their order.
    pub fn all(&self, plane: PlaneId) -> Vec<BlockId> {
        self.planes[plane.at()].blocks.clone()
    }

    /// A block becomes a candidate.
    pub fn closed(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        let members = &mut self.planes[plane.at()];
        self.places[block.at()] = members.blocks.len() as u32;
        members.blocks.push(block);
        if valid <= self.most_valid {
            self.now_worth(plane, block);
        }
    }

    fn now_worth(&mut self, plane: PlaneId, block: BlockId) {
        self.swap(plane, self.places[block.at()], self.planes[plane.at()].worth);
        self.planes[plane.at()].worth += 1;
    }

    /// A candidate lost a page and has `valid` left.
    #[inline]
    pub fn lost_page(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        if valid == self.most_valid {
            self.now_worth(plane, block);
        }
    }

    /// A block is not a candidate any more.
    pub fn remove(&mut self, plane: PlaneId, block: BlockId) {
        let mut place = self.places[block.at()];
        if place < self.planes[plane.at()].worth {
            self.planes[plane.at()].worth -= 1;
            self.swap(plane, place, self.planes[plane.at()].worth);
            place = self.planes[plane.at()].worth;
        }
        self.swap(plane, place, self.count(plane) - 1);
        self.planes[plane.at()].blocks.pop();
    }

    /// A random candidate.
    pub fn any(&self, plane: PlaneId, stream: &mut Stream) -> Option<BlockId> {
        let count = self.count(plane);
        (count > 0).then(|| self.get(plane, stream.below(count.into()) as u32))
    }

    /// Removes a block that was picked; if it is not worth collecting, a random one that is.
    pub fn take_worth(
        &mut self,
        plane: PlaneId,
        picked: BlockId,
        stream: &mut Stream,
    ) -> Option<BlockId> {
        let worth = self.planes[plane.at()].worth;
        if worth == 0 {
            return None;
        }
        let block = match self.places[picked.at()] < worth {
            true => picked,
            false => self.get(plane, stream.below(worth.into()) as u32),
        };
        self.remove(plane, block);
        Some(block)
    }
}
