//! The cost of copies: by the history of their pages, or as before.

use crate::engine::skills::Skills;
use crate::ftl::cost::regulation;
use crate::ftl::gc::Collector;
use crate::ftl::{FlashContents, Ftl, Kernel, fragments};
use crate::nand::ProgramCost;
use crate::scheduler::{CommandId, Flash, Probe};
use crate::units::{Lpn, Ppn};

/// The cost of a program of copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ftl) struct CopyCost {
    cost: ProgramCost,
    /// Whether all of its data is from before, and keeps its cost.
    from_before: bool,
}

impl CopyCost {
    fn and(self, other: CopyCost) -> CopyCost {
        CopyCost {
            cost: self.cost.and(other.cost),
            from_before: self.from_before && other.from_before,
        }
    }

    /// Sets the cost of the program.
    pub(in crate::ftl) fn tell<P: Probe>(self, program: CommandId, flash: &mut Flash<P>) {
        let command = flash.command_mut(program);
        command.set_cost(self.cost);
        command.found.from_before = self.from_before;
    }
}

/// The cost of a copy of the page at `from`.
pub(in crate::ftl) fn copy_cost<P: Probe>(
    from: Ppn,
    flash: &Flash<P>,
    ftl: &Ftl,
) -> Option<CopyCost> {
    let programmed = flash.programmed()?;
    let flash_page = ftl.geometry.flash_page_of(from);
    let as_was = programmed.class_of(flash_page);
    let of = |page: Lpn| {
        let stays = ProgramCost::Of(as_was);
        let cost = regulation::cost_of_copy(page, as_was, ftl).unwrap_or(stays);
        CopyCost { cost, from_before: cost == stays && programmed.is_prior(flash_page) }
    };
    fragments::owners_of_copy(from, ftl).into_iter().flatten().map(of).reduce(CopyCost::and)
}

impl Collector {
    /// Sets the cost of a program of copies.
    pub(super) fn regulate<const S: Skills>(
        &self,
        program: CommandId,
        on: &mut Kernel<impl Probe, impl FlashContents>,
    ) {
        let units = 0..on.flash.command(program).units;
        let of = |unit| copy_cost(self.source(program, unit), &on.flash, &on.ftl);
        if let Some(cost) = units.filter_map(of).reduce(CopyCost::and) {
            cost.tell(program, &mut on.flash);
        }
    }
}
