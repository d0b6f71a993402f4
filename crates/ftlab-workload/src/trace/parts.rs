//! A trace in several files: those of a folder or of several arguments, merged by time, or those of an archive, one after another.
//!
//! All files have one clock. Of a folder, a file is opened when the merge comes to its first request, so files that follow each
//! other are read one at a time however many there are. The files of an archive can only be read in its order.

use std::collections::{BTreeMap, VecDeque};

use ftlab::options::text::clip;
use ftlab::units::SimTime;

use super::archive::{Archive, OddEnd, is_beside};
use super::character::MOST_STREAMS;
use super::error::{ErrorKind, TraceError};
use super::folder::Gathered;
use super::format::{Format, Print, Remarks};
use super::formats::names::Names;
use super::gate::{Gate, Refusal};
use super::input::{self, Compression, Location};
use super::mixed::FormatsSeen;
use super::options::Options;
use super::reader::{self, Trace};
use super::record::Record;
use super::source::{RecordSource, Skipped};
use super::words::counted;

/// The most files that are read at once.
const MOST_AT_ONCE: usize = 512;
/// How many remarks on files a trace passes on, and how many names of files that are left out.
const MOST_REMARKS: usize = 12;

/// So many requests that another file has, too, are no chance.
const LEAST_DOUBLES: u64 = 8;

/// Where further files come from.
enum Supply {
    /// Files by the time of their first requests.
    Files(VecDeque<(SimTime, Location)>),
    Archive {
        archive: Archive,
        name: String,
    },
}

/// A file that is being read.
struct OpenPart {
    trace: Trace,
    /// Which of the files it is.
    number: u32,
    batch: Vec<Record>,
    at: usize,
    /// If its file has names of its streams: their numbers here, by number there.
    named: Option<Vec<u32>>,
}

/// Requests of several files.
pub(crate) struct PartsSource {
    supply: Supply,
    options: Options,
    format: &'static Format,
    active: Vec<OpenPart>,
    opened: u32,
    /// The first table with names of columns, and these.
    head: Option<(String, Vec<String>)>,
    /// The names of all that were opened, for errors, and where they are, if they can be read again.
    names: Vec<(String, Option<Location>)>,
    /// Whether each file has streams of its own: their numbers here by file and number there.
    streams: Option<BTreeMap<(u32, u32), u32>>,
    /// The streams of files that have names of them, and what has the names: one name is one stream in all files.
    named: Names,
    named_what: &'static str,
    /// The host of the first file, and a warning if another file is of another one.
    host: Option<String>,
    other_host: Option<String>,
    beside: Vec<String>,
    /// Of the files of an archive so far.
    formats: FormatsSeen,
    /// The files read so far, by a print of their requests.
    seen: BTreeMap<Print, String>,
    remarks: Remarks,
    skipped: Skipped,
    /// The last request with its file, and how many equal the one before of another file.
    last: Option<(Record, u32)>,
    doubles: u64,
    /// Whether files were told to be the same, whose requests are all among those.
    has_repeated: bool,
    /// What is odd about the end of an archive.
    odd_end: Option<OddEnd>,
}

