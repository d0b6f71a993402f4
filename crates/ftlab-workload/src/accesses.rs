//! How reads and writes of a load share pages (its access characteristics, as defined by the paper
//! on AGCR), and how well a short history predicts it.
//!
//! An access is a read or a write of a page of 4 KiB, or of a part of it: a request that touches
//! three pages is three accesses. Trims and flushes do not count.

use std::collections::HashMap;

use ftlab::host::Op;
use serde::Serialize;

/// Sectors in a page of 4 KiB.
const SECTORS_PER_PAGE: u64 = 8;
/// A page is only read (only written) if more than this share of its accesses, in per cent, are
/// reads (writes).
const NEARLY_ALL_PERCENT: u64 = 95;
/// The lengths of the windows, in accesses, including the current one.
const WINDOWS: [u8; 3] = [2, 3, 4];
/// The longest window; earlier accesses do not matter.
const LONGEST: u8 = 4;

/// Counts the accesses of a load. Takes about 100 bytes per touched page.
#[derive(Clone, Debug, Default)]
pub struct Accesses {
    // Only looked up, never iterated, so the order of the hash table has no effect.
    places: HashMap<(u32, u64), u32>,
    pages: Vec<PageAccesses>,
    /// Reads of pages that had not been written before.
    never_written: u64,
}

/// The kind of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PageUse {
    Read,
    Write,
}

/// The class of a page, actual or predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Only(PageUse),
    Interleaved,
}

/// Counts of reads and writes.
#[derive(Clone, Copy, Debug, Default)]
struct Pair {
    reads: u64,
    writes: u64,
}

impl Pair {
    fn add(&mut self, kind: PageUse) {
        *self.of(kind) += 1;
    }

    fn of(&mut self, kind: PageUse) -> &mut u64 {
        match kind {
            PageUse::Read => &mut self.reads,
            PageUse::Write => &mut self.writes,
        }
    }

    fn sum(self) -> u64 {
        self.reads + self.writes
    }
}

/// The accesses of one page.
#[derive(Clone, Debug)]
struct PageAccesses {
    all: Pair,
    first: PageUse,
    last: PageUse,
    /// The length of the current run of accesses of one kind, at most [`LONGEST`].
    run: u8,
    /// The number of accesses, at most [`LONGEST`].
    seen: u8,
    /// By window: later accesses for which it predicted only read and only written.
    named: [Pair; WINDOWS.len()],
}

impl PageAccesses {
    fn new(first: PageUse) -> PageAccesses {
        let mut all = Pair::default();
        all.add(first);
        PageAccesses { all, first, last: first, run: 1, seen: 1, named: Default::default() }
    }

    fn add(&mut self, kind: PageUse) {
        self.all.add(kind);
        self.run = if self.last == kind { (self.run + 1).min(LONGEST) } else { 1 };
        self.seen = (self.seen + 1).min(LONGEST);
        self.last = kind;
        for (window, named) in WINDOWS.iter().zip(&mut self.named) {
            if self.run >= self.seen.min(*window) {
                named.add(kind);
            }
        }
    }

    fn class(&self) -> Class {
        let all = self.all.sum();
        let nearly_all = |part: u64| part * 100 > all * NEARLY_ALL_PERCENT;
        if nearly_all(self.all.reads) {
            Class::Only(PageUse::Read)
        } else if nearly_all(self.all.writes) {
            Class::Only(PageUse::Write)
        } else {
            Class::Interleaved
        }
    }

    /// Returns for how many later accesses a window predicted the page's class correctly.
    fn right(&self, mut named: Pair) -> u64 {
        match self.class() {
            Class::Only(kind) => *named.of(kind),
            Class::Interleaved => self.all.sum() - 1 - named.sum(),
        }
    }
}

impl Accesses {
    /// Counts a request for the sectors from `lba` to `end`. Requests must be in order. Equal pages
    /// of different streams are different pages.
    pub fn add(&mut self, op: Op, stream: u32, lba: u64, end: u64) {
        let kind = match op {
            Op::Read => PageUse::Read,
            Op::Write | Op::Append => PageUse::Write,
            _ => return,
        };
        for page in lba / SECTORS_PER_PAGE..end.div_ceil(SECTORS_PER_PAGE) {
            self.touch((stream, page), kind);
        }
    }

