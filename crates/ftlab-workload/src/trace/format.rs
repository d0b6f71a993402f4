//! Trace formats: their interface, the list of all, and detection.
//!
//! A text format is one file in `formats/` with a [`LineFormat`] and a `FORMAT`, and one line in
//! [`FORMATS`].

use std::ops::Range;

use ftlab::host::Op;
use ftlab::options::text::nearest;
use ftlab::units::{Lba, Nanos, SimTime};

use super::chance::FirstRequests;
use super::error::{Bad, ErrorKind, TraceError, TracePosition};
use super::fields::{BLANKS, Fields};
use super::formats;
use super::formats::names::NamedStreams;
use super::gate::RecordPart;
use super::head::{self, Head, HeadRule, OwnColumns};
use super::input::Lines;
use super::lastline::UsualLine;
use super::options::Options;
use super::record::Record;
use super::source::{BinarySource, LineSource, NamesOfColumns, RecordSource};
use super::suggest;
use super::units::{Epoch, Units};

/// A trace format.
pub struct Format {
    /// Its name in options.
    pub name: &'static str,
    /// Its description, in one line.
    pub doc: &'static str,
    /// Its columns, in order.
    pub columns: &'static str,
    /// The default units of its numbers.
    pub units: Units,
    /// The resolution of its times; written times are rounded down to it.
    pub tick: Nanos,
    /// Whether there are files of this format with another time unit; then a high rate gives a
    /// warning.
    pub unit_varies: bool,
    /// Its specification.
    pub source: &'static str,
    /// What its files hold and records don't, so that no conversion keeps it.
    pub not_read: &'static [&'static str],
    /// Whether files of this format may have addresses in bytes and not in sectors; then addresses that look so give a warning.
    pub(crate) address_varies: bool,
    /// Since when its times count.
    pub(crate) epoch: Epoch,
    pub(crate) codec: Codec,
}

impl Format {
    /// The requests of a block device that it can't express, in words: flushes, trims, writes with FUA.
    #[must_use]
    pub fn lacks(&self) -> Vec<&'static str> {
        let Codec::Text { writer: Some(writer), .. } = &self.codec else { return Vec::new() };
        let mut writer = writer();
        let records = [(Op::Flush, 0, false), (Op::Trim, 8, false), (Op::Write, 8, true)];
        let refused = records.into_iter().filter_map(|(op, sectors, fua)| {
            let record = Record { at: SimTime::ZERO, op, lba: Lba(0), sectors, stream: 0, fua };
            writer.record(&record, &mut Vec::new()).err()
        });
        refused.collect()
    }

    /// Whether traces can be written in it, too.
    #[must_use]
    pub fn is_written(&self) -> bool {
        match &self.codec {
            Codec::Text { writer, .. } => writer.is_some(),
            Codec::Binary { .. } => false,
            Codec::Parquet => true,
        }
    }
}

