//! What a long queue costs: time for a command by the number of commands that wait, for each scheduling
//! policy.
//!
//! `cargo bench -p ftlab --bench queue` keeps so many commands in one channel of eight dies, half of them
//! reads, and prints nanoseconds of CPU a command and how many times as much that is as with the
//! shortest queue.

mod common;

use ftlab::engine::Stream;
use ftlab::nand::timing::{Bus, OneBit, PageTime, Plain, Prices, Timing, Transfers};
use ftlab::nand::{Abilities, Prior};
use ftlab::scheduler::{
    Command, Deadline, DeadlineOptions, Estimate, Fifo, Flash, FlashSetup, Kind, Origin, PauseRule,
    ReadFirst, ReadFirstBounded, ReadFirstBoundedOptions, Scheduler, Scope, ServiceId,
};
use ftlab::shape::{Geometry, Shape};
use ftlab::units::{Bytes, Nanos, Ppn, SimTime};

use common::cpu_time;

const PAGE: Bytes = Bytes::from_kib(4);
const DIES: u32 = 8;
const QUEUES: [usize; 4] = [10, 100, 1_000, 10_000];

fn bounded(write_bound: Option<Nanos>, scope: Scope) -> Scheduler {
    let options =
        ReadFirstBoundedOptions { write_bound, gc_bound: None, scope, estimate: Estimate::Die };
    Scheduler::ReadFirstBounded(ReadFirstBounded::new(&options, DIES))
}

fn policies() -> Vec<(&'static str, Scheduler)> {
    let deadlines = DeadlineOptions {
        host_read: Nanos::ZERO,
        host_write: Nanos::from_micros(5_000),
        gc: Nanos::from_micros(20_000),
    };
    // A bound that about every write in a queue of 10,000 can just keep, and one that few can.
    let (wide, narrow) = (Nanos::from_micros(300_000), Nanos::from_micros(2_000));
    vec![
        ("fifo", Scheduler::Fifo(Fifo)),
        ("read-first", Scheduler::ReadFirst(ReadFirst)),
        ("deadline", Scheduler::Deadline(Deadline::new(&deadlines))),
        ("read-first-bounded, no bound", bounded(None, Scope::Channel)),
        ("read-first-bounded, 300 ms", bounded(Some(wide), Scope::Channel)),
        ("read-first-bounded, 2 ms", bounded(Some(narrow), Scope::Channel)),
        ("read-first-bounded, 300 ms, by die", bounded(Some(wide), Scope::Die)),
    ]
}

fn flash(scheduler: Scheduler) -> Flash {
    let shape = Shape {
        channels: 1,
        chips_per_channel: DIES,
        dies_per_chip: 1,
        planes_per_die: 1,
        blocks_per_plane: 1_024,
        pages_per_block: 64,
        page_size: PAGE,
        mapping_unit: PAGE,
    };
    let [read, program, erase] = [20, 200, 3_000].map(Nanos::from_micros);
    let page = Transfers::PageTime(PageTime { page: Nanos::from_micros(10) });
    Flash::new(
        FlashSetup {
            geometry: Geometry::new(shape),
            timing: Prices {
                native: Timing::Plain(Plain { read, program, erase }),
                one_bit: OneBit { read, program, erase },
            },
            bus: Bus::new(&page, None, PAGE, &shape),
            abilities: Abilities::NONE,
            pause: PauseRule::NEVER,
            scheduler,
            prior: Prior::default(),
            whole_moments: false,
            data_out_first: false,
            hazards: None,
        },
        (),
    )
}

/// Plays `commands` with `queue` in flight; returns nanoseconds of CPU a command, without the first
/// queue of them.
fn cost(scheduler: Scheduler, queue: usize, commands: usize) -> f64 {
    let mut flash = flash(scheduler);
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

/// `cargo test` runs benches too, with `--test`: then little, to show that it works.
fn main() {
    let small = cfg!(debug_assertions) || std::env::args().any(|argument| argument == "--test");
    let commands = if small { 20_000 } else { 2_000_000 };
    let lengths: Vec<String> = QUEUES.iter().map(|queue| format!("{queue:>15}")).collect();
    println!("{:<36}{}", "nanoseconds a command, by queue", lengths.join(""));
    for (name, policy) in policies() {
        let costs = QUEUES.map(|queue| cost(policy.clone(), queue, commands));
        let cells = costs.map(|cost| format!("{cost:>8.0} ({:>4.2})", cost / costs[0]));
        println!("{name:<36}{}", cells.join(""));
    }
}
