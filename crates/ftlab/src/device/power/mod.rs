//! Power cuts and power-up: what a cut leaves behind, and how long it takes until the device is
//! ready. [`ftl::recovery`](crate::ftl::recovery) decides what becomes current.
//!
//! Power can be cut at any moment between two events. The contents of DRAM are lost unless
//! capacitors carry them to flash. A program or erase that the cells are executing is torn. A
//! command that was waiting never happened. The host gets no completion for requests in flight.
//!
//! [`coming_up`] computes what power-up reads and erases, and how long this takes.

mod coming_up;
mod kept;

use std::collections::BTreeSet;

use crate::device::base::Base;
use crate::device::power::coming_up::{ComingUp, Moment};
use crate::device::write::{end_of_life, entry, lock_step, start, zones};
use crate::device::{Contents, Device, DeviceSetup, assemble, assemble_with, front, patrol};
use crate::engine::skills;
use crate::ftl::handles::LogAtCut;
use crate::ftl::parity::Recomputed;
use crate::ftl::recovery::{Erasing, JournalPages, Left, RecoveryFindings, RecoveryPlan, rebuild};
use crate::ftl::{EmptiedBy, FlashChange, Kernel, ParityChange, superblock};
use crate::host::hints::HintedWrites;
use crate::host::zones::Zones;
use crate::host::{Advanced, Completion, DramSetup, Host, Op, QueueId, Request};
use crate::image::Damage;
use crate::scheduler::{CellHistory, Probe};
use crate::shape::FlashGeometry;
use crate::units::{BlockId, DieId, Lba, Lpn, Nanos, Ppn, SimTime, Tpn};
use crate::verify::{Canary, Plant};

/// What remains of a device whose power was cut: the contents of its flash.
#[derive(Clone, Debug)]
pub struct Remains<C> {
    /// The time of the cut. Capacitors may have kept the device up for longer.
    pub at: SimTime,
    /// The bytes on flash.
    pub contents: C,
    /// How long capacitors kept the device up.
    pub hold_up: Nanos,
    /// Logical pages with acknowledged data that was only in DRAM and is lost. Pages that a write
    /// in flight covers are not counted.
    pub lost_pages: u64,
    left: Left,
    cells: CellHistory,
    journal_pages: JournalPages,
    zones: Option<Box<Zones>>,
    /// What the host knows of its writes.
    hints: Option<Box<HintedWrites>>,
    /// The log of flexible data placement.
    events: Option<LogAtCut>,
    /// A planted bug survives the cut.
    plant: Plant,
}

/// The recovery of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Time from power-up until the device takes commands.
    pub time: Nanos,
    /// How long capacitors kept the device up when power was cut.
    pub hold_up: Nanos,
    /// Spare areas that were read.
    pub spare_reads: u64,
    /// Flash pages of the system area and of a map on flash that were read.
    pub system_reads: u64,
    /// Blocks that were erased.
    pub erases: u64,
    /// What was found.
    pub found: RecoveryFindings,
}

/// The flush with which capacitors empty the DRAM. No host uses its address.
const DRAIN: Request =
    Request { op: Op::Flush, lba: Lba(u64::MAX), sectors: 0, stream: 0, tag: 0, fua: false };

impl<P: Probe, C: Contents> Device<P, C> {
    /// Cuts the power now.
    ///
    /// # Panics
    /// If the device keeps nothing for recovery (`ftl.recovery.policy = "none"`).
    #[must_use]
    pub fn cut_power(self) -> Remains<C> {
        let mut device = self;
        let at = device.base.kernel.now;
        let in_dram = device.acknowledged_in_dram();
        let hold_up = if device.base.has_capacitors { device.hold_up() } else { Nanos::ZERO };
        // Pages that came in during the hold-up were never acknowledged.
        let left: BTreeSet<Lpn> = device.base.buffer.pages.not_on_flash().into_iter().collect();
        let lost_pages = in_dram.iter().filter(|page| left.contains(page)).count() as u64;
        let now = device.base.kernel.now;
        let (programs, half_erased) = device.base.kernel.flash.cut(now);
        let half_erased = superblocks_of(half_erased, &device.base.kernel);
        // Pages of parity are behind those of data.
        let data = device.base.kernel.ftl.geometry().physical_pages();
        let mut torn: Vec<Ppn> = programs.into_iter().filter(|page| page.get() < data).collect();
        torn.extend(lock_step::torn_at_once(&device.writes));
        let journal = device.base.services.journal.as_deref();
        let unindexed = journal.map(|journal| journal.unindexed(&device.base.kernel.flash));
        let unindexed = unindexed.into_iter().flatten();
        let mut landed: Vec<Ppn> = device.writes.cycles.landed_at().chain(unindexed).collect();
        landed.sort_unstable();
        landed.dedup();
        let stale_map: Vec<Tpn> =
            device.base.services.map.iter().flat_map(|map| map.being_updated()).collect();
        let Base {
            kernel: Kernel { ftl, mut contents, flash, .. },
            services,
            zones,
            hints,
            plant,
            ..
        } = device.base;
        let geometry = ftl.geometry().clone();
        let events = ftl.log_at_cut();
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
        let journal_pages =
            services.journal.map_or(JournalPages::default(), |journal| journal.pages());
        let cells = flash.into_cells();
        Remains {
            at,
            contents,
            hold_up,
            lost_pages,
            left,
            cells,
            journal_pages,
            zones,
            hints,
            events,
            plant,
        }
    }

