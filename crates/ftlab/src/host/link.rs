//! The link between host and device: data of writes goes one way, data of reads the other. Each way
//! carries one transfer at a time, in the order of the calls.

use std::collections::VecDeque;

use crate::units::{Bytes, BytesPerSec, Nanos, RequestId, SimTime};

/// The times of the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkSetup {
    /// Data rate each way, or `None` if only the setup of a transfer takes time.
    pub rate: Option<BytesPerSec>,
    /// Time of a transfer besides its data.
    pub setup: Nanos,
}

impl LinkSetup {
    fn time_for(&self, data: Bytes) -> Nanos {
        self.setup + self.rate.map_or(Nanos::ZERO, |rate| rate.time_for(data))
    }
}

/// Both directions.
#[derive(Clone, Debug)]
pub(super) struct Link {
    setup: LinkSetup,
    /// Data of writes.
    pub inbound: LinkDirection,
    /// Data of reads.
    pub outbound: LinkDirection,
}

/// One direction: the transfers under way, with the times at which they end.
#[derive(Clone, Debug, Default)]
pub(super) struct LinkDirection {
    transfers: VecDeque<(SimTime, RequestId)>,
    free_at: SimTime,
}

impl Link {
    pub fn new(setup: LinkSetup) -> Link {
        Link { setup, inbound: LinkDirection::default(), outbound: LinkDirection::default() }
    }

    /// Sends the data of a write. Returns the time of its arrival.
    pub fn bring(&mut self, now: SimTime, id: RequestId, data: Bytes) -> SimTime {
        self.inbound.send(now, id, self.setup.time_for(data))
    }

    /// Sends the data of a read. Returns the time of its arrival.
    pub fn deliver(&mut self, now: SimTime, id: RequestId, data: Bytes) -> SimTime {
        self.outbound.send(now, id, self.setup.time_for(data))
    }
}

impl LinkDirection {
    fn send(&mut self, now: SimTime, id: RequestId, takes: Nanos) -> SimTime {
        self.free_at = self.free_at.max(now) + takes;
        self.transfers.push_back((self.free_at, id));
        self.free_at
    }

    /// The end of the first transfer.
    pub fn next_time(&self) -> Option<SimTime> {
        self.transfers.front().map(|&(at, _)| at)
    }

    /// Removes the first transfer if it ends now.
    pub fn arrived(&mut self, now: SimTime) -> Option<RequestId> {
        let &(at, id) = self.transfers.front()?;
        (at == now).then(|| {
            self.transfers.pop_front();
            id
        })
    }
}
