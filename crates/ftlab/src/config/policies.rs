//! The seams and their policies: a registry line each, and the options of every policy.

use super::declare::{options, seam};

seam! {
    /// How long flash operations take: what tells one from another.
    pub enum Timing at "nand.timing.policy" = "plain" {
        Plain => plain,
        PageType => page_type,
    }
}

/// One time for each operation.
pub mod plain {
    use super::options;
    use crate::units::Nanos;

    options! {
        /// Every read and every program of a page takes the same time.
        pub struct Options at "nand.timing", policy "plain", source "textbook" {
            /// Sensing a page (tR).
            read: Nanos = required, in "100ns"..="100ms", source "the part";
            /// Programming a page (tPROG).
            program: Nanos = required, in "1us"..="1s", source "the part";
        }
    }
}

/// Times by the type of the page.
pub mod page_type {
    use super::options;
    use crate::units::Nanos;

    options! {
        /// Reads and programs take as long as the type of the page says: LSB, CSB, MSB, TSB. Page i of
        /// a block has type i modulo the bits of a cell.
        pub struct Options at "nand.timing", policy "page-type",
            source "Grupp et al., MICRO 2009: measured pages of MLC parts"
        {
            /// Sensing a page (tR), one time for each type of page: LSB and MSB in MLC; LSB, CSB,
            /// MSB in TLC; TSB last in QLC.
            read_by_type: Vec<Nanos> = required, in "100ns"..="100ms", source "the part";
            /// Programming a page (tPROG), one time for each type of page: LSB and MSB in MLC; LSB, CSB,
            /// MSB in TLC; TSB last in QLC.
            program_by_type: Vec<Nanos> = required, in "1us"..="1s", source "the part";
        }
    }
}

seam! {
    /// How a logical page is found on flash.
    pub enum MappingPolicy at "ftl.mapping.policy" = "page" {
        Page => page,
    }
}

/// Page mapping.
pub mod page {
    use super::options;

    options! {
        /// A table with one entry for every logical page, all of it in DRAM.
        pub struct Options at "ftl.mapping", policy "page", source "textbook" {}
    }
}

seam! {
    /// Which plane takes the next page that is written.
    pub enum PlacementPolicy at "ftl.placement.policy" = "dynamic" {
        Static => fixed,
        Dynamic => dynamic,
    }
}

/// Static placement.
pub mod fixed {
    use super::options;

    options! {
        /// The logical address decides: page i always goes to the same plane.
        pub struct Options at "ftl.placement", policy "static",
            source "Hu et al., ICS 2011" {}
    }
}

/// Dynamic placement.
pub mod dynamic {
    use super::options;

    options! {
        /// The next plane in turn takes the page, wherever its earlier version lies.
        pub struct Options at "ftl.placement", policy "dynamic",
            source "Hu et al., ICS 2011" {}
    }
}

seam! {
    /// Which block of a plane is collected next.
    pub enum Victim at "ftl.gc.victim" = "greedy" {
        Greedy => greedy,
    }
}

/// Greedy victim selection.
pub mod greedy {
    use super::options;

    options! {
        /// The block with the fewest valid pages.
        pub struct Options at "ftl.gc", policy "greedy", source "textbook" {}
    }
}

seam! {
    /// What is kept in DRAM between host and flash.
    pub enum CachePolicy at "cache.policy" = "none" {
        None => none,
        Lru => lru,
    }
}

/// No cache.
pub mod none {
    use super::options;

    options! {
        /// Nothing: every request goes to flash.
        pub struct Options at "cache", policy "none", source "textbook" {}
    }
}

/// Write-back buffer with least-recently-used eviction.
pub mod lru {
    use super::options;

    options! {
        /// A write-back buffer that evicts the page used longest ago.
        pub struct Options at "cache", policy "lru", source "textbook" with {
            buffer: super::BufferOptions,
        } {}
    }
}

options! {
    /// The DRAM of a write buffer: what every policy that has one shares.
    pub struct BufferOptions at "cache" {
        /// How much data the buffer holds.
        capacity: crate::units::Bytes = "64MiB", in "2KiB"..="1TiB",
            source "assumed: the rest of a drive's DRAM holds the mapping table";
        /// Moving a page to or from DRAM.
        latency: crate::units::Nanos = "1us", in "0ns"..="1ms",
            source "a 16 KiB page at the 12.8 GB/s of a DDR3-1600 channel takes 1.3 us; rounded";
        /// Share of the buffer that is dirty at which pages are written back in the background. At
        /// 100% they are written only when room is needed.
        write_back_start: crate::units::Ratio = "80%", in "0%"..="100%", source "assumed";
    }
}

seam! {
    /// In which order a die and a channel serve the commands that wait for them.
    pub enum Scheduler at "scheduler.policy" = "fifo" {
        Fifo => fifo,
        ReadFirst => read_first,
    }
}

/// First come, first served.
pub mod fifo {
    use super::options;

    options! {
        /// The command that came first.
        pub struct Options at "scheduler", policy "fifo", source "textbook" {}
    }
}

/// Reads before everything else.
pub mod read_first {
    use super::options;

    options! {
        /// Reads of the host first, then whatever came first.
        pub struct Options at "scheduler", policy "read-first", source "textbook" {}
    }
}
