//! MQSim ascii: the lines of SSDsim, without a hash. Its time unit is set in MQSim's own workload
//! file (`Time_Unit`), nanoseconds by default. Never detected, because SSDsim comes first.

use ftlab::units::Nanos;

use crate::trace::format::{self, Codec, Format};
use crate::trace::units::Epoch;

use super::ssdsim::{Ascii, SsdsimWriter, UNITS};

pub(crate) static FORMAT: Format = Format {
    name: "mqsim",
    doc: "MQSim ascii; detected as ssdsim, which has the same lines, unless named",
    columns: "time device sector sectors flag(0 write, 1 read)",
    units: UNITS,
    tick: Nanos(1),
    unit_varies: true,
    source: "MQSim (Tavakkol et al., FAST 2018), README and src/host/ASCII_Trace_Definition.h",
    not_read: &[],
    address_varies: false,
    epoch: Epoch::Own,
    codec: Codec::Text {
        fit: format::fit::<Ascii<false>>,
        open: format::open::<Ascii<false>>,
        writer: Some(|| Box::new(SsdsimWriter::new(false))),
    },
};
