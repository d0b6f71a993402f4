//! Parquet with the columns `t_ns`, `op` (0 read, 1 write, 2 trim, 3 flush), `lba` (sectors of 512
//! bytes), `sectors` and, optionally, `stream`, of any integer type. Other columns are not read.

use std::panic::{AssertUnwindSafe, catch_unwind};

use ftlab::host::Op;
use ftlab::units::{Lba, Nanos, SimTime};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{DataType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};

use crate::trace::error::{ErrorKind, Place, TraceError};
use crate::trace::format::{Codec, Format, Remarks};
use crate::trace::gate::Gate;
use crate::trace::input::Opened;
use crate::trace::options::Options;
use crate::trace::record::{Record, op_of};
use crate::trace::source::RecordSource;
use crate::trace::units::{SpaceUnit, TimeUnit, Units};

pub(crate) static FORMAT: Format = Format {
    name: "parquet",
    doc: "Parquet with the columns of a record; the smallest and fastest to read",
    columns: "t_ns, op (0 read, 1 write, 2 trim, 3 flush), lba, sectors, stream",
    units: Units { time: TimeUnit::Ns, address: SpaceUnit::Sector, size: SpaceUnit::Sector },
    tick: Nanos(1),
    unit_varies: false,
    source: "ftlab's own choice of columns; parquet.apache.org for the container",
    codec: Codec::Parquet,
};

/// The columns in the order of [`Rows::columns`], and whether a file must have them.
pub(crate) const COLUMNS: [(&str, bool); 5] =
    [("t_ns", true), ("op", true), ("lba", true), ("sectors", true), ("stream", false)];

/// Beyond this many sectors an address in bytes does not fit in 64 bits.
const MOST_SECTORS: u64 = u64::MAX / 512;
/// How many rows are decoded at a time.
const STEP: usize = 4 << 10;

/// Opens a Parquet file.
pub(crate) fn open(
    opened: Opened,
    name: &str,
    options: &Options,
) -> Result<Box<dyn RecordSource>, TraceError> {
    let reader = guarded(name, || -> Result<Box<dyn FileReader>, ParquetError> {
        let (reader, bytes): (Box<dyn FileReader>, u64) = match opened {
            Opened::ParquetFile(file) => {
                let bytes = file.metadata()?.len();
                (Box::new(SerializedFileReader::new(file)?), bytes)
            }
            Opened::ParquetBytes(content) => {
                let bytes = content.len() as u64;
                (Box::new(SerializedFileReader::new(content)?), bytes)
            }
            Opened::Text(..) => unreachable!("text has no columns"),
        };
        check_ranges(reader.as_ref(), bytes)?;
        Ok(reader)
    })?;
    let indices = find_columns(reader.as_ref(), name)?;
    let units = options.units(&FORMAT);
    Ok(Box::new(ParquetSource {
        reader,
        name: name.to_owned(),
        units,
        indices,
        group: 0,
        rows: None,
        row: 0,
        skip_malformed: options.skip_malformed,
        skipped: 0,
        buffers: Default::default(),
    }))
}

