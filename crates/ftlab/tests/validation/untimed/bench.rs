//! Devices to compare, and the two ways to write them.

use ftlab::config::{Config, Layer};
use ftlab::device::{Device, DeviceSetup, assemble};
use ftlab::engine::Stream;
use ftlab::ftl::BlockState;
use ftlab::host::{Advanced, Host, Op, Request};
use ftlab::scheduler::flash_pages_programmed;
use ftlab::units::{BlockId, Lba, SimTime};

/// Requests that the host keeps outstanding.
pub const DEPTH: u32 = 32;
const SECTORS: u64 = 8;
/// Streams of the host.
const STREAMS: u64 = 3;

/// Whether a device is written with a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    Timed,
    Untimed,
}

/// Two dies of two planes: small enough for many runs, with enough spare capacity in a plane that what is
/// in flight, a few flash pages, is a thousandth of it. A flash page is a mapping unit: if several units share
/// one, the last copy of a victim is padded, and in blocks this small a victim's number of valid pages modulo
/// those of a flash page decides between steady states a few per cent apart.
pub const SMALL: [&str; 8] = [
    "nand.channels=2",
    "nand.chips_per_channel=1",
    "nand.planes_per_die=2",
    "nand.blocks_per_plane=192",
    "nand.pages_per_block=64",
    "ftl.over_provisioning=25%",
    "cache.policy=lru",
    "cache.capacity=256KiB",
];

/// A small device with these options added.
pub fn config(options: &[&str]) -> Config {
    let sets = SMALL.iter().chain(options).zip(1..).map(|(set, number)| Layer::set(number, set));
    let layers: Vec<Layer> = std::iter::once(Layer::preset("tiny")).chain(sets).collect();
    Config::load(&layers).unwrap_or_else(|wrong| panic!("{options:?}: {wrong:?}"))
}

pub fn device(config: &Config, seed: u64) -> Device {
    assemble(DeviceSetup::new(config, seed))
}

/// A write, in a stream that follows from its address, for policies that use streams.
pub fn write(first: u64, sectors: u32) -> Request {
    let stream = (first / SECTORS % STREAMS) as u32;
    Request { op: Op::Write, lba: Lba(first), sectors, stream, tag: 0, fua: false }
}

/// Writes of 128 KiB in order, over everything once.
pub fn in_order(device: &Device) -> impl Iterator<Item = Request> + use<> {
    const AT_ONCE: u64 = 256;
    let end = device.capacity_sectors();
    (0..end.div_ceil(AT_ONCE)).map(move |number| {
        let first = number * AT_ONCE;
        write(first, AT_ONCE.min(end - first) as u32)
    })
}

/// Uniform writes of 4 KiB, for `tenths` tenths of a drive write.
pub fn uniform(device: &Device, seed: u64, tenths: u64) -> impl Iterator<Item = Request> + use<> {
    let places = device.capacity_sectors() / SECTORS;
    let mut stream = Stream::new(seed, "uniform");
    (0..places * tenths / 10).map(move |_| write(stream.below(places) * SECTORS, SECTORS as u32))
}

/// Performs the writes, and lets those in flight finish.
pub fn play(device: &mut Device, clock: Clock, requests: impl Iterator<Item = Request>) {
    match clock {
        Clock::Timed => in_time(device, requests),
        Clock::Untimed => {
            let mut untimed = device.untimed(DEPTH).expect("it needs no time");
            requests.for_each(|request| untimed.write(&request).expect("it has room"));
            untimed.end();
        }
    }
}

fn in_time(device: &mut Device, mut requests: impl Iterator<Item = Request>) {
    let mut done = Vec::new();
    loop {
        while device.requests_in_flight() < DEPTH as usize {
            let Some(next) = requests.next() else { break };
            device.submit(device.now(), next);
        }
        if device.requests_in_flight() == 0 {
            return;
        }
        let advanced = device.advance_until(SimTime::FOREVER, &mut done);
        assert_eq!(advanced, Advanced::Completed, "the device is stuck");
        done.clear();
    }
}

/// Runs a device until it is idle.
pub fn rest(device: &mut Device, clock: Clock) {
    if clock == Clock::Untimed {
        device.untimed(DEPTH).expect("it needs no time").rest();
    }
    device.rest(&mut Vec::new()).expect("it does not wear out");
    device.audit().unwrap_or_else(|broken| panic!("{clock:?}: {broken}"));
}

/// The results of ageing.
pub struct Aged {
    pub device: Device,
    /// Flash pages programmed for each that the host wrote, after the device was steady.
    pub amplification: f64,
}

/// Tenths of a drive write until a device counts as steady, and over which it is then measured.
const BEFORE: u64 = 15;
const MEASURED: u64 = 15;

/// Writes `before` and `counted` without a pause between them, and returns the flash pages that are programmed while
/// it writes the second.
fn programs_of(
    device: &mut Device,
    clock: Clock,
    before: impl Iterator<Item = Request>,
    counted: impl Iterator<Item = Request>,
) -> u64 {
    let programs = |device: &Device| flash_pages_programmed(device.flash().done());
    if clock == Clock::Timed {
        in_time(device, before);
        let earlier = programs(device);
        in_time(device, counted);
        return programs(device) - earlier;
    }
    let mut untimed = device.untimed(DEPTH).expect("it needs no time");
    before.for_each(|request| untimed.write(&request).expect("it has room"));
    let earlier = programs(untimed.device());
    counted.for_each(|request| untimed.write(&request).expect("it has room"));
    programs(untimed.device()) - earlier
}

/// Fills a device, and ages it.
pub fn age(config: &Config, clock: Clock, seed: u64) -> Aged {
    let mut device = device(config, seed);
    let fill = in_order(&device);
    play(&mut device, clock, fill);
    let before = uniform(&device, seed, BEFORE);
    let counted = uniform(&device, seed ^ u64::MAX, MEASURED);
    let programs = programs_of(&mut device, clock, before, counted);
    let written = device.capacity_sectors() / SECTORS * MEASURED / 10;
    let per_page = f64::from(device.ftl().geometry().units_per_page());
    let unit = f64::from(device.ftl().geometry().sectors_per_unit()) / SECTORS as f64;
    rest(&mut device, clock);
    Aged { device, amplification: programs as f64 * per_page * unit / written as f64 }
}

impl Aged {
    /// Valid pages of the closed blocks, fewest first.
    pub fn valid(&self) -> Vec<u32> {
        let blocks = self.device.ftl().blocks();
        let all = (0..self.device.ftl().geometry().blocks()).map(BlockId::new);
        let closed = all.filter(|&block| blocks.state(block) == BlockState::Closed);
        sorted(closed.map(|block| blocks.valid(block)))
    }

    /// Erases of all blocks, fewest first.
    pub fn erases(&self) -> Vec<u32> {
        sorted(self.device.ftl().blocks().all_erases())
    }
}

fn sorted(numbers: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut numbers: Vec<u32> = numbers.collect();
    numbers.sort_unstable();
    numbers
}
