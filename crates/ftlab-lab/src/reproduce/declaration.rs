//! The content of `experiment.toml` as plain data.

use ftlab::options::table::Plain;

use super::curve::Pick;
pub use super::keys::{FigureKind, Form, Role};
use super::numbers::{PERCENT, Printed, Tolerance};

/// An experiment.
#[derive(Clone, Debug)]
pub struct Declaration {
    /// The name of its folder.
    pub name: String,
    /// What it reproduces, in one line.
    pub title: String,
    /// The full citation of the paper.
    pub paper: String,
    /// The paper's DOI.
    pub doi: Option<String>,
    /// The paper's claims and our outcome, in a few sentences.
    pub summary: String,
    /// The number of seeds that the tolerances are meant for.
    pub seeds: u64,
    /// The measured processor time of all runs.
    pub cpu_minutes: Option<u64>,
    /// The settings that all runs share.
    pub run: Settings,
    /// The dimensions that vary.
    pub axes: Vec<Axis>,
    /// Lists of numbers that runs report.
    pub curves: Vec<Curve>,
    /// Numbers taken from each run.
    pub metrics: Vec<Metric>,
    /// The numbers of the paper.
    pub claims: Vec<Claim>,
    /// The figures to draw.
    pub figures: Vec<Figure>,
}

impl Declaration {
    /// Whether a metric or curve comes from below a place in the result.
    pub fn asks_for(&self, place: &str) -> bool {
        let of_metrics = self.metrics.iter().filter_map(|metric| match &metric.from {
            From::Result { pointer, .. } => Some(pointer),
            _ => None,
        });
        let of_curves = self.curves.iter().map(|curve| &curve.from);
        of_metrics.chain(of_curves).any(|pointer| pointer.starts_with(place))
    }
}

/// Settings of a run from one part of the declaration. Later settings override earlier ones.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The device.
    pub device: Option<Plain>,
    /// Options of the device.
    pub set: Vec<Plain>,
    /// Flags of the load, by key.
    pub load: Vec<(&'static str, Plain)>,
}

/// A dimension that varies.
#[derive(Clone, Debug)]
pub struct Axis {
    /// Its name.
    pub name: String,
    /// Its name for people.
    pub label: String,
    /// A note for readers.
    pub note: Option<String>,
    /// The unit of values with a position.
    pub unit: String,
    /// Its values, at least one.
    pub values: Vec<AxisValue>,
}

/// A value of an axis.
#[derive(Clone, Debug)]
pub struct AxisValue {
    /// Its name.
    pub name: String,
    /// Its name for people.
    pub label: String,
    /// Its position in drawings; values without one are drawn apart.
    pub x: Option<f64>,
    /// The settings that it changes.
    pub settings: Settings,
}

/// A list of numbers that a run reports.
#[derive(Clone, Debug)]
pub struct Curve {
    /// Its name.
    pub name: String,
    /// Its name for people.
    pub label: String,
    /// The unit of its values; empty for plain numbers.
    pub unit: String,
    /// A JSON pointer to the list.
    pub from: String,
    /// A JSON pointer to the distance between values; 1 without it.
    pub every: Option<String>,
    /// The label of the horizontal axis.
    pub x_label: String,
}

/// A number taken from a run.
#[derive(Clone, Debug)]
pub struct Metric {
    /// Its name.
    pub name: String,
    /// Its name for people.
    pub label: String,
    /// Its unit; empty for a plain number.
    pub unit: String,
    /// Its source.
    pub from: From,
}

/// The source of a metric. Other metrics are given by their index; they are declared earlier.
#[derive(Clone, Debug)]
pub enum From {
    /// A number in the result.
    Result {
        /// The JSON pointer to it.
        pointer: String,
        /// The divisor of the number.
        divide: f64,
    },
    /// The sum of metrics.
    Sum(Vec<usize>),
    /// The product of metrics.
    Product(Vec<usize>),
    /// The first minus the second.
    Difference(usize, usize),
    /// The first divided by the second.
    Quotient(usize, usize),
    /// A number of a curve.
    Picked(usize, Pick),
}

impl Form {
    /// Returns the unit of this form of a metric in `unit`.
    pub fn unit(self, unit: &str) -> &str {
        match self {
            Form::Value | Form::Difference => unit,
            Form::Change | Form::Reduction => PERCENT,
            Form::Ratio => "",
        }
    }

    /// Computes this form from a value and the value that it is compared with.
    pub fn of(self, value: f64, elsewhere: f64) -> f64 {
        match self {
            Form::Value => value,
            Form::Change => (value / elsewhere - 1.0) * 100.0,
            Form::Reduction => (1.0 - value / elsewhere) * 100.0,
            Form::Ratio => value / elsewhere,
            Form::Difference => value - elsewhere,
        }
    }
}

/// The value of each axis, where it is fixed.
pub type Point = Vec<Option<usize>>;
/// The value of each axis.
pub type Coordinates = Vec<usize>;

/// A quantity that a claim is about or a figure draws.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// The metric.
    pub metric: usize,
    /// The form.
    pub form: Form,
    /// The case to compare with: the values that differ.
    pub against: Point,
    /// Axes to average over, after the form is computed.
    pub mean_over: Vec<usize>,
}

/// A claim of the paper.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Its name.
    pub id: String,
    /// The claim in words.
    pub text: String,
    /// Its place in the paper.
    pub place: String,
    /// The origin of the number, if not the paper.
    pub origin: Option<String>,
    /// Whether the device was fitted to its numbers or predicts them.
    pub role: Option<Role>,
    /// Whether a quick reproduction measures it.
    pub quick: bool,
    /// The quantity.
    pub quantity: Quantity,
    /// Its numbers.
    pub rows: Vec<ClaimRow>,
    /// Why it cannot be reproduced, if so.
    pub differs: Option<String>,
}

