//! The flash's part of an image: see [`image`](crate::image).

use super::Flash;
use crate::image::{Damage, ImageReader, ImageWriter, Resume, take_up};
use crate::scheduler::array::FlashArray;
use crate::scheduler::datasheet::Datasheet;
use crate::scheduler::dispatch::Dispatcher;
use crate::scheduler::probe::Probe;

impl<P: Probe> Flash<P> {
    /// Saves the state of the policies. Nothing is in flight at rest, and accounts of time restart
    /// when the image is loaded.
    pub(crate) fn save(&self, out: &mut ImageWriter) {
        let Flash { dispatcher, came_further: _, reads_cross_dram: _, load: _, done: _, costs: _ } =
            self;
        let Dispatcher {
            array,
            scheduler,
            // Empty at rest.
            decoder: _,
            events: _,
            // Only the order of arrival matters, not the number.
            arrivals: _,
            overlaps: _,
            cell_time: _,
            watch: _,
        } = dispatcher;
        let FlashArray {
            sheet,
            rules: _,
            cells,
            commands: _,
            stations: _,
            lines: _,
            // Empty at rest.
            page_order: _,
            shortage,
            apart: _,
            plant: _,
        } = array;
        let Datasheet { geometry: _, timing, flat: _, bus: _, abilities: _, settled: _ } = sheet;
        out.nested(|out| timing.native.save(out));
        out.nested(|out| {
            scheduler.save(out);
            shortage.iter().for_each(|shortage| shortage.save(out));
        });
        cells.save(out);
    }

    /// Loads the state of the policies.
    pub(crate) fn take_up(
        &mut self,
        from: &mut ImageReader<'_>,
        resume: Resume,
    ) -> Result<(), Damage> {
        let Dispatcher { array: FlashArray { sheet, cells, shortage, .. }, scheduler, .. } =
            &mut self.dispatcher;
        take_up(from, resume.timing, |from| sheet.timing.native.load(from))?;
        take_up(from, resume.scheduler, |from| {
            scheduler.load(from)?;
            shortage.iter_mut().try_for_each(|shortage| shortage.load(from))
        })?;
        cells.take_up(from)
    }
}
