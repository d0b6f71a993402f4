//! Compares PRLRU and its adaptive version with scans of a plain list, as in the paper's algorithms.

use proptest::prelude::*;
use proptest::sample::select;

use super::{CAPACITY, Naive, SECTORS, compare, steps};
use crate::cache::{
    AdaptiveRules, BufferView, Eviction, Leaves, Pack, Prlru, PrlruAdaptive, Rules, SlotId,
    WriteBuffer,
};
use crate::units::{Lpn, Ratio};

/// A page as a scan knows it.
#[derive(Clone, Copy, Debug)]
struct Known<T> {
    what: T,
    temperature: u32,
    /// The value of `clock` when its temperature last changed.
    warmed: u64,
}

/// Pages that may cool, tail first.
#[derive(Clone, Debug)]
struct Queue<T> {
    pages: Vec<Known<T>>,
    clock: u64,
    cooling: Option<u64>,
}

impl<T: Copy + PartialEq> Queue<T> {
    fn new(cooling: Option<u64>) -> Queue<T> {
        Queue { pages: Vec::new(), clock: 0, cooling }
    }

    fn at(&self, what: T) -> Option<usize> {
        self.pages.iter().position(|known| known.what == what)
    }

    fn enter(&mut self, what: T) {
        self.pages.push(Known { what, temperature: 0, warmed: 0 });
    }

    fn hit(&mut self, at: usize) {
        let mut known = self.pages.remove(at);
        known.temperature = (known.temperature + 1).min(2);
        known.warmed = self.clock;
        self.pages.push(known);
    }

    /// Counts an eviction and cools pages that have not been hit for long.
    fn pass_time(&mut self) {
        self.clock += 1;
        let Some(cooling) = self.cooling else { return };
        let (clock, life) = (self.clock, cooling * self.pages.len() as u64);
        let old = |known: &&mut Known<T>| known.warmed + life <= clock;
        for known in self.pages.iter_mut().filter(|known| known.temperature > 0).filter(old) {
            known.temperature -= 1;
            known.warmed = clock;
        }
    }

    /// Algorithm 2: returns the page that is evicted in place of the tail, after swapping their
    /// places.
    fn take_colder(&mut self, region: Ratio) -> Option<T> {
        let tail = self.pages.first()?.temperature;
        let region = region.of(self.pages.len() as u64) as usize;
        let scan = |wanted| (0..region).find(|&at| self.pages[at].temperature == wanted);
        let at = (0..tail).find_map(scan)?;
        self.pages.swap(0, at);
        Some(self.pages[0].what)
    }
}

/// What would be hit with another region.
#[derive(Clone, Debug)]
struct Shadow {
    region: u32,
    queue: Queue<Lpn>,
    score: u64,
}

/// The adaptive version's comparison of regions.
#[derive(Clone, Debug)]
struct Learning {
    shadows: Vec<Shadow>,
    best: usize,
    uses: usize,
}

impl Learning {
    fn new(cooling: u64) -> Learning {
        let shadow = |region| Shadow { region, queue: Queue::new(Some(cooling)), score: 0 };
        Learning { shadows: vec![shadow(0), shadow(30), shadow(60), shadow(90)], best: 3, uses: 0 }
    }

    fn used(&mut self, page: Lpn, written: bool, pages: usize) {
        for Shadow { region, queue, score } in &mut self.shadows {
            match queue.at(page) {
                Some(at) => {
                    queue.hit(at);
                    *score += if written { 1024 } else { 0 };
                }
                None if !written => {}
                None => {
                    queue.enter(page);
                    while queue.pages.len() > pages {
                        queue.pass_time();
                        queue.take_colder(Ratio::percent(*region));
                        queue.pages.remove(0);
                    }
                }
            }
        }
        self.uses += 1;
        if self.uses < pages {
            return;
        }
        self.uses = 0;
        let most = self.shadows.iter().map(|shadow| shadow.score).max().expect("there are some");
        if most > self.shadows[self.best].score {
            let first = self.shadows.iter().position(|shadow| shadow.score == most);
            self.best = first.expect("one has the most");
        }
        self.shadows.iter_mut().for_each(|shadow| shadow.score -= shadow.score / 5);
    }
}

/// Both buffers, by scans.
struct Scans {
    queue: Queue<SlotId>,
    rules: Rules,
    learning: Option<Learning>,
}