/// How a format is read and written.
pub(crate) enum Codec {
    /// Lines of text.
    Text {
        /// Counts how many of these lines are requests of this format, and how many violate it.
        fit: fn(&'static Format, &[u8], &Options, Option<&Head>) -> Fit,
        open: OpenLines,
        /// None if it is only read.
        writer: Option<fn() -> Box<dyn LineWriter>>,
    },
    /// Records of bytes, which are only read.
    Binary {
        /// Whether a file that begins so is of this format.
        begins: fn(&[u8]) -> bool,
        open: OpenLines,
    },
    /// Parquet.
    Parquet,
}

/// Creates a reader of a file of a known format.
pub(crate) type OpenLines =
    fn(Lines, &'static Format, &Options) -> Result<Box<dyn RecordSource>, TraceError>;

impl std::fmt::Debug for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// All known formats. Detection tries them in this order; of equally good formats it takes the
/// first.
pub static FORMATS: &[&Format] = &[
    &formats::msr::FORMAT,
    &formats::spc::FORMAT,
    &formats::ssdsim::FORMAT,
    &formats::mqsim::FORMAT,
    &formats::disksim::FORMAT,
    &formats::blkparse::FORMAT,
    &formats::fio_v2::FORMAT,
    &formats::fio_v3::FORMAT,
    &formats::alibaba::FORMAT,
    &formats::tencent::FORMAT,
    &formats::systor::FORMAT,
    &formats::fiu::FORMAT,
    &formats::disksim_validate::FORMAT,
    &formats::disksim::OUTTRACE,
    &formats::wpa::FORMAT,
    &formats::xperf::FORMAT,
    &formats::diskmon::FORMAT,
    &formats::biosnoop::FORMAT,
    &formats::ftrace::FORMAT,
    &formats::blktrace::FORMAT,
    &formats::vscsi::FORMAT,
    &formats::hp_srt::FORMAT,
    &formats::oracle_general::FORMAT,
    &formats::csv::FORMAT,
    &formats::parquet::FORMAT,
];

/// Returns the format named `name`; the error lists the known formats.
pub fn named(name: &str) -> Result<&'static Format, TraceError> {
    FORMATS.iter().copied().find(|format| format.name == name).ok_or_else(|| {
        let near = nearest(name, FORMATS.iter().map(|format| format.name))
            .map_or(String::new(), |near| format!("did you mean `{near}`? "));
        let remedy = format!("{near}known formats: {}", names());
        TraceError::new(
            ErrorKind::UnknownFormat,
            name,
            "there is no trace format of this name",
            remedy,
        )
    })
}

fn names() -> String {
    FORMATS.iter().map(|format| format.name).collect::<Vec<_>>().join(", ")
}

/// Reads lines of one format.
pub(crate) trait LineFormat: Send + Sized + 'static {
    /// The separator of its columns.
    const SEPARATOR: u8;
    /// The columns of time, address and size, counted from zero, for places in errors.
    const COLUMNS: Columns;
    /// Whether it finds its columns by their names, each time, and so knows heads itself.
    const FINDS_COLUMNS: bool = false;
    /// The names of columns with which files of this format begin, if they do.
    const HEADS: &'static [&'static [&'static str]] = &[];
    /// What stands between the fields of a line, if each line of a file has as many of them: a field too few or too many shifts the
    /// others, which may still fit.
    const EVEN: Option<u8> = None;
    /// The column with a 0 or 1 for the operation, counted from zero, and what a 1 is.
    const FLAG: Option<(usize, Op)> = None;
    /// Whether its files have several events of one request, of which one kind counts.
    const HAS_EVENTS: bool = false;
    /// The column of its streams, counted from zero, if it has nothing but numbers that tables of other columns may have, too.
    const STREAM: Option<usize> = None;

    /// Creates a reader; `sample` is the beginning of the file.
    fn new(units: Units, options: &Options, sample: &[u8]) -> Self;

    /// Parses a line to a request, with its time as in the file; `None` if the line belongs to the
    /// format but is not a request.
    fn line(&mut self, line: &[u8]) -> Result<Option<Record>, Bad>;

    /// Returns the place in a line of a part of its request.
    #[cold]
    fn place(line: &[u8], part: RecordPart) -> Range<usize> {
        let index = match part {
            RecordPart::Time => Self::COLUMNS.time,
            RecordPart::Address => Self::COLUMNS.address,
            RecordPart::Size => Self::COLUMNS.size,
        };
        // The separator is a constant of the type, which a const argument may not name.
        match Self::SEPARATOR == BLANKS {
            true => Fields::<BLANKS>::nth(line, index),
            false => Fields::<b','>::nth(line, index),
        }
    }

    /// Whether the last field of a line is a number that is read, and of which nothing tells how long it is.
    fn reads_last_number(&self) -> bool {
        false
    }

    /// What a head that its lines don't show says against it, and the number of that line. Detection goes by the lines, so that this is
    /// told and no other format found.
    fn refusal(&self) -> Option<(u64, Bad)> {
        None
    }

    /// Returns the reader's assumptions and observations so far.
    fn remarks(&self) -> Remarks {
        Remarks::default()
    }
}

/// Reads records of bytes of one format.
pub(crate) trait BinaryFormat: Send + Sized + 'static {
    /// The longest record, in bytes.
    const LONGEST: usize;
    /// Whether its files have several events of one request, of which one kind counts.
    const HAS_EVENTS: bool = false;

    /// Creates a reader of a file that begins so; the error says what it lacks.
    fn new(units: Units, options: &Options, start: &[u8]) -> Result<Self, Bad>;

    /// Takes the next record from the bytes ahead, of which there are [`LONGEST`](Self::LONGEST) unless the file ends.
    /// None if the file ends within the record.
    fn record(&mut self, ahead: &[u8]) -> Result<Option<Taken>, Bad>;

    /// Returns the reader's assumptions and observations so far.
    fn remarks(&self) -> Remarks;
}

/// What was taken from a file of records of bytes.
pub(crate) struct Taken {
    /// How many bytes.
    pub length: usize,
    /// The request, with its time as in the file; none if the record is something else.
    pub request: Option<Record>,
}

