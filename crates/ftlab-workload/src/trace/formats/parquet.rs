//! Parquet with the columns `t_ns`, `op` (the codes of [`op_of`]), `lba` (sectors of 512 bytes), `sectors` and, optionally,
//! `stream`, of any integer type. Other columns are ignored.

use ftlab::host::Op;
use ftlab::options::text::clip;
use ftlab::units::{Lba, Nanos, SimTime};
use parquet::errors::ParquetError;

use crate::columns::{Columns, Meaning, STEP, TimeUnit as UnitInFile, Unread};
use crate::trace::error::{ErrorKind, TraceError, TracePosition};
use crate::trace::format::{self, Codec, Format, Remarks};
use crate::trace::gate::Gate;
use crate::trace::input::TableBytes;
use crate::trace::options::Options;
use crate::trace::record::{Record, op_of};
use crate::trace::source::{RecordSource, Skipped};
use crate::trace::units::{Epoch, SpaceUnit, TimeUnit, Units};

use super::parquet_sums::{ColumnSums, SUMS, WRITER};

pub(crate) static FORMAT: Format = Format {
    name: "parquet",
    doc: "Parquet with the columns of a record; the smallest and fastest to read",
    columns: "t_ns, op (0 read, 1 write, 2 trim, 3 flush, 4 write with FUA; on zones 5 append, 6 open, 7 close, 8 finish, 9 reset, \
              10 take offline, 11 commit, 12 append with FUA), lba, sectors, stream",
    units: Units { time: TimeUnit::Ns, address: SpaceUnit::Sector, size: SpaceUnit::Sector },
    tick: Nanos(1),
    unit_varies: false,
    source: "ftlab's own choice of columns; parquet.apache.org for the container",
    not_read: &["other columns"],
    address_varies: true,
    epoch: Epoch::Own,
    codec: Codec::Parquet,
};

/// The columns, and whether they are required.
pub(crate) const COLUMNS: [(&str, bool); 5] =
    [("t_ns", true), ("op", true), ("lba", true), ("sectors", true), ("stream", false)];

/// Beyond this many sectors an address in bytes does not fit in 64 bits.
const MOST_SECTORS: u64 = u64::MAX / 512;
/// How the library begins to say that it lacks a compression.
const NO_CODEC: &str = "Disabled feature at compile time";

/// The key in the footer of a file whose requests have no times.
pub(super) const TIMELESS: &str = "ftlab.timeless";

/// Opens a Parquet file.
pub(crate) fn open(
    table: TableBytes,
    name: &str,
    options: &Options,
) -> Result<Box<dyn RecordSource>, TraceError> {
    if !options.columns.is_empty() {
        return Err(by_columns(name));
    }
    format::refuse_event(name, &FORMAT, options, false)?;
    let columns = match table {
        TableBytes::File(file) => Columns::open(file, COLUMNS),
        TableBytes::Memory(content) => Columns::open(content, COLUMNS),
    };
    let columns = columns.map_err(|unread| refused(name, unread))?;
    let units = options.units(&FORMAT);
    for (column, (called, _)) in COLUMNS.into_iter().enumerate() {
        let is_time = column == 0;
        match columns.meaning(column) {
            Meaning::Time(unit) if is_time => check_time_unit(name, unit, options)?,
            Meaning::Integers => {}
            Meaning::Time(_) => return Err(wrong_meaning(name, called, "times")),
            Meaning::Other(what) => return Err(wrong_meaning(name, called, &what)),
        }
    }
    let written = columns.writer().is_some_and(|writer| writer.starts_with(WRITER));
    let sums = columns.text(SUMS).filter(|_| written).map(|text| (text, ColumnSums::default()));
    Ok(Box::new(ParquetSource {
        columns,
        sums,
        name: name.to_owned(),
        units,
        row: 0,
        skip_malformed: options.skip_malformed,
        skipped: Skipped::default(),
    }))
}

