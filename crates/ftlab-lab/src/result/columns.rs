//! Tables of integer columns: written as Parquet in row groups, or kept in memory.

use std::fs::File;
use std::ops::Range;
use std::sync::Arc;

use ftlab::stats::QueueReport;
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;

/// Rows per row group.
const GROUP_ROWS: usize = 1 << 18;

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// The name; it ends in the unit, unless it is a count.
    pub name: &'static str,
    /// The size of an unsigned integer: 8, 32 or 64.
    pub bits: i8,
    /// The unit in words, or the meaning of codes.
    pub unit: &'static str,
}

/// Where a table goes.
#[derive(Debug)]
pub enum TableTarget {
    /// Into a Parquet file.
    File(File),
    /// Into memory.
    Memory,
}

/// The values of a column in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnValues {
    /// 8 bits each.
    Narrow(Vec<u8>),
    /// 32 bits each.
    Medium(Vec<u32>),
    /// 64 bits each.
    Wide(Vec<u64>),
}

impl ColumnValues {
    fn of(column: &Column) -> ColumnValues {
        match column.bits {
            8 => ColumnValues::Narrow(Vec::new()),
            32 => ColumnValues::Medium(Vec::new()),
            _ => ColumnValues::Wide(Vec::new()),
        }
    }

    #[inline]
    fn push(&mut self, value: u64) {
        match self {
            ColumnValues::Narrow(values) => values.push(value as u8),
            ColumnValues::Medium(values) => values.push(value as u32),
            ColumnValues::Wide(values) => values.push(value),
        }
    }

    fn clear(&mut self) {
        match self {
            ColumnValues::Narrow(values) => values.clear(),
            ColumnValues::Medium(values) => values.clear(),
            ColumnValues::Wide(values) => values.clear(),
        }
    }

    /// Writes these rows.
    fn write(
        &self,
        rows: Range<usize>,
        mut column: SerializedColumnWriter<'_>,
    ) -> Result<(), ParquetError> {
        match self {
            ColumnValues::Wide(values) => {
                let wide: Vec<i64> = values[rows].iter().map(|value| value.cast_signed()).collect();
                column.typed::<Int64Type>().write_batch(&wide, None, None)?;
            }
            ColumnValues::Medium(values) => {
                let all: Vec<i32> = values[rows].iter().map(|value| value.cast_signed()).collect();
                column.typed::<Int32Type>().write_batch(&all, None, None)?;
            }
            ColumnValues::Narrow(values) => {
                let all: Vec<i32> = values[rows].iter().map(|&value| value.into()).collect();
                column.typed::<Int32Type>().write_batch(&all, None, None)?;
            }
        }
        column.close()
    }

    /// Returns the number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            ColumnValues::Narrow(values) => values.len(),
            ColumnValues::Medium(values) => values.len(),
            ColumnValues::Wide(values) => values.len(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A table in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnTable {
    /// What its rows are, and further metadata.
    pub metadata: Vec<(String, String)>,
    /// The columns with their values.
    pub columns: Vec<(Column, ColumnValues)>,
}

impl ColumnTable {
    /// Creates an empty table. Its metadata contain `about` and the units of the columns.
    pub(super) fn new(about: &str, columns: &[Column]) -> ColumnTable {
        let values = columns.iter().map(|column| (*column, ColumnValues::of(column)));
        ColumnTable { metadata: metadata(about, columns).collect(), columns: values.collect() }
    }

    /// Adds a row.
    pub(super) fn push<const N: usize>(&mut self, row: [u64; N]) {
        debug_assert_eq!(self.columns.len(), N, "a value for each column");
        self.columns.iter_mut().zip(row).for_each(|((_, values), value)| values.push(value));
    }

    /// Adds the tenants of each queue to the metadata.
    pub(super) fn name_queues(&mut self, queues: &[QueueReport]) {
        self.metadata.extend(queues_named(queues));
    }

    /// Returns the number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |(_, values)| values.len())
    }

    /// Writes the table as a Parquet file, and syncs it to disk.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, file: File) -> Result<(), ParquetError> {
        let columns: Vec<Column> = self.columns.iter().map(|(column, _)| *column).collect();
        let mut out = writer(file, self.metadata.iter().cloned(), &columns)?;
        for from in (0..self.rows()).step_by(GROUP_ROWS) {
            write_group(&mut out, self, from..(from + GROUP_ROWS).min(self.rows()))?;
        }
        Ok(out.into_inner()?.sync_all()?)
    }
}

fn metadata(about: &str, columns: &[Column]) -> impl Iterator<Item = (String, String)> {
    let units = columns.iter().map(|one| (format!("unit.{}", one.name), one.unit.to_owned()));
    std::iter::once(("about".to_owned(), about.to_owned())).chain(units)
}

fn queues_named(queues: &[QueueReport]) -> impl Iterator<Item = (String, String)> {
    let named = queues.iter().filter(|queue| !queue.tenants.is_empty());
    named.map(|queue| (format!("queue.{}", queue.queue), queue.tenants.join(", ")))
}

/// A table being filled: in memory, or in a file, which may be longer than memory.
pub struct TableBuilder<const N: usize> {
    to: Filling,
}