/// Runs a step of the Parquet library. On some damaged files it panics instead of returning an
/// error; that is an error of the file all the same.
fn guarded<T>(name: &str, step: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, TraceError> {
    let result = catch_unwind(AssertUnwindSafe(step)).unwrap_or_else(|_| {
        Err(ParquetError::General("its parts contradict each other".to_owned()))
    });
    result.map_err(|error| corrupt(name, &error))
}

/// Every column chunk must lie within the file: the library takes that for granted.
fn check_ranges(reader: &dyn FileReader, bytes: u64) -> Result<(), ParquetError> {
    for group in reader.metadata().row_groups() {
        for column in group.columns() {
            let start = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
            let end = start.checked_add(column.compressed_size());
            let end = end.and_then(|end| u64::try_from(end).ok());
            let inside = end.is_some_and(|end| end <= bytes);
            let whole = start >= 0 && column.compressed_size() >= 0 && column.num_values() >= 0;
            if !inside || !whole {
                let what = "a column lies outside of the file".to_owned();
                return Err(ParquetError::General(what));
            }
        }
    }
    Ok(())
}

#[cold]
fn corrupt(name: &str, error: &ParquetError) -> TraceError {
    let remedy = "the file is damaged or cut short: fetch or convert it again";
    TraceError::new(ErrorKind::Corrupt, name, format!("not readable as Parquet: {error}"), remedy)
}

/// Where each column of ours is among those of the file.
fn find_columns(reader: &dyn FileReader, name: &str) -> Result<[Option<usize>; 5], TraceError> {
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    let mut indices = [None; 5];
    for (index, (column, required)) in indices.iter_mut().zip(COLUMNS) {
        *index = schema.columns().iter().position(|known| known.path().string() == column);
        if index.is_none() && required {
            let known: Vec<String> =
                schema.columns().iter().map(|known| known.path().string()).collect();
            let problem =
                format!("there is no column `{column}`; the columns are: {}", known.join(", "));
            let remedy = format!("name the columns {}", FORMAT.columns);
            return Err(TraceError::new(ErrorKind::UnknownFormat, name, problem, remedy));
        }
    }
    Ok(indices)
}

struct ParquetSource {
    reader: Box<dyn FileReader>,
    name: String,
    units: Units,
    indices: [Option<usize>; 5],
    group: usize,
    rows: Option<[Option<Column>; 5]>,
    row: u64,
    skip_malformed: bool,
    skipped: u64,
    buffers: [Vec<u64>; 5],
}

impl RecordSource for ParquetSource {
    fn fill(
        &mut self,
        out: &mut Vec<Record>,
        limit: usize,
        gate: &mut Gate,
    ) -> Result<bool, TraceError> {
        while out.len() < limit {
            if self.rows.is_none() && !self.next_group()? {
                return Ok(false);
            }
            let count = self.decode(STEP.min(limit - out.len()))?;
            if count == 0 {
                self.rows = None;
            }
            for index in 0..count {
                self.row += 1;
                self.admit(index, out, gate)?;
            }
        }
        Ok(true)
    }

    fn remarks(&self) -> Remarks {
        let mut remarks = Remarks::default();
        if self.indices[4].is_none() {
            remarks
                .assumed
                .push("all requests are of stream 0, as there is no `stream`".to_owned());
        }
        remarks
    }

    fn skipped(&self) -> u64 {
        self.skipped
    }
}

impl ParquetSource {
    /// Opens the columns of the next row group; false if there is none.
    fn next_group(&mut self) -> Result<bool, TraceError> {
        if self.group >= self.reader.num_row_groups() {
            return Ok(false);
        }
        let (reader, number, indices) = (&self.reader, self.group, self.indices);
        let readers = guarded(&self.name, || {
            let group = reader.get_row_group(number)?;
            let open = |index: Option<usize>| index.map(|index| group.get_column_reader(index));
            indices.into_iter().map(|index| open(index).transpose()).collect::<Result<Vec<_>, _>>()
        })?;
        self.group += 1;
        let mut columns: [Option<Column>; 5] = Default::default();
        for ((column, reader), (title, _)) in columns.iter_mut().zip(readers).zip(COLUMNS) {
            let Some(reader) = reader else { continue };
            *column = Some(Column::new(reader).ok_or_else(|| wrong_type(&self.name, title))?);
        }
        self.rows = Some(columns);
        Ok(true)
    }

    /// Decodes up to `most` rows into the buffers and says how many there were.
    fn decode(&mut self, most: usize) -> Result<usize, TraceError> {
        let (columns, buffers) = (self.rows.iter_mut().flatten(), &mut self.buffers);
        guarded(&self.name, || {
            let mut rows = None;
            for (column, buffer) in columns.zip(buffers) {
                buffer.clear();
                let Some(column) = column else { continue };
                let count = column.read(most, buffer)?;
                if *rows.get_or_insert(count) != count || buffer.len() != count {
                    let what = "empty cells, or columns of unequal length".to_owned();
                    return Err(ParquetError::General(what));
                }
            }
            Ok(rows.unwrap_or(0))
        })
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
            Err(problem) => {
                let remedy = "--skip-malformed leaves such rows out and counts them";
                (ErrorKind::Malformed, problem.to_owned(), remedy)
            }
        };
        let (kind, problem, remedy) = problem;
        if self.skip_malformed && kind != ErrorKind::Unordered {
            self.skipped += 1;
            return Ok(());
        }
        let place = Place { line: self.row, text: String::new(), field: 0..0 };
        Err(TraceError::new(kind, &self.name, problem, remedy).at(place))
    }

    #[inline]
    fn record(&self, index: usize) -> Result<Record, &'static str> {
        let [times, ops, lbas, sizes, streams] = &self.buffers;
        let op = u8::try_from(ops[index]).ok().and_then(op_of);
        let op = op.ok_or("`op` is none of 0 (read), 1 (write), 2 (trim), 3 (flush)")?;
        let time = times[index].checked_mul(self.units.time.ns()).ok_or("`t_ns` is too large")?;
        let scale =
            |value: u64, unit: SpaceUnit| value.checked_mul(unit.bytes()).map(|bytes| bytes / 512);
        let lba = scale(lbas[index], self.units.address).ok_or("`lba` is too large")?;
        let sectors = scale(sizes[index], self.units.size).ok_or("`sectors` is too large")?;
        if lba.checked_add(sectors).is_none_or(|end| end > MOST_SECTORS) {
            return Err("`lba` and `sectors` lie beyond 2^64 bytes");
        }
        let stream = streams.get(index).copied().unwrap_or(0);
        let stream = u32::try_from(stream).map_err(|_| "`stream` is beyond 32 bits")?;
        let (at, sectors) = (SimTime(time), u32::try_from(sectors).unwrap_or(u32::MAX));
        if op == Op::Flush {
            return Ok(Record::flush(at, stream));
        }
        Ok(Record { at, op, lba: Lba(lba), sectors, stream })
    }
}

