//! A read returns what was last written: random devices, random commands, the naive reference
//! beside the real device, and every die and bus watched meanwhile.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

use ftlab::cache::WriteBuffer;
use ftlab::device::{Device, DeviceSetup, assemble_with};
use ftlab::engine::Stream;
use ftlab::ftl::BlockState;
use ftlab::ftl::gc::{Purpose, Wanted};
use ftlab::host::{Advanced, Completion, Host, Op, Outcome, Request};
use ftlab::image::Resume;
use ftlab::units::{BlockId, Lpn, PlaneId, SectorMask, SimTime};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngSeed, TestCaseError, TestRunner};

use crate::common::caching;
use crate::common::logs;
use crate::common::on_demand;
use crate::common::random::{self, Run, Step, mended, wider};
use crate::common::{Spec, assert_no_standstill, request};
use crate::met::is_long;
use crate::watch::{Log, Watch, Watcher};
use ftlab_torture::{AnyProbe, Reference};
use ftlab_torture::{Fault, FoundVersions, Versions, changes};

/// A command in flight: when it began, and what it changes or reads.
#[derive(Clone, Debug)]
struct Flying {
    begun: u64,
    range: Range<u64>,
}

/// The device and its reference.
pub struct Bench {
    pub device: Device<AnyProbe, Versions>,
    reference: Reference,
    watch: Watch,
    per_page: u64,
    /// By tag.
    flying: std::collections::BTreeMap<u32, Flying>,
    next_tag: u32,
    pub write_through: bool,
    /// Requests that were refused.
    pub refused: u32,
    /// Reads of data that is lost.
    pub unreadable: u32,
}

impl Bench {
    pub fn new(spec: &Spec, fault: Option<Fault>) -> Bench {
        let setup = spec.setup();
        let watch = Log::new(&setup);
        let (geometry, pages) = (&setup.flash.geometry, setup.ftl.logical_pages);
        let (per_page, physical) = (geometry.sectors_per_unit(), geometry.physical_pages());
        let write_through = is_write_through(&setup);
        let mut versions = Versions::new(physical, per_page).watched_by(watch.clone());
        versions.fault = fault;
        let mut device = assemble_with(setup, AnyProbe::new(Watcher(watch.clone())), versions);
        // Its content at the start.
        let all = (0..pages).map(Lpn::new);
        let mapped: Vec<_> =
            all.filter_map(|page| Some((page, device.ftl().look_up(page)?))).collect();
        watch.borrow_mut().holds(mapped.iter().map(|&(_, at)| at));
        device.contents_mut().hold(mapped.into_iter());
        Bench {
            reference: Reference::new(device.capacity_sectors()),
            device,
            watch,
            per_page: u64::from(per_page),
            flying: Default::default(),
            next_tag: 1,
            write_through,
            refused: 0,
            unreadable: 0,
        }
    }

    /// Allows power to be cut at any time from now on.
    pub fn expect_cuts(&mut self) {
        self.reference.expect_cuts();
    }

    /// Checks that a power cut now leaves everything that was flushed.
    pub fn cut(&self) -> Result<(), String> {
        self.check_flash(self.reference.flushed().expect("cuts are expected"))
    }

    /// Saves the device and loads its state and data into another one of the same shape.
    pub fn reload(self, spec: &Spec) -> Result<Bench, String> {
        let mut bench = self;
        assert_eq!(bench.device.rest(&mut Vec::new()), Ok(()));
        bench.device.contents_mut().take_finished();
        let snapshot = bench.device.save();
        let setup = spec.setup();
        bench.watch.borrow_mut().go_on(&setup);
        let versions = bench.device.contents().clone();
        let write_through = is_write_through(&setup);
        let mut device =
            assemble_with(setup, AnyProbe::new(Watcher(bench.watch.clone())), versions);
        device.load(&snapshot, Resume::NONE).map_err(|damage| damage.to_string())?;
        Ok(Bench { device, write_through, ..bench })
    }

    pub fn submit(&mut self, op: Op, range: Range<u64>) {
        let tag = self.next_tag;
        self.next_tag += 1;
        // A device at its end no longer changes anything.
        let ended = self.device.end_of_life().is_some();
        let changed = if ended { 0..0 } else { changes(op, &range, self.per_page) };
        let begun = match op {
            Op::Write => self.reference.begin(changed, tag),
            Op::Trim => self.reference.begin(changed, 0),
            _ => self.reference.tick(),
        };
        let sectors = (range.end - range.start) as u32;
        self.flying.insert(tag, Flying { begun, range: range.clone() });
        let request = request(op, range.start, sectors, tag);
        self.device.submit(self.device.now(), Request { stream: tag / 3, ..request });
    }

