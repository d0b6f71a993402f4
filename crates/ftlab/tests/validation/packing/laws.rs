//! Random devices that pack pages, and their invariants: a read returns what was last written, flushed
//! data survives a power cut at any time, fragments and owners agree, and a pack saves exactly one
//! program.

use std::collections::BTreeMap;

use ftlab::engine::Stream;
use ftlab::ftl::gc::{Purpose, Wanted};
use ftlab::host::{Advanced, Host};
use ftlab::scheduler::{Kind, Origin};
use ftlab::units::{BlockId, Lpn, Nanos, Ppn, SectorMask};
use proptest::prelude::*;
use proptest::sample::select;

use crate::common::random::{self, Step, legal, page_kib, wider};
use crate::common::{Spec, caching, failing};
use crate::contents::{Bench, cases};
use crate::met::{Met, check_runs};

/// Steps of a run.
const STEPS: usize = 300;
/// The longest time before a power cut.
const LONGEST: u64 = 2_000_000;

/// A device of any kind, with a buffer that packs and, often, room for the stale data that packing keeps.
fn spec() -> impl Strategy<Value = Spec> {
    let any = prop_oneof![3 => random::drawn(), 1 => caching::drawn(), 1 => failing::drawn()];
    let policy = select(vec!["prlru", "prlru-adaptive"]);
    (any, policy, 2u32..=12, 2u32..=14, 20u32..=100).prop_map(
        |(spec, policy, pages, more, share)| {
            let kept = |path: &str| {
                let others = ["cache.append_start", "cache.append_together", "cache.read."];
                others.iter().any(|other| path.starts_with(other))
            };
            let buffered = spec.get("cache.capacity").is_some();
            // Units of 64 KiB have too many sectors to be worth testing here.
            let spec = match spec.get("ftl.mapping.unit") {
                Some("32KiB" | "64KiB") => spec.set("ftl.mapping.unit", "16KiB"),
                _ => spec,
            };
            let spec = spec
                .without(kept)
                .set("ftl.mapping.policy", "reconstruction")
                .set("ftl.mapping.entries", "100%")
                .set("ftl.placement.policy", "dynamic")
                .set("cache.policy", policy);
            let spec = match buffered {
                true => spec,
                // No less than a flash page.
                false => {
                    let capacity = (u64::from(pages) * 4).max(page_kib(&spec));
                    spec.set("cache.capacity", format!("{capacity}KiB"))
                }
            };
            legal(wider(spec, more), share)
        },
    )
}

/// Mostly small writes, so that there is something to pack.
fn step() -> impl Strategy<Value = Step> {
    (random::step(), 1u32..=4, 0u32..4).prop_map(|(step, eighths, large)| match large {
        0 => step,
        _ => Step { eighths, aligned: step.aligned && large == 1, ..step },
    })
}

fn run() -> impl Strategy<Value = (Spec, usize, Vec<Step>, u64)> {
    let depth = select(vec![1usize, 2, 8, 32]);
    (spec(), depth, proptest::collection::vec(step(), STEPS / 2..=STEPS), any::<u64>())
}

/// A device at work, whose power may be cut at any time.
struct Cut {
    bench: Bench,
    random: Stream,
    /// The pages that shared each physical page at the last look.
    shared: BTreeMap<(Lpn, Lpn), Ppn>,
    packs: u64,
    moved_both: bool,
}

impl Cut {
    fn new(spec: &Spec, seed: u64) -> Cut {
        let mut bench = Bench::new(spec, None);
        bench.expect_cuts();
        let random = Stream::new(seed, "cuts");
        Cut { bench, random, shared: BTreeMap::new(), packs: 0, moved_both: false }
    }

    /// Performs steps, each followed by a cut at a random time; blocks are emptied now and then.
    fn run(&mut self, depth: usize, steps: &[Step]) -> Result<(), String> {
        for step in steps.chunks(1) {
            self.bench.steps(depth, step)?;
            let span = Nanos(self.random.below(LONGEST));
            let until = self.bench.device.now() + span;
            while self.random.below(2) == 0 && self.bench.advance(until)? == Advanced::Completed {}
            self.bench.cut()?;
            self.look()?;
            if self.random.below(16) == 0 {
                self.bench.audit()?;
                let blocks = self.bench.device.flash().geometry().blocks();
                let block = BlockId::new(self.random.below(blocks.into()) as u32);
                self.bench.device.collect(Wanted { block, purpose: Purpose::WearLevel });
            }
        }
        self.bench.finish()?;
        self.bench.cut()?;
        self.look()?;
        self.count_programs()
    }

