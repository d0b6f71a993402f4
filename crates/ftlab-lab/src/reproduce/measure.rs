//! Means and confidence intervals of metrics and of quantities computed from them.
//!
//! A quantity is computed from the means over the seeds, as a paper computes it from its printed
//! averages. Its interval comes from leaving out one seed at a time (the jackknife of Quenouille
//! and Tukey; Efron, The Jackknife, the Bootstrap and Other Resampling Plans, 1982, chapter 2) and
//! Student's t. For the mean of a metric this is the usual interval. Runs with the same seed share
//! their load in all cases, so a seed is left out in all cases at once.

use super::declaration::{Axis, Coordinates, Point, Quantity};
use super::perform::{Curves, Numbers};
use crate::seeds::quantile;

/// The confidence level of the intervals.
pub const CONFIDENCE: f64 = 0.95;

/// The metrics of all runs.
pub struct Measured {
    /// The cases, in order.
    pub places: Vec<Coordinates>,
    /// By case and seed.
    pub numbers: Vec<Vec<Numbers>>,
    /// By case, the curves kept from the first seed.
    pub curves: Vec<Curves>,
    /// The axes.
    pub axes: Vec<Axis>,
}

/// A mean and its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The value.
    pub value: f64,
    /// The lower end of the interval; none with one seed.
    pub low: Option<f64>,
    /// The upper end of the interval; none with one seed.
    pub high: Option<f64>,
}

/// The result of a metric in one case.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The mean over the seeds, and its interval.
    pub mean: Estimate,
    /// The standard deviation over the seeds; none with one seed.
    pub standard_deviation: Option<f64>,
}

impl Measured {
    fn values(&self, place: &Coordinates, metric: usize) -> Option<Vec<f64>> {
        let at = self.places.binary_search(place).ok()?;
        self.numbers[at].iter().map(|numbers| numbers[metric]).collect()
    }

    /// Returns the curves of a place, from the first seed.
    pub fn curves_at(&self, place: &Coordinates) -> Option<&Curves> {
        self.places.binary_search(place).ok().map(|at| &self.curves[at])
    }

    /// Returns a metric at a place; `None` if a run does not have it.
    pub fn spread(&self, place: &Coordinates, metric: usize) -> Option<Spread> {
        let values = self.values(place, metric)?;
        let count = values.len() as f64;
        let mean = estimate(std::slice::from_ref(&values), |means| means[0])?;
        let steps = values.iter().map(|value| (value - mean.value).powi(2)).sum::<f64>();
        let standard_deviation = (values.len() > 1).then(|| (steps / (count - 1.0)).sqrt());
        Some(Spread { mean, standard_deviation })
    }

    /// Returns a quantity at a point; `None` if a run does not have its metric, or if the result is
    /// not finite.
    pub fn quantity(&self, quantity: &Quantity, at: &Point) -> Option<Estimate> {
        let pairs = quantity.pairs(at, &self.axes);
        let mut columns = Vec::new();
        for (here, elsewhere) in &pairs {
            columns.push(self.values(here, quantity.metric)?);
            columns.push(self.values(elsewhere, quantity.metric)?);
        }
        estimate(&columns, |means| {
            let formed = means.chunks(2).map(|pair| quantity.form.of(pair[0], pair[1]));
            formed.sum::<f64>() / pairs.len() as f64
        })
    }
}

