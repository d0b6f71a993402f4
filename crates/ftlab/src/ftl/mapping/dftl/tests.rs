//! Compares the map with a naive one: a list of entries by use, a set of stale translation pages,
//! and a copy of the entries on flash.

use std::collections::BTreeSet;

use super::*;
use crate::shape::Shape;
use proptest::prelude::*;

/// Three translation pages of 128 entries each; two planes.
const PAGES: u32 = 300;
const PER_PAGE: u32 = 128;

fn geometry() -> Geometry {
    Geometry::new(Shape {
        channels: 2,
        chips_per_channel: 1,
        dies_per_chip: 1,
        planes_per_die: 1,
        blocks_per_plane: 16,
        pages_per_block: 32,
        page_size: Bytes(512),
        mapping_unit: Bytes(512),
    })
}

/// An event of a map.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// A look-up by a host read. The flag is whether the entry, if it has space in memory, is still
    /// being fetched.
    Read(u32, bool),
    WriteBack(u32, bool),
    /// A page was programmed at a new place.
    Commit(u32),
    /// Garbage collection on a plane copied a page to a new place.
    Copy(u32, u32),
    /// The collection on a plane has nothing left to copy.
    Collected(u32),
    Trim(u32),
    /// The due translation pages are updated.
    Update,
}

fn step() -> impl Strategy<Value = Step> {
    // Most events affect few pages.
    let page = || prop_oneof![0..PAGES, 0..12u32, 120..136u32];
    prop_oneof![
        6 => (page(), any::<bool>()).prop_map(|(page, fetched)| Step::Read(page, fetched)),
        4 => (page(), any::<bool>()).prop_map(|(page, fetched)| Step::WriteBack(page, fetched)),
        4 => page().prop_map(Step::Commit),
        3 => (0..2u32, page()).prop_map(|(plane, page)| Step::Copy(plane, page)),
        1 => (0..2u32).prop_map(Step::Collected),
        1 => page().prop_map(Step::Trim),
        2 => Just(Step::Update),
    ]
}

struct Naive {
    capacity: usize,
    /// How many of them the controller holds.
    own: usize,
    /// The entries, the least recently used first, and whether they differ from flash.
    entries: Vec<(u32, bool)>,
    map: Vec<Option<u32>>,
    flash: Vec<Option<u32>>,
    stale: BTreeSet<u32>,
    touched: [BTreeSet<u32>; 2],
    due: BTreeSet<u32>,
    /// By translation page: entries that were cleaned while they lay with the host, and that no update has read.
    owed: [u64; 3],
    counts: DemandCounts,
}

impl Naive {
    fn new(own: usize, with_host: usize) -> Naive {
        Naive {
            capacity: (own + with_host).min(PAGES as usize),
            own,
            entries: Vec::new(),
            map: vec![None; PAGES as usize],
            flash: vec![None; PAGES as usize],
            stale: BTreeSet::new(),
            touched: Default::default(),
            due: BTreeSet::new(),
            owed: [0; 3],
            counts: DemandCounts::default(),
        }
    }

    fn entry(&mut self, page: u32) -> Option<&mut (u32, bool)> {
        self.entries.iter_mut().find(|entry| entry.0 == page)
    }

    /// Writes all entries of a translation page.
    fn update(&mut self, of: u32) {
        let all = of * PER_PAGE..((of + 1) * PER_PAGE).min(PAGES);
        all.for_each(|page| self.flash[page as usize] = self.map[page as usize]);
        self.clean(of);
        self.counts.updates_from_host += std::mem::take(&mut self.owed[of as usize]);
        self.stale.remove(&of);
    }

    fn clean(&mut self, of: u32) {
        for at in 0..self.entries.len() {
            let (page, dirty) = self.entries[at];
            if dirty && page / PER_PAGE == of {
                self.entries[at].1 = false;
                self.counts.batched += 1;
                self.owed[of as usize] += u64::from(self.is_with_host(at));
            }
        }
    }

    /// Inserts an entry. Returns the translation page that has to be written for it.
    fn take_in(&mut self, page: u32) -> Option<u32> {
        let with_host = self.is_with_host(0);
        let is_full = self.entries.len() == self.capacity;
        let evicted = is_full.then(|| self.entries.remove(0));
        self.entries.push((page, false));
        self.counts.evicted += u64::from(is_full);
        let (gone, _) = evicted.filter(|&(_, dirty)| dirty)?;
        let of = gone / PER_PAGE;
        self.counts.write_backs += 1;
        self.owed[of as usize] += u64::from(with_host);
        self.clean(of);
        self.stale.insert(of);
        Some(of)
    }

    /// Looks an entry up, and updates the translation page of an evicted dirty entry.
    fn find(&mut self, page: u32) -> bool {
        match self.entries.iter().position(|entry| entry.0 == page) {
            Some(at) => {
                let entry = self.entries.remove(at);
                self.entries.push(entry);
                true
            }
            None => {
                if let Some(of) = self.take_in(page) {
                    self.update(of);
                }
                false
            }
        }
    }

    /// Changes the place of a page. Returns true if the entry is not in memory.
    fn moves(&mut self, page: u32, to: Option<u32>) -> bool {
        self.map[page as usize] = to;
        match self.entry(page) {
            Some(entry) => {
                entry.1 = true;
                false
            }
            None => true,
        }
    }

    /// Whether the host holds the entry at a place.
    fn is_with_host(&self, at: usize) -> bool {
        at + self.own < self.entries.len()
    }

    /// Takes an entry from the host's memory. Returns false if it does not lie there.
    fn find_with_host(&mut self, page: u32) -> bool {
        let at = self.entries.iter().position(|entry| entry.0 == page);
        let lies_there = at.is_some_and(|at| self.is_with_host(at));
        lies_there && self.find(page)
    }

