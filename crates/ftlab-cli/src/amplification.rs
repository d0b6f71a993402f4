//! Write amplification as lines of the table: the total, and what it consists of.

use std::io::{self, Write};

use ftlab::stats::{HostTranslationReport, WriteAmplification};

use crate::human::{bytes, count};
use crate::table::{line, or_none, precise};

/// Prints the total, and its parts if there are any beside data.
pub fn print(wa: &WriteAmplification, out: &mut dyn Write) -> io::Result<()> {
    let ratios = format!(
        "{} (flash {} / host {}); by GC alone {}",
        or_none(wa.total_ratio, precise),
        bytes(wa.flash_bytes),
        bytes(wa.host_bytes),
        or_none(wa.ftl_ratio, precise),
    );
    line(out, "Write amplification", &ratios)?;
    let beside =
        [("map", wa.map_ratio), ("system area", wa.system_ratio), ("parity", wa.parity_ratio)];
    if beside.iter().all(|(_, ratio)| ratio.is_none()) {
        return Ok(());
    }
    let all = std::iter::once(("data", wa.data_ratio)).chain(beside);
    let told = all.filter_map(|(name, ratio)| Some(format!("{name} {:.4}", ratio?)));
    line(out, "Amplification by", &told.collect::<Vec<_>>().join(", "))
}

/// Prints what the host's translation adds to what the device does.
pub fn print_host(host: &HostTranslationReport, out: &mut dyn Write) -> io::Result<()> {
    let counts = &host.counts;
    let text = format!(
        "{} by the host (blocks written {}, copied {}; zones reset {}), times {} by the device",
        or_none(host.host_write_amplification_ratio, precise),
        count(counts.written),
        count(counts.copied),
        count(counts.resets),
        or_none(host.device_write_amplification_ratio, precise),
    );
    line(out, "Amplification", &text)
}
