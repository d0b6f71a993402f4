//! The device: the layers put together, and the loop that lets time pass.
//!
//! Completions that need no flash (the write buffer has a fixed latency) wait in a queue of their own,
//! which is in order by itself; everything else is an event of the flash.

mod assemble;
mod base;
mod coming_up;
mod contents;
mod cost_path;
mod cycle;
mod dead_dies;
mod desk;
mod direct_path;
mod end_of_life;
mod entry;
#[cfg(feature = "external-policies")]
mod external;
mod fill;
mod front_path;
mod gathering;
mod idle;
mod image;
mod instance;
mod journal;
mod ledger;
mod lock_step;
mod map_path;
mod merge_path;
mod pass_through;
mod patrol;
mod power;
mod read_ahead;
mod read_path;
mod rewrite_path;
mod row;
mod stalled;
mod stripe_path;
mod tables;
mod untimed;
mod verify;
mod write_path;

use std::collections::VecDeque;

pub use assemble::{DeviceSetup, HostSetup, assemble, assemble_with, drain_pages};
pub use contents::{Contents, FlashRead, FlashWrite, PageProgram};
pub use end_of_life::EndOfLife;
#[cfg(feature = "external-policies")]
pub use external::Misfit;
pub use image::LeftInDram;
pub use power::{Recovered, Remains, power_up};
pub use tables::Tables;
pub use untimed::{NeedsTime, Stuck, Untimed};

use self::base::Base;
use self::cycle::Cycles;
use self::idle::Chore;
use self::lock_step::Standstill;
use self::stalled::Stalled;
use crate::cache::{Buffer, BufferCounts, ReadCache, SlotId};
use crate::engine::skills::{self, RARE, RARE_ON_FLASH, SLC, Skills, any};
use crate::ftl::cost::Rewriter;
use crate::ftl::gc::{Freed, Wanted};
use crate::ftl::{Cargo, Ftl, FtlCounts, Kernel};
use crate::host::{Advanced, Completion, Host, QueueId, Queues, Request};
use crate::scheduler::{CommandId, Flash, Origin, Probe, Task};
use crate::units::{DieId, Lpn, PlaneId, SimTime};
use crate::verify::{self as laws, Canary};

/// A solid-state drive.
///
/// `P` observes the flash, `C` carries the bytes; both default to nothing.
#[derive(Clone, Debug)]
pub struct Device<P = (), C = ()> {
    /// On which set of skills the way of a page runs: one that holds all that this device has.
    skills: Skills,
    base: Base<P, C>,
    writes: Writes,
}

/// What is under way of writes.
#[derive(Clone, Debug)]
struct Writes {
    /// By program of a write-back: the slots of its pages, of a pack the one that knows the other.
    loads: Cargo,
    /// Programs that wait for a free page.
    stalled: Stalled,
    /// Write-backs that begin by planes.
    cycles: Cycles,
    standstill: Standstill,
    /// The pages of the write-back that is being put together.
    batch: Vec<SlotId>,
    /// The programs of the row that is being placed.
    row: Vec<CommandId>,
    /// Pages whose write-back began a moment ago: their mapping entries are on their way to the
    /// processor, and what those entries point to comes next.
    recent: VecDeque<Lpn>,
}

/// How many write-backs lie between the two steps of bringing a page's tables closer.
const PREFETCH_DISTANCE: usize = 16;

impl<P: Probe, C: Contents> Device<P, C> {
    /// What the FTL did so far.
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

    /// The bytes, to hand over or take out data.
    pub fn contents_mut(&mut self) -> &mut C {
        &mut self.base.kernel.contents
    }

    /// What the FTL did so far, in numbers.
    pub fn ftl_counts(&self) -> &FtlCounts {
        self.base.kernel.ftl.counts()
    }

    /// What the write buffer did so far, in numbers.
    pub fn buffer_counts(&self) -> &BufferCounts {
        self.base.buffer.counts()
    }

    /// The read cache.
    pub fn reads(&self) -> &ReadCache {
        &self.base.reads.cache
    }

    /// What programs pages again at another cost, if something does.
    pub fn rewriter(&self) -> Option<&Rewriter> {
        self.base.services.rewriter.as_deref()
    }

    /// The submission queues.
    pub fn queues(&self) -> &Queues {
        &self.base.desk.queues
    }

