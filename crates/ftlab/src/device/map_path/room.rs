//! Where translation pages go: they are placed and programmed as any page, and wait for room if there is none. One that
//! waits is in memory as a whole, so only those wait along whose entries take the room of one of its own.

use super::{CommandId, Contents, Device, Kind, Origin, PlaneId, Ppn, Probe, Task, Tpn, Waiting};
use crate::engine::skills;
use crate::ftl::placement::PlacementPolicy;
use crate::scheduler::Command;

impl<P: Probe, C: Contents> Device<P, C> {
    /// The content of a translation page is complete: it is programmed. Whatever the cause, all that goes into
    /// a block comes from one origin, so that no scheduler changes its order.
    pub(super) fn program_map(&mut self, of: Tpn) {
        if self.base.kernel.ftl.is_read_only() {
            return self.keep_map(of);
        }
        let task = Task::RewriteMap(of);
        let mut program = Command::new(Kind::Program, Origin::Host, task, Ppn::new(0));
        program.units = self.base.units_per_page;
        program.codewords = self.base.kernel.flash.bus().page_codewords();
        if let Some(cost) = self.base.kernel.ftl.cost_of_map() {
            program.set_cost(cost);
        }
        let program = self.base.kernel.flash.prepare(program);
        self.issue_map(of, program);
    }

    /// Gives the program of a translation page a place, or has it wait for one.
    pub(super) fn issue_map(&mut self, of: Tpn, program: CommandId) {
        let pool = self.pool_of_map(of);
        if self.translator().stalled[pool].is_empty() && self.place_map(of, program) {
            return;
        }
        let waiting = Waiting { since: self.base.kernel.now, program };
        self.translator().stalled[pool].push_back((of, waiting));
        self.map_stalls(1);
    }

    fn pool_of_map(&self, of: Tpn) -> usize {
        let first = self.base.kernel.ftl.map_on_flash().and_then(|map| map.pages_of(of).next());
        first.map_or(0, |page| self.base.kernel.ftl.pool(page) as usize)
    }

    pub(super) fn map_stalls(&mut self, change: i32) {
        let translator = self.translator();
        translator.waiting = translator.waiting.saturating_add_signed(change);
        let waiting = translator.waiting;
        self.base.kernel.ftl.set_map_stalled(waiting);
    }

    /// Gives a translation page a place and programs it there. False if there is none.
    fn place_map(&mut self, of: Tpn, program: CommandId) -> bool {
        let Some(first) = self.base.kernel.ftl.place_translation(of, self.base.kernel.flash.load())
        else {
            return false;
        };
        let pages = self.base.kernel.ftl.map_on_flash().map(|map| map.pages_of(of));
        for (page, at) in pages.into_iter().flatten().zip(first.get()..) {
            self.base.kernel.contents.program_map(page, Ppn::new(at));
        }
        self.base.kernel.flash.command_mut(program).page = first;
        self.base.kernel.flash.submit(self.base.kernel.now, program);
        self.consider_collecting_at::<{ skills::ALL }>(first);
        true
    }

    /// A plane may be written again: translation pages that found no place go there, as far as it has room.
    /// They go before what the host writes, as the host may wait for them.
    pub(in crate::device) fn retry_map(&mut self, plane: PlaneId) {
        if self.base.services.translator.as_ref().is_none_or(|translator| translator.waiting == 0) {
            return;
        }
        let pool = self.base.kernel.ftl.placement().pool_of(plane) as usize;
        while let Some(&(of, waiting)) = self.translator().stalled[pool].front() {
            if !self.place_map(of, waiting.program) {
                return;
            }
            self.translator().stalled[pool].pop_front();
            self.map_stalls(-1);
        }
    }
}
