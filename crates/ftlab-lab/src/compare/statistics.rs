//! Confidence intervals of paired differences, by Student's t.
//!
//! Runs of two variants with the same seed see the same load, so they are compared pair by pair:
//! what a seed does to both cancels. If all values of a metric are positive, the logarithms of the
//! ratios are averaged: then a half and a double cancel, and the interval of a ratio cannot reach
//! below zero. Otherwise the differences are averaged. The means shown use the same scale, so that
//! they agree with the changes.
//!
//! Sources: Jain, The Art of Computer Systems Performance Analysis, 1991, section 13.4.1 (paired
//! observations); Fleming and Wallace, CACM 29(3), 1986 (geometric means of ratios); Holm,
//! Scandinavian Journal of Statistics 6, 1979 (multiple comparisons).

use serde::Serialize;
use statrs::distribution::ContinuousCDF;

use crate::seeds::{quantile, student};

/// The scale of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// A share of the baseline's value: 0.1 means ten per cent more. From the mean of the
    /// logarithms of the ratios.
    Ratio,
    /// The metric's own unit, used if some value is not positive. From the mean of the differences.
    Difference,
}

impl Scale {
    /// Returns the scale of a metric with these values, of all variants and seeds.
    pub fn of(mut values: impl Iterator<Item = f64>) -> Scale {
        if values.all(|value| value > 0.0) { Scale::Ratio } else { Scale::Difference }
    }
}

/// How certain a change is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// Unknown: there is only one seed.
    OneSeed,
    /// All seeds show exactly the same change, so there is no interval.
    Exact,
    /// The interval contains zero: the change may be chance.
    NotSignificant,
    /// The interval excludes zero, but among many comparisons it may still be chance.
    Significant,
    /// Significant even after Holm's correction for all comparisons of the document.
    SignificantAmongAll,
}

/// A change against the baseline.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// The scale of the other fields.
    pub scale: Scale,
    /// The estimate of the change.
    pub estimate: f64,
    /// The lower end of the interval; null without one.
    pub low: Option<f64>,
    /// The upper end of the interval; null without one.
    pub high: Option<f64>,
    /// The probability of a change at least this large by chance alone, two-sided; null without an
    /// interval.
    pub p_value: Option<f64>,
    /// How certain the change is.
    pub certainty: Certainty,
}

/// Differences between seeds below this, relative to the values, count as rounding errors.
const ROUNDING: f64 = 1e-12;

