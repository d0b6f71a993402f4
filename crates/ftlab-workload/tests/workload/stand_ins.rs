//! The loads of `experiments/channel-management` are what they and its README say: sizes, places,
//! order. The traces that they stand in for are not public, so there is nothing else to check
//! against.

use std::collections::BTreeSet;

use ftlab::host::Op;
use ftlab_workload::generate::Generator;
use ftlab_workload::replay::Next;

const SECTOR: u64 = 512;
const GIB: u64 = 1 << 30;
/// 512 KiB, in sectors.
const BLOCK: u64 = 1024;
/// Requests examined of each load; covers all of the longest one, copying.
const REQUESTS: usize = 400_000;

struct Load {
    requests: f64,
    mean_kib: f64,
    /// Share of writes that begin where the previous one ended.
    sequential: f64,
    /// Share of writes that do not begin at a multiple of 4 KiB.
    unaligned: f64,
    /// Share of blocks of the logical space that are written.
    touched: f64,
    /// The lowest and the highest sector, as shares of the logical space.
    span: [f64; 2],
}

fn load(text: &str, gib: u64) -> Load {
    let workload = crate::common::workload(text);
    let capacity = gib * GIB / SECTOR;
    let mut generator =
        Generator::new(&workload, capacity, 1).unwrap_or_else(|problems| panic!("{problems}"));
    let (mut requests, mut sectors, mut sequential, mut unaligned) = (0, 0, 0, 0);
    let (mut blocks, mut low, mut high, mut end) = (BTreeSet::new(), u64::MAX, 0, None);
    while requests < REQUESTS {
        let arrival = match generator.next_item() {
            Next::Phase(_) => continue,
            Next::Request(arrival) => arrival,
            Next::End => break,
        };
        assert_eq!(arrival.op, Op::Write, "the thesis counts writes only");
        let (first, count) = (arrival.lba.0, u64::from(arrival.sectors));
        requests += 1;
        sectors += count;
        sequential += usize::from(end == Some(first));
        unaligned += usize::from(!first.is_multiple_of(8));
        end = Some(first + count);
        (low, high) = (low.min(first), high.max(first + count));
        blocks.extend(first / BLOCK..=(first + count - 1) / BLOCK);
    }
    let share = |part: usize| part as f64 / requests as f64;
    Load {
        requests: requests as f64,
        mean_kib: (sectors * SECTOR) as f64 / 1024.0 / requests as f64,
        sequential: share(sequential),
        unaligned: share(unaligned),
        touched: blocks.len() as f64 / (capacity / BLOCK) as f64,
        span: [low, high].map(|sector| sector as f64 / capacity as f64),
    }
}

macro_rules! stand_in {
    ($name:literal, $gib:literal) => {
        load(
            include_str!(concat!("../../../../experiments/channel-management/", $name, ".toml")),
            $gib,
        )
    };
}

fn near(found: f64, expected: f64, within: f64) {
    assert!((found - expected).abs() <= within, "{found}, expected {expected}");
}

#[test]
fn the_random_load_starts_at_any_sector() {
    let random = stand_in!("random", 16);
    near(random.mean_kib, 4.0, 0.0);
    near(random.unaligned, 7.0 / 8.0, 0.002);
    assert!(random.sequential < 1e-4 && random.span[0] < 1e-4 && random.span[1] > 1.0 - 1e-4);
    let aligned = stand_in!("aligned", 16);
    assert_eq!((aligned.mean_kib, aligned.unaligned), (4.0, 0.0));
}

#[test]
fn desktops_have_the_thesis_mean_sizes() {
    for (load, mean) in
        [(stand_in!("winxp-like", 40), 11.46), (stand_in!("ubuntu-like", 30), 20.01)]
    {
        near(load.mean_kib, mean, 0.01 * mean);
        near(load.sequential, 0.08, 0.003);
        // Writes that start at any sector, those that follow them, and those after a partial page.
        assert!((0.08..0.11).contains(&load.unaligned), "{}", load.unaligned);
        // As in usr_0, only the first 3409 of 32549 blocks can be written.
        assert!((0.07..0.105).contains(&load.touched), "{}", load.touched);
        assert!(load.span[0] < 1e-3, "{:?}", load.span);
        near(load.span[1], 3_409.0 / 32_549.0, 1e-3);
    }
}

#[test]
fn copying_is_sequential_but_for_one_request_in_fifteen() {
    let copying = stand_in!("sequential-like", 20);
    near(copying.requests, 20.0 * 17_554.0, 0.0);
    near(copying.mean_kib, 60.0, 0.01);
    near(copying.sequential, 16_383.0 / 17_554.0, 1e-4);
    near(copying.touched, 1.0, 0.0);
}
