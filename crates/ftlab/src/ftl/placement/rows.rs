//! Rows of pages over the planes of a die. A multi-plane program needs pages with the same number
//! in each plane, so policies that may choose the plane keep those of a die level: planes that are
//! behind the last written page come first, those furthest behind before the others; among equals,
//! planes take turns. Pages that are written back together go to the same page number on different
//! planes of one die.

use super::Writable;
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::nand::Row;
use crate::shape::Geometry;
use crate::units::{DieId, PlaneId};

/// By die: the plane after the last chosen one, and the unit that was used in it.
#[derive(Clone, Debug)]
pub struct Rows {
    geometry: Geometry,
    last: Vec<Last>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Last {
    next_index: u32,
    unit: u32,
}

impl Rows {
    /// Starts with the first plane of each die.
    pub fn new(geometry: &Geometry) -> Rows {
        let last = vec![Last::default(); geometry.dies() as usize];
        Rows { geometry: geometry.clone(), last }
    }

    /// Chooses among the writable planes of `die` within `indices`, and records the choice.
    #[inline]
    pub fn choose(
        &mut self,
        die: DieId,
        indices: std::ops::Range<u32>,
        writable: &Writable,
    ) -> Option<PlaneId> {
        if self.geometry.planes_per_die() == 1 {
            let plane = self.geometry.plane_in(die, 0);
            return (indices.contains(&0) && writable.planes[plane.at()]).then_some(plane);
        }
        self.choose_among(die, indices, writable)
    }

    fn choose_among(
        &mut self,
        die: DieId,
        indices: std::ops::Range<u32>,
        writable: &Writable,
    ) -> Option<PlaneId> {
        let last = self.last[die.at()];
        let planes = self.geometry.planes_per_die();
        let (index, unit) = (0..planes)
            .map(|ahead| last.next_index + ahead)
            .map(|index| if index < planes { index } else { index - planes })
            .filter(|index| indices.contains(index))
            .filter_map(|index| {
                let plane = self.geometry.plane_in(die, index).at();
                writable.planes[plane].then(|| (index, writable.next_unit[plane]))
            })
            .min_by_key(|&(_, unit)| beyond(last.unit, unit, writable.units_per_block))?;
        Some(self.note(die, index, unit))
    }

    /// Chooses a plane for one more page of a row, and records the choice.
    pub fn choose_beside(
        &mut self,
        row: &Row,
        indices: std::ops::Range<u32>,
        writable: &Writable,
    ) -> Option<PlaneId> {
        let (index, unit) = indices
            .map(|index| (index, self.geometry.plane_in(row.die, index).at()))
            .filter(|&(_, plane)| writable.planes[plane])
            .map(|(index, plane)| (index, writable.next_unit[plane]))
            .find(|&(index, unit)| row.admits(index, unit))?;
        Some(self.note(row.die, index, unit))
    }

    fn note(&mut self, die: DieId, index: u32, unit: u32) -> PlaneId {
        let planes = self.geometry.planes_per_die();
        let next_index = if index + 1 == planes { 0 } else { index + 1 };
        self.last[die.at()] = Last { next_index, unit };
        self.geometry.plane_in(die, index)
    }

    /// Each plane advanced by this many units, in rounds like the last one.
    pub fn advance(&mut self, units: u32) {
        self.last.iter_mut().for_each(|last| last.unit += units);
    }

    /// The plane of a die with this index.
    pub fn plane(&self, die: DieId, index: u32) -> PlaneId {
        self.geometry.plane_in(die, index)
    }

    /// Saves the turns.
    pub fn save(&self, out: &mut ImageWriter) {
        let Rows { geometry: _, last } = self;
        for Last { next_index, unit } in last {
            out.number(*next_index);
            out.number(*unit);
        }
    }

    /// Loads the turns.
    pub fn load(&mut self, from: &mut ImageReader<'_>) -> Result<(), Damage> {
        let planes = u64::from(self.geometry.planes_per_die());
        let units = u64::from(self.geometry.units_per_block());
        for last in &mut self.last {
            last.next_index = from.below(planes, "the turn of a plane")?;
            last.unit = from.below(units, "the place of a row")?;
        }
        Ok(())
    }

    /// Whether a plane of `die` within `indices` is writable.
    pub fn any_writable(
        &self,
        die: DieId,
        mut indices: std::ops::Range<u32>,
        writable: &Writable,
    ) -> bool {
        indices.any(|index| writable.planes[self.geometry.plane_in(die, index).at()])
    }
}

/// How far `unit` is beyond `last`, in the circle of a block's units: a plane that is up to half a
/// block behind comes before a level one.
#[inline]
fn beyond(last: u32, unit: u32, units_per_block: u32) -> i32 {
    let units = units_per_block as i32;
    match unit as i32 - last as i32 {
        beyond if beyond > units / 2 => beyond - units,
        beyond if beyond < -(units / 2) => beyond + units,
        beyond => beyond,
    }
}
