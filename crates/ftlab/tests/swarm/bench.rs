//! A device that runs beside the naive reference, which judges what it returns. The device also
//! checks itself.

use std::collections::BTreeSet;
use std::ops::Range;

use ftlab::cache::Space;
use ftlab::config::Config;
use ftlab::device::{Device, DeviceSetup, assemble_with};
use ftlab::ftl::cost::Past;
use ftlab::ftl::mapping::MappingPolicy;
use ftlab::ftl::mapping::dftl::Cause;
use ftlab::host::{Advanced, Completion, Host, Op, Outcome};
use ftlab::image::{Damage, Resume};
use ftlab::saved::differences;
use ftlab::scheduler::Origin;
use ftlab::units::{Lba, Lpn, SectorMask, SimTime};
use ftlab::verify::Canary;
use ftlab_torture::{
    CaseLoad, Command, FoundVersions, Judge, Promises, Step, Versions, changes, may_lose,
    reads_fail,
    zoned::{self, ZoneHost},
};

use crate::chunks::{FEW, saved_in_chunks};

/// The seed of policies that draw random numbers.
const SEED: u64 = 1;

/// Reads of zones in flight at the end of a case.
const MOST_AT_ONCE: usize = 8;

/// What the cases have met, to know that the swarm reaches everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct Met {
    pub collected: bool,
    pub old_copy_read: bool,
    pub shared_operations: bool,
    pub cached: bool,
    pub paused: bool,
    pub stalled: bool,
    pub reloaded: bool,
    pub failed: bool,
    pub refused: bool,
    pub one_bit: bool,
    pub past_one_bit: bool,
    pub folded: bool,
    pub in_place: bool,
    pub log_merged: bool,
    pub log_switched: bool,
    pub log_moved: bool,
    pub merged_along: bool,
    pub packed: bool,
    pub split: bool,
    pub moved_shared: bool,
    pub padded: bool,
    pub dropped_clean: bool,
    pub by_sectors: bool,
    pub paged: bool,
    pub map_moved: bool,
    pub map_followed: bool,
    pub cheap: bool,
    pub dear: bool,
    pub rewritten: bool,
    pub not_rewritten: bool,
    pub reset: bool,
    pub appended: bool,
}

