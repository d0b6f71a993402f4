//! The cost of a long queue: time for a command by the number of waiting commands, for each scheduling
//! policy.
//!
//! `cargo bench -p ftlab --bench queue` keeps a fixed number of commands in one channel of eight dies, half of them
//! reads. It prints nanoseconds of CPU a command, and the ratio to the shortest queue.

mod common;

use ftlab::engine::Stream;
use ftlab::scheduler::{Command, Flash, Kind, Origin, ServiceId};
use ftlab::units::{Ppn, SimTime};

use common::{cpu_time, page_map, setup};

const QUEUES: [usize; 4] = [10, 100, 1_000, 10_000];

/// One channel of eight dies.
const CHANNEL: [&str; 9] = [
    "nand.channels=1",
    "nand.chips_per_channel=8",
    "nand.planes_per_die=1",
    "nand.blocks_per_plane=1024",
    "nand.pages_per_block=64",
    "nand.timing.read=20us",
    "nand.timing.program=200us",
    "nand.bus.policy=page-time",
    "nand.bus.page=10us",
];

const BOUNDED: &str = "scheduler.policy=read-first-bounded";

/// In a queue of 10,000 about every write can just keep the wide bound, and few the narrow one.
const POLICIES: [(&str, &[&str]); 7] = [
    ("fifo", &["scheduler.policy=fifo"]),
    ("read-first", &["scheduler.policy=read-first"]),
    ("deadline", &["scheduler.policy=deadline"]),
    ("read-first-bounded, no bound", &[BOUNDED, "scheduler.write_bound=none"]),
    ("read-first-bounded, 300 ms", &[BOUNDED, "scheduler.write_bound=300ms"]),
    ("read-first-bounded, 2 ms", &[BOUNDED, "scheduler.write_bound=2ms"]),
    (
        "read-first-bounded, 300 ms, by die",
        &[BOUNDED, "scheduler.write_bound=300ms", "scheduler.scope=die"],
    ),
];

/// Plays `commands` with `queue` in flight; returns nanoseconds of CPU a command, without the first
/// `queue` of them.
fn cost(policy: &[&str], queue: usize, commands: usize) -> f64 {
    let setup = setup(page_map(), &[&CHANNEL, policy].concat());
    let mut flash = Flash::new(setup.flash, ());
    let mut random = Stream::new(1, "bench");
    let pages = u64::from(flash.geometry().physical_pages());
    let mut put = |flash: &mut Flash, now: SimTime| {
        let kind = if random.below(2) == 0 { Kind::Read } else { Kind::Program };
        let page = Ppn::new(random.below(pages) as u32);
        let mut command = Command::new(kind, Origin::Host, ServiceId::WRITES.owner(0), page);
        command.codewords = 1;
        let id = flash.prepare(command);
        flash.submit(now, id);
    };
    for _ in 0..queue {
        put(&mut flash, SimTime::ZERO);
    }
    let started = cpu_time();
    let mut done = 0;
    while done < commands {
        let Some((now, id)) = flash.step() else { continue };
        let die = flash.die_of(id);
        flash.release(id);
        put(&mut flash, now);
        flash.go_on(now, die);
        done += 1;
    }
    (cpu_time() - started).as_nanos() as f64 / commands as f64
}

/// `cargo test` also runs benches, with `--test`: then a small one, to show that it works.
fn main() {
    let small = cfg!(debug_assertions) || std::env::args().any(|argument| argument == "--test");
    let commands = if small { 20_000 } else { 2_000_000 };
    let lengths: Vec<String> = QUEUES.iter().map(|queue| format!("{queue:>15}")).collect();
    println!("{:<36}{}", "nanoseconds a command, by queue", lengths.join(""));
    for (name, policy) in POLICIES {
        let costs = QUEUES.map(|queue| cost(policy, queue, commands));
        let cells = costs.map(|cost| format!("{cost:>8.0} ({:>4.2})", cost / costs[0]));
        println!("{name:<36}{}", cells.join(""));
    }
}
