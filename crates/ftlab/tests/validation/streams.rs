//! Streams: the gain of separating hot from cold, against closed forms; and planes kept level.
//!
//! Two populations of pages, each written uniformly, one much more often than the other. If each has
//! its own blocks under greedy collection, both lose blocks at the same number of valid pages, because
//! the emptiest block of all is taken; so the valid shares of both are equal, and the amplification is
//! that of a uniform load on the same device. Going lower would need more spare blocks for the hot
//! pages than greedy gives them: the optimum over all splits of the spare blocks (Desnoyers, "Analytic
//! Models of SSD Write Performance", ACM TOS 2014) is a lower bound for every policy that separates.
//! If they are mixed, cold pages are copied again and again with the hot ones.

use std::cell::RefCell;
use std::rc::Rc;

use ftlab::device::{Movement, Place, assemble, assemble_with};
use ftlab::engine::Stream;
use ftlab::host::{Op, Request};
use ftlab::shape::Geometry;
use ftlab::units::Ppn;
use ftlab_torture::{AnyContents, AnyProbe, Listens, SeesMoves};

use crate::common::{Spec, closed_loop, fill, request};
use crate::write_amplification::{STOP, mean_field, planes};

/// A share of the pages gets a share of the writes.
#[derive(Clone, Copy)]
struct Skew {
    pages_percent: u64,
    writes_percent: u64,
}

/// Flash pages of a block by default.
const PAGES: u32 = 32;
const HOT_AND_COLD: Skew = Skew { pages_percent: 20, writes_percent: 90 };
const UNIFORM: Skew = Skew { pages_percent: 50, writes_percent: 50 };

impl Skew {
    fn hot_pages(self, pages: u64) -> u64 {
        pages * self.pages_percent / 100
    }

    /// Random writes of whole pages, those of hot pages in stream 1 of the host.
    fn writes(self, spec: &Spec, stream: &mut Stream, count: u64) -> Vec<Request> {
        let (pages, sectors) = (u64::from(spec.logical_pages()), spec.sectors_per_page());
        let hot_pages = self.hot_pages(pages);
        let next = |_| {
            let hot = stream.below(100) < self.writes_percent;
            let page = match hot {
                true => stream.below(hot_pages),
                false => hot_pages + stream.below(pages - hot_pages),
            };
            let write = request(Op::Write, page * u64::from(sectors), sectors, 0);
            Request { stream: u32::from(hot), ..write }
        };
        (0..count).map(next).collect()
    }
}

/// Pages programmed for each page of the host in steady state.
fn amplification(spec: &Spec, skew: Skew) -> f64 {
    let mut device = assemble(spec.setup());
    let mut stream = Stream::new(3, "pages");
    let pages = u64::from(spec.logical_pages());
    fill(&mut device, 1, 0..spec.logical_pages(), spec.sectors_per_page());
    // Cold pages are written an eighth as often as the mean, so they take long to become steady.
    closed_loop(&mut device, 1, skew.writes(spec, &mut stream, 40 * pages));
    let before = *device.ftl_counts();
    closed_loop(&mut device, 1, skew.writes(spec, &mut stream, 10 * pages));
    assert_eq!(device.ftl().audit(), Ok(()));
    let after = *device.ftl_counts();
    let host = (after.host_pages - before.host_pages) as f64;
    (host + (after.gc_pages - before.gc_pages) as f64) / host
}

/// Counters and filters of a size that fits the load: a hot page, one of 2,560, is written about
/// six times between two decays of the counters, and while a filter is the newest. With less, the hot
/// pages missed now and then are many among the cold ones, and spoil their blocks.
fn streams(policy: &str, copy_streams: u32) -> Spec {
    let spec = Spec::small().with(
        "ftl.streams.counters = 16384
        ftl.streams.decay_writes = 20480
        ftl.streams.filter_bits = 131072
        ftl.streams.filter_writes = 16384",
    );
    let spec = spec.set("ftl.streams.copy_streams", copy_streams);
    // Set last: options of another policy have no effect.
    spec.set("ftl.streams.policy", policy)
}

