//! The arguments of `ftlab trace fit`.

use std::path::PathBuf;

use clap::Args;
use ftlab_lab::experiment::{AddressKind, RunOptions};

use super::{ReadingArgs, seed};

/// `ftlab trace fit`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  ftlab trace fit trace.csv -o like-it.toml --device tlc-32g --precondition fill\n\nThe trace and \
                  the fitted workload are both played on the device, and what it does is shown side by side."
)]
pub struct FitArgs {
    /// The trace; - is standard input.
    pub input: String,
    /// The workload file to write.
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// The name of the workload in results; by default the trace's name with -like.
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Also write a page that draws what the trace and the workload are like. It needs no other file and fetches nothing.
    #[arg(long, value_name = "FILE.html")]
    pub page: Option<PathBuf>,
    /// Replace these files if they exist.
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub played: FitDeviceArgs,
    #[command(flatten)]
    pub reading: ReadingArgs,
}

/// How the trace and the workload are compared.
#[derive(Debug, Args)]
#[command(next_help_heading = "How good it is")]
pub struct FitDeviceArgs {
    /// Play the trace and the fitted workload on this device, and compare: a built-in device (see `ftlab list devices`)
    /// or a TOML file.
    #[arg(long, value_name = "NAME|FILE")]
    pub device: Option<String>,
    /// Set an option of the device; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE", requires = "device")]
    pub sets: Vec<String>,
    /// The steps that prepare the device for each run, such as fill,age.
    #[arg(long, value_name = "STEPS", requires = "device")]
    pub precondition: Option<String>,
    /// Keep this many requests outstanding in both; by default both follow their times.
    #[arg(long, value_name = "N", requires = "device")]
    pub queue_depth: Option<u32>,
    /// How addresses of the trace map to the device, as in `ftlab run`.
    #[arg(long, value_name = "HOW", default_value = "compact", requires = "device")]
    pub address: AddressKind,
    /// The first seed.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = seed, requires = "device")]
    pub seed: u64,
    /// How many seeds to run both with; with several, differences have intervals.
    #[arg(long, default_value_t = 1, value_name = "N", requires = "device")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub seeds: u64,
    /// Print the comparison as JSON.
    #[arg(long, requires = "device")]
    pub json: bool,
}

impl FitDeviceArgs {
    /// Returns how the trace is played, and how the workload is.
    pub fn options(&self) -> [RunOptions; 2] {
        let of = |address| RunOptions {
            precondition: self.precondition.clone(),
            queue_depth: self.queue_depth,
            address,
            ..RunOptions::default()
        };
        // Workloads are laid out for the device.
        [self.address, AddressKind::default()].map(of)
    }
}
