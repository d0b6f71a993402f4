//! Windows Performance Analyzer's table of disk I/O, as WPA and wpaexporter write it: columns by the names in its head, separated
//! by commas or semicolons, with the numbers of the country. Arrivals are initiations.

use std::ops::Range;

use ftlab::units::Nanos;

use crate::trace::columns::{ColumnPlan, Given, RequestPart};
use crate::trace::error::Bad;
use crate::trace::format::{self, Codec, Columns, Format, LineFormat, Remarks};
use crate::trace::gate::RecordPart;
use crate::trace::options::Options;
use crate::trace::record::Record;
use crate::trace::table::{Splitter, first_lines, guess_separator};
use crate::trace::units::{SpaceUnit, TimeUnit, Units};

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
    codec: Codec::Text { fit: format::fit::<Wpa>, open: format::open::<Wpa>, writer: None },
};

/// The names of the columns, and what else they are called.
const NAMES: [(RequestPart, &[&str]); 5] = [
    (RequestPart::Op, &["IO Type"]),
    (RequestPart::Time, &["Init Time (s)"]),
    (RequestPart::Offset, &["Min Offset"]),
    (RequestPart::Size, &["Size (B)", "Size"]),
    (RequestPart::Stream, &["Disk", "Disks"]),
];

struct Wpa {
    /// None if the head of the file is not of such a table.
    table: Option<Csv>,
}

/// The plan for a head that has the columns.
fn plan(sample: &[u8]) -> Option<ColumnPlan> {
    let mut splitter = Splitter::new(guess_separator(sample)?);
    splitter.split(first_lines(sample).next()?);
    let head = splitter.all();
    let given = NAMES.iter().filter_map(|(part, names)| {
        let found = names.iter().find(|name| head.iter().any(|column| column == *name))?;
        let unit = if *part == RequestPart::Time { TimeUnit::S.ns() } else { 1 };
        Some(Given { part: *part, text: (*found).to_owned(), unit })
    });
    let plan = ColumnPlan { given: given.collect() };
    // A table without disks is of one.
    let needed = [RequestPart::Op, RequestPart::Time, RequestPart::Offset, RequestPart::Size];
    needed.into_iter().all(|part| plan.of(part).is_some()).then_some(plan)
}

impl LineFormat for Wpa {
    const SEPARATOR: u8 = b',';
    const COLUMNS: Columns = Columns { time: 0, address: 0, size: 0 };

    fn new(_: Units, options: &Options, sample: &[u8]) -> Wpa {
        Wpa { table: plan(sample).map(|plan| Csv::planned(&plan, options, sample)) }
    }

    fn line(&mut self, line: &[u8]) -> Result<Option<Record>, Bad> {
        let lacks =
            "expected a table with the columns IO Type, Init Time (s), Min Offset and Size (B)";
        match &mut self.table {
            Some(table) => table.line(line),
            None => Err(Bad::field(0..line.len(), lacks)),
        }
    }

    fn place(line: &[u8], part: RecordPart) -> Range<usize> {
        Csv::place(line, part)
    }

    fn remarks(&self) -> Remarks {
        self.table.as_ref().map_or_else(Remarks::default, Csv::remarks)
    }
}
