//! The laws of flash: a die's cells do one operation at a time, its register holds one page of each
//! plane, and a bus moves one thing at a time; pages are programmed in order, once after each erase,
//! and are read only after they are programmed. This checker follows the spans that the flash reports
//! and panics at any violation.

use std::collections::{BTreeMap, VecDeque};

mod apart;
mod classes;

use classes::Classes;

use super::command::{Command, CommandId, Origin};
use super::probe::Activity;
use crate::nand::timing;
use crate::nand::{Abilities, CacheOps, CellMode, Kind, MultiPlane, PauseCost, Programmed};
use crate::scheduler::ServiceId;
use crate::shape::FlashGeometry;
use crate::units::{BlockId, DieId, Nanos, Ppn, SimTime};

/// What a bus is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BusUse {
    /// Data that was sensed leaves the register.
    Send,
    /// A command, its addresses, and the data of a program go to the die.
    Begin,
}

/// A use of a bus, and the time that it must take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OnBus {
    /// The use.
    pub what: BusUse,
    /// The time that it must take.
    pub price: Nanos,
    /// Whether it opens an operation; others that share it follow.
    pub first: bool,
}

/// An operation of the cells.
#[derive(Clone, Debug)]
struct Operation {
    kind: Kind,
    from: SimTime,
    until: SimTime,
    pages: Vec<Ppn>,
}

/// Pages that were sensed together and have not all been sent.
#[derive(Clone, Debug)]
struct Sensed {
    until: SimTime,
    pages: Vec<Ppn>,
    /// When the last of them has left, if that is known.
    sent: Option<SimTime>,
}

#[derive(Clone, Debug, Default)]
struct DieRecord {
    cells: Option<Operation>,
    /// When the cells are free.
    free_at: SimTime,
    /// The operation suspended for reads, and the time that it has left.
    paused: Option<(Operation, Nanos)>,
    /// What is in the register, and what waits for it.
    sensed: VecDeque<Sensed>,
    /// Pages to be programmed next, and when their data has arrived.
    loaded: Vec<(Ppn, SimTime)>,
    /// Commands without data that have been sent, and when they have arrived.
    ordered: Vec<(Ppn, SimTime)>,
    /// Whether it is known to be dead.
    is_dead: bool,
}

impl DieRecord {
    /// Whether nothing is under way on the die.
    fn is_done(&self, now: SimTime) -> bool {
        let sent = self.sensed.iter().all(|set| set.sent.is_some_and(|sent| sent <= now));
        let done = self.paused.is_none() && self.loaded.is_empty() && self.ordered.is_empty();
        sent && done && self.free_at <= now
    }

    /// Whether any sensed data could have been sent before `now` and was not. What a cache read
    /// senses enters the register when the page before it has left.
    fn holds_data_before(&self, now: SimTime) -> bool {
        let mut register_free = SimTime::ZERO;
        for set in &self.sensed {
            let Some(sent) = set.sent else { return set.until.max(register_free) < now };
            register_free = sent;
        }
        false
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Bus {
    free_at: SimTime,
    busy: Nanos,
}

/// A block, in flash pages.
#[derive(Clone, Copy, Debug, Default)]
struct Block {
    programmed: u32,
    /// When the last of them is done.
    done_at: SimTime,
    /// The mode of its cells.
    mode: CellMode,
    erases: u32,
}

/// What an image says about a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HeldBlock {
    /// Number of programmed flash pages.
    pub pages: u32,
    /// The mode of its cells, if any are programmed.
    pub mode: CellMode,
    /// How often it was erased.
    pub erases: u32,
}

/// Pages that are programmed in place.
#[derive(Clone, Debug, Default)]
struct InPlace {
    /// By page: the arrival numbers of the commands that wait for it.
    waiting: BTreeMap<u32, VecDeque<u64>>,
    /// By page: when its last program is done.
    done_at: BTreeMap<u32, SimTime>,
}

impl InPlace {
    /// Checks that accesses to a page keep their order and that no page is used while it is
    /// programmed.
    fn begins(&mut self, a: &Activity, command: &Command) {
        let page = a.page.get();
        let first = self.waiting.get_mut(&page).and_then(VecDeque::pop_front);
        assert_eq!(first, Some(command.arrival()), "accesses to a page lose their order: {a:?}");
        let done = self.done_at.get(&page).is_none_or(|&done| done <= a.from);
        assert!(done, "a page is used while it is programmed: {a:?}");
    }
}

/// The laws, and what the flash has been seen to do.
#[derive(Clone, Debug)]
pub(crate) struct FlashLaws {
    geometry: FlashGeometry,
    cache: CacheOps,
    multi_plane: MultiPlane,
    pause: PauseCost,
    one_die_at_a_time: bool,
    commands_take_the_bus: bool,
    data_out_first: bool,
    /// The dies, and behind them the planes that sense on their own.
    dies: Vec<DieRecord>,
    buses: Vec<Bus>,
    blocks: Vec<Block>,
    /// Only if pages are programmed in place. Then the laws of blocks do not apply.
    in_place: Option<InPlace>,
    /// Whether pages of a block may be skipped. They cannot be programmed later.
    leaves_pages_out: bool,
    /// The cost classes of flash pages.
    classes: Classes,
    /// By command in flight: when it came, and its [`Spent`](super::Spent) time until then.
    commands: Vec<(SimTime, Nanos)>,
}

impl FlashLaws {
    /// Returns the laws of an idle, erased flash.
    pub(crate) fn new(
        geometry: &FlashGeometry,
        abilities: &Abilities,
        bus: &timing::Bus,
    ) -> FlashLaws {
        FlashLaws {
            cache: abilities.cache,
            multi_plane: abilities.multi_plane,
            pause: abilities.pause,
            one_die_at_a_time: abilities.one_die_at_a_time,
            commands_take_the_bus: bus.carries_commands(),
            data_out_first: false,
            dies: vec![DieRecord::default(); apart::records(geometry, &abilities.multi_plane)],
            buses: vec![Bus::default(); geometry.channels() as usize],
            blocks: vec![Block::default(); geometry.blocks() as usize],
            in_place: None,
            leaves_pages_out: false,
            classes: Classes::default(),
            commands: Vec::new(),
            geometry: geometry.clone(),
        }
    }