/// Refuses times in another unit than nanoseconds, unless the unit was said.
fn check_time_unit(name: &str, unit: UnitInFile, options: &Options) -> Result<(), TraceError> {
    let unit = match unit {
        UnitInFile::NANOS => return Ok(()),
        UnitInFile::MICROS => TimeUnit::Us,
        UnitInFile::MILLIS => TimeUnit::Ms,
    };
    if options.time_unit.is_some() {
        return Ok(());
    }
    let problem = format!(
        "by the file its column t_ns holds times in {}, and not in nanoseconds",
        unit.words()
    );
    let remedy = format!("say `time_unit` {}; or write nanoseconds", unit.name());
    Err(TraceError::new(ErrorKind::Unsupported, name, problem, remedy))
}

#[cold]
fn wrong_meaning(name: &str, column: &str, what: &str) -> TraceError {
    let problem =
        format!("by the file its column {column} holds no plain integers, but {}", clip(what));
    let remedy = format!("write the columns {} as integers", FORMAT.columns);
    TraceError::new(ErrorKind::Unsupported, name, problem, remedy)
}

#[cold]
fn by_columns(name: &str) -> TraceError {
    let problem = "`columns` reads tables of text, and this is Parquet";
    let remedy = format!(
        "leave `columns` out and name the columns {}; or read it in Python: requests(table, columns={{...}})",
        FORMAT.columns
    );
    TraceError::new(ErrorKind::Unsupported, name, problem, remedy)
}

#[cold]
fn corrupt(name: &str, error: &ParquetError) -> TraceError {
    let remedy = match error {
        ParquetError::General(told) if told.starts_with(NO_CODEC) => {
            "it is compressed in a way that ftlab does not read: write it with zstd, snappy or gzip"
        }
        _ => "the file is damaged or truncated: fetch or convert it again",
    };
    TraceError::new(ErrorKind::Corrupt, name, format!("not readable as Parquet: {error}"), remedy)
}

#[cold]
fn refused(name: &str, unread: Unread) -> TraceError {
    match unread {
        Unread::Damaged(error) => corrupt(name, &error),
        Unread::Missing { column, known } => {
            let problem =
                format!("there is no column {column}; the columns are: {}", known.join(", "));
            let remedy = format!("name the columns {}", FORMAT.columns);
            TraceError::new(ErrorKind::UnknownFormat, name, problem, remedy)
        }
        Unread::NoIntegers(column) => wrong_type(name, column),
    }
}

/// What to do about a file that can't be as it was written.
const DAMAGED: &str = "the file is damaged: fetch or convert it again";

struct ParquetSource {
    columns: Columns<{ COLUMNS.len() }>,
    /// The sums in the footer, and those of the rows so far.
    sums: Option<(String, ColumnSums)>,
    name: String,
    units: Units,
    row: u64,
    skip_malformed: bool,
    skipped: Skipped,
}

impl RecordSource for ParquetSource {
    fn fill(
        &mut self,
        out: &mut Vec<Record>,
        limit: usize,
        gate: &mut Gate,
    ) -> Result<bool, TraceError> {
        while out.len() < limit {
            let most = STEP.min(limit - out.len());
            let count = self.columns.fill(most).map_err(|unread| refused(&self.name, unread))?;
            if count == 0 {
                return self.compare_sums().map(|()| false);
            }
            if let Some((_, sums)) = &mut self.sums {
                for (column, values) in self.columns.rows().iter().enumerate() {
                    sums.add(column, values.iter().copied());
                }
            }
            for index in 0..count {
                self.row += 1;
                self.admit(index, out, gate)?;
            }
        }
        Ok(true)
    }

