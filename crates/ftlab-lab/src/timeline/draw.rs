//! Lays out a record as tracks: requests by operation, dies with their planes, buses, collections, merges, counters, dead
//! dies and power cuts.

use std::collections::BTreeMap;

use ftlab::scheduler::{Kind, Origin};
use ftlab::shape::FlashGeometry;
use ftlab::units::{PlaneId, SECTOR_BYTES, SimTime};

use ftlab_workload::replay::Completed;

use super::Windows;
use super::perfetto::{REQUEST, Slice, Track, Value, WINDOW, Writer};
use super::recorder::{DeviceRecord, FlashCommand, FlashPart, SeenCollection, SeenMerges};
use super::traced::{ToldRequest, Traced};

/// Returns a record as a trace for Perfetto.
#[must_use]
pub fn perfetto(traced: &Traced, geometry: &FlashGeometry) -> Vec<u8> {
    let mut writer = Writer::default();
    recorded(&traced.windows, &mut writer);
    requests(traced, &mut writer);
    dies(&traced.record, geometry, &mut writer);
    buses(&traced.record, &mut writer);
    let hull = traced.windows.hull();
    collections(&traced.record.collections, hull, &mut writer);
    merges(&traced.record.merges, hull, &mut writer);
    waiting(&traced.record, &mut writer);
    levels(&traced.record, &mut writer);
    losses(traced, &mut writer);
    writer.finish()
}

/// The first track.
const RECORDED: &str = "Recorded";
/// The first track's name is within this many bytes.
const MOST_HEAD: usize = 64;

/// Whether a file begins like a time line.
#[must_use]
pub fn is_timeline(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(MOST_HEAD)];
    head.windows(RECORDED.len()).any(|part| part == RECORDED.as_bytes())
}

/// The windows. Beyond them there is only what reaches into one.
fn recorded(windows: &Windows, writer: &mut Writer) {
    let track = writer.track(RECORDED, None);
    for (from, until) in windows.all() {
        writer.slice(Slice {
            track,
            from_ns: from.0,
            until_ns: until.0,
            name: "recorded".to_owned(),
            category: WINDOW,
            flows: Vec::new(),
            values: Vec::new(),
        });
    }
}

/// Puts spans that may overlap on as few lanes as they need.
#[derive(Default)]
struct Lanes(Vec<(SimTime, Track)>);

impl Lanes {
    /// Returns a lane that is free from a time on; `new` makes one more.
    fn at(&mut self, from: SimTime, until: SimTime, new: impl FnOnce(usize) -> Track) -> Track {
        match self.0.iter_mut().find(|(free, _)| *free <= from) {
            Some(lane) => {
                lane.0 = until;
                lane.1
            }
            None => {
                let track = new(self.0.len());
                self.0.push((until, track));
                track
            }
        }
    }
}

/// The name of a request's slice.
pub(super) fn request_name(done: &Completed) -> String {
    format!("{} {}", done.completion.request.op.name(), done.index)
}

fn requests(traced: &Traced, writer: &mut Writer) {
    let host = writer.track("Requests", None);
    let mut by_arrival: Vec<&ToldRequest> = traced.requests.iter().collect();
    by_arrival.sort_by_key(|told| (told.done.arrived, told.done.index));
    let mut lanes: BTreeMap<_, Lanes> = BTreeMap::new();
    let mut steps: Vec<(SimTime, bool)> = Vec::new();
    for told in by_arrival {
        let (done, request) = (&told.done, &told.done.completion.request);
        let op = request.op.name();
        let (from, until) = (done.arrived, done.completion.finished);
        let track = lanes
            .entry(request.op)
            .or_default()
            .at(from, until, |lane| writer.track(&format!("{op}s, {}", lane + 1), Some(host)));
        writer.slice(Slice {
            track,
            from_ns: from.0,
            until_ns: until.0,
            name: request_name(done),
            category: REQUEST,
            flows: told.commands(&traced.record),
            values: vec![
                ("sector", Value::Number(request.lba.0)),
                ("bytes", Value::Number(u64::from(request.sectors) * SECTOR_BYTES)),
                ("stream", Value::Number(u64::from(request.stream))),
                ("latency_ns", Value::Number(done.latency().0)),
            ],
        });
        if from < until {
            steps.extend([(from, true), (until, false)]);
        }
    }
    count("Requests in the device or its queues", "requests", steps, writer);
}

fn count(name: &str, unit: &str, mut steps: Vec<(SimTime, bool)>, writer: &mut Writer) {
    let track = writer.counter(name, unit, None);
    steps.sort_unstable();
    let mut value: u64 = 0;
    for (at, more) in steps {
        value = if more { value + 1 } else { value.saturating_sub(1) };
        writer.count(track, at.0, value);
    }
}

