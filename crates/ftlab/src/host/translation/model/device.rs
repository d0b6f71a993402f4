//! A device with zones for the naive model. It loses data, retires zones and refuses appends at random.

use std::collections::{BTreeMap, BTreeSet};

use super::{BLOCK, ZONE_BLOCKS};
use crate::engine::Stream;
use crate::host::zones::{ZoneError, ZoneRules, ZoneState, Zones};
use crate::host::{Advanced, Breakdown, Completion, Host, Op, Outcome, QueueId, Request};
use crate::units::{Lba, SimTime};

/// A device with zones and without timing: each request takes a random time, and is admitted when it ends.
#[derive(Debug)]
pub struct AnyOrder {
    zones: Zones,
    now: SimTime,
    pub inside: BTreeMap<SimTime, (SimTime, Request, Fate)>,
    /// Requests that it takes at once.
    pub depth: usize,
    pub entered: Vec<Request>,
    /// The tags of appends that have landed, and where.
    pub landed: Vec<(u32, Lba)>,
    faults: Faults,
    /// Addresses of blocks that can't be read.
    pub bad: BTreeSet<u64>,
    random: Stream,
}

/// How often requests fail: one in so many, or none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    pub unreadable: Option<u64>,
    /// Of appends, with an error that is not the zone's.
    pub refused: Option<u64>,
    pub retired: Option<u64>,
    /// Zones that may be retired.
    pub to_retire: u32,
}

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    AsItShould,
    /// A block of a read becomes unreadable.
    Unreadable,
    Refused,
    /// Its zone is retired.
    ReadOnly,
    Offline,
}

impl AnyOrder {
    /// With zones as some preparation may have left them, if it was `prefilled`.
    pub fn new(seed: u64, rules: ZoneRules, faults: Faults, prefilled: bool) -> AnyOrder {
        let mut random = Stream::new(seed, "host.translation.device");
        let mut zones = Zones::new(rules);
        if prefilled {
            prefill(&mut zones, &mut random);
        }
        AnyOrder {
            zones,
            now: SimTime(0),
            inside: BTreeMap::new(),
            depth: if seed.is_multiple_of(2) { usize::MAX } else { 6 },
            entered: Vec::new(),
            landed: Vec::new(),
            faults,
            bad: BTreeSet::new(),
            random,
        }
    }

    fn fate(&mut self, op: Op) -> Fate {
        let faults = self.faults;
        let random = &mut self.random;
        let mut strikes = |one_in: Option<u64>| one_in.is_some_and(|many| random.below(many) == 0);
        match op {
            Op::Read if strikes(faults.unreadable) => Fate::Unreadable,
            Op::Append if strikes(faults.refused) => Fate::Refused,
            Op::Flush => Fate::AsItShould,
            _ if faults.to_retire > 0 && strikes(faults.retired) => {
                self.faults.to_retire -= 1;
                if strikes(Some(2)) { Fate::ReadOnly } else { Fate::Offline }
            }
            _ => Fate::AsItShould,
        }
    }

    /// The blocks of a request.
    pub fn blocks_of(request: &Request) -> impl Iterator<Item = u64> {
        let block = u64::from(BLOCK);
        let end = request.lba.0 + u64::from(request.sectors);
        (request.lba.0 / block..end.div_ceil(block)).map(move |number| number * block)
    }

    fn zone_of(&self, lba: u64) -> u32 {
        (lba / self.zones.rules().shape.size_sectors()) as u32
    }

    pub fn is_offline(&self, lba: u64) -> bool {
        self.zones.all()[self.zone_of(lba) as usize].state == ZoneState::Offline
    }

    /// Whether a read fails that is done now.
    pub fn fails(&self, request: &Request, fate: Fate) -> bool {
        matches!(fate, Fate::Unreadable | Fate::Offline)
            || self.is_offline(request.lba.0)
            || Self::blocks_of(request).any(|block| self.bad.contains(&block))
    }

    fn strike(&mut self, request: &Request, fate: Fate) {
        let zone = self.zone_of(request.lba.0);
        match fate {
            Fate::Unreadable => {
                let blocks: Vec<u64> = Self::blocks_of(request).collect();
                self.bad.insert(blocks[self.random.below(blocks.len() as u64) as usize]);
            }
            Fate::ReadOnly => retire(&mut self.zones, zone, false),
            Fate::Offline => retire(&mut self.zones, zone, true),
            Fate::AsItShould | Fate::Refused => {}
        }
    }

