//! Resolves names in a declaration: of axes, their values, metrics and curves.

use ftlab::options::table::{At, Given};
use ftlab::options::value::Raw;

use super::Parser;
use crate::reproduce::declaration::{Axis, Form, Point};
use crate::reproduce::keys;

/// A table with `as` and `against`.
pub(super) struct Compared<'k> {
    pub at: &'k At,
    pub form: Option<Form>,
    pub against: &'k Option<keys::Point>,
}

impl Parser {
    fn axis_names(&self) -> Vec<String> {
        self.axes.iter().map(|axis| axis.name.clone()).collect()
    }

    fn one_of(&mut self, given: &Given, what: &str, names: &[String]) -> Option<usize> {
        let known: Vec<&str> = names.iter().map(String::as_str).collect();
        self.document.one_of(given, what, &known)
    }

    /// Returns the named axis.
    pub(super) fn axis_named(&mut self, given: &Given) -> Option<usize> {
        let names = self.axis_names();
        self.one_of(given, "axis", &names)
    }

    /// Returns the listed axes.
    pub(super) fn axes_named(&mut self, given: &Given) -> Option<Vec<usize>> {
        let names = self.axis_names();
        self.listed(given, "axis", &names)
    }

    /// Returns the named axis, or the listed axes.
    pub(super) fn axis_or_axes_named(&mut self, given: &Given) -> Option<Vec<usize>> {
        match &given.raw {
            Raw::List(_) => self.axes_named(given),
            _ => self.axis_named(given).map(|axis| vec![axis]),
        }
    }

    /// Returns the named metric.
    pub(super) fn metric_named(&mut self, given: &Given) -> Option<usize> {
        let names: Vec<String> = self.metrics.iter().map(|metric| metric.name.clone()).collect();
        self.one_of(given, "metric", &names)
    }

    /// Returns the listed metrics, of those declared so far.
    pub(super) fn metrics_named(&mut self, given: &Given) -> Option<Vec<usize>> {
        let names: Vec<String> = self.metrics.iter().map(|metric| metric.name.clone()).collect();
        self.listed(given, "metric", &names)
    }

    /// Returns the named curve.
    pub(super) fn curve_named(&mut self, given: &Given) -> Option<usize> {
        let names: Vec<String> = self.curves.iter().map(|curve| curve.name.clone()).collect();
        self.one_of(given, "curve", &names)
    }

    /// Returns the listed curves.
    pub(super) fn curves_named(&mut self, given: &Given) -> Option<Vec<usize>> {
        let names: Vec<String> = self.curves.iter().map(|curve| curve.name.clone()).collect();
        self.listed(given, "curve", &names)
    }

    fn listed(&mut self, given: &Given, what: &str, names: &[String]) -> Option<Vec<usize>> {
        let Raw::List(entries) = &given.raw else {
            let message = format!("expected a list, found {}", given.raw.describe());
            let remedy = format!("list some of {}", names.join(", "));
            self.document.report(given, message, remedy);
            return None;
        };
        let items: Vec<Given> = (0..entries.len()).filter_map(|at| given.item(at)).collect();
        let found: Vec<_> = items.iter().map(|item| self.one_of(item, what, names)).collect();
        let found = found.into_iter().collect::<Option<Vec<usize>>>()?;
        if let Some(at) = (1..found.len()).find(|&at| found[..at].contains(&found[at])) {
            let message = format!("{} is listed twice", names[found[at]]);
            self.document.report(&items[at], message, "name it once");
        }
        Some(found)
    }

    /// Parses values of axes. Without any, no axis is fixed.
    pub(super) fn point(&mut self, given: &Option<keys::Point>) -> Option<Point> {
        let mut point: Point = vec![None; self.axes.len()];
        let Some(keys::Point(given)) = given else { return Some(point) };
        let mut in_order = matches!(given.raw, Raw::Table(_));
        let names = self.axis_names();
        for pair in given.pairs() {
            let axis = self.key_named(given, pair, "axis", &names);
            let at = axis.and_then(|axis| {
                let what = format!("value of {}", pair.name);
                let values = value_names(&self.axes[axis]);
                Some((axis, self.one_of(&given.value(pair), &what, &values)?))
            });
            match at {
                Some((axis, value)) => point[axis] = Some(value),
                None => in_order = false,
            }
        }
        in_order.then_some(point)
    }

