//! The end of a device's life, when it stops taking writes: programs in flight end, acknowledged
//! data still reaches flash, and reads continue.
//!
//! Waiting and later writes and trims complete with [`Outcome::ReadOnly`]. A write that was neither acknowledged nor
//! placed is given up; one whose program is in flight completes. Acknowledged data in the write buffer is written back
//! at once, to wherever there is room. The planes set blocks aside for this ([`ftl::wear`](crate::ftl::wear)). If even
//! these blocks fail, the data stays readable in DRAM, and flushes are refused. A map on flash is not written any more
//! ([`MapCache`](crate::ftl::map_cache)).
//!
//! [`Outcome::ReadOnly`]: crate::host::Outcome::ReadOnly

use crate::cache::{SlotId, WaitingPage};
use crate::device::base::Base;
use crate::device::contents::end_of_write_back;
use crate::device::write::stalled::StalledProgram;
use crate::device::write::{Writes, cycle, dead_dies, zones};
use crate::device::{Contents, Device, EndOfLife};
use crate::engine::skills;
use crate::engine::skills::Skills;
use crate::ftl::Kernel;
use crate::ftl::streams::WriteStream;
use crate::ftl::wear::{EndReason, failing, life};
use crate::host::{Op, Request};
use crate::scheduler::{Command, CommandId, Note, Probe, Spent};
use crate::units::Nanos;

impl<P: Probe, C: Contents> Device<P, C> {
    /// When and why the device stopped taking writes, if it did.
    pub fn end_of_life(&self) -> Option<&EndOfLife> {
        self.base.end_of_life.as_ref()
    }
}

/// Ends the life of the device if it must end.
#[inline]
pub(in crate::device) fn consider_end<const S: Skills>(
    writes: &mut Writes,
    on: &mut Base<impl Probe, impl Contents>,
) {
    if let Some(reason) = life::must_end(&on.kernel.ftl)
        && !zones::give_way(on)
    {
        end_life(reason, writes, on);
    }
}

/// Called when no event is left. If the device can fail and programs still wait for a page, they
/// wait in vain: this is the end of its life. Returns true if there is something to do after all.
pub(in crate::device) fn stands_still(
    writes: &mut Writes,
    on: &mut Base<impl Probe, impl Contents>,
) -> bool {
    if on.kernel.ftl.life().is_none()
        || writes.stalled.is_empty()
            && !on.services.map.as_ref().is_some_and(|map| map.is_stalled())
    {
        return false;
    }
    match on.end_of_life.as_mut() {
        None => end_life(EndReason::NoRoom, writes, on),
        Some(end) if end.left_in_dram => return false,
        Some(end) => {
            end.left_in_dram = true;
            on.refuse_flushes();
        }
    }
    true
}

#[cold]
fn end_life(reason: EndReason, writes: &mut Writes, on: &mut Base<impl Probe, impl Contents>) {
    failing::end_life(reason, &mut on.kernel.ftl);
    let host_written = on.desk.intake.written();
    let at = on.kernel.now;
    on.end_of_life = Some(EndOfLife { at, reason, host_written, left_in_dram: false });
    on.zones.iter_mut().for_each(|zones| zones.wear_out());
    while let Some(waiting) = on.buffer.queue.first() {
        on.buffer.queue.pop();
        refuse_waiting(waiting, writes, on);
    }
    if on.buffer.has_acknowledged() {
        place_stalled(writes, on);
        on.buffer.write_back_all();
    } else {
        give_up_all_stalled(writes, on);
    }
    writes.keep_stalled_map(on);
    writes.write_back::<{ skills::ALL }>(on);
}

/// An input of a program has arrived. On a device at its end, the program may have been given up, so others can begin.
#[inline]
pub(in crate::device) fn begin_after_given_up(
    writes: &mut Writes,
    on: &mut Base<impl Probe, impl Contents>,
) {
    if on.kernel.ftl.is_read_only() {
        writes.write_back::<{ skills::ALL }>(on);
    }
}

/// Places waiting programs wherever there is room.
pub(in crate::device) fn place_stalled(
    writes: &mut Writes,
    on: &mut Base<impl Probe, impl Contents>,
) {
    for pool in 0..writes.stalled.pools() {
        while let Some((waiting, stream)) = writes.stalled.oldest(pool, |_| true) {
            if !writes.try_issue::<{ skills::ALL }>(
                waiting.program,
                stream,
                on.kernel.now - waiting.since,
                on,
            ) {
                return;
            }
            writes.stalled.forget_oldest(on.kernel.now, pool, stream);
        }
    }
}