    /// The pages with acknowledged data that is only in DRAM, in order. Pages that a write in
    /// flight covers are left out.
    fn acknowledged_in_dram(&self) -> Vec<Lpn> {
        if !self.base.buffer.has_acknowledged() {
            return Vec::new();
        }
        let writes = self.base.desk.intake.all().filter(|active| active.request().op.writes());
        let spans = writes.flat_map(|active| entry::pages_of(active.request(), &self.base));
        let in_flight: BTreeSet<Lpn> = spans.map(|span| span.page).collect();
        let mut pages = self.base.buffer.pages.not_on_flash();
        pages.retain(|page| !in_flight.contains(page));
        pages
    }

    /// Capacitors carry acknowledged data to flash. Returns how long this takes.
    fn hold_up(&mut self) -> Nanos {
        let since = self.base.kernel.now;
        // From now on, only data on flash is safe.
        (self.base.has_capacitors, self.base.ignores_flush) = (false, false);
        let queue = QueueId::new(0);
        if self.base.checks_itself() {
            self.base.ledger.submitted(since, &DRAIN);
        }
        let id = self.base.desk.intake.admit(since, queue, DRAIN);
        if let Some(front) = &mut self.base.desk.front {
            front.adopt(queue, id);
        }
        self.base.desk.intake.start(id, since);
        start::start::<{ skills::ALL }>(id, &DRAIN, &mut self.writes, &mut self.base);
        if self.base.desk.front.is_some() {
            front::fetch(&mut self.writes, &mut self.base);
        }
        let mut done: Vec<Completion> = Vec::new();
        while !done.iter().any(|done| done.request == DRAIN) {
            done.clear();
            if self.advance_until(SimTime::FOREVER, &mut done) == Advanced::Idle {
                break;
            }
        }
        self.base.kernel.now - since
    }
}

/// The blocks of the volume of which these blocks of flash are being erased. A superblock some of whose blocks were
/// erased counts, too.
fn superblocks_of<P: Probe, C>(half_erased: Vec<BlockId>, on: &Kernel<P, C>) -> Vec<BlockId> {
    let Kernel { ftl, flash, .. } = on;
    let (of_flash, volume) = (flash.geometry(), ftl.geometry());
    if of_flash.superblocks().is_none() {
        return half_erased;
    }
    let half_erased = half_erased.into_iter().map(|block| of_flash.superblock_of(block).0);
    let begun = superblock::erases_in_part(ftl).map(|id| volume.block_of(flash.command(id).page));
    let mut blocks: Vec<BlockId> = half_erased.chain(begun).collect();
    blocks.sort_unstable();
    blocks.dedup();
    blocks
}

/// The dies that do not answer when power returns.
fn dead_dies(cells: &CellHistory, geometry: &FlashGeometry, at: SimTime) -> Vec<DieId> {
    (0..geometry.dies()).map(DieId::new).filter(|&die| cells.is_dead(die, at)).collect()
}

/// The DRAM of a device, if moving data through it takes time.
fn dram_of(setup: &DeviceSetup) -> Option<DramSetup> {
    setup.host.front_end.as_ref().and_then(|front| front.dram)
}

impl<C: Contents> Remains<C> {
    /// Power returns and is cut again `after` this time, before the device is ready. By then,
    /// recovery has written nothing that the next recovery relies on. Blocks whose erase was
    /// submitted count as half erased, since nobody can tell.
    ///
    /// # Errors
    /// The contents of the flash are contradictory, or another device wrote them.
    pub fn interrupted(self, setup: DeviceSetup, after: Nanos) -> Result<Remains<C>, Damage> {
        let Remains { at, mut contents, hold_up, mut left, .. } = self;
        left.dead = dead_dies(&self.cells, &setup.flash.geometry, at + hold_up);
        let (flash, dram) = (setup.flash.clone(), dram_of(&setup));
        let volume = flash.geometry.volume();
        let mut device = assemble(setup);
        device.plant_everywhere(self.plant);
        let (_, plan) = device.find_all(left.clone(), self.journal_pages)?;
        let so_far = ComingUp::new(&plan, flash, dram).until(Moment::After(after));
        left.erased_in_part(&volume, &so_far.erases);
        left.tear(&volume, &mut contents);
        let at = at + hold_up + so_far.time;
        Ok(Remains { at, contents, hold_up: Nanos::ZERO, left, ..self })
    }
}

