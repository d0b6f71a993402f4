//! Rows: flash pages that are written back together, one on each plane of a die, so that one
//! multi-plane program serves them. A die that took each page as it comes would start with a single
//! page whenever it becomes free. Therefore a row is put together before it is placed, and placed
//! before its die starts. It never waits for more pages to become dirty.

use crate::cache::{Beside, Eviction};
use crate::device::Contents;
use crate::device::base::Base;
use crate::device::write::Writes;
use crate::engine::skills::{RARE, Skills, any};
use crate::ftl::placement::Mate;
use crate::ftl::streams::WriteStream;
use crate::nand::{CellMode, Row};
use crate::scheduler::{CommandId, Probe};
use crate::units::{Lpn, Ppn};

/// A row whose first page is placed.
#[derive(Clone, Copy)]
struct Begun {
    row: Row,
    mode: CellMode,
    stream: WriteStream,
}

impl Writes {
    /// Begins the write-back of `first` and of as many further flash pages as fit into its row.
    /// They all wait for the reads that partial pages need.
    #[inline(never)]
    pub(in crate::device) fn begin_row<const S: Skills>(
        &mut self,
        first: Eviction,
        on: &mut Base<impl Probe, impl Contents>,
    ) {
        let leader = self.fill_program::<S>(first, None, on);
        let (home, stream) =
            (self.first_page_of(leader, on), self.stream_of_program::<S>(leader, on));
        let mut last = leader;
        for number in 1..on.buffer.rules.row {
            let Some(next) = on.next_of_row(home, stream, number) else { continue };
            let program = self.fill_program::<S>(next, Some(leader), on);
            on.kernel.flash.link(last, program);
            last = program;
        }
        if on.kernel.flash.command(leader).waits_for == 0 {
            self.issue_row::<S>(leader, on);
        }
    }

    /// The last read of a row is done. All its programs have waited for as long.
    pub(in crate::device) fn row_is_complete<const S: Skills>(
        &mut self,
        leader: CommandId,
        on: &mut Base<impl Probe, impl Contents>,
    ) {
        let spent = on.kernel.flash.command(leader).spent;
        let mut next = on.kernel.flash.next_of_row(leader);
        while let Some(id) = next {
            on.kernel.flash.command_mut(id).spent = spent;
            next = on.kernel.flash.next_of_row(id);
        }
        self.issue_row::<S>(leader, on);
    }

    /// Places the programs of a row and submits them, as soon as the processor has time and their data
    /// has left DRAM.
    fn issue_row<const S: Skills>(
        &mut self,
        leader: CommandId,
        on: &mut Base<impl Probe, impl Contents>,
    ) {
        if any(S, RARE) {
            let members =
                std::iter::successors(Some(leader), |&id| on.kernel.flash.next_of_row(id));
            let pages = members.count() as u32;
            if on.wait_for_processor(leader, pages) || on.wait_for_dram(leader) {
                return;
            }
        }
        self.issue_row_now::<S>(leader, on);
    }

    /// Places the programs of a row, and submits those that got a place.
    pub(in crate::device) fn issue_row_now<const S: Skills>(
        &mut self,
        leader: CommandId,
        on: &mut Base<impl Probe, impl Contents>,
    ) {
        let mut row = std::mem::take(&mut self.row);
        let mut begun = None;
        let mut next = Some(leader);
        while let Some(id) = next {
            next = on.kernel.flash.next_of_row(id);
            if self.place_in_row::<S>(id, &mut begun, on) {
                row.push(id);
            }
        }
        on.kernel.submit_row::<S>(&row);
        for &id in &row {
            let page = on.kernel.flash.command(id).page;
            on.consider_collecting_at::<S>(page);
        }
        row.clear();
        self.row = row;
    }

    /// Places a program beside the earlier ones of its row if possible. Otherwise it is placed
    /// alone and starts a new row. If nothing is free, it waits.
    fn place_in_row<const S: Skills>(
        &mut self,
        program: CommandId,
        begun: &mut Option<Begun>,
        on: &mut Base<impl Probe, impl Contents>,
    ) -> bool {
        let stream = self.stream_of_program::<S>(program, on);
        if let Some(begun) = begun.as_mut().filter(|begun| begun.stream == stream)
            && self.stalled.is_empty()
            && let Some(at) = self.place_beside::<S>(program, begun, on)
        {
            let geometry = on.kernel.flash.geometry();
            begun.row.take(geometry, geometry.plane_of(geometry.block_of(at)));
            return true;
        }
        if !self.place_or_stall::<S>(program, stream, on) {
            return false;
        }
        let (page, mode) =
            (on.kernel.flash.command(program).page, on.kernel.flash.command(program).mode);
        let address = on.kernel.flash.sheet().multi_plane().address;
        let row = Row::new(on.kernel.flash.geometry(), address, page);
        *begun = Some(Begun { row, mode, stream });
        true
    }

    fn place_beside<const S: Skills>(
        &mut self,
        program: CommandId,
        begun: &Begun,
        on: &mut Base<impl Probe, impl Contents>,
    ) -> Option<Ppn> {
        let page = self.first_page_of(program, on);
        let at = on.kernel.ftl.place_beside::<S>(page, begun.stream, &begun.row, begun.mode)?;
        self.fill_place::<S>(program, at, on);
        Some(at)
    }
}

impl<P: Probe, C: Contents> Base<P, C> {
    /// The eviction that begins another flash page of a row.
    pub(in crate::device) fn next_of_row(
        &mut self,
        home: Lpn,
        stream: WriteStream,
        number: u32,
    ) -> Option<Eviction> {
        match self.kernel.ftl.mate(home, number) {
            Mate::Any => self.companion(stream, Beside::InRow),
            Mate::Group(first) => {
                let page = |unit| Some(Lpn::new(first.get().checked_add(unit)?));
                let pages = (0..self.units_per_page).filter_map(page);
                let mut dirty = pages.filter_map(|page| self.buffer.pages.find_dirty(page));
                dirty.find(|&slot| self.stream_of(slot) == stream).map(Eviction::Page)
            }
            Mate::Nothing => None,
        }
    }
}