    /// Lets pages be programmed in any order and over old data, and read before they are programmed.
    pub(crate) fn program_in_place(&mut self) {
        self.in_place = Some(InPlace::default());
    }

    /// Lets pages of a block be skipped.
    pub(crate) fn leave_pages_out(&mut self) {
        self.leaves_pages_out = true;
    }

    /// Requires that a bus moves out what dies hold before anything begins on it.
    pub(crate) fn move_data_out_first(&mut self) {
        self.data_out_first = true;
    }

    /// Sets the state of a block from an image.
    pub(crate) fn holds(&mut self, block: BlockId, held: HeldBlock) {
        let HeldBlock { pages: programmed, mode, erases } = held;
        self.blocks[block.at()] = Block { programmed, done_at: SimTime::ZERO, mode, erases };
    }

    /// Requires that the effort of a read follows from the class of its page alone.
    pub(crate) fn classes_decide_reads(&mut self) {
        self.classes.decide_reads = true;
    }

    /// Sets the classes of flash pages from an image.
    pub(crate) fn take_up_classes(&mut self, programmed: &Programmed) {
        self.classes.take_up(programmed, self.flash_pages());
    }

    /// Checks, at rest, that the flash's view of its pages agrees with what was done to them.
    pub(crate) fn check_classes(&self, programmed: &Programmed) {
        self.classes.agree(programmed, self.flash_pages());
    }

    fn flash_pages(&self) -> u32 {
        self.geometry.physical_pages() / self.geometry.units_per_page()
    }

    /// Records or checks the cost class of the page.
    fn note_class(&mut self, a: &Activity, command: &Command) {
        let flash_page = self.geometry.flash_page_of(a.page);
        match a.kind {
            Kind::Read => self.classes.reads(flash_page, command.found.effort),
            Kind::Program | Kind::Copyback => self.classes.programs(flash_page, command.class()),
            Kind::Erase => {
                let block = self.geometry.block_of(a.page);
                self.classes.erases(self.geometry.flash_pages_of(block));
            }
        }
    }

    /// What has been done to a block.
    pub(crate) fn held(&self, block: BlockId) -> HeldBlock {
        let Block { programmed: pages, mode, erases, .. } = self.blocks[block.at()];
        HeldBlock { pages, mode, erases }
    }

    /// Records the arrival of a command at its die, which has `load` others that wait or run.
    pub(crate) fn submitted(&mut self, id: CommandId, now: SimTime, command: &Command, load: u32) {
        // What stripes add goes with their pages, to other dies.
        let cuts_in = command.origin == Origin::Rewrite
            && command.owner.service == ServiceId::REWRITER
            && load > 0;
        assert!(
            !cuts_in,
            "a rewrite comes to a die that has {load} other things to do: {command:?}"
        );
        if id.at() >= self.commands.len() {
            self.commands.resize(id.at() + 1, Default::default());
        }
        self.commands[id.at()] = (now, command.spent.total());
        if let Some(pages) = &mut self.in_place {
            let arrival = command.arrival();
            pages.waiting.entry(command.page.get()).or_default().push_back(arrival);
        }
    }

