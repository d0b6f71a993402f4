//! MQSim's default device in a closed loop, against figures that MQSim itself measured (constants).
//! With dies that work independently, also against mean value analysis by hand, for random reads
//! and writes of a flash page at queue depths 1, 16 and 64. docs/validation.md shows the calculation.
//!
//! The network of the analysis has 64 dies, 8 buses and the link. Requests choose dies at random, so
//! one request in 64 visits a die, one in 8 a bus. Service times are fixed: a request at a busy
//! station waits half a service for the one in service, and a whole one for each in the queue.
//! (Reiser and Lavenberg, "Mean-Value Analysis of Closed Multichain Queuing Networks", JACM 1980, with
//! the residual of a fixed service time.)

use ftlab::config::{Config, Layer};
use ftlab::device::{Device, DeviceSetup, assemble};
use ftlab::engine::Stream;
use ftlab::host::{Host, Op};

use crate::common::{closed_loop, request};

/// Times of a flash page, in microseconds.
const SENSE: f64 = 75.0;
const PROGRAM: f64 = 750.0;
const BUS: f64 = 8192.0 / 333.0;
const LINK: f64 = 8192.0 / 4000.0;
const COMMAND: f64 = 0.29;
const DIES: f64 = 64.0;
const CHIPS: f64 = 32.0;
const BUSES: f64 = 8.0;

const SECTOR_BYTES: u64 = 512;
const SECTORS: u64 = 16;
/// Pages that are written before they are read: the same number on each plane.
const PAGES: u64 = 1 << 16;
const REQUESTS: u32 = 60_000;

/// A station that one request in `of` visits, for `service`.
struct Station {
    of: f64,
    service: f64,
}

/// The mean time of a request in a closed network of `stations` and a delay, at queue depth `depth`.
fn mean_value_analysis(stations: &[Station], delay: f64, depth: u32) -> f64 {
    let mut waiting_and_busy = vec![(0.0, 0.0); stations.len()];
    let mut time = 0.0;
    for depth in 1..=depth {
        let residence = |(station, (queue, busy)): (&Station, &(f64, f64))| {
            station.service * (1.0 + queue - busy / 2.0)
        };
        let times: Vec<f64> = stations.iter().zip(&waiting_and_busy).map(residence).collect();
        time = times.iter().sum::<f64>() + delay;
        let rate = f64::from(depth) / time;
        for ((station, state), spent) in stations.iter().zip(&mut waiting_and_busy).zip(times) {
            *state = (rate / station.of * spent, rate / station.of * station.service);
        }
    }
    time
}

/// The same for reads, if each holds its die until its page has left, and a read that waits for the
/// die waits half of that for the read that holds it. Slower than the device: a read that holds a
/// die while it waits for the bus is often nearly done.
fn with_held_dies(depth: u32) -> f64 {
    let (mut die, mut bus, mut time) = ((0.0, 0.0), (0.0, 0.0), 0.0);
    for depth in 1..=depth {
        let at_bus = BUS * (1.0 + bus.0 - bus.1 / 2.0);
        let held = SENSE + at_bus;
        let at_die = held * (1.0 + die.0 - die.1 / 2.0);
        time = at_die + LINK;
        let rate = f64::from(depth) / time;
        die = (rate / DIES * at_die, rate / DIES * held);
        bus = (rate / BUSES * at_bus, rate / BUSES * BUS);
    }
    time
}

/// The preset without its write buffer, and with other settings.
fn preset(sets: &[&str]) -> Device {
    let sets = ["cache.policy=none"].iter().chain(sets);
    let sets = sets.enumerate().map(|(at, set)| Layer::set(at + 1, set));
    let layers: Vec<_> = std::iter::once(Layer::preset("mqsim")).chain(sets).collect();
    let config = Config::load(&layers).expect("the preset is valid");
    assemble(DeviceSetup::new(&config, 1))
}

/// With dies that work independently, and commands that never wait for the bus.
fn device() -> Device {
    preset(&["nand.one_die_at_a_time=off", "nand.bus.command=none", "scheduler.data_out_first=off"])
}

/// The mean latency of random requests of a size, in microseconds, over a part that is filled first.
fn closed_loop_over(device: &mut Device, load: &Load) -> f64 {
    const FILLED: u64 = 1 << 30;
    const IN_PAGES: u64 = 128;
    let &Load { op, sectors, depth, .. } = load;
    let reach = FILLED / SECTOR_BYTES;
    if op == Op::Read {
        let fill = |at: u64| request(Op::Write, at * IN_PAGES, IN_PAGES as u32, 0);
        closed_loop(device, 256, (0..reach / IN_PAGES).map(fill));
    }
    let mut stream = Stream::new(depth as u64, "addresses");
    let places = reach / u64::from(sectors);
    let next = |tag| request(op, stream.below(places) * u64::from(sectors), sectors, tag);
    let done = closed_loop(device, depth, (0..REQUESTS).map(next));
    let sum: u64 = done.iter().map(|completion| completion.latency().0).sum();
    sum as f64 / done.len() as f64 / 1e3
}

