//! The collector: copies the valid pages of a victim to an open block of its plane and erases the
//! victim, until enough blocks are free. It also empties requested blocks, for any [`Purpose`].
//!
//! It copies one flash page at a time: reads gather as many valid pages as a flash page holds, then
//! one program follows. A copy is committed when it is programmed, and only if the page was not
//! overwritten meanwhile. The victim is erased when no copy of it is in flight.

use std::collections::VecDeque;

use crate::engine::skills;
use crate::engine::skills::{RARE, RARE_ON_FLASH, SLC, Skills, any};
use crate::ftl::gc::rows::CopyRow;
use crate::ftl::gc::{Purpose, Scope, Wanted, collection, failures, pacing, wanted};
use crate::ftl::parity::rebuild;
use crate::ftl::streams::StreamsPolicy;
use crate::ftl::wear::{dies, failing, life, refresh};
use crate::ftl::{Cargo, FlashContents, Kernel, lost, map_pages, slc};
use crate::scheduler::{CellFindings, Command, CommandId, Kind, Note, Probe, ServiceId};
use crate::units::{DieId, PlaneId, Ppn};
use crate::verify::Canary;

/// The copies in flight, over all planes.
#[derive(Clone, Debug)]
pub struct Collector {
    /// By program: the source of each of its pages.
    pub(super) sources: Cargo,
    /// The pages that are copied next.
    pub(super) batch: Vec<Ppn>,
    /// By plane: copies that wait for others to share a program with. Empty without superblocks.
    pub(super) rows: Vec<CopyRow>,
    /// By die: commands that yield to the host, with their planes.
    pub(super) held: Vec<VecDeque<(PlaneId, CommandId)>>,
    /// Whether the host has been idle for long enough.
    idle: bool,
}

/// What a step of a collection freed for the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freed {
    /// Nothing.
    Nothing,
    /// Nothing, and the command continues: the data that it read is being programmed.
    GoesOn,
    /// Flash pages that the host may be able to take.
    Pages,
}

impl Collector {
    /// An idle collector.
    #[must_use]
    pub fn new(units_per_page: u32, dies: u32, rows: u32) -> Collector {
        let held = vec![VecDeque::new(); dies as usize];
        let rows = vec![CopyRow::default(); rows as usize];
        let (sources, batch) = (Cargo::new(units_per_page), Vec::new());
        Collector { sources, batch, rows, held, idle: false }
    }

    /// Starts collecting on a plane if it lacks free blocks and is not collecting yet. Call this
    /// for each flash page that the host writes to it, and when there may be something to collect.
    #[inline]
    pub fn start<const S: Skills>(
        &mut self,
        plane: PlaneId,
        on: &mut Kernel<impl Probe, impl FlashContents>,
    ) {
        if on.ftl.free_blocks(plane) > on.ftl.space.thresholds.start {
            if any(S, RARE) && on.ftl.space.triggers.copies_per_write.is_some() {
                self.spur::<S>(plane, on);
            }
        } else if on.ftl.space.planes[plane.at()].collection.is_some() {
            if any(S, RARE) {
                self.spur::<S>(plane, on);
            }
        } else {
            pacing::begin(plane, &mut on.ftl);
            // A plane that still finds nothing has already started the others.
            let was_hungry = on.ftl.space.is_hungry(plane);
            self.next::<S>(plane, on);
            if any(S, RARE)
                && on.ftl.space.triggers.scope != Scope::Plane
                && !(was_hungry && on.ftl.space.is_hungry(plane))
            {
                self.start_others::<S>(plane, on);
            }
        }
        if any(S, SLC) && on.ftl.features.slc.is_some() {
            self.consider_folding::<S>(plane, on);
        }
    }