    /// Checks that the account of a command that is done covers every moment since its arrival
    /// exactly once.
    pub(crate) fn done(&self, id: CommandId, now: SimTime, command: &Command) {
        let (came, before) = self.commands[id.at()];
        let spent = Nanos(command.spent.total().0 - before.0);
        assert_eq!(now - came, spent, "time is lost between {came} and {now}: {command:?}");
    }

    /// Checks a span in which the cells of a die are busy; `first` opens an operation, which others
    /// share.
    pub(crate) fn cell(&mut self, a: &Activity, command: &Command, first: bool) {
        let (source, mode) = (command.source, command.mode);
        let of_system = a.origin == Origin::System;
        if !of_system {
            self.note_class(a, command);
        }
        assert!(a.from <= a.until, "an operation ends before it begins: {a:?}");
        let resumed = self.goes_on(a);
        self.is_alone_on_chip(a);
        match first {
            true => self.operation_begins(a, resumed),
            false => self.operation_is_shared(a),
        }
        if self.commands_take_the_bus && !resumed && a.kind != Kind::Program {
            let record = self.record_of(a);
            let ordered = &mut self.dies[record].ordered;
            let place = ordered.iter().position(|&(page, at)| page == a.page && at <= a.from);
            ordered.swap_remove(place.unwrap_or_else(|| panic!("the die was not told to: {a:?}")));
        }
        if let Some(pages) = &mut self.in_place {
            if !resumed {
                pages.begins(a, command);
            }
            return self.uses_in_place(a, resumed);
        }
        match a.kind {
            // Its pages are not those of the FTL; their addresses only determine their cost.
            Kind::Program if of_system && !resumed => self.takes_data(a),
            _ if of_system => {}
            Kind::Read => self.reads(a.page, mode, a),
            Kind::Program => self.programs(a, mode, resumed),
            Kind::Erase => self.erases(a, mode, resumed),
            Kind::Copyback => {
                self.reads(source.expect("a copyback has a source"), mode, a);
                self.programs(a, CellMode::Native, resumed);
            }
        }
    }

    /// Whether this resumes the operation that the die suspended.
    fn goes_on(&self, a: &Activity) -> bool {
        let die = &self.dies[self.record_of(a)];
        let same = |known: &Operation| known.kind == a.kind && known.pages.contains(&a.page);
        die.paused.as_ref().is_some_and(|(left, _)| same(left))
    }

    /// Checks that the other dies of a chip are done with everything, if it does one thing at a time.
    fn is_alone_on_chip(&self, a: &Activity) {
        if !self.one_die_at_a_time {
            return;
        }
        for other in self.geometry.dies_of_chip(a.die).filter(|&other| other != a.die) {
            let die = &self.dies[other.at()];
            assert!(die.is_done(a.from), "{a:?} begins while {other:?} of its chip works: {die:?}");
        }
    }

    fn operation_begins(&mut self, a: &Activity, resumed: bool) {
        self.leaves_planes_apart(a);
        let record = self.record_of(a);
        let die_is_paused = self.dies[a.die.at()].paused.is_some();
        let die = &mut self.dies[record];
        assert!(die.free_at <= a.from, "two operations on one die: {a:?} and {:?}", die.cells);
        die.sensed.retain(|set| set.sent.is_none_or(|sent| sent > a.from));
        let cached = self.cache.read && a.kind == Kind::Read && !die_is_paused;
        let in_register = die.sensed.len();
        assert!(
            in_register <= usize::from(cached),
            "{a:?} begins, but the register is not empty: {:?}",
            die.sensed
        );
        match &die.paused {
            Some((_, left)) if resumed => {
                assert_eq!(a.until - a.from, *left, "{a:?} resumes with a different time left");
            }
            Some(_) => {
                let for_host = a.kind == Kind::Read && a.origin == Origin::Host;
                assert!(for_host, "{a:?} uses a suspension for host reads");
            }
            None => {}
        }
        die.cells =
            Some(Operation { kind: a.kind, from: a.from, until: a.until, pages: vec![a.page] });
        die.free_at = a.until;
        if a.kind == Kind::Read {
            die.sensed.push_back(Sensed { until: a.until, pages: vec![a.page], sent: None });
        }
        self.end_pause_when_whole(a.die);
    }

