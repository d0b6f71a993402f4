//! Checks of the device's invariants: those that tests call, and those that a device runs on itself
//! if it was asked to.

use crate::device::base::Base;
use crate::device::{Contents, Device};
use crate::engine::skills;
use crate::ftl::mapping::Dftl;
use crate::ftl::streams::StreamsPolicy;
use crate::ftl::{BlockState, Kernel};
use crate::nand::CellMode;
use crate::scheduler::{FlashLaws, HeldBlock, Kind, Origin, Probe, flash_pages_programmed};
use crate::units::{BlockId, DieId, SimTime};
#[cfg(any(feature = "verify", debug_assertions))]
use crate::verify::Canary;

/// A full audit looks at every page. The interval between two audits is this many events, plus one
/// event for this many pages.
const EVENTS_PER_AUDIT: u64 = 64;
const PAGES_PER_EVENT: u64 = 8;

impl<P: Probe, C: Contents> Device<P, C> {
    /// Checks that all the device's tables agree: mapping, spare area, valid bits and counts,
    /// blocks and their lists, the buffer, and the programs by purpose. The time is proportional to
    /// the capacity.
    ///
    /// # Errors
    /// The first disagreement, in words.
    pub fn audit(&self) -> Result<(), String> {
        self.base.kernel.ftl.audit()?;
        self.base.buffer.audit()?;
        self.base.reads.cache.audit()?;
        let counts = self.base.kernel.ftl.counts();
        let mut done = *self.base.kernel.flash.done();
        // The system area does not belong to the FTL.
        done[Origin::System as usize] = Default::default();
        let programmed = flash_pages_programmed(&done) * u64::from(self.base.units_per_page);
        let failed = (program_failures(&self.base) - self.base.ledger.failures_before)
            * self.base.units_per_page;
        let journal = self.base.services.journal.as_deref();
        let unindexed =
            journal.map_or(0, |journal| journal.unindexed(&self.base.kernel.flash).count() as u64);
        let unindexed = unindexed * u64::from(self.base.units_per_page);
        let others = u64::from(failed + self.writes.cycles.landed()) + unindexed;
        let map = self.base.kernel.ftl.map_on_flash().map_or(0, |map| map.counts().programmed());
        let map = map * u64::from(self.base.units_per_page);
        let rewritten = self.rewriter().map_or(0, |rewriter| rewriter.counts().pages);
        let moved = counts.gc_pages + rewritten;
        let parity = self.base.kernel.ftl.stripes().map_or(0, |stripes| stripes.counts().programs);
        let parity = parity * u64::from(self.base.units_per_page);
        let accounted = counts.host_pages + moved + counts.padding + others + map + parity;
        if programmed != accounted {
            return Err(format!(
                "{programmed} pages were programmed, but {accounted} are accounted for"
            ));
        }
        Ok(())
    }

    /// Plants a bug that the checks have to find.
    #[cfg(any(feature = "verify", debug_assertions))]
    pub fn plant(&mut self, canary: Canary) {
        self.base.plant.plant(canary);
        self.base.kernel.ftl.plant.plant(canary);
        self.base.kernel.flash.plant_mut().plant(canary);
    }

    /// An audit, and the checks that need a device that was watched from its start, or since its
    /// image was loaded.
    fn verify_all(&self) {
        if let Err(broken) = self.audit() {
            panic!("at {}: {broken}", self.base.kernel.now);
        }
        let done = Origin::ALL.iter().filter(|&&origin| origin != Origin::System);
        let done: u64 = done
            .map(|&origin| self.base.kernel.flash.done()[origin as usize][Kind::Erase as usize])
            .sum();
        let (erases, before) = (erases(&self.base), self.base.ledger.erases_before);
        assert_eq!(
            erases,
            before + done,
            "at {}: the erase counts of the blocks differ from the erases done",
            self.base.kernel.now
        );
        let back =
            self.base.ledger.gone().find(|&page| self.base.kernel.ftl.look_up(page).is_some());
        assert_eq!(back, None, "at {}: a trimmed page is mapped again", self.base.kernel.now);
        self.base.verify_isolation();
    }

