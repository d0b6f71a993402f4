//! The naive device: for each sector, every write and trim that a read may still see. No pages, no
//! flash, no buffer, no translation.
//!
//! Commands in flight together have no order, so a sector is a *regular register* (Lamport, "On
//! Interprocess Communication", 1986): a read may return the value of any write in progress during
//! the read, or of any write that was done before, unless a third write began after that one was
//! done and was itself done before the read began.
//!
//! After a power cut a sector may contain what it contained at any time since the last *safe*
//! change: a change that the device has promised to keep, either because a flush began after it was
//! done or by itself. Whatever is found then is the content of the sector from that time on.

use std::ops::Range;

use crate::versions::{FoundVersions, Version};

/// A write or trim of a sector, with the order of submissions and completions.
#[derive(Clone, Copy, Debug)]
struct Change {
    version: Version,
    begun: u64,
    done: Option<u64>,
    /// Whether it survives a power cut even without a later flush.
    safe: bool,
}

/// Sectors with their histories.
#[derive(Clone, Debug)]
pub struct Reference {
    /// Counts submissions and completions.
    clock: u64,
    sectors: Vec<Vec<Change>>,
    /// If power may be cut: everything done before this time was flushed.
    flushed: Option<u64>,
}

/// Whether a change is done and no power cut undoes it.
fn survives(change: &Change, flushed: u64) -> bool {
    change.done.is_some_and(|done| change.safe || done < flushed)
}

fn before(earlier: &Change, later: &Change) -> bool {
    earlier.done.is_some_and(|done| done < later.begun)
}

impl Reference {
    /// Creates sectors that were never written.
    pub fn new(sectors: u64) -> Reference {
        let never = Change { version: 0, begun: 0, done: Some(0), safe: true };
        Reference { clock: 0, sectors: vec![vec![never]; sectors as usize], flushed: None }
    }

    /// From now on power may be cut at any time.
    pub fn expect_cuts(&mut self) {
        self.flushed = Some(self.clock);
    }

    /// Returns when the last completed flush, or the expectation of cuts, began; `None` if no cuts
    /// are expected.
    pub fn flushed(&self) -> Option<u64> {
        self.flushed
    }

    /// Completes a flush that began at `begun`.
    pub fn flush(&mut self, begun: u64) {
        self.flushed = self.flushed.map(|before| before.max(begun));
    }

    /// Advances the clock.
    pub fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    /// Submits a change of `range`.
    pub fn begin(&mut self, range: Range<u64>, version: Version) -> u64 {
        let begun = self.tick();
        for sector in &mut self.sectors[range.start as usize..range.end as usize] {
            sector.push(Change { version, begun, done: None, safe: false });
        }
        begun
    }

    /// Completes the change that began at `begun`. Nothing in progress began before `oldest`.
    pub fn end(&mut self, range: Range<u64>, begun: u64, oldest: u64) {
        self.close(range, begun, oldest, false);
    }

    /// Completes a change that survives a power cut from now on.
    pub fn end_safely(&mut self, range: Range<u64>, begun: u64, oldest: u64) {
        self.close(range, begun, oldest, true);
    }

    fn close(&mut self, range: Range<u64>, begun: u64, oldest: u64, safe: bool) {
        let now = self.tick();
        let flushed = self.flushed;
        // Keep what a read or a power cut may still find.
        let hides = |change: &Change, next: &Change| {
            before(change, next)
                && next.done.is_some_and(|done| done < oldest)
                && flushed.is_none_or(|flushed| survives(next, flushed))
        };
        for sector in &mut self.sectors[range.start as usize..range.end as usize] {
            let change = sector.iter_mut().find(|change| change.begun == begun);
            let change = change.expect("what ends was begun");
            (change.done, change.safe) = (Some(now), safe);
            for at in (0..sector.len()).rev() {
                let change = sector[at];
                if sector.iter().any(|next| hides(&change, next)) {
                    sector.remove(at);
                }
            }
        }
    }

