//! The state machine against a naive model: one that keeps no counts, finds everything by looking at all zones, and was written
//! from the tables of the command set alone.

use super::{ZoneError, ZoneRules, ZoneState, ZoneWindow, Zones};
use crate::engine::Stream;
use crate::host::{Op, Request};
use crate::shape::ZoneShape;
use crate::units::Lba;

const CAPACITY: u64 = 24;
const SIZE: u64 = 32;
const ZONES: u32 = 7;
const CONVENTIONAL: u32 = 1;

/// A zone of the model.
#[derive(Clone, Copy, Debug, Default)]
struct PlainZone {
    state: ZoneState,
    pointer: u64,
    written: u64,
    windowed: bool,
    /// When it was opened implicitly.
    since: usize,
}

struct Model {
    rules: ZoneRules,
    zones: Vec<PlainZone>,
    step: usize,
}

type Admitted = Result<u64, ZoneError>;

impl Model {
    fn count(&self, is: impl Fn(ZoneState) -> bool) -> u32 {
        self.zones.iter().filter(|zone| is(zone.state)).count() as u32
    }

    /// Table of section 3.4.3: which commands a zone accepts in which state.
    fn manage(&mut self, op: Op, at: usize) -> Result<(), ZoneError> {
        use ZoneState::{Closed, Empty, ExplicitlyOpen, Full, ImplicitlyOpen, Offline, ReadOnly};
        let state = self.zones[at].state;
        let next = match (op, state) {
            (Op::ZoneOpen, Empty | Closed) => {
                self.need_place(at)?;
                ExplicitlyOpen
            }
            (Op::ZoneOpen, ImplicitlyOpen | ExplicitlyOpen) => ExplicitlyOpen,
            (Op::ZoneClose, ImplicitlyOpen | ExplicitlyOpen | Closed) => Closed,
            (Op::ZoneFinish, Empty | ImplicitlyOpen | ExplicitlyOpen | Closed | Full) => Full,
            (Op::ZoneReset, Empty | ImplicitlyOpen | ExplicitlyOpen | Closed | Full) => Empty,
            (Op::ZoneOffline, ReadOnly | Offline) => Offline,
            _ => return Err(ZoneError::InvalidTransition),
        };
        let windows = self.zones.iter().filter(|zone| zone.windowed).count() as u32;
        let zone = &mut self.zones[at];
        if op == Op::ZoneOpen && state == Empty {
            zone.windowed = self.rules.window.is_some_and(|window| windows < window.most);
        }
        if op == Op::ZoneFinish {
            zone.pointer = CAPACITY;
        }
        if op == Op::ZoneReset {
            (zone.pointer, zone.written) = (0, 0);
        }
        zone.windowed &= next == ExplicitlyOpen || next == Closed || next == ImplicitlyOpen;
        zone.state = next;
        Ok(())
    }

    /// An inactive zone needs a place among the active ones, and a zone that is not open one among the open ones.
    fn need_place(&mut self, at: usize) -> Result<(), ZoneError> {
        let active = self.count(ZoneState::is_active);
        if !self.zones[at].state.is_active() && active == self.rules.max_active {
            return Err(ZoneError::TooManyActive);
        }
        if self.count(ZoneState::is_open) < self.rules.max_open {
            return Ok(());
        }
        let implicit = self.zones.iter_mut();
        let mut implicit: Vec<&mut PlainZone> =
            implicit.filter(|zone| zone.state == ZoneState::ImplicitlyOpen).collect();
        implicit.sort_by_key(|zone| zone.since);
        let Some(oldest) = implicit.first_mut() else { return Err(ZoneError::TooManyOpen) };
        oldest.state = ZoneState::Closed;
        Ok(())
    }

    /// The device takes an empty zone out of service, the last one.
    fn retire(&mut self) -> bool {
        let sequential = self.zones[CONVENTIONAL as usize..].iter_mut();
        let empty = sequential.rev().find(|zone| zone.state == ZoneState::Empty);
        empty.map(|zone| zone.state = ZoneState::Offline).is_some()
    }

