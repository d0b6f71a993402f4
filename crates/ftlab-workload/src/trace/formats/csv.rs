//! A user's own table: columns by the names in its head or by number (`columns`), separated by commas, semicolons, tabs, bars or
//! blanks, with the numbers of any country.

use std::ops::Range;

use ftlab::host::Op;
use ftlab::options::text::clip;
use ftlab::units::{Nanos, SimTime};

use crate::trace::columns::{ColumnPlan, ColumnUnit, Given, RequestPart, amount, pasteable};
use crate::trace::error::{Bad, ErrorKind};
use crate::trace::fields::Extent;
use crate::trace::format::{self, Codec, Columns, Format, LineFormat, Remarks};
use crate::trace::gate::RecordPart;
use crate::trace::head;
use crate::trace::moments::{self, DatedTime, moment, moment_ns};
use crate::trace::names_of_columns::{unit_of, yes_of};
use crate::trace::numbers::{BesideMarks, NumberKind, NumberMarks, PlainNumbers};
use crate::trace::op_words::{self, OpWords, WordMeaning};
use crate::trace::options::Options;
use crate::trace::record::Record;
use crate::trace::suggest;
use crate::trace::table::{
    Splitter, first_lines, guess_separator, separator_in_words, without_head,
};
use crate::trace::table_layout::{FieldOrigin, FirstLine, LISTED, TableLayout};
use crate::trace::units::{Epoch, SpaceUnit, TimeUnit, Units, time_name};

use super::names::Names;

pub(crate) static FORMAT: Format = Format {
    name: "csv",
    doc: "a table of one's own, by the columns that `columns` says: time=ts:us,op=3,offset=lba:512,size=len:byte; words of \
          operations as usual (R, write, T, flush, WS), or by `op`: 0=read,1=write",
    columns: "any",
    units: UNITS,
    tick: Nanos(1),
    unit_varies: true,
    source: "the user",
    not_read: &[],
    address_varies: false,
    epoch: Epoch::Own,
    codec: Codec::Text { fit: format::fit::<Csv>, open: format::open::<Csv>, writer: None },
};

/// Each column has a unit of its own.
const UNITS: Units = Units { time: TimeUnit::S, address: SpaceUnit::Byte, size: SpaceUnit::Byte };

/// What commas, points and blanks mean in the numbers of each column.
#[derive(Clone, Debug, Default)]
struct TableMarks {
    time: NumberMarks,
    offset: NumberMarks,
    size: NumberMarks,
}

/// The words of operations that occurred, and what they were taken for.
#[derive(Clone, Debug, Default)]
struct SeenWords {
    words: Vec<(Vec<u8>, WordMeaning)>,
    has_more: bool,
}

/// How many words of operations are kept; a table has few.
const KEPT_WORDS: usize = 16;

/// A reader of a table.
pub(crate) struct Csv {
    splitter: Splitter,
    layout: Result<TableLayout, Bad>,
    marks: TableMarks,
    /// How many fields the first line has.
    width: usize,
    /// The line with the names of the columns, until it has come.
    head: Option<Vec<u8>>,
    words: OpWords,
    seen: SeenWords,
    names: Names,
    widened: u64,
    has_time: bool,
    has_head: bool,
    columns: Vec<String>,
    /// Whether a column was numbered.
    has_numbers: bool,
    /// What was said of each part, and what its name says otherwise.
    said: Vec<String>,
    doubts: Vec<String>,
    /// The number of the line, from one.
    line: u64,
    /// Whether dates say their zone, and the line that told so.
    zones: Option<(bool, u64)>,
}

