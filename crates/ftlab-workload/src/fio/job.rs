//! What a job is: plain data, as the options say it. Sizes are in sectors.

use ftlab::config::SourcePlace;
use ftlab::units::Nanos;

use super::values::{Amount, MILLION};

/// Reads, writes, trims: how lists for each direction are ordered.
pub(super) const READ: usize = 0;
pub(super) const WRITE: usize = 1;
pub(super) const TRIM: usize = 2;

/// One job section, clones not yet made.
#[derive(Clone, Debug)]
pub struct Job {
    /// Its name, as results print it.
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
    pub(super) clones: u32,
    pub(super) queue: Queue,
    pub(super) time: Time,
    pub(super) pace: Pace,
    pub(super) flush: Flush,
    /// Waits for all jobs above it.
    pub(super) stonewall: bool,
    /// Its end ends the group.
    pub(super) ends_group: bool,
    pub(super) report: Reporting,
}

/// What is told of it in fio's document.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Reporting {
    /// Together with what stands above it in its group.
    pub grouped: bool,
    /// It is the first of a new group.
    pub begins_group: bool,
    /// Its engine submits and goes on, so that submitting is a thing of its own.
    pub submits: bool,
    /// `iodepth`, as it is asked for.
    pub depth: u32,
    /// Of which latencies percentiles are told.
    pub slat: bool,
    pub clat: bool,
    pub lat: bool,
    /// Which, ascending.
    pub percentiles: Vec<f64>,
    /// Its own options as they are written, those of `[global]` left out.
    pub options: Vec<(String, String)>,
}

/// The percentiles that fio prints unless it is told.
pub(super) const PERCENTILES: [f64; 17] = [
    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95,
    99.99,
];

/// Which operations, and in which proportion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mix {
    Read,
    Write,
    Trim,
    /// Reads, in millionths; the rest writes.
    Mixed(u64),
    /// Each place trimmed and then written.
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

/// What follows the colon of `rw`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Modifier {
    None,
    /// A new random place after so many requests.
    Every {
        requests: u64,
        identical: bool,
    },
    /// A hole of so many sectors after each sequential request.
    Skip(u64),
}

/// Sizes of requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Sizes {
    Fixed(u32),
    /// Multiples of the first up to the second.
    Range(u32, u32),
    /// With weights.
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

/// How random places follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RandomOrder {
    /// Drawn, but each place once in a pass.
    Map,
    /// A permutation.
    Permuted,
    /// Drawn.
    Free,
}

/// How popular places are.
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
    /// Deviation as a share of the places.
    Normal {
        deviation: f64,
        center: Option<f64>,
    },
    /// Accesses in millionths, and space.
    Zoned(Vec<(u64, Amount)>),
}

/// Where the job works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct JobTarget {
    /// Named files; nothing if the job has files of its own.
    pub names: Option<Vec<String>>,
    /// How many of its own.
    pub files: u32,
    pub service: Service,
    /// Whether they are written before the jobs run, although nobody reads them.
    pub overwrite: bool,
    pub fill_device: bool,
}

/// Whether a file is the device itself.
pub(super) fn is_device(name: &str) -> bool {
    name.starts_with("/dev/") || name.starts_with("\\\\.\\")
}

/// Which file is next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Service {
    RoundRobin(u64),
    Random(u64),
    Sequential,
}

/// How much, and from where.
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

/// `zonemode=strided`, in sectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Zones {
    pub size: u64,
    pub range: u64,
    pub skip: u64,
}

/// How many requests are outstanding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Queue {
    pub depth: u32,
    /// A queue that was full is filled again once so many are left.
    pub refill_at: u32,
}

/// When it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Time {
    pub delay: (Nanos, Nanos),
    pub ramp: Nanos,
    pub runtime: Option<Nanos>,
    pub time_based: bool,
}

/// How fast it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pace {
    /// Bytes a second.
    pub rate: [Option<u64>; 3],
    pub poisson: bool,
    pub think: Option<Think>,
}

/// When it stops to think.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Think {
    pub time: Nanos,
    pub every_requests: u64,
    /// Counted when they are submitted, not when they are done.
    pub at_issue: bool,
    pub every_time: Option<Nanos>,
}

/// When it flushes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Flush {
    pub every_writes: [u64; 2],
    pub each_write: bool,
    /// Writes are told when they are on flash.
    pub force_writes: bool,
    pub at_end: bool,
}

impl Job {
    /// Whether it moves data in a direction.
    pub(super) fn uses(&self, direction: usize) -> bool {
        self.mix.uses(direction)
    }

    /// The smallest request of the directions that it uses.
    pub(super) fn smallest(&self) -> u32 {
        let sizes = (READ..=TRIM).filter(|&direction| self.uses(direction));
        sizes.map(|direction| self.sizes[direction].smallest()).min().unwrap_or(1)
    }

    /// The largest request of the directions that it uses.
    pub(super) fn largest(&self) -> u32 {
        let sizes = (READ..=TRIM).filter(|&direction| self.uses(direction));
        sizes.map(|direction| self.sizes[direction].largest()).max().unwrap_or(1)
    }

    /// Whether every pass goes in the same order, as in fio.
    pub(super) fn repeats(&self) -> bool {
        let has_map = self.order == RandomOrder::Map && self.random_share == [Self::ALL; 3];
        self.random && has_map
    }

    /// Whether a random place may lie beyond the end for a direction: it is counted in a smaller size
    /// than that direction has.
    pub(super) fn overshoots(&self) -> bool {
        let unit = match (&self.distribution[READ], self.order) {
            (Distribution::Uniform | Distribution::Zoned(_), RandomOrder::Free) => return false,
            (Distribution::Uniform | Distribution::Zoned(_), _) => self.unit_of_all(),
            _ => self.unit_of_values(),
        };
        let mut used = (READ..=TRIM).filter(|&direction| self.uses(direction));
        self.random && used.any(|direction| self.unit(direction) > unit)
    }

    /// Sectors from one random place of a direction to the next.
    pub(super) fn unit(&self, direction: usize) -> u64 {
        self.align[direction].unwrap_or_else(|| self.sizes[direction].smallest()).into()
    }

    /// The smallest request of all directions, used or not: as in fio, its random map has so many
    /// places.
    pub(super) fn unit_of_all(&self) -> u64 {
        let sizes = self.sizes.iter().map(Sizes::smallest);
        sizes.min().expect("three directions").into()
    }

    /// The smaller of reads and writes, used or not: as in fio, a skewed distribution has so many
    /// values.
    pub(super) fn unit_of_values(&self) -> u64 {
        self.sizes[READ].smallest().min(self.sizes[WRITE].smallest()).into()
    }

    /// All, in millionths.
    pub(super) const ALL: u64 = MILLION;
}
