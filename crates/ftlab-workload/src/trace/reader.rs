//! The reader: opens a trace, detects its format, sorts records by time and counts time from the
//! first one. It holds a window of records, never the whole trace.

use std::collections::BTreeMap;
use std::sync::Arc;

use ftlab::host::Op;
use ftlab::units::SimTime;
use serde::Serialize;

use crate::replay::{Batches, Source, SourceError};

use super::chance::FirstRequests;
use super::clock::ClockSteps;
use super::error::{ErrorKind, TraceError, TracePosition};
use super::folder::Gathered;
use super::format::{self, Codec, Detected, Format, Print, Remarks};
use super::formats::names::NamedStreams;
use super::formats::{self, parquet};
use super::gate::Gate;
use super::input::{self, Compression, Lines, Location, Meter, Opened};
use super::options::Options;
use super::parts::{self, OpenedParts};
use super::record::Record;
use super::shape::Silence;
use super::source::RecordSource;
use super::units::{TimeUnit, UnitNames, Units};
use super::words::counted;

/// The most records in a batch.
pub const BATCH: usize = 16 << 10;
/// How many requests at the beginning tell of the unit of addresses.
const LOOKED_AT: usize = 256;
/// How many records are put into their final order at a time, beyond the window.
const STRIDE: usize = 4 * BATCH;

/// A trace being read.
pub struct Trace {
    source: Box<dyn RecordSource>,
    format: &'static Format,
    compression: Compression,
    units: Units,
    name: String,
    options: Arc<Options>,
    gate: Gate,
    /// The records read: those before `handed` were returned, those before `ready` are in their
    /// final order.
    pending: Vec<Record>,
    handed: usize,
    ready: usize,
    more: bool,
    origin: Option<SimTime>,
    first: FirstRequests,
    silence: Silence,
    steps: ClockSteps,
    next_judgement: u64,
    meter: Arc<Meter>,
    /// Why the file may have another format than was detected.
    doubt: Option<String>,
}

/// Facts about a trace apart from its records; complete once all records were read.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Facts {
    /// The file, or a name for it.
    pub file: String,
    /// The name of the format.
    pub format: &'static str,
    /// How the file is compressed.
    pub compression: Compression,
    /// The units of its numbers.
    pub units: UnitNames,
    /// Requests read.
    pub requests: u64,
    /// Whether the requests have no times: played by them, all come at once.
    pub timeless: bool,
    /// Requests that came after a later one and were sorted into place.
    pub out_of_order: u64,
    /// Requests that came too late to be sorted, and got the time of their predecessor.
    pub clamped: u64,
    /// Malformed lines that were skipped.
    pub skipped_lines: u64,
    /// Requests without length that were accepted, that is, skipped.
    pub dropped_empty: u64,
    /// Requests that did not start or end on a sector and were widened.
    pub widened: u64,
    /// The names of the first 1024 streams by their numbers, if the file has names and not numbers.
    pub stream_names: Vec<String>,
    /// Assumptions about what the file does not say, with reasons.
    pub assumed: Vec<String>,
    /// Suspicious findings that the reader cannot decide.
    pub warnings: Vec<String>,
}