#[cold]
fn wrong_type(name: &str, column: &str) -> TraceError {
    let problem = format!("the column `{column}` does not hold integers of 32 or 64 bits");
    let remedy = format!("write the columns {} as integers", FORMAT.columns);
    TraceError::new(ErrorKind::UnknownFormat, name, problem, remedy)
}

/// A column of integers.
enum Column {
    Wide(Integers<Int64Type>),
    Narrow(Integers<Int32Type>),
}

struct Integers<T: DataType> {
    reader: ColumnReaderImpl<T>,
    values: Vec<T::T>,
    levels: Vec<i16>,
}

impl Column {
    fn new(reader: ColumnReader) -> Option<Column> {
        match reader {
            ColumnReader::Int64ColumnReader(reader) => {
                Some(Column::Wide(Integers { reader, values: Vec::new(), levels: Vec::new() }))
            }
            ColumnReader::Int32ColumnReader(reader) => {
                Some(Column::Narrow(Integers { reader, values: Vec::new(), levels: Vec::new() }))
            }
            _ => None,
        }
    }

    /// Appends the next values, at most `most`, and says how many rows they are.
    fn read(&mut self, most: usize, out: &mut Vec<u64>) -> Result<usize, ParquetError> {
        match self {
            Column::Wide(column) => {
                let rows = column.read(most)?;
                out.extend(column.values.iter().map(|&value| value.cast_unsigned()));
                Ok(rows)
            }
            Column::Narrow(column) => {
                let rows = column.read(most)?;
                out.extend(column.values.iter().map(|&value| u64::from(value.cast_unsigned())));
                Ok(rows)
            }
        }
    }
}

impl<T: DataType> Integers<T> {
    fn read(&mut self, most: usize) -> Result<usize, ParquetError> {
        self.values.clear();
        self.levels.clear();
        let mut rows = 0;
        // The reader stops at the end of a page.
        while rows < most {
            let levels = Some(&mut self.levels);
            let (more, ..) =
                self.reader.read_records(most - rows, levels, None, &mut self.values)?;
            if more == 0 {
                break;
            }
            rows += more;
        }
        Ok(rows)
    }
}
