//! Heat maps: a metric over two axes, for tables and pages.

use super::declaration::{AcrossAxes, Axis, Declaration, Drawn, Figure, Form, Point};
use super::measure::{Estimate, Measured};
use super::numbers::{PERCENT, signed};
use crate::human::digits;

/// A heat map.
pub struct HeatMap {
    /// The quantity of each cell, in words.
    pub label: String,
    /// Its unit.
    pub unit: String,
    /// Its columns, from left to right.
    pub columns: Labels,
    /// Its rows, from the top; the first value of the axis is at the bottom.
    pub rows: Labels,
    /// The maps drawn side by side.
    pub panels: Vec<MapPanel>,
    /// The scale of the colours.
    pub scale: Scale,
}

/// An axis of a map.
pub struct Labels {
    /// Its name.
    pub title: String,
    /// Its values.
    pub values: Vec<String>,
}

/// One of the maps of a figure.
pub struct MapPanel {
    /// The fixed values; empty in a figure with one panel.
    pub title: String,
    /// By row and column; none if a run does not have the metric, or was not performed.
    pub cells: Vec<Vec<Option<Estimate>>>,
}

/// The meaning of colours, the same in all panels of a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scale {
    /// From less through equal to more.
    Diverging {
        /// The value of equality.
        centre: f64,
        /// The distance from it at which the colours end.
        reach: f64,
    },
    /// From the lowest to the highest value.
    Rising { low: f64, high: f64 },
}

impl Scale {
    fn of(form: Form, values: &[f64]) -> Scale {
        let most = |from: f64| values.iter().map(|value| (value - from).abs()).fold(0.0, f64::max);
        let diverging = |centre: f64| Scale::Diverging { centre, reach: most(centre) };
        match form {
            Form::Change | Form::Reduction | Form::Difference => diverging(0.0),
            Form::Ratio => diverging(1.0),
            Form::Value => Scale::Rising {
                low: values.iter().copied().reduce(f64::min).unwrap_or_default(),
                high: values.iter().copied().reduce(f64::max).unwrap_or_default(),
            },
        }
    }

    /// Returns the position of a value: from -1 to 1 on a diverging scale, otherwise from 0 to 1.
    pub fn place(self, value: f64) -> f64 {
        let (offset, reach) = match self {
            Scale::Diverging { centre, reach } => (value - centre, reach),
            Scale::Rising { low, high } => (value - low, high - low),
        };
        if reach > 0.0 { offset / reach } else { 0.0 }
    }

    /// Returns the values at both ends.
    pub fn ends(self) -> (f64, f64) {
        match self {
            Scale::Diverging { centre, reach } => (centre - reach, centre + reach),
            Scale::Rising { low, high } => (low, high),
        }
    }
}

/// Returns the map that a figure draws, if it is one.
pub fn of(declaration: &Declaration, figure: &Figure, measured: &Measured) -> Option<HeatMap> {
    let Drawn::Map(across) = &figure.drawn else { return None };
    let AcrossAxes { x, y, quantity } = across;
    let axes = &declaration.axes;
    let metric = &declaration.metrics[quantity.metric];
    let (columns, mut rows) = (figure.shown(*x, axes), figure.shown(*y, axes));
    rows.reverse();
    let cell = |at: &Point, row: usize, column: usize| {
        let mut at = at.clone();
        (at[*x], at[*y]) = (Some(column), Some(row));
        measured.quantity(quantity, &at)
    };
    let panels = figure.panels(axes).map(|(title, at)| {
        let row = |&row: &usize| columns.iter().map(|&column| cell(&at, row, column)).collect();
        MapPanel { title, cells: rows.iter().map(row).collect() }
    });
    let panels: Vec<MapPanel> = panels.collect();
    let known = panels.iter().flat_map(|panel| panel.cells.iter().flatten().flatten());
    let values: Vec<f64> = known.map(|cell| cell.value).collect();
    Some(HeatMap {
        label: told(across, declaration),
        unit: quantity.form.unit(&metric.unit).to_owned(),
        columns: labels(&axes[*x], &columns),
        rows: labels(&axes[*y], &rows),
        scale: Scale::of(quantity.form, &values),
        panels,
    })
}

fn labels(axis: &Axis, values: &[usize]) -> Labels {
    let values = values.iter().map(|&at| axis.values[at].label.clone()).collect();
    Labels { title: axis.label.clone(), values }
}

/// Describes the quantity of a cell.
fn told(across: &AcrossAxes, declaration: &Declaration) -> String {
    let AcrossAxes { quantity, .. } = across;
    let label = &declaration.metrics[quantity.metric].label;
    let fixed = declaration.axes.iter().zip(&quantity.against);
    let fixed = fixed.filter_map(|(axis, value)| Some(axis.values[(*value)?].label.as_str()));
    let against = fixed.collect::<Vec<_>>().join(", ");
    match quantity.form {
        Form::Value => label.clone(),
        Form::Change => format!("{label}: change against {against}"),
        Form::Reduction => format!("{label}: reduction against {against}"),
        Form::Ratio => format!("{label}: ratio to {against}"),
        Form::Difference => format!("{label}: difference from {against}"),
    }
}

impl HeatMap {
    /// Formats a value without its unit.
    pub fn number(&self, value: f64) -> String {
        if self.unit == PERCENT { signed(value) } else { digits(value) }
    }

    /// Formats half the width of a cell's interval; none with one seed.
    pub fn half(&self, cell: &Estimate) -> Option<String> {
        let half = (cell.high? - cell.low?) / 2.0;
        Some(if self.unit == PERCENT { format!("{half:.1}") } else { digits(half) })
    }

    /// Returns the quantity and its unit.
    pub fn title(&self) -> String {
        match self.unit.as_str() {
            "" => self.label.clone(),
            PERCENT => format!("{}, per cent", self.label),
            unit => format!("{}, {unit}", self.label),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_diverge_from_what_is_alike_and_reach_as_far_to_both_sides() {
        let change = Scale::of(Form::Change, &[-40.0, 10.0, 0.0]);
        assert_eq!(change, Scale::Diverging { centre: 0.0, reach: 40.0 });
        assert_eq!([-40.0, 0.0, 10.0].map(|value| change.place(value)), [-1.0, 0.0, 0.25]);
        let ratio = Scale::of(Form::Ratio, &[0.5, 1.25]);
        assert_eq!(ratio.ends(), (0.5, 1.5));
        assert_eq!(ratio.place(1.0), 0.0);
    }

    #[test]
    fn plain_values_rise_and_one_alone_has_no_span() {
        let plain = Scale::of(Form::Value, &[3.0, 7.0, 4.0]);
        assert_eq!([3.0, 4.0, 7.0].map(|value| plain.place(value)), [0.0, 0.25, 1.0]);
        assert_eq!(Scale::of(Form::Value, &[3.0]).place(3.0), 0.0);
        assert_eq!(Scale::of(Form::Change, &[0.0]).place(0.0), 0.0);
        assert_eq!(Scale::of(Form::Value, &[]).ends(), (0.0, 0.0));
    }
}
