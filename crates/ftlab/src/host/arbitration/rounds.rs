//! Turns that go round: what all round-robin policies share.

use crate::host::{QueueId, QueueSet};
use crate::image::{Damage, ImageReader, ImageWriter};

/// Whose turn it is, and how many commands the turn still has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rounds {
    current: QueueId,
    left: u32,
}

impl Rounds {
    /// A round of `count` queues that starts at the first.
    pub fn new(count: u32) -> Rounds {
        Rounds { current: QueueId::new(count - 1), left: 0 }
    }

    pub fn save(&self, out: &mut ImageWriter) {
        let Rounds { current, left } = *self;
        out.number(current.get());
        out.number(left);
    }

    /// Reads a round of `count` queues; a turn has less left than its `length`, as it began with one
    /// command.
    pub fn load(
        &mut self,
        count: u32,
        length: impl Fn(QueueId) -> u32,
        from: &mut ImageReader<'_>,
    ) -> Result<(), Damage> {
        self.current = QueueId::new(from.below(u64::from(count), "the turn of a queue")?);
        self.left = from.below(u64::from(length(self.current)), "what is left of a turn")?;
        Ok(())
    }

    /// One command of the turn, which ends when its `length` is used up or its queue is not among
    /// `waiting`: what is left of it is lost.
    pub fn choose(&mut self, waiting: QueueSet, length: impl Fn(QueueId) -> u32) -> QueueId {
        if self.left == 0 || !waiting.contains(self.current) {
            self.current = waiting.next_after(self.current).expect("asked only if one waits");
            self.left = length(self.current);
        }
        self.left -= 1;
        self.current
    }
}
