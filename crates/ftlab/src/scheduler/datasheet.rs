//! The data sheet of the flash: its shape, what its dies can do, and how long it takes in the cells and on the
//! buses. It never changes at run time.

use super::command::{CellFindings, Command, Origin, Seat};
use super::owner::ServiceId;
use crate::engine::skills::{self, Skills};
use crate::nand::timing::{Bus, Prices, ProgramOf, ReadOf, TimingPolicy};
use crate::nand::{
    Abilities, AddressRule, CellMode, CostClass, DieStates, Kind, MultiPlane, ReadEffort,
    Reliability, Senses, WordLine,
};
use crate::shape::FlashGeometry;
use crate::units::{DieId, Nanos, Ppn};

/// What the flash can do, and how long it takes.
#[derive(Clone, Debug)]
pub(crate) struct Datasheet {
    pub(super) geometry: FlashGeometry,
    /// Times in the cells.
    pub(super) timing: Prices,
    /// Time of each kind of command in the cells, where it is the same for all pages.
    pub(super) flat: [Nanos; Kind::ALL.len()],
    /// Times on the bus.
    pub(super) bus: Bus,
    /// What the dies can do besides one thing at a time.
    pub(super) abilities: Abilities,
    /// The states of a die in which it is pointless to look for its next command.
    pub(super) settled: DieStates,
}

