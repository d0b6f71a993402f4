//! The regulator at work in the FTL: asked for each page that is written or copied, told of what the host does.

use super::super::Ftl;
use super::{History, Past, Regulator};
use crate::image::{Damage, Reader, Writer};
use crate::nand::{CostClass, ProgramCost};
use crate::units::Lpn;

/// A regulator and what it is shown.
#[derive(Clone, Debug)]
pub struct Regulation {
    regulator: Regulator,
    history: Option<History>,
}

impl Regulation {
    /// Over so many pages of the host, of which nothing is known.
    #[must_use]
    pub fn new(regulator: Regulator, logical_pages: u32) -> Regulation {
        let history = regulator.remembers().map(|rule| History::new(rule, logical_pages));
        Regulation { regulator, history }
    }

    fn past(&self, page: Lpn) -> Past {
        self.history.as_ref().map_or(Past::None, |history| history.of(page))
    }

    fn access(&mut self, page: Lpn, access: Past) -> Past {
        self.history.as_mut().map_or(Past::None, |history| history.access(page, access))
    }

    /// What the host did so far belongs to the preparation.
    pub(crate) fn prepared(&mut self) {
        self.history.iter_mut().for_each(History::clear);
    }

    pub(in crate::ftl) fn trimmed(&mut self, page: Lpn) {
        self.history.iter_mut().for_each(|history| history.forget(page));
    }

    pub(in crate::ftl) fn save(&self, out: &mut Writer) {
        let Regulation { regulator, history } = self;
        regulator.save(out);
        history.iter().for_each(|history| history.save(out));
    }

    pub(in crate::ftl) fn load(&mut self, from: &mut Reader<'_>) -> Result<(), Damage> {
        self.regulator.load(from)?;
        self.history.as_mut().map_or(Ok(()), |history| history.load(from))
    }
}

impl Ftl {
    /// What regulates costs; none if the timing leaves nothing to regulate.
    #[inline]
    #[must_use]
    pub fn regulation(&self) -> Option<&Regulation> {
        self.regulation.as_deref()
    }

    /// The same, to be changed by the core.
    pub(crate) fn regulation_mut(&mut self) -> Option<&mut Regulation> {
        self.regulation.as_deref_mut()
    }

    /// What a page of the host has been through.
    #[must_use]
    pub fn past_of(&self, page: Lpn) -> Past {
        self.regulation.as_ref().map_or(Past::None, |regulation| regulation.past(page))
    }

    /// The host writes a page: what that is to cost.
    pub(crate) fn cost_of_write(&mut self, page: Lpn) -> Option<ProgramCost> {
        let regulation = self.regulation.as_mut()?;
        let past = regulation.access(page, Past::Written);
        Some(regulation.regulator.write(past))
    }

    /// A page of class `as_was` is copied: what that is to cost. None if it stays what it was.
    pub(crate) fn cost_of_copy(&self, page: Lpn, as_was: CostClass) -> Option<ProgramCost> {
        let regulation = self.regulation.as_ref()?;
        regulation.regulator.copy(regulation.past(page), as_was)
    }

    /// The host reads a page from flash. Returns what it had been through before.
    pub(crate) fn read_by_host(&mut self, page: Lpn) -> Past {
        let regulation = self.regulation.as_mut();
        regulation.map_or(Past::None, |regulation| regulation.access(page, Past::Read))
    }

    /// Whether a page of a class, of which the host has read before what it reads now, should be programmed
    /// again.
    pub fn wants_rewrite(&self, past: Past, class: CostClass) -> bool {
        let regulation = self.regulation.as_ref();
        regulation.is_some_and(|regulation| regulation.regulator.wants_rewrite(past, class))
    }
}
