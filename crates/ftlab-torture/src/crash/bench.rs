//! A device that loses power, and the naive device that judges its recoveries.

mod living;
mod losses;

use std::collections::BTreeSet;

use ftlab::config::Config;
use ftlab::device::{Device, DeviceSetup, Recovered, Remains, assemble_with, power_up};
use ftlab::ftl::Fragments;
use ftlab::host::zones::ZoneState;
use ftlab::host::{Advanced, Completion, Host, Op, Outcome, Request};
use ftlab::units::{DieId, Lba, Lpn, Nanos, SimTime};
use ftlab::verify::Canary;

use self::losses::Losses;
use super::stored::Stored;
use super::{CrashTally, Cut, Round};
use crate::cover::may_lose;
use crate::judge::{Command, Judge, Promises};
use crate::load::Step;
use crate::versions::{FoundVersions, Version, Versions};
use crate::zoned::{self, ZoneHost};

/// The seed of policies with random decisions.
pub(super) const SEED: u64 = 1;
/// The longest valid recovery; the devices are small.
const LONGEST: Nanos = Nanos(3_600_000_000_000);
/// One of this many cuts is recovered from twice, and both recoveries must be equal.
const TWICE: u64 = 8;
/// One of this many cuts kills the process of the device instead, so that only what it stored outside remains.
const KILLED: u64 = 3;
/// The number of commands that read everything.
const READS: u64 = 4;

/// What ends a round before its commands do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fuse {
    Unlit,
    /// After this many more event times.
    Moments(u32),
    /// After this many more acknowledged commands.
    Acknowledged(u32),
    At(SimTime),
    /// Power must be cut now.
    Burnt,
}

/// A power-up.
#[derive(Clone, Debug)]
pub(super) struct PowerUp {
    /// When the device was ready.
    pub at: SimTime,
    /// The dies with pages whose parity is in DRAM only.
    pub open: Vec<DieId>,
}

/// The device, its judge, and the counts so far.
pub(super) struct Bench {
    device: Device<(), Versions>,
    config: Config,
    depth: usize,
    judge: Judge,
    per_page: u64,
    /// What the device has stored outside; none if its process is never killed.
    stored: Option<Stored>,
    /// Whether acknowledged data may be lost for another reason than a power cut.
    may_lose: bool,
    losses: Losses,
    fuse: Fuse,
    tally: CrashTally,
    zones: ZoneHost,
}

/// Completions, with the contents of reads.
type Answers = Vec<(Completion, FoundVersions)>;

impl Bench {
    /// Creates a new device.
    pub(super) fn new(config: Config, depth: usize, canary: Option<Canary>) -> Bench {
        let setup = DeviceSetup::new(&config, SEED).checking();
        let geometry = setup.ftl.geometry.clone();
        let per_page = geometry.sectors_per_unit();
        let layout = setup.ftl.stripes.clone();
        let versions = Versions::new(geometry.physical_pages(), per_page);
        let versions = versions.with_parity(layout.as_ref());
        let may_lose = may_lose(&config, layout.as_ref());
        let losses = Losses::new(&config, layout.as_ref());
        let mut device = assemble_with(setup, (), versions);
        plant(&mut device, canary);
        // Pages that a device has at the start contain zeros.
        let all = (0..device.ftl().logical_pages()).map(Lpn::new);
        let held: Vec<_> =
            all.filter_map(|page| Some((page, device.ftl().look_up(page)?))).collect();
        device.contents_mut().hold(held.into_iter());
        let per_page = u64::from(per_page);
        let judge = Judge::new(device.capacity_sectors(), per_page, Promises::of(&config));
        let (fuse, tally) = (Fuse::Unlit, CrashTally::default());
        // A killed process has no capacitors, and its planted bug is gone.
        let zoned = config.zones().is_some();
        let is_killed = canary.is_none() && !config.options.power.capacitors.is_on() && !zoned;
        let stored = is_killed.then(|| Stored::all_of(&mut device));
        let zones = ZoneHost::default();
        Bench {
            device,
            config,
            depth,
            judge,
            per_page,
            stored,
            may_lose,
            losses,
            fuse,
            tally,
            zones,
        }
    }

    /// The last power-up.
    pub(super) fn power_up(&self) -> PowerUp {
        let die_of = |page| self.device.flash().geometry().die_of_page(page);
        let parity = self.device.contents().parity();
        let pages = parity.into_iter().flat_map(|parity| parity.held_by_open_stripes());
        let open: BTreeSet<DieId> = pages.map(die_of).collect();
        PowerUp { at: self.losses.last_power_up(), open: open.into_iter().collect() }
    }

