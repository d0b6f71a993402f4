//! Where there is room: the planes with their open and free blocks, which of them take writes, which are short of blocks,
//! and from when on they collect.

use super::gc::{Thresholds, Triggers};
use super::placement::Writable;
use super::plane::Plane;
use super::wear::FreeBlockOrder;
use crate::units::PlaneId;

/// The room of a device.
#[derive(Clone, Debug)]
pub(crate) struct Space {
    pub planes: Vec<Plane>,
    /// By stream of the host: where it may write.
    pub writable: Vec<Writable>,
    /// The same for translation pages, where the map lies on flash.
    pub map_writable: Option<Box<Writable>>,
    /// Translation pages that wait for a place to be written to.
    pub map_stalled: u32,
    /// By plane: whether it was short of free blocks and had nothing worth collecting.
    pub hungry: Vec<bool>,
    /// Hungry planes in which something has become worth a look since.
    pub fed: Vec<PlaneId>,
    pub free_block: FreeBlockOrder,
    pub thresholds: Thresholds,
    pub triggers: Triggers,
}

impl Space {
    /// A candidate for collection appeared on a plane, or lost a page.
    #[inline]
    pub fn feed(&mut self, plane: PlaneId) {
        if std::mem::take(&mut self.hungry[plane.at()]) {
            self.fed.push(plane);
        }
    }

    pub fn mark_hungry(&mut self, plane: PlaneId) {
        self.hungry[plane.at()] = true;
    }

    /// Whether a plane is short of free blocks and found nothing to collect, and nothing has changed
    /// on it since.
    pub fn is_hungry(&self, plane: PlaneId) -> bool {
        self.hungry[plane.at()]
    }
}
