//! How a load is played: the options of a run besides its device, load and seed.
//!
//! Each has a name that all front ends share (`queue_depth`: `--queue-depth`, `queue_depth=`) and can be set by name
//! and text.

use std::str::FromStr;

use ftlab::options::value::Value as _;
use ftlab::stats::Arriving;
use ftlab::units::{Nanos, Ratio, SECTOR_BYTES, SimTime};
use ftlab_workload::replay::{self, Limits, Mapping, Pacing};
use ftlab_workload::trace;

use super::{LATEST, LoadSource};
use crate::failure::Failure;
use crate::human::parse_size;
use crate::image::ImageSource;
use crate::load;
use crate::outside::OutsidePolicies;

/// How many requests are considered together by default if they are replayed as fast as possible.
const ASAP_DEPTH: u32 = 256;
/// More than any host keeps outstanding; the device allocates tables of this size.
pub const MOST_OUTSTANDING: u32 = 1 << 20;

/// The options of a run.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// The steps that prepare the device, separated by commas.
    pub precondition: Option<String>,
    /// The saved device to start from.
    pub image: Option<ImageSource>,
    /// Play a workload's unmeasured beginning even on a device that was prepared.
    pub all_phases: bool,
    /// Measure this many requests; fewer if the load ends before.
    pub requests: Option<u64>,
    /// Report how reads and writes share pages.
    pub accesses: bool,
    /// Cut the power of a copy of the device at this interval.
    pub cut_power: Option<Nanos>,
    /// What decides when requests are submitted.
    pub replay: Option<ReplayKind>,
    /// How many requests are kept outstanding.
    pub queue_depth: Option<u32>,
    /// How much faster than recorded.
    pub speed: Option<Ratio>,
    /// How the addresses of a trace map to the device.
    pub address: AddressKind,
    /// Policies that replace configured ones.
    pub outside: OutsidePolicies,
}

/// What decides when requests are submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplayKind {
    /// Arrival times (open loop).
    Open,
    /// Completions: a fixed number of requests is kept outstanding.
    Closed,
    /// As fast as possible, but overlapping requests keep their order.
    Asap,
}

/// How trace addresses map to the device, before the trace is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AddressKind {
    /// Unchanged.
    #[default]
    AsIs,
    /// Modulo the capacity.
    Fold,
    /// In proportion, from this many sectors, or from the span of the trace.
    Scale(Option<u64>),
    /// A slice for each stream: this many slices, or as many as the trace has streams.
    Partition(Option<u32>),
    /// Touched regions packed together.
    Compact,
}

impl RunOptions {
    /// The names of the options that [`set`](RunOptions::set) knows.
    pub const NAMES: [&str; 10] = [
        "precondition",
        "image",
        "all_phases",
        "requests",
        "accesses",
        "cut_power",
        "replay",
        "queue_depth",
        "speed",
        "address",
    ];

    /// Sets an option by its name.
    ///
    /// # Errors
    /// There is no such option, or its text is wrong.
    pub fn set(&mut self, name: &str, text: &str) -> Result<(), String> {
        match name {
            "precondition" => self.precondition = Some(text.to_owned()),
            "image" => self.image = Some(ImageSource::File(text.to_owned())),
            "all_phases" => self.all_phases = switch(text)?,
            "requests" => self.requests = Some(parse_requests(text)?),
            "accesses" => self.accesses = switch(text)?,
            "cut_power" => self.cut_power = Some(parse_span(text)?),
            "replay" => self.replay = Some(text.parse()?),
            "queue_depth" => self.queue_depth = Some(parse_queue_depth(text)?),
            "speed" => self.speed = Some(parse_speed(text)?),
            "address" => self.address = text.parse()?,
            _ => {
                let known = RunOptions::NAMES.join(", ");
                return Err(format!("a run has no option {name}; it has {known}"));
            }
        }
        Ok(())
    }