    /// Writes everything once.
    pub(super) fn fill(&mut self) -> Result<(), String> {
        let capacity = self.device.capacity_sectors();
        if self.device.zones().is_some() {
            return self.fill_zones();
        }
        let size = (capacity / 16).max(1).next_multiple_of(self.per_page);
        for first in (0..capacity).step_by(size as usize) {
            self.make_room(0)?;
            let range = first..(first + size).min(capacity);
            self.submit(Command { op: Op::Write, range, stream: 0, fua: false });
        }
        self.advance_to_idle()
    }

    /// Empties all zones, and writes each of them to its end.
    fn fill_zones(&mut self) -> Result<(), String> {
        let Some(zones) = self.device.zones() else { return Ok(()) };
        let shape = zones.rules().shape;
        let (size, capacity) = (shape.size_sectors(), shape.capacity_sectors());
        let piece = (capacity / 3).max(1).next_multiple_of(self.per_page);
        for zone in shape.conventional..shape.count {
            if self.has_lost(zone) {
                continue;
            }
            let start = u64::from(zone) * size;
            let range = start..start + size;
            self.make_room(0)?;
            self.submit(Command { op: Op::ZoneReset, range, stream: 0, fua: false });
        }
        self.advance_to_idle()?;
        for zone in 0..shape.count {
            for first in (0..capacity).step_by(piece as usize) {
                if self.has_lost(zone) {
                    break;
                }
                let start = u64::from(zone) * size;
                let range = start + first..start + (first + piece).min(capacity);
                self.submit(Command { op: Op::Write, range, stream: 0, fua: false });
                self.advance_to_idle()?;
            }
        }
        Ok(())
    }

    /// Whether a zone takes no more writes.
    fn has_lost(&self, zone: u32) -> bool {
        let state = self.device.zones().map(|zones| zones.all()[zone as usize].state);
        matches!(state, Some(ZoneState::ReadOnly | ZoneState::Offline))
    }

    /// Runs commands until power is cut, and surveys what is left.
    pub(super) fn round(self, round: &Round) -> Result<Bench, String> {
        let mut bench = self;
        bench.work(round)?;
        bench.fuse = Fuse::Unlit;
        bench = bench.lose_power(&round.within)?;
        for &time in &round.again {
            bench.fuse = Fuse::At(bench.device.now() + time);
            while bench.fuse != Fuse::Burnt && bench.advance(SimTime::FOREVER)? != Advanced::Idle {}
            bench.fuse = Fuse::Unlit;
            bench = bench.lose_power(&[])?;
            bench.tally.cut_again += 1;
        }
        bench.survey()?;
        Ok(bench)
    }

    fn work(&mut self, round: &Round) -> Result<(), String> {
        self.fuse = match round.cut {
            Some(Cut::Moments(moments)) => Fuse::Moments(moments),
            Some(Cut::Acknowledged(count)) => Fuse::Acknowledged(count),
            Some(Cut::AfterStep(..) | Cut::Later(..) | Cut::Idle(_)) | None => Fuse::Unlit,
        };
        for (at, step) in (0..).zip(&round.steps) {
            self.step(step)?;
            if self.fuse == Fuse::Burnt {
                return Ok(());
            }
            match round.cut {
                Some(Cut::AfterStep(last, moments)) if last == at => {
                    self.fuse = Fuse::Moments(moments);
                }
                Some(Cut::Later(last, time)) if last == at => {
                    self.fuse = Fuse::At(self.device.now() + time);
                }
                _ => {}
            }
        }
        self.advance_to_idle()?;
        if let Some(Cut::Idle(time)) = round.cut {
            self.fuse = Fuse::At(self.device.now() + time);
            while self.fuse != Fuse::Burnt && self.advance(SimTime::FOREVER)? != Advanced::Idle {}
        }
        Ok(())
    }

    fn step(&mut self, step: &Step) -> Result<(), String> {
        self.make_room(step.stream)?;
        let until = self.device.now() + step.pause;
        while step.pause.0 > 0
            && self.fuse != Fuse::Burnt
            && self.device.now() < until
            && self.advance(until)? != Advanced::Idle
        {}
        while self.fuse != Fuse::Burnt && self.zones.must_wait(step, &self.device) {
            if self.advance(SimTime::FOREVER)? == Advanced::Idle {
                return self.is_empty();
            }
        }
        if self.fuse != Fuse::Burnt {
            self.submit(zoned::command(step, &self.device, self.per_page));
        }
        Ok(())
    }

