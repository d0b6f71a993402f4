//! Planes that sense on their own (`nand.multi_plane.independent_reads`). Each is a station, with a register, for the
//! reads of its pages. The station of the die has everything else, which occupies all planes.
//!
//! The stations of a die keep the order of the policy between reads and everything else: a read does not begin while
//! something that ranks better waits for the die, and nothing else begins while a read that ranks better waits or any
//! plane is in use. Only reads of different planes do not wait for each other.

use super::FlashArray;
use crate::engine::skills::{self, Skills};
use crate::nand::{Accepts, Kind};
use crate::scheduler::command::CommandId;
use crate::scheduler::datasheet::Datasheet;
use crate::scheduler::station::StationId;
use crate::units::{DieId, Nanos, SimTime};

/// The planes that sense on their own, and for how long their dies were in use.
#[derive(Clone, Debug)]
pub struct Apart {
    dies: u32,
    planes_per_die: u32,
    /// By die.
    uses: Vec<Use>,
}

/// The time for which any part of a die was in use.
#[derive(Clone, Copy, Debug, Default)]
struct Use {
    /// Until when it is known.
    settled: SimTime,
    busy: Nanos,
    /// The part of it in which collection had a station of the die.
    gc: Nanos,
}

impl Apart {
    /// Returns the planes of a flash, if they sense on their own.
    pub fn of(sheet: &Datasheet) -> Option<Apart> {
        let (dies, planes_per_die) = (sheet.geometry.dies(), sheet.geometry.planes_per_die());
        let uses = vec![Use::default(); dies as usize];
        sheet.senses_apart().then_some(Apart { dies, planes_per_die, uses })
    }

    /// The die of each plane.
    pub fn planes(&self) -> impl Iterator<Item = DieId> {
        (0..self.dies * self.planes_per_die).map(|plane| DieId::new(plane / self.planes_per_die))
    }

    fn planes_of(&self, die: DieId) -> std::ops::Range<u32> {
        let first = self.dies + die.get() * self.planes_per_die;
        first..first + self.planes_per_die
    }
}

impl FlashArray {
    /// The die of a station.
    #[inline(always)]
    pub fn die_of<const S: Skills>(&self, at: StationId) -> DieId {
        match &self.apart {
            Some(apart) if skills::any(S, skills::RARE_ON_FLASH) && at.get() >= apart.dies => {
                DieId::new((at.get() - apart.dies) / apart.planes_per_die)
            }
            _ => DieId::new(at.get()),
        }
    }

    /// The station that serves a command for a die.
    #[inline(always)]
    pub fn station_of<const S: Skills>(&self, die: DieId, id: CommandId) -> StationId {
        match &self.apart {
            Some(apart)
                if skills::any(S, skills::RARE_ON_FLASH)
                    && self.commands[id].kind == Kind::Read =>
            {
                let plane = self.sheet.geometry.plane_of_page(self.commands[id].page);
                StationId::new(apart.dies + plane.get())
            }
            _ => StationId::of(die),
        }
    }

    /// The stations of a die: its own, and those of planes that sense on their own.
    pub fn stations_of(&self, at: StationId) -> impl Iterator<Item = StationId> + use<> {
        let die = self.die_of::<{ skills::ALL }>(at);
        std::iter::once(StationId::of(die)).chain(self.planes_of(die))
    }

    /// The stations of the planes of a die that sense on their own.
    fn planes_of(&self, die: DieId) -> impl Iterator<Item = StationId> + use<> {
        let planes = self.apart.as_ref().map_or(0..0, |apart| apart.planes_of(die));
        planes.map(StationId::new)
    }

    /// The command that a station of a die whose planes sense on their own may begin next.
    #[inline(never)]
    pub fn next_apart(&self, at: StationId) -> Option<CommandId> {
        let die = self.die_of::<{ skills::ALL }>(at);
        if at == StationId::of(die) {
            return self.next_on_all_planes(die);
        }
        let cache = &self.sheet.abilities.cache;
        let (plane, whole) = (&self.stations[at.at()], &self.stations[StationId::of(die).at()]);
        if whole.die.is_paused() {
            let may = plane.die.is_idle()
                && whole.die.accepts(cache) == Accepts::HostReads
                && whole.suspension.serves_reads(&self.rules.pause);
            return self.read_beside(at, whole.suspension.first()).filter(|_| may);
        }
        let accepts = matches!(plane.die.accepts(cache), Accepts::Anything | Accepts::Reads);
        let first = plane.lanes.first().filter(|_| accepts && whole.die.is_idle())?;
        let passes = |&other: &CommandId| self.commands[other].rank() < self.commands[first].rank();
        whole.lanes.first().filter(passes).is_none().then_some(first)
    }

