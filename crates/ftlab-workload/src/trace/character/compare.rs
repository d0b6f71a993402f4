//! Two loads side by side: figures with their ratio, and how far their distributions are apart.
//!
//! Two distances: the largest difference of the cumulative shares (Kolmogorov and Smirnov), and half
//! the sum of the differences of the bins (total variation). Both are 0 for equal and 1 for disjoint
//! distributions, and both are of bins a sixteenth wide.

use serde::Serialize;

use super::Character;
use super::distribution::Distribution;

/// Two loads side by side.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CharacterComparison {
    /// Single figures.
    pub figures: Vec<ComparedFigure>,
    /// Distances of distributions.
    pub distances: Vec<CurveDistance>,
}

/// A figure of both loads.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ComparedFigure {
    /// Its name, which ends with its unit.
    pub name: &'static str,
    /// That of the first load; null if it has none.
    pub first: Option<f64>,
    /// That of the second load.
    pub second: Option<f64>,
    /// The second over the first; null if one has none, or the first is zero.
    pub ratio: Option<f64>,
}

/// How far a distribution of both loads is apart; null if one of them is empty.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CurveDistance {
    /// Its name, which ends with its unit.
    pub name: &'static str,
    /// The largest difference of the shares up to a value.
    pub kolmogorov_smirnov: Option<f64>,
    /// Half the sum of the differences of the shares of all bins.
    pub total_variation: Option<f64>,
}

/// A figure of a load.
type FigureOf = fn(&Character) -> Option<f64>;
/// A distribution of a load.
type CurveOf = fn(&Character) -> &Distribution;

const FIGURES: [(&str, FigureOf); 20] = [
    ("requests", |of| Some(of.requests as f64)),
    ("write_ratio", |of| share(of.write_bytes.count, of.read_bytes.count)),
    ("write_bytes_ratio", |of| share(moved(&of.write_bytes), moved(&of.read_bytes))),
    ("mean_read_bytes", |of| of.read_bytes.mean),
    ("mean_write_bytes", |of| of.write_bytes.mean),
    ("pages", |of| Some(of.pages)),
    ("largest_hour_pages", |of| largest(of.working_set.iter().map(|hour| hour.pages))),
    ("sequential_ratio", |of| of.sequence.next_ratio),
    ("near_sequential_ratio", |of| of.sequence.near_ratio),
    ("mean_run_requests", |of| of.sequence.run_requests.mean),
    ("mean_gap_ns", |of| of.arrivals.gap_ns.mean),
    ("gap_variation", |of| of.arrivals.gap_variation),
    ("dispersion_100ms", |of| of.arrivals.dispersion.get(1)?.index),
    ("dispersion_1s", |of| of.arrivals.dispersion.get(2)?.index),
    ("idle_100ms_time_ratio", |of| of.arrivals.idle.get(1)?.time_ratio),
    ("median_reuse_pages", |of| median(&of.reuse.reuse_pages)),
    ("median_overwrite_bytes", |of| median(&of.reuse.overwrite_bytes)),
    ("top_10_percent_accesses_ratio", |of| of.skew.top.get(2).map(|top| top.accesses_ratio)),
    ("zipf_exponent", |of| of.skew.zipf_exponent),
    ("streams", |of| Some(of.streams.len() as f64)),
];

const CURVES: [(&str, CurveOf); 7] = [
    ("read_bytes", |of| &of.read_bytes),
    ("write_bytes", |of| &of.write_bytes),
    ("gap_ns", |of| &of.arrivals.gap_ns),
    ("run_requests", |of| &of.sequence.run_requests),
    ("reuse_pages", |of| &of.reuse.reuse_pages),
    ("overwrite_bytes", |of| &of.reuse.overwrite_bytes),
    ("overwrite_ns", |of| &of.reuse.overwrite_ns),
];

/// Compares two loads.
#[must_use]
pub fn compare(first: &Character, second: &Character) -> CharacterComparison {
    let figure = |(name, of): (&'static str, FigureOf)| {
        let (first, second) = (of(first), of(second));
        let ratio = first.zip(second).filter(|(first, _)| *first != 0.0);
        ComparedFigure { name, first, second, ratio: ratio.map(|(first, second)| second / first) }
    };
    let distance = |(name, of): (&'static str, CurveOf)| {
        let apart = distances(of(first), of(second));
        CurveDistance {
            name,
            kolmogorov_smirnov: apart.map(|apart| apart.0),
            total_variation: apart.map(|apart| apart.1),
        }
    };
    CharacterComparison {
        figures: FIGURES.into_iter().map(figure).collect(),
        distances: CURVES.into_iter().map(distance).collect(),
    }
}

/// Returns the distances of two distributions: of Kolmogorov and Smirnov, and total variation.
fn distances(first: &Distribution, second: &Distribution) -> Option<(f64, f64)> {
    if first.count <= 0.0 || second.count <= 0.0 {
        return None;
    }
    let of = |of: &Distribution, sign: f64| -> Vec<(u64, f64)> {
        of.bins.iter().map(|bin| (bin.from, sign * bin.count / of.count)).collect()
    };
    let mut parts = [of(first, 1.0), of(second, -1.0)].concat();
    parts.sort_by_key(|part| part.0);
    let (mut ahead, mut most, mut sum) = (0.0_f64, 0.0_f64, 0.0);
    for same in parts.chunk_by(|one, other| one.0 == other.0) {
        let difference: f64 = same.iter().map(|part| part.1).sum();
        ahead += difference;
        most = most.max(ahead.abs());
        sum += difference.abs();
    }
    Some((most, sum / 2.0))
}

fn share(part: f64, rest: f64) -> Option<f64> {
    (part + rest > 0.0).then(|| part / (part + rest))
}

fn moved(of: &Distribution) -> f64 {
    of.mean.unwrap_or(0.0) * of.count
}

fn median(of: &Distribution) -> Option<f64> {
    of.quantile(0.5).map(|value| value as f64)
}

fn largest(values: impl Iterator<Item = f64>) -> Option<f64> {
    values.reduce(f64::max)
}
