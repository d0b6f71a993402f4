//! What a policy notes of each slot, in a table that grows with the highest slot number that was ever
//! used.

use super::SlotId;

/// A note for each slot.
#[derive(Clone, Debug, Default)]
pub struct Marks<M>(Vec<M>);

impl<M: Copy + Default> Marks<M> {
    /// Notes something of a slot.
    #[inline]
    pub fn set(&mut self, slot: SlotId, mark: M) {
        let at = slot.at();
        if at >= self.0.len() {
            self.0.resize(at + 1, M::default());
        }
        self.0[at] = mark;
    }

    /// What was noted last. Something must have been.
    #[inline]
    pub fn get(&self, slot: SlotId) -> M {
        self.0[slot.at()]
    }
}
