//! Cyclic turns, which all round-robin policies share.

use crate::host::{QueueId, QueueSet};
use crate::image::{Damage, ImageReader, ImageWriter};

/// Whose turn it is, and how many commands the turn has left.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rounds {
    current: QueueId,
    left: u32,
}

impl Rounds {
    /// Returns a round of `count` queues that starts with the first.
    pub fn new(count: u32) -> Rounds {
        Rounds { current: QueueId::new(count - 1), left: 0 }
    }

    pub fn save(&self, out: &mut ImageWriter) {
        let Rounds { current, left } = *self;
        out.number(current.get());
        out.number(left);
    }

    /// Loads a round of `count` queues. A turn has less left than its `length`, because it has begun
    /// with a command.
    pub fn load(
        &mut self,
        count: u32,
        length: impl Fn(QueueId) -> u32,
        from: &mut ImageReader<'_>,
    ) -> Result<(), Damage> {
        self.current = QueueId::new(from.below(u64::from(count), "the turn of a queue")?);
        self.left = from.below(u64::from(length(self.current)), "the rest of a turn")?;
        Ok(())
    }

    /// Takes one command of the turn. A turn ends when its `length` is used up or its queue is not
    /// among `waiting`; the rest of it is then lost.
    pub fn choose(&mut self, waiting: QueueSet, length: impl Fn(QueueId) -> u32) -> QueueId {
        if self.left == 0 || !waiting.contains(self.current) {
            self.current = waiting.next_after(self.current).expect("a command waits");
            self.left = length(self.current);
        }
        self.left -= 1;
        self.current
    }
}
