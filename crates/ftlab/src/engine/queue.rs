//! The event queue: what happens next, ordered by moment and then by the order of scheduling.
//!
//! A four-ary heap of 16-byte entries. Moment, sequence number and event are packed into one
//! 128-bit key, so that an entry is compared with one instruction pair and events of one instant come
//! out in the order in which they went in: the order never depends on the heap's shape.

use crate::units::SimTime;

/// How many low bits of an entry hold the event; the rest of that word is the sequence number.
const EVENT_BITS: u32 = 24;

/// An event that fits into 24 bits.
pub trait Packed: Copy {
    /// The event as a number below 2^24.
    fn pack(self) -> u32;
    /// The event that [`pack`](Self::pack) made into this number.
    fn unpack(number: u32) -> Self;
}

/// Events to come.
#[derive(Clone, Debug)]
pub struct EventQueue<E> {
    heap: Vec<u128>,
    scheduled: u64,
    event: std::marker::PhantomData<E>,
}

impl<E: Packed> Default for EventQueue<E> {
    fn default() -> Self {
        EventQueue { heap: Vec::new(), scheduled: 0, event: std::marker::PhantomData }
    }
}

impl<E: Packed> EventQueue<E> {
    /// Schedules `event` for moment `at`.
    #[inline]
    pub fn schedule(&mut self, at: SimTime, event: E) {
        let low = (self.scheduled << EVENT_BITS) | u64::from(event.pack());
        self.scheduled += 1;
        self.heap.push((u128::from(at.0) << 64) | u128::from(low));
        self.sift_up(self.heap.len() - 1);
    }

    /// The moment of the next event.
    #[inline]
    #[must_use]
    pub fn next_time(&self) -> Option<SimTime> {
        self.heap.first().map(|entry| SimTime((entry >> 64) as u64))
    }

    /// Takes the next event.
    #[inline]
    pub fn pop(&mut self) -> Option<(SimTime, E)> {
        let last = self.heap.pop()?;
        let entry = match self.heap.first_mut() {
            Some(first) => std::mem::replace(first, last),
            None => last,
        };
        self.sift_down();
        let event = E::unpack(entry as u32 & ((1 << EVENT_BITS) - 1));
        Some((SimTime((entry >> 64) as u64), event))
    }

    /// How many events are waiting.
    #[must_use]
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether nothing is left to happen.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    fn sift_up(&mut self, mut at: usize) {
        let entry = self.heap[at];
        while at > 0 {
            let parent = (at - 1) / 4;
            if self.heap[parent] <= entry {
                break;
            }
            self.heap[at] = self.heap[parent];
            at = parent;
        }
        self.heap[at] = entry;
    }

    #[inline]
    fn sift_down(&mut self) {
        let heap = &mut self.heap[..];
        let Some(&entry) = heap.first() else { return };
        let mut at = 0;
        loop {
            let child = 4 * at + 1;
            let smallest = if let Some(four) = heap.get(child..child + 4) {
                // Two independent comparisons, then one: no chain of four.
                let left = usize::from(four[1] < four[0]);
                let right = 2 + usize::from(four[3] < four[2]);
                child + if four[right] < four[left] { right } else { left }
            } else {
                match (child..heap.len()).min_by_key(|&c| heap[c]) {
                    Some(c) => c,
                    None => break,
                }
            };
            if heap[smallest] >= entry {
                break;
            }
            heap[at] = heap[smallest];
            at = smallest;
        }
        heap[at] = entry;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Packed for u32 {
        fn pack(self) -> u32 {
            self
        }
        fn unpack(number: u32) -> u32 {
            number
        }
    }

    proptest::proptest! {
        #[test]
        fn events_come_out_by_moment_then_by_order_of_scheduling(
            steps in proptest::collection::vec(proptest::option::weighted(0.6, 0u64..50), 1..400)
        ) {
            let mut queue = EventQueue::<u32>::default();
            let mut naive: Vec<(u64, u32)> = Vec::new();
            for (number, step) in (0u32..).zip(steps) {
                if let Some(at) = step {
                    queue.schedule(SimTime(at), number);
                    naive.push((at, number));
                } else {
                    naive.sort();
                    let expected = (!naive.is_empty()).then(|| naive.remove(0));
                    proptest::prop_assert_eq!(queue.pop().map(|(t, e)| (t.0, e)), expected);
                }
                proptest::prop_assert_eq!(queue.len(), naive.len());
            }
        }
    }
}
