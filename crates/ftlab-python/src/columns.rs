//! Requests in columns: from anything that speaks Arrow, and from arrays of NumPy or whatever NumPy understands.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, Int64Array, UInt64Array};
use arrow_schema::{DataType, TimeUnit};
use ftlab::host::Op;
use ftlab::units::{Lba, SECTOR_BYTES, SimTime};
use ftlab_workload::replay::Arrival;
use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyList;
use pyo3_arrow::input::AnyRecordBatch;
use pyo3_arrow::{PyArray, PyChunkedArray};

use crate::cast::cast;
use crate::errors::usage;
use crate::own_table;

/// The column of arrivals, the only one that may hold times with a unit of their own.
const TIME: &str = "at_ns";
/// How pandas names its index among the columns. It is no part of a request.
const PANDAS_INDEX: &str = "__index_level_";
/// The columns of requests.
const KNOWN: [&str; 8] = ["op", "lba", "sectors", "offset", "size", TIME, "stream", "fua"];

/// Requests that were read from columns.
pub struct ReadRequests {
    pub requests: Vec<Arrival>,
    /// Whether they have times.
    pub timed: bool,
}

/// Reads requests. Those without a time come at `now`.
pub fn requests_of(columns: &Bound<'_, PyAny>, now: Option<SimTime>) -> PyResult<ReadRequests> {
    let mut columns = columns_of(columns, HeldNumbers::Whole)?;
    let unknown =
        columns.iter().map(|(name, _)| name).filter(|name| !KNOWN.contains(&name.as_str()));
    if let Some(name) = unknown.min() {
        // A column may be called by its number, which is that in the table.
        let other = own_table::suggested(&columns).map_or(String::new(), |suggested| {
            format!("; or say which column is what: {suggested}")
        });
        return Err(usage(format!(
            "requests have no column {name}\n  remedy: leave it out, or write one of {}{other}",
            KNOWN.join(", ")
        )));
    }
    columns.sort_by(|(one, _), (other, _)| one.cmp(other));
    let rows = equal_rows(&columns)?;
    let columns: BTreeMap<String, ArrayRef> = columns.into_iter().collect();
    let column = |name: &str| columns.get(name).map(|values| numbers(name, values)).transpose();
    let ops = columns.get("op").map(ops).transpose()?.ok_or_else(|| lacks("op"))?;
    let (lba, sectors) = places(&column, &ops)?;
    let (at, stream) = (column(TIME)?, column("stream")?);
    let fua = columns.get("fua").map(switches).transpose()?;
    let timed = at.is_some();
    let start = now.unwrap_or_default();
    let mut requests = Vec::with_capacity(rows);
    for row in 0..rows {
        if sectors[row] == 0 && ops[row] != Op::Flush {
            return Err(usage(format!(
                "the request in row {row} has no sectors\n  remedy: give it at least one; only a flush has none"
            )));
        }
        requests.push(Arrival {
            at: at.as_ref().map_or(start, |at| SimTime(at.value(row))),
            op: ops[row],
            lba: Lba(lba[row]),
            sectors: narrow("sectors", sectors[row], row)?,
            stream: stream.as_ref().map_or(Ok(0), |all| narrow("stream", all.value(row), row))?,
            fua: fua.as_ref().is_some_and(|fua| fua.value(row)),
        });
    }
    Ok(ReadRequests { requests, timed })
}

/// Returns the columns of a table of one's own, in their order.
pub fn own_columns(given: &Bound<'_, PyAny>) -> PyResult<Vec<(String, ArrayRef)>> {
    let columns = columns_of(given, HeldNumbers::Any)?;
    equal_rows(&columns).map(|_| columns)
}

/// Returns the number of rows.
fn equal_rows(columns: &[(String, ArrayRef)]) -> PyResult<usize> {
    let Some((first, values)) = columns.first() else { return Ok(0) };
    let rows = values.len();
    match columns.iter().find(|(_, values)| values.len() != rows) {
        None => Ok(rows),
        Some((name, values)) => Err(usage(format!(
            "the columns differ in length: {first} has {rows} values, and {name} has {}",
            values.len()
        ))),
    }
}

