//! The energy that the flash takes: the power of dies at work and of buses that move data, times how long they do.
//!
//! Data sheets and ONFI state currents of an active die (LUN): ICC1 while it senses, ICC2 while it programs, ICC3 while it
//! erases, ICC4 while the bus moves data. So the power is that of a die, however many of its planes work, and retries,
//! slow pages and SLC mode count by the time that they take. Standby and the controller are left out.

use crate::counters::counters;
use crate::nand::Kind;
use crate::options::declare::options;
use crate::units::{Microwatts, Nanos};

options! {
    /// The power that the flash draws, for its energy in results. It changes nothing else.
    pub struct DrawOptions at "nand.power" {
        /// A die that senses (ICC1).
        read: Microwatts = "82.5mW", in "0mW"..="10W",
            source "25 mA at 3.3 V, as SimpleSSD (fil/config.cc); at most 100 mA (ONFI 5.0, section 2.13); docs/energy.md";
        /// A die that programs (ICC2).
        program: Microwatts = "82.5mW", in "0mW"..="10W",
            source "25 mA at 3.3 V, as SimpleSSD (fil/config.cc); at most 100 mA (ONFI 5.0, section 2.13); docs/energy.md";
        /// A die that erases (ICC3).
        erase: Microwatts = "82.5mW", in "0mW"..="10W",
            source "25 mA at 3.3 V, as SimpleSSD (fil/config.cc); at most 100 mA (ONFI 5.0, section 2.13); docs/energy.md";
        /// A bus that moves data (ICC4).
        transfer: Microwatts = "33mW", in "0mW"..="10W",
            source "10 mA at 3.3 V, as SimpleSSD (fil/config.cc); at most 50 to 180 mA by speed (ONFI 5.0, section 2.13)";
    }
}

counters! {
    /// For how long the cells of all dies worked.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct CellTime {
        /// By kind: the whole of each operation, from its beginning on.
        begun_ns: [u64; Kind::ALL.len()], unit "ns";
        /// By kind: what suspended operations had left. It is begun again when they resume.
        suspended_ns: [u64; Kind::ALL.len()], unit "ns";
    }
}

impl CellTime {
    /// Cells begin, or are to work longer.
    #[inline]
    pub(crate) fn add(&mut self, kind: Kind, span: Nanos) {
        self.begun_ns[kind as usize] += span.0;
    }

    /// Cells are suspended when they have this time left. Counters only grow, so that differences make sense.
    pub(crate) fn suspend(&mut self, kind: Kind, left: Nanos) {
        self.suspended_ns[kind as usize] += left.0;
    }

    /// For how long cells worked for some kinds of commands. An operation that is suspended in a later phase than it began
    /// may leave less than nothing to that phase.
    fn worked_ns(&self, kinds: &[Kind]) -> u64 {
        let of = |all: &[u64; Kind::ALL.len()]| kinds.iter().map(|&kind| all[kind as usize]).sum();
        let (begun, suspended): (u64, u64) = (of(&self.begun_ns), of(&self.suspended_ns));
        begun.saturating_sub(suspended)
    }
}

/// Energy, in joules.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Energy {
    /// Sensing.
    pub read: f64,
    /// Programming, and copying within a plane.
    pub program: f64,
    /// Erasing.
    pub erase: f64,
    /// Moving data on buses.
    pub transfer: f64,
}

impl Energy {
    /// The sum.
    #[must_use]
    pub fn total(&self) -> f64 {
        let Energy { read, program, erase, transfer } = *self;
        read + program + erase + transfer
    }
}

/// The power of dies and buses, resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draws {
    /// Of a die that senses.
    pub read: Microwatts,
    /// Of a die that programs.
    pub program: Microwatts,
    /// Of a die that erases.
    pub erase: Microwatts,
    /// Of a bus that moves data.
    pub transfer: Microwatts,
}

impl Draws {
    /// Nothing.
    pub const NONE: Draws = Draws {
        read: Microwatts(0),
        program: Microwatts(0),
        erase: Microwatts(0),
        transfer: Microwatts(0),
    };

    /// Those of some options.
    #[must_use]
    pub fn of(options: &DrawOptions) -> Draws {
        let DrawOptions { read, program, erase, transfer } = *options;
        Draws { read, program, erase, transfer }
    }

    /// Returns the energy of cells that worked for some times, and of buses that were busy for another.
    #[must_use]
    pub fn energy_of(&self, cells: &CellTime, buses: Nanos) -> Energy {
        Energy {
            read: self.read.joules_in(cells.worked_ns(&[Kind::Read])),
            program: self.program.joules_in(cells.worked_ns(&[Kind::Program, Kind::Copyback])),
            erase: self.erase.joules_in(cells.worked_ns(&[Kind::Erase])),
            transfer: self.transfer.joules_in(buses.0),
        }
    }
}

/// The power of the flash, and for how long its cells worked so far.
#[derive(Clone, Copy, Debug)]
pub struct EnergyMeter {
    /// The power.
    pub draws: Draws,
    /// The time of the cells.
    pub cells: CellTime,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::value::Value;

    #[test]
    fn energy_is_power_times_time() {
        let of = |text: &str| Microwatts::parse(text).unwrap();
        let draws =
            Draws { read: of("10mW"), program: of("20mW"), erase: of("40mW"), transfer: of("5mW") };
        let mut cells = CellTime::default();
        let ms = |ms: u64| Nanos(ms * 1_000_000);
        cells.add(Kind::Read, ms(1));
        cells.add(Kind::Program, ms(2));
        cells.add(Kind::Copyback, ms(3));
        cells.add(Kind::Erase, ms(5));
        cells.suspend(Kind::Erase, ms(1));
        let energy = draws.energy_of(&cells, ms(7));
        let near = |one: f64, other: f64| (one - other).abs() < 1e-12;
        assert!(near(energy.read, 10e-6) && near(energy.program, 100e-6), "{energy:?}");
        assert!(near(energy.erase, 160e-6) && near(energy.transfer, 35e-6), "{energy:?}");
        assert!(near(energy.total(), 305e-6));
        assert_eq!(draws.energy_of(&CellTime::default(), Nanos::ZERO), Energy::default());
    }
}
