//! Skew: how much of all accesses go to the pages used most, and a Zipf exponent.
//!
//! In a sample by address it is chance whether the few hottest pages are there, but the many others are
//! well known. So the hottest pages have the accesses that all others do not have. The exponent s
//! is that of the sample, the one of most likelihood for ranks drawn with chances in proportion to rank^-s: its expected log of a rank is
//! the mean one (M. L. Goldstein et al., "Problems with Fitting to the Power-Law Distribution",
//! European Physical Journal B 41, 2004). Ranks are by use, so even equal pages seem a little
//! skewed if they are used a few times each.

use serde::Serialize;

/// The shares of pages, in per cent.
const TOP_PERCENT: [u64; 4] = [1, 5, 10, 20];
/// The largest exponent: nearly all accesses then go to one page.
const LARGEST_EXPONENT: f64 = 8.0;
/// Halvings of the range of the exponent, to better than a ten-thousandth.
const STEPS: u32 = 18;

/// How unequally pages are used.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SkewCharacter {
    /// The share of accesses to the pages used most.
    pub top: Vec<TopShare>,
    /// The Zipf exponent of most likelihood; null with fewer than two pages.
    pub zipf_exponent: Option<f64>,
}

/// The share of the pages used most.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TopShare {
    /// The pages, in per cent of those touched, rounded up to a whole page.
    pub pages_percent: u64,
    /// Their share of all accesses.
    pub accesses_ratio: f64,
}

/// Returns the skew of pages with these uses, each of which stands for `weight` pages, among all
/// accesses.
pub(super) fn of(mut uses: Vec<u64>, weight: f64, accesses: u64) -> SkewCharacter {
    uses.sort_unstable_by(|one, other| other.cmp(one));
    let all: u64 = uses.iter().sum();
    let share = |percent: u64| {
        let pages = (uses.len() as u64 * percent).div_ceil(100) as usize;
        let others = uses[pages..].iter().sum::<u64>() as f64 * weight;
        let top = (accesses as f64 - others).max(0.0);
        TopShare { pages_percent: percent, accesses_ratio: top / accesses as f64 }
    };
    let top = if uses.is_empty() { Vec::new() } else { TOP_PERCENT.map(share).to_vec() };
    SkewCharacter { top, zipf_exponent: (uses.len() > 1).then(|| exponent(&uses, all)) }
}

fn exponent(uses: &[u64], all: u64) -> f64 {
    let logs: Vec<f64> = (1..=uses.len()).map(|rank| libm::log(rank as f64)).collect();
    let seen = logs.iter().zip(uses).map(|(log, uses)| log * *uses as f64).sum::<f64>();
    let seen = seen / all as f64;
    let expected = |exponent: f64| {
        let parts = logs.iter().map(|log| (libm::exp(-exponent * log), log));
        let (sum, weighted) =
            parts.fold((0.0, 0.0), |sums, (part, log)| (sums.0 + part, sums.1 + part * log));
        weighted / sum
    };
    let (mut low, mut high) = (0.0, LARGEST_EXPONENT);
    for _ in 0..STEPS {
        let middle = (low + high) / 2.0;
        if expected(middle) > seen { low = middle } else { high = middle }
    }
    (low + high) / 2.0
}
