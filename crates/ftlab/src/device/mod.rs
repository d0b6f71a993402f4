//! The device: puts the layers together and runs the event loop.
//!
//! Completions that need no flash wait in a queue of their own. The write buffer's latency is
//! fixed, so this queue is always in order. Everything else is an event of the flash.

mod assemble;
mod base;
mod contents;
mod desk;
mod direct;
mod end;
mod events;
#[cfg(feature = "external-policies")]
mod external;
mod flushes;
mod front;
mod further;
mod handles;
mod hazards;
mod hints;
mod host_setup;
mod idle;
mod image;
mod indexed;
mod instance;
mod ledger;
mod patrol;
mod power;
mod read;
mod services;
mod tables;
mod untimed;
mod verify;
mod write;

pub use assemble::{DeviceSetup, assemble, assemble_with, drain_pages};
pub use contents::{Contents, Movement, Place};
pub use end::EndOfLife;
#[cfg(feature = "external-policies")]
pub use external::Misfit;
pub use handles::{HandleStatus, PlacementLife, UnknownHandle};
pub use host_setup::HostSetup;
pub use image::LeftInDram;
pub use power::{Recovered, Remains, power_up};
pub use tables::Tables;
pub use untimed::{NeedsTime, Stuck, Untimed};

use std::num::NonZeroU32;

use self::base::Base;
use self::events::Part;
use self::idle::Chore;
use self::instance::on_its_skills;
use self::read::ahead;
use self::write::{Writes, end_of_life, lock_step, start, zones};
use crate::cache::{Buffer, BufferCounts, ReadCache};
use crate::engine::skills::{self, RARE, RARE_ON_FLASH, SLC, Skills, any};
use crate::ftl::cost::Rewriter;
use crate::ftl::gc::{Freed, Wanted};
use crate::ftl::service::Signals;
use crate::ftl::streams::StreamsPolicy;
use crate::ftl::{Ftl, FtlCounts, Kernel, slc};
use crate::host::zones::Zones;
use crate::host::{
    Advanced, Completion, FrontEnd, FrontEndBusy, Host, QueueId, Queues, Request, StreamIdentities,
};
use crate::scheduler::{CommandId, Flash, Note, Origin, Owner, Probe, ServiceId};
use crate::units::{DieId, Lpn, PlaneId, RequestId, SimTime};
use crate::verify::Canary;

/// A solid-state drive.
///
/// `P` observes the flash, `C` carries the bytes; both default to nothing.
#[derive(Clone, Debug)]
pub struct Device<P = (), C = ()> {
    /// The set of skills whose instance of the hot paths runs: a superset of this device's skills.
    skills: Skills,
    base: Base<P, C>,
    writes: Writes,
}

impl<P: Probe, C: Contents> Device<P, C> {
    /// The FTL.
    pub fn ftl(&self) -> &Ftl {
        &self.base.kernel.ftl
    }

    /// The flash.
    pub fn flash(&self) -> &Flash<P> {
        &self.base.kernel.flash
    }

    /// The write buffer.
    pub fn buffer(&self) -> &Buffer {
        &self.base.buffer
    }

    /// The bytes.
    pub fn contents(&self) -> &C {
        &self.base.kernel.contents
    }

    /// The bytes, to pass data in or take it out.
    pub fn contents_mut(&mut self) -> &mut C {
        &mut self.base.kernel.contents
    }

    /// The FTL's counters.
    pub fn ftl_counts(&self) -> &FtlCounts {
        self.base.kernel.ftl.counts()
    }

    /// The write buffer's counters.
    pub fn buffer_counts(&self) -> &BufferCounts {
        self.base.buffer.counts()
    }

    /// The read cache.
    pub fn reads(&self) -> &ReadCache {
        &self.base.reads.cache
    }

    /// The service that rewrites pages at another cost, if there is one.
    pub fn rewriter(&self) -> Option<&Rewriter> {
        self.base.services.rewriter.as_deref()
    }

    /// How long the parts of the front end have been in use; nothing without one.
    pub fn front_busy(&self) -> FrontEndBusy {
        self.base.front_busy()
    }

    /// The submission queues.
    pub fn queues(&self) -> &Queues {
        &self.base.desk.queues
    }

