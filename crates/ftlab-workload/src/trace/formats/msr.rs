//! MSR Cambridge: `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`, times in Windows
//! file time, offset and size in bytes.

use std::ops::Range;

use ftlab::host::Op;
use ftlab::units::Nanos;

use crate::trace::error::Bad;
use crate::trace::fields::{BLANKS, Fields};
use crate::trace::format::{self, Codec, Columns, Format, LineFormat, LineWriter, Remarks};
use crate::trace::gate::RecordPart;
use crate::trace::options::Options;
use crate::trace::record::Record;
use crate::trace::table::first_lines;
use crate::trace::units::{Epoch, SpaceUnit, TimeUnit, Units};

use super::{put, read_or_write};

pub(crate) static FORMAT: Format = Format {
    name: "msr",
    doc: "MSR Cambridge CSV, or with blanks or tabs; the disk number is the stream, the host name is not used",
    columns: "timestamp,host,disk,Read|Write,offset,size,response",
    units: Units { time: TimeUnit::Filetime, address: SpaceUnit::Byte, size: SpaceUnit::Byte },
    tick: Nanos(100),
    unit_varies: false,
    source: "README of the traces at SNIA IOTTA; Narayanan et al., FAST 2008",
    not_read: &["host names", "response times"],
    address_varies: false,
    epoch: Epoch::Calendar,
    codec: Codec::Text {
        fit: format::fit::<Msr>,
        open: format::open::<Msr>,
        writer: Some(|| Box::new(MsrWriter)),
    },
};

struct Msr {
    units: Units,
    widened: u64,
    host: Option<Vec<u8>>,
    hosts_differ: bool,
    /// Whether blanks or tabs separate the columns, as in files that were converted.
    has_blanks: bool,
}

impl LineFormat for Msr {
    const SEPARATOR: u8 = b',';
    const EVEN: Option<u8> = Some(b',');
    const COLUMNS: Columns = Columns { time: 0, address: 4, size: 5 };
    const HEADS: &'static [&'static [&'static str]] =
        &[&["Timestamp", "Hostname", "DiskNumber", "Type", "Offset", "Size", "ResponseTime"]];

    fn new(units: Units, _: &Options, sample: &[u8]) -> Msr {
        // Of most lines, because a text may come before them.
        let lines = || first_lines(sample);
        let with_commas = lines().filter(|line| line.contains(&b',')).count();
        let has_blanks = with_commas * 2 < lines().count();
        Msr { units, widened: 0, host: None, hosts_differ: false, has_blanks }
    }

    #[inline]
    fn line(&mut self, line: &[u8]) -> Result<Option<Record>, Bad> {
        if self.has_blanks { self.parse::<BLANKS>(line) } else { self.parse::<b','>(line) }
    }

    fn place(line: &[u8], part: RecordPart) -> Range<usize> {
        let index = match part {
            RecordPart::Time => Self::COLUMNS.time,
            RecordPart::Address => Self::COLUMNS.address,
            RecordPart::Size => Self::COLUMNS.size,
        };
        match line.contains(&b',') {
            true => Fields::<b','>::nth(line, index),
            false => Fields::<BLANKS>::nth(line, index),
        }
    }

    fn remarks(&self) -> Remarks {
        let mut warnings = Vec::new();
        if self.hosts_differ {
            warnings.push(
                "several hosts in one file: disks of the same number are one stream".to_owned(),
            );
        }
        let blanks = "columns are separated by blanks or tabs, and not by commas".to_owned();
        let assumed = self.has_blanks.then_some(blanks).into_iter().collect();
        let host = self.host.as_ref().map(|host| String::from_utf8_lossy(host).into_owned());
        Remarks { assumed, warnings, widened: self.widened, host, ..Remarks::default() }
    }
}

impl Msr {
    #[inline(always)]
    fn parse<const SEP: u8>(&mut self, line: &[u8]) -> Result<Option<Record>, Bad> {
        let mut fields = Fields::<SEP>::new(line);
        let at = fields.time(self.units.time.ns())?;
        let host = fields.text();
        self.note_host(host);
        let stream = fields.small("a disk number")?;
        let op = match fields.text() {
            b"Read" => Op::Read,
            b"Write" => Op::Write,
            b"read" | b"READ" => Op::Read,
            b"write" | b"WRITE" => Op::Write,
            _ => return Err(fields.bad("an operation", "Read or Write")),
        };
        let extent = fields.extent(&self.units)?;
        self.widened += u64::from(extent.widened);
        Ok(Some(extent.record(at, op, stream)))
    }

    #[inline]
    fn note_host(&mut self, host: &[u8]) {
        match &self.host {
            Some(first) => self.hosts_differ |= first != host,
            None => self.host = Some(host.to_vec()),
        }
    }
}

struct MsrWriter;

impl LineWriter for MsrWriter {
    fn record(&mut self, record: &Record, out: &mut Vec<u8>) -> Result<(), &'static str> {
        let op = read_or_write(record, "Read", "Write")?;
        let (time, stream) = (record.at.0 / 100, record.stream);
        let (offset, size) = (record.lba.0 * 512, u64::from(record.sectors) * 512);
        put!(out, "{time},ftlab,{stream},{op},{offset},{size},0\n");
        Ok(())
    }
}