    /// Runs the device until something completes or `limit` comes, and checks the completion.
    pub fn advance(&mut self, limit: SimTime) -> Result<Advanced, String> {
        let mut done = Vec::new();
        let advanced = self.device.advance_until(limit, &mut done);
        let finished = self.device.contents_mut().take_finished();
        assert!(finished.iter().map(|(completion, _)| completion).eq(&done));
        for (completion, found) in &finished {
            self.completed(completion, found)?;
        }
        Ok(advanced)
    }

    fn completed(&mut self, completion: &Completion, found: &FoundVersions) -> Result<(), String> {
        let Request { op, tag, .. } = completion.request;
        assert_eq!(completion.breakdown.total(), completion.latency(), "{completion:?}");
        let Flying { begun, range } = self.flying.remove(&tag).expect("what completes was begun");
        if completion.outcome == Outcome::ReadOnly {
            // Whether it changed anything stays open.
            let cause =
                self.device.end_of_life().is_some() || !self.device.ftl().dead_dies().is_empty();
            assert!(op != Op::Read && cause, "{completion:?}");
            self.refused += 1;
            return Ok(());
        }
        if completion.outcome == Outcome::Unreadable {
            assert_eq!(op, Op::Read, "{completion:?}");
            self.unreadable += 1;
            return Ok(());
        }
        match op {
            Op::Write | Op::Trim => {
                let oldest = self.flying.values().map(|flying| flying.begun).min();
                let changed = changes(op, &range, self.per_page);
                self.reference.end(changed, begun, oldest.unwrap_or(u64::MAX));
            }
            Op::Read => self.reference.check_read(&range, found, begun)?,
            _ => {
                self.check_flash(begun)?;
                self.reference.flush(begun);
            }
        }
        Ok(())
    }

    /// A power cut now must leave everything that was completed before `begun`: what the mapping names,
    /// as it lies on flash, is a permitted answer for every sector.
    fn check_flash(&self, begun: u64) -> Result<(), String> {
        let pages = self.device.capacity_sectors() / self.per_page;
        let mut held = Vec::new();
        for page in (0..pages as u32).map(Lpn::new) {
            let parts = self.device.ftl().fragments(page);
            self.device.contents().read_parts_into(page, parts, &mut held);
            let first = u64::from(page.get()) * self.per_page;
            let lost = parts
                .iter()
                .flatten()
                .map(|part| self.device.ftl().lost().at(part.at).within(part.sectors));
            let lost = lost.fold(SectorMask::EMPTY, SectorMask::and_also);
            for sector in (0..self.per_page).filter(|sector| lost.0 >> sector & 1 == 0) {
                let version = held[sector as usize];
                self.reference
                    .check(first + sector, version, begun)
                    .map_err(|error| format!("on flash at {parts:?}: {error}"))?;
            }
        }
        Ok(())
    }

    /// The translation layer's invariants, and that the mapping names only programmed pages.
    pub fn audit(&mut self) -> Result<(), String> {
        self.device.ftl().audit()?;
        let now = self.device.now();
        for page in (0..self.device.ftl().logical_pages()).map(Lpn::new) {
            let Some(at) = self.device.ftl().look_up(page) else { continue };
            if !self.watch.borrow().is_programmed(at, now) {
                return Err(format!("{page:?} is mapped to {at:?}, which is not programmed"));
            }
        }
        if self.write_through {
            // Without a buffer, acknowledged data is on flash at any time.
            let now = self.reference.tick();
            self.check_flash(now)?;
        }
        Ok(())
    }

    pub fn run(&mut self, depth: usize, steps: &[Step]) -> Result<(), String> {
        self.steps(depth, steps)?;
        self.finish()
    }

    pub fn steps(&mut self, depth: usize, steps: &[Step]) -> Result<(), String> {
        let capacity = self.device.capacity_sectors();
        for (number, step) in steps.iter().enumerate() {
            while self.device.requests_in_flight() >= depth {
                let advanced = self.advance(SimTime::FOREVER)?;
                if advanced == Advanced::Idle {
                    assert_no_standstill(&self.device);
                }
            }
            let until = self.device.now() + step.pause;
            while step.pause.0 > 0 && self.advance(until)? == Advanced::Completed {}
            self.submit(step.op, step.range(capacity, self.per_page as u32));
            if number % 64 == 63 {
                self.audit()?;
            }
        }
        Ok(())
    }

