//! The data of the page's figures, for its script.

use serde::Serialize;

use super::{curves, with_unit};
use crate::reproduce::declaration::{
    AlongAxis, Axis, AxisValue, Claim, Coordinates, Declaration, Drawn, Figure, FigureKind, Point,
    Quantity, over,
};
use crate::reproduce::measure::Measured;
use crate::reproduce::numbers::Printed;

/// The distance between values drawn apart, as a share of the span of numeric values.
const APART: f64 = 0.12;

/// A figure.
#[derive(Debug, Serialize)]
pub struct FigureData {
    pub title: String,
    /// `lines`, `bars` or `curves`.
    pub kind: &'static str,
    /// The label of the horizontal axis.
    pub x_label: String,
    /// The label of the vertical axis.
    pub y_label: String,
    /// The unit of values.
    pub unit: String,
    /// The values of the horizontal axis.
    pub ticks: Vec<Tick>,
    /// The names of the series.
    pub series: Vec<String>,
    /// The panels, drawn side by side.
    pub panels: Vec<Panel>,
}

/// A value of the horizontal axis.
#[derive(Debug, Serialize)]
pub struct Tick {
    /// Its position.
    pub x: f64,
    /// Its name.
    pub name: String,
    /// Whether it has no number, so that its name must always be shown.
    pub apart: bool,
}

#[derive(Debug, Serialize)]
pub struct Panel {
    /// Its title.
    pub title: String,
    /// By series.
    pub points: Vec<Vec<Dot>>,
    /// By series, the horizontal line.
    pub references: Vec<Option<Across>>,
    /// The numbers of the paper.
    pub printed: Vec<Mark>,
}

/// A mean and its interval, or a value of a curve.
#[derive(Debug, Serialize)]
pub struct Dot {
    /// Its position.
    pub x: f64,
    /// The name of the position.
    pub name: String,
    /// The value.
    pub y: f64,
    /// The lower end of the interval.
    pub low: Option<f64>,
    /// The upper end of the interval.
    pub high: Option<f64>,
}

/// A horizontal line.
#[derive(Debug, Serialize)]
pub struct Across {
    name: String,
    y: f64,
}

/// A number printed in the paper or given by another origin.
#[derive(Debug, Serialize)]
pub struct Mark {
    series: usize,
    x: f64,
    y: f64,
    claim: String,
    /// The origin; null if the paper prints it.
    origin: Option<String>,
}

/// Returns the data of a figure that the script draws; heat maps are part of the page itself.
pub fn data(declaration: &Declaration, figure: &Figure, measured: &Measured) -> Option<FigureData> {
    match &figure.drawn {
        Drawn::Metrics(along) => Some(Drawing { declaration, figure, along, measured }.data()),
        Drawn::Curves(curves) => Some(curves::data(declaration, figure, curves, measured)),
        Drawn::Map(_) => None,
    }
}

/// Returns the notes on a figure and on its axes.
pub fn notes(figure: &Figure, axes: &[Axis]) -> Vec<String> {
    let of_axes = figure.open().into_iter().filter_map(|axis| axes[axis].note.clone());
    figure.note.clone().into_iter().chain(of_axes).collect()
}

/// Returns the series of a figure: their names, their contents, and their values on the series
/// axis. `drawn` lists the contents for each value of that axis, with labels.
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

    /// Returns the drawn values of the horizontal axis with their indices.
    fn values(&self) -> impl Iterator<Item = (usize, &AxisValue)> {
        let values = &self.axes()[self.along.x].values;
        self.figure.shown(self.along.x, self.axes()).into_iter().map(|at| (at, &values[at]))
    }

    /// Returns the position of each value of the horizontal axis. Bars form groups.
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
        // A reference with a fixed value on the series axis is the same for all series, so it is
        // drawn once.
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

    /// Returns the paper's numbers for a quantity at a place.
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
