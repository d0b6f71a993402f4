//! The cost of programs, from the device's side: the regulator is asked when a program of the host
//! is put together and when a copy is placed, and is told which pages the host reads from flash.

use crate::cache::{Page, SlotId};
use crate::device::Contents;
use crate::device::base::Base;
use crate::device::write::Writes;
use crate::ftl::cost::regulation;
use crate::nand::ProgramCost;
use crate::scheduler::{CommandId, Probe};
use crate::units::Lpn;

impl Writes {
    /// Sets the cost of a program of buffered pages. Padding keeps the cost of the copy that it moves.
    pub(in crate::device) fn regulate(
        &mut self,
        program: CommandId,
        on: &mut Base<impl Probe, impl Contents>,
    ) {
        let mut cost = None;
        for unit in 0..on.kernel.flash.command(program).units {
            let slot = SlotId::new(self.loads.get(program, unit));
            let &Page { page, padding, packed_with, .. } = on.buffer.page(slot);
            let of_page = match padding {
                true => Some(cost_of_padding(page, on)),
                false => regulation::cost_of_write(page, &mut on.kernel.ftl),
            };
            let partner = packed_with.map(|partner| on.buffer.page(partner).page);
            let of_partner =
                partner.and_then(|page| regulation::cost_of_write(page, &mut on.kernel.ftl));
            cost = [cost, of_page, of_partner].into_iter().flatten().reduce(ProgramCost::and);
        }
        if let Some(cost) = cost {
            on.kernel.flash.command_mut(program).set_cost(cost);
        }
    }
}

fn cost_of_padding(page: Lpn, on: &Base<impl Probe, impl Contents>) -> ProgramCost {
    let as_was =
        on.kernel.ftl.look_up(page).map(|at| on.kernel.flash.class_at(at)).unwrap_or_default();
    regulation::cost_of_copy(page, as_was, &on.kernel.ftl).unwrap_or(ProgramCost::Of(as_was))
}

/// The preparation of the device is over: data on flash counts as data from before.
pub(in crate::device) fn forget_costs_of_preparation(on: &mut Base<impl Probe, impl Contents>) {
    on.give_up_rewrites();
    let Some(programmed) = on.kernel.flash.cells_mut().programmed_mut() else { return };
    if programmed.prior().as_written {
        return;
    }
    programmed.prepared();
    if let Some(regulation) = regulation::regulation_mut(&mut on.kernel.ftl) {
        regulation.prepared();
    }
}
