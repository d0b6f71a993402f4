//! Units as types: times and durations, sizes, rates, and the 32-bit indices of requests, pages, blocks, planes, dies
//! and channels.
//!
//! The difference of two times is a duration; times cannot be added. An index is stored as its value plus one in a
//! `NonZeroU32`, so `Option<Ppn>` takes four bytes and a zeroed table is a table of `None`: the operating system
//! allocates the memory of such a table only when it is touched.

use std::fmt;
use std::num::NonZeroU32;
use std::ops::{Add, AddAssign, Sub};

use serde::Serialize;

mod sectors;

pub use sectors::{PageSpan, SectorMask};

/// Bytes in a sector, the unit in which hosts address a device.
pub const SECTOR_BYTES: u64 = 512;

/// A time, in nanoseconds since the device was switched on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct SimTime(pub u64);

/// A duration, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Nanos(pub u64);

impl SimTime {
    /// The time of power-on.
    pub const ZERO: SimTime = SimTime(0);
    /// Later than any event: "run until nothing is left to do".
    pub const FOREVER: SimTime = SimTime(u64::MAX);

    /// The duration since `earlier`, or zero if `earlier` is later.
    #[must_use]
    pub fn saturating_since(self, earlier: SimTime) -> Nanos {
        Nanos(self.0.saturating_sub(earlier.0))
    }
}

impl Nanos {
    /// Zero.
    pub const ZERO: Nanos = Nanos(0);

    /// Returns a duration in whole microseconds.
    #[must_use]
    pub const fn from_micros(micros: u64) -> Nanos {
        Nanos(micros * 1_000)
    }

    /// The duration in seconds, for reports.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl Add<Nanos> for SimTime {
    type Output = SimTime;
    fn add(self, span: Nanos) -> SimTime {
        SimTime(self.0 + span.0)
    }
}

impl Sub for SimTime {
    type Output = Nanos;
    /// Panics in debug builds if `earlier` is later, which would be a bug in the model.
    fn sub(self, earlier: SimTime) -> Nanos {
        Nanos(self.0 - earlier.0)
    }
}

impl Add for Nanos {
    type Output = Nanos;
    fn add(self, other: Nanos) -> Nanos {
        Nanos(self.0 + other.0)
    }
}

impl AddAssign for Nanos {
    fn add_assign(&mut self, other: Nanos) {
        self.0 += other.0;
    }
}

impl fmt::Display for Nanos {
    /// Prints the largest unit in which the number is at least one: `1.5ms`, `70us`, `12ns`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = self.0;
        let (value, unit) = match ns {
            0..1_000 => return write!(f, "{ns}ns"),
            1_000..1_000_000 => (ns as f64 / 1e3, "us"),
            1_000_000..1_000_000_000 => (ns as f64 / 1e6, "ms"),
            _ => (ns as f64 / 1e9, "s"),
        };
        write!(f, "{value}{unit}")
    }
}

impl fmt::Display for SimTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Nanos(self.0).fmt(f)
    }
}

/// A size in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Bytes(pub u64);

impl Bytes {
    /// Returns a size in KiB.
    #[must_use]
    pub const fn from_kib(kib: u64) -> Bytes {
        Bytes(kib << 10)
    }

    /// Number of whole sectors that fit.
    #[must_use]
    pub const fn sectors(self) -> u64 {
        self.0 / SECTOR_BYTES
    }
}

impl fmt::Display for Bytes {
    /// Prints the largest binary unit that divides the size: `16KiB`, `3MiB`, `513B`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(u64, &str); 4] =
            [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
        match UNITS.iter().find(|(size, _)| self.0 != 0 && self.0.is_multiple_of(*size)) {
            Some((size, unit)) => write!(f, "{}{unit}", self.0 / size),
            None => write!(f, "{}B", self.0),
        }
    }
}

/// A transfer rate in bytes per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct BytesPerSec(pub u64);