impl Csv {
    /// A reader by a plan.
    pub fn planned(plan: &ColumnPlan, options: &Options, sample: &[u8]) -> Csv {
        let mut splitter = Splitter::new(guess_separator(sample).unwrap_or(b','));
        let first = first_lines(sample).next().unwrap_or_default();
        splitter.split(first);
        let found = head::of(sample);
        // A comment is passed over in any case.
        let is_comment = found.as_ref().is_some_and(|head| head.is_comment);
        let fields = match &found {
            Some(head) if is_comment => head.names.clone(),
            _ => splitter.all(),
        };
        // Unless the first line has names, a number in the plan is that of a column, whatever the fields are.
        let is_head = found.is_some() || plan.names_any(&fields);
        let layout = TableLayout::of(plan, FirstLine { fields: &fields, is_head });
        let head = (is_head && !is_comment).then(|| first.to_vec());
        let layout = layout.map_err(|problem| no_column(&problem, first.len(), sample));
        let layout = layout.and_then(|layout| with_used_words(layout, plan, &options.op_words));
        let mut csv = Csv {
            layout,
            marks: TableMarks::default(),
            width: fields.len(),
            head,
            splitter,
            words: options.op_words.clone(),
            seen: SeenWords::default(),
            names: Names::default(),
            widened: 0,
            has_time: plan.of(RequestPart::Time).is_some(),
            has_head: is_head,
            columns: fields,
            has_numbers: plan.given.iter().any(|given| given.text.parse::<usize>().is_ok()),
            said: plan.given.iter().map(Given::in_words).collect(),
            doubts: plan.given.iter().filter_map(unit_doubt).collect(),
            line: 0,
            zones: None,
        };
        if let Ok(layout) = csv.layout {
            let learned = csv.settle_truths(&layout, sample);
            match learned.and_then(|()| csv.learned(&layout, sample)) {
                Ok(marks) => csv.marks = marks,
                Err(why) => csv.layout = Err(why),
            }
        }
        csv
    }

    /// Reads truth values as the name of their column says, as in `is_write`, and refuses letters of which nothing says that: t and f
    /// are no trims and flushes then.
    fn settle_truths(&mut self, layout: &TableLayout, sample: &[u8]) -> Result<(), Bad> {
        let FieldOrigin::Column { index, .. } = layout.op else { return Ok(()) };
        let mut words: Vec<Vec<u8>> = Vec::new();
        for line in without_head(sample, self.head.as_deref()) {
            self.splitter.split(line);
            let word = self.splitter.field(index).unwrap_or_default();
            if !words.iter().any(|known| known == word) {
                words.push(word.to_vec());
            }
        }
        let all = || words.iter().map(Vec::as_slice);
        let refuse = |problem, remedy: &str| {
            let (kind, remedy) = (ErrorKind::Unsupported, Some(remedy.to_owned()));
            Err(Bad { kind, field: 0..0, problem, remedy })
        };
        let name = self.columns.get(index).filter(|_| self.has_head && op_words::are_truths(all()));
        if let Some((name, yes)) = name.and_then(|name| Some((clip(name), yes_of(name)?))) {
            let yes_is = yes.name();
            if let Err(word) = self.words.follow(yes) {
                let problem = format!(
                    "`op` gives `{word}` a meaning that contradicts the name of its column, {name}: a yes (1) there is a {yes_is}"
                );
                return refuse(
                    problem,
                    "leave `op` out, so that the name counts; if the name is wrong, add `invert_ops`",
                );
            }
            let said = format!(
                "a yes (1) among the operations is a {yes_is}, as their column is called {name}"
            );
            self.said.push(said);
            return Ok(());
        }
        let said = |word: &Vec<u8>| self.words.is_said(word);
        if !op_words::are_t_and_f(all()) || words.iter().all(said) {
            return Ok(());
        }
        let problem =
            "the operations are truth values (t, f), and not trims and flushes".to_owned();
        refuse(problem, "say what they mean, as in `op` t=write,f=read")
    }