impl Met {
    /// Everything that there is to meet.
    pub fn all(&self) -> [(&'static str, bool); 32] {
        let Met { collected, old_copy_read, shared_operations, cached, paused, .. } = *self;
        let Met { stalled, reloaded, failed, refused, .. } = *self;
        let Met { one_bit, past_one_bit, folded, in_place, .. } = *self;
        let Met { log_merged, log_switched, log_moved, merged_along, .. } = *self;
        let Met { packed, split, moved_shared, padded, dropped_clean, by_sectors, .. } = *self;
        let Met { paged, map_moved, map_followed, .. } = *self;
        let Met { cheap, dear, rewritten, not_rewritten, reset, appended, .. } = *self;
        [
            ("collected", collected),
            ("read an old copy", old_copy_read),
            ("shared operations", shared_operations),
            ("cached", cached),
            ("paused", paused),
            ("stalled", stalled),
            ("reloaded", reloaded),
            ("failed", failed),
            ("refused", refused),
            ("written with one bit a cell", one_bit),
            ("written past the SLC cache", past_one_bit),
            ("folded", folded),
            ("programmed in place", in_place),
            ("merged blocks of a log", log_merged),
            ("switched a log block", log_switched),
            ("moved what a throttle left over", log_moved),
            ("merged along with another plane", merged_along),
            ("packed", packed),
            ("split a page", split),
            ("collected where pages are shared", moved_shared),
            ("padded a block", padded),
            ("dropped a clean page", dropped_clean),
            ("written back by sectors", by_sectors),
            ("wrote back entries of the map", paged),
            ("collected blocks of the map", map_moved),
            ("updated the map after collection", map_followed),
            ("wrote at low cost", cheap),
            ("wrote at high cost", dear),
            ("rewrote for readers", rewritten),
            ("gave up rewriting", not_rewritten),
            ("reset zones", reset),
            ("appended to zones", appended),
        ]
    }
}

/// A command of the first stream.
fn plain(op: Op, range: Range<u64>) -> Command {
    Command { op, range, stream: 0, fua: false }
}

/// Where nothing fails, and no block is closed early because its data is old, the parity of a closed stripe covers all of
/// the stripe.
fn covered_at_least(device: &Device<(), Versions>) -> usize {
    let whole = device.ftl().life().is_none() && device.ftl().refreshes().is_none();
    let stripes = device.ftl().stripes().filter(|_| whole);
    stripes.map_or(0, |stripes| stripes.layout().width() as usize - 1)
}

/// Whether reads may end as unreadable on a device that continues with another configuration.
fn may_lose_more(bench: &Bench, config: &Config) -> bool {
    let none = |config| !may_lose(config, None);
    bench.may_lose || !(none(&bench.config) && none(config))
}

/// The device and its judge.
pub struct Bench {
    device: Device<(), Versions>,
    config: Config,
    canary: Option<Canary>,
    judge: Judge,
    per_page: u64,
    /// Pages that were ever trimmed: nobody outside knows since when.
    trimmed: BTreeSet<Lpn>,
    /// Whether reads may end as unreadable.
    may_lose: bool,
    /// The least number of flash pages that the parity of closed stripes covers.
    least: usize,
    /// Whether everything was refreshed from the start, so that nothing may be lost.
    refreshes: bool,
    zones: ZoneHost,
    pub met: Met,
}

impl Bench {
    /// A new device, with a planted bug if one is named.
    pub fn new(config: Config, canary: Option<Canary>) -> Bench {
        let setup = DeviceSetup::new(&config, SEED).checking();
        let geometry = setup.ftl.geometry.clone();
        let per_page = geometry.sectors_per_unit();
        let versions = Versions::new(geometry.physical_pages(), per_page);
        let layout = setup.ftl.stripes.clone();
        let versions = versions.with_parity(layout.as_ref());
        let versions = if setup.ftl.mapping.translates() { versions } else { versions.in_place() };
        let mut device = assemble_with(setup, (), versions);
        canary.into_iter().for_each(|canary| device.plant(canary));
        // A new device holds zeros.
        if device.ftl().translates() {
            let all = (0..device.ftl().logical_pages()).map(Lpn::new);
            let held: Vec<_> =
                all.filter_map(|page| Some((page, device.ftl().look_up(page)?))).collect();
            device.contents_mut().hold(held.into_iter());
        }
        Bench {
            judge: Judge::new(
                device.capacity_sectors(),
                per_page.into(),
                Promises::on_flash(&config),
            ),
            refreshes: device.ftl().refreshes().is_some() && !reads_fail(&config),
            may_lose: may_lose(&config, layout.as_ref()),
            least: covered_at_least(&device),
            device,
            config,
            canary,
            per_page: per_page.into(),
            trimmed: BTreeSet::new(),
            zones: ZoneHost::default(),
            met: Met::default(),
        }
    }

    /// Saves the device and continues with another configuration, if that one fits this flash.
    pub fn reload(self, config: Config) -> Result<Bench, String> {
        let mut bench = self;
        if !differences(&bench.config, &config).is_empty() {
            return Ok(bench);
        }
        let rested = bench.device.rest(&mut Vec::new());
        bench.device.contents_mut().take_finished();
        bench.note();
        // A device that came to its end with data in DRAM can't be saved: it continues as it is.
        if rested.is_err() {
            return Ok(bench);
        }
        // Every other one is saved in chunks, as large devices are, and most of these stay packed.
        let (in_chunks, packed) = match bench.device.now().0 % 8 {
            0..4 => (false, false),
            4..7 => (true, true),
            _ => (true, false),
        };
        let snapshot = match in_chunks {
            true => saved_in_chunks(&bench.device, FEW),
            false => bench.device.save(),
        };
        let mut versions = bench.device.contents().clone();
        versions.forget_accesses();
        let resume = Resume::between(&bench.config.options, &config.options, true);
        let mut device = assemble_with(DeviceSetup::new(&config, SEED).checking(), (), versions);
        bench.canary.into_iter().for_each(|canary| device.plant(canary));
        let loaded = match packed {
            true => device.load_packed(&snapshot, resume),
            false => device.load(&snapshot, resume),
        };
        // One that came to its end, or lost a die, can't become one on which nothing fails.
        let lost = !bench.device.ftl().dead_dies_on_flash().is_empty();
        if (bench.device.end_of_life().is_some() || lost) && device.ftl().life().is_none() {
            return loaded
                .is_err()
                .then_some(bench)
                .ok_or_else(|| "a dead device revived".to_owned());
        }
        // Nor can one that lost blocks that the other device needs for collection.
        let too_few = |damage: &Damage| damage.to_string().contains("must be good so that");
        if loaded.as_ref().is_err_and(too_few) {
            return Ok(bench);
        }
        loaded.map_err(|damage| format!("an image: {damage}"))?;
        let met = Met { reloaded: true, ..bench.met };
        // Earlier failures add to later ones.
        let may_lose = may_lose_more(&bench, &config);
        // Data that aged under the other device may already be lost.
        let mut judge = bench.judge;
        judge.promise(Promises::on_flash(&config));
        let least = bench.least.min(covered_at_least(&device));
        Ok(Bench { device, config, judge, met, may_lose, least, refreshes: false, ..bench })
    }