/// Gives up all waiting programs, none of which was acknowledged.
fn give_up_all_stalled(writes: &mut Writes, on: &mut Base<impl Probe, impl Contents>) {
    for pool in 0..writes.stalled.pools() {
        while let Some((waiting, stream)) = writes.stalled.oldest(pool, |_| true) {
            give_up_stalled(pool, stream, waiting, writes, on);
        }
    }
}

/// Gives up the oldest program of a pool and a stream, which was not acknowledged.
pub(in crate::device) fn give_up_stalled(
    pool: u32,
    stream: WriteStream,
    waiting: StalledProgram,
    writes: &mut Writes,
    on: &mut Base<impl Probe, impl Contents>,
) {
    on.kernel.flash.command_mut(waiting.program).spent.gc += on.kernel.now - waiting.since;
    writes.stalled.forget_oldest(on.kernel.now, pool, stream);
    give_up(waiting.program, writes, on);
}

/// Refuses a page of a write that waits for admission.
pub(in crate::device) fn refuse_waiting(
    waiting: WaitingPage,
    writes: &mut Writes,
    on: &mut Base<impl Probe, impl Contents>,
) {
    on.desk.intake.refuse(waiting.request);
    zones::lose_page(waiting.span.page, on);
    if on.desk.intake.settle(waiting.request) {
        account_waiting(&waiting, writes, on);
        on.finish_from_buffer(waiting.request);
    }
}

/// A write no longer waits for room or for an older version: attributes the stalled part of its
/// wait to collection, and the rest to admission.
pub(in crate::device) fn account_waiting(
    waiting: &WaitingPage,
    writes: &mut Writes,
    on: &mut Base<impl Probe, impl Contents>,
) {
    let waited = on.kernel.now - on.desk.intake.get(waiting.request).started();
    let stalled = Nanos(writes.stalled.time_until(on.kernel.now).0 - waiting.stall_mark.0);
    let breakdown = on.desk.intake.breakdown_mut(waiting.request);
    breakdown.gc += stalled;
    breakdown.admission += Nanos(waited.0 - stalled.0);
}

/// Gives up a program of pages that were not acknowledged and have no place.
pub(in crate::device) fn give_up(
    program: CommandId,
    writes: &mut Writes,
    on: &mut Base<impl Probe, impl Contents>,
) {
    let Command { units, spent, .. } = *on.kernel.flash.command(program);
    let first = writes.first_page_of(program, on);
    for unit in 0..units {
        // Packed pages are always acknowledged.
        let slot = SlotId::new(writes.loads.get(program, unit));
        let page = on.buffer.page(slot).page;
        zones::lose_page(page, on);
        on.ledger.given_up(page);
        let Base { buffer, desk, kernel, .. } = on;
        let Kernel { now, ftl, contents, flash, .. } = kernel;
        end_of_write_back(slot, true, contents);
        buffer.give_up(slot, ftl, |waiter| {
            desk.refuse(waiter, &spent, *now, contents);
            flash.probe_mut().note(*now, Note::Settled { request: waiter });
        });
        writes.admit_next_version::<{ skills::ALL }>(page, on);
    }
    on.buffer.under_way.program_ended();
    on.kernel.flash.release(program);
    cycle::given_up_by_planes(first, writes, on);
}

/// A program failed: its data is still in the buffer and is programmed elsewhere.
pub(in crate::device) fn program_again(
    failed: CommandId,
    writes: &mut Writes,
    on: &mut Base<impl Probe, impl Contents>,
) {
    let failed_command = on.kernel.flash.command(failed);
    let cost = failed_command.cost();
    let Command { kind, origin, owner, page, units, codewords, spent, .. } = *failed_command;
    let mut program = Command::new(kind, origin, owner, page);
    program.set_cost(cost);
    (program.units, program.codewords, program.spent) = (units, codewords, spent);
    let program = on.kernel.flash.prepare(program);
    writes.loads.copy_row(failed, program);
    writes.issue::<{ skills::ALL }>(program, on);
}

impl<P: Probe, C: Contents> Base<P, C> {
    /// Whether a request is refused because the device takes no writes any more.
    #[inline]
    pub(in crate::device) fn refuses(&self, request: &Request) -> bool {
        match &self.end_of_life {
            None => dead_dies::has_no_place(request, self),
            Some(end) if request.op == Op::Flush => end.left_in_dram,
            Some(_) => request.op.changes_data(),
        }
    }

    /// Refuses flushes that wait for pages which will never be on flash.
    fn refuse_flushes(&mut self) {
        let Base { buffer, desk, kernel: Kernel { now, contents, flash, .. }, .. } = self;
        let nothing = Spent::default();
        buffer.wake_everyone(|waiter| {
            desk.refuse(waiter, &nothing, *now, contents);
            flash.probe_mut().note(*now, Note::Settled { request: waiter });
        });
    }
}
