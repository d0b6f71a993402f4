//! What the figures of a page show, as its script reads it.

use serde::Serialize;

use super::with_unit;
use crate::reproduce::declaration::{
    Axis, AxisValue, Claim, Declaration, Figure, Kind, Place, Point, Quantity, over,
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
    /// What to know of it and of its axes.
    #[serde(skip)]
    pub notes: Vec<String>,
    /// `lines` or `bars`.
    kind: &'static str,
    /// What stands at the horizontal axis.
    x_label: String,
    /// What stands at the vertical axis.
    y_label: String,
    /// The unit of values.
    unit: String,
    /// Values of the horizontal axis: where they are, what they are called, and whether they stand apart.
    ticks: Vec<Tick>,
    /// What each series is called.
    series: Vec<String>,
    panels: Vec<Panel>,
}

#[derive(Debug, Serialize)]
struct Tick {
    x: f64,
    name: String,
    /// Has no number: it is named whatever else is.
    apart: bool,
}

#[derive(Debug, Serialize)]
struct Panel {
    title: String,
    /// By series.
    points: Vec<Vec<Dot>>,
    /// By series, the line across.
    references: Vec<Option<Across>>,
    printed: Vec<Mark>,
}

/// A mean and its interval.
#[derive(Debug, Serialize)]
struct Dot {
    x: f64,
    name: String,
    y: f64,
    low: Option<f64>,
    high: Option<f64>,
}

/// A line across.
#[derive(Debug, Serialize)]
struct Across {
    name: String,
    y: f64,
}

/// A number that the paper prints.
#[derive(Debug, Serialize)]
struct Mark {
    series: usize,
    x: f64,
    y: f64,
    claim: String,
}

/// All figures.
pub fn of(declaration: &Declaration, figures: &[Figure], measured: &Measured) -> Vec<FigureData> {
    figures.iter().map(|figure| Drawing { declaration, figure, measured }.data()).collect()
}

struct Drawing<'a> {
    declaration: &'a Declaration,
    figure: &'a Figure,
    measured: &'a Measured,
}

impl Drawing<'_> {
    fn axes(&self) -> &[Axis] {
        &self.declaration.axes
    }

    fn data(&self) -> FigureData {
        let (figure, x) = (self.figure, &self.axes()[self.figure.x]);
        let metric = &self.declaration.metrics[figure.metrics[0]];
        let unit = figure.form.unit(&metric.unit).to_owned();
        let panels = match figure.panels {
            None => vec![self.panel(String::new(), &figure.at)],
            Some(axis) => {
                let values = self.axes()[axis].values.iter().enumerate();
                let panel = |(at, value): (usize, &AxisValue)| {
                    let mut point = figure.at.clone();
                    point[axis] = Some(at);
                    self.panel(format!("{} {}", self.axes()[axis].label, value.label), &point)
                };
                values.map(panel).collect()
            }
        };
        let bars = figure.kind == Kind::Bars;
        FigureData {
            title: figure.title.clone(),
            notes: self.notes(),
            kind: if bars { "bars" } else { "lines" },
            x_label: if bars { x.label.clone() } else { with_unit(&x.label, &x.unit) },
            y_label: figure.y_label.clone(),
            unit,
            ticks: self.ticks(),
            series: self.series().into_iter().map(|(name, ..)| name).collect(),
            panels,
        }
    }

    fn notes(&self) -> Vec<String> {
        let axes = [Some(self.figure.x), self.figure.series, self.figure.panels];
        let of_axes = axes.into_iter().flatten().filter_map(|axis| self.axes()[axis].note.clone());
        self.figure.note.clone().into_iter().chain(of_axes).collect()
    }

    /// The series: what they are called, their metrics, and the values of their axis.
    fn series(&self) -> Vec<(String, usize, Option<usize>)> {
        let label = |metric: usize| self.declaration.metrics[metric].label.clone();
        let metrics = &self.figure.metrics;
        let Some(axis) = self.figure.series else {
            return metrics.iter().map(|&metric| (label(metric), metric, None)).collect();
        };
        let values = self.axes()[axis].values.iter().enumerate();
        let of = |(at, value): (usize, &AxisValue)| {
            let name = |metric| match metrics.len() {
                1 => value.label.clone(),
                _ => format!("{}, {}", value.label, label(metric)),
            };
            metrics.iter().map(|&metric| (name(metric), metric, Some(at))).collect::<Vec<_>>()
        };
        values.flat_map(of).collect()
    }

    /// Where each value of the horizontal axis is drawn. Bars stand in groups, one beside the other.
    fn places(&self) -> Vec<f64> {
        let values = &self.axes()[self.figure.x].values;
        let numbers: Vec<f64> = values.iter().filter_map(|value| value.x).collect();
        let group = self.series().len() as f64 + 1.0;
        let few = numbers.len() < 2;
        if few || self.figure.kind == Kind::Bars {
            let width = if self.figure.kind == Kind::Bars { group } else { 1.0 };
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
        let values = &self.axes()[self.figure.x].values;
        let numbered = values.iter().filter(|value| value.x.is_some()).count() >= 2;
        let bars = self.figure.kind == Kind::Bars;
        let middle = if bars { (self.series().len() as f64 - 1.0) / 2.0 } else { 0.0 };
        let tick = |(value, x): (&AxisValue, f64)| Tick {
            x: x + middle,
            name: value.label.clone(),
            apart: bars || !numbered || value.x.is_none(),
        };
        values.iter().zip(self.places()).map(tick).collect()
    }

    fn panel(&self, title: String, at: &Point) -> Panel {
        let mut panel =
            Panel { title, points: Vec::new(), references: Vec::new(), printed: Vec::new() };
        let bars = self.figure.kind == Kind::Bars;
        for (series, (name, metric, value)) in self.series().into_iter().enumerate() {
            let shift = if bars { series as f64 } else { 0.0 };
            let mut at = at.clone();
            if let Some(axis) = self.figure.series {
                at[axis] = value;
            }
            let quantity = self.quantity(metric);
            let values = self.axes()[self.figure.x].values.iter().zip(self.places());
            let mut dots = Vec::new();
            for (value, (of, x)) in values.enumerate() {
                at[self.figure.x] = Some(value);
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
        let Figure { form, against, .. } = self.figure;
        Quantity { metric, form: *form, against: against.clone(), mean_over: Vec::new() }
    }

    fn across(&self, quantity: &Quantity, at: &Point, name: &str) -> Option<Across> {
        let reference = self.figure.reference.as_ref()?;
        // A line for one value of the series' axis is the same for all of them: it is drawn once.
        let shared = self.figure.series.is_some_and(|axis| reference[axis].is_some());
        if shared && at[self.figure.series?] != Some(0) {
            return None;
        }
        let found = self.measured.quantity(quantity, &over(at, reference))?;
        let fixed = self.axes().iter().zip(reference);
        let fixed = fixed.filter_map(|(axis, value)| Some(&axis.values[(*value)?].label));
        let fixed: Vec<&str> = fixed.map(String::as_str).collect();
        let several = self.figure.metrics.len() > 1;
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
                let there: Vec<(Place, Place)> = claim.quantity.pairs(&row.at, self.axes());
                if let (true, Printed::Number(y)) = (there == here, row.paper) {
                    marks.push(Mark { series, x, y, claim: claim.id.clone() });
                }
            }
        }
        marks
    }
}
