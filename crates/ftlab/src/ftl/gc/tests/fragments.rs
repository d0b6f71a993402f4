//! Checks fragments and shared pages against a naive model: random writes, packs, trims and collections, with programs
//! in flight and an occasional image. Every read must return what was last written.

use std::collections::BTreeMap;

use proptest::strategy::Strategy;

use crate::config::{Config, Layer};
use crate::device::DeviceSetup;
use crate::engine::skills;
use crate::ftl::gc::collection;
use crate::ftl::placement::PlacementPolicy;
use crate::ftl::streams::WriteStream;
use crate::ftl::{Fragment, Ftl, fragments};
use crate::image::{Resume, Snapshot, Unpack};
use crate::units::{Lpn, PlaneId, Ppn, SectorMask};

const SECTORS: u32 = 8;
const PLANES: u32 = 2;
/// So few that most are overwritten often.
const PAGES: u32 = 72;
/// The most programs in flight.
const IN_FLIGHT: usize = 5;

const SMALL: [&str; 8] = [
    "nand.channels=1",
    "nand.chips_per_channel=1",
    "nand.dies_per_chip=1",
    "nand.planes_per_die=2",
    "nand.blocks_per_plane=12",
    "nand.pages_per_block=8",
    "ftl.over_provisioning=140%",
    "ftl.mapping.policy=reconstruction",
];

fn ftl(placement: &str) -> Ftl {
    let placement = format!("ftl.placement.policy={placement}");
    let sets = SMALL
        .into_iter()
        .chain([&*placement])
        .zip(1..)
        .map(|(set, number)| Layer::set(number, set));
    let layers: Vec<Layer> = std::iter::once(Layer::preset("tiny")).chain(sets).collect();
    let config = Config::load(&layers).expect("it is sound");
    let ftl = Ftl::new(DeviceSetup::new(&config, 1).ftl);
    assert!(ftl.packs() && ftl.full_page().count() == SECTORS && ftl.logical_pages() >= PAGES);
    ftl
}

/// The versions of the sectors of a page.
type Versions = [Option<u32>; SECTORS as usize];

/// A program in flight.
#[derive(Clone, Debug)]
struct Program {
    at: Ppn,
    /// The pages on it, and whether they are still needed.
    pages: Vec<(Lpn, bool)>,
}

/// A step: its kind, two pages, and sectors of each.
type Step = (u8, u32, u32, u8, u8);

struct Bench {
    placement: &'static str,
    ftl: Ftl,
    /// What the host wrote last.
    written: BTreeMap<Lpn, Versions>,
    /// What was programmed.
    flash: BTreeMap<(Ppn, Lpn), Versions>,
    in_flight: Vec<Program>,
    version: u32,
    /// Copies made before the last image was loaded, and the stale ones among them.
    copied: [u64; 2],
}

fn mask(bits: u8) -> SectorMask {
    SectorMask(u128::from(bits))
}

impl Bench {
    fn new(placement: &'static str) -> Bench {
        Bench {
            placement,
            ftl: ftl(placement),
            written: BTreeMap::new(),
            flash: BTreeMap::new(),
            in_flight: Vec::new(),
            version: 0,
            copied: [0; 2],
        }
    }

    fn step(&mut self, (what, one, other, first, second): Step) {
        let (page, mate) = (Lpn::new(one % PAGES), Lpn::new(other % PAGES));
        match what {
            0..3 => self.write(page, mask(first)),
            3..9 => self.pack([(page, mask(first)), (mate, mask(second))]),
            9 => self.trim(page),
            10 => self.collect(PlaneId::new(one % PLANES), other, first),
            11 => self.save_and_load(),
            _ => self.finish(other),
        }
    }

    fn is_in_flight(&self, page: Lpn) -> bool {
        self.in_flight.iter().flat_map(|program| &program.pages).any(|&(other, _)| other == page)
    }

