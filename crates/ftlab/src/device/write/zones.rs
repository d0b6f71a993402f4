//! Zones in the device: their state machine decides about each command when its turn comes, the FTL hears which zones are
//! written, and zones go out of service where their planes have too few blocks.
//!
//! Source: NVM Express Zoned Namespace Command Set 1.1, section 2.1.1: a controller may take a zone out of service in any state.
//! Here it does so only with an empty one: at once, or when a zone of these planes is reset.

use std::ops::Range;

use crate::device::Contents;
use crate::device::base::Base;
use crate::device::write::{Writes, end_of_life, start};
use crate::engine::skills;
use crate::ftl::{Ftl, zones as in_ftl};
use crate::host::zones::{ZoneChange, ZoneError, Zones};
use crate::host::{Op, Outcome, Request};
use crate::scheduler::Probe;
use crate::units::{Lba, Lpn, RequestId, SECTOR_BYTES, SectorMask};
use crate::verify::Canary;

/// The turn of a command has come: the zones admit it, and it is carried out, or it fails.
#[inline(never)]
pub(in crate::device) fn start(
    id: RequestId,
    request: &Request,
    writes: &mut Writes,
    on: &mut Base<impl Probe, impl Contents>,
) {
    let Some(zones) = &on.zones else { return };
    // A write that has no place is refused before it moves the write pointer.
    let lba = match request.op.writes() {
        true => zones.check_write(request).ok(),
        false => (request.op != Op::Flush).then(|| zones.without_gaps(request.lba)),
    };
    let inside = Request { lba: lba.unwrap_or(request.lba), ..*request };
    if (lba.is_some() || request.op == Op::Flush) && on.refuses(&inside) {
        on.desk.intake.readdress(id, inside.lba);
        if request.op.writes() {
            lose_at(inside.lba, on);
        }
        return on.desk.intake.refuse(id);
    }
    let Some(zones) = &mut on.zones else { return };
    match zones.admit(request) {
        Ok(admitted) => {
            on.desk.intake.readdress(id, admitted.lba);
            tell_ftl(zones, &mut on.kernel.ftl);
            start::carry_out::<{ skills::ALL }>(id, &admitted, writes, on);
        }
        Err(error) => on.desk.intake.fail(id, Outcome::Zone(error)),
    }
}

/// A write at an address without gaps finds no flash that takes it.
pub(in crate::device) fn lose_at(lba: Lba, on: &mut Base<impl Probe, impl Contents>) {
    if let Some(zones) = &mut on.zones {
        zones.lose((lba.0 / zones.rules().shape.capacity_sectors()) as u32);
        tell_ftl(zones, &mut on.kernel.ftl);
    }
}

/// A page that was to be written finds no flash that takes it.
#[inline]
pub(in crate::device) fn lose_page(page: Lpn, on: &mut Base<impl Probe, impl Contents>) {
    if on.zones.is_some() {
        lose_at(Lba(u64::from(page.get()) * u64::from(on.sectors_per_page)), on);
    }
}

/// Starts a command that only devices with zones have. It was admitted.
#[cold]
pub(in crate::device) fn start_zoned(
    id: RequestId,
    request: &Request,
    writes: &mut Writes,
    on: &mut Base<impl Probe, impl Contents>,
) {
    if on.zones.is_none() {
        return on.desk.intake.fail(id, Outcome::Zone(ZoneError::InvalidField));
    }
    match request.op {
        Op::Append => writes.submit_write::<{ skills::ALL }>(id, request, on),
        Op::ZoneReset => writes.trim(id, request, on),
        _ => {}
    }
}

/// Whether a deallocation that was admitted may still take effect: its zone may have become read-only meanwhile.
pub(in crate::device) fn may_reset(
    request: &Request,
    on: &Base<impl Probe, impl Contents>,
) -> bool {
    let zones = on.zones.as_ref().filter(|_| request.op == Op::ZoneReset);
    zones.is_none_or(|zones| zones.may_reset(request))
}