    fn touch(&mut self, page: (u32, u64), kind: PageUse) {
        let next = u32::try_from(self.pages.len()).expect("fewer pages than fit in memory");
        let place = *self.places.entry(page).or_insert(next);
        let known = self.pages.get_mut(place as usize);
        let written = known.as_ref().is_some_and(|page| page.all.writes > 0);
        self.never_written += u64::from(kind == PageUse::Read && !written);
        match known {
            Some(page) => page.add(kind),
            None => self.pages.push(PageAccesses::new(kind)),
        }
    }

    /// Returns the counts so far.
    #[must_use]
    pub fn report(&self) -> AccessReport {
        let (mut pages, mut reads, mut writes) = <(ByClass, ByClass, ByClass)>::default();
        let (mut first, mut right) = (0, [0; WINDOWS.len()]);
        for page in &self.pages {
            let class = page.class();
            pages.add(class, 1);
            reads.add(class, page.all.reads);
            writes.add(class, page.all.writes);
            first += u64::from(class == Class::Only(page.first));
            for (right, named) in right.iter_mut().zip(&page.named) {
                *right += page.right(*named);
            }
        }
        let first_accesses = self.pages.len() as u64;
        let later = reads.sum() + writes.sum() - first_accesses;
        let windows = WINDOWS.iter().zip(right).map(|(window, right)| WindowReport {
            window_accesses: u32::from(*window),
            right,
            right_ratio: ratio(right, later),
        });
        AccessReport {
            only_read_reads_ratio: ratio(reads.only_read, reads.sum()),
            only_written_writes_ratio: ratio(writes.only_written, writes.sum()),
            never_written_reads: self.never_written,
            never_written_reads_ratio: ratio(self.never_written, reads.sum()),
            pages,
            reads,
            writes,
            identification: IdentificationReport {
                first_accesses,
                first_right: first,
                later_accesses: later,
                windows: windows.collect(),
            },
        }
    }
}

fn ratio(part: u64, of: u64) -> Option<f64> {
    (of > 0).then(|| part as f64 / of as f64)
}

/// How reads and writes of a load share pages of 4 KiB. A page is only read (only written) if more
/// than 95 % of its accesses over the whole load are reads (writes), and otherwise interleaved.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AccessReport {
    /// Touched pages, by class.
    pub pages: ByClass,
    /// Reads, by the class of the page.
    pub reads: ByClass,
    /// Writes of pages or parts of them, by the class of the page.
    pub writes: ByClass,
    /// The share of reads that are on pages only read.
    pub only_read_reads_ratio: Option<f64>,
    /// The share of writes that are on pages only written.
    pub only_written_writes_ratio: Option<f64>,
    /// Reads of pages that this load had not written before; they return older data.
    pub never_written_reads: u64,
    /// Their share of all reads.
    pub never_written_reads_ratio: Option<f64>,
    /// How well a short history predicts the class of a page.
    pub identification: IdentificationReport,
}

/// Counts by the class of the page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ByClass {
    /// On pages with more than 95 % reads among their accesses.
    pub only_read: u64,
    /// On pages with more than 95 % writes.
    pub only_written: u64,
    /// On all other pages.
    pub interleaved: u64,
}

impl ByClass {
    fn add(&mut self, class: Class, count: u64) {
        *match class {
            Class::Only(PageUse::Read) => &mut self.only_read,
            Class::Only(PageUse::Write) => &mut self.only_written,
            Class::Interleaved => &mut self.interleaved,
        } += count;
    }

    /// Returns the sum of all classes.
    #[must_use]
    pub fn sum(&self) -> u64 {
        self.only_read + self.only_written + self.interleaved
    }
}

/// How well the last accesses of a page, including the current one, predict the page's class over
/// the whole load. If all of them are reads (writes) they predict only read (only written),
/// otherwise interleaved.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct IdentificationReport {
    /// First accesses of a page, which have no history. The other counts do not include them.
    pub first_accesses: u64,
    /// First accesses that alone predict the class correctly.
    pub first_right: u64,
    /// All other accesses.
    pub later_accesses: u64,
    /// The results by window length.
    pub windows: Vec<WindowReport>,
}

/// The predictions of one window length. If a page has had fewer accesses, those decide.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WindowReport {
    /// The length, including the current access.
    pub window_accesses: u32,
    /// Later accesses whose prediction was correct.
    pub right: u64,
    /// Their share of all later accesses.
    pub right_ratio: Option<f64>,
}

#[cfg(test)]
mod tests;
