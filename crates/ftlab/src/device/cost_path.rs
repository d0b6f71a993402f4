//! What programs cost, from the device's side: the regulator is asked when a program of the host is put together and
//! when a copy is placed, and hears of what the host reads from flash.

use super::Contents;
use super::Writes;
use super::base::Base;
use crate::cache::{Page, SlotId};
use crate::nand::ProgramCost;
use crate::scheduler::{CommandId, Probe};
use crate::units::Lpn;

impl Writes {
    /// Says what a program of pages of the buffer is to cost. What only fills up a block, nobody has written.
    pub(super) fn regulate(
        &mut self,
        program: CommandId,
        on: &mut Base<impl Probe, impl Contents>,
    ) {
        let mut cost = None;
        for unit in 0..on.kernel.flash.command(program).units {
            let slot = SlotId::new(self.loads.get(program, unit));
            let &Page { page, padding, packed_with, .. } = on.buffer.page(slot);
            let of_page = match padding {
                true => Some(on.cost_of_padding(page)),
                false => on.kernel.ftl.cost_of_write(page),
            };
            let partner = packed_with.map(|partner| on.buffer.page(partner).page);
            let of_partner = partner.and_then(|page| on.kernel.ftl.cost_of_write(page));
            cost = [cost, of_page, of_partner].into_iter().flatten().reduce(ProgramCost::and);
        }
        if let Some(cost) = cost {
            on.kernel.flash.command_mut(program).set_cost(cost);
        }
    }
}

impl<P: Probe, C: Contents> Base<P, C> {
    fn cost_of_padding(&self, page: Lpn) -> ProgramCost {
        let as_was = self
            .kernel
            .ftl
            .look_up(page)
            .map(|at| self.kernel.flash.class_at(at))
            .unwrap_or_default();
        self.kernel.ftl.cost_of_copy(page, as_was).unwrap_or(ProgramCost::Of(as_was))
    }

    /// What was done so far has prepared the device: what lies on flash is data from before.
    pub(super) fn forget_costs_of_preparation(&mut self) {
        self.give_up_rewrites();
        let Some(programmed) = self.kernel.flash.cells_mut().programmed_mut() else { return };
        if programmed.prior().as_written {
            return;
        }
        programmed.prepared();
        if let Some(regulation) = self.kernel.ftl.regulation_mut() {
            regulation.prepared();
        }
    }
}
