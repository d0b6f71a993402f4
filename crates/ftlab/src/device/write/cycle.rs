//! Write-backs by planes, at most one on each: those of a gating buffer, and the write cycles of a
//! device whose planes run in lock-step.
//!
//! Without a barrier, each plane takes the first of its pages, in the order of the buffer's policy, whenever it has
//! none in flight. With a barrier, write-backs form *cycles*: the first page of each plane or, if pages have to reach
//! flash in order, the longest run of pages without two on the same plane. The programs of a cycle start together,
//! after the reads that its partial pages need. The next cycle starts when all of them have ended. If the order
//! matters, the pages of a cycle become current together at its end.
//!
//! Here a plane is the pool of planes to which placement may send a page: pools are single planes
//! in these devices. A page that cannot be placed yet keeps its plane, and its cycle, occupied.

use crate::cache::{Eviction, Gate, SlotId};
use crate::device::Contents;
use crate::device::base::Base;
use crate::device::write::lock_step::Motion;
use crate::device::write::{Writes, lock_step, merge};
use crate::engine::skills;
use crate::ftl::Kernel;
use crate::scheduler::{Command, CommandId, Probe, Spent};
use crate::units::{Lpn, Ppn, SimTime};

/// How many pages of the buffer are searched for one page per plane.
const LOOKED_AT: usize = 1_024;

/// A write-back of a cycle.
#[derive(Clone, Debug)]
struct Member {
    slot: SlotId,
    /// Its program, until it is first issued.
    program: CommandId,
    landed: Option<Landed>,
}

/// A page on flash that waits to become current with its cycle.
#[derive(Clone, Debug)]
struct Landed {
    at: Ppn,
    spent: Spent,
    since: SimTime,
}

/// The write-backs in flight, by plane.
#[derive(Clone, Debug, Default)]
pub(in crate::device) struct Cycles {
    gate: Option<Gate>,
    /// By pool: the number of the write-back in flight there, counted from 1 in the order in which
    /// they began; zero if there is none.
    taken: Vec<u32>,
    /// Number of pools with a write-back in flight.
    under_way: u32,
    /// The pages that begin next.
    chosen: Vec<SlotId>,
    /// The current cycle, in the order of the policy.
    members: Vec<Member>,
    /// Number of members that have landed.
    landed: u32,
}

impl Cycles {
    /// No write-back is in flight. Without a gate, none ever is.
    pub(in crate::device) fn new(gate: Option<Gate>, pools: u32) -> Cycles {
        let pools = gate.map_or(0, |_| pools);
        Cycles { gate, taken: vec![0; pools as usize], ..Cycles::default() }
    }

    /// How write-backs by planes begin, if this device uses them.
    #[inline]
    pub(in crate::device) fn gate(&self) -> Option<Gate> {
        self.gate
    }

    /// Whether programs wait for those of their cycle.
    #[inline]
    pub(in crate::device) fn have_barrier(&self) -> bool {
        self.gate.is_some_and(|gate| gate.barrier)
    }

    /// Number of pages that are on flash but not current yet.
    pub(in crate::device) fn landed(&self) -> u32 {
        self.landed
    }

    /// The places of these pages.
    pub(in crate::device) fn landed_at(&self) -> impl Iterator<Item = Ppn> {
        self.members.iter().filter_map(|member| member.landed.as_ref()).map(|landed| landed.at)
    }