    fn operation_is_shared(&mut self, a: &Activity) {
        let die = &mut self.dies[a.die.at()];
        let Some(cells) = &mut die.cells else { panic!("{a:?} shares nothing") };
        let same = (cells.kind, cells.from, cells.until) == (a.kind, a.from, a.until);
        assert!(same, "{a:?} does not share {cells:?}");
        let plane = |page| self.geometry.plane_of(self.geometry.block_of(page));
        let apart = cells.pages.iter().all(|&page| plane(page) != plane(a.page));
        let fits = self.multi_plane.allows(a.kind)
            && self.multi_plane.fits(&self.geometry, a.kind, cells.pages[0], a.page);
        assert!(apart && fits, "{a:?} can't share {cells:?}");
        cells.pages.push(a.page);
        if a.kind == Kind::Read
            && let Some(set) = die.sensed.back_mut()
        {
            set.pages.push(a.page);
        }
        self.end_pause_when_whole(a.die);
    }

    /// Ends the suspension when all of its pages go on.
    fn end_pause_when_whole(&mut self, die: DieId) {
        let die = &mut self.dies[die.at()];
        if let (Some((left, _)), Some(cells)) = (&die.paused, &die.cells)
            && left.kind == cells.kind
            && left.pages == cells.pages
        {
            die.paused = None;
        }
    }

    /// A die is known to be dead. What its blocks are told makes no difference any more.
    pub(crate) fn die_dies(&mut self, die: DieId) {
        self.dies[die.at()].is_dead = true;
    }

    fn erases(&mut self, a: &Activity, mode: CellMode, resumed: bool) {
        let is_dead = self.dies[a.die.at()].is_dead;
        let block = &mut self.blocks[self.geometry.block_of(a.page).at()];
        if resumed {
            return;
        }
        let fits = block.programmed == 0 || block.mode == mode || is_dead;
        assert!(fits, "an erase in a mode other than that of {block:?}: {a:?}");
        *block = Block { erases: block.erases + 1, ..Block::default() };
    }

    fn uses_in_place(&mut self, a: &Activity, resumed: bool) {
        let known = matches!(a.kind, Kind::Read | Kind::Program) && a.origin == Origin::Host;
        assert!(known, "a command that does not occur without translation: {a:?}");
        let Some(pages) = self.in_place.as_mut().filter(|_| a.kind == Kind::Program) else {
            return;
        };
        pages.done_at.insert(a.page.get(), a.until);
        if !resumed {
            self.takes_data(a);
        }
    }

    fn takes_data(&mut self, a: &Activity) {
        let loaded = &mut self.dies[a.die.at()].loaded;
        let place = loaded.iter().position(|&(page, at)| page == a.page && at <= a.from);
        loaded.swap_remove(place.unwrap_or_else(|| panic!("programmed without data: {a:?}")));
    }

    fn reads(&self, page: Ppn, mode: CellMode, a: &Activity) {
        let block = self.blocks[self.geometry.block_of(page).at()];
        let at = self.geometry.flash_page_in_block(page);
        let done = at + 1 < block.programmed || block.done_at <= a.from;
        assert!(at < block.programmed && done, "a page is read that is not programmed: {a:?}");
        assert_eq!(mode, block.mode, "a page is read in another mode: {a:?}");
    }

    fn programs(&mut self, a: &Activity, mode: CellMode, resumed: bool) {
        let block = &mut self.blocks[self.geometry.block_of(a.page).at()];
        let at = self.geometry.flash_page_in_block(a.page);
        block.done_at = a.until;
        if resumed {
            assert_eq!(at + 1, block.programmed, "another page resumes: {a:?}");
            return;
        }
        let in_order = at == block.programmed || self.leaves_pages_out && at > block.programmed;
        assert!(in_order, "a page out of order, or over old data: {a:?} on {block:?}");
        if block.programmed == 0 {
            block.mode = mode;
        }
        assert_eq!(mode, block.mode, "a block is filled in two modes: {a:?}");
        block.programmed = at + 1;
        if a.kind == Kind::Program {
            self.takes_data(a);
        }
    }

