//! `[[curve]]` and `[[metric]]`: what is taken from a run.

use super::Parser;
use crate::reproduce::curve::Pick;
use crate::reproduce::declaration::{Curve, From, Metric};
use crate::reproduce::keys::PICKS;
use crate::reproduce::reader::Fields;

impl Parser<'_> {
    pub(super) fn curve(&mut self, fields: &Fields<'_, '_>) -> Option<Curve> {
        let name = self.reader.text(fields, "name")?;
        self.refuse_twice(fields, "curve", &name, |parser| {
            parser.curves.iter().any(|curve| curve.name == name)
        });
        let label = self.reader.text(fields, "label").unwrap_or_else(|| name.clone());
        let unit = self.reader.text(fields, "unit").unwrap_or_default();
        let x_label = self.reader.text(fields, "x_label").unwrap_or_else(|| "number".to_owned());
        let every = fields.has("every").then(|| self.pointer(fields, "every")).flatten();
        // One that is wrong still has a name that others may use.
        let from = self.pointer(fields, "from").unwrap_or_default();
        Some(Curve { name, label, unit, from, every, x_label })
    }

    pub(super) fn metric(&mut self, fields: &Fields<'_, '_>) -> Option<Metric> {
        let name = self.reader.text(fields, "name")?;
        self.refuse_twice(fields, "metric", &name, |parser| {
            parser.metrics.iter().any(|metric| metric.name == name)
        });
        let label = self.reader.text(fields, "label").unwrap_or_else(|| name.clone());
        let unit = self.reader.text(fields, "unit").unwrap_or_default();
        // One that is wrong still has a name that others may use.
        let nowhere = From::Result { pointer: String::new(), divide: 1.0 };
        let from = self.source(fields).unwrap_or(nowhere);
        Some(Metric { name, label, unit, from })
    }

    fn source(&mut self, fields: &Fields<'_, '_>) -> Option<From> {
        let ways = ["from", "sum", "product", "difference", "quotient", "curve"];
        let given: Vec<&str> = ways.into_iter().filter(|way| fields.has(way)).collect();
        if fields.has("pick") && !fields.has("curve") {
            let (span, path) = (fields.span_of("pick"), fields.path_of("pick"));
            let remedy = "name the curve in `curve`, in place of where the metric comes from now";
            self.reader.report(span, &path, "a number is picked of a curve", remedy);
        }
        let [way] = given[..] else {
            let message = match given.len() {
                0 => "it is said nowhere where the metric comes from".to_owned(),
                _ => format!("a metric comes from one place, not from {}", given.join(" and ")),
            };
            let remedy = format!("give one of {}", ways.join(", "));
            self.reader.report(fields.span(), &fields.path_of("from"), message, remedy);
            return None;
        };
        if way != "from" {
            if fields.has("divide") {
                let (span, path) = (fields.span_of("divide"), fields.path_of("divide"));
                let remedy = "divide the metrics that it is computed from";
                self.reader.report(span, &path, "has no effect on a computed metric", remedy);
            }
            return match way {
                "curve" => self.picked(fields),
                _ => self.computed(fields, way),
            };
        }
        let pointer = self.pointer(fields, "from");
        let divide = match fields.has("divide") {
            true => self.reader.number(fields, "divide")?,
            false => 1.0,
        };
        if divide <= 0.0 {
            let (span, path) = (fields.span_of("divide"), fields.path_of("divide"));
            self.reader.report(span, &path, "not above zero", "write a number above zero");
            return None;
        }
        Some(From::Result { pointer: pointer?, divide })
    }

    fn computed(&mut self, fields: &Fields<'_, '_>, way: &str) -> Option<From> {
        let of = self.metrics_named(fields, way)?;
        match (way, of.as_slice()) {
            ("sum", [_, _, ..]) => Some(From::Sum(of)),
            ("product", [_, _, ..]) => Some(From::Product(of)),
            ("difference", &[a, b]) => Some(From::Difference(a, b)),
            ("quotient", &[a, b]) => Some(From::Quotient(a, b)),
            _ => {
                let several = ["sum", "product"].contains(&way);
                let many = if several { "two metrics or more" } else { "two metrics" };
                let message = format!("{} metrics", of.len());
                let remedy = format!("name {many}");
                self.reader.report(fields.span_of(way), &fields.path_of(way), message, remedy);
                None
            }
        }
    }

    fn picked(&mut self, fields: &Fields<'_, '_>) -> Option<From> {
        let curve = self.curve_named(fields, "curve");
        let (span, path) = (fields.span_of("pick"), fields.path_of("pick"));
        let known = PICKS.map(|(name, _)| name).join(", ");
        let pick = self.reader.text(fields, "pick").and_then(|text| Pick::parse(&text));
        if pick.is_none() {
            let remedy = format!("write what of the curve: {known}, such as \"peak 1\"");
            self.reader.report(span, &path, "it is not said what is picked of the curve", remedy);
        }
        Some(From::Picked(curve?, pick?))
    }

    /// A place in a result.
    fn pointer(&mut self, fields: &Fields<'_, '_>, key: &str) -> Option<String> {
        let pointer = self.reader.text(fields, key)?;
        if !pointer.starts_with('/') {
            let remedy = "write the keys with a slash before each, such as \"/report/host/iops\"";
            let (span, path) = (fields.span_of(key), fields.path_of(key));
            self.reader.report(span, &path, "no JSON pointer", remedy);
            return None;
        }
        Some(pointer)
    }
}
