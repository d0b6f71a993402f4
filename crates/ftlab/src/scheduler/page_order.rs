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
use crate::engine::NumberHasher;

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

    /// A command comes for a page.
    pub fn push(&mut self, page: u32, id: CommandId, arrival: u64) {
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

    /// A command begins, and waits no longer.
    pub fn pop(&mut self, page: u32, id: CommandId) {
        let ends = self.pages.get_mut(&page).expect("what begins has waited");
        assert_eq!(ends.0, id, "accesses to a page lose their order");
        match self.waiting[id.at()].next {
            Some(next) => ends.0 = next,
            None => drop(self.pages.remove(&page)),
        }
    }

    /// Whether the command of this number of arrival waits for its page longest.
    pub fn is_first(&self, page: u32, arrival: u64) -> bool {
        let first = self.pages.get(&page).map(|&(first, _)| self.waiting[first.at()].arrival);
        first == Some(arrival)
    }
}
