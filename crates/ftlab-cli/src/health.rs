//! Failures of a device, and the cost and benefit of parity, as lines of the table.

use std::io::{self, Write};

use ftlab::stats::Report;

use crate::human::{bytes, count, percent, span};
use crate::table::line;

/// Prints the health of a device on which something can fail.
pub fn health(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let Some(health) = &report.health else { return Ok(()) };
    let text = format!(
        "{} from the factory, {} grown ({} program and {} erase failures)",
        count(health.factory_bad_blocks.into()),
        count(health.grown_bad_blocks.into()),
        count(health.program_failures),
        count(health.erase_failures),
    );
    line(out, "Bad blocks", &text)?;
    if health.dead_dies > 0 {
        let text = format!(
            "{}, with {} host pages; {} commands failed on them",
            count(health.dead_dies.into()),
            count(health.pages_on_dead_dies),
            count(health.commands_on_dead_dies)
        );
        line(out, "Dead dies", &text)?;
    }
    if health.unreadable_flash_pages > 0 || health.lost_pages > 0 {
        let text = format!(
            "{} flash reads returned no data; {} pages on flash lost their data",
            count(health.unreadable_flash_pages),
            count(health.lost_pages)
        );
        line(out, "Lost data", &text)?;
    }
    let used =
        health.endurance_used_ratio.map(|used| format!(", {} of endurance used", percent(used)));
    let spare = percent(health.available_spare_ratio);
    line(out, "Spare blocks left", &format!("{spare}{}", used.unwrap_or_default()))?;
    let Some(end) = &health.end_of_life else { return Ok(()) };
    let text = format!(
        "read-only after {}, {} written by the host",
        span(end.at_ns.0),
        bytes(end.host_written_bytes)
    );
    line(out, "End of life", &text)
}

/// Prints the counts of a device with parity across dies.
pub fn parity(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let Some(parity) = &report.parity else { return Ok(()) };
    let text = format!(
        "over {} dies; {} flash pages of parity programmed",
        parity.stripe_dies,
        count(parity.parity_programs)
    );
    line(out, "Parity", &text)?;
    if parity.reconstructed_reads + parity.lost_reads == 0 {
        return Ok(());
    }
    let text = format!(
        "{} unreadable flash pages, from {} others; {} could not be rebuilt",
        count(parity.reconstructed_reads),
        count(parity.reconstruction_reads),
        count(parity.lost_reads)
    );
    line(out, "Rebuilt by parity", &text)
}
