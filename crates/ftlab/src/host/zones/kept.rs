//! What is kept of zones: in images, and when power is cut.

use super::{Zone, ZoneState, Zones};
use crate::image::{Damage, ImageReader, ImageWriter};

impl Zones {
    /// Saves the state of all zones.
    pub fn save(&self, out: &mut ImageWriter) {
        out.number(self.openings());
        for zone in self.all() {
            let Zone { state, write_pointer, written, has_window, opened } = zone;
            out.number(*state as u64);
            out.number(*write_pointer);
            out.number(*written);
            out.flag(*has_window);
            out.number(*opened);
        }
    }

    /// Power has returned. The data of a zone that is on flash ends at `there`.
    pub(crate) fn powered_up(&mut self, number: u32, there: u64) {
        let capacity = self.rules().shape.capacity_sectors();
        let zone = &mut self.parts_mut().0[number as usize];
        zone.written = zone.written.min(there);
        zone.has_window = false;
        if zone.state.is_active() {
            zone.write_pointer = zone.written;
            zone.state = match zone.written {
                0 => ZoneState::Empty,
                written if written == capacity => ZoneState::Full,
                _ => ZoneState::Closed,
            };
        }
    }

    /// Loads what [`save`](Self::save) wrote.
    ///
    /// # Errors
    /// It is damaged.
    pub fn load(&mut self, from: &mut ImageReader<'_>) -> Result<(), Damage> {
        let capacity = self.rules().shape.capacity_sectors();
        let conventional = self.rules().shape.conventional as usize;
        let has_windows = self.rules().window.is_some();
        let (zones, openings) = self.parts_mut();
        *openings = from.number()?;
        let position = |from: &mut ImageReader<'_>, what: &str| match from.number()? {
            at if at <= capacity => Ok(at),
            at => Err(Damage(format!("{what} is {at}, in a zone of {capacity} sectors"))),
        };
        for (number, zone) in zones.iter_mut().enumerate() {
            let state = from.below(ZoneState::ALL.len() as u64, "the state of a zone")?;
            *zone = Zone {
                state: ZoneState::ALL[state as usize],
                write_pointer: position(from, "a write pointer")?,
                written: position(from, "the end of a zone's data")?,
                has_window: from.flag("whether a zone has a random write area")?,
                opened: from.number()?,
            };
            let Zone { state, write_pointer, written, has_window, .. } = *zone;
            let is_new = *zone == Zone::default();
            let fits = match state {
                ZoneState::Empty => write_pointer == 0 && written == 0,
                ZoneState::Full => write_pointer == capacity,
                _ if state.is_active() => {
                    write_pointer < capacity && (has_window || write_pointer == written)
                }
                _ => true,
            };
            let windowed = !has_window || has_windows && state.is_active();
            if !(fits && windowed && (is_new || number >= conventional)) {
                return Err(Damage(format!("zone {number} is {zone:?}")));
            }
        }
        self.recount();
        let (open, active) = self.in_use();
        let rules = self.rules();
        if open > rules.max_open || active > rules.max_active {
            return Err(Damage(format!("{open} zones are open and {active} active")));
        }
        Ok(())
    }
}
