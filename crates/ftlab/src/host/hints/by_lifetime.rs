//! Hints by a guess at lifetimes: the host remembers when it last wrote each chunk of the device, and expects that data
//! lives as long as its predecessor did. The longer that was, the higher the class: the last but one ends where the
//! device could have been written once, each earlier one at half of that. Chunks that were never written are in the
//! last class, with all that lives longer. A request that continues the previous one keeps its class.
//!
//! Source: Yang, Pandurangan, Choi and Balakrishnan, "AutoStream: Automatic Stream Management for Multi-streamed SSDs",
//! SYSTOR 2017, with its SFR (sequentiality, frequency, recency): the logarithm of a frequency by chunk, and sequential
//! writes that stay in their stream. Departures: frequency is the inverse of the latest interval, not a count that decays;
//! time is what the host has written, not a clock.

use super::{HintClassOptions, HintsFacts, HintsPolicy};
use crate::host::Request;
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::options::declare::options;
use crate::policy::{Parts, Policy};
use crate::units::{Bytes, SECTOR_BYTES};

options! {
    /// Classes by the age of what is overwritten.
    pub struct ByLifetimeOptions at "host.hints" with { classes: HintClassOptions } {
        /// What the host remembers a time for.
        chunk: Bytes = "4KiB", in "512B"..="1GiB",
            source "assumed: a block of a file system, so that neighbours need not be alike";
    }
}

/// Classes by rewrite interval. Times are in sectors written, beginning with one.
#[derive(Clone, Debug)]
pub struct ByLifetime {
    classes: u32,
    /// Sectors of a chunk.
    chunk: u64,
    /// Sectors of the device.
    capacity: u64,
    /// By chunk: when it was last written. Zero is never, as in untouched memory.
    written: Vec<u64>,
    now: u64,
    /// The sector behind the previous write, and its class.
    previous: (u64, u32),
}

/// More sectors than any run writes.
const MOST: u64 = 1 << 60;

impl Policy for ByLifetime {
    const NAME: &'static str = "by-lifetime";
    const SUMMARY: &'static str = "by the age of what is overwritten, in powers of two";
    const SOURCE: &'static str = "Yang et al., SYSTOR 2017 (AutoStream)";
    type Options = ByLifetimeOptions;

    fn build(options: &Self::Options, parts: &Parts<'_>) -> Self {
        let capacity =
            u64::from(parts.logical_pages) * u64::from(parts.geometry.sectors_per_unit());
        let chunk = options.chunk.0.div_ceil(SECTOR_BYTES);
        ByLifetime {
            classes: options.classes.classes,
            chunk,
            capacity,
            written: vec![0; capacity.div_ceil(chunk) as usize],
            now: 1,
            previous: (0, options.classes.classes - 1),
        }
    }

    fn save(&self, out: &mut ImageWriter) {
        let ByLifetime { classes: _, chunk: _, capacity: _, written, now, previous } = self;
        written.iter().for_each(|&at| out.number(at));
        out.number(*now);
        out.number(previous.0);
        out.number(previous.1);
    }

    fn load(&mut self, from: &mut ImageReader<'_>) -> Result<(), Damage> {
        let mut time = |what| match from.number()? {
            at if at < MOST => Ok(at),
            at => Err(Damage(format!("{what} is {at}"))),
        };
        for at in &mut self.written {
            *at = time("the last write of a chunk")?;
        }
        self.now = time("the number of sectors written")?.max(1);
        let end = time("the end of the last write")?;
        self.previous = (end, from.below(self.classes.into(), "the class of the last write")?);
        Ok(())
    }
}

impl HintsFacts for ByLifetime {
    fn identifiers(options: &Self::Options) -> Option<u32> {
        Some(options.classes.classes)
    }

    fn memory(options: &Self::Options, capacity: Bytes) -> Bytes {
        Bytes(capacity.0.div_ceil(options.chunk.0) * size_of::<u64>() as u64)
    }
}

impl ByLifetime {
    /// The class of data that replaces a chunk now.
    fn class(&self, chunk: usize) -> u32 {
        let last = self.classes - 1;
        let Some(age) =
            self.now.checked_sub(self.written[chunk]).filter(|_| self.written[chunk] > 0)
        else {
            return last;
        };
        (0..last).filter(|class| age >= self.capacity >> (last - 1 - class)).count() as u32
    }
}

impl HintsPolicy for ByLifetime {
    fn identify(&mut self, write: &Request) -> u32 {
        let (first, end) = (write.lba.0, write.lba.0 + u64::from(write.sectors));
        let chunks = (first / self.chunk) as usize..end.div_ceil(self.chunk) as usize;
        let class = match self.previous {
            (previous_end, class) if previous_end == first => class,
            _ => self.class(chunks.start),
        };
        self.written[chunks].fill(self.now);
        self.now += u64::from(write.sectors);
        self.previous = (end, class);
        class
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Op;
    use crate::units::Lba;

    fn write(lba: u64, sectors: u32) -> Request {
        Request { op: Op::Write, lba: Lba(lba), sectors, stream: 7, tag: 0, fua: false }
    }

    fn policy(chunk: u64) -> ByLifetime {
        let (classes, capacity) = (4, 800);
        let written = vec![0; (capacity / chunk) as usize];
        ByLifetime { classes, chunk, capacity, written, now: 1, previous: (0, classes - 1) }
    }

    #[test]
    fn classes_end_at_halves_of_the_capacity() {
        for (age, class) in [(8, 0), (192, 0), (200, 1), (392, 1), (400, 2), (792, 2), (800, 3)] {
            let mut policy = policy(8);
            assert_eq!(policy.identify(&write(80, 8)), 3, "never written");
            // Every other chunk, so that no request continues another.
            for other in 1..age / 8 {
                policy.identify(&write(160 + other * 16 % 480, 8));
            }
            assert_eq!(policy.identify(&write(80, 8)), class, "{age} sectors later");
        }
    }

    #[test]
    fn a_request_that_continues_the_previous_one_keeps_its_class() {
        let mut policy = policy(32);
        policy.identify(&write(64, 8));
        policy.identify(&write(320, 8));
        assert_eq!(policy.identify(&write(64, 8)), 0, "its chunk was just written");
        assert_eq!(policy.identify(&write(72, 40)), 0, "reaches into a chunk that is new");
        assert_eq!(policy.identify(&write(600, 8)), 3);
        assert_eq!(policy.identify(&write(608, 8)), 3, "not by its chunk, which was just written");
    }
}
