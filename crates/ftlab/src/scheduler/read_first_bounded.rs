//! Host reads overtake writes that wait, as long as that makes none of these later than a bound.
//!
//! Commands wait in a queue, one for each channel (or die). What comes goes to its end. A host read then
//! walks forward past writes, and stops behind
//!
//! 1. any host read: reads keep their order, and so do writes;
//! 2. a write to its own page: it reads what was written;
//! 3. an erase of its die: erases take no part, so that collection can't starve;
//! 4. a write whose latency, from when it came to when it is done, would exceed its bound if the read
//!    went before it. The bound is soft: nothing passes a write that is late anyway, and nothing is
//!    done to make it less so.
//!
//! Source: the read/write scheduler beneath the FTL of 2017 (Zhu, Wu, Xiong and Xie, Computer Science
//! 44(6), in Chinese), section 3.3. It departs from the paper, or goes beyond it, in this:
//!
//! - The paper does not say how it estimates a write's latency. Here it is the write's age, what is left of what
//!   its die does, the time of all commands of the die that go before it, the read's own if it is one of
//!   them, and the write's. Waits for the bus are left out, unless `scheduler.estimate` asks for them:
//!   then it is at least the time that the bus needs for all that waits before it on the channel.
//! - The paper knows no collection. Reads for collection and for partial writes wait as writes do: host
//!   reads pass them, and they have bounds. Collection has a bound of its own. A copyback counts as a write.
//! - What shares an operation on several planes counts as if it came one by one.
//! - Buses serve what came first, among the dies that want them (the paper does not say).
//!
//! No queue is walked. A read can stop at a late write only if that is the last late one; whether a
//! write is late, is decided by a number that never changes once the write has come, against a limit
//! that all writes of a die have in common. For with `came` the time of everything that has joined the
//! queue of a die at its end, `work` the time of all that waits in it, and `came` up to a write, the
//! write is done after what is left of the die's operation and `work - (came - came_up_to_it)`: reads
//! only ever go before the writes that are still to be passed, since they keep their order.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use super::last_below::{LastBelow, Place};
use super::view::View;
use super::{Arrival, BusOrder, Command, CommandId, Kind, Order, Origin};
use crate::config::declare::{choices, options};
use crate::engine::NumberHasher;
use crate::image::keeps_nothing;
use crate::policy::{Parts, Policy};
use crate::units::{DieId, Nanos, SimTime};

choices! {
    /// What waits in one queue.
    pub enum Scope {
        /// All commands of a channel.
        Channel = "channel",
        /// The commands of a die.
        Die = "die",
    }
}

choices! {
    /// What is thought to hold a write up.
    pub enum Estimate {
        /// Its die.
        Die = "die",
        /// Its die and, if that takes longer, the bus of its channel.
        DieAndBus = "die-and-bus",
    }
}

options! {
    /// How far reads may hold writes up.
    pub struct ReadFirstBoundedOptions at "scheduler" {
        /// No host read goes before a program for the host, or a read for a partial write, that would be done
        /// later than so long after it came; "none" lets reads pass all of them. Anything below the
        /// time of a program is first in, first out between reads and writes of the host.
        write_bound: Option<Nanos> = "5ms", in "0ns"..="100s",
            source "assumed: several programs long, as scheduler.host_write; the paper varies it from 200 us to none";
        /// The same for the device's own commands, such as copies of collection. Erases are never passed.
        gc_bound: Option<Nanos> = "20ms", in "0ns"..="100s",
            source "assumed: as scheduler.gc, so that collection keeps up with the host";
        /// What waits in one queue: a read passes no read of its queue, and no late write.
        scope: Scope = "channel", source "the read/write scheduler paper, section 4.1: one queue for a channel";
        /// What is thought to hold a write up when its latency is estimated.
        estimate: Estimate = "die", source "assumed: the paper does not say";
    }
}

/// Reads first, up to a bound.
#[derive(Clone, Debug)]
pub struct ReadFirstBounded {
    write_bound: Option<Nanos>,
    gc_bound: Option<Nanos>,
    scope: Scope,
    /// What waits for each die.
    dies: Vec<DieQueue>,
    /// What waits for each bus, if that is asked for.
    buses: Option<Vec<Work>>,
    /// What is remembered of each command that waits, by its number.
    waiting: Vec<Waiting>,
    /// The ranks of programs that wait, the last one of each flash page.
    programs: HashMap<u32, u64, BuildHasherDefault<NumberHasher>>,
}