    fn remarks(&self) -> Remarks {
        let timeless = self.columns.text(TIMELESS).is_some_and(|said| said == "true");
        let mut remarks = Remarks { timeless, ..Remarks::default() };
        if timeless {
            remarks.assumed.push("requests have no times, as the file says".to_owned());
        }
        if !self.columns.has(4) {
            remarks
                .assumed
                .push("all requests are of stream 0, because there is no column stream".to_owned());
        }
        remarks
    }

    fn skipped(&self) -> &Skipped {
        &self.skipped
    }
}

impl ParquetSource {
    /// Refuses rows that are not those that were written.
    fn compare_sums(&self) -> Result<(), TraceError> {
        let differ = self.sums.as_ref().is_some_and(|(written, read)| *written != read.text());
        if !differ {
            return Ok(());
        }
        let problem = format!(
            "its {} rows are not those that were written, by the sums in its footer",
            self.row
        );
        Err(TraceError::new(ErrorKind::Corrupt, &self.name, problem, DAMAGED))
    }

    fn admit(
        &mut self,
        index: usize,
        out: &mut Vec<Record>,
        gate: &mut Gate,
    ) -> Result<(), TraceError> {
        let problem = match self.record(index) {
            Ok(mut record) => match gate.admit(&mut record) {
                Ok(true) => {
                    out.push(record);
                    return Ok(());
                }
                Ok(false) => return Ok(()),
                Err(refusal) => (refusal.kind, refusal.problem, refusal.remedy),
            },
            // It has no such row if ftlab wrote it.
            Err(problem) if self.sums.is_some() => {
                (ErrorKind::Corrupt, problem.to_owned(), DAMAGED.to_owned())
            }
            Err(problem) => {
                let remedy = "`skip_malformed` skips such rows and counts them";
                (ErrorKind::Malformed, problem.to_owned(), remedy.to_owned())
            }
        };
        let (kind, problem, remedy) = problem;
        let place = TracePosition::row(self.row);
        let error = || TraceError::new(kind, &self.name, problem, remedy).at(place);
        if self.skip_malformed && !matches!(kind, ErrorKind::Unordered | ErrorKind::Corrupt) {
            self.skipped.count(error);
            return Ok(());
        }
        Err(error())
    }

    #[inline]
    fn record(&self, index: usize) -> Result<Record, &'static str> {
        let [times, ops, lbas, sizes, streams] = self.columns.rows();
        let op = u8::try_from(ops[index]).ok().and_then(op_of);
        let known =
            "the column op is none of 0 (read), 1 (write), 2 (trim), 3 (flush), 4 (write with FUA)";
        let (op, fua) = op.ok_or(known)?;
        let time = times[index]
            .checked_mul(self.units.time.ns())
            .ok_or("the number in the column t_ns is too large")?;
        let scale =
            |value: u64, unit: SpaceUnit| value.checked_mul(unit.bytes()).map(|bytes| bytes / 512);
        let lba = scale(lbas[index], self.units.address)
            .ok_or("the number in the column lba is too large")?;
        let sectors = scale(sizes[index], self.units.size)
            .ok_or("the number in the column sectors is too large")?;
        if lba.checked_add(sectors).is_none_or(|end| end > MOST_SECTORS) {
            return Err("lba and sectors exceed 2^64 bytes");
        }
        let stream = streams.get(index).copied().unwrap_or(0);
        let stream =
            u32::try_from(stream).map_err(|_| "the number in the column stream exceeds 32 bits")?;
        let (at, sectors) = (SimTime(time), u32::try_from(sectors).unwrap_or(u32::MAX));
        if op == Op::Flush {
            return Ok(Record::flush(at, stream));
        }
        Ok(Record { at, op, lba: Lba(lba), sectors, stream, fua })
    }
}

#[cold]
fn wrong_type(name: &str, column: &str) -> TraceError {
    let problem = format!("the column {column} does not contain integers of 32 or 64 bits");
    let remedy = format!("write the columns {} as integers", FORMAT.columns);
    TraceError::new(ErrorKind::UnknownFormat, name, problem, remedy)
}
