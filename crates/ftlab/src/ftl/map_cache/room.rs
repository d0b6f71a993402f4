//! Places for translation pages. A translation page is placed and programmed as any page, and waits
//! if there is no room. It is in memory as a whole meanwhile, so the only look-ups that wait with
//! it are those whose entry replaces an entry of it.

use std::collections::VecDeque;

use crate::engine::skills;
use crate::ftl::cost::regulation;
use crate::ftl::gc::Collector;
use crate::ftl::map_cache::{MapCache, MapCommand};
use crate::ftl::placement::PlacementPolicy;
use crate::ftl::wear::dies;
use crate::ftl::{FlashChange, FlashContents, Ftl, Kernel, map_pages};
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

    /// Programs a translation page whose contents are complete. Whatever the cause, all programs of
    /// a block have the same origin, so that no scheduler changes their order.
    pub(super) fn program_map(
        &mut self,
        of: Tpn,
        on: &mut Kernel<impl Probe, impl FlashContents>,
        gc: &mut Collector,
    ) {
        if on.ftl.is_read_only() {
            return self.keep_map(of, &mut on.ftl);
        }
        let owner = MapCommand::Update(of).owner();
        let mut program = Command::new(Kind::Program, Origin::Host, owner, Ppn::new(0));
        program.of_map = true;
        program.units = on.ftl.geometry().units_per_page();
        program.codewords = on.flash.bus().page_codewords();
        if let Some(cost) = regulation::cost_of_map(&on.ftl) {
            program.set_cost(cost);
        }
        let program = on.flash.prepare(program);
        self.issue(of, program, on, gc);
    }

    /// Places the program of a translation page, or makes it wait for a place.
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

    /// Places waiting translation pages on a plane that can be written again, as far as it has
    /// room. They go before host writes, because host writes may wait for them.
    pub fn retry(
        &mut self,
        plane: PlaneId,
        on: &mut Kernel<impl Probe, impl FlashContents>,
        gc: &mut Collector,
    ) {
        if self.stalled.waiting == 0 {
            return;
        }
        self.retry_pool(on.ftl.placement().pool_of(plane) as usize, on, gc);
        for pool in dies::homeless_pools(&on.ftl) {
            self.retry_pool(pool as usize, on, gc);
        }
    }

    fn retry_pool(
        &mut self,
        pool: usize,
        on: &mut Kernel<impl Probe, impl FlashContents>,
        gc: &mut Collector,
    ) {
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

/// Places a translation page and programs it there. Returns false if there is no room.
fn place_map(
    of: Tpn,
    program: CommandId,
    on: &mut Kernel<impl Probe, impl FlashContents>,
    gc: &mut Collector,
) -> bool {
    let Some(first) = map_pages::place_translation(of, on.flash.load().of_volume(), &mut on.ftl)
    else {
        return false;
    };
    let pages = on.ftl.map_on_flash().map(|map| map.pages_of(of));
    for (page, at) in pages.into_iter().flatten().zip(first.get()..) {
        on.contents.change(FlashChange::MapProgrammed { page, to: Ppn::new(at) });
    }
    on.flash.command_mut(program).page = first;
    on.submit::<{ skills::ALL }>(program);
    gc.start::<{ skills::ALL }>(on.ftl.geometry().plane_of_page(first), on);
    true
}
