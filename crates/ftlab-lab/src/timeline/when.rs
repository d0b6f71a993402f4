//! When a time line is wanted, as front ends write it.

use std::fmt;
use std::str::FromStr;

use ftlab::host::Op;
use ftlab::options::value::Value as _;
use ftlab::units::{Nanos, SimTime};

use ftlab_workload::replay::Completed;

use super::choose::{Chosen, RequestChoice, window_of};
use super::traced::Again;
use super::windows::Windows;
use crate::experiment::Experiment;
use crate::failure::Failure;
use crate::human::span;
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
    /// For a time around the first power cut.
    Cut(Nanos),
}

/// The most requests that a time line is for.
const MOST: usize = 1_000;
/// How long a power cut is looked at, unless something else is said.
const AROUND_A_CUT: Nanos = Nanos(10_000_000);

/// Text that says no time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoWhen(String);

impl fmt::Display for NoWhen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: write 120ms..140ms (from the start of measuring), slowest:5ms (around the slowest request), slowest:10 (during \
             the ten slowest), with an operation slowest:read:10, or cut or cut:5ms (around the first power cut)",
            self.0
        )
    }
}

impl std::error::Error for NoWhen {}

impl FromStr for When {
    type Err = NoWhen;

    fn from_str(text: &str) -> Result<When, NoWhen> {
        let when = match text.split_once("..") {
            Some((from, until)) => between(from, until),
            None => match text.split(':').collect::<Vec<_>>()[..] {
                ["cut"] => Ok(When::Cut(AROUND_A_CUT)),
                ["cut", length] => time_of(length).map(When::Cut),
                ["slowest", last] => slowest(None, last),
                ["slowest", op, last] => {
                    Op::named(op).ok_or("names no operation").and_then(|op| slowest(Some(op), last))
                }
                ["slowest", ..] => Err("does not say how much of it"),
                _ => Err("is no time"),
            },
        };
        when.map_err(|why| NoWhen(format!("`{text}` {why}")))
    }
}

fn between(from: &str, until: &str) -> Result<When, &'static str> {
    let time = |text: &str| match text.trim() {
        "0" => Ok(Nanos::ZERO),
        text => Nanos::parse(text).map_err(|_| "has a time without a unit"),
    };
    let (from, until) = (time(from)?, time(until)?);
    match from < until {
        true => Ok(When::Between(from, until)),
        false => Err("ends before it begins"),
    }
}

/// Returns a time that is not nothing.
fn time_of(text: &str) -> Result<Nanos, &'static str> {
    match Nanos::parse(text) {
        Ok(Nanos::ZERO) | Err(_) => Err("has neither a number nor a time with a unit"),
        Ok(length) => Ok(length),
    }
}

fn slowest(op: Option<Op>, last: &str) -> Result<When, &'static str> {
    match last.parse::<usize>() {
        Ok(many) if (1..=MOST).contains(&many) => Ok(When::Slowest(op, many)),
        Ok(_) => Err("is more than 1000 requests, or none"),
        Err(_) => time_of(last).map(|length| When::Around(op, length)),
    }
}

impl When {
    /// Checks what is known before the run.
    ///
    /// # Errors
    /// A power cut is wanted, but none comes; or the load can't be read a second time.
    pub fn check(&self, experiment: &Experiment) -> Result<(), Failure> {
        match self {
            When::Cut(_) if experiment.cut_power.is_none() => Err(Failure::usage(
                "the time line is to show a power cut (`timeline`), but none comes\n  remedy: cut the power \
                 (`cut_power`), or ask for another time",
            )),
            _ if experiment.load.is_read_once() => Err(Again::read_once()),
            _ => Ok(()),
        }
    }

    /// Which requests of the run have to be known.
    #[must_use]
    pub fn choice(&self) -> Option<RequestChoice> {
        match self {
            When::Between(..) | When::Cut(_) => None,
            When::Around(..) => Some(RequestChoice::Slowest(1)),
            When::Slowest(_, many) => Some(RequestChoice::Slowest(*many)),
        }
    }

    /// Returns the windows of time in a run with this result, whose slowest requests are known.
    ///
    /// # Errors
    /// There was no such request or power cut, or the run was over by then.
    pub fn windows(&self, result: &ResultDocument, chosen: &Chosen) -> Result<Windows, Failure> {
        let windows = match self {
            When::Between(from, until) => {
                let start = SimTime(result.measured_from_ns());
                let end = result.replay.finished_ns;
                let after = |span: &Nanos| SimTime(start.0.saturating_add(span.0).min(end));
                if after(from).0 >= end {
                    let measured = span(end.saturating_sub(start.0));
                    return Err(nothing(format!("the run ended {measured} after measuring began")));
                }
                Windows::new([(after(from), after(until))])
            }
            When::Slowest(op, many) => {
                Windows::new(slowest_of(*op, *many, chosen).iter().map(window_of))
            }
            When::Around(op, length) => {
                let slowest = slowest_of(*op, 1, chosen);
                Windows::new(slowest.iter().map(|done| around(window_of(done), *length)))
            }
            When::Cut(length) => {
                let cuts = result.power_cuts.as_ref().and_then(|report| report.cuts.first());
                let Some(cut) = cuts else {
                    return Err(nothing("no power was cut (`cut_power`)".to_owned()));
                };
                let at = SimTime(cut.at_ns);
                Windows::new([around((at, at), *length)])
            }
        };
        match windows.all() {
            [] => Err(nothing("no such request was measured".to_owned())),
            _ => Ok(windows),
        }
    }
}

/// Returns the slowest requests, of one operation or of all.
fn slowest_of(op: Option<Op>, many: usize, chosen: &Chosen) -> Vec<Completed> {
    let wanted = |(of, _): &(&Op, _)| op.is_none_or(|op| op == **of);
    let mut slowest: Vec<_> =
        chosen.slowest.iter().filter(wanted).flat_map(|(_, of)| of).copied().collect();
    slowest.sort_by_key(|done| std::cmp::Reverse(done.latency()));
    slowest.truncate(many);
    slowest
}

/// Widens a span to a length, as much before as behind.
fn around((from, until): (SimTime, SimTime), length: Nanos) -> (SimTime, SimTime) {
    let beside = length.0.saturating_sub((until - from).0) / 2;
    (SimTime(from.0.saturating_sub(beside)), SimTime(until.0.saturating_add(beside)))
}

fn nothing(why: String) -> Failure {
    Failure::usage(format!(
        "there is no time line: {why}\n  remedy: ask for another time (`timeline`)"
    ))
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
            ("cut", When::Cut(ms(10))),
            ("cut:2ms", When::Cut(ms(2))),
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
            "cut:",
            "cut:0ms",
            "cut:3",
            "cuts",
        ] {
            let told = wrong.parse::<When>().expect_err(wrong).to_string();
            assert!(told.contains("slowest:read:10") && told.starts_with('`'), "{told}");
        }
    }
}
