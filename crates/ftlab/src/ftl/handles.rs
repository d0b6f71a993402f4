//! Reclaim unit handles: which units they fill, and what happens when the host gives one a new unit.

use crate::ftl::Ftl;
use crate::ftl::streams::fdp::{EventLog, PlacementEvent};
use crate::ftl::streams::{ClosedBy, StreamsPolicy, WriteStream};
use crate::ftl::wear::refresh;
use crate::units::{BlockId, PlaneId, SimTime};

/// Pages that the open reclaim units of a handle still take.
pub(crate) fn pages_left(handle: u8, ftl: &Ftl) -> u64 {
    let open = open_units(handle, ftl);
    open.map(|(_, next)| u64::from(ftl.geometry.units_per_block() - next)).sum()
}

/// A log of events when power was cut.
#[derive(Clone, Debug)]
pub(crate) struct LogAtCut {
    log: Box<EventLog>,
    /// Whether some handle had begun to fill a unit.
    begun: bool,
}

/// A handle refers to new reclaim units from now on: those that it has begun to fill are closed.
pub(crate) fn update(handle: u8, ftl: &mut Ftl) {
    let begun: Vec<BlockId> =
        open_units(handle, ftl).filter(|&(_, next)| next > 0).map(|(block, _)| block).collect();
    begun.into_iter().for_each(|block| refresh::seal(block, ClosedBy::Host, ftl));
}

impl Ftl {
    /// Events happen at this time from now on.
    #[inline]
    pub(crate) fn comes_to(&mut self, now: SimTime) {
        if let Some(log) = self.policies.streams.log_mut() {
            log.now = now;
        }
    }

    /// The log of events that is left when power is cut.
    pub(crate) fn log_at_cut(&self) -> Option<LogAtCut> {
        let log = Box::new(self.policies.streams.log()?.clone());
        let mut handles = 0..self.policies.streams.host_streams();
        let begun = handles.any(|handle| open_units(handle, self).any(|(_, next)| next > 0));
        Some(LogAtCut { log, begun })
    }

    /// Goes on with the log that a power cut left. Power has come back now, and so many blocks were erased.
    pub(crate) fn take_up_log(&mut self, left: LogAtCut, now: SimTime, blocks: u64) {
        let units = u64::from(self.geometry.units_per_block());
        let Some(log) = self.policies.streams.log_mut() else { return };
        *log = left.log.after_cut(now);
        log.life.erased += blocks * units;
        if left.begun {
            log.note(PlacementEvent::ResetModified);
        }
    }

    /// The writes of each host stream carry this placement identifier from now on.
    pub(crate) fn identify_streams(&mut self, identifiers: &[u8]) {
        self.policies.streams.identify_streams(identifiers);
    }
}

/// The open reclaim units of a handle, and the next page of each.
fn open_units(handle: u8, ftl: &Ftl) -> impl Iterator<Item = (BlockId, u32)> {
    let whole = ftl.geometry.units_per_block();
    let planes = (0..ftl.geometry.planes()).map(PlaneId::new);
    ftl.space.open_of(WriteStream::new(handle), planes, whole)
}
