//! External policies: what another crate can write with public items only. A copy of greedy gives
//! the same bytes as the built-in one, and so does a boxed policy of any other seam; a policy of
//! its own runs to a steady state, keeps all promises, and continues from an image.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ftlab::cache::{Fifo as FifoBuffer, Lru, WriteThrough};
use ftlab::config::{Config, Layer};
use ftlab::device::{Device, DeviceSetup, Misfit, assemble};
use ftlab::engine::Stream;
use ftlab::ftl::gc::pacing::Stall;
use ftlab::ftl::gc::{Fifo as OldestBlock, VictimPolicy, VictimView, most_valid};
use ftlab::ftl::mapping::PageMap;
use ftlab::ftl::placement::Dynamic;
use ftlab::ftl::streams::{Single, StreamCounts, StreamsPolicy, WriteStream};
use ftlab::host::{Completion, Host, Op, Request};
use ftlab::image::{Damage, ImageReader, ImageWriter, Resume, Snapshot};
use ftlab::policy::OutsidePolicy;
use ftlab::scheduler::{Arrival, Fifo as InOrder, SchedulerPolicy, View};
use ftlab::shape::Geometry;
use ftlab::units::{BlockId, Lba, Lpn, PlaneId, SimTime};

const SEED: u64 = 7;
/// The requests of a run: they write the toy device about ten times.
const REQUESTS: u32 = 60_000;
const DEPTH: u32 = 8;

/// Greedy once more: queues by number of valid pages.
#[derive(Clone, Debug)]
struct Fewest {
    /// By plane and number of valid pages: the blocks, in the order in which they reached that number.
    queues: Vec<Vec<VecDeque<BlockId>>>,
    most_valid: u32,
}

impl Fewest {
    fn new(geometry: &Geometry) -> Fewest {
        let of_plane = vec![VecDeque::new(); geometry.units_per_block() as usize + 1];
        let queues = vec![of_plane; geometry.planes() as usize];
        Fewest { queues, most_valid: most_valid(geometry) }
    }

    fn forget(&mut self, plane: PlaneId, valid: u32, block: BlockId) {
        self.queues[plane.at()][valid as usize].retain(|&other| other != block);
    }
}

impl OutsidePolicy for Fewest {
    fn name(&self) -> &'static str {
        "fewest"
    }
}

impl VictimPolicy for Fewest {
    fn closed(&mut self, view: &VictimView<'_>, block: BlockId) {
        let valid = view.blocks.valid(block) as usize;
        self.queues[view.plane.at()][valid].push_back(block);
    }

    fn lost_page(&mut self, view: &VictimView<'_>, block: BlockId) {
        self.forget(view.plane, view.blocks.valid(block) + 1, block);
        self.closed(view, block);
    }

    fn withdrawn(&mut self, view: &VictimView<'_>, block: BlockId) {
        self.forget(view.plane, view.blocks.valid(block), block);
    }

    fn candidates(&self, plane: PlaneId) -> Vec<BlockId> {
        self.queues[plane.at()].iter().flatten().copied().collect()
    }

    fn choose(&mut self, view: &VictimView<'_>) -> Option<BlockId> {
        let worth = self.queues[view.plane.at()].iter_mut().take(self.most_valid as usize + 1);
        worth.into_iter().find_map(VecDeque::pop_front)
    }
}

/// A policy that the simulator does not have: pages whose last two writes were close together are hot.
#[derive(Clone, Debug)]
struct Rhythm {
    counts: StreamCounts,
    writes: u32,
    /// By logical page: its last write, and whether the one before was close.
    pages: Vec<(u32, bool)>,
}

impl Rhythm {
    fn new(logical_pages: u32) -> Rhythm {
        let pages = vec![(0, false); logical_pages as usize];
        Rhythm { counts: StreamCounts::new(2, 1), writes: 0, pages }
    }
}

impl OutsidePolicy for Rhythm {
    fn name(&self) -> &'static str {
        "rhythm"
    }

    fn save(&self, out: &mut ImageWriter) {
        let Rhythm { counts: _, writes, pages } = self;
        out.number(*writes);
        for &(last, near) in pages {
            out.number(last);
            out.flag(near);
        }
    }

    fn load(&mut self, from: &mut ImageReader<'_>) -> Result<(), Damage> {
        let any = u64::from(u32::MAX);
        self.writes = from.below(any, "how much was written")?;
        for page in &mut self.pages {
            *page = (from.below(any, "the last write of a page")?, from.flag("its rhythm")?);
        }
        Ok(())
    }
}

impl StreamsPolicy for Rhythm {
    fn counts(&self) -> StreamCounts {
        self.counts
    }

    fn host_stream(&self, page: Lpn, _tag: u8) -> WriteStream {
        WriteStream::new(u8::from(self.pages[page.at()].1))
    }

    fn wrote(&mut self, page: Lpn) {
        self.writes = self.writes.wrapping_add(1);
        let between = self.writes.wrapping_sub(self.pages[page.at()].0);
        let near = (between as usize) < self.pages.len() / 2;
        self.pages[page.at()] = (self.writes, near);
    }
}

