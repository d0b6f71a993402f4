//! Laws for any device whose cells offer several costs, watched from outside: each program has the cost
//! that its regulator chooses, for the host and for copies; there are no more rewrites than requests for
//! them; and nothing is lost.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use ftlab::device::{Contents, Device, Movement, Place, assemble, assemble_with};
use ftlab::ftl::cost::{HistoryRule, RewriteCounts};
use ftlab::ftl::{FlashChange, ReadFor};
use ftlab::host::Op;
use ftlab::scheduler::{Activity, Kind, Origin, Probe};
use ftlab::units::{Lpn, Ppn};
use ftlab_torture::{AnyContents, AnyProbe, Listens, SeesMoves};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngSeed, TestRunner};

use super::drive;
use super::machine::{Class, Used};
use crate::common::random::{Step, mended};
use crate::common::regulating::{self, PROGRAM_BY_COST};
use crate::common::{Spec, on_demand};
use crate::contents::{cases, loses_nothing};

/// The history of pages, as the moving data shows it, and what lies where at which cost.
#[derive(Debug)]
struct Log {
    regulator: &'static str,
    hysteresis: bool,
    /// By page.
    used: BTreeMap<Lpn, Used>,
    /// By slot of the buffer: the history of its page before its write-back began.
    before: BTreeMap<usize, Used>,
    /// By place.
    pages: BTreeMap<Ppn, Lpn>,
    classes: BTreeMap<Ppn, Class>,
    /// By place to be programmed: the cost that AGCR must choose there.
    expected: BTreeMap<Ppn, Class>,
    /// The pages of the map.
    map: BTreeSet<Lpn>,
    /// How many of those were written, and how many copied.
    maps: [u64; 2],
    /// Programs by cost, of the host, of copies, and of rewrites.
    programs: [[u64; 3]; 3],
}

impl Log {
    fn uses(&mut self, page: Lpn, now: Used) -> Used {
        let used = self.used.entry(page).or_default();
        std::mem::replace(used, used.then(now, self.hysteresis))
    }

    /// Records that flash programs the page of that place at this cost.
    fn programs(&mut self, a: &Activity, class: Class) {
        let copies = match a.origin {
            Origin::Host => 0,
            Origin::Rewrite => 2,
            _ => 1,
        };
        self.programs[copies][class as usize] += 1;
        self.classes.insert(a.page, class);
        let expected = self.expected.remove(&a.page);
        match self.regulator {
            "traditional" => assert_eq!(class, Class::Medium, "{a:?}"),
            "high-write" => assert_eq!(class, Class::High, "{a:?}"),
            "low-write" => assert_eq!(class, Class::Low, "{a:?}"),
            "queue-driven" => assert_ne!(class, Class::Medium, "{a:?}"),
            "agcr" if copies == 2 => assert_eq!(class, Class::High, "{a:?}"),
            "agcr" => {
                let as_told = expected.is_none_or(|expected| expected == class);
                assert!(as_told, "{class:?} is not {expected:?}: {a:?}");
            }
            _ => {}
        }
    }
}

/// Sees data move and cells work.
#[derive(Clone, Debug)]
struct Onlooker(Rc<RefCell<Log>>);

impl Onlooker {
    /// Nothing lies there any more. The next data need not be the host's.
    fn emptied(&self, first: Ppn, units: u32) {
        let mut log = self.0.borrow_mut();
        for at in (first.get()..first.get() + units).map(Ppn::new) {
            log.pages.remove(&at);
            log.classes.remove(&at);
        }
    }

    fn copied(&self, from: Ppn, to: Ppn) {
        let mut log = self.0.borrow_mut();
        let Some(&page) = log.pages.get(&from) else { return };
        let of_map = log.map.contains(&page);
        log.maps[1] += u64::from(of_map);
        // The host has neither read nor written a page of the map.
        let used = if of_map { Used::Unknown } else { log.used[&page] };
        let expected = used.cost_of_copy(log.classes[&from]);
        log.pages.insert(to, page);
        log.expected.insert(to, expected);
    }

