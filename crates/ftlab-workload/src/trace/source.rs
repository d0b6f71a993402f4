//! Streams of records in the order and with the clock of the file, one kind for text and one for
//! Parquet.

use super::error::{Bad, ErrorKind, Place, TraceError};
use super::fields::Fields;
use super::format::{self, LineFormat, Remarks};
use super::gate::{Gate, Part};
use super::input::Lines;
use super::record::Record;

/// Delivers records in batches, each past the gate.
pub(crate) trait RecordSource: Send {
    /// Appends records to `out` until it holds `limit`; false once the source is at its end.
    fn fill(
        &mut self,
        out: &mut Vec<Record>,
        limit: usize,
        gate: &mut Gate,
    ) -> Result<bool, TraceError>;

    /// What it has to say beside the records read so far.
    fn remarks(&self) -> Remarks;

    /// Lines (or rows) left out because they were wrong.
    fn skipped(&self) -> u64;
}

/// The lines of a text as records of the format `F`.
pub(crate) struct LineSource<F> {
    lines: Lines,
    format: F,
    skip_malformed: bool,
    number: u64,
    skipped: u64,
    header: bool,
}

impl<F: LineFormat> LineSource<F> {
    pub fn new(lines: Lines, format: F, skip_malformed: bool) -> LineSource<F> {
        LineSource { lines, format, skip_malformed, number: 0, skipped: 0, header: false }
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
            let Some(line) = self.lines.next()? else { return Ok(false) };
            self.number += 1;
            let bad = match self.format.line(line) {
                Ok(Some(mut record)) => match gate.admit(&mut record) {
                    Ok(true) => {
                        out.push(record);
                        continue;
                    }
                    Ok(false) => continue,
                    Err(refusal) => {
                        let field = column::<F>(line, refusal.part);
                        refusal.at(field)
                    }
                },
                Ok(None) => continue,
                Err(_) if format::is_void(line) => continue,
                Err(_) if F::HEADER && self.number == 1 && format::is_header(line) => {
                    self.header = true;
                    continue;
                }
                Err(bad) => bad,
            };
            if self.skip_malformed && bad.kind != ErrorKind::Unordered {
                self.skipped += 1;
                continue;
            }
            let line = line.to_vec();
            return Err(error_at(self.lines.name(), self.number, &line, bad));
        }
        Ok(true)
    }

    fn remarks(&self) -> Remarks {
        let mut remarks = self.format.remarks();
        if self.header {
            remarks.assumed.push("line 1 names the columns".to_owned());
        }
        remarks
    }

    fn skipped(&self) -> u64 {
        self.skipped
    }
}

/// Where the column with a part of the record lies in a line.
#[cold]
fn column<F: LineFormat>(line: &[u8], part: Part) -> std::ops::Range<usize> {
    let index = match part {
        Part::Time => F::COLUMNS.time,
        Part::Address => F::COLUMNS.address,
        Part::Size => F::COLUMNS.size,
    };
    // The separator is a constant of the type, but not one that a const argument may name.
    if F::SEPARATOR == b',' { nth::<b','>(line, index) } else { nth::<b' '>(line, index) }
}

fn nth<const SEP: u8>(line: &[u8], index: usize) -> std::ops::Range<usize> {
    let mut fields = Fields::<SEP>::new(line);
    for _ in 0..=index {
        fields.text();
    }
    fields.last()
}

#[cold]
fn error_at(file: &str, number: u64, line: &[u8], bad: Bad) -> TraceError {
    // Bytes that are no UTF-8 become one character of three bytes: place the caret after that.
    let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let from = bad.field.start.min(line.len());
    let to = bad.field.end.clamp(from, line.len());
    let start = lossy(&line[..from]).len();
    let field = start..start + lossy(&line[from..to]).len();
    let place = Place { line: number, text: lossy(line), field };
    let remedy = bad.remedy.unwrap_or_else(|| {
        "mend the line; or --skip-malformed leaves such lines out and counts them; or, if the \
         format is another, say --format"
            .to_owned()
    });
    TraceError::new(bad.kind, file, bad.problem, remedy).at(place)
}
