//! Pacing of the host against collection: when each write of a burst is done, to the nanosecond, and where free space
//! settles.
//!
//! One die, no buffer, one flash page a write. The die does one command at a time, in order of arrival: a program of
//! the host or of a copy takes 610 us with its transfer, the read of a copy 60 us, an erase 3 ms.
//!
//! Blocks have 10 pages. 3 are free when the burst comes, and collection starts at 2, with a reserve of 1. So the first
//! write opens a block and starts a collection, of a victim with 3 valid pages; the next victim has 5.

use ftlab::device::{Device, assemble};
use ftlab::engine::Stream;
use ftlab::host::{Host, Op, Request};
use ftlab::units::{PlaneId, SimTime};

use crate::common::{BLOCKS, ERASE, PROGRAM, READ, Spec, closed_loop, request};

/// 4 KiB at 409.6 MB/s.
const TRANSFER: u64 = 10_000;
/// A write, and the two halves of a copy.
const WRITE: u64 = TRANSFER + PROGRAM.0;
const READ_COPY: u64 = READ.0 + TRANSFER;

const PLANE: PlaneId = PlaneId::new(0);
const PAGES: u32 = 130;

fn write(page: u32, tag: u32) -> Request {
    request(Op::Write, u64::from(page) * 8, 8, tag)
}

fn one_plane(policy: &str) -> Spec {
    Spec::small()
        .with(
            "nand.pages_per_block = 10
            ftl.gc.copies_in_flight = 1",
        )
        .set(BLOCKS, 20)
        .set("ftl.gc.pacing", policy)
        .holding(PAGES)
}

/// A device on which 13 blocks hold 3, 5, 6, 7 or 8 valid pages, and 4 are full.
fn prepared(spec: &Spec) -> Device {
    let mut device = assemble(spec.setup());
    closed_loop(&mut device, 1, (0..PAGES).map(|page| write(page, page)));
    let stale = [7, 5, 4, 3, 3, 3, 3, 2, 2, 2, 2, 2, 2];
    let overwritten = (0..).zip(stale).flat_map(|(block, stale)| 10 * block..10 * block + stale);
    closed_loop(&mut device, 1, overwritten.map(|page| write(page, page)));
    assert_eq!((device.ftl().free_blocks(PLANE), device.ftl_counts().gc_runs), (3, 0));
    device
}

/// When each write of a burst is done, after its beginning.
fn burst(spec: &Spec, writes: u32) -> Vec<u64> {
    let mut device = prepared(spec);
    let begin = device.now();
    // The last pages of the blocks with 8 valid ones, so that none of them becomes the next victim.
    let pages = (0..writes).map(|n| write(10 * (7 + n % 6) + 9 - n / 6, n));
    let mut done = closed_loop(&mut device, writes as usize, pages);
    assert_eq!(device.ftl().audit(), Ok(()));
    done.sort_by_key(|completion| completion.request.tag);
    done.iter().map(|completion| completion.finished.0 - begin.0).collect()
}

/// Adds up what the die does, and notes when each write is done.
#[derive(Default)]
struct Die {
    now: u64,
    writes: Vec<u64>,
}

impl Die {
    fn writes(mut self, count: u32) -> Die {
        for _ in 0..count {
            self.now += WRITE;
            self.writes.push(self.now);
        }
        self
    }

    fn reads_copy(mut self) -> Die {
        self.now += READ_COPY;
        self
    }

    fn copies(mut self) -> Die {
        self.now += WRITE;
        self
    }

    fn erases(mut self) -> Die {
        self.now += ERASE.0;
        self
    }
}

/// The victim gives 7 pages for 3 copies: two with the first and the second, three with the third.
#[test]
fn credit_gives_the_host_what_each_copy_frees() {
    let found = burst(&one_plane("credit").set("ftl.gc.host_lead", 2), 8);
    let die = Die::default().writes(1).reads_copy().writes(2).copies();
    let die = die.reads_copy().writes(2).copies();
    let die = die.reads_copy().writes(2).copies();
    assert_eq!(found, die.erases().writes(1).writes);
}

