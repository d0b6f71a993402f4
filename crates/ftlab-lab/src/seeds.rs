//! Series of seeds, and the statistics of means over them.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::failure::Failure;

/// Returns `many` consecutive seeds from `first`.
///
/// # Errors
/// There are not that many seeds.
pub fn from(first: u64, many: u64) -> Result<Vec<u64>, Failure> {
    match first.checked_add(many.saturating_sub(1)) {
        Some(last) => Ok((first..=last).take(many as usize).collect()),
        None => Err(Failure::usage(format!(
            "there are no {many} seeds from {first} on: the last is {}\n  remedy: start lower (`seed`)",
            u64::MAX
        ))),
    }
}

/// Returns the quantile of Student's t for a confidence interval of the mean over at least two
/// seeds. Rounded to six digits, because floating-point functions may differ between machines
/// beyond them.
pub fn quantile(confidence: f64, seeds: usize) -> f64 {
    let student = student(seeds);
    let quantile = student.inverse_cdf(0.5 + confidence / 2.0);
    (quantile * 1e6).round() / 1e6
}

/// Returns Student's t distribution for a mean over at least two seeds.
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
