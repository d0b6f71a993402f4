//! What the figures of a page show, as its script reads it.

use serde::Serialize;

use super::{curves, with_unit};
use crate::reproduce::declaration::{
    AlongAxis, Axis, AxisValue, Claim, Coordinates, Declaration, Drawn, Figure, FigureKind, Point,
    Quantity, over,
};
use crate::reproduce::measure::Measured;
use crate::reproduce::numbers::Printed;

/// Room between the last value that has a number and those that stand apart, as a share of the span.
const APART: f64 = 0.12;

/// A figure.
#[derive(Debug, Serialize)]
pub struct FigureData {
    /// The title.
    pub title: String,
    /// `lines`, `bars` or `curves`.
    pub kind: &'static str,
    /// What stands at the horizontal axis.
    pub x_label: String,
    /// What stands at the vertical axis.
    pub y_label: String,
    /// The unit of values.
    pub unit: String,
    /// Values of the horizontal axis: where they are, what they are called, and whether they stand apart.
    pub ticks: Vec<Tick>,
    /// What each series is called.
    pub series: Vec<String>,
    /// What is drawn side by side.
    pub panels: Vec<Panel>,
}

/// A place of the horizontal axis.
#[derive(Debug, Serialize)]
pub struct Tick {
    /// Where it is.
    pub x: f64,
    /// What it is called.
    pub name: String,
    /// Has no number: it is named whatever else is.
    pub apart: bool,
}

/// A panel.
#[derive(Debug, Serialize)]
pub struct Panel {
    /// Its title.
    pub title: String,
    /// By series.
    pub points: Vec<Vec<Dot>>,
    /// By series, the line across.
    pub references: Vec<Option<Across>>,
    /// What is printed.
    pub printed: Vec<Mark>,
}

/// A mean and its interval, or a value of a curve.
#[derive(Debug, Serialize)]
pub struct Dot {
    /// Where it is.
    pub x: f64,
    /// What that place is called.
    pub name: String,
    /// The value.
    pub y: f64,
    /// Where the interval begins.
    pub low: Option<f64>,
    /// Where the interval ends.
    pub high: Option<f64>,
}

/// A line across.
#[derive(Debug, Serialize)]
pub struct Across {
    name: String,
    y: f64,
}

/// A number that the paper prints, or that another gives.
#[derive(Debug, Serialize)]
pub struct Mark {
    series: usize,
    x: f64,
    y: f64,
    claim: String,
    /// Who gives it; null if the paper prints it.
    origin: Option<String>,
}

/// What a figure shows, if the page's script draws it: heat maps stand in the page as they are.
pub fn data(declaration: &Declaration, figure: &Figure, measured: &Measured) -> Option<FigureData> {
    match &figure.drawn {
        Drawn::Metrics(along) => Some(Drawing { declaration, figure, along, measured }.data()),
        Drawn::Curves(curves) => Some(curves::data(declaration, figure, curves, measured)),
        Drawn::Map(_) => None,
    }
}

/// What is to be known of a figure and of the axes that it draws.
pub fn notes(figure: &Figure, axes: &[Axis]) -> Vec<String> {
    let of_axes = figure.open().into_iter().filter_map(|axis| axes[axis].note.clone());
    figure.note.clone().into_iter().chain(of_axes).collect()
}

/// The series of a figure: what they are called, what they are of, and the values of their axis. `drawn`
/// is what is drawn for each value of that axis, by label.
pub fn series(
    figure: &Figure,
    axes: &[Axis],
    drawn: &[(usize, &str)],
) -> Vec<(String, usize, Option<usize>)> {
    let Some(axis) = figure.series else {
        return drawn.iter().map(|&(of, label)| (label.to_owned(), of, None)).collect();
    };
    let of_value = |at: usize| {
        let value = &axes[axis].values[at];
        let name = |label: &str| match drawn.len() {
            1 => value.label.clone(),
            _ => format!("{}, {label}", value.label),
        };
        drawn.iter().map(|&(of, label)| (name(label), of, Some(at))).collect::<Vec<_>>()
    };
    figure.shown(axis, axes).into_iter().flat_map(of_value).collect()
}

struct Drawing<'a> {
    declaration: &'a Declaration,
    figure: &'a Figure,
    along: &'a AlongAxis,
    measured: &'a Measured,
}

