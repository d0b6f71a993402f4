//! Figures of curves: lists that runs report.

use super::figures::{Dot, FigureData, Panel, Tick, series};
use crate::reproduce::declaration::{Coordinates, Declaration, Figure, Point};
use crate::reproduce::document::CurveDocument;
use crate::reproduce::measure::Measured;

/// Returns the data of a figure of curves for the page's script.
pub fn data(
    declaration: &Declaration,
    figure: &Figure,
    curves: &[usize],
    measured: &Measured,
) -> FigureData {
    let first = &declaration.curves[curves[0]];
    let labels: Vec<(usize, &str)> =
        curves.iter().map(|&at| (at, declaration.curves[at].label.as_str())).collect();
    let series = series(figure, &declaration.axes, &labels);
    let panel = |(title, at): (String, Point)| {
        let points = series.iter().map(|(_, curve, value)| {
            let mut at = at.clone();
            if let Some(axis) = figure.series {
                at[axis] = *value;
            }
            let place: Coordinates = at.into_iter().map(Option::unwrap_or_default).collect();
            let found = measured.curves_at(&place).and_then(|curves| curves.get(curve));
            found.map_or_else(Vec::new, dots)
        });
        let points: Vec<Vec<Dot>> = points.collect();
        Panel {
            title,
            references: points.iter().map(|_| None).collect(),
            points,
            printed: Vec::new(),
        }
    };
    let panels: Vec<Panel> = figure.panels(&declaration.axes).map(panel).collect();
    let dots = panels.iter().flat_map(|panel| panel.points.iter().flatten());
    let end = dots.map(|dot| dot.x).fold(0.0, f64::max);
    let tick = |x: f64| Tick { x, name: x.to_string(), apart: false };
    FigureData {
        title: figure.title.clone(),
        kind: "curves",
        x_label: first.x_label.clone(),
        y_label: figure.y_label.clone(),
        unit: first.unit.clone(),
        ticks: vec![tick(0.0), tick(end)],
        series: series.into_iter().map(|(name, ..)| name).collect(),
        panels,
    }
}

fn dots(curve: &CurveDocument) -> Vec<Dot> {
    let dot = |(at, &y): (usize, &f64)| {
        let x = at as f64 * curve.every;
        Dot { x, name: x.to_string(), y, low: None, high: None }
    };
    curve.values.iter().enumerate().map(dot).collect()
}
