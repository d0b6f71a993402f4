//! Determines which requests wait for which when a source is played as fast as its dependencies
//! allow.
//!
//! Live requests (submitted or waiting) are compared range by range only if a filter says that one
//! of them may touch the same 64 KiB. The filter is a table of counts, indexed by a hash of the
//! address.

use ftlab::host::{Op, Request};

/// The sectors of a granule of the filter.
const GRANULE_SECTORS: u64 = 128;
/// A request with more granules does not enter the filter; while one is live, all requests are
/// compared.
const MAX_GRANULES: u64 = 32;
/// The cells of the filter per live request: with one or two granules per request, at most one in
/// thirty requests is compared in vain.
const CELLS_PER_REQUEST: usize = 64;

/// The live requests, by tag.
#[derive(Debug)]
pub(super) struct Window {
    entries: Vec<WindowEntry>,
    /// By tag: the requests that wait for it. The lists keep their memory.
    dependents: Vec<Vec<u32>>,
    /// All live requests, and those that write or trim.
    any: Filter,
    changing: Filter,
    live: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct WindowEntry {
    live: bool,
    flush: bool,
    changes: bool,
    start: u64,
    end: u64,
    waits_for: u32,
}

#[derive(Debug)]
struct Filter {
    cells: Vec<u32>,
    shift: u32,
    wide: u32,
}

impl Window {
    pub fn new(depth: u32) -> Window {
        Window {
            entries: Vec::new(),
            dependents: Vec::new(),
            any: Filter::new(depth),
            changing: Filter::new(depth),
            live: 0,
        }
    }

    pub fn live(&self) -> u32 {
        self.live
    }

    /// Adds a request. Returns `true` if it waits for none.
    pub fn enter(&mut self, tag: u32, request: &Request) -> bool {
        let at = tag as usize;
        if self.entries.len() <= at {
            self.entries.resize(at + 1, WindowEntry::default());
            self.dependents.resize(at + 1, Vec::new());
        }
        let mut entry = WindowEntry {
            live: true,
            flush: request.op == Op::Flush,
            changes: matches!(request.op, Op::Write | Op::Trim),
            start: request.lba.0,
            end: request.lba.0 + u64::from(request.sectors),
            waits_for: 0,
        };
        let filter = if entry.changes { &self.any } else { &self.changing };
        if self.live > 0 && (entry.flush || filter.may_meet(&entry)) {
            for (other, dependents) in self.entries.iter().zip(&mut self.dependents) {
                if entry.waits_on(other) {
                    dependents.push(tag);
                    entry.waits_for += 1;
                }
            }
        }
        self.entries[at] = entry;
        self.count(&entry, u32::wrapping_add);
        self.live += 1;
        entry.waits_for == 0
    }

    /// Removes a completed request; those that waited only for it are added to `ready`.
    pub fn leave(&mut self, tag: u32, ready: &mut Vec<u32>) {
        let at = tag as usize;
        let entry = std::mem::take(&mut self.entries[at]);
        self.count(&entry, u32::wrapping_sub);
        self.live -= 1;
        for &dependent in &self.dependents[at] {
            let waiting = &mut self.entries[dependent as usize];
            waiting.waits_for -= 1;
            if waiting.waits_for == 0 {
                ready.push(dependent);
            }
        }
        self.dependents[at].clear();
    }

    fn count(&mut self, entry: &WindowEntry, change: fn(u32, u32) -> u32) {
        if entry.flush {
            return;
        }
        self.any.count(entry, change);
        if entry.changes {
            self.changing.count(entry, change);
        }
    }
}

impl WindowEntry {
    /// Whether this request must wait for the earlier one. Only a flush waits for a flush, because
    /// its range is empty.
    fn waits_on(&self, earlier: &WindowEntry) -> bool {
        let overlap = self.start < earlier.end && earlier.start < self.end;
        let conflict = overlap && (self.changes || earlier.changes);
        earlier.live && (self.flush || conflict)
    }

    fn granules(&self) -> std::ops::Range<u64> {
        self.start / GRANULE_SECTORS..self.end.div_ceil(GRANULE_SECTORS)
    }

    fn is_wide(&self) -> bool {
        let granules = self.granules();
        granules.end - granules.start > MAX_GRANULES
    }
}

impl Filter {
    fn new(depth: u32) -> Filter {
        let cells = (depth as usize * CELLS_PER_REQUEST).next_power_of_two().max(2);
        Filter { cells: vec![0; cells], shift: 64 - cells.trailing_zeros(), wide: 0 }
    }

    fn cell(&self, granule: u64) -> usize {
        (granule.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize
    }

    fn may_meet(&self, entry: &WindowEntry) -> bool {
        self.wide > 0
            || entry.is_wide()
            || entry.granules().any(|granule| self.cells[self.cell(granule)] > 0)
    }

    fn count(&mut self, entry: &WindowEntry, change: fn(u32, u32) -> u32) {
        if entry.is_wide() {
            self.wide = change(self.wide, 1);
            return;
        }
        for granule in entry.granules() {
            let cell = self.cell(granule);
            self.cells[cell] = change(self.cells[cell], 1);
        }
    }
}
