//! Free space: the planes with their open and free blocks, which of them accept writes, which lack
//! free blocks, and when they collect.

use super::gc::{Thresholds, Triggers};
use super::groups::ReclaimGroups;
use super::placement::Writable;
use super::plane::Plane;
use super::streams::WriteStream;
use super::wear::FreeBlockOrder;
use crate::units::{BlockId, PlaneId};

/// The free space of a device.
#[derive(Clone, Debug)]
pub(crate) struct Space {
    pub planes: Vec<Plane>,
    /// By stream of the host: the planes that it may write to.
    pub writable: Vec<Writable>,
    /// The same for translation pages, if the map is on flash.
    pub map_writable: Option<Box<Writable>>,
    /// None if there is one reclaim group.
    pub groups: Option<Box<ReclaimGroups>>,
    /// Number of translation pages that wait for a place.
    pub map_stalled: u32,
    /// By plane: whether it lacked free blocks and found nothing worth collecting.
    pub hungry: Vec<bool>,
    /// Hungry planes on which something has changed since.
    pub fed: Vec<PlaneId>,
    pub free_block: FreeBlockOrder,
    pub thresholds: Thresholds,
    pub triggers: Triggers,
    /// Blocks of each plane that are set aside because operations can fail or dies are dead. The thresholds contain them.
    pub kept_back: u32,
}

impl Space {
    /// Sets further blocks of each plane aside, and raises all thresholds by them.
    pub fn keep_back(&mut self, blocks: u32) {
        self.thresholds = self.thresholds.raised_by(blocks);
        self.triggers = self.triggers.raised_by(blocks);
        self.kept_back += blocks;
    }

    /// The open blocks of a stream on these planes that have room, with the next unit of each.
    pub fn open_of(
        &self,
        stream: WriteStream,
        planes: impl Iterator<Item = PlaneId>,
        whole: u32,
    ) -> impl Iterator<Item = (BlockId, u32)> {
        let open = planes.flat_map(|plane| self.planes[plane.at()].open_blocks());
        open.filter(move |&(of, _, next)| of == stream && next < whole)
            .map(|(_, block, next)| (block, next))
    }

    /// A block of a plane has become a candidate for collection, or a candidate has lost a page.
    #[inline]
    pub fn feed(&mut self, plane: PlaneId) {
        if std::mem::take(&mut self.hungry[plane.at()]) {
            self.fed.push(plane);
        }
    }

    pub fn mark_hungry(&mut self, plane: PlaneId) {
        self.hungry[plane.at()] = true;
    }

    /// Whether a plane lacks free blocks, found nothing to collect, and has not changed since.
    pub fn is_hungry(&self, plane: PlaneId) -> bool {
        self.hungry[plane.at()]
    }
}
