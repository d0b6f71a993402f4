//! A Parquet file of integer columns, written in row groups.

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
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// The name; it ends in the unit, unless it is a count.
    pub name: &'static str,
    /// The size of an integer: 8, 32 or 64.
    pub bits: i8,
    /// The unit in words, or the meaning of codes.
    pub unit: &'static str,
}

/// A file being written.
pub struct ColumnFile<const N: usize> {
    out: SerializedFileWriter<File>,
    columns: [Column; N],
    values: [Vec<u64>; N],
}

impl<const N: usize> ColumnFile<N> {
    /// Starts a file. Its metadata contain `about` and the units of the columns.
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
            // Page statistics would stay in memory until the end of the file.
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

    /// Adds the tenants of each queue to the metadata.
    pub fn name_queues(&mut self, queues: &[QueueReport]) {
        for queue in queues.iter().filter(|queue| !queue.tenants.is_empty()) {
            let (key, names) = (format!("queue.{}", queue.queue), queue.tenants.join(", "));
            self.out.append_key_value_metadata(KeyValue::new(key, names));
        }
    }

    /// Writes the remaining rows and the footer, and syncs the file to disk.
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