/// The indices of columns in a line.
#[derive(Clone, Copy)]
pub(crate) struct Columns {
    pub time: usize,
    pub address: usize,
    pub size: usize,
}

/// What tells a trace from others: a hash of its requests apart from their times, how many they are, when they begin, and how long
/// they last.
pub(crate) type Print = [u64; 4];

/// Remarks of a reader.
#[derive(Clone, Debug, Default)]
pub(crate) struct Remarks {
    pub assumed: Vec<String>,
    pub warnings: Vec<String>,
    /// The streams, if the file has names of them and not numbers.
    pub named: Option<NamedStreams>,
    /// The host whose disks its streams are, if the file tells.
    pub host: Option<String>,
    /// Requests widened to whole sectors.
    pub widened: u64,
    /// Whether the format has no times.
    pub timeless: bool,
    /// Whether it is of the files of an archive, which are read in its order.
    pub is_archive: bool,
    /// The names of its columns, if its first line has them.
    pub columns: Option<Vec<String>>,
    /// What the file has and its requests do not, beyond what is so with all files of the format.
    pub not_read: Vec<String>,
    /// If there are no requests: what the file contains instead, and the remedy.
    pub instead: Option<(String, String)>,
}

/// Writes records as lines of one format.
pub(crate) trait LineWriter: Send {
    /// Writes the header.
    fn begin(&mut self, _out: &mut Vec<u8>) {}
    /// Writes a record; the error names what the format cannot express.
    fn record(&mut self, record: &Record, out: &mut Vec<u8>) -> Result<(), &'static str>;
    /// What its reader should know of the lines so far.
    fn remark(&self) -> Option<&'static str> {
        None
    }
}

/// How well a format fits the beginning of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fit {
    pub requests: u32,
    /// Lines that belong to the format but are not requests.
    pub others: u32,
    pub broken: u32,
    /// The number of the first malformed line, from one, and its error.
    pub first_broken: Option<(u64, Bad)>,
    /// Whether the first line names columns, but not as files of this format do.
    pub has_foreign_head: bool,
    /// Why the requests can't be of this format.
    pub contradiction: Option<String>,
    /// Why they may not be.
    pub doubt: Option<String>,
}

/// The format of a file.
pub(crate) struct Detected {
    pub format: &'static Format,
    /// Why it may be another.
    pub doubt: Option<String>,
}

/// How many bytes at its beginning a reader of records of bytes sees.
const SAMPLE_BYTES: usize = 64 << 10;
/// How many lines detection reads; blkparse output starts with events that are not requests.
pub(crate) const SAMPLE_LINES: usize = 256;

/// How DOS ends a text (Ctrl-Z).
const END_OF_TEXT: u8 = 0x1a;

/// Whether a line is empty or a comment in every format.
#[inline]
pub(crate) fn is_void(line: &[u8]) -> bool {
    match line.first() {
        None | Some(b'#') => true,
        Some(b' ' | b'\t' | b'\r') => line.trim_ascii().is_empty(),
        Some(&END_OF_TEXT) => line.len() == 1,
        Some(_) => false,
    }
}

/// Returns how well the format `F` fits.
pub(crate) fn fit<F: LineFormat>(
    format: &'static Format,
    sample: &[u8],
    options: &Options,
    head: Option<&Head>,
) -> Fit {
    let mut reader = F::new(options.units(format), options, sample);
    let (mut fit, mut first_requests) = (Fit::default(), FirstRequests::default());
    let mut begun = false;
    let has_foreign_comment = |head: &Head| head.is_comment && !head.is_of(F::HEADS);
    fit.has_foreign_head = head.is_some_and(has_foreign_comment);
    let lines = sample.split(|&byte| byte == b'\n').take(SAMPLE_LINES);
    for (number, line) in lines.enumerate() {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if is_void(line) {
            continue;
        }
        let first = !std::mem::replace(&mut begun, true);
        match reader.line(line) {
            Ok(Some(record)) => {
                fit.requests += 1;
                first_requests.add(&record);
            }
            Ok(None) => fit.others += 1,
            Err(_) if first && head.is_some_and(|head| head.is_of(F::HEADS)) => {}
            Err(bad) => {
                fit.has_foreign_head |= first && head.is_some_and(|head| !head.is_comment);
                fit.broken += 1;
                fit.first_broken.get_or_insert((number as u64 + 1, bad));
            }
        }
    }
    // What a head says counts more than numbers.
    let has_own_head = head.is_some_and(|head| head.is_of(F::HEADS));
    if let Some(stream) = F::STREAM.filter(|_| !has_own_head) {
        fit.contradiction = first_requests.contradiction(stream);
        fit.doubt = first_requests.doubt(format, options, [stream, F::COLUMNS.time]);
    }
    fit
}