    fn admit(&mut self, request: &Request, fate: Fate) -> (Lba, Outcome) {
        self.strike(request, fate);
        let admitted = match fate {
            Fate::Refused => Err(ZoneError::TooManyActive),
            _ => self.zones.admit(request),
        };
        let admitted = match admitted {
            Ok(admitted) => admitted,
            Err(error) => {
                let has_reason = fate == Fate::Refused || self.is_retired(request.lba.0);
                assert!(
                    has_reason,
                    "the store breaks the rules of zones: {error:?} of {request:?}"
                );
                return (request.lba, Outcome::Zone(error));
            }
        };
        match request.op {
            Op::Read if self.fails(request, fate) => (request.lba, Outcome::Unreadable),
            Op::ZoneReset => {
                self.zones.reset(&admitted);
                let end = request.lba.0 + u64::from(request.sectors);
                self.bad.retain(|at| !(request.lba.0..end).contains(at));
                (request.lba, Outcome::Done)
            }
            Op::Append => {
                let lba = self.zones.with_gaps(admitted.lba);
                self.landed.push((request.tag, lba));
                (lba, Outcome::Done)
            }
            _ => (request.lba, Outcome::Done),
        }
    }

    fn is_retired(&self, lba: u64) -> bool {
        let state = self.zones.all()[self.zone_of(lba) as usize].state;
        matches!(state, ZoneState::ReadOnly | ZoneState::Offline)
    }
}

impl Host for AnyOrder {
    fn now(&self) -> SimTime {
        self.now
    }

    fn capacity_sectors(&self) -> u64 {
        self.zones.host_sectors()
    }

    fn zones(&self) -> Option<&Zones> {
        Some(&self.zones)
    }

    fn has_room(&self, _: QueueId) -> bool {
        self.inside.len() < self.depth
    }

    fn submit(&mut self, at: SimTime, request: Request) {
        assert!(at >= self.now && self.inside.len() < self.depth);
        self.now = at;
        let mut end = SimTime(at.0 + 1 + self.random.below(60));
        while self.inside.contains_key(&end) {
            end.0 += 1;
        }
        let fate = self.fate(request.op);
        self.inside.insert(end, (at, request, fate));
        self.entered.push(request);
    }

    fn advance_until(&mut self, limit: SimTime, done: &mut Vec<Completion>) -> Advanced {
        let next = self.inside.first_key_value().map(|(&at, _)| at);
        let Some(finished) = next.filter(|&at| at <= limit) else {
            self.now = if limit == SimTime::FOREVER { self.now } else { self.now.max(limit) };
            return if next.is_none() { Advanced::Idle } else { Advanced::Reached };
        };
        self.now = finished;
        let (submitted, request, fate) = self.inside.remove(&finished).expect("it was there");
        let (lba, outcome) = self.admit(&request, fate);
        let breakdown = Breakdown { cell: finished - submitted, ..Breakdown::default() };
        done.push(Completion {
            request: Request { lba, ..request },
            queue: QueueId::default(),
            submitted,
            finished,
            breakdown,
            outcome,
        });
        Advanced::Completed
    }
}

/// A zone is retired, unless it is already.
fn retire(zones: &mut Zones, zone: u32, offline: bool) {
    zones.lose(zone);
    if offline && zones.all()[zone as usize].state == ZoneState::ReadOnly {
        let size = zones.rules().shape.size_sectors();
        let (lba, sectors) = (Lba(u64::from(zone) * size), size as u32);
        let request = Request { op: Op::ZoneOffline, lba, sectors, stream: 0, tag: 0, fua: false };
        zones.admit(&request).expect("it is read-only");
    }
}

/// Zones as some preparation may have left them: any of them full, partly written or retired.
fn prefill(zones: &mut Zones, random: &mut Stream) {
    let shape = zones.rules().shape;
    for zone in 0..shape.count {
        let first = u64::from(zone) * shape.capacity_sectors();
        let part = u64::from(BLOCK) * (1 + random.below(u64::from(ZONE_BLOCKS) - 1));
        match random.below(8) {
            0..3 => zones.filled_to(Lba(first + shape.capacity_sectors())),
            3..5 if zones.in_use().1 < zones.rules().max_active => {
                zones.filled_to(Lba(first + part))
            }
            5 if random.below(4) == 0 => {
                zones.filled_to(Lba(first + part));
                retire(zones, zone, random.below(2) == 0);
            }
            _ => {}
        }
    }
}
