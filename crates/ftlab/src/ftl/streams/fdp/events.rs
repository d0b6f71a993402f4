//! The logs of placement events, and what was counted. Hosts read them to learn where their picture of reclaim units has become
//! wrong, and what their data costs the media.
//!
//! Source: NVM Express TP4146a, FDP Events and FDP Statistics log pages: events of the host and of the controller have a log of up
//! to 63 each, from which the oldest goes first.

use std::collections::VecDeque;

use serde::Serialize;

use super::{MOST_HANDLES, StreamCounts};
use crate::counters::counters;
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::units::SimTime;

/// Events that a log holds.
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
    /// A power cut left handles without the units that they had begun to fill.
    ResetModified,
    /// A write named a handle that does not exist.
    UnknownIdentifier {
        /// The stream of the request.
        stream: u32,
    },
    /// Collection moved data out of a unit.
    Reallocated {
        /// The handle to which the unit belonged; none if it held copies of several.
        handle: Option<u8>,
        /// Pages that were moved.
        pages: u32,
    },
    /// A reclaim group came to hold more than its share of the capacity, so that the host's writes to it go elsewhere.
    GroupFull {
        /// The group.
        group: u8,
    },
    /// The device closed a unit before it was full, and the handle refers to another one.
    ImplicitlyModified {
        /// The handle.
        handle: u8,
        /// Pages that the unit lacks.
        pages: u32,
    },
}

impl PlacementEvent {
    /// Whether the host caused it, so that it is in the log of the host.
    #[must_use]
    pub const fn is_of_host(self) -> bool {
        match self {
            PlacementEvent::NotFullyWritten { .. }
            | PlacementEvent::ResetModified
            | PlacementEvent::UnknownIdentifier { .. } => true,
            PlacementEvent::Reallocated { .. }
            | PlacementEvent::GroupFull { .. }
            | PlacementEvent::ImplicitlyModified { .. } => false,
        }
    }
}

/// An event in a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LoggedEvent {
    /// When it happened.
    pub at: SimTime,
    /// What happened.
    #[serde(flatten)]
    pub event: PlacementEvent,
}

counters! {
    /// What happened to reclaim units and their handles.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct PlacementCounts {
        /// Sectors that the host wrote, by handle.
        sectors: [u64; MOST_HANDLES], unit "sectors";
        /// Pages that collection moved, by reclaim group.
        moved_in_groups: [u64; MOST_HANDLES], unit "pages";
        /// Pages that collection moved out of reclaim units.
        moved_pages: u64, unit "pages", at "placement/moved_pages", compared lower if any "handles, pages moved";
        /// Units that the host left before they were full.
        not_fully_written: u64, unit "events", at "placement/not_fully_written",
            compared lower if any "handles, units not fully written";
        /// Power cuts that left handles without the units that they had begun to fill.
        reset_modified: u64, unit "events", at "placement/reset_modified";
        /// Writes that named a handle that does not exist.
        unknown_identifiers: u64, unit "requests", at "placement/unknown_identifiers";
        /// Units out of which data was moved.
        reallocated: u64, unit "events", at "placement/reallocated";
        /// Times that a reclaim group came to hold more than its share.
        groups_full: u64, unit "events", at "placement/groups_full";
        /// Pages that the host wrote to a full group, and that went to another one.
        outside_pages: u64, unit "pages", at "placement/outside_pages";
        /// Units that the device closed before they were full.
        implicitly_modified: u64, unit "events", at "placement/implicitly_modified";
    }
}

/// What is counted as long as the drive exists. Units are mapping units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LifeCounts {
    /// Sectors that the host wrote.
    pub host_sectors: u64,
    /// Units programmed, also empty ones and those of a map on flash.
    pub programmed: u64,
    /// Units of the blocks that were erased.
    pub erased: u64,
    /// Whether data was ever placed outside of the reclaim group that its identifier named.
    pub left_groups: bool,
}

/// The latest events, and what was counted.
#[derive(Clone, Debug, Default)]
pub struct EventLog {
    /// By side: the host's, the controller's.
    latest: [VecDeque<LoggedEvent>; 2],
    /// The time of the next event.
    pub(in crate::ftl) now: SimTime,
    pub(in crate::ftl) life: LifeCounts,
    pub(in crate::ftl) counts: PlacementCounts,
}

impl EventLog {
    /// Logs and counts an event.
    pub(in crate::ftl) fn note(&mut self, event: PlacementEvent) {
        let counts = &mut self.counts;
        *match event {
            PlacementEvent::NotFullyWritten { .. } => &mut counts.not_fully_written,
            PlacementEvent::ResetModified => &mut counts.reset_modified,
            PlacementEvent::UnknownIdentifier { .. } => &mut counts.unknown_identifiers,
            PlacementEvent::Reallocated { .. } => &mut counts.reallocated,
            PlacementEvent::GroupFull { .. } => &mut counts.groups_full,
            PlacementEvent::ImplicitlyModified { .. } => &mut counts.implicitly_modified,
        } += 1;
        let latest = &mut self.latest[usize::from(!event.is_of_host())];
        if latest.len() == LOGGED {
            latest.pop_front();
        }
        latest.push_back(LoggedEvent { at: self.now, event });
    }

