//! A table with one value per slot, which grows to the highest slot number ever used.

use super::SlotId;

/// A value for each slot.
#[derive(Clone, Debug, Default)]
pub struct Marks<M>(Vec<M>);

impl<M: Copy + Default> Marks<M> {
    /// Sets the value of a slot.
    #[inline]
    pub fn set(&mut self, slot: SlotId, mark: M) {
        let at = slot.at();
        if at >= self.0.len() {
            self.0.resize(at + 1, M::default());
        }
        self.0[at] = mark;
    }

    /// The value of a slot, which must have been set.
    #[inline]
    pub fn get(&self, slot: SlotId) -> M {
        self.0[slot.at()]
    }
}