    /// Continues a running collection if it is due: the host wrote a page, or free blocks became scarce.
    #[inline]
    fn spur<const S: Skills>(
        &mut self,
        plane: PlaneId,
        on: &mut Kernel<impl Probe, impl FlashContents>,
    ) {
        let triggers = on.ftl.space.triggers;
        if let Some(copies) = triggers.copies_per_write {
            let state = &mut on.ftl.space.planes[plane.at()];
            // The credit is limited to the copies of a whole block.
            let most = state.collection.as_ref().map_or(0, |run| run.copies);
            state.copy_credit = state.copy_credit.saturating_add(copies).min(most);
            self.proceed::<S>(plane, on);
        } else if triggers.background.is_some() {
            self.proceed::<S>(plane, on);
        }
        if triggers.preemptible {
            self.let_go::<S>(on.ftl.geometry.die_of(plane), on);
        }
    }

    /// The other planes of the scope collect one block each, unless they have more than enough free blocks.
    #[cold]
    fn start_others<const S: Skills>(
        &mut self,
        plane: PlaneId,
        on: &mut Kernel<impl Probe, impl FlashContents>,
    ) {
        for other in on.ftl.space.triggers.scope.planes(&on.ftl.geometry, plane) {
            let few = on.ftl.free_blocks(other) <= on.ftl.space.thresholds.stop;
            if few && on.ftl.space.planes[other.at()].collection.is_none() {
                pacing::begin(other, &mut on.ftl);
                self.next::<S>(other, on);
            }
        }
    }

    /// The host is idle: every plane collects as far as it should in the background.
    pub fn host_idle<const S: Skills>(&mut self, on: &mut Kernel<impl Probe, impl FlashContents>) {
        self.idle = true;
        for plane in (0..on.ftl.geometry.planes()).map(PlaneId::new) {
            if on.ftl.space.planes[plane.at()].collection.is_some() {
                self.proceed::<S>(plane, on);
            } else if let Some(wanted) = collection::next_in_background(plane, &mut on.ftl) {
                pacing::begin(plane, &mut on.ftl);
                begin(plane, wanted, on);
                self.proceed::<S>(plane, on);
            }
        }
    }

    /// The host is active again.
    #[inline]
    pub fn host_back(&mut self) {
        self.idle = false;
    }

    /// Nothing is left to happen in the device, and no more requests are expected: continues
    /// collections that wait for the host.
    pub fn finish<const S: Skills>(&mut self, on: &mut Kernel<impl Probe, impl FlashContents>) {
        if on.ftl.space.triggers.copies_per_write.is_some()
            || on.ftl.space.triggers.background.is_some()
        {
            let before = std::mem::replace(&mut self.idle, true);
            for plane in (0..on.ftl.geometry.planes()).map(PlaneId::new) {
                self.proceed::<S>(plane, on);
            }
            self.idle = before;
        }
    }

    /// Submits a command, or holds it back while its die has other work.
    #[inline(always)]
    pub(super) fn submit<const S: Skills>(
        &mut self,
        plane: PlaneId,
        id: CommandId,
        on: &mut Kernel<impl Probe, impl FlashContents>,
    ) {
        match any(S, RARE) && on.ftl.space.triggers.preemptible {
            false => on.submit::<S>(id),
            true => self.hold_back::<S>(plane, id, on),
        }
    }

    #[cold]
    fn hold_back<const S: Skills>(
        &mut self,
        plane: PlaneId,
        id: CommandId,
        on: &mut Kernel<impl Probe, impl FlashContents>,
    ) {
        let die = on.ftl.geometry.die_of(plane);
        self.held[die.at()].push_back((plane, id));
        self.let_go::<S>(die, on);
    }

    /// Submits held-back commands in order, while their die is idle or one of them is urgent.
    pub fn let_go<const S: Skills>(
        &mut self,
        die: DieId,
        on: &mut Kernel<impl Probe, impl FlashContents>,
    ) {
        while let Some(&(_, first)) = self.held[die.at()].front() {
            let free = on.flash.load().of_volume().of(die) == 0;
            if !free
                && !self.held[die.at()]
                    .iter()
                    .any(|&(plane, _)| collection::is_urgent(plane, &on.ftl))
            {
                return;
            }
            self.held[die.at()].pop_front();
            match any(S, RARE) && !self.rows.is_empty() {
                true => self.let_row_go(die, first, on),
                false => on.submit::<S>(first),
            }
        }
    }

