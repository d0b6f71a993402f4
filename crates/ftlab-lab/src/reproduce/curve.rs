//! Picks a number from a curve.

/// The prefix of `pick` for a peak.
const PEAK: &str = "peak";
/// `pick` for the largest value.
const LARGEST: &str = "largest";

/// The number to take from a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pick {
    /// The largest value.
    Largest,
    /// The height of a peak, counted from 1 by decreasing height.
    Peak(usize),
}

impl Pick {
    /// Parses `largest` or `peak N`.
    pub fn parse(text: &str) -> Option<Pick> {
        if text == LARGEST {
            return Some(Pick::Largest);
        }
        let number = text.strip_prefix(PEAK)?.strip_prefix(' ')?;
        number.trim().parse().ok().filter(|&number| number > 0).map(Pick::Peak)
    }

    /// Returns the number, or `None` if there is no such peak.
    pub fn of(self, values: &[f64]) -> Option<f64> {
        match self {
            Pick::Largest => values.iter().copied().max_by(f64::total_cmp),
            Pick::Peak(number) => peaks(values).get(number - 1).copied(),
        }
    }
}

/// Returns the heights of all peaks in decreasing order. A peak is the largest value between two
/// falls to half of it or less. The beginning counts as such a fall, the end does not.
fn peaks(values: &[f64]) -> Vec<f64> {
    let is_peak = |at: usize| {
        let height = values[at];
        let is_fallen = |value: f64| value <= height / 2.0;
        let before = values[..at].iter().rev().take_while(|&&value| !is_fallen(value));
        let mut after = values[at + 1..].iter().take_while(|&&value| !is_fallen(value));
        let falls = values[at + 1..].iter().any(|&value| is_fallen(value));
        height > 0.0
            && falls
            && before.copied().all(|value| value < height)
            && after.all(|&value| value <= height)
    };
    let mut heights: Vec<f64> =
        (0..values.len()).filter(|&at| is_peak(at)).map(|at| values[at]).collect();
    heights.sort_by(|a, b| b.total_cmp(a));
    heights
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peaks_are_between_falls_to_half() {
        // 69, a dip that is no fall, a fall; 38 with noise on its flank; 28; a rise that is cut
        // off.
        let values =
            [10.0, 69.0, 40.0, 60.0, 12.0, 38.0, 20.0, 24.0, 19.0, 3.0, 28.0, 14.0, 5.0, 90.0];
        assert_eq!(peaks(&values), [69.0, 38.0, 28.0]);
        assert_eq!(Pick::Largest.of(&values), Some(90.0));
        assert_eq!(Pick::Peak(3).of(&values), Some(28.0));
        assert_eq!(Pick::Peak(4).of(&values), None);
    }

    #[test]
    fn what_is_flat_or_falls_or_rises_has_as_many_peaks_as_it_should() {
        const NONE: [f64; 0] = [];
        assert_eq!(peaks(&[]), NONE);
        assert_eq!(peaks(&[8.0; 5]), NONE, "it never falls");
        assert_eq!(peaks(&[8.0, 8.0, 4.0, 8.0, 1.0]), [8.0, 8.0], "of equal values the first");
        assert_eq!(peaks(&[9.0, 4.0]), [9.0], "before its beginning it is fallen");
        assert_eq!(peaks(&[1.0, 9.0]), NONE, "a rise that is cut off");
        assert_eq!(peaks(&[0.0, 0.0]), NONE);
        assert_eq!(Pick::Largest.of(&[]), None);
    }

    #[test]
    fn picks_are_read() {
        assert_eq!(Pick::parse("largest"), Some(Pick::Largest));
        assert_eq!(Pick::parse("peak 2"), Some(Pick::Peak(2)));
        for bad in ["", "peak", "peak 0", "peak2", "peak -1", "peak x", "smallest", "largest 2"] {
            assert_eq!(Pick::parse(bad), None, "{bad}");
        }
    }
}
