//! Random load: what is asked of a device, in terms that fit any device, so that a case can shrink.

use std::ops::Range;

use ftlab::engine::Stream;
use ftlab::host::Op;
use ftlab::units::Nanos;

/// One command.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// What it asks.
    pub op: Op,
    /// Where, as a share of the device in 1/65536.
    pub place: u64,
    /// How many sectors: eighths of a page...
    pub eighths: u64,
    /// ... and shares of the device in 1/1024.
    pub shares: u64,
    /// From the beginning of a page to the end of one.
    pub aligned: bool,
    /// The stream of the host that it belongs to.
    pub stream: u32,
    /// How long after the last submission; often at once.
    pub pause: Nanos,
    /// Whether a write is told only when it is on flash.
    pub fua: bool,
}

/// What a case asks.
#[derive(Clone, Debug)]
pub struct CaseLoad {
    /// Commands in the device at once, at the most.
    pub depth: usize,
    /// Everything is written once, before anything else.
    pub fills: bool,
    /// The commands, in their order.
    pub steps: Vec<Step>,
}

impl Step {
    /// The range of sectors, at least one, on a device of `capacity` sectors.
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

/// Shares of one hundred commands, how large they are, how close together: one kind of load.
#[derive(Clone, Copy, Debug)]
pub struct Profile {
    reads: u64,
    trims: u64,
    flushes: u64,
    /// Chance of a large command, of an aligned one, of one in the hot eighth, of a pause.
    large: u64,
    aligned: u64,
    hot: u64,
    pauses: u64,
    /// Chance of a command that goes where the one before went.
    again: u64,
    longest_pause: u64,
    streams: u64,
    /// Chance of a write that is told only when it is on flash.
    fua: u64,
}

impl CaseLoad {
    /// A random load.
    pub fn draw(stream: &mut Stream) -> CaseLoad {
        let profile = Profile::draw(stream);
        let mut any = |from: &[u64]| from[stream.below(from.len() as u64) as usize];
        let depth = any(&DEPTHS) as usize;
        let fills = any(&[0, 1, 1, 1]) == 1;
        let count = any(&[40, 150, 400, 400]);
        CaseLoad { depth, fills, steps: profile.steps(stream, count) }
    }
}

/// Commands in the device at once, at the most: what is drawn from.
pub(crate) const DEPTHS: [u64; 5] = [1, 2, 8, 32, 128];

impl Profile {
    /// A random kind of load.
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

    /// So many commands.
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
