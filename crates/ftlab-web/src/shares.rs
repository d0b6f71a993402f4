//! How busy each die and each bus was over time, and for what: sums in windows of equal length. When they are full, pairs of
//! windows are combined, so a run of any length takes the same memory, and what is drawn does not depend on how often
//! the page looks.

use ftlab::scheduler::Origin;
use ftlab::units::{ChannelId, DieId, SimTime};
use serde::Serialize;

const ORIGINS: usize = Origin::ALL.len();
/// The most cells, one for each place and window.
const MOST_CELLS: usize = 1 << 14;
/// Windows of a drive with few dies.
pub const MOST_WINDOWS: usize = 512;
/// Windows of one with many.
const FEWEST_WINDOWS: usize = 64;
/// The length of a window to begin with, in nanoseconds: two to the power of this.
const FIRST_SHIFT: u32 = 10;
/// Shares are told in steps of one of this many, each as a letter: none is `0`, and all of the time is `o`.
const FULL: u64 = 63;
const NONE: u8 = b'0';

/// Busy times of the places of a drive: its dies, then the buses of its channels.
#[derive(Debug, Default)]
pub struct BusyShares {
    places: usize,
    /// An even number.
    windows: usize,
    /// The length of a window, as above.
    shift: u32,
    /// Nanoseconds, window by window, place by place, by origin.
    busy: Vec<u64>,
    dies: usize,
    /// By die: the last span of its cells. All commands of one operation are told, and count once.
    last: Vec<(SimTime, SimTime)>,
    /// Whether dies suspend what they do. Then, by die: the spans in which its cells are told to be busy now.
    suspends: bool,
    running: Vec<Vec<(SimTime, SimTime)>>,
}

/// What a page draws.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SharesTold {
    /// When.
    pub now_ns: u64,
    /// The length of a window.
    pub window_ns: u64,
    /// By origin: the shares of its windows that are over, window by window, place by place, a letter for each. Nothing for
    /// one that never used the flash.
    pub by_origin: Vec<String>,
    /// By origin: nanoseconds that each place was busy, with what has begun.
    pub busy_ns: Vec<Vec<u64>>,
}

impl BusyShares {
    /// Those of a new drive. `suspends` tells whether its dies can suspend what they do.
    pub fn new(dies: usize, channels: usize, suspends: bool) -> BusyShares {
        let places = dies + channels;
        let windows = (MOST_CELLS / places.max(1)).clamp(FEWEST_WINDOWS, MOST_WINDOWS) / 2 * 2;
        let busy = vec![0; windows * places * ORIGINS];
        let last = vec![(SimTime::ZERO, SimTime::ZERO); dies];
        let running = vec![Vec::new(); dies];
        BusyShares { places, windows, shift: FIRST_SHIFT, busy, dies, last, suspends, running }
    }

    /// Notes that the cells of a die are busy.
    #[inline]
    pub fn cells(&mut self, die: DieId, origin: Origin, from: SimTime, until: SimTime) {
        let Some(last) = self.last.get_mut(die.at()) else { return };
        if *last == (from, until) {
            return;
        }
        *last = (from, until);
        if self.suspends {
            let running = &mut self.running[die.at()];
            running.retain(|(_, end)| *end > from);
            running.push((from, until));
        }
        self.add(die.at(), origin, from, until);
    }

    /// Notes that the bus of a channel is busy.
    #[inline]
    pub fn bus(&mut self, channel: ChannelId, origin: Origin, from: SimTime, until: SimTime) {
        self.add(self.dies + channel.at(), origin, from, until);
    }

    /// Takes back the rest of what cells were told to do since `from`: it is suspended.
    pub fn suspend(&mut self, die: DieId, origin: Origin, from: SimTime, at: SimTime) {
        let Some(running) = self.running.get_mut(die.at()) else { return };
        let Some(which) = running.iter().position(|(one, _)| *one == from) else { return };
        let (_, until) = running.swap_remove(which);
        self.split(die.at(), origin, at, until, |busy, time| *busy = busy.saturating_sub(time));
    }

    /// Most spans lie within one window.
    #[inline]
    fn add(&mut self, place: usize, origin: Origin, from: SimTime, until: SimTime) {
        let (window, last) = (from.0 >> self.shift, until.0 >> self.shift);
        if window != last || window >= self.windows as u64 {
            return self.split(place, origin, from, until, |busy, time| *busy += time);
        }
        let cell = self.cell(window, place, origin);
        if let Some(busy) = self.busy.get_mut(cell) {
            *busy += until.0 - from.0;
        }
    }

    #[inline]
    fn cell(&self, window: u64, place: usize, origin: Origin) -> usize {
        (window as usize * self.places + place) * ORIGINS + origin as usize
    }

    #[inline(never)]
    fn split(
        &mut self,
        place: usize,
        origin: Origin,
        SimTime(mut from): SimTime,
        SimTime(until): SimTime,
        with: fn(&mut u64, u64),
    ) {
        if place >= self.places || from >= until {
            return;
        }
        while (until - 1) >> self.shift >= self.windows as u64 {
            self.fold();
        }
        while from < until {
            let window = from >> self.shift;
            let end = ((window + 1) << self.shift).min(until);
            let cell = self.cell(window, place, origin);
            with(&mut self.busy[cell], end - from);
            from = end;
        }
    }

    /// Combines pairs of windows.
    fn fold(&mut self) {
        let wide = self.places * ORIGINS;
        for window in 0..self.windows {
            for at in 0..wide {
                let busy = std::mem::take(&mut self.busy[window * wide + at]);
                self.busy[window / 2 * wide + at] += busy;
            }
        }
        self.shift += 1;
    }

    /// What is known at a time.
    pub fn told(&self, SimTime(now): SimTime) -> SharesTold {
        let over = ((now >> self.shift) as usize).min(self.windows) * self.places;
        let window_ns = 1 << self.shift;
        let mut busy_ns = vec![vec![0; self.places]; ORIGINS];
        let mut letters = vec![vec![NONE; over]; ORIGINS];
        for (cell, busy) in self.busy.chunks_exact(ORIGINS).enumerate() {
            for (origin, busy) in busy.iter().enumerate().filter(|(_, busy)| **busy > 0) {
                busy_ns[origin][cell % self.places] += busy;
                if cell < over {
                    let share = (busy * FULL + window_ns / 2) / window_ns;
                    letters[origin][cell] = NONE + share.min(FULL) as u8;
                }
            }
        }
        let of_origin = |(origin, letters): (usize, Vec<u8>)| match busy_ns[origin].iter().sum() {
            0u64 => String::new(),
            _ => letters.into_iter().map(char::from).collect(),
        };
        let by_origin = letters.into_iter().enumerate().map(of_origin).collect();
        SharesTold { now_ns: now, window_ns, by_origin, busy_ns }
    }
}