impl Datasheet {
    pub(super) fn new(
        geometry: FlashGeometry,
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

    /// Time of a kind of command in native cells, for the first page.
    fn native_time(&self, kind: Kind) -> Nanos {
        let page = Ppn::new(0);
        let mut any = Command::new(kind, Origin::System, ServiceId::JOURNAL.owner(0), page);
        any.source = Some(page);
        self.in_cells(&any)
    }

    /// Upper bound of the time that any single step takes.
    pub(super) fn longest_step(&self) -> Nanos {
        let Abilities { cache, pause, multi_plane, .. } = &self.abilities;
        let in_bus = self.bus.longest(self.geometry.planes_per_die(), multi_plane.gap);
        let pauses = pause.program + pause.erase + pause.resume;
        in_bus + self.timing.longest() + cache.busy + pauses
    }

    /// Time that a command takes in the cells.
    #[inline(always)]
    pub(super) fn in_cells(&self, command: &Command) -> Nanos {
        match &self.timing.word_line {
            None => self.in_cells_of_page(command),
            Some(word_line) => self.in_cells_of_word_line(word_line, command),
        }
    }

    #[cold]
    fn in_cells_of_word_line(&self, word_line: &WordLine, command: &Command) -> Nanos {
        let Command { kind, page, source, mode, senses, .. } = *command;
        let (effort, class) = (command.found.effort, command.class());
        let read = |page| {
            let of = ReadOf { page, mode, effort };
            self.timing.read_of_word_line((word_line, senses), &self.geometry, &of)
        };
        let program = |mode| {
            let of = ProgramOf { page, mode, class };
            self.timing.program_of_word_line(word_line, &self.geometry, &of)
        };
        match kind {
            Kind::Read => read(page),
            Kind::Program => program(mode),
            Kind::Erase => self.timing.erase(mode),
            Kind::Copyback => {
                let source = source.expect("a copyback has a source");
                read(source) + program(CellMode::Native)
            }
        }
    }

    /// The same as [`in_cells`](Self::in_cells), where a flash page is one page.
    #[inline(always)]
    pub(super) fn in_cells_of_page(&self, command: &Command) -> Nanos {
        let Command { kind, page, source, mode, found: CellFindings { effort, .. }, .. } = *command;
        let class = command.class();
        match kind {
            Kind::Read => self.timing.read(&self.geometry, &ReadOf { page, mode, effort }),
            Kind::Program => self.timing.program(&self.geometry, &ProgramOf { page, mode, class }),
            Kind::Erase => self.timing.erase(mode),
            Kind::Copyback => {
                let source = source.expect("a copyback has a source");
                let read = ReadOf { page: source, mode, effort };
                let program = ProgramOf { page, mode: CellMode::Native, class };
                self.timing.read(&self.geometry, &read)
                    + self.timing.program(&self.geometry, &program)
            }
        }
    }

    /// Time that a command, and the data of a program, take on the bus before the command begins.
    #[inline(always)]
    pub(super) fn in_bus<const S: Skills>(&self, command: &Command) -> Nanos {
        let data = if command.kind == Kind::Program { command.codewords } else { 0 };
        match skills::any(S, skills::RARE_ON_FLASH) {
            true => self.bus.command() + self.bus.transfer(data),
            false => self.bus.transfer(data),
        }
    }

    /// Notes what decides which other commands may share the operation of a command. Returns its die.
    #[inline(always)]
    pub(super) fn seat<const S: Skills>(&self, command: &mut Command) -> DieId {
        let (geometry, multi_plane) = (&self.geometry, &self.abilities.multi_plane);
        if !skills::any(S, skills::MULTI_PLANE) || !multi_plane.allows_any() {
            return geometry.die_of_page(command.page);
        }
        let (block, unit) = geometry.place_of(command.page);
        let plane = geometry.plane_of(block);
        let mut address = multi_plane.address_of(geometry, command.kind, (block, unit));
        if skills::any(S, skills::RARE_ON_FLASH)
            && let Some(word_line) = &self.timing.word_line
            && command.kind == Kind::Read
            && multi_plane.address != AddressRule::Any
        {
            // Planes that sense together sense the same pages of their word lines.
            let senses = command.senses.unwrap_or(word_line.all());
            address.1 = (address.1 << word_line.pages()) + senses.bits();
        }
        command.ticket.seat =
            Seat { plane: 1 << geometry.plane_in_die(plane), address, block: block.get() };
        geometry.die_of(plane)
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

    /// Whether planes sense on their own.
    pub(super) fn senses_apart(&self) -> bool {
        self.geometry.planes_per_die() > 1 && self.abilities.multi_plane.independent_reads
    }

    /// The error model, if the timing has one.
    #[inline]
    pub(crate) fn reliability(&self) -> Option<&Reliability> {
        self.timing.native.reliability()
    }

    /// Time to sense the pages of a flash page that hold what is wanted; all of them if none are named.
    #[inline]
    pub(crate) fn price_of_read(&self, page: Ppn, mode: CellMode, senses: Option<Senses>) -> Nanos {
        let of = ReadOf { page, mode, effort: ReadEffort::default() };
        match &self.timing.word_line {
            None => self.timing.read(&self.geometry, &of),
            Some(line) => self.timing.read_of_word_line((line, senses), &self.geometry, &of),
        }
    }

    fn price_of_program(&self, page: Ppn, mode: CellMode) -> Nanos {
        let of = ProgramOf { page, mode, class: CostClass::default() };
        match &self.timing.word_line {
            None => self.timing.program(&self.geometry, &of),
            Some(line) => self.timing.program_of_word_line(line, &self.geometry, &of),
        }
    }

    /// Time that an operation takes in the cells, where programs cost the same for every purpose.
    #[inline]
    pub(crate) fn price_of(&self, kind: Kind, page: Ppn, mode: CellMode) -> Nanos {
        match kind {
            Kind::Read => self.price_of_read(page, mode, None),
            Kind::Program => self.price_of_program(page, mode),
            Kind::Copyback => {
                self.price_of_read(page, mode, None) + self.price_of_program(page, CellMode::Native)
            }
            Kind::Erase => self.timing.erase(mode),
        }
    }

    /// Time for which moving the data of an operation keeps its die busy: that of `units` pages of a read, and of a
    /// whole flash page of a program. None if the cells can work meanwhile.
    #[inline]
    pub(crate) fn price_of_data(&self, kind: Kind, units: u32) -> Nanos {
        let cache = &self.abilities.cache;
        match kind {
            Kind::Read if !cache.read => self.bus.transfer(units * self.bus.codewords_per_unit()),
            Kind::Program if !cache.program => self.bus.transfer(self.bus.page_codewords()),
            _ => Nanos::ZERO,
        }
    }

    /// Times to read and to program a page in the cells, where they are the same for all pages.
    pub(crate) fn price_of_page(&self) -> (Nanos, Nanos) {
        let (timing, geometry, any) = (&self.timing.native, &self.geometry, Ppn::new(0));
        let (effort, class) = (ReadEffort::default(), CostClass::default());
        (timing.read(geometry, any, effort), timing.program(geometry, any, class))
    }

    /// Time to erase blocks.
    pub(crate) fn price_of_erases(&self, erases: u32) -> Nanos {
        Nanos(self.timing.erase(CellMode::Native).0 * u64::from(erases))
    }

    /// Whether times merely add up: a die does one thing at a time, waits for no other die and for no bus, and the
    /// time of every operation is known beforehand, because it is the same for all pages.
    pub(super) fn only_adds_up(&self) -> bool {
        let bus = &self.bus;
        let free = bus.transfer(bus.page_codewords()) + bus.command() == Nanos::ZERO;
        let Abilities { cache, one_die_at_a_time, .. } = &self.abilities;
        let together = self.serves_planes_together();
        let together = together || self.senses_apart();
        let one_by_one = !together && !cache.read && !cache.program && !one_die_at_a_time;
        let Prices { native, word_line, .. } = &self.timing;
        free && one_by_one && native.is_flat() && !native.knows_costs() && word_line.is_none()
    }
}