    /// The front end, if anything on the way of a command takes time.
    pub fn front(&self) -> Option<&FrontEnd> {
        self.base.desk.front.as_deref()
    }

    /// The number of requests in the device.
    pub fn requests_in_flight(&self) -> usize {
        self.base.desk.intake.in_flight()
    }

    /// No event is left. Returns whether something happens after all. If not, time passes to `limit`.
    #[cold]
    fn goes_on(&mut self, limit: SimTime) -> bool {
        // A pause is not the end, unless requests wait for pages that collection frees.
        if limit == SimTime::FOREVER || self.base.desk.intake.in_flight() > 0 {
            let Base { kernel, services, .. } = &mut self.base;
            services.collector.finish::<{ skills::ALL }>(kernel);
            self.writes.update_due_map_pages::<{ skills::ALL }>(&mut self.base);
        }
        if self.base.kernel.flash.next_time().is_some() {
            return true;
        }
        if end_of_life::stands_still(&mut self.writes, &mut self.base) {
            front::fetch(&mut self.writes, &mut self.base);
            return true;
        }
        if self.base.checks_itself() {
            self.verify_rest();
        }
        if self.patrols_until(limit) {
            return true;
        }
        if limit != SimTime::FOREVER {
            self.base.kernel.now = self.base.kernel.now.max(limit);
        }
        false
    }

    /// Runs the flash event that is due, and further ones up to `limit`, until a request completes
    /// or another part is next. That is nearly always the case.
    // A separate function, so that requests served from DRAM don't pay for its stack frame.
    #[inline(never)]
    fn run_flash<const S: Skills>(&mut self, limit: SimTime) {
        let alone = !any(S, RARE | SLC)
            || self.base.desk.front.is_none() && self.base.idle.next().is_none();
        loop {
            if let Some((_, id)) = self.base.kernel.flash.step_with::<S>() {
                self.commands_done::<S>(id);
            } else if any(S, RARE_ON_FLASH)
                && let Some(further) = self.base.kernel.flash.take_further()
            {
                self.read_came_further(further);
            }
            let Some(next) = self.base.kernel.flash.next_time().filter(|_| alone) else { return };
            let buffer_first =
                self.base.desk.from_buffer.front().is_some_and(|&(at, _)| at <= next);
            if buffer_first || next > limit || !self.base.desk.finished.is_empty() {
                return;
            }
            if any(S, RARE) && self.base.may_rewrite() {
                return;
            }
            if self.base.checks_itself() {
                self.verify_event();
            }
            self.base.kernel.now = next;
        }
    }

    /// The commands of one flash operation are done. Their die starts its next operation.
    #[inline]
    fn commands_done<const S: Skills>(&mut self, first: CommandId) {
        let die = self.base.kernel.flash.die_of(first);
        let mut next = Some(first);
        while let Some(id) = next {
            next = self.base.kernel.flash.companion::<S>(id);
            let Kernel { now, flash, .. } = &mut self.base.kernel;
            let sequence = flash.command(id).sequence();
            flash.probe_mut().note(*now, Note::Done { sequence });
            let may_wait = any(S, RARE) && self.base.wakes.has(Signals::EFFECTS);
            if !(may_wait && self.has_no_effect_yet(id)) {
                self.command_counts::<S>(id);
            }
        }
        self.base.kernel.flash.go_on_with::<S>(self.base.kernel.now, die);
        if any(S, RARE | RARE_ON_FLASH) && self.base.wakes != Signals::NONE {
            self.die_is_done(die);
        }
        self.base.tell_levels();
    }

    /// Whether a command that is done on flash has no effect yet: its page is computed from others, or is not indexed.
    fn has_no_effect_yet(&mut self, id: CommandId) -> bool {
        self.base.kernel.read_of_superblock_ended(id);
        read::is_computed(id, &mut self.base) || self.base.waits_for_index(id)
    }

    /// A command that is done has its effect.
    #[inline(always)]
    fn command_counts<const S: Skills>(&mut self, id: CommandId) {
        let command = self.base.kernel.flash.command(id);
        let (sequence, is_bad) = (command.sequence(), command.found.is_bad());
        let failures = self.base.failures();
        self.command_done::<S>(id);
        if P::ACTIVE && (is_bad || self.base.failures() > failures) {
            let Kernel { now, flash, .. } = &mut self.base.kernel;
            flash.probe_mut().note(*now, Note::Failed { sequence });
        }
    }

