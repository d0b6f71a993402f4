//! What else changes when the flash shrinks, option by option, and why.

use crate::options::catalog::OptionInfo;
use crate::options::value::{Value, ValueKind};
use crate::units::{Bytes, Nanos};

/// A ratio of whole numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Proportion {
    pub part: u64,
    pub whole: u64,
}

impl Proportion {
    /// The number times the ratio, to the nearest.
    pub fn of(self, number: u64) -> u64 {
        let wide = u128::from(number) * u128::from(self.part) + u128::from(self.whole) / 2;
        u64::try_from(wide / u128::from(self.whole)).unwrap_or(u64::MAX)
    }
}

/// What an option goes along with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// The capacity.
    Capacity,
    /// The pages of a block.
    Pages,
    /// The reciprocal of the pages of a block.
    FewerPages,
    /// The blocks of a plane. This many remain in any case: they don't depend on the size of a plane.
    Blocks(u64),
}

/// An option that goes along.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    pub path: &'static str,
    pub by: By,
    pub why: &'static str,
}

const fn rule(path: &'static str, by: By, why: &'static str) -> Rule {
    Rule { path, by, why }
}

const ERASES: &str = "as the pages of a block, so that erases keep their share of a die's time";
const READS: &str = "as the pages of a block, which is read as many times less between its erases";
const LEADS: &str = "as the pages of a block, so that the host leads by as large a share of one";
const STREAMS: &str = "as the capacity, so that it knows as large a share of the pages";
const BLOCKS: &str = "as the blocks of a plane";
const SHARE: &str = "as the capacity, so that it holds as large a share of it";

/// The options that go along. What is not here stays: it is a matter of latency or of parallelism.
pub(super) const RULES: &[Rule] = &[
    rule("nand.timing.erase", By::Pages, ERASES),
    rule("nand.slc_mode.erase", By::Pages, ERASES),
    rule("nand.timing.disturbed_reads", By::Pages, READS),
    rule("nand.faults.disturb_limit", By::Pages, READS),
    rule("ftl.refresh.reads", By::Pages, READS),
    rule("ftl.gc.host_lead", By::Pages, LEADS),
    rule("ftl.gc.bucket", By::Pages, LEADS),
    rule(
        "nand.faults.program_failures",
        By::FewerPages,
        "each costs a block, so that as large a share of the flash is lost in its life",
    ),
    rule("ftl.capacity", By::Capacity, "as the flash"),
    rule("ftl.mapping.cache", By::Capacity, SHARE),
    rule("ftl.mapping.host_memory", By::Capacity, SHARE),
    rule("cache.read.capacity", By::Capacity, SHARE),
    rule(
        "ftl.recovery.every",
        By::Capacity,
        "as the map, so that checkpoints keep their share of what is programmed",
    ),
    rule("ftl.streams.counters", By::Capacity, STREAMS),
    rule("ftl.streams.decay_writes", By::Capacity, STREAMS),
    rule("ftl.streams.filter_bits", By::Capacity, STREAMS),
    rule("ftl.streams.filter_writes", By::Capacity, STREAMS),
    rule("ftl.slc_cache.blocks", By::Blocks(0), BLOCKS),
    rule("ftl.slc_cache.most_borrowed", By::Blocks(0), BLOCKS),
    rule("ftl.slc_cache.keep_free", By::Blocks(0), BLOCKS),
    rule("ftl.gc.background.blocks", By::Blocks(0), BLOCKS),
    rule("ftl.gc.window", By::Blocks(0), BLOCKS),
    // The least of each stays, whatever the size of a plane.
    rule("ftl.gc.start", By::Blocks(2), BLOCKS),
    rule("ftl.gc.stop", By::Blocks(3), BLOCKS),
    rule("ftl.gc.reserve", By::Blocks(1), BLOCKS),
    rule("ftl.gc.hard_limit", By::Blocks(1), BLOCKS),
    rule("scheduler.short_at", By::Blocks(1), BLOCKS),
    rule("scheduler.ample_at", By::Blocks(2), BLOCKS),
];

/// Multiplies the value of an option. `None` if it stays: it is no number, or stands for no limit.
pub(super) fn multiplied(
    info: &OptionInfo,
    text: &str,
    times: Proportion,
    least: u64,
) -> Option<String> {
    let (low, high) = info.range.unwrap_or(("0", "0"));
    if text == low || text == high {
        return None;
    }
    let bounded = |number: u64, [low, high]: [u64; 2]| {
        let kept = number.min(least);
        (kept + times.of(number - kept)).clamp(low, high.max(low))
    };
    match info.kind {
        ValueKind::Count => {
            let number = |text: &str| text.parse::<u64>().ok();
            Some(bounded(number(text)?, [number(low)?, number(high)?]).to_string())
        }
        ValueKind::Time => {
            let time = |text: &str| Nanos::parse(text).ok().map(|Nanos(ns)| ns);
            Some(Nanos(bounded(time(text)?, [time(low)?, time(high)?])).print())
        }
        ValueKind::Size => {
            let size = |text: &str| Bytes::parse(text).ok().map(|Bytes(bytes)| bytes);
            let bytes = bounded(size(text)?, [size(low)?, size(high)?]);
            // What is large is counted in pages, or at least read by people.
            const PAGE: u64 = 4096;
            let whole = if bytes > PAGE { bytes.next_multiple_of(PAGE) } else { bytes };
            Some(Bytes(whole).print())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::all_options;

    #[test]
    fn every_rule_is_about_a_number() {
        for rule in RULES {
            let options = all_options();
            let info = options.iter().find(|info| info.path == rule.path).expect(rule.path);
            let kinds = [ValueKind::Count, ValueKind::Time, ValueKind::Size];
            assert!(kinds.contains(&info.kind), "{}", rule.path);
            assert!(info.range.is_some(), "{}", rule.path);
        }
    }

    #[test]
    fn ratios_round_to_the_nearest() {
        let third = Proportion { part: 1, whole: 3 };
        assert_eq!([0, 1, 2, 4, 5].map(|number| third.of(number)), [0, 0, 1, 1, 2]);
        assert_eq!(third.of(u64::MAX), u64::MAX / 3);
    }
}
