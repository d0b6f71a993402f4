//! A table of one's own, in columns of any names: written as text, and read as the program reads it with `--columns`.
//!
//! So units, words, and errors are the same. Columns that no part of a request names stay empty, which keeps the text small.

use std::fmt::Write as _;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef, StringArray};
use arrow_schema::{DataType, TimeUnit};
use ftlab_lab::Failure;
use ftlab_workload::replay::Arrival;
use ftlab_workload::trace::{self, ColumnPlan, Location, Options};
use pyo3::prelude::*;

use crate::cast::cast;
use crate::errors::{raised, usage, with_keywords};

/// The rows that suggest what a table is.
const LOOKED_AT: usize = 64;
/// Where a warning comes from: whoever calls `requests`, which makes a `Load`.
const CALLER: u8 = 3;
/// The digits of a fraction of a time.
const DIGITS: u32 = 9;

/// Reads requests from a table by its columns.
pub fn read(
    py: Python<'_>,
    name: &str,
    columns: &[(String, ArrayRef)],
    options: Options,
) -> PyResult<Vec<Arrival>> {
    let text = text(columns, &options.columns, usize::MAX)?;
    let failed = |error: trace::TraceError| raised(Failure::usage(error));
    let mut trace =
        trace::open(Location::Memory(name.to_owned(), text.into()), options).map_err(failed)?;
    let (mut requests, mut batch) = (Vec::new(), Vec::new());
    while trace.next_batch(&mut batch).map_err(failed)? {
        requests.extend(batch.iter().map(|record| Arrival::from(*record)));
    }
    let warnings = py.import("warnings")?;
    for warning in trace.facts().warnings {
        let told = with_keywords(&warning);
        warnings.call_method1("warn", (told, py.None(), CALLER))?;
    }
    Ok(requests)
}

/// What would probably read a table, by the names and the beginnings of its columns.
pub fn suggested(columns: &[(String, ArrayRef)]) -> Option<String> {
    trace::suggested_columns(text(columns, &ColumnPlan::default(), LOOKED_AT).ok()?.as_bytes())
}

/// Writes the first rows of a table.
fn text(columns: &[(String, ArrayRef)], plan: &ColumnPlan, most: usize) -> PyResult<String> {
    let is_number = |(name, _): &&(String, ArrayRef)| name.parse::<f64>().is_ok();
    let numbered = columns.iter().filter(is_number).count();
    if let Some((name, _)) = columns.iter().find(is_number).filter(|_| numbered < columns.len()) {
        return Err(usage(format!(
            "a column is called {name}, and others have names: columns= takes it for a number\n  remedy: give it a name"
        )));
    }
    // Columns without names are numbered from one, as in a file without a head.
    let has_names = numbered == 0;
    let of = |(number, (name, values)): (usize, &(String, ArrayRef))| {
        let (named, number) = (has_names.then_some(name.as_str()), number + 1);
        let is_used = plan.is_empty() || plan.mentions(named, number);
        let fields =
            || Fields::of(name, &values.slice(0, values.len().min(most)), plan.time_unit_ns());
        is_used.then(fields).transpose()
    };
    let fields: Vec<Option<Fields>> =
        columns.iter().enumerate().map(of).collect::<PyResult<_>>()?;
    let rows = columns.iter().map(|(_, values)| values.len()).min().unwrap_or(0).min(most);
    let mut text = String::new();
    if has_names {
        for (number, (name, _)) in columns.iter().enumerate() {
            text.push_str(if number == 0 { "" } else { "," });
            quote(name, &mut text);
        }
        text.push('\n');
    }
    for row in 0..rows {
        for (number, fields) in fields.iter().enumerate() {
            text.push_str(if number == 0 { "" } else { "," });
            match fields {
                Some(fields) => fields.write(row, &mut text),
                // A line must not look empty.
                None => text.push_str("\"\""),
            }
        }
        text.push('\n');
    }
    Ok(text)
}

/// The values of a column, as they are written.
enum Fields {
    Text(StringArray),
    Float(ArrayRef),
    /// Nanoseconds, written in a unit of so many of them.
    Time(ArrayRef, u64),
}

impl Fields {
    fn of(name: &str, values: &ArrayRef, unit_ns: u64) -> PyResult<Fields> {
        let kind = values.data_type();
        let span = DataType::Duration(TimeUnit::Nanosecond);
        Ok(match kind {
            DataType::Duration(_) => {
                Fields::Time(cast(name, &cast(name, values, &span)?, &DataType::Int64)?, unit_ns)
            }
            DataType::Timestamp(_, zone) => {
                let moment = DataType::Timestamp(TimeUnit::Nanosecond, zone.clone());
                Fields::Time(cast(name, &cast(name, values, &moment)?, &DataType::Int64)?, unit_ns)
            }
            kind if kind.is_floating() => Fields::Float(cast(name, values, &DataType::Float64)?),
            DataType::Boolean => {
                let codes: ArrayRef = cast(name, values, &DataType::Int64)?;
                Fields::Text(cast(name, &codes, &DataType::Utf8)?.as_string::<i32>().clone())
            }
            _ => Fields::Text(cast(name, values, &DataType::Utf8)?.as_string::<i32>().clone()),
        })
    }

    /// Writes a field. What is missing stays empty.
    fn write(&self, row: usize, out: &mut String) {
        match self {
            Fields::Text(values) if values.is_valid(row) => quote(values.value(row), out),
            Fields::Float(values) if values.is_valid(row) => {
                let number = values.as_primitive::<Float64Type>().value(row);
                let text = number.to_string();
                // Three digits behind a point would be a group.
                let zero = if text.contains('.') { "0" } else { "" };
                // Writing to a string can't fail.
                let _ = write!(out, "{text}{zero}");
            }
            Fields::Time(values, unit) if values.is_valid(row) => {
                let ns = values.as_primitive::<Int64Type>().value(row);
                let (sign, ns) = (if ns < 0 { "-" } else { "" }, ns.unsigned_abs());
                let fraction = u128::from(ns % unit) * 10_u128.pow(DIGITS) / u128::from(*unit);
                let digits = DIGITS as usize;
                let _ = write!(out, "{sign}{}.{fraction:0digits$}", ns / unit);
            }
            _ => out.push_str("\"\""),
        }
    }
}

/// Writes a text as one field of one line.
fn quote(text: &str, out: &mut String) {
    out.push('"');
    for mark in text.chars() {
        match mark {
            '"' => out.push_str("\"\""),
            '\n' | '\r' => out.push(' '),
            mark => out.push(mark),
        }
    }
    out.push('"');
}
