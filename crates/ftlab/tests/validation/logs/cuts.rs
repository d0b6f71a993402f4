//! Power cuts on the machine of the channel thesis: what the mapping names on flash at a random time,
//! against the order in which the host wrote. With integrity it is a prefix of that order; without it,
//! a page may survive while an earlier one is lost. Merges and moves in progress change nothing.

use ftlab::engine::Stream;
use ftlab::host::{Advanced, Host, Op};
use ftlab::units::{Lpn, Nanos};

use super::bench::{assemble, onlooker};
use super::{MLC, ONE, Small};
use crate::common::request;

/// Sectors of a page and of a request.
const SECTORS: u64 = 8;
/// Cuts of a device.
const CUTS: u32 = 300;
/// Mean time between cuts: about as long as a reclaim.
const MEAN_PAUSE: Nanos = Nanos(150_000_000);
/// Requests before the first cut, per channel: the logs are full by then.
const WARM_UP: u32 = 110;

/// A page of a request, in the order in which the host wrote.
#[derive(Clone, Debug)]
struct Written {
    order: u32,
    request: u32,
    page: Lpn,
    sectors: std::ops::Range<usize>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Cuts {
    broken: u32,
    /// Acknowledged pages that a cut loses, on average.
    lost: f64,
    /// Cuts in the middle of merges.
    merging: u32,
}

/// A device under the Random load, and what has been seen of it on flash.
struct Victim {
    device: ftlab::device::Device<ftlab_torture::AnyProbe, ftlab_torture::Versions>,
    random: Stream,
    requests: u32,
    /// Not seen on flash yet.
    pending: Vec<Written>,
    written: u32,
    /// The last version of the order that was seen there.
    latest: u32,
    /// By page: what must be there.
    expected: Vec<[u32; SECTORS as usize]>,
}

impl Victim {
    fn new(small: &Small, seed: u64) -> Victim {
        let device = assemble(small.setup(), onlooker());
        let pages = device.capacity_sectors() / SECTORS;
        Victim {
            device,
            random: Stream::new(seed, "cuts"),
            requests: 0,
            pending: Vec::new(),
            written: 0,
            latest: 0,
            expected: vec![[0; SECTORS as usize]; pages as usize],
        }
    }

    /// Writes 4 KiB anywhere, unaligned.
    fn write(&mut self) {
        let first = self.random.below(self.device.capacity_sectors() - SECTORS);
        self.requests += 1;
        for page in first / SECTORS..=first.div_ceil(SECTORS) {
            let start = first.max(page * SECTORS) - page * SECTORS;
            let end = (first + SECTORS).min((page + 1) * SECTORS) - page * SECTORS;
            self.written += 1;
            self.pending.push(Written {
                order: self.written,
                request: self.requests,
                page: Lpn::new(page as u32),
                sectors: start as usize..end as usize,
            });
        }
        let write = request(Op::Write, first, SECTORS as u32, self.requests);
        self.device.submit(self.device.now(), write);
    }

    /// Runs one request after another for `time`.
    fn run(&mut self, time: Nanos) {
        let until = self.device.now() + time;
        loop {
            if self.device.requests_in_flight() == 0 {
                self.write();
            }
            if self.device.advance_until(until, &mut Vec::new()) == Advanced::Reached {
                return;
            }
        }
    }

    /// The content at the place that the mapping names for the page.
    fn on_flash(&self, page: Lpn) -> &[u32] {
        let at = self.device.ftl().look_up(page).expect("the device was full from the start");
        let (owner, versions) = self.device.contents().on_flash(at).expect("programmed");
        assert_eq!(owner, page);
        versions
    }

    /// Inspects the flash as a power cut now would leave it. Returns whether a page survives that was
    /// written after a lost one, and how many pages are lost.
    fn cut(&mut self) -> (bool, usize) {
        let pending = std::mem::take(&mut self.pending);
        let is_there = |written: &Written| {
            let held = &self.on_flash(written.page)[written.sectors.clone()];
            held.iter().all(|&version| version >= written.request)
        };
        let (there, lost): (Vec<_>, Vec<_>) = pending.into_iter().partition(is_there);
        for Written { order, request, page, sectors } in there {
            self.expected[page.get() as usize][sectors].fill(request);
            self.latest = self.latest.max(order);
        }
        self.pending = lost;
        let broken = self.pending.first().is_some_and(|first| first.order < self.latest);
        (broken, self.pending.len())
    }

    /// Every page holds what was seen there: no part of a lost page, and nothing that a merge dropped.
    fn check(&self) {
        for (page, expected) in (0..).map(Lpn::new).zip(&self.expected) {
            assert_eq!(self.on_flash(page), expected, "{page:?}");
        }
        assert_eq!(self.device.ftl().audit(), Ok(()));
    }
}

fn cut_power(small: &Small, seed: u64) -> Cuts {
    let mut victim = Victim::new(small, seed);
    while victim.requests < WARM_UP * small.channels {
        victim.run(Nanos(10_000_000));
        victim.cut();
    }
    let mut cuts = Cuts::default();
    for number in 0..CUTS {
        let pause = 1 + victim.random.below(2 * MEAN_PAUSE.0);
        victim.run(Nanos(pause));
        let (broken, lost) = victim.cut();
        cuts.broken += u32::from(broken);
        cuts.lost += lost as f64 / f64::from(CUTS);
        cuts.merging += u32::from(victim.device.merger().expect("a log is merged").is_busy());
        if number % 50 == 0 {
            victim.check();
        }
    }
    cuts
}

/// The thesis's machine, with a quarter of the pages in a block and 64 data blocks on a channel.
fn machine(channels: u32, buffer_pages: u32, in_order: bool, clocks: &'static str) -> Small {
    Small {
        planner: "cycle-stealing",
        throttle: Some(8),
        clocks,
        buffer: Some(("gating", buffer_pages, in_order)),
        start: "full",
        channels,
        pages: 32,
        data: 64,
        log: 2,
        times: MLC,
        ..ONE
    }
}

#[test]
fn with_integrity_a_prefix_survives_and_without_it_the_order_breaks() {
    println!("clocks     channels  KiB  order broken  lost pages  in order: lost  cuts in merges");
    for clocks in ["lock-step", "own"] {
        for channels in [2, 4, 8] {
            for pages in [4, 8, 16] {
                let seed = u64::from(channels * 100 + pages);
                let free = cut_power(&machine(channels, pages, false, clocks), seed);
                let kept = cut_power(&machine(channels, pages, true, clocks), seed);
                println!(
                    "{clocks:<9}  {channels:>8}  {:>3}  {:>10.1} %  {:>10.2}  {:>14.2}  {} and {} of {CUTS}",
                    pages * 4,
                    f64::from(free.broken * 100) / f64::from(CUTS),
                    free.lost,
                    kept.lost,
                    free.merging,
                    kept.merging,
                );
                assert_eq!(kept.broken, 0, "{clocks}, {channels} channels, {pages} pages");
                assert!(free.broken > CUTS / 50, "{clocks}, {channels} channels: {free:?}");
                assert!(free.merging > CUTS / 4 && kept.merging > CUTS / 4, "{free:?}, {kept:?}");
            }
        }
    }
}
