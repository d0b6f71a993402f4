//! How the collector copies a flash page of valid pages: which pages go together, and the commands
//! that read and program them.

use super::collector::Collector;
use crate::engine::skills;
use crate::engine::skills::{Skills, UNITS, any};
use crate::ftl::{FlashContents, Ftl, Kernel};
use crate::nand::CellMode;
use crate::scheduler::{Command, CommandId, Kind, Origin, Probe, ServiceId};
use crate::units::{BlockId, PlaneId, Ppn};

impl Collector {
    /// Starts copying one flash page of valid pages, from `first` of the victim on. Pages on one flash page are read
    /// and programmed by one command; otherwise the program waits for its reads.
    pub(super) fn copy_page<const S: Skills>(
        &mut self,
        plane: PlaneId,
        origin: Origin,
        victim: BlockId,
        first: u32,
        on: &mut Kernel<impl Probe, impl FlashContents>,
    ) {
        if !any(S, UNITS) {
            return self.copy_unit::<S>(plane, origin, victim, first, on);
        }
        let (next, flash_pages) = self.gather(victim, first, &on.ftl);
        if let Some(run) = on.ftl.space.planes[plane.at()].collection.as_mut() {
            run.in_flight += 1;
            run.next_unit = next;
        }
        self.begin_to_read::<S>(plane);
        let (owner, codewords) =
            (ServiceId::COLLECTOR.owner(plane.get()), on.flash.bus().codewords_per_unit());
        let mode = on.ftl.mode_of::<S>(victim);
        let sources = self.batch.len() as u32;
        let first = self.batch[0];
        if flash_pages == 1 {
            let codewords = sources * codewords;
            let senses = on.flash.senses_of_units::<S>(self.batch.iter().copied());
            let id = on.flash.prepare_with(|| {
                Command::new(Kind::Read, origin, owner, first)
                    .carrying(sources, codewords)
                    .in_mode(mode)
                    .sensing(senses)
            });
            self.note_sources(id);
            return self.submit::<S>(plane, id, on);
        }
        let page_codewords = on.flash.bus().page_codewords();
        let program = on.flash.prepare_with(|| {
            Command::new(Kind::Program, origin, owner, first)
                .carrying(sources, page_codewords)
                .after(flash_pages)
        });
        self.note_sources(program);
        let mut from = 0;
        while let Some(&page) = self.batch.get(from) {
            let flash_page = on.ftl.geometry.flash_page_of(page);
            let on_it = |page: &&Ppn| on.ftl.geometry.flash_page_of(**page) == flash_page;
            let units = self.batch[from..].iter().take_while(on_it).count();
            let sources = self.batch[from..from + units].iter().copied();
            let senses = on.flash.senses_of_units::<S>(sources);
            from += units;
            let units = units as u32;
            let id = on.flash.prepare_with(|| {
                Command::new(Kind::Read, origin, owner, page)
                    .carrying(units, units * codewords)
                    .in_mode(mode)
                    .sensing(senses)
                    .then(program)
            });
            self.submit::<S>(plane, id, on);
        }
    }

    /// Starts copying the valid page at `unit` of the victim, if a flash page holds only one unit.
    #[inline(always)]
    fn copy_unit<const S: Skills>(
        &mut self,
        plane: PlaneId,
        origin: Origin,
        victim: BlockId,
        unit: u32,
        on: &mut Kernel<impl Probe, impl FlashContents>,
    ) {
        let source = on.ftl.geometry.page_at(victim, unit);
        prefetch_source(source, &on.ftl);
        if let Some(run) = on.ftl.space.planes[plane.at()].collection.as_mut() {
            run.in_flight += 1;
            run.next_unit = unit + 1;
        }
        self.begin_to_read::<S>(plane);
        let (owner, codewords) =
            (ServiceId::COLLECTOR.owner(plane.get()), on.flash.bus().codewords_per_unit());
        let mode = on.ftl.mode_of::<S>(victim);
        let id = on.flash.prepare_with(|| {
            Command::new(Kind::Read, origin, owner, source).carrying(1, codewords).in_mode(mode)
        });
        self.sources.row_mut(id)[0] = source.to_raw();
        self.submit::<S>(plane, id, on);
    }