    /// Requests in the device.
    pub fn requests_in_flight(&self) -> usize {
        self.base.desk.intake.in_flight()
    }

    /// Nothing is left to happen by itself. Says whether something does after all, now that this is
    /// known; if not, time passes up to `limit`.
    #[cold]
    fn goes_on(&mut self, limit: SimTime) -> bool {
        // A pause is not the end, unless requests wait for what collection makes free.
        if limit == SimTime::FOREVER || self.base.desk.intake.in_flight() > 0 {
            let Base { kernel, services, .. } = &mut self.base;
            services.collector.finish::<{ skills::ALL }>(kernel);
            self.writes.rewrite_what_is_due::<{ skills::ALL }>(&mut self.base);
        }
        if self.base.kernel.flash.next_time().is_some() {
            return true;
        }
        if self.writes.stands_still(&mut self.base) {
            self.fetch();
            return true;
        }
        if laws::ON {
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

    /// Runs the event of the flash that is due now, and those after it up to `limit` for as long as
    /// no request is done and nothing but the flash is next: nearly always the case.
    // A function of its own: what is served from DRAM should not pay for its frame.
    #[inline(never)]
    fn run_flash<const S: Skills>(&mut self, limit: SimTime) {
        let alone = !any(S, RARE | SLC)
            || self.base.desk.front.is_none() && self.base.idle.next().is_none();
        loop {
            if let Some((_, id)) = self.base.kernel.flash.step_with::<S>() {
                self.commands_done::<S>(id);
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
            if laws::ON {
                self.verify_event();
            }
            self.base.kernel.now = next;
        }
    }

    /// Flash commands are done that one operation served; their die takes its next one.
    #[inline]
    fn commands_done<const S: Skills>(&mut self, first: CommandId) {
        let die = self.base.kernel.flash.die_of(first);
        let mut next = Some(first);
        while let Some(id) = next {
            next = self.base.kernel.flash.companion::<S>(id);
            self.command_done::<S>(id);
        }
        self.base.kernel.flash.go_on_with::<S>(self.base.kernel.now, die);
        if any(S, RARE | RARE_ON_FLASH) {
            self.look_around(die);
        }
    }

    /// What else may be due when a die is done with something.
    fn look_around(&mut self, die: DieId) {
        if self.base.kernel.ftl.has_news_of_death() {
            self.writes.go_on_without_die(&mut self.base);
        }
        while let Some(block) = self.base.kernel.flash.cells_mut().next_read_often() {
            self.base.refresh_read_often(block);
        }
        self.base.consider_rewriting(die);
        if self.base.kernel.ftl.triggers().preemptible {
            let Base { kernel, services, .. } = &mut self.base;
            services.collector.let_go::<{ skills::ALL }>(kernel.ftl.die_filled(die), kernel);
        }
        if self.writes.is_stopping() && self.base.kernel.flash.in_flight() == 0 {
            self.writes.flash_is_quiet(&mut self.base);
        }
        self.writes.consider_end::<{ skills::ALL }>(&mut self.base);
    }

    /// One flash command is done: tell whom it was done for.
    #[inline]
    fn command_done<const S: Skills>(&mut self, id: CommandId) {
        let command = self.base.kernel.flash.command(id);
        if any(S, RARE_ON_FLASH) && (command.found.unreadable || command.found.failed) {
            self.base.went_wrong(id);
        }
        match self.base.kernel.flash.command(id).task {
            Task::Request(request) => {
                self.base.kernel.contents.read_flash(id);
                let Base { kernel: Kernel { now, flash, contents, .. }, desk, .. } = &mut self.base;
                desk.settle::<S>(request, &flash.command(id).spent, *now, contents);
                if any(S, RARE) {
                    self.keep_or_cache(id);
                }
            }
            Task::WriteBack => self.writes.write_back_command_done::<S>(id, &mut self.base),
            Task::Collect(plane) => {
                let Base { kernel, services, .. } = &mut self.base;
                let freed = services.collector.done::<S>(plane, id, kernel);
                if freed == Freed::Pages {
                    if any(S, RARE) {
                        self.writes.retry_map(plane, &mut self.base);
                    }
                    self.writes.retry_stalled::<S>(plane, &mut self.base);
                }
                self.writes.rewrite_what_is_due::<S>(&mut self.base);
                if freed == Freed::GoesOn {
                    return;
                }
            }
            task if any(S, RARE) => return self.task_done(task, id),
            _ => {}
        }
        self.base.release::<S>(id);
    }

    /// What was read for a host stays in the buffer, or in the read cache, where that is kept.
    fn keep_or_cache(&mut self, id: CommandId) {
        if self.base.buffer.keeps_reads() {
            self.writes.keep_what_was_read(id, &mut self.base);
        }
        if self.base.reads.cache.is_on() {
            self.base.cache_what_was_read(id);
        }
    }

    /// A command is done that few devices know.
    #[inline(never)]
    fn task_done(&mut self, task: Task, id: CommandId) {
        match task {
            Task::ReadAhead => self.writes.read_ahead_done(id, &mut self.base),
            Task::HostWrite(request) => self.base.programmed_in_place(request, id),
            Task::Merge(plane) => self.writes.merge_command_done(plane, id, &mut self.base),
            Task::LoadMap(of) => self.writes.map_loaded(of, &mut self.base),
            Task::RewriteMap(of) => self.writes.map_command_done(of, id, &mut self.base),
            Task::Rewrite(die) => self.writes.rewrite_command_done(die, id, &mut self.base),
            Task::Journal => self.writes.journal_done(id, &mut self.base),
            Task::Checkpoint => self.base.checkpoint_page_done(),
            Task::EraseSystem => {}
            Task::Part(_) | Task::Parity(_) => return self.part_done(id),
            Task::Request(_) | Task::WriteBack | Task::Collect(_) => {}
        }
        self.base.release::<{ skills::ALL }>(id);
    }

    /// Asks for a block to be emptied for a purpose of the caller's. Its plane does so after what it
    /// is collecting; time has to pass for that. False if there is nothing to empty: the block is
    /// free, bad, being filled, or being collected at this moment; and where blocks are merged.
    pub fn collect(&mut self, wanted: Wanted) -> bool {
        if self.base.services.merger.is_some() {
            return false;
        }
        let Base { kernel, services, .. } = &mut self.base;
        services.collector.collect::<{ skills::ALL }>(wanted, kernel)
    }

    /// The host has been idle for long enough for something.
    fn do_chore(&mut self, limit: SimTime) {
        let chore = self.base.idle.take();
        let Base { kernel, services, .. } = &mut self.base;
        match chore {
            None => {}
            Some(Chore::Collect) => services.collector.host_idle::<{ skills::ALL }>(kernel),
            Some(Chore::Fold) => services.collector.fold_all::<{ skills::ALL }>(kernel),
            Some(Chore::GoOn) => self.writes.stood_still(&mut self.base),
            Some(Chore::Patrol) if self.base.is_for_nobody(limit) => self.base.patrol_later(),
            Some(Chore::Patrol) => self.base.patrol(),
        }
    }

    /// When something happens next of itself; none if nothing is under way. For whoever stops the device between two
    /// events.
    #[must_use]
    pub fn next_moment(&self) -> Option<SimTime> {
        self.base.next_event().filter(|&(_, part)| self.base.is_sure(part)).map(|(at, _)| at)
    }
}

impl<P: Probe, C: Contents> Base<P, C> {
    /// The flash is done with a command, and so is whoever wanted it.
    #[inline(always)]
    fn release<const S: Skills>(&mut self, id: CommandId) {
        let keeps = self.plant.is(Canary::CommandKept);
        if !(keeps && self.kernel.flash.command(id).origin == Origin::Merge) {
            self.kernel.flash.release(id);
        }
    }

    /// Collection may have become possible, or necessary, on a plane.
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
        self.kernel.ftl.set_idle_for_cache(false);
    }

    /// When the next event is due, and whose it is.
    #[inline(always)]
    fn next_event(&self) -> Option<(SimTime, Part)> {
        let flash = self.kernel.flash.next_time();
        let next = match self.desk.from_buffer.front() {
            Some(&(at, _)) if flash.is_none_or(|flash| at <= flash) => Some((at, Part::Buffer)),
            _ => flash.map(|at| (at, Part::Flash)),
        };
        match self.desk.front.is_none() && self.idle.next().is_none() {
            true => next,
            false => self.earlier_event(next),
        }
    }

    fn earlier_event(&self, next: Option<(SimTime, Part)>) -> Option<(SimTime, Part)> {
        let front = self.desk.front.as_ref().and_then(|front| front.next_time());
        let front = front.map(|at| (at, Part::Front));
        let idle = self.idle.next().map(|at| (at, Part::Idle));
        [next, front, idle].into_iter().flatten().min()
    }
}

/// A part of the device that has something to do next. At the same moment they go in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Front,
    Buffer,
    Flash,
    /// What waits for the host to be idle.
    Idle,
}

impl<P: Probe, C: Contents> Host for Device<P, C> {
    fn now(&self) -> SimTime {
        self.base.kernel.now
    }

