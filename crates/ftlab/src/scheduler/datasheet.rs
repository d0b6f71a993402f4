//! What the flash is, as its data sheet has it: its shape, what its dies can do, and how long that takes the cells
//! and the buses. None of it changes while the flash is at work.

use super::command::{CellFindings, Command, Origin};
use super::owner::ServiceId;
use crate::engine::skills::{self, Skills};
use crate::nand::timing::{Bus, Prices, ProgramOf, ReadOf, TimingPolicy};
use crate::nand::{
    Abilities, CellMode, CostClass, DieStates, Kind, MultiPlane, ReadEffort, Reliability,
};
use crate::shape::Geometry;
use crate::units::{Nanos, Ppn};

/// What the flash can do, and what that takes.
#[derive(Clone, Debug)]
pub(crate) struct Datasheet {
    pub(super) geometry: Geometry,
    /// The price of the cells' work.
    pub(super) timing: Prices,
    /// What each kind of command takes the cells, where that is the same for all pages.
    pub(super) flat: [Nanos; Kind::ALL.len()],
    /// The price of transfers.
    pub(super) bus: Bus,
    /// What the dies can do beyond one thing at a time.
    pub(super) abilities: Abilities,
    /// The states of a die in which looking for its next command is idle.
    pub(super) settled: DieStates,
}

impl Datasheet {
    pub(super) fn new(
        geometry: Geometry,
        timing: Prices,
        bus: Bus,
        abilities: Abilities,
    ) -> Datasheet {
        let flat = [Nanos::ZERO; Kind::ALL.len()];
        let settled = DieStates::settled(&abilities.cache);
        let mut sheet = Datasheet { geometry, timing, flat, bus, abilities, settled };
        sheet.flat = Kind::ALL.map(|kind| sheet.native_time(kind));
        sheet
    }

    /// How long a kind of command takes the native cells of a page, be it the first.
    fn native_time(&self, kind: Kind) -> Nanos {
        let page = Ppn::new(0);
        let mut any = Command::new(kind, Origin::System, ServiceId::JOURNAL.owner(0), page);
        any.source = Some(page);
        self.in_cells(&any)
    }

    /// The longest that anything takes, from the moment at which it begins.
    pub(super) fn longest_step(&self) -> Nanos {
        let Abilities { cache, pause, multi_plane, .. } = &self.abilities;
        let in_bus = self.bus.longest(self.geometry.planes_per_die(), multi_plane.gap);
        let pauses = pause.program + pause.erase + pause.resume;
        in_bus + self.timing.longest() + cache.busy + pauses
    }

    /// How long a command takes the cells.
    #[inline(always)]
    pub(super) fn in_cells(&self, command: &Command) -> Nanos {
        let Command { kind, page, source, mode, found: CellFindings { effort, .. }, .. } = *command;
        let program = ProgramOf { page, mode, class: command.class() };
        match kind {
            Kind::Read => self.timing.read(&self.geometry, &ReadOf { page, mode, effort }),
            Kind::Program => self.timing.program(&self.geometry, &program),
            Kind::Erase => self.timing.erase(mode),
            Kind::Copyback => {
                let page = source.expect("a copyback says what it copies");
                let read = ReadOf { page, mode, effort };
                self.timing.read(&self.geometry, &read)
                    + self.timing.program(&self.geometry, &program)
            }
        }
    }

    /// How long a command, and the data of a program, take the bus before the command begins.
    #[inline(always)]
    pub(super) fn in_bus<const S: Skills>(&self, command: &Command) -> Nanos {
        let data = if command.kind == Kind::Program { command.codewords } else { 0 };
        match skills::any(S, skills::RARE_ON_FLASH) {
            true => self.bus.command() + self.bus.transfer(data),
            false => self.bus.transfer(data),
        }
    }

    /// What the dies can do on several planes.
    pub(crate) fn multi_plane(&self) -> &MultiPlane {
        &self.abilities.multi_plane
    }

    /// Whether one operation may serve several planes.
    pub(super) fn serves_planes_together(&self) -> bool {
        let MultiPlane { read, program, erase, .. } = self.abilities.multi_plane;
        self.geometry.planes_per_die() > 1 && (read || program || erase)
    }

    /// The errors of pages, where the timing knows them.
    #[inline]
    pub(crate) fn reliability(&self) -> Option<&Reliability> {
        self.timing.native.reliability()
    }

    /// How long an operation keeps the cells of its die busy, where programs cost the same whatever they are for.
    #[inline]
    pub(crate) fn price_of(&self, kind: Kind, page: Ppn, mode: CellMode) -> Nanos {
        let (class, effort) = (CostClass::default(), ReadEffort::default());
        match kind {
            Kind::Read => self.timing.read(&self.geometry, &ReadOf { page, mode, effort }),
            Kind::Program => self.timing.program(&self.geometry, &ProgramOf { page, mode, class }),
            Kind::Copyback => {
                let read = self.price_of(Kind::Read, page, mode);
                read + self.price_of(Kind::Program, page, mode)
            }
            Kind::Erase => self.timing.erase(mode),
        }
    }

    /// How long reading a page and programming it elsewhere on its die keeps the cells busy.
    #[inline]
    pub(crate) fn price_of_copy(&self, from: Ppn, to: Ppn) -> Nanos {
        let (timing, geometry) = (&self.timing.native, &self.geometry);
        let (effort, class) = (ReadEffort::default(), CostClass::default());
        timing.read(geometry, from, effort) + timing.program(geometry, to, class)
    }

    /// The same, if it is the same for all pages.
    pub(crate) fn price_of_any_copy(&self) -> Option<Nanos> {
        self.timing.native.is_flat().then(|| {
            let (read, program) = self.price_of_page();
            read + program
        })
    }

    /// How long reading and programming a page keeps the cells busy, where that is the same for all.
    pub(crate) fn price_of_page(&self) -> (Nanos, Nanos) {
        let (timing, geometry, any) = (&self.timing.native, &self.geometry, Ppn::new(0));
        let (effort, class) = (ReadEffort::default(), CostClass::default());
        (timing.read(geometry, any, effort), timing.program(geometry, any, class))
    }

    /// How long erasing blocks keeps the cells busy.
    pub(crate) fn price_of_erases(&self, erases: u32) -> Nanos {
        Nanos(self.timing.erase(CellMode::Native).0 * u64::from(erases))
    }

    /// Whether a die does one thing at a time, waits for no other and for no bus, and all that it does takes what
    /// is known beforehand: then times do nothing but add up.
    pub(super) fn only_adds_up(&self) -> bool {
        let bus = &self.bus;
        let free = bus.transfer(bus.page_codewords()) + bus.command() == Nanos::ZERO;
        let Abilities { cache, one_die_at_a_time, .. } = &self.abilities;
        let together = self.serves_planes_together();
        let one_by_one = !together && !cache.read && !cache.program && !one_die_at_a_time;
        free && one_by_one && !self.timing.native.knows_costs()
    }
}
