//! A time line as the data of a panel in a page: read from the trace for Perfetto, and short enough to be mailed.

use std::collections::{BTreeMap, HashMap};

use ftlab::units::SimTime;
use prost::Message as _;
use serde::{Serialize, Serializer};

use super::Windows;
use super::perfetto::{
    COUNTER, INSTANT, REQUEST, SLICE_BEGIN, SLICE_END, Trace, TrackDescriptor, TrackEvent, WINDOW,
};

/// The most slices of a panel: more make the page slow, and nobody looks at them all.
const MOST_SLICES: usize = 20_000;

/// The data of a panel. Times are nanoseconds since `from_ns`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TimelinePanel {
    /// The start, since the device was switched on.
    pub from_ns: u64,
    /// Its length.
    pub length_ns: u64,
    /// When measuring began; times are shown from then on.
    pub zero_ns: u64,
    /// What was recorded: starts and ends. Beyond there is only what reaches into it.
    pub windows: Vec<(u64, u64)>,
    /// The tracks, parents before their children.
    pub tracks: Vec<PanelTrack>,
    /// Texts that slices refer to.
    pub texts: Vec<String>,
    /// By kind of slice: the names of its values.
    pub keys: Vec<Vec<String>>,
    /// Slices and marks, by their starts.
    pub slices: Vec<PanelSlice>,
    /// The counters.
    pub counts: Vec<PanelCounter>,
    /// How many slices farther from the longest request are left out.
    pub left_out: usize,
}

/// A track.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PanelTrack {
    /// Its name.
    pub name: String,
    /// The track above it.
    pub parent: Option<usize>,
}

/// A slice, or a mark if it has no length. It is serialised as a list of its fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PanelSlice {
    /// Its track.
    pub track: usize,
    /// Its start.
    pub from: u64,
    /// Its length; none for a mark.
    pub length: Option<u64>,
    /// The text of its name.
    pub name: usize,
    /// The text of its category.
    pub category: usize,
    /// The commands that it belongs to.
    pub flows: Vec<u64>,
    /// Which names its values have.
    pub keys: usize,
    /// Its values; texts are numbers of texts, and their names end with `*`.
    pub values: Vec<u64>,
}

impl Serialize for PanelSlice {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let PanelSlice { track, from, length, name, category, flows, keys, values } = self;
        (track, from, length, name, category, flows, keys, values).serialize(to)
    }
}

/// A counter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PanelCounter {
    /// Its track.
    pub track: usize,
    /// What it counts.
    pub unit: String,
    /// The times at which it changes.
    pub at: Vec<u64>,
    /// Its values from then on.
    pub value: Vec<u64>,
}

/// Numbers texts and lists of names.
#[derive(Default)]
struct Interned<T> {
    numbers: HashMap<T, usize>,
    all: Vec<T>,
}

impl<T: Clone + Eq + std::hash::Hash> Interned<T> {
    fn number(&mut self, one: T) -> usize {
        let next = self.all.len();
        let number = *self.numbers.entry(one.clone()).or_insert(next);
        if number == next {
            self.all.push(one);
        }
        number
    }
}

/// What is read so far.
#[derive(Default)]
struct Reading {
    /// By its number in the trace.
    tracks: BTreeMap<u64, usize>,
    named: Vec<PanelTrack>,
    texts: Interned<String>,
    keys: Interned<Vec<String>>,
    slices: Vec<PanelSlice>,
    /// By track: the slices that have not ended.
    open: BTreeMap<usize, Vec<usize>>,
    counts: BTreeMap<usize, PanelCounter>,
}

/// Reads a time line that ftlab wrote. `zero_ns` is when measuring began.
///
/// # Errors
/// In words: it is no such file.
pub fn panel(trace: &[u8], zero_ns: u64) -> Result<TimelinePanel, String> {
    let trace = Trace::decode(trace).map_err(|error| error.to_string())?;
    let mut reading = Reading::default();
    for packet in trace.packet {
        if let Some(track) = packet.track_descriptor {
            reading.add_track(track);
        }
        if let (Some(event), Some(at)) = (packet.track_event, packet.timestamp) {
            reading.add_event(event, at).ok_or("an event belongs to no track")?;
        }
    }
    Ok(reading.finish(zero_ns))
}

impl Reading {
    fn add_track(&mut self, track: TrackDescriptor) {
        let number = self.named.len();
        self.tracks.insert(track.uuid.unwrap_or_default(), number);
        let parent = track.parent_uuid.and_then(|parent| self.tracks.get(&parent).copied());
        // A track is not its own parent.
        let parent = parent.filter(|&parent| parent < number);
        self.named.push(PanelTrack { name: track.name.unwrap_or_default(), parent });
        if let Some(counter) = track.counter {
            let unit = counter.unit_name.unwrap_or_default();
            let counter = PanelCounter { track: number, unit, at: Vec::new(), value: Vec::new() };
            self.counts.insert(number, counter);
        }
    }

