//! A record as a trace for Perfetto (<https://perfetto.dev>): TrackEvent packets in protobuf.
//!
//! The messages are those fields of Perfetto's `trace_packet.proto`, `track_descriptor.proto`, `track_event.proto` and
//! `debug_annotation.proto` that are needed here, by their published numbers.

use prost::Message;

/// `Trace`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Trace {
    #[prost(message, repeated, tag = "1")]
    pub packet: Vec<Packet>,
}

/// `TracePacket`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Packet {
    #[prost(uint64, optional, tag = "8")]
    pub timestamp: Option<u64>,
    #[prost(uint32, optional, tag = "10")]
    pub trusted_packet_sequence_id: Option<u32>,
    #[prost(uint32, optional, tag = "13")]
    pub sequence_flags: Option<u32>,
    #[prost(message, optional, tag = "11")]
    pub track_event: Option<TrackEvent>,
    #[prost(message, optional, tag = "60")]
    pub track_descriptor: Option<TrackDescriptor>,
}

/// `TrackDescriptor`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct TrackDescriptor {
    #[prost(uint64, optional, tag = "1")]
    pub uuid: Option<u64>,
    #[prost(string, optional, tag = "2")]
    pub name: Option<String>,
    #[prost(uint64, optional, tag = "5")]
    pub parent_uuid: Option<u64>,
    #[prost(message, optional, tag = "8")]
    pub counter: Option<CounterDescriptor>,
    #[prost(int32, optional, tag = "11")]
    pub child_ordering: Option<i32>,
    #[prost(int32, optional, tag = "12")]
    pub sibling_order_rank: Option<i32>,
}

/// `CounterDescriptor`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct CounterDescriptor {
    #[prost(string, optional, tag = "6")]
    pub unit_name: Option<String>,
}

/// `TrackEvent`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct TrackEvent {
    #[prost(message, repeated, tag = "4")]
    pub debug_annotations: Vec<DebugAnnotation>,
    #[prost(int32, optional, tag = "9")]
    pub kind: Option<i32>,
    #[prost(uint64, optional, tag = "11")]
    pub track_uuid: Option<u64>,
    #[prost(string, repeated, tag = "22")]
    pub categories: Vec<String>,
    #[prost(string, optional, tag = "23")]
    pub name: Option<String>,
    #[prost(int64, optional, tag = "30")]
    pub counter_value: Option<i64>,
    #[prost(fixed64, repeated, packed = "false", tag = "47")]
    pub flow_ids: Vec<u64>,
}

/// `DebugAnnotation`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct DebugAnnotation {
    #[prost(string, optional, tag = "10")]
    pub name: Option<String>,
    #[prost(uint64, optional, tag = "3")]
    pub uint_value: Option<u64>,
    #[prost(string, optional, tag = "6")]
    pub string_value: Option<String>,
}

/// `TrackEvent.Type`: begin and end of a slice, an instant, a value of a counter.
pub(super) const SLICE_BEGIN: i32 = 1;
pub(super) const SLICE_END: i32 = 2;
pub(super) const INSTANT: i32 = 3;
pub(super) const COUNTER: i32 = 4;
/// `TracePacket.SequenceFlags.SEQ_INCREMENTAL_STATE_CLEARED`.
const STATE_CLEARED: u32 = 1;
/// `TrackDescriptor.ChildTracksOrdering.EXPLICIT`.
const EXPLICIT: i32 = 3;
/// The one sequence of packets.
const SEQUENCE: u32 = 1;

/// The category of slices that say what was recorded.
pub(super) const WINDOW: &str = "window";
/// The category of requests.
pub(super) const REQUEST: &str = "request";

/// A track.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Track(u64);

/// A value that is shown with a slice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Number(u64),
    Text(String),
}

/// A slice of a track.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Slice {
    pub track: Track,
    pub from_ns: u64,
    pub until_ns: u64,
    pub name: String,
    pub category: &'static str,
    /// Slices with the same number are joined by arrows.
    pub flows: Vec<u64>,
    pub values: Vec<(&'static str, Value)>,
}

