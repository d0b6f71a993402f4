//! Loads for devices with zones: any load becomes one that keeps to the rules of zones, as a careful host does.

use std::collections::{BTreeMap, BTreeSet};

use ftlab::device::{Contents, Device};
use ftlab::host::zones::{Zone, ZoneError, ZoneState, Zones};
use ftlab::host::{Completion, Host, Op, Outcome, Request};
use ftlab::scheduler::Probe;
use ftlab::units::{Lba, Lpn, Nanos, SECTOR_BYTES};

use crate::judge::Command;
use crate::load::Step;
use crate::versions::{FoundVersions, Version};

/// A command in flight that changes a zone.
#[derive(Clone, Copy, Debug)]
struct Busy {
    zone: u32,
    resets: bool,
}

/// What a host remembers of zones.
#[derive(Clone, Debug, Default)]
pub struct ZoneHost {
    /// By tag.
    busy: BTreeMap<u32, Busy>,
    /// Zones that were found out of service.
    gone: BTreeSet<u32>,
}

impl ZoneHost {
    /// A command was submitted.
    pub fn submitted(&mut self, tag: u32, command: &Command, zones: Option<&Zones>) {
        let Some(zones) = zones else { return };
        if !matches!(command.op, Op::Read | Op::Flush | Op::Trim) {
            let zone = (command.range.start / zones.rules().shape.size_sectors()) as u32;
            self.busy.insert(tag, Busy { zone, resets: command.op == Op::ZoneReset });
        }
    }

    /// A command has ended.
    pub fn ended(&mut self, tag: u32) {
        self.busy.remove(&tag);
    }

    /// Notes the zones that are out of service.
    ///
    /// # Errors
    /// One has come back.
    pub fn note_gone(&mut self, zones: Option<&Zones>) -> Result<(), String> {
        let Some(zones) = zones else { return Ok(()) };
        let all = (0..).zip(zones.all());
        let now: BTreeSet<u32> =
            all.filter(|(_, zone)| zone.state == ZoneState::Offline).map(|(at, _)| at).collect();
        if let Some(back) = self.gone.difference(&now).next() {
            return Err(format!("zone {back} was out of service, and is back"));
        }
        self.gone = now;
        Ok(())
    }

    /// Number of zones that are out of service.
    #[must_use]
    pub fn gone(&self) -> u64 {
        self.gone.len() as u64
    }

    /// Power was cut.
    pub fn forget(&mut self) {
        self.busy.clear();
    }

    /// Whether a step has to wait, because the state of its zone is not known: a reset takes effect when it ends, and other
    /// commands when they are fetched.
    #[must_use]
    pub fn must_wait<P: Probe, C: Contents>(&self, step: &Step, device: &Device<P, C>) -> bool {
        let Some(zones) = device.zones() else { return false };
        let zone = zone_of(step, zones);
        let waits = device.front().is_some();
        self.busy.values().any(|busy| busy.zone == zone && (waits || busy.resets))
    }
}

/// The zone of a step. A write to an inactive zone goes to an active one instead if no further zone may become active.
fn zone_of(step: &Step, zones: &Zones) -> u32 {
    let zone = (step.place * u64::from(zones.rules().shape.count) / 65_536) as u32;
    let (_, active) = zones.in_use();
    let is_active = |zone: u32| zones.all()[zone as usize].state.is_active();
    let goes = active < zones.rules().max_active || is_active(zone) || zones.is_conventional(zone);
    if step.op != Op::Write || goes {
        return zone;
    }
    let mut active_zones = (0..zones.rules().shape.count).filter(|&zone| is_active(zone));
    active_zones.nth(step.place as usize % active.max(1) as usize).unwrap_or(zone)
}

/// The command of a step.
#[must_use]
pub fn command<P: Probe, C: Contents>(
    step: &Step,
    device: &Device<P, C>,
    per_page: u64,
) -> Command {
    match device.zones() {
        None => {
            let range = step.range(device.capacity_sectors(), per_page);
            let Step { op, stream, fua, .. } = *step;
            Command { op, range, stream, fua }
        }
        Some(zones) => zoned(step, zones, per_page),
    }
}

