//! Changes over time, in a limited number of windows of equal length. When they are full, pairs of
//! windows are combined and the length doubles, so a run of any length takes the same memory. A
//! recorder has one timeline for the preparation of the device and one for the measurement, so a
//! long ageing does not lengthen the windows of the measurement.

use std::ops::Add;

use super::window_latencies::WindowLatencies;
use crate::counters::counters;
use crate::device::{Contents, Device};
use crate::ftl::fewest_free_blocks;
use crate::host::{Completion, FrontEndBusy, Host, Op};
use crate::scheduler::{Kind, Probe};
use crate::units::{Nanos, SECTOR_BYTES, SimTime};

/// The most windows. At least half of them are in use once the run is that long.
const WINDOWS: usize = 1024;
/// The length of a window to begin with.
const FIRST_LENGTH: Nanos = Nanos(1 << 20);

/// Requests of one operation, or of one submission queue, that finished within a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WindowOp {
    /// How many.
    pub requests: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// The sum of their latencies; stays at the largest number that fits, 584 years.
    pub latency_sum: Nanos,
    /// The longest of their latencies.
    pub latency_max: Nanos,
}

/// One window. The work of the device is read at the first completion after the window's end, so
/// its work between that end and the completion counts here, not in the next window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// By operation, in the order of [`Op`].
    pub ops: [WindowOp; Op::ROWS],
    /// The work of the device.
    pub work: WindowCounts,
    /// The fewest free blocks of any plane when the device was looked at.
    pub free_blocks_min: Option<u32>,
}

counters! {
    /// The work of the device within a window, or since it was switched on.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct WindowCounts {
        /// Pages (mapping units) programmed for the host.
        host_pages: u64, unit "pages";
        /// Pages that collection copied.
        gc_pages: u64, unit "pages";
        /// Flash reads of all origins.
        reads: u64, unit "flash pages";
        /// Flash programs of all origins.
        programs: u64, unit "flash pages";
        /// Erases.
        erases: u64, unit "blocks";
        /// Sum over the dies of the time that they were occupied.
        die_busy: Nanos;
        /// Sum over the channels of the time that they were occupied.
        channel_busy: Nanos;
        /// Sum over the engines of the time that they decoded; 0 where decoding takes no time.
        decoder_busy: Nanos;
        /// Time that the parts of the front end were in use; nothing without one.
        front_end: FrontEndBusy;
    }
}

impl WindowCounts {
    fn of<P: Probe, C: Contents>(device: &Device<P, C>) -> WindowCounts {
        let now = device.now();
        let (ftl, flash) = (device.ftl_counts(), device.flash());
        let of_kind =
            |kind: Kind| flash.done().iter().map(|kinds| kinds[kind as usize]).sum::<u64>();
        WindowCounts {
            host_pages: ftl.host_pages,
            gc_pages: ftl.gc_pages,
            reads: of_kind(Kind::Read),
            programs: of_kind(Kind::Program) + of_kind(Kind::Copyback),
            erases: of_kind(Kind::Erase),
            die_busy: flash.die_busy(now).fold(Nanos::ZERO, Add::add),
            channel_busy: flash.channel_busy(now).fold(Nanos::ZERO, Add::add),
            decoder_busy: flash.decoders_busy(now).fold(Nanos::ZERO, Add::add),
            front_end: device.front_busy(),
        }
    }
}

/// The windows so far.
#[derive(Clone, Debug)]
pub struct Timeline {
    start: SimTime,
    length: Nanos,
    closed: Vec<Window>,
    open: Window,
    /// The service of the submission queues, if there are several: window by window, all queues of each.
    closed_queues: Vec<WindowOp>,
    open_queues: Vec<WindowOp>,
    open_until: SimTime,
    /// When it ended, if it did.
    ended: Option<SimTime>,
    /// The counters when the device was last observed.
    seen: WindowCounts,
    latencies: WindowLatencies,
}

