//! Keeps accesses to a flash page in order of arrival under every policy, where pages are programmed in
//! place: a read that passes writes must not pass the write whose data it is to see.
//!
//! A new command ranks no better than commands that already wait for the same page, and no better than
//! those in its lane, because ranks must not decrease there. A read that has to stay behind a write
//! therefore keeps later reads of its die behind itself. For a policy that ensures all of this itself,
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

    /// Adds a command for a page.
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

    /// Removes a command that begins.
    pub fn pop(&mut self, page: u32, id: CommandId) {
        let ends = self.pages.get_mut(&page).expect("a command that begins has waited");
        assert_eq!(ends.0, id, "accesses to a page lose their order");
        match self.waiting[id.at()].next {
            Some(next) => ends.0 = next,
            None => drop(self.pages.remove(&page)),
        }
    }

    /// Whether the command with this arrival number has waited longest for its page.
    pub fn is_first(&self, page: u32, arrival: u64) -> bool {
        let first = self.pages.get(&page).map(|&(first, _)| self.waiting[first.at()].arrival);
        first == Some(arrival)
    }
}
