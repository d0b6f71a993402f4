//! A read on its way down: the buffer, then the mapping, then flash.

use super::Writes;
use super::base::Base;
use super::gathering::Gathering;
use super::{Contents, FlashRead};
use crate::cache::Turn;
use crate::engine::skills::{self, RARE, RARE_ON_FLASH, Skills, any};
use crate::ftl::Fragment;
use crate::host::{Pages, Request};
use crate::scheduler::{Command, CommandId, Kind, Origin, Probe, Task};
use crate::units::{PageSpan, Ppn, RequestId, SectorMask};
use crate::verify::Canary;

/// What flash commands in flight read, where that stays in the buffer.
#[derive(Clone, Debug, Default)]
pub(super) struct Fetched {
    by_command: Vec<Vec<FlashRead>>,
}

impl Fetched {
    pub(super) fn plan(&mut self, command: CommandId, read: FlashRead) {
        if command.at() >= self.by_command.len() {
            self.by_command.resize_with(command.at() + 1, Vec::new);
        }
        self.by_command[command.at()].push(read);
    }

    fn take(&mut self, command: CommandId) -> Vec<FlashRead> {
        self.by_command.get_mut(command.at()).map(std::mem::take).unwrap_or_default()
    }

    /// Keeps the memory of an empty list for the next command of that number.
    fn give_back(&mut self, command: CommandId, list: Vec<FlashRead>) {
        if let Some(place) = self.by_command.get_mut(command.at()) {
            *place = list;
        }
    }
}

impl Writes {
    /// What a flash command has read for a host stays in the buffer, if that keeps reads: what of it is still
    /// current on flash, as far as there is room.
    pub(super) fn keep_what_was_read(
        &mut self,
        command: CommandId,
        on: &mut Base<impl Probe, impl Contents>,
    ) {
        let mut reads = on.reads.fetched.take(command);
        for read in reads.drain(..) {
            on.keep_read(&read);
        }
        on.reads.fetched.give_back(command, reads);
        self.write_back::<{ skills::ALL }>(on);
    }
}

impl<P: Probe, C: Contents> Base<P, C> {
    pub(super) fn submit_read<const S: Skills>(&mut self, id: RequestId, request: &Request) {
        let mut gathering = None;
        for span in Pages::new(request.lba, request.sectors, self.sectors_per_page) {
            self.read_page::<S>(id, span, &mut gathering);
        }
        if let Some(Gathering { command, .. }) = gathering {
            self.submit_command::<S>(command);
        }
        if any(S, RARE) && self.reads.cache.ahead() > 0 {
            self.read_ahead(request);
        }
    }

    fn read_page<const S: Skills>(
        &mut self,
        id: RequestId,
        span: PageSpan,
        gathering: &mut Option<Gathering>,
    ) {
        let passes = self.plant.is(Canary::ReadPassesBuffer);
        let slot = self.buffer.find(span.page).filter(|_| !passes);
        let mut missing = span.sectors;
        let mut version = slot;
        while let Some(slot) = version {
            let there = self.buffer.page(slot).readable().within(missing);
            missing = missing.without(there);
            if !there.is_empty() {
                self.kernel.contents.read_buffer(id, span.page, there, slot);
            }
            version = match any(S, RARE) {
                true => self.buffer.older(slot).filter(|_| !missing.is_empty()),
                false => None,
            };
        }
        self.buffer.note_read(slot.filter(|_| missing.is_empty()), &self.kernel.ftl);
        if missing.is_empty() {
            return;
        }
        let wanted = PageSpan { page: span.page, sectors: missing };
        if any(S, RARE)
            && self.services.map.is_some()
            && !self.finds_entry_to_read(id, wanted, gathering)
        {
            return;
        }
        // A page that was never written reads as zeros, straight from the map.
        let Some(at) = self.kernel.ftl.look_up_for_host::<S>(span.page) else { return };
        if any(S, RARE)
            && self.reads.cache.is_on()
            && let Some(place) = self.reads.cache.read(span.page)
        {
            return self.kernel.contents.read_cached(id, span.page, missing, place);
        }
        if any(S, RARE) && self.kernel.ftl.regulation().is_some() {
            self.note_flash_read(span.page, missing);
        }
        match any(S, RARE) && self.kernel.ftl.packs() {
            false => self.read_from::<S>(id, at, wanted, gathering),
            true => self.read_fragments(id, wanted, gathering),
        }
    }

    /// Looks up the entry of a page. False if the read has to wait for it. What was gathered goes before what is
    /// read for that.
    fn finds_entry_to_read(
        &mut self,
        id: RequestId,
        wanted: PageSpan,
        gathering: &mut Option<Gathering>,
    ) -> bool {
        // What the read cache has needs none.
        if self.reads.cache.is_on() && self.reads.cache.find(wanted.page).is_some() {
            return true;
        }
        if self.may_wait_for_entry(wanted.page)
            && let Some(Gathering { command, .. }) = gathering.take()
        {
            self.submit_command::<{ skills::ALL }>(command);
        }
        self.finds_entry_of_read(id, wanted.page, wanted.sectors)
    }

