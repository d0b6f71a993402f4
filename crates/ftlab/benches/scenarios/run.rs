//! Plays a scenario in closed loop.

use ftlab::config::{Config, Layer};
use ftlab::device::{Device, DeviceSetup, assemble};
use ftlab::engine::Stream;
use ftlab::host::{Advanced, Completion, Host, Op, Request};
use ftlab::scheduler::flash_pages_programmed;
use ftlab::units::{Lba, SimTime};

use super::{Begin, Hot, Scenario, Size};

/// Sectors of 4 KiB.
const PAGE: u32 = 8;
const SECTOR_BYTES: u64 = 512;
/// Pages of a request that fills the device.
const FILL_PAGES: u32 = 32;
const QUEUE_DEPTH: usize = 64;
/// How far ahead of its submission a request is announced to the device.
const LOOK_AHEAD: usize = 32;

/// The requests and completions of a run.
#[derive(Default)]
struct Seen {
    /// A hash of all of them, in order.
    hash: u64,
    /// Pages written.
    written: u64,
}

impl Seen {
    /// Odd numbers without a pattern, one for each field (from the fraction of pi, as Blowfish takes them).
    const FACTORS: [u64; 6] = [
        0x243f_6a88_85a3_08d3,
        0x1319_8a2e_0370_7345,
        0xa409_3822_299f_31d1,
        0x082e_fa98_ec4e_6c89,
        0x4528_21e6_38d0_1377,
        0xbe54_66cf_34e9_0c6d,
    ];

    fn take(&mut self, fields: [u64; 6]) {
        let sum = fields.iter().zip(Seen::FACTORS).fold(self.hash, |sum, (field, factor)| {
            sum.rotate_left(9) ^ field.wrapping_mul(factor)
        });
        self.hash = (sum ^ (sum >> 32)).wrapping_mul(Seen::FACTORS[0]);
    }

    fn submitted(&mut self, at: SimTime, request: &Request) {
        if request.op == Op::Write {
            self.written += u64::from(request.sectors / PAGE);
        }
        let op = request.op as u64;
        self.take([at.0, op, request.lba.0, u64::from(request.sectors), u64::from(request.tag), 0]);
    }

    fn completed(&mut self, done: &Completion) {
        let parts = &done.breakdown;
        let outcome = u64::from(done.outcome.code());
        self.take([
            u64::from(done.request.tag) << 2 | outcome,
            done.submitted.0,
            done.finished.0,
            parts.buffer.0
                ^ parts.admission.0.rotate_left(32)
                ^ parts.translation.0.rotate_left(48),
            parts.queue.0 ^ parts.gc.0.rotate_left(32) ^ parts.link.0.rotate_left(48),
            parts.bus.0 ^ parts.cell.0.rotate_left(32),
        ]);
    }
}

/// A device ready for measuring.
pub struct Aged {
    device: Device,
    draw: Draw,
    seen: Seen,
    flash_page_bytes: u64,
    reads: u64,
}

/// The results since the device was aged.
pub struct Measured {
    /// Simulated time in seconds.
    pub seconds: f64,
    /// Bytes programmed on flash for each that the host wrote, if it wrote any.
    pub amplification: Option<f64>,
    /// A hash of everything from the device's first request on.
    pub hash: u64,
}

impl Aged {
    /// Builds the device of a scenario, fills and overwrites it.
    pub fn new(scenario: &Scenario, size: Size) -> Aged {
        let config = configure(scenario, size);
        let device = assemble(DeviceSetup::new(&config, 1));
        let pages = device.capacity_sectors() / u64::from(PAGE);
        let draw = Draw { addresses: Stream::new(1, "bench"), pages, hot: scenario.hot, tag: 0 };
        let mut aged = Aged {
            device,
            draw,
            seen: Seen::default(),
            flash_page_bytes: config.shape().page_size.0,
            reads: scenario.reads,
        };
        if scenario.fill {
            aged.fill();
        }
        let Aged { device, draw, seen, .. } = &mut aged;
        play(device, seen, pages * scenario.overwrite / 100, || draw.next(0));
        aged
    }

