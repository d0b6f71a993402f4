//! `[[figure]]`: what is drawn.

use super::Parser;
use crate::reproduce::declaration::{AlongAxis, Drawn, Figure, Kind};
use crate::reproduce::keys::KINDS;
use crate::reproduce::reader::Fields;

/// What says how metrics are drawn, and nothing of curves.
const OF_METRICS: [&str; 6] = ["kind", "x", "metrics", "as", "against", "reference"];

impl Parser<'_> {
    pub(super) fn figure(&mut self, fields: &Fields<'_, '_>) -> Option<Figure> {
        let title = self.reader.text(fields, "title");
        let note = self.reader.text(fields, "note");
        let optional = |parser: &mut Self, key: &str| match fields.has(key) {
            true => parser.axis_named(fields, key).map(Some),
            false => Some(None),
        };
        let (series, panels) = (optional(self, "series"), optional(self, "panels"));
        let at = self.point(fields, "at");
        let curves = fields.has("curves");
        let x = match curves {
            true => Some(None),
            false => self.along(fields).map(Some),
        };
        let drawn = match curves {
            true => self.curves_drawn(fields),
            false => self.metrics_drawn(fields, x.flatten()),
        };
        let (x, series, panels) = (x?, series?, panels?);
        let named = [(x, "x"), (series, "series"), (panels, "panels")];
        let others: Vec<_> =
            named.iter().filter_map(|(axis, key)| Some(((*axis)?, *key))).collect();
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

    /// Metrics, and their unit.
    fn metrics_drawn(
        &mut self,
        fields: &Fields<'_, '_>,
        x: Option<usize>,
    ) -> Option<(Drawn, String)> {
        let kind = self.kind(fields);
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
        Some([Kind::Lines, Kind::Bars][at])
    }
}
