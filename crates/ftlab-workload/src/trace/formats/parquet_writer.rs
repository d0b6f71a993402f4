//! Writes records as Parquet, for `parquet` to read.

use std::fs::File;
use std::io;
use std::sync::Arc;

use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{ColumnPath, Type};

use crate::trace::record::{Record, op_code};

use super::parquet::{COLUMNS, TIMELESS};
use super::parquet_sums::{ColumnSums, SUMS, WRITER};

/// The rows of a row group: some megabytes, so that a reader needs little memory.
const GROUP_ROWS: usize = 1 << 20;

/// Collects a row group by columns and writes it.
pub(crate) struct ParquetWriter {
    out: SerializedFileWriter<File>,
    times: Vec<i64>,
    ops: Vec<i32>,
    lbas: Vec<i64>,
    sectors: Vec<i32>,
    streams: Vec<i32>,
    sums: ColumnSums,
}

impl ParquetWriter {
    /// Starts a file.
    pub fn new(file: File) -> io::Result<ParquetWriter> {
        let schema = schema().map_err(io::Error::other)?;
        let properties = properties().map_err(io::Error::other)?;
        let out = SerializedFileWriter::new(file, schema, Arc::new(properties))
            .map_err(io::Error::other)?;
        Ok(ParquetWriter {
            out,
            times: Vec::new(),
            ops: Vec::new(),
            lbas: Vec::new(),
            sectors: Vec::new(),
            streams: Vec::new(),
            sums: ColumnSums::default(),
        })
    }

    /// Adds a record.
    pub fn record(&mut self, record: &Record) -> io::Result<()> {
        self.times.push(record.at.0.cast_signed());
        self.ops.push(i32::from(op_code(record)));
        self.lbas.push(record.lba.0.cast_signed());
        self.sectors.push(record.sectors.cast_signed());
        self.streams.push(record.stream.cast_signed());
        if self.times.len() == GROUP_ROWS { self.write_group() } else { Ok(()) }
    }

    /// Writes the remaining rows and the footer: sums of the columns, and whether the requests have no times.
    pub fn finish(mut self, timeless: bool) -> io::Result<File> {
        self.write_group()?;
        let sums = KeyValue::new(SUMS.to_owned(), self.sums.text());
        self.out.append_key_value_metadata(sums);
        if timeless {
            let said = KeyValue::new(TIMELESS.to_owned(), "true".to_owned());
            self.out.append_key_value_metadata(said);
        }
        self.out.into_inner().map_err(io::Error::other)
    }

    fn write_group(&mut self) -> io::Result<()> {
        self.try_write_group().map_err(io::Error::other)
    }

    fn try_write_group(&mut self) -> Result<(), ParquetError> {
        if self.times.is_empty() {
            return Ok(());
        }
        self.sums.add(0, self.times.iter().map(|value| value.cast_unsigned()));
        self.sums.add(2, self.lbas.iter().map(|value| value.cast_unsigned()));
        for (column, values) in [(1, &self.ops), (3, &self.sectors), (4, &self.streams)] {
            self.sums.add(column, values.iter().map(|value| u64::from(value.cast_unsigned())));
        }
        let mut group = self.out.next_row_group()?;
        wide(&mut group, &mut self.times)?;
        narrow(&mut group, &mut self.ops)?;
        wide(&mut group, &mut self.lbas)?;
        narrow(&mut group, &mut self.sectors)?;
        narrow(&mut group, &mut self.streams)?;
        group.close().map(|_| ())
    }
}

fn wide(
    group: &mut SerializedRowGroupWriter<'_, File>,
    values: &mut Vec<i64>,
) -> Result<(), ParquetError> {
    let mut column = group.next_column()?.ok_or_else(too_few)?;
    column.typed::<Int64Type>().write_batch(values, None, None)?;
    values.clear();
    column.close()
}

fn narrow(
    group: &mut SerializedRowGroupWriter<'_, File>,
    values: &mut Vec<i32>,
) -> Result<(), ParquetError> {
    let mut column = group.next_column()?.ok_or_else(too_few)?;
    column.typed::<Int32Type>().write_batch(values, None, None)?;
    values.clear();
    column.close()
}

fn too_few() -> ParquetError {
    ParquetError::General("the schema has fewer columns than a record".to_owned())
}

/// Returns the columns, all required: 64 bits for time and address, 8 for the operation, 32 for the
/// rest.
fn schema() -> Result<Arc<Type>, ParquetError> {
    let bits: [(Physical, i8); 5] = [
        (Physical::INT64, 64),
        (Physical::INT32, 8),
        (Physical::INT64, 64),
        (Physical::INT32, 32),
        (Physical::INT32, 32),
    ];
    let fields = COLUMNS.iter().zip(bits).map(|((name, _), (physical, bit_width))| {
        Type::primitive_type_builder(name, physical)
            .with_repetition(Repetition::REQUIRED)
            .with_logical_type(Some(LogicalType::integer(bit_width, false)))
            .build()
            .map(Arc::new)
    });
    let fields = fields.collect::<Result<Vec<_>, _>>()?;
    Type::group_type_builder("trace").with_fields(fields).build().map(Arc::new)
}

/// Times are nearly even steps and stored as differences; operation, size and stream have few
/// values and are stored as a dictionary; addresses have neither property.
fn properties() -> Result<WriterProperties, ParquetError> {
    let path = |name: &str| ColumnPath::from(name);
    Ok(WriterProperties::builder()
        .set_created_by(format!("{WRITER}{}", env!("CARGO_PKG_VERSION")))
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_column_dictionary_enabled(path("t_ns"), false)
        .set_column_encoding(path("t_ns"), Encoding::DELTA_BINARY_PACKED)
        .set_column_dictionary_enabled(path("lba"), false)
        .build())
}
