//! Parses `[[figure]]`.

use ftlab::options::table::At;

use super::Parser;
use super::names::Compared;
use crate::reproduce::declaration::{
    AcrossAxes, AlongAxis, Drawn, Figure, FigureKind, Form, Point, Quantity,
};
use crate::reproduce::keys::FigureKeys;

/// Keys for metrics that have no meaning for curves.
const OF_METRICS: [&str; 7] = ["kind", "x", "y", "metrics", "as", "against", "reference"];
/// Keys that have no meaning for heat maps.
const NOT_OF_MAPS: [&str; 3] = ["series", "reference", "y_label"];

impl Parser {
    pub(super) fn figure(&mut self, keys: FigureKeys) -> Option<Figure> {
        let table = &keys.table;
        let series = match &keys.series {
            Some(series) => self.axis_named(&series.0).map(Some),
            None => Some(None),
        };
        let panels = match &keys.panels {
            Some(panels) => self.axis_or_axes_named(&panels.0),
            None => Some(Vec::new()),
        };
        let at = self.point(&keys.at);
        if self.document.has_failed(table, "kind") {
            let _ = self.formed(&keys);
            return None;
        }
        let kind = keys.kind.unwrap_or(FigureKind::Lines);
        let of_curves = keys.curves.is_some();
        let x = if of_curves { Some(None) } else { self.along(&keys).map(Some) };
        let y = match !of_curves && kind == FigureKind::Heatmap {
            true => self.up(&keys).map(Some),
            false => Some(None),
        };
        let drawn = match (of_curves, kind) {
            (true, _) => self.curves_drawn(&keys),
            (false, FigureKind::Heatmap) => self.map_drawn(&keys, x.flatten(), y.flatten()),
            (false, FigureKind::Lines | FigureKind::Bars) => {
                self.metrics_drawn(&keys, kind, x.flatten())
            }
        };
        let (x, y, series, panels) = (x?, y?, series?, panels?);
        let named = [(x, "x"), (y, "y"), (series, "series")].into_iter();
        let named = named.filter_map(|(axis, key)| Some((axis?, key)));
        let others: Vec<_> = named.chain(panels.iter().map(|&axis| (axis, "panels"))).collect();
        let at = self.closed(table, at?, &others, "`x`, `y`, `series` or `panels`");
        let only = self.only(&keys.only, &others);
        let (drawn, unit) = drawn?;
        let y_label = keys.y_label.unwrap_or(unit);
        let (title, note) = (keys.title, keys.note);
        Some(Figure { title, note, drawn, series, panels, only: only?, at: at?, y_label })
    }

    /// Returns the axis along which metrics are drawn.
    fn along(&mut self, keys: &FigureKeys) -> Option<usize> {
        let table = &keys.table;
        let lacking = [("x", keys.x.is_none()), ("metrics", keys.metrics.is_none())];
        for (key, _) in lacking.into_iter().filter(|(_, lacks)| *lacks) {
            let message = format!("it has neither `{key}` nor `curves`");
            let remedy = "draw metrics along an axis (`x`, `metrics`), or `curves`";
            self.document.report_at(table, key, message, remedy);
        }
        keys.x.as_ref().and_then(|x| self.axis_named(&x.0))
    }

    /// Returns the axis of the rows of a heat map.
    fn up(&mut self, keys: &FigureKeys) -> Option<usize> {
        if keys.y.is_none() {
            let remedy = "name the axis whose values are its rows";
            self.document.report_at(&keys.table, "y", "a heat map lacks `y`", remedy);
        }
        keys.y.as_ref().and_then(|y| self.axis_named(&y.0))
    }