    /// The host is idle: every plane folds its SLC cache until it is empty or the host is active again.
    pub fn fold_all<const S: Skills>(&mut self, on: &mut Kernel<impl Probe, impl FlashContents>) {
        slc::cache::set_idle_for_cache(true, &mut on.ftl);
        for plane in (0..on.ftl.geometry.planes()).map(PlaneId::new) {
            self.consider_folding::<S>(plane, on);
        }
    }

    /// Folds a block of the plane's SLC cache, if one is due.
    fn consider_folding<const S: Skills>(
        &mut self,
        plane: PlaneId,
        on: &mut Kernel<impl Probe, impl FlashContents>,
    ) {
        if let Some(wanted) = slc::cache::fold_due(plane, &mut on.ftl) {
            self.collect::<S>(wanted, on);
        }
    }

    /// Empties a block for a purpose, after earlier requests. If the plane was not collecting, copies are in flight
    /// when this returns. Returns false if the block cannot be emptied: it is free, bad, open, or being collected.
    pub fn collect<const S: Skills>(
        &mut self,
        wanted: Wanted,
        on: &mut Kernel<impl Probe, impl FlashContents>,
    ) -> bool {
        let accepted = wanted::want(wanted, &mut on.ftl);
        self.start_wanted::<S>(on.ftl.geometry.plane_of(wanted.block), on);
        accepted
    }

    /// Starts the requested collections of a plane. A background collection that waits continues first.
    pub(super) fn start_wanted<const S: Skills>(
        &mut self,
        plane: PlaneId,
        on: &mut Kernel<impl Probe, impl FlashContents>,
    ) {
        if !wanted::has_wanted(plane, &on.ftl) {
            return;
        }
        match &on.ftl.space.planes[plane.at()].collection {
            None => {
                pacing::begin(plane, &mut on.ftl);
                self.next::<S>(plane, on);
            }
            Some(run) if run.purpose == Purpose::Background => self.proceed::<S>(plane, on),
            // A collection that waits for the host's writes waits no longer.
            Some(_) if refresh::may_have_due(&on.ftl) => self.proceed::<S>(plane, on),
            Some(_) => {}
        }
    }

    fn next<const S: Skills>(
        &mut self,
        plane: PlaneId,
        on: &mut Kernel<impl Probe, impl FlashContents>,
    ) {
        let Some(wanted) = collection::next_to_collect(plane, &mut on.ftl) else {
            return on.ftl.space.mark_hungry(plane);
        };
        begin(plane, wanted, on);
        self.proceed::<S>(plane, on);
    }

    /// Keeps the allowed number of copies in flight. Erases the victim when no valid page is left.
    fn proceed<const S: Skills>(
        &mut self,
        plane: PlaneId,
        on: &mut Kernel<impl Probe, impl FlashContents>,
    ) {
        loop {
            let limit = on.ftl.space.thresholds.copies_in_flight;
            let Some(run) = on.ftl.space.planes[plane.at()].collection.as_mut() else { return };
            if run.in_flight >= limit || run.erasing || run.stranded {
                return;
            }
            let (victim, from, in_flight) = (run.victim, run.next_unit, run.in_flight);
            let purpose = run.purpose;
            let origin = purpose.origin();
            let last = on.ftl.geometry.units_per_block() - 1;
            let copied = |unit: &u32| *unit < last || !on.ftl.plant.is(Canary::LastPageNotCopied);
            match on.ftl.blocks.next_valid(victim, from).filter(copied) {
                Some(first) => {
                    if any(S, RARE) && !collection::may_go_on(plane, true, self.idle, &mut on.ftl) {
                        return;
                    }
                    if !(any(S, RARE) && self.copy_back::<S>(plane, origin, first, on)) {
                        self.copy_page::<S>(plane, origin, victim, first, on);
                    }
                }
                None if in_flight > 0 => return,
                None if any(S, RARE) && map_pages::map_is_behind(plane, &on.ftl) => {
                    map_pages::update_map_of(plane, &mut on.ftl)
                }
                None if !collection::erases_victim(purpose, &on.ftl) => {
                    return self.ended::<S>(plane, on);
                }
                None if !collection::may_go_on(plane, false, self.idle, &mut on.ftl) => return,
                None => {
                    if any(S, RARE) && on.ftl.features.stripes.is_some() {
                        on.is_emptied(plane);
                    }
                    collection::erasing(plane, &mut on.ftl);
                    let page = on.ftl.geometry.page_at(victim, 0);
                    let mut erase = Command::new(
                        Kind::Erase,
                        origin,
                        ServiceId::COLLECTOR.owner(plane.get()),
                        page,
                    );
                    erase.mode = on.ftl.mode_of::<S>(victim);
                    let id = on.flash.prepare(erase);
                    return self.submit::<S>(plane, id, on);
                }
            }
        }
    }

