//! One channel of dies, driven twice: by the flash model, and by a naive model that keeps the queue
//! as a list and walks it as the rule says, estimating every write each time.

use std::collections::{BTreeMap, VecDeque};

use ftlab::engine::Stream;
use ftlab::nand::timing::{Bus, OneBit, PageTime, Plain, Prices, Timing, Transfers};
use ftlab::nand::{Abilities, Prior};
use ftlab::scheduler::{
    Activity, Command, CommandId, Estimate, Flash, FlashSetup, Kind, Origin, PauseRule, Probe,
    ReadFirstBoundedOptions, Scheduler, Scope, ServiceId,
};
use ftlab::shape::{FlashGeometry, Shape};
use ftlab::units::{Bytes, Nanos, Ppn, SimTime};

const PAGES_PER_BLOCK: u32 = 64;
const BLOCKS: u32 = 4096;

/// The times of a machine. Odd ones avoid coincidences.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    pub transfer: u64,
    pub sense: u64,
    pub program: u64,
    pub erase: u64,
    /// Whether commands, which take no time, start only when the bus is free.
    pub waiting_commands: bool,
}

/// The times of the paper.
pub const PAPER: Times = Times {
    transfer: 10_000,
    sense: 20_000,
    program: 200_000,
    erase: 3_000_000,
    waiting_commands: true,
};
/// Nearly the same, without common divisors.
pub const ODD: Times = Times {
    transfer: 10_007,
    sense: 20_021,
    program: 200_177,
    erase: 1_000_541,
    waiting_commands: false,
};

/// A command that arrives at the queue.
#[derive(Clone, Copy, Debug)]
pub struct Item {
    pub at: u64,
    pub kind: Kind,
    pub origin: Origin,
    pub die: u32,
    pub page: u32,
}

impl Item {
    pub fn overtakes(&self) -> bool {
        (self.kind, self.origin) == (Kind::Read, Origin::Host)
    }
}

/// When a command left the queue, and when it completed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Served {
    pub start: u64,
    pub end: u64,
}

/// The parameters of a load.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    pub items: u32,
    pub dies: u32,
    /// Pages of a die that are used.
    pub pages: u32,
    /// The mean time between two commands.
    pub gap: u64,
    /// In per cent: host writes, collection's reads and programs, and erases. The rest is host reads.
    pub writes: u64,
    pub gc: u64,
    pub erases: u64,
}

/// A load with random arrival times.
pub fn draw(load: &Load, seed: u64) -> Vec<Item> {
    let mut stream = Stream::new(seed, "load");
    let mut at = 1;
    let items = (0..load.items).map(|_| {
        // Every fourth command arrives together with the one before it, as in a burst.
        if stream.below(4) > 0 {
            at += 1 + stream.below(load.gap * 8 / 3);
        }
        let kind = stream.below(100);
        let (kind, origin) = if kind < load.writes {
            (Kind::Program, Origin::Host)
        } else if kind < load.writes + load.gc {
            (if kind.is_multiple_of(2) { Kind::Read } else { Kind::Program }, Origin::Gc)
        } else if kind < load.writes + load.gc + load.erases {
            (Kind::Erase, Origin::Gc)
        } else {
            (Kind::Read, Origin::Host)
        };
        let die = stream.below(load.dies.into()) as u32;
        let page = stream.below(load.pages.into()) as u32;
        Item { at, kind, origin, die, page }
    });
    items.collect()
}

/// Records when each page's commands start, in order of arrival.
#[derive(Default)]
struct Starts {
    /// By page, kind and origin: the numbers of the waiting commands.
    waiting: BTreeMap<(u32, Kind, Origin), VecDeque<usize>>,
    starts: Vec<u64>,
    /// By die: when the cells are free.
    cells: BTreeMap<u32, u64>,
    bus_free_at: u64,
    pub bus_busy: u64,
}

impl Starts {
    fn begins(&mut self, activity: &Activity, at: SimTime) {
        let like = (activity.page.get(), activity.kind, activity.origin);
        let waiting = self.waiting.get_mut(&like);
        let first = waiting.and_then(VecDeque::pop_front).expect("what begins has come");
        self.starts[first] = at.0;
    }
}

impl Probe for Starts {
    fn cell(&mut self, activity: &Activity) {
        let free_at = self.cells.entry(activity.die.get()).or_default();
        assert!(*free_at <= activity.from.0, "two operations on one die: {activity:?}");
        *free_at = activity.until.0;
        if activity.kind != Kind::Program {
            self.begins(activity, activity.from);
        }
    }

    fn bus(&mut self, activity: &Activity) {
        assert!(self.bus_free_at <= activity.from.0, "two transfers on one bus: {activity:?}");
        self.bus_free_at = activity.until.0;
        self.bus_busy += activity.until.0 - activity.from.0;
        if activity.kind == Kind::Program {
            self.begins(activity, activity.from);
        }
    }
}

