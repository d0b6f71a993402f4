//! The write path: into the buffer; from there, when the policy says so, through read-modify-write,
//! placement and programming to the commit.

mod back;
pub(in crate::device) mod cost;
pub(in crate::device) mod cycle;
pub(in crate::device) mod dead_dies;
pub(in crate::device) mod end_of_life;
pub(in crate::device) mod entry;
pub(in crate::device) mod fill;
mod kept;
mod landed;
pub(in crate::device) mod lock_step;
mod map;
pub(in crate::device) mod merge;
mod pass_through;
mod place;
mod row;
pub(in crate::device) mod signals;
pub(in crate::device) mod stalled;
pub(in crate::device) mod start;
pub(in crate::device) mod zones;

use std::collections::VecDeque;

use crate::cache::{Entering, SlotId, WaitingPage};
use crate::device::base::Base;
use crate::device::read::ahead;
use crate::device::write::cycle::Cycles;
use crate::device::write::lock_step::Standstill;
use crate::device::write::stalled::Stalled;
use crate::device::{Contents, Movement, Place};
use crate::engine::skills;
use crate::engine::skills::{RARE, Skills, any};
use crate::ftl::streams::StreamsPolicy;
use crate::ftl::{Cargo, Kernel};
use crate::host::{Op, Pages, Request};
use crate::scheduler::{CommandId, Note, Probe, Spent};
use crate::units::{Lpn, PageSpan, RequestId};

/// The writes in flight.
#[derive(Clone, Debug)]
pub(in crate::device) struct Writes {
    /// By program of a write-back: the slots of its pages. Of two packed pages, the slot that
    /// refers to the other.
    pub loads: Cargo,
    /// Programs that wait for a free page.
    pub stalled: Stalled,
    /// Write-backs that begin by planes.
    pub cycles: Cycles,
    pub standstill: Standstill,
    /// The pages of the write-back that is being put together.
    pub batch: Vec<SlotId>,
    /// The programs of the row that is being placed.
    pub row: Vec<CommandId>,
    /// Pages whose write-back began recently: their mapping entries are being prefetched, and the
    /// data that these entries refer to comes next.
    pub recent: VecDeque<Lpn>,
}

impl Writes {
    pub(in crate::device) fn submit_write<const S: Skills>(
        &mut self,
        id: RequestId,
        request: &Request,
        on: &mut Base<impl Probe, impl Contents>,
    ) {
        if any(S, RARE) {
            on.kernel.ftl.takes_request(on.identifier::<S>(id, request), request.sectors);
        }
        if any(S, RARE) && on.buffer.keeps_versions() {
            self.submit_whole(id, request, on);
            return self.write_back::<S>(on);
        }
        if request.sectors == on.sectors_per_page && self.pass_through::<S>(id, request, on) {
            return;
        }
        for span in Pages::new(request.lba, request.sectors, on.sectors_per_page) {
            if !on.write_page::<S>(id, span, Entering::New) {
                on.desk.intake.wait_for_one(id);
                let stall_mark = self.stalled.time_until(on.kernel.now);
                on.buffer.wait_for_room(WaitingPage { request: id, span, stall_mark }, 1);
            }
        }
        self.write_back::<S>(on);
    }

    /// Admits writes that waited for room.
    pub(in crate::device) fn admit_waiting<const S: Skills>(
        &mut self,
        on: &mut Base<impl Probe, impl Contents>,
    ) {
        while let Some(waiting) = on.buffer.queue.first() {
            let WaitingPage { request, span, .. } = waiting;
            if dead_dies::turned_away(&waiting, self, on) {
                continue;
            }
            let entered = match on.buffer.keeps_versions() {
                true => entry::let_in(request, on),
                false => on.write_page::<S>(request, span, Entering::Waited),
            };
            if !entered {
                return;
            }
            on.buffer.queue.pop();
            if on.desk.intake.settle(request) {
                end_of_life::account_waiting(&waiting, self, on);
                on.finish_from_buffer(request);
            }
        }
    }