    fn add_event(&mut self, event: TrackEvent, at: u64) -> Option<()> {
        let track = *self.tracks.get(&event.track_uuid?)?;
        match event.kind? {
            SLICE_BEGIN => {
                let slice = self.slice(event, track, at);
                self.open.entry(track).or_default().push(self.slices.len());
                self.slices.push(slice);
            }
            SLICE_END => {
                let slice = self.open.get_mut(&track).and_then(Vec::pop)?;
                let slice = &mut self.slices[slice];
                slice.length = Some(at.saturating_sub(slice.from));
            }
            INSTANT => {
                let mark = self.slice(event, track, at);
                self.slices.push(mark);
            }
            COUNTER => {
                let counter = self.counts.get_mut(&track)?;
                counter.at.push(at);
                counter.value.push(u64::try_from(event.counter_value?).ok()?);
            }
            _ => {}
        }
        Some(())
    }

    fn slice(&mut self, event: TrackEvent, track: usize, from: u64) -> PanelSlice {
        let (mut keys, mut values) = (Vec::new(), Vec::new());
        for one in event.debug_annotations {
            let name = one.name.unwrap_or_default();
            match one.string_value {
                Some(text) => {
                    keys.push(format!("{name}*"));
                    values.push(self.texts.number(text) as u64);
                }
                None => {
                    keys.push(name);
                    values.push(one.uint_value.unwrap_or_default());
                }
            }
        }
        PanelSlice {
            track,
            from,
            length: None,
            name: self.texts.number(event.name.unwrap_or_default()),
            category: self.texts.number(event.categories.into_iter().next().unwrap_or_default()),
            flows: event.flow_ids,
            keys: self.keys.number(keys),
            values,
        }
    }

    /// Takes out the slices that say what was recorded.
    fn take_windows(&mut self) -> Windows {
        let Reading { slices, texts, .. } = self;
        let is_window = |slice: &mut PanelSlice| texts.all[slice.category] == WINDOW;
        let windows: Vec<PanelSlice> = slices.extract_if(.., is_window).collect();
        let span = |slice: &PanelSlice| (SimTime(slice.from), SimTime(slice.end()));
        match windows.is_empty() {
            true => Windows::new(slices.iter().map(span)),
            false => Windows::new(windows.iter().map(span)),
        }
    }

    /// Leaves out what is beyond the windows or too far from the longest request, and counts times from the start.
    fn finish(mut self, zero_ns: u64) -> TimelinePanel {
        let windows = self.take_windows();
        let (SimTime(mut from), SimTime(mut until)) = windows.hull();
        self.slices.retain(|slice| slice.from <= until && slice.end() >= from);
        let left_out = self.slices.len().saturating_sub(MOST_SLICES);
        if left_out > 0 {
            let middle = self.middle().unwrap_or(from.midpoint(until)).clamp(from, until);
            // A slice that covers the middle is as near as can be.
            let distance = |slice: &PanelSlice| {
                slice.from.saturating_sub(middle).max(middle.saturating_sub(slice.end()))
            };
            self.slices.sort_by_key(|slice| (distance(slice), slice.from, slice.track));
            let reach = distance(&self.slices[MOST_SLICES]);
            self.slices.truncate(MOST_SLICES);
            from = from.max(middle.saturating_sub(reach));
            until = until.min(middle.saturating_add(reach));
        }
        self.slices.retain(|slice| slice.from <= until && slice.end() >= from);
        self.slices.sort_by_key(|slice| (slice.from, slice.track));
        for slice in &mut self.slices {
            let (start, end) = (slice.from.max(from), slice.end().min(until));
            slice.from = start - from;
            slice.length = slice.length.map(|_| end - start);
        }
        let shown = |at: SimTime| at.0.clamp(from, until) - from;
        let windows = windows.all().iter().map(|window| (shown(window.0), shown(window.1)));
        let counts = self.counts.into_values().map(|counter| cut(counter, from, until));
        TimelinePanel {
            from_ns: from,
            length_ns: until - from,
            zero_ns,
            windows: windows.filter(|(from, until)| from < until).collect(),
            tracks: self.named,
            texts: self.texts.all,
            keys: self.keys.all,
            slices: self.slices,
            counts: counts.filter(|counter| !counter.at.is_empty()).collect(),
            left_out,
        }
    }

    /// The middle of the longest request.
    fn middle(&self) -> Option<u64> {
        let requests = self.slices.iter().filter(|one| self.texts.all[one.category] == REQUEST);
        let longest = requests.max_by_key(|one| one.length)?;
        Some(longest.from.midpoint(longest.end()))
    }
}

impl PanelSlice {
    fn end(&self) -> u64 {
        self.from.saturating_add(self.length.unwrap_or(0))
    }
}

/// Leaves out what a counter says outside a span, except what holds at its start.
fn cut(counter: PanelCounter, from: u64, until: u64) -> PanelCounter {
    let PanelCounter { track, unit, at, value } = counter;
    let before = at.partition_point(|at| *at <= from).saturating_sub(1);
    let behind = at.partition_point(|at| *at <= until);
    let kept = before..behind.max(before);
    PanelCounter {
        track,
        unit,
        at: at[kept.clone()].iter().map(|at| at.saturating_sub(from)).collect(),
        value: value[kept].to_vec(),
    }
}
