//! Jobs as plain data, from the options of the file. Sizes are in sectors.

use ftlab::config::SourcePlace;
use ftlab::units::Nanos;

use super::placement::Hints;
use super::values::{Amount, MILLION};
use super::zbd::ZbdOptions;

/// The order of reads, writes and trims in lists by direction.
pub(super) const READ: usize = 0;
pub(super) const WRITE: usize = 1;
pub(super) const TRIM: usize = 2;

/// A job section, before its clones are made.
#[derive(Clone, Debug)]
pub struct Job {
    /// The name of the job in results.
    pub name: String,
    pub(super) place: SourcePlace,
    pub(super) mix: Mix,
    pub(super) random: bool,
    pub(super) modifier: Modifier,
    pub(super) random_share: [u64; 3],
    pub(super) sizes: [Sizes; 3],
    pub(super) align: [Option<u32>; 3],
    pub(super) order: RandomOrder,
    pub(super) distribution: [Distribution; 3],
    pub(super) seed: Option<u64>,
    pub(super) target: JobTarget,
    pub(super) amounts: Amounts,
    pub(super) zones: Option<Zones>,
    pub(super) zbd: Option<ZbdOptions>,
    /// The placement identifiers of its writes.
    pub(super) placement: Option<Hints>,
    pub(super) clones: u32,
    pub(super) queue: Queue,
    pub(super) time: Time,
    pub(super) pace: Pace,
    pub(super) flush: Flush,
    /// Whether it waits for all jobs above it.
    pub(super) stonewall: bool,
    /// Whether its end ends the group.
    pub(super) ends_group: bool,
    pub(super) report: Reporting,
}

/// What fio's document reports about a job.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Reporting {
    /// Whether it reports together with the entry above it in its group.
    pub grouped: bool,
    /// Whether it begins a new group.
    pub begins_group: bool,
    /// Whether its engine submits asynchronously, so that submission counts separately.
    pub submits: bool,
    /// `iodepth` as requested.
    pub depth: u32,
    /// For which latencies percentiles are reported.
    pub slat: bool,
    pub clat: bool,
    pub lat: bool,
    /// The percentiles, in ascending order.
    pub percentiles: Vec<f64>,
    /// Its own options as written, without those of `[global]`.
    pub options: Vec<(String, String)>,
}

/// The default percentiles of fio.
pub(super) const PERCENTILES: [f64; 17] = [
    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95,
    99.99,
];

/// The operations and their proportion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mix {
    Read,
    Write,
    Trim,
    /// The share of reads in millionths; the others are writes.
    Mixed(u64),
    /// Each place is trimmed and then written.
    TrimWrite,
}

impl Mix {
    pub fn uses(self, direction: usize) -> bool {
        match self {
            Mix::Read => direction == READ,
            Mix::Write => direction == WRITE,
            Mix::Trim => direction == TRIM,
            Mix::Mixed(_) => direction != TRIM,
            Mix::TrimWrite => direction != READ,
        }
    }
}

/// The modifier after the colon of `rw`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Modifier {
    None,
    /// A new random place after this many requests.
    Every {
        requests: u64,
        identical: bool,
    },
    /// A hole of this many sectors after each sequential request.
    Skip(u64),
}

/// The sizes of requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Sizes {
    Fixed(u32),
    /// Multiples of the first, up to the second.
    Range(u32, u32),
    /// Sizes with weights.
    Split(Vec<(u32, u64)>),
}

impl Sizes {
    pub fn smallest(&self) -> u32 {
        match self {
            Sizes::Fixed(size) | Sizes::Range(size, _) => *size,
            Sizes::Split(list) => {
                list.iter().filter(|entry| entry.1 > 0).map(|entry| entry.0).min().unwrap_or(1)
            }
        }
    }

    pub fn largest(&self) -> u32 {
        match self {
            Sizes::Fixed(size) | Sizes::Range(_, size) => *size,
            Sizes::Split(list) => {
                list.iter().filter(|entry| entry.1 > 0).map(|entry| entry.0).max().unwrap_or(1)
            }
        }
    }
}

/// The order of random places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RandomOrder {
    /// Random, but each place only once per pass.
    Map,
    /// A permutation.
    Permuted,
    /// Random.
    Free,
}

/// The popularity of places.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Distribution {
    Uniform,
    Zipf {
        theta: f64,
        center: Option<f64>,
    },
    Pareto {
        power: f64,
        center: Option<f64>,
    },
    /// The deviation as a share of the places.
    Normal {
        deviation: f64,
        center: Option<f64>,
    },
    /// Accesses in millionths, and space.
    Zoned(Vec<(u64, Amount)>),
}

/// The files of the job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct JobTarget {
    /// Named files; none if the job has files of its own.
    pub names: Option<Vec<String>>,
    /// The number of its own files.
    pub files: u32,
    pub service: Service,
    /// Whether the files are written before the jobs even if no job reads them.
    pub overwrite: bool,
    pub fill_device: bool,
}

/// Whether a file name means the device itself.
pub(super) fn is_device(name: &str) -> bool {
    name.starts_with("/dev/") || name.starts_with("\\\\.\\")
}

/// How the next file is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Service {
    RoundRobin(u64),
    Random(u64),
    Sequential,
}