    /// A die has finished an operation: notifies the parts that watch for this.
    fn die_is_done(&mut self, die: DieId) {
        let wakes = self.base.wakes;
        if wakes.has(Signals::HAZARDS) {
            self.look_for_hazards();
        }
        if wakes.has(Signals::DIE_DONE)
            && let Some(rewriter) = &mut self.base.services.rewriter
        {
            rewriter.die_is_done(die, &self.base.kernel);
        }
        if wakes.has(Signals::HELD_BACK) {
            let Base { kernel, services, .. } = &mut self.base;
            services.collector.let_go::<{ skills::ALL }>(kernel.ftl.die_filled(die), kernel);
        }
        if wakes.has(Signals::QUIET)
            && lock_step::is_stopping(&self.writes)
            && self.base.kernel.flash.in_flight() == 0
        {
            lock_step::flash_is_quiet(&mut self.writes, &mut self.base);
        }
        if wakes.has(Signals::HAZARDS) {
            end_of_life::consider_end::<{ skills::ALL }>(&mut self.writes, &mut self.base);
        }
    }

    /// A flash command is done: notifies its owner.
    #[inline]
    fn command_done<const S: Skills>(&mut self, id: CommandId) {
        let command = self.base.kernel.flash.command(id);
        if any(S, RARE_ON_FLASH) && command.found.is_news() {
            read::went_wrong(id, &mut self.base);
        }
        match self.base.kernel.flash.command(id).owner {
            Owner { service: ServiceId::READS, token } => {
                let request = RequestId::new(token);
                self.base.deliver_what_was_read(id);
                let Base { kernel: Kernel { now, flash, contents, .. }, desk, .. } = &mut self.base;
                desk.settle::<S>(request, &flash.command(id).spent, *now, contents);
                flash.probe_mut().note(*now, Note::Settled { request });
                if any(S, RARE) && !self.base.kernel.flash.command(id).found.has_left {
                    self.keep_or_cache(id);
                }
            }
            Owner { service: ServiceId::WRITES, .. } => {
                self.writes.write_back_command_done::<S>(id, &mut self.base)
            }
            Owner { service: ServiceId::COLLECTOR, token } => {
                let plane = PlaneId::new(token);
                let Base { kernel, services, .. } = &mut self.base;
                let freed = services.collector.done::<S>(plane, id, kernel);
                if freed == Freed::Pages {
                    if any(S, RARE) {
                        self.writes.retry_map(plane, &mut self.base);
                    }
                    self.writes.retry_stalled::<S>(plane, &mut self.base);
                }
                self.writes.update_due_map_pages::<S>(&mut self.base);
                if freed == Freed::GoesOn {
                    return;
                }
            }
            owner if any(S, RARE) => return self.rare_done(owner, id),
            _ => {}
        }
        self.base.release::<S>(id);
    }

    /// Keeps data that was read for the host in the buffer or the read cache, if they keep reads.
    fn keep_or_cache(&mut self, id: CommandId) {
        if self.base.buffer.rules.keeps_reads {
            self.writes.keep_what_was_read(id, &mut self.base);
        }
        if self.base.reads.cache.is_on() {
            ahead::cache_what_was_read(id, &mut self.base);
        }
    }

    /// A command of a service that few devices have is done.
    #[inline(never)]
    fn rare_done(&mut self, owner: Owner, id: CommandId) {
        match owner.service {
            ServiceId::READ_AHEAD => self.writes.read_ahead_done(id, &mut self.base),
            ServiceId::DIRECT => {
                direct::programmed_in_place(RequestId::new(owner.token), id, &mut self.base)
            }
            ServiceId::STRIPES => {
                let whole = self.base.kernel.part_done(id);
                self.base.kernel.flash.release(id);
                self.base.empty_failed::<{ skills::ALL }>();
                return whole.into_iter().for_each(|id| self.is_computed(id));
            }
            ServiceId::SUPERBLOCKS => {
                let whole = self.base.kernel.block_erased(id);
                self.base.kernel.flash.release(id);
                return whole.into_iter().for_each(|id| self.command_done::<{ skills::ALL }>(id));
            }
            _ => {
                let Base { kernel, services, .. } = &mut self.base;
                let signals = services.done(owner, id, kernel);
                self.writes.handle_signals(signals, id, &mut self.base);
                if signals.has(Signals::INDEXED) {
                    self.programs_are_indexed(id);
                }
            }
        }
        self.base.release::<{ skills::ALL }>(id);
    }