    /// Takes a place for a program, on a plane to which the page may go.
    fn place(&mut self, page: Lpn) -> Ppn {
        let pool = self.ftl.policies.placement.pool(page);
        let planes = (0..PLANES).map(PlaneId::new);
        let planes = planes.filter(|&plane| self.ftl.policies.placement.pool_of(plane) == pool);
        let plane = planes.max_by_key(|&plane| self.ftl.free_blocks(plane));
        let plane = plane.expect("every pool has planes");
        while self.ftl.free_blocks(plane) <= self.ftl.space.thresholds.start {
            let before = self.ftl.counts().gc_runs;
            self.collect(plane, 1, 0);
            assert!(self.ftl.counts().gc_runs > before, "{plane:?} has nothing to collect");
        }
        let reserve = self.ftl.space.thresholds.reserve;
        let at = crate::ftl::room::take_page::<{ skills::ALL }>(
            plane,
            WriteStream::new(0),
            reserve,
            &mut self.ftl,
        );
        at.expect("there is room")
    }

    /// Notes what a page is programmed with: new sectors, and others from where they lie.
    fn program(&mut self, at: Ppn, page: Lpn, new: SectorMask, gathers: bool) -> SectorMask {
        let (mut all, mut versions) = (new, Versions::default());
        for part in self.ftl.fragments(page).into_iter().flatten().filter(|_| gathers) {
            all = all.and_also(part.sectors);
            for sector in part.sectors.sectors() {
                versions[sector as usize] = self.flash[&(part.at, page)][sector as usize];
            }
        }
        self.version += 1;
        for sector in new.sectors() {
            versions[sector as usize] = Some(self.version);
        }
        self.flash.insert((at, page), versions);
        all
    }

    /// The host has written: nobody may read anything older.
    fn note_written(&mut self, page: Lpn, new: SectorMask, at: Ppn) {
        let from = self.flash[&(at, page)];
        let versions = self.written.entry(page).or_default();
        for sector in new.sectors() {
            versions[sector as usize] = from[sector as usize];
        }
    }

    fn write(&mut self, page: Lpn, new: SectorMask) {
        if self.is_in_flight(page) || new.is_empty() {
            return;
        }
        self.make_way();
        let at = self.place(page);
        let all = self.program(at, page, new, true);
        self.ftl.record::<{ skills::ALL }>(at, page, all);
        self.note_written(page, new, at);
        self.in_flight.push(Program { at, pages: vec![(page, true)] });
    }

    fn pack(&mut self, parts: [(Lpn, SectorMask); 2]) {
        let [(one, first), (other, second)] = parts;
        let fits = first.count() + second.count() <= SECTORS;
        let busy = parts.iter().any(|&(page, _)| self.is_in_flight(page));
        let room = fragments::fragment_room(&self.ftl) >= parts.len() as u32;
        let may = room
            && parts.iter().all(|&(page, sectors)| fragments::may_pack(page, sectors, &self.ftl));
        if one == other || busy || !may || !fits {
            return;
        }
        self.make_way();
        let at = self.place(one);
        parts.iter().for_each(|&(page, new)| {
            self.program(at, page, new, false);
        });
        fragments::record_pack(at, parts, &mut self.ftl);
        parts.iter().for_each(|&(page, new)| self.note_written(page, new, at));
        self.in_flight.push(Program { at, pages: vec![(one, true), (other, true)] });
    }

    fn make_way(&mut self) {
        if self.in_flight.len() == IN_FLIGHT {
            self.finish(0);
        }
    }

    /// A program is done.
    fn finish(&mut self, which: u32) {
        if self.in_flight.is_empty() {
            return;
        }
        let Program { at, pages } = self.in_flight.remove(which as usize % self.in_flight.len());
        let is_pack = pages.len() > 1;
        for (page, _) in pages.into_iter().filter(|&(_, wanted)| wanted) {
            match is_pack {
                true => fragments::commit_fragment(page, at, &mut self.ftl),
                false => self.ftl.commit::<{ skills::ALL }>(page, at),
            }
        }
        self.ftl.programmed_for_host::<{ skills::ALL }>(at, 1);
    }

    fn trim(&mut self, page: Lpn) {
        self.ftl.trim(page);
        self.written.remove(&page);
        let pages = self.in_flight.iter_mut().flat_map(|program| &mut program.pages);
        pages.filter(|(other, _)| *other == page).for_each(|(_, wanted)| *wanted = false);
    }

