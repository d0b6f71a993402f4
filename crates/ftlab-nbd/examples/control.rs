//! The live page over a made-up drive, to try it in a browser and to test it: `cargo run -p ftlab-nbd --example control`
//! and open the address that it prints.
//!
//! Orders change the made-up drive and are printed. One thread serves one connection after the other in small turns, as
//! the loop of a real drive does.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use ftlab_nbd::control::{
    Clock, Cut, DieReading, DieState, DriveOrder, DriveReading, History, HttpSession,
    KindLatencies, Latencies, OriginRules, PlaneWear, Programs, Quantiles, Response, Routed,
    SAMPLE_PERIOD_NS, Status, route, wear_cells_per_plane,
};

const CHANNELS: u32 = 8;
const DIES: u32 = 32;
const PLANES: u32 = 4;
const BLOCKS: u64 = 488;
const PAGE_BYTES: u64 = 16 * 1024;
/// Samples made up for the time before the start, so that the curves are full.
const BEFORE: u64 = 400;
const TURN: Duration = Duration::from_millis(5);
/// How long power is away.
const RECOVERY_SECONDS: u64 = 2;

/// Numbers that look random and are the same each time.
fn noise(seed: u64) -> f64 {
    let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d;
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (x >> 11) as f64 / (1u64 << 53) as f64
}

/// A drive that only tells.
struct MadeUp {
    reading: DriveReading,
    history: History,
    second: u64,
    erases: Vec<f64>,
    off_until: u64,
    next_cut: Option<u64>,
    stopped: bool,
}

impl MadeUp {
    fn new() -> Self {
        let mut reading = DriveReading::default();
        let device = &mut reading.device;
        device.name = "tlc-512g".to_owned();
        device.title = "A client drive of TLC flash, made up".to_owned();
        device.capacity_bytes = 512_110_190_592;
        (device.page_bytes, device.pages_per_block) = (PAGE_BYTES, 1024);
        (device.blocks_per_plane, device.planes_per_die) = (BLOCKS, PLANES);
        (device.dies, device.channels, device.window_ns) = (DIES, CHANNELS, SAMPLE_PERIOD_NS);
        reading.flash.programs = ["host", "gc", "map", "padding"]
            .map(|origin| Programs { origin: origin.to_owned(), pages: 0 })
            .to_vec();
        reading.smart.rated_erases = Some(3000);
        reading.smart.power_cycles = 41;
        reading.host.connections_total = 3;
        reading.host.connections_open = 1;
        reading.policy.recovery = Some("checkpoint".to_owned());
        reading.policy.volatile_cache = Some(true);
        reading.policy.data_file = Some("drive.flash".to_owned());
        let dies =
            (0..DIES).map(|die| DieReading { channel: die % CHANNELS, ..Default::default() });
        reading.dies = dies.collect();
        let blocks = u64::from(DIES * PLANES) * BLOCKS;
        // Fresh blocks come in turn, so that wear forms bands; each plane is at another place.
        let erases = (0..blocks).map(|at| {
            let turn = (at % BLOCKS) as f64 / BLOCKS as f64 + noise(at / BLOCKS) * 0.4;
            40.0 + 6.0 * (turn * 9.0).sin() + 4.0 * noise(at / BLOCKS + 99) + 5.0 * noise(at)
        });
        let erases = erases.collect();
        let history = History::default();
        let (second, off_until, next_cut, stopped) = (0, 0, None, false);
        let mut drive = Self { reading, history, second, erases, off_until, next_cut, stopped };
        (0..BEFORE).for_each(|_| drive.tick());
        drive
    }

    /// A second passes.
    fn tick(&mut self) {
        self.second += 1;
        if self.next_cut.is_some_and(|at| at <= self.second) {
            self.cut();
            self.next_cut =
                self.reading.power.cut_every_ms.map(|period| self.second + period.div_ceil(1000));
        }
        let second = self.second;
        let reading = &mut self.reading;
        reading.power.on = second >= self.off_until;
        reading.power.next_cut_in_ns = self.next_cut.map(|at| (at - second) * SAMPLE_PERIOD_NS);
        reading.device.uptime_ns = second * SAMPLE_PERIOD_NS;
        reading.device.simulated_now_ns += SAMPLE_PERIOD_NS;
        self.load();
        self.wear();
        self.history.feed(&self.reading, second * SAMPLE_PERIOD_NS);
    }

    fn cut(&mut self) {
        self.off_until = self.second + RECOVERY_SECONDS;
        let lost = (noise(self.second) * 40.0) as u64;
        let power = &mut self.reading.power;
        power.on = false;
        power.cuts += 1;
        power.lost_pages += lost;
        power.last_lost_pages = Some(lost);
        power.last_recovery_ns = Some(380_000_000 + lost * 1_000_000);
        self.reading.smart.power_cycles += 1;
        self.reading.smart.unsafe_shutdowns += 1;
    }