    /// Takes a pool for a page, unless a write-back is in flight there.
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

/// Begins every due write-back whose plane is free.
pub(in crate::device) fn write_back_by_planes(
    gate: Gate,
    writes: &mut Writes,
    on: &mut Base<impl Probe, impl Contents>,
) {
    match gate.barrier {
        true => while begin_cycle(gate, writes, on) {},
        false => while begin_on_idle_planes(gate, writes, on) {},
    }
}

/// Begins the next cycle, if one is due. Returns whether it is already over because its pages were given up.
fn begin_cycle(gate: Gate, writes: &mut Writes, on: &mut Base<impl Probe, impl Contents>) -> bool {
    if writes.cycles.under_way > 0 || !on.buffer.is_due() {
        return false;
    }
    let in_step = on.is_in_lock_step();
    if in_step && !lock_step::comes_to_rest(writes, on) {
        return false;
    }
    let chosen = choose_by_planes(gate, writes, on);
    let begins = merge::log_has_room(&chosen, writes, on);
    match begins {
        true => {
            if in_step {
                writes.standstill.begins(Motion::Writes);
            }
            if !(in_step && lock_step::write_at_once(&chosen, writes, on)) {
                begin_programs(&chosen, writes, on);
            }
        }
        false => cycle_is_over(writes),
    }
    writes.cycles.chosen = chosen;
    begins && writes.cycles.under_way == 0
}

/// Takes planes for the pages that begin next.
fn choose_by_planes(
    gate: Gate,
    writes: &mut Writes,
    on: &mut Base<impl Probe, impl Contents>,
) -> Vec<SlotId> {
    let Base { buffer, kernel: Kernel { ftl, .. }, .. } = on;
    let cycles = &mut writes.cycles;
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

/// Starts the programs of a cycle, after the reads that its partial pages need. The first program
/// waits for the reads of all.
fn begin_programs(
    chosen: &[SlotId],
    writes: &mut Writes,
    on: &mut Base<impl Probe, impl Contents>,
) {
    on.buffer.cycle_begun();
    let mut leader = None;
    for &slot in chosen {
        let program = writes.fill_program::<{ skills::ALL }>(Eviction::Page(slot), leader, on);
        leader = leader.or(Some(program));
        writes.cycles.members.push(Member { slot, program, landed: None });
    }
    let ready = leader.is_some_and(|leader| on.kernel.flash.command(leader).waits_for == 0);
    if ready {
        issue_cycle(Spent::default(), writes, on);
    }
}

/// The last read of a cycle is done. All its programs have waited for as long.
pub(in crate::device) fn cycle_is_complete(
    leader: CommandId,
    writes: &mut Writes,
    on: &mut Base<impl Probe, impl Contents>,
) {
    let spent = on.kernel.flash.command(leader).spent;
    issue_cycle(spent, writes, on);
    writes.write_back::<{ skills::ALL }>(on);
}

fn issue_cycle(spent: Spent, writes: &mut Writes, on: &mut Base<impl Probe, impl Contents>) {
    // The last program may end the cycle: a device that takes no more writes gives it up.
    for number in 0..writes.cycles.members.len() {
        let program = writes.cycles.members[number].program;
        on.kernel.flash.command_mut(program).spent = spent;
        writes.issue::<{ skills::ALL }>(program, on);
    }
}

/// Without a barrier, each plane without a write-back in flight takes the first of its pages.
/// Returns whether there may be more to begin, because some were given up at once.
fn begin_on_idle_planes(
    gate: Gate,
    writes: &mut Writes,
    on: &mut Base<impl Probe, impl Contents>,
) -> bool {
    if writes.cycles.is_full() || !on.buffer.is_due() {
        return false;
    }
    let chosen = choose_by_planes(gate, writes, on);
    let before = writes.cycles.under_way;
    chosen
        .iter()
        .for_each(|&slot| writes.begin_write_back::<{ skills::ALL }>(Eviction::Page(slot), on));
    writes.cycles.chosen = chosen;
    writes.cycles.under_way < before
}

/// A program that began by planes is done.
pub(in crate::device) fn program_by_planes_done(
    id: CommandId,
    gate: Gate,
    writes: &mut Writes,
    on: &mut Base<impl Probe, impl Contents>,
) {
    let Command { page: at, units, spent, .. } = *on.kernel.flash.command(id);
    let pool = on.kernel.ftl.pool(writes.first_page_of(id, on));
    // In lock-step, too, all programs of a cycle end together.
    if gate.prefix || on.is_in_lock_step() {
        land(pool, Landed { at, spent, since: on.kernel.now }, writes);
    } else {
        for unit in 0..units {
            let slot = SlotId::new(writes.loads.get(id, unit));
            writes.make_current::<{ skills::ALL }>(slot, Ppn::new(at.get() + unit), &spent, on);
        }
        merge::programmed_for_host::<{ skills::ALL }>(at, units, writes, on);
    }
    on.buffer.under_way.program_ended();
    plane_is_free(pool, writes, on);
}

fn land(pool: u32, landed: Landed, writes: &mut Writes) {
    let cycles = &mut writes.cycles;
    let number = cycles.taken[pool as usize] as usize - 1;
    cycles.members[number].landed = Some(landed);
    cycles.landed += 1;
}

/// A write-back that began by planes was given up. `page` was its first page.
pub(in crate::device) fn given_up_by_planes(
    page: Lpn,
    writes: &mut Writes,
    on: &mut Base<impl Probe, impl Contents>,
) {
    if writes.cycles.gate.is_some() {
        plane_is_free(on.kernel.ftl.pool(page), writes, on);
    }
}

/// No write-back is in flight on any plane.
pub(in crate::device) fn cycle_is_over(writes: &mut Writes) {
    writes.cycles.taken.fill(0);
    writes.cycles.under_way = 0;
}

/// A plane's write-back has ended. That may end the cycle.
fn plane_is_free(pool: u32, writes: &mut Writes, on: &mut Base<impl Probe, impl Contents>) {
    let cycles = &mut writes.cycles;
    cycles.taken[pool as usize] = 0;
    cycles.under_way -= 1;
    if cycles.under_way > 0 {
        return;
    }
    let mut members = std::mem::take(&mut cycles.members);
    cycles.landed = 0;
    for Member { slot, landed, .. } in members.drain(..) {
        let Some(Landed { at, mut spent, since }) = landed else { continue };
        // It had to wait for the others.
        spent.queue += on.kernel.now - since;
        writes.make_current::<{ skills::ALL }>(slot, at, &spent, on);
        merge::programmed_for_host::<{ skills::ALL }>(at, 1, writes, on);
    }
    writes.cycles.members = members;
    if writes.standstill.is(Motion::Writes) {
        lock_step::go_on(writes, on);
    }
}