    /// Counts the copies that others of their row wait for.
    #[inline(always)]
    fn begin_to_read<const S: Skills>(&mut self, plane: PlaneId) {
        if any(S, skills::RARE)
            && let Some(row) = self.rows.get_mut(plane.at())
        {
            row.reading += 1;
        }
    }

    /// Puts the next valid pages of a victim into the batch, from `first` on, as many as a flash page holds, and
    /// prefetches what their copy uses. Returns the unit behind them, and the number of flash pages that hold them.
    #[inline(always)]
    fn gather(&mut self, victim: BlockId, first: u32, ftl: &Ftl) -> (u32, u32) {
        let units_per_page = ftl.geometry.units_per_page();
        self.batch.clear();
        let (mut next, mut flash_pages, mut last) = (Some(first), 0, None);
        while let Some(unit) = next.filter(|_| (self.batch.len() as u32) < units_per_page) {
            let source = ftl.geometry.page_at(victim, unit);
            self.batch.push(source);
            prefetch_source(source, ftl);
            let flash_page = Some(ftl.geometry.flash_page_of(source));
            flash_pages += u32::from(flash_page != last);
            last = flash_page;
            next = ftl.blocks.next_valid(victim, unit + 1);
        }
        (next.unwrap_or(ftl.geometry.units_per_block()), flash_pages)
    }

    /// Records the batch as the sources of a command.
    #[inline(always)]
    fn note_sources(&mut self, id: CommandId) {
        for (place, source) in self.sources.row_mut(id).iter_mut().zip(&self.batch) {
            *place = source.to_raw();
        }
    }

    /// Copies the flash page at `first` of the victim within the plane, if dies do that and all of it is valid.
    pub(super) fn copy_back<const S: Skills>(
        &mut self,
        plane: PlaneId,
        origin: Origin,
        first: u32,
        on: &mut Kernel<impl Probe, impl FlashContents>,
    ) -> bool {
        let units = on.ftl.geometry.units_per_page();
        let Some(victim) = on.ftl.collecting(plane) else { return false };
        let whole = |unit| on.ftl.blocks.is_valid(victim, unit);
        let mode = on.ftl.mode_of::<{ skills::ALL }>(victim);
        let alone = copies_within_planes(mode, &on.ftl);
        if !alone || !first.is_multiple_of(units) || !(first..first + units).all(whole) {
            return false;
        }
        let source = on.ftl.geometry.page_at(victim, first);
        let mut command =
            Command::new(Kind::Copyback, origin, ServiceId::COLLECTOR.owner(plane.get()), source);
        command.source = Some(source);
        (command.units, command.mode) = (units, mode);
        let id = on.flash.prepare(command);
        for (unit, place) in (0..units).zip(self.sources.row_mut(id)) {
            *place = Ppn::new(source.get() + unit).to_raw();
        }
        if let Some(run) = on.ftl.space.planes[plane.at()].collection.as_mut() {
            run.in_flight += 1;
            run.next_unit = first + units;
        }
        self.place_copy::<S>(plane, id, on);
        true
    }

    pub(super) fn source(&self, program: CommandId, unit: u32) -> Ppn {
        let raw = self.sources.get(program, unit);
        Ppn::from_raw(raw).expect("every page of a copy has a source")
    }
}

/// Whether dies copy whole flash pages of blocks in this mode on their own: by copyback, or as they fold their cache.
pub(super) fn copies_within_planes(mode: CellMode, ftl: &Ftl) -> bool {
    match mode {
        CellMode::Native => ftl.space.triggers.copyback,
        CellMode::Slc => ftl.features.slc.as_ref().is_some_and(|cache| cache.folds_inside()),
    }
}

/// Prefetches what the copy of a page uses: its map entry, and the owners that follow.
#[inline(always)]
fn prefetch_source(source: Ppn, ftl: &Ftl) {
    if let Some(page) = ftl.map.spare.owner(source) {
        ftl.prefetch(page);
    }
    ftl.map.spare.prefetch_after(source);
}
