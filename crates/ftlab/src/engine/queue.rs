//! The event queue, ordered by time and then by the order of scheduling.
//!
//! It is a timing wheel. No flash operation takes longer than a span known when the device is built, so
//! every event lies within one turn of a wheel of slots, and the next one is found with a bit search
//! instead of a heap. The first event of a slot is stored in the slot; later ones are linked to it in
//! order.
//!
//! Source: Varghese and Lauck, "Hashed and Hierarchical Timing Wheels: Data Structures for the Efficient
//! Implementation of a Timer Facility", SOSP 1987; the bitmap over slots is ours.

use super::slab::{Handle, Slab};
use crate::units::{Nanos, SimTime};

/// Slots of the wheel. There is a bit for each, and a bit for each word of these bits, in one word.
const SLOTS: usize = WORDS * WORD_BITS;
const WORDS: usize = WORD_BITS;
const WORD_BITS: usize = u64::BITS as usize;

/// An event with its time, and the next one in its slot.
#[derive(Clone, Copy, Debug)]
struct Entry<E> {
    at: SimTime,
    event: E,
    next: Option<Handle<Entry<E>>>,
}

/// Events to come.
#[derive(Clone, Debug)]
pub struct EventQueue<E> {
    /// The first event of each slot, stored in place: most slots never hold another.
    slots: Box<[Option<Entry<E>>; SLOTS]>,
    /// The events behind the first of their slot.
    behind: Slab<Entry<E>>,
    /// The last of them for each slot that has any: new events nearly always come after it.
    last: Box<[Option<Handle<Entry<E>>>; SLOTS]>,
    /// A bit for each slot that is not empty.
    occupied: [u64; WORDS],
    /// A bit for each word of `occupied` that is not zero.
    summary: u64,
    /// A slot covers 2^shift nanoseconds.
    shift: u32,
    /// The time of the next event, cached.
    next: Option<SimTime>,
}

impl<E: Copy> EventQueue<E> {
    /// Returns a queue for events that are scheduled at most `reach` ahead.
    #[must_use]
    pub fn new(reach: Nanos) -> EventQueue<E> {
        let mut shift = 0;
        // One slot of the turn is lost, because the current time may be anywhere in its slot.
        while (SLOTS as u64 - 1) << shift <= reach.0 {
            shift += 1;
        }
        EventQueue {
            slots: Box::new([None; SLOTS]),
            behind: Slab::default(),
            last: Box::new([None; SLOTS]),
            occupied: [0; WORDS],
            summary: 0,
            shift,
            next: None,
        }
    }

    #[inline]
    fn slot_of(&self, at: SimTime) -> usize {
        (at.0 >> self.shift) as usize % SLOTS
    }

    /// Schedules `event` for time `at`, which must not be before the current time `now` nor more than the
    /// reach of the queue after it. No waiting event may be before `now`.
    #[inline(always)]
    pub fn schedule(&mut self, now: SimTime, at: SimTime, event: E) {
        let turn = (at.0 >> self.shift).wrapping_sub(now.0 >> self.shift);
        assert!(turn < SLOTS as u64, "an event at {at} is out of reach at {now}");
        let slot = self.slot_of(at);
        match &mut self.slots[slot] {
            empty @ None => {
                *empty = Some(Entry { at, event, next: None });
                self.occupied[slot / WORD_BITS] |= 1 << (slot % WORD_BITS);
                self.summary |= 1 << (slot / WORD_BITS);
            }
            Some(first) => match (first.next, self.last[slot]) {
                (Some(_), Some(last)) if self.behind[last].at <= at => {
                    let added = self.behind.insert(Entry { at, event, next: None });
                    self.behind[last].next = Some(added);
                    self.last[slot] = Some(added);
                }
                _ => self.insert_within(slot, at, event),
            },
        }
        if self.next.is_none_or(|next| at < next) {
            self.next = Some(at);
        }
    }

