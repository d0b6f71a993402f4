//! Reads that overtake writes: `read-first-bounded` against a naive model of its rule, and laws for
//! any load: preserved orders, identities between overtaking and overtaken, the bound.

mod machine;
mod whole;

use ftlab::scheduler::{
    Estimate, Fifo, Kind, Origin, ReadFirst, ReadFirstBounded, ReadFirstBoundedOptions, Scheduler,
    Scope,
};
use ftlab::units::Nanos;
use proptest::prelude::*;
use proptest::sample::select;

use machine::{Item, Load, Naive, ODD, PAPER, Served, Times, draw, serve};

const NONE: ReadFirstBoundedOptions = ReadFirstBoundedOptions {
    write_bound: None,
    gc_bound: None,
    scope: Scope::Channel,
    estimate: Estimate::Die,
};

fn bounded(rule: &ReadFirstBoundedOptions, dies: u32) -> Scheduler {
    Scheduler::ReadFirstBounded(ReadFirstBounded::new(rule, dies))
}

fn bound() -> impl Strategy<Value = Option<Nanos>> {
    let some = (100u64..4_000).prop_map(|micros| Some(Nanos::from_micros(micros)));
    prop_oneof![1 => Just(None), 4 => some]
}

prop_compose! {
    fn rules()(
        write_bound in bound(),
        gc_bound in bound(),
        scope in select(&[Scope::Channel, Scope::Die][..]),
        estimate in select(&[Estimate::Die, Estimate::LookAhead][..]),
    ) -> ReadFirstBoundedOptions {
        ReadFirstBoundedOptions { write_bound, gc_bound, scope, estimate }
    }
}

prop_compose! {
    /// Loads from light to far too heavy, on few pages or on many.
    fn loads()(
        items in 1u32..400,
        dies in 1u32..6,
        pages in select(&[3, 40, 900][..]),
        gap in select(&[5_000u64, 20_000, 60_000][..]),
        writes in 0u64..90,
        others in select(&[(0, 0), (8, 2), (30, 5)][..]),
        seed in any::<u64>(),
    ) -> (Load, u64) {
        let (gc, erases) = others;
        (Load { items, dies, pages, gap, writes: writes * (100 - gc - erases) / 100, gc, erases }, seed)
    }
}

/// Host requests only.
fn plain(load: &Load) -> Load {
    Load { gc: 0, erases: 0, ..*load }
}

/// For each command, the later commands of its die that left the queue earlier.
fn crossings(load: &[Item], served: &[Served]) -> Vec<Vec<usize>> {
    let crossed = |one: usize| {
        let later = one + 1..load.len();
        later.filter(move |&other| {
            load[other].die == load[one].die && served[other].start < served[one].start
        })
    };
    (0..load.len()).map(|one| crossed(one).collect()).collect()
}