    /// Completes everything, then flushes everything, then reads everything.
    pub fn finish(&mut self) -> Result<(), String> {
        let capacity = self.device.capacity_sectors();
        self.advance_to_idle()?;
        self.submit(Op::Flush, 0..0);
        self.advance_to_idle()?;
        self.audit()?;
        self.submit(Op::Read, 0..capacity);
        self.advance_to_idle()?;
        let log = self.watch.borrow();
        log.assert_at_rest();
        let now = self.device.now();
        assert!(log.die_busy().eq(self.device.flash().die_busy(now)), "time on dies");
        assert!(log.bus_busy().eq(self.device.flash().channel_busy(now)), "time on buses");
        Ok(())
    }

    pub fn advance_to_idle(&mut self) -> Result<(), String> {
        while self.advance(SimTime::FOREVER)? != Advanced::Idle {}
        assert_no_standstill(&self.device);
        Ok(())
    }
}

/// Whether acknowledged data is on flash at any time.
fn is_write_through(setup: &DeviceSetup) -> bool {
    matches!(setup.buffer.policy, WriteBuffer::None(_))
}

/// The same cases every time, more of them with `FTLAB_LONG=1`; other and any
/// number of cases with `FTLAB_CASES=100000 cargo test -p ftlab --test validation`.
pub fn cases() -> ProptestConfig {
    let asked = std::env::var("FTLAB_CASES").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig {
        cases: asked.unwrap_or(if is_long() { 600 } else { 250 }),
        rng_seed: if asked.is_some() { RngSeed::Random } else { RngSeed::Fixed(2) },
        failure_persistence: None,
        max_shrink_iters: 1_000,
        ..ProptestConfig::default()
    }
}

/// Random runs lose nothing: what a read returns is what was last written.
pub fn loses_nothing((spec, depth, steps): &Run) -> Result<(), TestCaseError> {
    Bench::new(spec, None).run(*depth, steps).map_err(TestCaseError::fail)
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn a_read_returns_what_was_last_written(run in random::run(400)) {
        loses_nothing(&run)?;
    }
}

proptest! {
    #![proptest_config(cases())]

    /// Through the SLC cache, past it, and out of it again.
    #[test]
    fn an_slc_cache_loses_nothing(run in caching::run(400)) {
        loses_nothing(&run)?;
    }
}

proptest! {
    #![proptest_config(cases())]

    /// Through data blocks, log blocks and merges of every kind.
    #[test]
    fn a_log_loses_nothing(run in logs::run(&["own", "lock-step"], 400)) {
        loses_nothing(&run)?;
    }
}

proptest! {
    #![proptest_config(cases())]

    /// Through translation pages and a cache of few entries.
    #[test]
    fn a_map_on_flash_loses_nothing(run in on_demand::run(400)) {
        loses_nothing(&run)?;
    }
}

/// Asks now and then for blocks to be emptied: any block for wear levelling and folding, and one
/// block of each plane to be retired.
struct Asker {
    stream: Stream,
    blocks: u32,
    /// By plane: the block that is retired.
    doomed: Vec<Option<BlockId>>,
}

impl Asker {
    fn ask(&mut self, bench: &mut Bench) {
        let block = BlockId::new(self.stream.below(self.blocks.into()) as u32);
        let plane = bench.device.flash().geometry().plane_of(block);
        let doomed = &mut self.doomed[plane.at()];
        let purpose = match self.stream.below(3) {
            0 => Purpose::WearLevel,
            1 => Purpose::Fold,
            _ if doomed.is_none_or(|known| known == block) => Purpose::Retire,
            _ => return,
        };
        let accepted = bench.device.collect(Wanted { block, purpose });
        if accepted && purpose == Purpose::Retire {
            *doomed = Some(block);
        }
    }

    fn check(&self, bench: &Bench) {
        let ftl = bench.device.ftl();
        for (plane, doomed) in self.doomed.iter().enumerate() {
            let plane = PlaneId::new(plane as u32);
            let Some(block) = *doomed else { continue };
            assert_eq!(ftl.collecting(plane), None, "collection continues in an idle device");
            assert_eq!(ftl.blocks().state(block), BlockState::Bad);
        }
    }
}

