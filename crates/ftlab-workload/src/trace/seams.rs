//! A clock that falls back: another recording began, a counter wrapped, or two clocks are in one file.
//!
//! Only times that are far behind count, by more than half of the time so far, so that requests that are merely out of
//! order are no seam. Nothing is kept but counts.

use super::shape::{CLOCK_STEPS, SHAPED_FROM};
use super::units::TimeUnit;

/// Two clocks alternate: so many changes at least.
const LEAST_SWITCHES: u64 = 8;
/// And so few requests in a row by the clock that is behind, on average.
const MOST_IN_A_ROW: u64 = 100;
/// The share of a counter's range next to its end and its beginning where it may wrap.
const WRAP_MARGIN: u64 = 1024;

/// A file is in reverse order if of so many changes of the time at most one goes on.
const REVERSED_IN: u64 = 20;

/// A file is in no order of time if of so many changes of the time two or more go back. By chance it is every second.
const SHUFFLED_IN: u64 = 5;

/// How the times of a file follow each other.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FileOrder {
    last_ns: Option<u64>,
    /// Times that are earlier than the one before.
    pub backward: u64,
    /// Times that are later.
    pub forward: u64,
}

impl FileOrder {
    /// Adds the next time of the file.
    #[inline]
    pub fn pass(&mut self, at_ns: u64) {
        if let Some(last_ns) = self.last_ns {
            self.backward += u64::from(at_ns < last_ns);
            self.forward += u64::from(at_ns > last_ns);
        }
        self.last_ns = Some(at_ns);
    }

    /// Whether nearly all changes of the time go back.
    pub fn is_reversed(&self) -> bool {
        let changes = self.backward + self.forward;
        changes >= SHAPED_FROM && self.forward.saturating_mul(REVERSED_IN) <= changes
    }

    /// Whether the time goes back about as often as on.
    pub fn is_shuffled(&self) -> bool {
        let changes = self.backward + self.forward;
        changes >= SHAPED_FROM
            && self.backward.saturating_mul(SHUFFLED_IN) >= changes.saturating_mul(2)
    }
}

/// The clock of a file so far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClockSoFar {
    pub latest_ns: u64,
    /// From the earliest time of this recording to the latest.
    pub span_ns: u64,
    pub records: u64,
    /// Of these, those of this recording.
    pub of_recording: u64,
    pub tick_ns: u64,
    /// How far the latest time is ahead of the one that was the latest before, and which request has it.
    pub leap: (u64, u64),
}

/// What a clock that falls back probably is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seam {
    Restart,
    /// A counter of 32 bits that counts these.
    Wrap(TimeUnit),
    TwoClocks,
}

/// A clock that falls back by more than half of the time so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fallback {
    /// Requests that are so far back.
    pub records: u64,
    /// The requests before the first of them, and how far back it is.
    pub after: u64,
    pub back_ns: u64,
    wrap: Option<TimeUnit>,
    /// The request from whose time it is, if that jumped ahead by as much.
    spike: Option<u64>,
    /// How often such a request follows a time that was the latest.
    switches: u64,
    latest_ns: Option<u64>,
}

impl Fallback {
    /// Adds a record that is `back_ns` behind. Returns whether that is far.
    pub fn note(&mut self, back_ns: u64, clock: ClockSoFar) -> bool {
        let is_near = back_ns <= clock.span_ns / 2 || back_ns / CLOCK_STEPS < clock.tick_ns;
        if clock.of_recording < SHAPED_FROM || is_near {
            return false;
        }
        if self.records == 0 {
            (self.after, self.back_ns) = (clock.records, back_ns);
            self.wrap = wrapped(clock.latest_ns, clock.latest_ns - back_ns);
            let (leap_ns, request) = clock.leap;
            self.spike = (leap_ns >= back_ns).then_some(request);
        }
        self.records += 1;
        self.switches += u64::from(self.latest_ns != Some(clock.latest_ns));
        self.latest_ns = Some(clock.latest_ns);
        true
    }

    /// Whether it is still behind the time from which it fell back first.
    pub fn lasts(&self, latest_ns: u64) -> bool {
        self.switches == 1 && self.latest_ns == Some(latest_ns)
    }

    /// Which request has a time so far ahead that the later ones, which are behind it, go on from the one before: its own time
    /// seems to be wrong, and not theirs.
    pub fn spike(&self) -> Option<u64> {
        self.spike.filter(|_| self.switches == 1)
    }

