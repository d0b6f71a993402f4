//! The addresses of requests: places of a phase's region chosen by popularity, or walks through it.

use ftlab::engine::Stream;
use ftlab::host::Op;
use ftlab::units::{Amount, Bytes, Lba, Ratio, SECTOR_BYTES};

use super::drift::Rotation;
use super::scatter::Scatter;
use super::weighted::Weighted;
use super::workload::{Addresses, Bucket, Phase};
use super::zipf::Zipf;

/// Key, message and remedy of something that does not fit the device.
pub(super) type Misfit = (&'static str, String, String);

/// A phase's region on a device of a given capacity, in sectors.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    pub start: u64,
    pub sectors: u64,
    align: u64,
    /// The largest request.
    largest: u64,
}

impl Extent {
    /// Lays out the region of `phase` on a device of `capacity` sectors.
    pub fn of(phase: &Phase, capacity: u64) -> Result<Extent, Misfit> {
        let align = phase.align.sectors();
        let offset = phase.region.offset.sectors(capacity);
        let start = match phase.region.offset {
            Amount::Share(_) => offset.next_multiple_of(align),
            Amount::Bytes(_) => offset,
        };
        let rest = capacity.saturating_sub(start);
        let asked = phase.region.size.map(|size| size.sectors(capacity));
        let fixed = matches!(phase.region.size, Some(Amount::Bytes(_)));
        let device = Bytes(capacity * SECTOR_BYTES);
        let sectors = asked.unwrap_or(rest);
        if rest == 0 || (fixed && sectors > rest) {
            let message = format!("the region ends beyond the device, which has {device}");
            let remedy = "give offset and size in per cent, or choose a larger device".to_owned();
            return Err(("region", message, remedy));
        }
        // A share that starts at an aligned sector may lose the rounding.
        let sectors = sectors.min(rest);
        let largest = phase.largest().sectors();
        if sectors < largest {
            let size = Bytes(sectors * SECTOR_BYTES);
            let message = format!(
                "a region of {size} (of a device of {device}) is smaller than the largest request \
                 of {}",
                phase.largest()
            );
            let remedy = "choose a larger region or device, or smaller requests".to_owned();
            return Err(("region", message, remedy));
        }
        Ok(Extent { start, sectors, align, largest })
    }

    /// Returns the number of places at which the largest request fits.
    fn places(&self) -> u64 {
        (self.sectors - self.largest) / self.align + 1
    }
}

/// Chooses the place of each request of a phase.
#[derive(Clone, Debug)]
pub(super) struct Placer {
    extent: Extent,
    way: Way,
    stream: Stream,
    habits: Option<Habits>,
}

/// Optional behaviour of places chosen by popularity: starts within a place, and runs. Most phases
/// have neither and draw no random numbers for them.
#[derive(Clone, Debug)]
struct Habits {
    unaligned: u64,
    /// For requests smaller than their place.
    inside: u64,
    /// For reads, and for writes and trims.
    sequential: [u64; 2],
    /// The end of the last request of either kind.
    ends: [u64; 2],
    stream: Stream,
}

#[derive(Clone, Debug)]
enum Way {
    Ranked { popularity: Moving, reads: Option<Box<Moving>>, pool: Pool, scatter: Option<Scatter> },
    Walk(Walk),
}

/// A popularity and its drift.
#[derive(Clone, Debug)]
struct Moving {
    popularity: Popularity,
    turn: Option<Rotation>,
}

impl Moving {
    /// Creates a popularity over `ranks` places of `align` sectors; `key` names the address in
    /// messages.
    fn new(
        address: &Addresses,
        ranks: u64,
        align: u64,
        key: &'static str,
    ) -> Result<Moving, Misfit> {
        let popularity = Popularity::new(address, ranks)?;
        let Some(drift) = address.drift() else { return Ok(Moving { popularity, turn: None }) };
        let turn = Rotation::new(&drift, ranks, align).ok_or_else(|| {
            let message = format!("a drift by less than one of {ranks} places, or by all of them");
            let remedy = "choose a `by` of at least one place, and less than all".to_owned();
            (key, message, remedy)
        })?;
        Ok(Moving { popularity, turn: Some(turn) })
    }

    /// Counts a request, whichever popularity it follows.
    #[inline]
    fn pass(&mut self) {
        if let Some(turn) = &mut self.turn {
            turn.pass();
        }
    }

    /// Draws a place, as a rank in the initial order.
    #[inline]
    fn rank(&self, stream: &mut Stream) -> u64 {
        let rank = self.popularity.rank(stream);
        self.turn.as_ref().map_or(rank, |turn| turn.place(rank))
    }
}

