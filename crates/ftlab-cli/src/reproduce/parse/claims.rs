//! `[[claim]]`: the numbers of a paper, and what is expected where they can't be reproduced.

use toml::de::DeValue;

use super::names::value_names;
use super::{Parser, printed_text};
use crate::reproduce::declaration::{Claim, Expected, Form, Quantity, Row};
use crate::reproduce::keys::Section;
use crate::reproduce::numbers::{Printed, Tolerance, leaves_out, overlap};
use crate::reproduce::reader::{Fields, Given};

/// Numbers by the values of an axis; a single number without one.
type Numbers = Vec<(Option<usize>, Printed)>;
/// What is expected instead, likewise, and why; nothing where nothing differs.
type Differs = (Vec<(Option<usize>, Expected)>, Option<String>);

impl Parser<'_> {
    pub(super) fn claim(&mut self, fields: &Fields<'_, '_>, known: &[String]) -> Option<Claim> {
        let [id, text, place] = ["id", "text", "where"].map(|key| self.reader.text(fields, key));
        if let Some(id) = id.as_ref().filter(|id| known.contains(id)) {
            let (span, path) = (fields.span_of("id"), fields.path_of("id"));
            let message = format!("there are two claims {id}");
            self.reader.report(span, &path, message, "give each an id of its own");
        }
        let origin = fields.has("origin").then(|| self.reader.text(fields, "origin")).flatten();
        let metric = self.metric_named(fields, "metric");
        let at = self.point(fields, "at");
        let form = self.form(fields);
        let each = match fields.has("each") {
            true => Some(self.axis_named(fields, "each")?),
            false => None,
        };
        let mean_over = match fields.has("mean_over") {
            true => self.axes_named(fields, "mean_over")?,
            false => Vec::new(),
        };
        let others = each.iter().map(|&axis| (axis, "each"));
        let others: Vec<_> =
            others.chain(mean_over.iter().map(|&axis| (axis, "mean_over"))).collect();
        let at = at.and_then(|at| self.closed(fields, at, &others));
        let ((form, against), metric) = form.zip(metric)?;
        let unit = form.unit(&self.metrics[metric].unit).to_owned();
        let paper = self.numbers(fields, "paper", each, &unit);
        let limits = |numbers: &Numbers| !numbers.iter().any(|(_, one)| is_number(one));
        let tolerance = self.tolerance(fields, &unit, paper.as_ref().is_some_and(limits), "paper");
        let differs = self.differs(fields, each, &unit);
        let (at, paper, tolerance) = (at?, paper?, tolerance?);
        let (expected, differs) = differs?;
        let rows = paper.into_iter().map(|(value, paper)| {
            let mut at = at.clone();
            let mut label = String::new();
            if let Some((axis, value)) = each.zip(value) {
                at[axis] = Some(value);
                label =
                    format!("{} {}", self.axes[axis].label, self.axes[axis].values[value].label);
            }
            let expected = expected.iter().find(|(of, _)| *of == value).map(|(_, one)| *one);
            let tolerance = tolerance.filter(|_| is_number(&paper));
            Row { at, label, paper, tolerance, expected }
        });
        let rows: Vec<Row> = rows.collect();
        if differs.is_some() {
            self.check_expected(fields, &rows, &expected);
        }
        self.refuse_ranges_beside_their_numbers(fields, &rows);
        let quantity = Quantity { metric, form, against, mean_over };
        self.refuse_itself(fields, &quantity, &rows);
        Some(Claim { id: id?, text: text?, place: place?, origin, quantity, rows, differs })
    }

    /// What is expected instead is known for each of the paper's numbers and for no other, and nothing can
    /// be both.
    fn check_expected(
        &mut self,
        fields: &Fields<'_, '_>,
        rows: &[Row],
        expected: &[(Option<usize>, Expected)],
    ) {
        let (span, path) = (fields.span_of("differs"), fields.path_of("differs.expected"));
        let named = rows.iter().filter(|row| row.expected.is_some()).count();
        let remedy = "give `expected` for the same values as `paper`";
        if named < rows.len() {
            let message = "some number of the paper has none";
            self.reader.report(span.clone(), &path, message, remedy);
        }
        if named < expected.len() {
            let message = "it names a value for which `paper` has no number";
            self.reader.report(span.clone(), &path, message, remedy);
        }
        let both = |row: &&Row| {
            let instead = row.expected.map(|expected| (expected.value, expected.tolerance));
            instead.is_some_and(|instead| overlap((row.paper, row.tolerance), instead))
        };
        if let Some(row) = rows.iter().find(both) {
            let of =
                if row.label.is_empty() { String::new() } else { format!(" at {}", row.label) };
            let message = format!("what is expected may be what the paper prints{of}");
            let remedy = "expect what the paper's number rules out, or leave `differs` out";
            self.reader.report(span, &path, message, remedy);
        }
    }

    /// A range has to hold the number that it is for.
    fn refuse_ranges_beside_their_numbers(&mut self, fields: &Fields<'_, '_>, rows: &[Row]) {
        let beside_expected = |row: &Row| {
            row.expected.is_some_and(|expected| leaves_out(expected.tolerance, expected.value))
        };
        let all = [
            ("tolerance", rows.iter().any(|row| leaves_out(row.tolerance, row.paper))),
            ("differs.tolerance", rows.iter().any(beside_expected)),
        ];
        for (key, _) in all.into_iter().filter(|(_, wrong)| *wrong) {
            let span = fields.span_of(key.split('.').next().unwrap_or(key));
            let message = "the range leaves out a number that it is for";
            let remedy = "write a range that holds the number, or how far from it is near enough";
            self.reader.report(span, &fields.path_of(key), message, remedy);
        }
    }

    /// What is compared with itself can't come out otherwise.
    fn refuse_itself(&mut self, fields: &Fields<'_, '_>, quantity: &Quantity, rows: &[Row]) {
        let is_same = |row: &Row| {
            let mut pairs = quantity.pairs(&row.at, &self.axes).into_iter();
            pairs.all(|(here, elsewhere)| here == elsewhere)
        };
        if quantity.form != Form::Value && rows.iter().any(is_same) {
            let (span, path) = (fields.span_of("against"), fields.path_of("against"));
            let remedy = "name another case in `against`, or leave that number out";
            self.reader.report(span, &path, "a case is compared with itself", remedy);
        }
    }

    /// Printed numbers: one, or one for each value of an axis.
    fn numbers(
        &mut self,
        fields: &Fields<'_, '_>,
        key: &str,
        each: Option<usize>,
        unit: &str,
    ) -> Option<Numbers> {
        let value = self.reader.get(fields, key)?;
        let path = fields.path_of(key);
        let Some(axis) = each else {
            if matches!(value.get_ref(), DeValue::Table(_)) {
                let remedy = "name the axis in `each`, or give a single number";
                self.reader.report(value.span(), &path, "several numbers, of no axis", remedy);
                return None;
            }
            return self.printed(value, &path, unit).map(|number| vec![(None, number)]);
        };
        let DeValue::Table(table) = value.get_ref() else {
            let name = &self.axes[axis].name;
            let remedy = format!("give numbers by the values of {name}: {{ \"VALUE\" = 1.5 }}");
            let message = format!("expected a number for each {name}");
            self.reader.report(value.span(), &path, message, remedy);
            return None;
        };
        if table.is_empty() {
            let remedy = "give a number for one value at least, or leave the claim out";
            self.reader.report(value.span(), &path, "there is no number", remedy);
            return None;
        }
        let names = value_names(&self.axes[axis]);
        let known: Vec<&str> = names.iter().map(String::as_str).collect();
        let what = format!("value of {}", self.axes[axis].name);
        let mut numbers = Vec::new();
        for (name, value) in table {
            let at = self.reader.named(name.get_ref(), name.span(), &path, &what, &known);
            let number = self.printed(value, &format!("{path}.{}", name.get_ref()), unit);
            numbers.push(at.zip(number).map(|(at, number)| (Some(at), number)));
        }
        let mut numbers = numbers.into_iter().collect::<Option<Numbers>>()?;
        numbers.sort_by_key(|(at, _)| *at);
        Some(numbers)
    }

    fn printed(&mut self, value: &Given<'_>, path: &str, unit: &str) -> Option<Printed> {
        let Some(text) = printed_text(value) else {
            let remedy = "write a number, such as 1.5, or a text such as \"< 1%\"";
            self.reader.report(value.span(), path, "no number", remedy);
            return None;
        };
        let read = Printed::parse(&text, unit);
        read.map_err(|remedy| {
            let message = format!("no number in {}", unit_told(unit));
            self.reader.report(value.span(), path, message, remedy);
        })
        .ok()
    }

    /// The tolerance of a table; none if what it is for is a limit.
    fn tolerance(
        &mut self,
        fields: &Fields<'_, '_>,
        unit: &str,
        is_limit: bool,
        of: &str,
    ) -> Option<Option<Tolerance>> {
        let (span, path) = (fields.span_of("tolerance"), fields.path_of("tolerance"));
        if !fields.has("tolerance") {
            if is_limit {
                return Some(None);
            }
            let remedy = "add one, such as tolerance = \"5%\"";
            let message = format!("the number in `{of}` has no tolerance");
            self.reader.report(span, &path, message, remedy);
            return None;
        }
        let text = self.reader.text(fields, "tolerance")?;
        if is_limit {
            let message = format!("has no effect: `{of}` gives a limit");
            self.reader.report(span, &path, message, "leave it out");
            return None;
        }
        Tolerance::parse(&text, unit)
            .map_err(|remedy| {
                let message = format!("no tolerance of a number in {}", unit_told(unit));
                self.reader.report(span, &path, message, remedy);
            })
            .ok()
            .map(Some)
    }

    /// What is expected instead, and why.
    fn differs(
        &mut self,
        fields: &Fields<'_, '_>,
        each: Option<usize>,
        unit: &str,
    ) -> Option<Differs> {
        if !fields.has("differs") {
            return Some((Vec::new(), None));
        }
        let value = self.reader.get(fields, "differs")?;
        let DeValue::Table(table) = value.get_ref() else {
            self.reader.mismatch(fields, "differs", value);
            return None;
        };
        let path = fields.path_of("differs");
        let inner = self.reader.fields(table, Section::Differs, &path, value.span());
        let numbers = self.numbers(&inner, "expected", each, unit);
        let is_limit =
            numbers.as_ref().is_some_and(|all| !all.iter().any(|(_, one)| is_number(one)));
        let tolerance = self.tolerance(&inner, unit, is_limit, "expected");
        let reason = self.reader.text(&inner, "reason");
        let (numbers, tolerance) = numbers.zip(tolerance)?;
        let expected = numbers.into_iter().map(|(at, value)| {
            let tolerance = tolerance.filter(|_| is_number(&value));
            (at, Expected { value, tolerance })
        });
        Some((expected.collect(), Some(reason?)))
    }
}

fn is_number(printed: &Printed) -> bool {
    matches!(printed, Printed::Number(_))
}

fn unit_told(unit: &str) -> String {
    match unit {
        "" => "no unit".to_owned(),
        unit => unit.to_owned(),
    }
}
