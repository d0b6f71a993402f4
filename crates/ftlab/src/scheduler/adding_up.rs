//! Work that is done at once instead of command by command: what it costs, whether that may be, and the accounts of
//! it. Only for flash on which times do nothing but add up.

use super::cell_work::CellWork;
use super::command::Origin;
use super::flash::Flash;
use super::probe::Probe;
use crate::nand::timing::TimingPolicy;
use crate::nand::{Abilities, CellMode, CostClass, Kind, ReadEffort};
use crate::units::{DieId, Nanos, Ppn};
use crate::verify;

impl<P: Probe> Flash<P> {
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

    /// Accounts for a page that was programmed at once with others, after a read of its older copy if it
    /// is partial.
    #[inline]
    pub(crate) fn account_write_at_once(&mut self, at: Ppn, is_partial: bool) {
        let (read, program) = self.price_of_page();
        let mut time = program;
        if is_partial {
            self.done[Origin::Merge as usize][Kind::Read as usize] += 1;
            time += read;
        }
        self.done[Origin::Host as usize][Kind::Program as usize] += 1;
        let die = self.geometry.die_of_page(at);
        self.stations[die.at()].die.was_busy(time);
    }

    /// How long erasing blocks keeps the cells busy.
    pub(crate) fn price_of_erases(&self, erases: u32) -> Nanos {
        Nanos(self.timing.erase(CellMode::Native).0 * u64::from(erases))
    }

    /// Whether nobody sees single commands, none needs time on a bus, and a die does one thing at a time and
    /// waits for no other: then what only adds up can be done at once.
    pub(crate) fn may_add_up(&self) -> bool {
        let bus = &self.bus;
        let free = bus.transfer(bus.page_codewords()) + bus.command() == Nanos::ZERO;
        let Abilities { multi_plane, cache, one_die_at_a_time, .. } = &self.abilities;
        let kinds = [multi_plane.read, multi_plane.program, multi_plane.erase];
        let together = self.geometry.planes_per_die() > 1 && kinds.contains(&true);
        let one_by_one = !together && !cache.read && !cache.program && !one_die_at_a_time;
        let plain = self.hazards.is_none() && !P::ACTIVE && !verify::ON;
        free && one_by_one && !self.timing.native.knows_costs() && plain
    }

    /// Accounts for merges that were done at once, and have kept a die busy for `time`.
    pub(crate) fn account_at_once(
        &mut self,
        die: DieId,
        work: &CellWork,
        copyback: bool,
        time: Nanos,
    ) {
        let done = &mut self.done[Origin::Gc as usize];
        let (copies, erases) = (u64::from(work.copies), u64::from(work.erases));
        if copyback {
            done[Kind::Copyback as usize] += copies;
        } else {
            done[Kind::Read as usize] += copies;
            done[Kind::Program as usize] += copies;
        }
        done[Kind::Erase as usize] += erases;
        self.stations[die.at()].die.was_busy_for_collection(time);
    }
}
