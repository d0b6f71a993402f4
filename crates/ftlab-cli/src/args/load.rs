//! The load to play and how to play it: the flags that `ftlab run` and `ftlab compare` share.

use std::str::FromStr;

use clap::{Args, Parser, ValueEnum};
use ftlab::options::value::Value;
use ftlab::units::{Nanos, Ratio};

use super::ReadingArgs;

/// The load, its preparation and its pace.
#[derive(Clone, Debug, Args)]
pub struct LoadArgs {
    /// The trace to replay, in any known format, compressed or not; - is standard input.
    #[arg(long, value_name = "FILE")]
    pub trace: Option<String>,
    /// The workload to generate: built-in (see `ftlab list workloads`) or a TOML file.
    #[arg(long, value_name = "NAME|FILE")]
    pub workload: Option<String>,
    /// The fio job file to run. Its jobs run at once, as in fio; docs/reference/fio.md says what
    /// each option means here.
    #[arg(long, value_name = "FILE")]
    pub fio: Option<String>,
    /// Set the value of ${NAME} in the job file, in place of the environment's; may be repeated.
    #[arg(long = "fio-var", value_name = "NAME=VALUE", value_parser = variable)]
    pub fio_variables: Vec<(String, String)>,
    /// What to do with the device before measuring: steps, separated by commas. fill writes it once
    /// (fill:90%, fill:random). age overwrites it at random until it is steady (age:self,
    /// age:tolerance=5%:window=5:round=20%:limit=20; the window is in rounds, a round is a share of
    /// the capacity, the limit is in drive writes). Anything else is a workload.
    #[arg(long, value_name = "STEPS")]
    pub precondition: Option<String>,
    /// Start from a device that was saved by `ftlab device save`.
    #[arg(long, value_name = "FILE")]
    pub image: Option<String>,
    /// Play a workload's unmeasured beginning (usually a fill) even on a device that --precondition
    /// or --image has prepared; by default it is skipped there.
    #[arg(long)]
    pub all_phases: bool,
    /// Stop after this many measured requests. Those of --precondition and of a workload's
    /// unmeasured phases do not count.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub requests: Option<u64>,
    /// Also report how reads and writes share pages (only read, only written or both) and how well
    /// a short history predicts it. Takes about 100 bytes of memory per 4 KiB page touched.
    #[arg(long)]
    pub accesses: bool,
    /// Cut the power of a copy of the device at this interval of simulated time (500ms, 10s) from the start of
    /// measuring, and report how long each recovery takes and what is lost. The run itself continues. Needs a device
    /// with ftl.recovery.policy. The more flash is in use, the more processor time a cut takes.
    #[arg(long, value_name = "SPAN", value_parser = read_span, allow_hyphen_values = true)]
    pub cut_power: Option<Nanos>,
    #[command(flatten)]
    pub pace: PaceArgs,
    #[command(flatten)]
    pub reading: ReadingArgs,
}

impl LoadArgs {
    /// Parses flags that do not come from the command line.
    ///
    /// # Errors
    /// Describes the first wrong flag.
    pub fn read(words: &[String]) -> Result<LoadArgs, String> {
        /// A parser for these flags alone.
        #[derive(Parser)]
        #[command(no_binary_name = true, disable_help_flag = true)]
        struct Alone {
            #[command(flatten)]
            load: LoadArgs,
        }
        match Alone::try_parse_from(words) {
            Ok(alone) => Ok(alone.load),
            Err(error) => {
                let text = error.to_string();
                let line = text.lines().next().unwrap_or_default();
                Err(line.trim_start_matches("error: ").to_owned())
            }
        }
    }
}

/// More than any host keeps outstanding; the device allocates tables of this size.
const MOST_OUTSTANDING: i64 = 1 << 20;

/// When requests are submitted, and where they go.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Replaying")]
pub struct PaceArgs {
    /// What decides when requests are submitted. By default the times of the trace or the arrivals
    /// of the workload; with --queue-depth, completions.
    #[arg(long, value_name = "HOW")]
    pub replay: Option<ReplayKind>,
    /// Keep this many requests outstanding. With --replay open, the most that the device accepts at
    /// once; with asap, how many requests are considered together.
    #[arg(long, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=MOST_OUTSTANDING))]
    pub queue_depth: Option<u32>,
    /// Play this many times faster than recorded: 2, 0.5 or 200%.
    #[arg(long, value_name = "X", value_parser = speed)]
    pub speed: Option<Ratio>,
    /// How trace addresses map to the device: as-is, fold (modulo), scale (in proportion, to a device at least as
    /// large; scale:2TiB sets the original size), partition (a slice for each stream; partition:4 sets their number)
    /// or compact (the touched MiB packed, stream by stream). With as-is, fold and scale, streams share addresses;
    /// the result counts the shared pages.
    #[arg(long, value_name = "HOW", default_value = "as-is")]
    pub address: AddressKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReplayKind {
    /// Arrival times (open loop).
    Open,
    /// Completions: a fixed number of requests is kept outstanding.
    Closed,
    /// As fast as possible, but overlapping requests keep their order.
    Asap,
}

/// How trace addresses map to the device, as written on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressKind {
    /// Unchanged.
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
                let size = crate::human::parse_size(size)?;
                Ok(AddressKind::Scale(Some(size.div_ceil(ftlab::units::SECTOR_BYTES))))
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

fn variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("write NAME=VALUE, such as NUMJOBS=256".to_owned()),
    }
}

fn speed(text: &str) -> Result<Ratio, String> {
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
fn read_span(text: &str) -> Result<Nanos, String> {
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
        assert_eq!(speed("2"), Ok(Ratio::percent(200)));
        assert_eq!(speed("0.5x"), Ok(Ratio::percent(50)));
        assert_eq!(speed("150%"), Ok(Ratio::percent(150)));
        for bad in ["", "fast", "0", "-1", "nan", "1e9", "inf"] {
            assert!(speed(bad).is_err(), "{bad}");
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
}