    /// Returns which of the names a key is.
    pub(super) fn key_named(
        &mut self,
        given: &Given,
        pair: &ftlab::options::value::TableEntry,
        what: &str,
        names: &[String],
    ) -> Option<usize> {
        let known: Vec<&str> = names.iter().map(String::as_str).collect();
        self.document.named(&pair.name, &given.path, pair.name_span.clone(), what, &known)
    }

    /// Returns the values that `only` selects, by axis, and reports axes that are not in `open`.
    pub(super) fn only(
        &mut self,
        given: &Option<keys::Only>,
        open: &[(usize, &str)],
    ) -> Option<Vec<Option<Vec<usize>>>> {
        let mut only = vec![None; self.axes.len()];
        let Some(keys::Only(given)) = given else { return Some(only) };
        let mut in_order = matches!(given.raw, Raw::Table(_));
        let names = self.axis_names();
        for pair in given.pairs() {
            let axis = self.key_named(given, pair, "axis", &names);
            let value = given.value(pair);
            let found = axis.and_then(|axis| Some((axis, self.values_of(axis, &value)?)));
            match found {
                Some((axis, values)) if open.iter().any(|(of, _)| *of == axis) => {
                    only[axis] = Some(values);
                }
                Some(_) => {
                    let message = "has no effect: the figure draws one value of this axis";
                    self.document.report(&value, message, "leave it out, or draw along the axis");
                    in_order = false;
                }
                None => in_order = false,
            }
        }
        in_order.then_some(only)
    }

    /// Returns some values of an axis, in its order.
    fn values_of(&mut self, axis: usize, given: &Given) -> Option<Vec<usize>> {
        let names = value_names(&self.axes[axis]);
        if !matches!(&given.raw, Raw::List(entries) if !entries.is_empty()) {
            let remedy = format!("list some of {}", names.join(", "));
            self.document.report(given, "no values of an axis", remedy);
            return None;
        }
        let what = format!("value of {}", self.axes[axis].name);
        let mut found = self.listed(given, &what, &names)?;
        found.sort_unstable();
        found.dedup();
        Some(found)
    }

    /// Parses the form, and the case to compare with.
    pub(super) fn form(&mut self, of: Compared<'_>) -> Option<(Form, Point)> {
        let form = of.form.unwrap_or(Form::Value);
        let against = self.point(of.against)?;
        if self.document.has_failed(of.at, "as") {
            return None;
        }
        let fixes = against.iter().any(Option::is_some);
        let wrong = match form {
            Form::Value if of.against.is_some() => Some((
                "a value is compared with nothing",
                "write `as`: change, reduction, ratio or difference",
            )),
            Form::Change | Form::Reduction | Form::Ratio | Form::Difference if !fixes => {
                let remedy = "name the case: against = { AXIS = \"VALUE\" }";
                Some(("it does not say against what", remedy))
            }
            _ => None,
        };
        if let Some((message, remedy)) = wrong {
            self.document.report_at(of.at, "against", message, remedy);
            return None;
        }
        Some((form, against))
    }

    /// Fixes the axes that have a single value, and reports those that are still open or fixed
    /// twice. `others` are axes that these keys fix; `elsewhere` names the keys for the user.
    pub(super) fn closed(
        &mut self,
        table: &At,
        mut point: Point,
        others: &[(usize, &str)],
        elsewhere: &str,
    ) -> Option<Point> {
        let mut in_order = true;
        for (at, axis) in self.axes.iter().enumerate() {
            let keys: Vec<&str> =
                others.iter().filter(|(axis, _)| *axis == at).map(|(_, key)| *key).collect();
            let fixed = point[at].map(|_| "at");
            let all: Vec<&str> = fixed.into_iter().chain(keys).collect();
            match all[..] {
                [_] => {}
                [] if axis.values.len() == 1 => point[at] = Some(0),
                [] => {
                    let name = &axis.name;
                    let message = format!("it does not say at which {name}");
                    let remedy = format!("add {name} to `at`, or name it {elsewhere}");
                    let path = table.path_of("at");
                    self.document.report_span(&path, table.span.clone(), message, remedy);
                    in_order = false;
                }
                [.., last] => {
                    let message = format!("{} is fixed by {}", axis.name, all.join(" and "));
                    let path = table.path_of(last);
                    self.document.report_span(
                        &path,
                        table.span.clone(),
                        message,
                        "keep one of them",
                    );
                    in_order = false;
                }
            }
        }
        in_order.then_some(point)
    }
}

/// Returns the names of an axis's values.
pub(super) fn value_names(axis: &Axis) -> Vec<String> {
    axis.values.iter().map(|value| value.name.clone()).collect()
}
