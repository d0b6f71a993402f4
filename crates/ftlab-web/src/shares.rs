//! How busy each die and each bus was over time, and for what: sums in windows of equal length. When they are full, pairs of
//! windows are combined, so a run of any length takes the same memory, and what is drawn does not depend on how often
//! the page looks.

use ftlab::scheduler::{Activity, Origin};
use ftlab::units::SimTime;
use serde::Serialize;

const ORIGINS: usize = Origin::ALL.len();
/// The most cells, one for each place and window.
const MOST_CELLS: usize = 1 << 14;
/// Windows of a drive with few dies, and of one with many.
const MOST_WINDOWS: usize = 512;
const FEWEST_WINDOWS: usize = 64;
/// The length of a window to begin with, in nanoseconds: two to the power of this.
const FIRST_SHIFT: u32 = 10;
/// A share is told in steps of this many.
const FULL: u64 = 255;

/// Busy times of the places of a drive: its dies, then the buses of its channels.
#[derive(Debug, Default)]
pub struct Shares {
    places: usize,
    /// An even number.
    windows: usize,
    /// The length of a window, as above.
    shift: u32,
    /// Nanoseconds, window by window, place by place, by origin.
    busy: Vec<u64>,
    /// By die: what its cells are told to do now, as numbers of commands and ends.
    cells: Vec<Vec<(u64, SimTime)>>,
}

/// What a page draws.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SharesTold {
    now_ns: u64,
    window_ns: u64,
    /// By origin: the shares of its windows that are over, window by window, place by place. Nothing for one that never
    /// used the flash.
    by_origin: Vec<Vec<u8>>,
    /// By origin: nanoseconds that each place was busy, with what has begun.
    busy_ns: Vec<Vec<u64>>,
}

impl Shares {
    /// Those of a new drive.
    pub fn new(dies: usize, channels: usize) -> Shares {
        let places = dies + channels;
        let windows = (MOST_CELLS / places.max(1)).clamp(FEWEST_WINDOWS, MOST_WINDOWS) / 2 * 2;
        let busy = vec![0; windows * places * ORIGINS];
        Shares { places, windows, shift: FIRST_SHIFT, busy, cells: vec![Vec::new(); dies] }
    }

    /// Notes that the cells of a die are busy.
    pub fn cells(&mut self, activity: &Activity) {
        let &Activity { origin, sequence, die, from, until, .. } = activity;
        if let Some(cells) = self.cells.get_mut(die.at()) {
            cells.retain(|(_, end)| *end > from);
            cells.push((sequence, until));
        }
        self.change(die.at(), origin, from, until, |busy, time| *busy += time);
    }

    /// Notes that the bus of a channel is busy.
    pub fn bus(&mut self, activity: &Activity) {
        let &Activity { origin, channel, from, until, .. } = activity;
        let place = self.cells.len() + channel.at();
        self.change(place, origin, from, until, |busy, time| *busy += time);
    }

    /// Takes back the rest of what cells were told to do, which is suspended.
    pub fn suspend(&mut self, activity: &Activity, at: SimTime) {
        let &Activity { origin, sequence, die, .. } = activity;
        let Some(cells) = self.cells.get_mut(die.at()) else { return };
        let Some(running) = cells.iter().position(|(one, _)| *one == sequence) else { return };
        let (_, until) = cells.swap_remove(running);
        self.change(die.at(), origin, at, until, |busy, time| *busy = busy.saturating_sub(time));
    }

    #[inline]
    fn change(
        &mut self,
        place: usize,
        origin: Origin,
        SimTime(mut from): SimTime,
        SimTime(until): SimTime,
        with: impl Fn(&mut u64, u64),
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
            let at = (window as usize * self.places + place) * ORIGINS + origin as usize;
            with(&mut self.busy[at], end - from);
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
        let over = ((now >> self.shift) as usize).min(self.windows);
        let window_ns = 1 << self.shift;
        let of = |origin: usize| self.busy.iter().skip(origin).step_by(ORIGINS);
        let by_origin = (0..ORIGINS).map(|origin| match of(origin).any(|busy| *busy > 0) {
            true => of(origin)
                .take(over * self.places)
                .map(|busy| ((busy * FULL + window_ns / 2) / window_ns).min(FULL) as u8)
                .collect(),
            false => Vec::new(),
        });
        let sum_at = |origin, place| of(origin).skip(place).step_by(self.places.max(1)).sum();
        let busy_ns = (0..ORIGINS)
            .map(|origin| (0..self.places).map(|place| sum_at(origin, place)).collect());
        let (by_origin, busy_ns) = (by_origin.collect(), busy_ns.collect());
        SharesTold { now_ns: now, window_ns, by_origin, busy_ns }
    }
}

#[cfg(test)]
mod tests {
    use ftlab::nand::Kind;
    use ftlab::units::{ChannelId, DieId, Ppn};

    use super::*;

    const GC: usize = Origin::Gc as usize;

    fn activity(die: u32, from: u64, until: u64) -> Activity {
        Activity {
            kind: Kind::Program,
            origin: Origin::Gc,
            sequence: from,
            page: Ppn::new(0),
            die: DieId::new(die),
            channel: ChannelId::new(0),
            from: SimTime(from),
            until: SimTime(until),
        }
    }

    #[test]
    fn a_span_is_split_among_windows_and_can_be_suspended() {
        let mut shares = Shares::new(1, 1);
        let whole = activity(0, 512, 3072);
        shares.cells(&whole);
        shares.bus(&activity(0, 1024, 1280));
        let seen = shares.told(SimTime(3 * 1024));
        assert_eq!((seen.window_ns, &seen.by_origin[0]), (1024, &vec![]));
        assert_eq!(seen.by_origin[GC], [128, 0, 255, 64, 255, 0]);
        assert_eq!(seen.busy_ns[GC], [2560, 256]);
        // The cells are told to have ended when they are suspended.
        shares.suspend(&Activity { until: SimTime(2048), ..whole }, SimTime(2048));
        assert_eq!(shares.told(SimTime(3 * 1024)).by_origin[GC], [128, 0, 255, 64, 0, 0]);
        // The window that is not over is not told.
        assert_eq!(shares.told(SimTime(2047)).by_origin[GC], [128, 0]);
    }

    #[test]
    fn a_long_run_has_longer_windows_and_loses_nothing() {
        let mut shares = Shares::new(1, 0);
        let end = 1_000_000_000;
        for at in (0..end).step_by(100_000) {
            shares.cells(&activity(0, at, at + 25_000));
        }
        let seen = shares.told(SimTime(end));
        let gc = &seen.by_origin[GC];
        assert!((MOST_WINDOWS / 2..=MOST_WINDOWS).contains(&gc.len()), "{}", gc.len());
        assert!(gc.iter().all(|share| (60..68).contains(share)), "{gc:?}");
        assert_eq!(seen.busy_ns[GC], [end / 4]);
    }
}