/// Time that commands take, of a die or a bus.
#[derive(Clone, Copy, Debug, Default)]
struct Work {
    /// Of all that wait.
    waiting: Nanos,
    /// Of all that ever joined the queue at its end.
    came: Nanos,
}

impl Work {
    fn join(&mut self, time: Nanos, at_end: bool) {
        self.waiting += time;
        if at_end {
            self.came += time;
        }
    }

    fn leave(&mut self, time: Nanos) {
        self.waiting = Nanos(self.waiting.0 - time.0);
    }

    /// When what comes last will be done, after what is `left` of the present; counted as deadlines
    /// are, less what came.
    fn end(&self, now: SimTime, left: Nanos) -> i64 {
        (now + left + self.waiting).0 as i64 - self.came.0 as i64
    }
}

/// Commands of a kind that wait: how many, and the rank of the last.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    count: u32,
    last: u64,
}

impl Count {
    fn last(&self) -> u64 {
        if self.count == 0 { FRONT } else { self.last }
    }
}

/// The queue of a die.
#[derive(Clone, Debug, Default)]
struct DieQueue {
    work: Work,
    host_reads: Count,
    erases: Count,
    /// When writes have to be done, less what had come to the die by then; marked with their ranks.
    due: LastBelow,
    /// When writes have to be in the cells, less what had come to the bus by then.
    due_on_bus: LastBelow,
}

/// What is remembered of a command that waits.
#[derive(Clone, Copy, Debug, Default)]
struct Waiting {
    service: Nanos,
    on_bus: Nanos,
    due: Option<Place>,
    due_on_bus: Option<Place>,
}

/// The rank before all others.
const FRONT: u64 = 0;

impl Policy for ReadFirstBounded {
    const NAME: &'static str = "read-first-bounded";
    const SUMMARY: &'static str =
        "host reads overtake writes, unless that makes a write later than a bound";
    const SOURCE: &'static str = "Zhu, Wu, Xiong, Xie, Computer Science 44(6), 2017 (in Chinese)";
    type Options = ReadFirstBoundedOptions;

    fn build(options: &Self::Options, parts: &Parts<'_>) -> Self {
        ReadFirstBounded::new(options, parts.geometry.dies(), parts.geometry.channels())
    }

    keeps_nothing!(ReadFirstBounded {
        write_bound,
        gc_bound,
        scope,
        dies,
        buses,
        waiting,
        programs
    });
}

impl ReadFirstBounded {
    /// Empty queues of so many dies and channels.
    #[must_use]
    pub fn new(options: &ReadFirstBoundedOptions, dies: u32, channels: u32) -> ReadFirstBounded {
        let ReadFirstBoundedOptions { write_bound, gc_bound, scope, estimate } = *options;
        let with_buses = estimate == Estimate::DieAndBus;
        ReadFirstBounded {
            write_bound,
            gc_bound,
            scope,
            dies: vec![DieQueue::default(); dies as usize],
            buses: with_buses.then(|| vec![Work::default(); channels as usize]),
            waiting: Vec::new(),
            programs: HashMap::default(),
        }
    }

    fn overtakes(command: &Command) -> bool {
        (command.kind, command.origin) == (Kind::Read, Origin::Host)
    }

    /// How late a command may be. Erases are never passed, so they need no bound.
    fn bound(&self, command: &Command) -> Option<Nanos> {
        match (command.kind, command.origin) {
            (Kind::Erase, _) => None,
            (_, Origin::Host | Origin::Merge) => self.write_bound,
            (_, Origin::Gc | Origin::Wear | Origin::Fold) => self.gc_bound,
        }
    }

    /// The rank of what a host read stops behind.
    fn stop(&self, arrival: &Arrival, read: &Waiting, view: &View<'_>) -> u64 {
        let geometry = view.geometry();
        let Arrival { die, at: now, .. } = *arrival;
        let page = geometry.flash_page_of(view.command(arrival.id).page);
        let written = self.programs.get(&page).copied().unwrap_or(FRONT);
        let own = self.dies[die.at()].erases.last().max(written);
        let (channel, _) = geometry.channel_of(die);
        let end_on_bus = self.buses.as_ref().map(|buses| {
            buses[channel.at()].end(now, view.left_on_bus(channel, now)) + read.on_bus.0 as i64
        });
        let stop_at = |other: DieId| {
            let queue = &self.dies[other.at()];
            let mut stop = queue.host_reads.last();
            if !queue.due.is_empty() {
                let held_up = if other == die { read.service } else { Nanos::ZERO };
                let end = queue.work.end(now, view.left_of(other, now) + held_up);
                stop = stop.max(queue.due.last_below(end).unwrap_or(FRONT));
            }
            let late = end_on_bus.and_then(|end| queue.due_on_bus.last_below(end));
            stop.max(late.unwrap_or(FRONT))
        };
        match self.scope {
            Scope::Die => own.max(stop_at(die)),
            Scope::Channel => {
                let dies = (0..geometry.dies_per_channel()).map(|at| geometry.die_on(channel, at));
                dies.map(stop_at).fold(own, u64::max)
            }
        }
    }

