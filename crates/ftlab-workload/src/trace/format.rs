//! The seam: what a trace format is, the list of all that are known, and how a file's is found.
//!
//! A text format is one file in `formats/` with a [`LineFormat`] and a `FORMAT`, and one line in
//! [`FORMATS`].

use ftlab::options::text::nearest;
use ftlab::units::Nanos;

use super::error::{Bad, ErrorKind, TraceError, TracePosition};
use super::formats;
use super::input::Lines;
use super::options::Options;
use super::record::Record;
use super::source::{LineSource, RecordSource};
use super::units::Units;

/// A trace format.
pub struct Format {
    /// The name that options take.
    pub name: &'static str,
    /// What it is, in one line.
    pub doc: &'static str,
    /// Its columns, in order.
    pub columns: &'static str,
    /// What its numbers count unless the user says otherwise.
    pub units: Units,
    /// The finest step that a file of it can hold; times are written rounded down to it.
    pub tick: Nanos,
    /// Whether files of this format are about whose clock counts something else than the format
    /// says: then a high rate is doubted.
    pub unit_varies: bool,
    /// Where it is described.
    pub source: &'static str,
    pub(crate) codec: Codec,
}

/// How a format is read and written.
pub(crate) enum Codec {
    /// Lines of text.
    Text {
        /// How many of these lines hold requests of this format, and how many break it.
        fit: fn(&'static Format, &[u8], &Options) -> Fit,
        open: OpenLines,
        writer: fn() -> Box<dyn LineWriter>,
    },
    /// Parquet.
    Parquet,
}

/// Makes a reader of lines that are known to be of a format.
pub(crate) type OpenLines =
    fn(Lines, &'static Format, &Options) -> Result<Box<dyn RecordSource>, TraceError>;

impl std::fmt::Debug for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// Every known format. Detection asks them in this order; of formats that fit equally well the
/// first is taken.
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
    &formats::parquet::FORMAT,
];

/// The format called `name`; the error lists what is known.
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

/// Reads the lines of one format.
pub(crate) trait LineFormat: Send + Sized + 'static {
    /// Separates its columns.
    const SEPARATOR: u8;
    /// Which columns hold time, address and size, counted from zero, to point at in errors.
    const COLUMNS: Columns;
    /// The first line may name the columns.
    const HEADER: bool = false;

    /// A reader, knowing the beginning of the file.
    fn new(units: Units, options: &Options, sample: &[u8]) -> Self;

    /// The request in a line, its time as the file counts it; nothing if the line belongs to the
    /// format but holds no request.
    fn line(&mut self, line: &[u8]) -> Result<Option<Record>, Bad>;

    /// What the reader had to assume or noticed, now that it has read so far.
    fn remarks(&self) -> Remarks {
        Remarks::default()
    }
}

/// The place of columns in a line.
#[derive(Clone, Copy)]
pub(crate) struct Columns {
    pub time: usize,
    pub address: usize,
    pub size: usize,
}

/// What a reader has to say beside its records.
#[derive(Clone, Debug, Default)]
pub(crate) struct Remarks {
    pub assumed: Vec<String>,
    pub warnings: Vec<String>,
    /// Requests widened to whole sectors.
    pub widened: u64,
    /// There are no times in the file, by its nature.
    pub timeless: bool,
    /// What was in the file instead of requests, if there are none, and what to do.
    pub instead: Option<(String, String)>,
}

/// Writes records as lines of one format.
pub(crate) trait LineWriter: Send {
    /// What stands before the first record.
    fn begin(&mut self, _out: &mut Vec<u8>) {}
    /// One record; the error says why the format can't hold it.
    fn record(&mut self, record: &Record, out: &mut Vec<u8>) -> Result<(), &'static str>;
}

/// How well a format fits the beginning of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fit {
    pub requests: u32,
    /// Lines that belong to the format and hold no request.
    pub others: u32,
    pub broken: u32,
    /// The number of the first broken line, from one, and what is wrong with it.
    pub first_broken: Option<(u64, Bad)>,
}

/// How many lines detection looks at: blkparse output begins with events that are no requests.
pub(crate) const SAMPLE_LINES: usize = 256;

/// Lines that carry nothing in any format.
#[inline]
pub(crate) fn is_void(line: &[u8]) -> bool {
    match line.first() {
        None | Some(b'#') => true,
        Some(b' ' | b'\t' | b'\r') => line.trim_ascii().is_empty(),
        Some(_) => false,
    }
}

