//! What the server counts, and the reading that everybody who looks gets.

use std::time::{Duration, Instant};

use ftlab::units::Nanos;

use super::latency::{LatencyBook, RequestKind};
use crate::control::{DriveReading, History, HostReading};
use crate::drive::Drive;

/// For so many times as long as a reading takes, no other is taken for those who ask.
const RESTS: u32 = 10;
/// The most decimals of a share.
const SHARES: f64 = 1e4;

/// What the server counts.
pub struct Watched {
    began: Instant,
    title: String,
    counts: HostReading,
    all: LatencyBook,
    window: LatencyBook,
    /// Connections ever accepted.
    pub connections_total: u64,
    /// Connections turned away.
    pub connections_refused: u64,
    /// The samples of the page.
    pub history: History,
    /// The last reading.
    pub reading: DriveReading,
    last: Option<Instant>,
    last_read: Option<Instant>,
    /// How long the last reading took.
    cost: Duration,
    busy: Vec<u64>,
    simulated: u64,
}

impl Watched {
    /// Begins to count.
    #[must_use]
    pub fn new(drive: &Drive) -> Watched {
        Watched {
            began: Instant::now(),
            title: ftlab_lab::device::title_of_kept(drive.config()),
            counts: HostReading::default(),
            all: LatencyBook::new(),
            window: LatencyBook::new(),
            connections_total: 0,
            connections_refused: 0,
            history: History::default(),
            reading: DriveReading::default(),
            last: None,
            last_read: None,
            cost: Duration::ZERO,
            busy: drive.die_busy_ns(),
            simulated: drive.now().0,
        }
    }

    /// Counts a request that was answered.
    pub fn count(&mut self, kind: RequestKind, zeroes: bool, failed: bool) {
        let count = match kind {
            RequestKind::Read => &mut self.counts.reads,
            RequestKind::Write if zeroes => &mut self.counts.write_zeroes,
            RequestKind::Write => &mut self.counts.writes,
            RequestKind::Flush => &mut self.counts.flushes,
            RequestKind::Trim => &mut self.counts.trims,
        };
        *count += 1;
        self.counts.errors += u64::from(failed);
    }

    /// Counts the time that a request took.
    pub fn latency(&mut self, kind: RequestKind, took: Nanos, late: Option<Duration>) {
        self.all.record(kind, took, late);
        self.window.record(kind, took, late);
    }

    fn due_at(&self) -> Duration {
        Duration::from_nanos(self.history.due_ns())
    }

    /// How long until the next reading is due.
    #[must_use]
    pub fn due(&self, now: Instant) -> Duration {
        self.due_at().saturating_sub(now - self.began)
    }

    /// Whether a reading is due.
    #[must_use]
    pub fn is_due(&self, now: Instant) -> bool {
        self.last.is_none() || self.due(now).is_zero()
    }

    /// Whether one who asks should get another reading than the last. Whatever they ask, that takes little of the time.
    #[must_use]
    pub fn is_stale(&self, now: Instant) -> bool {
        self.last_read.is_none_or(|last| now - last > self.cost * RESTS)
    }

    /// Takes a reading; `rest` is what the server knows besides. A window ends when one is due.
    pub fn read(&mut self, drive: &Drive, now: Instant, rest: Rest) {
        self.take_reading(drive, now, rest);
        self.cost = now.elapsed();
        self.last_read = Some(now + self.cost);
    }

    fn take_reading(&mut self, drive: &Drive, now: Instant, rest: Rest) {
        let mut reading = drive.reading();
        let uptime = now - self.began;
        reading.device.title.clone_from(&self.title);
        reading.device.clock = rest.clock;
        reading.device.uptime_ns = uptime.as_nanos() as u64;
        reading.device.window_ns = self.last.map_or(0, |last| (now - last).as_nanos() as u64);
        let (read_bytes, written_bytes) = drive.host_bytes();
        reading.host = HostReading {
            read_bytes,
            written_bytes,
            in_flight: rest.in_flight,
            connections_open: rest.connections,
            connections_total: self.connections_total,
            connections_refused: self.connections_refused,
            ..self.counts.clone()
        };
        reading.latencies = self.all.latencies();
        let ends = self.is_due(now);
        if !ends {
            reading.window_latencies = self.reading.window_latencies.clone();
            for (die, before) in reading.dies.iter_mut().zip(&self.reading.dies) {
                die.utilisation = before.utilisation;
            }
            reading.device.window_ns = self.reading.device.window_ns;
            self.complete(&mut reading, &rest);
            self.reading = reading;
            return;
        }
        reading.window_latencies = self.window.latencies();
        self.window.clear();
        let (busy, simulated) = (drive.die_busy_ns(), drive.now().0);
        let span = simulated.saturating_sub(self.simulated) as f64;
        for (die, (now, before)) in reading.dies.iter_mut().zip(busy.iter().zip(&self.busy)) {
            let share = now.saturating_sub(*before) as f64 / span.max(1.0);
            die.utilisation = (share.clamp(0.0, 1.0) * SHARES).round() / SHARES;
        }
        (self.busy, self.simulated) = (busy, simulated);
        self.complete(&mut reading, &rest);
        self.history.feed(&reading, uptime.as_nanos() as u64);
        self.last = Some(now);
        self.reading = reading;
    }

    /// What is told of power and rights.
    fn complete(&self, reading: &mut DriveReading, rest: &Rest) {
        reading.power.cut_every_ms = rest.cut_every.map(|every| every.as_millis() as u64);
        reading.power.next_cut_in_ns = rest.next_cut.map(|left| left.as_nanos() as u64);
        reading.policy.read_only = rest.read_only;
    }
}

/// What the server knows besides.
#[derive(Clone, Copy, Debug)]
pub struct Rest {
    /// Its clock.
    pub clock: crate::control::Clock,
    /// Requests that are not answered.
    pub in_flight: u64,
    /// Clients that are connected.
    pub connections: u64,
    /// How often power is cut.
    pub cut_every: Option<Duration>,
    /// The time until the next cut.
    pub next_cut: Option<Duration>,
    /// Whether no client may write.
    pub read_only: bool,
}