fn lacks(name: &str) -> PyErr {
    usage(format!(
        "the requests lack the column {name}\n  remedy: give op, and lba with sectors (of 512 bytes) or offset with \
         size (in bytes); at_ns, stream and fua are optional"
    ))
}

fn narrow(name: &str, value: u64, row: usize) -> PyResult<u32> {
    u32::try_from(value).map_err(|_| usage(format!("{name} is too large in row {row}: {value}")))
}

/// Returns first sectors and lengths.
fn places(
    column: &dyn Fn(&str) -> PyResult<Option<UInt64Array>>,
    ops: &[Op],
) -> PyResult<(Vec<u64>, Vec<u64>)> {
    let all = |values: &UInt64Array| values.values().to_vec();
    match (column("lba")?, column("sectors")?, column("offset")?, column("size")?) {
        (Some(lba), Some(sectors), None, None) => Ok((all(&lba), all(&sectors))),
        (None, None, Some(offset), Some(size)) => {
            let in_sectors = |name: &str, values: &UInt64Array| {
                let whole = |(row, &bytes): (usize, &u64)| match bytes % SECTOR_BYTES {
                    0 => Ok(bytes / SECTOR_BYTES),
                    _ => Err(usage(format!(
                        "{name} is no multiple of {SECTOR_BYTES} bytes in row {row}: {bytes}"
                    ))),
                };
                values.values().iter().enumerate().map(whole).collect::<PyResult<Vec<u64>>>()
            };
            Ok((in_sectors("offset", &offset)?, in_sectors("size", &size)?))
        }
        (None, None, None, None) if ops.iter().all(|op| *op == Op::Flush) => {
            Ok((vec![0; ops.len()], vec![0; ops.len()]))
        }
        (None, None, None, None) => Err(lacks("lba")),
        _ => Err(usage(
            "the places of requests are given in part or twice\n  remedy: give either lba with sectors, or offset \
             with size",
        )),
    }
}

/// Which numbers arrays of NumPy may hold.
#[derive(Clone, Copy, PartialEq, Eq)]
enum HeldNumbers {
    Whole,
    Any,
}

/// Returns the columns with their names, in their order.
fn columns_of(given: &Bound<'_, PyAny>, numbers: HeldNumbers) -> PyResult<Vec<(String, ArrayRef)>> {
    if speaks_arrow(given)? {
        let table = given.extract::<AnyRecordBatch>()?.into_table()?;
        let (batches, schema) = table.into_inner();
        let whole = arrow_select::concat::concat_batches(&schema, &batches)
            .map_err(|error| usage(error.to_string()))?;
        let named = |(at, field): (usize, &arrow_schema::FieldRef)| {
            (field.name().clone(), whole.column(at).clone())
        };
        let mut columns: Vec<(String, ArrayRef)> = Vec::new();
        let columns_of_table = schema.fields().iter().enumerate().map(named);
        for (name, values) in columns_of_table.filter(|(name, _)| !name.starts_with(PANDAS_INDEX)) {
            if columns.iter().any(|(known, _)| *known == name) {
                return Err(usage(format!(
                    "requests have two columns {name}\n  remedy: leave one out"
                )));
            }
            let values = sound(&name, values)?;
            columns.push((name, values));
        }
        return Ok(columns);
    }
    let Ok(items) = given.call_method0("items") else {
        return Err(usage(
            "requests come in columns: a table that speaks Arrow (polars, pandas, pyarrow), or a mapping of names to \
             arrays",
        ));
    };
    let mut columns = Vec::new();
    for item in items.try_iter()? {
        let (name, values): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item?.extract()?;
        let name = name.str()?.to_string();
        let values = sound(&name, array_of(&name, &values, numbers)?)?;
        columns.push((name, values));
    }
    Ok(columns)
}

/// Texts of other libraries need not be UTF-8, which arrays take for granted.
fn sound(name: &str, values: ArrayRef) -> PyResult<ArrayRef> {
    let checked = values.to_data().validate_full();
    checked.map_err(|error| {
        usage(format!("column {name} can't be read: {error}\n  remedy: write its texts as UTF-8"))
    })?;
    Ok(values)
}