    /// Reads sectors of a page from each of its parts that holds some. What no part holds was never written
    /// and comes with the last one that is read.
    fn read_fragments(
        &mut self,
        id: RequestId,
        wanted: PageSpan,
        gathering: &mut Option<Gathering>,
    ) {
        let [newer, older] = self.kernel.ftl.fragments(wanted.page);
        let Some(newer) = newer else { return };
        let older = older.filter(|older| !wanted.sectors.within(older.sectors).is_empty());
        let of_newer = match older {
            Some(_) => wanted.sectors.within(newer.sectors),
            None => wanted.sectors,
        };
        let rest = wanted.sectors.without(of_newer);
        for (part, sectors) in [(Some(newer), of_newer), (older, rest)] {
            if let Some(part) = part.filter(|_| !sectors.is_empty()) {
                self.read_from::<{ skills::ALL }>(
                    id,
                    part.at,
                    PageSpan { sectors, ..wanted },
                    gathering,
                );
            }
        }
    }

    /// Reads sectors of a page that lie at `at`.
    #[inline]
    pub(super) fn read_from<const S: Skills>(
        &mut self,
        id: RequestId,
        at: Ppn,
        wanted: PageSpan,
        gathering: &mut Option<Gathering>,
    ) {
        if any(S, RARE_ON_FLASH) && !self.kernel.ftl.lost_at(at).within(wanted.sectors).is_empty() {
            self.desk.intake.cannot_read(id);
        }
        let read = FlashRead { request: id, page: wanted.page, at, sectors: wanted.sectors };
        if any(S, RARE) && self.reads.cache.ahead() > 0 && self.join_read_ahead(read) {
            return;
        }
        let flash_page = self.kernel.ftl.geometry().flash_page_of(at);
        let command = match gathering {
            Some(open) if open.flash_page == flash_page => open.command,
            _ => {
                let mut command = Command::new(Kind::Read, Origin::Host, Task::Request(id), at);
                command.mode = self.kernel.ftl.mode_at::<S>(at);
                let command = self.kernel.flash.prepare(command);
                self.desk.intake.wait_for_one(id);
                if let Some(full) = gathering.replace(Gathering { command, flash_page }) {
                    self.submit_command::<S>(full.command);
                }
                command
            }
        };
        // What is kept is kept as a whole.
        let codewords = match any(S, RARE) && self.reads.cache.is_on() {
            true => self.kernel.flash.bus().page_codewords(),
            false => self.kernel.flash.bus().codewords_of(wanted.sectors),
        };
        // Parts of two pages on one physical page are counted by their sectors' usual places: they fill no
        // more than is there.
        let whole = self.kernel.flash.bus().page_codewords();
        let open = self.kernel.flash.command_mut(command);
        open.units += 1;
        open.codewords = (open.codewords + codewords).min(whole);
        self.kernel.contents.plan_read(command, read);
        if any(S, RARE) && self.buffer.keeps_reads() {
            self.reads.fetched.plan(command, read);
        }
    }

    /// A flash command found what nothing corrects, or failed.
    #[cold]
    pub(super) fn went_wrong(&mut self, id: CommandId) {
        if self.kernel.flash.command(id).found.failed {
            self.found_failed(id);
        }
        if self.kernel.flash.command(id).found.unreadable {
            self.found_unreadable(id);
        }
    }

    /// A flash command found what nothing corrects, or its die does not answer: that data is lost.
    fn found_unreadable(&mut self, id: CommandId) {
        let Command { task, page, source, .. } = *self.kernel.flash.command(id);
        // Whether a page is lost is known when it could not be computed either.
        if matches!(task, Task::Part(_) | Task::Parity(_)) {
            return;
        }
        for page in [source, Some(page)].into_iter().flatten() {
            let first = self.kernel.ftl.lose_flash_page(page);
            self.kernel.contents.lose(first, self.units_per_page);
        }
        match task {
            Task::Request(request) => self.desk.intake.cannot_read(request),
            Task::LoadMap(of) | Task::RewriteMap(of) => {
                if let Some(map) = &self.services.map {
                    map.lose_entries(of, &mut self.kernel.ftl);
                }
            }
            _ => {}
        }
    }

    fn keep_read(&mut self, read: &FlashRead) {
        if self.kernel.ftl.is_lost(read.at) {
            return;
        }
        let current = PageSpan { page: read.page, sectors: self.still_current(read) };
        let sectors = match self.plant.is(Canary::StaleReadKept) {
            true => read.sectors,
            false => self.buffer.worth_keeping(current),
        };
        if sectors.is_empty() {
            return;
        }
        let span = PageSpan { page: read.page, sectors };
        loop {
            if let Some(slot) = self.buffer.keep(span, &self.kernel.ftl) {
                return self.kernel.contents.keep(&FlashRead { sectors, ..*read }, slot);
            }
            match self.buffer.next_clean(Turn::New, &self.kernel.ftl) {
                Some(clean) => self.drop_clean(clean),
                None => return self.buffer.turn_away(),
            }
        }
    }

    /// The sectors of what was read that nothing newer on flash holds by now. The page may have got a
    /// newer part meanwhile, beside what is left of the one that was read.
    fn still_current(&self, read: &FlashRead) -> SectorMask {
        let parts = self.kernel.ftl.fragments(read.page);
        let (mut lies_there, mut elsewhere) = (false, SectorMask::EMPTY);
        for Fragment { at, sectors } in parts.into_iter().flatten() {
            match at == read.at {
                true => lies_there = true,
                false => elsewhere = elsewhere.and_also(sectors),
            }
        }
        match lies_there {
            true => read.sectors.without(elsewhere),
            false => SectorMask::EMPTY,
        }
    }
}
