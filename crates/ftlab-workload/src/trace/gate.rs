//! The checks that every record passes: impossible values are refused with a remedy, odd ones are
//! counted.
//!
//! The limits are far beyond any device, so that they catch misread units and damaged lines, not
//! unusual loads.

use std::sync::Arc;

use ftlab::host::Op;
use ftlab::units::{Nanos, SECTOR_BYTES, SimTime};

use super::columns::RequestPart;
use super::error::{Bad, ErrorKind, TraceError};
use super::options::Options;
use super::record::Record;
use super::seams::{ClockSoFar, Fallback, FileOrder, range_ns, wrapped};
use super::shape::Repeats;
use super::units::TimeUnit;

/// A rate above this over a whole trace (10^8 requests per second) means a misread clock.
const LEAST_NS_PER_REQUEST: u64 = 10;
/// The least number of requests for refusing a clock; a burst of fewer may share one time.
pub(crate) const RATE_FROM: u64 = 1_000;
/// 10 PB, in sectors.
const LARGEST_SPAN: u64 = 10_000_000_000_000_000 / 512;
/// 1 GiB, in sectors.
const LARGEST_REQUEST: u32 = (1 << 30) / 512;
/// 1 TiB, in sectors; refused even with `accept_implausible`.
const LARGEST_EVER: u32 = 1 << 31;
/// A year; no trace pauses that long between two requests.
const LONGEST_PAUSE_NS: u64 = 365 * 24 * 3600 * 1_000_000_000;

/// The part of a record that is refused; the format knows its column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordPart {
    Time,
    Address,
    Size,
}

/// The treatment of a record that is too early for its place in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Late {
    /// If the sorting window does not reach back to its place, it is an error.
    #[default]
    Refuse,
    /// If the sorting window does not reach back, it gets the time of the last record before it, and is counted.
    Clamp,
    /// If it is so early that another recording seems to begin, its clock goes on from the time reached.
    Continue,
}

impl Late {
    /// All choices with their names on the command line.
    pub const ALL: [(&'static str, Late); 3] =
        [("refuse", Late::Refuse), ("clamp", Late::Clamp), ("continue", Late::Continue)];
}

/// Why a record is refused.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub part: RecordPart,
    pub kind: ErrorKind,
    pub problem: String,
    pub remedy: String,
}

impl Refusal {
    /// Adds the field that the refusal concerns.
    pub fn at(self, field: std::ops::Range<usize>) -> Bad {
        Bad { kind: self.kind, field, problem: self.problem, remedy: Some(self.remedy) }
    }
}

/// A size too large for a request, in words. One of more sectors than their number holds is the largest.
#[cold]
fn size_in_words(sectors: u32) -> String {
    match sectors {
        u32::MAX => "2 TiB or more".to_owned(),
        _ => format!("{} bytes", u64::from(sectors) * SECTOR_BYTES),
    }
}

/// Refuses a request beyond the sorting window of a file that is in reverse order.
#[cold]
fn reversed(back: Nanos) -> Refusal {
    Refusal {
        part: RecordPart::Time,
        kind: ErrorKind::Unordered,
        problem: format!(
            "the file is in reverse order of time: this is at least {back} too early for its place"
        ),
        remedy: "reverse its lines, such as by tac FILE, with the header first if it has one; or an `order_window` of at \
                 least its number of requests sorts it, in memory"
            .to_owned(),
    }
}

/// The state of the checks, for records in the order of the file.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    /// What was said of the trace: what is accepted, and units for remedies.
    options: Arc<Options>,
    /// The resolution of the clock.
    pub tick_ns: u64,
    /// Whether the format has no times.
    pub timeless: bool,

    /// Records before this time are too late to be sorted in.
    pub horizon: SimTime,
    pub records: u64,
    pub sectors: u64,
    pub aligned_addresses: u64,
    pub aligned_sizes: u64,
    pub out_of_order: u64,
    pub late_records: u64,
    pub dropped: u64,
    pub fallback: Fallback,
    pub order: FileOrder,
    pub repeats: Repeats,
    /// What is added to the times of the file, because its clock began anew.
    ahead_ns: u64,
    /// The time at which it did so last, and the records before.
    anew: Option<(u64, u64)>,
    earliest: u64,
    latest: u64,
    /// How far the latest time is ahead of the one that was the latest before, and which request has it.
    leap: (u64, u64),
    lowest: u64,
    highest: u64,
}

impl Gate {
    /// Whether the file is in reverse order of time, so far.
    pub fn is_reversed(&self) -> bool {
        self.order.is_reversed()
    }

    /// How records too early for their places are treated.
    pub fn late(&self) -> Late {
        self.options.late
    }