    /// Waits until another command may be submitted, as a host that respects its queues does.
    fn make_room(&mut self, stream: u32) -> Result<(), String> {
        let queue = self.device.queue_of(stream);
        while self.device.requests_in_flight() >= self.depth || !self.device.has_room(queue) {
            if self.fuse == Fuse::Burnt {
                return Ok(());
            }
            if self.advance(SimTime::FOREVER)? == Advanced::Idle {
                return self.is_empty();
            }
        }
        Ok(())
    }

    fn submit(&mut self, command: Command) {
        // A device at the end of its life no longer changes anything.
        let changes = self.device.end_of_life().is_none();
        let request = self.judge.begin(command.clone(), changes);
        self.zones.submitted(request.tag, &command, self.device.zones());
        let request = zoned::addressed(request, self.device.zones());
        self.device.submit(self.device.now(), request);
    }

    fn advance_to_idle(&mut self) -> Result<(), String> {
        while self.fuse != Fuse::Burnt {
            if self.advance(SimTime::FOREVER)? == Advanced::Idle {
                return self.is_empty();
            }
        }
        Ok(())
    }

    /// Checks that a device with nothing left to do has no requests.
    fn is_empty(&self) -> Result<(), String> {
        match self.device.requests_in_flight() {
            0 => Ok(()),
            stuck => Err(format!("the device is at a standstill with {stuck} requests in it")),
        }
    }

    /// Runs the device until something completes, `limit` is reached or power must be cut; judges
    /// completions. A fuse of event times advances from one event time to the next.
    fn advance(&mut self, limit: SimTime) -> Result<Advanced, String> {
        let now = self.device.now();
        let to = match self.fuse {
            Fuse::Moments(_) => {
                let next = self.device.next_moment().unwrap_or(now + Nanos(1));
                next.min(limit)
            }
            Fuse::At(at) => at.min(limit),
            Fuse::Unlit | Fuse::Acknowledged(_) | Fuse::Burnt => limit,
        };
        let mut answers = Answers::new();
        let advanced = advance(&mut self.device, to, &mut answers);
        if let Some(stored) = &mut self.stored {
            stored.update(&mut self.device);
        }
        self.judge_losses()?;
        for (completion, found) in &answers {
            self.answered(completion, found)?;
        }
        let answered = answers.len() as u32;
        self.fuse = match self.fuse {
            Fuse::Moments(1) => Fuse::Burnt,
            Fuse::Moments(left) => Fuse::Moments(left - 1),
            Fuse::Acknowledged(left) if left <= answered => Fuse::Burnt,
            Fuse::Acknowledged(left) => Fuse::Acknowledged(left - answered),
            Fuse::At(at) if self.device.now() >= at => Fuse::Burnt,
            fuse => fuse,
        };
        // If only the fuse's limit was reached, there may be more to do.
        let goes_on = advanced == Advanced::Idle && to < limit && self.fuse != Fuse::Burnt;
        let stuck = self.device.requests_in_flight() > 0 || self.device.next_moment().is_none();
        Ok(if goes_on && !stuck { Advanced::Reached } else { advanced })
    }

    fn answered(&mut self, completion: &Completion, found: &FoundVersions) -> Result<(), String> {
        let zones = self.device.zones();
        self.zones.note_gone(zones)?;
        match completion.outcome {
            Outcome::Done => self.tally.commands += 1,
            Outcome::ReadOnly if self.refuses() => {}
            Outcome::Unreadable if self.may_lose => self.tally.unreadable += 1,
            _ if zoned::met_gone(completion, zones) => {
                let is_gone = |sector| zoned::is_gone(zones, sector);
                self.judge.check_gone(completion.request.tag, is_gone)?;
            }
            outcome if zoned::may_be(outcome, self.refuses()) => {}
            Outcome::ReadOnly | Outcome::Unreadable | Outcome::Zone(_) => {
                return Err(format!("nothing may be lost, and a command failed: {completion:?}"));
            }
        }
        self.zones.ended(completion.request.tag);
        self.judge.end(completion, found)
    }