    /// Collects a block. Between the placement and the end of a copy, programs end and pages are trimmed.
    fn collect(&mut self, plane: PlaneId, salt: u32, interfere: u8) {
        let Some(wanted) = collection::next_to_collect(plane, &mut self.ftl) else { return };
        collection::begin_collection(plane, wanted, &mut self.ftl);
        let mut next = self.ftl.blocks.next_valid(wanted.block, 0);
        while let Some(unit) = next {
            let from = self.ftl.geometry.page_at(wanted.block, unit);
            let to = crate::ftl::room::place_copy::<{ skills::ALL }>(plane, from, &mut self.ftl)
                .expect("there is room for copies");
            collection::record_collected::<{ skills::ALL }>(from, to, &mut self.ftl);
            self.copy_bytes(from, to);
            match (interfere >> (unit % u8::BITS) & 1, salt % 3) {
                (0, _) => {}
                (_, 0) => self.trim(Lpn::new((salt + unit) % PAGES)),
                (_, 1) => self.finish(salt + unit),
                // The pages that live there are trimmed.
                _ => {
                    let living = self.ftl.owner_of(from);
                    living.into_iter().for_each(|page| self.trim(page));
                }
            }
            collection::copied_page::<{ skills::ALL }>(from, to, &mut self.ftl);
            self.ftl.programmed::<{ skills::ALL }>(to, 1);
            self.ftl.counts.gc_pages += 1;
            next = self.ftl.blocks.next_valid(wanted.block, unit + 1);
        }
        let run = self.ftl.space.planes[plane.at()].collection.take().expect("it runs");
        collection::end_collection(plane, &run, &mut self.ftl);
        crate::ftl::room::refresh_writable::<{ skills::ALL }>(plane, &mut self.ftl);
    }

    fn copy_bytes(&mut self, from: Ppn, to: Ppn) {
        self.flash.retain(|&(at, _), _| at != to);
        let there = self.flash.range((from, Lpn::new(0))..=(from, Lpn::new(Lpn::MAX_INDEX)));
        let copied: Vec<_> = there.map(|(&(_, page), &data)| ((to, page), data)).collect();
        self.flash.extend(copied);
    }

    /// The number of copies, and of stale copies.
    fn copied(&self) -> [u64; 2] {
        let (before, counts) = (self.copied, self.ftl.counts());
        [before[0] + counts.gc_pages, before[1] + counts.gc_stale]
    }

    fn save_and_load(&mut self) {
        while !self.in_flight.is_empty() {
            self.finish(0);
        }
        let mut snapshot = Snapshot::default();
        crate::ftl::image::save(&mut snapshot, None, &self.ftl);
        let mut loaded = ftl(self.placement);
        crate::ftl::image::load(&snapshot, Resume::ALL, Unpack::Now, &mut loaded)
            .expect("it was saved just now");
        for page in (0..PAGES).map(Lpn::new) {
            assert_eq!(loaded.fragments(page), self.ftl.fragments(page));
        }
        let pieces = |ftl: &Ftl| ftl.rmap().map(|map| map.pieces());
        assert_eq!(pieces(&loaded), pieces(&self.ftl));
        self.copied = self.copied();
        self.ftl = loaded;
    }

    /// Checks that every sector lies where its newest version was programmed, unless that is in flight.
    fn check(&self) -> Result<(), String> {
        self.ftl.audit()?;
        for page in (0..PAGES).map(Lpn::new).filter(|&page| !self.is_in_flight(page)) {
            let mut read = Versions::default();
            for Fragment { at, sectors } in self.ftl.fragments(page).into_iter().flatten() {
                for sector in sectors.sectors() {
                    let place = &mut read[sector as usize];
                    if place.is_some() {
                        return Err(format!("{page:?} has sector {sector} in two parts"));
                    }
                    *place = self.flash[&(at, page)][sector as usize];
                }
            }
            let written = self.written.get(&page).copied().unwrap_or_default();
            if read != written {
                return Err(format!("{page:?} reads as {read:?}, but {written:?} was written"));
            }
        }
        Ok(())
    }
}

