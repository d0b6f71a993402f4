//! The read path: the buffer first, then the mapping, then flash.

pub(in crate::device) mod ahead;
pub(in crate::device) mod under_way;

use crate::cache::Entering;
use crate::device::base::Base;
use crate::device::read::under_way::FlashRead;
use crate::device::{Contents, Movement, Place};
use crate::engine::skills;
use crate::engine::skills::{RARE, RARE_ON_FLASH, Skills, any};
use crate::ftl::superblock::deaths;
use crate::ftl::{FlashChange, Fragment, ReadFor, SpoiledBy, lost};
use crate::host::{Pages, Request};
use crate::nand::Senses;
use crate::scheduler::{Command, CommandId, Kind, Origin, Probe, ServiceId};
use crate::units::{DieId, PageSpan, Ppn, RequestId, SectorMask};
use crate::verify::Canary;

/// A flash read that is being put together: pages on the same flash page are sensed once, and those on different pages
/// of a word line by a read each.
pub(in crate::device) struct Gathering {
    pub command: CommandId,
    pub flash_page: u32,
    pub senses: Option<Senses>,
}

pub(in crate::device) fn submit_read<const S: Skills>(
    id: RequestId,
    request: &Request,
    on: &mut Base<impl Probe, impl Contents>,
) {
    let mut gathering = None;
    for span in Pages::new(request.lba, request.sectors, on.sectors_per_page) {
        read_page::<S>(id, span, &mut gathering, on);
    }
    if let Some(Gathering { command, .. }) = gathering {
        on.kernel.submit::<S>(command);
    }
    if any(S, RARE) && on.reads.cache.ahead() > 0 {
        ahead::read_ahead(request, on);
    }
}

fn read_page<const S: Skills>(
    id: RequestId,
    span: PageSpan,
    gathering: &mut Option<Gathering>,
    on: &mut Base<impl Probe, impl Contents>,
) {
    let passes = on.plant.is(Canary::ReadPassesBuffer);
    let slot = on.buffer.find(span.page).filter(|_| !passes);
    let mut missing = span.sectors;
    let mut version = slot;
    while let Some(slot) = version {
        let there = on.buffer.page(slot).readable().within(missing);
        missing = missing.without(there);
        if !there.is_empty() {
            let (from, to) = (Place::Buffer(slot), Place::Read(id));
            let movement = Movement { from, to, page: span.page, sectors: there };
            on.kernel.contents.copy(&movement);
        }
        version = match any(S, RARE) {
            true => on.buffer.pages.older(slot).filter(|_| !missing.is_empty()),
            false => None,
        };
    }
    on.buffer.note_read(slot.filter(|_| missing.is_empty()), &on.kernel.ftl);
    if missing.is_empty() {
        return;
    }
    let wanted = PageSpan { page: span.page, sectors: missing };
    if any(S, RARE) && on.services.map.is_some() && !finds_entry_to_read(id, wanted, gathering, on)
    {
        return;
    }
    // A page that was never written reads as zeros, without a flash command.
    let Some(at) = on.kernel.ftl.look_up_for_host::<S>(span.page) else { return };
    if any(S, RARE)
        && on.reads.cache.is_on()
        && let Some(place) = on.reads.cache.read(span.page)
    {
        let (from, to) = (Place::ReadCache(place), Place::Read(id));
        let movement = Movement { from, to, page: span.page, sectors: missing };
        return on.kernel.contents.copy(&movement);
    }
    if any(S, RARE) && on.kernel.ftl.regulation().is_some() {
        on.note_flash_read(span.page, missing);
    }
    match any(S, RARE) && on.kernel.ftl.packs() {
        false => read_from::<S>(id, at, wanted, gathering, on),
        true => read_fragments(id, wanted, gathering, on),
    }
}

/// Looks up the entry of a page. Returns false if the read has to wait for it. Submits the gathered
/// read before the look-up reads a translation page.
fn finds_entry_to_read(
    id: RequestId,
    wanted: PageSpan,
    gathering: &mut Option<Gathering>,
    on: &mut Base<impl Probe, impl Contents>,
) -> bool {
    // Pages in the read cache need no entry.
    if on.reads.cache.is_on() && on.reads.cache.find(wanted.page).is_some() {
        return true;
    }
    if on.may_wait_for_entry(wanted.page)
        && let Some(Gathering { command, .. }) = gathering.take()
    {
        on.kernel.submit::<{ skills::ALL }>(command);
    }
    on.finds_entry_of_read(id, wanted.page, wanted.sectors)
}

