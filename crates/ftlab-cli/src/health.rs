//! Failures of a device, and the cost and benefit of parity, as lines of the table.

use std::io::{self, Write};

use ftlab::stats::Report;
use ftlab::units::Nanos;

use crate::human::{bytes, count, percent, span};
use crate::table::{joined, line, told};

/// Prints the health of a device on which something can fail.
pub fn health(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let Some(health) = &report.health else { return Ok(()) };
    let (losses, hazards) = (&health.losses, &health.hazards);
    let text = format!(
        "{} from the factory, {} grown ({} program and {} erase failures)",
        count(losses.factory_bad.into()),
        count(losses.grown_bad.into()),
        count(losses.program_failures),
        count(losses.erase_failures),
    );
    let more = [losses.entries(None), hazards.entries(None)].concat();
    line(out, "Bad blocks", &joined([text, told(&more)]))?;
    if health.dead_dies > 0 {
        let lost = match health.pages_on_dead_dies {
            0 => String::new(),
            pages => format!(" with {} host pages", count(pages)),
        };
        let (dies, failed) = (count(health.dead_dies.into()), count(hazards.on_dead_dies));
        line(out, "Dead dies", &format!("{dies}{lost}, commands that failed there: {failed}"))?;
    }
    if hazards.unreadable > 0 || health.lost_pages > 0 {
        let text = format!(
            "{} flash reads returned no data; {} pages on flash lost their data",
            count(hazards.unreadable),
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
    let counts = &parity.counts;
    let text = joined([format!("over {} dies", parity.stripe_dies), told(&counts.entries(None))]);
    line(out, "Parity", &text)?;
    if counts.exposed > Nanos::ZERO {
        let (until, left) = match parity.unprotected_pages {
            0 => ("", String::new()),
            pages => (", to the end of the run", format!(", {} pages left", count(pages))),
        };
        let restored = count(counts.restored);
        let text = format!(
            "for {}{until}; superblocks restored: {restored}{left}",
            span(counts.exposed.0)
        );
        line(out, "One more death is fatal", &text)?;
    }
    if counts.reconstructed + counts.lost == 0 {
        return Ok(());
    }
    let text = format!(
        "{} unreadable flash pages, from {} others; {} could not be rebuilt",
        count(counts.reconstructed),
        count(counts.reads),
        count(counts.lost)
    );
    line(out, "Rebuilt by parity", &text)
}