impl Scans {
    /// Algorithm 1: from the tail towards the head, the first other partial page that fits.
    fn partner(&self, first: SlotId, view: &BufferView<'_>) -> Option<Eviction> {
        let room = view.has_room_for_fragments();
        let may = |slot| view.may_pack(slot) && (room || !view.adds_fragment(slot));
        let together =
            |second| view.page(first).dirty.count() + view.page(second).dirty.count() <= SECTORS;
        let fits = |&second: &SlotId| second != first && may(second) && together(second);
        let second = self.queue.pages.iter().map(|known| known.what).find(fits)?;
        may(first).then_some(Eviction::Pack { first, second })
    }

    fn learn(&mut self, slot: SlotId, written: bool, view: &BufferView<'_>) {
        let pages = self.queue.pages.len();
        if let Some(learning) = &mut self.learning {
            learning.used(view.page(slot).page, written, pages);
        }
    }

    fn used(&mut self, slot: SlotId, written: bool, view: &BufferView<'_>) {
        let at = self.queue.at(slot).expect("it is listed");
        self.queue.hit(at);
        self.learn(slot, written, view);
    }
}

impl Naive for Scans {
    fn inserted(&mut self, slot: SlotId, view: &BufferView<'_>) {
        self.queue.enter(slot);
        self.learn(slot, !view.page(slot).dirty.is_empty(), view);
    }

    fn written(&mut self, slot: SlotId, view: &BufferView<'_>) {
        self.used(slot, true, view);
    }

    fn read(&mut self, slot: SlotId, view: &BufferView<'_>) {
        self.used(slot, false, view);
    }

    fn removed(&mut self, slot: SlotId, view: &BufferView<'_>, why: Leaves) {
        self.queue.pages.retain(|known| known.what != slot);
        if let Some(learning) = self.learning.as_mut().filter(|_| why == Leaves::Deallocated) {
            let page = view.page(slot).page;
            let shadows = learning.shadows.iter_mut();
            shadows.for_each(|shadow| shadow.queue.pages.retain(|known| known.what != page));
        }
    }

    fn choose(&mut self, view: &BufferView<'_>) -> Option<Eviction> {
        let tail = self.queue.pages.first()?.what;
        self.queue.pass_time();
        let packed = |scans: &Scans, slot| match scans.rules.pack {
            Pack::Off => None,
            Pack::Tail if slot != tail => None,
            _ => scans.partner(slot, view),
        };
        if let Some(pack) = packed(self, tail) {
            return Some(pack);
        }
        let region = match &self.learning {
            Some(learning) => Ratio::percent(learning.shadows[learning.best].region),
            None => self.rules.search_region,
        };
        let colder = match self.rules.temperature {
            true => self.queue.take_colder(region),
            false => None,
        };
        let out = colder.unwrap_or(tail);
        Some(packed(self, out).unwrap_or(Eviction::Page(out)))
    }
}

proptest! {
    #[test]
    fn prlru_chooses_what_a_scan_finds(
        pack in select(vec![Pack::Off, Pack::Tail, Pack::AfterTemperature]),
        temperature in any::<bool>(),
        region in 0u32..=100,
        steps in steps(),
    ) {
        let rules = Rules { pack, temperature, search_region: Ratio::percent(region) };
        let policy = WriteBuffer::Prlru(Prlru::new(&rules, SECTORS));
        let scans = Scans { queue: Queue::new(None), rules, learning: None };
        prop_assert_eq!(compare(policy, scans, &steps), Ok(()));
    }

    #[test]
    fn the_adaptive_version_chooses_what_a_scan_finds(
        packing in any::<bool>(),
        cooling in 1u32..=3,
        steps in steps(),
    ) {
        let policy = PrlruAdaptive::new(&AdaptiveRules { packing, cooling }, CAPACITY, SECTORS);
        let pack = if packing { Pack::AfterTemperature } else { Pack::Off };
        let rules = Rules { pack, temperature: true, search_region: Ratio::ONE };
        let cooling = u64::from(cooling);
        let (queue, learning) = (Queue::new(Some(cooling)), Some(Learning::new(cooling)));
        let policy = WriteBuffer::PrlruAdaptive(policy);
        prop_assert_eq!(compare(policy, Scans { queue, rules, learning }, &steps), Ok(()));
    }
}