    /// Checks requests and time after each event, with an audit now and then.
    pub(super) fn verify_event(&mut self) {
        let done = self.base.desk.finished.len();
        let inside = self.base.desk.intake.in_flight() + done;
        let pages = u64::from(self.base.kernel.flash.geometry().physical_pages());
        let audit_every = EVENTS_PER_AUDIT + pages / PAGES_PER_EVENT;
        if let Some(front) = &self.base.desk.front {
            let cores = front.parts().cores.unwrap_or(1);
            let busy = self.base.front_busy();
            self.base.ledger.front_end(self.base.kernel.now, busy, cores);
        }
        if self.base.ledger.event(self.base.kernel.now, inside, audit_every) {
            self.verify_all();
        }
        let next = self.base.kernel.flash.next_time().unwrap_or(SimTime::FOREVER);
        assert!(
            next >= self.base.kernel.now,
            "an event at {next}, but it is already {}",
            self.base.kernel.now
        );
    }

    /// Checks everything that can be checked when nothing is in flight.
    pub(super) fn verify_rest(&self) {
        if let Some(laws) = self.base.kernel.flash.laws() {
            laws.at_rest(
                self.base.kernel.now,
                self.base.kernel.flash.channel_busy(self.base.kernel.now),
            );
            verify_blocks(laws, &self.base);
            self.base
                .kernel
                .flash
                .programmed()
                .into_iter()
                .for_each(|known| laws.check_classes(known));
        }
        let dies = (0..self.base.kernel.flash.geometry().dies()).map(DieId::new);
        let load: u32 = dies.map(|die| self.base.kernel.flash.load().of(die)).sum();
        assert_eq!(load, 0, "dies at rest still count commands");
        if self.base.desk.intake.in_flight() == 0 && self.writes.stalled.is_empty() {
            assert_eq!(
                self.base.kernel.flash.in_flight(),
                0,
                "commands that nobody waits for are in flight"
            );
            assert_eq!(
                self.base.buffer.under_way.programs(),
                0,
                "programs are in flight while the buffer is at rest"
            );
            assert!(self.writes.standstill.is_over(), "the device is at rest during a standstill");
            let settled = self.base.kernel.ftl.map_on_flash().is_none_or(Dftl::is_settled);
            assert!(settled, "the map on flash is outdated, and no update is under way");
        }
        self.verify_all();
    }

    /// An image was loaded, a device was prepared, or power has returned: what is counted goes on from here, and the checks
    /// start from this state.
    pub(super) fn go_on_counting(&mut self) {
        let Base { kernel, .. } = &self.base;
        let (now, failed, erased) = (kernel.now, program_failures(&self.base), erases(&self.base));
        self.base.ledger.loaded(now, failed, erased);
        if self.base.checks_itself() {
            self.verify_loaded();
        }
    }

    fn verify_loaded(&mut self) {
        let all = (0..self.base.kernel.ftl.geometry().blocks()).map(BlockId::new);
        let mut held: Vec<_> = all.clone().flat_map(|block| held(block, &self.base)).collect();
        held.extend(all.flat_map(|block| held_on_dead_dies(block, &self.base)));
        if self.base.kernel.ftl.leaves_pages_out() {
            self.base.kernel.flash.leave_pages_out();
        }
        if let Some(laws) = self.base.kernel.flash.laws_mut() {
            held.into_iter().for_each(|(block, held)| laws.holds(block, held));
        }
        self.base.verify_deaths();
        self.base.kernel.flash.verify_loaded_classes();
        self.verify_all();
    }
}

impl<P: Probe, C: Contents> Base<P, C> {
    /// Checks that pages are where the streams policy keeps those of their host stream apart.
    fn verify_isolation(&self) {
        let ftl = &self.kernel.ftl;
        // At its end a device saves what was acknowledged wherever there is room.
        if !ftl.streams().hears_of_requests() || ftl.is_read_only() {
            return;
        }
        // What is in the buffer may have been written again in another stream.
        let at_rest = self.ledger.tagged().filter(|&(page, _)| self.buffer.find(page).is_none());
        for (page, tag) in at_rest {
            let Some(at) = ftl.look_up(page) else { continue };
            let (block, now) = (ftl.geometry().block_of(at), self.kernel.now);
            let kept = ftl.streams().isolated(ftl.blocks().stream(block)).unwrap_or(tag);
            let groups = ftl.streams().counts().groups;
            assert_eq!(
                kept / groups,
                tag / groups,
                "at {now}: {page:?} is among pages of another handle",
            );
            let group = ftl.group_of(ftl.geometry().plane_of(block));
            let may_leave = ftl.streams().log().is_some_and(|log| log.has_left_groups());
            assert!(
                groups == 1 || may_leave || group == tag % groups,
                "at {now}: {page:?} lies outside of its reclaim group",
            );
        }
    }