fn dies(record: &DeviceRecord, geometry: &FlashGeometry, writer: &mut Writer) {
    let root = writer.track("Dies", None);
    let planes = planes(record, geometry, root, writer);
    for command in record.commands.values() {
        let (_, plane) = place(command, geometry);
        let slice = |from: SimTime, until: SimTime, name: String| Slice {
            track: planes[&plane],
            from_ns: from.0,
            until_ns: until.0,
            name,
            category: command.origin.name(),
            flows: vec![command.sequence],
            values: about(command, geometry),
        };
        for span in command.spans.iter().filter(|span| span.part == FlashPart::Cells) {
            writer.slice(slice(span.from, span.until, in_cells(command, span.suspended)));
        }
        if command.failed {
            let at = command.end();
            writer.mark(slice(at, at, format!("{} fails", verb(command.kind))));
        }
    }
}

/// The tracks of planes, in the order of their numbers; of dies, if each has one plane.
fn planes(
    record: &DeviceRecord,
    geometry: &FlashGeometry,
    root: Track,
    writer: &mut Writer,
) -> BTreeMap<u32, Track> {
    let mut tracks: BTreeMap<u32, Track> = BTreeMap::new();
    let mut planes: BTreeMap<u32, Track> = BTreeMap::new();
    let mut used: Vec<(u32, u32)> =
        record.commands.values().map(|one| place(one, geometry)).collect();
    used.sort_unstable();
    used.dedup();
    for (die, plane) in used {
        let parent =
            *tracks.entry(die).or_insert_with(|| writer.track(&format!("Die {die}"), Some(root)));
        let track = match geometry.planes_per_die() {
            1 => parent,
            _ => writer.track(&format!("Plane {plane}"), Some(parent)),
        };
        planes.insert(plane, track);
    }
    planes
}

fn place(command: &FlashCommand, geometry: &FlashGeometry) -> (u32, u32) {
    (command.die.get(), geometry.plane_of_page(command.page).get())
}

fn in_cells(command: &FlashCommand, suspended: bool) -> String {
    let what = verb(command.kind);
    let whose = whose(command.origin);
    match suspended {
        true => format!("{what}{whose}, then suspended"),
        false => format!("{what}{whose}"),
    }
}

const fn verb(kind: Kind) -> &'static str {
    match kind {
        Kind::Read => "sense",
        Kind::Program => "program",
        Kind::Erase => "erase",
        Kind::Copyback => "copy back",
    }
}

const fn whose(origin: Origin) -> &'static str {
    match origin {
        Origin::Host => "",
        Origin::ReadModifyWrite => " (read-modify-write)",
        Origin::Gc => " (collection)",
        Origin::Wear => " (care of blocks)",
        Origin::Fold => " (fold)",
        Origin::Rewrite => " (rewrite)",
        Origin::System => " (system area)",
    }
}

fn about(command: &FlashCommand, geometry: &FlashGeometry) -> Vec<(&'static str, Value)> {
    let block = geometry.block_of(command.page).get();
    let page = geometry.flash_page_in_block(command.page);
    let waited = command.spans.first().map_or(0, |span| (span.from - command.arrived).0);
    let mut about = vec![
        ("command", Value::Number(command.sequence)),
        ("block", Value::Number(u64::from(block))),
        ("page", Value::Number(u64::from(page))),
        ("waited_ns", Value::Number(waited)),
    ];
    about.extend(command.trigger.map(|trigger| ("after_command", Value::Number(trigger))));
    about
}

fn buses(record: &DeviceRecord, writer: &mut Writer) {
    let root = writer.track("Channels", None);
    let mut by_channel: BTreeMap<u32, Vec<(&FlashCommand, SimTime, SimTime)>> = BTreeMap::new();
    for command in record.commands.values() {
        for span in command.spans.iter().filter(|span| span.part == FlashPart::Bus) {
            let of = by_channel.entry(command.channel.get()).or_default();
            of.push((command, span.from, span.until));
        }
    }
    for (channel, spans) in by_channel {
        let track = writer.track(&format!("Channel {channel}"), Some(root));
        for (command, from, until) in spans {
            let way = if command.kind == Kind::Read { "out" } else { "in" };
            writer.slice(Slice {
                track,
                from_ns: from.0,
                until_ns: until.0,
                name: format!("die {} {way}{}", command.die.get(), whose(command.origin)),
                category: command.origin.name(),
                flows: vec![command.sequence],
                values: vec![("command", Value::Number(command.sequence))],
            });
        }
    }
}

