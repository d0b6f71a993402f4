//! What the host knows of its requests when it submits them: the placement identifiers of writes, and the future.

use std::sync::Arc;

use crate::device::base::Base;
use crate::device::{Contents, Device};
use crate::engine::skills::{RARE, Skills, any};
use crate::engine::{DeathClasses, DeathTable, Foresight, PageFate};
use crate::host::hints::HintsPolicy;
use crate::host::{Op, Pages, Request};
use crate::scheduler::Probe;
use crate::units::RequestId;

impl<P: Probe, C: Contents> Device<P, C> {
    /// Records the fates of all pages from now on, if a policy wants to know the future. Returns whether one does.
    pub fn record_future(&mut self) -> bool {
        self.set_foresight(Foresight::Recording(Vec::new()))
    }

    /// Ends the recording: returns when all data that was written meanwhile died. `None` if nothing was recorded, or too much
    /// (four billion pages).
    pub fn recorded_future(&mut self) -> Option<DeathTable> {
        let logical_pages = self.base.kernel.ftl.logical_pages();
        match std::mem::take(&mut self.base.death_classes()?.foresight) {
            Foresight::Recording(fates) => DeathTable::of(&fates, logical_pages),
            _ => None,
        }
    }

    /// Tells the policies that want to know it what happens from now on: what a device of the same capacity has
    /// recorded.
    pub fn foresee(&mut self, future: Arc<DeathTable>) {
        self.set_foresight(Foresight::of(future));
    }

    fn set_foresight(&mut self, foresight: Foresight) -> bool {
        let classes = self.base.death_classes();
        classes.map(|classes| classes.foresight = foresight).is_some()
    }
}

impl<P: Probe, C: Contents> Base<P, C> {
    /// The classes by time of death of the policy that knows the future, if there is one.
    pub(super) fn death_classes(&mut self) -> Option<&mut DeathClasses> {
        let hints = self.hints.as_mut().and_then(|hints| hints.policy.death_classes());
        hints.or_else(|| self.kernel.ftl.death_classes())
    }

    /// The host submits a request: its write gets an identifier.
    pub(super) fn hint(&mut self, id: RequestId, request: &Request) {
        let (per_page, whole) = (self.sectors_per_page, self.kernel.ftl.full_page());
        if let Some(DeathClasses { foresight, .. }) = self.death_classes() {
            let pages = Pages::new(request.lba, request.sectors, per_page);
            match request.op {
                Op::Write => pages.for_each(|span| foresight.happens(PageFate::Written(span.page))),
                Op::Trim => pages
                    .filter(|span| span.sectors == whole)
                    .for_each(|span| foresight.happens(PageFate::Trimmed(span.page))),
                _ => {}
            }
        }
        if let Some(hints) = &mut self.hints
            && request.op.writes()
        {
            hints.submit(id, request);
        }
    }

    /// The placement identifier of a write.
    #[inline(always)]
    pub(super) fn identifier<const S: Skills>(&self, id: RequestId, request: &Request) -> u32 {
        match &self.hints {
            Some(hints) if any(S, RARE) => hints.identifier(id),
            _ => request.stream,
        }
    }
}
