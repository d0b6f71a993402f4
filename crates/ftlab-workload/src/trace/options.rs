//! The user's options for reading a trace. Without them the defaults of the format apply, and are
//! reported as assumptions.

use super::columns::{ColumnPlan, RequestPart};
use super::error::{ErrorKind, TraceError};
use super::format::{self, Format};
use super::formats::csv;
use super::gate::Late;
use super::op_words::OpWords;
use super::units::{SpaceUnit, TimeUnit, Units};

/// Which events of blkparse output are the requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlkEvent {
    /// `D`: issued to the driver, after merging; what the device sees.
    Issue,
    /// `Q`: queued by the file system or application, before merging.
    Queue,
    /// `C`: completed. Its time is that of the end, so it is only used on demand.
    Complete,
}

impl BlkEvent {
    /// All choices with their names on the command line.
    pub const ALL: [(&'static str, BlkEvent); 3] =
        [("issue", BlkEvent::Issue), ("queue", BlkEvent::Queue), ("complete", BlkEvent::Complete)];

    /// Returns the choice by its name or by blkparse's letter.
    #[must_use]
    pub fn named(name: &str) -> Option<BlkEvent> {
        let is_it = |(known, event): &&(&str, BlkEvent)| {
            *known == name || event.letter().as_bytes() == name.as_bytes()
        };
        BlkEvent::ALL.iter().find(is_it).map(|(_, event)| *event)
    }

    /// Returns blkparse's letter.
    #[must_use]
    pub const fn letter(self) -> &'static str {
        match self {
            BlkEvent::Issue => "D",
            BlkEvent::Queue => "Q",
            BlkEvent::Complete => "C",
        }
    }
}

/// How to read a trace.
#[derive(Clone, Debug)]
pub struct Options {
    /// The format; detected by default.
    pub format: Option<&'static Format>,
    /// The unit of times.
    pub time_unit: Option<TimeUnit>,
    /// The unit of addresses.
    pub address_unit: Option<SpaceUnit>,
    /// The unit of sizes.
    pub size_unit: Option<SpaceUnit>,
    /// For `csv`: which column is what.
    pub columns: ColumnPlan,
    /// For `csv`: what the words of operations mean.
    pub op_words: OpWords,
    /// Swap reads and writes, for files with the flag inverted.
    pub invert_ops: bool,
    /// Which events of blkparse output are the requests; by default issues, or
    /// queue events if the beginning of the file has no issues.
    pub blkparse_event: Option<BlkEvent>,
    /// Skip malformed or impossible lines, and count them.
    pub skip_malformed: bool,
    /// Accept implausible values as they are.
    pub accept_implausible: bool,
    /// How many records are held back to sort them. A record at most this many places late is
    /// moved to its place.
    pub order_window: usize,
    /// What to do with a record that is too late for the window.
    pub late: Late,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            format: None,
            time_unit: None,
            address_unit: None,
            size_unit: None,
            columns: ColumnPlan::default(),
            op_words: OpWords::default(),
            invert_ops: false,
            blkparse_event: None,
            skip_malformed: false,
            accept_implausible: false,
            // Clocks of one second (Tencent) leave tens of thousands of records unordered.
            order_window: 64 << 10,
            late: Late::default(),
        }
    }
}

impl Options {
    /// Sets the format by name.
    pub fn with_format(self, name: &str) -> Result<Options, super::TraceError> {
        Ok(Options { format: Some(format::named(name)?), ..self })
    }

    /// Returns the units for a file of `format`.
    pub(crate) fn units(&self, format: &Format) -> Units {
        Units {
            time: self.time_unit.unwrap_or(format.units.time),
            address: self.address_unit.unwrap_or(format.units.address),
            size: self.size_unit.unwrap_or(format.units.size),
        }
    }

    /// Joins the units of the whole trace to those of its columns.
    ///
    /// # Errors
    /// Options contradict each other, or one of them would have no effect.
    pub(crate) fn settled(mut self, name: &str) -> Result<Options, TraceError> {
        let fails = |problem: String, remedy: &str| {
            Err(TraceError::new(ErrorKind::Unsupported, name, problem, remedy))
        };
        if self.columns.is_empty() {
            let idle = !self.op_words.is_empty();
            return if idle {
                let problem =
                    "`op` says what the words of a table mean, which is read by `columns`";
                fails(
                    problem.to_owned(),
                    "say which column is what with `columns`, or leave `op` out",
                )
            } else {
                Ok(self)
            };
        }
        if let Some(format) = self.format.filter(|format| format.name != csv::FORMAT.name) {
            let problem = format!(
                "`columns` reads a table of one's own, but `format` {} has columns of its own",
                format.name
            );
            return fails(problem, "leave one of them out");
        }
        let time = self.time_unit.map(TimeUnit::ns);
        let space = |unit: Option<SpaceUnit>| unit.map(SpaceUnit::bytes);
        let units = [
            (RequestPart::Time, time, "time_unit"),
            (RequestPart::Offset, space(self.address_unit), "address_unit"),
            (RequestPart::Size, space(self.size_unit), "size_unit"),
        ];
        for (part, unit, option) in units {
            let Some(unit) = unit else { continue };
            if let Err(problem) = self.columns.set_unit(part, unit, option) {
                return fails(problem, "say the unit once, or leave it out");
            }
        }
        Ok(self)
    }
}