    /// Writes all of the device in order.
    fn fill(&mut self) {
        let Aged { device, draw, seen, .. } = self;
        let requests = draw.pages / u64::from(FILL_PAGES);
        let mut turn = 0;
        play(device, seen, requests, || {
            turn = (turn + 1) % requests;
            draw.request(Op::Write, turn * u64::from(FILL_PAGES), FILL_PAGES)
        });
    }

    /// Plays `requests` requests of the measured load.
    pub fn play(&mut self, requests: u64) -> Measured {
        let Aged { device, draw, seen, reads, .. } = self;
        let programs = |device: &Device| flash_pages_programmed(device.flash().done());
        let (programs_before, written_before, since) =
            (programs(device), seen.written, device.now());
        play(device, seen, requests, || draw.next(*reads));
        let programmed = (programs(device) - programs_before) * self.flash_page_bytes;
        let written = (seen.written - written_before) * u64::from(PAGE) * SECTOR_BYTES;
        Measured {
            seconds: device.now().saturating_since(since).as_secs_f64(),
            amplification: (written > 0).then(|| programmed as f64 / written as f64),
            hash: seen.hash,
        }
    }
}

fn configure(scenario: &Scenario, size: Size) -> Config {
    let shrunk = match size {
        Size::Small => scenario.small,
        Size::Cut => scenario.cut,
        Size::Whole => &[],
    };
    let begin = match scenario.begin {
        Begin::Preset(name) => Layer::preset(name),
        Begin::File(text) => Layer::file(scenario.name, text),
    };
    let sets = (1..).zip(scenario.sets.iter().chain(shrunk)).map(|(at, set)| Layer::set(at, set));
    let layers: Vec<Layer> = std::iter::once(begin).chain(sets).collect();
    Config::load(&layers).unwrap_or_else(|error| panic!("{}: {error}", scenario.name))
}

/// The source of requests.
struct Draw {
    addresses: Stream,
    /// Pages of 4 KiB on the device.
    pages: u64,
    hot: Option<Hot>,
    tag: u32,
}

impl Draw {
    /// A random request, which is a read in `reads` of a hundred cases.
    fn next(&mut self, reads: u64) -> Request {
        let op = if self.addresses.below(100) < reads { Op::Read } else { Op::Write };
        let part = match self.hot {
            Some(Hot { part, share }) if self.addresses.below(100) < share => part,
            _ => 1,
        };
        let page = self.addresses.below(self.pages / part);
        self.request(op, page, 1)
    }

    /// A request for `pages` pages from `page` on.
    fn request(&mut self, op: Op, page: u64, pages: u32) -> Request {
        self.tag = self.tag.wrapping_add(1);
        let (lba, sectors) = (Lba(page * u64::from(PAGE)), pages * PAGE);
        Request { op, lba, sectors, stream: 0, tag: self.tag, fua: false }
    }
}

/// Plays a load in closed loop. Requests are drawn early enough to be announced.
fn play(device: &mut Device, seen: &mut Seen, requests: u64, mut next: impl FnMut() -> Request) {
    if requests == 0 {
        return;
    }
    let mut ahead: Vec<Request> = (0..LOOK_AHEAD).map(|_| next()).collect();
    let mut done = Vec::with_capacity(QUEUE_DEPTH);
    let (mut left, mut in_flight, mut turn) = (requests, 0, 0);
    while left > 0 || in_flight > 0 {
        while in_flight < QUEUE_DEPTH && left > 0 {
            let request = std::mem::replace(&mut ahead[turn], next());
            device.expect(&ahead[turn]);
            turn = (turn + 1) % LOOK_AHEAD;
            let at = device.now();
            seen.submitted(at, &request);
            device.submit(at, request);
            (left, in_flight) = (left - 1, in_flight + 1);
        }
        let advanced = device.advance_until(SimTime::FOREVER, &mut done);
        assert_ne!(advanced, Advanced::Idle, "the device is stuck");
        in_flight -= done.len();
        done.iter().for_each(|completion| seen.completed(completion));
        done.clear();
    }
}