    /// A page of the map counts as interleaved.
    fn map_programmed(&self, page: Lpn, to: Ppn) {
        let mut log = self.0.borrow_mut();
        log.maps[0] += 1;
        log.map.insert(page);
        log.pages.insert(to, page);
        log.expected.insert(to, Used::Both.cost_of_write());
    }
}

impl SeesMoves for Onlooker {
    fn copies(&mut self, movement: &Movement) {
        let mut log = self.0.borrow_mut();
        let page = movement.page;
        match (movement.from, movement.to) {
            // The page fills up a block; nobody has written it.
            (Place::Buffer(_), Place::WriteBack(slot)) if movement.sectors.is_empty() => {
                log.before.remove(&slot.at());
            }
            (Place::Buffer(_), Place::WriteBack(slot)) => {
                let before = log.uses(page, Used::Writes);
                log.before.insert(slot.at(), before);
            }
            (Place::WriteBack(slot), Place::Flash(to)) => {
                log.pages.insert(to, page);
                if let Some(before) = log.before.get(&slot.at()) {
                    let expected = before.cost_of_write();
                    log.expected.insert(to, expected);
                }
            }
            _ => {}
        }
    }

    fn change(&mut self, change: FlashChange<'_>) {
        match change {
            FlashChange::Emptied { first, units, .. } => self.emptied(first, units),
            FlashChange::Copied { from, to } => self.copied(from, to),
            FlashChange::MapProgrammed { page, to } => self.map_programmed(page, to),
            FlashChange::Spoiled { .. } | FlashChange::Parity(_) => {}
        }
    }

    fn foresee(&mut self, _: Ppn, what: ReadFor) {
        if let ReadFor::Host(page) | ReadFor::Joined(page) = what {
            self.0.borrow_mut().uses(page, Used::Reads);
        }
    }
}

impl Listens for Onlooker {
    fn cell(&mut self, activity: &Activity) {
        let span = activity.until - activity.from;
        if activity.kind == Kind::Program {
            let class = PROGRAM_BY_COST.iter().position(|&price| price == span);
            let class = class.unwrap_or_else(|| panic!("no cost that there is: {activity:?}"));
            self.0.borrow_mut().programs(activity, Class::ALL[class]);
        }
    }
}

/// One whole logical page a flash page. No cells in one-bit mode, which have no cost; no multi-plane programs,
/// which all take as long as the longest; no copies within a die, which are one operation. Only the host
/// causes reads.
fn one_page_each(spec: Spec) -> Spec {
    let options = &spec.config().options;
    // A buffer that packs needs a mapping with fragments.
    let packs = options.cache.policy.packs();
    let in_pieces = options.ftl.mapping.policy.packs();
    let others = ["ftl.slc_cache.", "nand.multi_plane.", "ftl.gc.copyback", "cache.read.ahead"];
    let goes = |path: &str| {
        others.iter().any(|other| path.starts_with(other))
            || packs && path.starts_with("cache.")
            || in_pieces && path.starts_with("ftl.mapping.policy")
    };
    let spec = spec.without(goes).set("ftl.mapping.unit", "flash-page");
    mended(spec)
}

/// A probe can't see what is trimmed in DRAM or on flash.
fn without_trims(steps: &[Step]) -> Vec<Step> {
    let keep = |step: &Step| match step.op {
        Op::Trim => Step { op: Op::Read, ..*step },
        _ => *step,
    };
    steps.iter().map(keep).collect()
}

fn rewrites<P: Probe, C: Contents>(device: &Device<P, C>) -> RewriteCounts {
    device.rewriter().map(|rewriter| *rewriter.counts()).unwrap_or_default()
}

