//! Names that a declaration uses: of axes, of their values, of metrics and of forms.

use toml::de::DeValue;

use super::Parser;
use crate::reproduce::declaration::{Axis, Form, Point};
use crate::reproduce::keys::FORMS;
use crate::reproduce::reader::{Fields, Given};

impl Parser<'_> {
    fn axis_names(&self) -> Vec<String> {
        self.axes.iter().map(|axis| axis.name.clone()).collect()
    }

    /// The axis that a key names.
    pub(super) fn axis_named(&mut self, fields: &Fields<'_, '_>, key: &str) -> Option<usize> {
        let value = self.reader.get(fields, key)?;
        let names = self.axis_names();
        let known: Vec<&str> = names.iter().map(String::as_str).collect();
        self.reader.one_of(value, &fields.path_of(key), "axis", &known)
    }

    /// The axes that a key lists.
    pub(super) fn axes_named(&mut self, fields: &Fields<'_, '_>, key: &str) -> Option<Vec<usize>> {
        let names = self.axis_names();
        self.listed(fields, key, "axis", &names)
    }

    /// The axis that a key names, or those that it lists.
    pub(super) fn axis_or_axes_named(
        &mut self,
        fields: &Fields<'_, '_>,
        key: &str,
    ) -> Option<Vec<usize>> {
        let value = self.reader.get(fields, key)?;
        match value.get_ref() {
            DeValue::Array(_) => self.axes_named(fields, key),
            _ => self.axis_named(fields, key).map(|axis| vec![axis]),
        }
    }

    /// The metric that a key names.
    pub(super) fn metric_named(&mut self, fields: &Fields<'_, '_>, key: &str) -> Option<usize> {
        let value = self.reader.get(fields, key)?;
        let names: Vec<String> = self.metrics.iter().map(|metric| metric.name.clone()).collect();
        let known: Vec<&str> = names.iter().map(String::as_str).collect();
        self.reader.one_of(value, &fields.path_of(key), "metric", &known)
    }

    /// The metrics that a key lists; those that were declared so far.
    pub(super) fn metrics_named(
        &mut self,
        fields: &Fields<'_, '_>,
        key: &str,
    ) -> Option<Vec<usize>> {
        let names: Vec<String> = self.metrics.iter().map(|metric| metric.name.clone()).collect();
        self.listed(fields, key, "metric", &names)
    }

    /// The curve that a key names.
    pub(super) fn curve_named(&mut self, fields: &Fields<'_, '_>, key: &str) -> Option<usize> {
        let value = self.reader.get(fields, key)?;
        let names: Vec<String> = self.curves.iter().map(|curve| curve.name.clone()).collect();
        let known: Vec<&str> = names.iter().map(String::as_str).collect();
        self.reader.one_of(value, &fields.path_of(key), "curve", &known)
    }

    /// The curves that a key lists.
    pub(super) fn curves_named(
        &mut self,
        fields: &Fields<'_, '_>,
        key: &str,
    ) -> Option<Vec<usize>> {
        let names: Vec<String> = self.curves.iter().map(|curve| curve.name.clone()).collect();
        self.listed(fields, key, "curve", &names)
    }

    fn listed(
        &mut self,
        fields: &Fields<'_, '_>,
        key: &str,
        what: &str,
        names: &[String],
    ) -> Option<Vec<usize>> {
        let known: Vec<&str> = names.iter().map(String::as_str).collect();
        let entries = self.reader.list(fields, key);
        let path = fields.path_of(key);
        let found = entries.iter().map(|entry| self.reader.one_of(entry, &path, what, &known));
        let found = found.collect::<Vec<_>>().into_iter().collect::<Option<Vec<usize>>>()?;
        if let Some(at) = (1..found.len()).find(|&at| found[..at].contains(&found[at])) {
            let message = format!("{} stands there twice", names[found[at]]);
            self.reader.report(entries[at].span(), &path, message, "name it once");
        }
        Some(found)
    }

    /// Values of axes; none is fixed where the key is not given.
    pub(super) fn point(&mut self, fields: &Fields<'_, '_>, key: &str) -> Option<Point> {
        let mut point: Point = vec![None; self.axes.len()];
        if !fields.has(key) {
            return Some(point);
        }
        let value = self.reader.get(fields, key)?;
        let DeValue::Table(table) = value.get_ref() else {
            self.reader.mismatch(fields, key, value);
            return None;
        };
        let names = self.axis_names();
        let known: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut in_order = true;
        for (name, value) in table {
            let path = fields.path_of(key);
            let axis = self.reader.named(name.get_ref(), name.span(), &path, "axis", &known);
            let at = axis.and_then(|axis| {
                let values = value_names(&self.axes[axis]);
                let known: Vec<&str> = values.iter().map(String::as_str).collect();
                let path = format!("{path}.{}", name.get_ref());
                let what = format!("value of {}", name.get_ref());
                Some((axis, self.reader.one_of(value, &path, &what, &known)?))
            });
            match at {
                Some((axis, value)) => point[axis] = Some(value),
                None => in_order = false,
            }
        }
        in_order.then_some(point)
    }

    /// By axis, the values to which `only` holds it; axes that are not among `open` are reported.
    pub(super) fn only(
        &mut self,
        fields: &Fields<'_, '_>,
        open: &[(usize, &str)],
    ) -> Option<Vec<Option<Vec<usize>>>> {
        let mut only = vec![None; self.axes.len()];
        if !fields.has("only") {
            return Some(only);
        }
        let value = self.reader.get(fields, "only")?;
        let DeValue::Table(table) = value.get_ref() else {
            self.reader.mismatch(fields, "only", value);
            return None;
        };
        let axes = self.axis_names();
        let known: Vec<&str> = axes.iter().map(String::as_str).collect();
        let path = fields.path_of("only");
        let mut in_order = true;
        for (name, value) in table {
            let axis = self.reader.named(name.get_ref(), name.span(), &path, "axis", &known);
            let path = format!("{path}.{}", name.get_ref());
            let found = axis.and_then(|axis| Some((axis, self.values_of(axis, value, &path)?)));
            match found {
                Some((axis, values)) if open.iter().any(|(of, _)| *of == axis) => {
                    only[axis] = Some(values);
                }
                Some(_) => {
                    let message = "has no effect: the figure draws one value of this axis";
                    let remedy = "leave it out, or draw along the axis";
                    self.reader.report(value.span(), &path, message, remedy);
                    in_order = false;
                }
                None => in_order = false,
            }
        }
        in_order.then_some(only)
    }

    /// Some values of an axis, in its order.
    fn values_of(&mut self, axis: usize, given: &Given<'_>, path: &str) -> Option<Vec<usize>> {
        let names = value_names(&self.axes[axis]);
        let known: Vec<&str> = names.iter().map(String::as_str).collect();
        let what = format!("value of {}", self.axes[axis].name);
        let entries = match given.get_ref() {
            DeValue::Array(list) if !list.is_empty() => list,
            _ => {
                let remedy = format!("list some of {}", known.join(", "));
                self.reader.report(given.span(), path, "no values of an axis", remedy);
                return None;
            }
        };
        let found = entries.iter().map(|entry| self.reader.one_of(entry, path, &what, &known));
        let mut found = found.collect::<Vec<_>>().into_iter().collect::<Option<Vec<usize>>>()?;
        found.sort_unstable();
        found.dedup();
        Some(found)
    }

    /// What is formed, and of what it is formed beside.
    pub(super) fn form(&mut self, fields: &Fields<'_, '_>) -> Option<(Form, Point)> {
        let form = match fields.has("as") {
            false => Form::Value,
            true => {
                let value = self.reader.get(fields, "as")?;
                let known = FORMS.map(|(name, _)| name);
                Form::ALL[self.reader.one_of(value, &fields.path_of("as"), "form", &known)?]
            }
        };
        let against = self.point(fields, "against")?;
        let fixes = against.iter().any(Option::is_some);
        let (span, path) = (fields.span_of("against"), fields.path_of("against"));
        match form {
            Form::Value if fields.has("against") => {
                let remedy = "say `as`: change, reduction, ratio or difference";
                self.reader.report(span, &path, "a value is compared with nothing", remedy);
                None
            }
            Form::Value => Some((form, against)),
            _ if !fixes => {
                let remedy = "name the case: against = { AXIS = \"VALUE\" }";
                self.reader.report(span, &path, "it is not said against what", remedy);
                None
            }
            _ => Some((form, against)),
        }
    }

    /// Decides the axes that have a single value, and reports those that stay open or are decided twice.
    /// `others` are axes that are decided elsewhere, by these keys.
    pub(super) fn closed(
        &mut self,
        fields: &Fields<'_, '_>,
        mut point: Point,
        others: &[(usize, &str)],
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
                    let message = format!("it is not said at which {name}");
                    let (claim, figure) =
                        ("in `each` or in `mean_over`", "`x`, `y`, `series` or `panels`");
                    let where_else = if fields.has("id") { claim } else { figure };
                    let remedy = format!("add {name} to `at`, or name it {where_else}");
                    self.reader.report(fields.span(), &fields.path_of("at"), message, remedy);
                    in_order = false;
                }
                [..] => {
                    let message = format!("{} is decided by {}", axis.name, all.join(" and "));
                    let path = fields.path_of(all[all.len() - 1]);
                    self.reader.report(fields.span(), &path, message, "keep one of them");
                    in_order = false;
                }
            }
        }
        in_order.then_some(point)
    }
}

/// The names of an axis's values.
pub(super) fn value_names(axis: &Axis) -> Vec<String> {
    axis.values.iter().map(|value| value.name.clone()).collect()
}