fn spec(policy: &str, copy_streams: u32) -> Spec {
    planes(streams(policy, copy_streams), 512, PAGES, 28)
}

/// The share of valid pages in closed blocks, with `open` blocks partly filled, half on average.
fn share(spec: &Spec, open: u32) -> f64 {
    let block = f64::from(spec.geometry().units_per_block());
    let closed = f64::from(spec.shape().blocks_per_plane - STOP - open);
    (f64::from(spec.logical_pages()) - f64::from(open) / 2.0 * block) / (closed * block)
}

/// The least cost of two populations in blocks of their own, over all splits of the blocks.
fn optimum(spec: &Spec, skew: Skew) -> f64 {
    let b = spec.geometry().units_per_block();
    let (pages, blocks) =
        (f64::from(spec.logical_pages()), f64::from(spec.shape().blocks_per_plane));
    let (hot_pages, hot_writes) =
        (pages * skew.pages_percent as f64 / 100.0, skew.writes_percent as f64 / 100.0);
    let spare = blocks * f64::from(b) - pages;
    let cost = |hot_spare: f64| {
        let hot = mean_field(b, hot_pages / (hot_pages + hot_spare * spare));
        let cold_pages = pages - hot_pages;
        let cold = mean_field(b, cold_pages / (cold_pages + (1.0 - hot_spare) * spare));
        hot_writes * hot + (1.0 - hot_writes) * cold
    };
    (2..99).map(|percent| cost(f64::from(percent) / 100.0)).fold(f64::INFINITY, f64::min)
}

/// The host tells hot from cold, and copies stay with their kind: the closed form of a uniform load,
/// minus a gain from separation on a device of some hundred blocks. Of the blocks at the lowest level,
/// a hot one loses another page before a cold one does, and becomes the emptiest; between two
/// collections, 128 - 76 writes of the host, a hot block loses half a page more. So hot victims hold 1
/// to 1.5 pages less than cold ones, 1 % of a block, which is 2 % of the 52 pages that a victim frees.
#[test]
fn separate_populations_amplify_as_an_even_load_does() {
    let spec = planes(streams("by-host-stream", 0), 512, 128, 28);
    let expected = mean_field(128, share(&spec, 4));
    let measured = amplification(&spec, HOT_AND_COLD);
    println!("by host stream: expected {expected:.4}, measured {measured:.4}");
    let off = measured / expected - 1.0;
    assert!((-0.03..0.005).contains(&off), "{measured} instead of {expected}");
}

/// A policy that detects hot pages itself saves part of what hints from the host would save, and none
/// beats the optimum.
#[test]
fn separation_lowers_amplification() {
    let measure = |streams, copies| amplification(&spec(streams, copies), HOT_AND_COLD);
    let copies_apart = measure("single", 1);
    println!("copies apart {copies_apart:.3}");
    let bound = optimum(&spec("single", 1), HOT_AND_COLD);
    for (streams, copies) in [
        ("single", 3),
        ("by-host-stream", 0),
        ("by-host-stream", 1),
        ("multi-hash", 0),
        ("multi-hash", 1),
        ("multi-bloom", 1),
        ("sepbit", 1),
        ("dac", 1),
        ("multi-log", 1),
        ("sfs", 1),
        ("warcip", 1),
        ("midas", 1),
    ] {
        let separate = measure(streams, copies);
        println!("{streams}, {copies} for copies: {separate:.3}, optimum {bound:.3}");
        assert!(separate < 0.98 * copies_apart, "{streams}: {separate}, not {copies_apart}");
        assert!(separate > bound, "{streams}: {separate} is better than the best, {bound}");
    }
}