    /// What it is, if these are more than stray records among so many: one in a hundred.
    pub fn seam(&self, records: u64) -> Option<Seam> {
        let alternates = self.switches >= LEAST_SWITCHES
            && self.records <= self.switches.saturating_mul(MOST_IN_A_ROW);
        (self.records > records / 100).then_some(match self.wrap {
            Some(unit) => Seam::Wrap(unit),
            None if alternates => Seam::TwoClocks,
            None => Seam::Restart,
        })
    }
}

/// The unit of a counter of 32 bits that wrapped between these times.
pub(crate) fn wrapped(latest_ns: u64, at_ns: u64) -> Option<TimeUnit> {
    let units = TimeUnit::ALL.into_iter().map(|(_, unit)| unit);
    units.into_iter().find(|unit| {
        let (range, margin) = (range_ns(*unit), range_ns(*unit) / WRAP_MARGIN);
        (range - margin..range).contains(&latest_ns) && at_ns < margin
    })
}

/// When a counter of 32 bits begins anew.
pub(crate) fn range_ns(unit: TimeUnit) -> u64 {
    unit.ns() << 32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Notes the times of a file as the gate does.
    fn seam(times: impl IntoIterator<Item = u64>) -> Option<Seam> {
        let (mut fallback, mut latest, mut earliest, mut records) =
            (Fallback::default(), 0, u64::MAX, 0);
        for at in times {
            if at < latest {
                let span_ns = latest - earliest;
                let clock = ClockSoFar {
                    latest_ns: latest,
                    span_ns,
                    records,
                    of_recording: records,
                    tick_ns: 1,
                    leap: (0, 0),
                };
                fallback.note(latest - at, clock);
            }
            (latest, earliest, records) = (latest.max(at), earliest.min(at), records + 1);
        }
        fallback.seam(records)
    }

    #[test]
    fn recordings_counters_and_two_clocks_are_told_apart() {
        let run = |from: u64, count: u64| (0..count).map(move |at| from + at * 1_000);
        assert_eq!(seam(run(5_000, 500)), None);
        assert_eq!(seam(run(5_000, 500).chain(run(0, 500))), Some(Seam::Restart));
        // Many recordings, each longer than the one before: as many advances of the latest time.
        assert_eq!(seam((1..20).flat_map(|which| run(0, which * 200))), Some(Seam::Restart));
        for unit in [TimeUnit::Ns, TimeUnit::Us, TimeUnit::Ms] {
            let (range, step) = (range_ns(unit), unit.ns() * 1_000);
            let counter = (0..900_u64).map(|at| (range - 400 * step + at * step) % range);
            assert_eq!(seam(counter), Some(Seam::Wrap(unit)), "{unit:?}");
            // Not quite at the end of its range.
            let early = (0..900_u64).map(|at| (at + 500) % 900 * step + range / 2);
            assert_eq!(seam(early), Some(Seam::Restart), "{unit:?}");
        }
        let epoch = 1_700_000_000_000_000_000;
        let mixed = |every: u64| {
            (0..900).map(move |at| at * 1_000 + if at % every == 0 { epoch } else { 7 })
        };
        assert_eq!(seam(mixed(2)), Some(Seam::TwoClocks));
        assert_eq!(seam(mixed(9)), Some(Seam::TwoClocks));
        // Stray lines are no clock.
        assert_eq!(seam((0..5_000).map(|at| if at % 600 == 500 { 0 } else { at })), None);
    }

    #[test]
    fn only_a_file_from_last_to_first_is_reversed() {
        let reversed = |times: &[u64]| {
            let mut order = FileOrder::default();
            times.iter().for_each(|at| order.pass(*at));
            order.is_reversed()
        };
        let back = |count: u64, same: u64| (0..count).rev().map(|at| at / same).collect::<Vec<_>>();
        assert!(reversed(&back(100, 1)) && reversed(&back(1_000, 10)));
        assert!(!reversed(&back(10, 1)), "too few");
        assert!(!reversed(&(0..100).collect::<Vec<_>>()));
        // One late request in front is behind for none but the next.
        assert!(!reversed(&[1_000].into_iter().chain(0..100).collect::<Vec<_>>()));
        // A step on in ten.
        let mostly: Vec<u64> = (0..1_000).map(|at| 10_000 - at * 8 + at % 10 * 9).collect();
        assert!(!reversed(&mostly));
    }

    #[test]
    fn disorder_is_no_seam() {
        // Blocks of 64 in reverse, and again half of the trace later.
        let disordered = (0..6_400_u64).map(|at| (at / 64 * 64 + 63 - at % 64) * 1_000);
        assert_eq!(seam(disordered), None);
    }
}
