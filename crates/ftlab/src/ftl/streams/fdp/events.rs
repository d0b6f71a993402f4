//! The log of placement events and their counts. Hosts read it to learn where their picture of reclaim units has become wrong.
//!
//! Source: NVM Express TP4146a, FDP Events log page: it holds up to 63 events, of which the oldest goes first.

use std::collections::VecDeque;

use serde::Serialize;

use super::MOST_HANDLES;
use crate::counters::counters;
use crate::image::{Damage, ImageReader, ImageWriter};

/// Events that the log page holds.
const LOGGED: usize = 63;

/// What happened to a reclaim unit. Pages are mapping units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum PlacementEvent {
    /// The host gave a handle a new unit before it had filled the old one.
    NotFullyWritten {
        /// The handle.
        handle: u8,
        /// Pages that the unit lacks.
        pages: u32,
    },
    /// A write named a handle that does not exist.
    UnknownIdentifier {
        /// The stream of the request.
        stream: u32,
    },
    /// Collection moved data out of a unit.
    Reallocated {
        /// The handle to which the unit belonged; none if it held copies of several.
        handle: Option<u8>,
        /// Pages that are moved.
        pages: u32,
    },
    /// The device closed a unit before it was full, and the handle refers to another one.
    ImplicitlyModified {
        /// The handle.
        handle: u8,
        /// Pages that the unit lacks.
        pages: u32,
    },
}

counters! {
    /// What happened to reclaim units and their handles.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct PlacementCounts {
        /// Sectors that the host wrote, by handle.
        sectors: [u64; MOST_HANDLES], unit "sectors";
        /// Pages of reclaim units that were valid when their collection began.
        moved_pages: u64, unit "pages", at "placement/moved_pages";
        /// Units that the host left before they were full.
        not_fully_written: u64, unit "events", at "placement/not_fully_written";
        /// Writes that named a handle that does not exist.
        unknown_identifiers: u64, unit "requests", at "placement/unknown_identifiers";
        /// Units out of which data was moved.
        reallocated: u64, unit "events", at "placement/reallocated";
        /// Units that the device closed before they were full.
        implicitly_modified: u64, unit "events", at "placement/implicitly_modified";
    }
}

/// The latest events, and what was counted.
#[derive(Clone, Debug, Default)]
pub(super) struct EventLog {
    latest: VecDeque<PlacementEvent>,
    pub counts: PlacementCounts,
}

impl EventLog {
    /// Logs and counts an event.
    pub fn note(&mut self, event: PlacementEvent) {
        let counts = &mut self.counts;
        *match event {
            PlacementEvent::NotFullyWritten { .. } => &mut counts.not_fully_written,
            PlacementEvent::UnknownIdentifier { .. } => &mut counts.unknown_identifiers,
            PlacementEvent::Reallocated { .. } => &mut counts.reallocated,
            PlacementEvent::ImplicitlyModified { .. } => &mut counts.implicitly_modified,
        } += 1;
        if self.latest.len() == LOGGED {
            self.latest.pop_front();
        }
        self.latest.push_back(event);
    }

    pub fn events(&self) -> impl Iterator<Item = PlacementEvent> {
        self.latest.iter().copied()
    }

    pub fn save(&self, out: &mut ImageWriter) {
        // Counts go on from zero: results hold differences.
        let EventLog { latest, counts: _ } = self;
        out.number(latest.len() as u64);
        for event in latest {
            let (kind, handle, number) = match *event {
                PlacementEvent::NotFullyWritten { handle, pages } => (0_u8, Some(handle), pages),
                PlacementEvent::UnknownIdentifier { stream } => (1, None, stream),
                PlacementEvent::Reallocated { handle, pages } => (2, handle, pages),
                PlacementEvent::ImplicitlyModified { handle, pages } => (3, Some(handle), pages),
            };
            out.number(kind);
            // Zero stands for none.
            out.number(handle.map_or(0, |handle| handle + 1));
            out.number(number);
        }
    }

    /// Reads what [`save`](Self::save) wrote, for a device with so many handles.
    pub fn load(&mut self, handles: u8, from: &mut ImageReader<'_>) -> Result<(), Damage> {
        self.latest.clear();
        for _ in 0..from.below(LOGGED as u64 + 1, "the number of placement events")? {
            let kind = from.below(4, "the kind of a placement event")?;
            let handle = from.below(u64::from(handles) + 1, "the handle of an event")?;
            let handle = handle.checked_sub(1).map(|handle| handle as u8);
            let number = from.below(u64::from(u32::MAX) + 1, "the number of an event")?;
            let event = match (kind, handle) {
                (0, Some(handle)) => PlacementEvent::NotFullyWritten { handle, pages: number },
                (1, None) => PlacementEvent::UnknownIdentifier { stream: number },
                (2, handle) => PlacementEvent::Reallocated { handle, pages: number },
                (3, Some(handle)) => PlacementEvent::ImplicitlyModified { handle, pages: number },
                _ => return Err(Damage::new("a placement event without its handle")),
            };
            self.latest.push_back(event);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_event_goes_first() {
        let mut log = EventLog::default();
        for stream in 100..100 + LOGGED as u32 + 2 {
            log.note(PlacementEvent::UnknownIdentifier { stream });
        }
        assert_eq!(log.events().count(), LOGGED);
        assert_eq!(log.events().next(), Some(PlacementEvent::UnknownIdentifier { stream: 102 }));
        assert_eq!(log.counts.unknown_identifiers, LOGGED as u64 + 2);
    }
}
