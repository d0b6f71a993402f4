//! The places of a job's requests within one of its files: sequential with holes and zones, or
//! random with and without a map. All numbers are in sectors from the start of the job's range.

use ftlab::engine::Stream;

use super::coverage::Coverage;
use super::distribution::Draw;
use super::job::{Job, Modifier, READ, RandomOrder, Sizes, Zones};
use super::skew::Skew;
use crate::generate::Scatter;

/// How often a size is drawn again if it does not fit before the end; then the smallest is used.
const REDRAWS: u32 = 64;

/// The offset and length of a request.
pub(super) type Spot = (u64, u32);

/// One file of a job.
#[derive(Clone, Debug)]
pub(super) struct Offsets {
    len: u64,
    /// The start of the next sequential request, by direction.
    cursors: [u64; 3],
    last: [u64; 3],
    zones: Option<Walk>,
    hole: u64,
    random: Option<Random>,
}

/// The state of strided zones, by direction.
#[derive(Clone, Debug)]
struct Walk {
    zones: Zones,
    starts: [u64; 3],
    done: [u64; 3],
}

#[derive(Clone, Debug)]
struct Random {
    order: Order,
    /// By direction: the sectors of a place, and the number of places.
    grid: [(u64, u64); 3],
    stream: Stream,
    /// The initial stream: with a map every pass has the same order.
    origin: Stream,
}

/// The order of random places. A place is a number; its offset is that many requests of the
/// direction's smallest size. If directions differ in that size they still share one map or
/// distribution, as in fio: it has as many numbers as the smallest size of all gives, and a number
/// that is beyond the end for a direction ends the pass.
#[derive(Clone, Debug)]
enum Order {
    Map(Coverage),
    Permuted { scatter: Scatter, places: u64, begin: u64, step: u64 },
    Skewed(Skew),
    Free([Draw; 3]),
}

/// Draws the sizes of requests.
pub(super) struct SizeDraw<'a> {
    pub sizes: &'a Sizes,
    pub stream: &'a mut Stream,
}

impl SizeDraw<'_> {
    fn draw(&mut self) -> u32 {
        match self.sizes {
            Sizes::Fixed(size) => *size,
            Sizes::Range(low, high) => {
                let steps = u64::from((high - low) / low) + 1;
                low + low * u32::try_from(self.stream.below(steps)).expect("fewer than sectors")
            }
            Sizes::Split(list) => {
                let sum: u64 = list.iter().map(|entry| entry.1).sum();
                let mut drawn = self.stream.below(sum);
                for (size, weight) in list {
                    match drawn.checked_sub(*weight) {
                        None => return *size,
                        Some(rest) => drawn = rest,
                    }
                }
                self.sizes.smallest()
            }
        }
    }

    /// Draws a size that fits into `room`; `None` if even the smallest does not.
    fn within(&mut self, room: u64) -> Option<u32> {
        for _ in 0..REDRAWS {
            let size = self.draw();
            if u64::from(size) <= room {
                return Some(size);
            }
        }
        Some(self.sizes.smallest()).filter(|size| u64::from(*size) <= room)
    }
}

impl Offsets {
    /// Creates the state for a range of `len` sectors, into which the largest request fits.
    pub fn new(job: &Job, len: u64, mut stream: Stream) -> Offsets {
        let random = job.random.then(|| Random::new(job, len, &mut stream));
        let hole = match job.modifier {
            Modifier::Skip(hole) => hole,
            _ => 0,
        };
        let walk = |zones| Walk { zones, starts: [0; 3], done: [0; 3] };
        Offsets { len, cursors: [0; 3], last: [0; 3], zones: job.zones.map(walk), hole, random }
    }

    /// Returns the sectors of a pass over the range.
    pub fn pass(&self, smallest: u32) -> u64 {
        self.len / u64::from(smallest) * u64::from(smallest)
    }

    /// Starts from the beginning.
    pub fn restart(&mut self) {
        self.cursors = [0; 3];
        if let Some(walk) = &mut self.zones {
            (walk.starts, walk.done) = ([0; 3], [0; 3]);
        }
        if let Some(random) = &mut self.random {
            random.restart();
        }
    }

    /// Returns the place behind the last request of this direction.
    pub fn sequential(&mut self, direction: usize, size: &mut SizeDraw<'_>) -> Spot {
        let spot = match &mut self.zones {
            Some(walk) => walk.step(&mut self.cursors[direction], direction, self.len, size),
            None => {
                let room = self.len.saturating_sub(self.cursors[direction]);
                match size.within(room) {
                    Some(size) => (self.cursors[direction], size),
                    None => (0, size.within(self.len).expect("a request fits into the range")),
                }
            }
        };
        self.cursors[direction] = spot.0 + u64::from(spot.1) + self.hole;
        self.last[direction] = spot.0;
        spot
    }