/// Where rows go.
enum Filling {
    /// The rows of a group gather in a table before they are written.
    File(Box<SerializedFileWriter<File>>, ColumnTable),
    Memory(ColumnTable),
}

impl<const N: usize> TableBuilder<N> {
    /// Starts a table. Its metadata contain `about` and the units of the columns.
    pub fn new(
        target: TableTarget,
        about: &str,
        columns: [Column; N],
    ) -> Result<TableBuilder<N>, ParquetError> {
        let table = ColumnTable::new(about, &columns);
        let to = match target {
            TableTarget::Memory => Filling::Memory(table),
            TableTarget::File(file) => {
                let out = writer(file, table.metadata.iter().cloned(), &columns)?;
                Filling::File(Box::new(out), table)
            }
        };
        Ok(TableBuilder { to })
    }

    /// Adds a row.
    pub fn push(&mut self, row: [u64; N]) -> Result<(), ParquetError> {
        match &mut self.to {
            Filling::Memory(table) => table.push(row),
            Filling::File(out, table) => {
                table.push(row);
                if table.rows() == GROUP_ROWS {
                    write_and_empty(out, table)?;
                }
            }
        }
        Ok(())
    }

    /// Adds the tenants of each queue to the metadata.
    pub fn name_queues(&mut self, queues: &[QueueReport]) {
        match &mut self.to {
            Filling::Memory(table) => table.name_queues(queues),
            Filling::File(out, _) => queues_named(queues).for_each(|(key, names)| {
                out.append_key_value_metadata(KeyValue::new(key, names));
            }),
        }
    }

    /// Writes the remaining rows and the footer, and syncs the file to disk; or returns the table in memory.
    pub fn finish(self) -> Result<Option<ColumnTable>, ParquetError> {
        match self.to {
            Filling::Memory(table) => Ok(Some(table)),
            Filling::File(mut out, mut table) => {
                if table.rows() > 0 {
                    write_and_empty(&mut out, &mut table)?;
                }
                out.into_inner()?.sync_all()?;
                Ok(None)
            }
        }
    }
}

fn writer(
    file: File,
    metadata: impl Iterator<Item = (String, String)>,
    columns: &[Column],
) -> Result<SerializedFileWriter<File>, ParquetError> {
    let fields = columns.iter().map(|column| {
        let physical = if column.bits == 64 { Physical::INT64 } else { Physical::INT32 };
        Type::primitive_type_builder(column.name, physical)
            .with_repetition(Repetition::REQUIRED)
            .with_logical_type(Some(LogicalType::integer(column.bits, false)))
            .build()
            .map(Arc::new)
    });
    let fields = fields.collect::<Result<Vec<_>, _>>()?;
    let schema = Type::group_type_builder("ftlab").with_fields(fields).build()?;
    let metadata = metadata.map(|(key, value)| KeyValue::new(key, value)).collect();
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
        .set_created_by(format!("ftlab {}", env!("CARGO_PKG_VERSION")))
        // Page statistics would stay in memory until the end of the file.
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_key_value_metadata(Some(metadata))
        .build();
    SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties))
}

/// Writes these rows of a table as a group.
fn write_group(
    out: &mut SerializedFileWriter<File>,
    table: &ColumnTable,
    rows: Range<usize>,
) -> Result<(), ParquetError> {
    let mut group = out.next_row_group()?;
    for (_, values) in &table.columns {
        let Some(column) = group.next_column()? else { break };
        values.write(rows.clone(), column)?;
    }
    group.close().map(|_| ())
}

fn write_and_empty(
    out: &mut SerializedFileWriter<File>,
    table: &mut ColumnTable,
) -> Result<(), ParquetError> {
    write_group(out, table, 0..table.rows())?;
    table.columns.iter_mut().for_each(|(_, values)| values.clear());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_in_memory_holds_what_a_file_would() {
        let columns = [
            Column { name: "op", bits: 8, unit: "0 read" },
            Column { name: "sectors", bits: 32, unit: "sectors" },
            Column { name: "at_ns", bits: 64, unit: "nanoseconds" },
        ];
        let fill = |target| {
            let mut table = TableBuilder::new(target, "rows", columns).unwrap();
            table.push([1, 70_000, 1 << 40]).unwrap();
            table.push([2, 8, 3]).unwrap();
            table.finish().unwrap()
        };
        let table = fill(TableTarget::Memory).expect("it is in memory");
        // Written at once or row by row, the file has the same bytes.
        let place = tempfile::tempdir().unwrap();
        let path = |name| place.path().join(name);
        table.write(File::create(path("whole")).unwrap()).unwrap();
        assert_eq!(fill(TableTarget::File(File::create(path("rows")).unwrap())), None);
        let read = |name| std::fs::read(path(name)).unwrap();
        assert_eq!(read("whole"), read("rows"));
        assert_eq!(table.metadata[0], ("about".to_owned(), "rows".to_owned()));
        assert_eq!(table.metadata[3].1, "nanoseconds");
        let values: Vec<ColumnValues> = table.columns.into_iter().map(|(_, all)| all).collect();
        assert_eq!(
            values,
            [
                ColumnValues::Narrow(vec![1, 2]),
                ColumnValues::Medium(vec![70_000, 8]),
                ColumnValues::Wide(vec![1 << 40, 3]),
            ]
        );
    }
}
