//! Several seeds: which they are, and how sure their mean is.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::failure::Failure;

/// So many seeds in a row.
///
/// # Errors
/// There are not so many beyond the first.
pub fn from(first: u64, many: u64) -> Result<Vec<u64>, Failure> {
    match first.checked_add(many.saturating_sub(1)) {
        Some(last) => Ok((first..=last).take(many as usize).collect()),
        None => Err(Failure::usage(format!(
            "there are no {many} seeds from {first} on: the last is {}\n  remedy: begin lower (--seed)",
            u64::MAX
        ))),
    }
}

/// The quantile of Student's t for an interval that holds the true mean with this confidence, over so
/// many seeds, at least two. To six digits: beyond them the mathematics of machines may differ.
pub fn quantile(confidence: f64, seeds: usize) -> f64 {
    let student = student(seeds);
    let quantile = student.inverse_cdf(0.5 + confidence / 2.0);
    (quantile * 1e6).round() / 1e6
}

/// Student's t for a mean over so many seeds, at least two.
pub fn student(seeds: usize) -> StudentsT {
    StudentsT::new(0.0, 1.0, seeds as f64 - 1.0).expect("at least one degree of freedom")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_end_where_numbers_end() {
        assert_eq!(from(7, 3).unwrap(), [7, 8, 9]);
        assert_eq!(from(u64::MAX - 2, 3).unwrap(), [u64::MAX - 2, u64::MAX - 1, u64::MAX]);
        assert_eq!(from(u64::MAX, 1).unwrap(), [u64::MAX]);
        assert!(from(u64::MAX - 1, 3).is_err());
    }

    #[test]
    fn quantiles_are_those_of_tables() {
        for (seeds, expected) in [(2, 12.706_205), (3, 4.302_653), (31, 2.042_272)] {
            assert!((quantile(0.95, seeds) - expected).abs() < 2e-6, "{seeds}");
        }
    }
}
