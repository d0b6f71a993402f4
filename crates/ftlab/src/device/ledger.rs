//! Requests and events: what came in goes out once, and time does not run backwards. What was trimmed
//! stays away.

use std::collections::BTreeSet;

use crate::host::{Completion, Request};
use crate::units::{Lpn, SimTime};
use crate::verify;

/// More events than this without a completion are no progress, with requests in the device.
const PATIENCE: u64 = 50_000_000;

/// What went in and came out.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger {
    /// Whether it is kept at all.
    is_kept: bool,
    now: SimTime,
    submitted: u64,
    completed: u64,
    /// Events since the last completion.
    in_vain: u64,
    /// Events until the next audit.
    until_audit: u64,
    /// Pages that were trimmed, and of which nothing came in since then.
    trimmed: BTreeSet<Lpn>,
    /// Failed programs of the device from which an image was taken.
    pub(crate) failures_before: u32,
    /// Erases of the blocks when the image was taken.
    pub(crate) erases_before: u64,
}

impl Ledger {
    /// The empty ledger of a device that checks itself, or does not.
    pub(crate) fn new(is_kept: bool) -> Ledger {
        Ledger { is_kept, ..Ledger::default() }
    }

    /// Whether it is kept: a constant where checks are not compiled in.
    #[inline(always)]
    pub(crate) fn is_kept(&self) -> bool {
        verify::ON && self.is_kept
    }

    /// A request came in.
    pub(crate) fn submitted(&mut self, at: SimTime, request: &Request) {
        assert!(at >= self.now, "{request:?} comes at {at}, it is {}", self.now);
        self.now = at;
        self.submitted += 1;
    }

    /// Requests were done.
    pub(crate) fn completed(&mut self, done: &[Completion], now: SimTime) {
        for done in done {
            assert_eq!(done.finished, now, "told at another time than it was done: {done:?}");
            assert!(done.submitted <= done.finished, "done before it came: {done:?}");
            assert_eq!(done.breakdown.total(), done.latency(), "time is lost: {done:?}");
        }
        self.completed += done.len() as u64;
        self.in_vain = 0;
        assert!(self.completed <= self.submitted, "{self:?}: something was done twice");
    }

    /// Something has happened. True if an audit is due, one every so many events.
    pub(crate) fn event(&mut self, now: SimTime, inside: usize, audit_every: u64) -> bool {
        assert!(now >= self.now, "an event at {now}, and it is {} already", self.now);
        self.now = now;
        assert_eq!(self.submitted - self.completed, inside as u64, "{self:?}: a request is lost");
        self.in_vain += 1;
        assert!(inside == 0 || self.in_vain < PATIENCE, "{self:?}: much happens, nothing is done");
        let due = self.until_audit == 0;
        self.until_audit = if due { audit_every } else { self.until_audit - 1 };
        due
    }

    /// A page was trimmed.
    pub(crate) fn trimmed(&mut self, page: Lpn) {
        self.trimmed.insert(page);
    }

    /// Data of a page came in.
    pub(crate) fn written(&mut self, page: Lpn) {
        self.trimmed.remove(&page);
    }

    /// The pages that must not be anywhere.
    pub(crate) fn gone(&self) -> impl Iterator<Item = Lpn> {
        self.trimmed.iter().copied()
    }

    /// An image was loaded: its clock goes on, and so do its failures of programs.
    pub(crate) fn loaded(&mut self, now: SimTime, failures: u32, erases: u64) {
        self.now = now;
        self.erases_before = erases;
        self.failures_before = failures;
    }
}
