//! How busy the parts of the device were, as lines of the table. Parts that take no time have no line.

use std::io::{self, Write};

use ftlab::stats::{Spread, Utilisation};

use crate::human::percent;
use crate::table::{line, or_none};

/// Prints a line for each part that takes time.
pub fn print(used: &Utilisation, out: &mut dyn Write) -> io::Result<()> {
    let spread = |Spread { mean, min, max }: Spread| {
        format!("{} ({} to {})", percent(mean), percent(min), percent(max))
    };
    line(out, "Channels in use", &or_none(used.channels_ratio, spread))?;
    line(out, "Dies in use", &or_none(used.dies_ratio, spread))?;
    let link = match (used.link_in_ratio, used.link_out_ratio) {
        (Some(to), Some(from)) => Some(format!("{} in, {} out", percent(to), percent(from))),
        _ => used.link_both_ratio.map(|both| format!("{} both ways", percent(both))),
    };
    let others = [
        ("Decoders in use", used.decoders_ratio.map(spread)),
        ("DRAM in use", used.dram_ratio.map(percent)),
        ("Link in use", link),
        ("Processor in use", used.processor_ratio.map(percent)),
    ];
    let told = others.iter().filter_map(|(name, text)| Some((name, text.as_ref()?)));
    told.into_iter().try_for_each(|(name, text)| line(out, name, text))
}
