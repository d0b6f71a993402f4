//! Reads integer columns of a Parquet file that may be damaged or malicious: whatever it contains,
//! reading ends with numbers or an error. Used for traces and for results.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;
use std::sync::atomic::Ordering;

pub use parquet::basic::TimeUnit;
use parquet::basic::{ConvertedType, LogicalType};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{DataType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};

mod claims;
mod thrift;

/// The most rows that are decoded at a time.
pub const STEP: usize = 4 << 10;

/// What the integers of a column stand for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// For themselves.
    Integers,
    /// For times in this unit.
    Time(TimeUnit),
    /// For something else, as the file calls it: decimals, dates.
    Other(String),
}

/// Why columns cannot be read.
#[derive(Debug)]
pub enum Unread {
    /// The file is damaged.
    Damaged(ParquetError),
    /// A column is missing.
    Missing {
        /// The name.
        column: &'static str,
        /// The existing columns.
        known: Vec<String>,
    },
    /// The column does not contain integers of 32 or 64 bits.
    NoIntegers(&'static str),
}

impl From<ParquetError> for Unread {
    fn from(error: ParquetError) -> Unread {
        Unread::Damaged(error)
    }
}

/// Columns being read, some thousand rows at a time.
pub struct Columns<const N: usize> {
    reader: Box<dyn FileReader>,
    names: [&'static str; N],
    /// The index of each column in the file.
    indices: [Option<usize>; N],
    group: usize,
    rows: Option<[Option<Column>; N]>,
    buffers: [Vec<u64>; N],
}

impl<const N: usize> Columns<N> {
    /// Opens a file to read these columns. A column may be missing if its flag is false.
    ///
    /// # Errors
    /// The file is damaged or lacks a required column.
    pub fn open(
        file: impl ChunkReader + 'static,
        names: [(&'static str, bool); N],
    ) -> Result<Columns<N>, Unread> {
        let reader = guarded(|| {
            let bytes = file.len();
            let (file, pages) = claims::Checked::new(file)?;
            let reader = SerializedFileReader::new(file)?;
            // From now on, reads always start at a page.
            pages.store(true, Ordering::Relaxed);
            check_ranges(&reader, bytes)?;
            Ok(Box::new(reader) as Box<dyn FileReader>)
        })?;
        let schema = reader.metadata().file_metadata().schema_descr_ptr();
        let mut indices = [None; N];
        for (index, (column, required)) in indices.iter_mut().zip(names) {
            *index = schema.columns().iter().position(|known| known.path().string() == column);
            if index.is_none() && required {
                let known = schema.columns().iter().map(|known| known.path().string()).collect();
                return Err(Unread::Missing { column, known });
            }
        }
        let buffers = std::array::from_fn(|_| Vec::new());
        let names = names.map(|(name, _)| name);
        Ok(Columns { reader, names, indices, group: 0, rows: None, buffers })
    }

    /// Whether the file has this column.
    #[must_use]
    pub fn has(&self, column: usize) -> bool {
        self.indices[column].is_some()
    }

    /// What the file says of the numbers of a column that is there.
    #[must_use]
    pub fn meaning(&self, column: usize) -> Meaning {
        let Some(index) = self.indices[column] else { return Meaning::Integers };
        let schema = self.reader.metadata().file_metadata().schema_descr();
        let column = schema.column(index);
        match (column.logical_type_ref(), column.converted_type()) {
            (Some(LogicalType::Integer(_)), _) | (None, ConvertedType::NONE) => Meaning::Integers,
            (Some(LogicalType::Timestamp(of)), _) => Meaning::Time(of.unit),
            (Some(LogicalType::Time(of)), _) => Meaning::Time(of.unit),
            (None, ConvertedType::TIMESTAMP_MILLIS | ConvertedType::TIME_MILLIS) => {
                Meaning::Time(TimeUnit::MILLIS)
            }
            (None, ConvertedType::TIMESTAMP_MICROS | ConvertedType::TIME_MICROS) => {
                Meaning::Time(TimeUnit::MICROS)
            }
            (None, of) if of.to_string().contains("INT_") => Meaning::Integers,
            (_, of) => Meaning::Other(of.to_string()),
        }
    }

    /// A text in the footer.
    #[must_use]
    pub fn text(&self, key: &str) -> Option<String> {
        let texts = self.reader.metadata().file_metadata().key_value_metadata()?;
        texts.iter().find(|text| text.key == key)?.value.clone()
    }

    /// The program that wrote the file, by its footer.
    #[must_use]
    pub fn writer(&self) -> Option<&str> {
        self.reader.metadata().file_metadata().created_by()
    }

    /// Decodes the next rows, at most `most`, and returns their number; 0 at the end.
    ///
    /// # Errors
    /// The file is damaged, or a column does not contain integers.
    pub fn fill(&mut self, most: usize) -> Result<usize, Unread> {
        loop {
            if self.rows.is_none() && !self.next_group()? {
                return Ok(0);
            }
            match self.decode(most)? {
                0 => self.rows = None,
                count => return Ok(count),
            }
        }
    }

    /// Returns the decoded rows by column; a missing column is empty.
    #[must_use]
    pub fn rows(&self) -> &[Vec<u64>; N] {
        &self.buffers
    }

    /// Opens the columns of the next row group. Returns false if there is none.
    fn next_group(&mut self) -> Result<bool, Unread> {
        if self.group >= self.reader.num_row_groups() {
            return Ok(false);
        }
        let (reader, number, indices) = (&self.reader, self.group, self.indices);
        let readers = guarded(|| {
            let group = reader.get_row_group(number)?;
            let open = |index: Option<usize>| index.map(|index| group.get_column_reader(index));
            indices.into_iter().map(|index| open(index).transpose()).collect::<Result<Vec<_>, _>>()
        })?;
        self.group += 1;
        let mut columns: [Option<Column>; N] = std::array::from_fn(|_| None);
        for ((column, reader), name) in columns.iter_mut().zip(readers).zip(self.names) {
            let Some(reader) = reader else { continue };
            *column = Some(Column::new(reader).ok_or(Unread::NoIntegers(name))?);
        }
        self.rows = Some(columns);
        Ok(true)
    }

    fn decode(&mut self, most: usize) -> Result<usize, Unread> {
        let (columns, buffers) = (self.rows.iter_mut().flatten(), &mut self.buffers);
        let rows = guarded(|| {
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
        })?;
        Ok(rows)
    }
}

thread_local! {
    /// Whether this thread is calling the Parquet library.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Calls the Parquet library. It panics on some damaged files instead of returning an error; this
/// turns the panic into an error and suppresses its message.
fn guarded<T>(step: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, ParquetError> {
    static HUSHED: Once = Once::new();
    HUSHED.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |panic| {
            if !GUARDED.get() {
                usual(panic);
            }
        }));
    });
    GUARDED.set(true);
    let done = catch_unwind(AssertUnwindSafe(step));
    GUARDED.set(false);
    done.unwrap_or_else(|_| {
        Err(ParquetError::General("its parts contradict each other".to_owned()))
    })
}

/// Checks that every column chunk lies within the file, which the library assumes.
fn check_ranges(reader: &dyn FileReader, bytes: u64) -> Result<(), ParquetError> {
    for group in reader.metadata().row_groups() {
        for column in group.columns() {
            let start = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
            let end = start.checked_add(column.compressed_size());
            let end = end.and_then(|end| u64::try_from(end).ok());
            let inside = end.is_some_and(|end| end <= bytes);
            let whole = start >= 0 && column.compressed_size() >= 0 && column.num_values() >= 0;
            if !inside || !whole {
                let what = "a column lies outside the file".to_owned();
                return Err(ParquetError::General(what));
            }
        }
    }
    Ok(())
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

    /// Appends the next values, at most `most`, and returns the number of rows.
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
        // The reader stops at the end of each page.
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
