//! What `experiment.toml` says, once it has been read: plain data.

use ftlab::options::table::Plain;

use super::curve::Pick;
pub use super::keys::{FigureKind, Form};
use super::numbers::{PERCENT, Printed, Tolerance};

/// An experiment.
#[derive(Clone, Debug)]
pub struct Declaration {
    /// The name of its folder.
    pub name: String,
    /// What is reproduced, in a line.
    pub title: String,
    /// The paper in full.
    pub paper: String,
    /// Its DOI.
    pub doi: Option<String>,
    /// What the paper claims and what came out.
    pub summary: String,
    /// With how many seeds tolerances hold.
    pub seeds: u64,
    /// What all runs took of processor time when that was measured.
    pub cpu_minutes: Option<u64>,
    /// What all runs have in common.
    pub run: Settings,
    /// What is varied.
    pub axes: Vec<Axis>,
    /// What each run reports as a list.
    pub curves: Vec<Curve>,
    /// What is taken from each run.
    pub metrics: Vec<Metric>,
    /// The numbers of the paper.
    pub claims: Vec<Claim>,
    /// What is drawn.
    pub figures: Vec<Figure>,
}

impl Declaration {
    /// Whether some metric or curve is taken from below a place of the result.
    pub fn asks_for(&self, place: &str) -> bool {
        let of_metrics = self.metrics.iter().filter_map(|metric| match &metric.from {
            From::Result { pointer, .. } => Some(pointer),
            _ => None,
        });
        let of_curves = self.curves.iter().map(|curve| &curve.from);
        of_metrics.chain(of_curves).any(|pointer| pointer.starts_with(place))
    }
}

/// What a run is made of, as far as it is said in one place. What is said later goes first.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The device.
    pub device: Option<Plain>,
    /// Options of the device.
    pub set: Vec<Plain>,
    /// Flags of the load, by their keys.
    pub load: Vec<(&'static str, Plain)>,
}

/// Whether a key of `[run]` says what is played: one of these is given.
pub fn is_load(key: &str) -> bool {
    ["workload", "trace", "fio"].contains(&key)
}

/// What is varied.
#[derive(Clone, Debug)]
pub struct Axis {
    /// Its name.
    pub name: String,
    /// What people call it.
    pub label: String,
    /// What to know of it.
    pub note: Option<String>,
    /// The unit of where values are drawn.
    pub unit: String,
    /// Its values, at least one.
    pub values: Vec<AxisValue>,
}

/// One value of an axis.
#[derive(Clone, Debug)]
pub struct AxisValue {
    /// Its name.
    pub name: String,
    /// What people call it.
    pub label: String,
    /// Where it is drawn; none stands apart.
    pub x: Option<f64>,
    /// What it changes.
    pub settings: Settings,
}

/// What a run reports as a list of numbers.
#[derive(Clone, Debug)]
pub struct Curve {
    /// Its name.
    pub name: String,
    /// What people call it.
    pub label: String,
    /// The unit of its values; empty for plain numbers.
    pub unit: String,
    /// A JSON pointer to the list.
    pub from: String,
    /// A JSON pointer to what each value is for; 1 without one.
    pub every: Option<String>,
    /// What is counted along it.
    pub x_label: String,
}

/// What is taken from a run.
#[derive(Clone, Debug)]
pub struct Metric {
    /// Its name.
    pub name: String,
    /// What people call it.
    pub label: String,
    /// Its unit; empty for a plain number.
    pub unit: String,
    /// Where it comes from.
    pub from: From,
}

/// Where a metric comes from. Metrics are named by their places in the declaration; those that are
/// computed come after what they are computed from.
#[derive(Clone, Debug)]
pub enum From {
    /// A place in the result, and what the number there is divided by.
    Result {
        /// A JSON pointer.
        pointer: String,
        /// What the number there is divided by.
        divide: f64,
    },
    /// The sum of these.
    Sum(Vec<usize>),
    /// The product of these.
    Product(Vec<usize>),
    /// The first less the second.
    Difference(usize, usize),
    /// The first over the second.
    Quotient(usize, usize),
    /// A number of a curve.
    Picked(usize, Pick),
}

impl Form {
    /// The unit, of a metric in `unit`.
    pub fn unit(self, unit: &str) -> &str {
        match self {
            Form::Value | Form::Difference => unit,
            Form::Change | Form::Reduction => PERCENT,
            Form::Ratio => "",
        }
    }

    /// Forms it of a value and of that elsewhere.
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

/// By axis, the value that is fixed, if it is.
pub type Point = Vec<Option<usize>>;
/// By axis, its value.
pub type Coordinates = Vec<usize>;

/// What a claim is about, or what is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// The metric.
    pub metric: usize,
    /// What is formed of it.
    pub form: Form,
    /// The case that it is compared with: what differs.
    pub against: Point,
    /// Axes over which it is averaged, after it was formed.
    pub mean_over: Vec<usize>,
}

