//! `[[figure]]`: what is drawn.

use super::Parser;
use crate::reproduce::declaration::{AcrossAxes, AlongAxis, Drawn, Figure, Kind, Quantity};
use crate::reproduce::keys::KINDS;
use crate::reproduce::reader::Fields;

/// What says how metrics are drawn, and nothing of curves.
const OF_METRICS: [&str; 7] = ["kind", "x", "y", "metrics", "as", "against", "reference"];
/// What has no meaning for cells by two axes.
const NOT_OF_MAPS: [&str; 3] = ["series", "reference", "y_label"];

impl Parser<'_> {
    pub(super) fn figure(&mut self, fields: &Fields<'_, '_>) -> Option<Figure> {
        let title = self.reader.text(fields, "title");
        let note = self.reader.text(fields, "note");
        let optional = |parser: &mut Self, key: &str| match fields.has(key) {
            true => parser.axis_named(fields, key).map(Some),
            false => Some(None),
        };
        let series = optional(self, "series");
        let panels = match fields.has("panels") {
            true => self.axis_or_axes_named(fields, "panels"),
            false => Some(Vec::new()),
        };
        let at = self.point(fields, "at");
        let curves = fields.has("curves");
        let kind = self.kind(fields);
        let x = match curves {
            true => Some(None),
            false => self.along(fields).map(Some),
        };
        let y = match !curves && kind == Some(Kind::Heatmap) {
            true => self.up(fields).map(Some),
            false => Some(None),
        };
        let drawn = match (curves, kind) {
            (true, _) => self.curves_drawn(fields),
            (false, Some(Kind::Heatmap)) => self.map_drawn(fields, x.flatten(), y.flatten()),
            (false, _) => self.metrics_drawn(fields, kind, x.flatten()),
        };
        let (x, y, series, panels) = (x?, y?, series?, panels?);
        let named = [(x, "x"), (y, "y"), (series, "series")].into_iter();
        let named = named.filter_map(|(axis, key)| Some((axis?, key)));
        let others: Vec<_> = named.chain(panels.iter().map(|&axis| (axis, "panels"))).collect();
        let at = self.closed(fields, at?, &others);
        let only = self.only(fields, &others);
        let (drawn, unit) = drawn?;
        let y_label = self.reader.text(fields, "y_label").unwrap_or(unit);
        Some(Figure { title: title?, note, drawn, series, panels, only: only?, at: at?, y_label })
    }

    /// The axis along which metrics are drawn.
    fn along(&mut self, fields: &Fields<'_, '_>) -> Option<usize> {
        for key in ["x", "metrics"].into_iter().filter(|key| !fields.has(key)) {
            let message = format!("it has neither `{key}` nor `curves`");
            let remedy = "draw metrics along an axis (`x`, `metrics`), or `curves`";
            self.reader.report(fields.span(), &fields.path_of(key), message, remedy);
        }
        fields.has("x").then(|| self.axis_named(fields, "x")).flatten()
    }

    /// The axis whose values are the rows of a heat map.
    fn up(&mut self, fields: &Fields<'_, '_>) -> Option<usize> {
        if !fields.has("y") {
            let remedy = "name the axis whose values are its rows";
            self.reader.report(fields.span(), &fields.path_of("y"), "a heat map lacks `y`", remedy);
        }
        fields.has("y").then(|| self.axis_named(fields, "y")).flatten()
    }

    /// One metric over two axes, and its unit.
    fn map_drawn(
        &mut self,
        fields: &Fields<'_, '_>,
        x: Option<usize>,
        y: Option<usize>,
    ) -> Option<(Drawn, String)> {
        for key in NOT_OF_MAPS.into_iter().filter(|key| fields.has(key)) {
            let (span, path) = (fields.span_of(key), fields.path_of(key));
            let remedy = "leave it out; `panels` draws one map beside the other";
            self.reader.report(span, &path, "has no meaning for a heat map", remedy);
        }
        let metrics =
            fields.has("metrics").then(|| self.metrics_named(fields, "metrics")).flatten();
        let form = self.form(fields);
        let (x, y, metrics, (form, against)) = (x?, y?, metrics?, form?);
        let [metric] = metrics[..] else {
            let (span, path) = (fields.span_of("metrics"), fields.path_of("metrics"));
            let message = format!("a heat map draws one metric, not {}", metrics.len());
            self.reader.report(span, &path, message, "draw a figure of each");
            return None;
        };
        let unit = form.unit(&self.metrics[metric].unit).to_owned();
        let quantity = Quantity { metric, form, against, mean_over: Vec::new() };
        Some((Drawn::Map(AcrossAxes { x, y, quantity }), unit))
    }

    /// Metrics, and their unit.
    fn metrics_drawn(
        &mut self,
        fields: &Fields<'_, '_>,
        kind: Option<Kind>,
        x: Option<usize>,
    ) -> Option<(Drawn, String)> {
        if fields.has("y") {
            let (span, path) = (fields.span_of("y"), fields.path_of("y"));
            let message = "only a heat map has an axis upwards";
            self.reader.report(span, &path, message, "leave it out, or say kind = \"heatmap\"");
        }
        let metrics =
            fields.has("metrics").then(|| self.metrics_named(fields, "metrics")).flatten();
        let form = self.form(fields);
        let reference = match fields.has("reference") {
            true => self.point(fields, "reference").map(Some),
            false => Some(None),
        };
        let (x, reference) = (x?, reference?);
        if reference.as_ref().is_some_and(|point| point[x].is_none()) {
            let message = format!("it is not said at which {}", self.axes[x].name);
            let remedy =
                format!("add {} to it: a line across stands for one case", self.axes[x].name);
            let (span, path) = (fields.span_of("reference"), fields.path_of("reference"));
            self.reader.report(span, &path, message, remedy);
        }
        let (metrics, (form, against)) = (metrics?, form?);
        let units = metrics.iter().map(|&at| {
            let metric = &self.metrics[at];
            (metric.name.clone(), form.unit(&metric.unit).to_owned())
        });
        let unit = self.one_unit(fields, "metrics", &units.collect::<Vec<_>>())?;
        let along = AlongAxis { kind: kind?, x, metrics, form, against, reference };
        Some((Drawn::Metrics(along), unit))
    }

    /// Curves, and their unit.
    fn curves_drawn(&mut self, fields: &Fields<'_, '_>) -> Option<(Drawn, String)> {
        for key in OF_METRICS.into_iter().filter(|key| fields.has(key)) {
            let (span, path) = (fields.span_of(key), fields.path_of(key));
            let remedy = "leave it out, or draw metrics in place of curves";
            self.reader.report(span, &path, "has no meaning for curves", remedy);
        }
        let curves = self.curves_named(fields, "curves")?;
        let units = curves.iter().map(|&at| {
            let curve = &self.curves[at];
            (curve.name.clone(), curve.unit.clone())
        });
        let unit = self.one_unit(fields, "curves", &units.collect::<Vec<_>>())?;
        let counted = |at: &usize| &self.curves[*at].x_label;
        if curves.iter().any(|at| counted(at) != counted(&curves[0])) {
            let (span, path) = (fields.span_of("curves"), fields.path_of("curves"));
            let message = "they count different things along them (`x_label`)";
            self.reader.report(span, &path, message, "draw them in two figures");
        }
        Some((Drawn::Curves(curves), unit))
    }

    /// The unit of all that is drawn: names and units.
    fn one_unit(
        &mut self,
        fields: &Fields<'_, '_>,
        key: &str,
        drawn: &[(String, String)],
    ) -> Option<String> {
        let (span, path) = (fields.span_of(key), fields.path_of(key));
        let Some((name, unit)) = drawn.first() else {
            self.reader.report(span, &path, "nothing is drawn", "name one at least");
            return None;
        };
        if let Some((other, its)) = drawn.iter().find(|(_, its)| its != unit) {
            let message = format!("{name} is in {unit} and {other} in {its}");
            self.reader.report(span, &path, message, "draw them in two figures");
        }
        Some(unit.clone())
    }

    fn kind(&mut self, fields: &Fields<'_, '_>) -> Option<Kind> {
        if !fields.has("kind") {
            return Some(Kind::Lines);
        }
        let value = self.reader.get(fields, "kind")?;
        let known = KINDS.map(|(name, _)| name);
        let at = self.reader.one_of(value, &fields.path_of("kind"), "kind", &known)?;
        Some(Kind::ALL[at])
    }
}
