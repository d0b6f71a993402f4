//! The figures of what loads are like, in the model of [`figure`](crate::figure).
//!
//! With one load, a panel has a line for each of its curves, such as reads and writes. With several, each curve has a panel
//! of its own with a line for each load, in their order.

use ftlab_workload::trace::{Character, Distribution, HourUse, MixInterval, MixOverTime};

use super::PAGE;
use crate::figure::{Drawn, FigureAxis, FigureLine, FigurePanel, FigurePoint};

const NS_PER_S: f64 = 1e9;
const NS_PER_HOUR: f64 = 3_600.0 * NS_PER_S;
const HOUR_NS: u64 = 3_600_000_000_000;
const PERCENT: f64 = 100.0;
/// Loads whose lengths differ by more are drawn over shares of their time: of the shorter one nothing would be seen.
const MOST_TIMES_LONGER: f64 = 4.0;
/// A vertical axis is logarithmic if its largest value is so many times the least.
const WIDE: f64 = 10.0;
/// The curve of a distribution begins and ends this far beyond its values.
const BEYOND: f64 = 2.0;

/// How to read figures over time: of one load, and of several.
const OVER_TIME: [&str; 2] = [
    "From the first request, in intervals of equal length. The last one may be cut short.",
    "From the first request, in intervals of equal length. The last one may be cut short. If one load is more than four times \
     as long as another, both are drawn over shares of their time. Hide the larger load to see more of the other.",
];

/// Figures that belong together.
#[derive(Clone, Debug)]
pub struct LoadFigures {
    /// What they are about.
    pub title: &'static str,
    /// How to read them.
    pub about: &'static str,
    /// The figures.
    pub figures: Vec<LoadFigure>,
}

/// A figure with its title.
#[derive(Clone, Debug)]
pub struct LoadFigure {
    /// Its title.
    pub title: String,
    /// What is drawn.
    pub panel: FigurePanel,
}

type Points = Vec<FigurePoint>;

/// The loads by name.
type NamedLoads<'a> = [(&'a str, &'a Character)];

