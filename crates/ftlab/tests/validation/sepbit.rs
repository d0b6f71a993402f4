//! SepBIT against a naive simulator of segments: plain lists, one write at a time, classes as in
//! algorithm 1 of the paper (Wang et al., FAST 2022), and the segment with the fewest valid pages as
//! the victim. It shares nothing with the device but the load.

use crate::common::{BLOCKS, Spec, closed_loop, request};
use ftlab::device::assemble;
use ftlab::engine::Stream;
use ftlab::host::Op;

/// Segments, their pages, and the ratio of their total size to the logical size.
const SEGMENTS: usize = 512;
const PAGES: usize = 32;
const PERCENT: u32 = 28;

/// Free segments that both keep: the copies of one victim may open one segment for each class of
/// copies, and the host one more.
const SPARE: usize = 5;

/// Ranks after Zipf's law, scattered over the pages.
pub fn zipf(pages: usize, theta: f64, writes: usize) -> Vec<usize> {
    let mut stream = Stream::new(11, "zipf");
    let mut sums = vec![0.0];
    for rank in 1..=pages {
        sums.push(sums[rank - 1] + libm::pow(rank as f64, -theta));
    }
    let mut places: Vec<usize> = (0..pages).collect();
    for last in (1..pages).rev() {
        places.swap(last, stream.below(last as u64 + 1) as usize);
    }
    let next = |_| {
        let drawn = stream.unit() * sums[pages];
        places[sums.partition_point(|sum| *sum <= drawn).clamp(1, pages) - 1]
    };
    (0..writes).map(next).collect()
}

/// A segment: its class from 1 to 6, when it was created, and its pages in write order.
#[derive(Default)]
struct Segment {
    class: usize,
    created: u64,
    pages: Vec<usize>,
    valid: usize,
}

struct Naive {
    pages_per_segment: usize,
    segments: Vec<Segment>,
    free: Vec<usize>,
    /// By class.
    open: [Option<usize>; 7],
    /// By page: its segment and place, and when it was written.
    at: Vec<Option<(usize, usize)>>,
    written: Vec<u64>,
    time: u64,
    mean: f64,
    lifespans: Vec<f64>,
    copies: u64,
}

impl Naive {
    fn new(pages: usize, segments: usize, pages_per_segment: usize) -> Naive {
        Naive {
            pages_per_segment,
            segments: (0..segments).map(|_| Segment::default()).collect(),
            free: (0..segments).collect(),
            open: [None; 7],
            at: vec![None; pages],
            written: vec![0; pages],
            time: 0,
            mean: f64::INFINITY,
            lifespans: Vec::new(),
            copies: 0,
        }
    }

    fn append(&mut self, page: usize, class: usize) {
        if let Some((segment, _)) = self.at[page] {
            self.segments[segment].valid -= 1;
        }
        let open = match self.open[class] {
            Some(open) => open,
            None => {
                let open = self.free.pop().expect("a free segment");
                self.segments[open] = Segment { class, created: self.time, ..Segment::default() };
                self.open[class] = Some(open);
                open
            }
        };
        let segment = &mut self.segments[open];
        self.at[page] = Some((open, segment.pages.len()));
        segment.pages.push(page);
        segment.valid += 1;
        if segment.pages.len() == self.pages_per_segment {
            self.open[class] = None;
        }
    }

    fn write(&mut self, page: usize, spare: usize) {
        let old = self.at[page].is_some();
        let lifespan = if old { (self.time - self.written[page]) as f64 } else { f64::INFINITY };
        self.append(page, if lifespan < self.mean { 1 } else { 2 });
        self.written[page] = self.time;
        self.time += 1;
        while self.free.len() < spare {
            self.collect();
        }
    }

    fn collect(&mut self) {
        let full = |segment: &Segment| segment.pages.len() == self.pages_per_segment;
        let closed = (0..self.segments.len()).filter(|&at| full(&self.segments[at]));
        let victim = closed.min_by_key(|&at| self.segments[at].valid).expect("a full segment");
        let Segment { class, created, pages, .. } = std::mem::take(&mut self.segments[victim]);
        if class == 1 {
            self.lifespans.push((self.time - created) as f64);
            if self.lifespans.len() == 16 {
                self.mean = self.lifespans.drain(..).sum::<f64>() / 16.0;
            }
        }
        let valid =
            pages.iter().enumerate().filter(|&(n, page)| self.at[*page] == Some((victim, n)));
        for (_, &page) in valid.collect::<Vec<_>>() {
            let age = (self.time - self.written[page]) as f64;
            let class = match age / self.mean {
                _ if class == 1 => 3,
                lifespans if lifespans < 4.0 => 4,
                lifespans if lifespans < 16.0 => 5,
                _ => 6,
            };
            // It leaves a segment that no longer exists.
            self.at[page] = None;
            self.append(page, class);
            self.copies += 1;
        }
        self.free.push(victim);
    }
}

/// One plane that collects the emptiest block as soon as fewer blocks are free than the naive simulator
/// keeps; the host waits meanwhile.
fn spec() -> Spec {
    let spec = Spec::small().with(
        "ftl.streams.policy = sepbit
        ftl.gc.copies_in_flight = 32
        ftl.gc.host_lead = 1",
    );
    let spec = spec.set("ftl.gc.start", SPARE - 1).set("ftl.gc.stop", SPARE);
    let spec = spec.set(BLOCKS, SEGMENTS).set("nand.pages_per_block", PAGES);
    let pages = spec.geometry().physical_pages() / (100 + PERCENT) * 100;
    spec.holding(pages)
}

/// Write amplification after the fill, over the first ten times the logical size and the next ten, is
/// that of the naive simulator. There a collection takes no time; here pages become invalid while
/// their block is being collected, most of all hot ones.
#[test]
fn amplification_is_that_of_a_naive_simulator() {
    for (theta, within) in [(0.99, 0.01), (1.2, 0.02)] {
        let spec = spec();
        let pages = spec.logical_pages() as usize;
        let load = zipf(pages, theta, 20 * pages);
        let all: Vec<usize> = (0..pages).chain(load).collect();
        let mut naive = Naive::new(pages, SEGMENTS, PAGES);
        let mut device = assemble(spec.setup());
        let sectors = spec.sectors_per_page();
        let (fill, load) = all.split_at(pages);
        let mut before = (0, 0);
        for part in [fill, &load[..10 * pages], &load[10 * pages..]] {
            part.iter().for_each(|&page| naive.write(page, SPARE));
            let writes = part
                .iter()
                .map(|&page| request(Op::Write, page as u64 * u64::from(sectors), sectors, 0));
            closed_loop(&mut device, 1, writes.collect::<Vec<_>>());
            let copies = (naive.copies, device.ftl_counts().gc_pages);
            let of = |copies: u64, before: u64| 1.0 + (copies - before) as f64 / part.len() as f64;
            let (expected, measured) = (of(copies.0, before.0), of(copies.1, before.1));
            println!("theta {theta}: naive {expected:.4}, measured {measured:.4}");
            assert!((measured / expected - 1.0).abs() < within, "{measured} instead of {expected}");
            before = copies;
        }
        assert_eq!(device.ftl().audit(), Ok(()));
    }
}
