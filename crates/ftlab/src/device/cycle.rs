//! Write-backs that begin by planes, at most one on each: the flushes of a gating buffer, and the write
//! cycles of a device whose planes are kept in lock-step.
//!
//! Without a barrier each plane takes the first of its pages, in the order of the buffer's policy, as
//! soon as it has none under way. With one, write-backs form *cycles*: the first page of each plane, or,
//! where pages have to reach flash in order, the longest run of pages in which no plane comes twice.
//! The programs of a cycle begin together, after the reads that its partial pages need, and the next
//! cycle begins when all of them have ended. Where order counts, its pages become current together then.
//!
//! A plane stands for the pool of planes that placement allows a page: pools are single planes where this
//! is used. A page of flash that can't be placed yet keeps its plane, and the cycle, until it is.

use super::base::Base;
use super::lock_step::Motion;
use super::{Contents, Device};
use crate::cache::{Eviction, Gate, SlotId};
use crate::engine::skills;
use crate::ftl::Kernel;
use crate::scheduler::{Command, CommandId, Probe, Spent};
use crate::units::{Lpn, Ppn, SimTime};

/// How many pages of the buffer are looked at to find one for each plane.
const LOOKED_AT: usize = 1_024;

/// A write-back of a cycle.
#[derive(Clone, Debug)]
struct Member {
    slot: SlotId,
    /// Its program, until it was issued for the first time.
    program: CommandId,
    landed: Option<Landed>,
}

/// A page that is on flash and waits for its cycle to become current.
#[derive(Clone, Debug)]
struct Landed {
    at: Ppn,
    spent: Spent,
    since: SimTime,
}

/// What is under way by planes.
#[derive(Clone, Debug, Default)]
pub(super) struct Cycles {
    gate: Option<Gate>,
    /// By pool: what is under way there, counted from 1 in the order in which it began; zero if nothing is.
    taken: Vec<u32>,
    /// Pools on which something is under way.
    under_way: u32,
    /// The pages that begin next.
    chosen: Vec<SlotId>,
    /// The cycle that is under way, in the order of the policy.
    members: Vec<Member>,
    /// How many of them have landed.
    landed: u32,
}

impl Cycles {
    /// Nothing is under way on so many pools. Without a gate, nothing ever is.
    pub(super) fn new(gate: Option<Gate>, pools: u32) -> Cycles {
        let pools = gate.map_or(0, |_| pools);
        Cycles { gate, taken: vec![0; pools as usize], ..Cycles::default() }
    }

    /// How write-backs begin, if they do so by planes.
    #[inline]
    pub(super) fn gate(&self) -> Option<Gate> {
        self.gate
    }

    /// Whether programs wait for those of their cycle.
    #[inline]
    pub(super) fn have_barrier(&self) -> bool {
        self.gate.is_some_and(|gate| gate.barrier)
    }

    /// Pages that are on flash and not current yet.
    pub(super) fn landed(&self) -> u32 {
        self.landed
    }

    /// The flash pages of those.
    pub(super) fn landed_at(&self) -> impl Iterator<Item = Ppn> {
        self.members.iter().filter_map(|member| member.landed.as_ref()).map(|landed| landed.at)
    }

    /// Takes a pool for a page, unless something is under way there.
    fn take(&mut self, pool: u32, slot: SlotId) -> bool {
        let free = self.taken[pool as usize] == 0;
        if free {
            self.chosen.push(slot);
            self.taken[pool as usize] = self.chosen.len() as u32;
            self.under_way += 1;
        }
        free
    }

    fn is_full(&self) -> bool {
        self.under_way as usize == self.taken.len()
    }
}

impl<P: Probe, C: Contents> Device<P, C> {
    /// Begins every write-back that is due and for which there is a plane.
    pub(super) fn write_back_by_planes(&mut self, gate: Gate) {
        match gate.barrier {
            true => while self.begin_cycle(gate) {},
            false => while self.begin_on_idle_planes(gate) {},
        }
    }

    /// Begins the next cycle, if one is due. Says whether it is over already: its pages were given up.
    fn begin_cycle(&mut self, gate: Gate) -> bool {
        if self.writes.cycles.under_way > 0 || !self.base.buffer.is_due() {
            return false;
        }
        let in_step = self.base.is_in_lock_step();
        if in_step && !self.comes_to_rest() {
            return false;
        }
        let chosen = self.choose_by_planes(gate);
        let begins = self.log_has_room(&chosen);
        match begins {
            true => {
                if in_step {
                    self.writes.standstill.begins(Motion::Writes);
                }
                if !(in_step && self.write_at_once(&chosen)) {
                    self.begin_programs(&chosen);
                }
            }
            false => self.cycle_is_over(),
        }
        self.writes.cycles.chosen = chosen;
        begins && self.writes.cycles.under_way == 0
    }