/// How much is transferred, and from where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Amounts {
    pub size: Option<Amount>,
    pub io_size: Option<Amount>,
    pub file_size: Option<u64>,
    pub offset: Amount,
    pub offset_increment: Amount,
    pub offset_align: u64,
    pub requests: Option<u64>,
    pub loops: u64,
}

impl Amounts {
    /// Whether any of them is a number of zones.
    pub fn has_zones(&self) -> bool {
        let all = [self.size, self.io_size, Some(self.offset), Some(self.offset_increment)];
        all.into_iter().flatten().any(|amount| matches!(amount, Amount::Zones(_)))
    }

    /// Returns them with zones of `size` sectors as sectors.
    pub fn in_zones(self, size: u64) -> Amounts {
        let of = |amount: Amount| amount.in_zones(size);
        Amounts {
            size: self.size.map(of),
            io_size: self.io_size.map(of),
            offset: of(self.offset),
            offset_increment: of(self.offset_increment),
            ..self
        }
    }
}

/// `zonemode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ZoneMode {
    None,
    Strided,
    Zbd,
}

/// `zonemode=strided`, in sectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Zones {
    pub size: u64,
    pub range: u64,
    pub skip: u64,
}

/// The number of outstanding requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Queue {
    pub depth: u32,
    /// A queue that was full is refilled once this many requests are left.
    pub refill_at: u32,
}

/// When the job runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Time {
    pub delay: (Nanos, Nanos),
    pub ramp: Nanos,
    pub runtime: Option<Nanos>,
    pub time_based: bool,
}

/// The rate of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pace {
    /// Bytes per second.
    pub rate: [Option<u64>; 3],
    pub poisson: bool,
    pub think: Option<Think>,
}

/// Pauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Think {
    pub time: Nanos,
    pub every_requests: u64,
    /// Whether requests count when they are submitted, not when they complete.
    pub at_issue: bool,
    pub every_time: Option<Nanos>,
}

/// When the job flushes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Flush {
    pub every_writes: [u64; 2],
    pub each_write: bool,
    /// Whether writes are acknowledged only once they are on flash (FUA).
    pub force_writes: bool,
    pub at_end: bool,
}

impl Job {
    /// Whether the job transfers data in a direction.
    pub(super) fn uses(&self, direction: usize) -> bool {
        self.mix.uses(direction)
    }

    /// Returns the smallest request of the directions in use.
    pub(super) fn smallest(&self) -> u32 {
        let sizes = (READ..=TRIM).filter(|&direction| self.uses(direction));
        sizes.map(|direction| self.sizes[direction].smallest()).min().unwrap_or(1)
    }

    /// Returns the largest read or write.
    pub(super) fn largest_transfer(&self) -> u32 {
        let sizes = (READ..=WRITE).filter(|&direction| self.uses(direction));
        sizes.map(|direction| self.sizes[direction].largest()).max().unwrap_or(1)
    }

    /// Returns the smallest and the largest trim, if it trims.
    pub(super) fn trims(&self) -> Option<[u32; 2]> {
        let sizes = &self.sizes[TRIM];
        self.uses(TRIM).then(|| [sizes.smallest(), sizes.largest()])
    }

    /// Returns the largest request of the directions in use.
    pub(super) fn largest(&self) -> u32 {
        let sizes = (READ..=TRIM).filter(|&direction| self.uses(direction));
        sizes.map(|direction| self.sizes[direction].largest()).max().unwrap_or(1)
    }

    /// Whether every pass has the same order, as in fio.
    pub(super) fn repeats(&self) -> bool {
        let has_map = self.order == RandomOrder::Map && self.random_share == [Self::ALL; 3];
        self.random && has_map
    }

    /// Whether a random place may be beyond the end for a direction, because places are counted in
    /// a smaller size than that direction's.
    pub(super) fn overshoots(&self) -> bool {
        let unit = match (&self.distribution[READ], self.order) {
            (Distribution::Uniform | Distribution::Zoned(_), RandomOrder::Free) => return false,
            (Distribution::Uniform | Distribution::Zoned(_), _) => self.unit_of_all(),
            _ => self.unit_of_values(),
        };
        let mut used = (READ..=TRIM).filter(|&direction| self.uses(direction));
        self.random && used.any(|direction| self.unit(direction) > unit)
    }

    /// Returns the sectors from one random place of a direction to the next.
    pub(super) fn unit(&self, direction: usize) -> u64 {
        self.align[direction].unwrap_or_else(|| self.sizes[direction].smallest()).into()
    }

    /// Returns the smallest request of all directions, used or not: as in fio, it determines the
    /// number of places of the random map.
    pub(super) fn unit_of_all(&self) -> u64 {
        let sizes = self.sizes.iter().map(Sizes::smallest);
        sizes.min().expect("three directions").into()
    }

    /// Returns the smaller of the smallest read and write, used or not: as in fio, it determines
    /// the number of values of a skewed distribution.
    pub(super) fn unit_of_values(&self) -> u64 {
        self.sizes[READ].smallest().min(self.sizes[WRITE].smallest()).into()
    }

    /// The whole, in millionths.
    pub(super) const ALL: u64 = MILLION;
}