/// Runs steps. Returns the bench at the end.
fn run(placement: &'static str, steps: &[Step]) -> Result<Bench, String> {
    let mut bench = Bench::new(placement);
    for (number, &step) in steps.iter().enumerate() {
        bench.step(step);
        bench.check().map_err(|why| format!("after step {number}, {step:?}: {why}"))?;
    }
    Ok(bench)
}

fn steps() -> impl proptest::strategy::Strategy<Value = Vec<Step>> {
    use proptest::prelude::any;
    // About half the sectors of a page, so that many packs fit.
    let sectors = || (any::<u8>(), any::<u8>()).prop_map(|(one, other)| one & other);
    let step = (0u8..16, 0..PAGES, 0..PAGES, sectors(), sectors());
    proptest::collection::vec(step, 1..700)
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_read_is_what_was_last_written(steps in steps()) {
        for placement in ["static", "dynamic"] {
            if let Err(why) = run(placement, &steps) {
                proptest::prop_assert!(false, "{}", why);
            }
        }
    }
}

/// By hand: pages 0 and 1 are whole. Halves of both are packed. Then page 0 is written whole, and page 1 is trimmed.
#[test]
fn a_pack_by_hand() {
    let (whole, half) = (u8::MAX, 0x0f);
    let mut bench =
        run("dynamic", &[(0, 0, 0, whole, 0), (0, 1, 0, whole, 0)]).expect("whole pages");
    let finish_all = |bench: &mut Bench| (0..IN_FLIGHT).for_each(|_| bench.finish(0));
    finish_all(&mut bench);
    let [zero, one] = [0, 1].map(Lpn::new);
    let before = [zero, one].map(|page| bench.ftl.look_up(page).expect("it was written"));
    bench.step((3, 0, 1, half, half));
    finish_all(&mut bench);
    let at = bench.ftl.look_up(zero).expect("it was packed");
    for (page, before) in [zero, one].into_iter().zip(before) {
        let newer = Fragment { at, sectors: mask(half) };
        let older = Fragment { at: before, sectors: mask(!half) };
        assert_eq!(bench.ftl.fragments(page), [Some(newer), Some(older)]);
        // Three parts are too many, but one that covers another is allowed.
        assert!(!fragments::may_pack(page, mask(0x3c), &bench.ftl));
        assert!(fragments::may_pack(page, mask(half), &bench.ftl));
    }
    let counts = |bench: &Bench| {
        let map = bench.ftl.rmap().expect("it packs");
        (map.packs(), map.pieces().fragmented, map.pieces().shared)
    };
    assert_eq!(counts(&bench), (1, 2, 1));
    let is_valid = |bench: &Bench, at| {
        let (block, unit) = bench.ftl.geometry.place_of(at);
        bench.ftl.blocks.is_valid(block, unit)
    };
    bench.write(zero, mask(whole));
    finish_all(&mut bench);
    assert_eq!(counts(&bench), (1, 1, 0));
    assert_eq!([before[0], before[1], at].map(|at| is_valid(&bench, at)), [false, true, true]);
    bench.trim(one);
    assert_eq!(counts(&bench), (1, 0, 0));
    assert_eq!([before[0], before[1], at].map(|at| is_valid(&bench, at)), [false; 3]);
    assert_eq!(bench.check(), Ok(()));
}

/// Random steps reach everything that they are to try.
#[test]
fn random_steps_fragment_pages_and_collect_them() {
    let mut state = 1u64;
    let mut draw = |bound: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % bound
    };
    let steps: Vec<Step> = (0..4_000)
        .map(|_| {
            let pages = [0; 2].map(|_| draw(u64::from(PAGES)) as u32);
            let [first, second] = [0; 2].map(|_| (draw(256) & draw(256)) as u8);
            (draw(16) as u8, pages[0], pages[1], first, second)
        })
        .collect();
    let bench = run("dynamic", &steps).expect("nothing is lost");
    let most = bench.ftl.rmap().expect("it packs").most();
    // The limit of packing leaves no room for more.
    let pieces = (most.fragmented > PAGES / 8, most.shared > PAGES / 8);
    assert_eq!(pieces, (true, true), "{most:?}");
    let [copied, stale] = bench.copied();
    assert!(copied > 100 && stale > 10, "{copied} copies, {stale} in vain");
}