/// What the paper claims.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Its name.
    pub id: String,
    /// In words.
    pub text: String,
    /// Where in the paper.
    pub place: String,
    /// Who gives the number, if not the paper.
    pub origin: Option<String>,
    /// What it is about.
    pub quantity: Quantity,
    /// Its numbers.
    pub rows: Vec<ClaimRow>,
    /// Why it can't be reproduced, if so.
    pub differs: Option<String>,
}

/// One number of a claim.
#[derive(Clone, Debug)]
pub struct ClaimRow {
    /// Where it is; axes that are averaged over are open.
    pub at: Point,
    /// The value of the claim's own axis, for people; empty without one.
    pub label: String,
    /// What the paper prints.
    pub paper: Printed,
    /// How near is near enough.
    pub tolerance: Option<Tolerance>,
    /// What is expected instead.
    pub expected: Option<Expected>,
}

/// What is expected instead of what the paper prints.
#[derive(Clone, Copy, Debug)]
pub struct Expected {
    /// The number.
    pub value: Printed,
    /// How near is near enough.
    pub tolerance: Option<Tolerance>,
}

/// What is drawn.
#[derive(Clone, Debug)]
pub struct Figure {
    /// The title.
    pub title: String,
    /// What to know of it.
    pub note: Option<String>,
    /// What.
    pub drawn: Drawn,
    /// The axis of whose values each has a line of its own.
    pub series: Option<usize>,
    /// Axes of whose values, or combinations of them, each has a panel of its own.
    pub panels: Vec<usize>,
    /// By axis, the values of an open axis that are drawn; all of them if it says none.
    pub only: Vec<Option<Vec<usize>>>,
    /// The values of other axes.
    pub at: Point,
    /// What stands at the vertical axis.
    pub y_label: String,
}

/// What a figure draws.
#[derive(Clone, Debug)]
pub enum Drawn {
    /// Metrics along an axis.
    Metrics(AlongAxis),
    /// Curves along themselves.
    Curves(Vec<usize>),
    /// A metric over two axes.
    Map(AcrossAxes),
}

/// A metric that is drawn as a heat map.
#[derive(Clone, Debug)]
pub struct AcrossAxes {
    /// The axis whose values are columns.
    pub x: usize,
    /// The axis whose values are rows.
    pub y: usize,
    /// What is formed in each cell.
    pub quantity: Quantity,
}

/// Metrics that are drawn along an axis.
#[derive(Clone, Debug)]
pub struct AlongAxis {
    /// How.
    pub kind: FigureKind,
    /// The axis.
    pub x: usize,
    /// The metrics.
    pub metrics: Vec<usize>,
    /// What is formed of the metrics.
    pub form: Form,
    /// The case that they are compared with: what differs.
    pub against: Point,
    /// A case that is drawn as horizontal lines: what differs.
    pub reference: Option<Point>,
}

impl Figure {
    /// The values of an open axis that it draws, in the order of the axis.
    pub fn shown(&self, axis: usize, axes: &[Axis]) -> Vec<usize> {
        self.only[axis].clone().unwrap_or_else(|| (0..axes[axis].values.len()).collect())
    }

    /// What each of its panels is called, and the values that it holds fixed: one panel for each value of
    /// its axis of panels, or combination of those of several.
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

    /// The axes of which it draws several values.
    pub fn open(&self) -> Vec<usize> {
        let along = match &self.drawn {
            Drawn::Metrics(along) => vec![along.x],
            Drawn::Curves(_) => Vec::new(),
            Drawn::Map(across) => vec![across.x, across.y],
        };
        along.into_iter().chain(self.series).chain(self.panels.iter().copied()).collect()
    }
}

/// A place whose axes are those of `point`, and where that is open, of `base`.
pub fn over(base: &[Option<usize>], point: &[Option<usize>]) -> Point {
    point.iter().zip(base).map(|(above, below)| above.or(*below)).collect()
}

/// All places of a point whose open axes have these values: one for each combination of them.
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
    /// The place with which one is compared.
    pub fn elsewhere(&self, place: &Coordinates) -> Coordinates {
        place.iter().zip(&self.against).map(|(here, there)| there.unwrap_or(*here)).collect()
    }

    /// The places whose values it is formed of, each with that which it is compared with.
    pub fn pairs(&self, at: &Point, axes: &[Axis]) -> Vec<(Coordinates, Coordinates)> {
        let all = |axis: usize| (axis, (0..axes[axis].values.len()).collect());
        let open: Vec<(usize, Vec<usize>)> = self.mean_over.iter().copied().map(all).collect();
        let places = places(at, &open);
        places.into_iter().map(|place| (place.clone(), self.elsewhere(&place))).collect()
    }
}