/// Whether something can be taken by Arrow's interface. pandas has it, but needs pyarrow for it.
fn speaks_arrow(given: &Bound<'_, PyAny>) -> PyResult<bool> {
    let module: String = given.get_type().getattr("__module__")?.extract()?;
    if module.split('.').next() == Some("pandas") && given.py().import("pyarrow").is_err() {
        return Ok(false);
    }
    Ok(given.hasattr("__arrow_c_stream__")? || given.hasattr("__arrow_c_array__")?)
}

fn array_of(name: &str, values: &Bound<'_, PyAny>, numbers: HeldNumbers) -> PyResult<ArrayRef> {
    if speaks_arrow(values)? && values.hasattr("__arrow_c_stream__")? {
        let chunked = values.extract::<PyChunkedArray>()?;
        let chunks: Vec<&dyn Array> = chunked.chunks().iter().map(AsRef::as_ref).collect();
        if chunks.is_empty() {
            return Ok(arrow_array::new_empty_array(chunked.field().data_type()));
        }
        return arrow_select::concat::concat(&chunks).map_err(|error| usage(error.to_string()));
    }
    if speaks_arrow(values)? {
        return Ok(values.extract::<PyArray>()?.into_inner().0);
    }
    // NumPy makes floating-point numbers of lists with numbers beyond 63 bits, and of empty lists.
    if let Ok(list) = values.cast::<PyList>()
        && let Ok(whole) = list.extract::<Vec<u64>>()
    {
        return Ok(Arc::new(UInt64Array::from(whole)));
    }
    let no_column = |error: PyErr| {
        usage(format!(
            "{name} is no column: {error}\n  remedy: give an array, or a list of numbers or texts"
        ))
    };
    let array = values.py().import("numpy")?.call_method1("asarray", (values,));
    let array = array.map_err(no_column)?;
    refuse_masked(name, values)?;
    let kind: String = array.getattr("dtype")?.getattr("kind")?.extract()?;
    let dimensions: usize = array.getattr("ndim")?.extract()?;
    if dimensions != 1 {
        return Err(usage(format!("{name} is no column: it has {dimensions} dimensions")));
    }
    // Lists of texts become fixed-width texts or objects in NumPy, which Arrow reads as a list.
    if matches!(kind.as_str(), "U" | "O" | "T") {
        let texts: Vec<String> = array
            .call_method0("tolist")?
            .extract()
            .map_err(|_| usage(format!("{name} holds neither whole numbers nor texts")))?;
        return Ok(Arc::new(arrow_array::StringArray::from(texts)));
    }
    match kind.as_str() {
        "u" | "b" => Ok(Arc::new(UInt64Array::from(whole::<u64>(&array, "uint64")?))),
        "i" => Ok(Arc::new(Int64Array::from(whole::<i64>(&array, "int64")?))),
        "f" if numbers == HeldNumbers::Any => {
            Ok(Arc::new(Float64Array::from(whole::<f64>(&array, "float64")?)))
        }
        "m" if name == TIME => {
            Ok(Arc::new(Int64Array::from(whole::<i64>(&in_nanoseconds(&array)?, "int64")?)))
        }
        _ => {
            let dtype = array.getattr("dtype")?.str()?.to_string();
            Err(usage(format!("{name} holds no whole numbers but {dtype}")))
        }
    }
}

/// Refuses an array of NumPy that hides values.
fn refuse_masked(name: &str, values: &Bound<'_, PyAny>) -> PyResult<()> {
    let numpy = values.py().import("numpy")?;
    if !values.is_instance(&numpy.getattr("ma")?.getattr("MaskedArray")?)? {
        return Ok(());
    }
    match numpy.call_method1("any", (values.getattr("mask")?,))?.is_truthy()? {
        true => Err(usage(format!(
            "{name} hides values behind a mask\n  remedy: fill them, or drop the rows"
        ))),
        false => Ok(()),
    }
}

/// Returns the spans of an array as nanoseconds.
fn in_nanoseconds<'py>(array: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let spans = array.call_method1("astype", ("timedelta64[ns]",))?;
    // NumPy wraps what does not fit.
    let back = spans.call_method1("astype", (array.getattr("dtype")?,))?;
    let equal = array.py().import("numpy")?.call_method1("array_equal", (back, array, true))?;
    match equal.is_truthy()? {
        true => Ok(spans),
        false => Err(usage(format!("{TIME} holds a time that is too long"))),
    }
}

