//! Mappings with a log, and merges: timelines by hand, counts beside naive models of the papers'
//! schemes, bounds, reads under every combination of policies, and what a power cut leaves.

mod bench;
mod by_hand;
mod combinations;
mod cuts;
mod images;
mod laws;
mod schemes;

use ftlab::config::{Config, Layer};
use ftlab::device::DeviceSetup;

/// A small device with a log, configured as a user would.
#[derive(Clone, Copy, Debug)]
pub struct Small {
    pub mapping: &'static str,
    pub planner: &'static str,
    pub throttle: Option<u32>,
    pub clocks: &'static str,
    /// Of the buffer, with its capacity in pages of one channel and whether it keeps the order.
    pub buffer: Option<(&'static str, u32, bool)>,
    pub start: &'static str,
    pub channels: u32,
    pub planes: u32,
    pub pages: u32,
    pub data: u32,
    pub log: u32,
    /// Whether transfers take time.
    pub bus: bool,
    /// Of a read, a program and an erase, in nanoseconds.
    pub times: [u64; 3],
}

/// Cell times in nanoseconds, chosen so that a sum shows its parts.
pub const READ: u64 = 50_000;
pub const PROGRAM: u64 = 600_000;
pub const ERASE: u64 = 3_000_000;
/// The thesis's MLC flash, transfer included.
pub const MLC: [u64; 3] = [166_000, 906_000, 1_500_000];
/// Bytes of a page of one channel.
pub const PAGE: u64 = 4_096;

/// One plane that does one thing at a time, on an empty device.
pub const ONE: Small = Small {
    mapping: "log-block",
    planner: "none",
    throttle: None,
    clocks: "own",
    buffer: None,
    start: "empty",
    channels: 1,
    planes: 1,
    pages: 4,
    data: 6,
    log: 2,
    bus: false,
    times: [READ, PROGRAM, ERASE],
};

impl Small {
    pub fn config(&self) -> Config {
        self.load(&[]).unwrap_or_else(|error| panic!("{self:?}: {error}"))
    }

    /// With other options set as well; an error says what is wrong with them.
    fn load(&self, more: &[&str]) -> Result<Config, String> {
        let Small { mapping, planner, clocks, start, channels, planes, pages, data, log, .. } =
            *self;
        let [read, program, erase] = self.times;
        let share = (u64::from(log) * 1_000_000).div_ceil(data.into());
        let mut sets = vec![
            format!("nand.channels={channels}"),
            "nand.chips_per_channel=1".to_owned(),
            "nand.dies_per_chip=1".to_owned(),
            format!("nand.planes_per_die={planes}"),
            format!("nand.blocks_per_plane={}", data + log + 2),
            format!("nand.pages_per_block={pages}"),
            format!("nand.page_size={PAGE}B"),
            "nand.cell=mlc".to_owned(),
            "nand.timing.policy=plain".to_owned(),
            format!("nand.timing.read={read}ns"),
            format!("nand.timing.program={program}ns"),
            format!("nand.timing.erase={erase}ns"),
            "nand.bus.policy=page-time".to_owned(),
            format!("nand.bus.page={}", if self.bus { "7us" } else { "0ns" }),
            "cache.latency=0ns".to_owned(),
            format!("ftl.mapping.policy={mapping}"),
            format!("ftl.mapping.start={start}"),
            format!("ftl.over_provisioning={}.{:04}%", share / 10_000, share % 10_000),
            format!("ftl.merge.planner={planner}"),
            format!("ftl.merge.clocks={clocks}"),
        ];
        sets.extend(self.throttle.map(|most| format!("ftl.merge.throttle={most}")));
        if let Some((policy, room, in_order)) = self.buffer {
            let page = if planner == "synchronised" { PAGE * u64::from(channels) } else { PAGE };
            sets.push(format!("cache.policy={policy}"));
            sets.push(format!("cache.capacity={}B", u64::from(room) * page));
            sets.extend(in_order.then(|| "cache.in_order=on".to_owned()));
        }
        sets.extend(more.iter().map(|&set| set.to_owned()));
        let layers: Vec<Layer> = (1..).zip(&sets).map(|(at, set)| Layer::set(at, set)).collect();
        Config::load(&layers).map_err(|error| error.to_string())
    }

    pub fn setup(&self) -> DeviceSetup {
        self.setup_with(&[])
    }

    pub fn setup_with(&self, more: &[&str]) -> DeviceSetup {
        let config = self.load(more).unwrap_or_else(|error| panic!("{self:?}: {error}"));
        DeviceSetup::new(&config, 1)
    }
}