    /// What the marks in the columns of numbers mean, by the beginning of the file.
    fn learned(&mut self, layout: &TableLayout, sample: &[u8]) -> Result<TableMarks, Bad> {
        let mut learn = |kind, from: Option<FieldOrigin<u64>>, others: Option<&NumberMarks>| {
            let Some(FieldOrigin::Column { index, unit: ColumnUnit::Of(_) }) = from else {
                return Ok(NumberMarks::default());
            };
            let (mut fields, mut plain) = (Vec::new(), PlainNumbers::default());
            for (number, line) in (1..).map(Some).zip(sample.split(|&byte| byte == b'\n')) {
                let line = line.strip_suffix(b"\r").unwrap_or(line);
                if format::is_void(line) || self.head.as_deref() == Some(line) {
                    continue;
                }
                self.splitter.split(line);
                let field = self.splitter.field(index).unwrap_or_default();
                match field.iter().all(u8::is_ascii_digit) {
                    true => plain.add(field),
                    false => {
                        fields.extend(
                            std::str::from_utf8(field).map(|text| (number, text.to_owned())),
                        );
                    }
                }
            }
            let beside = BesideMarks { others, plain };
            let fields = fields.iter().map(|(number, text)| (*number, text.as_str()));
            NumberMarks::learn(kind, fields, beside).map_err(two_meanings)
        };
        let parts = [
            (NumberKind::Time, layout.time),
            (NumberKind::Whole, Some(layout.offset)),
            (NumberKind::Whole, Some(layout.size)),
        ];
        let mut all = [(); 3].map(|()| NumberMarks::default());
        // What is in doubt by itself may be clear in another column of the same program.
        for _ in 0..2 {
            for (at, (kind, from)) in parts.into_iter().enumerate() {
                let others = all.iter().find(|marks| marks.is_clear()).cloned();
                all[at] = learn(kind, from, others.as_ref())?;
            }
        }
        let [time, offset, size] = all;
        Ok(TableMarks { time, offset, size })
    }

    /// The place of a part of a line, if no field before it is quoted.
    fn field_of(&self, line: &[u8], index: usize) -> Range<usize> {
        let separator = self.splitter.separator();
        if line.contains(&b'"') || separator == crate::trace::fields::BLANKS {
            return 0..line.len();
        }
        let mut start = 0;
        for _ in 0..index {
            match line[start..].iter().position(|&byte| byte == separator) {
                Some(length) => start += length + 1,
                None => return line.len()..line.len(),
            }
        }
        let length = line[start..].iter().position(|&byte| byte == separator);
        start..length.map_or(line.len(), |length| start + length)
    }

    fn bad(&self, line: &[u8], index: usize, what: &str, expected: &str) -> Bad {
        let found = match self.splitter.field(index) {
            None => "the line ends".to_owned(),
            Some([]) => "an empty field".to_owned(),
            Some(field) => format!("`{}`", String::from_utf8_lossy(&field[..field.len().min(40)])),
        };
        let problem = format!("expected {what}: {expected}, found {found}");
        Bad::field(self.field_of(line, index), problem)
    }

    /// A whole number of a column, in its unit.
    fn number(
        &mut self,
        line: &[u8],
        from: FieldOrigin<u64>,
        part: RequestPart,
    ) -> Result<u64, Bad> {
        let (index, unit) = match from {
            FieldOrigin::Constant(value) => return Ok(value),
            FieldOrigin::Column { index, unit: ColumnUnit::Of(unit) } => (index, unit),
            FieldOrigin::Column { index, unit: ColumnUnit::Date } => (index, 1),
        };
        let (marks, what) = match part {
            RequestPart::Offset => (&mut self.marks.offset, "an address"),
            _ => (&mut self.marks.size, "a size"),
        };
        let number =
            self.splitter.field(index).and_then(|field| marks.whole(field, Some(self.line)));
        if let Some(number) = number.and_then(|number| number.checked_mul(unit)) {
            return Ok(number);
        }
        let expected = format!("a whole number{}", in_brackets(marks));
        Err(self.bad(line, index, what, &expected))
    }

