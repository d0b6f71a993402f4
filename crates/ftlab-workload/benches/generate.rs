//! The cost of a request before it reaches a device: drawing it, and playing it against a device
//! that answers at once. Prints nanoseconds per request, the best of several rounds.

use std::collections::VecDeque;
use std::hint::black_box;
use std::ops::ControlFlow;
use std::time::Instant;

use ftlab::host::{Advanced, Breakdown, Completion, Host, Op, Outcome, QueueId, Request};
use ftlab::units::{Lba, Nanos, SimTime};
use ftlab_workload::generate::{Generator, Workload};
use ftlab_workload::replay::{Arrival, Completed, Next, Options, Pacing, Records, Replay, Sink};

const REQUESTS: u64 = 2_000_000;
const ROUNDS: usize = 5;
/// 4 TiB: 10^9 pages of 4 KiB.
const CAPACITY: u64 = 1 << 33;

/// A device that answers each request a microsecond after its submission.
struct Instantly {
    now: SimTime,
    running: VecDeque<(SimTime, Request)>,
}

impl Host for Instantly {
    fn now(&self) -> SimTime {
        self.now
    }

    fn capacity_sectors(&self) -> u64 {
        CAPACITY
    }

    fn submit(&mut self, at: SimTime, request: Request) {
        self.running.push_back((at, request));
    }

    fn advance_until(&mut self, limit: SimTime, done: &mut Vec<Completion>) -> Advanced {
        let Some(&(submitted, request)) = self.running.front() else {
            self.now = if limit == SimTime::FOREVER { self.now } else { limit };
            return Advanced::Idle;
        };
        let finished = submitted + Nanos(1_000);
        if finished > limit {
            self.now = limit;
            return Advanced::Reached;
        }
        self.running.pop_front();
        self.now = self.now.max(finished);
        let breakdown = Breakdown::default();
        done.push(Completion {
            request,
            queue: QueueId::default(),
            submitted,
            finished: self.now,
            breakdown,
            outcome: Outcome::Done,
        });
        Advanced::Completed
    }
}

struct Count(u64);

impl<H: Host> Sink<H> for Count {
    fn completed(&mut self, completed: &Completed) {
        self.0 += completed.latency().0;
    }
}

fn best(name: &str, mut round: impl FnMut()) {
    let fastest = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            round();
            start.elapsed()
        })
        .min()
        .expect("some rounds");
    println!("{name:32} {:7.1} ns", fastest.as_nanos() as f64 / REQUESTS as f64);
}

fn generator(lines: &str) -> Generator {
    let text = format!("name = 'bench'\n[[phase]]\nsize = '4KiB'\nrequests = {REQUESTS}\n{lines}");
    let mut none = |_: &str| Err("no files".to_owned());
    let workload = Workload::parse("bench", &text, &mut none).expect("a valid workload");
    Generator::new(&workload, CAPACITY, 1).expect("it fits")
}

fn draw(name: &str, lines: &str) {
    let generator = generator(lines);
    best(name, || {
        let mut generator = generator.clone();
        loop {
            match black_box(generator.next_item()) {
                Next::End => break,
                Next::Request(_) | Next::Phase(_) => {}
            }
        }
    });
}

fn play(name: &str, records: &[Arrival], pacing: Pacing) {
    best(name, || {
        let mut host = Instantly { now: SimTime::ZERO, running: VecDeque::new() };
        let mut sink = Count(0);
        let options = Options { pacing, ..Options::default() };
        let mut source = Records::of(records);
        let replay = Replay { host: &mut host, source: &mut source, sink: &mut sink, options };
        let report = replay.run(&mut |_| ControlFlow::Continue(())).expect("it plays");
        assert_eq!(report.completed, REQUESTS);
        black_box(sink.0);
    });
}

/// Times the device and the source alone, the part of the figures above that is not the replay's.
fn bare_loop(records: &[Arrival], depth: usize) {
    best("closed loop by hand, depth 32", || {
        let mut host = Instantly { now: SimTime::ZERO, running: VecDeque::new() };
        let mut done = Vec::new();
        let mut sum = 0;
        let mut next = records.iter();
        let mut room = depth;
        loop {
            for arrival in next.by_ref().take(room) {
                let Arrival { op, lba, sectors, stream, .. } = *arrival;
                host.submit(host.now(), Request { op, lba, sectors, stream, tag: 0, fua: false });
            }
            if host.advance_until(SimTime::FOREVER, &mut done) == Advanced::Idle {
                break;
            }
            room = done.len();
            sum += done.drain(..).map(|completion| completion.latency().0).sum::<u64>();
        }
        black_box(sum);
    });
}

fn main() {
    println!("drawing a request");
    draw("uniform", "writes = '100%'");
    draw("uniform, mixed, overlap 50%", "writes = '50%'\nreads = '50%'\noverlap = '50%'");
    draw("sequential", "writes = '100%'\naddress = { kind = 'sequential' }");
    draw("hot-cold", "writes = '100%'\naddress = { kind = 'hot-cold' }");
    let zipf = "writes = '100%'\naddress = { kind = 'zipf', theta = 0.99, scatter = false }";
    draw("zipf 0.99", zipf);
    draw("zipf 0.99, scattered", "writes = '100%'\naddress = { kind = 'zipf', theta = 0.99 }");
    draw("uniform, poisson", "writes = '100%'\narrivals = { kind = 'poisson', rate = '100000/s' }");

    println!("playing a request (device and source included)");
    let mut generator = generator("writes = '50%'\nreads = '50%'");
    let mut records = Vec::new();
    loop {
        match generator.next_item() {
            Next::Request(arrival) => {
                let at = SimTime(records.len() as u64 * 100);
                records.push(Arrival { at, ..arrival });
            }
            Next::Phase(_) => {}
            Next::End => break,
        }
    }
    assert!(records.iter().all(|record| record.op != Op::Flush && record.lba < Lba(CAPACITY)));
    bare_loop(&records, 32);
    play("closed loop, depth 32", &records, Pacing::Closed { depth: 32, think_time: Nanos::ZERO });
    play("open loop", &records, Pacing::default());
    play("dependencies, depth 32", &records, Pacing::Dependencies { depth: 32 });
    play("dependencies, depth 256", &records, Pacing::Dependencies { depth: 256 });
}
