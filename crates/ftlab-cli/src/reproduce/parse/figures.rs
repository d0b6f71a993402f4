//! `[[figure]]`: what is drawn.

use super::Parser;
use crate::reproduce::declaration::{Figure, Kind};
use crate::reproduce::keys::KINDS;
use crate::reproduce::reader::Fields;

impl Parser<'_> {
    pub(super) fn figure(&mut self, fields: &Fields<'_, '_>) -> Option<Figure> {
        let title = self.reader.text(fields, "title");
        let note = self.reader.text(fields, "note");
        let kind = self.kind(fields);
        let x = self.axis_named(fields, "x");
        let optional = |parser: &mut Self, key: &str| match fields.has(key) {
            true => parser.axis_named(fields, key).map(Some),
            false => Some(None),
        };
        let (series, panels) = (optional(self, "series"), optional(self, "panels"));
        let metrics = self.metrics_named(fields, "metrics");
        let form = self.form(fields);
        let at = self.point(fields, "at");
        let reference = match fields.has("reference") {
            true => self.point(fields, "reference").map(Some),
            false => Some(None),
        };
        let (x, series, panels) = (x?, series?, panels?);
        let named = [(Some(x), "x"), (series, "series"), (panels, "panels")];
        let others: Vec<_> =
            named.iter().filter_map(|(axis, key)| Some(((*axis)?, *key))).collect();
        let at = self.closed(fields, at?, &others);
        let reference = reference?;
        if reference.as_ref().is_some_and(|point| point[x].is_none()) {
            let message = format!("it is not said at which {}", self.axes[x].name);
            let remedy =
                format!("add {} to it: a line across stands for one case", self.axes[x].name);
            let (span, path) = (fields.span_of("reference"), fields.path_of("reference"));
            self.reader.report(span, &path, message, remedy);
        }
        let metrics = metrics?;
        let (form, against) = form?;
        let Some(&first) = metrics.first() else {
            let (span, path) = (fields.span_of("metrics"), fields.path_of("metrics"));
            self.reader.report(span, &path, "nothing is drawn", "name a metric");
            return None;
        };
        let unit = |metric: usize| form.unit(&self.metrics[metric].unit);
        if let Some(&other) = metrics.iter().find(|&&metric| unit(metric) != unit(first)) {
            let [a, b] = [first, other].map(|metric| &self.metrics[metric]);
            let message = format!("{} is in {} and {} in {}", a.name, a.unit, b.name, b.unit);
            let (span, path) = (fields.span_of("metrics"), fields.path_of("metrics"));
            self.reader.report(span, &path, message, "draw them in two figures");
        }
        let y_label = self.reader.text(fields, "y_label").unwrap_or_else(|| unit(first).to_owned());
        let (title, kind, at) = (title?, kind?, at?);
        Some(Figure {
            title,
            note,
            kind,
            x,
            metrics,
            series,
            panels,
            at,
            form,
            against,
            reference,
            y_label,
        })
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