/// Two streams that never differ; counts the copies that it hears of.
#[derive(Clone, Debug)]
struct Listener {
    heard: Arc<AtomicU64>,
}

impl OutsidePolicy for Listener {
    fn name(&self) -> &'static str {
        "listener"
    }
}

impl StreamsPolicy for Listener {
    fn counts(&self) -> StreamCounts {
        StreamCounts::new(2, 1)
    }

    fn host_stream(&self, _page: Lpn, _tag: u8) -> WriteStream {
        WriteStream::new(0)
    }

    fn wrote(&mut self, _page: Lpn) {}

    fn hears_of_copies(&self) -> bool {
        true
    }

    fn copied(&mut self, _page: Lpn) {
        self.heard.fetch_add(1, Ordering::Relaxed);
    }
}

/// Commands in order of arrival, like the built-in `fifo`.
#[derive(Clone, Debug)]
struct InTurn;

impl OutsidePolicy for InTurn {
    fn name(&self) -> &'static str {
        "in-turn"
    }
}

impl SchedulerPolicy for InTurn {
    fn overtaking(&self) -> bool {
        false
    }

    fn rank(&mut self, arrival: &Arrival, _view: &View<'_>) -> u64 {
        arrival.sequence
    }
}

fn config(sets: &[&str]) -> Config {
    let sets = sets.iter().enumerate().map(|(at, set)| Layer::set(at + 1, set));
    let layers: Vec<_> = std::iter::once(Layer::preset("tiny")).chain(sets).collect();
    Config::load(&layers).unwrap_or_else(|error| panic!("{error}"))
}

/// Plays writes and reads of which a tenth of the addresses gets most; returns all completions.
fn play(device: &mut Device, requests: u32, random: &mut Stream) -> Vec<Completion> {
    const SECTORS: u32 = 8;
    let pages = device.capacity_sectors() / u64::from(SECTORS);
    let (mut left, mut in_flight, mut done) = (requests, 0, Vec::new());
    while left > 0 || in_flight > 0 {
        while left > 0 && in_flight < DEPTH {
            let span = if random.below(4) > 0 { pages / 10 } else { pages };
            let op = if random.below(8) == 0 { Op::Read } else { Op::Write };
            let lba = Lba(random.below(span) * u64::from(SECTORS));
            let request = Request { op, lba, sectors: SECTORS, stream: 0, tag: 0, fua: false };
            device.submit(device.now(), request);
            (left, in_flight) = (left - 1, in_flight + 1);
        }
        let before = done.len();
        device.advance_until(SimTime::FOREVER, &mut done);
        in_flight -= (done.len() - before) as u32;
    }
    device.audit().unwrap_or_else(|found| panic!("{found}"));
    done
}

/// Returns all completions of a device, and its image.
fn run(setup: DeviceSetup) -> (Vec<Completion>, Device, Snapshot) {
    let mut device = assemble(setup);
    let mut random = Stream::new(SEED, "load");
    let mut done = play(&mut device, REQUESTS, &mut random);
    device.rest(&mut done).expect("nothing wears out");
    device.audit().unwrap_or_else(|found| panic!("{found}"));
    assert!(device.ftl_counts().gc_pages > 0, "collection never began");
    let image = device.save();
    (done, device, image)
}

fn assert_same(built_in: DeviceSetup, outside: DeviceSetup, what: &str) {
    let (one, of_one, _) = run(built_in);
    let (other, of_other, _) = run(outside);
    assert_eq!(one.len(), other.len(), "{what}");
    let apart = one.iter().zip(&other).find(|(one, other)| one != other);
    assert_eq!(apart, None, "{what}");
    assert_eq!(of_one.ftl_counts(), of_other.ftl_counts(), "{what}");
    assert_eq!(of_one.flash().done(), of_other.flash().done(), "{what}");
    assert_eq!(of_one.buffer_counts(), of_other.buffer_counts(), "{what}");
}

#[test]
fn a_copy_of_greedy_gives_what_greedy_gives() {
    let config = config(&[]);
    let setup = || DeviceSetup::new(&config, SEED);
    let copy = setup().with_victim(Fewest::new(&setup().ftl.geometry));
    assert_eq!(copy.ftl.victim.name(), "fewest");
    assert_same(setup(), copy, "greedy");
    // The comparison is meaningful: another policy gives another result.
    let geometry = setup().ftl.geometry;
    let (greedy, ..) = run(setup());
    let (oldest, ..) = run(setup().with_victim(OldestBlock::new(&geometry)));
    assert_ne!(greedy, oldest);
}

#[test]
fn a_copy_of_fifo_gives_what_fifo_gives() {
    let config = config(&["scheduler.policy=fifo"]);
    let setup = || DeviceSetup::new(&config, SEED);
    assert_same(setup(), setup().with_scheduler(InTurn), "an order of arrival");
}