/// How well the format `F` fits.
pub(crate) fn fit<F: LineFormat>(format: &'static Format, sample: &[u8], options: &Options) -> Fit {
    let mut format = F::new(options.units(format), options, sample);
    let mut fit = Fit::default();
    let lines = sample.split(|&byte| byte == b'\n').take(SAMPLE_LINES);
    for (number, line) in lines.enumerate() {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if is_void(line) {
            continue;
        }
        match format.line(line) {
            Ok(Some(_)) => fit.requests += 1,
            Ok(None) => fit.others += 1,
            Err(_) if number == 0 && F::HEADER && is_header(line) => {}
            Err(bad) => {
                fit.broken += 1;
                fit.first_broken.get_or_insert((number as u64 + 1, bad));
            }
        }
    }
    fit
}

/// A first line that names columns begins with a letter; no request does.
pub(crate) fn is_header(line: &[u8]) -> bool {
    line.first().is_some_and(u8::is_ascii_alphabetic)
}

/// Opens lines as the format `F`.
pub(crate) fn open<F: LineFormat>(
    mut lines: Lines,
    format: &'static Format,
    options: &Options,
) -> Result<Box<dyn RecordSource>, TraceError> {
    let units = options.units(format);
    let reader = F::new(units, options, lines.sample()?);
    Ok(Box::new(LineSource::new(lines, reader, options.skip_malformed)))
}

/// The format of a text, from its beginning: the one under which most lines make sense.
pub(crate) fn detect(
    name: &str,
    sample: &[u8],
    options: &Options,
) -> Result<&'static Format, TraceError> {
    if sample.iter().all(u8::is_ascii_whitespace) {
        return Err(TraceError::new(
            ErrorKind::Empty,
            name,
            "there is nothing in it",
            "check that the file was fetched or written in full",
        ));
    }
    let mut best: Option<(&'static Format, Fit)> = None;
    let mut silent = None;
    for format in FORMATS.iter().copied() {
        let Codec::Text { fit, .. } = &format.codec else { continue };
        let fit = fit(format, sample, options);
        if fit.requests == 0 {
            silent = silent.or_else(|| (fit.others > fit.broken).then_some(format));
            continue;
        }
        // What reads at least half of the lines comes before what reads more of them, but breaks more.
        let rank = |fit: &Fit| (fit.requests >= fit.broken, fit.requests);
        if best.as_ref().is_none_or(|(_, known)| rank(&fit) > rank(known)) {
            best = Some((format, fit));
        }
    }
    match (best, silent) {
        // Where half of the lines are broken, reading tells what is wrong with the first of them.
        (Some((format, fit)), _) if fit.requests >= fit.broken => Ok(format),
        // The requests may come later; if not, the format knows what is there instead.
        (_, Some(format)) => Ok(format),
        (best, None) => Err(unknown(name, sample, best)),
    }
}

/// Control characters that text does not hold: tabs, line ends and the like apart.
fn is_no_text(byte: u8) -> bool {
    byte.is_ascii_control() && !byte.is_ascii_whitespace() && byte != 0x0b
}

#[cold]
fn unknown(name: &str, sample: &[u8], nearest: Option<(&Format, Fit)>) -> TraceError {
    if sample.iter().any(|&byte| is_no_text(byte)) {
        return TraceError::new(
            ErrorKind::UnknownFormat,
            name,
            "it is no text, and no compression or table that is known",
            format!(
                "check that it is the right file, and unpack it first; known formats: {}",
                names()
            ),
        );
    }
    let remedy =
        format!("force one with --format to see what is wrong; known formats: {}", names());
    let fails = |problem| TraceError::new(ErrorKind::UnknownFormat, name, problem, remedy);
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
        return fails(problem).at(TracePosition::of(number, line, bad.field));
    }
    let number = first_content(sample);
    let line = line_of(sample, number).trim_ascii_end();
    let error = fails("its first lines fit no known trace format".to_owned());
    if line.is_empty() { error } else { error.at(TracePosition::of(number, line, 0..line.len())) }
}

fn lines_of(sample: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    (1..).zip(sample.split(|&byte| byte == b'\n'))
}

fn line_of(sample: &[u8], number: u64) -> &[u8] {
    let found = lines_of(sample).find(|(known, _)| *known == number);
    found.map_or(&[], |(_, line)| line.strip_suffix(b"\r").unwrap_or(line))
}

/// The first line that holds something, or, if that seems to name columns, the one after it.
fn first_content(sample: &[u8]) -> u64 {
    let mut lines = lines_of(sample).filter(|(_, line)| !is_void(line));
    let Some((first, line)) = lines.next() else { return 1 };
    let data = lines.next().filter(|(_, next)| is_header(line) && next[0].is_ascii_digit());
    data.map_or(first, |(number, _)| number)
}

impl Format {
    /// Whether this is the columnar format.
    pub(crate) fn is_parquet(&self) -> bool {
        matches!(self.codec, Codec::Parquet)
    }
}