fn zoned(step: &Step, zones: &Zones, per_page: u64) -> Command {
    let shape = zones.rules().shape;
    let number = zone_of(step, zones);
    let (start, capacity) = (u64::from(number) * shape.size_sectors(), shape.capacity_sectors());
    let zone = zones.all()[number as usize];
    let Step { stream, fua, .. } = *step;
    let whole = |op| Command { op, range: start..start + shape.size_sectors(), stream, fua: false };
    let within = step.range(capacity, per_page);
    let inside = |op| Command { op, range: start + within.start..start + within.end, stream, fua };
    let mut read = Command { fua: false, ..inside(Op::Read) };
    if zones.rules().cross_reads && shape.size_sectors() == capacity {
        let further = read.range.end + step.eighths * per_page;
        read.range.end = further.min(zones.host_sectors());
    }
    let op = match (step.op, zones.is_conventional(number)) {
        (Op::Flush, _) => return Command { op: Op::Flush, range: 0..0, stream, fua: false },
        (Op::Read, _) => return read,
        (op, true) => return inside(op),
        (op, false) => op,
    };
    let (_, active) = zones.in_use();
    let may_begin = zone.state.is_active() || active < zones.rules().max_active;
    let Zone { state, write_pointer, has_window, .. } = zone;
    match (op, state) {
        (_, ZoneState::ReadOnly | ZoneState::Offline) => read,
        (Op::Trim, _) if has_window && step.eighths.is_multiple_of(2) => {
            let by = zones.rules().window.map_or(1, |window| window.step);
            let end = (write_pointer + by).min(capacity);
            let range = start + write_pointer..start + end;
            Command { op: Op::ZoneCommit, range, stream, fua: false }
        }
        (Op::Trim, _) => match step.eighths % 4 {
            0 if may_begin && state != ZoneState::Full => whole(Op::ZoneOpen),
            1 if state.is_active() => whole(Op::ZoneClose),
            2 if may_begin => whole(Op::ZoneFinish),
            _ => whole(Op::ZoneReset),
        },
        (_, ZoneState::Full) => whole(Op::ZoneReset),
        (_, ZoneState::Empty) if may_begin && step.place % 4 == 1 => whole(Op::ZoneOpen),
        _ if !may_begin => read,
        _ => {
            let window = zones.rules().window.filter(|_| has_window);
            let ahead = window.map_or(0, |window| step.place % window.size);
            let most = window.map_or(capacity, |window| window.size);
            let from = (write_pointer + ahead).min(capacity - 1);
            let count = (within.end - within.start).min(capacity - from).min(most);
            let at = start + from;
            let limit = zones.rules().append_limit;
            let op = match stream % 2 == 1 && !has_window && count <= limit {
                true => Op::Append,
                false => Op::Write,
            };
            Command { op, range: at..at + count, stream, fua }
        }
    }
}

/// The request of a command: an append names its zone.
#[must_use]
pub fn addressed(request: Request, zones: Option<&Zones>) -> Request {
    match zones {
        Some(zones) if request.op == Op::Append => {
            let size = zones.rules().shape.size_sectors();
            Request { lba: Lba(request.lba.0 - request.lba.0 % size), ..request }
        }
        _ => request,
    }
}

/// A request for any device, as one that keeps to the rules of the zones of this one.
#[must_use]
pub fn request<P: Probe, C: Contents>(of: Request, device: &Device<P, C>) -> Request {
    let Some(zones) = device.zones() else { return of };
    let shape = zones.rules().shape;
    let place = of.lba.0 * 65_536 / zones.host_sectors();
    let eighths = of.sectors.into();
    let Request { op, stream, fua, .. } = of;
    let step =
        Step { op, place, eighths, shares: 0, aligned: true, stream, pause: Nanos::ZERO, fua };
    let Command { op, range, .. } = zoned(&step, zones, shape.unit / SECTOR_BYTES);
    let sectors = (range.end - range.start) as u32;
    addressed(Request { op, lba: Lba(range.start), sectors, ..of }, Some(zones))
}

/// Whether a command may end so on a device with zones: others took the places for open or active zones before it was fetched,
/// or the device takes no more writes.
#[must_use]
pub fn may_be(outcome: Outcome, refuses: bool) -> bool {
    match outcome {
        Outcome::Zone(ZoneError::TooManyActive | ZoneError::TooManyOpen) => true,
        Outcome::Zone(ZoneError::ReadOnly | ZoneError::InvalidTransition) => refuses,
        _ => false,
    }
}

