//! Windows Performance Analyzer's table of disk I/O, as WPA and wpaexporter write it: columns by the names in its head, separated
//! by commas or semicolons, with the numbers of the country. Arrivals are initiations.

use std::ops::Range;

use ftlab::options::text::clip;
use ftlab::units::Nanos;

use crate::trace::columns::{ColumnPlan, ColumnUnit, Given, RequestPart, pasteable};
use crate::trace::error::Bad;
use crate::trace::format::{self, Codec, Columns, Format, LineFormat, Remarks};
use crate::trace::gate::RecordPart;
use crate::trace::options::Options;
use crate::trace::record::Record;
use crate::trace::table::Splitter;
use crate::trace::units::{Epoch, SpaceUnit, TimeUnit, Units, time_name};

use super::csv::Csv;

pub(crate) static FORMAT: Format = Format {
    name: "wpa",
    doc: "Windows Performance Analyzer's table of disk I/O (WPA, wpaexporter); the disk is the stream",
    columns: "by name: IO Type, Init Time (s), Min Offset, Size (B), Disk",
    units: Units { time: TimeUnit::S, address: SpaceUnit::Byte, size: SpaceUnit::Byte },
    tick: Nanos(100),
    unit_varies: false,
    source: "Windows Performance Analyzer, graph Disk Usage; wpaexporter.exe",
    not_read: &["other columns"],
    address_varies: false,
    epoch: Epoch::Own,
    codec: Codec::Text { fit: format::fit::<Wpa>, open: format::open::<Wpa>, writer: None },
};

/// The columns that a request needs, and the disk, by their names without the unit that WPA puts behind: `Size (B)`.
const NAMES: [(RequestPart, &str); 5] = [
    (RequestPart::Op, "IO Type"),
    (RequestPart::Time, "Init Time"),
    (RequestPart::Offset, "Min Offset"),
    (RequestPart::Size, "Size"),
    (RequestPart::Stream, "Disk"),
];
/// What may take the place of the column of times.
const LATER: &str = "Complete Time";
/// How many columns an error lists.
const LISTED: usize = 20;
/// Columns as WPA alone calls them. Other tables have a size and a disk, too.
const OWN: [&str; 4] = ["IO Type", "Init Time", "Min Offset", LATER];
/// A line with so many of these is a head.
const TELLING: usize = 2;
/// How many lines may come before the head.
const HEAD_WITHIN: usize = 16;

/// A reader of a table, or what is wrong with it.
enum Wpa {
    Table(Box<Csv>),
    /// It has the head of such a table, but not all columns: what it lacks and has, and the remedy.
    Lacks(String, String),
    /// It has no such head.
    Other,
}

/// A column of the head with its unit: `Init Time (s)`.
fn name_and_unit(column: &str) -> (&str, Option<&str>) {
    match column.strip_suffix(')').and_then(|column| column.split_once(" (")) {
        Some((name, unit)) => (name, Some(unit)),
        None => (column, None),
    }
}

/// Nanoseconds or bytes of a unit in a head; none if it is not known or too coarse to be exact.
fn unit(part: RequestPart, unit: Option<&str>) -> Option<u64> {
    match (part, unit) {
        (RequestPart::Time, Some("s")) => Some(TimeUnit::S.ns()),
        (RequestPart::Time, Some("ms")) => Some(TimeUnit::Ms.ns()),
        (RequestPart::Time, Some("us" | "µs" | "μs")) => Some(TimeUnit::Us.ns()),
        (RequestPart::Time, Some("ns")) => Some(TimeUnit::Ns.ns()),
        (RequestPart::Time, _) => None,
        (RequestPart::Offset | RequestPart::Size, None | Some("B")) => Some(1),
        (RequestPart::Offset | RequestPart::Size, Some(_)) => None,
        _ => Some(1),
    }
}

/// Whether a column is the one of this name.
fn is_called(column: &str, known: &str) -> bool {
    let name = name_and_unit(column).0;
    name == known || (known == "Disk" && name == "Disks")
}

/// The beginning of a file from the head of such a table, and the columns of that.
fn head(sample: &[u8]) -> Option<(&[u8], Vec<String>)> {
    let mut rest = sample;
    for _ in 0..HEAD_WITHIN {
        let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let line = rest[..end].strip_suffix(b"\r").unwrap_or(&rest[..end]);
        let columns = [b',', b';', b'\t'].into_iter().map(|separator| {
            let mut splitter = Splitter::new(separator);
            splitter.split(line);
            splitter.all()
        });
        let known = |columns: &Vec<String>| {
            let is_there = |known: &&&str| columns.iter().any(|column| is_called(column, known));
            OWN.iter().filter(is_there).count()
        };
        if let Some(columns) = columns.max_by_key(known).filter(|columns| known(columns) >= TELLING)
        {
            return Some((rest, columns));
        }
        rest = rest.get(end + 1..)?;
    }
    None
}

