//! When a time line is wanted, as front ends write it.

use std::fmt;
use std::str::FromStr;

use ftlab::host::Op;
use ftlab::options::value::Value as _;
use ftlab::units::{Nanos, SimTime};

use super::choose::{Chosen, RequestChoice, window_of};
use super::windows::Windows;
use crate::result::ResultDocument;

/// When a time line is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Between two times, from the start of measuring.
    Between(Nanos, Nanos),
    /// For a time around the slowest measured request.
    Around(Option<Op>, Nanos),
    /// During each of so many of the slowest measured requests.
    Slowest(Option<Op>, usize),
}

/// The most requests that a time line is for.
const MOST: usize = 1_000;

/// Text that says no time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoWhen(String);

impl fmt::Display for NoWhen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: write 120ms..140ms (from the start of measuring), slowest:5ms (around the slowest request), slowest:10 (during \
             the ten slowest), or with an operation, slowest:read:10",
            self.0
        )
    }
}

impl std::error::Error for NoWhen {}

impl FromStr for When {
    type Err = NoWhen;

    fn from_str(text: &str) -> Result<When, NoWhen> {
        let wrong = |why: &str| NoWhen(format!("`{text}` {why}"));
        if let Some((from, until)) = text.split_once("..") {
            let time = |text: &str| match text.trim() {
                "0" => Ok(Nanos::ZERO),
                text => Nanos::parse(text).map_err(|_| wrong("has a time without a unit")),
            };
            let (from, until) = (time(from)?, time(until)?);
            return match from < until {
                true => Ok(When::Between(from, until)),
                false => Err(wrong("ends before it begins")),
            };
        }
        let Some(rest) = text.strip_prefix("slowest") else { return Err(wrong("is no time")) };
        let parts: Vec<&str> = rest.split(':').collect();
        let (op, last) = match parts[..] {
            ["", last] => (None, last),
            ["", op, last] => {
                (Some(Op::named(op).ok_or_else(|| wrong("names no operation"))?), last)
            }
            _ => return Err(wrong("does not say how much of it")),
        };
        if let Ok(many) = last.parse::<usize>() {
            return match (1..=MOST).contains(&many) {
                true => Ok(When::Slowest(op, many)),
                false => Err(wrong("is more than 1000 requests, or none")),
            };
        }
        match Nanos::parse(last) {
            Ok(Nanos::ZERO) | Err(_) => Err(wrong("has neither a number nor a time with a unit")),
            Ok(length) => Ok(When::Around(op, length)),
        }
    }
}

impl When {
    /// Which requests of the run have to be known.
    #[must_use]
    pub fn choice(&self) -> Option<RequestChoice> {
        match self {
            When::Between(..) => None,
            When::Around(..) => Some(RequestChoice::Slowest(1)),
            When::Slowest(_, many) => Some(RequestChoice::Slowest(*many)),
        }
    }

    /// Returns the windows of time in a run with this result, whose slowest requests are known.
    #[must_use]
    pub fn windows(&self, result: &ResultDocument, chosen: &Chosen) -> Windows {
        let of = |op: &Option<Op>, many: usize| {
            let wanted = |(of, _): &(&Op, _)| op.is_none_or(|op| op == **of);
            let mut slowest: Vec<_> =
                chosen.slowest.iter().filter(wanted).flat_map(|(_, of)| of).copied().collect();
            slowest.sort_by_key(|done| std::cmp::Reverse(done.latency()));
            slowest.truncate(many);
            slowest
        };
        match self {
            When::Between(from, until) => {
                let measured = result.report.phases.iter().find(|phase| phase.measured);
                let start = SimTime(measured.and_then(|phase| phase.started_ns).unwrap_or(0));
                Windows::new([(start + *from, start + *until)])
            }
            When::Slowest(op, many) => Windows::new(of(op, *many).iter().map(window_of)),
            When::Around(op, length) => Windows::new(of(op, 1).iter().map(|done| {
                let (from, until) = window_of(done);
                let beside = length.0.saturating_sub((until - from).0) / 2;
                (SimTime(from.0.saturating_sub(beside)), until + Nanos(beside))
            })),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_and_wrong_ones_say_what_is_known() {
        let ms = |ms: u64| Nanos(ms * 1_000_000);
        for (text, when) in [
            ("120ms..140ms", When::Between(ms(120), ms(140))),
            ("0..5ms", When::Between(Nanos::ZERO, ms(5))),
            ("slowest:5ms", When::Around(None, ms(5))),
            ("slowest:write:2ms", When::Around(Some(Op::Write), ms(2))),
            ("slowest:10", When::Slowest(None, 10)),
            ("slowest:read:10", When::Slowest(Some(Op::Read), 10)),
        ] {
            assert_eq!(text.parse(), Ok(when), "{text}");
        }
        for wrong in [
            "",
            "5ms",
            "5ms..",
            "..",
            "5..6",
            "6ms..5ms",
            "5ms..5ms",
            "slowest",
            "slowest:",
            "slowest:0",
            "slowest:1001",
            "slowest:0ms",
            "slowest:erase:3",
            "slowest:read:",
            "slowest:read:3:4",
            "slowest:-1",
            "fastest:3",
            "cut",
        ] {
            let told = wrong.parse::<When>().expect_err(wrong).to_string();
            assert!(told.contains("slowest:read:10") && told.starts_with('`'), "{told}");
        }
    }
}
