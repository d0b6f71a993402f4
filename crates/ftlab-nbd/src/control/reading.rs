//! What a running drive tells about itself: plain numbers, with their units in their names.
//!
//! The loop fills a [`DriveReading`] about once a second and gives the same one to everybody. Counters count since the server
//! started, unless they say otherwise; what belongs to the last moment is "of the window", the time between this
//! reading and the one before. What a device lacks is `None`.

use serde::{Deserialize, Serialize};

use super::Clock;

/// The most cells of all wear maps together, so that a reading of a large device stays small.
pub const MOST_WEAR_CELLS: usize = 8192;
/// The most cells of the map of one plane.
const MOST_CELLS_OF_A_PLANE: usize = 64;
/// Mean erase counts keep one decimal.
const WEAR_STEPS: f64 = 10.0;

/// A snapshot of the drive.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DriveReading {
    /// The simulated device, and its clock.
    pub device: DeviceReading,
    /// What the host asked for.
    pub host: HostReading,
    /// Latencies since the start.
    pub latencies: Latencies,
    /// Latencies of the window.
    pub window_latencies: Latencies,
    /// What the flash did, and its room.
    pub flash: FlashReading,
    /// Each die.
    pub dies: Vec<DieReading>,
    /// The device's own log of its health.
    pub smart: SmartReading,
    /// Power cuts and recoveries.
    pub power: PowerReading,
    /// How the drive is configured to behave.
    pub policy: PolicyReading,
}

/// The simulated device, and its clock.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DeviceReading {
    /// The name of the preset or configuration.
    pub name: String,
    /// What it is, in a few words.
    pub title: String,
    /// What the host sees.
    pub capacity_bytes: u64,
    /// The size of a flash page.
    pub page_bytes: u64,
    /// Flash pages of a block.
    pub pages_per_block: u64,
    /// Blocks of a plane.
    pub blocks_per_plane: u64,
    /// Planes of a die.
    pub planes_per_die: u32,
    /// All dies.
    pub dies: u32,
    /// All channels.
    pub channels: u32,
    /// How simulated time follows the clock on the wall.
    pub clock: Clock,
    /// Simulated time since the device was new.
    pub simulated_now_ns: u64,
    /// Time on the wall since the server started.
    pub uptime_ns: u64,
    /// Time on the wall between the reading before and this one.
    pub window_ns: u64,
}

/// What the host asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HostReading {
    /// Reads that were answered.
    pub reads: u64,
    /// Writes that were answered.
    pub writes: u64,
    /// Flushes that were answered.
    pub flushes: u64,
    /// Trims that were answered.
    pub trims: u64,
    /// Commands to write zeroes that were answered.
    pub write_zeroes: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Requests that wait for their answer.
    pub in_flight: u64,
    /// Requests answered with an error.
    pub errors: u64,
    /// NBD connections that are open.
    pub connections_open: u64,
    /// NBD connections ever accepted.
    pub connections_total: u64,
    /// NBD connections that were turned away.
    pub connections_refused: u64,
}

/// Latencies by kind of request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Latencies {
    /// Reads.
    pub read: KindLatencies,
    /// Writes, and commands to write zeroes.
    pub write: KindLatencies,
    /// Flushes.
    pub flush: KindLatencies,
    /// Trims.
    pub trim: KindLatencies,
}

impl Latencies {
    /// Returns the kinds with their names.
    pub fn kinds(&self) -> [(&'static str, &KindLatencies); 4] {
        [("read", &self.read), ("write", &self.write), ("flush", &self.flush), ("trim", &self.trim)]
    }
}

/// Latencies of one kind of request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct KindLatencies {
    /// What the simulated device took.
    pub simulated: Quantiles,
    /// How much later than the simulated device the reply left, on the wall.
    pub late: Quantiles,
}