proptest! {
    #![proptest_config(cases())]

    /// Blocks may be emptied at any time and for any reason: nothing is lost, nothing gets stuck, and
    /// a retired block is empty and stays out of use.
    #[test]
    fn nothing_is_lost_when_blocks_are_collected_on_request(
        (spec, depth, steps) in prop_oneof![random::run(200), caching::run(200)],
        seed in any::<u64>(),
    ) {
        let pages = spec.logical_pages();
        let spec = wider(spec, 1).over_provisioned(pages);
        let mut bench = Bench::new(&spec, None);
        let geometry = spec.geometry();
        let mut asker = Asker {
            stream: Stream::new(seed, "asker"),
            blocks: geometry.blocks(),
            doomed: vec![None; geometry.planes() as usize],
        };
        for few in steps.chunks(4) {
            let checked = bench.steps(depth, few);
            prop_assert!(checked.is_ok(), "{}", checked.unwrap_err());
            asker.ask(&mut bench);
        }
        let checked = bench.finish();
        prop_assert!(checked.is_ok(), "{}", checked.unwrap_err());
        asker.check(&bench);
    }
}

/// A busy device with collection, merges and buffered pages.
fn busy() -> Spec {
    let spec = Spec::small().with(
        "nand.channels = 2
        nand.blocks_per_plane = 8
        nand.page_size = 16KiB",
    );
    spec.buffered("lru", 8).filled(100)
}

pub fn random_steps(seed: u32, count: usize) -> Vec<Step> {
    let config =
        ProptestConfig { rng_seed: RngSeed::Fixed(u64::from(seed)), ..ProptestConfig::default() };
    let mut runner = TestRunner::new(config);
    let strategy = proptest::collection::vec(random::step(), count);
    strategy.new_tree(&mut runner).expect("no filter rejects").current()
}

/// The oracle must be able to fail: it must notice lost data.
#[test]
fn lost_data_is_noticed() {
    let steps = random_steps(1, 1_500);
    let run = |fault| catch_unwind(AssertUnwindSafe(|| Bench::new(&busy(), fault).run(8, &steps)));
    let healthy = run(None).expect("no check panics");
    assert_eq!(healthy, Ok(()));
    for fault in [Fault::LoseCopies(50), Fault::LoseBase, Fault::ReadNeighbour] {
        let found = run(Some(fault)).expect("found by comparison with the reference alone");
        assert!(found.is_err(), "{fault:?} went unnoticed");
    }
}

/// The canary's run does what it is for.
#[test]
fn the_busy_device_collects_pads_and_reads_old_copies() {
    let mut bench = Bench::new(&busy(), None);
    assert_eq!(bench.run(8, &random_steps(1, 1_500)), Ok(()));
    let counts = bench.device.ftl_counts();
    assert!(counts.gc_runs > 20 && counts.gc_pages > 100 && counts.trimmed > 20, "{counts:?}");
    let buffer = bench.device.buffer_counts();
    assert!(buffer.write_hits > 20 && buffer.read_hits > 10 && buffer.waited > 20, "{buffer:?}");
}

/// The options in which the saving and the loading device may differ.
fn with_other_policies(spec: &Spec, other: &Spec) -> Spec {
    let exchanged = [
        "nand.bus.",
        "nand.timing.",
        "scheduler.",
        "ftl.cost.",
        "ftl.gc.",
        "ftl.streams.",
        "cache.",
    ];
    let is_exchanged = |path: &str| exchanged.iter().any(|of| path.starts_with(of));
    let loading = spec.clone().like(other, |path| is_exchanged(path) && path != "cache.latency");
    // Placement by address never uses some pages that other policies use.
    let is_free = other.config().options.ftl.placement.policy.is_free();
    let loading = match is_free {
        true => loading.set("ftl.placement.policy", "dynamic"),
        false => loading,
    };
    // Both have the same pages, and map them alike.
    let same = |other: &Spec| {
        let maps = |of: &Spec| of.config().options.ftl.mapping.policy.name();
        let of = |of: &Spec| (of.logical_pages(), of.shape(), maps(of));
        of(other) == of(spec)
    };
    let loading = mended(loading);
    if same(&loading) { loading } else { spec.clone() }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases().cases / 4, ..cases() })]

    #[test]
    fn an_image_in_another_device_still_holds_what_was_written(
        (spec, depth, steps) in random::run(400),
        other in random::spec(),
    ) {
        let (before, after) = steps.split_at(steps.len() / 2);
        let mut bench = Bench::new(&spec, None);
        let checked = bench.run(depth, before).and_then(|()| {
            let mut bench = bench.reload(&with_other_policies(&spec, &other))?;
            bench.audit()?;
            bench.run(depth, after)
        });
        prop_assert!(checked.is_ok(), "{}", checked.unwrap_err());
    }
}
