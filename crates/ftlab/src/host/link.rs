//! The link between host and device: data of writes one way, data of reads the other, each way one
//! transfer at a time in the order in which they were asked for.

use std::collections::VecDeque;

use super::RequestId;
use crate::units::{Bytes, BytesPerSec, SimTime};

/// Both ways.
#[derive(Clone, Debug)]
pub(super) struct Link {
    rate: BytesPerSec,
    /// Data of writes.
    pub inbound: Way,
    /// Data of reads.
    pub outbound: Way,
}

/// One way: transfers under way, with the moments at which they end.
#[derive(Clone, Debug, Default)]
pub(super) struct Way {
    transfers: VecDeque<(SimTime, RequestId)>,
    free_at: SimTime,
}

impl Link {
    pub fn new(rate: BytesPerSec) -> Link {
        Link { rate, inbound: Way::default(), outbound: Way::default() }
    }

    /// The data of a write sets out; says when it has arrived.
    pub fn bring(&mut self, now: SimTime, id: RequestId, data: Bytes) -> SimTime {
        self.inbound.send(now, id, data, self.rate)
    }

    /// The data of a read sets out; says when it has arrived.
    pub fn deliver(&mut self, now: SimTime, id: RequestId, data: Bytes) -> SimTime {
        self.outbound.send(now, id, data, self.rate)
    }
}

impl Way {
    fn send(&mut self, now: SimTime, id: RequestId, data: Bytes, rate: BytesPerSec) -> SimTime {
        self.free_at = self.free_at.max(now) + rate.time_for(data);
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
