//! Records what a device does in windows of simulated time: a probe.

use std::collections::BTreeMap;

use ftlab::scheduler::{Activity, Arrival, Command, Kind, Levels, Note, Origin, Probe};
use ftlab::units::{BlockId, ChannelId, DieId, PlaneId, Ppn, SimTime};

use super::Windows;

/// A part of the device that a command occupies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FlashPart {
    /// The cells of its die.
    Cells,
    /// The bus of its channel.
    Bus,
    /// The engines that decode what it read, or their queue.
    Decoder,
    /// The DRAM, into which what it read moves, or its queue.
    Dram,
}

/// A span of time in which a command occupies a part of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The part.
    pub part: FlashPart,
    /// Its start.
    pub from: SimTime,
    /// Its end.
    pub until: SimTime,
    /// Whether the cells were suspended at its end.
    pub suspended: bool,
}

/// A flash command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlashCommand {
    /// How many commands arrived before it.
    pub sequence: u64,
    /// What the die did.
    pub kind: Kind,
    /// Its purpose.
    pub origin: Origin,
    /// Its page; the first one of a flash page or block.
    pub page: Ppn,
    /// Its die.
    pub die: DieId,
    /// The channel of its die.
    pub channel: ChannelId,
    /// When it arrived.
    pub arrived: SimTime,
    /// The command whose end made it come, if one did.
    pub trigger: Option<u64>,
    /// When it occupied what, in the order of time.
    pub spans: Vec<Span>,
    /// Its end; none if it was in flight at the end of the record.
    pub done: Option<SimTime>,
    /// Whether it failed, or read what cannot be corrected.
    pub failed: bool,
}

impl FlashCommand {
    /// When it was over, as far as that is known.
    #[must_use]
    pub fn end(&self) -> SimTime {
        let last = self.spans.iter().map(|span| span.until).max();
        self.done.or(last).unwrap_or(self.arrived)
    }
}

/// A request, as the flash sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeenRequest {
    /// The submitter's mark.
    pub tag: u32,
    /// When it was submitted.
    pub submitted: SimTime,
    /// How many requests were submitted before it.
    pub order: u64,
    /// When the last thing came that it waited for, and the command whose end brought it, if one did.
    pub settled: Option<(SimTime, Option<u64>)>,
}

/// The collection of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeenCollection {
    /// The plane.
    pub plane: PlaneId,
    /// The block that was emptied.
    pub victim: BlockId,
    /// Its valid pages when it began.
    pub valid: u32,
    /// Its purpose, in words.
    pub purpose: &'static str,
    /// The start.
    pub from: SimTime,
    /// The end; none if it was running at the end of the record.
    pub until: Option<SimTime>,
}

/// The merges with which a plane empties a log block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeenMerges {
    /// The plane.
    pub plane: PlaneId,
    /// The log block that was emptied, if one was.
    pub victim: Option<BlockId>,
    /// The data blocks that were merged.
    pub merges: u32,
    /// The pages that had to be copied, as far as that was known.
    pub copies: u32,
    /// The start.
    pub from: SimTime,
    /// The end; none if they were under way at the end of the record.
    pub until: Option<SimTime>,
}

/// What happened in some windows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceRecord {
    /// Flash commands by their number.
    pub commands: BTreeMap<u64, FlashCommand>,
    /// Requests, in the order in which they gave way to later ones.
    pub requests: Vec<SeenRequest>,
    /// Collections, in the order of their ends.
    pub collections: Vec<SeenCollection>,
    /// Merges, in the order of their ends.
    pub merges: Vec<SeenMerges>,
    /// Dies that were found to be dead, and when.
    pub deaths: Vec<(SimTime, DieId)>,
    /// How full the device was, from some times on.
    pub levels: Vec<(SimTime, Levels)>,
}

/// A probe that records what touches some windows.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    windows: Windows,
    /// The command whose end explains what happens at this moment.
    cause: Option<(SimTime, u64)>,
    /// How many requests were submitted.
    submitted: u64,
    /// Commands in flight.
    in_flight: BTreeMap<u64, FlashCommand>,
    /// By number in the device: the request that has it, or had it last.
    slots: Vec<Option<SeenRequest>>,
    /// By plane: the collection that runs.
    running: Vec<Option<SeenCollection>>,
    /// By plane: the merges that run.
    merging: Vec<Option<SeenMerges>>,
    record: DeviceRecord,
}

impl Recorder {
    /// Records what touches these windows.
    #[must_use]
    pub fn new(windows: Windows) -> Recorder {
        Recorder { windows, ..Recorder::default() }
    }

    /// Returns what was recorded, with what is still under way.
    #[must_use]
    pub fn into_record(mut self) -> DeviceRecord {
        for command in std::mem::take(&mut self.in_flight).into_values() {
            self.keep_command(command);
        }
        for request in std::mem::take(&mut self.slots).into_iter().flatten() {
            self.keep_request(request);
        }
        self.record.collections.extend(std::mem::take(&mut self.running).into_iter().flatten());
        self.record.merges.extend(std::mem::take(&mut self.merging).into_iter().flatten());
        self.record
    }