/// The work of a plane with blocks, and what is told of it.
struct BlockWork {
    plane: PlaneId,
    from: SimTime,
    until: SimTime,
    name: String,
    category: &'static str,
    values: Vec<(&'static str, Value)>,
}

fn collections(all: &[SeenCollection], hull: (SimTime, SimTime), writer: &mut Writer) {
    let work = all.iter().map(|run| BlockWork {
        plane: run.plane,
        from: run.from,
        until: run.until.unwrap_or(hull.1),
        name: format!("block {}, {} valid pages", run.victim.get(), run.valid),
        category: "collection",
        values: vec![
            ("valid_pages", Value::Number(u64::from(run.valid))),
            ("purpose", Value::Text(run.purpose.to_owned())),
        ],
    });
    block_work("Collections", work, hull, writer);
}

fn merges(all: &[SeenMerges], hull: (SimTime, SimTime), writer: &mut Writer) {
    let work = all.iter().map(|run| BlockWork {
        plane: run.plane,
        from: run.from,
        until: run.until.unwrap_or(hull.1),
        name: match run.victim {
            Some(victim) => format!("log block {}, {} merges", victim.get(), run.merges),
            None => format!("{} merges", run.merges),
        },
        category: "merge",
        values: vec![
            ("merges", Value::Number(u64::from(run.merges))),
            ("copies", Value::Number(u64::from(run.copies))),
        ],
    });
    block_work("Merges", work, hull, writer);
}

/// It lasts much longer than a window. What lies outside is cut off, so that the view is of the window.
fn block_work(
    title: &str,
    all: impl Iterator<Item = BlockWork>,
    hull: (SimTime, SimTime),
    writer: &mut Writer,
) {
    let mut by_plane: BTreeMap<u32, Vec<BlockWork>> = BTreeMap::new();
    for one in all.filter(|one| one.from <= hull.1 && one.until >= hull.0) {
        by_plane.entry(one.plane.get()).or_default().push(one);
    }
    if by_plane.is_empty() {
        return;
    }
    let root = writer.track(title, None);
    for (plane, runs) in by_plane {
        let track = writer.track(&format!("Plane {plane}"), Some(root));
        for run in runs {
            let BlockWork { from, until, name, category, mut values, .. } = run;
            values.push(("began_ns", Value::Number(from.0)));
            values.push(("ended_ns", Value::Number(until.0)));
            writer.slice(Slice {
                track,
                from_ns: from.max(hull.0).0,
                until_ns: until.min(hull.1).0,
                name,
                category,
                flows: Vec::new(),
                values,
            });
        }
    }
}

/// How many flash commands wait for their die or bus for the first time.
fn waiting(record: &DeviceRecord, writer: &mut Writer) {
    let waits = |command: &FlashCommand| {
        let first = command.spans.first()?.from;
        (first > command.arrived).then_some([(command.arrived, true), (first, false)])
    };
    let steps = record.commands.values().filter_map(waits).flatten().collect();
    count("Flash commands that wait for their die", "commands", steps, writer);
}

/// How full the device was.
fn levels(record: &DeviceRecord, writer: &mut Writer) {
    if record.levels.is_empty() {
        return;
    }
    let free = writer.counter("Free blocks of the plane that has the fewest", "blocks", None);
    let buffered = writer.counter("Pages in the write buffer, not yet on flash", "pages", None);
    for (at, levels) in &record.levels {
        writer.count(free, at.0, u64::from(levels.free_blocks));
        writer.count(buffered, at.0, u64::from(levels.buffered_pages));
    }
}

/// Dead dies and power cuts, if there are any within the windows.
fn losses(traced: &Traced, writer: &mut Writer) {
    let within = |at: SimTime| traced.windows.meet(at, at);
    let deaths = traced.record.deaths.iter().filter(|(at, _)| within(*at));
    let deaths = deaths.map(|(at, die)| (*at, format!("die {} is dead", die.get()), Vec::new()));
    let report = traced.document.power_cuts.iter();
    let cuts = report.flat_map(|report| &report.cuts).filter(|cut| within(SimTime(cut.at_ns)));
    let cuts = cuts.map(|cut| {
        let values = vec![
            ("recovery_of_the_copy_ns", Value::Number(cut.recovery_ns)),
            ("hold_up_ns", Value::Number(cut.hold_up_ns)),
            ("spare_reads", Value::Number(cut.spare_reads)),
            ("lost_pages", Value::Number(cut.lost_pages)),
            ("torn_pages", Value::Number(cut.torn_pages)),
        ];
        (SimTime(cut.at_ns), "a copy of the device loses power".to_owned(), values)
    });
    let mut all: Vec<_> = deaths.chain(cuts).collect();
    if all.is_empty() {
        return;
    }
    all.sort_by_key(|(at, ..)| *at);
    let track = writer.track("Dead dies and power cuts", None);
    for (at, name, values) in all {
        let flows = Vec::new();
        writer.mark(Slice {
            track,
            from_ns: at.0,
            until_ns: at.0,
            name,
            category: "loss",
            flows,
            values,
        });
    }
}
