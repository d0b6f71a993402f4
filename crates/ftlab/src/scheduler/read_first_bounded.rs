//! Host reads overtake waiting writes, as long as this makes no write later than a bound.
//!
//! Commands wait in a queue, one for each channel (or die). A new command joins at the end. A host read then moves
//! forward past writes, and stops behind
//!
//! 1. any host read: reads keep their order, and so do writes;
//! 2. any command for its own page, where pages are programmed in place: it must read what was written. (Otherwise
//!    a page is never read before it is programmed.)
//! 3. an erase of its die: erases are never passed, so that collection cannot starve;
//! 4. a write whose latency, from arrival to completion, would exceed its bound if the read went first. The bound
//!    is soft: nothing passes a write that is late anyway, but it is not sped up either.
//!
//! Source: the read/write scheduler beneath the FTL of 2017 (Zhu, Wu, Xiong and Xie, Computer Science 44(6), in
//! Chinese), section 3.3. Departures and additions:
//!
//! - The paper does not say how it estimates a write's latency. Here it is the sum of the write's age, the time
//!   that its die needs for its current operation, the time of all commands of the die that go before it (including
//!   the read if it is one of them), and the write's own time. Waits for the bus are ignored, unless
//!   `scheduler.estimate = "look-ahead"`: then the queue of the channel is simulated to its end for each new read,
//!   if it holds at most 256 commands, and the read's own time is added to what waits for its die.
//! - The paper does not cover collection. Reads for collection and for partial writes wait as writes do: host reads
//!   pass them, and they have bounds. Collection has a bound of its own. A copyback counts as a write.
//! - Commands that share an operation on several planes count as separate ones until the operation begins; then
//!   they leave with it, past the commands between them.
//! - While a program or an erase is suspended for reads (`scheduler.suspend`), host reads are served regardless of
//!   what they would stop behind.
//! - The estimate ignores that dies wait for other dies of their chip (`nand.one_die_at_a_time`).
//! - Buses serve the dies that want them in order of arrival (the paper does not say).
//!
//! Without look-ahead, no queue is walked. Only the last late write can stop a read. Whether a write is late is
//! decided by comparing a number that never changes after the write's arrival with a limit that all writes of a die
//! share. Let `came` be the time of all commands that ever joined the end of a die's queue, `came_up_to_it` its
//! value when a given write had joined, and `work` the time of all that waits. The write is done after the rest of
//! the die's operation and `work - (came - came_up_to_it)`, because later reads only ever go before writes that can
//! still be passed: reads keep their order.

use super::last_below::{LastBelow, RingPlace};
use super::look_ahead::LookAhead;
use super::view::View;
use super::{Arrival, BusOrder, Command, CommandId, Kind, Origin, SchedulerFacts, SchedulerPolicy};
use crate::image::keeps_nothing;
use crate::options::declare::{choices, options};
use crate::policy::{Parts, Policy};
use crate::units::{DieId, Nanos, SimTime};

choices! {
    /// Which commands wait in one queue.
    pub enum Scope {
        /// All commands of a channel.
        Channel = "channel",
        /// The commands of a die.
        Die = "die",
    }
}

choices! {
    /// What an estimate of a write's latency takes into account.
    pub enum Estimate {
        /// Its die.
        Die = "die",
        /// Its die and the bus, by simulating the whole queue of the channel. Takes time in proportion to the
        /// queue, so with more than 256 commands only the die is taken into account.
        LookAhead = "look-ahead",
    }
}

options! {
    /// How much reads may delay writes.
    pub struct ReadFirstBoundedOptions at "scheduler" {
        /// No host read goes before a program for the host, or a read for a partial write, that would then be done
        /// later than this after its arrival; "none" lets reads pass all of them. Any value below the time of a
        /// program keeps reads and writes of the host in order of arrival. Reads that are served while an operation
        /// is suspended (scheduler.suspend) have no bound.
        write_bound: Option<Nanos> = "5ms", in "0ns"..="100s",
            source "assumed: several programs long, as scheduler.host_write; the paper varies it from 200 us to no bound";
        /// The same for the device's own commands, such as copies of collection. Erases are never passed.
        gc_bound: Option<Nanos> = "20ms", in "0ns"..="100s",
            source "assumed: as scheduler.gc, so that collection keeps up with the host";
        /// Which commands wait in one queue: a read passes no read of its queue, and no late write.
        scope: Scope = "channel", source "the read/write scheduler paper, section 4.1: one queue for a channel";
        /// What the estimate of a write's latency takes into account.
        estimate: Estimate = "die", source "assumed: the paper does not say";
    }
}

/// Reads first, up to a bound.
#[derive(Clone, Debug)]
pub struct ReadFirstBounded {
    write_bound: Option<Nanos>,
    gc_bound: Option<Nanos>,
    scope: Scope,
    /// The queue of each die.
    dies: Vec<DieQueue>,
    /// The waiting commands in their order, for look-ahead.
    ahead: Option<LookAhead>,
    /// Notes on waiting commands, by number.
    waiting: Vec<Waiting>,
}

/// Time that commands take of a die.
#[derive(Clone, Copy, Debug, Default)]
struct Work {
    /// Sum over all that wait.
    waiting: Nanos,
    /// Sum over all that ever joined the end of the queue.
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

    /// When the last command in the queue will be done, if the die is busy for `left`; relative to `came`, as the
    /// deadlines in `due`.
    fn end(&self, now: SimTime, left: Nanos) -> i64 {
        (now + left + self.waiting).0 as i64 - self.came.0 as i64
    }
}

/// Waiting commands of a kind: how many, and the rank of the last.
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
    /// Deadlines of writes, relative to `came` when they joined; marked with their ranks.
    due: LastBelow,
}

/// Notes on a command that waits.
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
    /// Returns empty queues for `dies` dies.
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

    /// The bound of a command. Erases need none, as they are never passed.
    fn bound(&self, command: &Command) -> Option<Nanos> {
        match (command.kind, command.origin) {
            (Kind::Erase, _) => None,
            (_, Origin::Host | Origin::ReadModifyWrite) => self.write_bound,
            (_, Origin::Gc | Origin::Wear | Origin::Fold | Origin::Rewrite | Origin::System) => {
                self.gc_bound
            }
        }
    }

    /// The rank of the command behind which a host read stops.
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

    /// The same over all dies that share the queue, including waits for the bus.
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

    /// Adds a command to the end of the queue. Returns its rank.
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

impl SchedulerFacts for ReadFirstBounded {}

impl SchedulerPolicy for ReadFirstBounded {
    fn bus_order(&self) -> BusOrder {
        BusOrder::Arrival
    }

    // Not inlined, to keep the path of other policies fast.
    #[inline(never)]
    fn rank(&mut self, arrival: &Arrival, view: &View<'_>) -> u64 {
        let Arrival { id, die, .. } = *arrival;
        let command = view.command(id);
        let service = view.service(command);
        let (rank, due) = if Self::overtakes(command) {
            // Commands of equal rank are served in order of arrival: right behind the one where it stops.
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
            // A command that leaves early, with an operation of a command before it, did not delay those between.
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