    /// Checks that every part owns sectors that no other part owns, and shares its page with at most one other.
    fn look(&mut self) -> Result<(), String> {
        let ftl = self.bench.device.ftl();
        let mut owners = BTreeMap::<Ppn, Vec<(Lpn, SectorMask)>>::new();
        for page in (0..ftl.logical_pages()).map(Lpn::new) {
            let parts = ftl.fragments(page);
            if let [Some(newer), Some(older)] = parts
                && (newer.at == older.at || !newer.sectors.within(older.sectors).is_empty())
            {
                return Err(format!("{page:?} lies at {parts:?}"));
            }
            for part in parts.into_iter().flatten() {
                owners.entry(part.at).or_default().push((page, part.sectors));
            }
        }
        let mut shared = BTreeMap::new();
        for (at, owners) in owners {
            let sectors: u32 = owners.iter().map(|(_, sectors)| sectors.count()).sum();
            if owners.len() > 2 || sectors > ftl.full_page().count() {
                return Err(format!("{at:?} holds {owners:?}"));
            }
            if let [(one, _), (other, _)] = owners[..] {
                shared.insert((one, other), at);
            }
        }
        let packs = self.bench.device.buffer_counts().packs;
        let moved = |(pair, at)| self.shared.get(pair).is_some_and(|before| before != at);
        self.moved_both |= packs == self.packs && shared.iter().any(moved);
        (self.shared, self.packs) = (shared, packs);
        Ok(())
    }

    /// With one unit a page, a written-back page costs one program, and each pack saves one. Failed
    /// programs were repeated.
    fn count_programs(&self) -> Result<(), String> {
        let device = &self.bench.device;
        let geometry = device.flash().geometry();
        let failed = device.ftl().life().map_or(0, |life| life.losses().program_failures);
        if geometry.units_per_page() > 1 || failed > 0 || device.end_of_life().is_some() {
            return Ok(());
        }
        let counts = device.buffer_counts();
        let programs = device.flash().done()[Origin::Host as usize][Kind::Program as usize];
        match programs == counts.written_back - counts.packs {
            true => Ok(()),
            false => Err(format!("{programs} programs, and {counts:?}")),
        }
    }

    /// What the run met.
    fn met(&self, spec: &Spec) -> [(&'static str, bool); 16] {
        let device = &self.bench.device;
        let geometry = device.flash().geometry();
        let most = device.ftl().rmap().map(|map| map.most()).unwrap_or_default();
        let rmw = device.flash().done()[Origin::ReadModifyWrite as usize][Kind::Read as usize];
        let packed = self.packs > 0;
        let failures = device.ftl().life().map_or(0, |life| life.losses().program_failures);
        [
            ("packed", packed),
            ("saved no program", self.packs == 0),
            ("split", most.fragmented > 0),
            ("split and gathered", most.fragmented > 0 && rmw > 0),
            ("shared", most.shared > 0),
            ("moved with both owners", self.moved_both),
            ("packed in units of a flash page", packed && geometry.units_per_page() > 1),
            ("counted", packed && geometry.units_per_page() == 1 && failures == 0),
            ("packed in rows", packed && spec.setup().flash.abilities.multi_plane.program),
            ("packed beside streams", packed && device.ftl().streams().host_streams() > 1),
            ("packed on several planes", packed && geometry.planes() > 1),
            ("packed in an SLC cache", packed && device.ftl().slc_counts().is_some()),
            ("packed while programs fail", packed && failures > 0),
            ("packed, and came to an end", packed && device.end_of_life().is_some()),
            ("trimmed in pieces", most.fragmented > 0 && device.ftl_counts().trimmed > 0),
            ("kept reads", packed && spec.setup().buffer.keeps_reads),
        ]
    }
}

#[test]
fn packing_loses_nothing() {
    let met = Met::default();
    let config = ProptestConfig { cases: cases().cases / 4, ..cases() };
    check_runs(config, run(), |(spec, depth, steps, seed)| {
        let mut cut = Cut::new(&spec, seed);
        cut.run(depth, &steps)?;
        met.note(cut.met(&spec));
        Ok(())
    });
    met.each_at_least(2);
}
