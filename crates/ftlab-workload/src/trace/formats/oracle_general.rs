//! libCacheSim's oracleGeneral: records of 24 bytes, lowest byte first, of a cache's requests. There is no head, so it must be
//! named, and it says neither how large a block is nor what is read or written.

use ftlab::host::Op;
use ftlab::units::{Nanos, SimTime};

use crate::trace::error::{Bad, ErrorKind};
use crate::trace::fields::Extent;
use crate::trace::format::{self, BinaryFormat, Codec, Format, Remarks, Taken};
use crate::trace::options::Options;
use crate::trace::units::{Epoch, SpaceUnit, TimeUnit, Units};

use super::bytes::ByteOrder;

pub(crate) static FORMAT: Format = Format {
    name: "oracle-general",
    doc: "libCacheSim's oracleGeneral, binary; must be named, with the size of its blocks (`address_unit`); everything is a \
          read, or with `invert_ops` a write",
    columns: "seconds object bytes next-access (24 bytes)",
    units: Units { time: TimeUnit::S, address: SpaceUnit::Page4k, size: SpaceUnit::Byte },
    tick: Nanos(1_000_000_000),
    unit_varies: false,
    source: "FAQ of libCacheSim, and oracleGeneralBin.h",
    not_read: &["the next access of each object"],
    address_varies: false,
    epoch: Epoch::Own,
    codec: Codec::Binary { begins: |_| false, open: format::open_binary::<OracleGeneral> },
};

const LENGTH: usize = 24;

struct OracleGeneral {
    units: Units,
    widened: u64,
    /// Whether everything is a write, as said.
    are_writes: bool,
}

impl BinaryFormat for OracleGeneral {
    const LONGEST: usize = LENGTH;

    fn new(units: Units, options: &Options, _: &[u8]) -> Result<OracleGeneral, Bad> {
        match options.address_unit {
            Some(_) => Ok(OracleGeneral { units, widened: 0, are_writes: options.invert_ops }),
            None => Err(no_unit()),
        }
    }

    fn record(&mut self, ahead: &[u8]) -> Result<Option<Taken>, Bad> {
        let Some(record) = ahead.get(..LENGTH) else { return Ok(None) };
        let order = ByteOrder::Little;
        let seconds = u64::from(order.u32(record, 0));
        let (object, bytes) = (order.u64(record, 4), order.u32(record, 12));
        let extent = Extent::new(object, bytes.into(), &self.units).ok_or_else(no_address)?;
        self.widened += u64::from(extent.widened);
        let at = SimTime(seconds * self.units.time.ns());
        Ok(Some(Taken { length: LENGTH, request: Some(extent.record(at, Op::Read, 0)) }))
    }

    fn remarks(&self) -> Remarks {
        let operation = match self.are_writes {
            true => "everything is a write, as said: the format has no operations",
            false => {
                "everything is a read, because the format has no operations (`invert_ops`: a write)"
            }
        };
        let block = self.units.address.bytes();
        let assumed = vec![
            operation.to_owned(),
            format!(
                "an object is a block of {block} bytes, and its number that of the block: object 3 lies at byte {}",
                3 * block
            ),
            "times are whole seconds: the requests of a second arrive at once".to_owned(),
        ];
        Remarks { assumed, widened: self.widened, ..Remarks::default() }
    }
}

#[cold]
fn no_unit() -> Bad {
    Bad {
        kind: ErrorKind::Unsupported,
        field: 0..0,
        problem: "oracleGeneral has numbers of objects and no addresses".to_owned(),
        remedy: Some("say how large a block is: `address_unit` 4k, sector or byte".to_owned()),
    }
}

#[cold]
fn no_address() -> Bad {
    Bad {
        kind: ErrorKind::Malformed,
        field: 0..0,
        problem: "the number of an object is no address: it lies beyond 2^64 bytes".to_owned(),
        remedy: Some(
            "it is the trace of a cache of objects, whose numbers are hashes, and not of blocks"
                .to_owned(),
        ),
    }
}
