//! The link between host and device: data of writes goes one way, data of reads the other; so do commands and
//! completions, if they take time. Each way carries one transfer of data at a time, in the order of the calls. Commands,
//! completions and map entries pass between its frames. On a half-duplex link both ways share the wire, and everything
//! passes in the order of the calls.

use super::host_memory::HostRead;
use super::passage::Passage;
use crate::units::{Bytes, BytesPerSec, Nanos, RequestId, SimTime};

/// The times of the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkSetup {
    /// How data moves, or `None` if only the setup of a transfer takes time.
    pub wire: Option<Wire>,
    /// Time of a transfer of data besides its data.
    pub setup: Nanos,
    /// What commands and completions move, or `None` if they take no time.
    pub entries: Option<Entries>,
}

/// What crosses the link besides data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entries {
    /// The size of a command.
    pub command: Bytes,
    /// The size of a completion.
    pub completion: Bytes,
}

/// Something on the link.
#[derive(Clone, Copy, Debug)]
pub(super) enum Parcel {
    /// The data of a request.
    Data(RequestId),
    /// Its command, or its completion.
    Entry(RequestId),
    /// Map entries from the host's memory.
    MapEntries(HostRead),
}

/// A direction.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// To the device.
    In,
    /// To the host.
    Out,
}

/// How bytes move on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wire {
    /// Bytes of frames that pass in a second, each way.
    pub rate: BytesPerSec,
    /// The frames, or `None` if everything passes as a whole.
    pub frames: Option<Frames>,
    /// Whether both ways share the wire.
    pub half_duplex: bool,
}

/// How data is packed on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frames {
    /// The most data of a frame.
    pub payload: Bytes,
    /// What a frame has beside its data.
    pub beside: Bytes,
}

impl Wire {
    /// Data without frames at this rate, at the same time both ways.
    #[must_use]
    pub fn bare(rate: BytesPerSec) -> Wire {
        Wire { rate, frames: None, half_duplex: false }
    }

    /// Time that `data` takes, sent at once.
    #[must_use]
    pub fn time_for(&self, data: Bytes) -> Nanos {
        let beside = |of: Frames| data.0.div_ceil(of.payload.0) * of.beside.0;
        self.rate.time_for(Bytes(data.0 + self.frames.map_or(0, beside)))
    }

    /// Time of a whole frame between others, or `None` if everything passes in its order.
    fn frame(&self) -> Option<Nanos> {
        let frames = self.frames.filter(|_| !self.half_duplex)?;
        Some(self.time_for(frames.payload))
    }
}

/// Both directions.
#[derive(Clone, Debug)]
pub(super) struct Link {
    setup: LinkSetup,
    /// Commands and data of writes.
    pub inbound: Passage<Parcel>,
    /// Data of reads and completions.
    pub outbound: Passage<Parcel>,
}

impl Link {
    pub fn new(setup: LinkSetup) -> Link {
        Link { setup, inbound: Passage::default(), outbound: Passage::default() }
    }

    /// Sends the data of a write. Returns the time of its arrival.
    pub fn bring(&mut self, now: SimTime, id: RequestId, data: Bytes) -> SimTime {
        let at = self.inbound.send(now, Parcel::Data(id), self.time_for(data));
        self.inbound_until(at)
    }

    /// Fetches a command that somebody waits for. Returns the time of its arrival, or `None` if it takes no time.
    pub fn fetch(&mut self, now: SimTime) -> Option<SimTime> {
        let takes = self.time_for_entry(|entries| entries.command)?;
        Some(self.pass_small(Way::In, now, takes))
    }

    /// Fetches a command that nobody waits for.
    pub fn fetch_alone(&mut self, now: SimTime, id: RequestId) -> Option<SimTime> {
        let at = self.fetch(now)?;
        self.inbound.arrives(at, Parcel::Entry(id));
        Some(at)
    }

    /// Brings map entries of a size from the host's memory. Returns the time of their arrival, or `None` if they take no
    /// time.
    pub fn bring_map_entries(
        &mut self,
        now: SimTime,
        what: HostRead,
        size: Bytes,
    ) -> Option<SimTime> {
        let takes = self.setup.wire?.time_for(size);
        let at = self.pass_small(Way::In, now, Nanos(takes.0 * u64::from(what.entries())));
        self.inbound.arrives(at, Parcel::MapEntries(what));
        Some(at)
    }

    /// Sends the data of a read. Returns the time of its arrival.
    pub fn deliver(&mut self, now: SimTime, id: RequestId, data: Bytes) -> SimTime {
        let at = self.outbound.send(now, Parcel::Data(id), self.time_for(data));
        self.outbound_until(at)
    }

    /// Sends a completion. Returns the time of its arrival, or `None` if it takes no time.
    pub fn announce(&mut self, now: SimTime, id: RequestId) -> Option<SimTime> {
        let takes = self.time_for_entry(|entries| entries.completion)?;
        let at = self.pass_small(Way::Out, now, takes);
        self.outbound.arrives(at, Parcel::Entry(id));
        Some(at)
    }

    /// Gives something small its time: between frames of data, or in its turn.
    fn pass_small(&mut self, way: Way, now: SimTime, takes: Nanos) -> SimTime {
        let frame = self.setup.wire.as_ref().and_then(Wire::frame);
        let passage = match way {
            Way::In => &mut self.inbound,
            Way::Out => &mut self.outbound,
        };
        let at = match frame {
            Some(frame) => passage.slip_in(now, takes, frame),
            None => passage.occupy(now, takes),
        };
        match way {
            Way::In => self.inbound_until(at),
            Way::Out => self.outbound_until(at),
        }
    }

    /// Data comes in until then, so that nothing goes out if both ways share the wire.
    fn inbound_until(&mut self, at: SimTime) -> SimTime {
        if self.is_shared() {
            self.outbound.hold_until(at);
        }
        at
    }

    fn outbound_until(&mut self, at: SimTime) -> SimTime {
        if self.is_shared() {
            self.inbound.hold_until(at);
        }
        at
    }

    /// Whether both ways share the wire.
    pub fn is_shared(&self) -> bool {
        self.setup.wire.is_some_and(|wire| wire.half_duplex)
    }

    /// How long both ways of a shared wire have been in use until now, together.
    pub fn shared_busy_until(&self, now: SimTime) -> Nanos {
        let Link { inbound, outbound, setup: _ } = self;
        // Each way holds back the other, so what lies ahead of both ends at one time.
        let taken = inbound.taken() + outbound.taken();
        Nanos(taken.0 - inbound.ahead(now).max(outbound.ahead(now)).0)
    }

    fn time_for_entry(&self, size: impl Fn(&Entries) -> Bytes) -> Option<Nanos> {
        let LinkSetup { wire, entries, setup: _ } = &self.setup;
        Some(wire.as_ref()?.time_for(size(entries.as_ref()?)))
    }

    fn time_for(&self, data: Bytes) -> Nanos {
        self.setup.setup + self.setup.wire.map_or(Nanos::ZERO, |wire| wire.time_for(data))
    }
}