/// The binary format of a file that begins so.
pub(crate) fn detect_binary(start: &[u8]) -> Option<&'static Format> {
    FORMATS.iter().copied().find(|format| match &format.codec {
        Codec::Binary { begins, .. } => begins(start),
        _ => false,
    })
}

/// Refuses a choice among events for a file that has none.
pub(crate) fn refuse_event(
    name: &str,
    format: &Format,
    options: &Options,
    has_events: bool,
) -> Result<(), TraceError> {
    if has_events || options.blkparse_event.is_none() {
        return Ok(());
    }
    let problem = format!(
        "`blkparse_event` chooses among the events of a block layer, but this is {}, where each request stands once",
        format.name
    );
    let remedy = "leave `blkparse_event` out; or, if it is output of blktrace, blkparse or ftrace, name that with `format`";
    Err(TraceError::new(ErrorKind::Unsupported, name, problem, remedy))
}

/// Opens records of bytes in the format `F`.
pub(crate) fn open_binary<F: BinaryFormat>(
    mut lines: Lines,
    format: &'static Format,
    options: &Options,
) -> Result<Box<dyn RecordSource>, TraceError> {
    let name = lines.name().to_owned();
    refuse_event(&name, format, options, F::HAS_EVENTS)?;
    let reader = F::new(options.units(format), options, lines.ahead(SAMPLE_BYTES)?)
        .map_err(|bad| bad.of_record(&name, 1))?;
    Ok(Box::new(BinarySource::new(lines, reader, options.skip_malformed)))
}

/// Opens lines in the format `F`.
pub(crate) fn open<F: LineFormat>(
    mut lines: Lines,
    format: &'static Format,
    options: &Options,
) -> Result<Box<dyn RecordSource>, TraceError> {
    let (units, name) = (options.units(format), lines.name().to_owned());
    refuse_event(&name, format, options, F::HAS_EVENTS)?;
    let sample = lines.sample()?;
    let head = head::of(sample);
    let (reader, usual) = (F::new(units, options, sample), UsualLine::of(sample, head.as_ref()));
    let line = |head: &Head| (head.number, line_of(sample, head.number).to_vec());
    let names = head.as_ref().map(line);
    let head = head.filter(|_| !F::FINDS_COLUMNS);
    let flag = F::FLAG.filter(|_| !options.invert_ops);
    let own = OwnColumns { columns: F::COLUMNS, flag, units };
    let rule = |head: &Head| head.rule(format, F::HEADS, &own, sample);
    let rule = head.as_ref().map_or(HeadRule::None, rule);
    // A comment is never read, so it is refused here.
    let of_comment = match &rule {
        HeadRule::Refused { number, why } if head.is_some_and(|head| head.is_comment) => {
            Some((*number, why.clone()))
        }
        _ => reader.refusal(),
    };
    if let Some((number, why)) = of_comment {
        let place = TracePosition::of(number, line_of(sample, number), why.field);
        let remedy = why.remedy.unwrap_or_default();
        return Err(TraceError::new(why.kind, &name, why.problem, remedy).at(place));
    }
    let head = NamesOfColumns { rule, line: names };
    Ok(Box::new(LineSource::new(lines, reader, head, usual, options.skip_malformed)))
}