    fn write(&mut self, at: usize, start: u64, sectors: u64) -> Admitted {
        let place = at as u64 * CAPACITY + start;
        let end = start + sectors;
        if at < CONVENTIONAL as usize {
            return if end > CAPACITY { Err(ZoneError::Boundary) } else { Ok(place) };
        }
        match self.zones[at].state {
            ZoneState::Full => return Err(ZoneError::Full),
            ZoneState::ReadOnly => return Err(ZoneError::ReadOnly),
            ZoneState::Offline => return Err(ZoneError::Offline),
            _ => {}
        }
        let PlainZone { pointer, windowed, .. } = self.zones[at];
        let mut moved = end;
        match self.rules.window.filter(|_| windowed) {
            None if start != pointer => return Err(ZoneError::InvalidWrite),
            None => {}
            Some(window) => {
                if start < pointer || end > pointer + 2 * window.size {
                    return Err(ZoneError::InvalidWrite);
                }
                moved = pointer;
                // Step by step, until the write lies within the area.
                while end > moved + window.size {
                    moved += window.step;
                }
            }
        }
        if end > CAPACITY {
            return Err(ZoneError::Boundary);
        }
        if !self.zones[at].state.is_open() {
            self.need_place(at)?;
            self.zones[at].state = ZoneState::ImplicitlyOpen;
            self.zones[at].since = self.step;
        }
        let zone = &mut self.zones[at];
        zone.written = zone.written.max(end);
        zone.pointer = moved.min(CAPACITY);
        if zone.pointer == CAPACITY {
            (zone.state, zone.windowed) = (ZoneState::Full, false);
        }
        Ok(place)
    }

    fn carry_out(&mut self, request: &Request) -> Admitted {
        self.step += 1;
        let (lba, sectors) = (request.lba.0, u64::from(request.sectors));
        let (at, start) = ((lba / SIZE) as usize, lba % SIZE);
        let place = at as u64 * CAPACITY + start.min(CAPACITY);
        match request.op {
            Op::Flush => Ok(lba),
            Op::Read if start + sectors > CAPACITY => Err(ZoneError::Boundary),
            Op::Read if self.zones[at].state == ZoneState::Offline => Err(ZoneError::Offline),
            Op::Read => Ok(place),
            Op::Trim if at >= CONVENTIONAL as usize => Err(ZoneError::InvalidField),
            Op::Trim if start + sectors > CAPACITY => Err(ZoneError::Boundary),
            Op::Trim => Ok(place),
            Op::Write => self.write(at, start, sectors),
            Op::Append => {
                let conventional = at < CONVENTIONAL as usize;
                if start != 0 || sectors > self.rules.append_limit || conventional {
                    return Err(ZoneError::InvalidField);
                }
                if self.zones[at].windowed {
                    return Err(ZoneError::InvalidOperation);
                }
                self.write(at, self.zones[at].pointer, sectors)
            }
            Op::ZoneCommit => {
                let PlainZone { pointer, windowed, .. } = self.zones[at];
                let window = self.rules.window.filter(|_| windowed);
                let Some(window) = window else { return Err(ZoneError::InvalidOperation) };
                let end = start + sectors;
                let whole = end % window.step == 0 || end == CAPACITY;
                if !whole || end <= pointer || end > (pointer + window.size).min(CAPACITY) {
                    return Err(ZoneError::InvalidField);
                }
                self.zones[at].pointer = end;
                if end == CAPACITY {
                    (self.zones[at].state, self.zones[at].windowed) = (ZoneState::Full, false);
                }
                Ok(place)
            }
            op => {
                if start != 0 {
                    return Err(ZoneError::InvalidField);
                }
                let zones = sectors.div_ceil(SIZE) as usize;
                if zones == 1 {
                    if at < CONVENTIONAL as usize {
                        return Err(ZoneError::InvalidField);
                    }
                    self.manage(op, at)?;
                } else {
                    // Select All is for these states only, as they were when the command came.
                    let before: Vec<ZoneState> = self.zones.iter().map(|zone| zone.state).collect();
                    let suits = |state: ZoneState| match op {
                        Op::ZoneOpen => state == ZoneState::Closed,
                        Op::ZoneClose => state.is_open(),
                        Op::ZoneFinish => state.is_active(),
                        Op::ZoneReset => state.is_active() || state == ZoneState::Full,
                        _ => state == ZoneState::ReadOnly,
                    };
                    let first = at.max(CONVENTIONAL as usize);
                    let chosen: Vec<usize> =
                        (first..at + zones).filter(|&other| suits(before[other])).collect();
                    if op == Op::ZoneOpen {
                        // Only zones that were opened by command keep their places.
                        let kept = before.iter().filter(|&&it| it == ZoneState::ExplicitlyOpen);
                        if kept.count() + chosen.len() > self.rules.max_open as usize {
                            return Err(ZoneError::TooManyOpen);
                        }
                    }
                    for other in chosen {
                        self.manage(op, other)?;
                    }
                }
                Ok(place)
            }
        }
    }
}