    /// The time of a line, in nanoseconds.
    fn time(&mut self, line: &[u8], from: Option<FieldOrigin<u64>>) -> Result<u64, Bad> {
        let Some(FieldOrigin::Column { index, unit }) = from else { return Ok(0) };
        let field = self.splitter.field(index).unwrap_or_default();
        match unit {
            ColumnUnit::Date => {
                let Some(date) = moment(field) else {
                    return Err(self.bad(line, index, "a time", moments::EXPECTED));
                };
                let (has_zone, told) = *self.zones.get_or_insert((date.has_zone, self.line));
                match has_zone == date.has_zone {
                    true => Ok(date.ns),
                    false => Err(self.two_zones(line, index, date, told)),
                }
            }
            ColumnUnit::Of(unit) => self.marks.time.time(field, unit, Some(self.line)).ok_or_else(|| {
                let marks = in_brackets(&self.marks.time);
                let expected = format!("a number within 584 years{marks}");
                let mut bad = self.bad(line, index, "a time", &expected);
                if moment_ns(field).is_some() {
                    bad.remedy =
                        Some("these are dates: say time=COLUMN:iso in `columns`".to_owned());
                } else if field.iter().all(u8::is_ascii_digit) && !field.is_empty() {
                    bad.remedy = Some(
                        "if times count a smaller unit, say it behind a colon, as in `columns` time=COLUMN:us".to_owned(),
                    );
                }
                bad
            }),
        }
    }

    /// The error for a date with a zone in a column of dates without, or the other way round.
    #[cold]
    fn two_zones(&self, line: &[u8], index: usize, date: DatedTime, told: u64) -> Bad {
        let [this, other] =
            if date.has_zone { ["has a", "has none"] } else { ["has no", "has one"] };
        let problem = format!(
            "this date {this} zone, and that of line {told} {other}: they may be hours apart"
        );
        let remedy = "write all dates of the column with a zone (Z for UTC), or all without one";
        let field = self.field_of(line, index);
        Bad { kind: ErrorKind::Unsupported, field, problem, remedy: Some(remedy.to_owned()) }
    }

    /// The error for a line that has more or fewer fields than the first, or two lines in one.
    #[cold]
    fn odd_line(&self, line: &[u8], width: usize) -> Bad {
        let fields = |count: usize| {
            if count == 1 { "one field".to_owned() } else { format!("{count} fields") }
        };
        let problem = if width == self.width {
            "a CR stands within the line: lines of the file end in two ways".to_owned()
        } else {
            format!(
                "the line has {}, and the first line {}: its columns may be shifted",
                fields(width),
                fields(self.width)
            )
        };
        Bad::field(0..line.len(), problem)
    }

    /// The columns that are no part of requests, in words.
    fn unused(&self) -> Option<String> {
        let unused = self.layout.as_ref().ok()?.unused(self.columns.len());
        let name = |index: usize| match self.has_head {
            true => clip(&self.columns[index]),
            false => (index + 1).to_string(),
        };
        let mut names: Vec<String> = unused.map(name).collect();
        let what = if names.len() == 1 { "the column" } else { "the columns" };
        if names.len() > LISTED {
            names.truncate(LISTED);
            names.push("...".to_owned());
        }
        (!names.is_empty()).then(|| format!("{what} {}", names.join(", ")))
    }

    fn op(&mut self, line: &[u8], from: FieldOrigin<WordMeaning>) -> Result<WordMeaning, Bad> {
        match from {
            FieldOrigin::Constant(op) => Ok(op),
            FieldOrigin::Column { index, .. } => {
                let word = self.splitter.field(index).unwrap_or_default();
                self.seen.meaning(word, &self.words).ok_or_else(|| Bad {
                    remedy: Some(
                        "say what the words mean, as in `op` 0=read,1=write; operations are read, write, trim and \
                         flush"
                            .to_owned(),
                    ),
                    ..self.bad(line, index, "an operation", "a word such as R, write, trim or flush")
                })
            }
        }
    }
}