impl BytesPerSec {
    /// Time that `size` takes at this rate, rounded up to a whole nanosecond.
    #[must_use]
    pub fn time_for(self, size: Bytes) -> Nanos {
        let ns = (u128::from(size.0) * 1_000_000_000).div_ceil(u128::from(self.0));
        Nanos(u64::try_from(ns).unwrap_or(u64::MAX))
    }
}

impl fmt::Display for BytesPerSec {
    /// Prints decimal units, like the bus rates in data sheets: `800MB/s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(u64, &str); 3] =
            [(1_000_000_000, "GB/s"), (1_000_000, "MB/s"), (1_000, "kB/s")];
        match UNITS.iter().find(|(size, _)| self.0 != 0 && self.0.is_multiple_of(*size)) {
            Some((size, unit)) => write!(f, "{}{unit}", self.0 / size),
            None => write!(f, "{}B/s", self.0),
        }
    }
}

/// The rate of a bus, stated in bytes per second or in transfers of a byte each, as on eight data lines (NV-DDR,
/// Toggle).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct BusRate(pub BytesPerSec);

/// Transfers per second on a bus. Each moves as many bits as the bus is wide.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct TransferRate(pub u64);

impl TransferRate {
    /// Time that this number of transfers takes, rounded up to a whole nanosecond.
    #[must_use]
    pub fn time_for(self, transfers: u128) -> Nanos {
        let ns = (transfers * 1_000_000_000).div_ceil(u128::from(self.0.max(1)));
        Nanos(u64::try_from(ns).unwrap_or(u64::MAX))
    }
}

impl fmt::Display for TransferRate {
    /// Prints millions, as in data sheets: `533MT/s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(u64, &str); 2] = [(1_000_000, "MT/s"), (1_000, "kT/s")];
        match UNITS.iter().find(|(size, _)| self.0 != 0 && self.0.is_multiple_of(*size)) {
            Some((size, unit)) => write!(f, "{}{unit}", self.0 / size),
            None => write!(f, "{}T/s", self.0),
        }
    }
}

/// Electric power, in microwatts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Microwatts(pub u64);

impl Microwatts {
    /// The energy that it draws in some time, in joules.
    #[must_use]
    pub fn joules_in(self, time_ns: u64) -> f64 {
        // Exact: both are whole numbers.
        const FEMTO: f64 = 1e-15;
        (u128::from(self.0) * u128::from(time_ns)) as f64 * FEMTO
    }
}

impl fmt::Display for Microwatts {
    /// Prints milliwatts, as in data sheets: `82.5mW`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0 / 1_000, self.0 % 1_000) {
            (whole, 0) => write!(f, "{whole}mW"),
            (whole, rest) => {
                let rest = format!("{rest:03}");
                write!(f, "{whole}.{}mW", rest.trim_end_matches('0'))
            }
        }
    }
}

/// A rate of requests per thousand seconds: an integer, so that every machine gives the same results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct RequestRate {
    /// Requests per thousand seconds.
    pub per_kilosecond: u64,
}

/// A share in parts per million: an integer, so that decisions are the same on every machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Ratio {
    /// Parts per million.
    pub ppm: u32,
}

impl Ratio {
    /// The whole.
    pub const ONE: Ratio = Ratio { ppm: 1_000_000 };

    /// Returns a share in per cent.
    #[must_use]
    pub const fn percent(percent: u32) -> Ratio {
        Ratio { ppm: percent * 10_000 }
    }

    /// This share of `whole`, rounded down.
    #[must_use]
    pub fn of(self, whole: u64) -> u64 {
        let part = u128::from(whole) * u128::from(self.ppm) / 1_000_000;
        u64::try_from(part).unwrap_or(u64::MAX)
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", f64::from(self.ppm) / 10_000.0)
    }
}

/// A size, or a share of a whole given by the context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Amount {
    /// A size in bytes.
    Bytes(Bytes),
    /// A share of the whole.
    Share(Ratio),
}

