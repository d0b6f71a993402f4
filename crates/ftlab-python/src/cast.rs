//! Columns of another type.

use arrow_array::ArrayRef;
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::DataType;
use pyo3::prelude::*;

use crate::errors::usage;

/// Returns a column as another type. A value that the type can't hold is refused.
pub fn cast(name: &str, values: &ArrayRef, to: &DataType) -> PyResult<ArrayRef> {
    let strict = CastOptions { safe: false, ..CastOptions::default() };
    cast_with_options(values, to, &strict)
        .map_err(|error| usage(format!("{name} holds a value that is out of range: {error}")))
}