/// Detects the format of a text from its beginning: the one in which most lines are valid.
pub(crate) fn detect(name: &str, sample: &[u8], options: &Options) -> Result<Detected, TraceError> {
    if sample.iter().all(u8::is_ascii_whitespace) {
        return Err(TraceError::new(
            ErrorKind::Empty,
            name,
            "the file is empty",
            "check that the file was fetched or written in full",
        ));
    }
    let mut best: Option<(&'static Format, Fit)> = None;
    // A format that fits but for the names of columns, or what the numbers say.
    let mut misfit = None;
    let head = head::of(sample);
    let mut silent = None;
    for format in FORMATS.iter().copied() {
        let Codec::Text { fit, .. } = &format.codec else { continue };
        let fit = fit(format, sample, options, head.as_ref());
        if fit.requests == 0 {
            silent = silent.or_else(|| (fit.others > fit.broken).then_some(format));
            continue;
        }
        if fit.has_foreign_head || fit.contradiction.is_some() {
            misfit = misfit.or_else(|| misfit_of(format, fit, head.as_ref()));
            continue;
        }
        // A format that reads at least half of the lines precedes one that reads more of them but
        // fails more often.
        let rank = |fit: &Fit| (fit.requests >= fit.broken, fit.requests);
        if best.as_ref().is_none_or(|(_, known)| rank(&fit) > rank(known)) {
            best = Some((format, fit));
        }
    }
    match (best, silent) {
        // If up to half of the lines are malformed, reading reports the first of them.
        (Some((format, fit)), _) if fit.requests >= fit.broken => {
            Ok(Detected { format, doubt: fit.doubt })
        }
        // Requests may come later; otherwise the format knows what the file contains instead.
        (_, Some(format)) => Ok(Detected { format, doubt: None }),
        (best, None) => Err(unknown(name, sample, best, misfit, head)),
    }
}

/// A format that would read most lines, and why the file is none of its.
struct ChanceFit {
    format: &'static Format,
    why: String,
}

#[cold]
fn misfit_of(format: &'static Format, fit: Fit, head: Option<&Head>) -> Option<ChanceFit> {
    let names = |head: &Head| format!("line {} names the columns of no known format", head.number);
    let why = fit.contradiction.filter(|_| !fit.has_foreign_head).or_else(|| head.map(names))?;
    (fit.requests >= fit.broken).then_some(ChanceFit { format, why })
}

/// Whether a byte is a control character that text does not contain, unlike tabs and line ends.
fn is_no_text(byte: u8) -> bool {
    byte.is_ascii_control() && !byte.is_ascii_whitespace() && byte != 0x0b
}

#[cold]
fn unknown(
    name: &str,
    sample: &[u8],
    nearest: Option<(&Format, Fit)>,
    misfit: Option<ChanceFit>,
    head: Option<Head>,
) -> TraceError {
    if sample.iter().any(|&byte| is_no_text(byte)) {
        return TraceError::new(
            ErrorKind::UnknownFormat,
            name,
            "it is not text, and not a known compression or table",
            format!(
                "check that it is the right file, and decompress it first; name a format that can't be told by its \
                 beginning (oracle-general) with `format`; known formats: {}",
                names()
            ),
        );
    }
    if let Some((lacks, remedy)) = suggest::half(sample) {
        return TraceError::new(ErrorKind::Unsupported, name, lacks, remedy);
    }
    let force = format!("force one with `format` to see what is wrong; known formats: {}", names());
    let fails = |problem, remedy| TraceError::new(ErrorKind::UnknownFormat, name, problem, remedy);
    if let Some((format, Fit { requests, broken, first_broken: Some((number, bad)), .. })) = nearest
    {
        let line = line_of(sample, number);
        let problem = format!(
            "its first lines fit no known trace format; {} comes nearest and reads {requests} of {}, but \
             not this one: {}",
            format.name,
            requests + broken,
            bad.problem
        );
        return fails(problem, force).at(TracePosition::of(number, line, bad.field));
    }
    let guess = suggest::guess(sample);
    let own = guess.in_words().map_or(String::new(), |own| format!("{own}; or "));
    let shown = guess.shown;
    if let Some(ChanceFit { format, why }) = misfit {
        let problem = format!("its numbers would fit {}, but {why}{shown}", format.name);
        let remedy = format!("{own}`format` {} reads it as {}", format.name, format.columns);
        // Among files of that format it is none, either.
        return TraceError::new(ErrorKind::Unsupported, name, problem, remedy);
    }
    let number = first_content(sample, head.is_some());
    let line = line_of(sample, number).trim_ascii_end();
    let problem = format!("its first lines fit no known trace format{shown}");
    let error = fails(problem, own + &force);
    if line.is_empty() { error } else { error.at(TracePosition::of(number, line, 0..line.len())) }
}

fn lines_of(sample: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    (1..).zip(sample.split(|&byte| byte == b'\n'))
}

fn line_of(sample: &[u8], number: u64) -> &[u8] {
    let found = lines_of(sample).find(|(known, _)| *known == number);
    found.map_or(&[], |(_, line)| line.strip_suffix(b"\r").unwrap_or(line))
}

/// Returns the first line with content or, if that contains column names, the line after it.
fn first_content(sample: &[u8], has_head: bool) -> u64 {
    let mut lines = lines_of(sample).filter(|(_, line)| !is_void(line));
    lines.nth(usize::from(has_head)).map_or(1, |(number, _)| number)
}

impl Format {
    pub(crate) fn is_parquet(&self) -> bool {
        matches!(self.codec, Codec::Parquet)
    }
}