    fn keep_command(&mut self, command: FlashCommand) {
        if self.windows.meet(command.arrived, command.end()) {
            self.record.commands.insert(command.sequence, command);
        }
    }

    fn keep_request(&mut self, request: SeenRequest) {
        let until = request.settled.map_or(SimTime::FOREVER, |(at, _)| at);
        if self.windows.meet(request.submitted, until) {
            self.record.requests.push(request);
        }
    }

    /// Keeps how full the device is, if that has changed. At one time the last word counts.
    fn keep_levels(&mut self, at: SimTime, levels: Levels) {
        match self.record.levels.last_mut() {
            Some(last) if last.1 == levels => {}
            Some(last) if last.0 == at => last.1 = levels,
            _ => self.record.levels.push((at, levels)),
        }
    }

    /// The command whose end explains what happens now.
    fn cause(&self, now: SimTime) -> Option<u64> {
        self.cause.filter(|(at, _)| *at == now).map(|(_, sequence)| sequence)
    }

    fn add(&mut self, activity: &Activity, part: FlashPart) {
        let Activity { sequence, channel, from, until, .. } = *activity;
        if let Some(command) = self.in_flight.get_mut(&sequence) {
            command.channel = channel;
            command.spans.push(Span { part, from, until, suspended: false });
        }
    }
}

/// Returns the place of a number, which the list is made long enough for.
fn slot<T>(list: &mut Vec<Option<T>>, at: usize) -> &mut Option<T> {
    if list.len() <= at {
        list.resize_with(at + 1, || None);
    }
    &mut list[at]
}

impl Probe for Recorder {
    fn arrives(&mut self, arrival: &Arrival, command: &Command) {
        let Arrival { kind, origin, die, at, sequence, .. } = *arrival;
        let trigger = self.cause(at);
        let command = FlashCommand {
            sequence,
            kind,
            origin,
            page: command.page,
            die,
            channel: ChannelId::new(0),
            arrived: at,
            trigger,
            spans: Vec::new(),
            done: None,
            failed: false,
        };
        self.in_flight.insert(sequence, command);
    }

    fn cell(&mut self, activity: &Activity) {
        self.add(activity, FlashPart::Cells);
    }

    fn bus(&mut self, activity: &Activity) {
        self.add(activity, FlashPart::Bus);
    }

    fn decoding(&mut self, activity: &Activity) {
        self.add(activity, FlashPart::Decoder);
    }

    fn filling_dram(&mut self, activity: &Activity) {
        self.add(activity, FlashPart::Dram);
    }

    fn pause(&mut self, activity: &Activity, at: SimTime) {
        let Some(command) = self.in_flight.get_mut(&activity.sequence) else { return };
        let mut cells = command.spans.iter_mut().filter(|span| span.part == FlashPart::Cells);
        if let Some(span) = cells.next_back() {
            (span.until, span.suspended) = (at, true);
        }
    }

    fn follows(&self, at: SimTime) -> bool {
        self.windows.meet(at, at)
    }

    fn note(&mut self, at: SimTime, note: Note) {
        match note {
            Note::Submitted { request, tag } => {
                self.cause = None;
                let new = SeenRequest { tag, submitted: at, order: self.submitted, settled: None };
                self.submitted += 1;
                let old = slot(&mut self.slots, request.at()).replace(new);
                old.into_iter().for_each(|old| self.keep_request(old));
            }
            Note::Settled { request } => {
                let settled = Some((at, self.cause(at)));
                if let Some(seen) = slot(&mut self.slots, request.at()) {
                    seen.settled = settled;
                }
            }
            Note::Done { sequence } => {
                self.cause = Some((at, sequence));
                if let Some(mut command) = self.in_flight.remove(&sequence) {
                    command.done = Some(at);
                    self.keep_command(command);
                }
            }
            Note::Collects { plane, victim, valid, purpose } => {
                let new = SeenCollection { plane, victim, valid, purpose, from: at, until: None };
                *slot(&mut self.running, plane.at()) = Some(new);
            }
            Note::Collected { plane } => {
                if let Some(mut ended) = slot(&mut self.running, plane.at()).take()
                    && self.windows.meet(ended.from, at)
                {
                    ended.until = Some(at);
                    self.record.collections.push(ended);
                }
            }
            Note::Merges { plane, victim, merges, copies } => {
                let new = SeenMerges { plane, victim, merges, copies, from: at, until: None };
                *slot(&mut self.merging, plane.at()) = Some(new);
            }
            Note::Merged { plane } => {
                if let Some(mut ended) = slot(&mut self.merging, plane.at()).take()
                    && self.windows.meet(ended.from, at)
                {
                    ended.until = Some(at);
                    self.record.merges.push(ended);
                }
            }
            Note::Failed { sequence } => {
                if let Some(command) = self.record.commands.get_mut(&sequence) {
                    command.failed = true;
                }
            }
            Note::DieDied { die } => self.record.deaths.push((at, die)),
            Note::Levels(levels) => self.keep_levels(at, levels),
        }
    }
}
