//! The boards of the OpenSSD paper, one command at a time, against what their times add up to: to the
//! nanosecond. The numbers of the presets are written out here again.

use ftlab::config::{Config, Layer};
use ftlab::device::{Device, DeviceSetup, assemble};
use ftlab::host::{Completion, Op, Request};

use crate::common::{closed_loop, request};

const COMMAND: u64 = 21_000;
const UNIT: u64 = 5_400;
const PAGE: u64 = 21_000;
const POLL: u64 = 9_000;
const READ: u64 = 48_000;
const PROGRAM: u64 = 1_180_000;

const KIB: u64 = 1024;
const SECTORS_OF_4_KIB: u32 = 8;
const WAYS: usize = 16;
const CHANNELS: usize = 4;

/// So many bytes at so many a second, in nanoseconds, rounded up.
fn at_rate(bytes: u64, rate: u64) -> u64 {
    (bytes * 1_000_000_000).div_ceil(rate)
}

fn dma(bytes: u64) -> u64 {
    30_955 + at_rate(bytes, 314_000_000)
}

fn bus(bytes: u64) -> u64 {
    at_rate(bytes, 57_000_000)
}

fn copy(bytes: u64) -> u64 {
    at_rate(bytes, 60_000_000)
}

fn device(preset: &'static str, sets: &[&str]) -> Device {
    let mut layers = vec![Layer::preset(preset)];
    let more = sets.iter().zip(1..).map(|(set, number)| Layer::set(number, set));
    layers.extend(more);
    let config = Config::load(&layers).unwrap_or_else(|error| panic!("{preset}:\n{error}"));
    assemble(DeviceSetup::new(&config, 1))
}

/// The moments between the ends of requests, one at a time.
fn cycles(device: &mut Device, requests: impl IntoIterator<Item = Request>) -> Vec<u64> {
    let done = closed_loop(device, 1, requests);
    let between = |pair: &[Completion]| (pair[1].finished - pair[0].finished).0;
    done.windows(2).map(between).collect()
}

/// Every seventeenth page of 4 KiB: on another flash page and way each time, whatever is mapped.
fn scattered(op: Op, count: u32) -> impl Iterator<Item = Request> {
    let at = |tag: u32| u64::from(tag * 34 * SECTORS_OF_4_KIB);
    (0..count).map(move |tag| request(op, at(tag), SECTORS_OF_4_KIB, tag))
}

/// Requests of 120 KiB, each where `place` of its number says.
fn large(op: Op, count: u32, place: impl Fn(u32) -> u64) -> impl Iterator<Item = Request> {
    let sectors = 30 * SECTORS_OF_4_KIB;
    (0..count).map(move |tag| request(op, place(tag) * u64::from(sectors), sectors, tag))
}

/// The stock firmware copies and programs the page that it held, waits for that, and answers.
#[test]
fn the_stock_firmware_takes_what_its_steps_add_up_to() {
    let mut board = device("cosmos-openssd-stock", &[]);
    let program = copy(8 * KIB) + PAGE + bus(8 * KIB) + PROGRAM + POLL;
    let random = COMMAND + dma(4 * KIB) + UNIT + program;
    let found = cycles(&mut board, scattered(Op::Write, 40));
    assert!(found[2..].iter().all(|&cycle| cycle == random), "{random}: {found:?}");

    // Pages of one command are copied one after the other, and programmed on a way each.
    let mut board = device("cosmos-openssd-stock", &[]);
    let copied = 15 * (UNIT + copy(8 * KIB) + PAGE);
    let sequential = COMMAND + dma(120 * KIB) + copied + bus(8 * KIB) + PROGRAM + POLL;
    let found = cycles(&mut board, large(Op::Write, 20, u64::from));
    assert!(found[2..].iter().all(|&cycle| cycle == sequential), "{sequential}: {found:?}");

    // What a read has from flash passes through the same page.
    let read = COMMAND + READ + bus(8 * KIB) + POLL + copy(4 * KIB) + dma(4 * KIB);
    let found = cycles(
        &mut board,
        large(Op::Read, 20, |tag| u64::from(tag % 15))
            .map(|read| Request { sectors: SECTORS_OF_4_KIB, ..read }),
    );
    assert!(found.iter().all(|&cycle| cycle == read), "{read}: {found:?}");
}

/// A flush of 16 pages, over all channels and ways, whose pages the processor hands out one by one.
fn flush() -> u64 {
    let mut free = [0; CHANNELS];
    let mut ended = 0;
    for page in 0..WAYS {
        let handed_out = PAGE * (page as u64 + 1);
        let channel = &mut free[page % CHANNELS];
        *channel = handed_out.max(*channel) + bus(8 * KIB);
        ended = ended.max(*channel + PROGRAM);
    }
    ended + POLL
}

/// The optimised firmware flushes 16 pages after every 32 slots, and waits for them; with a flush that lets
/// the processor go on, it is as fast as it takes commands.
#[test]
fn the_optimised_firmware_takes_what_its_steps_add_up_to() {
    let each = COMMAND + dma(4 * KIB) + UNIT;
    let mut board = device("cosmos-openssd", &[]);
    let found = cycles(&mut board, scattered(Op::Write, 2_000));
    let (full, steady) = (512, 32);
    let flushes = found[full..].chunks_exact(steady);
    for written in flushes {
        assert_eq!(written.iter().sum::<u64>(), 32 * each + flush());
    }
    assert!(found[..full - 1].iter().all(|&cycle| cycle == each));

    let mut board = device("cosmos-openssd", &["firmware.flush=goes-on"]);
    let found = cycles(&mut board, scattered(Op::Write, 2_000));
    let sum: u64 = found[full..][..32 * 40].iter().sum();
    assert_eq!(sum, 40 * (32 * each + 16 * PAGE), "only pages that are handed out take its time");
}

/// What is written again before it is flushed leaves holes, and whole flash pages of holes cost nothing.
#[test]
fn what_others_have_just_written_is_not_programmed() {
    let mut board = device("cosmos-openssd", &[]);
    let each = COMMAND + dma(120 * KIB) + 30 * UNIT;
    let found = cycles(&mut board, large(Op::Write, 400, |_| 3));
    assert!(found.iter().all(|&cycle| cycle == each), "{each}: {found:?}");
    assert_eq!(board.ftl_counts().host_pages, 0);
}