impl Timeline {
    /// A timeline of what `device` does from now on.
    #[must_use]
    pub fn new<P: Probe, C: Contents>(device: &Device<P, C>) -> Timeline {
        let start = device.now();
        let queues = Some(device.queues().count() as usize).filter(|&queues| queues > 1);
        Timeline {
            start,
            length: FIRST_LENGTH,
            closed: Vec::with_capacity(WINDOWS),
            open: Window::default(),
            closed_queues: Vec::with_capacity(queues.unwrap_or(0) * WINDOWS),
            open_queues: vec![WindowOp::default(); queues.unwrap_or(0)],
            open_until: start + FIRST_LENGTH,
            ended: None,
            seen: WindowCounts::of(device),
            latencies: WindowLatencies::new(WINDOWS),
        }
    }

    /// Excludes the work of the device until now, which took no time, from all windows.
    pub fn forget<P: Probe, C: Contents>(&mut self, device: &Device<P, C>) {
        self.seen = WindowCounts::of(device);
    }

    /// When it began.
    #[must_use]
    pub fn start(&self) -> SimTime {
        self.start
    }

    /// Observes the device a last time: its later work belongs elsewhere.
    pub fn end<P: Probe, C: Contents>(&mut self, device: &Device<P, C>) {
        self.observe(device);
        let end = device.now();
        self.ended = Some(end);
        // Requests that finished just now are in a new window, which would have no length.
        if self.open_until == end + self.length
            && let Some(last) = self.closed.pop()
        {
            self.open = last.and(&self.open);
            self.open_until = end;
            self.latencies.merge_next(self.closed.len());
            let queues = self.closed_queues.split_off(self.closed.len() * self.open_queues.len());
            self.open_queues.iter_mut().zip(queues).for_each(|(open, last)| *open = last.and(open));
        }
    }

    /// Whether the current window is over, so that the device must be observed before more is recorded.
    #[inline]
    #[must_use]
    pub fn is_over(&self, now: SimTime) -> bool {
        now >= self.open_until
    }

    /// Records a completion in the current window.
    #[inline]
    pub fn record(&mut self, completion: &Completion, latency: Nanos) {
        let bytes = u64::from(completion.request.sectors) * SECTOR_BYTES;
        self.open.ops[completion.request.op.row()].add(bytes, latency);
        if let Some(queue) = self.open_queues.get_mut(completion.queue.at()) {
            let moves = completion.request.op.moves_data();
            queue.add(if moves { bytes } else { 0 }, latency);
        }
        self.latencies.record(self.closed.len(), completion.request.op, latency);
    }

    /// Observes the device, closes the windows that are over, and opens the current one.
    #[cold]
    pub fn observe<P: Probe, C: Contents>(&mut self, device: &Device<P, C>) {
        self.look(device);
        let now = device.now();
        while now >= self.open_until {
            if self.closed.len() + 1 == WINDOWS {
                self.merge_pairs();
                continue;
            }
            self.closed.push(std::mem::take(&mut self.open));
            self.closed_queues.extend_from_slice(&self.open_queues);
            self.open_queues.fill(WindowOp::default());
            self.open_until = self.open_until + self.length;
        }
    }

    /// Adds the work of the device since the last observation to the current window.
    fn look<P: Probe, C: Contents>(&mut self, device: &Device<P, C>) {
        let seen = WindowCounts::of(device);
        let open = &mut self.open;
        open.work = open.work.plus(&seen.since(&self.seen));
        self.seen = seen;
        let fewest = fewest_free_blocks(device.ftl());
        open.free_blocks_min = fewer(open.free_blocks_min, Some(fewest));
    }

    /// Halves the number of windows and doubles their length. Together with the current window they
    /// are an even number; the current one is combined with the last closed one.
    fn merge_pairs(&mut self) {
        let pairs = self.closed.len() / 2;
        self.latencies.merge_pairs(self.closed.len() + 1);
        self.open = self.closed[2 * pairs].and(&self.open);
        for at in 0..pairs {
            self.closed[at] = self.closed[2 * at].and(&self.closed[2 * at + 1]);
        }
        self.closed.truncate(pairs);
        self.merge_queue_pairs(pairs);
        self.length = Nanos(self.length.0 * 2);
        self.open_until = self.start + Nanos(self.length.0 * (pairs as u64 + 1));
    }

