//! The laws of planes that sense on their own: reads of one plane exclude each other, and everything else excludes
//! reads of all planes of the die, except while it is suspended for them.

use super::FlashLaws;
use crate::nand::{Kind, MultiPlane};
use crate::scheduler::Origin;
use crate::scheduler::probe::Activity;
use crate::shape::FlashGeometry;
use crate::units::DieId;

/// Whether planes of this flash sense on their own.
fn has_planes_apart(geometry: &FlashGeometry, multi_plane: &MultiPlane) -> bool {
    multi_plane.independent_reads && geometry.planes_per_die() > 1
}

/// Number of records: one for each die, and one for each plane that senses on its own.
pub(super) fn records(geometry: &FlashGeometry, multi_plane: &MultiPlane) -> usize {
    let planes = if has_planes_apart(geometry, multi_plane) { geometry.planes() } else { 0 };
    (geometry.dies() + planes) as usize
}

impl FlashLaws {
    fn are_planes_apart(&self) -> bool {
        has_planes_apart(&self.geometry, &self.multi_plane)
    }

    /// The record that an activity belongs to: that of its die, or of its plane.
    pub(super) fn record_of(&self, a: &Activity) -> usize {
        match self.are_planes_apart() && a.kind == Kind::Read {
            true => self.geometry.dies() as usize + self.geometry.plane_of_page(a.page).at(),
            false => a.die.at(),
        }
    }

    /// The records of a die: its own, and those of its planes.
    pub(super) fn records_of(&self, die: DieId) -> impl Iterator<Item = usize> {
        let planes = if self.are_planes_apart() { self.geometry.planes_per_die() } else { 0 };
        let plane = move |index| self.geometry.plane_in(die, index).at();
        let planes = (0..planes).map(plane).map(|plane| self.geometry.dies() as usize + plane);
        std::iter::once(die.at()).chain(planes)
    }

    /// Checks that what begins finds the rest of its die as it must: free, or suspended for host reads.
    pub(super) fn leaves_planes_apart(&self, a: &Activity) {
        if !self.are_planes_apart() {
            return;
        }
        if a.kind != Kind::Read {
            for record in self.records_of(a.die).filter(|&record| record != a.die.at()) {
                let plane = &self.dies[record];
                assert!(plane.is_done(a.from), "{a:?} begins while a plane reads: {plane:?}");
            }
            return;
        }
        let die = &self.dies[a.die.at()];
        let is_free = die.free_at <= a.from && die.loaded.is_empty() && die.ordered.is_empty();
        let for_host = a.origin == Origin::Host;
        assert!(is_free && (die.paused.is_none() || for_host), "{a:?} begins during {die:?}");
    }
}