    /// Starts collecting on hungry planes on which something has changed.
    #[inline]
    pub fn feed_hungry<const S: Skills>(
        &mut self,
        on: &mut Kernel<impl Probe, impl FlashContents>,
    ) {
        while let Some(plane) = on.ftl.space.fed.pop() {
            self.start::<S>(plane, on);
            if any(S, RARE) && rebuild::rebuilds(&on.ftl) {
                self.refresh_next::<S>(plane, on);
            }
        }
    }

    /// A command of a plane's collection is done. Returns whether it freed pages for the host.
    pub fn done<const S: Skills>(
        &mut self,
        plane: PlaneId,
        id: CommandId,
        on: &mut Kernel<impl Probe, impl FlashContents>,
    ) -> Freed {
        if any(S, RARE_ON_FLASH)
            && on.flash.command(id).found.failed
            && dies::is_dead_plane(plane, &on.ftl)
        {
            self.lost_with_die(plane, id, on);
            return Freed::Nothing;
        }
        match on.flash.command(id).kind {
            Kind::Read => return self.read_done::<S>(plane, id, on),
            Kind::Program | Kind::Copyback => {
                let was_dry = on.ftl.space.planes[plane.at()].host_credit == 0;
                let earned = self.copy_done::<S>(plane, id, on);
                if on.ftl.space.planes[plane.at()].collection.is_some() {
                    if earned == 0 {
                        return Freed::Nothing;
                    }
                    // Further room changes nothing for the host if there was some before.
                    if !any(S, SLC | RARE) && !was_dry {
                        return Freed::Pages;
                    }
                }
            }
            Kind::Erase => self.erase_done::<S>(plane, id, on),
        }
        crate::ftl::room::refresh_writable::<S>(plane, &mut on.ftl);
        if on.ftl.may_write_any(plane) { Freed::Pages } else { Freed::Nothing }
    }

    #[inline(always)]
    fn read_done<const S: Skills>(
        &mut self,
        plane: PlaneId,
        id: CommandId,
        on: &mut Kernel<impl Probe, impl FlashContents>,
    ) -> Freed {
        let codewords = on.flash.bus().page_codewords();
        let command = on.flash.command_mut(id);
        let Some(program) = command.then else {
            command.turn_into_program(codewords);
            self.copy_is_read::<S>(plane, id, on);
            return Freed::GoesOn;
        };
        let command = on.flash.command_mut(program);
        command.waits_for -= 1;
        if command.waits_for == 0 {
            self.copy_is_read::<S>(plane, program, on);
        }
        Freed::Nothing
    }

    /// All pages of a copy are read.
    #[inline(always)]
    pub(super) fn copy_is_read<const S: Skills>(
        &mut self,
        plane: PlaneId,
        program: CommandId,
        on: &mut Kernel<impl Probe, impl FlashContents>,
    ) {
        match any(S, RARE) && !self.rows.is_empty() {
            false => self.place_copy::<S>(plane, program, on),
            true => self.join_row(plane, program, on),
        }
    }