    /// Takes planes for the pages that begin next.
    fn choose_by_planes(&mut self, gate: Gate) -> Vec<SlotId> {
        let Base { buffer, kernel: Kernel { ftl, .. }, .. } = &self.base;
        let cycles = &mut self.writes.cycles;
        cycles.chosen.clear();
        for slot in buffer.candidates().take(LOOKED_AT) {
            if cycles.is_full() {
                break;
            }
            let pool = ftl.pool(buffer.page(slot).page);
            if !cycles.take(pool, slot) && gate.prefix {
                break;
            }
        }
        std::mem::take(&mut cycles.chosen)
    }

    /// Starts the programs of a cycle, after the reads that its partial pages need. For those the first
    /// program waits in place of all.
    fn begin_programs(&mut self, chosen: &[SlotId]) {
        self.base.buffer.cycle_begun();
        let mut leader = None;
        for &slot in chosen {
            let program = self.fill_program::<{ skills::ALL }>(Eviction::Page(slot), leader);
            leader = leader.or(Some(program));
            self.writes.cycles.members.push(Member { slot, program, landed: None });
        }
        let ready =
            leader.is_some_and(|leader| self.base.kernel.flash.command(leader).waits_for == 0);
        if ready {
            self.issue_cycle(Spent::default());
        }
    }

    /// The last read for which a cycle has waited is done: so long has each of its programs waited.
    pub(super) fn cycle_is_complete(&mut self, leader: CommandId) {
        let spent = self.base.kernel.flash.command(leader).spent;
        self.issue_cycle(spent);
        self.write_back::<{ skills::ALL }>();
    }

    fn issue_cycle(&mut self, spent: Spent) {
        // The last one may end the cycle: it is given up on a device that takes no more writes.
        for number in 0..self.writes.cycles.members.len() {
            let program = self.writes.cycles.members[number].program;
            self.base.kernel.flash.command_mut(program).spent = spent;
            self.issue::<{ skills::ALL }>(program);
        }
    }

    /// Without a barrier: each plane on which nothing is under way takes the first of its pages. Says
    /// whether there may be more to begin: some were given up at once.
    fn begin_on_idle_planes(&mut self, gate: Gate) -> bool {
        if self.writes.cycles.is_full() || !self.base.buffer.is_due() {
            return false;
        }
        let chosen = self.choose_by_planes(gate);
        let before = self.writes.cycles.under_way;
        chosen
            .iter()
            .for_each(|&slot| self.begin_write_back::<{ skills::ALL }>(Eviction::Page(slot)));
        self.writes.cycles.chosen = chosen;
        self.writes.cycles.under_way < before
    }

    /// A program that was begun by planes is done.
    pub(super) fn program_by_planes_done(&mut self, id: CommandId, gate: Gate) {
        let Command { page: at, units, spent, .. } = *self.base.kernel.flash.command(id);
        let pool = self.base.kernel.ftl.pool(self.first_page_of(id));
        // In lock-step, too, all are done when the cycle is.
        if gate.prefix || self.base.is_in_lock_step() {
            self.land(pool, Landed { at, spent, since: self.base.kernel.now });
        } else {
            for unit in 0..units {
                let slot = SlotId::new(self.writes.loads.get(id, unit));
                self.make_current::<{ skills::ALL }>(slot, Ppn::new(at.get() + unit), &spent);
            }
            self.programmed_for_host::<{ skills::ALL }>(at, units);
        }
        self.base.buffer.under_way.program_ended();
        self.plane_is_free(pool);
    }

    fn land(&mut self, pool: u32, landed: Landed) {
        let cycles = &mut self.writes.cycles;
        let number = cycles.taken[pool as usize] as usize - 1;
        cycles.members[number].landed = Some(landed);
        cycles.landed += 1;
    }

    /// A write-back that was begun by planes was given up; `page` was its first.
    pub(super) fn given_up_by_planes(&mut self, page: Lpn) {
        if self.writes.cycles.gate.is_some() {
            self.plane_is_free(self.base.kernel.ftl.pool(page));
        }
    }

    /// Nothing is under way on any plane.
    pub(super) fn cycle_is_over(&mut self) {
        self.writes.cycles.taken.fill(0);
        self.writes.cycles.under_way = 0;
    }

    /// Nothing is under way on a plane any more. That may be the end of a cycle.
    fn plane_is_free(&mut self, pool: u32) {
        let cycles = &mut self.writes.cycles;
        cycles.taken[pool as usize] = 0;
        cycles.under_way -= 1;
        if cycles.under_way > 0 {
            return;
        }
        let mut members = std::mem::take(&mut cycles.members);
        cycles.landed = 0;
        for Member { slot, landed, .. } in members.drain(..) {
            let Some(Landed { at, mut spent, since }) = landed else { continue };
            // It stood behind the others.
            spent.queue += self.base.kernel.now - since;
            self.make_current::<{ skills::ALL }>(slot, at, &spent);
            self.programmed_for_host::<{ skills::ALL }>(at, 1);
        }
        self.writes.cycles.members = members;
        if self.writes.standstill.is(Motion::Writes) {
            self.go_on();
        }
    }
}
