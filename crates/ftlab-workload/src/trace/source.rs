//! Streams of records in the order and with the clock of the file: lines of text, and records of bytes. (Parquet has its own.)

use std::collections::BTreeMap;

use ftlab::units::{Nanos, SimTime};

use super::error::{Bad, ErrorKind, TraceError, TracePosition};
use super::format::{self, BinaryFormat, LineFormat, Print, Remarks, Taken};
use super::gate::{Gate, RecordPart, Refusal};
use super::head::HeadRule;
use super::input::Lines;
use super::lastline::UsualLine;
use super::record::Record;
use super::words::counted;

/// Delivers checked records in batches.
pub(crate) trait RecordSource: Send {
    /// Appends records to `out` until it contains `limit`. Returns false at the end of the source.
    fn fill(
        &mut self,
        out: &mut Vec<Record>,
        limit: usize,
        gate: &mut Gate,
    ) -> Result<bool, TraceError>;

    /// Returns remarks about the records read so far.
    fn remarks(&self) -> Remarks;

    /// Returns the malformed lines (or rows) that were skipped.
    fn skipped(&self) -> &Skipped;

    /// Returns the number of the last line read, if the source has lines.
    fn line(&self) -> Option<u64> {
        None
    }

    /// The files that were read, if it is an archive of some, by what tells them from others.
    fn prints(&self) -> Option<&BTreeMap<Print, String>> {
        None
    }
}

/// The malformed lines that were skipped.
#[derive(Clone, Debug, Default)]
pub(crate) struct Skipped {
    pub lines: u64,
    /// The error in the first of them.
    pub first: Option<TraceError>,
}

impl Skipped {
    /// Counts a line, and keeps the error of the first.
    pub fn count(&mut self, why: impl FnOnce() -> TraceError) {
        self.lines += 1;
        self.first.get_or_insert_with(why);
    }
}

/// The lines of a text as records of the format `F`.
pub(crate) struct LineSource<F> {
    lines: Lines,
    format: F,
    skip_malformed: bool,
    number: u64,
    skipped: Skipped,
    head: NamesOfColumns,
    /// Lines that repeat the names of the columns: the first, and how many.
    repeated: Option<(u64, u64)>,
    usual: UsualLine,
    even: EvenLines,
    marks: LineMarks,
    /// Why the last request may be cut off.
    cut: Option<String>,
}

/// The line that names the columns.
pub(crate) struct NamesOfColumns {
    pub rule: HeadRule,
    /// Its number and how it is written, if there is one.
    pub line: Option<(u64, Vec<u8>)>,
}

impl NamesOfColumns {
    /// Whether a line names the columns again.
    #[cold]
    fn is_repeated(&self, number: u64, line: &[u8]) -> bool {
        self.line.as_ref().is_some_and(|(head, text)| number > *head && text == line)
    }
}

/// How many separators the lines of a file have, if all have as many: so many, and the first line with them.
struct EvenLines {
    separator: Option<u8>,
    first: Option<(usize, u64)>,
}

impl EvenLines {
    /// Passes on what a line was read as, unless fields of it may be shifted.
    #[inline]
    fn pass<T>(&mut self, read: Option<T>, line: &[u8], number: u64) -> Result<Option<T>, Bad> {
        let (Some(separator), true) = (self.separator, read.is_some()) else { return Ok(read) };
        let count = memchr::memchr_iter(separator, line).count();
        match self.first {
            Some((usual, _)) if usual == count => Ok(read),
            Some((usual, first)) => Err(uneven(line, count, usual, first)),
            None => {
                self.first = Some((count, number));
                Ok(read)
            }
        }
    }
}

#[cold]
fn uneven(line: &[u8], count: usize, usual: usize, first: u64) -> Bad {
    let fields = counted(count as u64 + 1, "field", "fields");
    let problem = format!(
        "the line has {fields}, and line {first} has {}: its fields may be shifted",
        usual + 1
    );
    Bad::field(0..line.len(), problem)
}

/// The lines that errors further on refer to.
#[derive(Default)]
struct LineMarks {
    /// The last line that is a request.
    last_request: u64,
    /// The latest time so far, and the first line that has it.
    latest: (SimTime, u64),
    /// The first line whose time falls far back, and the one from whose time it does.
    fall: Option<FallingLine>,
}

impl LineMarks {
    /// Adds a line that is a request, which the gate has admitted.
    #[inline]
    fn pass(&mut self, number: u64, line: &[u8], at: SimTime, gate: &Gate) {
        self.last_request = number;
        if gate.fallback.records > 0 && self.fall.is_none() {
            let behind = self.latest.1;
            self.fall = Some(FallingLine { number, text: line.to_vec(), behind });
        }
        if at > self.latest.0 || self.latest.1 == 0 {
            self.latest = (at, number);
        }
    }
}

