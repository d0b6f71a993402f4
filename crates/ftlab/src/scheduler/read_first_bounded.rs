//! Host reads overtake writes that wait, as long as that makes none of these later than a bound.
//!
//! Commands wait in a queue, one for each channel (or die). What comes goes to its end. A host read then
//! walks forward past writes, and stops behind
//!
//! 1. any host read: reads keep their order, and so do writes;
//! 2. what waits for its own page, where pages are programmed in place: it reads what was written. (Elsewhere
//!    nobody reads a page that is yet to be programmed.)
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
//!   them, and the write's. Waits for the bus are left out. With `scheduler.estimate = "look-ahead"`
//!   they are not: then the queue of the channel is played to its end for each read that comes, if it holds
//!   no more than 256 commands, and the read's own time is added to what waits for its die.
//! - The paper knows no collection. Reads for collection and for partial writes wait as writes do: host
//!   reads pass them, and they have bounds. Collection has a bound of its own. A copyback counts as a write.
//! - What shares an operation on several planes counts as if it came one by one, until it has begun; and it
//!   goes with that operation, past what stands between.
//! - While a program or an erase is left for reads (`scheduler.suspend`), host reads are served whatever
//!   they would stop behind.
//! - Dies that wait for another one of their chip (`nand.one_die_at_a_time`) are thought not to: what stands before
//!   them there is left out.
//! - Buses serve what came first, among the dies that want them (the paper does not say).
//!
//! Otherwise no queue is walked. A read can stop at a late write only if that is the last late one; whether a
//! write is late, is decided by a number that never changes once the write has come, against a limit
//! that all writes of a die have in common. For with `came` the time of everything that has joined the
//! queue of a die at its end, `work` the time of all that waits in it, and `came` up to a write, the
//! write is done after what is left of the die's operation and `work - (came - came_up_to_it)`: reads
//! only ever go before the writes that are still to be passed, since they keep their order.

use super::last_below::{LastBelow, RingPlace};
use super::look_ahead::LookAhead;
use super::view::View;
use super::{Arrival, BusOrder, Command, CommandId, Kind, Origin, SchedulerPolicy};
use crate::image::keeps_nothing;
use crate::options::declare::{choices, options};
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
        /// Its die and the bus, by playing all that waits on the channel; its die alone while more than 256
        /// commands do, for this takes time in proportion to them.
        LookAhead = "look-ahead",
    }
}

options! {
    /// How far reads may hold writes up.
    pub struct ReadFirstBoundedOptions at "scheduler" {
        /// No host read goes before a program for the host, or a read for a partial write, that would be done
        /// later than so long after it came; "none" lets reads pass all of them. Anything below the
        /// time of a program is first in, first out between reads and writes of the host. What is served
        /// while an operation is left for reads (scheduler.suspend) goes by no bound.
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
    /// What waits, in its order, if that is played ahead.
    ahead: Option<LookAhead>,
    /// What is remembered of each command that waits, by its number.
    waiting: Vec<Waiting>,
}

/// Time that commands take of a die.
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
}

/// What is remembered of a command that waits.
#[derive(Clone, Copy, Debug, Default)]
struct Waiting {
    service: Nanos,
    due: Option<RingPlace>,
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
        ReadFirstBounded::new(options, parts.geometry.dies())
    }

    keeps_nothing!(ReadFirstBounded { write_bound, gc_bound, scope, dies, ahead, waiting });
}

impl ReadFirstBounded {
    /// Empty queues of so many dies.
    #[must_use]
    pub fn new(options: &ReadFirstBoundedOptions, dies: u32) -> ReadFirstBounded {
        let ReadFirstBoundedOptions { write_bound, gc_bound, scope, estimate } = *options;
        ReadFirstBounded {
            write_bound,
            gc_bound,
            scope,
            dies: vec![DieQueue::default(); dies as usize],
            ahead: (estimate == Estimate::LookAhead).then(|| LookAhead::new(dies)),
            waiting: Vec::new(),
        }
    }

    fn overtakes(command: &Command) -> bool {
        (command.kind, command.origin) == (Kind::Read, Origin::Host)
    }

    /// How late a command may be. Erases are never passed, so they need no bound.
    fn bound(&self, command: &Command) -> Option<Nanos> {
        match (command.kind, command.origin) {
            (Kind::Erase, _) => None,
            (_, Origin::Host | Origin::ReadModifyWrite) => self.write_bound,
            (_, Origin::Gc | Origin::Wear | Origin::Fold | Origin::Rewrite | Origin::System) => {
                self.gc_bound
            }
        }
    }