    /// Reads and writes, in waves.
    fn load(&mut self) {
        let (reading, second) = (&mut self.reading, self.second);
        let wave = (second as f64 / 37.0).sin();
        let busy = if reading.power.on { 0.7 + 0.2 * wave + 0.1 * noise(second) } else { 0.0 };
        let collect = ((second as f64 / 61.0).sin().max(0.0) * 2.0 + 0.2) * busy;
        let (reads, writes) = ((92_000.0 * busy) as u64, (24_000.0 * busy) as u64);
        let host = &mut reading.host;
        (host.reads, host.writes) = (host.reads + reads, host.writes + writes);
        host.read_bytes += reads * 16_384;
        host.written_bytes += writes * 32_768;
        (host.flushes, host.trims) = (second / 5, second / 30);
        host.in_flight = (32.0 * busy) as u64;
        let pages = [writes * 2, (writes as f64 * 2.0 * collect) as u64, writes / 40, writes / 90];
        reading
            .flash
            .programs
            .iter_mut()
            .zip(pages)
            .for_each(|(origin, more)| origin.pages += more);
        reading.flash.reads += reads + pages[1];
        reading.flash.erases += pages.iter().sum::<u64>() / 1024;
        let programmed = reading.flash.programmed() * PAGE_BYTES;
        reading.flash.write_amplification =
            Some(programmed as f64 / reading.host.written_bytes.max(1) as f64);
        reading.flash.free_blocks_mean = 22.0 - 8.0 * collect + noise(second);
        reading.flash.free_blocks_min = (reading.flash.free_blocks_mean - 5.0) as u64;
        reading.flash.valid_share = Some(0.91);
        let latency = |middle: f64, long: f64, count: u64| quantiles(second, middle, long, count);
        reading.window_latencies = Latencies {
            read: latency(62e3, 4.0 + 30.0 * collect, reads),
            write: latency(14e3, 20.0 + 300.0 * collect, writes),
            flush: latency(1.7e6, 2.0, u64::from(busy > 0.0)),
            trim: KindLatencies::default(),
        };
        if busy > 0.0 {
            let Latencies { read, write, .. } = &mut reading.latencies;
            *read = latency(65e3, 22.0, reading.host.reads);
            *write = latency(15e3, 260.0, reading.host.writes);
            reading.latencies.flush = latency(1.8e6, 3.0, reading.host.flushes);
        }
        for (at, die) in reading.dies.iter_mut().enumerate() {
            let chance = noise(second * u64::from(DIES) + at as u64);
            let (state, used) = match chance {
                _ if die.state == DieState::Dead => (DieState::Dead, 0.0),
                _ if busy == 0.0 => (DieState::Idle, 0.0),
                chance if chance < 0.25 => (DieState::Idle, chance),
                chance if chance < 0.6 => (DieState::Read, chance),
                chance if chance < 0.9 => (DieState::Program, chance),
                chance if chance < 0.96 => (DieState::Erase, chance),
                chance => (DieState::Suspended, chance),
            };
            (die.state, die.utilisation, die.queued) = (state, used, (used * 6.0) as u64);
        }
    }

    fn wear(&mut self) {
        let smart = &mut self.reading.smart;
        smart.host_bytes_written = 6_400_000_000_000 + self.reading.host.written_bytes;
        smart.media_bytes_written = smart.host_bytes_written * 2;
        smart.percentage_used = Some(1.7);
        smart.available_spare_percent = Some(99.0);
        smart.grown_bad_blocks = Some(26);
        smart.power_on_time_ns = 90_061_000_000_000 + self.second * SAMPLE_PERIOD_NS;
        let cells = wear_cells_per_plane((DIES * PLANES) as usize);
        let of_die = (u64::from(PLANES) * BLOCKS) as usize;
        for (at, die) in self.reading.dies.iter_mut().enumerate() {
            let mine = &mut self.erases[at * of_die..(at + 1) * of_die];
            mine.iter_mut().enumerate().for_each(|(block, erases)| {
                *erases += noise(self.second + block as u64) * die.utilisation * 0.002;
            });
            let bad = |block: usize| at == 5 && (880..906).contains(&block);
            let counts: Vec<Option<u64>> = mine
                .iter()
                .enumerate()
                .map(|(block, erases)| (!bad(block)).then_some(*erases as u64))
                .collect();
            die.planes =
                counts.chunks(BLOCKS as usize).map(|plane| PlaneWear::of(plane, cells)).collect();
            die.erases_min = counts.iter().flatten().min().copied().unwrap_or_default();
            die.erases_max = counts.iter().flatten().max().copied().unwrap_or_default();
            die.erases_mean = mine.iter().sum::<f64>() / mine.len() as f64;
        }
    }

