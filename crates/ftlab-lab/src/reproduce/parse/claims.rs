//! Parses `[[claim]]`: the numbers of a paper, and the numbers expected instead.

use ftlab::options::table::{At, Given};
use ftlab::options::value::Raw;

use super::Parser;
use super::names::{Compared, value_names};
use crate::reproduce::declaration::{Claim, ClaimRow, Expected, Form, Quantity};
use crate::reproduce::keys::{self, ClaimKeys, DiffersKeys};
use crate::reproduce::numbers::{Printed, Tolerance, leaves_out, overlap};

/// Numbers by values of an axis; a single number without one.
type Numbers = Vec<(Option<usize>, Printed)>;
/// The numbers expected instead, and the reason; empty if none differ.
type Differs = (Vec<(Option<usize>, Expected)>, Option<String>);

impl Parser {
    pub(super) fn claim(&mut self, keys: ClaimKeys) -> Option<Claim> {
        let table = &keys.table;
        let metric = self.metric_named(&keys.metric.0);
        let at = self.point(&keys.at);
        let form = self.form(Compared { at: table, form: keys.r#as, against: &keys.against });
        let each = match &keys.each {
            Some(each) => Some(self.axis_named(&each.0)?),
            None => None,
        };
        let mean_over = match &keys.mean_over {
            Some(axes) => self.axes_named(&axes.0)?,
            None => Vec::new(),
        };
        let others = each.iter().map(|&axis| (axis, "each"));
        let others: Vec<_> =
            others.chain(mean_over.iter().map(|&axis| (axis, "mean_over"))).collect();
        let elsewhere = "in `each` or in `mean_over`";
        let at = at.and_then(|at| self.closed(table, at, &others, elsewhere));
        let ((form, against), metric) = form.zip(metric)?;
        let unit = form.unit(&self.metrics[metric].unit).to_owned();
        let paper = self.numbers(&keys.paper, each, &unit);
        let limits = paper.as_ref().is_some_and(are_limits);
        let tolerance = self.tolerance(table, &keys.tolerance, &unit, limits, "paper");
        let differs = self.differs(keys.differs.as_ref(), each, &unit);
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
            ClaimRow { at, label, paper, tolerance, expected }
        });
        let rows: Vec<ClaimRow> = rows.collect();
        if let Some(differs) = &keys.differs {
            self.check_expected(&differs.expected.0, &rows, &expected);
        }
        let ranges = [
            (Some(table), rows.iter().any(|row| leaves_out(row.tolerance, row.paper))),
            (keys.differs.as_ref().map(|differs| &differs.table), rows.iter().any(beside_expected)),
        ];
        for (table, _) in ranges.into_iter().filter(|(_, wrong)| *wrong) {
            let message = "the range excludes a number that it is for";
            let remedy = "write a range that contains the number, or a distance from it";
            self.document.report_at(table?, "tolerance", message, remedy);
        }
        let quantity = Quantity { metric, form, against, mean_over };
        self.refuse_itself(table, &quantity, &rows);
        let (id, text, place, origin) = (keys.id, keys.text, keys.r#where, keys.origin);
        let (role, quick) = (keys.role, keys.quick.unwrap_or(false));
        Some(Claim { id, text, place, origin, role, quick, quantity, rows, differs })
    }

    /// Checks that there is an expected number for each of the paper's numbers and for no other,
    /// and that no number can meet both.
    fn check_expected(
        &mut self,
        given: &Given,
        rows: &[ClaimRow],
        expected: &[(Option<usize>, Expected)],
    ) {
        let named = rows.iter().filter(|row| row.expected.is_some()).count();
        let remedy = "give `expected` for the same values as `paper`";
        if named < rows.len() {
            let message = "a number of the paper has none";
            self.document.report(given, message, remedy);
        }
        if named < expected.len() {
            let message = "it names a value for which `paper` has no number";
            self.document.report(given, message, remedy);
        }
        let both = |row: &&ClaimRow| {
            let instead = row.expected.map(|expected| (expected.value, expected.tolerance));
            instead.is_some_and(|instead| overlap((row.paper, row.tolerance), instead))
        };
        if let Some(row) = rows.iter().find(both) {
            let of =
                if row.label.is_empty() { String::new() } else { format!(" at {}", row.label) };
            let message = format!("what is expected may be what the paper prints{of}");
            let remedy = "expect a number that differs from the paper's, or remove `differs`";
            self.document.report(given, message, remedy);
        }
    }

    /// Refuses a comparison of a case with itself, which could never fail.
    fn refuse_itself(&mut self, table: &At, quantity: &Quantity, rows: &[ClaimRow]) {
        let is_same = |row: &ClaimRow| {
            let mut pairs = quantity.pairs(&row.at, &self.axes).into_iter();
            pairs.all(|(here, elsewhere)| here == elsewhere)
        };
        if quantity.form != Form::Value && rows.iter().any(is_same) {
            let remedy = "name another case in `against`, or remove that number";
            self.document.report_at(table, "against", "a case is compared with itself", remedy);
        }
    }

    /// Parses printed numbers: one, or one for each value of an axis.
    fn numbers(
        &mut self,
        printed: &keys::Printed,
        each: Option<usize>,
        unit: &str,
    ) -> Option<Numbers> {
        let keys::Printed(given) = printed;
        let is_table = matches!(given.raw, Raw::Table(_));
        let (message, remedy) = match each {
            None if !is_table => {
                return self.printed(given, unit).map(|number| vec![(None, number)]);
            }
            None => (
                "several numbers, but no axis".to_owned(),
                "name the axis in `each`, or give a single number".to_owned(),
            ),
            Some(axis) if !is_table => {
                let name = &self.axes[axis].name;
                let remedy = format!("give numbers by the values of {name}: {{ \"VALUE\" = 1.5 }}");
                (format!("expected a number for each {name}"), remedy)
            }
            Some(_) if given.pairs().is_empty() => (
                "there is no number".to_owned(),
                "give a number for at least one value, or remove the claim".to_owned(),
            ),
            Some(axis) => return self.numbers_of_axis(given, axis, unit),
        };
        self.document.report(given, message, remedy);
        None
    }

    fn numbers_of_axis(&mut self, given: &Given, axis: usize, unit: &str) -> Option<Numbers> {
        let names = value_names(&self.axes[axis]);
        let what = format!("value of {}", self.axes[axis].name);
        let mut numbers = Vec::new();
        for pair in given.pairs() {
            let at = self.key_named(given, pair, &what, &names);
            let number = self.printed(&given.value(pair), unit);
            numbers.push(at.zip(number).map(|(at, number)| (Some(at), number)));
        }
        let mut numbers = numbers.into_iter().collect::<Option<Numbers>>()?;
        numbers.sort_by_key(|(at, _)| *at);
        Some(numbers)
    }

    fn printed(&mut self, given: &Given, unit: &str) -> Option<Printed> {
        let number = given.number().map(|number| number.to_string());
        let Some(text) = number.or_else(|| given.plain()) else {
            let remedy = "write a number, such as 1.5, or a text such as \"< 1%\"";
            self.document.report(given, "no number", remedy);
            return None;
        };
        let read = Printed::parse(&text, unit);
        read.map_err(|remedy| {
            self.document.report(given, format!("no number in {}", unit_told(unit)), remedy);
        })
        .ok()
    }

    /// Parses the tolerance of a table; none if it is for a limit.
    fn tolerance(
        &mut self,
        table: &At,
        given: &Option<keys::Tolerance>,
        unit: &str,
        is_limit: bool,
        of: &str,
    ) -> Option<Option<Tolerance>> {
        let Some(keys::Tolerance(given)) = given else {
            if is_limit {
                return Some(None);
            }
            let remedy = "add one, such as tolerance = \"5%\"";
            let message = format!("the number in `{of}` has no tolerance");
            self.document.report_at(table, "tolerance", message, remedy);
            return None;
        };
        if is_limit {
            let message = format!("has no effect: `{of}` gives a limit");
            self.document.report(given, message, "leave it out");
            return None;
        }
        let text = given.plain().unwrap_or_default();
        Tolerance::parse(&text, unit)
            .map_err(|remedy| {
                let message = format!("no tolerance of a number in {}", unit_told(unit));
                self.document.report(given, message, remedy);
            })
            .ok()
            .map(Some)
    }

    /// Parses the numbers expected instead, and the reason.
    fn differs(
        &mut self,
        keys: Option<&DiffersKeys>,
        each: Option<usize>,
        unit: &str,
    ) -> Option<Differs> {
        let Some(keys) = keys else { return Some((Vec::new(), None)) };
        let numbers = self.numbers(&keys.expected, each, unit);
        let is_limit = numbers.as_ref().is_some_and(are_limits);
        let tolerance = self.tolerance(&keys.table, &keys.tolerance, unit, is_limit, "expected");
        let (numbers, tolerance) = numbers.zip(tolerance)?;
        let expected = numbers.into_iter().map(|(at, value)| {
            let tolerance = tolerance.filter(|_| is_number(&value));
            (at, Expected { value, tolerance })
        });
        Some((expected.collect(), Some(keys.reason.clone())))
    }
}

fn are_limits(numbers: &Numbers) -> bool {
    !numbers.iter().any(|(_, one)| is_number(one))
}

/// Whether a range excludes the expected number.
fn beside_expected(row: &ClaimRow) -> bool {
    row.expected.is_some_and(|expected| leaves_out(expected.tolerance, expected.value))
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
