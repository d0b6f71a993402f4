//! The rates of independent random writes, from the geometry alone.
//!
//! A reclaim comes every P log pages. A data block that is merged is written again D requests later
//! (to its channel) on average, and A log pages after that its oldest page is reclaimed. With q
//! pages a request, all in one data block: one merge each D + A / q requests and data block, hence
//! k = P / (q + A / D) merges a reclaim. The specification has A = P * L, which a device of its
//! size confirms. A short log shows two small effects. A log block is reclaimed whole, when its
//! first page is P * L pages old and its last P * (L - 1): on average A = P * (L - 1/2). And some
//! requests cross the border of two data blocks.

use ftlab::device::{Device, DeviceSetup, assemble};
use ftlab::engine::Stream;
use ftlab::host::{Host, Op};
use ftlab::units::SimTime;

use super::device::config;
use super::machine::{Params, Planner};
use super::{MLC, REQUEST, Random, mlc};
use crate::common::request;

/// The closed form depends only on L / D.
#[derive(Clone, Copy)]
struct Size {
    data_blocks: u32,
    log_blocks: u32,
    /// Also account for the small effects.
    exact: bool,
    /// How many times every data block is merged, roughly. The second half of the run is steady.
    rounds: u32,
}

const MARGIN: f64 = 0.01;
const LONG: Size = Size { data_blocks: 2048, log_blocks: 51, exact: false, rounds: 40 };
const SHORT: Size = Size { data_blocks: 512, log_blocks: 12, exact: true, rounds: 120 };

struct Steady {
    /// Log pages a request takes.
    pages: f64,
    /// Log pages of one data block that come together, among these.
    together: f64,
    /// Requests that cross the border of two data blocks.
    across: f64,
    /// Nanoseconds of write cycles a request.
    cycles: f64,
}

impl Steady {
    fn merges(&self, params: &Params, exact: bool) -> f64 {
        let block = f64::from(params.pages_per_block);
        let blocks = f64::from(params.log_blocks);
        let (age, touched) = if exact { (blocks - 0.5, 1.0 + self.across) } else { (blocks, 1.0) };
        block / (self.together / touched + block * age / f64::from(params.data_blocks))
    }

    fn iops(&self, params: &Params, exact: bool) -> f64 {
        let reclaim = self.merges(params, exact) * params.merge_time() as f64 + MLC.erase as f64;
        1e9 / (self.cycles + self.pages / f64::from(params.pages_per_block) * reclaim)
    }
}

/// One in eight requests is a page; the others are parts of two neighbours. A super page of N pages
/// holds the whole request in all but 7 of 8 N cases.
fn synchronised(channels: u32) -> Steady {
    let (program, read) = (MLC.program as f64, MLC.read as f64);
    let second = 7.0 / (8.0 * f64::from(channels));
    let pages = 1.0 + second;
    let partial = if channels == 1 { 2.0 * second / pages } else { 1.0 };
    let cycles = pages * (program + partial * read);
    Steady { pages, together: pages, across: second / 128.0, cycles }
}

/// The two pages of a request are on two channels and take one cycle.
fn alone(channels: u32) -> Steady {
    match channels {
        1 => synchronised(1),
        _ => Steady {
            pages: 1.875,
            together: 1.0,
            across: 0.0,
            cycles: MLC.program as f64 + 7.0 / 8.0 * MLC.read as f64,
        },
    }
}

fn agrees(planner: Planner, channels: u32, size: Size, expected: &Steady) {
    let params = mlc(channels, size.data_blocks, size.log_blocks, planner);
    let requests =
        size.rounds * params.data_blocks * if planner == Planner::None { channels } else { 1 };
    let run = Random::run(params, requests, 1);
    let reclaims = &run.machine.record().reclaims;
    let late = &reclaims[reclaims.len() / 2..];
    let merges: u32 = late.iter().map(|reclaim| reclaim.merges).sum();
    let merges = f64::from(merges) / late.len() as f64;
    let (iops, should) = (expected.iops(&params, size.exact), expected.merges(&params, size.exact));
    println!(
        "{planner:?}, {channels} channels of {}: {:.2} requests a second, {iops:.2} expected; {merges:.2} merges, \
         {should:.2} expected",
        size.data_blocks, run.steady
    );
    let near = |measured: f64, expected: f64| (measured / expected - 1.0).abs() < MARGIN;
    assert!(near(run.steady, iops));
    assert!(near(merges, should));
    run.machine.audit();
}

#[test]
fn synchronised_channels_meet_the_closed_form() {
    for channels in [1, 2, 4, 8] {
        agrees(Planner::Synchronised, channels, LONG, &synchronised(channels));
        agrees(Planner::Synchronised, channels, SHORT, &synchronised(channels));
    }
}

#[test]
fn channels_without_a_planner_meet_the_closed_form() {
    for channels in [1, 2, 4, 8] {
        agrees(Planner::None, channels, LONG, &alone(channels));
        agrees(Planner::None, channels, SHORT, &alone(channels));
    }
}

/// The second half of the same load on the device itself: requests a second, and merges a reclaim.
fn on_the_device(params: &Params, requests: u32) -> (f64, f64) {
    let mut device = assemble(DeviceSetup::new(&config(params), 1));
    let mut stream = Stream::new(1, "sectors");
    let bound = params.sectors() - REQUEST;
    let mut done = Vec::new();
    let mut write = |device: &mut Device| {
        let first = stream.below(bound);
        device.submit(device.now(), request(Op::Write, first, REQUEST as u32, 0));
        while device.requests_in_flight() > 0 {
            done.clear();
            device.advance_until(SimTime::FOREVER, &mut done);
        }
    };
    let so_far = |device: &Device| {
        let counts = device.merger().expect("a log is merged").counts();
        (device.now().0, counts.merges() - counts.along, counts.reclaims)
    };
    (0..requests / 2).for_each(|_| write(&mut device));
    let half = so_far(&device);
    (requests / 2..requests).for_each(|_| write(&mut device));
    let whole = so_far(&device);
    assert_eq!(device.audit(), Ok(()));
    let rate = f64::from(requests - requests / 2) * 1e9 / (whole.0 - half.0) as f64;
    (rate, (whole.1 - half.1) as f64 / (whole.2 - half.2) as f64)
}

/// The specification's form, without the small effects, on the event-driven device in lock-step.
#[test]
fn the_device_meets_the_closed_form() {
    let size = Size { rounds: 24, ..LONG };
    for channels in [1, 2, 4, 8] {
        for (planner, expected, share) in [
            (Planner::Synchronised, synchronised(channels), 1),
            (Planner::None, alone(channels), channels),
        ] {
            let params = mlc(channels, size.data_blocks, size.log_blocks, planner);
            let requests = size.rounds * params.data_blocks * share;
            let (rate, merges) = on_the_device(&params, requests);
            let (iops, should) = (expected.iops(&params, false), expected.merges(&params, false));
            println!(
                "{planner:?}, {channels} channels: {rate:.2} requests a second, {iops:.2} expected; \
                 {merges:.2} merges, {should:.2} expected"
            );
            assert!((rate / iops - 1.0).abs() < MARGIN);
            assert!((merges / should - 1.0).abs() < MARGIN);
        }
    }
}
