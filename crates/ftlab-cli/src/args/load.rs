//! The load to play and how to play it: the flags that `ftlab run` and `ftlab compare` share.

use clap::{Args, ValueEnum};
use ftlab::units::{Nanos, Ratio};
use ftlab_lab::experiment::{
    AddressKind, LoadSource, MOST_OUTSTANDING, ReplayKind, RunOptions, parse_span, parse_speed,
};
use ftlab_lab::image::ImageSource;
use ftlab_lab::load::parse_variable;

use super::ReadingArgs;
use crate::failure::Failure;

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
    #[arg(long = "fio-var", value_name = "NAME=VALUE", value_parser = parse_variable)]
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
    /// Measure this many requests. Those of --precondition and of a workload's unmeasured phases do
    /// not count. A load that has fewer ends earlier, with a note; a workload whose last phase alone
    /// is measured, up to a number of requests, goes on beyond it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub requests: Option<u64>,
    /// Also report how reads and writes share pages (only read, only written or both) and how well
    /// a short history predicts it. Takes about 100 bytes of memory per 4 KiB page touched.
    #[arg(long)]
    pub accesses: bool,
    /// Cut the power of a copy of the device at this interval of simulated time (500ms, 10s) from the start of
    /// measuring, and report how long each recovery takes and what is lost. The run itself continues. Needs a device
    /// with ftl.recovery.policy. The more flash is in use, the more processor time a cut takes.
    #[arg(long, value_name = "SPAN", value_parser = parse_span, allow_hyphen_values = true)]
    pub cut_power: Option<Nanos>,
    #[command(flatten)]
    pub pace: PaceArgs,
    #[command(flatten)]
    pub reading: ReadingArgs,
}

impl LoadArgs {
    /// Finds the load.
    ///
    /// # Errors
    /// There is none, it is wrong, or flags have no effect on it.
    pub fn load(&self) -> Result<LoadSource, Failure> {
        if self.fio.is_none() && !self.fio_variables.is_empty() {
            return Err(Failure::usage(
                "--fio-var is for fio job files\n  remedy: leave it out, or give one with --fio",
            ));
        }
        if let Some(file) = &self.trace {
            return Ok(LoadSource::Trace {
                file: file.clone(),
                held: None,
                reading: self.reading.options(),
            });
        }
        let load = match (&self.workload, &self.fio) {
            (Some(name), _) => LoadSource::workload(name)?,
            (None, Some(file)) => LoadSource::fio(file, &self.fio_variables)?,
            (None, None) => {
                return Err(Failure::usage("name a load: --trace, --workload or --fio"));
            }
        };
        self.reading.refuse_idle()?;
        Ok(load)
    }

    /// Returns how it is played.
    pub fn options(&self) -> RunOptions {
        RunOptions {
            precondition: self.precondition.clone(),
            image: self.image.clone().map(ImageSource::File),
            all_phases: self.all_phases,
            requests: self.requests,
            accesses: self.accesses,
            cut_power: self.cut_power,
            replay: self.pace.replay.map(ReplayFlag::kind),
            queue_depth: self.pace.queue_depth,
            speed: self.pace.speed,
            address: self.pace.address,
            ..RunOptions::default()
        }
    }
}

/// When requests are submitted, and where they go.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Replaying")]
pub struct PaceArgs {
    /// What decides when requests are submitted. By default the times of the trace or the arrivals
    /// of the workload; with --queue-depth, completions.
    #[arg(long, value_name = "HOW")]
    pub replay: Option<ReplayFlag>,
    /// Keep this many requests outstanding. With --replay open, the most that the device accepts at
    /// once; with asap, how many requests are considered together.
    #[arg(long, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_OUTSTANDING)))]
    pub queue_depth: Option<u32>,
    /// Play this many times faster than recorded: 2, 0.5 or 200%.
    #[arg(long, value_name = "X", value_parser = parse_speed)]
    pub speed: Option<Ratio>,
    /// How trace addresses map to the device: as-is, fold (modulo), scale (in proportion, to a device at least as
    /// large; scale:2TiB sets the original size), partition (a slice for each stream; partition:4 sets their number)
    /// or compact (the touched MiB packed, stream by stream). With as-is, fold and scale, streams share addresses;
    /// the result counts the shared pages.
    #[arg(long, value_name = "HOW", default_value = "as-is")]
    pub address: AddressKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReplayFlag {
    /// Arrival times (open loop).
    Open,
    /// Completions: a fixed number of requests is kept outstanding.
    Closed,
    /// As fast as possible, but overlapping requests keep their order.
    Asap,
}

impl ReplayFlag {
    fn kind(self) -> ReplayKind {
        match self {
            ReplayFlag::Open => ReplayKind::Open,
            ReplayFlag::Closed => ReplayKind::Closed,
            ReplayFlag::Asap => ReplayKind::Asap,
        }
    }
}