/// The parts of a trace, and the format of the first of them.
pub(crate) type OpenedParts = (Box<dyn RecordSource>, &'static Format, Compression);

/// Opens several files.
pub(crate) fn several(
    name: &str,
    gathered: Gathered,
    options: &Options,
) -> Result<OpenedParts, TraceError> {
    let Gathered { files, beside, folders, separate } = gathered;
    let (mut begins, mut formats) = (Vec::new(), FormatsSeen::default());
    for file in files {
        let trace = reader::open_like(file.clone(), options.clone(), formats.first());
        let mut trace = trace.map_err(|error| if separate { error } else { no_part(error) })?;
        formats.add(trace.format(), trace.name());
        // Of files that don't belong together, only the formats count.
        if !formats.differ() {
            let read = trace.next_batch(&mut Vec::new());
            read.map_err(|error| if separate { error } else { no_part(error) })?;
        }
        begins.push((trace.origin(), file));
    }
    let Some(format) = formats.first() else { return Err(no_file(name)) };
    if formats.differ() {
        return Err(formats.refusal(name));
    }
    // A stable sort: files that begin at once stay in the order of their names.
    begins.sort_by_key(|(at, _)| *at);
    let mut source = PartsSource::new(Supply::Files(begins.into()), format, options);
    source.streams = separate.then(BTreeMap::new);
    source.beside = beside;
    source.remarks.warnings.extend(partitions(&folders));
    if !folders.is_empty() {
        let listed = folders.iter().take(MOST_REMARKS).map(String::as_str).collect::<Vec<_>>();
        let count = counted(folders.len() as u64, "folder in it is", "folders in it are");
        source.remarks.assumed.push(format!("{count} read with it: {}", listed.join(", ")));
    }
    Ok((Box::new(source), format, Compression::None))
}

/// Opens the files of an archive.
pub(crate) fn archive(
    name: &str,
    archive: Archive,
    compression: Compression,
    options: &Options,
) -> Result<OpenedParts, TraceError> {
    let supply = Supply::Archive { archive, name: name.to_owned() };
    // Until the first file says what it is.
    let mut source = PartsSource::new(supply, &super::formats::csv::FORMAT, options);
    if !source.open_next()? {
        return Err(no_file(name));
    }
    let format = source.active[0].trace.format();
    source.format = format;
    Ok((Box::new(source), format, compression))
}

/// Folders that are called by a column and its value, as programs write tables in parts: the files lack that column.
fn partitions(folders: &[String]) -> Option<String> {
    let name = |folder: &String| folder.rsplit('/').next().unwrap_or_default().to_owned();
    let folder = folders.iter().map(name).find(|name| {
        name.split_once('=').is_some_and(|(column, value)| !column.is_empty() && !value.is_empty())
    })?;
    let column = folder.split('=').next().unwrap_or_default();
    Some(format!(
        "the folder {} tells a column that its files lack, and that is not read: write the table without parts, or add the column \
         ({}) to the files",
        clip(&folder),
        clip(column)
    ))
}

#[cold]
fn no_file(name: &str) -> TraceError {
    let remedy = "name a trace, or a folder or an archive with its files";
    TraceError::new(ErrorKind::Empty, name, "there is no trace in it", remedy)
}

impl PartsSource {
    fn new(supply: Supply, format: &'static Format, options: &Options) -> PartsSource {
        PartsSource {
            supply,
            format,
            options: options.clone(),
            active: Vec::new(),
            opened: 0,
            head: None,
            names: Vec::new(),
            streams: None,
            named: Names::default(),
            named_what: "",
            host: None,
            other_host: None,
            beside: Vec::new(),
            formats: FormatsSeen::default(),
            seen: BTreeMap::new(),
            remarks: Remarks::default(),
            skipped: Skipped::default(),
            last: None,
            doubles: 0,
            has_repeated: false,
            odd_end: None,
        }
    }

    /// Opens the next file. Returns false if there is none.
    fn open_next(&mut self) -> Result<bool, TraceError> {
        let mut location = None;
        let trace = match &mut self.supply {
            Supply::Files(files) => {
                let Some((_, file)) = files.pop_front() else { return Ok(false) };
                location = Some(file.clone());
                reader::open_like(file, self.options.clone(), Some(self.format))?
            }
            Supply::Archive { archive, name } => loop {
                let next = archive.next();
                let next = next.map_err(|error| not_unpacked(name, self.opened, &error))?;
                let Some((file, bytes)) = next else {
                    self.odd_end = archive.odd_end();
                    return Ok(false);
                };
                if is_beside(&file) {
                    self.beside.push(file);
                    continue;
                }
                let within = format!("{name}, {file}");
                let (mut lines, compression) = input::unpacked(&within, bytes)?;
                if lines.ahead(1)?.is_empty() {
                    self.beside.push(format!("{file} (empty)"));
                    continue;
                }
                let opened = (lines, compression);
                let first = self.formats.first();
                let trace = reader::open_unpacked(within, opened, self.options.clone(), first)?;
                self.formats.add(trace.format(), trace.name());
                if self.formats.differ() {
                    return Err(self.formats.refusal(name));
                }
                break trace;
            },
        };
        if self.active.len() >= MOST_AT_ONCE {
            return Err(too_many(trace.name()));
        }
        self.names.push((trace.name().to_owned(), location));
        let mut part =
            OpenPart { trace, number: self.opened, batch: Vec::new(), at: 0, named: None };
        self.opened += 1;
        part.trace.next_batch(&mut part.batch)?;
        if let Some(named) = part.trace.named_streams().filter(|_| self.streams.is_none()) {
            (self.named_what, part.named) = (named.what, Some(Vec::new()));
        }
        self.active.push(part);
        Ok(true)
    }

    /// Opens all files that begin before the next request.
    fn open_due(&mut self) -> Result<(), TraceError> {
        loop {
            let next = self.active.iter().map(OpenPart::time).min();
            let is_due = match (&self.supply, next) {
                (_, None) => true,
                (Supply::Files(files), Some(next)) => {
                    files.front().is_some_and(|(begins, _)| *begins <= next)
                }
                (Supply::Archive { .. }, Some(_)) => false,
            };
            if !is_due || !self.open_next()? {
                return Ok(());
            }
        }
    }

    /// Takes the earliest request, and the number of its file; of equally early ones that of the file opened first. `None` at the end.
    fn take(&mut self, gate: &mut Gate) -> Result<Option<(Record, u32)>, TraceError> {
        self.open_due()?;
        let earliest = self.active.iter().enumerate().min_by_key(|(at, part)| (part.time(), *at));
        let Some((index, _)) = earliest else { return Ok(None) };
        let part = &mut self.active[index];
        let mut record = Record { at: part.time(), ..part.batch[part.at] };
        if let Some(streams) = &mut self.streams {
            let next = streams.len() as u32;
            record.stream = *streams.entry((part.number, record.stream)).or_insert(next);
        } else if part.named.is_some() {
            record.stream = part.stream_of_name(record.stream, &mut self.named);
        }
        let number = part.number;
        let is_double = |last: &(Record, u32)| last.1 != number && last.0 == record;
        self.doubles += u64::from(self.last.as_ref().is_some_and(is_double));
        self.last = Some((record, number));
        part.at += 1;
        if part.at == part.batch.len() {
            part.at = 0;
            if !part.trace.next_batch(&mut part.batch)? {
                let part = self.active.remove(index);
                self.finish(&part.trace, gate);
            }
        }
        Ok(Some((record, number)))
    }

    /// The error for a request that does not fit those of the other files: at its line in its own file.
    #[cold]
    fn refused(&self, refusal: Refusal, record: &Record, part: u32, gate: &Gate) -> TraceError {
        let (name, location) = &self.names[part as usize];
        let place = |file| reader::place_of(file, &self.options, self.format, record);
        let place = location.as_ref().and_then(place);
        let Refusal { kind, mut problem, mut remedy, .. } = refusal;
        if place.is_none() {
            problem = format!("in request {} of all files: {problem}", gate.records + 1);
        }
        if matches!(self.supply, Supply::Archive { .. }) {
            remedy += "; the files of an archive are read in its order: if they overlap, unpack it and name the folder, whose \
                       files are merged";
        }
        let error = TraceError::new(kind, name, problem, remedy);
        match place {
            Some(place) => error.at(place),
            None => error,
        }
    }

    /// Warns of a file, or one in an archive, whose requests another one has had. Files that were named one by one may be the same on
    /// purpose.
    fn repeated(&mut self, trace: &Trace) -> Option<String> {
        let own = BTreeMap::from([(trace.print(), trace.name().to_owned())]);
        let (mut again, mut more) = (None, 0);
        for (print, file) in trace.prints().unwrap_or(&own) {
            match self.seen.get(print) {
                Some(first) if again.is_none() => again = Some((file.clone(), first.clone())),
                Some(_) => more += 1,
                None => drop(self.seen.insert(*print, file.clone())),
            }
        }
        let (file, first) = again?;
        let more = match more {
            0 => String::new(),
            more => format!(" (and those of {} in it as well)", counted(more, "other", "others")),
        };
        Some(match &self.streams {
            None => format!(
                "{file}: its requests and times are those of {first}{more}, and are played twice; take one away"
            ),
            Some(_) if first == file => format!(
                "{} is named twice, and is played twice, each time with streams of its own; if that is not meant, \
                 name it once",
                trace.name()
            ),
            Some(_) => format!(
                "{file}: its requests and times are those of {first}{more}, and are played twice, each with streams of its own; \
                 if that is not meant, name one of them"
            ),
        })
    }

    /// Whether a table names other columns than the first one, in words: numbers of columns would mean others in each.
    fn other_head(&mut self, trace: &Trace) -> Option<String> {
        let columns = trace.columns()?;
        let (first, known) =
            self.head.get_or_insert_with(|| (trace.name().to_owned(), columns.clone()));
        (*known != columns).then(|| {
            format!("{}: its head names other columns than that of {first}; name columns, and don't number them", trace.name())
        })
    }

    /// Notes the host of a file.
    fn note_host(&mut self, trace: &Trace) {
        let Some(host) = trace.host().filter(|_| self.streams.is_none()) else { return };
        let first = self.host.get_or_insert_with(|| host.clone());
        if *first != host && self.other_host.is_none() {
            self.other_host = Some(format!(
                "the files are of several hosts ({}, {} and perhaps others): disks of the same number are one stream; with the \
                 files named one by one, between commas, each has streams of its own",
                clip(first),
                clip(&host)
            ));
        }
    }

    /// Adds up what is known of a file that was read.
    fn finish(&mut self, trace: &Trace, gate: &mut Gate) {
        let facts = trace.facts();
        gate.dropped += facts.dropped_empty;
        gate.out_of_order += facts.out_of_order;
        gate.late_records += facts.clamped;
        self.skipped.lines += facts.skipped_lines;
        self.remarks.widened += facts.widened;
        self.remarks.timeless |= trace.is_timeless();
        let file = trace.name();
        let warnings = facts.warnings.into_iter().map(|text| format!("{file}: {text}"));
        let other_head = self.other_head(trace);
        self.note_host(trace);
        let repeated = self.repeated(trace);
        self.has_repeated |= repeated.is_some();
        for warning in warnings.chain(repeated).chain(other_head) {
            if self.remarks.warnings.len() < MOST_REMARKS {
                self.remarks.warnings.push(warning);
            }
        }
        for text in trace.own_remarks() {
            if !self.remarks.assumed.contains(&text) && self.remarks.assumed.len() < MOST_REMARKS {
                self.remarks.assumed.push(text);
            }
        }
    }
}

impl OpenPart {
    /// The time of its next request, by the clock of the files.
    fn time(&self) -> SimTime {
        SimTime(self.batch[self.at].at.0 + self.trace.origin().0)
    }

    /// The number here of a stream that has a name in the file.
    fn stream_of_name(&mut self, stream: u32, all: &mut Names) -> u32 {
        let known = |numbers: &Option<Vec<u32>>| numbers.as_ref()?.get(stream as usize).copied();
        // So many streams are not told apart, and keep their numbers.
        if stream as usize >= MOST_STREAMS {
            return stream;
        }
        known(&self.named).unwrap_or_else(|| {
            self.learn_names(all);
            known(&self.named).unwrap_or(stream)
        })
    }

    /// Takes up the names that came since.
    #[cold]
    fn learn_names(&mut self, all: &mut Names) {
        let (Some(numbers), Some(named)) = (&mut self.named, self.trace.named_streams()) else {
            return;
        };
        for name in &named.names[numbers.len()..] {
            let next = numbers.len() as u32;
            numbers.push(all.number(name.as_bytes(), || 0..0).unwrap_or(next));
        }
    }
}

impl RecordSource for PartsSource {
    fn fill(
        &mut self,
        out: &mut Vec<Record>,
        limit: usize,
        gate: &mut Gate,
    ) -> Result<bool, TraceError> {
        while out.len() < limit {
            let Some((mut record, part)) = self.take(gate)? else { return Ok(false) };
            let in_file = record;
            match gate.admit(&mut record) {
                Ok(true) => out.push(record),
                Ok(false) => {}
                Err(refusal) => return Err(self.refused(refusal, &in_file, part, gate)),
            }
        }
        Ok(true)
    }

    fn remarks(&self) -> Remarks {
        let mut remarks = self.remarks.clone();
        remarks.is_archive = matches!(self.supply, Supply::Archive { .. });
        if let Some(end) = self.odd_end {
            let file = self.names.last().map_or("", |(name, _)| name.as_str());
            remarks.warnings.push(match end {
                OddEnd::Missing => format!(
                    "the archive ends without its end mark behind {file}: was it cut off, so that files are missing? Compare its \
                     size with that of the original"
                ),
                OddEnd::Followed => format!(
                    "bytes behind the end of the archive, which follows {file}, were not read, as they begin no other archive: \
                     if they are files of the trace, unpack them and name the folder"
                ),
            });
        }
        if !self.named.is_empty() {
            remarks.named = Some(self.named.streams(self.named_what));
        }
        remarks.warnings.extend(self.other_host.clone());
        // A few may be chance.
        if self.doubles >= LEAST_DOUBLES && !remarks.timeless && !self.has_repeated {
            remarks.warnings.push(format!(
                "{} requests have the time, the place and the size of one in another file: do files overlap? All are played",
                self.doubles
            ));
        }
        // A part that is being read tells before its end.
        remarks.timeless |= self.active.iter().any(|part| part.trace.is_timeless());
        let how = match (&self.supply, &self.streams) {
            (Supply::Archive { .. }, _) => "one after another",
            (Supply::Files(_), None) => "merged by time",
            (Supply::Files(_), Some(_)) => "merged by time, each with streams of its own",
        };
        let count = self.opened;
        remarks.assumed.push(format!(
            "{}, {how}",
            counted(count.into(), "file with one clock", "files with one clock")
        ));
        if !self.beside.is_empty() {
            let listed: Vec<_> =
                self.beside.iter().take(MOST_REMARKS).map(String::as_str).collect();
            let count = self.beside.len();
            remarks.assumed.push(format!(
                "{}: {}",
                counted(
                    count as u64,
                    "thing beside them is no trace",
                    "things beside them are no traces"
                ),
                listed.join(", ")
            ));
        }
        remarks
    }

    fn skipped(&self) -> &Skipped {
        &self.skipped
    }

    fn prints(&self) -> Option<&BTreeMap<Print, String>> {
        matches!(self.supply, Supply::Archive { .. }).then_some(&self.seen)
    }
}

/// Adds what to do about a file of a folder that is perhaps no trace.
#[cold]
fn no_part(mut error: TraceError) -> TraceError {
    let is_other = matches!(
        error.kind,
        ErrorKind::UnknownFormat | ErrorKind::Empty | ErrorKind::Unsupported | ErrorKind::Malformed
    );
    if is_other {
        error.remedy += "; if it is no trace, move it out of the folder";
    }
    error
}

#[cold]
fn not_unpacked(name: &str, opened: u32, error: &std::io::Error) -> TraceError {
    let doing = match opened {
        0 => "can't unpack it".to_owned(),
        _ => {
            format!("can't unpack it beyond its first {}", counted(opened.into(), "file", "files"))
        }
    };
    TraceError::io(name, &doing, error)
}

#[cold]
fn too_many(name: &str) -> TraceError {
    let problem = format!("more than {MOST_AT_ONCE} files go on at the same time");
    TraceError::new(
        ErrorKind::Unsupported,
        name,
        problem,
        "merge them in groups: ftlab trace convert",
    )
}