/// Returns the numbers of an array.
fn whole<T: numpy::Element + Copy>(array: &Bound<'_, PyAny>, dtype: &str) -> PyResult<Vec<T>> {
    let array = array.call_method1("astype", (dtype,))?;
    let array = array.cast_into::<PyArray1<T>>().map_err(PyErr::from)?;
    Ok(array.readonly().as_array().to_vec())
}

/// Returns a column as whole numbers.
fn numbers(name: &str, values: &ArrayRef) -> PyResult<UInt64Array> {
    let kind = values.data_type();
    let is_time = matches!(kind, DataType::Duration(_) | DataType::Timestamp(..));
    let whole = kind.is_integer() || matches!(kind, DataType::Boolean) || is_time && name == TIME;
    if !whole {
        return Err(usage(format!("{name} holds no whole numbers but {kind}")));
    }
    refuse_null(name, values)?;
    // Times have a unit of their own, and are signed beneath.
    let in_nanoseconds = match kind {
        DataType::Duration(_) => Some(DataType::Duration(TimeUnit::Nanosecond)),
        DataType::Timestamp(_, zone) => {
            Some(DataType::Timestamp(TimeUnit::Nanosecond, zone.clone()))
        }
        _ => None,
    };
    let signed = match in_nanoseconds {
        Some(kind) => cast(name, &cast(name, values, &kind)?, &DataType::Int64)?,
        None => values.clone(),
    };
    let unsigned = cast(name, &signed, &DataType::UInt64)?;
    Ok(unsigned.as_primitive::<UInt64Type>().clone())
}

fn refuse_null(name: &str, values: &ArrayRef) -> PyResult<()> {
    match values.null_count() {
        0 => Ok(()),
        many => {
            Err(usage(format!("{name} lacks {many} values\n  remedy: fill them, or drop the rows")))
        }
    }
}

/// Returns truth values, which may be written as 0 and 1.
fn switches(values: &ArrayRef) -> PyResult<BooleanArray> {
    let numbers = numbers("fua", values)?;
    match numbers.values().iter().position(|&value| value > 1) {
        Some(row) => Err(usage(format!(
            "fua is neither 0 nor 1 in row {row}: {}\n  remedy: write truth values",
            numbers.value(row)
        ))),
        None => Ok(numbers.values().iter().map(|&value| Some(value == 1)).collect()),
    }
}

/// Returns the operation with a name. The first letter is enough for those that every device has.
pub fn op_named(text: &str) -> Option<Op> {
    let by_letter = |op: &Op| text.eq_ignore_ascii_case(&op.name()[..1]);
    let by_name = |op: &Op| text.eq_ignore_ascii_case(op.name());
    Op::COMMON.into_iter().find(by_letter).or_else(|| Op::ALL.into_iter().find(by_name))
}

/// Returns operations from their names, their first letters, or their codes.
fn ops(values: &ArrayRef) -> PyResult<Vec<Op>> {
    let wrong = |row: usize, found: &str| {
        let known = Op::ALL.map(Op::name).join(", ");
        let last = Op::ALL.len() - 1;
        usage(format!(
            "op is no operation in row {row}: {found:?}\n  remedy: write {known}, or 0 to {last}"
        ))
    };
    refuse_null("op", values)?;
    let texts = matches!(
        values.data_type(),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Dictionary(..)
    );
    if texts {
        let texts = cast("op", values, &DataType::Utf8)?;
        let texts = texts.as_string::<i32>();
        let named = |row: usize| {
            let text = texts.value(row);
            op_named(text).ok_or_else(|| wrong(row, text))
        };
        return (0..texts.len()).map(named).collect();
    }
    let codes = numbers("op", values)?;
    let coded = |row: usize| {
        let code = codes.value(row);
        let found = usize::try_from(code).ok().and_then(|at| Op::ALL.get(at));
        found.copied().ok_or_else(|| wrong(row, &code.to_string()))
    };
    (0..codes.len()).map(coded).collect()
}