    pub(in crate::device) fn submit_trim(
        &mut self,
        request: &Request,
        on: &mut Base<impl Probe, impl Contents>,
    ) {
        if request.op == Op::ZoneReset {
            for trim in zones::reset(request, on) {
                zones::end_waiting(&trim, self, on);
                self.submit_trim(&trim, on);
            }
            return;
        }
        let whole = on.kernel.ftl.full_page();
        for span in Pages::new(request.lba, request.sectors, on.sectors_per_page) {
            if span.sectors != whole {
                continue;
            }
            let Base { buffer, desk, kernel: Kernel { now, ftl, contents, flash, .. }, .. } = on;
            let nothing = Spent::default();
            let mut next = buffer.find(span.page);
            while let Some(found) = next {
                next = buffer.pages.older(found);
                contents.forget(Place::Buffer(found));
                // Writes that wait for this page to reach flash complete: no data is left.
                buffer.trim(found, ftl, |waiter| {
                    desk.settle::<{ skills::ALL }>(waiter, &nothing, *now, contents);
                    flash.probe_mut().note(*now, Note::Settled { request: waiter });
                });
            }
            if on.checks_itself() {
                on.ledger.trimmed(span.page);
            }
            self.admit_next_version::<{ skills::ALL }>(span.page, on);
            ahead::outdate_read::<{ skills::ALL }>(span.page, on);
            on.kernel.ftl.trim(span.page);
        }
        self.update_due_map_pages::<{ skills::ALL }>(on);
        on.relieve::<{ skills::ALL }>();
        self.retry_in_groups::<{ skills::ALL }>(on);
        self.admit_waiting::<{ skills::ALL }>(on);
        self.write_back::<{ skills::ALL }>(on);
    }

    /// A version of a page has left the staging area: admits the write that waited for this.
    #[inline]
    pub(in crate::device) fn admit_next_version<const S: Skills>(
        &mut self,
        page: Lpn,
        on: &mut Base<impl Probe, impl Contents>,
    ) {
        if on.buffer.queue.any_behind() {
            self.admit_what_is_behind::<S>(page, on);
        }
    }

    fn admit_what_is_behind<const S: Skills>(
        &mut self,
        page: Lpn,
        on: &mut Base<impl Probe, impl Contents>,
    ) {
        if on.buffer.find(page).is_some() {
            return;
        }
        while let Some(waiting) = on.buffer.queue.next_version(page) {
            let refused = any(S, RARE)
                && (on.kernel.ftl.is_read_only() || on.kernel.ftl.is_homeless(waiting.span.page));
            if refused {
                end_of_life::refuse_waiting(waiting, self, on);
                continue;
            }
            let WaitingPage { request, span, .. } = waiting;
            let admitted = on.write_page::<S>(request, span, Entering::Waited);
            debug_assert!(admitted, "nothing else can have come in");
            let last = on.desk.intake.settle(request);
            debug_assert!(!last, "it waits for its program now");
            return;
        }
    }
}

impl<P: Probe, C: Contents> Base<P, C> {
    /// Puts a page of a write into the buffer, if there is room.
    pub(in crate::device) fn write_page<const S: Skills>(
        &mut self,
        id: RequestId,
        span: PageSpan,
        turn: Entering,
    ) -> bool {
        let identifier = self.identifier::<S>(id, self.desk.intake.get(id).request());
        let tag = self.kernel.ftl.streams().tag_of(identifier);
        let Some(slot) = self.let_page_in::<S>(span, tag, turn) else { return false };
        let request = self.desk.intake.get(id).request();
        let (from, to) = (Place::Write { tag: request.tag }, Place::Buffer(slot));
        let PageSpan { page, sectors } = span;
        self.kernel.contents.copy(&Movement { from, to, page, sectors });
        ahead::outdate_read::<S>(span.page, self);
        if self.checks_itself() {
            self.ledger.written(span.page, tag);
        }
        entry::wait_for_flash(id, slot, self);
        true
    }

    /// Puts a page of a write into the buffer. Clean pages make room if their eviction is allowed.
    #[inline]
    pub(in crate::device) fn let_page_in<const S: Skills>(
        &mut self,
        span: PageSpan,
        tag: u8,
        turn: Entering,
    ) -> Option<SlotId> {
        loop {
            let entered = self.buffer.write(span, tag, turn, &self.kernel.ftl);
            if entered.is_some() || !self.buffer.rules.keeps_reads {
                return entered;
            }
            let clean = self.buffer.next_clean(turn, &self.kernel.ftl)?;
            self.drop_clean(clean);
        }
    }
}