/// A line whose time falls far back.
struct FallingLine {
    number: u64,
    text: Vec<u8>,
    /// The line with the latest time before.
    behind: u64,
}

impl<F: LineFormat> LineSource<F> {
    /// Creates a source of lines of which the first are `usual`.
    pub fn new(
        lines: Lines,
        format: F,
        head: NamesOfColumns,
        usual: UsualLine,
        skip_malformed: bool,
    ) -> LineSource<F> {
        LineSource {
            lines,
            format,
            skip_malformed,
            number: 0,
            skipped: Skipped::default(),
            head,
            repeated: None,
            usual,
            even: EvenLines { separator: F::EVEN, first: None },
            marks: LineMarks::default(),
            cut: None,
        }
    }

    /// The error for the last line.
    #[cold]
    fn error_of(&self, line: &[u8], bad: Bad, gate: &Gate) -> TraceError {
        if bad.kind == ErrorKind::Unordered
            && let Some(error) = self.fallen(gate, &bad)
        {
            return error;
        }
        let is_cut = self.lines.open_line().and_then(|line| self.usual.doubt(line)).is_some();
        let bad = if is_cut { bad.cut_off() } else { bad };
        error_at(self.lines.name(), self.number, line, bad)
    }

    /// The error for a line that can't be sorted because the clock fell back before it: at the line where it did.
    #[cold]
    fn fallen(&self, gate: &Gate, bad: &Bad) -> Option<TraceError> {
        if gate.is_reversed() {
            return None;
        }
        let back = Nanos(gate.fallen_ns()?);
        let FallingLine { number, text, behind } = self.marks.fall.as_ref()?;
        let later = counted(self.number - number, "line", "lines");
        let problem = format!(
            "the time falls back by {back} here, behind that of line {behind}, and stays behind: {later} later, that \
             is more than can be sorted"
        );
        let field = F::place(text, RecordPart::Time);
        let bad = Bad { problem, field, ..bad.clone() };
        Some(error_at(self.lines.name(), *number, text, bad))
    }

    /// Looks at the last line, if it is a request and has no line end.
    #[cold]
    fn end(&mut self) {
        let is_request = self.marks.last_request == self.number;
        let open = self.lines.open_line().filter(|_| is_request && self.cut.is_none());
        self.cut = self.cut.take().or_else(|| {
            let (open, number) = (open?, self.number);
            let is_open_number = number > 1 && self.format.reads_last_number();
            match self.usual.doubt(open) {
                Some(why) => Some(format!(
                    "the last line ({number}) has no line end and {why}: was the file cut off, so that a number in it is \
                     wrong? Fetch it again, or delete that line"
                )),
                None => is_open_number.then(|| {
                    format!(
                        "the last line ({number}) has no line end, so its last number may be cut off: if the file is whole, \
                         add the line end; if not, fetch it again, or delete that line"
                    )
                }),
            }
        });
    }
}

impl<F: LineFormat> RecordSource for LineSource<F> {
    fn fill(
        &mut self,
        out: &mut Vec<Record>,
        limit: usize,
        gate: &mut Gate,
    ) -> Result<bool, TraceError> {
        while out.len() < limit {
            let Some(line) = self.lines.next()? else {
                self.end();
                return Ok(false);
            };
            self.number += 1;
            let read = self.format.line(line);
            let bad = match read.and_then(|read| self.even.pass(read, line, self.number)) {
                Ok(Some(mut record)) => match gate.admit(&mut record) {
                    Ok(true) => {
                        self.marks.pass(self.number, line, record.at, gate);
                        out.push(record);
                        continue;
                    }
                    Ok(false) => continue,
                    Err(refusal) => {
                        let field = F::place(line, refusal.part);
                        beside_latest(refusal, self.marks.latest.1).at(field)
                    }
                },
                Ok(None) => continue,
                Err(_) if format::is_void(line) => continue,
                Err(bad) => bad,
            };
            let Some(bad) = self.head.rule.weigh(self.number, bad) else { continue };
            if self.head.is_repeated(self.number, line) {
                let (first, count) = self.repeated.unwrap_or((self.number, 0));
                self.repeated = Some((first, count + 1));
                continue;
            }
            let is_whole = matches!(bad.kind, ErrorKind::Unordered | ErrorKind::Unsupported);
            let skips = self.skip_malformed && !is_whole;
            if skips && self.skipped.first.is_some() {
                self.skipped.lines += 1;
                continue;
            }
            let line = line.to_vec();
            let error = self.error_of(&line, bad, gate);
            if !skips {
                return Err(error);
            }
            self.skipped.count(|| error);
        }
        Ok(true)
    }

