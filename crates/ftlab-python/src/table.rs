//! Tables as Arrow, without copies.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, Float64Array, RecordBatch, RecordBatchOptions, StringArray, StructArray,
    UInt8Array, UInt32Array, UInt64Array,
};
use arrow_schema::{DataType, Field, FieldRef, Schema};
use ftlab_lab::result::{ColumnTable, ColumnValues};
use pyo3::exceptions::{PyIndexError, PyKeyError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};
use pyo3_arrow::ffi::{ArrayIterator, to_array_pycapsules, to_stream_pycapsule};

/// The key of a unit in the metadata of a column.
const UNIT: &str = "unit";

/// A table of columns. It hands out its memory through the Arrow PyCapsule interface.
#[pyclass(frozen, module = "ftlab._ftlab", name = "Columns")]
pub struct PyColumns {
    batch: RecordBatch,
}

/// A column of a table that is made here.
pub struct NewColumn {
    pub name: String,
    pub unit: String,
    pub values: ArrayRef,
}

impl NewColumn {
    /// A column of numbers, some of them unknown.
    pub fn numbers(name: &str, unit: &str, values: Vec<Option<f64>>) -> NewColumn {
        let values = Arc::new(Float64Array::from(values));
        NewColumn { name: name.to_owned(), unit: unit.to_owned(), values }
    }

    /// A column of whole numbers.
    pub fn counts(name: &str, unit: &str, values: Vec<u64>) -> NewColumn {
        let values = Arc::new(UInt64Array::from(values));
        NewColumn { name: name.to_owned(), unit: unit.to_owned(), values }
    }

    /// A column of texts.
    pub fn texts(name: &str, values: Vec<String>) -> NewColumn {
        let values = Arc::new(StringArray::from(values));
        NewColumn { name: name.to_owned(), unit: String::new(), values }
    }
}

impl PyColumns {
    /// Takes the columns of a result.
    pub fn of(table: ColumnTable) -> PyResult<PyColumns> {
        let column = |(column, values): (ftlab_lab::result::Column, ColumnValues)| NewColumn {
            name: column.name.to_owned(),
            unit: column.unit.to_owned(),
            values: match values {
                ColumnValues::Narrow(values) => Arc::new(UInt8Array::from(values)),
                ColumnValues::Medium(values) => Arc::new(UInt32Array::from(values)),
                ColumnValues::Wide(values) => Arc::new(UInt64Array::from(values)),
            },
        };
        let metadata = table.metadata.into_iter().filter(|(key, _)| !key.starts_with("unit."));
        PyColumns::new(table.columns.into_iter().map(column).collect(), metadata.collect())
    }

    /// Takes columns of the same length.
    pub fn new(columns: Vec<NewColumn>, metadata: HashMap<String, String>) -> PyResult<PyColumns> {
        let rows = columns.first().map_or(0, |column| column.values.len());
        let field = |column: &NewColumn| {
            let unknown = column.values.data_type() == &DataType::Float64;
            let unit = HashMap::from([(UNIT.to_owned(), column.unit.clone())]);
            let kind = column.values.data_type().clone();
            Arc::new(Field::new(&column.name, kind, unknown).with_metadata(unit))
        };
        let fields: Vec<FieldRef> = columns.iter().map(field).collect();
        let schema = Arc::new(Schema::new_with_metadata(fields, metadata));
        let values = columns.into_iter().map(|column| column.values).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(schema, values, &options);
        Ok(PyColumns { batch: batch.map_err(|error| crate::errors::usage(error.to_string()))? })
    }

    /// Returns the same table; its memory is shared.
    pub fn shared(&self) -> PyColumns {
        PyColumns { batch: self.batch.clone() }
    }

    fn field(&self) -> FieldRef {
        let schema = self.batch.schema();
        let kind = DataType::Struct(schema.fields().clone());
        Arc::new(Field::new("", kind, false).with_metadata(schema.metadata().clone()))
    }
}

/// A column from Python: its name, `count`, `number` or `text`, its unit and its values.
type GivenColumn<'py> = (String, String, String, Bound<'py, PyAny>);

#[pymethods]
impl PyColumns {
    /// Makes a table of which `about` says what a row is.
    #[staticmethod]
    fn of_values(about: String, columns: Vec<GivenColumn<'_>>) -> PyResult<PyColumns> {
        let column = |(name, kind, unit, values): GivenColumn<'_>| {
            Ok(match kind.as_str() {
                "count" => NewColumn::counts(&name, &unit, values.extract()?),
                "number" => NewColumn::numbers(&name, &unit, values.extract()?),
                _ => NewColumn::texts(&name, values.extract()?),
            })
        };
        let columns = columns.into_iter().map(column).collect::<PyResult<_>>()?;
        PyColumns::new(columns, HashMap::from([("about".to_owned(), about)]))
    }

    /// The names of the columns.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.batch.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The units of the columns, by name.
    #[getter]
    fn units(&self) -> HashMap<String, String> {
        let schema = self.batch.schema();
        let unit = |field: &FieldRef| {
            let unit = field.metadata().get(UNIT).cloned().unwrap_or_default();
            (field.name().clone(), unit)
        };
        schema.fields().iter().map(unit).collect()
    }

    /// What the rows are, and further metadata.
    #[getter]
    fn metadata(&self) -> HashMap<String, String> {
        self.batch.schema().metadata().clone()
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    /// Returns a column as a new array of NumPy.
    fn numpy<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let Some(column) = self.batch.column_by_name(name) else {
            let known = self.names().join(", ");
            return Err(PyKeyError::new_err(format!(
                "there is no column {name}; there are {known}"
            )));
        };
        let any = column.as_any();
        if let Some(values) = any.downcast_ref::<UInt64Array>() {
            Ok(numpy::PyArray1::from_slice(py, values.values()).into_any())
        } else if let Some(values) = any.downcast_ref::<UInt32Array>() {
            Ok(numpy::PyArray1::from_slice(py, values.values()).into_any())
        } else if let Some(values) = any.downcast_ref::<UInt8Array>() {
            Ok(numpy::PyArray1::from_slice(py, values.values()).into_any())
        } else if let Some(values) = any.downcast_ref::<Float64Array>() {
            let filled = values.iter().map(|value| value.unwrap_or(f64::NAN));
            Ok(numpy::PyArray1::from_iter(py, filled).into_any())
        } else if let Some(values) = any.downcast_ref::<StringArray>() {
            let texts: Vec<&str> = values.iter().map(Option::unwrap_or_default).collect();
            py.import("numpy")?.call_method1("array", (texts,))
        } else {
            Err(PyKeyError::new_err(format!("the column {name} has no numbers")))
        }
    }

    /// Returns the values of a row, by name.
    fn row<'py>(&self, py: Python<'py>, at: usize) -> PyResult<Vec<(String, Bound<'py, PyAny>)>> {
        if at >= self.batch.num_rows() {
            return Err(PyIndexError::new_err("there is no such row"));
        }
        let value = |name: String| {
            let value = self.numpy(py, &name)?.get_item(at)?;
            Ok((name, value))
        };
        self.names().into_iter().map(value).collect()
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let array: ArrayRef = Arc::new(StructArray::from(self.batch.clone()));
        let batches = ArrayIterator::new([Ok(array)], self.field());
        Ok(to_stream_pycapsule(py, Box::new(batches), requested_schema)?)
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let array = StructArray::from(self.batch.clone());
        Ok(to_array_pycapsules(py, self.field(), &array, requested_schema)?)
    }
}