    /// Whether the device may refuse writes.
    fn refuses(&self) -> bool {
        self.device.end_of_life().is_some() || !self.device.ftl().dead_dies().is_empty()
    }

    /// Cuts the power and restores it. During the recovery it is cut again after each of these times.
    fn lose_power(self, within: &[Nanos]) -> Result<Bench, String> {
        let Bench {
            mut device,
            config,
            mut judge,
            mut tally,
            mut stored,
            mut losses,
            mut zones,
            ..
        } = self;
        note_cut(&device, &mut tally);
        if let Some(stored) = &mut stored {
            stored.update(&mut device);
        }
        let mut remains = match &stored {
            Some(stored) if tally.cuts.is_multiple_of(KILLED) => {
                tally.killed += 1;
                stored.killed(device, DeviceSetup::new(&config, SEED).checking())?
            }
            _ => device.cut_power(),
        };
        judge.lose_power();
        zones.forget();
        for &after in within {
            remains = interrupt(&config, remains, after)?;
            (tally.cuts, tally.cut_coming_up) = (tally.cuts + 1, tally.cut_coming_up + 1);
        }
        let at = remains.at;
        let twice = tally.cuts.is_multiple_of(TWICE).then(|| remains.clone());
        let (mut device, recovered) = come_up(&config, remains)?;
        if let Some(remains) = twice {
            let (other, again) = come_up(&config, remains)?;
            let alike = recovered == again && map_of(&device) == map_of(&other);
            if !alike {
                return Err(format!("two recoveries differ: {recovered:?} and {again:?}"));
            }
        }
        if recovered.time.0 == 0 || recovered.time > LONGEST {
            return Err(format!("a recovery takes {:?}", recovered.time));
        }
        let ready = at + recovered.hold_up + recovered.time;
        if device.now() != ready {
            return Err(format!("ready at {}, which should be {ready}", device.now()));
        }
        device.ftl().audit().map_err(|said| format!("after a recovery: {said}"))?;
        tally.torn += recovered.found.torn;
        tally.half_erased += recovered.found.half_erased;
        tally.rolled_back += recovered.found.rolled_back;
        tally.recoveries.push(recovered.time);
        if let Some(stored) = &mut stored {
            stored.came_up(&mut device);
        }
        losses.came_up(device.now());
        zones.note_gone(device.zones())?;
        Ok(Bench { device, config, judge, tally, stored, losses, zones, ..self })
    }

    /// Reads everything and judges it.
    fn survey(&mut self) -> Result<(), String> {
        let capacity = self.device.capacity_sectors();
        let mut found = vec![None; capacity as usize];
        zoned::note_gaps(self.device.zones(), &mut found);
        let size = capacity.div_ceil(READS).next_multiple_of(self.per_page);
        self.read_into(&mut found, size)?;
        if found.iter().any(Option::is_none) {
            // Some pages of an unreadable command may be readable.
            self.read_into(&mut found, self.per_page)?;
        }
        // Zones may have gone out of service meanwhile.
        zoned::note_gaps(self.device.zones(), &mut found);
        let lost = found.iter().filter(|version| version.is_none()).count() as u64;
        self.tally.unreadable += lost;
        self.check_lost(&found)?;
        zoned::check_pointers(self.device.zones(), &found)?;
        zoned::check_gone(&self.device)?;
        if self.ended_with_capacitors() {
            self.judge.accept(&found);
            return Ok(());
        }
        self.judge.survey(&found, self.may_lose)
    }

    /// Whether the device is at the end of its life with capacitors. Then no block is left for what
    /// they would save, and how much that is cannot be known from outside.
    fn ended_with_capacitors(&self) -> bool {
        self.config.options.power.capacitors.is_on() && self.device.end_of_life().is_some()
    }

