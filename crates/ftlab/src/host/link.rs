//! The link between host and device: data of writes one way, data of reads the other, each way one
//! transfer at a time in the order in which they were asked for.

use std::collections::VecDeque;

use crate::units::{Bytes, BytesPerSec, Nanos, RequestId, SimTime};

/// How long data takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkSetup {
    /// What it carries each second each way; none if only each transfer takes its time.
    pub rate: Option<BytesPerSec>,
    /// What each transfer takes beside its data.
    pub setup: Nanos,
}

impl LinkSetup {
    fn time_for(&self, data: Bytes) -> Nanos {
        self.setup + self.rate.map_or(Nanos::ZERO, |rate| rate.time_for(data))
    }
}

/// Both ways.
#[derive(Clone, Debug)]
pub(super) struct Link {
    setup: LinkSetup,
    /// Data of writes.
    pub inbound: LinkDirection,
    /// Data of reads.
    pub outbound: LinkDirection,
}

/// One way: transfers under way, with the moments at which they end.
#[derive(Clone, Debug, Default)]
pub(super) struct LinkDirection {
    transfers: VecDeque<(SimTime, RequestId)>,
    free_at: SimTime,
}

impl Link {
    pub fn new(setup: LinkSetup) -> Link {
        Link { setup, inbound: LinkDirection::default(), outbound: LinkDirection::default() }
    }

    /// The data of a write sets out; says when it has arrived.
    pub fn bring(&mut self, now: SimTime, id: RequestId, data: Bytes) -> SimTime {
        self.inbound.send(now, id, self.setup.time_for(data))
    }

    /// The data of a read sets out; says when it has arrived.
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

    /// When the first transfer ends.
    pub fn next_time(&self) -> Option<SimTime> {
        self.transfers.front().map(|&(at, _)| at)
    }

    /// Takes out the first transfer if it ends now.
    pub fn arrived(&mut self, now: SimTime) -> Option<RequestId> {
        let &(at, id) = self.transfers.front()?;
        (at == now).then(|| {
            self.transfers.pop_front();
            id
        })
    }
}