/// A reset takes effect: returns the deallocation of each zone that it empties.
pub(in crate::device) fn reset(
    request: &Request,
    on: &mut Base<impl Probe, impl Contents>,
) -> Vec<Request> {
    let Some(zones) = &mut on.zones else { return Vec::new() };
    let capacity = zones.rules().shape.capacity_sectors();
    let left = match on.plant.is(Canary::LastPageOfZoneStays) {
        true => on.sectors_per_page.into(),
        false => 0,
    };
    let emptied = zones.reset(request);
    tell_ftl(zones, &mut on.kernel.ftl);
    if in_ftl::waits_for_zones(&on.kernel.ftl) {
        give_way(on);
    }
    let trims = emptied.into_iter().map(|zone| Request {
        op: Op::Trim,
        lba: Lba(u64::from(zone) * capacity),
        sectors: (capacity - left) as u32,
        ..*request
    });
    trims.collect()
}

/// Where planes have too few good blocks, empty zones on them go out of service. Returns false if the planes would have too few
/// with no zones at all.
#[cold]
pub(in crate::device) fn give_way(on: &mut Base<impl Probe, impl Contents>) -> bool {
    let ftl = &mut on.kernel.ftl;
    let Some(zones) = on.zones.as_mut().filter(|_| in_ftl::may_give_way(ftl)) else { return false };
    let shape = zones.rules().shape;
    let mut waits = false;
    for group in 0..shape.groups {
        let pages = shape.pages_of(group);
        if in_ftl::relieve(&pages, zones.gone(group), ftl) == 0 {
            continue;
        }
        let all = shape.sequential_of(group).count() as u32;
        if in_ftl::relieve(&pages, all, ftl) > 0 {
            return false;
        }
        let lacks =
            |zones: &Zones, ftl: &mut Ftl| in_ftl::relieve(&pages, zones.gone(group), ftl) > 0;
        while lacks(zones, ftl) && zones.retire(group) {}
        waits |= lacks(zones, ftl);
    }
    in_ftl::goes_on(waits, ftl);
    true
}

/// Ends the writes to an emptied zone that still wait for the buffer: they were admitted before the reset took effect, so their
/// data goes with the rest. It must not come in behind the reset.
pub(in crate::device) fn end_waiting(
    emptied: &Request,
    writes: &mut Writes,
    on: &mut Base<impl Probe, impl Contents>,
) {
    let page = |sector: u64| Lpn::new((sector / u64::from(on.sectors_per_page)) as u32);
    let pages = page(emptied.lba.0)..page(emptied.lba.0 + u64::from(emptied.sectors));
    for waiting in on.buffer.queue.take_all(&pages) {
        if on.desk.intake.settle(waiting.request) {
            end_of_life::account_waiting(&waiting, writes, on);
            on.finish_from_buffer(waiting.request);
        }
    }
}

/// Tells the FTL which zones begin and end.
fn tell_ftl(zones: &mut Zones, ftl: &mut Ftl) {
    if !zones.has_changes() {
        return;
    }
    let shape = zones.rules().shape;
    let per_page = shape.unit / SECTOR_BYTES;
    for change in zones.take_changes() {
        let (ZoneChange::Begins(zone) | ZoneChange::Ends(zone)) = change;
        let written = zones.all()[zone as usize].written.div_ceil(per_page) as u32;
        match change {
            // A write that is admitted just now has yet to be placed.
            ZoneChange::Begins(_) => in_ftl::begins(&shape.pages_of(zone), 0, ftl),
            ZoneChange::Ends(_) => in_ftl::ends(shape.first_page(zone), written, ftl),
        }
    }
}

/// Tells an FTL that starts anew, with streams that know nothing, which zones are active.
pub(in crate::device) fn begin_active(on: &mut Base<impl Probe, impl Contents>) {
    let Some(zones) = &on.zones else { return };
    let shape = zones.rules().shape;
    let per_page = shape.unit / SECTOR_BYTES;
    let active = (0..).zip(zones.all()).filter(|(_, zone)| zone.state.is_active());
    active.for_each(|(number, zone)| {
        let written = zone.written.div_ceil(per_page) as u32;
        in_ftl::begins(&shape.pages_of(number), written, &mut on.kernel.ftl);
    });
}