impl<P: Probe, C: Contents> Device<P, C> {
    /// Plants a bug in every part.
    fn plant_everywhere(&mut self, plant: Plant) {
        (self.base.plant, self.base.kernel.ftl.plant, *self.base.kernel.flash.plant_mut()) =
            (plant, plant, plant);
    }

    /// Recovers the FTL from the contents of the flash and the pages of the journal. Returns what
    /// has to be read and erased for this.
    fn find_all(
        &mut self,
        left: Left,
        journal_pages: JournalPages,
    ) -> Result<(RecoveryFindings, RecoveryPlan), Damage> {
        let (found, mut plan) = rebuild::recover(left, &mut self.base.kernel.ftl)?;
        plan.map_pages += journal_pages.trims + journal_pages.index;
        Ok((found, plan))
    }
}

/// The parity of a stripe is computed again from its pages.
fn recompute(found: &Recomputed, plant: Plant, contents: &mut impl Contents) {
    let Recomputed { stripe, pages, mode: _, useless } = found;
    let mut change = |change| contents.change(FlashChange::Parity(change));
    useless.iter().for_each(|&at| change(ParityChange::Dropped(at)));
    change(ParityChange::Forgotten(*stripe));
    let missed = usize::from(plant.is(Canary::RecomputedWithoutOne));
    pages.iter().skip(missed).for_each(|&first| change(ParityChange::Covers(*stripe, first)));
}

/// Powers a device up after a power cut. `setup` must be the setup of the same device, with the same seed. What a host has told
/// it must be told again: who its streams are, and the future (for `ftl.streams.policy = "future"`).
///
/// # Errors
/// The contents of the flash are contradictory, or another device wrote them.
pub fn power_up<P: Probe, C: Contents>(
    setup: DeviceSetup,
    probe: P,
    remains: Remains<C>,
) -> Result<(Device<P, C>, Recovered), Damage> {
    let Remains {
        at,
        contents,
        hold_up,
        mut left,
        cells,
        journal_pages,
        zones,
        hints,
        events,
        plant,
        ..
    } = remains;
    let (flash, dram) = (setup.flash.clone(), dram_of(&setup));
    left.dead = dead_dies(&cells, &flash.geometry, at + hold_up);
    let mut device = assemble_with(setup, probe, contents);
    device.plant_everywhere(plant);
    let (found, plan) = device.find_all(left, journal_pages)?;
    *device.base.kernel.flash.cells_mut() = cells;
    let time = ComingUp::new(&plan, flash, dram).until(Moment::Ready).time;
    for &Erasing { block, .. } in &plan.erases {
        let Kernel { ftl, flash, contents, .. } = &mut device.base.kernel;
        let (first, units) = (ftl.geometry().page_at(block, 0), ftl.geometry().units_per_block());
        contents.change(FlashChange::Emptied { first, units, by: EmptiedBy::Erase });
        let erases = ftl.blocks().erases(block);
        let members: Vec<BlockId> = flash.geometry().blocks_of_superblock(block).collect();
        members.into_iter().for_each(|block| flash.cells_mut().know_erased(block, erases, at));
    }
    if let Some(zones) = zones {
        zones::recover(zones, &mut device.base);
    }
    for recomputed in &plan.stripes {
        recompute(recomputed, plant, &mut device.base.kernel.contents);
    }
    if hints.is_some() {
        device.base.hints = hints;
    }
    device.base.kernel.now = at + hold_up + time;
    if let Some(events) = events {
        let (now, erases) = (device.base.kernel.now, plan.erases.len() as u64);
        device.base.kernel.ftl.take_up_log(events, now, erases);
    }
    patrol::plan_patrol(&mut device.base);
    device.choose_skills();
    if let Some(journal) = &mut device.base.services.journal {
        journal.take_up(journal_pages, device.base.kernel.flash.geometry().shape().pages_per_block);
    }
    device.go_on_counting();
    end_of_life::consider_end::<{ skills::ALL }>(&mut device.writes, &mut device.base);
    device.writes.update_due_map_pages::<{ skills::ALL }>(&mut device.base);
    // A death may have been found just now.
    let Base { kernel, services, .. } = &mut device.base;
    services.collector.rebuild::<{ skills::ALL }>(kernel);
    crate::ftl::image::wake_planes(&mut device.base.kernel.ftl);
    device.base.relieve::<{ skills::ALL }>();
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
