//! The read cache on the read path: flash pages that were read enter it, written or deallocated
//! pages leave it, and the pages behind a read are read ahead if their channel is idle.
//!
//! A read that began before a write may end after it. Therefore a page enters the cache only if the
//! mapping still names the place that was read, and the write buffer does not hold the page: its
//! data is newer, or will be on flash elsewhere.

use crate::device::base::Base;
use crate::device::read::under_way::FlashRead;
use crate::device::{Contents, Movement, Place};
use crate::engine::skills::{self, Skills};
use crate::ftl::{Kernel, ReadFor};
use crate::host::Request;
use crate::scheduler::{Command, CommandId, Kind, Origin, Probe, ServiceId};
use crate::units::{Lpn, Ppn};
use crate::verify::Canary;

/// Reads the pages behind a host read ahead, if they are only on flash and their channel is idle.
pub(in crate::device) fn read_ahead(request: &Request, on: &mut Base<impl Probe, impl Contents>) {
    if !on.kernel.flash.load().of_volume().any_idle() {
        return;
    }
    let sectors = u64::from(on.sectors_per_page);
    let next = (request.lba.0 + u64::from(request.sectors)).div_ceil(sectors);
    let end =
        (next + u64::from(on.reads.cache.ahead())).min(u64::from(on.kernel.ftl.logical_pages()));
    for page in (next..end).map(|page| Lpn::new(page as u32)) {
        // Reading ahead never waits for an entry of a map on flash.
        if !on.knows_entry(page)
            || on.buffer.find(page).is_some()
            || on.reads.cache.find(page).is_some()
        {
            continue;
        }
        if let Some(at) = on.kernel.ftl.look_up(page).filter(|&at| channel_is_idle(at, on)) {
            begin_read_ahead(at, on);
        }
    }
}

fn begin_read_ahead(at: Ppn, on: &mut Base<impl Probe, impl Contents>) {
    on.reads.cache.note_read_ahead();
    let mut command = Command::new(Kind::Read, Origin::Host, ServiceId::READ_AHEAD.owner(0), at);
    command.mode = on.kernel.ftl.mode_at::<{ skills::ALL }>(at);
    command.units = on.units_per_page;
    command.codewords = on.kernel.flash.bus().page_codewords();
    let command = on.kernel.flash.prepare(command);
    on.kernel.contents.foresee(command, at, ReadFor::Ahead);
    on.reads.ahead.pages.push((on.kernel.ftl.geometry().flash_page_of(at), command));
    on.kernel.submit::<{ skills::ALL }>(command);
}

/// Lets a host read wait for its flash page if that is already being read ahead.
pub(in crate::device) fn join_read_ahead(
    read: FlashRead,
    on: &mut Base<impl Probe, impl Contents>,
) -> bool {
    let flash_page = on.kernel.ftl.geometry().flash_page_of(read.at);
    let Some(command) = on.reads.ahead.find(flash_page) else { return false };
    on.reads.cache.note_joined();
    on.join_read(command, read);
    on.desk.intake.wait_for_one(read.request);
    on.reads.ahead.waiting.push((command, read.request));
    true
}

/// A page is written or deallocated: drops it from the read cache.
#[inline]
pub(in crate::device) fn outdate_read<const S: Skills>(
    page: Lpn,
    on: &mut Base<impl Probe, impl Contents>,
) {
    if !skills::any(S, skills::RARE) || on.plant.is(Canary::OldReadServed) {
        return;
    }
    if let Some(place) = on.reads.cache.outdate(page) {
        on.kernel.contents.forget(Place::ReadCache(place));
    }
}

/// A flash page was read, for the host or ahead: its current pages enter the read cache.
pub(in crate::device) fn cache_what_was_read(
    command: CommandId,
    on: &mut Base<impl Probe, impl Contents>,
) {
    let geometry = on.kernel.ftl.geometry();
    let units = geometry.units_per_page();
    let read = on.kernel.flash.command(command).page;
    let first = read.get() - read.get() % units;
    let passes = on.plant.is(Canary::ReadBesideWrite);
    let Base { reads, buffer, kernel: Kernel { ftl, contents, .. }, .. } = on;
    let mut frame = None;
    for (unit, at) in (first..first + units).map(Ppn::new).enumerate() {
        let Some(page) = ftl.owner_of(at) else { continue };
        // Translation pages are not cached.
        let current = page.get() < ftl.logical_pages() && ftl.look_up(page) == Some(at);
        let newer = buffer.find(page).is_some() && !passes;
        if !current || newer || ftl.lost().is_at(at) || reads.cache.find(page).is_some() {
            continue;
        }
        let frame = *frame.get_or_insert_with(|| {
            reads.cache.bring(|place| contents.forget(Place::ReadCache(place)))
        });
        let place = reads.cache.put(frame, unit as u32, page);
        let (from, to) = (Place::Flash(at), Place::ReadCache(place));
        contents.copy(&Movement { from, to, page, sectors: ftl.full_page() });
    }
}

/// Whether nothing waits or runs on the channel of a page.
fn channel_is_idle(at: Ppn, on: &Base<impl Probe, impl Contents>) -> bool {
    let geometry = on.kernel.ftl.geometry();
    let (channel, _) =
        geometry.channel_of(geometry.die_of(geometry.plane_of(geometry.block_of(at))));
    let mut dies = (0..geometry.dies_per_channel()).map(|die| geometry.die_on(channel, die));
    dies.all(|die| on.kernel.flash.load().of_volume().of(die) == 0)
}