fn watched(spec: &Spec) -> (Device<AnyProbe, AnyContents>, Rc<RefCell<Log>>) {
    let cost = &spec.config().options.ftl.cost.policy;
    let regulator = cost.name();
    let hysteresis = cost.agcr().is_some_and(|agcr| agcr.history == HistoryRule::Hysteresis);
    let log = Log {
        regulator,
        hysteresis,
        used: BTreeMap::new(),
        before: BTreeMap::new(),
        pages: BTreeMap::new(),
        classes: BTreeMap::new(),
        expected: BTreeMap::new(),
        map: BTreeSet::new(),
        maps: [0; 2],
        programs: Default::default(),
    };
    let log = Rc::new(RefCell::new(log));
    let onlooker = Onlooker(log.clone());
    let (probe, contents) = (AnyProbe::new(onlooker.clone()), AnyContents::new(onlooker));
    (assemble_with(spec.setup(), probe, contents), log)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases().cases / 2, ..cases() })]

    /// Fixed regulators use one class, the queue decides between two, AGCR uses each page's history, also for
    /// copies, and a rewrite costs most.
    #[test]
    fn every_program_costs_what_its_regulator_says((spec, depth, steps) in regulating::run(300)) {
        let spec = one_page_each(spec);
        let (mut device, _) = watched(&spec);
        drive(&mut device, &spec, depth, &without_trims(&steps));
    }

    /// Every rewrite was requested, and every request came with a flash read for the host.
    #[test]
    fn nothing_is_rewritten_that_nobody_reads((spec, depth, steps) in regulating::run(300)) {
        let mut device = assemble(spec.setup());
        drive(&mut device, &spec, depth, &steps);
        let done = device.flash().done();
        let host = done[Origin::Host as usize][Kind::Read as usize];
        let [reads, programs] =
            [Kind::Read, Kind::Program].map(|kind| done[Origin::Rewrite as usize][kind as usize]);
        let rewrites = rewrites(&device);
        let counted = [rewrites.done, programs, reads, rewrites.requested, host];
        prop_assert!(counted.is_sorted(), "{:?}, {:?}", counted, rewrites);
        let may = spec.config().options.rewrites().is_some();
        prop_assert!(may || reads == 0);
    }

    /// Through rewrites, collection, failures and everything else.
    #[test]
    fn rewrites_lose_nothing(run in regulating::run(300)) {
        loses_nothing(&run)?;
    }
}

/// The random devices of these tests exercise what they are for.
#[test]
fn random_devices_write_at_all_costs_and_rewrite() {
    let config = ProptestConfig { rng_seed: RngSeed::Fixed(3), ..ProptestConfig::default() };
    let mut runner = TestRunner::new(config);
    let (mut programs, mut all) = ([[0; 3]; 3], RewriteCounts::default());
    for _ in 0..1_300 {
        let tree = regulating::run(300).new_tree(&mut runner).expect("a run");
        let (spec, depth, steps) = tree.current();
        let spec = one_page_each(spec);
        let (mut device, log) = watched(&spec);
        drive(&mut device, &spec, depth, &without_trims(&steps));
        let sum = programs.as_flattened_mut().iter_mut();
        sum.zip(log.borrow().programs.as_flattened()).for_each(|(sum, count)| *sum += count);
        all = all.plus(&rewrites(&device));
    }
    println!("programs {programs:?}, rewrites {all:?}");
    assert!(programs[..2].as_flattened().iter().all(|&count| count > 200));
    let RewriteCounts { requested, again, done, pages, written, high, full, given_up } = all;
    assert!([requested, done, pages, written, high, 10 * full].iter().all(|&count| count > 50));
    assert!(requested >= again + done + written + high + full + given_up, "{all:?}");
}

/// A page of the map is written at medium cost and copied at its old cost, even where a page of the host lay
/// before: the host does not access map pages, so they have no history.
#[test]
fn pages_of_the_map_are_written_at_medium_cost_and_stay_as_they_were() {
    let config = ProptestConfig { rng_seed: RngSeed::Fixed(3), ..ProptestConfig::default() };
    let mut runner = TestRunner::new(config);
    let mut maps = [0; 2];
    for _ in 0..200 {
        let tree = regulating::run(300).new_tree(&mut runner).expect("a run");
        let (spec, depth, steps) = tree.current();
        let spec = one_page_each(spec).set("ftl.cost.policy", "agcr");
        let spec = mended(on_demand::cached(spec, 1));
        let (mut device, log) = watched(&spec);
        drive(&mut device, &spec, depth, &without_trims(&steps));
        let log = log.borrow();
        maps.iter_mut().zip(log.maps).for_each(|(sum, count)| *sum += count);
    }
    println!("pages of the map: written and copied {maps:?}");
    assert!(maps.iter().all(|&count| count > 20), "{maps:?}");
}