    /// Requests that a block is emptied, for a purpose of the caller's. Its plane does so after its
    /// current collection, as time passes. Returns false if the block cannot be emptied: it is
    /// free, bad, open, or being collected, or the device merges blocks.
    pub fn collect(&mut self, wanted: Wanted) -> bool {
        if self.base.services.merger.is_some() {
            return false;
        }
        let Base { kernel, services, .. } = &mut self.base;
        services.collector.collect::<{ skills::ALL }>(wanted, kernel)
    }

    /// The host has been idle for long enough to start a chore.
    fn do_chore(&mut self, limit: SimTime) {
        let chore = self.base.idle.take();
        let Base { kernel, services, .. } = &mut self.base;
        match chore {
            None => {}
            Some(Chore::Collect) => services.collector.host_idle::<{ skills::ALL }>(kernel),
            Some(Chore::Fold) => services.collector.fold_all::<{ skills::ALL }>(kernel),
            Some(Chore::GoOn) => lock_step::stood_still(&mut self.writes, &mut self.base),
            Some(Chore::Patrol) if patrol::is_for_nobody(limit, &self.base) => {
                patrol::patrol_later(&mut self.base)
            }
            Some(Chore::Patrol) => patrol::patrol(&mut self.base),
        }
    }

    /// The time of the next event that occurs by itself, or none if nothing is under way. Use it to
    /// stop the device between two events.
    #[must_use]
    pub fn next_moment(&self) -> Option<SimTime> {
        self.base
            .next_event()
            .filter(|&(_, part)| patrol::is_sure(part, &self.base))
            .map(|(at, _)| at)
    }
}

impl<P: Probe, C: Contents> Base<P, C> {
    /// Releases a command that is done.
    #[inline(always)]
    fn release<const S: Skills>(&mut self, id: CommandId) {
        let keeps = self.plant.is(Canary::CommandKept);
        if !(keeps && self.kernel.flash.command(id).origin == Origin::ReadModifyWrite) {
            self.kernel.flash.release(id);
        }
    }

    /// Collection may have become possible or necessary on a plane.
    fn consider_collecting<const S: Skills>(&mut self, plane: PlaneId) {
        if any(S, RARE) && self.services.merger.is_some() {
            return;
        }
        let Base { kernel, services, .. } = self;
        services.collector.start::<S>(plane, kernel);
    }

    #[inline]
    fn host_is_back(&mut self) {
        self.idle.interrupted();
        self.services.collector.host_back();
        slc::cache::set_idle_for_cache(false, &mut self.kernel.ftl);
    }
}

impl<P: Probe, C: Contents> Host for Device<P, C> {
    fn now(&self) -> SimTime {
        self.base.kernel.now
    }

    fn capacity_sectors(&self) -> u64 {
        self.base.capacity_sectors()
    }

    fn placement_handles(&self) -> u32 {
        self.fdp().map_or(0, |fdp| fdp.counts().host.into())
    }

    fn identify_streams(&mut self, identities: &StreamIdentities) {
        let StreamIdentities { identifiers, round } = identities;
        // Hints of the host are identifiers already.
        if self.base.hints.is_none() {
            self.base.kernel.ftl.identify_streams(identifiers);
        }
        self.base.desk.queues.round = NonZeroU32::new(*round);
    }

    fn zones(&self) -> Option<&Zones> {
        self.base.zones.as_deref()
    }

    fn queue_of(&self, stream: u32) -> QueueId {
        self.base.desk.queues.of(stream)
    }

    fn has_room(&self, queue: QueueId) -> bool {
        self.base.outstanding(queue) < self.base.desk.queues.depths[queue.at()]
    }

    fn submit(&mut self, at: SimTime, request: Request) {
        on_its_skills!(self, take_up(at, request))
    }

    fn advance_until(&mut self, limit: SimTime, done: &mut Vec<Completion>) -> Advanced {
        on_its_skills!(self, advance(limit, done))
    }