/// A part of a zone that is filled without a clock.
pub(in crate::device) struct ToFill {
    /// Its sectors, without gaps.
    pub sectors: Range<u64>,
    /// Where the host continues.
    pub host_end: u64,
}

/// The first zone's share of some sectors of the host. It begins to be filled. None if nothing is left.
pub(in crate::device) fn begin_to_fill(
    sectors: Range<u64>,
    on: &mut Base<impl Probe, impl Contents>,
) -> Option<ToFill> {
    let zones = on.zones.as_ref().filter(|_| !sectors.is_empty())?;
    let shape = zones.rules().shape;
    let zone = (sectors.start / shape.size_sectors()) as u32;
    let host_end = (u64::from(zone + 1) * shape.size_sectors()).min(sectors.end);
    let inside = |lba| zones.without_gaps(Lba(lba)).0;
    let sectors = inside(sectors.start)..inside(host_end);
    if !zones.is_conventional(zone) {
        let written = zones.all()[zone as usize].written.div_ceil(shape.unit / SECTOR_BYTES);
        in_ftl::begins(&shape.pages_of(zone), written as u32, &mut on.kernel.ftl);
    }
    Some(ToFill { sectors, host_end })
}

/// Data up to this address, without gaps, was written without a clock.
pub(in crate::device) fn filled_to(end: u64, on: &mut Base<impl Probe, impl Contents>) {
    let Some(zones) = &mut on.zones else { return };
    zones.filled_to(Lba(end));
    // What it was told when the zone began goes on if the zone is not full.
    zones.take_changes();
    let shape = zones.rules().shape;
    if end.is_multiple_of(shape.capacity_sectors()) && end > 0 {
        let zone = (end / shape.capacity_sectors() - 1) as u32;
        in_ftl::ends(shape.first_page(zone), shape.pages, &mut on.kernel.ftl);
    }
}

/// The zones of a device that has lost power. A write pointer is behind the last sector that is on flash. What is missing before
/// it was never promised to last, and reads as zeros.
pub(in crate::device) fn recover(mut zones: Box<Zones>, on: &mut Base<impl Probe, impl Contents>) {
    let shape = zones.rules().shape;
    let per_page = shape.unit / SECTOR_BYTES;
    for number in shape.conventional..shape.count {
        let first = shape.first_page(number).get();
        let pages = (first..first + shape.pages).map(Lpn::new);
        let ends = pages.rev().find_map(|page| Some((page, last_sector(page, &on.kernel.ftl)?)));
        let there = ends.map(|(page, last)| u64::from(page.get() - first) * per_page + last + 1);
        let ahead = if on.plant.is(Canary::PointerAheadOfData) { per_page } else { 0 };
        zones.powered_up(number, there.unwrap_or(0) + ahead);
    }
    zones.recount();
    on.zones = Some(zones);
    give_way(on);
    begin_active(on);
}

/// The last sector of a page that is on flash.
fn last_sector(page: Lpn, ftl: &Ftl) -> Option<u64> {
    let parts = ftl.fragments(page).into_iter().flatten();
    let there = parts.fold(SectorMask::EMPTY, |all, part| all.and_also(part.sectors));
    there.ends().map(|(_, last)| last.into())
}

/// Puts the gaps back into the addresses of the completions that go to the host.
#[cold]
pub(in crate::device) fn hand_out(on: &mut Base<impl Probe, impl Contents>) {
    let Some(zones) = &on.zones else { return };
    for done in &mut on.desk.finished {
        if done.request.op != Op::Flush && !matches!(done.outcome, Outcome::Zone(_)) {
            done.request.lba = zones.with_gaps(done.request.lba);
        }
    }
}