/// If all pages are alike there is nothing to gain: the closed form, with one open block for each
/// stream in use.
#[test]
fn an_even_load_amplifies_alike_in_all_streams() {
    for (streams, copies, open) in [
        ("single", 3, 4),
        ("by-host-stream", 0, 4),
        ("by-host-stream", 1, 3),
        ("multi-hash", 1, 3),
        ("multi-bloom", 1, 3),
        ("sepbit", 1, 6),
        ("dac", 1, 8),
        ("multi-log", 1, 12),
        ("sfs", 1, 8),
        ("warcip", 1, 6),
    ] {
        let spec = spec(streams, copies);
        let expected = mean_field(PAGES, share(&spec, open));
        let measured = amplification(&spec, UNIFORM);
        println!("{streams}, {copies} for copies: expected {expected:.4}, measured {measured:.4}");
        assert!((measured / expected - 1.0).abs() < 0.03, "{streams}: {measured}, {expected}");
    }
}

/// Hears nothing.
struct Silent;

impl Listens for Silent {}

/// Rows of one page number over the planes of a die, in the order of the host's programs.
struct Rows {
    geometry: Geometry,
    /// By die: the place of the row being filled, and its planes, as bits.
    open: Vec<(u32, u64)>,
    programs: u64,
    /// Programs that joined a row that others of their die had begun.
    joined: u64,
}

/// Tells the rows of the host's programs.
struct ToRows(Rc<RefCell<Rows>>);

impl SeesMoves for ToRows {
    fn copies(&mut self, movement: &Movement) {
        let mut rows = self.0.borrow_mut();
        if let (Place::WriteBack(_), Place::Flash(to)) = (movement.from, movement.to)
            && to.get().is_multiple_of(rows.geometry.units_per_page())
        {
            rows.programmed(to);
        }
    }
}

impl Rows {
    /// The host programs the flash page that begins at `to`.
    fn programmed(&mut self, to: Ppn) {
        let (block, place) = self.geometry.place_of(to);
        let plane = self.geometry.plane_of(block);
        let die = self.geometry.die_of(plane);
        let bit = 1 << (plane.get() - self.geometry.plane_in(die, 0).get());
        let row = &mut self.open[die.at()];
        self.programs += 1;
        if row.0 == place && row.1 & bit == 0 {
            row.1 |= bit;
            self.joined += 1;
        } else {
            *row = (place, bit);
        }
    }
}

/// The share of joinable host programs that join a row; on a die of n planes, n - 1 of n are joinable.
/// Writes `rounds` times the logical size at random on a half-full device.
fn alignment(placement: &str, planes_per_die: u32, rounds: u64) -> f64 {
    let spec = Spec::small().set("nand.channels", 2).set("nand.planes_per_die", planes_per_die);
    let spec = spec.set("ftl.placement.policy", placement).buffered("lru", 64);
    let spec = planes(spec.set("cache.programs_per_die", 4), 64, 32, 100);
    let geometry = spec.geometry();
    let open = vec![(u32::MAX, 0); geometry.dies() as usize];
    let rows = Rc::new(RefCell::new(Rows { geometry, open, programs: 0, joined: 0 }));
    let contents = AnyContents::new(ToRows(Rc::clone(&rows)));
    let mut device = assemble_with(spec.setup(), AnyProbe::new(Silent), contents);
    let mut stream = Stream::new(3, "pages");
    let writes = UNIFORM.writes(&spec, &mut stream, rounds * u64::from(spec.logical_pages()));
    closed_loop(&mut device, 16, writes);
    assert_eq!(device.ftl_counts().gc_runs > 0, rounds > 1);
    let rows = rows.borrow();
    let joinable = rows.programs as f64 * f64::from(planes_per_die - 1) / f64::from(planes_per_die);
    rows.joined as f64 / joinable
}

/// While nothing is collected, all programs can join but the odd one at an end. Collection starts and
/// stops each plane on its own, which puts planes out of step again and again.
#[test]
fn dynamic_placement_keeps_planes_level() {
    for planes in [2, 4] {
        for rounds in [1, 8] {
            let level = alignment("dynamic", planes, rounds);
            let by_address = alignment("static", planes, rounds);
            println!(
                "{planes} planes, {rounds} rounds: {level:.3} dynamic, {by_address:.3} static"
            );
            assert!(level > 1.2 * by_address, "{level}, and {by_address} by chance");
            assert!(level > 0.99 || rounds > 1, "{level} of the programs can be joined");
        }
    }
}
