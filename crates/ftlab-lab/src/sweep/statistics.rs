//! Means over the seeds of a point, with their confidence intervals.

use serde::{Deserialize, Serialize};

use crate::seeds::quantile;

/// The mean of a metric over the seeds of a point.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
pub struct PointMean {
    /// The mean.
    pub mean: f64,
    /// The lower end of the interval by Student's t; null with one seed.
    pub low: Option<f64>,
    /// The upper end of the interval; null with one seed.
    pub high: Option<f64>,
}

/// Returns the mean of the values of all seeds; none if one of them is unknown.
pub fn mean(values: &[Option<f64>], confidence: f64) -> Option<PointMean> {
    let known = values.iter().copied().collect::<Option<Vec<f64>>>()?;
    let [first, rest @ ..] = known.as_slice() else { return None };
    if rest.is_empty() {
        return Some(PointMean { mean: *first, low: None, high: None });
    }
    if rest.iter().all(|value| value == first) {
        return Some(PointMean { mean: *first, low: Some(*first), high: Some(*first) });
    }
    let count = known.len() as f64;
    let mean = known.iter().sum::<f64>() / count;
    let variance = known.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let half = quantile(confidence, known.len()) * (variance / count).sqrt();
    Some(PointMean { mean, low: Some(mean - half), high: Some(mean + half) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_those_of_a_textbook() {
        // Jain, The Art of Computer Systems Performance Analysis, section 13.2: 90 % with 4 degrees of freedom.
        let values = [1.0, 2.0, 3.0, 4.0, 5.0].map(Some);
        let found = mean(&values, 0.9).unwrap();
        let half = 2.131_847 * (2.5f64 / 5.0).sqrt();
        assert_eq!(found.mean, 3.0);
        assert!((found.high.unwrap() - 3.0 - half).abs() < 1e-5, "{found:?}");
        assert!((found.low.unwrap() - 3.0 + half).abs() < 1e-5, "{found:?}");
    }

    #[test]
    fn one_seed_has_no_interval_and_equal_seeds_a_narrow_one() {
        let point = |mean, low, high| Some(PointMean { mean, low, high });
        assert_eq!(mean(&[Some(2.0)], 0.95), point(2.0, None, None));
        assert_eq!(mean(&[Some(2.0), Some(2.0)], 0.95), point(2.0, Some(2.0), Some(2.0)));
        assert_eq!(mean(&[Some(2.0), None], 0.95), None);
        assert_eq!(mean(&[], 0.95), None);
    }
}