/// Serves a load by the flash model. Also returns how long the bus was busy.
pub fn serve(scheduler: Scheduler, dies: u32, times: &Times, load: &[Item]) -> (Vec<Served>, u64) {
    let shape = Shape {
        channels: 1,
        chips_per_channel: dies,
        dies_per_chip: 1,
        planes_per_die: 1,
        blocks_per_plane: BLOCKS,
        pages_per_block: PAGES_PER_BLOCK,
        page_size: Bytes::from_kib(4),
        mapping_unit: Bytes::from_kib(4),
    };
    let Times { transfer, sense, program, erase, waiting_commands } = *times;
    let command = waiting_commands.then_some(Nanos::ZERO);
    let [read, program, erase] = [sense, program, erase].map(Nanos);
    let page = Transfers::PageTime(PageTime { page: Nanos(transfer) });
    let setup = FlashSetup {
        geometry: FlashGeometry::of_flash(shape, None),
        timing: Prices {
            native: Timing::Plain(Plain { read, program, erase }),
            one_bit: OneBit { read, program, erase },
            word_line: None,
        },
        bus: Bus::new(&page, command, Bytes::from_kib(4), &shape),
        abilities: Abilities::NONE,
        pause: PauseRule::NEVER,
        scheduler,
        prior: Prior::default(),
        whole_moments: false,
        data_out_first: false,
        hazards: None,
        decoder: None,
        reads_cross_dram: false,
    };
    let probe = Starts { starts: vec![0; load.len()], ..Starts::default() };
    let mut flash = Flash::new(setup, probe);
    flash.keep_page_order();
    let mut numbers: BTreeMap<u32, usize> = BTreeMap::new();
    let mut served = vec![Served::default(); load.len()];
    for (number, item) in load.iter().enumerate() {
        // An arrival at the very end of something goes before that end.
        run(&mut flash, item.at.saturating_sub(1), &numbers, &mut served);
        let page = Ppn::new(item.die * BLOCKS * PAGES_PER_BLOCK + item.page);
        let mut command = Command::new(item.kind, item.origin, ServiceId::WRITES.owner(0), page);
        command.codewords = 1;
        let id = flash.prepare(command);
        numbers.insert(id.get(), number);
        let like = (page.get(), item.kind, item.origin);
        flash.probe_mut().waiting.entry(like).or_default().push_back(number);
        flash.submit(SimTime(item.at), id);
    }
    run(&mut flash, u64::MAX, &numbers, &mut served);
    for (served, start) in served.iter_mut().zip(&flash.probe().starts) {
        served.start = *start;
    }
    (served, flash.probe().bus_busy)
}

fn run(
    flash: &mut Flash<Starts>,
    limit: u64,
    numbers: &BTreeMap<u32, usize>,
    served: &mut [Served],
) {
    while flash.next_time().is_some_and(|next| next.0 <= limit) {
        let Some((now, id)) = flash.step() else { continue };
        let (id, die): (CommandId, _) = (id, flash.die_of(id));
        served[numbers[&id.get()]].end = now.0;
        flash.release(id);
        flash.go_on(now, die);
    }
}

/// The state of a die in the naive model.
#[derive(Clone, Copy, Debug)]
enum Doing {
    Nothing,
    Sensing {
        until: u64,
        what: usize,
    },
    Holding {
        what: usize,
    },
    /// Anything that is done when it is over.
    Other {
        until: u64,
        what: usize,
    },
}

/// The naive model.
#[derive(Clone)]
pub struct Naive<'a> {
    pub rule: ReadFirstBoundedOptions,
    pub times: &'a Times,
    pub load: &'a [Item],
    now: u64,
    /// The waiting commands of all dies, in order.
    queue: Vec<usize>,
    dies: Vec<Doing>,
    bus_free_at: u64,
    served: Vec<Served>,
}

impl<'a> Naive<'a> {
    pub fn new(
        rule: ReadFirstBoundedOptions,
        dies: u32,
        times: &'a Times,
        load: &'a [Item],
    ) -> Self {
        Naive {
            rule,
            times,
            load,
            now: 0,
            queue: Vec::new(),
            dies: vec![Doing::Nothing; dies as usize],
            bus_free_at: 0,
            served: vec![Served::default(); load.len()],
        }
    }

    pub fn serve(mut self) -> Vec<Served> {
        let mut next_item = 0;
        loop {
            let arrival = self.load.get(next_item).map(|item| item.at);
            let Some(now) = arrival.into_iter().chain(self.next_moment()).min() else { break };
            self.now = now;
            self.finish();
            while self.load.get(next_item).is_some_and(|item| item.at == now) {
                self.enqueue(next_item);
                next_item += 1;
            }
            self.dispatch();
        }
        assert!(self.queue.is_empty());
        self.served
    }

    /// When the next operation ends.
    fn next_moment(&self) -> Option<u64> {
        let ends = self.dies.iter().filter_map(|die| match *die {
            Doing::Sensing { until, .. } | Doing::Other { until, .. } => Some(until),
            Doing::Nothing | Doing::Holding { .. } => None,
        });
        let bus = (self.bus_free_at > self.now).then_some(self.bus_free_at);
        ends.chain(bus).min()
    }