    /// Reads everything that is not known yet, in commands of `size` sectors.
    fn read_into(&mut self, known: &mut [Option<Version>], size: u64) -> Result<(), String> {
        let capacity = known.len() as u64;
        let mut answers = Answers::new();
        let queue = self.device.queue_of(0);
        let parts = (0..capacity).step_by(size as usize);
        let parts = parts.map(|first| first..(first + size).min(capacity));
        let zones = self.device.zones();
        let parts: Vec<_> = parts.flat_map(|part| zoned::pieces(zones, part)).collect();
        for range in parts {
            if known[range.start as usize..range.end as usize].iter().all(Option::is_some) {
                continue;
            }
            while !self.device.has_room(queue) || self.device.requests_in_flight() >= self.depth {
                if advance(&mut self.device, SimTime::FOREVER, &mut answers) == Advanced::Idle {
                    self.is_empty()?;
                }
            }
            let sectors = (range.end - range.start) as u32;
            let (op, lba) = (Op::Read, Lba(range.start));
            let read = Request { op, lba, sectors, stream: 0, tag: 0, fua: false };
            self.device.submit(self.device.now(), read);
        }
        while advance(&mut self.device, SimTime::FOREVER, &mut answers) != Advanced::Idle {}
        self.judge_losses()?;
        self.is_empty()?;
        for (Completion { request, outcome, .. }, found) in answers {
            let first = request.lba.0 as usize;
            if outcome != Outcome::Done {
                continue;
            }
            // Sectors never written are not listed.
            known[first..first + request.sectors as usize].fill(Some(0));
            found.iter().for_each(|&(sector, version)| known[sector as usize] = Some(version));
        }
        Ok(())
    }

    /// Checks that no space was lost: everything can be written again, twice, and read.
    pub(super) fn finish(mut self) -> Result<CrashTally, String> {
        for _ in 0..2 {
            self.fill()?;
        }
        self.submit(Command { op: Op::Flush, range: 0..0, stream: 0, fua: false });
        self.advance_to_idle()?;
        let all = 0..self.device.capacity_sectors();
        for range in zoned::pieces(self.device.zones(), all) {
            self.make_room(0)?;
            self.submit(Command { op: Op::Read, range, stream: 0, fua: false });
        }
        self.advance_to_idle()?;
        self.device.ftl().audit()?;
        zoned::check_gone(&self.device)?;
        self.tally.retired += self.zones.gone();
        self.tally.ended += u64::from(self.device.end_of_life().is_some());
        let losses = self.device.ftl().life().map(|life| *life.losses()).unwrap_or_default();
        self.tally.faults += losses.program_failures + losses.erase_failures;
        self.note_deaths();
        Ok(self.tally)
    }
}

/// Runs a device and takes its completions with the contents of reads.
fn advance(device: &mut Device<(), Versions>, limit: SimTime, answers: &mut Answers) -> Advanced {
    let mut done = Vec::new();
    let advanced = device.advance_until(limit, &mut done);
    let mut finished = device.contents_mut().take_finished();
    zoned::with_gaps(device.zones(), &mut finished);
    assert!(finished.iter().map(|(completion, _)| completion).eq(&done), "completions differ");
    answers.extend(finished);
    advanced
}

fn plant(device: &mut Device<(), Versions>, canary: Option<Canary>) {
    #[cfg(any(feature = "verify", debug_assertions))]
    canary.into_iter().for_each(|canary| device.plant(canary));
    #[cfg(not(any(feature = "verify", debug_assertions)))]
    assert!(canary.is_none(), "bugs are planted where devices can check themselves: {device:p}");
}

/// Restores power and cuts it before the device is ready.
fn interrupt(
    config: &Config,
    remains: Remains<Versions>,
    after: Nanos,
) -> Result<Remains<Versions>, String> {
    let setup = DeviceSetup::new(config, SEED).checking();
    remains
        .interrupted(setup, after)
        .map_err(|damage| format!("no recovery to interrupt: {damage}"))
}

/// Restores power.
fn come_up(
    config: &Config,
    remains: Remains<Versions>,
) -> Result<(Device<(), Versions>, Recovered), String> {
    let setup = DeviceSetup::new(config, SEED).checking();
    power_up(setup, (), remains).map_err(|damage| format!("no recovery: {damage}"))
}

/// Returns the places of all pages.
fn map_of(device: &Device<(), Versions>) -> Vec<Fragments> {
    let ftl = device.ftl();
    (0..ftl.logical_pages()).map(|page| ftl.fragments(Lpn::new(page))).collect()
}

/// Counts what the device was doing when power was cut.
fn note_cut(device: &Device<(), Versions>, tally: &mut CrashTally) {
    tally.cuts += 1;
    tally.cut_at_work += u64::from(device.requests_in_flight() > 0);
    let merging = device.merger().is_some_and(|merger| merger.is_busy());
    let planes = device.ftl().geometry().planes();
    let mut planes = (0..planes).map(ftlab::units::PlaneId::new);
    let collecting = planes.any(|plane| device.ftl().collecting(plane).is_some());
    tally.cut_collecting += u64::from(merging || collecting);
}
