//! The naive device: for each sector, every write and trim that a read may still see. No pages, no
//! flash, no buffer, no translation.
//!
//! Commands in flight together have no order, so a sector is a *regular register* (Lamport, "On
//! Interprocess Communication", 1986): a read may return the value of any write that was under way
//! while the read was, or of any write that was done before, unless a third one began after that
//! write was done and was itself done before the read began.
//!
//! After a power cut a sector may hold what it held at any moment since the last change that was
//! *safe*: a change of which the device has promised that it survives, by a flush that began after it
//! was done or by itself. What is found then is what the sector holds from that moment on.

use std::ops::Range;

use crate::versions::{FoundVersions, Version};

/// A write or trim of a sector, by the order of submissions and completions.
#[derive(Clone, Copy, Debug)]
struct Change {
    version: Version,
    begun: u64,
    done: Option<u64>,
    /// Whether it survives a power cut, though no flush came after it.
    safe: bool,
}

/// Sectors with their histories.
#[derive(Clone, Debug)]
pub struct Reference {
    /// Counts submissions and completions.
    clock: u64,
    sectors: Vec<Vec<Change>>,
    /// Where power may be cut at any moment: what was done before this was flushed.
    flushed: Option<u64>,
}

/// Whether a change is done, and no power cut undoes it.
fn survives(change: &Change, flushed: u64) -> bool {
    change.done.is_some_and(|done| change.safe || done < flushed)
}

fn before(earlier: &Change, later: &Change) -> bool {
    earlier.done.is_some_and(|done| done < later.begun)
}

impl Reference {
    /// Sectors never written.
    pub fn new(sectors: u64) -> Reference {
        let never = Change { version: 0, begun: 0, done: Some(0), safe: true };
        Reference { clock: 0, sectors: vec![vec![never]; sectors as usize], flushed: None }
    }

    /// Power may be cut at any moment from now on.
    pub fn expect_cuts(&mut self) {
        self.flushed = Some(self.clock);
    }

    /// When the last flush that is done began, or cuts came to be expected; none if they are not.
    pub fn flushed(&self) -> Option<u64> {
        self.flushed
    }

    /// A flush that began at `begun` is done.
    pub fn flush(&mut self, begun: u64) {
        self.flushed = self.flushed.map(|before| before.max(begun));
    }

    /// The next moment.
    pub fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    /// Something that changes `range` is submitted.
    pub fn begin(&mut self, range: Range<u64>, version: Version) -> u64 {
        let begun = self.tick();
        for sector in &mut self.sectors[range.start as usize..range.end as usize] {
            sector.push(Change { version, begun, done: None, safe: false });
        }
        begun
    }

    /// What began at `begun` is done. Nothing that is under way began before `oldest`.
    pub fn end(&mut self, range: Range<u64>, begun: u64, oldest: u64) {
        self.close(range, begun, oldest, false);
    }

    /// The same, and it survives a power cut from now on.
    pub fn end_safely(&mut self, range: Range<u64>, begun: u64, oldest: u64) {
        self.close(range, begun, oldest, true);
    }

    fn close(&mut self, range: Range<u64>, begun: u64, oldest: u64, safe: bool) {
        let now = self.tick();
        let flushed = self.flushed;
        // What a read, or a power cut, may still find stays.
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

    /// Whether a read of these sectors that began at `begun` and ends now may return what it found.
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
        let history = &self.sectors[sector as usize];
        let hidden = |change: &Change| {
            history.iter().any(|next| before(change, next) && next.done.is_some_and(|d| d < begun))
        };
        if history.iter().any(|change| change.version == version && !hidden(change)) {
            return Ok(());
        }
        Err(format!("sector {sector}, read from {begun} on, returned {version} of {history:?}"))
    }

    /// Whether power may have been cut now so that `sector` holds `version`, and nothing that was done
    /// before `all_before` is lost.
    ///
    /// # Errors
    /// It holds something that was never written there, or something older than it promised to keep.
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

    /// When the write began that left this version; for what was found after a power cut, when that was.
    pub fn begin_of(&self, sector: u64, version: Version) -> Option<u64> {
        let mut history = self.sectors[sector as usize].iter();
        history.find(|change| change.version == version && version != 0).map(|change| change.begun)
    }

    /// Whether a write of `sector` was done before `all_before` that is newer than `version`, though nothing
    /// was deallocated there meanwhile.
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

    /// After a power cut `sector` holds `version`: from now on that is what was last written.
    pub fn settle(&mut self, sector: u64, version: Version) {
        let now = self.tick();
        let truth = Change { version, begun: now, done: Some(now), safe: true };
        self.sectors[sector as usize] = vec![truth];
    }

    /// After a power cut nobody can tell what `sector` holds: any of what it may hold, from now on.
    pub fn leave_open(&mut self, sector: u64) {
        let now = self.tick();
        for change in &mut self.sectors[sector as usize] {
            *change = Change { version: change.version, begun: now, done: Some(now), safe: true };
        }
    }
}

/// A history in words, for who looks for the cause of a finding.
fn told(history: &[Change]) -> String {
    let one = |change: &Change| {
        let Change { version, begun, done, safe } = *change;
        let what = if version == 0 { "nothing".to_owned() } else { format!("{version}") };
        let done = done.map_or("not done".to_owned(), |done| format!("done at {done}"));
        format!("{what} (begun at {begun}, {done}{})", if safe { ", safe" } else { "" })
    };
    history.iter().map(one).collect::<Vec<_>>().join(", ")
}
