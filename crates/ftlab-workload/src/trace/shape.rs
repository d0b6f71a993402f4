//! What only a whole trace shows: silence for most of it, a clock that begins anew, and the same requests
//! over again. Nothing here is refused; it is said.

use super::record::{Record, op_code};

/// Fewer requests than this have no shape.
pub(crate) const SHAPED_FROM: u64 = 16;

/// Of a clock that is coarse, so few steps tell nothing.
const CLOCK_STEPS: u64 = 10;

/// The longest pause between requests, in order of time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Silence {
    pub longest_ns: u64,
    /// Requests before it.
    pub after: u64,
    pub records: u64,
    /// The time of the last request, counted from the first.
    pub duration_ns: u64,
}

impl Silence {
    /// Takes the next records in order of time.
    pub fn add(&mut self, records: &[Record]) {
        for record in records {
            let pause = record.at.0 - self.duration_ns;
            if pause > self.longest_ns {
                (self.longest_ns, self.after) = (pause, self.records);
            }
            self.duration_ns = record.at.0;
            self.records += 1;
        }
    }

    /// Whether it fills more than half of a trace, by a clock of this step.
    pub fn is_long(&self, tick_ns: u64) -> bool {
        self.records >= SHAPED_FROM
            && self.longest_ns > self.duration_ns / 2
            && self.longest_ns / CLOCK_STEPS >= tick_ns
    }
}

/// Where the clock of a file falls back by more than half of the time so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fallback {
    /// Requests that lie so far back.
    pub records: u64,
    /// Requests before the first of them, and how far back that lies.
    pub after: u64,
    pub back_ns: u64,
}

impl Fallback {
    /// Takes a record that lies back by so much, after `records` that span so much, by a clock of this step.
    pub fn note(&mut self, back_ns: u64, span_ns: u64, records: u64, tick_ns: u64) {
        let is_near = back_ns <= span_ns / 2 || back_ns / CLOCK_STEPS < tick_ns;
        if records < SHAPED_FROM || is_near {
            return;
        }
        if self.records == 0 {
            (self.after, self.back_ns) = (records, back_ns);
        }
        self.records += 1;
    }

    /// Whether it is more than stray records among so many: one in a hundred.
    pub fn is_a_seam(&self, records: u64) -> bool {
        self.records > records / 100
    }
}

/// Records whose recurrence marks where a copy may begin.
const HEAD: usize = 8;
/// A shorter beginning is over and over again in many loads.
const SHORTEST_COPY: u64 = 100;
/// A trace whose first requests recur more often than this is none of copies.
const MOST_STARTS: usize = 1 << 16;
/// The base of the hash of a sequence: odd, with bits all over.
const BASE: u64 = 0x9E37_79B9_7F4A_7C15;

/// Finds out whether the requests of a file, whatever their times, are a number of copies of its beginning.
///
/// A hash of the requests so far is noted where the first few recur. From two such hashes follows that of
/// the requests between them, so that nothing else has to be kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct Repeats {
    records: u64,
    hash: u64,
    head: [u64; HEAD],
    /// The last few requests, and the hash before each.
    recent: [(u64, u64); HEAD],
    starts: Vec<CopyStart>,
}

/// A place where a copy may begin.
#[derive(Clone, Copy, Debug)]
struct CopyStart {
    at: u64,
    hash: u64,
}

impl Repeats {
    /// Takes the next record of the file.
    #[inline]
    pub fn add(&mut self, record: &Record) {
        let key = key(record);
        let place = self.records as usize % HEAD;
        self.recent[place] = (key, self.hash);
        self.hash = self.hash.wrapping_mul(BASE).wrapping_add(key);
        self.records += 1;
        if self.records <= HEAD as u64 {
            self.head[place] = key;
        } else if key == self.head[HEAD - 1] {
            self.note_start();
        }
    }

    #[cold]
    fn note_start(&mut self) {
        let at = self.records - HEAD as u64;
        let recent = |place: usize| self.recent[(at as usize + place) % HEAD];
        let recurs = (0..HEAD).all(|place| recent(place).0 == self.head[place]);
        if recurs && self.starts.len() < MOST_STARTS {
            self.starts.push(CopyStart { at, hash: recent(0).1 });
        }
    }

    /// How many requests are copied, and how many times they are there; none if there are no copies.
    pub fn copies(&self) -> Option<(u64, u64)> {
        let mut starts = self.starts.iter();
        let copied = starts.find(|start| {
            start.at >= SHORTEST_COPY
                && self.records.is_multiple_of(start.at)
                && self.hash_before(self.records - start.at) == Some(self.hash_from(start))
        })?;
        Some((copied.at, self.records / copied.at))
    }

