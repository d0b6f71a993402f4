//! Reads that overtake in a whole device, with collection at work.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use ftlab::device::{Device, assemble_with};
use ftlab::engine::Stream;
use ftlab::host::Op;
use ftlab::scheduler::{Activity, Arrival, Kind, Origin};
use ftlab::units::{DieId, Nanos, SimTime};
use ftlab_torture::{AnyProbe, Listens};

use crate::common::{Spec, closed_loop, request};
use crate::table::BOUNDS;

/// A command, from its arrival to the end of its work in the cells.
#[derive(Clone, Copy, Debug)]
struct Life {
    kind: Kind,
    origin: Origin,
    die: DieId,
    came: SimTime,
    from: SimTime,
    until: SimTime,
}

impl Life {
    fn overtakes(&self) -> bool {
        (self.kind, self.origin) == (Kind::Read, Origin::Host)
    }
}

/// The lives of all commands, in order of arrival.
#[derive(Clone, Debug, Default)]
struct Lives(Rc<RefCell<BTreeMap<u64, Life>>>);

impl Listens for Lives {
    fn arrives(&mut self, arrival: &Arrival) {
        let Arrival { kind, origin, die, at, sequence, .. } = *arrival;
        let life = Life { kind, origin, die, came: at, from: at, until: at };
        self.0.borrow_mut().insert(sequence, life);
    }

    fn cell(&mut self, activity: &Activity) {
        let mut lives = self.0.borrow_mut();
        let life = lives.get_mut(&activity.sequence).expect("what is served has arrived");
        (life.from, life.until) = (activity.from, activity.until);
    }
}

/// Logical pages.
const PAGES: u32 = 396;

/// A device that collects all the time, on one channel.
fn device(buffered: bool, bus: &str) -> (Device<AnyProbe>, Lives) {
    let spec = Spec::small().with(
        "nand.chips_per_channel = 3
        scheduler.policy = read-first-bounded
        ftl.placement.policy = dynamic",
    );
    let spec = if buffered { spec.buffered("lru", 24) } else { spec };
    let spec = spec.with(bus).holding(PAGES);
    let lives = Lives::default();
    (assemble_with(spec.setup(), AnyProbe::new(lives.clone()), ()), lives)
}

/// Reads and writes, `depth` outstanding; returns the lives of all commands.
fn lives(buffered: bool, depth: usize) -> Vec<Life> {
    let (mut device, lives) = device(buffered, "nand.bus.policy = page-time\n nand.bus.page = 0ns");
    let mut random = Stream::new(depth as u64, "mixture");
    let requests = (0..4_000).map(|tag| {
        let op = if random.below(10) < 6 { Op::Read } else { Op::Write };
        request(op, random.below(PAGES.into()) * 8, 8, tag)
    });
    let filled = (0..PAGES).map(|page| request(Op::Write, u64::from(page) * 8, 8, page));
    assert_eq!(
        closed_loop(&mut device, depth, filled.chain(requests)).len(),
        4_000 + PAGES as usize
    );
    drop(device);
    lives.0.take().into_values().collect()
}

/// Each command that a read overtook, with its lateness.
fn overtaken(lives: &[Life]) -> impl Iterator<Item = (&Life, Nanos)> {
    let is_overtaken = |at: usize, one: &Life| {
        let later = lives[at + 1..].iter().take_while(|other| other.came <= one.from);
        let mut reads = later.filter(|other| other.overtakes() && other.die == one.die);
        reads.any(|read| read.from < one.from)
    };
    let all = lives.iter().enumerate().filter(|(_, one)| !one.overtakes());
    all.filter(move |&(at, one)| is_overtaken(at, one)).map(|(_, one)| (one, one.until - one.came))
}

/// Any command that a read overtook completes within its bound, both host writes and collection; and
/// reads do overtake both. With a bus that takes no time the estimate is exact.
#[test]
fn no_command_of_a_whole_device_is_delayed_beyond_the_bound() {
    let bounds = [BOUNDS.write_bound, BOUNDS.gc_bound].map(|bound| bound.expect("a bound"));
    // A command takes a nanosecond of the bus; at most a few hundred wait.
    let rest = Nanos(1_000);
    let mut passed = [0, 0];
    for (buffered, depth) in [(false, 4), (false, 24), (true, 24)] {
        for (one, late) in overtaken(&lives(buffered, depth)) {
            assert_ne!(one.kind, Kind::Erase, "an erase was overtaken");
            let of = usize::from(one.origin == Origin::Gc);
            assert!(late <= bounds[of] + rest, "{one:?} is {late} late, and was overtaken");
            passed[of] += 1;
        }
    }
    assert!(passed.iter().all(|&passed| passed > 100), "reads overtook too few: {passed:?}");
}

/// Endless reads starve nobody: erases and copies complete, and writes with them.
#[test]
fn collection_and_writes_do_not_starve() {
    let (mut device, lives) = device(false, "");
    let mut random = Stream::new(7, "mixture");
    // Enough reads to keep every die busy, and a write now and then.
    let requests = (0..30_000).map(|tag| {
        let op = if tag < PAGES || random.below(20) == 0 { Op::Write } else { Op::Read };
        let page = if tag < PAGES { u64::from(tag) } else { random.below(PAGES.into()) };
        request(op, page * 8, 8, tag)
    });
    let done = closed_loop(&mut device, 48, requests);
    let writes = done.iter().filter(|done| done.request.op == Op::Write);
    let slowest = writes.map(|done| done.latency()).max().expect("writes");
    let lives = lives.0.take();
    assert!(lives.values().filter(|life| life.kind == Kind::Erase).count() > 100);
    let longest = lives.values().map(|life| life.until - life.came).max().expect("commands");
    assert!(longest < Nanos(40_000_000) && slowest < Nanos(200_000_000), "{longest} {slowest}");
}
