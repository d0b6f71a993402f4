//! A queue that is fair to clients: who has asked for little comes before who has asked for much.
//!
//! Each client has a queue of its own. The next item is that of the client that has had the least so far; one that comes
//! back begins where the others are (start-time fair queueing: Goyal, Vin and Cheng, SIGCOMM 1996). So a client waits for
//! at most one item of each other one, and small items hardly at all.

use std::collections::VecDeque;

/// The queue.
#[derive(Debug)]
pub struct FairQueue<T> {
    lines: Vec<ClientLine<T>>,
    /// Where the client was that came last.
    now: u64,
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
        FairQueue { lines: Vec::new(), now: 0, unused: Vec::new() }
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
                self.lines.push(ClientLine { client, had: self.now, items });
            }
        }
    }

    /// The line whose turn it is. Of equals, the one that has waited longest.
    fn turn(&self) -> Option<usize> {
        let lines = self.lines.iter().enumerate();
        lines.min_by_key(|(_, line)| line.had).map(|(at, _)| at)
    }

    /// The item whose turn it is.
    #[must_use]
    pub fn front(&self) -> Option<&T> {
        let line = &self.lines[self.turn()?];
        line.items.front().map(|(item, _)| item)
    }

    /// Takes the item whose turn it is.
    pub fn pop(&mut self) -> Option<T> {
        let at = self.turn()?;
        let line = &mut self.lines[at];
        let (item, weight) = line.items.pop_front()?;
        self.now = line.had;
        line.had += weight;
        if line.items.is_empty() {
            self.unused.push(self.lines.remove(at).items);
        }
        Some(item)
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
        assert_eq!(std::iter::from_fn(|| queue.pop()).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
        assert!(queue.is_empty());
    }

    #[test]
    fn who_asks_for_little_waits_for_nobody() {
        let mut queue = FairQueue::default();
        for client in 1..=4 {
            (0..10).for_each(|_| queue.push(client, client, 1000));
        }
        assert_eq!(queue.pop(), Some(1));
        for _ in 0..20 {
            queue.push(9, 9, 1);
            // Whoever had nothing yet comes first, once.
            let next: Vec<u64> = (0..4).filter_map(|_| queue.pop()).collect();
            assert!(next.contains(&9), "{next:?}");
        }
    }

    #[test]
    fn equals_take_turns() {
        let mut queue = FairQueue::default();
        for client in [1, 2, 3] {
            (0..3).for_each(|_| queue.push(client, client, 7));
        }
        let order: Vec<u64> = std::iter::from_fn(|| queue.pop()).collect();
        assert_eq!(order, [1, 2, 3, 1, 2, 3, 1, 2, 3]);
    }
}
