//! The formats, one file each.

pub(crate) mod alibaba;
pub(crate) mod biosnoop;
pub(crate) mod blkparse;
pub(crate) mod blktrace;
mod block_events;
mod bytes;
pub(crate) mod csv;
pub(crate) mod diskmon;
pub(crate) mod disksim;
pub(crate) mod disksim_validate;
pub(crate) mod fio;
pub(crate) mod fiu;
pub(crate) mod ftrace;
pub(crate) mod hp_srt;
pub(crate) mod mqsim;
pub(crate) mod msr;
pub(crate) mod names;
pub(crate) mod oracle_general;
pub(crate) mod parquet;
mod parquet_sums;
pub(crate) mod parquet_writer;
mod requeues;
pub(crate) mod spc;
pub(crate) mod ssdsim;
pub(crate) mod systor;
pub(crate) mod tencent;
pub(crate) mod vscsi;
pub(crate) mod wpa;
pub(crate) mod xperf;

pub(crate) use fio::{v2 as fio_v2, v3 as fio_v3};

use ftlab::host::Op;

use super::record::Record;

/// Appends formatted text. Writing to memory cannot fail.
macro_rules! put {
    ($out:expr, $($part:tt)*) => {
        std::io::Write::write_fmt($out, format_args!($($part)*)).expect("memory takes any text")
    };
}
pub(crate) use put;

/// What most formats cannot express.
const FORCED: &str = "writes with FUA";
const ZONES: &str = "commands for zones";

/// Returns the word for a read or for a write; for formats that have no other operations.
fn read_or_write<T>(record: &Record, read: T, write: T) -> Result<T, &'static str> {
    match record.op {
        Op::Read => Ok(read),
        Op::Write if record.fua => Err(FORCED),
        Op::Write => Ok(write),
        Op::Trim => Err("trims"),
        Op::Flush => Err("flushes"),
        _ => Err(ZONES),
    }
}

/// Writes a time of `ns` in seconds with nine decimals.
fn put_seconds(out: &mut Vec<u8>, ns: u64) {
    put!(out, "{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
}