    pub fn new(options: Arc<Options>, tick_ns: u64) -> Gate {
        Gate {
            options,
            tick_ns,
            timeless: false,
            horizon: SimTime::ZERO,
            records: 0,
            sectors: 0,
            aligned_addresses: 0,
            aligned_sizes: 0,
            out_of_order: 0,
            late_records: 0,
            dropped: 0,
            fallback: Fallback::default(),
            order: FileOrder::default(),
            repeats: Repeats::default(),
            ahead_ns: 0,
            anew: None,
            earliest: u64::MAX,
            latest: 0,
            leap: (0, 0),
            lowest: u64::MAX,
            highest: 0,
        }
    }

    /// Checks a record. Returns true if it counts, false if it is skipped.
    #[inline]
    pub fn admit(&mut self, record: &mut Record) -> Result<bool, Refusal> {
        let at_in_file = record.at.0;
        record.at.0 = record.at.0.saturating_add(self.ahead_ns);
        let mut at = record.at.0;
        if record.op != Op::Flush {
            let end = record.end();
            let lowest = self.lowest.min(record.lba.0);
            let highest = self.highest.max(end);
            let odd = record.sectors == 0
                || record.sectors > LARGEST_REQUEST
                || highest - lowest > LARGEST_SPAN;
            if odd && !self.judge_extent(record, highest - lowest)? {
                return Ok(false);
            }
            (self.lowest, self.highest) = (lowest, highest);
        }
        if at < self.latest {
            at = self.judge_disorder(record)?;
        } else if at - self.latest > LONGEST_PAUSE_NS && self.records > 0 {
            self.judge_pause(at - self.latest)?;
        }
        self.order.pass(at_in_file);
        if at >= self.latest {
            self.leap = (at - self.latest, self.records + 1);
            self.latest = at;
        }
        self.earliest = self.earliest.min(at);
        self.records += 1;
        self.repeats.add(record);
        self.sectors += u64::from(record.sectors);
        self.aligned_addresses += u64::from(record.lba.0.is_multiple_of(8));
        self.aligned_sizes += u64::from(record.sectors.is_multiple_of(8));
        Ok(true)
    }

    #[cold]
    fn judge_extent(&mut self, record: &Record, span: u64) -> Result<bool, Refusal> {
        let refuse = |part, problem, remedy: &str| {
            let remedy = remedy.to_owned();
            Err(Refusal { part, kind: ErrorKind::Implausible, problem, remedy })
        };
        if self.options.accept_implausible && record.sectors <= LARGEST_EVER {
            self.dropped += u64::from(record.sectors == 0);
            return Ok(record.sectors != 0);
        }
        if record.sectors == 0 {
            return refuse(
                RecordPart::Size,
                "a request without length".to_owned(),
                "`skip_malformed` skips such lines and counts them",
            );
        }
        if record.sectors > LARGEST_REQUEST {
            return refuse(
                RecordPart::Size,
                format!("a request of {} (the limit is 1 GiB)", size_in_words(record.sectors)),
                &format!(
                    "{}up to 1 TiB `accept_implausible` takes it",
                    self.other_unit(RequestPart::Size)
                ),
            );
        }
        refuse(
            RecordPart::Address,
            format!(
                "addresses span {} TB (the limit is 10 PB)",
                (span >> 11) * 1_048_576 / 1_000_000_000_000
            ),
            &format!("{}if it is true, `accept_implausible`", self.other_unit(RequestPart::Offset)),
        )
    }

    /// How to say another unit of a part, as the first piece of a remedy; nothing if it can have none.
    #[cold]
    fn other_unit(&self, part: RequestPart) -> String {
        let (what, option, units) = match part {
            RequestPart::Time => ("times", "time_unit", "ns|filetime|us|ms|s"),
            RequestPart::Offset => ("addresses", "address_unit", "byte|sector|4k"),
            _ => ("sizes", "size_unit", "byte|sector|4k"),
        };
        if self.options.columns.is_empty() {
            return format!("if {what} count other units, say `{option}` {units}; ");
        }
        let first = if part == RequestPart::Time { "us" } else { "sector" };
        let said = self.options.columns.with_unit(part, first);
        said.map_or(String::new(), |said| {
            format!("if {what} count other units, say so behind a colon, as in `columns` {said} ({units}); ")
        })
    }

