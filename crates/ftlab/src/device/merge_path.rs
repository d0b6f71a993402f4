//! Writes to a mapping with a log, and the merges that make room for them.
//!
//! With clocks of its own, a plane that has no room merges while the others go on; writes to it stall. In
//! lock-step the device stands still for that (`device/lock_step.rs`).

use super::lock_step::Motion;
use super::{Contents, Device};
use crate::cache::SlotId;
use crate::engine::skills::{self, Skills};
use crate::ftl::gc::Ground;
use crate::ftl::mapping::hybrid::Room;
use crate::ftl::merge::{Merger, Step};
use crate::ftl::placement::PlacementPolicy;
use crate::ftl::streams::WriteStream;
use crate::scheduler::{CommandId, Probe};
use crate::units::{Lpn, PlaneId, Ppn};

impl<P: Probe, C: Contents> Device<P, C> {
    fn merge_ground(&mut self) -> Option<(&mut Merger, Ground<'_, P, C>)> {
        let Device { now, ftl, flash, contents, merger, .. } = self;
        let merger = merger.as_deref_mut()?;
        Some((merger, Ground { now: *now, ftl, flash, contents }))
    }

    /// Merges of reclaims, and stalls, count from now on: the device was prepared for what is to be measured.
    /// (What [`DeviceCounters`](crate::stats::DeviceCounters) hold is counted on.)
    pub fn prepared(&mut self) {
        if let Some(merger) = self.merger.as_deref_mut() {
            merger.count_anew();
        }
        self.forget_costs_of_preparation();
    }

    /// What merges did so far, if there are any.
    pub fn merger(&self) -> Option<&Merger> {
        self.merger.as_deref()
    }

    /// Finds a place for a program in the log, if its plane takes writes and has room.
    pub(super) fn place_in_log(&mut self, program: CommandId) -> bool {
        let page = self.first_page_of(program);
        let plane = self.ftl.log_plane_of(page);
        let Some(merger) = self.merger.as_deref_mut() else { return false };
        if !merger.takes_writes(plane) {
            return false;
        }
        let Some(at) = self.ftl.place_in_log(page) else { return false };
        merger.program_begins(plane);
        self.fill_place::<{ skills::ALL }>(program, at);
        true
    }

    /// A page has stalled: its plane makes room.
    pub(super) fn want_room(&mut self, page: Lpn) {
        let plane = self.ftl.log_plane_of(page);
        let now = self.now;
        if self.merger.as_deref_mut().is_some_and(|merger| merger.want_room(now, plane, page)) {
            self.begin_merging(plane);
        }
    }

    fn begin_merging(&mut self, plane: PlaneId) {
        let Some((merger, mut ground)) = self.merge_ground() else { return };
        if merger.begin(plane, &mut ground) == Step::Done {
            self.merged(plane);
        }
    }

    /// A flash page of the host is programmed and current. Its plane may have waited for that to merge.
    #[inline]
    pub(super) fn programmed_for_host<const S: Skills>(&mut self, first: Ppn, units: u32) {
        self.ftl.programmed_for_host::<S>(first, units);
        if !skills::any(S, skills::RARE) {
            return;
        }
        self.consider_checkpoint();
        let Some(merger) = self.merger.as_deref_mut() else { return };
        let geometry = self.flash.geometry();
        let plane = geometry.plane_of(geometry.block_of(first));
        if merger.program_ends(plane) {
            self.begin_merging(plane);
        }
    }

    /// A command of a merge is done.
    pub(super) fn merge_command_done(&mut self, plane: PlaneId, id: CommandId) {
        let Some((merger, mut ground)) = self.merge_ground() else { return };
        if merger.done(plane, id, &mut ground) == Step::Done {
            self.merged(plane);
        }
    }

    /// A plane takes writes again.
    fn merged(&mut self, plane: PlaneId) {
        if self.standstill.is(Motion::Merges) {
            if self.merger().is_some_and(|merger| !merger.is_busy()) {
                self.merges_are_over();
            }
            return;
        }
        let pool = self.ftl.placement().pool_of(plane);
        let stream = WriteStream::new(0);
        while let Some((waiting, _)) = self.stalled.oldest(pool, |_| true) {
            let page = self.first_page_of(waiting.program);
            if !self.try_issue::<{ skills::ALL }>(waiting.program, stream, self.now - waiting.since)
            {
                return self.want_room(page);
            }
            self.stalled.forget_oldest(self.now, pool, stream);
        }
    }

    /// Whether every page of a write cycle has room. If one has none in lock-step, the device makes room before
    /// anything of the cycle begins: it stands still, and write-back goes on after that.
    pub(super) fn log_has_room(&mut self, pages: &[SlotId]) -> bool {
        if !self.is_in_lock_step() {
            return true;
        }
        let mut pages = pages.iter().map(|&slot| self.buffer.page(slot).page);
        let full = pages.find(|&page| matches!(self.ftl.room_in_log(page), Room::After(_)));
        if let Some(page) = full {
            self.stand_still(page);
        }
        full.is_none()
    }

    /// Stands still to make room for a page.
    fn stand_still(&mut self, page: Lpn) {
        self.standstill.begins(Motion::Merges);
        self.stalled.stands(self.now);
        if !self.flash.may_add_up() {
            return self.want_room(page);
        }
        let Some((merger, mut ground)) = self.merge_ground() else { return };
        let time = merger.at_once(page, &mut ground);
        self.idle.wake_at(self.now + time);
    }

    /// What was done at once has taken its time.
    pub(super) fn merged_at_once(&mut self) {
        let Device { merger, flash, .. } = self;
        if let Some(merger) = merger.as_deref_mut() {
            merger.settle(flash);
        }
        self.merges_are_over();
    }

    fn merges_are_over(&mut self) {
        self.stalled.goes_on(self.now);
        self.go_on();
        self.write_back::<{ skills::ALL }>();
    }
}