/// Draws from any number of things that are not places of the device, such as keys, by the
/// popularity of a phase.
#[derive(Clone, Debug)]
pub(super) struct RankedDraw {
    popularity: Moving,
    scatter: Option<Scatter>,
    stream: Stream,
}

impl RankedDraw {
    pub fn new(phase: &Phase, things: u64, stream: Stream) -> Result<RankedDraw, Misfit> {
        // The drift of a load is a share, so the size of a thing has no effect.
        let popularity = Moving::new(&phase.address, things, 1, "address.drift")?;
        let scatter = scatters(&phase.address).then(|| Scatter::new(things));
        Ok(RankedDraw { popularity, scatter, stream })
    }

    #[inline]
    pub fn draw(&mut self) -> u64 {
        self.popularity.pass();
        let rank = self.popularity.rank(&mut self.stream);
        self.scatter.as_ref().map_or(rank, |scatter| scatter.place(rank))
    }
}

impl Placer {
    /// Creates the placer; `stream` returns the random numbers of a component of the phase.
    pub fn new(
        phase: &Phase,
        extent: Extent,
        stream: &dyn Fn(&str) -> Stream,
    ) -> Result<Placer, Misfit> {
        let way = match phase.address {
            Addresses::Sequential | Addresses::Strided { .. } => {
                Way::Walk(Walk::new(phase, extent)?)
            }
            _ => {
                let pool = Pool::new(extent.places(), phase.overlap)?;
                let moving = |address, key| Moving::new(address, pool.ranks, extent.align, key);
                let popularity = moving(&phase.address, "address.drift")?;
                let scatter = scatters(&phase.address).then(|| Scatter::new(extent.places()));
                let reads = phase.read_address.as_ref();
                let reads = reads
                    .map(|address| moving(address, "read_address.drift").map(Box::new))
                    .transpose()?;
                Way::Ranked { popularity, reads, pool, scatter }
            }
        };
        Ok(Placer { extent, way, stream: stream("address"), habits: Habits::of(phase, stream) })
    }

    /// Returns the first sector and the length of the next request. Only a sequential walk shortens
    /// a request, at the end of its slice.
    #[inline]
    pub fn place(&mut self, op: Op, stream: u32, sectors: u32) -> (Lba, u32) {
        let Extent { start, align, .. } = self.extent;
        if let Way::Ranked { popularity, reads, .. } = &mut self.way {
            popularity.pass();
            reads.iter_mut().for_each(|reads| reads.pass());
        }
        if let Some(habits) = &mut self.habits
            && let Some(at) = habits.go_on(op, sectors, self.extent)
        {
            return (Lba(start + at), sectors);
        }
        match &mut self.way {
            Way::Ranked { popularity, reads, pool, scatter } => {
                let popularity = match reads {
                    Some(reads) if op == Op::Read => &*reads,
                    _ => &*popularity,
                };
                let rank = popularity.rank(&mut self.stream);
                let index = pool.place(rank, op != Op::Read);
                let index = scatter.as_ref().map_or(index, |scatter| scatter.place(index));
                let at = match &mut self.habits {
                    Some(habits) => habits.start(op, index * align, sectors, self.extent),
                    None => index * align,
                };
                (Lba(start + at), sectors)
            }
            Way::Walk(walk) => {
                let (offset, sectors) = walk.step(op, stream, sectors, align);
                (Lba(start + offset), sectors)
            }
        }
    }
}

impl Habits {
    fn of(phase: &Phase, stream: &dyn Fn(&str) -> Stream) -> Option<Habits> {
        let ppm = |share: Ratio| u64::from(share.ppm);
        let sequential = [ppm(phase.sequential_reads), ppm(phase.sequential_writes)];
        let unaligned = ppm(phase.unaligned);
        let inside = ppm(phase.inside);
        let any = unaligned > 0 || inside > 0 || sequential != [0, 0];
        any.then(|| Habits {
            unaligned,
            inside,
            sequential,
            ends: [u64::MAX; 2],
            stream: stream("habit"),
        })
    }

    /// Returns the end of the last request of the same kind, if this request continues it.
    fn go_on(&mut self, op: Op, sectors: u32, extent: Extent) -> Option<u64> {
        let kind = usize::from(op != Op::Read);
        if !self.chance(self.sequential[kind]) {
            return None;
        }
        let at = self.ends[kind];
        let end = at.checked_add(u64::from(sectors)).filter(|end| *end <= extent.sectors)?;
        self.ends[kind] = end;
        Some(at)
    }