    /// The rank of what a host read stops behind.
    fn stop(&mut self, arrival: &Arrival, service: Nanos, view: &View<'_>) -> u64 {
        let geometry = view.geometry();
        let Arrival { die, .. } = *arrival;
        let written = view.last_on_page(view.command(arrival.id)).unwrap_or(FRONT);
        let own = self.dies[die.at()].erases.last().max(written);
        let (channel, _) = geometry.channel_of(die);
        let is_short = |ahead: &LookAhead| ahead.is_short(channel, view);
        let late = match self.ahead.as_ref().is_some_and(is_short) {
            true => self.last_late_ahead(arrival, service, view),
            false => self
                .in_scope(view, die)
                .map(|other| self.last_late(arrival, service, other, view))
                .fold(FRONT, u64::max),
        };
        let reads = self.in_scope(view, die).map(|other| self.dies[other.at()].host_reads.last());
        reads.fold(own.max(late), u64::max)
    }

    /// The dies whose commands share a queue with those of `die`.
    fn in_scope<'a>(&self, view: &View<'a>, die: DieId) -> impl Iterator<Item = DieId> + use<'a> {
        let geometry = view.geometry();
        let (channel, place) = geometry.channel_of(die);
        let places = match self.scope {
            Scope::Channel => 0..geometry.dies_per_channel(),
            Scope::Die => place..place + 1,
        };
        places.map(move |place| geometry.die_on(channel, place))
    }

    /// The rank of the last command of a die that would be late if a read went before it.
    fn last_late(&self, read: &Arrival, service: Nanos, die: DieId, view: &View<'_>) -> u64 {
        let queue = &self.dies[die.at()];
        if queue.due.is_empty() {
            return FRONT;
        }
        let held_up = if die == read.die { service } else { Nanos::ZERO };
        let end = queue.work.end(read.at, view.left_of(die, read.at) + held_up);
        queue.due.last_below(end).unwrap_or(FRONT)
    }

    /// The same of all dies that share the queue, with waits for the bus.
    fn last_late_ahead(&mut self, read: &Arrival, service: Nanos, view: &View<'_>) -> u64 {
        let Some(mut ahead) = self.ahead.take() else { return FRONT };
        let (channel, _) = view.geometry().channel_of(read.die);
        let mut last = FRONT;
        ahead.play(channel, read.at, view, |id, end| {
            let command = view.command(id);
            let same_die = command.ticket.die == read.die;
            let held_up = if same_die { service } else { Nanos::ZERO };
            let seen = same_die || self.scope == Scope::Channel;
            let since = command.ticket.waiting_since;
            if seen && self.bound(command).is_some_and(|bound| end + held_up - since > bound) {
                last = last.max(command.rank().0);
            }
        });
        self.ahead = Some(ahead);
        last
    }

    /// A command goes to the end of the queue. Returns its rank.
    fn append(
        &mut self,
        arrival: &Arrival,
        service: Nanos,
        view: &View<'_>,
    ) -> (u64, Option<RingPlace>) {
        let rank = arrival.sequence + 1;
        let command = view.command(arrival.id);
        let bound = self.bound(command);
        let queue = &mut self.dies[arrival.die.at()];
        queue.work.join(service, true);
        if command.kind == Kind::Erase {
            queue.erases = Count { count: queue.erases.count + 1, last: rank };
        }
        let due = bound.map(|bound| (arrival.at + bound).0 as i64 - queue.work.came.0 as i64);
        (rank, due.map(|due| queue.due.push(rank, due)))
    }
}

impl SchedulerPolicy for ReadFirstBounded {
    fn bus_order(&self) -> BusOrder {
        BusOrder::Arrival
    }

    // Not inlined, so that it does not weigh on the path of other policies.
    #[inline(never)]
    fn rank(&mut self, arrival: &Arrival, view: &View<'_>) -> u64 {
        let Arrival { id, die, .. } = *arrival;
        let command = view.command(id);
        let service = view.service(command);
        let (rank, due) = if Self::overtakes(command) {
            // Equals are served as they came: right behind what it stops at.
            let rank = self.stop(arrival, service, view);
            let queue = &mut self.dies[die.at()];
            queue.host_reads = Count { count: queue.host_reads.count + 1, last: rank };
            queue.work.join(service, false);
            (rank, None)
        } else {
            self.append(arrival, service, view)
        };
        if let Some(ahead) = &mut self.ahead {
            ahead.join(die, id, rank, |other| view.command(other).rank().0);
        }
        if self.waiting.len() <= id.at() {
            self.waiting.resize(id.at() + 1, Waiting::default());
        }
        self.waiting[id.at()] = Waiting { service, due };
        rank
    }

    #[inline(never)]
    fn begins(&mut self, die: DieId, id: CommandId, view: &View<'_>) {
        let command = view.command(id);
        let Waiting { service, due } = self.waiting[id.at()];
        let queue = &mut self.dies[die.at()];
        queue.work.leave(service);
        due.into_iter().for_each(|place| queue.due.remove(place));
        if !Self::overtakes(command) {
            // What leaves together with a command before it has not been in the way of those between.
            queue.due.lower_before(command.rank().0, service.0 as i64);
        }
        match command.kind {
            Kind::Read if Self::overtakes(command) => queue.host_reads.count -= 1,
            Kind::Erase => queue.erases.count -= 1,
            _ => {}
        }
        if let Some(ahead) = &mut self.ahead {
            ahead.leave(die, id);
        }
    }
}