    fn finish(&mut self) {
        for die in &mut self.dies {
            match *die {
                Doing::Sensing { until, what } if until == self.now => {
                    *die = Doing::Holding { what };
                }
                Doing::Other { until, what } if until == self.now => {
                    self.served[what].end = until;
                    *die = Doing::Nothing;
                }
                _ => {}
            }
        }
    }

    fn enqueue(&mut self, new: usize) {
        let mut place = self.queue.len();
        if self.load[new].overtakes() {
            // A die's own queue does not see what waits for others.
            let mut at = place;
            while at > 0 {
                let other = self.queue[at - 1];
                let apart =
                    self.rule.scope == Scope::Die && self.load[other].die != self.load[new].die;
                if !apart && self.stops(new, at - 1) {
                    break;
                }
                at -= 1;
                if !apart {
                    place = at;
                }
            }
        }
        self.queue.insert(place, new);
    }

    /// Whether a read stops behind the command at `place` in the queue.
    fn stops(&self, new: usize, place: usize) -> bool {
        let other = self.queue[place];
        let (read, item) = (&self.load[new], &self.load[other]);
        let same_die = item.die == read.die;
        let bound = match item.origin {
            Origin::Host => self.rule.write_bound,
            _ => self.rule.gc_bound,
        };
        let late = || bound.is_some_and(|bound| self.latency(new, place) > bound.0);
        match item.kind {
            Kind::Erase => same_die,
            _ => item.overtakes() || (same_die && item.page == read.page) || late(),
        }
    }

    /// How late the command at `place` would complete, counted from its arrival, with a read put before
    /// it.
    fn latency(&self, new: usize, place: usize) -> u64 {
        let other = self.queue[place];
        let (read, item) = (&self.load[new], &self.load[other]);
        let before = self.queue[..place].iter().filter(|&&one| self.load[one].die == item.die);
        let before: u64 = before.map(|&one| self.service(one)).sum();
        let held_up = if item.die == read.die { self.service(new) } else { 0 };
        let left = match self.dies[item.die as usize] {
            Doing::Nothing => 0,
            Doing::Sensing { until, .. } => until - self.now + self.times.transfer,
            Doing::Holding { .. } => self.times.transfer,
            Doing::Other { until, .. } => until - self.now,
        };
        // A queue that is too long is not simulated.
        let estimate = if self.queue.len() > 256 { Estimate::Die } else { self.rule.estimate };
        match estimate {
            Estimate::Die => self.now - item.at + left + before + held_up + self.service(other),
            Estimate::LookAhead => self.end_of(other) - item.at + held_up,
        }
    }

    /// When the waiting commands would complete if nothing more arrived.
    fn end_of(&self, other: usize) -> u64 {
        let mut ahead = self.clone();
        ahead.dispatch();
        while let Some(now) = ahead.next_moment() {
            ahead.now = now;
            ahead.finish();
            ahead.dispatch();
        }
        ahead.served[other].end
    }

    fn transfer(&self, item: usize) -> u64 {
        if self.load[item].kind == Kind::Erase { 0 } else { self.times.transfer }
    }

    fn service(&self, item: usize) -> u64 {
        self.transfer(item)
            + match self.load[item].kind {
                Kind::Read => self.times.sense,
                Kind::Erase => self.times.erase,
                Kind::Program | Kind::Copyback => self.times.program,
            }
    }

    /// Idle dies start what needs no bus; a free bus serves the first to come.
    fn dispatch(&mut self) {
        loop {
            let mut wishes: Vec<(usize, u32)> = Vec::new();
            for die in 0..self.dies.len() as u32 {
                match self.dies[die as usize] {
                    Doing::Holding { what } => wishes.push((what, die)),
                    Doing::Nothing => {
                        let mut waiting = self.queue.iter();
                        let first = waiting.find(|&&one| self.load[one].die == die).copied();
                        let Some(first) = first else { continue };
                        let needs_bus = self.load[first].kind == Kind::Program;
                        match needs_bus || self.times.waiting_commands {
                            true => wishes.push((first, die)),
                            false => self.begin(die, first),
                        }
                    }
                    _ => {}
                }
            }
            if self.bus_free_at > self.now {
                return;
            }
            let Some(&(what, die)) = wishes.iter().min() else { return };
            match self.dies[die as usize] {
                Doing::Holding { .. } => {
                    self.bus_free_at = self.now + self.times.transfer;
                    self.dies[die as usize] = Doing::Other { until: self.bus_free_at, what };
                }
                _ => {
                    if self.load[what].kind == Kind::Program {
                        self.bus_free_at = self.now + self.times.transfer;
                    }
                    self.begin(die, what);
                }
            }
        }
    }

    fn begin(&mut self, die: u32, what: usize) {
        self.queue.retain(|&one| one != what);
        self.served[what].start = self.now;
        self.dies[die as usize] = match self.load[what].kind {
            Kind::Read => Doing::Sensing { until: self.now + self.times.sense, what },
            _ => Doing::Other { until: self.now + self.service(what), what },
        };
    }
}