impl Amount {
    /// The amount in sectors, rounded down, where the whole has `whole` sectors.
    #[must_use]
    pub fn sectors(self, whole: u64) -> u64 {
        match self {
            Amount::Bytes(bytes) => bytes.sectors(),
            Amount::Share(share) => share.of(whole),
        }
    }
}

/// A host address: the index of a 512-byte sector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Lba(pub u64);

macro_rules! index {
    ($(#[$doc:meta])* $Name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        pub struct $Name(NonZeroU32);

        impl $Name {
            /// The largest index that the type holds.
            pub const MAX_INDEX: u32 = u32::MAX - 1;

            /// Returns the index `value`. Panics at `u32::MAX`, which no valid geometry reaches.
            #[inline]
            #[must_use]
            pub const fn new(value: u32) -> $Name {
                match NonZeroU32::new(value.wrapping_add(1)) {
                    Some(stored) => $Name(stored),
                    None => panic!("index out of range"),
                }
            }

            /// The index as a number.
            #[inline]
            #[must_use]
            pub const fn get(self) -> u32 {
                self.0.get() - 1
            }

            /// The index for a table.
            #[inline]
            #[must_use]
            pub const fn at(self) -> usize {
                self.get() as usize
            }

            /// The stored form, which is never zero, so that zero can mean "none" in a table.
            #[inline]
            #[must_use]
            pub const fn to_raw(self) -> u32 {
                self.0.get()
            }

            /// Converts back from the stored form; zero is `None`.
            #[inline]
            #[must_use]
            pub const fn from_raw(raw: u32) -> Option<$Name> {
                match NonZeroU32::new(raw) {
                    Some(stored) => Some($Name(stored)),
                    None => None,
                }
            }
        }

        impl fmt::Debug for $Name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($Name), "({})"), self.get())
            }
        }

        impl fmt::Display for $Name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.get().fmt(f)
            }
        }
    };
}

index! {
    /// A request in the device: its index in the table of requests. Whatever waits or works for the request carries
    /// it.
    RequestId
}
index! {
    /// A logical page: the unit of mapping, as numbered by the host side.
    Lpn
}
index! {
    /// A translation page: a page of the map, if that is stored on flash.
    Tpn
}
index! {
    /// A physical page: a place on flash for the data of one logical page.
    Ppn
}
index! {
    /// A block: the unit of erasing, numbered over the whole device.
    BlockId
}
index! {
    /// A plane: a part of a die with blocks of its own, numbered over the whole device.
    PlaneId
}
index! {
    /// A die: the unit that is busy as a whole, numbered over the whole device.
    DieId
}
index! {
    /// A channel: a bus that carries one transfer at a time.
    ChannelId
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_optional_index_costs_nothing_and_zero_means_none() {
        assert_eq!(size_of::<Option<Ppn>>(), 4);
        assert_eq!(Ppn::from_raw(0), None);
        assert_eq!(Ppn::from_raw(Ppn::new(0).to_raw()), Some(Ppn::new(0)));
        assert_eq!(Ppn::new(Ppn::MAX_INDEX).get(), Ppn::MAX_INDEX);
    }

    #[test]
    fn transfer_times_round_up() {
        assert_eq!(BytesPerSec(409_600_000).time_for(Bytes::from_kib(4)), Nanos(10_000));
        assert_eq!(BytesPerSec(3).time_for(Bytes(1)), Nanos(333_333_334));
    }

    #[test]
    fn quantities_print_with_their_unit() {
        assert_eq!(Nanos(1_500_000).to_string(), "1.5ms");
        assert_eq!(Bytes(16 << 10).to_string(), "16KiB");
        assert_eq!(BytesPerSec(800_000_000).to_string(), "800MB/s");
        assert_eq!(Ratio { ppm: 75_000 }.to_string(), "7.5%");
    }
}
