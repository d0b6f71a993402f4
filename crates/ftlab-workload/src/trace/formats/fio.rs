//! fio I/O logs, version 2 (`file action offset length`) and version 3 (`time file action offset
//! length`), offset and length in bytes. The stream is the file, numbered in order of appearance.
//!
//! Version 3 has times in microseconds since the log began. Version 2 has only `wait` lines. By
//! fio's manual they wait for microseconds after the previous wait; by its code, until milliseconds
//! after the start. The reader follows the manual and reports that as an assumption.

use std::collections::BTreeMap;

use ftlab::host::Op;
use ftlab::units::{Nanos, SimTime};

use crate::trace::error::Bad;
use crate::trace::fields::{BLANKS, Fields};
use crate::trace::format::{self, Codec, Columns, Format, LineFormat, LineWriter, Remarks};
use crate::trace::options::Options;
use crate::trace::record::Record;
use crate::trace::units::{Epoch, SpaceUnit, TimeUnit, Units};

use super::{FORCED, ZONES, put};

const UNITS: Units = Units { time: TimeUnit::Us, address: SpaceUnit::Byte, size: SpaceUnit::Byte };
const SOURCE: &str = "fio HOWTO, \"Trace file format\"; read_iolog and log_io_u in iolog.c";

/// Version 2.
pub(crate) mod v2 {
    use super::*;

    pub(crate) static FORMAT: Format = Format {
        name: "fio-v2",
        doc: "fio I/O log, version 2: no times, but waits; the file is the stream",
        columns: "file read|write|trim|sync|wait offset length",
        units: UNITS,
        tick: Nanos(1_000),
        unit_varies: false,
        source: SOURCE,
        not_read: &["names of files"],
        address_varies: false,
        epoch: Epoch::Own,
        codec: Codec::Text {
            fit: format::fit::<Fio<2>>,
            open: format::open::<Fio<2>>,
            writer: Some(|| Box::new(FioWriter::new(2))),
        },
    };
}

/// Version 3.
pub(crate) mod v3 {
    use super::*;

    pub(crate) static FORMAT: Format = Format {
        name: "fio-v3",
        doc: "fio I/O log, version 3: times in microseconds; the file is the stream",
        columns: "time file read|write|trim|sync offset length",
        units: UNITS,
        tick: Nanos(1_000),
        unit_varies: false,
        source: SOURCE,
        not_read: &["names of files"],
        address_varies: false,
        epoch: Epoch::Own,
        codec: Codec::Text {
            fit: format::fit::<Fio<3>>,
            open: format::open::<Fio<3>>,
            writer: Some(|| Box::new(FioWriter::new(3))),
        },
    };
}

/// Returns the first line of a log.
const fn title(version: u8) -> &'static str {
    if version == 2 { "fio version 2 iolog" } else { "fio version 3 iolog" }
}

/// More files than any job has; limits the memory that a damaged log can use.
const MOST_FILES: usize = 1 << 16;

struct Fio<const VERSION: u8> {
    units: Units,
    begun: bool,
    files: BTreeMap<Box<[u8]>, u32>,
    clock: SimTime,
    waits: u64,
    widened: u64,
}

impl<const VERSION: u8> LineFormat for Fio<VERSION> {
    const SEPARATOR: u8 = BLANKS;
    const COLUMNS: Columns = if VERSION == 2 {
        Columns { time: 2, address: 2, size: 3 }
    } else {
        Columns { time: 0, address: 3, size: 4 }
    };

    fn new(units: Units, _: &Options, _: &[u8]) -> Self {
        let files = BTreeMap::new();
        Fio { units, begun: false, files, clock: SimTime::ZERO, waits: 0, widened: 0 }
    }