/// A closed-loop load, and the mean that MQSim measures, in microseconds.
struct Load {
    op: Op,
    sectors: u32,
    depth: usize,
    in_mqsim: f64,
}

/// The mean latency of random requests over the first pages, in microseconds.
fn measured(device: &mut Device, op: Op, depth: usize) -> f64 {
    let mut stream = Stream::new(depth as u64, "addresses");
    let next = |tag| request(op, stream.below(PAGES) * SECTORS, SECTORS as u32, tag);
    let done = closed_loop(device, depth, (0..REQUESTS).map(next));
    let sum: u64 = done.iter().map(|completion| completion.latency().0).sum();
    sum as f64 / done.len() as f64 / 1e3
}

fn assert_near(measured: f64, expected: f64, tolerance: f64, what: &str) {
    let off = measured / expected - 1.0;
    println!("{what}: {measured:.2} us, expected {expected:.2} ({:+.2} %)", 100.0 * off);
    assert!(off.abs() <= tolerance, "{what}: {measured:.2} us, not {expected:.2} ({off:+.4})");
}

#[test]
fn reads_take_what_mean_value_analysis_says() {
    let mut device = device();
    let fill = |page: u64| request(Op::Write, page * SECTORS, SECTORS as u32, 0);
    closed_loop(&mut device, 256, (0..PAGES).map(fill));
    let network = [Station { of: DIES, service: SENSE }, Station { of: BUSES, service: BUS }];
    // Half a per mille for rounding to nanoseconds; held dies make up the rest.
    for (depth, tolerance) in [(1, 0.0005), (16, 0.05), (64, 0.05)] {
        let expected = mean_value_analysis(&network, LINK, depth);
        let found = measured(&mut device, Op::Read, depth as usize);
        assert_near(found, expected, tolerance, &format!("reads at depth {depth}"));
        let most = with_held_dies(depth);
        println!("reads at depth {depth}: between {expected:.2} and {most:.2} us");
        assert!(found >= expected * 0.999 && found <= most * 1.001, "{expected} {found} {most}");
    }
}

#[test]
fn writes_take_what_mean_value_analysis_says() {
    // A die is busy from the transfer on, so bus and cells are one service.
    let by_dies = Station { of: DIES, service: BUS + PROGRAM };
    // So is a chip, if it does one thing at a time; there commands occupy the bus, too.
    let by_chips = Station { of: CHIPS, service: COMMAND + BUS + PROGRAM };
    for (depth, tolerance) in [(1, 0.0005), (16, 0.02), (64, 0.02)] {
        for (station, what) in [(&by_dies, "dies"), (&by_chips, "chips")] {
            let mut device = if what == "dies" { device() } else { preset(&[]) };
            let expected = mean_value_analysis(std::slice::from_ref(station), LINK, depth);
            let found = measured(&mut device, Op::Write, depth as usize);
            assert_near(found, expected, tolerance, &format!("writes to {what} at depth {depth}"));
        }
    }
    assert!(device().capacity_sectors() > PAGES * SECTORS);
}

/// Figures of MQSim (github.com/CMU-SAFARI/MQSim), measured elsewhere with the whole program in a
/// closed loop on its default device. Neither its commit nor its seed was recorded, so nobody can
/// repeat them exactly, and no test runs MQSim. As far as is known: its ssdconfig.xml, 750 us to
/// program, data cache off, random addresses, a fixed number of requests outstanding; for 64 KiB a
/// variant of 16 GiB: 4 chips of one die on each channel, 256 blocks in each plane, pages of 4 KiB.
#[test]
fn closed_loops_take_what_they_take_in_mqsim() {
    const TOLERANCE: f64 = 0.03;
    let of = |op, sectors, depth, in_mqsim| Load { op, sectors, depth, in_mqsim };
    let default_device = [
        of(Op::Read, 16, 1, 102.0),
        of(Op::Read, 16, 16, 150.0),
        of(Op::Read, 16, 64, 393.0),
        of(Op::Write, 16, 1, 777.0),
        of(Op::Write, 16, 16, 1_003.0),
        of(Op::Write, 16, 64, 1_995.0),
    ];
    let variant = [of(Op::Read, 128, 16, 979.0), of(Op::Read, 128, 64, 3_834.0)];
    let of_variant = [
        "nand.dies_per_chip=1",
        "nand.blocks_per_plane=256",
        "nand.page_size=4KiB",
        "ftl.gc.start=12",
        "ftl.gc.stop=13",
    ];
    for (sets, loads) in [(&[][..], &default_device[..]), (&of_variant, &variant)] {
        for load in loads {
            let found = closed_loop_over(&mut preset(sets), load);
            let Load { op, sectors, depth, in_mqsim } = load;
            let what = format!("{op:?} of {sectors} sectors at depth {depth}");
            assert_near(found, *in_mqsim, TOLERANCE, &what);
        }
    }
}