    /// Inserts an event before the first one of its slot that is later.
    #[inline(never)]
    fn insert_within(&mut self, slot: usize, at: SimTime, event: E) {
        let Some(first) = &mut self.slots[slot] else { return };
        if at < first.at {
            let second = self.behind.insert(*first);
            if first.next.is_none() {
                self.last[slot] = Some(second);
            }
            *first = Entry { at, event, next: Some(second) };
            return;
        }
        let (mut before, mut after) = (None, first.next);
        while let Some(entry) = after.filter(|&entry| self.behind[entry].at <= at) {
            before = after;
            after = self.behind[entry].next;
        }
        let added = Some(self.behind.insert(Entry { at, event, next: after }));
        match before {
            Some(before) => self.behind[before].next = added,
            None => first.next = added,
        }
        if after.is_none() {
            self.last[slot] = added;
        }
    }

    /// The time of the next event.
    #[inline]
    #[must_use]
    pub fn next_time(&self) -> Option<SimTime> {
        self.next
    }

    /// Takes the next event.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<(SimTime, E)> {
        let slot = self.slot_of(self.next?);
        let Entry { at, event, next } = self.slots[slot]?;
        match next {
            Some(next) => self.move_up(slot, next),
            None => {
                self.slots[slot] = None;
                self.occupied[slot / WORD_BITS] &= !(1 << (slot % WORD_BITS));
                if self.occupied[slot / WORD_BITS] == 0 {
                    self.summary &= !(1 << (slot / WORD_BITS));
                }
                self.next = self.first_after(slot);
            }
        }
        Some((at, event))
    }

    /// Moves up the next event of a slot after the first one was taken.
    #[inline]
    fn move_up(&mut self, slot: usize, next: Handle<Entry<E>>) {
        let entry = self.behind[next];
        self.behind.release(next);
        self.slots[slot] = Some(entry);
        self.next = Some(entry.at);
    }

    /// The time of the first event at or after a slot, going once around the wheel.
    #[inline]
    fn first_after(&self, slot: usize) -> Option<SimTime> {
        let (word, bit) = (slot / WORD_BITS, slot % WORD_BITS);
        let here = self.occupied[word] & (u64::MAX << bit);
        let found = if here != 0 {
            word * WORD_BITS + here.trailing_zeros() as usize
        } else {
            if self.summary == 0 {
                return None;
            }
            // The words after this one, cyclically; this one comes last, for its earlier slots.
            let start = (word + 1) % WORDS;
            let ahead = self.summary.rotate_right(start as u32).trailing_zeros() as usize;
            let word = (start + ahead) % WORDS;
            word * WORD_BITS + self.occupied[word].trailing_zeros() as usize
        };
        self.slots[found % SLOTS].map(|entry| entry.at)
    }

    /// Number of events in the queue.
    #[must_use]
    pub fn waiting(&self) -> usize {
        let first = self.occupied.iter().map(|word| word.count_ones() as usize).sum::<usize>();
        first + self.behind.in_use()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        /// Compares with a sorted list, with spans from "all at once" to the full reach.
        #[test]
        fn events_come_out_by_moment_then_by_order_of_scheduling(
            reach in 1u64..100_000,
            steps in proptest::collection::vec(
                (proptest::option::weighted(0.6, (0u32..4, 0u64..=u64::MAX)), 0u64..=u64::MAX), 1..600)
        ) {
            let mut queue = EventQueue::<u32>::new(Nanos(reach));
            let mut naive: Vec<(u64, u32)> = Vec::new();
            let mut now = 0;
            for (number, (step, pause)) in (0u32..).zip(steps) {
                if let Some((kind, span)) = step {
                    let at = now + match kind {
                        0 => 0,
                        1 => reach,
                        2 => span % (reach / 50 + 1),
                        _ => span % (reach + 1),
                    };
                    queue.schedule(SimTime(now), SimTime(at), number);
                    naive.push((at, number));
                } else {
                    naive.sort();
                    // Time passes when nothing is due.
                    let expected = (!naive.is_empty()).then(|| naive.remove(0));
                    let got = queue.pop().map(|(at, event)| (at.0, event));
                    proptest::prop_assert_eq!(got, expected);
                    now = got.map_or(now + reach * 3, |(at, _)| at);
                }
                if let Some(next) = queue.next_time() {
                    // A request may come at any time up to the next event.
                    now += pause % (next.0 - now + 1);
                }
                proptest::prop_assert_eq!(queue.waiting(), naive.len());
                let next = naive.iter().min().map(|&(at, _)| SimTime(at));
                proptest::prop_assert_eq!(queue.next_time(), next);
            }
        }
    }
}
