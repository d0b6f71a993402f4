//! Random loads, in terms that fit any device, so that a case can shrink.

use std::ops::Range;

use ftlab::engine::Stream;
use ftlab::host::Op;
use ftlab::units::Nanos;

/// A command.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// The operation.
    pub op: Op,
    /// The place, as a share of the device in 1/65536.
    pub place: u64,
    /// The number of sectors: eighths of a page...
    pub eighths: u64,
    /// ... plus shares of the device in 1/1024.
    pub shares: u64,
    /// Whether it starts and ends at page boundaries.
    pub aligned: bool,
    /// The host stream.
    pub stream: u32,
    /// The time since the last submission; often zero.
    pub pause: Nanos,
    /// Whether a write completes only when it is on flash.
    pub fua: bool,
}

/// The load of a case.
#[derive(Clone, Debug)]
pub struct CaseLoad {
    /// The most commands in the device at once.
    pub depth: usize,
    /// Whether everything is written once first.
    pub fills: bool,
    /// The commands, in order.
    pub steps: Vec<Step>,
}

impl Step {
    /// Returns the range of sectors, at least one, on a device of `capacity` sectors.
    pub fn range(&self, capacity: u64, per_page: u64) -> Range<u64> {
        let mut first = self.place * capacity / 65_536;
        let mut count = (self.eighths * per_page / 8 + self.shares * capacity / 1_024).max(1);
        if self.aligned {
            first -= first % per_page;
            count = count.next_multiple_of(per_page);
        }
        first..(first + count).min(capacity)
    }
}

/// A kind of load: the mix of a hundred commands, their sizes and pauses.
#[derive(Clone, Copy, Debug)]
pub struct Profile {
    reads: u64,
    trims: u64,
    flushes: u64,
    /// The chances of a large command, of an aligned one, of one in the hot eighth, of a pause.
    large: u64,
    aligned: u64,
    hot: u64,
    pauses: u64,
    /// The chance of a command to the place of the previous one.
    again: u64,
    longest_pause: u64,
    streams: u64,
    /// The chance of a write that completes only when it is on flash.
    fua: u64,
}

impl CaseLoad {
    /// Draws a load.
    pub fn draw(stream: &mut Stream) -> CaseLoad {
        let profile = Profile::draw(stream);
        let mut any = |from: &[u64]| from[stream.below(from.len() as u64) as usize];
        let depth = any(&DEPTHS) as usize;
        let fills = any(&[0, 1, 1, 1]) == 1;
        let count = any(&[40, 150, 400, 400]);
        CaseLoad { depth, fills, steps: profile.steps(stream, count) }
    }
}

/// The choices for the most commands in the device at once.
pub(crate) const DEPTHS: [u64; 5] = [1, 2, 8, 32, 128];

impl Profile {
    /// Draws a kind of load.
    pub fn draw(stream: &mut Stream) -> Profile {
        let mut any = |from: &[u64]| from[stream.below(from.len() as u64) as usize];
        Profile {
            reads: any(&[5, 25, 60]),
            trims: any(&[0, 3, 15]),
            flushes: any(&[0, 1, 10]),
            large: any(&[0, 3, 20]),
            aligned: any(&[10, 50, 100]),
            hot: any(&[0, 50, 90]),
            pauses: any(&[0, 10, 100]),
            // Up to sixty days, in which data ages.
            longest_pause: any(&[20_000, 2_000_000, 50_000_000, 60 * 86_400_000_000_000]),
            streams: any(&[1, 4, 20]),
            again: any(&[0, 0, 60]),
            fua: any(&[0, 0, 20]),
        }
    }

    /// Draws `count` commands.
    pub fn steps(&self, stream: &mut Stream, count: u64) -> Vec<Step> {
        let mut drawn = Vec::<Step>::new();
        for _ in 0..count {
            let step = self.step(stream);
            let step = match drawn.last().filter(|_| stream.below(100) < self.again) {
                Some(&Step { place, aligned, .. }) => Step { place, aligned, ..step },
                None => step,
            };
            drawn.push(step);
        }
        drawn
    }

    fn step(&self, stream: &mut Stream) -> Step {
        let mut chance = |percent| stream.below(100) < percent;
        let op = match (chance(self.reads), chance(self.trims), chance(self.flushes)) {
            (true, ..) => Op::Read,
            (_, true, _) => Op::Trim,
            (_, _, true) => Op::Flush,
            _ => Op::Write,
        };
        let (large, aligned) = (chance(self.large), chance(self.aligned));
        let (hot, pauses) = (chance(self.hot), chance(self.pauses));
        let fua = op == Op::Write && chance(self.fua);
        let reach = if hot { 8_192 } else { 65_536 };
        Step {
            op,
            place: stream.below(reach),
            eighths: 1 + stream.below(if large { 40 } else { 12 }),
            shares: if large { stream.below(64) } else { 0 },
            aligned,
            stream: stream.below(self.streams) as u32,
            pause: Nanos(if pauses { stream.below(self.longest_pause) } else { 0 }),
            fua,
        }
    }
}
