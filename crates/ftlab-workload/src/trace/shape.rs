//! Observations that need the whole trace: pauses beyond its usual ones, and repeated requests. They
//! give warnings, and nothing is refused.

use super::record::{Record, op_code};

/// With fewer requests than this there are no observations.
pub(crate) const SHAPED_FROM: u64 = 16;

/// A difference of fewer steps of a coarse clock means nothing.
pub(crate) const CLOCK_STEPS: u64 = 10;

/// The longest pauses that are kept: one more than can be told from the usual ones.
const KEPT_PAUSES: usize = 9;
/// Unusual pauses are so many times as long as all others.
const UNUSUAL: u64 = 32;
/// The least number of requests that show what is usual.
const USUAL_FROM: u64 = 100;
/// The part of a trace that unusual pauses fill at least.
const UNUSUAL_PART: u64 = 10;

/// A pause between two requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pause {
    pub ns: u64,
    /// The requests before it, and when it begins.
    pub after: u64,
    pub at_ns: u64,
}

/// The longest pauses between requests, in order of time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Silence {
    /// The longest first.
    longest: [Pause; KEPT_PAUSES],
    pub records: u64,
    /// The time of the last request, from the first.
    pub duration_ns: u64,
}

impl Silence {
    /// Adds the next records in order of time.
    pub fn add(&mut self, records: &[Record]) {
        for record in records {
            let ns = record.at.0 - self.duration_ns;
            if ns > self.longest[KEPT_PAUSES - 1].ns {
                self.keep(Pause { ns, after: self.records, at_ns: self.duration_ns });
            }
            self.duration_ns = record.at.0;
            self.records += 1;
        }
    }

    #[cold]
    fn keep(&mut self, pause: Pause) {
        let place = self.longest.partition_point(|kept| kept.ns >= pause.ns);
        self.longest[place..].rotate_right(1);
        self.longest[place] = pause;
    }

    /// The longest pause.
    pub fn longest(&self) -> Pause {
        self.longest[0]
    }

    /// Whether the longest pause fills more than half of a trace, by a clock of this resolution.
    pub fn is_long(&self, tick_ns: u64) -> bool {
        let longest_ns = self.longest().ns;
        self.records >= SHAPED_FROM
            && longest_ns > self.duration_ns / 2
            && longest_ns / CLOCK_STEPS >= tick_ns
    }

    /// The pauses that are far longer than all others, and the longest of these others.
    pub fn unusual(&self, tick_ns: u64) -> Option<(&[Pause], u64)> {
        let usual = |at: &usize| self.longest[*at].ns.max(tick_ns);
        let count = (1..KEPT_PAUSES)
            .find(|at| self.longest[at - 1].ns / UNUSUAL > usual(at))
            .filter(|_| self.records >= USUAL_FROM)?;
        let together: u64 = self.longest[..count].iter().map(|pause| pause.ns).sum();
        (together >= self.duration_ns / UNUSUAL_PART)
            .then(|| (&self.longest[..count], usual(&count)))
    }
}

/// The number of records whose recurrence marks the possible start of a copy.
const HEAD: usize = 8;
/// Shorter beginnings recur in many loads.
const SHORTEST_COPY: u64 = 100;
/// A trace whose first requests recur more often than this does not consist of copies.
const MOST_STARTS: usize = 1 << 16;
/// The base of the hash of a sequence: an odd number with well-mixed bits.
const BASE: u64 = 0x9E37_79B9_7F4A_7C15;

/// Finds out whether the requests of a file, apart from their times, are copies of its beginning.
///
/// Stores the hash of the requests so far wherever the first few recur. Two such hashes give the
/// hash of the requests between them, so nothing else has to be stored.
#[derive(Clone, Debug, Default)]
pub(crate) struct Repeats {
    records: u64,
    hash: u64,
    head: [u64; HEAD],
    /// The last few requests, and the hash before each.
    recent: [(u64, u64); HEAD],
    starts: Vec<CopyStart>,
}

/// A place where a copy may start.
#[derive(Clone, Copy, Debug)]
struct CopyStart {
    at: u64,
    hash: u64,
}

impl Repeats {
    /// Adds the next record of the file.
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

    /// A hash of the requests so far.
    pub fn hash(&self) -> u64 {
        self.hash
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

    /// Returns how many requests are copied, and the number of copies; `None` if there are no copies.
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

    /// Returns the hash of the requests from a place to the end.
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

/// Returns a hash of a request, apart from its time.
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
        // The beginning recurs, but is followed by something else.
        let mut twice = random(300);
        twice.copy_within(0..20, 150);
        assert_eq!(copies(&twice), None);
        // The same request over and over: the shortest copy has a hundred of them.
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
        // One of 15 steps is longer: 14 others.
        assert!(!of(&with_pause(16, 13)).is_long(1));
        assert!(of(&with_pause(16, 14)).is_long(1));
        assert!(!of(&with_pause(16, 14)).is_long(2), "seven steps of the clock");
        assert!(!of(&with_pause(15, 500)).is_long(1));
        let longest = Pause { ns: 15, after: 4, at_ns: 3 };
        assert_eq!(of(&with_pause(16, 14)).longest(), longest);
    }

    #[test]
    fn unusual_pauses_are_far_longer_than_all_others() {
        // A step each, but 4 times a pause, and once a shorter one.
        let of = |count: u64, pause: u64, shorter: u64| {
            let mut silence = Silence::default();
            let mut at = 0;
            for number in 0..count {
                let record = Record { at: SimTime(at), ..random(1)[0] };
                silence.add(&[record]);
                at += match number % (count / 4) {
                    9 => pause,
                    5 if number == 5 => shorter,
                    _ => 10,
                };
            }
            silence
        };
        let unusual = |silence: Silence, tick: u64| {
            silence.unusual(tick).map(|(pauses, usual)| (pauses.len(), usual))
        };
        assert_eq!(unusual(of(400, 1_000, 10), 1), Some((4, 10)));
        assert_eq!(unusual(of(400, 1_000, 40), 1), None, "25 times");
        assert_eq!(unusual(of(400, 1_600, 40), 1), Some((4, 40)));
        assert_eq!(unusual(of(400, 1_000, 10), 40), None, "less than 32 steps of the clock");
        assert_eq!(unusual(of(96, 1_000, 10), 1), None, "too few");
        assert_eq!(unusual(of(3_600, 1_000, 10), 1), Some((4, 10)), "10 % of the trace");
        assert_eq!(unusual(of(3_700, 1_000, 10), 1), None, "less");
        let longest = Pause { ns: 1_000, after: 10, at_ns: 90 };
        assert_eq!(of(400, 1_000, 10).longest(), longest);
    }
}
