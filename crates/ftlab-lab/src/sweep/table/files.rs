//! The files of a table: Parquet with units, names and labels in its metadata, and CSV.

use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;

use super::{SweepColumn, SweepTable, SweepValues};
use crate::failure::Failure;

/// The size of a seed in bits.
const SEED_BITS: i8 = 64;

impl SweepTable {
    /// Returns the table as a Parquet file. Its metadata are `about`, and of each column `name.COLUMN`, `unit.COLUMN` and
    /// `label.COLUMN.VALUE`, where there is one. An unknown number is null.
    ///
    /// # Errors
    /// The table is too large for the format.
    pub fn parquet(&self) -> Result<Vec<u8>, Failure> {
        self.write_parquet().map_err(|error| {
            Failure::File(format!("can't write the table: {error}\n  remedy: split the sweep"))
        })
    }

    fn write_parquet(&self) -> Result<Vec<u8>, ParquetError> {
        let fields = self.columns.iter().map(|column| column.field().map(Arc::new));
        let fields = fields.collect::<Result<Vec<_>, _>>()?;
        let schema = Type::group_type_builder("ftlab").with_fields(fields).build()?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
            .set_created_by(format!("ftlab {}", env!("CARGO_PKG_VERSION")))
            .set_key_value_metadata(Some(self.metadata()))
            .build();
        let mut bytes = Vec::new();
        let mut out =
            SerializedFileWriter::new(&mut bytes, Arc::new(schema), Arc::new(properties))?;
        let mut group = out.next_row_group()?;
        for column in &self.columns {
            column.write(&mut group)?;
        }
        group.close()?;
        out.close()?;
        Ok(bytes)
    }

    fn metadata(&self) -> Vec<KeyValue> {
        let mut all = vec![KeyValue::new("about".to_owned(), self.about.clone())];
        for SweepColumn { name, label, unit, labels, .. } in &self.columns {
            all.push(KeyValue::new(format!("name.{name}"), label.clone()));
            if !unit.is_empty() {
                all.push(KeyValue::new(format!("unit.{name}"), unit.clone()));
            }
            let of_values = labels.iter();
            all.extend(of_values.map(|(value, label)| {
                KeyValue::new(format!("label.{name}.{value}"), label.clone())
            }));
        }
        all
    }

    /// Returns the table as CSV with a head. An unknown number is empty.
    ///
    /// # Errors
    /// There is not enough memory.
    pub fn csv(&self) -> Result<String, Failure> {
        let failed = |error: csv::Error| {
            Failure::File(format!("can't write the table: {error}\n  remedy: split the sweep"))
        };
        let mut out = csv::Writer::from_writer(Vec::new());
        out.write_record(self.columns.iter().map(|column| &column.name)).map_err(failed)?;
        for row in 0..self.rows() {
            out.write_record(self.columns.iter().map(|column| column.values.text(row)))
                .map_err(failed)?;
        }
        let bytes = out.into_inner().map_err(Failure::usage)?;
        String::from_utf8(bytes).map_err(Failure::usage)
    }
}

impl SweepColumn {
    fn field(&self) -> Result<Type, ParquetError> {
        let (physical, logical) = match self.values {
            SweepValues::Numbers(_) => (Physical::DOUBLE, None),
            SweepValues::Seeds(_) => {
                (Physical::INT64, Some(LogicalType::integer(SEED_BITS, false)))
            }
            SweepValues::Names(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let repetition = match self.values {
            SweepValues::Numbers(_) => Repetition::OPTIONAL,
            SweepValues::Seeds(_) | SweepValues::Names(_) => Repetition::REQUIRED,
        };
        Type::primitive_type_builder(&self.name, physical)
            .with_repetition(repetition)
            .with_logical_type(logical)
            .build()
    }

    fn write(
        &self,
        group: &mut SerializedRowGroupWriter<'_, &mut Vec<u8>>,
    ) -> Result<(), ParquetError> {
        let Some(mut writer) = group.next_column()? else { return Ok(()) };
        match &self.values {
            SweepValues::Numbers(values) => {
                let known: Vec<f64> = values.iter().copied().flatten().collect();
                let is_known: Vec<i16> =
                    values.iter().map(|one| i16::from(one.is_some())).collect();
                writer.typed::<DoubleType>().write_batch(&known, Some(&is_known), None)?;
            }
            SweepValues::Seeds(values) => {
                let seeds: Vec<i64> = values.iter().copied().map(u64::cast_signed).collect();
                writer.typed::<Int64Type>().write_batch(&seeds, None, None)?;
            }
            SweepValues::Names(values) => {
                let names = values.iter().map(|name| ByteArray::from(name.as_str()));
                let names: Vec<ByteArray> = names.collect();
                writer.typed::<ByteArrayType>().write_batch(&names, None, None)?;
            }
        }
        writer.close()
    }
}

impl SweepValues {
    /// Returns the value of a row as text, from which the same number is read; empty if it is unknown.
    fn text(&self, row: usize) -> String {
        match self {
            SweepValues::Numbers(values) => {
                values[row].map(|value| value.to_string()).unwrap_or_default()
            }
            SweepValues::Seeds(values) => values[row].to_string(),
            SweepValues::Names(values) => values[row].clone(),
        }
    }
}
