//! The event queue: what happens next, ordered by moment and then by the order of scheduling.
//!
//! A timing wheel. No flash operation takes longer than some span that is known at assembly, so every
//! event lies within one turn of a wheel of slots, and the next one is found by looking for a bit
//! instead of sifting a heap. Within a slot, events hang in a list that is kept in order; new ones
//! nearly always belong at its end.
//!
//! Source: Varghese and Lauck, "Hashed and Hierarchical Timing Wheels: Data Structures for the Efficient
//! Implementation of a Timer Facility", SOSP 1987; the bitmap over slots is ours.

use super::slab::{Handle, Slab};
use crate::units::{Nanos, SimTime};

/// Slots of the wheel: one word of bits for words of bits for slots.
const SLOTS: usize = WORDS * WORD_BITS;
const WORDS: usize = WORD_BITS;
const WORD_BITS: usize = u64::BITS as usize;

/// An event with its moment, in the list of its slot.
#[derive(Clone, Copy, Debug)]
struct Entry<E> {
    at: SimTime,
    event: E,
    next: Option<Handle<Entry<E>>>,
}

/// A slot's list.
#[derive(Clone, Copy, Debug)]
struct Slot<E> {
    first: Option<Handle<Entry<E>>>,
    last: Option<Handle<Entry<E>>>,
}

/// Events to come.
#[derive(Clone, Debug)]
pub struct EventQueue<E> {
    entries: Slab<Entry<E>>,
    slots: Box<[Slot<E>; SLOTS]>,
    /// A bit for each slot that holds something.
    occupied: [u64; WORDS],
    /// A bit for each word of `occupied` that is not zero.
    summary: u64,
    /// A slot covers 2^shift nanoseconds.
    shift: u32,
    /// No event lies before this moment; the search begins at its slot.
    now: SimTime,
    /// The next event's moment, so that looking costs nothing.
    next: Option<SimTime>,
}

impl<E: Copy> EventQueue<E> {
    /// A queue for events that are scheduled at most `reach` ahead of the event before them.
    #[must_use]
    pub fn new(reach: Nanos) -> EventQueue<E> {
        let mut shift = 0;
        // One slot of the turn is lost to where in its slot the present moment lies.
        while (SLOTS as u64 - 1) << shift <= reach.0 {
            shift += 1;
        }
        EventQueue {
            entries: Slab::default(),
            slots: Box::new([Slot { first: None, last: None }; SLOTS]),
            occupied: [0; WORDS],
            summary: 0,
            shift,
            now: SimTime::ZERO,
            next: None,
        }
    }

    #[inline]
    fn slot_of(&self, at: SimTime) -> usize {
        (at.0 >> self.shift) as usize % SLOTS
    }

    /// Schedules `event` for moment `at`, which must not lie before the present moment `now`, nor
    /// further ahead of it than the reach of the queue. No waiting event may lie before `now`.
    #[inline(always)]
    pub fn schedule(&mut self, now: SimTime, at: SimTime, event: E) {
        // Time may have passed without events; the wheel follows.
        self.now = now;
        let turn = (at.0 >> self.shift).wrapping_sub(self.now.0 >> self.shift);
        assert!(turn < SLOTS as u64, "an event at {at}, out of reach at {now}");
        let added = self.entries.insert(Entry { at, event, next: None });
        let slot = self.slot_of(at);
        match self.slots[slot].last {
            Some(last) if self.entries[last].at <= at => {
                self.entries[last].next = Some(added);
                self.slots[slot].last = Some(added);
            }
            Some(_) => self.insert_within(slot, added),
            None => {
                self.slots[slot] = Slot { first: Some(added), last: Some(added) };
                self.occupied[slot / WORD_BITS] |= 1 << (slot % WORD_BITS);
                self.summary |= 1 << (slot / WORD_BITS);
            }
        }
        if self.next.is_none_or(|next| at < next) {
            self.next = Some(at);
        }
    }

    /// Puts an entry before the first one of its slot that is later.
    #[cold]
    fn insert_within(&mut self, slot: usize, added: Handle<Entry<E>>) {
        let at = self.entries[added].at;
        let mut before = None;
        let mut after = self.slots[slot].first;
        while let Some(entry) = after.filter(|&entry| self.entries[entry].at <= at) {
            before = Some(entry);
            after = self.entries[entry].next;
        }
        self.entries[added].next = after;
        match before {
            Some(before) => self.entries[before].next = Some(added),
            None => self.slots[slot].first = Some(added),
        }
    }

    /// The moment of the next event.
    #[inline]
    #[must_use]
    pub fn next_time(&self) -> Option<SimTime> {
        self.next
    }

    /// Takes the next event.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<(SimTime, E)> {
        let at = self.next?;
        self.now = at;
        let slot = self.slot_of(at);
        let first = self.slots[slot].first?;
        let Entry { event, next, .. } = self.entries[first];
        self.entries.release(first);
        self.slots[slot].first = next;
        self.next = match next {
            Some(next) => Some(self.entries[next].at),
            None => {
                self.slots[slot].last = None;
                self.occupied[slot / WORD_BITS] &= !(1 << (slot % WORD_BITS));
                if self.occupied[slot / WORD_BITS] == 0 {
                    self.summary &= !(1 << (slot / WORD_BITS));
                }
                self.first_after(slot)
            }
        };
        Some((at, event))
    }

    /// The moment of the first event at or after a slot, going round the wheel once.
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
            // The words after this one, round the wheel; this one comes last, for its earlier slots.
            let start = (word + 1) % WORDS;
            let ahead = self.summary.rotate_right(start as u32).trailing_zeros() as usize;
            let word = (start + ahead) % WORDS;
            word * WORD_BITS + self.occupied[word].trailing_zeros() as usize
        };
        self.slots[found].first.map(|entry| self.entries[entry].at)
    }

    /// How many events are waiting.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.entries.in_use()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        /// Against a sorted list, with spans from "all at once" to the full reach.
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
                    // A host may come at any moment up to the next event.
                    now += pause % (next.0 - now + 1);
                }
                proptest::prop_assert_eq!(queue.waiting(), naive.len());
                let next = naive.iter().min().map(|&(at, _)| SimTime(at));
                proptest::prop_assert_eq!(queue.next_time(), next);
            }
        }
    }
}