    /// Submits the whole load.
    pub fn run(&mut self, load: &CaseLoad) -> Result<(), String> {
        let capacity = self.device.capacity_sectors();
        if load.fills && self.device.zones().is_none() {
            let size = (capacity / 16).max(1).next_multiple_of(self.per_page);
            for first in (0..capacity).step_by(size as usize) {
                self.make_room(load.depth, 0)?;
                self.submit(plain(Op::Write, first..(first + size).min(capacity)));
            }
        }
        for step in &load.steps {
            self.step(step, load.depth)?;
        }
        self.finish()
    }

    fn step(&mut self, step: &Step, depth: usize) -> Result<(), String> {
        self.make_room(depth, step.stream)?;
        let until = self.device.now() + step.pause;
        while step.pause.0 > 0 && self.advance(until)? == Advanced::Completed {}
        while self.zones.must_wait(step, &self.device) {
            if self.advance(SimTime::FOREVER)? == Advanced::Idle {
                return self.is_empty();
            }
        }
        self.submit(zoned::command(step, &self.device, self.per_page));
        Ok(())
    }

    /// Waits until another command fits, as a host that respects its queues does.
    fn make_room(&mut self, depth: usize, stream: u32) -> Result<(), String> {
        let queue = self.device.queue_of(stream);
        while self.device.requests_in_flight() >= depth || !self.device.has_room(queue) {
            if self.advance(SimTime::FOREVER)? == Advanced::Idle {
                return self.is_empty();
            }
        }
        Ok(())
    }

    fn submit(&mut self, command: Command) {
        // A device at its end no longer changes anything, and without translation there is nothing
        // to trim.
        let ended = self.device.end_of_life().is_some();
        let trims = command.op == Op::Trim;
        let goes_on = !ended && (!trims || self.device.ftl().translates());
        if goes_on && trims {
            let changed = changes(Op::Trim, &command.range, self.per_page);
            let pages = changed.start / self.per_page..changed.end.div_ceil(self.per_page);
            self.trimmed.extend(pages.map(|page| Lpn::new(page as u32)));
        }
        let request = self.judge.begin(command.clone(), goes_on);
        self.zones.submitted(request.tag, &command, self.device.zones());
        let request = zoned::addressed(request, self.device.zones());
        self.device.submit(self.device.now(), request);
    }

    /// Runs the device until something completes or `limit` comes, and judges the completion.
    fn advance(&mut self, limit: SimTime) -> Result<Advanced, String> {
        let mut done = Vec::new();
        let advanced = self.device.advance_until(limit, &mut done);
        let mut finished = self.device.contents_mut().take_finished();
        zoned::with_gaps(self.device.zones(), &mut finished);
        assert!(finished.iter().map(|(completion, _)| completion).eq(&done), "completions differ");
        for (completion, found) in &finished {
            self.completed(completion, found)?;
        }
        Ok(advanced)
    }