/// Compares pairs of values; the first of each pair is the baseline's. Returns `None` without
/// pairs. `scale` is that of the metric; `confidence` is the confidence level, such as 0.95.
pub fn compare(pairs: &[(f64, f64)], scale: Scale, confidence: f64) -> Option<Change> {
    if pairs.is_empty() {
        return None;
    }
    let positive = scale == Scale::Ratio;
    let steps: Vec<f64> = pairs
        .iter()
        .map(|&(base, value)| if positive { (value / base).ln() } else { value - base })
        .collect();
    let out = |step: f64| if positive { step.exp_m1() } else { step };
    let count = steps.len() as f64;
    let mean = steps.iter().sum::<f64>() / count;
    let change = |certainty| Change {
        scale,
        estimate: out(mean),
        low: None,
        high: None,
        p_value: None,
        certainty,
    };
    if steps.len() == 1 {
        return Some(change(Certainty::OneSeed));
    }
    let largest = pairs.iter().map(|&(base, value)| base.abs().max(value.abs()));
    let size = if positive { 1.0 } else { largest.fold(0.0, f64::max) };
    if steps.iter().all(|step| (step - steps[0]).abs() <= ROUNDING * size) {
        return Some(change(Certainty::Exact));
    }
    let variance = steps.iter().map(|step| (step - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let error = (variance / count).sqrt();
    let half = quantile(confidence, steps.len()) * error;
    let p_value = 2.0 * student(steps.len()).cdf(-(mean / error).abs());
    let significant = mean.abs() > half;
    Some(Change {
        low: Some(out(mean - half)),
        high: Some(out(mean + half)),
        p_value: Some(p_value),
        ..change(if significant { Certainty::Significant } else { Certainty::NotSignificant })
    })
}

/// Marks changes that stay significant among all, by Holm's step-down procedure. Exact changes have
/// no probability, but count as comparisons.
pub fn correct<'a>(changes: impl Iterator<Item = &'a mut Change>, confidence: f64) {
    let mut tested: Vec<(f64, &mut Change)> = Vec::new();
    let mut all = 0;
    for change in changes {
        all += usize::from(change.certainty != Certainty::OneSeed);
        tested.extend(change.p_value.map(|p_value| (p_value, change)));
    }
    tested.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (at, (p_value, change)) in tested.into_iter().enumerate() {
        if p_value > (1.0 - confidence) / (all - at) as f64 {
            break;
        }
        change.certainty = Certainty::SignificantAmongAll;
    }
}

/// Returns the mean of the values of a metric: geometric on a scale of ratios, so that the quotient
/// of two means is the mean ratio, and otherwise arithmetic. `None` without values.
pub fn middle(values: &[f64], scale: Scale) -> Option<f64> {
    let count = values.len() as f64;
    if values.is_empty() {
        None
    } else if values.iter().all(|&value| value == values[0]) {
        Some(values[0])
    } else if scale == Scale::Ratio {
        Some((values.iter().map(|value| value.ln()).sum::<f64>() / count).exp())
    } else {
        Some(values.iter().sum::<f64>() / count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares values that are all the values of their metric.
    fn compare(pairs: &[(f64, f64)], confidence: f64) -> Option<Change> {
        let scale = Scale::of(pairs.iter().flat_map(|&(base, value)| [base, value]));
        super::compare(pairs, scale, confidence)
    }

    fn near(found: Option<f64>, expected: f64) {
        let found = found.expect("a value");
        assert!((found - expected).abs() < 1e-4 * expected.abs().max(1e-3), "{found} {expected}");
    }

    #[test]
    fn an_interval_of_differences_as_in_a_textbook() {
        // Jain, section 13.4.1: six workloads on two systems, 90 % confidence.
        let differences = [5.4 - 19.1, 16.6 - 3.5, 0.6 - 3.4, 1.4 - 2.5, 0.6 - 3.6, 7.3 - 1.7];
        let pairs: Vec<(f64, f64)> = differences.iter().map(|&step| (0.0, step)).collect();
        let change = compare(&pairs, 0.9).unwrap();
        assert_eq!(
            (change.scale, change.certainty),
            (Scale::Difference, Certainty::NotSignificant)
        );
        near(Some(change.estimate), -0.316_667);
        // The book gives (-7.75, 7.11), from rounded steps.
        assert!(
            (change.low.unwrap() + 7.75).abs() < 0.01 && (change.high.unwrap() - 7.11).abs() < 0.01
        );
    }

    #[test]
    fn ratios_are_averaged_by_their_logarithms() {
        let change = compare(&[(1.0, 2.0), (10.0, 5.0), (3.0, 3.0)], 0.95).unwrap();
        assert!(change.estimate.abs() < 1e-12 && change.scale == Scale::Ratio);
        // ln 2 = 0.693147 is the standard deviation; t[0.975; 2] = 4.302653.
        let half = 4.302_653 * std::f64::consts::LN_2 / 3f64.sqrt();
        near(change.low, (-half).exp() - 1.0);
        near(change.high, half.exp() - 1.0);
        near(change.p_value, 1.0);
        let sure = compare(&[(1.0, 2.0), (1.0, 2.1), (1.0, 1.9)], 0.95).unwrap();
        assert_eq!(sure.certainty, Certainty::Significant);
        assert!(
            sure.low.unwrap() > 0.75 && sure.high.unwrap() < 1.3 && sure.p_value.unwrap() < 0.01
        );
    }

    /// A zero in one variant makes the whole metric arithmetic, so that means and changes agree.
    #[test]
    fn a_metric_has_one_scale() {
        let (base, other, none) = ([1.0, 9.0], [2.0, 8.0], [0.0, 1.0]);
        let scale = Scale::of(base.into_iter().chain(other).chain(none));
        assert_eq!(scale, Scale::Difference);
        let pairs: Vec<(f64, f64)> = base.into_iter().zip(other).collect();
        let change = super::compare(&pairs, scale, 0.95).unwrap();
        let [base, other] = [base, other].map(|values| middle(&values, scale).unwrap());
        assert_eq!((base, other, change.estimate), (5.0, 5.0, 0.0));
        near(middle(&[1.0, 9.0], Scale::Ratio), 3.0);
    }

    #[test]
    fn one_seed_and_equal_seeds_have_no_interval() {
        assert_eq!(compare(&[], 0.95), None);
        let one = compare(&[(2.0, 3.0)], 0.95).unwrap();
        assert_eq!((one.certainty, one.low, one.high), (Certainty::OneSeed, None, None));
        near(Some(one.estimate), 0.5);
        let exact = compare(&[(2.0, 3.0), (2.0, 3.0)], 0.95).unwrap();
        assert_eq!((exact.certainty, exact.p_value), (Certainty::Exact, None));
        let zero = compare(&[(0.0, 0.0), (0.0, 0.0)], 0.95).unwrap();
        assert_eq!((zero.scale, zero.estimate), (Scale::Difference, 0.0));
    }

    #[test]
    fn among_many_comparisons_fewer_are_significant() {
        let change = |p_value: f64| Change {
            scale: Scale::Ratio,
            estimate: 0.1,
            low: Some(0.0),
            high: Some(0.2),
            p_value: Some(p_value),
            certainty: Certainty::Significant,
        };
        // Holm: 0.01 <= 0.05 / 3, then 0.02 <= 0.05 / 2, then 0.06 > 0.05.
        let mut changes = [change(0.06), change(0.01), change(0.02)];
        correct(changes.iter_mut(), 0.95);
        let raised = changes.map(|change| change.certainty == Certainty::SignificantAmongAll);
        assert_eq!(raised, [false, true, true]);
        // Two exact changes count as comparisons: 0.01 <= 0.05 / 5, then 0.02 > 0.05 / 4.
        let exact = Change { p_value: None, certainty: Certainty::Exact, ..change(0.0) };
        let mut changes = [exact.clone(), change(0.01), change(0.02), change(0.06), exact];
        correct(changes.iter_mut(), 0.95);
        let raised = changes.map(|change| change.certainty == Certainty::SignificantAmongAll);
        assert_eq!(raised, [false, true, false, false, false]);
        // 0.02 > 0.05 / 3: none.
        let mut changes = [change(0.02), change(0.02), change(0.04)];
        correct(changes.iter_mut(), 0.95);
        assert!(changes.iter().all(|change| change.certainty == Certainty::Significant));
    }

    /// If seeds differ only by chance, intervals contain zero as often as they promise.
    #[test]
    fn intervals_hold_the_truth_as_often_as_they_say() {
        let mut random = ftlab::engine::Stream::new(11, "coverage");
        // The sum of twelve uniform numbers is close to normal.
        let mut noise = || {
            (0..12).map(|_| random.below(1 << 20) as f64 / f64::from(1 << 20)).sum::<f64>() - 6.0
        };
        let trials = 4_000;
        let held = (0..trials).filter(|_| {
            let pairs: Vec<(f64, f64)> =
                (0..5).map(|_| (100.0, 100.0 * (0.05 * noise()).exp())).collect();
            compare(&pairs, 0.95).unwrap().certainty == Certainty::NotSignificant
        });
        let share = held.count() as f64 / f64::from(trials);
        assert!((0.94..0.96).contains(&share), "{share}");
    }
}
