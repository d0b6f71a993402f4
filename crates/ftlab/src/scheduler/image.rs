//! The flash's part of an image: see [`image`](crate::image).

use super::flash::Flash;
use super::probe::Probe;
use crate::image::{Damage, Reader, Resume, Writer, take_up};

impl<P: Probe> Flash<P> {
    /// Writes what the policies remember. Nothing is in flight at rest, and accounts of time count
    /// from the load on.
    pub(crate) fn save(&self, out: &mut Writer) {
        let Flash {
            geometry: _,
            timing,
            flat: _,
            bus: _,
            abilities: _,
            settled: _,
            pause: _,
            scheduler,
            bus_order: _,
            data_out_first: _,
            overtaking: _,
            commands: _,
            stations: _,
            lines: _,
            load: _,
            events: _,
            // Only the order of arrival counts, not the number.
            arrivals: _,
            // Only what waits.
            page_order: _,
            done: _,
            overlaps: _,
            programmed,
            costs: _,
            hazards,
            laws: _,
            plant: _,
            probe: _,
        } = self;
        out.nested(|out| timing.native.save(out));
        out.nested(|out| scheduler.save(out));
        out.nested(|out| programmed.iter().for_each(|programmed| programmed.save(out)));
        out.nested(|out| hazards.iter().for_each(|hazards| hazards.save(out)));
    }

    /// Takes up what the policies remembered.
    pub(crate) fn take_up(&mut self, from: &mut Reader<'_>, resume: Resume) -> Result<(), Damage> {
        take_up(from, resume.timing, |from| self.timing.native.load(from))?;
        take_up(from, resume.scheduler, |from| self.scheduler.load(from))?;
        self.take_up_costs(&mut from.nested()?)?;
        self.take_up_hazards(&mut from.nested()?)
    }

    fn take_up_costs(&mut self, part: &mut Reader<'_>) -> Result<(), Damage> {
        let Some(programmed) = &mut self.programmed else { return Ok(()) };
        // What the device started with is gone.
        programmed.forget_ages();
        if part.end().is_ok() {
            // Flash that knew no costs has nothing to say.
            return Ok(());
        }
        programmed.load(part)?;
        part.end()
    }
}