impl Facts {
    /// The facts about requests in memory: nothing was assumed to read them.
    pub(crate) fn of_requests(name: &str, requests: u64) -> Facts {
        Facts {
            file: name.to_owned(),
            format: "requests",
            compression: Compression::None,
            units: formats::parquet::FORMAT.units.into(),
            requests,
            timeless: false,
            out_of_order: 0,
            clamped: 0,
            skipped_lines: 0,
            dropped_empty: 0,
            widened: 0,
            stream_names: Vec::new(),
            assumed: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

/// Opens a trace.
pub fn open(location: impl Into<Location>, options: Options) -> Result<Trace, TraceError> {
    open_start(location.into(), options, u64::MAX)
}

/// Opens a trace among others of a format; what can't be told by its beginning has that of the others.
pub(crate) fn open_like(
    location: Location,
    options: Options,
    like: Option<&'static Format>,
) -> Result<Trace, TraceError> {
    open_part(location, options, u64::MAX, like)
}

/// Finds the line of a request, with its time as in the file, by reading the file once more: for errors of traces of several files.
#[cold]
pub(crate) fn place_of(
    file: &Location,
    options: &Options,
    like: &'static Format,
    record: &Record,
) -> Option<TracePosition> {
    let number = open_like(file.clone(), options.clone(), Some(like)).ok()?.line_of(record)?;
    let opened = input::open(file, u64::MAX, &Arc::new(Meter::default())).ok()?;
    let Opened::Bytes(mut lines, _) = opened else { return None };
    for _ in 1..number {
        lines.next().ok()??;
    }
    let line = lines.next().ok()??;
    Some(TracePosition::of(number, line, 0..line.len()))
}

/// Opens a trace of which at most `most` bytes of text are read.
pub(crate) fn open_start(
    location: Location,
    options: Options,
    most: u64,
) -> Result<Trace, TraceError> {
    open_part(location, options, most, None)
}

fn open_part(
    location: Location,
    options: Options,
    most: u64,
    like: Option<&'static Format>,
) -> Result<Trace, TraceError> {
    let name = location.name();
    let options = options.settled(&name)?;
    let meter = Arc::new(Meter::default());
    let opened: OpenedSource = match input::open(&location, most, &meter)? {
        Opened::Bytes(lines, compression) => {
            open_bytes(&name, (lines, compression), &options, like)?
        }
        // A constant, so that a program without tables does without their code.
        Opened::Parquet(_) if !cfg!(feature = "tables") => {
            let remedy = "convert it to text (`ftlab trace convert`), or use the program";
            let told = "this is a Parquet file, which is not read here";
            return Err(TraceError::new(ErrorKind::UnknownFormat, &name, told, remedy));
        }
        Opened::Parquet(table) => {
            if let Some(format) = options.format.filter(|format| !format.is_parquet()) {
                return Err(is_parquet(&name, format.name));
            }
            let source = parquet::open(table, &name, &options)?;
            (source, &parquet::FORMAT, Compression::None).into()
        }
        Opened::Archive(archive, compression) => {
            parts::archive(&name, archive, compression, &options)?.into()
        }
        Opened::Folder(path) => {
            parts::several(&name, Gathered::of_folder(&path)?, &options)?.into()
        }
        Opened::Several(files) => parts::several(&name, Gathered::named(files), &options)?.into(),
    };
    Ok(begin(name, opened, options, meter))
}

/// Opens a file that was unpacked.
pub(crate) fn open_unpacked(
    name: String,
    unpacked: (Lines, Compression),
    options: Options,
    like: Option<&'static Format>,
) -> Result<Trace, TraceError> {
    let opened = open_bytes(&name, unpacked, &options, like)?;
    Ok(begin(name, opened, options, Arc::new(Meter::default())))
}

/// A file whose format is known.
struct OpenedSource {
    source: Box<dyn RecordSource>,
    format: &'static Format,
    compression: Compression,
    /// Why it may have another format.
    doubt: Option<String>,
}

impl From<OpenedParts> for OpenedSource {
    fn from((source, format, compression): OpenedParts) -> OpenedSource {
        OpenedSource { source, format, compression, doubt: None }
    }
}

fn open_bytes(
    name: &str,
    (mut lines, compression): (Lines, Compression),
    options: &Options,
    like: Option<&'static Format>,
) -> Result<OpenedSource, TraceError> {
    let like = like.filter(|format| matches!(format.codec, Codec::Text { .. }));
    let known = |format| Detected { format, doubt: None };
    let Detected { format, doubt } = match options.format {
        Some(format) => known(format),
        None if !options.columns.is_empty() => known(&formats::csv::FORMAT),
        None => match format::detect_binary(lines.ahead(input::MAGIC_BYTES)?) {
            Some(format) => known(format),
            None => match (format::detect(name, lines.sample()?, options), like) {
                (Err(error), Some(like)) if error.kind == ErrorKind::UnknownFormat => known(like),
                (detected, _) => detected?,
            },
        },
    };
    let (Codec::Text { open, .. } | Codec::Binary { open, .. }) = &format.codec else {
        return Err(not_parquet(name));
    };
    Ok(OpenedSource { source: open(lines, format, options)?, format, compression, doubt })
}

fn begin(
    name: String,
    OpenedSource { source, format, compression, doubt }: OpenedSource,
    options: Options,
    meter: Arc<Meter>,
) -> Trace {
    let units = options.units(format);
    // An overridden unit is the resolution of a clock with whole numbers.
    let tick_ns = options.time_unit.map_or(format.tick.0, TimeUnit::ns);
    let options = Arc::new(options);
    Trace {
        source,
        format,
        compression,
        units,
        name,
        gate: Gate::new(Arc::clone(&options), tick_ns),
        options,
        pending: Vec::new(),
        handed: 0,
        ready: 0,
        more: true,
        origin: None,
        first: FirstRequests::default(),
        silence: Silence::default(),
        steps: ClockSteps::default(),
        next_judgement: BATCH as u64,
        meter,
        doubt,
    }
}

fn not_parquet(name: &str) -> TraceError {
    let remedy = "leave out `format` parquet, so that the format is detected";
    TraceError::new(ErrorKind::UnknownFormat, name, "this is text and not Parquet", remedy)
}

fn is_parquet(name: &str, forced: &str) -> TraceError {
    let remedy = format!("leave out `format` {forced}");
    TraceError::new(ErrorKind::UnknownFormat, name, "this is a Parquet file", remedy)
}

impl Trace {
    /// Replaces the content of `batch` by the next records in order of time, at most [`BATCH`].
    /// Returns false, with an empty batch, once there are none left.
    ///
    /// An error ends the trace; records returned before it are valid.
    pub fn next_batch(&mut self, batch: &mut Vec<Record>) -> Result<bool, TraceError> {
        batch.clear();
        if self.handed == self.ready {
            self.pending.drain(..self.handed);
            (self.handed, self.ready) = (0, 0);
            self.advance().inspect_err(|_| {
                self.more = false;
                self.pending.clear();
            })?;
        }
        let upto = self.ready.min(self.handed + BATCH);
        let Some(first) = self.pending.get(self.handed) else { return Ok(false) };
        let origin = *self.origin.get_or_insert(first.at);
        let invert = self.options.invert_ops;
        batch.extend(self.pending[self.handed..upto].iter().map(|record| Record {
            at: SimTime(record.at.0 - origin.0),
            op: if invert { inverted(record.op) } else { record.op },
            ..*record
        }));
        if self.silence.records == 0 {
            let placed = batch.iter().filter(|record| record.op != Op::Flush);
            placed.take(LOOKED_AT).for_each(|record| self.first.add(record));
        }
        self.silence.add(batch);
        self.steps.add(batch);
        self.handed = upto;
        Ok(true)
    }

    /// Reads until a stride of records is in its final order, or everything is.
    fn advance(&mut self) -> Result<(), TraceError> {
        let before = self.pending.len();
        let disorder = self.gate.out_of_order;
        let held = self.options.order_window.saturating_add(STRIDE);
        while self.more && self.pending.len() < held {
            // In batches, so that an impossible clock is refused early.
            let limit = held.min(self.pending.len() + BATCH);
            self.more = self.source.fill(&mut self.pending, limit, &mut self.gate)?;
            if self.gate.records >= self.next_judgement {
                self.next_judgement = self.gate.records.saturating_mul(2);
                self.judge_clock()?;
            }
        }
        if !self.more && self.pending.len() > before {
            self.judge_clock()?;
        }
        if self.gate.records == 0 {
            return Err(self.empty());
        }
        if self.gate.out_of_order > disorder {
            // A stable sort, so that records with the same time keep their order.
            self.pending.sort_by_key(|record| record.at);
        }
        self.ready = if self.more { STRIDE } else { self.pending.len() };
        if let Some(last) = self.ready.checked_sub(1) {
            self.gate.horizon = self.pending[last].at;
        }
        Ok(())
    }

    fn judge_clock(&mut self) -> Result<(), TraceError> {
        self.gate.timeless = self.source.remarks().timeless;
        self.gate.judge_clock(&self.name).map_err(|mut error| {
            if self.format.name == formats::ssdsim::FORMAT.name && self.options.format.is_none() {
                error.remedy += "; lines of DiskSim without decimals, in milliseconds, look like these of \
                                 SSDsim: `format` disksim";
            }
            error
        })
    }

    #[cold]
    fn empty(&self) -> TraceError {
        let mut problem = format!("it has no request, read as {}", self.format.name);
        let mut remedy =
            "check the file; if it has another format, name it with `format`".to_owned();
        let skipped = self.source.skipped();
        if let Some(first) = &skipped.first {
            let lines = left_out(skipped.lines);
            problem += &format!(": {lines} skipped, the first because of this: {}", first.problem);
        } else if let Some((instead, way)) = self.source.remarks().instead {
            problem += &format!(": {instead}");
            remedy = way;
        }
        let error = TraceError::new(ErrorKind::Empty, &self.name, problem, remedy);
        match skipped.first.as_ref().and_then(|first| first.place.as_deref()) {
            Some(place) => error.at(place.clone()),
            None => error,
        }
    }

    /// Reads on to a request with its time as in the file, and returns the number of its line, if the file has lines.
    #[cold]
    fn line_of(&mut self, record: &Record) -> Option<u64> {
        let is_it = |other: &Record| {
            let place = |record: &Record| (record.at, record.lba, record.sectors);
            place(other) == place(record)
        };
        let mut one = Vec::new();
        while self.source.fill(&mut one, 1, &mut self.gate).ok()? {
            if one.drain(..).any(|other| is_it(&other)) {
                return self.source.line();
            }
        }
        None
    }

    /// Returns the trace as a source for replay. It borrows, so that the facts remain available.
    pub fn as_source(&mut self) -> impl Source + '_ {
        Batches::new(
            |batch: &mut Vec<Record>| {
                self.next_batch(batch).map_err(|error| SourceError(error.into()))
            },
            None,
        )
    }

    /// Returns the time of the first request by the clock of the file; zero before one was read.
    pub(crate) fn origin(&self) -> SimTime {
        self.origin.unwrap_or(SimTime::ZERO)
    }

    /// What tells it from others.
    pub(crate) fn print(&self) -> Print {
        let hash = self.gate.repeats.hash();
        [hash, self.gate.records, self.origin().0, self.gate.duration_ns()]
    }

    /// The files within, if it is an archive, by what tells them from others.
    pub(crate) fn prints(&self) -> Option<&BTreeMap<Print, String>> {
        self.source.prints()
    }

    /// Whether its requests have no times, as far as it was read.
    #[must_use]
    pub fn is_timeless(&self) -> bool {
        self.gate.timeless
    }

    /// The names of its columns, if it has a head.
    pub(crate) fn columns(&self) -> Option<Vec<String>> {
        self.source.remarks().columns
    }

    /// Returns what the reader of its format assumed.
    pub(crate) fn own_remarks(&self) -> Vec<String> {
        self.source.remarks().assumed
    }

    /// Its streams so far, if its file has names of them.
    pub(crate) fn named_streams(&self) -> Option<NamedStreams> {
        self.source.remarks().named
    }

    /// The host whose disks its streams are, if its file tells.
    pub(crate) fn host(&self) -> Option<String> {
        self.source.remarks().host
    }

    /// What its file has and its requests do not.
    pub(crate) fn not_read(&self) -> Vec<String> {
        let format = self.format.not_read.iter().map(|what| (*what).to_owned());
        format.chain(self.source.remarks().not_read).collect()
    }

    /// Returns the format of the trace.
    #[must_use]
    pub fn format(&self) -> &'static Format {
        self.format
    }

    /// Returns the file, or a name for it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns how much of the file has been read; unknown for Parquet.
    #[must_use]
    pub fn meter(&self) -> Arc<Meter> {
        Arc::clone(&self.meter)
    }

    /// Returns the facts so far.
    #[must_use]
    pub fn facts(&self) -> Facts {
        let remarks = self.source.remarks();
        Facts {
            file: self.name.clone(),
            format: self.format.name,
            compression: self.compression,
            units: match self.options.columns.is_empty() {
                true => self.units.into(),
                false => self.options.columns.unit_names(),
            },
            requests: self.gate.records,
            timeless: remarks.timeless || self.gate.is_at_once(),
            out_of_order: self.gate.out_of_order,
            clamped: self.gate.late_records,
            skipped_lines: self.source.skipped().lines,
            dropped_empty: self.gate.dropped,
            widened: remarks.widened,
            stream_names: remarks.named.as_ref().map_or(Vec::new(), |named| named.names.clone()),
            assumed: self.assumed(&remarks),
            warnings: self.warnings(remarks),
        }
    }

    fn assumed(&self, remarks: &Remarks) -> Vec<String> {
        let mut all = Vec::new();
        if self.options.format.is_none() && self.options.columns.is_empty() {
            let why = match &self.format.codec {
                Codec::Text { .. } => "the first lines fit",
                Codec::Binary { .. } | Codec::Parquet => "the file is",
            };
            all.push(format!("format: {}, because {why} it", self.format.name));
        }
        let options = &self.options;
        if options.columns.is_empty() {
            all.extend(self.units_in_words());
        }
        if options.invert_ops {
            all.push("reads and writes are swapped, as said".to_owned());
        }
        all.extend(remarks.named.as_ref().map(NamedStreams::in_words));
        all.extend(super::doubts::continued(&self.gate));
        all.extend(remarks.assumed.iter().cloned());
        all
    }

    /// The units of the file's numbers, and who said so.
    fn units_in_words(&self) -> Vec<String> {
        let said = |stated: bool| if stated { "as said" } else { "as this format has it" };
        let mut all = Vec::new();
        if !self.gate.timeless {
            let (unit, why) = (self.units.time.words(), said(self.options.time_unit.is_some()));
            all.push(format!("times count {unit}, {why}"));
        }
        let (unit, why) = (self.units.address.words(), said(self.options.address_unit.is_some()));
        all.push(format!("addresses count {unit}, {why}"));
        let (unit, why) = (self.units.size.words(), said(self.options.size_unit.is_some()));
        all.push(format!("sizes count {unit}, {why}"));
        all
    }

    fn warnings(&self, remarks: Remarks) -> Vec<String> {
        let is_archive = remarks.is_archive;
        let mut all = remarks.warnings;
        all.extend(self.doubt.clone());
        all.extend(super::convert::unfinished_doubt(&self.name));
        all.extend(super::doubts::clock(self.format, &self.options, &self.gate));
        all.extend(super::doubts::tick(&self.gate, &self.steps));
        all.extend(super::doubts::sizes(self.format, &self.options, &self.gate));
        let widened = remarks.widened;
        all.extend(super::doubts::sectors(self.format, &self.options, &self.gate, widened));
        all.extend(super::doubts::bytes(self.format, &self.options, &self.first));
        all.extend(super::doubts::large(&self.gate));
        all.extend(super::doubts::seldom(&self.options, &self.gate));
        all.extend(super::doubts::date(self.format, &self.options, self.origin()));
        all.extend(super::doubts::silence(&self.silence, &self.gate));
        all.extend(super::doubts::seam(&self.gate, !self.more, is_archive));
        if self.gate.late_records > 0 {
            let (late, window) = (self.gate.late_records, self.options.order_window);
            all.push(format!(
                "{} too late to be sorted within {window} records and got the time of the one before",
                counted(late, "request came", "requests came")
            ));
        }
        let skipped = self.source.skipped();
        if let Some(first) = &skipped.first {
            let which = if skipped.lines > 1 { "the first being " } else { "" };
            let line = first.place.as_ref().map_or(String::new(), |place| place.named());
            let lines = left_out(skipped.lines);
            all.push(format!("{lines} skipped, {which}{line}: {}", first.problem));
        }
        if remarks.widened > 0 {
            all.push(format!(
                "{} on a sector of 512 bytes, and widened to it",
                counted(
                    remarks.widened,
                    "request does not begin or end",
                    "requests do not begin or end"
                )
            ));
        }
        all
    }
}

fn left_out(lines: u64) -> String {
    match lines {
        1 => "1 wrong line was".to_owned(),
        more => format!("{more} wrong lines were"),
    }
}

fn inverted(op: Op) -> Op {
    match op {
        Op::Read => Op::Write,
        Op::Write => Op::Read,
        other => other,
    }
}