/// A distribution of times. All zero if nothing was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Quantiles {
    /// How many times there are.
    pub count: u64,
    /// Their sum.
    pub sum_ns: u64,
    /// The median.
    pub p50_ns: u64,
    /// The 90th percentile.
    pub p90_ns: u64,
    /// The 99th percentile.
    pub p99_ns: u64,
    /// The 99.9th percentile.
    pub p999_ns: u64,
    /// The longest.
    pub max_ns: u64,
}

/// What the flash did, and its room.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FlashReading {
    /// Pages programmed, by what they were programmed for.
    pub programs: Vec<Programs>,
    /// Pages read.
    pub reads: u64,
    /// Blocks erased.
    pub erases: u64,
    /// Flash pages programmed per page that the host wrote.
    pub write_amplification: Option<f64>,
    /// Free blocks of the plane that has the fewest.
    pub free_blocks_min: u64,
    /// Free blocks of a plane, on average.
    pub free_blocks_mean: f64,
    /// The share of programmed pages whose data is current, from 0 to 1.
    pub valid_share: Option<f64>,
}

impl FlashReading {
    /// Returns the pages programmed for any reason.
    pub fn programmed(&self) -> u64 {
        self.programs.iter().map(|programs| programs.pages).fold(0, u64::saturating_add)
    }
}

/// Pages programmed for one reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Programs {
    /// The reason: `host`, `gc`, `map`, `padding` and so on; each once.
    pub origin: String,
    /// How many pages.
    pub pages: u64,
}

/// What a die does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DieState {
    /// Nothing.
    #[default]
    Idle,
    /// Reads a page.
    Read,
    /// Programs a page.
    Program,
    /// Erases a block.
    Erase,
    /// Has put off an erase or program for something urgent.
    Suspended,
    /// Is broken.
    Dead,
}

impl DieState {
    /// All states.
    pub const ALL: [Self; 6] =
        [Self::Idle, Self::Read, Self::Program, Self::Erase, Self::Suspended, Self::Dead];

    /// Returns the state's name, as in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Read => "read",
            Self::Program => "program",
            Self::Erase => "erase",
            Self::Suspended => "suspended",
            Self::Dead => "dead",
        }
    }
}

/// One die.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DieReading {
    /// The channel that it is on.
    pub channel: u32,
    /// What it does now.
    pub state: DieState,
    /// The share of the window, in simulated time, in which it was busy: from 0 to 1.
    pub utilisation: f64,
    /// Commands that wait for it.
    pub queued: u64,
    /// Erases of its least worn block.
    pub erases_min: u64,
    /// Erases of a block, on average.
    pub erases_mean: f64,
    /// Erases of its most worn block.
    pub erases_max: u64,
    /// The wear of each plane.
    pub planes: Vec<PlaneWear>,
}

/// The wear along a plane: blocks in order, in groups of equal size.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PlaneWear {
    /// The mean erase count of each group, to a tenth; `None` if all its blocks are bad.
    pub cells: Vec<Option<f64>>,
}

/// Returns how many cells the map of a plane may have on a device with this many planes.
pub fn wear_cells_per_plane(planes: usize) -> usize {
    (MOST_WEAR_CELLS / planes.max(1)).clamp(1, MOST_CELLS_OF_A_PLANE)
}

impl PlaneWear {
    /// Makes a map of at most `cells` cells from the erase count of each block, `None` where a block is bad.
    pub fn of(blocks: &[Option<u64>], cells: usize) -> Self {
        let size = blocks.len().div_ceil(cells.max(1)).max(1);
        let mean = |group: &[Option<u64>]| {
            let good = group.iter().flatten().count();
            let sum: f64 = group.iter().flatten().map(|erases| *erases as f64).sum();
            (good > 0).then(|| (sum / good as f64 * WEAR_STEPS).round() / WEAR_STEPS)
        };
        Self { cells: blocks.chunks(size).map(mean).collect() }
    }
}