    fn capacity_sectors(&self) -> u64 {
        self.base.capacity_sectors
    }

    fn queue_of(&self, stream: u32) -> QueueId {
        self.base.desk.queues.of(stream)
    }

    fn has_room(&self, queue: QueueId) -> bool {
        self.base.outstanding(queue) < self.base.desk.queues.depths[queue.at()]
    }

    fn submit(&mut self, at: SimTime, request: Request) {
        match self.skills {
            skills::PLAIN => self.take_up::<{ skills::PLAIN }>(at, request),
            skills::COMMON => self.take_up::<{ skills::COMMON }>(at, request),
            _ => self.take_up::<{ skills::ALL }>(at, request),
        }
    }

    fn advance_until(&mut self, limit: SimTime, done: &mut Vec<Completion>) -> Advanced {
        match self.skills {
            skills::PLAIN => self.advance::<{ skills::PLAIN }>(limit, done),
            skills::COMMON => self.advance::<{ skills::COMMON }>(limit, done),
            _ => self.advance::<{ skills::ALL }>(limit, done),
        }
    }

    fn expect(&self, request: &Request) {
        let page = request.lba.0 >> self.base.sectors_per_page.trailing_zeros();
        if let Ok(page) = u32::try_from(page) {
            self.base.kernel.ftl.prefetch(Lpn::new(page));
        }
    }
}

impl<P: Probe, C: Contents> Device<P, C> {
    /// A request comes.
    #[inline(always)]
    fn take_up<const S: Skills>(&mut self, at: SimTime, request: Request) {
        if any(S, RARE) {
            self.base.put_off_patrol(at);
        }
        self.check(at, &request);
        self.base.kernel.now = at;
        if any(S, RARE | SLC) {
            self.base.host_is_back();
        }
        if laws::ON {
            self.base.ledger.submitted(at, &request);
        }
        let queue = self.base.desk.queues.of(request.stream);
        let id = self.base.desk.intake.admit(at, queue, request);
        match self.base.desk.front {
            Some(_) if any(S, RARE) => self.enqueue(id),
            _ => self.writes.start::<S>(id, &request, &mut self.base),
        }
        if laws::ON {
            self.verify_event();
        }
    }