    fn expect(&self, request: &Request) {
        let page = request.lba.0 >> self.base.sectors_per_page.trailing_zeros();
        if self.base.zones.is_none()
            && let Ok(page) = u32::try_from(page)
        {
            self.base.kernel.ftl.prefetch(Lpn::new(page));
        }
    }
}

impl<P: Probe, C: Contents> Device<P, C> {
    /// Accepts a request of the host.
    #[inline(always)]
    fn take_up<const S: Skills>(&mut self, at: SimTime, request: Request) {
        if any(S, RARE) {
            patrol::put_off_patrol(at, &mut self.base);
        }
        self.check(at, &request);
        self.base.kernel.now = at;
        if any(S, RARE) {
            self.base.kernel.ftl.comes_to(at);
        }
        if any(S, RARE | SLC) {
            self.base.host_is_back();
        }
        if self.base.checks_itself() {
            self.base.ledger.submitted(at, &request);
        }
        let queue = self.base.desk.queues.of(request.stream);
        let id = self.base.desk.intake.admit(at, queue, request);
        if any(S, RARE) {
            self.base.hint(id, &request);
        }
        self.base
            .kernel
            .flash
            .probe_mut()
            .note(at, Note::Submitted { request: id, tag: request.tag });
        match self.base.desk.front {
            Some(_) if any(S, RARE) => front::enqueue(id, &mut self.writes, &mut self.base),
            _ => start::start::<S>(id, &request, &mut self.writes, &mut self.base),
        }
        self.base.tell_levels();
        if self.base.checks_itself() {
            self.verify_event();
        }
    }

    /// Advances until a request completes, `limit` is reached, or nothing is left to do.
    fn advance<const S: Skills>(&mut self, limit: SimTime, done: &mut Vec<Completion>) -> Advanced {
        loop {
            if !self.base.desk.finished.is_empty() {
                if any(S, RARE | SLC) && self.base.desk.intake.in_flight() == 0 {
                    self.base.idle.begins(self.base.kernel.now);
                }
                if self.base.plant.is(Canary::CompletionLost) && self.base.desk.finished.len() > 1 {
                    self.base.desk.finished.pop();
                }
                if self.base.checks_itself() {
                    self.base.ledger.completed(&self.base.desk.finished, self.base.kernel.now);
                }
                if any(S, RARE) && self.base.zones.is_some() {
                    zones::hand_out(&mut self.base);
                }
                match done.is_empty() {
                    true => std::mem::swap(done, &mut self.base.desk.finished),
                    false => done.append(&mut self.base.desk.finished),
                }
                return Advanced::Completed;
            }
            let event = self.base.next_event();
            if any(S, RARE)
                && self.base.may_rewrite()
                && event.is_none_or(|(at, _)| at > self.base.kernel.now)
            {
                // Requests that arrive at this moment go first.
                if limit <= self.base.kernel.now {
                    return Advanced::Reached;
                }
                self.base.rewrite();
                continue;
            }
            let Some((next, part)) = event.filter(|&(_, part)| patrol::is_sure(part, &self.base))
            else {
                if self.goes_on(limit) {
                    continue;
                }
                return Advanced::Idle;
            };
            if next > limit {
                self.base.kernel.now = self.base.kernel.now.max(limit);
                return Advanced::Reached;
            }
            self.base.kernel.now = next;
            if any(S, RARE) {
                self.base.kernel.ftl.comes_to(next);
            }
            match part {
                Part::Front => {
                    if let Some(what) = front::step_front(&mut self.writes, &mut self.base) {
                        self.crossed_dram(what);
                    }
                    self.base.tell_levels();
                }
                Part::Buffer => {
                    if let Some((_, id)) = self.base.desk.from_buffer.pop_front() {
                        self.base.finish(id);
                    }
                }
                Part::Flash => self.run_flash::<S>(limit),
                Part::Idle => {
                    self.do_chore(limit);
                    self.base.tell_levels();
                }
            }
            if any(S, RARE) && self.base.desk.front.is_some() {
                front::fetch(&mut self.writes, &mut self.base);
            }
            if self.base.checks_itself() {
                self.verify_event();
            }
        }
    }
}