/// The device's own log of its health, over its whole life.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SmartReading {
    /// Bytes that the host ever wrote.
    pub host_bytes_written: u64,
    /// Bytes ever programmed into flash.
    pub media_bytes_written: u64,
    /// How much of the rated life is used; may exceed 100.
    pub percentage_used: Option<f64>,
    /// Spare blocks that are left.
    pub available_spare_percent: Option<f64>,
    /// Erases that a block is rated for.
    pub rated_erases: Option<u64>,
    /// How often power came.
    pub power_cycles: u64,
    /// How often it went without notice.
    pub unsafe_shutdowns: u64,
    /// Data that could not be read.
    pub media_errors: u64,
    /// Simulated time with power.
    pub power_on_time_ns: u64,
    /// Blocks that became bad in use.
    pub grown_bad_blocks: Option<u64>,
    /// The device accepts no more writes.
    pub end_of_life: bool,
}

/// Power cuts and recoveries.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PowerReading {
    /// Whether the device has power and has recovered.
    pub on: bool,
    /// Cuts so far.
    pub cuts: u64,
    /// Simulated time that the last recovery took.
    pub last_recovery_ns: Option<u64>,
    /// Acknowledged pages that all cuts lost.
    pub lost_pages: u64,
    /// Acknowledged pages that the last cut lost.
    pub last_lost_pages: Option<u64>,
    /// How often power is cut, if it is.
    pub cut_every_ms: Option<u64>,
    /// Time on the wall until the next cut.
    pub next_cut_in_ns: Option<u64>,
}

impl Default for PowerReading {
    /// A device that has power, and always had.
    fn default() -> Self {
        Self {
            on: true,
            cuts: 0,
            last_recovery_ns: None,
            lost_pages: 0,
            last_lost_pages: None,
            cut_every_ms: None,
            next_cut_in_ns: None,
        }
    }
}

/// How the drive is configured to behave.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PolicyReading {
    /// How the device recovers after a power cut.
    pub recovery: Option<String>,
    /// Whether acknowledged writes may sit in a cache that loses power.
    pub volatile_cache: Option<bool>,
    /// Whether flushes are answered without being obeyed.
    pub ignores_flushes: bool,
    /// Whether the host may only read.
    pub read_only: bool,
    /// The file that keeps the drive.
    pub data_file: Option<String>,
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A reading in which every number differs.
    pub(crate) fn example() -> DriveReading {
        serde_json::from_str(include_str!("example.json")).expect("the example is a reading")
    }

    #[test]
    fn json_keeps_every_number() {
        let reading = example();
        let text = serde_json::to_string(&reading).unwrap();
        assert_eq!(serde_json::from_str::<DriveReading>(&text).unwrap(), reading);
        for state in DieState::ALL {
            assert_eq!(serde_json::to_value(state).unwrap(), state.name());
        }
    }

    #[test]
    fn the_example_names_every_field() {
        let file: serde_json::Value = serde_json::from_str(include_str!("example.json")).unwrap();
        assert_eq!(serde_json::to_value(example()).unwrap(), file);
    }

    #[test]
    fn what_is_missing_is_as_by_default() {
        assert_eq!(serde_json::from_str::<DriveReading>("{}").unwrap(), DriveReading::default());
        assert!(DriveReading::default().power.on);
    }

    #[test]
    fn wear_is_the_mean_of_groups() {
        let blocks = [Some(1), Some(2), None, Some(4), None, None, Some(8)];
        assert_eq!(PlaneWear::of(&blocks, 4).cells, [Some(1.5), Some(4.0), None, Some(8.0)]);
        assert_eq!(PlaneWear::of(&blocks, 0).cells, [Some(3.8)]);
        assert_eq!(PlaneWear::of(&[], 4).cells, []);
        assert_eq!(PlaneWear::of(&blocks, 100).cells.len(), blocks.len());
    }

    #[test]
    fn maps_of_large_devices_are_small() {
        assert_eq!(wear_cells_per_plane(4), MOST_CELLS_OF_A_PLANE);
        assert_eq!(wear_cells_per_plane(0), MOST_CELLS_OF_A_PLANE);
        assert_eq!(wear_cells_per_plane(1024) * 1024, MOST_WEAR_CELLS);
        assert_eq!(wear_cells_per_plane(1_000_000), 1);
    }
}
