//! Chains of versions of a page, newest to oldest, for a buffer that absorbs nothing. Each version
//! has a slot of its own. Other buffers never use this.

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

    /// Whether there have ever been versions.
    #[inline]
    pub(super) fn are_kept(&self) -> bool {
        !self.links.is_empty()
    }

    #[inline]
    pub(super) fn older(&self, slot: SlotId) -> Option<SlotId> {
        self.links.get(slot.at())?.older
    }

    pub(super) fn newer(&self, slot: SlotId) -> Option<SlotId> {
        self.links.get(slot.at())?.newer
    }

    /// Adds a version in front of the newest one so far.
    pub(super) fn put(&mut self, slot: SlotId, older: Option<SlotId>) {
        *self.at(slot) = Links { newer: None, older };
        if let Some(older) = older {
            self.at(older).newer = Some(slot);
        }
    }

    /// Removes a version and returns its newer and older neighbours.
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