/// The plan for a head, or what it lacks and the remedy.
fn plan(columns: &[String]) -> Result<ColumnPlan, (String, String)> {
    let (mut given, mut lacking) = (Vec::new(), Vec::new());
    for (part, known) in NAMES {
        let there: Vec<&String> =
            columns.iter().filter(|column| is_called(column, known)).collect();
        let usable = there.iter().find_map(|column| {
            let unit = unit(part, name_and_unit(column).1)?;
            let unit = Some(ColumnUnit::Of(unit));
            Some(Given { part, text: (*column).clone(), unit })
        });
        match (usable, there.first()) {
            (Some(column), _) => given.push(column),
            (None, Some(column)) => {
                lacking.push(format!("{known} in a unit that is exact, and not {}", clip(column)))
            }
            // A table without disks is of one.
            (None, None) if part == RequestPart::Stream => {}
            (None, None) => lacking.push(known.to_owned()),
        }
    }
    if lacking.is_empty() {
        return Ok(ColumnPlan { given });
    }
    let mut listed: Vec<String> = columns.iter().take(LISTED).map(|column| clip(column)).collect();
    listed.extend((columns.len() > LISTED).then(|| "...".to_owned()));
    let problem = format!(
        "the table of WPA lacks the column {}; it has {}",
        lacking.join(", and the column "),
        listed.join(", ")
    );
    Err((problem, remedy(columns, given)))
}

/// How to get the columns; or, if others can take their place, how to read them.
fn remedy(columns: &[String], given: Vec<Given>) -> String {
    let show = "let WPA show it (View Editor: IO Type, Init Time (s), Min Offset, Size (B), Disk) and export again";
    let mut parts: Vec<String> = Vec::new();
    for (part, _) in NAMES {
        let usable = given.iter().find(|given| given.part == part).map(|given| given.text.clone());
        let later = || {
            let is_later = |column: &&String| is_called(column, LATER);
            columns.iter().find(is_later).filter(|_| part == RequestPart::Time).cloned()
        };
        let Some(column) = usable.or_else(later) else {
            if part == RequestPart::Stream {
                continue;
            }
            return show.to_owned();
        };
        let Some(size) = unit(part, name_and_unit(&column).1) else { return show.to_owned() };
        let unit = match part {
            RequestPart::Time => format!(":{}", time_name(size)),
            _ => String::new(),
        };
        parts.push(format!("{}={column}{unit}", part.name()));
    }
    let columns = pasteable(&parts.join(","));
    format!("{show}; or, with arrivals when requests ended: `columns` {columns}")
}

impl LineFormat for Wpa {
    const SEPARATOR: u8 = b',';
    const FINDS_COLUMNS: bool = true;
    const COLUMNS: Columns = Columns { time: 0, address: 0, size: 0 };

    fn new(_: Units, options: &Options, sample: &[u8]) -> Wpa {
        let Some((table, columns)) = head(sample) else { return Wpa::Other };
        match plan(&columns) {
            Ok(plan) => Wpa::Table(Box::new(Csv::planned(&plan, options, table))),
            Err((lacks, remedy)) => Wpa::Lacks(lacks, remedy),
        }
    }

    fn line(&mut self, line: &[u8]) -> Result<Option<Record>, Bad> {
        match self {
            Wpa::Table(table) => table.line(line),
            // Said once there is no request.
            Wpa::Lacks(..) => Ok(None),
            Wpa::Other => Err(Bad::field(
                0..line.len(),
                "expected a table with the columns IO Type, Init Time (s), Min Offset and Size (B)",
            )),
        }
    }

    fn place(line: &[u8], part: RecordPart) -> Range<usize> {
        Csv::place(line, part)
    }

    fn remarks(&self) -> Remarks {
        match self {
            Wpa::Table(table) => in_words(table.remarks()),
            Wpa::Lacks(lacks, remedy) => {
                Remarks { instead: Some((lacks.clone(), remedy.clone())), ..Remarks::default() }
            }
            Wpa::Other => Remarks::default(),
        }
    }
}

/// The remarks of a table whose columns nobody said.
fn in_words(mut remarks: Remarks) -> Remarks {
    for text in &mut remarks.assumed {
        if let Some(column) = text.strip_suffix(", as said") {
            *text = format!("{column}, by its name in the head");
        }
        *text = text.replace("the values of its column", "the disks");
    }
    let arrival = "a request arrives at its Init Time; when it ended is not used";
    remarks.assumed.push(arrival.to_owned());
    remarks
}