/// Reads sectors of a page from each of its parts that holds some. Sectors that no part holds were
/// never written; they are attributed to the last part that is read.
fn read_fragments(
    id: RequestId,
    wanted: PageSpan,
    gathering: &mut Option<Gathering>,
    on: &mut Base<impl Probe, impl Contents>,
) {
    let [newer, older] = on.kernel.ftl.fragments(wanted.page);
    let Some(newer) = newer else { return };
    let older = older.filter(|older| !wanted.sectors.within(older.sectors).is_empty());
    let of_newer = match older {
        Some(_) => wanted.sectors.within(newer.sectors),
        None => wanted.sectors,
    };
    let rest = wanted.sectors.without(of_newer);
    for (part, sectors) in [(Some(newer), of_newer), (older, rest)] {
        if let Some(part) = part.filter(|_| !sectors.is_empty()) {
            read_from::<{ skills::ALL }>(
                id,
                part.at,
                PageSpan { sectors, ..wanted },
                gathering,
                on,
            );
        }
    }
}

/// Reads sectors of a page from the place `at`.
#[inline]
pub(in crate::device) fn read_from<const S: Skills>(
    id: RequestId,
    at: Ppn,
    wanted: PageSpan,
    gathering: &mut Option<Gathering>,
    on: &mut Base<impl Probe, impl Contents>,
) {
    if any(S, RARE_ON_FLASH) && !on.kernel.ftl.lost().at(at).within(wanted.sectors).is_empty() {
        on.desk.intake.cannot_read(id);
    }
    let read = FlashRead::new(id, wanted, at);
    if any(S, RARE) && on.reads.cache.ahead() > 0 && ahead::join_read_ahead(read, on) {
        return;
    }
    let flash_page = on.kernel.ftl.geometry().flash_page_of(at);
    // The read cache keeps whole flash pages.
    let (senses, codewords) = match any(S, RARE) && on.reads.cache.is_on() {
        true => (None, on.kernel.flash.bus().page_codewords()),
        false => (
            on.kernel.flash.senses::<S>(at, wanted.sectors),
            on.kernel.flash.bus().codewords_of(wanted.sectors),
        ),
    };
    let command = match gathering {
        Some(open)
            if open.flash_page == flash_page
                && (!any(S, RARE_ON_FLASH) || open.senses == senses) =>
        {
            open.command
        }
        _ => {
            let (owner, mode) = (ServiceId::READS.owner(id.get()), on.kernel.ftl.mode_at::<S>(at));
            let command = on.kernel.flash.prepare_with(|| {
                Command::new(Kind::Read, Origin::Host, owner, at).in_mode(mode).sensing(senses)
            });
            on.desk.intake.wait_for_one(id);
            if let Some(full) = gathering.replace(Gathering { command, flash_page, senses }) {
                on.kernel.submit::<S>(full.command);
            }
            command
        }
    };
    // Parts of two packed pages are counted by the usual places of their sectors. Together they are
    // no more than what is sensed.
    let whole = on.kernel.flash.codewords_sensed::<S>(senses);
    let open = on.kernel.flash.command_mut(command);
    open.units += 1;
    open.codewords = (open.codewords + codewords).min(whole);
    on.plan_read::<S>(command, read);
}

impl<P: Probe, C: Contents> Base<P, C> {
    /// Whether reads in flight have to be known when they are done.
    #[inline(always)]
    fn remembers_reads<const S: Skills>(&self) -> bool {
        C::MOVES || any(S, RARE) && self.buffer.rules.keeps_reads
    }

    /// A flash command will read this page for the host.
    #[inline]
    pub(in crate::device) fn plan_read<const S: Skills>(
        &mut self,
        command: CommandId,
        read: FlashRead,
    ) {
        self.kernel.contents.foresee(command, read.at, ReadFor::Host(read.page));
        if self.remembers_reads::<S>() {
            self.reads.fetched.plan(command, read);
        }
    }

    /// A flash command that is in flight already reads this page, too.
    pub(in crate::device) fn join_read(&mut self, command: CommandId, read: FlashRead) {
        self.kernel.contents.foresee(command, read.at, ReadFor::Joined(read.page));
        if self.remembers_reads::<{ skills::ALL }>() {
            self.reads.fetched.plan(command, read);
        }
    }

    /// A flash command is done: what it read for the host goes there.
    #[inline]
    pub(in crate::device) fn deliver_what_was_read(&mut self, command: CommandId) {
        if !C::MOVES {
            return;
        }
        let Base { reads, kernel, .. } = self;
        reads.fetched.of(command).iter_mut().for_each(|read| read.deliver(&mut kernel.contents));
        if !self.buffer.rules.keeps_reads {
            self.reads.fetched.of(command).clear();
        }
    }
}

