//! Watches every die and every bus and rejects what flash can't do: two things at once, a transfer
//! before the data is there, a program out of order or over old data, a read of an erased page; and
//! what the order of commands forbids.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use ftlab::device::DeviceSetup;
use ftlab::ftl::slc::SlcCache;
use ftlab::nand::MultiPlane;
use ftlab::nand::timing::Bus;
use ftlab::scheduler::{Activity, CommandId, Kind, Origin, Scheduler};
use ftlab::shape::FlashGeometry;
use ftlab::units::{BlockId, Nanos, Ppn, SimTime};
use ftlab_torture::{Listens, Onlooker};

use crate::common::ONE_BIT;

/// What a die is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum State {
    #[default]
    Idle,
    /// Sensed; held until the bus has taken it.
    Holds(Activity),
    /// The cells take over when this transfer and those of its row are done.
    TakesIn(Activity),
}

#[derive(Clone, Debug, Default)]
struct DieLog {
    state: State,
    /// The transfers of further pages of the row being transferred, then of those whose program is still
    /// to be reported.
    row: VecDeque<Activity>,
    free_at: SimTime,
    busy: Nanos,
    /// Waiting host reads, by flash page.
    reads: VecDeque<(u32, CommandId)>,
    /// Reported arrivals: flash pages of host reads and of programs.
    arrived: VecDeque<(Kind, u32)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct BusLog {
    free_at: SimTime,
    busy: Nanos,
}

/// The logs of all dies and buses.
#[derive(Debug)]
pub struct Log {
    geometry: FlashGeometry,
    prices: Bus,
    multi_plane: MultiPlane,
    scheduler: Scheduler,
    /// Whether copies may be held back after they were reported, so that others go before them.
    preemptible: bool,
    /// The time of the last report.
    now: SimTime,
    dies: Vec<DieLog>,
    buses: Vec<BusLog>,
    /// By block: flash pages programmed since the last erase, and when the last one is done.
    programmed: Vec<(u32, SimTime)>,
    /// By block: whether it was partly filled when another device took over, which may have no stream
    /// that continues to fill it.
    left_over: Vec<bool>,
    /// By block: whether it is in one-bit mode, as the times of its cells show.
    slc: Vec<bool>,
    /// Flash pages of such a block; none on a device without.
    slc_pages: Option<u32>,
    /// Whether pages of a block may be skipped, and blocks erased that are not full.
    has_log: bool,
    /// Whether ageing blocks are closed early.
    seals: bool,
    /// Activities seen.
    pub seen: u64,
}

/// A log that the probe and the contents of a device share with the test.
pub type Watch = Rc<RefCell<Log>>;

impl Onlooker for Log {
    fn read_planned(&mut self, at: Ppn, command: CommandId) {
        let (die, page) = (self.die_of(at), self.geometry.flash_page_of(at));
        // A command is submitted only once its last page is known.
        if self.dies[die].reads.back() == Some(&(page, command)) {
            return;
        }
        self.dies[die].reads.push_back((page, command));
        self.dies[die].arrived.push_back((Kind::Read, page));
    }

    /// A page is about to be submitted for programming; the first of its flash page counts.
    fn issued(&mut self, to: Ppn) {
        if to.get().is_multiple_of(self.geometry.units_per_page()) {
            let die = self.die_of(to);
            let page = self.geometry.flash_page_of(to);
            self.dies[die].arrived.push_back((Kind::Program, page));
        }
    }
}

/// The probe that writes the log.
#[derive(Clone, Debug)]
pub struct Watcher(pub Watch);

impl Log {
    pub fn new(setup: &DeviceSetup) -> Watch {
        let geometry = setup.flash.geometry.clone();
        let slc = &setup.ftl.slc;
        Rc::new(RefCell::new(Log {
            prices: setup.flash.bus.clone(),
            multi_plane: setup.flash.abilities.multi_plane,
            scheduler: setup.flash.scheduler.clone(),
            preemptible: setup.ftl.triggers.preemptible,
            now: SimTime::ZERO,
            dies: vec![DieLog::default(); geometry.dies() as usize],
            buses: vec![BusLog::default(); geometry.channels() as usize],
            programmed: vec![(0, SimTime::ZERO); geometry.blocks() as usize],
            left_over: vec![false; geometry.blocks() as usize],
            slc: vec![false; geometry.blocks() as usize],
            slc_pages: (!matches!(slc.policy, SlcCache::None(_)))
                .then(|| geometry.shape().pages_per_block / slc.bits),
            has_log: setup.merger.is_some(),
            seals: setup.ftl.wear.refresh.is_some(),
            geometry,
            seen: 0,
        }))
    }

    /// These places hold data from the start.
    pub fn holds(&mut self, places: impl Iterator<Item = Ppn>) {
        for at in places {
            let page = self.geometry.flash_page_in_block(at);
            let (pages, _) = &mut self.programmed[self.geometry.block_of(at).at()];
            *pages = (*pages).max(page + 1);
        }
    }

