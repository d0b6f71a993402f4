//! Sums of the columns of a Parquet file, kept in its footer.
//!
//! Pages need no checksums in Parquet, and the library writes none: a flipped bit would read as another request. Other programs copy
//! the footer's texts to files with other rows, so that sums count only in files that ftlab wrote. They are compared at the end: what reads
//! only the first requests does not notice.

use super::parquet::COLUMNS;

/// The key in the footer.
pub(super) const SUMS: &str = "ftlab.sums";
/// How the footer's name of the program begins if it is ftlab.
pub(super) const WRITER: &str = "ftlab ";

/// An odd number with well-mixed bits, so that one wrong value always changes the sum.
const BASE: u64 = 0x9E37_79B9_7F4A_7C15;

/// A sum of each column, in the order of the rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ColumnSums([u64; COLUMNS.len()]);

impl ColumnSums {
    /// Adds the next values of a column.
    #[inline]
    pub fn add(&mut self, column: usize, values: impl Iterator<Item = u64>) {
        let sum = |sum: u64, value: u64| sum.wrapping_mul(BASE).wrapping_add(value);
        self.0[column] = values.fold(self.0[column], sum);
    }

    /// As the footer has them.
    pub fn text(&self) -> String {
        self.0.map(|sum| format!("{sum:016x}")).join(" ")
    }
}