/// Applies `form` to the means of the columns, which have a value for each seed.
fn estimate(columns: &[Vec<f64>], form: impl Fn(&[f64]) -> f64) -> Option<Estimate> {
    let seeds = columns.first()?.len();
    let count = seeds as f64;
    let sums: Vec<f64> = columns.iter().map(|column| column.iter().sum()).collect();
    let means: Vec<f64> = sums.iter().map(|sum| sum / count).collect();
    let value = form(&means);
    if !value.is_finite() {
        return None;
    }
    if seeds < 2 {
        return Some(Estimate { value, low: None, high: None });
    }
    let without = |seed: usize| {
        let left =
            columns.iter().zip(&sums).map(|(column, sum)| (sum - column[seed]) / (count - 1.0));
        form(&left.collect::<Vec<f64>>())
    };
    let partial: Vec<f64> = (0..seeds).map(without).collect();
    let centre = partial.iter().sum::<f64>() / count;
    let steps = partial.iter().map(|one| (one - centre).powi(2)).sum::<f64>();
    let error = (steps * (count - 1.0) / count).sqrt();
    let half = error * quantile(CONFIDENCE, seeds);
    let known = half.is_finite();
    Some(Estimate {
        value,
        low: known.then_some(value - half),
        high: known.then_some(value + half),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::declaration::{AxisValue, Form, Settings};

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-6 * expected.abs().max(1.0), "{found} {expected}");
    }

    fn axis(name: &str, values: usize) -> Axis {
        let value = |at: usize| AxisValue {
            name: at.to_string(),
            label: at.to_string(),
            x: None,
            settings: Settings::default(),
        };
        let values = (0..values).map(value).collect();
        let (name, unit) = (name.to_owned(), String::new());
        Axis { label: name.clone(), name, note: None, unit, values }
    }

    /// Two axes with two values each; the metric is never 0.
    fn measured() -> Measured {
        let of = |numbers: [f64; 3]| numbers.map(|number| vec![Some(number)]).to_vec();
        Measured {
            places: vec![vec![0, 0], vec![0, 1], vec![1, 0], vec![1, 1]],
            numbers: vec![of([10.0, 12.0, 14.0]), of([5.0, 6.0, 7.0]), of([8.0; 3]), of([6.0; 3])],
            curves: Vec::new(),
            axes: vec![axis("load", 2), axis("bound", 2)],
        }
    }

    #[test]
    fn the_interval_of_a_mean_is_the_usual_one() {
        let spread = measured().spread(&vec![0, 0], 0).unwrap();
        near(spread.mean.value, 12.0);
        near(spread.standard_deviation.unwrap(), 2.0);
        // t[0.975; 2] = 4.302653.
        near(spread.mean.high.unwrap(), 12.0 + 4.302_653 * 2.0 / 3f64.sqrt());
        near(spread.mean.low.unwrap(), 12.0 - 4.302_653 * 2.0 / 3f64.sqrt());
    }

    #[test]
    fn quantities_are_formed_of_means_and_averaged_over_axes() {
        let measured = measured();
        let quantity = |form, mean_over: &[usize]| Quantity {
            metric: 0,
            form,
            against: vec![None, Some(0)],
            mean_over: mean_over.to_vec(),
        };
        let at = |load| vec![load, Some(1)];
        // All seeds are halved alike, so the interval is empty.
        let halved = measured.quantity(&quantity(Form::Reduction, &[]), &at(Some(0))).unwrap();
        near(halved.value, 50.0);
        near(halved.high.unwrap(), 50.0);
        let mean = measured.quantity(&quantity(Form::Reduction, &[0]), &at(None)).unwrap();
        near(mean.value, 37.5);
        let change = measured.quantity(&quantity(Form::Change, &[]), &at(Some(1))).unwrap();
        near(change.value, -25.0);
        let ratio = measured.quantity(&quantity(Form::Ratio, &[]), &at(Some(1))).unwrap();
        near(ratio.value, 0.75);
        let difference = measured.quantity(&quantity(Form::Difference, &[]), &at(Some(0))).unwrap();
        near(difference.value, -6.0);
        // The differences of the seeds are -5, -6, -7.
        near(difference.high.unwrap(), -6.0 + 4.302_653 / 3f64.sqrt());
    }

    #[test]
    fn what_a_run_does_not_know_is_not_known() {
        let mut measured = measured();
        measured.numbers[0][1][0] = None;
        assert_eq!(measured.spread(&vec![0, 0], 0), None);
        assert!(measured.spread(&vec![0, 1], 0).is_some());
        measured.numbers[1].truncate(1);
        let one = measured.spread(&vec![0, 1], 0).unwrap();
        assert_eq!((one.mean.low, one.standard_deviation), (None, None));
    }
}
