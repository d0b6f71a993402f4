//! A Parquet file of whole numbers, written by the row group.

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

/// Rows in a row group.
const GROUP_ROWS: usize = 1 << 18;

/// A column: its name, how many bits its numbers have at most, its unit and what it means.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Ends in the unit, unless it is a count.
    pub name: &'static str,
    /// 8, 32 or 64.
    pub bits: i8,
    /// The unit, in words; what codes stand for.
    pub unit: &'static str,
}

/// A file being written.
pub struct ColumnFile<const N: usize> {
    out: SerializedFileWriter<File>,
    columns: [Column; N],
    values: [Vec<u64>; N],
}

impl<const N: usize> ColumnFile<N> {
    /// Begins a file. The units of the columns go into its metadata, with `about` the whole.
    pub fn new(
        file: File,
        about: &str,
        columns: [Column; N],
    ) -> Result<ColumnFile<N>, ParquetError> {
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
        let about = KeyValue::new("about".to_owned(), about.to_owned());
        let units = columns
            .iter()
            .map(|column| KeyValue::new(format!("unit.{}", column.name), column.unit.to_owned()));
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
            .set_created_by(format!("ftlab {}", env!("CARGO_PKG_VERSION")))
            // What is said of each page would be kept in memory until the end of the file.
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_offset_index_disabled(true)
            .set_key_value_metadata(Some(std::iter::once(about).chain(units).collect()))
            .build();
        let out = SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties))?;
        Ok(ColumnFile { out, columns, values: std::array::from_fn(|_| Vec::new()) })
    }

    /// Adds a row.
    pub fn push(&mut self, row: [u64; N]) -> Result<(), ParquetError> {
        self.values.iter_mut().zip(row).for_each(|(values, value)| values.push(value));
        if self.values[0].len() == GROUP_ROWS { self.write_group() } else { Ok(()) }
    }

    /// Says in the metadata who used which queue.
    pub fn name_queues(&mut self, queues: &[QueueReport]) {
        for queue in queues.iter().filter(|queue| !queue.tenants.is_empty()) {
            let (key, names) = (format!("queue.{}", queue.queue), queue.tenants.join(", "));
            self.out.append_key_value_metadata(KeyValue::new(key, names));
        }
    }

    /// Writes what is left and the table of contents, and brings the file to disk.
    pub fn finish(mut self) -> Result<(), ParquetError> {
        self.write_group()?;
        Ok(self.out.into_inner()?.sync_all()?)
    }

    fn write_group(&mut self) -> Result<(), ParquetError> {
        if self.values[0].is_empty() {
            return Ok(());
        }
        let mut group = self.out.next_row_group()?;
        for (column, values) in self.columns.iter().zip(&mut self.values) {
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
}