    /// Returns the options of the replay. Scaling and partitioning may need to read the whole trace first.
    pub(super) fn replay(&self, load: &LoadSource) -> Result<replay::Options, Failure> {
        self.refuse_what_has_no_effect(load)?;
        self.refuse_too_late(load)?;
        let mapping = self.mapping(load)?;
        let is_trace = matches!(load, LoadSource::Trace { .. } | LoadSource::Requests(_));
        Ok(replay::Options {
            pacing: self.pacing(load)?,
            mapping,
            limits: Limits { requests: self.requests, time: None },
            // Packed extents are never shared, and workloads are laid out for the device.
            count_sharing: is_trace && mapping != Mapping::Compact,
        })
    }

    /// Refuses options that have no effect on a load: fio jobs define depth and pace themselves.
    fn refuse_what_has_no_effect(&self, load: &LoadSource) -> Result<(), Failure> {
        match load {
            LoadSource::Workload(workload) if self.speed.is_some() && !load.has_times() => {
                Err(Failure::usage(format!(
                    "`speed` changes the times of requests, but those of the workload {} follow completions\n  \
                     remedy: leave it out",
                    workload.name
                )))
            }
            LoadSource::Fio(_) => {
                let given = [
                    ("replay", self.replay.is_some(), "leave it out"),
                    ("queue_depth", self.queue_depth.is_some(), "write iodepth= into the job file"),
                    ("speed", self.speed.is_some(), "write rate= or rate_iops= into the job file"),
                ];
                match given.into_iter().find(|(_, given, _)| *given) {
                    Some((name, _, remedy)) => Err(Failure::usage(format!(
                        "`{name}` is for traces and workloads: fio jobs define it themselves\n  remedy: {remedy}"
                    ))),
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// Refuses requests that come later than time can be counted. A trace is judged record by record.
    fn refuse_too_late(&self, load: &LoadSource) -> Result<(), Failure> {
        let LoadSource::Requests(given) = load else { return Ok(()) };
        let last = given.requests().and_then(<[_]>::last).map_or(SimTime::ZERO, |last| last.at);
        let speed = self.speed.unwrap_or(Ratio::ONE);
        let scaled = u128::from(last.0) * u128::from(Ratio::ONE.ppm) / u128::from(speed.ppm);
        if scaled <= u128::from(LATEST.0) {
            return Ok(());
        }
        Err(Failure::usage(format!(
            "the last request comes at {scaled} ns, but a device lives until {} ns\n  remedy: check the unit of \
             times, and `speed`",
            LATEST.0
        )))
    }

    fn pacing(&self, load: &LoadSource) -> Result<Pacing, Failure> {
        let Pacing::Source { queue_limit, .. } = Pacing::default() else {
            return Ok(Pacing::default());
        };
        let closed = |depth| Pacing::Closed { depth, think_time: Nanos::ZERO };
        let kind = match (self.replay, self.queue_depth) {
            (None, Some(_)) => ReplayKind::Closed,
            (kind, _) => kind.unwrap_or(ReplayKind::Open),
        };
        if self.speed.is_some() && kind != ReplayKind::Open {
            return Err(Failure::usage(
                "`speed` changes the times of requests, but this replay does not follow them\n  remedy: leave out \
                 `speed`, or `queue_depth` and `replay`",
            ));
        }
        match (kind, self.queue_depth) {
            (ReplayKind::Open, _) if load.lacks_times() => Err(Failure::usage(
                "these requests have no times\n  remedy: say how many are outstanding (`queue_depth`), or that they \
                 come as fast as possible (`replay` asap)",
            )),
            (ReplayKind::Open, depth) => Ok(Pacing::Source {
                speed: self.speed.unwrap_or(Ratio::ONE),
                queue_limit: depth.unwrap_or(queue_limit),
            }),
            (ReplayKind::Closed, Some(depth)) => Ok(closed(depth)),
            (ReplayKind::Asap, depth) => {
                Ok(Pacing::Dependencies { depth: depth.unwrap_or(ASAP_DEPTH) })
            }
            (ReplayKind::Closed, None) if matches!(load, LoadSource::Workload(_)) => {
                Ok(Pacing::default())
            }
            (ReplayKind::Closed, None) => Err(Failure::usage(
                "a closed loop needs the number of outstanding requests\n  remedy: give `queue_depth` too, for \
                 example 32",
            )),
        }
    }

    /// Returns what decides when requests arrive.
    pub(super) fn arriving(&self, load: &LoadSource) -> Arriving {
        let open = match (self.replay, self.queue_depth) {
            (None, None) | (Some(ReplayKind::Open), _) => true,
            (Some(ReplayKind::Closed | ReplayKind::Asap), _) | (None, Some(_)) => false,
        };
        if open && load.has_times() { Arriving::ByTime } else { Arriving::AfterCompletions }
    }

    fn mapping(&self, load: &LoadSource) -> Result<Mapping, Failure> {
        if matches!(load, LoadSource::Workload(_) | LoadSource::Fio(_)) {
            return match self.address {
                AddressKind::AsIs => Ok(Mapping::AsIs),
                _ => Err(Failure::usage(
                    "`address` is for traces: a workload is laid out for the device anyway\n  remedy: leave it out",
                )),
            };
        }
        match self.address {
            AddressKind::AsIs => Ok(Mapping::AsIs),
            AddressKind::Fold => Ok(Mapping::Fold),
            AddressKind::Compact => Ok(Mapping::Compact),
            AddressKind::Scale(Some(span_sectors)) => Ok(Mapping::Scale { span_sectors }),
            AddressKind::Partition(Some(slices)) => Ok(Mapping::Partition { slices }),
            AddressKind::Scale(None) | AddressKind::Partition(None) if load.is_read_once() => {
                Err(Failure::usage(
                    "standard input and pipes can be read only once, but this needs to know the whole trace first\n  remedy: \
                     write scale:SIZE or partition:N, or save the trace to a file",
                ))
            }
            AddressKind::Scale(None) => {
                let span_sectors = extent(load)?.span_sectors;
                Ok(Mapping::Scale { span_sectors })
            }
            AddressKind::Partition(None) => {
                let streams = extent(load)?.streams;
                Ok(Mapping::Partition { slices: u32::try_from(streams).unwrap_or(u32::MAX) })
            }
        }
    }
}

/// The address space of a load.
struct LoadExtent {
    span_sectors: u64,
    streams: u64,
}

/// Reads a whole load to find its extent.
fn extent(load: &LoadSource) -> Result<LoadExtent, Failure> {
    match load {
        LoadSource::Trace { file, held, reading } => {
            let mut trace = load::open_held(file, held.as_ref(), reading.clone())?;
            let found = trace::inspect(&mut trace).map_err(Failure::usage)?;
            Ok(LoadExtent { span_sectors: found.max_lba_end, streams: found.streams as u64 })
        }
        LoadSource::Requests(given) => {
            let (span_sectors, streams) = given.extent()?;
            Ok(LoadExtent { span_sectors, streams })
        }
        LoadSource::Workload(_) | LoadSource::Fio(_) => {
            Ok(LoadExtent { span_sectors: 0, streams: 1 })
        }
    }
}

impl FromStr for ReplayKind {
    type Err = String;

    fn from_str(text: &str) -> Result<ReplayKind, String> {
        match text {
            "open" => Ok(ReplayKind::Open),
            "closed" => Ok(ReplayKind::Closed),
            "asap" => Ok(ReplayKind::Asap),
            _ => Err(format!("`{text}` is no way to replay: choose open, closed or asap")),
        }
    }
}

impl FromStr for AddressKind {
    type Err = String;

    fn from_str(text: &str) -> Result<AddressKind, String> {
        let (name, value) = match text.split_once(':') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        match (name, value) {
            ("as-is", None) => Ok(AddressKind::AsIs),
            ("fold", None) => Ok(AddressKind::Fold),
            ("compact", None) => Ok(AddressKind::Compact),
            ("scale", None) => Ok(AddressKind::Scale(None)),
            ("scale", Some(size)) => {
                let size = parse_size(size)?;
                Ok(AddressKind::Scale(Some(size.div_ceil(SECTOR_BYTES))))
            }
            ("partition", None) => Ok(AddressKind::Partition(None)),
            ("partition", Some(slices)) => match slices.parse() {
                Ok(slices @ 1..) => Ok(AddressKind::Partition(Some(slices))),
                _ => Err(format!("`{slices}` is not a number of slices; write partition:4")),
            },
            _ => Err("choose as-is, fold, scale, scale:SIZE, partition, partition:N or compact"
                .to_owned()),
        }
    }
}

fn switch(text: &str) -> Result<bool, String> {
    text.parse().map_err(|_| format!("write true or false, not `{text}`"))
}

fn parse_requests(text: &str) -> Result<u64, String> {
    let found = text.parse().ok().filter(|&requests| requests > 0);
    found.ok_or_else(|| format!("`{text}` is no number of requests: write a whole number from 1"))
}

fn parse_queue_depth(text: &str) -> Result<u32, String> {
    let found = text.parse().ok().filter(|depth| (1..=MOST_OUTSTANDING).contains(depth));
    found.ok_or_else(|| {
        format!("`{text}` is no queue depth: write a whole number from 1 to {MOST_OUTSTANDING}")
    })
}

/// Parses a factor such as 2 or 0.5, or per cent.
pub fn parse_speed(text: &str) -> Result<Ratio, String> {
    let help = || format!("`{text}` is no speed: write a factor such as 2 or 0.5, or 200%");
    let (number, unit_ppm) = match text.strip_suffix('%') {
        Some(percent) => (percent, 1e4),
        None => (text.strip_suffix('x').unwrap_or(text), 1e6),
    };
    let factor: f64 = number.trim().parse().map_err(|_| help())?;
    let ppm = (factor * unit_ppm).round();
    if !(1.0..=f64::from(u32::MAX)).contains(&ppm) {
        return Err(format!("{}, between 0.000001 and 4294", help()));
    }
    Ok(Ratio { ppm: ppm as u32 })
}

/// Parses a span of simulated time with its unit.
pub fn parse_span(text: &str) -> Result<Nanos, String> {
    if text.trim().starts_with('-') {
        return Err("a span can't be negative: write one such as 500ms or 10s".to_owned());
    }
    match Nanos::parse(text) {
        Ok(Nanos::ZERO) => Err("write a span that is not zero, such as 500ms".to_owned()),
        Ok(span) => Ok(span),
        Err(_) => Err("write a span with its unit, such as 500ms or 10s".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_are_factors_or_per_cent() {
        assert_eq!(parse_speed("2"), Ok(Ratio::percent(200)));
        assert_eq!(parse_speed("0.5x"), Ok(Ratio::percent(50)));
        assert_eq!(parse_speed("150%"), Ok(Ratio::percent(150)));
        for bad in ["", "fast", "0", "-1", "nan", "1e9", "inf"] {
            assert!(parse_speed(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn addresses_take_their_number_after_a_colon() {
        assert_eq!("scale:1GiB".parse(), Ok(AddressKind::Scale(Some(2 << 20))));
        assert_eq!("partition:4".parse(), Ok(AddressKind::Partition(Some(4))));
        for bad in ["fold:2", "partition:0", "scale:12", "as is"] {
            assert!(bad.parse::<AddressKind>().is_err(), "{bad}");
        }
    }

    #[test]
    fn every_option_can_be_set_by_its_name() {
        let texts = ["fill", "a.ftlab", "true", "9", "true", "1s", "asap", "4", "2x", "fold"];
        let mut options = RunOptions::default();
        for (name, text) in RunOptions::NAMES.into_iter().zip(texts) {
            let before = format!("{options:?}");
            assert_eq!(options.set(name, text), Ok(()));
            assert_ne!(before, format!("{options:?}"), "{name}");
        }
        assert!(options.set("depth", "4").unwrap_err().contains("queue_depth"));
        for (name, bad) in [("requests", "0"), ("queue_depth", "4000000000"), ("accesses", "1")] {
            assert!(options.set(name, bad).is_err(), "{name}");
        }
    }
}
