//! Power is cut, and comes back: see [`ftl::recovery`](crate::ftl::recovery) for what is decided then, here for what a cut
//! leaves and how long it takes until the device is ready.
//!
//! Power can be cut at any moment, between two events. What DRAM holds is gone, unless capacitors carry it to flash; a
//! program or an erase that the cells were at is torn; what waited for its turn never happened. The host hears of
//! nothing that was in flight.
//!
//! At power-up the spare areas that recovery looks at are read as flash commands, by all dies at once, each sensed as a
//! page is and moved over the bus as one codeword, in the device's own order of commands. Then pages of the system area
//! are read, and blocks are erased that have to be. The processor that puts it all together is not modelled.

use std::collections::VecDeque;

use super::{Contents, Device, DeviceSetup, assemble_with};
use crate::ftl::recovery::{Found, Left, Plan, Reading};
use crate::host::{Advanced, Host, Op, QueueId, Request};
use crate::image::Damage;
use crate::nand::{Geometry, Kind};
use crate::scheduler::{CellsLeft, Command, Flash, FlashSetup, Origin, Probe, Task};
use crate::units::{DieId, Lba, Nanos, Ppn, SimTime, Tpn};
use crate::verify::{self, Plant};

/// What is left of a device whose power was cut: what is on flash.
#[derive(Clone, Debug)]
pub struct Remains<C> {
    /// When that was. Capacitors may have kept the device up for longer.
    pub at: SimTime,
    /// The bytes on flash.
    pub contents: C,
    /// For how long capacitors kept it up.
    pub hold_up: Nanos,
    left: Left,
    cells: CellsLeft,
    journal_pages: u32,
    /// A bug that is planted stays where it is.
    plant: Plant,
}

/// How a device came up again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// From power-up until it takes commands.
    pub time: Nanos,
    /// For how long capacitors kept it up when power was cut.
    pub hold_up: Nanos,
    /// Spare areas that were read.
    pub spare_reads: u64,
    /// Flash pages of the system area, and of a map that lies on flash, that were read.
    pub system_reads: u64,
    /// Blocks that were erased.
    pub erases: u64,
    /// What was found.
    pub found: Found,
}

/// The flush by which capacitors empty the DRAM: an address that no host gives.
const LAST_FLUSH: Request =
    Request { op: Op::Flush, lba: Lba(u64::MAX), sectors: 0, stream: 0, tag: 0, fua: false };

/// Commands of recovery that wait or run on each plane of a die.
const READS_PER_PLANE: u32 = 2;

impl<P: Probe, C: Contents> Device<P, C> {
    /// Cuts the power, at the present moment.
    ///
    /// # Panics
    /// If the device keeps nothing for recovery (`ftl.recovery.policy = "none"`).
    #[must_use]
    pub fn cut_power(self) -> Remains<C> {
        let mut device = self;
        let at = device.now;
        let hold_up = if device.has_capacitors { device.hold_up() } else { Nanos::ZERO };
        let now = device.now;
        let (programs, half_erased) = device.flash.cut(now);
        let mut torn = programs;
        torn.extend(device.torn_at_once());
        let landed: Vec<Ppn> = device.cycles.landed_at().collect();
        let stale_map: Vec<Tpn> =
            device.translator.iter().flat_map(|translator| translator.being_rewritten()).collect();
        let Device { ftl, mut contents, flash, journal, plant, .. } = device;
        let geometry = flash.geometry().clone();
        contents.lose_power();
        let left = ftl.into_left().map(|mut left| {
            (left.torn, left.landed) = (torn, landed);
            left.half_erased = half_erased;
            left.stale_map.extend(stale_map);
            left.tear(&geometry, &mut contents);
            left
        });
        let left =
            left.expect("ftl.recovery.policy = \"none\": the device keeps nothing for recovery");
        let journal_pages = journal.map_or(0, |journal| journal.pages());
        let cells = flash.into_cells();
        Remains { at, contents, hold_up, left, cells, journal_pages, plant }
    }

    /// Capacitors carry what was acknowledged to flash. Returns how long that takes.
    fn hold_up(&mut self) -> Nanos {
        let since = self.now;
        let queue = QueueId::new(0);
        if verify::ON {
            self.ledger.submitted(since, &LAST_FLUSH);
        }
        if let Some(front) = &mut self.front {
            front.adopt(queue);
        }
        let id = self.intake.admit(since, queue, LAST_FLUSH);
        self.intake.start(id, since);
        self.start(id, &LAST_FLUSH);
        if self.front.is_some() {
            self.fetch();
        }
        let mut done = Vec::new();
        while !done.iter().any(|done: &crate::host::Completion| done.request == LAST_FLUSH) {
            done.clear();
            if self.advance_until(SimTime::FOREVER, &mut done) == Advanced::Idle {
                break;
            }
        }
        self.now - since
    }
}

