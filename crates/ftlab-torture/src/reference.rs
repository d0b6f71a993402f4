//! The naive device: for each sector, every write and trim that a read may still see. No pages, no
//! flash, no buffer, no translation.
//!
//! Commands in flight together have no order, so a sector is a *regular register* (Lamport, "On
//! Interprocess Communication", 1986): a read may return the value of any write that was under way
//! while the read was, or of any write that was done before, unless a third one began after that
//! write was done and was itself done before the read began.

use std::ops::Range;

use crate::versions::{Found, Version};

/// A write or trim of a sector, by the order of submissions and completions.
#[derive(Clone, Copy, Debug)]
struct Change {
    version: Version,
    begun: u64,
    done: Option<u64>,
}

/// Sectors with their histories.
#[derive(Clone, Debug)]
pub struct Reference {
    /// Counts submissions and completions.
    clock: u64,
    sectors: Vec<Vec<Change>>,
}

fn before(earlier: &Change, later: &Change) -> bool {
    earlier.done.is_some_and(|done| done < later.begun)
}

impl Reference {
    /// Sectors never written.
    pub fn new(sectors: u64) -> Reference {
        let never = Change { version: 0, begun: 0, done: Some(0) };
        Reference { clock: 0, sectors: vec![vec![never]; sectors as usize] }
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
            sector.push(Change { version, begun, done: None });
        }
        begun
    }

    /// What began at `begun` is done. Nothing that is under way began before `oldest`.
    pub fn end(&mut self, range: Range<u64>, begun: u64, oldest: u64) {
        let now = self.tick();
        for sector in &mut self.sectors[range.start as usize..range.end as usize] {
            let change = sector.iter_mut().find(|change| change.begun == begun);
            change.expect("what ends was begun").done = Some(now);
            let all = sector.clone();
            let hidden = |change: &Change| {
                all.iter().any(|next| before(change, next) && next.done.is_some_and(|d| d < oldest))
            };
            sector.retain(|change| !hidden(change));
        }
    }

    /// Whether a read of these sectors that began at `begun` and ends now may return what it found.
    pub fn check_read(&self, range: &Range<u64>, found: &Found, begun: u64) -> Result<(), String> {
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
}