    /// Returns the place of the last request of this direction.
    pub fn again(&mut self, direction: usize, size: &mut SizeDraw<'_>) -> Spot {
        let at = self.last[direction];
        let size = size.within(self.len - at).expect("one fitted there before");
        (at, size)
    }

    /// Returns a new random place, or `None` if the pass is over. Only for random jobs.
    pub fn random(&mut self, direction: usize, size: &mut SizeDraw<'_>) -> Option<Spot> {
        let random = self.random.as_mut().expect("a random job has places");
        let spot = random.next(direction, self.len, size)?;
        self.cursors[direction] = spot.0 + u64::from(spot.1);
        self.last[direction] = spot.0;
        Some(spot)
    }
}

impl Walk {
    /// Returns the next place: `size` sectors in each zone, then on to the next zone.
    fn step(
        &mut self,
        cursor: &mut u64,
        direction: usize,
        len: u64,
        size: &mut SizeDraw<'_>,
    ) -> Spot {
        let Zones { size: zone_size, range, skip } = self.zones;
        let start = &mut self.starts[direction];
        if self.done[direction] >= zone_size {
            self.done[direction] = 0;
            *start += range + skip;
            *cursor = *start;
        }
        let smallest = u64::from(size.sizes.smallest());
        if *start + smallest > len {
            (*start, *cursor) = (0, 0);
        }
        let end = (*start + range.max(smallest)).min(len);
        if *cursor + smallest > end {
            *cursor = *start;
        }
        let taken = size.within(end - *cursor).expect("the smallest fits into a zone");
        self.done[direction] += u64::from(taken);
        (*cursor, taken)
    }
}

impl Random {
    fn new(job: &Job, len: u64, stream: &mut Stream) -> Random {
        let grid = [0, 1, 2].map(|direction| {
            let smallest = u64::from(job.sizes[direction].smallest());
            let unit = job.unit(direction);
            (unit, (len - smallest.min(len)) / unit + 1)
        });
        let places = (len / job.unit_of_all()).max(1);
        let skewed = len.div_ceil(job.unit_of_values());
        let order = match (Skew::new(&job.distribution[READ], skewed, stream), job.order) {
            (Some(skew), _) => Order::Skewed(skew),
            (None, RandomOrder::Map) => Order::Map(Coverage::new(places)),
            (None, RandomOrder::Permuted) => {
                let begin = stream.below(places);
                Order::Permuted { scatter: Scatter::new(places), places, begin, step: 0 }
            }
            (None, RandomOrder::Free) => Order::Free([0, 1, 2].map(|direction| {
                let (unit, places) = grid[direction];
                Draw::new(&job.distribution[direction], places, unit)
            })),
        };
        Random { order, grid, origin: stream.clone(), stream: stream.clone() }
    }

    fn restart(&mut self) {
        match &mut self.order {
            Order::Map(map) => map.clear(),
            Order::Permuted { step, .. } => *step = 0,
            // Without a map fio continues its sequence.
            Order::Skewed(_) | Order::Free(_) => return,
        }
        self.stream = self.origin.clone();
    }

    fn next(&mut self, direction: usize, len: u64, size: &mut SizeDraw<'_>) -> Option<Spot> {
        let (unit, places) = self.grid[direction];
        match &mut self.order {
            Order::Map(map) => {
                let drawn = self.stream.below(places);
                let wanted = u64::from(size.draw());
                let (first, got) = map.take(drawn, wanted.div_ceil(unit), places)?;
                let size = wanted.min(got * unit);
                Some((first * unit, u32::try_from(size).expect("no more than was wanted")))
            }
            Order::Permuted { scatter, places, begin, step } => {
                let at = scatter.place((*begin + *step) % *places) * unit;
                *step = (*step + 1) % *places;
                Some((at, size.within(len.checked_sub(at)?)?))
            }
            Order::Skewed(skew) => {
                let at = skew.draw(&mut self.stream) * unit;
                Some((at, size.within(len.checked_sub(at)?)?))
            }
            Order::Free(draws) => {
                let at = draws[direction].draw(places, &mut self.stream) * unit;
                Some(fitting(at, len, size))
            }
        }
    }
}

/// Returns a request at `at`, moved towards the start if even the smallest does not fit there.
fn fitting(at: u64, len: u64, size: &mut SizeDraw<'_>) -> Spot {
    match size.within(len - at) {
        Some(size) => (at, size),
        None => {
            let size = size.sizes.smallest();
            (len - u64::from(size), size)
        }
    }
}