    /// Records that a page of a block is programmed until the end of `a`.
    fn programs(&mut self, a: &Activity) {
        let (pages, done) = &mut self.programmed[self.geometry.block_of(a.page).at()];
        let page = self.geometry.flash_page_in_block(a.page);
        let in_order = page == *pages || self.has_log && page > *pages;
        assert!(in_order, "a program out of order, or over old data: {a:?}");
        (*pages, *done) = (page + 1, a.until);
    }

    /// Another device continues with the same flash, its own rules, and its own accounts of time.
    pub fn go_on(&mut self, setup: &DeviceSetup) {
        self.prices = setup.flash.bus.clone();
        self.scheduler = setup.flash.scheduler.clone();
        self.preemptible = setup.ftl.triggers.preemptible;
        let whole = self.geometry.shape().pages_per_block;
        let partly = self.programmed.iter().map(|&(pages, _)| pages > 0 && pages < whole);
        self.left_over = partly.collect();
        self.dies.iter_mut().for_each(|die| die.busy = Nanos::ZERO);
        self.buses.iter_mut().for_each(|bus| bus.busy = Nanos::ZERO);
    }

    fn die_of(&self, page: Ppn) -> usize {
        self.geometry.die_of(self.geometry.plane_of(self.geometry.block_of(page))).at()
    }

    /// Whether the copy at `at` has been programmed by `now`, and not erased since.
    pub fn is_programmed(&self, at: Ppn, now: SimTime) -> bool {
        let (pages, done) = self.programmed[self.geometry.block_of(at).at()];
        let page = self.geometry.flash_page_in_block(at);
        page + 1 < pages || (page + 1 == pages && done <= now)
    }

    /// Time that each die was busy with everything reported.
    pub fn die_busy(&self) -> impl Iterator<Item = Nanos> {
        self.dies.iter().map(|die| die.busy)
    }

    /// Time that each bus was busy with everything reported.
    pub fn bus_busy(&self) -> impl Iterator<Item = Nanos> {
        self.buses.iter().map(|bus| bus.busy)
    }

    /// Asserts that nothing waits and nothing is half done.
    pub fn assert_at_rest(&self) {
        for die in &self.dies {
            assert_eq!(die.state, State::Idle);
            assert!(die.row.is_empty(), "{die:?}");
            assert!(die.reads.is_empty() && die.arrived.is_empty(), "still waiting: {die:?}");
        }
    }

    fn at(&mut self, moment: SimTime) {
        assert!(moment >= self.now, "something begins at {moment}, but it is {} already", self.now);
        self.now = moment;
        self.seen += 1;
    }

    /// A die takes its next command.
    fn begins(&mut self, a: &Activity, at: SimTime) {
        let flash_page = self.geometry.flash_page_of(a.page);
        let die = &mut self.dies[a.die.at()];
        assert_eq!(die.state, State::Idle, "two things on one die: {a:?}");
        assert!(die.free_at <= at, "{a:?} begins on a die that is busy until {}", die.free_at);
        let host_read = a.kind == Kind::Read && a.origin == Origin::Host;
        if host_read {
            let first = die.reads.pop_front();
            assert_eq!(first.map(|(page, _)| page), Some(flash_page), "reads overtake: {a:?}");
        } else if matches!(self.scheduler, Scheduler::ReadFirst(_)) {
            assert!(die.reads.is_empty(), "{a:?} goes before host reads {:?}", die.reads);
        }
        // Reads of old copies and of collection, and erases, are not reported when they arrive.
        // A copyback is reported as the program of its copies.
        let told = if a.kind == Kind::Copyback { Kind::Program } else { a.kind };
        if host_read || told == Kind::Program {
            let place = die.arrived.iter().position(|&known| known == (told, flash_page));
            let place = place.expect("what a die does has arrived");
            let known = die.arrived.remove(place);
            let in_order = matches!(self.scheduler, Scheduler::Fifo(_));
            let overtakes = in_order && place > 0 && !self.preemptible;
            assert!(!overtakes, "{known:?} overtakes {:?}", die.arrived);
        }
    }

    /// A block is used in the mode in which it was programmed; `slc` is the time of an operation in
    /// one-bit mode.
    fn check_mode(&self, a: &Activity, slc: Nanos) {
        let is_slc = self.slc[self.geometry.block_of(a.page).at()];
        if self.slc_pages.is_some() {
            assert_eq!(a.until - a.from == slc, is_slc, "in the wrong mode: {a:?}");
        }
    }

    fn read_begins(&mut self, a: &Activity) {
        self.at(a.from);
        self.begins(a, a.from);
        let (pages, done) = self.programmed[self.geometry.block_of(a.page).at()];
        let page = self.geometry.flash_page_in_block(a.page);
        assert!(page < pages && done <= a.from, "an erased page is read: {a:?}");
        self.check_mode(a, ONE_BIT.read);
        self.dies[a.die.at()].state = State::Holds(*a);
    }

