//! Several versions of a page, each in a slot of its own, newest to oldest: what a buffer keeps that
//! absorbs nothing. Buffers that absorb never touch this.

use super::SlotId;

/// The neighbours of a version.
#[derive(Clone, Copy, Debug, Default)]
struct Links {
    newer: Option<SlotId>,
    older: Option<SlotId>,
}

/// Chains of versions, by slot.
#[derive(Clone, Debug, Default)]
pub(super) struct Versions {
    links: Vec<Links>,
}

impl Versions {
    fn at(&mut self, slot: SlotId) -> &mut Links {
        let at = slot.at();
        if at >= self.links.len() {
            self.links.resize(at + 1, Links::default());
        }
        &mut self.links[at]
    }

    /// Whether there ever were versions.
    #[inline]
    pub(super) fn are_kept(&self) -> bool {
        !self.links.is_empty()
    }

    /// The version that came before.
    #[inline]
    pub(super) fn older(&self, slot: SlotId) -> Option<SlotId> {
        self.links.get(slot.at())?.older
    }

    /// The version that came after.
    pub(super) fn newer(&self, slot: SlotId) -> Option<SlotId> {
        self.links.get(slot.at())?.newer
    }

    /// A version comes in, after the newest one that there was.
    pub(super) fn put(&mut self, slot: SlotId, older: Option<SlotId>) {
        *self.at(slot) = Links { newer: None, older };
        if let Some(older) = older {
            self.at(older).newer = Some(slot);
        }
    }

    /// A version leaves. Returns its neighbours.
    pub(super) fn remove(&mut self, slot: SlotId) -> (Option<SlotId>, Option<SlotId>) {
        let Links { newer, older } = std::mem::take(self.at(slot));
        if let Some(newer) = newer {
            self.at(newer).older = older;
        }
        if let Some(older) = older {
            self.at(older).newer = newer;
        }
        (newer, older)
    }
}
