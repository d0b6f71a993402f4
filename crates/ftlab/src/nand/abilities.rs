//! What the dies can do besides one operation on one plane at a time: multi-plane commands, cache operations, and
//! suspension of an operation for a read. Data sheets say which of them a part offers.

use super::die::CacheOps;
use super::operation::Kind;
use crate::nand::Draws;
use crate::options::declare::choices;
use crate::shape::FlashGeometry;
use crate::units::{BlockId, DieId, Nanos, PlaneId, Ppn};

choices! {
    /// Which pages of different planes one command may serve.
    pub enum AddressRule {
        /// Pages of the same number in blocks of the same number.
        SameBlockAndPage = "same-block-and-page",
        /// Pages of the same number in any block.
        SamePage = "same-page",
        /// Any pages.
        Any = "any",
    }
}

/// Which commands one operation can serve together on several planes of a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MultiPlane {
    /// Reads.
    pub read: bool,
    /// Programs.
    pub program: bool,
    /// Erases.
    pub erase: bool,
    /// Whether each plane senses at its own time instead, and has a register of its own.
    pub independent_reads: bool,
    /// Which pages go together.
    pub address: AddressRule,
    /// The pause on the bus between the addresses, or the data, of two planes (tDBSY).
    pub gap: Nanos,
    /// Number of waiting commands per plane that are searched for suitable ones, or `None` for all.
    pub looks: Option<u32>,
}

impl MultiPlane {
    /// One plane at a time.
    pub const NONE: MultiPlane = MultiPlane {
        read: false,
        program: false,
        erase: false,
        independent_reads: false,
        address: AddressRule::SamePage,
        gap: Nanos::ZERO,
        looks: Some(4),
    };

    /// Whether commands of this kind may share an operation.
    #[inline]
    #[must_use]
    pub fn allows(&self, kind: Kind) -> bool {
        // Without branches: every command asks, and kinds come in no predictable order.
        let of = |this: Kind, offered: bool| (kind == this) & offered;
        of(Kind::Read, self.read) | of(Kind::Program, self.program) | of(Kind::Erase, self.erase)
    }

    /// Whether commands of any kind may share an operation.
    #[inline]
    #[must_use]
    pub fn allows_any(&self) -> bool {
        self.read | self.program | self.erase
    }

    /// Whether two pages on different planes of a die may be served together.
    #[must_use]
    pub fn fits(&self, geometry: &FlashGeometry, kind: Kind, one: Ppn, other: Ppn) -> bool {
        let address_of = |page| self.address_of(geometry, kind, geometry.place_of(page));
        address_of(one) == address_of(other)
    }

    /// The part of a page's [place](crate::shape::Geometry::place_of) that must be the same on all planes for pages to be
    /// served together: block and flash page, as far as they matter. Erases ignore the flash page.
    #[inline]
    #[must_use]
    pub fn address_of(
        &self,
        geometry: &FlashGeometry,
        kind: Kind,
        (block, unit): (BlockId, u32),
    ) -> (u32, u32) {
        let flash_page = || match kind {
            Kind::Erase => 0,
            _ => geometry.flash_page_at(unit),
        };
        match self.address {
            AddressRule::Any => (0, 0),
            AddressRule::SamePage => (0, flash_page()),
            AddressRule::SameBlockAndPage => (geometry.index_in_plane(block), flash_page()),
        }
    }
}

/// A row that is being placed: flash pages on different planes of a die for one program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The die.
    pub die: DieId,
    /// Planes that have a page of the row: a bit for each, by number in the die.
    taken: u32,
    /// The place of all pages in their blocks, in mapping units, or `None` for any.
    unit: Option<u32>,
}

impl Row {
    /// Returns a row with its first page. Nothing ensures that the open blocks have the same number.
    #[must_use]
    pub fn new(geometry: &FlashGeometry, address: AddressRule, page: Ppn) -> Row {
        let (block, unit) = geometry.place_of(page);
        let plane = geometry.plane_of(block);
        let mut row = Row {
            die: geometry.die_of(plane),
            taken: 0,
            unit: (address != AddressRule::Any).then_some(unit),
        };
        row.take(geometry, plane);
        row
    }

    /// Adds a page on a plane of the die.
    pub fn take(&mut self, geometry: &FlashGeometry, plane: PlaneId) {
        self.taken |= 1 << (plane.get() % geometry.planes_per_die());
    }

    /// Whether a page at place `unit` of its block, on plane `index` of the die, may join.
    #[must_use]
    pub fn admits(&self, index: u32, unit: u32) -> bool {
        self.taken & (1 << index) == 0 && self.unit.is_none_or(|row| row == unit)
    }
}

/// The time that suspending and resuming takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PauseCost {
    /// From the command until a program is suspended (tPSUS, tPRSL...).
    pub program: Nanos,
    /// From the command until an erase is suspended.
    pub erase: Nanos,
    /// From the command to resume until the operation goes on.
    pub resume: Nanos,
    /// The pulses of a program, which is suspended between two of them. If they take no time, at any moment.
    pub program_pulse: Nanos,
    /// The pulses of an erase, likewise.
    pub erase_pulse: Nanos,
}

impl PauseCost {
    /// Time until an operation that has worked for `worked` since it began or went on reaches the end of its pulse.
    #[must_use]
    pub fn until_pulse_ends(&self, is_erase: bool, worked: Nanos) -> Nanos {
        let pulse = if is_erase { self.erase_pulse } else { self.program_pulse };
        match worked.0.checked_rem(pulse.0) {
            None | Some(0) => Nanos::ZERO,
            Some(begun) => Nanos(pulse.0 - begun),
        }
    }
}

/// What the dies of a device can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abilities {
    /// Several planes at once.
    pub multi_plane: MultiPlane,
    /// Cells and transfers at once.
    pub cache: CacheOps,
    /// Suspension for reads; the scheduler decides when to use it.
    pub pause: PauseCost,
    /// Whether a chip does one thing at a time, so that its other dies have to wait. Only for chips with several
    /// dies.
    pub one_die_at_a_time: bool,
    /// The power that they draw.
    pub draws: Draws,
}

impl Abilities {
    /// One operation on one plane at a time, without interruption.
    pub const NONE: Abilities = Abilities {
        multi_plane: MultiPlane::NONE,
        cache: CacheOps { read: false, program: false, busy: Nanos::ZERO },
        pause: PauseCost {
            program: Nanos::ZERO,
            erase: Nanos::ZERO,
            resume: Nanos::ZERO,
            program_pulse: Nanos::ZERO,
            erase_pulse: Nanos::ZERO,
        },
        one_die_at_a_time: false,
        draws: Draws::NONE,
    };
}