impl Drawing<'_> {
    fn axes(&self) -> &[Axis] {
        &self.declaration.axes
    }

    fn data(&self) -> FigureData {
        let (figure, x) = (self.figure, &self.axes()[self.along.x]);
        let metric = &self.declaration.metrics[self.along.metrics[0]];
        let bars = self.along.kind == FigureKind::Bars;
        FigureData {
            title: figure.title.clone(),
            kind: if bars { "bars" } else { "lines" },
            x_label: if bars { x.label.clone() } else { with_unit(&x.label, &x.unit) },
            y_label: figure.y_label.clone(),
            unit: self.along.form.unit(&metric.unit).to_owned(),
            ticks: self.ticks(),
            series: self.series().into_iter().map(|(name, ..)| name).collect(),
            panels: figure.panels(self.axes()).map(|(title, at)| self.panel(title, &at)).collect(),
        }
    }

    fn series(&self) -> Vec<(String, usize, Option<usize>)> {
        let label = |at: &usize| (*at, self.declaration.metrics[*at].label.as_str());
        let drawn: Vec<(usize, &str)> = self.along.metrics.iter().map(label).collect();
        series(self.figure, self.axes(), &drawn)
    }

    /// The values of the horizontal axis that are drawn, by their places in it.
    fn values(&self) -> impl Iterator<Item = (usize, &AxisValue)> {
        let values = &self.axes()[self.along.x].values;
        self.figure.shown(self.along.x, self.axes()).into_iter().map(|at| (at, &values[at]))
    }

    /// Where each value of the horizontal axis is drawn. Bars stand in groups, one beside the other.
    fn places(&self) -> Vec<f64> {
        let values: Vec<&AxisValue> = self.values().map(|(_, value)| value).collect();
        let numbers: Vec<f64> = values.iter().filter_map(|value| value.x).collect();
        let group = self.series().len() as f64 + 1.0;
        let few = numbers.len() < 2;
        if few || self.along.kind == FigureKind::Bars {
            let width = if self.along.kind == FigureKind::Bars { group } else { 1.0 };
            return (0..values.len()).map(|at| at as f64 * width).collect();
        }
        let (low, high) = (
            numbers.iter().copied().fold(f64::INFINITY, f64::min),
            numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        );
        let mut beyond = high;
        let mut place = |x: Option<f64>| {
            x.unwrap_or_else(|| {
                beyond += (high - low) * APART;
                beyond
            })
        };
        values.iter().map(|value| place(value.x)).collect()
    }

    fn ticks(&self) -> Vec<Tick> {
        let numbered = self.values().filter(|(_, value)| value.x.is_some()).count() >= 2;
        let bars = self.along.kind == FigureKind::Bars;
        let middle = if bars { (self.series().len() as f64 - 1.0) / 2.0 } else { 0.0 };
        let tick = |((_, value), x): ((usize, &AxisValue), f64)| Tick {
            x: x + middle,
            name: value.label.clone(),
            apart: bars || !numbered || value.x.is_none(),
        };
        self.values().zip(self.places()).map(tick).collect()
    }

    fn panel(&self, title: String, at: &Point) -> Panel {
        let mut panel =
            Panel { title, points: Vec::new(), references: Vec::new(), printed: Vec::new() };
        let bars = self.along.kind == FigureKind::Bars;
        for (series, (name, metric, value)) in self.series().into_iter().enumerate() {
            let shift = if bars { series as f64 } else { 0.0 };
            let mut at = at.clone();
            if let Some(axis) = self.figure.series {
                at[axis] = value;
            }
            let quantity = self.quantity(metric);
            let mut dots = Vec::new();
            for ((value, of), x) in self.values().zip(self.places()) {
                at[self.along.x] = Some(value);
                let Some(found) = self.measured.quantity(&quantity, &at) else { continue };
                let x = x + shift;
                let (name, y) = (of.label.clone(), found.value);
                dots.push(Dot { x, name, y, low: found.low, high: found.high });
                panel.printed.extend(self.printed(&quantity, &at, series, x));
            }
            panel.points.push(dots);
            panel.references.push(self.across(&quantity, &at, &name));
        }
        panel
    }

    fn quantity(&self, metric: usize) -> Quantity {
        let AlongAxis { form, against, .. } = self.along;
        Quantity { metric, form: *form, against: against.clone(), mean_over: Vec::new() }
    }

    fn across(&self, quantity: &Quantity, at: &Point, name: &str) -> Option<Across> {
        let reference = self.along.reference.as_ref()?;
        // A line for one value of the series' axis is the same for all of them: it is drawn once.
        let shared = self.figure.series.is_some_and(|axis| reference[axis].is_some());
        if shared {
            let axis = self.figure.series?;
            if at[axis] != self.figure.shown(axis, self.axes()).first().copied() {
                return None;
            }
        }
        let found = self.measured.quantity(quantity, &over(at, reference))?;
        let fixed = self.axes().iter().zip(reference);
        let fixed = fixed.filter_map(|(axis, value)| Some(&axis.values[(*value)?].label));
        let fixed: Vec<&str> = fixed.map(String::as_str).collect();
        let several = self.along.metrics.len() > 1;
        let label = &self.declaration.metrics[quantity.metric].label;
        let name = match (shared, several) {
            (false, _) => format!("{name} at {}", fixed.join(", ")),
            (true, true) => format!("{label} at {}", fixed.join(", ")),
            (true, false) => fixed.join(", "),
        };
        Some(Across { name, y: found.value })
    }

    /// What the paper prints of a quantity at a place.
    fn printed(&self, quantity: &Quantity, at: &Point, series: usize, x: f64) -> Vec<Mark> {
        let here = quantity.pairs(at, self.axes());
        let is_same = |claim: &&Claim| {
            claim.quantity.metric == quantity.metric
                && claim.quantity.form == quantity.form
                && claim.quantity.mean_over.is_empty()
        };
        let mut marks = Vec::new();
        for claim in self.declaration.claims.iter().filter(is_same) {
            for row in &claim.rows {
                let there: Vec<(Coordinates, Coordinates)> =
                    claim.quantity.pairs(&row.at, self.axes());
                if let (true, Printed::Number(y)) = (there == here, row.paper) {
                    let (claim, origin) = (claim.id.clone(), claim.origin.clone());
                    marks.push(Mark { series, x, y, claim, origin });
                }
            }
        }
        marks
    }
}
