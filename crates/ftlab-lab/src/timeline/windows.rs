//! Windows of simulated time.

use ftlab::units::SimTime;

/// Windows of simulated time, both ends included. They are disjoint and in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Windows(Vec<(SimTime, SimTime)>);

impl Windows {
    /// Takes windows in any order; those that touch are joined.
    #[must_use]
    pub fn new(windows: impl IntoIterator<Item = (SimTime, SimTime)>) -> Windows {
        let mut all: Vec<(SimTime, SimTime)> = windows.into_iter().collect();
        all.sort_unstable();
        let mut joined: Vec<(SimTime, SimTime)> = Vec::new();
        for (from, until) in all {
            match joined.last_mut() {
                Some(last) if from <= last.1 => last.1 = last.1.max(until),
                _ => joined.push((from, until)),
            }
        }
        Windows(joined)
    }

    /// Whether a span touches a window.
    #[must_use]
    pub fn meet(&self, from: SimTime, until: SimTime) -> bool {
        let first = self.0.partition_point(|window| window.1 < from);
        self.0.get(first).is_some_and(|window| window.0 <= until)
    }

    /// Returns the time from the start of the first window to the end of the last one.
    #[must_use]
    pub fn hull(&self) -> (SimTime, SimTime) {
        let (first, last) = (self.0.first(), self.0.last());
        let from = first.map_or(SimTime::ZERO, |window| window.0);
        (from, last.map_or(from, |window| window.1))
    }

    /// The windows.
    #[must_use]
    pub fn all(&self) -> &[(SimTime, SimTime)] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_joined_and_met_at_their_ends() {
        let at = SimTime;
        let windows = Windows::new([(at(50), at(60)), (at(10), at(20)), (at(15), at(30))]);
        assert_eq!(windows.all(), [(at(10), at(30)), (at(50), at(60))]);
        for (from, until, met) in [(0, 9, false), (0, 10, true), (30, 40, true), (31, 49, false)] {
            assert_eq!(windows.meet(at(from), at(until)), met, "{from} to {until}");
        }
        assert_eq!(windows.hull(), (at(10), at(60)));
        assert!(windows.meet(at(0), at(100)) && !windows.meet(at(61), at(100)));
        assert!(!Windows::default().meet(at(0), at(1)));
    }
}