    /// Draws whether a request belongs to this share; a share of zero draws nothing.
    fn chance(&mut self, share: u64) -> bool {
        share > 0 && self.stream.below(u64::from(Ratio::ONE.ppm)) < share
    }

    /// Returns the start of a request for the place at `at`.
    fn start(&mut self, op: Op, at: u64, sectors: u32, extent: Extent) -> u64 {
        let room = extent.align.saturating_sub(u64::from(sectors));
        let shift = if room > 0 && self.chance(self.inside) {
            self.stream.below(room + 1)
        } else if self.chance(self.unaligned) {
            self.stream.below(extent.align)
        } else {
            0
        };
        let at = (at + shift).min(extent.sectors - u64::from(sectors));
        self.ends[usize::from(op != Op::Read)] = at + u64::from(sectors);
        at
    }
}

fn scatters(address: &Addresses) -> bool {
    match address {
        Addresses::Zipf { scatter, .. }
        | Addresses::HotCold { scatter, .. }
        | Addresses::Histogram { scatter, .. } => *scatter,
        _ => false,
    }
}

/// The places that reads and writes can reach. Reads and writes have equally many ranks; at regular
/// intervals of rank they share a place. Places are numbered with shared ones first, then those of
/// reads, then those of writes, each by decreasing popularity.
#[derive(Clone, Copy, Debug)]
struct Pool {
    ranks: u64,
    shared: u64,
    overlap: Ratio,
}

impl Pool {
    fn new(places: u64, overlap: Ratio) -> Result<Pool, Misfit> {
        let ranks = ranks_of(places, overlap)?;
        Ok(Pool { ranks, shared: overlap.of(ranks), overlap })
    }

    #[inline]
    fn place(&self, rank: u64, writes: bool) -> u64 {
        if self.overlap == Ratio::ONE {
            return rank;
        }
        let before = self.shared_below(rank);
        if self.shared_below(rank + 1) > before {
            return before;
        }
        let own = if writes { self.ranks } else { self.shared };
        own + (rank - before)
    }

    /// Returns how many ranks below `rank` are shared.
    #[inline]
    fn shared_below(&self, rank: u64) -> u64 {
        match rank.checked_mul(u64::from(self.overlap.ppm)) {
            Some(product) => product / u64::from(Ratio::ONE.ppm),
            None => self.overlap.of(rank),
        }
    }
}

/// Returns how many places reads can reach, and writes likewise, if both together reach `places`.
fn ranks_of(places: u64, overlap: Ratio) -> Result<u64, Misfit> {
    let both = u128::from(2 * Ratio::ONE.ppm - overlap.ppm);
    let ranks = u128::from(places) * u128::from(Ratio::ONE.ppm) / both;
    let ranks = u64::try_from(ranks).expect("no more than places");
    if ranks == 0 {
        let message = format!("a single place cannot be split for an overlap of {overlap}");
        return Err(("overlap", message, "choose a larger region, or 100%".to_owned()));
    }
    Ok(ranks)
}

#[derive(Clone, Debug)]
enum Popularity {
    Uniform { ranks: u64 },
    Zipf(Zipf),
    HotCold { hot: u64, ranks: u64, accesses: u64 },
    Histogram { parts: Weighted, ends: Vec<u64> },
}

impl Popularity {
    fn new(address: &Addresses, ranks: u64) -> Result<Popularity, Misfit> {
        Ok(match address {
            Addresses::Zipf { theta, .. } if *theta > 0.0 => {
                Popularity::Zipf(Zipf::new(ranks, *theta))
            }
            Addresses::HotCold { space, accesses, .. } if ranks > 1 => {
                let hot = space.of(ranks).clamp(1, ranks - 1);
                Popularity::HotCold { hot, ranks, accesses: u64::from(accesses.ppm) }
            }
            Addresses::Histogram { buckets, .. } => Popularity::histogram(buckets, ranks)?,
            _ => Popularity::Uniform { ranks },
        })
    }

    fn histogram(buckets: &[Bucket], ranks: u64) -> Result<Popularity, Misfit> {
        let space: u128 = buckets.iter().map(|bucket| u128::from(bucket.space)).sum();
        let mut covered = 0u128;
        let mut ends = Vec::with_capacity(buckets.len());
        let mut weights = Vec::with_capacity(buckets.len());
        for bucket in buckets {
            let begin = ends.last().copied().unwrap_or(0);
            covered += u128::from(bucket.space);
            let end = u64::try_from(u128::from(ranks) * covered / space).expect("at most ranks");
            ends.push(end);
            weights.push(if end > begin { bucket.accesses } else { 0 });
        }
        if weights.iter().zip(buckets).any(|(weight, bucket)| *weight != bucket.accesses) {
            let message = format!(
                "{} places are too few for the finest of the histogram's {} parts",
                ranks,
                buckets.len()
            );
            let remedy = "choose a larger region or merge parts of the histogram".to_owned();
            return Err(("address", message, remedy));
        }
        Ok(Popularity::Histogram { parts: Weighted::new(&weights), ends })
    }