/// A figure before its curves are put into panels.
struct Drawing {
    title: &'static str,
    x: FigureAxis,
    y: FigureAxis,
    drawn: Drawn,
    /// The name of each curve, and its points by load.
    curves: Vec<(&'static str, Vec<Points>)>,
}

impl Drawing {
    fn panels(self, loads: &NamedLoads<'_>) -> Vec<LoadFigure> {
        let Drawing { title, x, y, drawn, curves } = self;
        let line = |(name, points): (&str, Points)| FigureLine { name: name.to_owned(), points };
        let several = curves.len() > 1;
        let panels: Vec<(String, Vec<FigureLine>)> = match loads {
            [_] => {
                let own = curves.into_iter().filter_map(|(name, points)| {
                    let points = points.into_iter().next().filter(|points| !points.is_empty())?;
                    Some(line((name, points)))
                });
                vec![(title.to_owned(), own.collect())]
            }
            _ => {
                let named = curves.into_iter().map(|(name, points)| {
                    let title = if several { format!("{title}: {name}") } else { title.to_owned() };
                    let names = loads.iter().map(|(name, _)| *name);
                    (title, names.zip(points).map(line).collect())
                });
                named.collect()
            }
        };
        let drawn = panels
            .into_iter()
            .filter(|(_, lines)| lines.iter().any(|line| !line.points.is_empty()))
            .map(|(title, lines)| LoadFigure {
                title,
                panel: FigurePanel {
                    x: x.clone(),
                    y: y.clone(),
                    against: None,
                    drawn,
                    legend: String::new(),
                    confidence_ratio: None,
                    lines,
                },
            });
        drawn.collect()
    }
}

/// Returns the figures of loads, in groups. What no load has is left out.
#[must_use]
pub fn figures_of(loads: &NamedLoads<'_>) -> Vec<LoadFigures> {
    let groups = [
        ("Over time", OVER_TIME[usize::from(loads.len() > 1)], over_time(loads)),
        (
            "Requests",
            "Each curve is the share of values that are no larger. Values are in bins at most a sixteenth wide, named by \
             their least value. A run is a request and those of its stream that start where the one before ended.",
            requests(loads),
        ),
        (
            "Arrivals",
            "A trace does not say when requests end, so gaps run from arrival to arrival. Dispersion is the variance of the \
             requests in an interval over their mean: 1 for Poisson arrivals, more for bursts.",
            arrivals(loads),
        ),
        (
            "Working set and reuse",
            "Pages of 4 KiB. The reuse distance of a use is what other pages were used since the last use of its page; an LRU \
             cache larger than that hits. Overwrite distances run from a write of a page to its next write.",
            working_set(loads).into_iter().chain(reuse(loads)).collect(),
        ),
        ("Skew and streams", "Pages and streams, those used most first.", skew(loads)),
    ];
    let group = |(title, about, drawings): (_, _, Vec<Drawing>)| LoadFigures {
        title,
        about,
        figures: drawings.into_iter().flat_map(|one| one.panels(loads)).collect(),
    };
    groups.map(group).into_iter().filter(|group| !group.figures.is_empty()).collect()
}

fn requests(loads: &NamedLoads<'_>) -> Vec<Drawing> {
    vec![
        distribution(
            loads,
            ["request size", "size", "B"],
            &[("reads", |of| &of.read_bytes, 1.0), ("writes", |of| &of.write_bytes, 1.0)],
        ),
        distribution(
            loads,
            ["run length", "requests of a run", ""],
            &[("share of runs", |of| &of.sequence.run_requests, 1.0)],
        ),
    ]
}

fn by_load(loads: &NamedLoads<'_>, of: impl Fn(&Character) -> Points) -> Vec<Points> {
    loads.iter().map(|(_, load)| of(load)).collect()
}

fn logarithmic(label: &str, unit: &str) -> FigureAxis {
    FigureAxis { log: true, ..FigureAxis::numbers(label, unit) }
}

/// Returns an axis that is logarithmic if its values need that and have logarithms.
fn logarithmic_if_wide(label: &str, lines: &[Points]) -> FigureAxis {
    let values = || lines.iter().flatten().filter_map(|point| point.y);
    let least = values().fold(f64::INFINITY, f64::min);
    let most = values().fold(0.0, f64::max);
    FigureAxis { log: least > 0.0 && most > WIDE * least, ..FigureAxis::numbers(label, "") }
}

fn ticked(axis: FigureAxis, ticks: impl IntoIterator<Item = f64>) -> FigureAxis {
    FigureAxis { ticks: Some(ticks.into_iter().collect()), ..axis }
}

fn time() -> FigureAxis {
    FigureAxis::numbers("time", "ns")
}

/// Returns the time axis of loads, and how long an interval of each is there.
fn clock(loads: &NamedLoads<'_>) -> (FigureAxis, Vec<f64>) {
    let mixes = || loads.iter().map(|(_, load)| &load.mix);
    // A load without times has no intervals.
    let lengths = || mixes().map(length_ns).filter(|length| *length > 0.0);
    let longest = lengths().fold(0.0, f64::max);
    if longest > MOST_TIMES_LONGER * lengths().fold(f64::INFINITY, f64::min) {
        let step = |mix: &MixOverTime| PERCENT / mix.intervals.len().max(1) as f64;
        return (FigureAxis::numbers("share of each one's time", "%"), mixes().map(step).collect());
    }
    (time(), mixes().map(|mix| mix.interval_ns as f64).collect())
}

fn length_ns(mix: &MixOverTime) -> f64 {
    mix.interval_ns as f64 * mix.intervals.len() as f64
}

fn over_time(loads: &NamedLoads<'_>) -> Vec<Drawing> {
    type Part = fn(&MixInterval) -> u64;
    let (x, steps) = clock(loads);
    let drawing =
        |title, y, curves| Drawing { title, x: x.clone(), y, drawn: Drawn::Steps, curves };
    let rates = |title, unit, parts: [(&'static str, Part); 3]| {
        let curve = |(name, part): (&'static str, Part)| {
            let lines = loads.iter().zip(&steps);
            (name, lines.map(|((_, load), step)| rate_over_time(&load.mix, *step, part)).collect())
        };
        drawing(title, FigureAxis::numbers(title, unit), parts.map(curve).into())
    };
    let share = |of: &MixInterval| {
        let all = of.reads + of.writes;
        (all > 0).then(|| of.writes as f64 / all as f64 * PERCENT)
    };
    let shares =
        loads.iter().zip(&steps).map(|((_, load), step)| intervals(&load.mix, *step, share));
    vec![
        rates(
            "requests a second",
            "1/s",
            [("reads", |of| of.reads), ("writes", |of| of.writes), ("trims", |of| of.trims)],
        ),
        rates(
            "bytes a second",
            "B/s",
            [
                ("read", |of| of.read_bytes),
                ("written", |of| of.write_bytes),
                ("trimmed", |of| of.trim_bytes),
            ],
        ),
        drawing(
            "share of writes among reads and writes",
            FigureAxis::numbers("share of writes", "%"),
            vec![("", shares.collect())],
        ),
    ]
}

/// Returns a rate in each interval; nothing if it is always zero.
fn rate_over_time(mix: &MixOverTime, step: f64, part: fn(&MixInterval) -> u64) -> Points {
    let seconds = mix.interval_ns as f64 / NS_PER_S;
    match mix.intervals.iter().any(|of| part(of) > 0) {
        true => intervals(mix, step, |of| Some(part(of) as f64 / seconds)),
        false => Vec::new(),
    }
}

fn intervals(mix: &MixOverTime, step: f64, of: impl Fn(&MixInterval) -> Option<f64>) -> Points {
    let all = mix.intervals.iter().enumerate();
    let mut points: Points =
        all.map(|(at, one)| FigurePoint::at(at as f64 * step, of(one))).collect();
    // The last value holds up to the end of its interval.
    points.extend(points.last().map(|last| FigurePoint::at(points.len() as f64 * step, last.y)));
    points
}

/// A distribution of a load, and what a unit of its values is in that of the axis.
type CurveOf = (&'static str, fn(&Character) -> &Distribution, f64);

/// Draws distributions as shares of values that are no larger. `words` are the title, and label and unit of the values.
fn distribution(loads: &NamedLoads<'_>, words: [&'static str; 3], curves: &[CurveOf]) -> Drawing {
    let [title, label, unit] = words;
    let curve =
        |&(name, of, factor): &CurveOf| (name, by_load(loads, |load| cumulative(of(load), factor)));
    let mut curves: Vec<(&str, Vec<Points>)> = curves.iter().map(curve).collect();
    spread(&mut curves);
    Drawing {
        title,
        x: logarithmic(label, unit),
        y: FigureAxis::numbers("share", "%"),
        drawn: Drawn::Steps,
        curves,
    }
}

fn cumulative(of: &Distribution, factor: f64) -> Points {
    let mut sum = 0.0;
    let point = |(from, count): (u64, f64)| {
        sum += count;
        FigurePoint::at(from as f64 * factor, Some(sum / of.count * PERCENT))
    };
    of.bins.iter().map(|bin| (bin.from, bin.count)).map(point).collect()
}

/// Lets all curves of distributions begin and end at the same places, beyond their values.
fn spread(curves: &mut [(&'static str, Vec<Points>)]) {
    let all = || curves.iter().flat_map(|(_, lines)| lines.iter().flatten()).map(|point| point.x);
    let first = all().fold(f64::INFINITY, f64::min) / BEYOND;
    let last = all().fold(1.0, f64::max) * BEYOND;
    let lines = curves.iter_mut().flat_map(|(_, lines)| lines).filter(|line| !line.is_empty());
    for line in lines {
        if line[0].x > first {
            line.insert(0, FigurePoint::at(first, Some(0.0)));
        }
        line.push(FigurePoint::at(last, Some(PERCENT)));
    }
}

fn arrivals(loads: &NamedLoads<'_>) -> Vec<Drawing> {
    let dispersion = by_load(loads, |load| {
        let all = load.arrivals.dispersion.iter();
        all.filter_map(|of| Some(FigurePoint::at(of.interval_ns as f64, Some(of.index?)))).collect()
    });
    let idle = by_load(loads, |load| {
        let all = load.arrivals.idle.iter();
        all.filter_map(|of| {
            Some(FigurePoint::at(of.at_least_ns as f64, Some(of.time_ratio? * PERCENT)))
        })
        .collect()
    });
    let lengths = |of: fn(&Character) -> Vec<u64>| {
        // They are the same for all loads with times.
        let timed = loads.iter().map(|(_, load)| of(load)).find(|lengths| !lengths.is_empty());
        timed.unwrap_or_default().into_iter().map(|ns| ns as f64)
    };
    vec![
        distribution(
            loads,
            ["gap between arrivals", "gap", "ns"],
            &[("share of gaps", |of| &of.arrivals.gap_ns, 1.0)],
        ),
        Drawing {
            title: "dispersion: variance over mean of the requests in an interval",
            x: ticked(
                logarithmic("interval", "ns"),
                lengths(|load| load.arrivals.dispersion.iter().map(|of| of.interval_ns).collect()),
            ),
            y: logarithmic_if_wide("dispersion", &dispersion),
            drawn: Drawn::Lines,
            curves: vec![("", dispersion)],
        },
        Drawing {
            title: "idle: share of the time in gaps of at least a length",
            x: ticked(
                logarithmic("gaps of at least", "ns"),
                lengths(|load| load.arrivals.idle.iter().map(|of| of.at_least_ns).collect()),
            ),
            y: FigureAxis::numbers("share of the time", "%"),
            drawn: Drawn::Lines,
            curves: vec![("", idle)],
        },
    ]
}

fn working_set(loads: &NamedLoads<'_>) -> [Drawing; 2] {
    let hours = |of: fn(&HourUse) -> f64, lasts| by_load(loads, |load| by_hour(load, of, lasts));
    let by_hours = |title, curves| Drawing {
        title,
        x: time(),
        y: FigureAxis::numbers("pages", "B"),
        drawn: Drawn::Steps,
        curves,
    };
    [
        by_hours("pages used so far, by hour", vec![("", hours(|hour| hour.pages_so_far, true))]),
        by_hours(
            "pages used within each hour",
            vec![
                ("all", hours(|hour| hour.pages, false)),
                ("never used before", hours(|hour| hour.new_pages, false)),
            ],
        ),
    ]
}

fn reuse(loads: &NamedLoads<'_>) -> Vec<Drawing> {
    let misses = by_load(loads, |load| {
        let all = load.reuse.lru.iter();
        all.map(|of| FigurePoint::at(of.cache_pages as f64 * PAGE, Some(of.miss_ratio * PERCENT)))
            .collect()
    });
    vec![
        Drawing {
            title: "misses of an LRU cache of reads and writes",
            x: logarithmic("cache", "B"),
            y: FigureAxis::numbers("share of misses", "%"),
            drawn: Drawn::Lines,
            curves: vec![("", misses)],
        },
        distribution(
            loads,
            ["reuse distance", "other pages used", "B"],
            &[("share of reuses", |of| &of.reuse.reuse_pages, PAGE)],
        ),
        distribution(
            loads,
            ["overwrite distance", "written meanwhile", "B"],
            &[("share of overwrites", |of| &of.reuse.overwrite_bytes, 1.0)],
        ),
        distribution(
            loads,
            ["time to overwrite", "time", "ns"],
            &[("share of overwrites", |of| &of.reuse.overwrite_ns, 1.0)],
        ),
    ]
}

/// Returns the bytes of pages by hour. In hours without requests, none are used, but those so far last.
fn by_hour(load: &Character, of: fn(&HourUse) -> f64, lasts: bool) -> Points {
    let mut points = Vec::new();
    let hours = &load.working_set;
    let ends = load.streams.iter().filter_map(|of| of.last_ns).max().unwrap_or(0) / HOUR_NS + 1;
    for (at, hour) in hours.iter().enumerate() {
        let end = hour.hour + 1;
        let bytes = of(hour) * PAGE;
        points.push(FigurePoint::at(f64::from(hour.hour) * NS_PER_HOUR, Some(bytes)));
        let after = match hours.get(at + 1) {
            Some(next) if next.hour == end => continue,
            Some(_) if !lasts => 0.0,
            None if !lasts && ends > u64::from(end) => 0.0,
            _ => bytes,
        };
        points.push(FigurePoint::at(f64::from(end) * NS_PER_HOUR, Some(after)));
    }
    // The last requests may use no pages.
    if let Some(last) = points.last().filter(|last| last.x < ends as f64 * NS_PER_HOUR).copied() {
        points.push(FigurePoint { x: ends as f64 * NS_PER_HOUR, ..last });
    }
    points
}

fn skew(loads: &NamedLoads<'_>) -> Vec<Drawing> {
    let top = by_load(loads, |load| {
        let all = load.skew.top.iter();
        let mut points: Points = all
            .map(|of| FigurePoint::at(of.pages_percent as f64, Some(of.accesses_ratio * PERCENT)))
            .collect();
        if !points.is_empty() {
            points.push(FigurePoint::at(PERCENT, Some(PERCENT)));
        }
        points
    });
    // They are the same for all loads.
    let longest = top.iter().max_by_key(|points| points.len()).into_iter().flatten();
    let shares: Vec<f64> = longest.map(|point| point.x).collect();
    let mut drawings = vec![Drawing {
        title: "skew: share of accesses to the pages used most",
        x: ticked(logarithmic("pages used most", "%"), shares),
        y: FigureAxis::numbers("share of accesses", "%"),
        drawn: Drawn::Lines,
        curves: vec![("", top)],
    }];
    if loads.iter().any(|(_, load)| load.streams.len() > 1) {
        let ranks = by_load(loads, by_rank);
        drawings.push(Drawing {
            title: "requests of each stream, by rank",
            x: logarithmic("rank", ""),
            y: logarithmic_if_wide("requests", &ranks),
            drawn: Drawn::Steps,
            curves: vec![("", ranks)],
        });
    }
    drawings
}

fn by_rank(load: &Character) -> Points {
    let told_apart = load.streams.iter().filter(|of| of.stream.is_some());
    let mut requests: Vec<u64> = told_apart.map(|of| of.requests).collect();
    requests.sort_unstable_by(|one, other| other.cmp(one));
    let last = requests.last().copied();
    let ranks = requests.into_iter().chain(last).zip(1_u32..);
    ranks.map(|(requests, rank)| FigurePoint::at(f64::from(rank), Some(requests as f64))).collect()
}