    fn completed(&mut self, completion: &Completion, found: &FoundVersions) -> Result<(), String> {
        let op = completion.request.op;
        if completion.outcome == Outcome::ReadOnly {
            // Whether it changed anything stays open.
            let ended = self.device.end_of_life().is_some();
            let refuses = ended || !self.device.ftl().dead_dies().is_empty();
            assert!(op != Op::Read && refuses, "{completion:?}");
            self.met.refused = true;
        }
        let at_work = self.refreshes && self.device.end_of_life().is_none();
        if completion.outcome == Outcome::Unreadable && at_work {
            return Err(format!("lost in spite of refresh: {completion:?}"));
        }
        if completion.outcome == Outcome::Unreadable && !self.may_lose {
            return Err(format!("a read was lost though nothing may be: {completion:?}"));
        }
        let refuses =
            self.device.end_of_life().is_some() || !self.device.ftl().dead_dies().is_empty();
        let zones = self.device.zones();
        self.zones.note_gone(zones)?;
        if zoned::met_gone(completion, zones) {
            let is_gone = |sector| zoned::is_gone(zones, sector);
            self.judge.check_gone(completion.request.tag, is_gone)?;
        } else if matches!(completion.outcome, Outcome::Zone(_))
            && !zoned::may_be(completion.outcome, refuses)
        {
            return Err(format!("a command that keeps to the rules fails: {completion:?}"));
        }
        self.zones.ended(completion.request.tag);
        self.judge.end(completion, found)?;
        match (op, completion.outcome) {
            // With capacitors, data in DRAM is as safe as on flash.
            (Op::Flush, Outcome::Done) if !self.config.options.power.capacitors.is_on() => {
                self.judge_flash()
            }
            _ => Ok(()),
        }
    }

    /// A power cut now must leave everything that was flushed.
    fn judge_flash(&self) -> Result<(), String> {
        // A device without translation has no zones either.
        let pages = match self.device.ftl().translates() {
            true => u64::from(self.device.ftl().logical_pages()),
            false => self.device.capacity_sectors() / self.per_page,
        };
        for page in (0..pages as u32).map(Lpn::new) {
            let ftl = self.device.ftl();
            let (parts, held) = match ftl.translates() {
                true => {
                    let parts = ftl.fragments(page);
                    (parts, self.device.contents().read_parts(page, parts))
                }
                false => {
                    let at = ftl.look_up(page).expect("every page has its place");
                    let held = self.device.contents().on_flash(at).expect("it holds something");
                    ([None, None], held.1.to_vec())
                }
            };
            let noted = parts.iter().flatten().map(|part| part.sectors);
            let noted = noted.fold(SectorMask::EMPTY, SectorMask::and_also);
            // Data known to be lost tells nothing more.
            let lost =
                parts.iter().flatten().map(|part| ftl.lost().at(part.at).within(part.sectors));
            let lost = lost.fold(SectorMask::EMPTY, SectorMask::and_also);
            let first = u64::from(page.get()) * self.per_page;
            let first = self.device.zones().map_or(first, |it| it.with_gaps(Lba(first)).0);
            for sector in (0..self.per_page).filter(|sector| lost.0 >> sector & 1 == 0) {
                let version = held[sector as usize];
                if ftl.translates()
                    && version != 0
                    && !noted.sectors().any(|noted| u64::from(noted) == sector)
                {
                    return Err(format!("{parts:?} hold sector {sector}, which is not noted"));
                }
                self.judge
                    .check_remains(first + sector, version)
                    .map_err(|error| format!("after a flush, on flash at {parts:?}: {error}"))?;
            }
        }
        Ok(())
    }

    /// Completes everything, then flushes everything, then reads everything.
    fn finish(&mut self) -> Result<(), String> {
        let capacity = self.device.capacity_sectors();
        self.advance_to_idle()?;
        self.submit(plain(Op::Flush, 0..0));
        self.advance_to_idle()?;
        self.judge_pasts()?;
        let contents = self.device.contents();
        let parity =
            contents.parity().map(|parity| parity.check(self.least, |at| contents.words(at)));
        parity.unwrap_or(Ok(()))?;
        for range in zoned::pieces(self.device.zones(), 0..capacity) {
            self.make_room(MOST_AT_ONCE, 0)?;
            self.submit(plain(Op::Read, range));
        }
        self.advance_to_idle()?;
        zoned::check_gone(&self.device)?;
        self.note();
        Ok(())
    }

