//! The boards of the OpenSSD paper, one command at a time, against the sum of their steps, to the
//! nanosecond. The presets' numbers are repeated here.

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

/// The time for `bytes` at `rate` a second, in nanoseconds, rounded up.
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

/// The times between completions, one request at a time.
fn cycles(device: &mut Device, requests: impl IntoIterator<Item = Request>) -> Vec<u64> {
    let done = closed_loop(device, 1, requests);
    let between = |pair: &[Completion]| (pair[1].finished - pair[0].finished).0;
    done.windows(2).map(between).collect()
}

/// Every seventeenth page of 4 KiB: on another flash page and way each time, whatever the mapping.
fn scattered(op: Op, count: u32) -> impl Iterator<Item = Request> {
    let at = |tag: u32| u64::from(tag * 34 * SECTORS_OF_4_KIB);
    (0..count).map(move |tag| request(op, at(tag), SECTORS_OF_4_KIB, tag))
}

/// Requests of 120 KiB; `place` maps each number to its position.
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

    // A read from flash passes through the same page.
    let read = COMMAND + READ + bus(8 * KIB) + POLL + copy(4 * KIB) + dma(4 * KIB);
    let found = cycles(
        &mut board,
        large(Op::Read, 20, |tag| u64::from(tag % 15))
            .map(|read| Request { sectors: SECTORS_OF_4_KIB, ..read }),
    );
    assert!(found.iter().all(|&cycle| cycle == read), "{read}: {found:?}");
}

/// A write-back of 16 pages over all channels and ways; the processor hands the pages out one by one.
fn write_back() -> u64 {
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

/// The optimised firmware writes back 16 pages after every 32 slots and waits for them. If the
/// processor need not wait, the device is as fast as it takes commands.
#[test]
fn the_optimised_firmware_takes_what_its_steps_add_up_to() {
    let each = COMMAND + dma(4 * KIB) + UNIT;
    let mut board = device("cosmos-openssd", &[]);
    let found = cycles(&mut board, scattered(Op::Write, 2_000));
    let (full, steady) = (512, 32);
    let write_backs = found[full..].chunks_exact(steady);
    for written in write_backs {
        assert_eq!(written.iter().sum::<u64>(), 32 * each + write_back());
    }
    assert!(found[..full - 1].iter().all(|&cycle| cycle == each));

    let mut board = device("cosmos-openssd", &["firmware.write_back=goes-on"]);
    let found = cycles(&mut board, scattered(Op::Write, 2_000));
    let sum: u64 = found[full..][..32 * 40].iter().sum();
    assert_eq!(sum, 40 * (32 * each + 16 * PAGE), "only handing out pages takes its time");
}

/// Slots overwritten before write-back leave holes, and flash pages full of holes cost nothing.
#[test]
fn overwritten_slots_are_not_programmed() {
    let mut board = device("cosmos-openssd", &[]);
    let each = COMMAND + dma(120 * KIB) + 30 * UNIT;
    let found = cycles(&mut board, large(Op::Write, 400, |_| 3));
    assert!(found.iter().all(|&cycle| cycle == each), "{each}: {found:?}");
    assert_eq!(board.ftl_counts().host_pages, 0);
}

/// A read miss brings the whole flash page: the other half is there when it is needed.
#[test]
fn reads_bring_the_other_half_and_hits_cost_no_flash() {
    let mut board = device("cosmos-openssd", &["cache.read.ahead=0"]);
    let whole = 16 * 1024 / 8;
    closed_loop(&mut board, 1, large(Op::Write, whole / 15, u64::from));
    closed_loop(&mut board, 1, [request(Op::Flush, 0, 0, 0)]);
    let miss = COMMAND + READ + bus(8 * KIB) + POLL + dma(4 * KIB);
    let hit = COMMAND + dma(4 * KIB);
    let first = |tag: u32| u64::from(tag * 6 * SECTORS_OF_4_KIB);
    let halves = |other: u64| {
        let at = move |tag| first(tag) + other * u64::from(SECTORS_OF_4_KIB);
        (0..300).map(move |tag| request(Op::Read, at(tag), SECTORS_OF_4_KIB, tag))
    };
    let found = cycles(&mut board, halves(0));
    assert!(found.iter().all(|&cycle| cycle == miss), "{miss}: {found:?}");
    for other in [1, 0] {
        let found = cycles(&mut board, halves(other));
        assert!(found.iter().all(|&cycle| cycle == hit), "{hit}: {found:?}");
    }
    let counts = board.reads().counts();
    assert_eq!((counts.hits, counts.misses, counts.read_ahead), (600, 300, 0));
}

/// Read-ahead uses idle channels, so nearly all of a sequential run is there already.
#[test]
fn neighbours_are_read_ahead_from_idle_channels() {
    let run = |ahead: &str| {
        let mut board = device("cosmos-openssd", &[ahead]);
        closed_loop(&mut board, 1, large(Op::Write, 40, u64::from));
        closed_loop(&mut board, 1, [request(Op::Flush, 0, 0, 0)]);
        let at = |tag: u32| u64::from(tag * SECTORS_OF_4_KIB);
        let reads = (0..1_000).map(|tag| request(Op::Read, at(tag), SECTORS_OF_4_KIB, tag));
        let time: u64 = cycles(&mut board, reads).iter().sum();
        (time, *board.reads().counts())
    };
    // A page being read ahead is waited for, not read again: 500 flash pages in all.
    for ahead in ["cache.read.ahead=1", "cache.read.ahead=2", "cache.read.ahead=4"] {
        let (time, counts) = run(ahead);
        let alone = run("cache.read.ahead=0").0;
        assert!(time < alone, "{ahead}: {time} and {alone}");
        let sensed = counts.read_ahead + counts.misses - counts.joined;
        assert!(sensed <= 500 + 2, "at the end something is read ahead in vain: {counts:?}");
    }
    let (alone, without) = run("cache.read.ahead=0");
    let (ahead, with) = run("cache.read.ahead=4");
    assert_eq!((without.hits, without.read_ahead), (500, 0), "every other page comes along");
    assert!(with.hits > 900 && with.read_ahead > 300, "{with:?}");
    assert!(ahead * 10 < alone * 7, "{ahead} and {alone}");
}
