//! Keeps accesses to one flash page in the order in which they came, whatever the policy, where pages are
//! programmed in place: a read that a policy lets pass writes must not pass the one that it is to see.
//!
//! What comes ranks no better than what waits for the same page already, and no better than what waits in
//! its lane, because ranks must not fall there. So a read that has to stand behind a write keeps later
//! reads of its die behind itself: reads keep their order. For a policy that sees to all of that itself,
//! nothing changes.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use super::command::CommandId;
use super::flash::Flash;
use super::lanes::Lanes;
use super::probe::Probe;
use crate::engine::NumberHasher;
use crate::nand::Kind;
use crate::units::DieId;

/// The commands that wait for each flash page.
#[derive(Clone, Debug, Default)]
pub(super) struct PageOrder {
    /// By flash page: the first and the last that wait.
    pages: HashMap<u32, (CommandId, CommandId), BuildHasherDefault<NumberHasher>>,
    /// By command.
    waiting: Vec<Waiting>,
}

/// A command that waits.
#[derive(Clone, Copy, Debug, Default)]
struct Waiting {
    arrival: u64,
    /// The next one for its page.
    next: Option<CommandId>,
}

impl PageOrder {
    /// The last command that waits for a page.
    pub fn last(&self, page: u32) -> Option<CommandId> {
        self.pages.get(&page).map(|&(_, last)| last)
    }

    fn push(&mut self, page: u32, id: CommandId, arrival: u64) {
        if self.waiting.len() <= id.at() {
            self.waiting.resize(id.at() + 1, Waiting::default());
        }
        self.waiting[id.at()] = Waiting { arrival, next: None };
        let (_, last) = self.pages.entry(page).or_insert((id, id));
        if *last != id {
            self.waiting[last.at()].next = Some(id);
            *last = id;
        }
    }

    fn pop(&mut self, page: u32, id: CommandId) {
        let ends = self.pages.get_mut(&page).expect("what begins has waited");
        assert_eq!(ends.0, id, "accesses to a page lose their order");
        match self.waiting[id.at()].next {
            Some(next) => ends.0 = next,
            None => drop(self.pages.remove(&page)),
        }
    }

    /// Whether the command that came as the so-manieth waits for its page longest.
    pub fn is_first(&self, page: u32, arrival: u64) -> bool {
        let first = self.pages.get(&page).map(|&(first, _)| self.waiting[first.at()].arrival);
        first == Some(arrival)
    }
}

impl<P: Probe> Flash<P> {
    /// From now on, accesses to one flash page keep their order under every policy, and pages may be
    /// programmed in place.
    pub fn keep_page_order(&mut self) {
        self.page_order = Some(Box::default());
        self.stations.iter_mut().for_each(|station| station.lanes = Lanes::new(false));
        if let Some(laws) = &mut self.laws {
            laws.program_in_place();
        }
    }

    /// The rank of a command that comes as number `arrival`, which the policy ranks at `rank`.
    pub(super) fn rank_by_page(
        &mut self,
        die: DieId,
        id: CommandId,
        arrival: u64,
        rank: u64,
    ) -> u64 {
        let Flash { page_order, commands, stations, geometry, .. } = self;
        let Some(order) = page_order else { return rank };
        let command = &commands[id];
        let page = geometry.flash_page_of(command.page);
        let before = [order.last(page), stations[die.at()].lanes.last_of(command)];
        order.push(page, id, arrival);
        before.into_iter().flatten().map(|before| commands[before].ticket.key).fold(rank, u64::max)
    }

    /// A command waits no longer.
    pub(super) fn leave_page(&mut self, id: CommandId) {
        if let Some(order) = &mut self.page_order {
            order.pop(self.geometry.flash_page_of(self.commands[id].page), id);
        }
    }

    /// The host read for which a die may leave an operation, or leave it alone for longer: not one that has
    /// to wait for that very operation, or for another program of its page.
    pub(super) fn read_beside(
        &self,
        die: DieId,
        operation: Option<CommandId>,
    ) -> Option<CommandId> {
        let read = self.stations[die.at()].lanes.first_host_read()?;
        let Some(order) = &self.page_order else { return Some(read) };
        let page_of = |id: CommandId| self.geometry.flash_page_of(self.commands[id].page);
        let shared = std::iter::successors(operation, |&id| self.commands[id].ticket.next);
        let programmed = shared.filter(|&id| self.commands[id].kind == Kind::Program);
        let page = page_of(read);
        let free = programmed.map(page_of).all(|programmed| programmed != page);
        (free && order.is_first(page, self.commands[read].ticket.arrival)).then_some(read)
    }
}
