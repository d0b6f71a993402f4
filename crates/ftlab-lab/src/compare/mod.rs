//! Comparisons: variants under the same load, side by side.
//!
//! Each run is written as a single run is, and read back, so that comparisons only depend on result
//! folders, however they were made.

mod build;
mod document;
mod finished;
mod group;
mod metrics;
pub(crate) mod page;
mod past;
mod perform;
pub mod statistics;
mod variants;
pub mod words;

use crate::failure::Failure;

pub use self::build::{Series, comparison};
pub use self::document::{Comparison, MetricDocument, ValuesDocument, VariantDocument};
pub use self::finished::{Finished, Rows};
pub use self::group::{Grouped, check, group, is_finished};
pub(crate) use self::metrics::tenants;
pub use self::metrics::{Better, COLUMNS, MAIN, Metric, all_metrics, described, is_key, known_in};
pub use self::page::{is_one as is_page, of as page};
pub use self::perform::ComparisonRuns;
pub(crate) use self::perform::Share;
pub use self::variants::{Variant, VariantsSpec, all as variants, read_choices};

/// Returns the page of finished results, made by `command`.
///
/// # Errors
/// A result is missing or damaged, or they cannot be compared.
pub fn page_of_results(
    results: &[String],
    confidence: f64,
    command: &[String],
) -> Result<String, Failure> {
    let Grouped { series, notes } = group(results)?;
    check(&series)?;
    page(&comparison(&series, confidence, notes), &series, command)
}

/// Returns notes on equal variants and on settings without effect.
#[must_use]
pub fn equal_notes(variants: &[Variant]) -> Vec<String> {
    let equal = variants::equal_ones(variants);
    let equal = equal.iter().map(|(a, b)| format!("{a} and {b} are the same device."));
    let unused = variants::unused(variants);
    let unused = unused.iter().map(|path| {
        format!("{path} is set but has no effect: no variant has the policy that it belongs to.")
    });
    equal.chain(unused).collect()
}