/// Asserts that the commands selected by `which` leave the queue in order of arrival.
fn keep_order(load: &[Item], served: &[Served], which: impl Fn(&Item) -> bool) {
    let starts = load.iter().zip(served).filter(|(item, _)| which(item));
    let mut last = 0;
    for (item, served) in starts {
        assert!(served.start >= last, "{item:?} goes before an earlier one");
        last = served.start;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Every command starts and ends as in a model that walks the queue.
    #[test]
    fn it_matches_a_model_that_walks_the_queue(
        (load, seed) in loads(),
        rule in rules(),
        waiting_commands in any::<bool>(),
    ) {
        let items = draw(&load, seed);
        let times = Times { waiting_commands, ..ODD };
        let (served, _) = serve(bounded(&rule, load.dies), load.dies, &times, &items);
        let naive = Naive::new(rule, load.dies, &times, &items).serve();
        prop_assert_eq!(served, naive);
    }

    /// Laws that hold under any rule.
    #[test]
    fn orders_are_kept((load, seed) in loads(), rule in rules(), times in select(&[PAPER, ODD][..])) {
        let items = draw(&load, seed);
        let (served, bus) = serve(bounded(&rule, load.dies), load.dies, &times, &items);
        for die in 0..load.dies {
            // Reads of one die, and whatever else is on it.
            keep_order(&items, &served, |item| item.die == die && item.overtakes());
            keep_order(&items, &served, |item| item.die == die && !item.overtakes());
            for page in items.iter().filter(|item| item.kind == Kind::Program).map(|item| item.page) {
                let host = |item: &Item| item.kind == Kind::Program || item.overtakes();
                keep_order(&items, &served, |item| item.die == die && item.page == page && host(item));
            }
        }
        let transfers = items.iter().filter(|item| item.kind != Kind::Erase).count() as u64;
        prop_assert_eq!(bus, transfers * times.transfer);
    }

    /// With a bound that no write can keep: first in, first out, for every start and every end.
    #[test]
    fn below_the_time_of_a_program_it_is_fifo(
        (load, seed) in loads(),
        micros in 0u64..=200,
        scope in select(&[Scope::Channel, Scope::Die][..]),
        estimate in select(&[Estimate::Die, Estimate::LookAhead][..]),
        transfer in select(&[0, PAPER.transfer][..]),
    ) {
        let times = Times { transfer, ..PAPER };
        // With a free bus a program takes 200 us, and a read before it delays it.
        let bound = Some(Nanos::from_micros(micros));
        let rule = ReadFirstBoundedOptions { write_bound: bound, gc_bound: bound, scope, estimate };
        let items = draw(&Load { gc: 0, ..load }, seed);
        let (served, _) = serve(bounded(&rule, load.dies), load.dies, &times, &items);
        let (fifo, _) = serve(Scheduler::Fifo(Fifo), load.dies, &times, &items);
        prop_assert_eq!(served, fifo);
    }

    /// Without a bus, a write is delayed by exactly the reads that went before it, and a read gains exactly
    /// the writes that it passed.
    #[test]
    fn overtaking_costs_are_exact((load, seed) in loads(), rule in rules()) {
        let items = draw(&plain(&load), seed);
        let times = Times { transfer: 0, ..ODD };
        let (served, _) = serve(bounded(&rule, load.dies), load.dies, &times, &items);
        let (fifo, _) = serve(Scheduler::Fifo(Fifo), load.dies, &times, &items);
        let crossed = crossings(&items, &served);
        let mut passed = vec![0; items.len()];
        for (one, others) in crossed.iter().enumerate() {
            let reads = others.len() as u64;
            others.iter().for_each(|&read| passed[read] += 1);
            if items[one].kind == Kind::Program {
                prop_assert_eq!(served[one].end, fifo[one].end + reads * times.sense);
            } else {
                prop_assert_eq!(reads, 0, "a read was overtaken");
            }
        }
        for (one, writes) in passed.iter().enumerate().filter(|&(one, _)| items[one].overtakes()) {
            prop_assert_eq!(served[one].end + writes * times.program, fifo[one].end);
        }
    }

    /// Without a bus the estimate is exact, and so is the bound: any command that a read overtook completes
    /// in time, be it a write or a command of collection. Nothing passes an erase.
    #[test]
    fn no_command_is_delayed_beyond_the_bound((load, seed) in loads(), rule in rules()) {
        let items = draw(&load, seed);
        let times = Times { transfer: 0, ..ODD };
        let (served, _) = serve(bounded(&rule, load.dies), load.dies, &times, &items);
        for (one, others) in crossings(&items, &served).into_iter().enumerate() {
            let bound = match items[one].origin {
                Origin::Host => rule.write_bound,
                _ => rule.gc_bound,
            };
            prop_assert!(others.is_empty() || items[one].kind != Kind::Erase);
            if let Some(bound) = bound.filter(|_| !others.is_empty()) {
                prop_assert!(served[one].end - items[one].at <= bound.0);
            }
        }
    }

    /// No write starts while a read of its die waits, if there is no bound and no conflict of pages; in the
    /// queue of a channel as in that of a die.
    #[test]
    fn without_a_bound_reads_go_first(
        (load, seed) in loads(),
        scope in select(&[Scope::Channel, Scope::Die][..]),
    ) {
        // Pages that are read are not written.
        let mut items = draw(&Load { pages: 300, ..plain(&load) }, seed);
        items.iter_mut().filter(|item| item.overtakes()).for_each(|item| item.page += 500);
        let rule = ReadFirstBoundedOptions { scope, ..NONE };
        let (served, _) = serve(bounded(&rule, load.dies), load.dies, &ODD, &items);
        for (write, one) in items.iter().zip(&served).filter(|(item, _)| !item.overtakes()) {
            let waits = |(read, other): (&Item, &Served)| {
                read.die == write.die && read.at < one.start && other.start > one.start
            };
            let mut reads = items.iter().zip(&served).filter(|(item, _)| item.overtakes());
            prop_assert!(!reads.any(waits), "{write:?} at {} goes before a read", one.start);
        }
        // On one die that equals priority without a bound.
        if load.dies == 1 {
            let (first, _) = serve(Scheduler::ReadFirst(ReadFirst), 1, &ODD, &items);
            prop_assert_eq!(served, first);
        }
    }

    /// A die does not rest while a read waits for it, nor while a write does and the bus rests.
    #[test]
    fn work_is_conserved((load, seed) in loads(), rule in rules()) {
        let items = draw(&plain(&load), seed);
        let times = Times { transfer: 0, ..ODD };
        let (served, _) = serve(bounded(&rule, load.dies), load.dies, &times, &items);
        for die in 0..load.dies {
            let of_die = items.iter().zip(&served).filter(|(item, _)| item.die == die);
            let mut spans: Vec<_> = of_die.map(|(item, one)| (one.start, one.end, item.at)).collect();
            spans.sort_unstable();
            let mut free_at = 0;
            for &(start, end, _) in &spans {
                // A command that starts after the die became free arrived just then, and nobody waited.
                if start > free_at {
                    let waiting = spans.iter().any(|&(other, _, at)| other >= start && at < start);
                    prop_assert!(!waiting, "the die {die} rests from {free_at} to {start}");
                }
                free_at = end;
            }
        }
    }
}

fn ends(served: &[Served]) -> Vec<u64> {
    served.iter().map(|one| one.end).collect()
}

/// The example of the paper's figure 6: a read behind a write takes 220 us, and 20 us if it goes first;
/// then the write takes 220 us instead of 200 us.
#[test]
fn the_example_of_the_paper() {
    let times = Times { transfer: 0, ..PAPER };
    let item = |at, kind, page| Item { at, kind, origin: Origin::Host, die: 0, page };
    // The die is busy when the example's two commands arrive.
    let items = [item(0, Kind::Read, 9), item(1, Kind::Program, 1), item(2, Kind::Read, 2)];
    let (fifo, _) = serve(Scheduler::Fifo(Fifo), 1, &times, &items);
    assert_eq!(ends(&fifo), [20_000, 220_000, 240_000]);
    let (first, _) = serve(bounded(&NONE, 1), 1, &times, &items);
    assert_eq!(ends(&first), [20_000, 240_000, 40_000]);
}