/// How a column's numbers are read, for an error.
#[cold]
fn in_brackets(marks: &NumberMarks) -> String {
    marks.with_tellers("its column").map_or(String::new(), |marks| format!(" ({marks})"))
}

impl SeenWords {
    /// What a word means. It is kept, to be said.
    fn meaning(&mut self, word: &[u8], words: &OpWords) -> Option<WordMeaning> {
        if let Some((_, meaning)) = self.words.iter().find(|(known, _)| known == word) {
            return Some(*meaning);
        }
        let meaning = words.meaning(word)?;
        if self.words.len() < KEPT_WORDS {
            self.words.push((word.to_vec(), meaning));
        } else {
            self.has_more = true;
        }
        Some(meaning)
    }

    fn in_words(&self) -> Option<String> {
        let all = self.words.iter();
        let all = all.map(|(word, meaning)| {
            format!("{} is {}", String::from_utf8_lossy(word), meaning.in_words())
        });
        let all: Vec<String> = all.collect();
        let more = if self.has_more { ", and more words" } else { "" };
        (!all.is_empty()).then(|| format!("of the operations, {}{more}", all.join(", ")))
    }
}

/// A unit that the column's name tells, where none was said: the usual one is taken, which may be wrong.
fn unit_doubt(given: &Given) -> Option<String> {
    let Given { part, text, unit: None } = given else { return None };
    let ColumnUnit::Of(usual) = given.unit() else { return None };
    let other = unit_of(*part, text).filter(|named| *named != usual && amount(text).is_none())?;
    let (taken, other) = match part {
        RequestPart::Time => ("seconds", time_name(other)),
        _ => ("bytes", other.to_string()),
    };
    let name = part.name();
    let said = pasteable(&format!("{name}={text}:{other}"));
    Some(format!(
        "{name} is read in {taken}, but its column is called {text}: is the unit another, as in `columns` {said}?"
    ))
}

#[cold]
fn two_meanings(problem: String) -> Bad {
    let remedy = "write the numbers of a column in one way";
    Bad { kind: ErrorKind::Unsupported, field: 0..0, problem, remedy: Some(remedy.to_owned()) }
}

/// Refuses words of operations in a table without a column of them.
fn with_used_words(
    layout: TableLayout,
    plan: &ColumnPlan,
    words: &OpWords,
) -> Result<TableLayout, Bad> {
    if words.is_empty() || layout.op.column().is_some() {
        return Ok(layout);
    }
    let said = plan.of(RequestPart::Op).map_or("", |given| given.text.as_str());
    Err(Bad {
        kind: ErrorKind::Unsupported,
        field: 0..0,
        problem: format!(
            "`op` says what words mean, but by `columns` all requests are alike: op={said}"
        ),
        remedy: Some(
            "leave `op` out, or name the column of the operations in `columns`: op=COLUMN"
                .to_owned(),
        ),
    })
}

#[cold]
fn no_plan(sample: &[u8]) -> Bad {
    let guess = suggest::guess(sample);
    let usual = || {
        "say which column is what, as in `columns` time=1:us,op=2,offset=3:512,size=4".to_owned()
    };
    let remedy = guess.in_words().unwrap_or_else(usual);
    Bad {
        kind: ErrorKind::Unsupported,
        field: 0..first_lines(sample).next().map_or(0, <[u8]>::len),
        problem: format!("a table can only be read if its columns are known{}", guess.shown),
        remedy: Some(remedy),
    }
}

#[cold]
fn no_column(problem: &str, length: usize, sample: &[u8]) -> Bad {
    let title = head::of(sample).is_none().then(|| head::below_title(sample)).flatten();
    let usual = || "name a column of the table in `columns`, or number it from 1".to_owned();
    Bad {
        kind: ErrorKind::Unsupported,
        field: 0..length,
        problem: problem.to_owned(),
        remedy: Some(title.map_or_else(usual, |(_, number)| head::without_title(number))),
    }
}