    /// Judges a record that is behind. Returns the time that counts for the span of the trace.
    #[cold]
    fn judge_disorder(&mut self, record: &mut Record) -> Result<u64, Refusal> {
        let at = record.at.0;
        let back_ns = self.latest - at;
        let (begin, before) = self.anew.unwrap_or((self.earliest, 0));
        let clock = ClockSoFar {
            latest_ns: self.latest,
            span_ns: self.latest.saturating_sub(begin),
            records: self.records,
            of_recording: self.records - before,
            tick_ns: self.tick_ns,
            leap: self.leap,
        };
        if self.fallback.note(back_ns, clock) && self.options.late == Late::Continue {
            record.at.0 = self.begin_anew(at);
            return Ok(record.at.0);
        }
        if record.at < self.horizon {
            if self.options.late != Late::Clamp {
                let back = self.horizon - record.at;
                if self.order.is_reversed() {
                    return Err(reversed(back));
                }
                return Err(Refusal {
                    part: RecordPart::Time,
                    kind: ErrorKind::Unordered,
                    problem: format!("at least {back} too early for its place in the file"),
                    remedy: "a larger `order_window` sorts more; `late` clamp gives such \
                             requests the time of the one before and counts them; if another \
                             recording begins here, or a counter wrapped, `late` continue"
                        .to_owned(),
                });
            }
            record.at = self.horizon;
            self.late_records += 1;
        }
        self.out_of_order += 1;
        Ok(at)
    }

    /// How far the clock fell back, if it has not reached its latest time again.
    pub fn fallen_ns(&self) -> Option<u64> {
        self.fallback.lasts(self.latest).then_some(self.fallback.back_ns)
    }

    /// Lets the clock go on from the latest time, or beyond the range of a counter that wrapped. Returns the time of
    /// the record that has the time `at`.
    fn begin_anew(&mut self, at: u64) -> u64 {
        let (latest, time) = (self.latest - self.ahead_ns, at - self.ahead_ns);
        let gap = wrapped(latest, time).map_or(0, |unit| range_ns(unit) - (latest - time));
        let now = self.latest.saturating_add(gap);
        (self.ahead_ns, self.anew) = (now - time, Some((now, self.records)));
        now
    }

    #[cold]
    fn judge_pause(&self, pause_ns: u64) -> Result<(), Refusal> {
        if self.options.accept_implausible {
            return Ok(());
        }
        let days = pause_ns / (24 * 3600 * 1_000_000_000);
        Err(Refusal {
            part: RecordPart::Time,
            kind: ErrorKind::Implausible,
            problem: format!("the time jumps ahead by {days} days"),
            remedy: format!(
                "{}if this line is damaged, `skip_malformed`; if lines of two clocks are mixed, such as the time of day \
                 and the time since boot, keep those of one; if it is true, `accept_implausible`",
                self.other_unit(RequestPart::Time)
            ),
        })
    }

    /// How to say a larger unit of the times, as the first piece of a remedy.
    #[cold]
    fn larger_unit(&self) -> String {
        let by_columns = || self.options.columns.with_unit(RequestPart::Time, "ms");
        match self.options.columns.is_empty() {
            true => "times probably count larger units: say `time_unit` us|ms|s; ".to_owned(),
            false => by_columns().map_or(String::new(), |said| {
                format!("times probably count larger units: say so behind a colon, as in `columns` {said} (us|ms|s); ")
            }),
        }
    }

    /// Returns the time between the first and the last record.
    pub fn duration_ns(&self) -> u64 {
        self.latest.saturating_sub(self.earliest)
    }

    /// Whether there are several records, and all have one time.
    pub fn is_at_once(&self) -> bool {
        self.records > 1 && self.duration_ns() == 0
    }

    /// Returns the requests per second so far; `None` with less than `from` requests.
    pub fn rate(&self, from: u64) -> Option<f64> {
        let seconds = self.duration_ns().saturating_add(self.tick_ns) as f64 / 1e9;
        (self.records >= from && !self.timeless).then(|| (self.records - 1) as f64 / seconds)
    }

    /// Refuses a clock that stands still or runs absurdly fast, which only many records show.
    pub fn judge_clock(&self, file: &str) -> Result<(), TraceError> {
        if self.options.accept_implausible || self.timeless || self.records < 2 {
            return Ok(());
        }
        let refuse = |problem: String, remedy: &str| {
            Err(TraceError::new(ErrorKind::Implausible, file, problem, remedy))
        };
        // By a clock of seconds a short trace is over at time 0.
        if self.latest == 0 && self.tick_ns < TimeUnit::S.ns() {
            return refuse(
                format!("all {} requests arrive at time 0", self.records),
                &format!(
                    "check that the time column is the right one (`{}`); if the trace has no times, `accept_implausible`, \
                     and replay it by queue depth",
                    if self.options.columns.is_empty() { "format" } else { "columns" }
                ),
            );
        }
        let requests = self.records - 1;
        let least = requests.saturating_mul(LEAST_NS_PER_REQUEST);
        if self.records >= RATE_FROM && least > self.duration_ns().saturating_add(self.tick_ns) {
            return refuse(
                format!(
                    "{} requests within {}: more than 100 million a second",
                    self.records,
                    Nanos(self.duration_ns())
                ),
                &format!("{}if it is true, `accept_implausible`", self.larger_unit()),
            );
        }
        Ok(())
    }
}