    fn line(&mut self, line: &[u8]) -> Result<Option<Record>, Bad> {
        if !self.begun {
            self.begun = line.trim_ascii() == title(VERSION).as_bytes();
            return if self.begun { Ok(None) } else { Err(no_title(line, VERSION)) };
        }
        let mut fields = Fields::<BLANKS>::new(line);
        if VERSION == 3 {
            self.clock = fields.time(self.units.time.ns())?;
        }
        let file = fields.text();
        if file.is_empty() {
            return Err(fields.bad("a file name", "any"));
        }
        let op = match fields.text() {
            b"read" => Op::Read,
            b"write" => Op::Write,
            b"trim" => Op::Trim,
            b"sync" | b"datasync" | b"sync_file_range" => {
                let stream = self.stream(file, &fields)?;
                return Ok(Some(Record::flush(self.clock, stream)));
            }
            b"wait" if VERSION == 2 => return self.wait(&mut fields).map(|()| None),
            b"add" | b"open" | b"close" | b"unlink" => {
                return self.stream(file, &fields).map(|_| None);
            }
            _ => {
                return Err(fields
                    .bad("an action", "read, write, trim, sync, datasync, add, open or close"));
            }
        };
        let extent = fields.extent(&self.units)?;
        if !fields.is_done() {
            fields.text();
            return Err(
                fields.bad("the end of the line", "an offset and a length behind the action")
            );
        }
        self.widened += u64::from(extent.widened);
        Ok(Some(extent.record(self.clock, op, self.stream(file, &fields)?)))
    }

    fn remarks(&self) -> Remarks {
        let mut remarks = Remarks { widened: self.widened, ..Remarks::default() };
        if VERSION == 2 && self.waits == 0 {
            remarks.timeless = true;
            remarks
                .assumed
                .push("all requests arrive at time 0, because the log has no waits".to_owned());
        } else if VERSION == 2 {
            remarks.assumed.push(format!(
                "a wait lasts so many {} after the wait before, as fio's manual says (its code \
                 waits until so many milliseconds after the start)",
                self.units.time.words()
            ));
        }
        remarks
    }
}

#[cold]
fn no_title(line: &[u8], version: u8) -> Bad {
    Bad::field(0..line.len(), format!("expected the first line to be `{}`", title(version)))
}

impl<const VERSION: u8> Fio<VERSION> {
    fn stream(&mut self, file: &[u8], fields: &Fields<'_, BLANKS>) -> Result<u32, Bad> {
        if let Some(stream) = self.files.get(file) {
            return Ok(*stream);
        }
        if self.files.len() == MOST_FILES {
            return Err(fields.bad("an action", "no more than 65,536 different files"));
        }
        let stream = self.files.len() as u32;
        self.files.insert(file.into(), stream);
        Ok(stream)
    }

    fn wait(&mut self, fields: &mut Fields<'_, BLANKS>) -> Result<(), Bad> {
        let span = fields.time(self.units.time.ns())?;
        let clock = self.clock.0.checked_add(span.0);
        self.clock = SimTime(clock.ok_or_else(|| fields.bad("a wait", "within 584 years"))?);
        self.waits += 1;
        Ok(())
    }
}

struct FioWriter {
    version: u8,
    opened: Vec<u32>,
    clock_us: u64,
}

impl FioWriter {
    fn new(version: u8) -> FioWriter {
        FioWriter { version, opened: Vec::new(), clock_us: 0 }
    }

    /// Writes the text before an action: the time, in version 3.
    fn lead(&self, us: u64, out: &mut Vec<u8>) {
        if self.version == 3 {
            put!(out, "{us} ");
        }
    }
}

impl LineWriter for FioWriter {
    fn begin(&mut self, out: &mut Vec<u8>) {
        put!(out, "{}\n", title(self.version));
    }

    fn record(&mut self, record: &Record, out: &mut Vec<u8>) -> Result<(), &'static str> {
        // What is refused leaves nothing behind.
        let action = match record.op {
            Op::Read => "read",
            Op::Write if record.fua => return Err(FORCED),
            Op::Write => "write",
            Op::Trim => "trim",
            Op::Flush => "sync",
            _ => return Err(ZONES),
        };
        let (us, stream) = (record.at.0 / 1_000, record.stream);
        if !self.opened.contains(&stream) {
            self.opened.push(stream);
            for action in ["add", "open"] {
                self.lead(us, out);
                put!(out, "stream{stream} {action}\n");
            }
        }
        if self.version == 2 && us > self.clock_us {
            put!(out, "stream{stream} wait {} 0\n", us - self.clock_us);
            self.clock_us = us;
        }
        self.lead(us, out);
        let (offset, length) = (record.lba.0 * 512, u64::from(record.sectors) * 512);
        put!(out, "stream{stream} {action} {offset} {length}\n");
        Ok(())
    }
}