    fn program_begins(&mut self, a: &Activity) {
        let block: BlockId = self.geometry.block_of(a.page);
        let (pages, _) = self.programmed[block.at()];
        self.programs(a);
        if pages == 0 && self.slc_pages.is_some() {
            self.slc[block.at()] = a.until - a.from == ONE_BIT.program;
        }
        self.check_mode(a, ONE_BIT.program);
        let die = &mut self.dies[a.die.at()];
        let transfer = match std::mem::take(&mut die.state) {
            State::TakesIn(transfer) => transfer,
            _ => {
                let transfer = die.row.pop_front();
                let transfer = transfer.unwrap_or_else(|| panic!("a program without data: {a:?}"));
                assert_eq!((transfer.kind, transfer.page), (a.kind, a.page), "other data was sent");
                assert_eq!(die.free_at, a.until, "a row takes its pages the same time: {a:?}");
                return;
            }
        };
        assert_eq!((transfer.kind, transfer.page), (a.kind, a.page), "other data was sent");
        let last = die.row.back().unwrap_or(&transfer);
        assert_eq!(last.until, a.from, "the cells begin when the data is there");
        die.free_at = a.until;
        die.busy += a.until - transfer.from;
    }

    fn erase_begins(&mut self, a: &Activity) {
        self.at(a.from);
        self.begins(a, a.from);
        let block = self.geometry.block_of(a.page);
        let slc_pages = self.slc_pages.filter(|_| self.slc[block.at()]);
        let pages = slc_pages.unwrap_or(self.geometry.shape().pages_per_block);
        let whole = self.programmed[block.at()].0 == pages;
        self.check_mode(a, ONE_BIT.erase);
        assert!(
            whole || self.left_over[block.at()] || self.has_log || self.seals,
            "a block is erased before it is full: {a:?}"
        );
        self.left_over[block.at()] = false;
        self.programmed[block.at()] = (0, a.until);
        self.slc[block.at()] = false;
        let die = &mut self.dies[a.die.at()];
        die.free_at = a.until;
        die.busy += a.until - a.from;
    }

    fn copyback_begins(&mut self, a: &Activity) {
        self.at(a.from);
        self.begins(a, a.from);
        self.programs(a);
        let die = &mut self.dies[a.die.at()];
        die.free_at = a.until;
        die.busy += a.until - a.from;
    }

    /// A further page of a row is transferred: after the pause between two planes, to another plane.
    fn joins(&mut self, first: &Activity, a: &Activity) {
        let (channel, _) = self.geometry.channel_of(a.die);
        let bus = &mut self.buses[channel.at()];
        assert_eq!(a.from, bus.free_at + self.multi_plane.gap, "{a:?}");
        bus.busy += a.until - bus.free_at;
        bus.free_at = a.until;
        let whole = self.prices.transfer(self.prices.page_codewords());
        assert_eq!(a.until - a.from, whole, "a program takes a whole flash page");
        let plane = |page| self.geometry.plane_of(self.geometry.block_of(page));
        let die = &mut self.dies[a.die.at()];
        for other in std::iter::once(first).chain(&die.row) {
            assert_ne!(plane(other.page), plane(a.page), "two programs on a plane: {a:?}");
        }
        let fits = self.multi_plane.fits(&self.geometry, a.kind, first.page, a.page);
        assert!(fits && self.multi_plane.program && a.kind == Kind::Program, "{first:?} and {a:?}");
        let arrived = (Kind::Program, self.geometry.flash_page_of(a.page));
        let place = die.arrived.iter().position(|&known| known == arrived);
        die.arrived.remove(place.expect("what a die does has arrived"));
        die.row.push_back(*a);
    }

    fn transfers(&mut self, a: &Activity) {
        if let State::TakesIn(first) = self.dies[a.die.at()].state {
            return self.joins(&first, a);
        }
        self.at(a.from);
        let (channel, _) = self.geometry.channel_of(a.die);
        assert_eq!(channel, a.channel);
        let bus = &mut self.buses[channel.at()];
        assert!(bus.free_at <= a.from, "two transfers on one bus: {a:?}");
        bus.free_at = a.until;
        bus.busy += a.until - a.from;
        match std::mem::take(&mut self.dies[a.die.at()].state) {
            State::Holds(sensed) => {
                assert_eq!((sensed.kind, sensed.page), (a.kind, a.page), "other data is sent");
                assert!(sensed.until <= a.from, "{a:?} is sent before it is sensed");
                let die = &mut self.dies[a.die.at()];
                die.free_at = a.until;
                die.busy += a.until - sensed.from;
            }
            State::Idle => {
                assert_eq!(a.kind, Kind::Program, "a transfer for a die that does nothing: {a:?}");
                self.begins(a, a.from);
                let whole = self.prices.transfer(self.prices.page_codewords());
                assert_eq!(a.until - a.from, whole, "a program takes a whole flash page");
                self.dies[a.die.at()].state = State::TakesIn(*a);
            }
            State::TakesIn(_) => unreachable!("it joins"),
        }
    }
}

impl Listens for Watcher {
    fn cell(&mut self, activity: &Activity) {
        let mut log = self.0.borrow_mut();
        match activity.kind {
            Kind::Read => log.read_begins(activity),
            Kind::Program => log.program_begins(activity),
            Kind::Erase => log.erase_begins(activity),
            Kind::Copyback => log.copyback_begins(activity),
        }
    }

    fn bus(&mut self, activity: &Activity) {
        self.0.borrow_mut().transfers(activity);
    }
}
