//! The history of pages: two bits for each logical page.

use crate::engine::TwoBits;
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::options::declare::choices;
use crate::units::Lpn;

/// The history of a page, as far as it is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Past {
    /// Unknown.
    None,
    /// Reads.
    Read,
    /// Writes.
    Written,
    /// Both, recently.
    Interleaved,
}

impl Past {
    const ALL: [Past; 4] = [Past::None, Past::Read, Past::Written, Past::Interleaved];
}

choices! {
    /// What is remembered of the accesses to a page, in two bits.
    pub enum HistoryRule {
        /// The last access. With the next one, this is a window of two.
        LastAccess = "last-access",
        /// An access of the other kind makes a page interleaved; the next one makes it a page of its kind.
        Hysteresis = "hysteresis",
    }
}

impl HistoryRule {
    /// The history after an access, which is a read or a write.
    fn after(self, past: Past, access: Past) -> Past {
        match (self, past) {
            (HistoryRule::Hysteresis, Past::Read | Past::Written) if past != access => {
                Past::Interleaved
            }
            _ => access,
        }
    }
}

/// The histories of all pages of the host. Zeroed memory means none.
#[derive(Clone, Debug)]
pub struct History {
    rule: HistoryRule,
    pasts: TwoBits,
}

impl History {
    /// No page has a history.
    #[must_use]
    pub fn new(rule: HistoryRule, pages: u32) -> History {
        History { rule, pasts: TwoBits::new(pages) }
    }

    /// The history of a page. Pages that are not the host's have none.
    #[inline]
    #[must_use]
    pub fn of(&self, page: Lpn) -> Past {
        match page.get() < self.pasts.entries() {
            true => Past::ALL[usize::from(self.pasts.get(page.get()))],
            false => Past::None,
        }
    }

    /// A page of the host was read or written. Returns its history before that.
    #[inline]
    pub(super) fn access(&mut self, page: Lpn, access: Past) -> Past {
        let past = self.of(page);
        self.pasts.set(page.get(), self.rule.after(past, access) as u8);
        past
    }

    /// A page of the host was deallocated.
    #[inline]
    pub(super) fn forget(&mut self, page: Lpn) {
        self.pasts.set(page.get(), Past::None as u8);
    }

    /// Forgets all histories.
    pub(super) fn clear(&mut self) {
        self.pasts.clear();
    }

    pub(super) fn save(&self, out: &mut ImageWriter) {
        let History { rule: _, pasts } = self;
        pasts.save(out);
    }

    pub(super) fn load(&mut self, from: &mut ImageReader<'_>) -> Result<(), Damage> {
        self.pasts.load(from, "the list of pasts")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_keep_their_own_past() {
        let mut history = History::new(HistoryRule::LastAccess, 6);
        let [first, second] = [Lpn::new(4), Lpn::new(5)];
        assert_eq!(history.access(first, Past::Written), Past::None);
        assert_eq!(history.access(second, Past::Read), Past::None);
        assert_eq!((history.of(first), history.of(second)), (Past::Written, Past::Read));
        history.forget(first);
        assert_eq!((history.of(first), history.of(second)), (Past::None, Past::Read));
        assert_eq!(history.of(Lpn::new(6)), Past::None, "not the host's");
    }

    #[test]
    fn with_hysteresis_a_page_changes_its_kind_by_two_accesses() {
        let mut history = History::new(HistoryRule::Hysteresis, 1);
        let mut after = |access| {
            history.access(Lpn::new(0), access);
            history.of(Lpn::new(0))
        };
        let (read, written) = (Past::Read, Past::Written);
        assert_eq!(
            [read, read, written, read].map(&mut after),
            [read, read, Past::Interleaved, read]
        );
        assert_eq!([written, written, written].map(after), [Past::Interleaved, written, written]);
    }
}
