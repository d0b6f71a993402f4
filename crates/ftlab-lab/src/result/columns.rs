//! Tables of integer columns: written as Parquet in row groups, or kept in memory.

use std::fs::File;
use std::sync::Arc;

use ftlab::stats::QueueReport;
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
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

/// A table being filled.
pub struct TableBuilder<const N: usize> {
    columns: [Column; N],
    to: Filling<N>,
}

/// Where rows go.
enum Filling<const N: usize> {
    File { out: Box<SerializedFileWriter<File>>, values: [Vec<u64>; N] },
    Memory { metadata: Vec<(String, String)>, values: [ColumnValues; N] },
}

impl<const N: usize> TableBuilder<N> {
    /// Starts a table. Its metadata contain `about` and the units of the columns.
    pub fn new(
        target: TableTarget,
        about: &str,
        columns: [Column; N],
    ) -> Result<TableBuilder<N>, ParquetError> {
        let units = columns.iter().map(|one| (format!("unit.{}", one.name), one.unit.to_owned()));
        let metadata = std::iter::once(("about".to_owned(), about.to_owned())).chain(units);
        let to = match target {
            TableTarget::Memory => Filling::Memory {
                metadata: metadata.collect(),
                values: columns.each_ref().map(ColumnValues::of),
            },
            TableTarget::File(file) => Filling::File {
                out: Box::new(writer(file, metadata, &columns)?),
                values: std::array::from_fn(|_| Vec::new()),
            },
        };
        Ok(TableBuilder { columns, to })
    }

    /// Adds a row.
    pub fn push(&mut self, row: [u64; N]) -> Result<(), ParquetError> {
        match &mut self.to {
            Filling::Memory { values, .. } => {
                values.iter_mut().zip(row).for_each(|(values, value)| values.push(value));
                Ok(())
            }
            Filling::File { values, out } => {
                values.iter_mut().zip(row).for_each(|(values, value)| values.push(value));
                match values[0].len() == GROUP_ROWS {
                    true => write_group(out, &self.columns, values),
                    false => Ok(()),
                }
            }
        }
    }

    /// Adds the tenants of each queue to the metadata.
    pub fn name_queues(&mut self, queues: &[QueueReport]) {
        for queue in queues.iter().filter(|queue| !queue.tenants.is_empty()) {
            let (key, names) = (format!("queue.{}", queue.queue), queue.tenants.join(", "));
            match &mut self.to {
                Filling::Memory { metadata, .. } => metadata.push((key, names)),
                Filling::File { out, .. } => {
                    out.append_key_value_metadata(KeyValue::new(key, names));
                }
            }
        }
    }

    /// Writes the remaining rows and the footer, and syncs the file to disk; or returns the table in memory.
    pub fn finish(self) -> Result<Option<ColumnTable>, ParquetError> {
        match self.to {
            Filling::Memory { metadata, values } => {
                let columns = self.columns.into_iter().zip(values).collect();
                Ok(Some(ColumnTable { metadata, columns }))
            }
            Filling::File { mut out, mut values } => {
                write_group(&mut out, &self.columns, &mut values)?;
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

fn write_group(
    out: &mut SerializedFileWriter<File>,
    columns: &[Column],
    values: &mut [Vec<u64>],
) -> Result<(), ParquetError> {
    if values[0].is_empty() {
        return Ok(());
    }
    let mut group = out.next_row_group()?;
    for (column, values) in columns.iter().zip(values) {
        let Some(mut writer) = group.next_column()? else { break };
        if column.bits == 64 {
            let wide: Vec<i64> = values.drain(..).map(u64::cast_signed).collect();
            writer.typed::<Int64Type>().write_batch(&wide, None, None)?;
        } else {
            let narrow: Vec<i32> =
                values.drain(..).map(|value| (value as u32).cast_signed()).collect();
            writer.typed::<Int32Type>().write_batch(&narrow, None, None)?;
        }
        writer.close()?;
    }
    group.close().map(|_| ())
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
        let mut table = TableBuilder::new(TableTarget::Memory, "rows", columns).unwrap();
        table.push([1, 70_000, 1 << 40]).unwrap();
        table.push([2, 8, 3]).unwrap();
        let table = table.finish().unwrap().expect("it is in memory");
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
