//! Checks requests and events: each request completes exactly once, time never goes backwards, and
//! trimmed pages stay trimmed.

use std::collections::{BTreeMap, BTreeSet};

use crate::host::{Completion, FrontEndBusy, Request};
use crate::units::{Lpn, SimTime};
use crate::verify;

/// With requests in the device, more events than this without a completion count as no progress.
const PATIENCE: u64 = 50_000_000;

/// The ledger of requests.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger {
    /// Whether the ledger is kept at all.
    is_kept: bool,
    now: SimTime,
    submitted: u64,
    completed: u64,
    /// Events since the last completion.
    in_vain: u64,
    /// Events until the next audit.
    until_audit: u64,
    /// How long the parts of the front end had been in use at a moment.
    front_end: (SimTime, FrontEndBusy),
    /// Pages that were trimmed and not written since.
    trimmed: BTreeSet<Lpn>,
    /// The tag of the last write of each page.
    tags: BTreeMap<Lpn, u8>,
    /// Failed programs up to the moment when the loaded image was taken.
    pub(crate) failures_before: u32,
    /// Erases of the blocks when the loaded image was taken.
    pub(crate) erases_before: u64,
}

impl Ledger {
    /// An empty ledger. `is_kept`: whether the device checks itself.
    pub(crate) fn new(is_kept: bool) -> Ledger {
        Ledger { is_kept, ..Ledger::default() }
    }

    /// Whether the ledger is kept: a constant if checks are not compiled in.
    #[inline(always)]
    pub(crate) fn is_kept(&self) -> bool {
        verify::ON && self.is_kept
    }

    /// A request arrives.
    pub(crate) fn submitted(&mut self, at: SimTime, request: &Request) {
        assert!(at >= self.now, "{request:?} arrives at {at}, but it is already {}", self.now);
        self.now = at;
        self.submitted += 1;
    }

    /// Requests complete.
    pub(crate) fn completed(&mut self, done: &[Completion], now: SimTime) {
        for done in done {
            assert_eq!(
                done.finished, now,
                "completion reported at another time than it finished: {done:?}"
            );
            assert!(done.submitted <= done.finished, "completed before it was submitted: {done:?}");
            assert_eq!(
                done.breakdown.total(),
                done.latency(),
                "breakdown and latency differ: {done:?}"
            );
        }
        self.completed += done.len() as u64;
        self.in_vain = 0;
        assert!(
            self.completed <= self.submitted,
            "{self:?}: more requests completed than submitted"
        );
    }

    /// An event occurs. Returns true if an audit is due (one per `audit_every` events).
    pub(crate) fn event(&mut self, now: SimTime, inside: usize, audit_every: u64) -> bool {
        assert!(now >= self.now, "an event at {now}, but it is already {}", self.now);
        self.now = now;
        assert_eq!(self.submitted - self.completed, inside as u64, "{self:?}: a request is lost");
        self.in_vain += 1;
        assert!(
            inside == 0 || self.in_vain < PATIENCE,
            "{self:?}: many events without a completion"
        );
        let due = self.until_audit == 0;
        self.until_audit = if due { audit_every } else { self.until_audit - 1 };
        due
    }

    /// By now the parts of the front end, with so many cores, have been in use for so long: never for longer than time
    /// has passed.
    pub(crate) fn front_end(&mut self, now: SimTime, busy: FrontEndBusy, cores: u32) {
        let (then, before) = std::mem::replace(&mut self.front_end, (now, busy));
        let FrontEndBusy { dram, link_in, link_out, link_both, processor } = busy.since(&before);
        let most = (now - then).0;
        let parts = [dram, link_in, link_out, link_both].iter().all(|part| part.0 <= most);
        assert!(
            parts && processor.0 <= most * u64::from(cores),
            "of the front end, more was busy from {then} to {now} than there was time: {before:?}, {busy:?}"
        );
    }

    /// A page was trimmed.
    pub(crate) fn trimmed(&mut self, page: Lpn) {
        self.trimmed.insert(page);
        self.tags.remove(&page);
    }

    /// Data of a page came in, with a tag for streams.
    pub(crate) fn written(&mut self, page: Lpn, tag: u8) {
        self.trimmed.remove(&page);
        self.tags.insert(page, tag);
    }

    /// Data of a page never gets to flash: what was there before stays.
    pub(crate) fn given_up(&mut self, page: Lpn) {
        self.tags.remove(&page);
    }

    /// The pages that were written, with their tags.
    pub(crate) fn tagged(&self) -> impl Iterator<Item = (Lpn, u8)> {
        self.tags.iter().map(|(&page, &tag)| (page, tag))
    }

    /// The pages that must not be mapped.
    pub(crate) fn gone(&self) -> impl Iterator<Item = Lpn> {
        self.trimmed.iter().copied()
    }

    /// An image was loaded. Its clock and its counts of failed programs and erases continue.
    pub(crate) fn loaded(&mut self, now: SimTime, failures: u32, erases: u64) {
        self.now = now;
        self.erases_before = erases;
        self.failures_before = failures;
    }
}