    /// Lets time pass, as the host asks for it.
    fn advance<const S: Skills>(&mut self, limit: SimTime, done: &mut Vec<Completion>) -> Advanced {
        loop {
            if !self.base.desk.finished.is_empty() {
                if any(S, RARE | SLC) && self.base.desk.intake.in_flight() == 0 {
                    self.base.idle.begins(self.base.kernel.now);
                }
                if self.base.plant.is(Canary::CompletionLost) && self.base.desk.finished.len() > 1 {
                    self.base.desk.finished.pop();
                }
                if laws::ON {
                    self.base.ledger.completed(&self.base.desk.finished, self.base.kernel.now);
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
                // What comes at this moment goes first.
                if limit <= self.base.kernel.now {
                    return Advanced::Reached;
                }
                self.base.rewrite_on_idle_dies();
                continue;
            }
            let Some((next, part)) = event.filter(|&(_, part)| self.base.is_sure(part)) else {
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
            match part {
                Part::Front => self.step_front(),
                Part::Buffer => {
                    if let Some((_, id)) = self.base.desk.from_buffer.pop_front() {
                        self.base.finish(id);
                    }
                }
                Part::Flash => self.run_flash::<S>(limit),
                Part::Idle => self.do_chore(limit),
            }
            if any(S, RARE) && self.base.desk.front.is_some() {
                self.fetch();
            }
            if laws::ON {
                self.verify_event();
            }
        }
    }
}