    fn merge_queue_pairs(&mut self, pairs: usize) {
        let queues = self.open_queues.len();
        for queue in 0..queues {
            let at = |window: usize| window * queues + queue;
            let last = self.closed_queues.get(at(2 * pairs)).copied().unwrap_or_default();
            self.open_queues[queue] = last.and(&self.open_queues[queue]);
            for pair in 0..pairs {
                let [first, second] = [2 * pair, 2 * pair + 1].map(|of| self.closed_queues[at(of)]);
                self.closed_queues[at(pair)] = first.and(&second);
            }
        }
        self.closed_queues.truncate(pairs * queues);
    }

    /// The service of each submission queue in each window: the window's start, and a row for each
    /// queue. Nothing if there is only one queue.
    pub fn queue_windows(&self) -> impl Iterator<Item = (SimTime, &[WindowOp])> + Clone {
        let queues = self.open_queues.len();
        let closed = self.closed_queues.chunks_exact(queues.max(1));
        let all = closed.chain(self.open_queues.chunks_exact(queues.max(1)));
        self.starts().zip(all)
    }

    /// The length of each window.
    #[must_use]
    pub fn window_length(&self) -> Nanos {
        self.length
    }

    /// The length of the window that starts at `start`. Only the last window of a timeline that has
    /// ended may be shorter than the others.
    #[must_use]
    pub fn length_from(&self, start: SimTime) -> Nanos {
        let left = self.ended.map(|end| end.saturating_since(start));
        left.map_or(self.length, |left| left.min(self.length))
    }

    /// When windows start.
    fn starts(&self) -> impl Iterator<Item = SimTime> + Clone {
        (0u64..).map(|at| self.start + Nanos(self.length.0 * at))
    }

    /// The latency that 99 % of the reads, or of the writes, of a window did not exceed: at most
    /// 6.3 % too large, and never above the longest. `window` is the index in
    /// [`windows`](Self::windows). None without requests, and for other operations.
    #[must_use]
    pub fn latency_p99(&self, window: usize, op: Op) -> Option<Nanos> {
        let longest = self.closed.get(window).unwrap_or(&self.open).op(op).latency_max;
        self.latencies.quantile(window, op, 0.99).map(|found| found.min(longest))
    }

    /// The windows with their start times; the last may not be over yet.
    pub fn windows(&self) -> impl Iterator<Item = (SimTime, &Window)> + Clone {
        self.starts().zip(self.closed.iter().chain([&self.open]))
    }
}

fn fewer(a: Option<u32>, b: Option<u32>) -> Option<u32> {
    a.into_iter().chain(b).min()
}

impl WindowOp {
    #[inline]
    fn add(&mut self, bytes: u64, latency: Nanos) {
        self.requests += 1;
        self.bytes += bytes;
        self.latency_sum = Nanos(self.latency_sum.0.saturating_add(latency.0));
        self.latency_max = self.latency_max.max(latency);
    }

    fn and(&self, other: &WindowOp) -> WindowOp {
        WindowOp {
            requests: self.requests + other.requests,
            bytes: self.bytes + other.bytes,
            latency_sum: self.latency_sum + other.latency_sum,
            latency_max: self.latency_max.max(other.latency_max),
        }
    }
}

impl Window {
    /// The requests of one operation.
    #[must_use]
    pub fn op(&self, op: Op) -> &WindowOp {
        &self.ops[op.row()]
    }

    fn and(&self, other: &Window) -> Window {
        let mut ops = self.ops;
        ops.iter_mut().zip(&other.ops).for_each(|(op, other)| *op = op.and(other));
        Window {
            ops,
            work: self.work.plus(&other.work),
            free_blocks_min: fewer(self.free_blocks_min, other.free_blocks_min),
        }
    }
}