fn rules(window: Option<ZoneWindow>, limits: [u32; 2]) -> ZoneRules {
    ZoneRules {
        shape: ZoneShape {
            pages: (CAPACITY / 8) as u32,
            count: ZONES,
            conventional: CONVENTIONAL,
            groups: 1,
            unit: 4096,
            size: SIZE * 512,
        },
        max_open: limits[0],
        max_active: limits[1],
        append_limit: 6,
        cross_reads: false,
        window,
    }
}

/// A random command, mostly one that might work.
fn draw(stream: &mut Stream, model: &Model) -> Request {
    let op = Op::ALL[stream.below(Op::ALL.len() as u64) as usize];
    let op = if stream.below(3) == 0 { Op::Write } else { op };
    let zone = stream.below(ZONES.into());
    let start = match (op, stream.below(4)) {
        (Op::Write | Op::ZoneCommit, 0..3) => model.zones[zone as usize].pointer.min(SIZE - 1),
        (Op::Write | Op::Read | Op::Trim | Op::ZoneCommit, _) => stream.below(SIZE),
        (_, 0) => stream.below(3),
        _ => 0,
    };
    let room = (u64::from(ZONES) - zone) * SIZE - start;
    let sectors = match op.manages_zones() && op != Op::ZoneCommit {
        true if stream.below(8) == 0 => room,
        true => SIZE.min(room),
        false => (1 + stream.below(9)).min(room),
    };
    let lba = Lba(zone * SIZE + start);
    Request { op, lba, sectors: sectors as u32, stream: 0, tag: 0, fua: false }
}

fn same(zones: &Zones, model: &Model) -> bool {
    zones.all().iter().zip(&model.zones).all(|(zone, plain)| {
        let dead = matches!(zone.state, ZoneState::ReadOnly | ZoneState::Offline);
        (zone.state, zone.has_window) == (plain.state, plain.windowed)
            && (dead || (zone.write_pointer, zone.written) == (plain.pointer, plain.written))
    })
}

#[test]
fn it_answers_as_a_naive_model() {
    let area = ZoneWindow { size: 8, step: 2, most: 2 };
    let mut errors = std::collections::BTreeMap::new();
    let mut retired = 0;
    for seed in 0..400 {
        let mut stream = Stream::new(seed, "zones");
        let window = (seed % 2 == 1).then_some(area);
        let active = 2 + stream.below(6) as u32;
        let open = 1 + stream.below(active.into()) as u32;
        let rules = rules(window, [open, active]);
        let mut zones = Zones::new(rules);
        let mut model = Model { rules, zones: vec![PlainZone::default(); ZONES as usize], step: 0 };
        for step in 0..600 {
            if step == 500 {
                zones.wear_out();
                for plain in &mut model.zones[CONVENTIONAL as usize..] {
                    if plain.state != ZoneState::Offline {
                        (plain.state, plain.windowed) = (ZoneState::ReadOnly, false);
                    }
                }
            }
            if stream.below(200) == 0 {
                assert_eq!(zones.retire(0), model.retire(), "seed {seed}, step {step}");
                assert!(same(&zones, &model), "seed {seed}, step {step}");
                retired += u64::from(zones.gone(0));
            }
            let request = draw(&mut stream, &model);
            let expected = model.carry_out(&request);
            let answer = zones.admit(&request);
            let found = answer.map(|admitted| admitted.lba.0);
            assert_eq!(found, expected, "seed {seed}, step {step}: {request:?}");
            if let (Ok(admitted), Op::ZoneReset) = (answer, request.op) {
                zones.reset(&admitted);
            }
            assert!(
                same(&zones, &model),
                "seed {seed}, step {step}: {request:?} leaves {:?}, not {:?}",
                zones.all(),
                model.zones
            );
            let (open, active) = zones.in_use();
            assert_eq!(open, model.count(ZoneState::is_open), "seed {seed}");
            assert_eq!(active, model.count(ZoneState::is_active), "seed {seed}");
            let key = (request.op, expected.err());
            *errors.entry(key).or_insert(0) += 1;
        }
    }
    let seen = |error| errors.keys().any(|&(_, found)| found == Some(error));
    assert!(ZoneError::ALL.into_iter().all(seen), "{errors:?}");
    assert!(retired > 400, "{retired}");
    let works = |&op: &Op| errors.contains_key(&(op, None));
    assert!(Op::ALL.iter().all(works), "{errors:?}");
}

#[test]
fn gaps_come_and_go() {
    let zones = Zones::new(rules(None, [2, 2]));
    for inside in 0..u64::from(ZONES) * CAPACITY {
        let host = zones.with_gaps(Lba(inside));
        assert!(host.0 % SIZE < CAPACITY);
        assert_eq!(zones.without_gaps(host), Lba(inside));
    }
}
