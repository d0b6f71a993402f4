//! The units of times, addresses and sizes in trace files. Files seldom state them: each format has
//! defaults, which the user can override.

use std::ops::RangeInclusive;

use serde::Serialize;

/// The unit of a trace's clock.
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
    /// All units with their names on the command line.
    pub const ALL: [(&'static str, TimeUnit); 5] = [
        (TimeUnit::Ns.name(), TimeUnit::Ns),
        (TimeUnit::Filetime.name(), TimeUnit::Filetime),
        (TimeUnit::Us.name(), TimeUnit::Us),
        (TimeUnit::Ms.name(), TimeUnit::Ms),
        (TimeUnit::S.name(), TimeUnit::S),
    ];

    /// Returns the unit named `name`.
    #[must_use]
    pub fn named(name: &str) -> Option<TimeUnit> {
        TimeUnit::ALL.iter().find(|(known, _)| *known == name).map(|(_, unit)| *unit)
    }

    /// Returns its name on the command line. That of 100 ns is Windows' file time, from whatever day they count: the first request
    /// is the beginning of a trace.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            TimeUnit::Ns => "ns",
            TimeUnit::Filetime => "filetime",
            TimeUnit::Us => "us",
            TimeUnit::Ms => "ms",
            TimeUnit::S => "s",
        }
    }

    /// Returns the unit of so many nanoseconds.
    pub(crate) fn of_ns(ns: u64) -> Option<TimeUnit> {
        TimeUnit::ALL.into_iter().map(|(_, unit)| unit).find(|unit| unit.ns() == ns)
    }

    /// Returns the nanoseconds of one unit.
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

    /// Returns the unit in words.
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

/// The unit of an address or a size.
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
    /// All units with their names on the command line.
    pub const ALL: [(&'static str, SpaceUnit); 3] =
        [("byte", SpaceUnit::Byte), ("sector", SpaceUnit::Sector), ("4k", SpaceUnit::Page4k)];

    /// Returns the unit named `name`.
    #[must_use]
    pub fn named(name: &str) -> Option<SpaceUnit> {
        SpaceUnit::ALL.iter().find(|(known, _)| *known == name).map(|(_, unit)| *unit)
    }

    /// Returns the bytes of one unit.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        match self {
            SpaceUnit::Byte => 1,
            SpaceUnit::Sector => 512,
            SpaceUnit::Page4k => 4096,
        }
    }

    /// Returns the unit in words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            SpaceUnit::Byte => "bytes",
            SpaceUnit::Sector => "sectors of 512 bytes",
            SpaceUnit::Page4k => "pages of 4 KiB",
        }
    }
}

/// The units of a file: those of its format, unless overridden by the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Units {
    /// The unit of times.
    pub time: TimeUnit,
    /// The unit of addresses.
    pub address: SpaceUnit,
    /// The unit of sizes.
    pub size: SpaceUnit,
}

/// The names of a file's units, as in results: `us`, `sector`. In a table of one's own they may be a number of nanoseconds
/// or bytes, and `iso` for dates; none where no column has numbers of this kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnitNames {
    /// The unit of times.
    pub time: Option<String>,
    /// The unit of addresses.
    pub address: Option<String>,
    /// The unit of sizes.
    pub size: Option<String>,
}

impl From<Units> for UnitNames {
    fn from(units: Units) -> UnitNames {
        UnitNames {
            time: Some(time_name(units.time.ns())),
            address: Some(space_name(units.address.bytes())),
            size: Some(space_name(units.size.bytes())),
        }
    }
}

/// The name of a unit of so many nanoseconds.
pub(crate) fn time_name(ns: u64) -> String {
    TimeUnit::of_ns(ns).map_or_else(|| ns.to_string(), |unit| unit.name().to_owned())
}

/// The name of a unit of so many bytes.
pub(crate) fn space_name(bytes: u64) -> String {
    let known = SpaceUnit::ALL.iter().find(|(_, unit)| unit.bytes() == bytes);
    known.map_or_else(|| bytes.to_string(), |(name, _)| (*name).to_owned())
}

/// Since when the times of a format count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Epoch {
    /// Since some moment of their own, such as the boot or the beginning of the recording.
    Own,
    /// Since 1970; Windows file times since 1601.
    Calendar,
}

/// What clocks show between 2000 and 2060. Windows counts from 1601.
pub(crate) const SINCE_1970: [(TimeUnit, RangeInclusive<u64>); 5] = [
    (TimeUnit::S, 946_000_000..=2_840_000_000),
    (TimeUnit::Ms, 946_000_000_000..=2_840_000_000_000),
    (TimeUnit::Us, 946_000_000_000_000..=2_840_000_000_000_000),
    (TimeUnit::Ns, 946_000_000_000_000_000..=2_840_000_000_000_000_000),
    (TimeUnit::Filetime, 125_000_000_000_000_000..=145_000_000_000_000_000),
];