impl LineFormat for Csv {
    const SEPARATOR: u8 = b',';
    const FINDS_COLUMNS: bool = true;
    // Each table has its own: errors find their place by the layout.
    const COLUMNS: Columns = Columns { time: 0, address: 0, size: 0 };

    fn new(_: Units, options: &Options, sample: &[u8]) -> Csv {
        let mut csv = Csv::planned(&options.columns, options, sample);
        if options.columns.is_empty() {
            csv.layout = Err(no_plan(sample));
        }
        csv
    }

    fn line(&mut self, line: &[u8]) -> Result<Option<Record>, Bad> {
        self.line += 1;
        if format::is_void(line) {
            return Ok(None);
        }
        if self.head.take_if(|head| head == line).is_some() && self.layout.is_ok() {
            return Ok(None);
        }
        let layout = *self.layout.as_ref().map_err(Clone::clone)?;
        let width = self.splitter.split(line);
        if width != self.width || memchr::memchr(b'\r', line).is_some() {
            return Err(self.odd_line(line, width));
        }
        let ns = self.time(line, layout.time)?;
        let WordMeaning { op, fua } = self.op(line, layout.op)?;
        let stream = match layout.stream {
            None | Some(FieldOrigin::Constant(_)) => 0,
            Some(FieldOrigin::Column { index, .. }) => {
                let name = self.splitter.field(index).unwrap_or_default();
                self.names.number(name, || 0..line.len())?
            }
        };
        // A flush has no place.
        if op == Op::Flush {
            return Ok(Some(Record::flush(SimTime(ns), stream)));
        }
        let offset = self.number(line, layout.offset, RequestPart::Offset)?;
        let size = self.number(line, layout.size, RequestPart::Size)?;
        let extent = Extent::new(offset, size, &UNITS)
            .ok_or_else(|| Bad::field(0..line.len(), "address and size exceed 2^64 bytes"))?;
        self.widened += u64::from(extent.widened);
        Ok(Some(Record { fua, ..extent.record(SimTime(ns), op, stream) }))
    }

    fn place(line: &[u8], _: RecordPart) -> Range<usize> {
        0..line.len()
    }

    fn reads_last_number(&self) -> bool {
        let Ok(layout) = &self.layout else { return false };
        let last = self.width.checked_sub(1);
        last.is_some() && layout.numbers().contains(&last)
    }

    fn remarks(&self) -> Remarks {
        let mut remarks =
            Remarks { widened: self.widened, timeless: !self.has_time, ..Remarks::default() };
        remarks.assumed.extend(self.said.iter().cloned());
        remarks.warnings.extend(self.doubts.iter().cloned());
        let separator = separator_in_words(self.splitter.separator());
        remarks.assumed.push(format!("columns are separated by {separator}"));
        if self.has_head {
            // Names mean the same in all files; numbers may not.
            remarks.columns = self.has_numbers.then(|| self.columns.clone());
            remarks.assumed.push("the first line names the columns".to_owned());
        }
        if !self.has_time {
            remarks.assumed.push("requests have no times".to_owned());
        }
        if let Some((false, _)) = self.zones {
            remarks.assumed.push("dates say no zone, and are taken for UTC".to_owned());
        }
        let TableMarks { time, offset, size } = &self.marks;
        let marks = [(time, "the times"), (offset, "the addresses"), (size, "the sizes")];
        remarks.assumed.extend(marks.iter().filter_map(|(marks, what)| marks.in_words(what)));
        remarks.assumed.extend(self.seen.in_words());
        remarks.not_read.extend(self.unused());
        if !self.names.is_empty() {
            remarks.not_read.push("names of streams".to_owned());
            remarks.named = Some(self.names.streams("values of its column"));
        }
        remarks
    }
}
