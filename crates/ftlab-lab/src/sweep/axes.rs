//! A sweep as values: what all points share, and the axes.

use std::path::PathBuf;

use ftlab::options::value::ValueError;

pub use super::keys::{Prepared, Spacing};
use super::numbers::{Range, Scaled, scaled};
use super::settings::PointSettings;
use super::swept::Swept;
use crate::failure::Failure;

/// The confidence level without another one.
const CONFIDENCE: f64 = 0.95;

/// A sweep: the points are all combinations of the values of its axes.
#[derive(Clone)]
pub struct Sweep {
    /// Its name: letters, digits, `-` and `_`.
    pub name: String,
    /// What is swept, in one line.
    pub title: String,
    /// How many seeds each point is run with.
    pub seeds: u64,
    /// The first seed.
    pub first_seed: u64,
    /// The confidence level of intervals, a share.
    pub confidence: f64,
    /// The folder that files are relative to.
    pub folder: PathBuf,
    /// The settings that all points share.
    pub base: PointSettings,
    /// Which device is prepared.
    pub prepared: Prepared,
    /// The axes, at least one.
    pub axes: Vec<SweepAxis>,
}

/// A dimension that varies.
#[derive(Clone)]
pub struct SweepAxis {
    /// The name of its column.
    pub name: String,
    /// Its name for people.
    pub label: String,
    /// The values, at least one.
    pub values: Vec<SweepValue>,
    /// The values as numbers, if all of them are.
    pub scaled: Option<Scaled>,
    /// How numbers are spaced in drawings.
    pub spacing: Spacing,
}

/// A value of an axis.
#[derive(Clone)]
pub struct SweepValue {
    /// Its name in the table.
    pub name: String,
    /// Its name for people.
    pub label: String,
    /// What it sets.
    pub settings: PointSettings,
}

impl Sweep {
    /// Creates a sweep with one seed, from what all points share and the axes.
    #[must_use]
    pub fn new(name: &str, base: PointSettings, axes: Vec<SweepAxis>) -> Sweep {
        Sweep {
            name: name.to_owned(),
            title: name.to_owned(),
            seeds: 1,
            first_seed: 1,
            confidence: CONFIDENCE,
            folder: PathBuf::new(),
            base,
            prepared: Prepared::Each,
            axes,
        }
    }
}

fn told(option: &str) -> impl Fn(ValueError) -> Failure {
    move |error| Failure::usage(format!("{option}: {}\n  remedy: {}", error.message, error.remedy))
}

impl SweepAxis {
    /// Creates an axis of an option: a path such as `ftl.gc.victim`, or the name of an option of a run, with these values.
    ///
    /// # Errors
    /// There is no such option, or it does not take a value.
    pub fn list<T: AsRef<str>>(option: &str, values: &[T]) -> Result<SweepAxis, Failure> {
        let swept = Swept::named(option).map_err(told(option))?;
        let mut all = Vec::new();
        for text in values.iter().map(AsRef::as_ref) {
            swept.check(text).map_err(told(option))?;
            let mut value = SweepValue::named(text);
            value.settings.set(option, option, text).map_err(Failure::usage)?;
            all.push(value);
        }
        Ok(SweepAxis::of(option, Some(swept), all, Spacing::Linear))
    }

    /// Creates an axis of an option with `steps` values of a range such as `7%..50%`, at least two.
    ///
    /// # Errors
    /// There is no such option, it takes no numbers, or the range has not so many values.
    pub fn range(
        option: &str,
        range: &str,
        steps: usize,
        spacing: Spacing,
    ) -> Result<SweepAxis, Failure> {
        let swept = Swept::named(option).map_err(told(option))?;
        let values = values_of_range(swept, range, steps, spacing).map_err(told(option))?;
        Ok(SweepAxis { spacing, ..SweepAxis::list(option, &values)? })
    }

    /// Creates an axis of values that set several things.
    #[must_use]
    pub fn named(name: &str, values: Vec<SweepValue>) -> SweepAxis {
        SweepAxis::of(name, None, values, Spacing::Linear)
    }

    /// Creates an axis, named after what it sets.
    pub(super) fn of(
        name: &str,
        swept: Option<Swept>,
        values: Vec<SweepValue>,
        spacing: Spacing,
    ) -> SweepAxis {
        let names: Vec<&str> = values.iter().map(|value| value.name.as_str()).collect();
        let mut scaled = scaled(swept.and_then(Swept::numbers), &names);
        if let Some(scaled) = scaled.as_mut().filter(|scaled| scaled.unit.is_empty()) {
            scaled.unit = swept.map_or("", Swept::counted).to_owned();
        }
        let name = name.to_owned();
        SweepAxis { label: name.clone(), name, values, scaled, spacing }
    }
}

impl SweepValue {
    /// Creates a value that sets nothing yet.
    #[must_use]
    pub fn named(name: &str) -> SweepValue {
        let (name, label) = (name.to_owned(), name.to_owned());
        SweepValue { name, label, settings: PointSettings::default() }
    }
}

/// The fewest values of a range: its ends.
const FEWEST: usize = 2;

/// Returns the values of a range as texts.
pub(super) fn values_of_range(
    swept: Swept,
    range: &str,
    steps: usize,
    spacing: Spacing,
) -> Result<Vec<String>, ValueError> {
    let kind = swept.numbers().ok_or_else(|| {
        ValueError::new("it takes no numbers, so it has no range", "write a list of values")
    })?;
    if steps < FEWEST {
        return Err(ValueError::new("a range has two values at least", "write more `steps`"));
    }
    Range::parse(kind, range)?.values(steps, spacing)
}