/// Brings a device up again after a power cut. `setup` is what it was made of, under the same seed.
///
/// # Errors
/// What is on flash contradicts itself, or was left by another device.
pub fn power_up<P: Probe, C: Contents>(
    setup: DeviceSetup,
    probe: P,
    remains: Remains<C>,
) -> Result<(Device<P, C>, Recovered), Damage> {
    let Remains { at, contents, hold_up, left, cells, journal_pages, plant } = remains;
    let scratch = setup.flash.clone();
    let mut device = assemble_with(setup, probe, contents);
    (device.plant, device.ftl.plant, device.flash.plant) = (plant, plant, plant);
    let (found, mut plan) = device.ftl.recover(left)?;
    plan.map_pages += journal_pages;
    device.flash.put_cells(cells);
    let time = time_of(&plan, scratch);
    for &block in &plan.erases {
        let geometry = device.flash.geometry();
        let first = geometry.page_at(block, 0);
        let units = geometry.units_per_block();
        device.contents.erase(first, units);
        device.flash.know_erased(block, device.ftl.blocks().erases(block), at);
    }
    device.now = at + hold_up + time;
    device.plan_patrol();
    if let Some(journal) = &mut device.journal {
        journal.take_up(journal_pages, device.flash.geometry().shape().pages_per_block);
    }
    device.consider_end();
    if verify::ON {
        device.verify_loaded();
    }
    device.rewrite_what_is_due();
    device.ftl.wake_planes();
    device.relieve();
    let recovered = Recovered {
        time,
        hold_up,
        spare_reads: plan.spares.iter().map(|reading| u64::from(reading.pages)).sum(),
        system_reads: plan.map_pages.into(),
        erases: plan.erases.len() as u64,
        found,
    };
    Ok((device, recovered))
}

/// How long a flash that does nothing else takes to read and erase all that.
fn time_of(plan: &Plan, setup: FlashSetup) -> Nanos {
    let geometry = setup.geometry.clone();
    let mut flash = Flash::new(setup, ());
    flash.laws = None;
    let scanned = run(&mut flash, SimTime::ZERO, by_die(&geometry, plan));
    let of_map = run(&mut flash, scanned, system_reads(&geometry, plan.map_pages));
    let erases = plan.erases.iter().map(|&block| geometry.page_at(block, 0));
    let mut by_die = vec![VecDeque::new(); geometry.dies() as usize];
    if plan.marks_void {
        by_die[0].push_back(Job::Mark);
    }
    for first in erases {
        by_die[geometry.die_of_page(first).at()].push_back(Job::Erase(first));
    }
    run(&mut flash, of_map, by_die) - SimTime::ZERO
}

/// Something that a die does for recovery.
#[derive(Clone, Copy, Debug)]
enum Job {
    /// Spare areas, one after the other.
    Spares(Reading),
    /// A whole flash page.
    Page(Ppn),
    Erase(Ppn),
    /// A page of the journal is programmed.
    Mark,
}

/// What each die reads, its planes in turn.
fn by_die(geometry: &Geometry, plan: &Plan) -> Vec<VecDeque<Job>> {
    let mut jobs = vec![VecDeque::new(); geometry.dies() as usize];
    for &reading in &plan.spares {
        jobs[geometry.die_of_page(reading.first).at()].push_back(Job::Spares(reading));
    }
    jobs
}

/// Pages of the system area lie on all dies in turn.
fn system_reads(geometry: &Geometry, pages: u32) -> Vec<VecDeque<Job>> {
    let mut jobs = vec![VecDeque::new(); geometry.dies() as usize];
    for number in 0..pages {
        let die = DieId::new(number % geometry.dies());
        let first = geometry.page_at(geometry.block_in(geometry.plane_in(die, 0), 0), 0);
        jobs[die.at()].push_back(Job::Page(first));
    }
    jobs
}

/// Lets every die work off its jobs. Returns when the last one is done.
fn run(flash: &mut Flash, from: SimTime, mut jobs: Vec<VecDeque<Job>>) -> SimTime {
    let mut now = from;
    let at_once = flash.geometry().planes_per_die() * READS_PER_PLANE;
    for die in (0..flash.geometry().dies()).map(DieId::new) {
        for _ in 0..at_once {
            begin(flash, now, &mut jobs[die.at()]);
        }
    }
    while let Some(next) = flash.next_time() {
        now = next;
        let Some((_, first)) = flash.step() else { continue };
        let die = flash.die_of(first);
        let mut done = Some(first);
        while let Some(id) = done {
            done = flash.next_completed(id);
            flash.release(id);
            begin(flash, now, &mut jobs[die.at()]);
        }
        flash.go_on(now, die);
    }
    now
}

/// Hands the die its next command.
fn begin(flash: &mut Flash, now: SimTime, jobs: &mut VecDeque<Job>) {
    let Some(job) = jobs.front_mut() else { return };
    let whole = flash.bus().page_codewords();
    let (kind, page, codewords) = match job {
        Job::Spares(reading) => {
            let page = reading.first;
            reading.first = Ppn::new(page.get() + flash.geometry().units_per_page());
            reading.pages -= 1;
            (Kind::Read, page, 1)
        }
        Job::Page(page) => (Kind::Read, *page, whole),
        Job::Erase(page) => (Kind::Erase, *page, 0),
        Job::Mark => (Kind::Program, Ppn::new(0), whole),
    };
    if !matches!(job, Job::Spares(reading) if reading.pages > 0) {
        jobs.pop_front();
    }
    let mut command = Command::new(kind, Origin::System, Task::Journal, page);
    (command.units, command.codewords) = (1, codewords);
    let id = flash.prepare(command);
    flash.submit(now, id);
}
