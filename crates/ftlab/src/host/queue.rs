//! Submission queues by number, and sets of them.

use std::num::NonZeroU32;

use serde::Serialize;

use crate::options::declare::choices;

/// Maximum number of submission queues.
pub const MOST_QUEUES: u32 = QueueSet::CAPACITY;

/// A submission queue, numbered from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct QueueId(u8);

impl QueueId {
    /// Returns queue `number`, below [`MOST_QUEUES`].
    #[must_use]
    pub const fn new(number: u32) -> QueueId {
        debug_assert!(number < MOST_QUEUES);
        QueueId(number as u8)
    }

    /// Its number.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0 as u32
    }

    /// Its number as an index.
    #[must_use]
    pub const fn at(self) -> usize {
        self.0 as usize
    }
}

/// A set of queues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueSet(u128);

impl QueueSet {
    const CAPACITY: u32 = u128::BITS;

    /// Adds a queue.
    pub fn insert(&mut self, queue: QueueId) {
        self.0 |= 1 << queue.get();
    }

    /// Removes a queue.
    pub fn remove(&mut self, queue: QueueId) {
        self.0 &= !(1 << queue.get());
    }

    /// Whether the set contains a queue.
    #[must_use]
    pub fn contains(self, queue: QueueId) -> bool {
        self.0 >> queue.get() & 1 == 1
    }

    /// Whether the set is empty.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The queues that are in both sets.
    #[must_use]
    pub fn within(self, other: QueueSet) -> QueueSet {
        QueueSet(self.0 & other.0)
    }

    /// The next queue of the set after `queue`, cyclically; `queue` itself comes last.
    #[must_use]
    pub fn next_after(self, queue: QueueId) -> Option<QueueId> {
        let above = self.0 & (u128::MAX << queue.get() << 1);
        let from = if above == 0 { self.0 } else { above };
        (from != 0).then(|| QueueId::new(from.trailing_zeros()))
    }

    /// The queues in ascending order.
    pub fn iter(self) -> impl Iterator<Item = QueueId> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let first = (left != 0).then(|| QueueId::new(left.trailing_zeros()));
            left &= left.wrapping_sub(1);
            first
        })
    }
}

impl FromIterator<QueueId> for QueueSet {
    fn from_iter<I: IntoIterator<Item = QueueId>>(queues: I) -> QueueSet {
        let mut set = QueueSet::default();
        queues.into_iter().for_each(|queue| set.insert(queue));
        set
    }
}

choices! {
    /// How streams are spread over submission queues.
    pub enum StreamMap {
        /// Stream i goes to queue i modulo the number of queues.
        Modulo = "modulo",
        /// Stream i goes to queue i, all remaining streams to the last queue.
        Saturate = "saturate",
    }
}

/// The submission queues of a device: how many, how deep, and which stream uses which.
#[derive(Clone, Debug)]
pub struct Queues {
    /// By queue: commands that the host may have outstanding.
    pub depths: Vec<u32>,
    /// By queue: its weight for the arbitration; all equal if the policy has no weights.
    pub weights: Vec<u32>,
    /// Which queue a stream uses.
    pub map: StreamMap,
    /// Streams of a round, if they come in rounds: then their place in it decides.
    pub round: Option<NonZeroU32>,
}

impl Queues {
    /// Number of queues.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.depths.len() as u32
    }

    /// All queues in ascending order.
    pub fn all(&self) -> impl Iterator<Item = QueueId> + use<> {
        (0..self.count()).map(QueueId::new)
    }

    /// The queue for commands of a stream.
    #[inline]
    #[must_use]
    pub fn of(&self, stream: u32) -> QueueId {
        let count = self.count();
        if count == 1 {
            return QueueId::default();
        }
        let stream = self.round.map_or(stream, |round| stream % round);
        QueueId::new(match self.map {
            StreamMap::Modulo => stream % count,
            StreamMap::Saturate => stream.min(count - 1),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(numbers: &[u32]) -> QueueSet {
        numbers.iter().map(|&number| QueueId::new(number)).collect()
    }

    #[test]
    fn the_next_queue_goes_round() {
        let waiting = set(&[0, 3, 127]);
        let next = |from| waiting.next_after(QueueId::new(from)).map(QueueId::get);
        assert_eq!([0, 1, 3, 126, 127].map(next), [3, 3, 127, 127, 0].map(Some));
        assert_eq!(set(&[5]).next_after(QueueId::new(5)), Some(QueueId::new(5)));
        assert_eq!(QueueSet::default().next_after(QueueId::new(0)), None);
        assert_eq!(waiting.iter().map(QueueId::get).collect::<Vec<_>>(), [0, 3, 127]);
    }

    #[test]
    fn streams_go_round_the_queues_or_share_the_last() {
        let queues = |map| Queues { depths: vec![1; 3], weights: vec![1; 3], map, round: None };
        let of = |map| [0, 1, 2, 3, 70_000].map(|stream| queues(map).of(stream).get());
        assert_eq!(of(StreamMap::Modulo), [0, 1, 2, 0, 1]);
        assert_eq!(of(StreamMap::Saturate), [0, 1, 2, 2, 2]);
        let rounds = Queues { round: NonZeroU32::new(2), ..queues(StreamMap::Saturate) };
        assert_eq!([0, 1, 2, 3, 70_000].map(|stream| rounds.of(stream).get()), [0, 1, 0, 1, 0]);
    }
}
