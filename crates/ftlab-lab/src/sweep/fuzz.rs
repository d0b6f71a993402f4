//! Entry point for fuzzers: sweep files as arbitrary texts.

use super::parse::parse;
use super::plan::SweepPlan;
use crate::lab::Lab;

/// The most points of a sweep that is planned.
const MOST_POINTS: usize = 16;

/// Parses a sweep file; if it is valid and small, builds its points without any files.
pub fn file(text: &str) {
    let sweep = match parse("no-such-folder/fuzz.toml", text) {
        Ok(sweep) => sweep,
        Err(problems) => {
            assert!(!problems.to_string().is_empty());
            return;
        }
    };
    let points = sweep.axes.iter().map(|axis| axis.values.len());
    if points.fold(1usize, usize::saturating_mul) > MOST_POINTS {
        return;
    }
    match SweepPlan::new(&Lab::default(), sweep) {
        Ok(plan) => assert!(!plan.points().is_empty() && !plan.label(0).is_empty()),
        Err(failure) => assert!(!failure.text().is_empty()),
    }
}