/// Built-in policies can be boxed too; they are moved out and in unchanged.
#[test]
fn a_boxed_policy_gives_what_it_gives_unboxed() {
    let options = ["cache.policy=lru", "cache.capacity=256KiB", "scheduler.policy=fifo"];
    let stalling = config(&[&options[..], &["ftl.gc.pacing=stall"]].concat());
    let config = config(&options);
    let setup = || DeviceSetup::new(&config, SEED);
    let (logical, geometry) = (config.logical_pages(), setup().ftl.geometry);
    let fits = |setup: Result<DeviceSetup, Misfit>| setup.unwrap_or_else(|why| panic!("{why}"));
    assert_same(setup(), fits(setup().with_write_buffer(Lru::default())), "lru");
    assert_same(setup(), fits(setup().with_mapping(PageMap::new(logical))), "page");
    assert_same(setup(), fits(setup().with_placement(Dynamic::new(&geometry))), "dynamic");
    assert_same(setup(), fits(setup().with_streams(Single::new(1))), "single");
    assert_same(setup(), setup().with_scheduler(InOrder), "fifo");
    let stalls = || DeviceSetup::new(&stalling, SEED);
    assert_same(stalls(), setup().with_pacing(Stall), "stall");
}

const TWO_STREAMS: [&str; 1] = ["ftl.streams.policy=multi-hash"];

#[test]
fn an_external_stream_policy_separates_at_steady_state() {
    let config = config(&TWO_STREAMS);
    let setup = || DeviceSetup::new(&config, SEED);
    let rhythm = setup().with_streams(Rhythm::new(config.logical_pages())).expect("it fits");
    let (_, apart, _) = run(rhythm);
    let (_, together, _) = run(setup().with_streams(Single::new(1)).expect("it fits"));
    let (apart, together) = (apart.ftl_counts().gc_pages, together.ftl_counts().gc_pages);
    assert!(apart < together, "{apart} pages were copied, and {together} without streams");
}

/// Whether several pages share a flash page or not, and whether the set of skills is small or not.
#[test]
fn a_policy_hears_of_every_copy() {
    let large = ["nand.page_size=16KiB", "ftl.mapping.unit=4KiB", "nand.pages_per_block=8"];
    let rare = ["ftl.recovery.policy=scan"];
    for more in [&[][..], &large, &rare] {
        let config = config(&[&TWO_STREAMS[..], more].concat());
        let heard = Arc::new(AtomicU64::new(0));
        let listener = Listener { heard: Arc::clone(&heard) };
        let setup = DeviceSetup::new(&config, SEED).with_streams(listener).expect("it fits");
        let (_, device, _) = run(setup);
        let (heard, copied) = (heard.load(Ordering::Relaxed), device.ftl_counts().gc_pages);
        assert_eq!(heard, copied, "{more:?}");
    }
}

#[test]
fn an_image_keeps_the_memory_of_an_external_policy() {
    let config = config(&TWO_STREAMS);
    let setup = || {
        let setup = DeviceSetup::new(&config, SEED);
        let victim = Fewest::new(&setup.ftl.geometry);
        let streams = Rhythm::new(config.logical_pages());
        setup.with_victim(victim).with_streams(streams).expect("it fits")
    };
    let (_, mut saved, image) = run(setup());
    let mut loaded = assemble(setup());
    loaded.load(&image, Resume::ALL).expect("it was saved just now");
    let [mut one, mut other] = [(); 2].map(|()| Stream::new(SEED, "afterwards"));
    let gone_on = play(&mut saved, REQUESTS / 4, &mut one);
    assert_eq!(gone_on, play(&mut loaded, REQUESTS / 4, &mut other));

    // The built-in policy refuses that image, but can be told to start afresh.
    let mut built_in = assemble(DeviceSetup::new(&config, SEED));
    assert!(built_in.load(&image, Resume::ALL).is_err());
    let told = Resume { victim: false, streams: false, ..Resume::ALL };
    let mut built_in = assemble(DeviceSetup::new(&config, SEED));
    built_in.load(&image, told).expect("it is told what happened");
    play(&mut built_in, REQUESTS / 4, &mut Stream::new(SEED, "afterwards"));
    // Nor can an external policy load what another one saved.
    let (.., image) = run(DeviceSetup::new(&config, SEED));
    let damage = assemble(setup()).load(&image, Resume::ALL).expect_err("another policy wrote it");
    assert!(damage.to_string().contains("outside policy"), "{damage}");
}

#[test]
fn what_does_not_fit_the_configured_device_is_refused() {
    let config = config(&["cache.policy=lru", "cache.capacity=256KiB"]);
    let setup = || DeviceSetup::new(&config, SEED);
    let streams = setup().with_streams(Rhythm::new(config.logical_pages()));
    assert_eq!(streams.err(), Some(Misfit::Streams { wanted: 3, room: 2 }));
    let buffer = setup().with_write_buffer(WriteThrough::default());
    assert_eq!(buffer.err(), Some(Misfit::Needs("whether there is DRAM")));
    assert!(setup().with_write_buffer(FifoBuffer::default()).is_ok());
    let mapping = setup().with_mapping(ftlab::ftl::mapping::Physical);
    assert_eq!(mapping.err(), Some(Misfit::Needs("whether addresses are translated")));
}