    /// Tells the laws of flash which dies are dead.
    pub(super) fn verify_deaths(&mut self) {
        let Kernel { ftl, flash, .. } = &mut self.kernel;
        if let Some(laws) = flash.laws_mut() {
            ftl.dead_dies_on_flash().into_iter().for_each(|die| laws.die_dies(die));
        }
    }
}

fn program_failures(on: &Base<impl Probe, impl Contents>) -> u32 {
    on.kernel.ftl.life().map_or(0, |life| life.losses().program_failures as u32)
}

/// The erases of all blocks of flash, including failed ones.
fn erases(on: &Base<impl Probe, impl Contents>) -> u64 {
    let erases = on.kernel.ftl.blocks().all_erases().map(u64::from).sum::<u64>();
    let Some(superblock) = on.kernel.ftl.superblock() else {
        return erases + on.kernel.ftl.life().map_or(0, |life| life.losses().erase_failures);
    };
    let more = superblock.untold.retired + superblock.erased_in_part();
    erases * u64::from(superblock.width()) + more - superblock.untold.spared
}

/// Checks that the FTL's view of each block matches the commands that the flash carried out.
fn verify_blocks(laws: &FlashLaws, on: &Base<impl Probe, impl Contents>) {
    let leaves_out = on.kernel.ftl.leaves_pages_out();
    for block in (0..on.kernel.ftl.geometry().blocks()).map(BlockId::new) {
        let state = on.kernel.ftl.blocks().state(block);
        let bad = matches!(state, BlockState::Bad | BlockState::Dead);
        for (on_flash, known) in held(block, on) {
            let seen = laws.held(on_flash);
            // A block whose pages are all skipped has no mode.
            let (pages, mode) = match leaves_out {
                true if seen.pages == 0 => (known.pages, known.mode),
                true => (known.pages.max(seen.pages), seen.mode),
                false => (seen.pages, seen.mode),
            };
            assert!(
                bad || known == HeldBlock { pages, mode, ..seen },
                "the FTL expects {on_flash:?} to be {known:?}, but it is {seen:?}"
            );
        }
    }
}

/// What the blocks of a superblock on dead dies may hold. How far they are programmed, nobody asks any more.
fn held_on_dead_dies(
    block: BlockId,
    on: &Base<impl Probe, impl Contents>,
) -> Vec<(BlockId, HeldBlock)> {
    let Some(superblock) = on.kernel.ftl.superblock() else { return Vec::new() };
    let (members, flash) = (superblock.members(), superblock.members().flash());
    let held = HeldBlock {
        pages: flash.shape().pages_per_block,
        mode: on.kernel.ftl.mode_of::<{ skills::ALL }>(block),
        erases: on.kernel.ftl.blocks().erases(block),
    };
    let blocks = flash.blocks_of_superblock(block);
    let dead = blocks.filter(|&block| members.is_dead(flash.die_of(flash.plane_of(block))));
    dead.map(|block| (block, held)).collect()
}

/// The FTL's view of a block, or of each physical block of a superblock.
fn held(block: BlockId, on: &Base<impl Probe, impl Contents>) -> Vec<(BlockId, HeldBlock)> {
    let blocks = on.kernel.ftl.blocks();
    let pages = blocks.programmed(block) / on.kernel.ftl.geometry().units_per_page();
    let of_block = on.kernel.ftl.mode_of::<{ skills::ALL }>(block);
    let held = |pages| {
        let mode = if pages == 0 { CellMode::default() } else { of_block };
        HeldBlock { pages, mode, erases: blocks.erases(block) }
    };
    let Some(superblock) = on.kernel.ftl.superblock() else { return vec![(block, held(pages))] };
    let members = superblock.members();
    match on.kernel.ftl.stripes() {
        None => {
            let (rows, begun) = (pages / superblock.width(), pages % superblock.width());
            let of = |member: u32| held(rows + u32::from(member < begun));
            let live = members.live(block);
            live.map(|member| (members.flash().member(block, member), of(member))).collect()
        }
        Some(stripes) => {
            let on_flash = stripes.on_flash(block, pages, members);
            on_flash.map(|(block, pages)| (block, held(pages))).collect()
        }
    }
}