/// Whether a sector is in a zone that is out of service.
#[must_use]
pub fn is_gone(zones: Option<&Zones>, sector: u64) -> bool {
    zones.is_some_and(|zones| {
        let zone = sector / zones.rules().shape.size_sectors();
        zones.all()[zone as usize].state == ZoneState::Offline
    })
}

/// Whether a command failed because a zone is out of service.
#[must_use]
pub fn met_gone(completion: &Completion, zones: Option<&Zones>) -> bool {
    let Completion { request: Request { lba, sectors, .. }, outcome, .. } = *completion;
    let fits = matches!(outcome, Outcome::Zone(ZoneError::Offline | ZoneError::InvalidTransition));
    fits && (lba.0..lba.0 + u64::from(sectors)).any(|sector| is_gone(zones, sector))
}

/// The addresses of completions, and of what they found, as the host knows them.
pub fn with_gaps(zones: Option<&Zones>, finished: &mut [(Completion, FoundVersions)]) {
    let Some(zones) = zones else { return };
    for (completion, found) in finished {
        if completion.request.op != Op::Flush && !matches!(completion.outcome, Outcome::Zone(_)) {
            completion.request.lba = zones.with_gaps(completion.request.lba);
        }
        found.iter_mut().for_each(|(sector, _)| *sector = zones.with_gaps(Lba(*sector)).0);
    }
}

/// Nothing is known to be missing of the gaps between zones, which no command reaches, and zones hold nothing that went out of
/// service.
pub fn note_gaps(zones: Option<&Zones>, known: &mut [Option<Version>]) {
    let Some(zones) = zones else { return };
    let shape = zones.rules().shape;
    for (zone, known) in zones.all().iter().zip(known.chunks_mut(shape.size_sectors() as usize)) {
        let held = match zone.state {
            ZoneState::Offline => 0,
            _ => shape.capacity_sectors(),
        };
        known[held as usize..].fill(Some(0));
    }
}

/// Checks that nothing on flash belongs to a zone that is out of service.
///
/// # Errors
/// Something does.
pub fn check_gone<P: Probe, C: Contents>(device: &Device<P, C>) -> Result<(), String> {
    let Some(zones) = device.zones() else { return Ok(()) };
    let shape = zones.rules().shape;
    let gone = (0..).zip(zones.all()).filter(|(_, zone)| zone.state == ZoneState::Offline);
    for (number, _) in gone {
        let pages = shape.pages_of(number);
        let mut pages = (pages.start.get()..pages.end.get()).map(Lpn::new);
        if let Some(page) = pages.find(|&page| device.ftl().look_up(page).is_some()) {
            return Err(format!("zone {number} is out of service, and flash holds its {page:?}"));
        }
    }
    Ok(())
}

/// Checks that data ends at the write pointers of zones that are written further.
///
/// # Errors
/// A write pointer is ahead of the data.
pub fn check_pointers(zones: Option<&Zones>, found: &[Option<Version>]) -> Result<(), String> {
    let Some(zones) = zones else { return Ok(()) };
    let size = zones.rules().shape.size_sectors();
    for (number, zone) in (0..).zip(zones.all()).filter(|(_, zone)| zone.state.is_active()) {
        let end = number * size + zone.write_pointer;
        if zone.write_pointer > 0 && found[end as usize - 1] == Some(0) {
            return Err(format!("zone {number} has no data before its write pointer: {zone:?}"));
        }
    }
    Ok(())
}

/// Cuts a range of sectors at the borders of zones, and leaves gaps out.
#[must_use]
pub fn pieces(zones: Option<&Zones>, range: std::ops::Range<u64>) -> Vec<std::ops::Range<u64>> {
    let Some(zones) = zones else { return vec![range] };
    let shape = zones.rules().shape;
    let (size, capacity) = (shape.size_sectors(), shape.capacity_sectors());
    let zones = range.start / size..range.end.div_ceil(size);
    let piece = |zone: u64| {
        let start = range.start.max(zone * size);
        start..range.end.min(zone * size + capacity).max(start)
    };
    zones.map(piece).filter(|piece| !piece.is_empty()).collect()
}
