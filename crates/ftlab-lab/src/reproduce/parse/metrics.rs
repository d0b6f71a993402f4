//! Parses `[[curve]]` and `[[metric]]`: the numbers taken from a run.

use ftlab::options::table::{At, Given};

use super::Parser;
use crate::reproduce::curve::Pick;
use crate::reproduce::declaration::{Curve, From, Metric};
use crate::reproduce::keys::{CurveKeys, MetricKeys, Name, PICKS};

/// The keys of a metric's source.
const WAYS: [&str; 6] = ["from", "sum", "product", "difference", "quotient", "curve"];

impl Parser {
    pub(super) fn curve(&mut self, keys: CurveKeys) -> Curve {
        let CurveKeys { table: at, name, label, unit, from, every, x_label } = keys;
        let twice = self.curves.iter().any(|curve| curve.name == name);
        self.refuse_twice(&at, "name", "curve", &name, twice);
        Curve {
            label: label.unwrap_or_else(|| name.clone()),
            name,
            unit: unit.unwrap_or_default(),
            x_label: x_label.unwrap_or_else(|| "number".to_owned()),
            every: every.and_then(|every| self.pointer(&at, "every", every)),
            // A wrong one still gets its name, because others may use it.
            from: self.pointer(&at, "from", from).unwrap_or_default(),
        }
    }

    pub(super) fn metric(&mut self, keys: MetricKeys) -> Metric {
        let twice = self.metrics.iter().any(|metric| metric.name == keys.name);
        self.refuse_twice(&keys.table, "name", "metric", &keys.name, twice);
        // A wrong one still gets its name, because others may use it.
        let nowhere = From::Result { pointer: String::new(), divide: 1.0 };
        let from = self.source(&keys).unwrap_or(nowhere);
        let label = keys.label.unwrap_or_else(|| keys.name.clone());
        Metric { name: keys.name, label, unit: keys.unit.unwrap_or_default(), from }
    }

    fn source(&mut self, keys: &MetricKeys) -> Option<From> {
        let at = &keys.table;
        let given = self.document.given(at, &WAYS);
        if keys.pick.is_some() && keys.curve.is_none() {
            let remedy = "name the curve in `curve`, in place of the metric's present source";
            self.document.report_at(at, "pick", "a number can only be picked from a curve", remedy);
        }
        let [way] = given[..] else {
            let message = match given.len() {
                0 => "the metric has no source".to_owned(),
                _ => format!("a metric has one source, not {}", given.join(" and ")),
            };
            let remedy = format!("give one of {}", WAYS.join(", "));
            self.document.report_span(&at.path_of("from"), at.span.clone(), message, remedy);
            return None;
        };
        if way != "from" && keys.divide.is_some() {
            let remedy = "divide the metrics that it is computed from";
            self.document.report_at(at, "divide", "has no effect on a computed metric", remedy);
        }
        if let Some(from) = &keys.from {
            let pointer = self.pointer(at, "from", from.clone());
            let divide = keys.divide.unwrap_or(1.0);
            if divide <= 0.0 {
                self.document.report_at(
                    at,
                    "divide",
                    "not above zero",
                    "write a number above zero",
                );
                return None;
            }
            return Some(From::Result { pointer: pointer?, divide });
        }
        if let Some(curve) = &keys.curve {
            return self.picked(at, curve, keys.pick.as_deref());
        }
        let lists = [&keys.sum, &keys.product, &keys.difference, &keys.quotient];
        let list = lists.into_iter().flatten().next()?;
        self.computed(&list.0, way)
    }

    fn computed(&mut self, given: &Given, way: &str) -> Option<From> {
        let of = self.metrics_named(given)?;
        match (way, of.as_slice()) {
            ("sum", [_, _, ..]) => Some(From::Sum(of)),
            ("product", [_, _, ..]) => Some(From::Product(of)),
            ("difference", &[a, b]) => Some(From::Difference(a, b)),
            ("quotient", &[a, b]) => Some(From::Quotient(a, b)),
            _ => {
                let several = ["sum", "product"].contains(&way);
                let many = if several { "two metrics or more" } else { "two metrics" };
                let message = format!("{} metrics", of.len());
                self.document.report(given, message, format!("name {many}"));
                None
            }
        }
    }

    fn picked(&mut self, at: &At, curve: &Name, pick: Option<&str>) -> Option<From> {
        let curve = self.curve_named(&curve.0);
        let known = PICKS.map(|(name, _)| name).join(", ");
        let pick = pick.and_then(Pick::parse);
        if pick.is_none() {
            let message = "it does not say what to pick from the curve";
            let remedy = format!("write what to pick: {known}, such as \"peak 1\"");
            self.document.report_at(at, "pick", message, remedy);
        }
        Some(From::Picked(curve?, pick?))
    }

    /// Checks that a text is a JSON pointer.
    fn pointer(&mut self, at: &At, key: &str, pointer: String) -> Option<String> {
        if !pointer.starts_with('/') {
            let remedy = "write the keys with a slash before each, such as \"/report/host/iops\"";
            self.document.report_at(at, key, "no JSON pointer", remedy);
            return None;
        }
        Some(pointer)
    }
}