    fn take(&mut self, step: Step, to: u32) {
        match step {
            Step::Read(page, false) | Step::WriteBack(page, false) if self.find_with_host(page) => {
                self.counts.from_host += 1;
            }
            Step::Read(page, fetched) => match self.find(page) && !fetched {
                true => self.counts.read_hits += 1,
                false => self.counts.read_misses += 1,
            },
            Step::WriteBack(page, fetched) => match self.find(page) && !fetched {
                true => self.counts.write_hits += 1,
                false => self.counts.write_misses += 1,
            },
            Step::Commit(page) => {
                if self.moves(page, Some(to)) {
                    self.counts.reinserted += 1;
                    let written = self.take_in(page);
                    self.due.extend(written);
                    self.moves(page, Some(to));
                }
            }
            Step::Copy(plane, page) if self.map[page as usize].is_some() => {
                if !self.moves(page, Some(to)) {
                    self.counts.lazy += 1;
                } else if self.stale.insert(page / PER_PAGE) {
                    self.touched[plane as usize].insert(page / PER_PAGE);
                }
            }
            Step::Collected(plane) => {
                let touched = std::mem::take(&mut self.touched[plane as usize]);
                self.due.extend(touched);
            }
            Step::Trim(page) if self.map[page as usize].is_some() => {
                if self.moves(page, None) && self.stale.insert(page / PER_PAGE) {
                    self.due.insert(page / PER_PAGE);
                }
            }
            Step::Update => {
                for of in std::mem::take(&mut self.due) {
                    if self.stale.contains(&of) {
                        self.update(of);
                    }
                }
            }
            Step::Copy(..) | Step::Trim(_) => {}
        }
    }
}

fn take(map: &mut Dftl, step: Step, to: u32) {
    let find = |map: &mut Dftl, page, cause, fetched: bool| {
        if !fetched && map.cached.is_with_host(Lpn::new(page)) {
            return map.take_from_host(Lpn::new(page));
        }
        if let LookUp::Miss(Some(of)) = map.find(Lpn::new(page), cause, fetched) {
            map.update(of);
        }
    };
    match step {
        Step::Read(page, fetched) => find(map, page, Cause::HostRead, fetched),
        Step::WriteBack(page, fetched) => find(map, page, Cause::WriteBack, fetched),
        Step::Commit(page) => _ = map.commit(Lpn::new(page), Ppn::new(to)),
        Step::Copy(plane, page) => {
            let page = Lpn::new(page);
            let Some(from) = map.look_up(page) else { return };
            assert!(map.relocate(page, from, Ppn::new(to)));
            map.copied(PlaneId::new(plane), page, true);
        }
        Step::Collected(plane) => map.collected(PlaneId::new(plane)),
        Step::Trim(page) => _ = map.trim(Lpn::new(page)),
        Step::Update => {
            while let Some((of, _)) = map.next_due() {
                map.update(of);
            }
        }
    }
}

proptest! {
    /// The entries have the same order and state; hits, misses and write-backs are the same; and an
    /// entry is right on flash unless it is dirty in memory or its translation page is stale.
    #[test]
    fn it_is_a_naive_map(
        capacity in prop_oneof![1usize..6, 1usize..40, Just(PAGES as usize)],
        with_host in prop_oneof![Just(0usize), 1usize..6, 1usize..40],
        steps in proptest::collection::vec(step(), 1..300),
    ) {
        let map = Dftl::new(PAGES, capacity as u32, &geometry());
        let mut map = map.with_host_memory(with_host as u32);
        let mut naive = Naive::new(capacity, with_host);
        for (to, step) in (1_000..).zip(steps) {
            naive.take(step, to);
            take(&mut map, step, to);
            prop_assert_eq!(map.audit(), Ok(()));
            let held: Vec<_> =
                map.cached.by_use().map(|(page, dirty)| (page.get(), dirty)).collect();
            prop_assert_eq!(&held, &naive.entries, "after {:?}", step);
            prop_assert_eq!(map.counts, naive.counts, "after {:?}", step);
            for (at, &(page, _)) in held.iter().enumerate() {
                let with_host = map.cached.is_with_host(Lpn::new(page));
                prop_assert_eq!(with_host, naive.is_with_host(at), "{} after {:?}", page, step);
            }
            let stale = (0..).zip(&map.stale).filter_map(|(of, &stale)| stale.then_some(of));
            prop_assert!(stale.eq(naive.stale.iter().copied()), "after {:?}", step);
            for page in 0..PAGES {
                let dirty = held.contains(&(page, true));
                let known = dirty || naive.stale.contains(&(page / PER_PAGE));
                let at = page as usize;
                prop_assert!(known || naive.flash[at] == naive.map[at], "{} after {:?}", page, step);
            }
        }
    }
}

#[test]
fn translation_pages_lie_on_flash_pages_of_their_own_behind_the_host() {
    let shape = Shape { page_size: Bytes(2_048), ..*geometry().shape() };
    let map = Dftl::new(1_026, 8, &Geometry::new(shape));
    // 512 entries of four bytes each; flash pages of four units, the first behind page 1025.
    assert_eq!((map.translation_pages(), map.all_pages()), (3, 1_028 + 12));
    let pages: Vec<_> = map.pages_of(Tpn::new(2)).map(Lpn::get).collect();
    assert_eq!(pages, [1_036, 1_037, 1_038, 1_039]);
    assert_eq!(map.page_of(Lpn::new(1_025)), Tpn::new(2));
    assert!(map.is_of_map(Lpn::new(1_026)) && !map.is_of_map(Lpn::new(1_025)));
}
