//! The link between host and device: data of writes goes one way, data of reads the other; so do commands and
//! completions, if they take time. Each way carries one transfer at a time, in the order of the calls. On a half-duplex link both ways share the wire.

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

/// How bytes move on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wire {
    /// Bytes of frames that pass in a second, each way.
    pub rate: BytesPerSec,
    /// The frames.
    pub frames: Frames,
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
        let frames = Frames { payload: Bytes(u64::MAX), beside: Bytes(0) };
        Wire { rate, frames, half_duplex: false }
    }

    /// Time that `data` takes, sent at once.
    #[must_use]
    pub fn time_for(&self, data: Bytes) -> Nanos {
        let frames = data.0.div_ceil(self.frames.payload.0);
        self.rate.time_for(Bytes(data.0 + frames * self.frames.beside.0))
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
        let at = self.inbound.occupy(now, self.time_for_entry(|entries| entries.command)?);
        Some(self.inbound_until(at))
    }

    /// Fetches a command that nobody waits for.
    pub fn fetch_alone(&mut self, now: SimTime, id: RequestId) -> Option<SimTime> {
        let takes = self.time_for_entry(|entries| entries.command)?;
        let at = self.inbound.send(now, Parcel::Entry(id), takes);
        Some(self.inbound_until(at))
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
        let takes = Nanos(takes.0 * u64::from(what.entries()));
        Some(self.inbound.send(now, Parcel::MapEntries(what), takes))
    }

    /// Sends the data of a read. Returns the time of its arrival.
    pub fn deliver(&mut self, now: SimTime, id: RequestId, data: Bytes) -> SimTime {
        let at = self.outbound.send(now, Parcel::Data(id), self.time_for(data));
        self.outbound_until(at)
    }

    /// Sends a completion. Returns the time of its arrival, or `None` if it takes no time.
    pub fn announce(&mut self, now: SimTime, id: RequestId) -> Option<SimTime> {
        let takes = self.time_for_entry(|entries| entries.completion)?;
        let at = self.outbound.send(now, Parcel::Entry(id), takes);
        Some(self.outbound_until(at))
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