    /// Notes when a command that goes to the end of the queue has to be done.
    fn note_due(&mut self, arrival: &Arrival, rank: u64, new: &mut Waiting, view: &View<'_>) {
        let command = view.command(arrival.id);
        let Some(bound) = self.bound(command) else { return };
        let queue = &mut self.dies[arrival.die.at()];
        let due = (arrival.at + bound).0 as i64;
        new.due = Some(queue.due.push(rank, due - queue.work.came.0 as i64));
        if let Some(buses) = &self.buses {
            let (channel, _) = view.geometry().channel_of(arrival.die);
            let after =
                if command.kind == Kind::Program { view.in_cells(command) } else { Nanos::ZERO };
            let came = (buses[channel.at()].came + after).0 as i64;
            new.due_on_bus = Some(queue.due_on_bus.push(rank, due - came));
        }
    }

    fn join(&mut self, arrival: &Arrival, new: &Waiting, at_end: bool, view: &View<'_>) {
        self.dies[arrival.die.at()].work.join(new.service, at_end);
        if let Some(buses) = &mut self.buses {
            let (channel, _) = view.geometry().channel_of(arrival.die);
            buses[channel.at()].join(new.on_bus, at_end);
        }
    }

    /// A command goes to the end of the queue.
    fn append(&mut self, arrival: &Arrival, new: &mut Waiting, view: &View<'_>) -> u64 {
        let rank = arrival.sequence + 1;
        let command = view.command(arrival.id);
        self.join(arrival, new, true, view);
        self.note_due(arrival, rank, new, view);
        if command.kind == Kind::Erase {
            let erases = &mut self.dies[arrival.die.at()].erases;
            *erases = Count { count: erases.count + 1, last: rank };
        }
        if command.kind.programs() {
            self.programs.insert(view.geometry().flash_page_of(command.page), rank);
        }
        rank
    }
}

impl Order for ReadFirstBounded {
    const BUS: BusOrder = BusOrder::Arrival;

    // Not inlined, so that it does not weigh on the path of other policies.
    #[inline(never)]
    fn rank(&mut self, arrival: &Arrival, view: &View<'_>) -> u64 {
        let command = view.command(arrival.id);
        let mut new = Waiting {
            service: view.service(command),
            on_bus: view.on_bus(command),
            ..Waiting::default()
        };
        let rank = if Self::overtakes(command) {
            // Equals are served as they came: right behind what it stops at.
            let rank = self.stop(arrival, &new, view);
            let reads = &mut self.dies[arrival.die.at()].host_reads;
            *reads = Count { count: reads.count + 1, last: rank };
            self.join(arrival, &new, false, view);
            rank
        } else {
            self.append(arrival, &mut new, view)
        };
        if self.waiting.len() <= arrival.id.at() {
            self.waiting.resize(arrival.id.at() + 1, Waiting::default());
        }
        self.waiting[arrival.id.at()] = new;
        rank
    }

    #[inline(never)]
    fn begins(&mut self, die: DieId, id: CommandId, view: &View<'_>) {
        let command = view.command(id);
        let Waiting { service, on_bus, due, due_on_bus } = self.waiting[id.at()];
        let queue = &mut self.dies[die.at()];
        queue.work.leave(service);
        due.into_iter().for_each(|place| queue.due.remove(place));
        due_on_bus.into_iter().for_each(|place| queue.due_on_bus.remove(place));
        match command.kind {
            Kind::Read if Self::overtakes(command) => queue.host_reads.count -= 1,
            Kind::Erase => queue.erases.count -= 1,
            _ => {}
        }
        let geometry = view.geometry();
        if let Some(buses) = &mut self.buses {
            buses[geometry.channel_of(die).0.at()].leave(on_bus);
        }
        if command.kind.programs() {
            let page = geometry.flash_page_of(command.page);
            if self.programs.get(&page) == Some(&command.rank().0) {
                self.programs.remove(&page);
            }
        }
    }
}