    /// Checks that the cells may suspend what they do.
    pub(crate) fn pauses(&mut self, a: &Activity, at: SimTime) {
        let die = &mut self.dies[a.die.at()];
        match &mut self.in_place {
            Some(pages) => drop(pages.done_at.insert(a.page.get(), SimTime::FOREVER)),
            None if a.origin == Origin::System => {}
            None => self.blocks[self.geometry.block_of(a.page).at()].done_at = SimTime::FOREVER,
        }
        let Some(cells) = die.cells.take() else {
            let shared = die.paused.as_ref().is_some_and(|(left, _)| left.pages.contains(&a.page));
            return assert!(shared, "nothing to suspend: {a:?}");
        };
        assert!(cells.pages.contains(&a.page), "{a:?} is suspended, but {cells:?} is running");
        assert!(cells.from <= at && at < cells.until, "{cells:?} can't be suspended at {at}");
        let is_erase = cells.kind == Kind::Erase;
        let rest = self.pause.until_pulse_ends(is_erase, at - cells.from);
        assert_eq!(rest, Nanos::ZERO, "{cells:?} is suspended within a pulse at {at}");
        let cost = if is_erase { self.pause.erase } else { self.pause.program };
        die.free_at = at + cost;
        let left = cells.until - at;
        die.paused = Some((cells, left));
    }

    /// Checks a transfer on a bus.
    pub(crate) fn bus(&mut self, a: &Activity, on: &OnBus) {
        let bus = &mut self.buses[a.channel.at()];
        assert_eq!(a.channel, self.geometry.channel_of(a.die).0, "a bus of another channel: {a:?}");
        assert_eq!(a.until - a.from, on.price, "a transfer of another length: {a:?}");
        let gap = if on.first { Nanos::ZERO } else { self.multi_plane.gap };
        let free_at = bus.free_at + gap;
        assert!(free_at <= a.from, "two transfers on one bus, which is free at {free_at}: {a:?}");
        bus.free_at = a.until;
        bus.busy += on.price + gap;
        if on.what == BusUse::Begin {
            self.is_alone_on_chip(a);
            if self.data_out_first && on.first {
                self.nobody_holds_data(a);
            }
        }
        match on.what {
            BusUse::Send => self.sends(a),
            BusUse::Begin => self.begins(a, on.first),
        }
    }

    /// Checks that what begins on a bus passes no data that another die has had to send for a while.
    fn nobody_holds_data(&self, a: &Activity) {
        for place in 0..self.geometry.dies_per_channel() {
            let die = self.geometry.die_on(a.channel, place);
            for record in self.records_of(die).filter(|&record| record != self.record_of(a)) {
                let record = &self.dies[record];
                let holds = record.holds_data_before(a.from);
                assert!(!holds, "{a:?} begins, but {die:?} has data to send: {record:?}");
            }
        }
    }

    fn sends(&mut self, a: &Activity) {
        let record = self.record_of(a);
        let die = &mut self.dies[record];
        let set = die.sensed.iter_mut().find(|set| set.sent.is_none());
        let Some(set) = set else { panic!("nothing to send: {a:?}") };
        let place = set.pages.iter().position(|&page| page == a.page);
        let Some(place) = place.filter(|_| set.until <= a.from) else {
            panic!("{a:?} is sent, but the register holds {set:?}");
        };
        set.pages.swap_remove(place);
        if set.pages.is_empty() {
            set.sent = Some(a.until);
        }
    }

    fn begins(&mut self, a: &Activity, first: bool) {
        self.leaves_planes_apart(a);
        let record = self.record_of(a);
        let die = &mut self.dies[record];
        let in_register = die.sensed.iter().any(|set| set.sent.is_none_or(|sent| sent > a.from));
        if a.kind != Kind::Program {
            let cached = self.cache.read && a.kind == Kind::Read;
            assert!(die.free_at <= a.from && (cached || !in_register), "the die is busy: {a:?}");
            return die.ordered.push((a.page, a.until));
        }
        let cached =
            self.cache.program && die.cells.as_ref().is_some_and(|now| now.kind == Kind::Program);
        assert!(cached || die.free_at <= a.from, "data for a die that is busy: {a:?}");
        assert!(!in_register && die.paused.is_none(), "data for a die in use: {a:?} {die:?}");
        assert!(!first || die.loaded.is_empty(), "the register is full: {a:?}, {:?}", die.loaded);
        die.loaded.push((a.page, a.until));
    }

    /// Checks at rest that everything was finished and that the flash's own accounts of time are
    /// right.
    pub(crate) fn at_rest(&self, now: SimTime, bus_busy: impl Iterator<Item = Nanos>) {
        for die in &self.dies {
            assert!(die.is_done(now), "a die still has work at rest: {die:?}");
        }
        if let Some(pages) = &self.in_place {
            assert!(pages.waiting.values().all(VecDeque::is_empty), "accesses that never began");
        }
        assert!(bus_busy.eq(self.buses.iter().map(|bus| bus.busy)), "the busy time of the buses");
    }
}