/// The host has 20 pages of room when it has opened the block. It takes one, and two tokens. The copies then open the
/// other block, which leaves 7: each copy earns 7 / 13 of a token, the second makes it whole, and the third earns 6 / 14
/// more, which are lost. With the erased block 16 pages are left: a copy earns 4 tokens, and 2 of them fit.
#[test]
fn the_bucket_gives_the_host_a_share_by_the_room_that_is_left() {
    let found = burst(&one_plane("token-bucket").set("ftl.gc.bucket", 2), 8);
    let die = Die::default().writes(1).reads_copy().writes(2).copies();
    let die = die.reads_copy().copies();
    let die = die.reads_copy().writes(1).copies().erases();
    let die = die.reads_copy().copies();
    let die = die.reads_copy().writes(2).copies();
    assert_eq!(found, die.reads_copy().writes(2).writes);
}

/// The tenth write fills the block, and the eleventh opens the last one that the host may take. The twelfth waits until
/// more than the reserve is free again: for two victims, as the copies have taken a block.
#[test]
fn a_host_that_stalls_waits_for_erases() {
    let found = burst(&one_plane("stall"), 12);
    let die = Die::default().writes(1).reads_copy().writes(10).copies();
    let die = die.reads_copy().copies().reads_copy().copies().erases();
    let die = (0..5).fold(die, |die, _| die.reads_copy().copies()).erases();
    assert_eq!(found, die.reads_copy().writes(1).writes);
}

/// A host that writes all it may settles where it takes what collection frees: with a share v of valid pages in the
/// victims, at 1 - v of the room at the start (`token_bucket.rs`). The part of a token that is left when a victim is
/// erased is lost, which keeps a little more free.
#[test]
fn free_space_settles_where_the_bucket_gives_what_collection_frees() {
    const PER_BLOCK: u32 = 32;
    const START: u32 = 100;
    for (logical, seed) in [(6_000, 1), (7_400, 2)] {
        let spec = Spec::small()
            .with(
                "nand.pages_per_block = 32
                ftl.gc.stop = 200
                ftl.gc.pacing = token-bucket",
            )
            .set(BLOCKS, 400)
            .set("ftl.gc.start", START)
            .holding(logical);
        let mut device = assemble(spec.setup());
        let mut pages = Stream::new(seed, "pages");
        let mut any = |tag| write(pages.below(u64::from(logical)) as u32, tag);
        // The device is never idle, or it would collect up to `ftl.gc.stop`.
        watch(&mut device, (0..120_000).map(&mut any));
        let before = *device.ftl_counts();
        let free = watch(&mut device, (0..40_000).map(any));
        let runs = device.ftl_counts().gc_runs - before.gc_runs;
        let valid = device.ftl_counts().gc_victim_valid - before.gc_victim_valid;
        let expected = 1.0 - valid as f64 / (runs as f64 * f64::from(PER_BLOCK));
        // On average half of the host's open block is left.
        let left = (free - 1.0) * f64::from(PER_BLOCK) + f64::from(PER_BLOCK) / 2.0;
        let found = left / f64::from(START * PER_BLOCK);
        println!("{logical} pages: {found:.4} of the room is left, expected {expected:.4}");
        assert!((found / expected - 1.0).abs() < 0.015, "{found}, {expected}");
    }
}

/// Keeps 64 requests in the device until the last is submitted. Returns the mean number of free blocks.
fn watch(device: &mut Device, mut requests: impl Iterator<Item = Request>) -> f64 {
    let (mut sum, mut count, mut done) = (0, 0, Vec::new());
    loop {
        while device.requests_in_flight() < 64 {
            let Some(next) = requests.next() else { return f64::from(sum) / f64::from(count) };
            device.submit(device.now(), next);
        }
        device.advance_until(SimTime::FOREVER, &mut done);
        done.clear();
        sum += device.ftl().free_blocks(PLANE);
        count += 1;
    }
}
