//! A queue that is fair to clients: who has asked for little comes before who has asked for much.
//!
//! Each client has a queue of its own. The next item is that of the client that has had the least so far; one that comes
//! back begins where the others are, or where it was if that is later (start-time fair queueing: Goyal, Vin and Cheng,
//! SIGCOMM 1996). So a client waits for at most one item of each other one, and small items hardly at all.

use std::collections::VecDeque;

/// The queue.
#[derive(Debug)]
pub struct FairQueue<T> {
    lines: Vec<ClientLine<T>>,
    /// Where the client was that came last.
    now: u64,
    /// Clients without items that have had more than others, and how much.
    ahead: Vec<(u64, u64)>,
    /// Memory of lines that are empty.
    unused: Vec<VecDeque<(T, u64)>>,
}

/// What waits for one client: items with their weights.
#[derive(Debug)]
struct ClientLine<T> {
    client: u64,
    /// What the client has had, as weights.
    had: u64,
    items: VecDeque<(T, u64)>,
}

impl<T> Default for FairQueue<T> {
    fn default() -> Self {
        FairQueue { lines: Vec::new(), now: 0, ahead: Vec::new(), unused: Vec::new() }
    }
}

impl<T> FairQueue<T> {
    /// Whether nothing waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Adds an item behind the others of its client.
    pub fn push(&mut self, client: u64, item: T, weight: u64) {
        match self.lines.iter_mut().find(|line| line.client == client) {
            Some(line) => line.items.push_back((item, weight)),
            None => {
                let mut items = self.unused.pop().unwrap_or_default();
                items.push_back((item, weight));
                let ahead = self.ahead.iter().position(|known| known.0 == client);
                let ahead = ahead.map_or(0, |at| self.ahead.swap_remove(at).1);
                self.lines.push(ClientLine { client, had: self.now.max(ahead), items });
            }
        }
    }

    /// The line whose turn it is among those whose next item may go. Of equals, the one that has waited longest.
    fn turn(&self, may_go: impl Fn(&T) -> bool) -> Option<usize> {
        let lines = self.lines.iter().enumerate();
        let lines = lines.filter(|(_, line)| line.items.front().is_some_and(|(it, _)| may_go(it)));
        lines.min_by_key(|(_, line)| line.had).map(|(at, _)| at)
    }

    /// The item whose turn it is among those that may go.
    #[must_use]
    pub fn front(&self, may_go: impl Fn(&T) -> bool) -> Option<&T> {
        let line = &self.lines[self.turn(may_go)?];
        line.items.front().map(|(item, _)| item)
    }

    /// Takes the item whose turn it is among those that may go.
    pub fn pop(&mut self, may_go: impl Fn(&T) -> bool) -> Option<T> {
        let at = self.turn(may_go)?;
        let line = &mut self.lines[at];
        let (item, weight) = line.items.pop_front()?;
        self.now = self.now.max(line.had);
        line.had += weight;
        if line.items.is_empty() {
            let ClientLine { client, had, items } = self.lines.remove(at);
            self.unused.push(items);
            let now = self.now;
            self.ahead.retain(|(_, had)| *had > now);
            self.ahead.push((client, had));
        }
        Some(item)
    }

    /// Removes a client that is gone. Returns what it waited for.
    pub fn remove(&mut self, client: u64) -> impl Iterator<Item = T> + use<T> {
        self.ahead.retain(|known| known.0 != client);
        let at = self.lines.iter().position(|line| line.client == client);
        let items = at.map(|at| self.lines.remove(at).items).unwrap_or_default();
        items.into_iter().map(|(item, _)| item)
    }

    /// Drops everything.
    pub fn clear(&mut self) {
        *self = FairQueue::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_of_a_client_stay_in_order() {
        let mut queue = FairQueue::default();
        (0..5).for_each(|item| queue.push(1, item, 10));
        assert_eq!(std::iter::from_fn(|| queue.pop(|_| true)).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
        assert!(queue.is_empty());
    }

    #[test]
    fn who_asks_for_little_waits_for_nobody() {
        let mut queue = FairQueue::default();
        for client in 1..=4 {
            (0..10).for_each(|_| queue.push(client, client, 1000));
        }
        assert_eq!(queue.pop(|_| true), Some(1));
        for _ in 0..20 {
            queue.push(9, 9, 1);
            // Whoever had nothing yet comes first, once.
            let next: Vec<u64> = (0..4).filter_map(|_| queue.pop(|_| true)).collect();
            assert!(next.contains(&9), "{next:?}");
        }
    }

    #[test]
    fn equals_take_turns() {
        let mut queue = FairQueue::default();
        for client in [1, 2, 3] {
            (0..3).for_each(|_| queue.push(client, client, 7));
        }
        let order: Vec<u64> = std::iter::from_fn(|| queue.pop(|_| true)).collect();
        assert_eq!(order, [1, 2, 3, 1, 2, 3, 1, 2, 3]);
    }

    #[test]
    fn who_comes_back_has_still_had_what_it_has_had() {
        let mut queue = FairQueue::default();
        queue.push(1, "large", 1000);
        assert_eq!(queue.pop(|_| true), Some("large"));
        queue.push(1, "large again", 1000);
        (0..5).for_each(|_| queue.push(2, "small", 100));
        let order: Vec<_> = std::iter::from_fn(|| queue.pop(|_| true)).collect();
        assert_eq!(order, ["small", "small", "small", "small", "small", "large again"]);
    }

    #[test]
    fn who_may_not_go_keeps_nobody_else() {
        let mut queue = FairQueue::default();
        queue.push(1, "waits", 1);
        queue.push(2, "goes", 1);
        let goes = |item: &&str| *item == "goes";
        assert_eq!(queue.front(goes), Some(&"goes"));
        assert_eq!(queue.pop(goes), Some("goes"));
        assert_eq!(queue.pop(goes), None);
        assert!(!queue.is_empty());
    }

    #[test]
    fn who_is_gone_leaves_nothing() {
        let mut queue = FairQueue::default();
        (0..3).for_each(|item| queue.push(1, item, 1));
        queue.push(2, 9, 1);
        assert_eq!(queue.remove(1).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(queue.remove(7).count(), 0);
        assert_eq!(queue.pop(|_| true), Some(9));
        assert!(queue.is_empty());
    }
}
