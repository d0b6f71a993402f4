//! HP Labs' SRT ("cello" and others): a head of text that a form feed ends, then records of 32-bit numbers, highest byte first.
//!
//! Of its records, short I/Os are the requests (type 1), and suspect ones (type 4), whose times or addresses the tracer itself did
//! not trust, are skipped and counted. The time is that of entering the queue.

use ftlab::host::Op;
use ftlab::units::{Nanos, SimTime};

use crate::trace::error::Bad;
use crate::trace::fields::Extent;
use crate::trace::format::{self, BinaryFormat, Codec, Format, Remarks, Taken};
use crate::trace::options::Options;
use crate::trace::units::{Epoch, SpaceUnit, TimeUnit, Units};

use super::bytes::ByteOrder;

pub(crate) static FORMAT: Format = Format {
    name: "hp-srt",
    doc: "HP Labs SRT, binary (cello); the device is the stream",
    columns: "length type seconds microseconds start stop bytes sector device driver cylinder flags origin [queue] [suspect]",
    units: Units { time: TimeUnit::Us, address: SpaceUnit::Sector, size: SpaceUnit::Byte },
    tick: Nanos(1_000),
    unit_varies: false,
    source: "hptrace.h and disksim_iotrace.c of DiskSim 4.0; Ruemmler and Wilkes, USENIX Winter 1993",
    not_read: &["start and stop of each request", "drivers, cylinders and flags"],
    address_varies: false,
    epoch: Epoch::Own,
    codec: Codec::Binary { begins, open: format::open_binary::<HpSrt> },
};

/// Ends the head.
const FORM_FEED: u8 = 0x0c;
/// A line of each head begins so.
const DATE: &[u8] = b"tracedate";
/// The bytes of a record in every version.
const LEAST: usize = 52;
/// Type, in the lower half of a record's second number.
const SHORT_IO: u32 = 1;
const SUSPECT_IO: u32 = 4;
/// The versions, in its upper half.
const VERSIONS: std::ops::RangeInclusive<u32> = 1..=4;
/// The flag of a read.
const READ: u32 = 1;

fn begins(start: &[u8]) -> bool {
    memchr::memmem::find(start, DATE)
        .is_some_and(|at| at == 0 || matches!(start[at - 1], b'\n' | b'\r'))
}

struct HpSrt {
    units: Units,
    in_head: bool,
    suspect: u64,
    widened: u64,
}

impl BinaryFormat for HpSrt {
    const LONGEST: usize = 64 << 10;

    fn new(units: Units, _: &Options, _: &[u8]) -> Result<HpSrt, Bad> {
        Ok(HpSrt { units, in_head: true, suspect: 0, widened: 0 })
    }

    fn record(&mut self, ahead: &[u8]) -> Result<Option<Taken>, Bad> {
        if self.in_head {
            let Some(end) = memchr::memchr(FORM_FEED, ahead) else {
                return Err(malformed("the head does not end: there is no form feed"));
            };
            self.in_head = false;
            return Ok(Some(Taken { length: end + 1, request: None }));
        }
        if ahead.len() < LEAST {
            return Ok(None);
        }
        let number = |place: usize| ByteOrder::Big.u32(ahead, 4 * place);
        let (length, id) = (number(0) as usize, number(1));
        let known = VERSIONS.contains(&(id >> 16)) && (LEAST..=LEAST + 16).contains(&length);
        if !known {
            return Err(malformed("expected a record of 52 to 68 bytes of version 1 to 4"));
        }
        if ahead.len() < length {
            return Ok(None);
        }
        let request = match id & 0xffff {
            SHORT_IO => {
                let since = u64::from(number(2)) * 1_000_000 + u64::from(number(3));
                let at = SimTime(since * self.units.time.ns());
                let op = if number(11) & READ != 0 { Op::Read } else { Op::Write };
                let extent = Extent::new(number(7).into(), number(6).into(), &self.units);
                let extent = extent.ok_or_else(|| malformed("an address beyond 2^64 bytes"))?;
                self.widened += u64::from(extent.widened);
                Some(extent.record(at, op, number(8)))
            }
            SUSPECT_IO => {
                self.suspect += 1;
                None
            }
            _ => return Err(malformed("expected a short or a suspect I/O (type 1 or 4)")),
        };
        Ok(Some(Taken { length, request }))
    }

    fn remarks(&self) -> Remarks {
        let mut remarks = Remarks { widened: self.widened, ..Remarks::default() };
        if self.suspect > 0 {
            let count = self.suspect;
            remarks
                .warnings
                .push(format!("{count} records that the tracer calls suspect were left out"));
        }
        remarks
    }
}

#[cold]
fn malformed(problem: &str) -> Bad {
    Bad::record(problem)
}
