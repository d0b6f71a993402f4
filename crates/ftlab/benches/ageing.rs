//! How much faster a device is written without a clock than in time.
//!
//! `cargo bench -p ftlab --bench ageing [-- PRESET...]` fills each preset device without a clock, ages it until it
//! collects, and then writes 4 KiB uniformly, first in time and then without a clock. It prints requests a second
//! of processor time for both.

mod common;

use std::time::Duration;

use ftlab::config::{Config, Layer};
use ftlab::device::{Device, DeviceSetup, assemble};
use ftlab::engine::Stream;
use ftlab::host::{Advanced, Host, Op, Request};
use ftlab::units::{Lba, SimTime};

use common::cpu_time;

/// The presets run by default.
const PRESETS: [&str; 5] = ["plain-32g", "tlc-512g", "tlc-1t", "qlc-1t", "mqsim"];
const DEPTH: u32 = 32;
const SECTORS: u64 = 8;
/// Requests timed in each way.
const REQUESTS: u64 = 2_000_000;

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let presets = PRESETS.map(str::to_owned);
    let presets = if asked.is_empty() { &presets[..] } else { &asked[..] };
    println!("device       fill, s   in time, /s   without a clock, /s   ratio   amplification");
    presets.iter().for_each(|preset| compare(preset));
}

fn compare(preset: &str) {
    let config = Config::load(&[Layer::preset(preset)]).expect("presets are valid");
    let mut device = assemble(DeviceSetup::new(&config, 1));
    let began = cpu_time();
    let mut untimed = device.untimed(DEPTH).expect("it needs no time");
    untimed.fill(0..untimed.device().capacity_sectors()).expect("it has room");
    let fill = cpu_time() - began;
    let mut places = Places::of(untimed.device());
    // Until blocks are scarce everywhere, plus a tenth of the capacity.
    let mut warm = 0;
    while untimed.device().ftl_counts().gc_runs == 0 || warm < places.count / 10 {
        untimed.write(&places.next()).expect("it has room");
        warm += 1;
    }
    untimed.end();
    let mut copies = [0.0; 2];
    let in_time = measure(&mut device, &mut copies[0], |device| in_time(device, &mut places));
    let untimed = measure(&mut device, &mut copies[1], |device| {
        let mut untimed = device.untimed(DEPTH).expect("it needs no time");
        (0..REQUESTS).for_each(|_| untimed.write(&places.next()).expect("it has room"));
        untimed.end();
    });
    let rate = |time: Duration| REQUESTS as f64 / time.as_secs_f64();
    println!(
        "{preset:<12} {:>7.2} {:>13.0} {:>21.0} {:>7.2}   {:.2}, {:.2}",
        fill.as_secs_f64(),
        rate(in_time),
        rate(untimed),
        in_time.as_secs_f64() / untimed.as_secs_f64(),
        copies[0],
        copies[1],
    );
}

fn measure(
    device: &mut Device,
    amplification: &mut f64,
    play: impl FnOnce(&mut Device),
) -> Duration {
    let pages = |device: &Device| {
        let counts = device.ftl_counts();
        [counts.host_pages, counts.host_pages + counts.gc_pages + counts.padding]
    };
    let (before, began) = (pages(device), cpu_time());
    play(device);
    let took = cpu_time() - began;
    let after = pages(device);
    *amplification = (after[1] - before[1]) as f64 / (after[0] - before[0]).max(1) as f64;
    took
}

fn in_time(device: &mut Device, places: &mut Places) {
    let mut done = Vec::new();
    let mut left = REQUESTS;
    while left > 0 {
        while device.requests_in_flight() < DEPTH as usize {
            device.submit(device.now(), places.next());
            left -= 1;
        }
        let advanced = device.advance_until(SimTime::FOREVER, &mut done);
        assert_eq!(advanced, Advanced::Completed, "the device is stuck");
        done.clear();
    }
    while device.requests_in_flight() > 0 {
        device.advance_until(SimTime::FOREVER, &mut done);
        done.clear();
    }
}

/// Uniform addresses.
struct Places {
    count: u64,
    stream: Stream,
}

impl Places {
    fn of(device: &Device) -> Places {
        Places { count: device.capacity_sectors() / SECTORS, stream: Stream::new(1, "places") }
    }

    fn next(&mut self) -> Request {
        let lba = Lba(self.stream.below(self.count) * SECTORS);
        Request { op: Op::Write, lba, sectors: SECTORS as u32, stream: 0, tag: 0, fua: false }
    }
}
