//! Every log mapping with every planner, buffer, throttle, clock and start: a read returns what was
//! written, merges' copies carry the data, and merges carried out at once give the same results as
//! those carried out copy by copy.

use ftlab::device::{Contents, Device, assemble};
use ftlab::host::{Advanced, Host, Op};
use ftlab::image::{ImagePart, Snapshot};
use ftlab::scheduler::Probe;
use ftlab::units::SimTime;

use super::bench::{Bench, onlooker};
use super::{ONE, Small};
use crate::common::random::Step;
use crate::common::request;
use crate::contents::random_steps;

const MAPPINGS: [&str; 4] = ["log-block", "bast", "fast", "nftl"];
const PLANNERS: [&str; 4] = ["none", "synchronised", "super-data-block", "cycle-stealing"];
const BUFFERS: [Option<(&str, u32, bool)>; 4] =
    [None, Some(("lru", 6, false)), Some(("gating", 6, false)), Some(("gating", 6, true))];
const THROTTLES: [Option<u32>; 3] = [None, Some(1), Some(2)];
const CLOCKS: [&str; 2] = ["own", "lock-step"];
const STARTS: [&str; 2] = ["empty", "full"];

/// All of them, on two channels of two planes each.
fn all() -> Vec<Small> {
    let mut all = Vec::new();
    for (mapping, planner) in product(&MAPPINGS, &PLANNERS) {
        for (buffer, throttle) in product(&BUFFERS, &THROTTLES) {
            for (clocks, start) in product(&CLOCKS, &STARTS) {
                let policies = Small { mapping, planner, buffer, throttle, clocks, start, ..ONE };
                all.push(Small { channels: 2, planes: 2, ..policies });
            }
        }
    }
    all
}

fn product<A: Copy, B: Copy>(left: &[A], right: &[B]) -> Vec<(A, B)> {
    left.iter().flat_map(|&a| right.iter().map(move |&b| (a, b))).collect()
}

/// The results of a run.
#[derive(Debug, PartialEq)]
struct Account {
    now: u64,
    merges: [u64; 3],
    moved: u64,
    reclaims: u64,
    done: Vec<[u64; 4]>,
}

/// The results of a device, and its whole state at the end.
fn account<P: Probe, C: Contents>(device: &mut Device<P, C>) -> (Account, Snapshot) {
    assert_eq!(device.rest(&mut Vec::new()), Ok(()));
    let counts = device.merger().expect("a log is merged").counts();
    let account = Account {
        now: device.now().0,
        merges: [counts.switch, counts.partial, counts.full],
        moved: counts.moved,
        reclaims: counts.reclaims,
        done: device.flash().done().to_vec(),
    };
    (account, device.save())
}

fn run<P: Probe>(small: &Small, probe: P, depth: usize, steps: &[Step]) -> (Account, Snapshot) {
    let mut bench = Bench::new(small.setup(), probe);
    let checked = bench.steps(depth, steps).and_then(|()| bench.finish());
    assert_eq!(checked, Ok(()), "{small:?}");
    account(&mut bench.device)
}

/// The same requests at the same times, without bytes, so that merges need not tell which pages they copy.
fn run_bare(small: &Small, depth: usize, steps: &[Step]) -> (Account, Snapshot) {
    let mut device = assemble(small.setup());
    let (capacity, per_page) =
        (device.capacity_sectors(), device.flash().geometry().sectors_per_unit());
    let drain = |device: &mut Device| {
        while device.advance_until(SimTime::FOREVER, &mut Vec::new()) != Advanced::Idle {}
    };
    for step in steps {
        while device.requests_in_flight() >= depth {
            device.advance_until(SimTime::FOREVER, &mut Vec::new());
        }
        let until = device.now() + step.pause;
        while step.pause.0 > 0
            && device.advance_until(until, &mut Vec::new()) == Advanced::Completed
        {}
        let range = step.range(capacity, per_page);
        let sectors = (range.end - range.start) as u32;
        device.submit(device.now(), request(step.op, range.start, sectors, 0));
    }
    drain(&mut device);
    for (op, sectors) in [(Op::Flush, 0), (Op::Read, capacity as u32)] {
        device.submit(device.now(), request(op, 0, sectors, 0));
        drain(&mut device);
    }
    account(&mut device)
}

/// Two runs may differ only in the order in which blocks of different planes closed, which no log uses:
/// carried out at once, planes merge one after another.
fn assert_same(one: &(Account, Snapshot), other: &(Account, Snapshot), small: &Small) {
    assert_eq!(one.0, other.0, "{small:?}");
    for part in ImagePart::ALL.into_iter().filter(|&part| part != ImagePart::Closed) {
        assert!(one.1.part(part) == other.1.part(part), "{part:?} differs: {small:?}");
    }
}

/// Each combination in its own run, sometimes with transfers that take time.
#[test]
fn no_combination_loses_anything() {
    let mut merges = [0; 3];
    for (number, small) in (0u32..).zip(all()) {
        let depth = [1, 3, 8, 32][number as usize % 4];
        let steps = random_steps(number, 160);
        let small = Small { bus: number % 5 == 0, ..small };
        let by_copies = run(&small, onlooker(), depth, &steps);
        let (account, _) = &by_copies;
        assert!(account.reclaims > 0, "{small:?}");
        merges.iter_mut().zip(account.merges).for_each(|(all, some)| *all += some);
        // Without a probe: in lock-step, at once.
        assert_same(&run(&small, (), depth, &steps), &by_copies, &small);
        assert_same(&run_bare(&small, depth, &steps), &by_copies, &small);
    }
    println!("switch, partial and full merges: {merges:?}");
    assert!(merges.iter().all(|&merges| merges > 100), "{merges:?}");
}