    /// The log of the same drive when power has come back.
    pub(in crate::ftl) fn after_cut(self, now: SimTime) -> EventLog {
        EventLog { counts: PlacementCounts::default(), now, ..self }
    }

    /// Whether data was ever placed outside of the reclaim group that its identifier named.
    pub(crate) fn has_left_groups(&self) -> bool {
        self.life.left_groups
    }

    pub(super) fn events(&self, of_host: bool) -> impl Iterator<Item = LoggedEvent> {
        self.latest[usize::from(!of_host)].iter().copied()
    }

    /// Writes it for a device with these streams.
    pub(super) fn save(&self, counts: StreamCounts, out: &mut ImageWriter) {
        // Counts go on from zero: results hold differences.
        let EventLog { latest, now, life, counts: _ } = self;
        let LifeCounts { host_sectors, programmed, erased, left_groups } = *life;
        [now.0, host_sectors, programmed, erased].iter().for_each(|&number| out.number(number));
        if counts.groups > 1 {
            out.flag(left_groups);
        }
        for log in latest {
            out.number(log.len() as u64);
            for &LoggedEvent { at, event } in log {
                let (kind, handle, number) = match event {
                    PlacementEvent::NotFullyWritten { handle, pages } => {
                        (0_u8, Some(handle), pages)
                    }
                    PlacementEvent::UnknownIdentifier { stream } => (1, None, stream),
                    PlacementEvent::Reallocated { handle, pages } => (2, handle, pages),
                    PlacementEvent::ImplicitlyModified { handle, pages } => {
                        (3, Some(handle), pages)
                    }
                    PlacementEvent::ResetModified => (4, None, 0),
                    PlacementEvent::GroupFull { group } => (5, None, group.into()),
                };
                out.number(at.0);
                out.number(kind);
                // Zero stands for none.
                out.number(handle.map_or(0, |handle| handle + 1));
                out.number(number);
            }
        }
    }

    /// Reads what [`save`](Self::save) wrote.
    pub(super) fn load(
        &mut self,
        counts: StreamCounts,
        from: &mut ImageReader<'_>,
    ) -> Result<(), Damage> {
        self.now = SimTime(from.number()?);
        let (host_sectors, programmed, erased) = (from.number()?, from.number()?, from.number()?);
        let left_groups =
            counts.groups > 1 && from.flag("whether data lies outside of its reclaim group")?;
        self.life = LifeCounts { host_sectors, programmed, erased, left_groups };
        for of_host in [true, false] {
            let mut log = VecDeque::new();
            for _ in 0..from.below(LOGGED as u64 + 1, "the number of placement events")? {
                let at = SimTime(from.number()?);
                let event = load_event(counts, from)?;
                if event.is_of_host() != of_host {
                    return Err(Damage::new("a placement event in the wrong log"));
                }
                log.push_back(LoggedEvent { at, event });
            }
            self.latest[usize::from(!of_host)] = log;
        }
        Ok(())
    }
}

fn load_event(counts: StreamCounts, from: &mut ImageReader<'_>) -> Result<PlacementEvent, Damage> {
    let kind = from.below(6, "the kind of a placement event")?;
    let handle = from.below(u64::from(counts.host) + 1, "the handle of an event")?;
    let handle = handle.checked_sub(1).map(|handle| handle as u8);
    let number = from.below(u64::from(u32::MAX) + 1, "the number of an event")?;
    Ok(match (kind, handle) {
        (0, Some(handle)) => PlacementEvent::NotFullyWritten { handle, pages: number },
        (1, None) => PlacementEvent::UnknownIdentifier { stream: number },
        (2, handle) => PlacementEvent::Reallocated { handle, pages: number },
        (3, Some(handle)) => PlacementEvent::ImplicitlyModified { handle, pages: number },
        (4, None) if number == 0 => PlacementEvent::ResetModified,
        (5, None) if number < counts.groups.into() => {
            PlacementEvent::GroupFull { group: number as u8 }
        }
        _ => return Err(Damage::new("a placement event without its handle")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_event_of_a_log_goes_first() {
        let mut log = EventLog::default();
        log.note(PlacementEvent::Reallocated { handle: None, pages: 1 });
        for stream in 100..100 + LOGGED as u32 + 2 {
            log.now = SimTime(stream.into());
            log.note(PlacementEvent::UnknownIdentifier { stream });
        }
        assert_eq!(log.events(true).count(), LOGGED);
        let event = PlacementEvent::UnknownIdentifier { stream: 102 };
        assert_eq!(log.events(true).next(), Some(LoggedEvent { at: SimTime(102), event }));
        assert_eq!(log.counts.unknown_identifiers, LOGGED as u64 + 2);
        assert_eq!(log.events(false).count(), 1, "the other log is not touched");
    }
}