/// A page has left its die: moves its data to the requests that wait for it, and notes what went wrong. Nobody can join its
/// read any more.
pub(in crate::device) fn left_die<C: Contents>(id: CommandId, on: &mut Base<impl Probe, C>) {
    let whole = on.kernel.whole_of(id);
    if C::MOVES && !on.plant.is(Canary::LookedUpWhenDecoded) {
        let reads = on.reads.fetched.of(whole);
        reads.iter_mut().for_each(|read| read.deliver(&mut on.kernel.contents));
    }
    on.reads.ahead.pages.retain(|&(_, known)| known != whole);
    if on.kernel.flash.command(id).found.is_bad() {
        went_wrong(id, on);
    }
    on.kernel.flash.command_mut(id).found.has_left = true;
}

/// A flash command read data that cannot be corrected, or failed.
#[cold]
pub(in crate::device) fn went_wrong(id: CommandId, on: &mut Base<impl Probe, impl Contents>) {
    if on.kernel.flash.command(id).found.failed {
        found_failed(id, on);
    }
    if on.kernel.flash.command(id).found.unreadable {
        found_unreadable(id, on);
    }
}

/// A flash command read data that cannot be corrected, or its die is dead: the data is lost.
fn found_unreadable(id: CommandId, on: &mut Base<impl Probe, impl Contents>) {
    let Command { owner, page, source, .. } = *on.kernel.flash.command(id);
    // Parts of a reconstruction are skipped: a page is lost only if it could not be computed either.
    if owner.service == ServiceId::STRIPES {
        return;
    }
    let copy = source.map(|_| (page, SpoiledBy::UnreadableSource));
    let sensed = (source.unwrap_or(page), SpoiledBy::Unreadable);
    for (page, by) in std::iter::once(sensed).chain(copy) {
        let first = lost::lose_flash_page(page, &mut on.kernel.ftl);
        let units = on.units_per_page;
        // Reads in flight still get the data, later ones don't.
        let lost = first.get()..first.get() + units;
        on.reads.fetched.deliver_from(lost, &mut on.kernel.contents);
        let change = FlashChange::Spoiled { first, units, by };
        on.kernel.contents.change(change);
    }
    match owner.service {
        ServiceId::READS => on.desk.intake.cannot_read(RequestId::new(owner.token)),
        _ => on.services.unreadable(owner, &mut on.kernel),
    }
}

pub(in crate::device) fn keep_read(read: &FlashRead, on: &mut Base<impl Probe, impl Contents>) {
    if on.kernel.ftl.lost().is_at(read.at) {
        return;
    }
    let current = PageSpan { page: read.page, sectors: still_current(read, on) };
    let sectors = match on.plant.is(Canary::StaleReadKept) {
        true => read.sectors,
        false => on.buffer.pages.worth_keeping(current),
    };
    if sectors.is_empty() {
        return;
    }
    let span = PageSpan { page: read.page, sectors };
    loop {
        if let Some(slot) = on.buffer.keep(span, &on.kernel.ftl) {
            let (from, to) = (Place::Flash(read.at), Place::Buffer(slot));
            return on.kernel.contents.copy(&Movement { from, to, page: read.page, sectors });
        }
        match on.buffer.next_clean(Entering::New, &on.kernel.ftl) {
            Some(clean) => on.drop_clean(clean),
            None => return on.buffer.queue.turn_away(),
        }
    }
}

/// The sectors of a read that are still current. The page may have got a newer part meanwhile,
/// beside the remainder of the part that was read.
fn still_current(read: &FlashRead, on: &Base<impl Probe, impl Contents>) -> SectorMask {
    let parts = on.kernel.ftl.fragments(read.page);
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

/// A flash command is done. Returns whether it goes on, because its page is computed from others.
pub(super) fn is_computed(id: CommandId, on: &mut Base<impl Probe, impl Contents>) -> bool {
    if on.kernel.ftl.stripes().is_none() {
        return false;
    }
    if on.kernel.flash.command(id).found.failed {
        found_failed(id, on);
    }
    on.kernel.goes_on(id)
}

/// A command failed: its die may be dead.
#[cold]
fn found_failed(id: CommandId, on: &mut Base<impl Probe, impl Contents>) {
    let die = on.kernel.flash.die_of(id);
    if on.kernel.flash.cells().is_dead(die, on.kernel.now) {
        die_is_dead(die, on);
    }
}

/// A die is dead: the layers above go on without it.
pub(super) fn die_is_dead(die: DieId, on: &mut Base<impl Probe, impl Contents>) {
    deaths::die_died(die, &mut on.kernel.ftl);
    if on.kernel.ftl.leaves_pages_out() {
        on.kernel.flash.leave_pages_out();
    }
}