    fn hash_before(&self, at: u64) -> Option<u64> {
        let found = self.starts.binary_search_by_key(&at, |start| start.at).ok()?;
        Some(self.starts[found].hash)
    }

    /// The hash of the requests from a place to the end.
    fn hash_from(&self, start: &CopyStart) -> u64 {
        let (mut power, mut base, mut left) = (1_u64, BASE, self.records - start.at);
        while left > 0 {
            if left % 2 == 1 {
                power = power.wrapping_mul(base);
            }
            base = base.wrapping_mul(base);
            left /= 2;
        }
        self.hash.wrapping_sub(start.hash.wrapping_mul(power))
    }
}

/// What a request is, apart from its time.
#[inline]
fn key(record: &Record) -> u64 {
    let low = u64::from(record.sectors) << 32 | u64::from(record.stream);
    let high = record.lba.0.wrapping_mul(BASE) ^ u64::from(op_code(record));
    let mixed = (low ^ high.rotate_left(29)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    mixed ^ mixed >> 32
}

#[cfg(test)]
mod tests {
    use ftlab::engine::Stream;
    use ftlab::host::Op;
    use ftlab::units::{Lba, SimTime};

    use super::*;

    fn random(count: u64) -> Vec<Record> {
        let mut random = Stream::new(5, "shape");
        let record = |_| Record {
            at: SimTime::ZERO,
            op: if random.below(2) == 0 { Op::Read } else { Op::Write },
            lba: Lba(random.below(1 << 40)),
            sectors: 1 + random.below(64) as u32,
            stream: random.below(3) as u32,
            fua: false,
        };
        (0..count).map(record).collect()
    }

    fn copies<'a>(records: impl IntoIterator<Item = &'a Record>) -> Option<(u64, u64)> {
        let mut repeats = Repeats::default();
        records.into_iter().for_each(|record| repeats.add(record));
        repeats.copies()
    }

    #[test]
    fn copies_are_found_and_nothing_else() {
        let one = random(100);
        assert_eq!(copies(&one), None);
        assert_eq!(copies(one.repeat(2).iter()), Some((100, 2)));
        assert_eq!(copies(one.repeat(5).iter()), Some((100, 5)));
        assert_eq!(copies(random(99).repeat(2).iter()), None, "too short");
        assert_eq!(copies(&one.repeat(2)[..199]), None, "not whole");
        let mut other = one.repeat(3);
        other[250].sectors += 1;
        assert_eq!(copies(&other), None);
        // The beginning recurs, but what follows it is something else.
        let mut twice = random(300);
        twice.copy_within(0..20, 150);
        assert_eq!(copies(&twice), None);
        // The same request over and over: a hundred of them make the shortest copy.
        assert_eq!(copies(std::iter::repeat_n(&one[0], 1_000)), Some((100, 10)));
    }

    #[test]
    fn whatever_a_request_is_makes_it_another() {
        let one = random(100);
        let second = |change: fn(&mut Record)| {
            let mut both = one.repeat(2);
            change(&mut both[150]);
            copies(&both)
        };
        assert_eq!(second(|record| record.at = SimTime(7)), Some((100, 2)));
        assert_eq!(second(|record| record.lba.0 += 1), None);
        assert_eq!(second(|record| record.stream += 1), None);
        assert_eq!(second(|record| record.op = Op::Trim), None);
    }

    #[test]
    fn silence_is_long_beyond_half_of_at_least_a_few() {
        let of = |times: &[u64]| {
            let record = |at: &u64| Record { at: SimTime(*at), ..random(1)[0] };
            let mut silence = Silence::default();
            silence.add(&times.iter().map(record).collect::<Vec<_>>());
            silence
        };
        let with_pause = |count: u64, pause: u64| -> Vec<u64> {
            (0..count).map(|at| if at < 4 { at } else { at + pause }).collect()
        };
        // Of 15 steps one is longer: 14 besides.
        assert!(!of(&with_pause(16, 13)).is_long(1));
        assert!(of(&with_pause(16, 14)).is_long(1));
        assert!(!of(&with_pause(16, 14)).is_long(2), "seven steps of the clock");
        assert!(!of(&with_pause(15, 500)).is_long(1));
        assert_eq!((of(&with_pause(16, 14)).longest_ns, of(&with_pause(16, 14)).after), (15, 4));
    }
}
