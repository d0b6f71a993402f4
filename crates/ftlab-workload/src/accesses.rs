//! How reads and writes share pages: the access characteristics of a load, as the paper on AGCR defines
//! them, and how well a short history names them.
//!
//! An access is a read or a write of a page of 4 KiB, or of a part of it: a request that touches three
//! pages is three accesses. Trims and flushes are none.

use std::collections::HashMap;

use ftlab::host::Op;
use serde::Serialize;

/// Sectors in a page of 4 KiB.
const SECTORS_PER_PAGE: u64 = 8;
/// More than this share of a page's accesses, in per cent, makes it a page of reads (of writes) only.
const NEARLY_ALL_PERCENT: u64 = 95;
/// The windows that are tried: so many accesses, the coming one included.
const WINDOWS: [u8; 3] = [2, 3, 4];
/// The longest of them: what lies further back is of no interest.
const LONGEST: u8 = 4;

/// Counts the accesses of a load. It takes some 100 bytes for each page that is touched.
#[derive(Clone, Debug, Default)]
pub struct Accesses {
    // Only looked up, never walked: the order of the hash is never seen.
    places: HashMap<(u32, u64), u32>,
    pages: Vec<PageAccesses>,
    /// Reads of pages that were not written before.
    never_written: u64,
}

/// What a page was used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PageUse {
    Read,
    Write,
}

/// What a page is, or is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Only(PageUse),
    Interleaved,
}

/// Reads and writes.
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
    /// How many accesses were of one kind, up to the last; counted up to [`LONGEST`].
    run: u8,
    /// How many accesses there were; counted up to [`LONGEST`].
    seen: u8,
    /// By window, accesses after the first for which it named reads only and writes only.
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

    /// For how many accesses after the first a window named what the page is.
    fn right(&self, mut named: Pair) -> u64 {
        match self.class() {
            Class::Only(kind) => *named.of(kind),
            Class::Interleaved => self.all.sum() - 1 - named.sum(),
        }
    }
}

impl Accesses {
    /// Counts a request for the sectors from `lba` to `end`, in its order. Of different streams pages of
    /// one number are different pages.
    pub fn add(&mut self, op: Op, stream: u32, lba: u64, end: u64) {
        let kind = match op {
            Op::Read => PageUse::Read,
            Op::Write => PageUse::Write,
            Op::Trim | Op::Flush => return,
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

    /// What they came to.
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

/// How reads and writes of a load share pages of 4 KiB. A page is only read (only written) if more than
/// 95 % of its accesses over the whole load are reads (writes), else interleaved.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AccessReport {
    /// Pages that were touched, by what they are.
    pub pages: ByClass,
    /// Reads of pages, by what the page is.
    pub reads: ByClass,
    /// Writes of pages, or of parts of them, by what the page is.
    pub writes: ByClass,
    /// The share of reads that are of pages only read.
    pub only_read_reads_ratio: Option<f64>,
    /// The share of writes that are of pages only written.
    pub only_written_writes_ratio: Option<f64>,
    /// Reads of pages that this load had not written before: they find what was there before it.
    pub never_written_reads: u64,
    /// Their share of all reads.
    pub never_written_reads_ratio: Option<f64>,
    /// How well a short history names what a page is.
    pub identification: IdentificationReport,
}

/// Something counted by what the page is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ByClass {
    /// On pages of which more than 95 % of the accesses are reads.
    pub only_read: u64,
    /// On pages of which more than 95 % are writes.
    pub only_written: u64,
    /// On all others.
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

    /// Of all classes together.
    #[must_use]
    pub fn sum(&self) -> u64 {
        self.only_read + self.only_written + self.interleaved
    }
}

/// How well the last accesses of a page, the coming one among them, name what the page is over the whole
/// load. If all of them are reads (writes) they name it only read (only written), else interleaved. An
/// access is identified rightly if the name is what the page is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct IdentificationReport {
    /// Accesses that were the first of their page, and have no history. They are not among the others.
    pub first_accesses: u64,
    /// Those of them that were identified rightly: by the coming access alone.
    pub first_right: u64,
    /// All other accesses.
    pub later_accesses: u64,
    /// How many of those were identified rightly, by the length of the window.
    pub windows: Vec<WindowReport>,
}

/// What a window of one length identifies. Before as many accesses have come, those that have decide.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WindowReport {
    /// Its length, the coming access included.
    pub window_accesses: u32,
    /// Accesses after the first of their page that were identified rightly.
    pub right: u64,
    /// Their share of accesses after the first of their page.
    pub right_ratio: Option<f64>,
}

#[cfg(test)]
mod tests;
