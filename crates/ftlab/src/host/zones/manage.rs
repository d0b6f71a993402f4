//! The commands that manage zones: open, close, finish, take out of service. Resets are in [`state`](super::state), because they take
//! effect later.
//!
//! Source: NVM Express Zoned Namespace Command Set 1.1, section 3.4.3 (Zone Management Send).

use super::{Zone, ZoneError, ZoneState, Zones};
use crate::host::{Op, Request};
use crate::units::Lba;

impl Zones {
    /// Opens, closes, finishes or takes out of service what a command covers.
    pub(super) fn manage(&mut self, request: &Request) -> Result<Lba, ZoneError> {
        let mut covered = self.covered(request)?;
        if covered.len() == 1 {
            self.manage_one(request.op, covered.start)?;
        } else {
            // Select All.
            covered.start = covered.start.max(self.rules.shape.conventional);
            let suits = |zone: &u32| suits_all(request.op, self.zones[*zone as usize].state);
            let chosen: Vec<u32> = covered.filter(suits).collect();
            let explicit = self.explicitly_open() + chosen.len() as u32;
            if request.op == Op::ZoneOpen && explicit > self.rules.max_open {
                return Err(ZoneError::TooManyOpen);
            }
            // Each of these finds room: at most, zones that were opened implicitly are closed for it.
            chosen.into_iter().try_for_each(|zone| self.manage_one(request.op, zone))?;
        }
        Ok(self.without_gaps(request.lba))
    }

    fn explicitly_open(&self) -> u32 {
        let is_explicit = |zone: &&Zone| zone.state == ZoneState::ExplicitlyOpen;
        self.zones.iter().filter(is_explicit).count() as u32
    }

    fn manage_one(&mut self, op: Op, zone: u32) -> Result<(), ZoneError> {
        if self.is_conventional(zone) {
            return Err(ZoneError::InvalidField);
        }
        match op {
            Op::ZoneOpen => self.open(zone),
            Op::ZoneClose => self.close(zone),
            Op::ZoneFinish => self.finish(zone),
            _ => self.take_offline(zone),
        }
    }

    fn open(&mut self, zone: u32) -> Result<(), ZoneError> {
        let at = self.zones[zone as usize];
        match at.state {
            ZoneState::ExplicitlyOpen => return Ok(()),
            ZoneState::ImplicitlyOpen => {}
            ZoneState::Empty | ZoneState::Closed => self.make_room_for(zone)?,
            _ => return Err(ZoneError::InvalidTransition),
        }
        if at.state == ZoneState::Empty
            && self.rules.window.is_some_and(|window| self.windows < window.most)
        {
            self.zones[zone as usize].has_window = true;
            self.windows += 1;
        }
        self.counts.opened += 1;
        self.becomes(zone, ZoneState::ExplicitlyOpen);
        Ok(())
    }

    fn close(&mut self, zone: u32) -> Result<(), ZoneError> {
        match self.zones[zone as usize].state {
            ZoneState::Closed => Ok(()),
            state if state.is_open() => {
                self.becomes(zone, ZoneState::Closed);
                Ok(())
            }
            _ => Err(ZoneError::InvalidTransition),
        }
    }

    fn finish(&mut self, zone: u32) -> Result<(), ZoneError> {
        let at = self.zones[zone as usize];
        match at.state {
            ZoneState::Full => return Ok(()),
            ZoneState::ReadOnly | ZoneState::Offline => return Err(ZoneError::InvalidTransition),
            _ => {}
        }
        let capacity = self.rules.shape.capacity_sectors();
        self.counts.finished += 1;
        self.counts.unwritten += capacity - at.written;
        self.zones[zone as usize].write_pointer = capacity;
        self.becomes(zone, ZoneState::Full);
        Ok(())
    }

    fn take_offline(&mut self, zone: u32) -> Result<(), ZoneError> {
        match self.zones[zone as usize].state {
            ZoneState::ReadOnly => {
                self.becomes(zone, ZoneState::Offline);
                Ok(())
            }
            ZoneState::Offline => Ok(()),
            _ => Err(ZoneError::InvalidTransition),
        }
    }
}

/// Whether a command for all zones covers those in a state.
fn suits_all(op: Op, state: ZoneState) -> bool {
    match op {
        Op::ZoneOpen => state == ZoneState::Closed,
        Op::ZoneClose => state.is_open(),
        Op::ZoneFinish => state.is_active(),
        _ => state == ZoneState::ReadOnly,
    }
}