    /// The cost regulator knows what the host did to each page last.
    fn judge_pasts(&self) -> Result<(), String> {
        let regulation = self.device.ftl().regulation();
        let agcr = self.config.options.ftl.cost.policy.agcr();
        // Trims of zones are not recorded here.
        let judged = agcr.is_some() && self.device.zones().is_none();
        let Some(regulation) = regulation.filter(|_| judged) else { return Ok(()) };
        let accessed = self.device.contents().written_last().iter();
        for (&page, &written) in accessed.filter(|(page, _)| !self.trimmed.contains(page)) {
            let past = regulation.past(page);
            let only = if written { Past::Written } else { Past::Read };
            if past != only && past != Past::Interleaved {
                return Err(format!("{page:?} is recorded as {past:?}, and was last {only:?}"));
            }
        }
        Ok(())
    }

    fn advance_to_idle(&mut self) -> Result<(), String> {
        while self.advance(SimTime::FOREVER)? != Advanced::Idle {}
        self.is_empty()
    }

    /// Checks that an idle device holds no requests.
    fn is_empty(&self) -> Result<(), String> {
        match self.device.requests_in_flight() {
            0 => Ok(()),
            stuck => Err(format!("the device is stuck with {stuck} requests in it")),
        }
    }

    fn note(&mut self) {
        let (done, overlaps) = (self.device.flash().done(), self.device.flash().overlaps());
        let rmw: u64 = done[Origin::ReadModifyWrite as usize].iter().sum();
        let met = &mut self.met;
        met.collected |= self.device.ftl_counts().gc_runs > 0;
        met.old_copy_read |= rmw > 0;
        met.shared_operations |= overlaps.multi_plane.iter().any(|&shared| shared > 0);
        met.cached |= overlaps.cached_reads + overlaps.cached_programs > 0;
        met.paused |= overlaps.program_pauses + overlaps.erase_pauses > 0;
        let losses = self.device.ftl().life().map(|life| *life.losses());
        met.failed |= losses.is_some_and(|all| all.program_failures + all.erase_failures > 0);
        met.stalled |= self.device.buffer_counts().waited > 0;
        let slc = self.device.ftl().slc_counts().copied().unwrap_or_default();
        met.one_bit |= slc.written > 0;
        met.past_one_bit |= slc.bypassed > 0;
        let folds = self.device.ftl_counts().by_purpose[ftlab::ftl::gc::Purpose::Fold as usize];
        met.folded |= folds.pages > 0;
        met.in_place |= !self.device.ftl().translates();
        let counts = self.device.merger().map(|merger| *merger.counts()).unwrap_or_default();
        met.log_merged |= counts.merges() > 0;
        met.log_switched |= counts.switch + counts.partial > 0;
        met.log_moved |= counts.moved > 0;
        met.merged_along |= counts.along > 0;
        self.note_packing();
        let map = self.device.ftl().map_on_flash().map(|map| *map.counts()).unwrap_or_default();
        let met = &mut self.met;
        met.paged |= map.write_backs > 0;
        met.map_moved |= map.blocks > 0;
        met.map_followed |= map.programs[Cause::Collection as usize] > 0;
        let [low, _, high] = self.device.flash().costs().programs[Origin::Host as usize];
        met.cheap |= low > 0;
        met.dear |= high > 0;
        let rewrites = self.device.rewriter().map(|rewriter| *rewriter.counts());
        let rewrites = rewrites.unwrap_or_default();
        met.rewritten |= rewrites.done > 0;
        met.not_rewritten |= rewrites.written + rewrites.high > 0;
        let zones = self.device.zones().map(|zones| *zones.counts()).unwrap_or_default();
        met.reset |= zones.resets > 0;
        met.appended |= zones.appends > 0;
    }

    /// Adds what packing, and buffers that pad or keep clean pages, have met.
    fn note_packing(&mut self) {
        let counts = self.device.buffer_counts();
        let pieces = self.device.ftl().rmap().map(|map| map.most()).unwrap_or_default();
        let met = &mut self.met;
        met.packed |= counts.packs > 0;
        met.split |= pieces.fragmented > 0;
        met.moved_shared |= pieces.shared > 0 && self.device.ftl_counts().gc_pages > 0;
        met.padded |= counts.padded > 0;
        met.dropped_clean |= counts.dropped > 0;
        let dram = self.config.options.cache.policy.dram();
        let by_sectors = dram.is_some_and(|dram| dram.space == Space::Sectors);
        met.by_sectors |= by_sectors && counts.written_back > 0;
    }
}