/// The event that has the name and the values of a slice.
fn named(slice: Slice, kind: i32) -> TrackEvent {
    let Slice { track, name, category, flows, values, .. } = slice;
    let annotation = |(name, value): (&str, Value)| {
        let (uint_value, string_value) = match value {
            Value::Number(number) => (Some(number), None),
            Value::Text(text) => (None, Some(text)),
        };
        DebugAnnotation { name: Some(name.to_owned()), uint_value, string_value }
    };
    TrackEvent {
        kind: Some(kind),
        track_uuid: Some(track.0),
        name: Some(name),
        categories: vec![category.to_owned()],
        flow_ids: flows,
        debug_annotations: values.into_iter().map(annotation).collect(),
        ..TrackEvent::default()
    }
}

/// A trace being written.
#[derive(Debug, Default)]
pub(super) struct Writer {
    tracks: Vec<Packet>,
    /// Events by time; at one time ends go before begins.
    events: Vec<(u64, u8, Packet)>,
}

impl Writer {
    /// Adds a track, below another one if there is one. Siblings are in the order in which they are added.
    pub fn track(&mut self, name: &str, parent: Option<Track>) -> Track {
        self.add_track(name, parent, None)
    }

    /// Adds a track of numbers.
    pub fn counter(&mut self, name: &str, unit: &str, parent: Option<Track>) -> Track {
        let counter = CounterDescriptor { unit_name: Some(unit.to_owned()) };
        self.add_track(name, parent, Some(counter))
    }

    fn add_track(
        &mut self,
        name: &str,
        parent: Option<Track>,
        counter: Option<CounterDescriptor>,
    ) -> Track {
        let number = self.tracks.len() as u64 + 1;
        let descriptor = TrackDescriptor {
            uuid: Some(number),
            name: Some(name.to_owned()),
            parent_uuid: parent.map(|parent| parent.0),
            counter,
            child_ordering: Some(EXPLICIT),
            sibling_order_rank: i32::try_from(number).ok(),
        };
        let packet = Packet { track_descriptor: Some(descriptor), ..Packet::default() };
        self.tracks.push(packet);
        Track(number)
    }

    /// Adds a slice, or a mark if it takes no time. Those of one track must not overlap.
    pub fn slice(&mut self, slice: Slice) {
        let Slice { until_ns, from_ns, .. } = slice;
        if from_ns >= until_ns {
            return self.mark(slice);
        }
        let end = TrackEvent {
            kind: Some(SLICE_END),
            track_uuid: Some(slice.track.0),
            ..TrackEvent::default()
        };
        self.event(from_ns, 2, named(slice, SLICE_BEGIN));
        self.event(until_ns, 0, end);
    }

    /// Adds a mark at the start of a slice.
    pub fn mark(&mut self, mark: Slice) {
        self.event(mark.from_ns, 1, named(mark, INSTANT));
    }

    /// Adds a value of a counter.
    pub fn count(&mut self, track: Track, at_ns: u64, value: u64) {
        let event = TrackEvent {
            kind: Some(COUNTER),
            track_uuid: Some(track.0),
            counter_value: Some(i64::try_from(value).unwrap_or(i64::MAX)),
            ..TrackEvent::default()
        };
        self.event(at_ns, 1, event);
    }

    fn event(&mut self, at_ns: u64, order: u8, event: TrackEvent) {
        let packet =
            Packet { timestamp: Some(at_ns), track_event: Some(event), ..Packet::default() };
        self.events.push((at_ns, order, packet));
    }

    /// Returns the bytes of the trace.
    pub fn finish(mut self) -> Vec<u8> {
        self.events.sort_by_key(|(at, order, _)| (*at, *order));
        let mut packet = self.tracks;
        packet.extend(self.events.into_iter().map(|(.., packet)| packet));
        for one in &mut packet {
            one.trusted_packet_sequence_id = Some(SEQUENCE);
        }
        if let Some(first) = packet.first_mut() {
            first.sequence_flags = Some(STATE_CLEARED);
        }
        Trace { packet }.encode_to_vec()
    }
}
