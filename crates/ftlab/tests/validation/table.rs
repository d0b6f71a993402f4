//! A small flash that takes commands at given times, for timelines drawn by hand.
//!
//! Sensing takes 50 us, programming 600 us, erasing 3 ms; the bus moves a flash page in 10 us unless a
//! test says otherwise. All times are in microseconds.

use ftlab::nand::{Abilities, PauseCost};
use ftlab::scheduler::{
    Command, CommandId, DeadlineOptions, Estimate, Fifo, Flash, FlashSetup, Kind, Origin, Pausable,
    PauseRule, ReadFirstBoundedOptions, Scheduler, Scope, ServiceId, Spent,
};
use ftlab::units::{Nanos, Ppn, SimTime};

use crate::common::{Spec, ns};

/// Priorities by source.
pub(crate) const DEADLINES: DeadlineOptions =
    DeadlineOptions { host_read: Nanos::ZERO, host_write: Nanos(2_000_000), gc: Nanos(8_000_000) };
/// How much reads may delay others.
pub(crate) const BOUNDS: ReadFirstBoundedOptions = ReadFirstBoundedOptions {
    write_bound: Some(Nanos(2_000_000)),
    gc_bound: Some(Nanos(8_000_000)),
    scope: Scope::Channel,
    estimate: Estimate::Die,
};

pub(crate) const US: u64 = 1_000;
const PAGES_PER_BLOCK: u32 = 12;
const BLOCKS_PER_PLANE: u32 = 16;

/// The flash parameters of a timeline.
#[derive(Clone)]
pub(crate) struct Set {
    pub planes: u32,
    pub dies: u32,
    pub abilities: Abilities,
    pub pause: PauseRule,
    pub command: Option<Nanos>,
    pub page: Nanos,
    pub scheduler: Scheduler,
    pub data_out_first: bool,
}

pub(crate) fn plain() -> Set {
    Set {
        planes: 1,
        dies: 1,
        abilities: Abilities::NONE,
        pause: PauseRule::NEVER,
        command: None,
        page: Nanos(10 * US),
        scheduler: Scheduler::Fifo(Fifo),
        data_out_first: false,
    }
}

pub(crate) fn suspending(which: Pausable, times: u32) -> Set {
    let pause = PauseCost {
        program: Nanos(20 * US),
        erase: Nanos(100 * US),
        resume: Nanos(5 * US),
        ..PauseCost::default()
    };
    Set {
        abilities: Abilities { pause, ..Abilities::NONE },
        pause: PauseRule { which, times, reads: 16, ..PauseRule::NEVER },
        ..plain()
    }
}

/// A submitted command.
struct Put {
    id: CommandId,
    name: &'static str,
    at: u64,
}

/// A command that comes when another one completes.
pub(crate) struct Answer {
    pub to: &'static str,
    pub name: &'static str,
    pub kind: Kind,
    pub page: Ppn,
}

/// A flash, the commands submitted to it, and when each completed.
pub(crate) struct Table {
    pub flash: Flash,
    waiting: Vec<Put>,
    done: Vec<(&'static str, u64)>,
    /// Commands that come when another one completes.
    pub answers: Vec<Answer>,
    /// The time breakdown of each.
    pub spent: Vec<(&'static str, Spent)>,
}

/// Page `page` of block `block` of plane `plane`, planes counted over all dies.
pub(crate) fn at(plane: u32, block: u32, page: u32) -> Ppn {
    Ppn::new((plane * BLOCKS_PER_PLANE + block) * PAGES_PER_BLOCK + page)
}

impl Table {
    pub fn new(set: Set) -> Table {
        let spec = Spec::small()
            .set("nand.dies_per_chip", set.dies)
            .set("nand.planes_per_die", set.planes)
            .set("nand.codeword", "4KiB")
            .set("nand.bus.policy", "page-time")
            .set("nand.bus.page", ns(set.page))
            .set("nand.bus.command", set.command.map_or("none".to_owned(), ns));
        let setup = FlashSetup {
            abilities: set.abilities,
            pause: set.pause,
            scheduler: set.scheduler,
            data_out_first: set.data_out_first,
            ..spec.setup().flash
        };
        Table {
            flash: Flash::new(setup, ()),
            waiting: Vec::new(),
            done: Vec::new(),
            answers: Vec::new(),
            spent: Vec::new(),
        }
    }

    /// A host command at a given time.
    pub fn put(&mut self, moment: u64, name: &'static str, kind: Kind, page: Ppn) -> &mut Table {
        self.put_as(
            moment,
            name,
            Command::new(kind, Origin::Host, ServiceId::WRITES.owner(0), page),
        )
    }

    pub fn put_as(&mut self, moment: u64, name: &'static str, mut command: Command) -> &mut Table {
        self.run_until(moment * US);
        command.codewords = 1;
        self.submit(moment * US, name, command);
        self
    }

    fn submit(&mut self, moment: u64, name: &'static str, mut command: Command) {
        command.source = (command.kind == Kind::Copyback).then_some(command.page);
        let id = self.flash.prepare(command);
        self.waiting.push(Put { id, name, at: moment });
        self.flash.submit(SimTime(moment), id);
    }

    fn answer(&mut self, now: SimTime, to: &'static str) {
        for Answer { name, kind, page, .. } in
            self.answers.extract_if(.., |one| one.to == to).collect::<Vec<_>>()
        {
            let mut command = Command::new(kind, Origin::Host, ServiceId::WRITES.owner(0), page);
            command.codewords = 1;
            self.submit(now.0, name, command);
        }
    }

    fn run_until(&mut self, limit: u64) {
        while self.flash.next_time().is_some_and(|next| next.0 <= limit) {
            let Some((now, first)) = self.flash.step() else { continue };
            let die = self.flash.die_of(first);
            let mut next = Some(first);
            while let Some(id) = next {
                next = self.flash.next_completed(id);
                let place = self.waiting.iter().position(|put| put.id == id).unwrap();
                let Put { name, at, .. } = self.waiting.remove(place);
                let spent = self.flash.command(id).spent;
                assert_eq!(spent.total().0, now.0 - at, "{name} does not account for its time");
                self.spent.push((name, spent));
                self.done.push((name, now.0));
                self.flash.release(id);
                self.answer(now, name);
            }
            self.flash.go_on(now, die);
        }
    }

    /// When each command completed, in order of completion.
    pub fn done(&mut self) -> Vec<(&'static str, u64)> {
        self.run_until(u64::MAX);
        assert!(self.waiting.is_empty(), "a command never completed");
        assert!(self.done.iter().all(|(_, at)| at % US == 0), "{:?}", self.done);
        self.done.iter().map(|&(name, at)| (name, at / US)).collect()
    }
}