    /// The same for the station that uses all planes of its die.
    fn next_on_all_planes(&self, die: DieId) -> Option<CommandId> {
        let station = &self.stations[StationId::of(die).at()];
        let first = station.lanes.first()?;
        let accepts = match station.die.accepts(&self.sheet.abilities.cache) {
            Accepts::Anything => self.planes_are_free(die),
            Accepts::Programs => self.commands[first].kind == Kind::Program,
            Accepts::Reads | Accepts::HostReads | Accepts::Nothing => false,
        };
        let rank = self.commands[first].rank();
        let better = |plane: StationId| {
            let read = self.stations[plane.at()].lanes.first();
            read.is_some_and(|read| self.commands[read].rank() < rank)
        };
        (accepts && !self.planes_of(die).any(better)).then_some(first)
    }

    fn planes_are_free(&self, die: DieId) -> bool {
        self.planes_of(die).all(|plane| self.stations[plane.at()].die.is_idle())
    }

    /// Whether no plane of a die serves a read, or is about to, for which an operation is suspended.
    pub fn planes_are_done(&self, at: StationId) -> bool {
        let die = self.die_of::<{ skills::ALL }>(at);
        self.planes_are_free(die)
            && self.planes_of(die).all(|plane| self.next_apart(plane).is_none())
    }

    /// Whether a host read waits for which a die may suspend this operation: see
    /// [`read_beside`](Self::read_beside).
    pub fn any_read_beside(&self, at: StationId, operation: Option<CommandId>) -> bool {
        self.stations_of(at).any(|one| self.read_beside(one, operation).is_some())
    }

    /// Whether a host read waits for a die.
    pub fn any_host_read(&self, at: StationId) -> bool {
        self.stations_of(at).any(|one| self.stations[one.at()].lanes.first_host_read().is_some())
    }

    /// The arrival number of the earliest read that waits for a die, or the largest number if none waits.
    pub fn oldest_read(&self, at: StationId) -> u64 {
        let oldest = |one: StationId| self.stations[one.at()].lanes.oldest_read(&self.commands);
        self.stations_of(at).map(oldest).min().unwrap_or(u64::MAX)
    }

    /// Notes that a station is about to begin something. Reads count for the suspension that they use when they begin,
    /// so that planes together serve no more than it may.
    pub fn begins_apart(&mut self, now: SimTime, at: StationId) {
        self.settle_use(now, at);
        let whole = StationId::of(self.die_of::<{ skills::ALL }>(at));
        if at != whole {
            self.stations[whole.at()].suspension.serves(now, &self.rules.pause);
        }
    }

    /// Ends the suspension on a die for further reads if time is up.
    pub fn look_at_time(&mut self, now: SimTime, at: StationId) {
        let whole = StationId::of(self.die_of::<{ skills::ALL }>(at));
        self.stations[whole.at()].suspension.looks_at_time(now, &self.rules.pause);
    }

    /// Whether collection has any station of a die, and whether anything has.
    fn in_use(&self, die: DieId) -> (bool, bool) {
        let all = || self.stations_of(StationId::of(die)).map(|one| &self.stations[one.at()].die);
        (all().any(|one| one.is_for_collection()), all().any(|one| !one.is_idle()))
    }

    /// Accounts for the use of a die until `now`, before it changes.
    pub fn settle_use(&mut self, now: SimTime, at: StationId) {
        let die = self.die_of::<{ skills::ALL }>(at);
        let (busy, gc) = (self.busy_apart(now, die), self.gc_apart(now, die));
        if let Some(apart) = &mut self.apart {
            apart.uses[die.at()] = Use { settled: now, busy, gc };
        }
    }

    /// For how long any plane of a die was in use until `now`.
    pub fn busy_apart(&self, now: SimTime, die: DieId) -> Nanos {
        let Some(apart) = &self.apart else { return Nanos::ZERO };
        let Use { settled, busy, .. } = apart.uses[die.at()];
        let (_, in_use) = self.in_use(die);
        if in_use { busy + (now - settled) } else { busy }
    }

    /// For how long collection had any plane of a die until `now`.
    fn gc_apart(&self, now: SimTime, die: DieId) -> Nanos {
        let Some(apart) = &self.apart else { return Nanos::ZERO };
        let Use { settled, gc, .. } = apart.uses[die.at()];
        let (for_gc, _) = self.in_use(die);
        if for_gc { gc + (now - settled) } else { gc }
    }

    /// Time until `now` for which collection held what commands of a station wait for: a read waits for its plane
    /// and for what uses all planes, everything else for all planes.
    pub fn held_apart(&self, now: SimTime, at: StationId) -> Nanos {
        let die = self.die_of::<{ skills::ALL }>(at);
        let (whole, station) = (StationId::of(die), &self.stations[at.at()]);
        let on_bus = station.bus_held_until(now, &self.lines);
        match at == whole {
            true => on_bus + self.gc_apart(now, die),
            false => {
                let of_die = self.stations[whole.at()].die.gc_until(now);
                on_bus + of_die + station.die.gc_until(now)
            }
        }
    }
}