    /// Whether a read of these sectors that began at `begun` and ends now may return `found`.
    pub fn check_read(
        &self,
        range: &Range<u64>,
        found: &FoundVersions,
        begun: u64,
    ) -> Result<(), String> {
        let mut versions = vec![None; (range.end - range.start) as usize];
        for &(sector, version) in found {
            assert!(range.contains(&sector), "a read returns a sector that it did not ask for");
            let place = &mut versions[(sector - range.start) as usize];
            assert_eq!(place.replace(version), None, "a read returns a sector twice");
        }
        for (sector, version) in range.clone().zip(versions) {
            self.check(sector, version.unwrap_or(0), begun)?;
        }
        Ok(())
    }

    /// Whether a read of `sector` that began at `begun` and ends now may return `version`.
    pub fn check(&self, sector: u64, version: Version, begun: u64) -> Result<(), String> {
        let history = self.sectors[sector as usize].as_slice();
        // Nothing hides the only change; most sectors have no other.
        if let [only] = history
            && only.version == version
        {
            return Ok(());
        }
        let hidden = |change: &Change| {
            history.iter().any(|next| before(change, next) && next.done.is_some_and(|d| d < begun))
        };
        if history.iter().any(|change| change.version == version && !hidden(change)) {
            return Ok(());
        }
        Err(format!("sector {sector}, read from {begun} on, returned {version} of {history:?}"))
    }

    /// Whether a power cut now may leave `version` in `sector`, with everything done before
    /// `all_before` kept.
    ///
    /// # Errors
    /// The version was never written there, or is older than promised.
    pub fn check_remains(
        &self,
        sector: u64,
        version: Version,
        all_before: u64,
    ) -> Result<(), String> {
        let history = &self.sectors[sector as usize];
        let hidden = |change: &Change| {
            history.iter().any(|next| before(change, next) && survives(next, all_before))
        };
        if history.iter().any(|change| change.version == version && !hidden(change)) {
            return Ok(());
        }
        let oldest = history.iter().map(|change| change.version).min().unwrap_or_default();
        let what = if version <= oldest { "older than promised" } else { "not what was written" };
        Err(format!("sector {sector} holds {version}, which is {what}: {}", told(history)))
    }

    /// Returns when the write of this version began; for versions found after a power cut, when that was.
    pub fn begin_of(&self, sector: u64, version: Version) -> Option<u64> {
        let mut history = self.sectors[sector as usize].iter();
        history.find(|change| change.version == version && version != 0).map(|change| change.begun)
    }

    /// Whether a write of `sector` newer than `version` was done before `all_before`, with no trim
    /// in between.
    pub fn misses(&self, sector: u64, version: Version, all_before: u64) -> bool {
        let history = &self.sectors[sector as usize];
        let Some(held) = history.iter().find(|change| change.version == version) else {
            return false;
        };
        let newer = |next: &&Change| before(held, next);
        let trimmed = history.iter().any(|next| next.version == 0 && next.begun > held.begun);
        let done = |next: &Change| next.done.is_some_and(|done| done < all_before);
        !trimmed && history.iter().filter(newer).any(done)
    }

    /// Sets the content of `sector` after a power cut.
    pub fn settle(&mut self, sector: u64, version: Version) {
        let now = self.tick();
        let truth = Change { version, begun: now, done: Some(now), safe: true };
        self.sectors[sector as usize] = vec![truth];
    }

    /// Leaves the content of `sector` after a power cut open: any of the possible versions, from now on.
    pub fn leave_open(&mut self, sector: u64) {
        let now = self.tick();
        for change in &mut self.sectors[sector as usize] {
            *change = Change { version: change.version, begun: now, done: Some(now), safe: true };
        }
    }
}

/// Describes a history, for the analysis of a finding.
fn told(history: &[Change]) -> String {
    let one = |change: &Change| {
        let Change { version, begun, done, safe } = *change;
        let what = if version == 0 { "nothing".to_owned() } else { format!("{version}") };
        let done = done.map_or("not done".to_owned(), |done| format!("done at {done}"));
        format!("{what} (begun at {begun}, {done}{})", if safe { ", safe" } else { "" })
    };
    history.iter().map(one).collect::<Vec<_>>().join(", ")
}
