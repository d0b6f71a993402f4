//! Several lists over the same slots; each slot is in at most one of them. Every operation takes
//! constant time, and the tables grow with the highest slot number ever used.

use crate::engine::Handle;

/// The neighbours and list of an entry, as number plus one; zero is none.
#[derive(Clone, Copy, Debug, Default)]
struct Neighbours {
    newer: u32,
    older: u32,
    queue: u32,
}

/// Both ends of a list, as number plus one, and its length.
#[derive(Clone, Copy, Debug, Default)]
struct Ends {
    newest: u32,
    oldest: u32,
    length: u32,
}

/// Doubly linked lists, numbered from zero, newest to oldest.
#[derive(Debug)]
pub struct Queues<T> {
    places: Vec<Neighbours>,
    ends: Vec<Ends>,
    of: std::marker::PhantomData<fn() -> T>,
}

// `derive` would require `T: Clone`, which a list of handles does not need.
impl<T> Clone for Queues<T> {
    fn clone(&self) -> Self {
        Queues { places: self.places.clone(), ends: self.ends.clone(), of: self.of }
    }
}

fn raw<T>(handle: Handle<T>) -> u32 {
    handle.get() + 1
}

fn handle<T>(raw: u32) -> Option<Handle<T>> {
    raw.checked_sub(1).map(Handle::new)
}

impl<T> Queues<T> {
    /// Returns `count` empty lists.
    pub fn new(count: usize) -> Queues<T> {
        Queues {
            places: Vec::new(),
            ends: vec![Ends::default(); count],
            of: std::marker::PhantomData,
        }
    }

    fn at(&mut self, of: Handle<T>) -> &mut Neighbours {
        let at = of.at();
        if at >= self.places.len() {
            self.places.resize(at + 1, Neighbours::default());
        }
        &mut self.places[at]
    }

    /// Adds an entry, which must not be in any list, at the newest end of a list.
    #[inline]
    pub fn push_newest(&mut self, queue: usize, added: Handle<T>) {
        let ends = &mut self.ends[queue];
        let second = std::mem::replace(&mut ends.newest, raw(added));
        ends.length += 1;
        if second == 0 {
            ends.oldest = raw(added);
        }
        *self.at(added) = Neighbours { newer: 0, older: second, queue: queue as u32 + 1 };
        if let Some(second) = handle(second) {
            self.at(second).newer = raw(added);
        }
    }

    /// Adds an entry, which must not be in any list, at the oldest end of a list.
    #[inline]
    pub fn push_oldest(&mut self, queue: usize, added: Handle<T>) {
        let ends = &mut self.ends[queue];
        let second = std::mem::replace(&mut ends.oldest, raw(added));
        ends.length += 1;
        if second == 0 {
            ends.newest = raw(added);
        }
        *self.at(added) = Neighbours { newer: second, older: 0, queue: queue as u32 + 1 };
        if let Some(second) = handle(second) {
            self.at(second).older = raw(added);
        }
    }

    /// Removes an entry from its list. Returns the list, if it was in any.
    #[inline]
    pub fn remove(&mut self, removed: Handle<T>) -> Option<usize> {
        let queue = self.queue_of(removed)?;
        let Neighbours { newer, older, queue: _ } = std::mem::take(self.at(removed));
        match handle(newer) {
            Some(newer) => self.at(newer).older = older,
            None => self.ends[queue].newest = older,
        }
        match handle(older) {
            Some(older) => self.at(older).newer = newer,
            None => self.ends[queue].oldest = newer,
        }
        self.ends[queue].length -= 1;
        Some(queue)
    }

    /// Moves an entry from its list, if it is in any, to the newest end of a list.
    #[inline]
    pub fn renew(&mut self, queue: usize, moved: Handle<T>) {
        self.remove(moved);
        self.push_newest(queue, moved);
    }

    /// The list that contains an entry.
    #[inline]
    pub fn queue_of(&self, of: Handle<T>) -> Option<usize> {
        self.places.get(of.at())?.queue.checked_sub(1).map(|queue| queue as usize)
    }

    /// The length of a list.
    #[inline]
    pub fn len(&self, queue: usize) -> u32 {
        self.ends[queue].length
    }

    /// The oldest entry of a list.
    #[inline]
    pub fn oldest(&self, queue: usize) -> Option<Handle<T>> {
        handle(self.ends[queue].oldest)
    }

    /// The newest entry of a list.
    #[inline]
    pub fn newest(&self, queue: usize) -> Option<Handle<T>> {
        handle(self.ends[queue].newest)
    }

    /// The next newer entry in the list of `given`, which must be in one.
    #[inline]
    pub fn after(&self, given: Handle<T>) -> Option<Handle<T>> {
        handle(self.places[given.at()].newer)
    }

    /// The oldest entry of the first list in `order` that is not empty.
    pub fn first_of(&self, order: &[usize]) -> Option<Handle<T>> {
        order.iter().find_map(|&queue| self.oldest(queue))
    }

    /// The next entry after `given` if the lists follow one another in this order.
    pub fn next_of(&self, order: &[usize], given: Handle<T>) -> Option<Handle<T>> {
        self.after(given).or_else(|| {
            let here = self.queue_of(given);
            let at = order.iter().position(|&queue| Some(queue) == here)?;
            self.first_of(&order[at + 1..])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    proptest::proptest! {
        /// Compares with plain queues.
        #[test]
        fn lists_are_what_was_done_to_them(
            steps in proptest::collection::vec((0u32..4, 0usize..3, 0u32..8), 1..200),
        ) {
            let mut lists: Queues<()> = Queues::new(3);
            let mut plain: [VecDeque<u32>; 3] = Default::default();
            for (step, queue, number) in steps {
                let found = plain.iter().position(|queue| queue.contains(&number));
                let entry = Handle::new(number);
                proptest::prop_assert_eq!(lists.queue_of(entry), found);
                match (step, found) {
                    (0, None) => {
                        lists.push_newest(queue, entry);
                        plain[queue].push_back(number);
                    }
                    (1, None) => {
                        lists.push_oldest(queue, entry);
                        plain[queue].push_front(number);
                    }
                    (2, _) => {
                        proptest::prop_assert_eq!(lists.remove(entry), found);
                        plain.iter_mut().for_each(|queue| queue.retain(|&kept| kept != number));
                    }
                    (_, _) => {
                        lists.renew(queue, entry);
                        plain.iter_mut().for_each(|queue| queue.retain(|&kept| kept != number));
                        plain[queue].push_back(number);
                    }
                }
                for (queue, plain) in plain.iter().enumerate() {
                    proptest::prop_assert_eq!(lists.len(queue) as usize, plain.len());
                    let newest = lists.newest(queue).map(Handle::get);
                    proptest::prop_assert_eq!(newest, plain.back().copied());
                }
                let order = [2, 0, 1];
                let walk = std::iter::successors(lists.first_of(&order), |&at| {
                    lists.next_of(&order, at)
                });
                let walked: Vec<u32> = walk.map(Handle::get).collect();
                let expected: Vec<u32> =
                    order.iter().flat_map(|&queue| plain[queue].iter().copied()).collect();
                proptest::prop_assert_eq!(walked, expected);
            }
        }
    }
}