    /// Returns the flash pages that the host may take for the copy.
    fn copy_done<const S: Skills>(
        &mut self,
        plane: PlaneId,
        id: CommandId,
        on: &mut Kernel<impl Probe, impl FlashContents>,
    ) -> u32 {
        let Command { page: first, units, found: CellFindings { failed, .. }, .. } =
            *on.flash.command(id);
        let units = skills::units_of_page(S, units);
        if any(S, RARE) && failing::program_fails::<S>(first, failed, &mut on.contents, &mut on.ftl)
        {
            self.copy_again::<S>(plane, id, on);
            return 0;
        }
        let stale = on.ftl.counts.gc_stale;
        for unit in 0..units {
            let from = self.source(id, unit);
            let to = Ppn::new(first.get() + unit);
            collection::copied_page::<S>(from, to, &mut on.ftl);
            if any(S, RARE) && on.ftl.policies.streams.hears_of_copies() {
                collection::tell_of_copy(to, &mut on.ftl);
            }
        }
        on.ftl.counts.gc_pages += u64::from(units);
        on.ftl.programmed::<S>(first, units);
        let state = &mut on.ftl.space.planes[plane.at()];
        if let Some(run) = state.collection.as_mut() {
            run.in_flight -= 1;
            if any(S, RARE) {
                run.moved += units - (on.ftl.counts.gc_stale - stale) as u32;
            }
            on.ftl.counts.by_purpose[run.purpose as usize].pages += u64::from(units);
        }
        let earned = pacing::earn_by_copy(plane, &mut on.ftl);
        if any(S, RARE) && life::has_failed(&on.ftl) {
            failures::want_failed(&mut on.ftl);
        }
        if !self.wind_up::<S>(plane, on) {
            self.proceed::<S>(plane, on);
        }
        earned
    }

    fn erase_done<const S: Skills>(
        &mut self,
        plane: PlaneId,
        id: CommandId,
        on: &mut Kernel<impl Probe, impl FlashContents>,
    ) {
        let failed = on.flash.command(id).found.failed;
        let Some(run) = on.ftl.space.planes[plane.at()].collection.as_mut() else { return };
        run.erase_failed = failed;
        let victim = run.victim;
        let first = on.ftl.geometry.page_at(victim, 0);
        lost::clear(first, on.ftl.geometry.units_per_block(), &mut on.contents, &mut on.ftl);
        self.ended::<S>(plane, on);
    }

    /// The victim is empty and, unless it is being retired, erased.
    fn ended<const S: Skills>(
        &mut self,
        plane: PlaneId,
        on: &mut Kernel<impl Probe, impl FlashContents>,
    ) {
        let Some(run) = on.ftl.space.planes[plane.at()].collection.take() else { return };
        on.flash.probe_mut().note(on.now, Note::Collected { plane });
        collection::end_collection(plane, &run, &mut on.ftl);
        if let Some(wanted) = slc::cache::fold_due(plane, &mut on.ftl) {
            wanted::want(wanted, &mut on.ftl);
        }
        if refresh::may_have_due(&on.ftl)
            && let Some(wanted) = refresh::next_refresh(plane, Some(run.purpose), &mut on.ftl)
        {
            wanted::want(wanted, &mut on.ftl);
        }
        if on.ftl.free_blocks(plane) < on.ftl.space.thresholds.stop
            || wanted::has_wanted(plane, &on.ftl)
        {
            self.next::<S>(plane, on);
        } else if self.idle
            && let Some(wanted) = collection::next_in_background(plane, &mut on.ftl)
        {
            begin(plane, wanted, on);
            self.proceed::<S>(plane, on);
        }
    }
}

/// Begins the collection of a block.
#[inline]
fn begin<P: Probe>(plane: PlaneId, wanted: Wanted, on: &mut Kernel<P, impl FlashContents>) {
    if P::ACTIVE {
        let Wanted { block: victim, purpose } = wanted;
        let (valid, purpose) = (on.ftl.blocks.valid(victim), purpose.name());
        on.flash.probe_mut().note(on.now, Note::Collects { plane, victim, valid, purpose });
    }
    collection::begin_collection(plane, wanted, &mut on.ftl);
}