    fn remarks(&self) -> Remarks {
        let mut remarks = self.format.remarks();
        if let HeadRule::Passed { number, said } = &self.head.rule
            && *number <= self.number
        {
            remarks.assumed.push(said.clone());
        }
        remarks.assumed.extend(self.lines.notes().iter().map(|&note| note.to_owned()));
        remarks.warnings.extend(self.repeated.map(|(first, count)| {
            let which = match count {
                1 => format!("line {first} names the columns again, and is"),
                _ => format!("line {first} and {} more name the columns again, and are", count - 1),
            };
            format!("{which} passed over: were files joined?")
        }));
        remarks.warnings.extend(self.cut.clone());
        remarks
    }

    fn skipped(&self) -> &Skipped {
        &self.skipped
    }

    fn line(&self) -> Option<u64> {
        Some(self.number)
    }
}

/// Names the line with the latest time so far, from which that of a refused line is too far.
#[cold]
fn beside_latest(mut refusal: Refusal, line: u64) -> Refusal {
    // No request has come before the first.
    if refusal.part != RecordPart::Time || line == 0 {
        return refusal;
    }
    if refusal.kind == ErrorKind::Implausible {
        refusal.problem += &format!(" from that of line {line}");
        refusal.remedy += &format!("; if line {line} is the damaged one, mend or delete that");
    } else {
        refusal.problem += &format!(", behind line {line}");
    }
    refusal
}

#[cold]
fn error_at(file: &str, number: u64, line: &[u8], bad: Bad) -> TraceError {
    let place = TracePosition::of(number, line, bad.field);
    let remedy = bad.remedy.unwrap_or_else(|| {
        "fix the line; or `skip_malformed` skips such lines and counts them; or, if it has another \
         format, name it with `format`"
            .to_owned()
    });
    TraceError::new(bad.kind, file, bad.problem, remedy).at(place)
}

/// The records of bytes of the format `F`.
pub(crate) struct BinarySource<F> {
    bytes: Lines,
    format: F,
    skip_malformed: bool,
    number: u64,
    skipped: Skipped,
}

impl<F: BinaryFormat> BinarySource<F> {
    pub fn new(bytes: Lines, format: F, skip_malformed: bool) -> BinarySource<F> {
        BinarySource { bytes, format, skip_malformed, number: 0, skipped: Skipped::default() }
    }

    /// Takes the next record; none at the end of the file.
    fn next(&mut self) -> Result<Option<Taken>, TraceError> {
        let ahead = self.bytes.ahead(F::LONGEST)?;
        if ahead.is_empty() {
            return Ok(None);
        }
        self.number += 1;
        let taken = self.format.record(ahead);
        let taken = taken.map_err(|bad| bad.of_record(self.bytes.name(), self.number))?;
        if let Some(taken) = taken {
            self.bytes.take(taken.length);
            return Ok(Some(taken));
        }
        let error = cut_off(self.bytes.name(), self.number);
        if !self.skip_malformed {
            return Err(error);
        }
        self.skipped.count(|| error);
        Ok(None)
    }
}

impl<F: BinaryFormat> RecordSource for BinarySource<F> {
    fn fill(
        &mut self,
        out: &mut Vec<Record>,
        limit: usize,
        gate: &mut Gate,
    ) -> Result<bool, TraceError> {
        while out.len() < limit {
            let Some(taken) = self.next()? else { return Ok(false) };
            let Some(mut record) = taken.request else { continue };
            match gate.admit(&mut record) {
                Ok(true) => out.push(record),
                Ok(false) => {}
                Err(refusal) => {
                    let skips = self.skip_malformed && refusal.kind != ErrorKind::Unordered;
                    let (name, number) = (self.bytes.name(), self.number);
                    let error = || refusal.at(0..0).of_record(name, number);
                    if !skips {
                        return Err(error());
                    }
                    self.skipped.count(error);
                }
            }
        }
        Ok(true)
    }

    fn remarks(&self) -> Remarks {
        self.format.remarks()
    }

    fn skipped(&self) -> &Skipped {
        &self.skipped
    }
}

#[cold]
fn cut_off(file: &str, number: u64) -> TraceError {
    let remedy = "fetch it again; or `skip_malformed` leaves out the last record, and counts it";
    TraceError::new(ErrorKind::Corrupt, file, "the file ends within a record", remedy)
        .at(TracePosition::row(number))
}
