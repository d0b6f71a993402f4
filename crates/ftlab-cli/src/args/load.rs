//! What is played and how: the flags that `ftlab run` and `ftlab compare` share.

use std::str::FromStr;

use clap::{Args, Parser, ValueEnum};
use ftlab::options::value::Value;
use ftlab::units::{Nanos, Ratio};

use super::ReadingArgs;

/// What is played, after what, and how.
#[derive(Clone, Debug, Args)]
pub struct LoadArgs {
    /// The trace to replay, in any known format, compressed or not; - is standard input.
    #[arg(long, value_name = "FILE")]
    pub trace: Option<String>,
    /// The workload to generate: built-in (see `ftlab list workloads`) or a TOML file.
    #[arg(long, value_name = "NAME|FILE")]
    pub workload: Option<String>,
    /// The fio job file to run: its jobs at once, as fio runs them (see docs/reference/fio.md for
    /// what each option means here).
    #[arg(long, value_name = "FILE")]
    pub fio: Option<String>,
    /// Give ${NAME} in the job file this value, over the environment; may be repeated.
    #[arg(long = "fio-var", value_name = "NAME=VALUE", value_parser = variable)]
    pub fio_variables: Vec<(String, String)>,
    /// What the device goes through first, unmeasured: steps with commas between them. fill writes it
    /// once (fill:90%, fill:random); age overwrites it at random until it is steady (age:self,
    /// age:tolerance=5%:window=5:round=20%:limit=20: window in rounds, round as a share of the
    /// capacity, limit in drive writes); anything else is a workload.
    #[arg(long, value_name = "STEPS")]
    pub precondition: Option<String>,
    /// Begin with a device that was saved by `ftlab device save`.
    #[arg(long, value_name = "FILE")]
    pub image: Option<String>,
    /// Play a workload's own unmeasured beginning, mostly a fill, also on a device that --precondition
    /// or --image has prepared; it is left out then otherwise.
    #[arg(long)]
    pub all_phases: bool,
    /// Stop after so many requests. Those that are not measured do not count: --precondition's, and
    /// those of a workload's own unmeasured phases.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub requests: Option<u64>,
    /// Also find out how reads and writes share pages: only read, only written or both, and how well a
    /// short history tells. It takes some 100 bytes of memory for each page of 4 KiB that is touched.
    #[arg(long)]
    pub accesses: bool,
    /// Cut the power of a copy of the device each time that so much simulated time has passed since measuring began, and
    /// tell how long it takes to come up again, and what is lost: 500ms, 10s. The run itself goes on. Needs a
    /// device with ftl.recovery.policy. A cut takes processor time, the more the more flash is in use.
    #[arg(long, value_name = "SPAN", value_parser = read_span, allow_hyphen_values = true)]
    pub cut_power: Option<Nanos>,
    #[command(flatten)]
    pub pace: PaceArgs,
    #[command(flatten)]
    pub reading: ReadingArgs,
}

impl LoadArgs {
    /// Reads flags that stand elsewhere than on the command line.
    ///
    /// # Errors
    /// What is wrong with the first that is.
    pub fn read(words: &[String]) -> Result<LoadArgs, String> {
        /// Nothing but the load.
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

/// More than any host keeps outstanding. What is looked at together has tables of its own.
const MOST_OUTSTANDING: i64 = 1 << 20;

/// When requests are submitted, and where they go.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Replaying")]
pub struct PaceArgs {
    /// What decides when requests are submitted. By default the trace's times or the
    /// workload's arrivals; with --queue-depth, completions.
    #[arg(long, value_name = "HOW")]
    pub replay: Option<ReplayKind>,
    /// Keep so many requests outstanding. With --replay open, the most that the device takes at
    /// once; with asap, how many are looked at together.
    #[arg(long, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=MOST_OUTSTANDING))]
    pub queue_depth: Option<u32>,
    /// Play so much faster than recorded: 2, 0.5 or 200%.
    #[arg(long, value_name = "X", value_parser = speed)]
    pub speed: Option<Ratio>,
    /// How addresses are brought onto the device: as-is, fold (modulo), scale (in proportion, onto a
    /// device as large or larger; scale:2TiB says from what), partition (a slice for each stream;
    /// partition:4 says how many) or compact (touched MiB packed, those of each stream for themselves).
    /// With as-is, fold and scale streams share addresses; the result counts the pages.
    #[arg(long, value_name = "HOW", default_value = "as-is")]
    pub address: AddressKind,
}

/// What decides when requests are submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReplayKind {
    /// Their times: open loop.
    Open,
    /// Completions: a fixed number is kept outstanding.
    Closed,
    /// As fast as requests that overlap allow.
    Asap,
}

/// How addresses are brought onto the device, as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressKind {
    /// As they are.
    AsIs,
    /// Modulo the capacity.
    Fold,
    /// In proportion, from so many sectors or from the span of the trace.
    Scale(Option<u64>),
    /// A slice for each stream: so many, or as many as the trace has.
    Partition(Option<u32>),
    /// Packed.
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

/// A span of simulated time, with its unit.
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
