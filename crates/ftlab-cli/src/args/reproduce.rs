//! The arguments of `ftlab reproduce`.

use std::path::PathBuf;

use clap::Args;

use super::{OutputArgs, jobs, seed};

/// `ftlab reproduce`.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 every number is within its tolerance, 1 some number is not, 2 usage or \
                        declaration, 130 interrupted."
)]
pub struct ReproduceArgs {
    /// Experiments: built-in names, or folders with an experiment.toml; `list` lists the built-in ones.
    #[arg(value_name = "NAME|FOLDER|list")]
    pub names: Vec<String>,
    /// Run all built-in experiments (takes hours).
    #[arg(long, conflicts_with = "names")]
    pub all: bool,
    /// How many seeds to run each case with; by default as many as the experiment asks for, the
    /// number that its tolerances were set for.
    #[arg(long, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub seeds: Option<u64>,
    /// The first seed.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = seed)]
    #[arg(allow_negative_numbers = true)]
    pub seed: u64,
    /// How many runs to perform at once; by default one per processor. Each needs the memory of a device.
    #[arg(short, long, value_name = "N", value_parser = jobs())]
    pub jobs: Option<u32>,
    /// The folder of the real traces, which are not part of ftlab; by default the value of the
    /// environment variable FTLAB_TRACES. Cases whose trace is missing are skipped, and listed.
    #[arg(long, value_name = "FOLDER")]
    pub traces: Option<PathBuf>,
    /// Run only what the paper's numbers need, and draw no figures.
    #[arg(long)]
    pub claims_only: bool,
    /// Run only what a few of the numbers need, those that the experiment marks for this. For a first look.
    #[arg(long, conflicts_with = "claims_only")]
    pub quick: bool,
    #[command(flatten)]
    pub output: OutputArgs,
}