    #[inline]
    fn rank(&self, stream: &mut Stream) -> u64 {
        match self {
            Popularity::Uniform { ranks } => stream.below(*ranks),
            Popularity::Zipf(zipf) => zipf.draw(stream),
            Popularity::HotCold { hot, ranks, accesses } => {
                if stream.below(u64::from(Ratio::ONE.ppm)) < *accesses {
                    stream.below(*hot)
                } else {
                    hot + stream.below(ranks - hot)
                }
            }
            Popularity::Histogram { parts, ends } => {
                let part = parts.draw(stream);
                let begin = if part == 0 { 0 } else { ends[part - 1] };
                begin + stream.below(ends[part] - begin)
            }
        }
    }
}

/// Sequential and strided walks: each stream walks its own slice of the region, separately for
/// reads, writes and trims. If reads and writes overlap only in part, reads use the front of the
/// region and writes its back.
#[derive(Clone, Debug)]
struct Walk {
    /// Three for each stream: reads, writes, trims.
    cursors: Vec<Cursor>,
    /// In places; `None` for a sequential walk.
    stride: Option<u64>,
}

/// In sectors for a sequential walk, in places for a strided one.
#[derive(Clone, Copy, Debug)]
struct Cursor {
    at: u64,
    begin: u64,
    end: u64,
    pass: u64,
}

impl Walk {
    fn new(phase: &Phase, extent: Extent) -> Result<Walk, Misfit> {
        let stride = match phase.address {
            Addresses::Strided { stride } => Some(stride.sectors() / extent.align),
            _ => None,
        };
        let places = match stride {
            Some(_) => extent.places(),
            None => extent.sectors.div_ceil(extent.align),
        };
        let window = ranks_of(places, phase.overlap)?;
        let streams = u64::from(phase.streams);
        let slice = window / streams;
        if slice == 0 {
            let message = format!("{streams} streams share {window} places");
            return Err(("streams", message, "use fewer streams or a larger region".to_owned()));
        }
        if stride.is_some_and(|stride| stride >= slice) {
            let message = "the stride leaves the slice of its stream at the first step".to_owned();
            let remedy = "use a smaller stride, fewer streams or a larger region".to_owned();
            return Err(("address.stride", message, remedy));
        }
        let cut = |number: u64| {
            let at = u128::from(window) * u128::from(number) / u128::from(streams);
            u64::try_from(at).expect("at most the window")
        };
        let cursor = |first: u64, stream: u64| {
            let (begin, end) = (first + cut(stream), first + cut(stream + 1));
            match stride {
                Some(_) => Cursor { at: begin, begin, end, pass: 0 },
                None => {
                    let begin = begin * extent.align;
                    let end = (end * extent.align).min(extent.sectors);
                    Cursor { at: begin, begin, end, pass: 0 }
                }
            }
        };
        let back = places - window;
        let cursors =
            (0..streams).flat_map(|s| [cursor(0, s), cursor(back, s), cursor(back, s)]).collect();
        Ok(Walk { cursors, stride })
    }

    /// Returns the offset in the region and the length.
    #[inline]
    fn step(&mut self, op: Op, stream: u32, sectors: u32, align: u64) -> (u64, u32) {
        let kind = match op {
            Op::Write | Op::Append => 1,
            Op::Trim => 2,
            _ => 0,
        };
        let cursor = &mut self.cursors[stream as usize * 3 + kind];
        let at = cursor.at;
        let Some(stride) = self.stride else {
            let room = u32::try_from(cursor.end - at).unwrap_or(u32::MAX);
            let sectors = sectors.min(room);
            cursor.at = at + u64::from(sectors).next_multiple_of(align);
            if cursor.at >= cursor.end {
                cursor.at = cursor.begin;
            }
            return (at, sectors);
        };
        cursor.at = at + stride;
        if cursor.at >= cursor.end {
            cursor.pass = (cursor.pass + 1) % stride;
            cursor.at = cursor.begin + cursor.pass;
        }
        (at * align, sectors)
    }
}
