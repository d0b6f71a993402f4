//! Which column of a table of one's own each part of a request comes from.

use ftlab::host::Op;
use ftlab::options::text::clip;

use super::columns::{ColumnPlan, ColumnUnit, Given, RequestPart, amount};
use super::op_words::WordMeaning;

/// Where a part of a request comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FieldOrigin<T> {
    Column { index: usize, unit: ColumnUnit },
    Constant(T),
}

impl<T> FieldOrigin<T> {
    /// The column, counted from zero, if it is one.
    pub fn column(self) -> Option<usize> {
        match self {
            FieldOrigin::Column { index, .. } => Some(index),
            FieldOrigin::Constant(_) => None,
        }
    }
}

/// The parts of a request in a table whose head is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TableLayout {
    pub time: Option<FieldOrigin<u64>>,
    pub op: FieldOrigin<WordMeaning>,
    pub offset: FieldOrigin<u64>,
    pub size: FieldOrigin<u64>,
    pub stream: Option<FieldOrigin<u32>>,
}

/// The first line of a table: names of columns, or data.
#[derive(Clone, Copy)]
pub(crate) struct FirstLine<'a> {
    pub fields: &'a [String],
    pub is_head: bool,
}

impl TableLayout {
    /// Finds the columns of a plan by the first line.
    ///
    /// # Errors
    /// A column is not there.
    pub fn of(plan: &ColumnPlan, first: FirstLine<'_>) -> Result<TableLayout, String> {
        let of = |part| plan.of(part);
        let needed =
            |part: RequestPart| of(part).ok_or_else(|| format!("{} is missing", part.name()));
        let number = |part| -> Result<FieldOrigin<u64>, String> {
            let given = needed(part)?;
            let constant = amount(&given.text).map(FieldOrigin::Constant);
            constant.map_or_else(|| column(given, first), Ok)
        };
        let op = needed(RequestPart::Op)?;
        let op = column(op, first).or_else(|problem| {
            let said = Op::named(&op.text).map(WordMeaning::of);
            said.map(FieldOrigin::Constant).ok_or(problem)
        })?;
        let time = of(RequestPart::Time).map(|given| column(given, first)).transpose()?;
        let stream = of(RequestPart::Stream).map(|given| column(given, first)).transpose()?;
        let offset = number(RequestPart::Offset)?;
        let layout = TableLayout { time, op, offset, size: number(RequestPart::Size)?, stream };
        layout.refuse_twice(first)?;
        Ok(layout)
    }

    /// The parts that have a column, with these.
    fn columns(&self) -> impl Iterator<Item = (RequestPart, usize)> {
        let columns = [
            (RequestPart::Time, self.time.and_then(FieldOrigin::column)),
            (RequestPart::Op, self.op.column()),
            (RequestPart::Offset, self.offset.column()),
            (RequestPart::Size, self.size.column()),
            (RequestPart::Stream, self.stream.and_then(FieldOrigin::column)),
        ];
        columns.into_iter().filter_map(|(part, column)| Some((part, column?)))
    }

    /// Refuses one column for two parts.
    fn refuse_twice(&self, first: FirstLine<'_>) -> Result<(), String> {
        let mut seen: Vec<(RequestPart, usize)> = Vec::new();
        for (part, column) in self.columns() {
            if let Some((other, _)) = seen.iter().find(|(_, known)| *known == column) {
                let name = first.fields.get(column).filter(|_| first.is_head);
                let name = name.map_or(String::new(), |name| format!(" ({})", clip(name)));
                return Err(format!(
                    "{} and {} have one column, {}{name}",
                    other.name(),
                    part.name(),
                    column + 1
                ));
            }
            seen.push((part, column));
        }
        Ok(())
    }

    /// The columns of numbers.
    pub fn numbers(&self) -> [Option<usize>; 3] {
        let time = self.time.and_then(FieldOrigin::column);
        [time, self.offset.column(), self.size.column()]
    }

    /// Which of so many columns are no part of requests.
    pub fn unused(&self, columns: usize) -> impl Iterator<Item = usize> {
        let used: Vec<usize> = self.columns().map(|(_, column)| column).collect();
        (0..columns).filter(move |index| !used.contains(index))
    }
}

/// The column of this name, or else of this number.
fn column<T>(given: &Given, first: FirstLine<'_>) -> Result<FieldOrigin<T>, String> {
    let unit = given.unit();
    let FirstLine { fields: names, is_head } = first;
    let places = |is: &dyn Fn(&String) -> bool| -> Vec<usize> {
        (0..names.len()).filter(|index| is_head && is(&names[*index])).collect()
    };
    let mut named = places(&|name| *name == given.text);
    if named.is_empty() {
        named = places(&|name| name.eq_ignore_ascii_case(&given.text));
    }
    match named[..] {
        [] => {}
        [index] => return Ok(FieldOrigin::Column { index, unit }),
        [one, other, ..] => {
            let (part, text) = (given.part.name(), clip(&given.text));
            return Err(format!(
                "{part}={text} is the name of columns {} and {}: say which by its number",
                one + 1,
                other + 1
            ));
        }
    }
    let number = given.text.parse().ok().filter(|number| (1..=names.len()).contains(number));
    if let Some(index) = number.map(|number: usize| number - 1) {
        return Ok(FieldOrigin::Column { index, unit });
    }
    let numbered = (1..).zip(names).take(LISTED);
    let listed: Vec<String> =
        numbered.map(|(number, name)| format!("{number} {}", clip(name))).collect();
    let more = if names.len() > LISTED { ", ..." } else { "" };
    let (part, text) = (given.part.name(), clip(&given.text));
    Err(format!("{part}={text} is no column; the first line has {}{more}", listed.join(", ")))
}

/// How many columns an error lists.
pub(crate) const LISTED: usize = 20;
