//! Where translation pages go: they are placed and programmed as any page, and wait for room if there is none. One that
//! waits is in memory as a whole, so only those wait along whose entries take the room of one of its own.

use std::collections::VecDeque;

use crate::engine::skills;
use crate::ftl::cost::regulation;
use crate::ftl::gc::Collector;
use crate::ftl::map_cache::{MapCache, Step};
use crate::ftl::placement::PlacementPolicy;
use crate::ftl::{FlashContents, Ftl, Kernel, map_pages};
use crate::scheduler::{Command, CommandId, Kind, Origin, Probe};
use crate::units::{PlaneId, Ppn, Tpn};

/// Programs that wait for a place, by pool of planes.
#[derive(Clone, Debug)]
pub(super) struct Stalled {
    pub by_pool: Vec<VecDeque<(Tpn, CommandId)>>,
    pub waiting: u32,
}

impl Stalled {
    pub fn new(pools: u32) -> Stalled {
        Stalled { by_pool: vec![VecDeque::new(); pools as usize], waiting: 0 }
    }
}

impl MapCache {
    /// Whether programs of translation pages wait for a place.
    pub fn is_stalled(&self) -> bool {
        self.stalled.waiting > 0
    }

    /// The content of a translation page is complete: it is programmed. Whatever the cause, all that goes into
    /// a block comes from one origin, so that no scheduler changes its order.
    pub(super) fn program_map(
        &mut self,
        of: Tpn,
        on: &mut Kernel<impl Probe, impl FlashContents>,
        gc: &mut Collector,
    ) {
        if on.ftl.is_read_only() {
            return self.keep_map(of, &mut on.ftl);
        }
        let owner = Step::Rewrite(of).owner();
        let mut program = Command::new(Kind::Program, Origin::Host, owner, Ppn::new(0));
        program.units = on.ftl.geometry().units_per_page();
        program.codewords = on.flash.bus().page_codewords();
        if let Some(cost) = regulation::cost_of_map(&on.ftl) {
            program.set_cost(cost);
        }
        let program = on.flash.prepare(program);
        self.issue(of, program, on, gc);
    }

    /// Gives the program of a translation page a place, or has it wait for one.
    pub(super) fn issue(
        &mut self,
        of: Tpn,
        program: CommandId,
        on: &mut Kernel<impl Probe, impl FlashContents>,
        gc: &mut Collector,
    ) {
        let pool = pool_of_map(of, &on.ftl);
        if self.stalled.by_pool[pool].is_empty() && place_map(of, program, on, gc) {
            return;
        }
        self.stalled.by_pool[pool].push_back((of, program));
        self.stalls(1, &mut on.ftl);
    }

    pub(super) fn stalls(&mut self, change: i32, ftl: &mut Ftl) {
        self.stalled.waiting = self.stalled.waiting.saturating_add_signed(change);
        map_pages::set_map_stalled(self.stalled.waiting, ftl);
    }

    /// A plane may be written again: translation pages that found no place go there, as far as it has room.
    /// They go before what the host writes, as the host may wait for them.
    pub fn retry(
        &mut self,
        plane: PlaneId,
        on: &mut Kernel<impl Probe, impl FlashContents>,
        gc: &mut Collector,
    ) {
        if self.stalled.waiting == 0 {
            return;
        }
        let pool = on.ftl.placement().pool_of(plane) as usize;
        while let Some(&(of, program)) = self.stalled.by_pool[pool].front() {
            if !place_map(of, program, on, gc) {
                return;
            }
            self.stalled.by_pool[pool].pop_front();
            self.stalls(-1, &mut on.ftl);
        }
    }
}

fn pool_of_map(of: Tpn, ftl: &Ftl) -> usize {
    let first = ftl.map_on_flash().and_then(|map| map.pages_of(of).next());
    first.map_or(0, |page| ftl.pool(page) as usize)
}

/// Gives a translation page a place and programs it there. False if there is none.
fn place_map(
    of: Tpn,
    program: CommandId,
    on: &mut Kernel<impl Probe, impl FlashContents>,
    gc: &mut Collector,
) -> bool {
    let Some(first) = map_pages::place_translation(of, on.flash.load(), &mut on.ftl) else {
        return false;
    };
    let pages = on.ftl.map_on_flash().map(|map| map.pages_of(of));
    for (page, at) in pages.into_iter().flatten().zip(first.get()..) {
        on.contents.program_map(page, Ppn::new(at));
    }
    on.flash.command_mut(program).page = first;
    on.flash.submit(on.now, program);
    gc.start::<{ skills::ALL }>(on.ftl.geometry().plane_of_page(first), on);
    true
}