    fn obey(&mut self, order: DriveOrder) -> Response {
        match order {
            DriveOrder::Cut(Cut::Now) => self.cut(),
            DriveOrder::Cut(Cut::Every(period)) => {
                self.reading.power.cut_every_ms = Some(period);
                self.next_cut = Some(self.second + period.div_ceil(1000));
            }
            DriveOrder::Cut(Cut::Never) => {
                (self.reading.power.cut_every_ms, self.next_cut) = (None, None);
            }
            DriveOrder::KillDie { die } => match self.reading.dies.get_mut(die as usize) {
                Some(die) => die.state = DieState::Dead,
                None => {
                    let message = format!("there is no die {die}; the last one is {}", DIES - 1);
                    return Response::refused(Status::Conflict, &message);
                }
            },
            DriveOrder::Save { .. } => {}
            DriveOrder::SetClock(clock) => self.reading.device.clock = clock,
            DriveOrder::Stop => self.stopped = true,
        }
        Response::done(match order {
            DriveOrder::Cut(Cut::Now) => "power was cut",
            DriveOrder::Cut(_) => "the plan of power cuts changed",
            DriveOrder::KillDie { .. } => "the die is dead",
            DriveOrder::Save { .. } => "the drive is saved",
            DriveOrder::SetClock(Clock::Wall) => "replies wait for the simulated device",
            DriveOrder::SetClock(_) => "the clock is set",
            DriveOrder::Stop => "the server stops",
        })
    }
}

fn quantiles(second: u64, middle: f64, long: f64, count: u64) -> KindLatencies {
    if count == 0 {
        return KindLatencies::default();
    }
    let shaken = middle * (0.95 + 0.1 * noise(second));
    let of = |middle: f64, factor: f64| (middle * factor) as u64;
    let spread = |middle: f64, long: f64| Quantiles {
        count,
        sum_ns: of(middle, count as f64 * 1.1),
        p50_ns: of(middle, 1.0),
        p90_ns: of(middle, 1.3),
        p99_ns: of(middle, 1.3 + long / 4.0),
        p999_ns: of(middle, 1.3 + long),
        max_ns: of(middle, 1.3 + long * 1.6),
    };
    KindLatencies { simulated: spread(shaken, long), late: spread(8_000.0, 8.0) }
}

/// One connection's turn. Returns whether it goes on.
fn serve(
    stream: &mut TcpStream,
    session: &mut HttpSession,
    drive: &mut MadeUp,
    heard: &mut impl FnMut(&DriveOrder),
) -> bool {
    let mut buffer = [0; 1024];
    match stream.peek(&mut buffer) {
        Ok(0) => return false,
        Ok(there) => {
            let taken = session.receive(&buffer[..there]);
            if stream.read_exact(&mut buffer[..taken]).is_err() {
                return false;
            }
        }
        Err(error) if error.kind() == ErrorKind::WouldBlock => {}
        Err(_) => return false,
    }
    if let Some(request) = session.next_request() {
        let response = match route(&request) {
            Routed::Answer(response) => response,
            Routed::View(view) => view.answer(&drive.reading, &drive.history),
            Routed::Order(order) => {
                heard(&order);
                drive.obey(order)
            }
        };
        session.respond(&response);
    }
    while !session.output().is_empty() {
        match stream.write(session.output()) {
            Ok(count) => session.sent(count),
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(_) => return false,
        }
    }
    !session.is_done()
}

/// Serves a made-up drive until it is told to stop, and tells of each order.
pub fn serve_all(listener: TcpListener, mut heard: impl FnMut(&DriveOrder)) -> std::io::Result<()> {
    listener.set_nonblocking(true)?;
    let mut drive = MadeUp::new();
    let mut connections: Vec<(TcpStream, HttpSession)> = Vec::new();
    let mut next = Instant::now();
    while !drive.stopped {
        if Instant::now() >= next {
            drive.tick();
            next += Duration::from_nanos(SAMPLE_PERIOD_NS);
        }
        if let Ok((stream, _)) = listener.accept() {
            stream.set_nonblocking(true)?;
            connections.push((stream, HttpSession::new(OriginRules::Loopback)));
        }
        connections.retain_mut(|(stream, session)| serve(stream, session, &mut drive, &mut heard));
        std::thread::sleep(TURN);
    }
    Ok(())
}

fn main() -> std::io::Result<()> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:0".to_owned());
    let listener = TcpListener::bind(address)?;
    println!("http://{}/", listener.local_addr()?);
    serve_all(listener, |order| println!("{order:?}"))
}
