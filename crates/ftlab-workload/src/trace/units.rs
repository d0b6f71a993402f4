//! The units in which trace files count time, addresses and sizes. Files seldom say which: each
//! format has a default, and each default can be overridden.

use serde::Serialize;

/// What one step of a trace's clock is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TimeUnit {
    /// Nanoseconds.
    Ns,
    /// 100 ns: Windows file time.
    Filetime,
    /// Microseconds.
    Us,
    /// Milliseconds.
    Ms,
    /// Seconds.
    S,
}

impl TimeUnit {
    /// Every unit, under the name that the command line takes.
    pub const ALL: [(&'static str, TimeUnit); 5] = [
        ("ns", TimeUnit::Ns),
        ("filetime", TimeUnit::Filetime),
        ("us", TimeUnit::Us),
        ("ms", TimeUnit::Ms),
        ("s", TimeUnit::S),
    ];

    /// The unit called `name`, if there is one.
    #[must_use]
    pub fn named(name: &str) -> Option<TimeUnit> {
        TimeUnit::ALL.iter().find(|(known, _)| *known == name).map(|(_, unit)| *unit)
    }

    /// Nanoseconds in one step.
    #[must_use]
    pub const fn ns(self) -> u64 {
        match self {
            TimeUnit::Ns => 1,
            TimeUnit::Filetime => 100,
            TimeUnit::Us => 1_000,
            TimeUnit::Ms => 1_000_000,
            TimeUnit::S => 1_000_000_000,
        }
    }

    /// The unit in words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            TimeUnit::Ns => "nanoseconds",
            TimeUnit::Filetime => "100 ns (Windows file time)",
            TimeUnit::Us => "microseconds",
            TimeUnit::Ms => "milliseconds",
            TimeUnit::S => "seconds",
        }
    }
}

/// What an address or a size counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum SpaceUnit {
    /// Bytes.
    #[serde(rename = "byte")]
    Byte,
    /// Sectors of 512 bytes.
    #[serde(rename = "sector")]
    Sector,
    /// Pages of 4 KiB.
    #[serde(rename = "4k")]
    Page4k,
}

impl SpaceUnit {
    /// Every unit, under the name that the command line takes.
    pub const ALL: [(&'static str, SpaceUnit); 3] =
        [("byte", SpaceUnit::Byte), ("sector", SpaceUnit::Sector), ("4k", SpaceUnit::Page4k)];

    /// The unit called `name`, if there is one.
    #[must_use]
    pub fn named(name: &str) -> Option<SpaceUnit> {
        SpaceUnit::ALL.iter().find(|(known, _)| *known == name).map(|(_, unit)| *unit)
    }

    /// Bytes in one step.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        match self {
            SpaceUnit::Byte => 1,
            SpaceUnit::Sector => 512,
            SpaceUnit::Page4k => 4096,
        }
    }

    /// The unit in words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            SpaceUnit::Byte => "bytes",
            SpaceUnit::Sector => "sectors of 512 bytes",
            SpaceUnit::Page4k => "pages of 4 KiB",
        }
    }
}

/// The units of a file: those of its format, or what the user said instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Units {
    /// What times count.
    pub time: TimeUnit,
    /// What addresses count.
    pub address: SpaceUnit,
    /// What sizes count.
    pub size: SpaceUnit,
}
