//! Records what a program writes at its place: buffered pages, the sectors of older copies that
//! complete them, and the contents of the spare area.

use crate::cache::{Page, SlotId};
use crate::device::base::Base;
use crate::device::write::Writes;
use crate::device::{Contents, Movement, Place};
use crate::engine::skills;
use crate::engine::skills::Skills;
use crate::ftl::recovery::rebuild;
use crate::ftl::{Fragments, fragments, lost};
use crate::scheduler::{CommandId, Probe};
use crate::units::{PageSpan, Ppn, SectorMask};
use crate::verify::Canary;

impl Writes {
    /// Records what a program writes at its place, which begins at `first`.
    #[inline(always)]
    pub(in crate::device) fn fill_place<const S: Skills>(
        &mut self,
        program: CommandId,
        first: Ppn,
        on: &mut Base<impl Probe, impl Contents>,
    ) {
        for unit in 0..skills::units_of_page(S, on.kernel.flash.command(program).units) {
            let slot = SlotId::new(self.loads.get(program, unit));
            let at = Ppn::new(first.get() + unit);
            match on.buffer.page(slot).packed_with {
                None => fill_page::<S>(slot, at, on),
                Some(second) => fill_pack([slot, second], at, on),
            }
        }
        let mode = on.kernel.ftl.mode_at::<S>(first);
        let command = on.kernel.flash.command_mut(program);
        (command.page, command.mode) = (first, mode);
    }
}

/// Records the program of a buffered page at `to`, completed from the older copy.
#[inline(always)]
pub(in crate::device) fn fill_page<const S: Skills>(
    slot: SlotId,
    to: Ppn,
    on: &mut Base<impl Probe, impl Contents>,
) {
    let page = on.buffer.page(slot);
    let whole = page.writing_back == on.kernel.ftl.full_page() && !page.padding;
    if whole || page.discard {
        let &Page { page, writing_back: sectors, padding, discard, .. } = page;
        on.kernel.ftl.record::<S>(to, page, sectors);
        if discard {
            rebuild::never_counts(to, false, &mut on.kernel.ftl);
        }
        let sectors = if padding { SectorMask::EMPTY } else { sectors };
        return on.move_to_flash(slot, PageSpan { page, sectors }, to);
    }
    fill_partial_page(slot, to, on);
}

/// The same, for a page that may be on flash in part.
fn fill_partial_page<C: Contents>(slot: SlotId, to: Ppn, on: &mut Base<impl Probe, C>) {
    let &Page { page, writing_back, padding, .. } = on.buffer.page(slot);
    let lost = on.plant.is(Canary::OlderSectorsLost);
    let base = if lost { [None, None] } else { on.kernel.ftl.fragments(page) };
    let sectors = if padding { SectorMask::EMPTY } else { writing_back };
    let older = base.into_iter().flatten().map(|part| part.sectors);
    let all = older.fold(sectors, SectorMask::and_also);
    on.kernel.ftl.record::<{ skills::ALL }>(to, page, all);
    lost::complete_from(base, sectors, to, &mut on.kernel.ftl);
    if C::MOVES {
        on.complete_from_older(PageSpan { page, sectors }, base, to);
    }
    on.move_to_flash(slot, PageSpan { page, sectors }, to);
}

/// Records the program of parts of two packed pages at `to`.
#[inline(never)]
fn fill_pack(slots: [SlotId; 2], to: Ppn, on: &mut Base<impl Probe, impl Contents>) {
    let parts = slots.map(|slot| {
        let page = on.buffer.page(slot);
        (page.page, page.writing_back)
    });
    fragments::record_pack(to, parts, &mut on.kernel.ftl);
    for (slot, second) in slots.into_iter().zip([false, true]) {
        if on.buffer.page(slot).discard {
            rebuild::never_counts(to, second, &mut on.kernel.ftl);
        }
    }
    for (slot, (page, sectors)) in slots.into_iter().zip(parts) {
        on.move_to_flash(slot, PageSpan { page, sectors }, to);
    }
}

impl<P: Probe, C: Contents> Base<P, C> {
    /// The sectors of a page that older copies of it supply, where it lacks `new` ones, go to its new place.
    fn complete_from_older(&mut self, new: PageSpan, base: Fragments, to: Ppn) {
        let mut missing = self.kernel.ftl.full_page().without(new.sectors);
        for part in base.into_iter().flatten() {
            let sectors = part.sectors.within(missing);
            missing = missing.without(sectors);
            let (from, to) = (Place::Flash(part.at), Place::Flash(to));
            self.kernel.contents.copy(&Movement { from, to, page: new.page, sectors });
        }
    }

    /// What is written back of a page goes to flash.
    #[inline(always)]
    fn move_to_flash(&mut self, slot: SlotId, span: PageSpan, to: Ppn) {
        let PageSpan { page, sectors } = span;
        let (from, to) = (Place::WriteBack(slot), Place::Flash(to));
        self.kernel.contents.copy(&Movement { from, to, page, sectors });
    }
}