    /// Returns the metrics to draw, their form, and the case to compare with.
    fn formed(&mut self, keys: &FigureKeys) -> (Option<Vec<usize>>, Option<(Form, Point)>) {
        let metrics = keys.metrics.as_ref().and_then(|metrics| self.metrics_named(&metrics.0));
        let at = &keys.table;
        (metrics, self.form(Compared { at, form: keys.r#as, against: &keys.against }))
    }

    /// Parses a heat map: one metric over two axes, and its unit.
    fn map_drawn(
        &mut self,
        keys: &FigureKeys,
        x: Option<usize>,
        y: Option<usize>,
    ) -> Option<(Drawn, String)> {
        let table = &keys.table;
        for key in self.document.given(table, &NOT_OF_MAPS) {
            let remedy = "leave it out; `panels` draws maps side by side";
            self.document.report_at(table, key, "has no meaning for a heat map", remedy);
        }
        let (metrics, form) = self.formed(keys);
        let (x, y, metrics, (form, against)) = (x?, y?, metrics?, form?);
        let [metric] = metrics[..] else {
            let message = format!("a heat map draws one metric, not {}", metrics.len());
            self.document.report_at(table, "metrics", message, "draw a figure for each");
            return None;
        };
        let unit = form.unit(&self.metrics[metric].unit).to_owned();
        let quantity = Quantity { metric, form, against, mean_over: Vec::new() };
        Some((Drawn::Map(AcrossAxes { x, y, quantity }), unit))
    }

    /// Parses metrics, and their unit.
    fn metrics_drawn(
        &mut self,
        keys: &FigureKeys,
        kind: FigureKind,
        x: Option<usize>,
    ) -> Option<(Drawn, String)> {
        let table = &keys.table;
        if keys.y.is_some() {
            let message = "only a heat map has the axis `y`";
            self.document.report_at(
                table,
                "y",
                message,
                "leave it out, or write kind = \"heatmap\"",
            );
        }
        let (metrics, form) = self.formed(keys);
        let reference = match &keys.reference {
            Some(_) => self.point(&keys.reference).map(Some),
            None => Some(None),
        };
        let (x, reference) = (x?, reference?);
        if reference.as_ref().is_some_and(|point| point[x].is_none()) {
            let message = format!("it does not say at which {}", self.axes[x].name);
            let remedy =
                format!("add {} to it: a horizontal line is for one case", self.axes[x].name);
            self.document.report_at(table, "reference", message, remedy);
        }
        let (metrics, (form, against)) = (metrics?, form?);
        let units = metrics.iter().map(|&at| {
            let metric = &self.metrics[at];
            (metric.name.clone(), form.unit(&metric.unit).to_owned())
        });
        let unit = self.one_unit(table, "metrics", &units.collect::<Vec<_>>())?;
        let along = AlongAxis { kind, x, metrics, form, against, reference };
        Some((Drawn::Metrics(along), unit))
    }

    /// Parses curves, and their unit.
    fn curves_drawn(&mut self, keys: &FigureKeys) -> Option<(Drawn, String)> {
        let table = &keys.table;
        for key in self.document.given(table, &OF_METRICS) {
            let remedy = "leave it out, or draw metrics in place of curves";
            self.document.report_at(table, key, "has no meaning for curves", remedy);
        }
        let curves = self.curves_named(&keys.curves.as_ref()?.0)?;
        let units = curves.iter().map(|&at| {
            let curve = &self.curves[at];
            (curve.name.clone(), curve.unit.clone())
        });
        let unit = self.one_unit(table, "curves", &units.collect::<Vec<_>>())?;
        let counted = |at: &usize| &self.curves[*at].x_label;
        if curves.iter().any(|at| counted(at) != counted(&curves[0])) {
            let message = "they have different horizontal axes (`x_label`)";
            self.document.report_at(table, "curves", message, "draw them in two figures");
        }
        Some((Drawn::Curves(curves), unit))
    }

    /// Returns the common unit of everything that is drawn. `drawn` contains names and units.
    fn one_unit(&mut self, table: &At, key: &str, drawn: &[(String, String)]) -> Option<String> {
        let Some((name, unit)) = drawn.first() else {
            self.document.report_at(table, key, "there is nothing to draw", "name at least one");
            return None;
        };
        if let Some((other, its)) = drawn.iter().find(|(_, its)| its != unit) {
            let message = format!("{name} is in {unit} and {other} in {its}");
            self.document.report_at(table, key, message, "draw them in two figures");
        }
        Some(unit.clone())
    }
}