/// A number of a claim.
#[derive(Clone, Debug)]
pub struct ClaimRow {
    /// Its place; averaged axes are open.
    pub at: Point,
    /// The value of the axis `each` for people; empty without one.
    pub label: String,
    /// The number in the paper.
    pub paper: Printed,
    /// The tolerance.
    pub tolerance: Option<Tolerance>,
    /// The number expected instead.
    pub expected: Option<Expected>,
}

/// A number expected instead of the paper's.
#[derive(Clone, Copy, Debug)]
pub struct Expected {
    /// The number.
    pub value: Printed,
    /// The tolerance.
    pub tolerance: Option<Tolerance>,
}

/// A figure.
#[derive(Clone, Debug)]
pub struct Figure {
    /// The title.
    pub title: String,
    /// A note for readers.
    pub note: Option<String>,
    /// The content.
    pub drawn: Drawn,
    /// The axis with a line for each of its values.
    pub series: Option<usize>,
    /// The axes with a panel for each of their values, or each combination of them.
    pub panels: Vec<usize>,
    /// By axis, the values of an open axis to draw; all if there is no list.
    pub only: Vec<Option<Vec<usize>>>,
    /// The values of other axes.
    pub at: Point,
    /// The label of the vertical axis.
    pub y_label: String,
}

/// The content of a figure.
#[derive(Clone, Debug)]
pub enum Drawn {
    /// Metrics along an axis.
    Metrics(AlongAxis),
    /// Curves.
    Curves(Vec<usize>),
    /// A metric over two axes.
    Map(AcrossAxes),
}

/// A metric drawn as a heat map.
#[derive(Clone, Debug)]
pub struct AcrossAxes {
    /// The axis of the columns.
    pub x: usize,
    /// The axis of the rows.
    pub y: usize,
    /// The quantity in each cell.
    pub quantity: Quantity,
}

/// Metrics drawn along an axis.
#[derive(Clone, Debug)]
pub struct AlongAxis {
    /// Lines or bars.
    pub kind: FigureKind,
    /// The axis.
    pub x: usize,
    /// The metrics.
    pub metrics: Vec<usize>,
    /// The form of the metrics.
    pub form: Form,
    /// The case to compare with: the values that differ.
    pub against: Point,
    /// A case drawn as horizontal lines: the values that differ.
    pub reference: Option<Point>,
}

impl Figure {
    /// Returns the values of an open axis that the figure draws, in the order of the axis.
    pub fn shown(&self, axis: usize, axes: &[Axis]) -> Vec<usize> {
        self.only[axis].clone().unwrap_or_else(|| (0..axes[axis].values.len()).collect())
    }

    /// Returns the title and the fixed values of each panel: one panel for each value of the axis
    /// `panels`, or for each combination of several axes.
    pub fn panels(&self, axes: &[Axis]) -> impl Iterator<Item = (String, Point)> {
        let mut points = vec![(Vec::new(), self.at.clone())];
        for &axis in &self.panels {
            let (of, values) = (&axes[axis], self.shown(axis, axes));
            let with = |(names, point): &(Vec<String>, Point), at: usize| {
                let (mut names, mut point) = (names.clone(), point.clone());
                names.push(format!("{} {}", of.label, of.values[at].label));
                point[axis] = Some(at);
                (names, point)
            };
            points = points.iter().flat_map(|one| values.iter().map(|&at| with(one, at))).collect();
        }
        points.into_iter().map(|(names, point)| (names.join(", "), point))
    }

    /// Returns the axes with several drawn values.
    pub fn open(&self) -> Vec<usize> {
        let along = match &self.drawn {
            Drawn::Metrics(along) => vec![along.x],
            Drawn::Curves(_) => Vec::new(),
            Drawn::Map(across) => vec![across.x, across.y],
        };
        along.into_iter().chain(self.series).chain(self.panels.iter().copied()).collect()
    }
}

/// Returns `point` with its open axes taken from `base`.
pub fn over(base: &[Option<usize>], point: &[Option<usize>]) -> Point {
    point.iter().zip(base).map(|(above, below)| above.or(*below)).collect()
}

/// Returns all places of a point whose open axes have these values: one for each combination.
pub fn places(point: &Point, open: &[(usize, Vec<usize>)]) -> Vec<Coordinates> {
    let mut all = vec![point.clone()];
    for (axis, values) in open {
        let with = |point: &Point, value: usize| {
            let mut point = point.clone();
            point[*axis] = Some(value);
            point
        };
        all = all.iter().flat_map(|one| values.iter().map(|&value| with(one, value))).collect();
    }
    let closed = |point: Point| point.into_iter().map(|value| value.unwrap_or(0)).collect();
    all.into_iter().map(closed).collect()
}

impl Quantity {
    /// Returns the place to compare a place with.
    pub fn elsewhere(&self, place: &Coordinates) -> Coordinates {
        place.iter().zip(&self.against).map(|(here, there)| there.unwrap_or(*here)).collect()
    }

    /// Returns the places that the quantity is computed from, each with the place to compare it with.
    pub fn pairs(&self, at: &Point, axes: &[Axis]) -> Vec<(Coordinates, Coordinates)> {
        let all = |axis: usize| (axis, (0..axes[axis].values.len()).collect());
        let open: Vec<(usize, Vec<usize>)> = self.mean_over.iter().copied().map(all).collect();
        let places = places(at, &open);
        places.into_iter().map(|place| (place.clone(), self.elsewhere(&place))).collect()
    }
}
