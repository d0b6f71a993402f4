//! `ftlab reproduce`: which papers, with how many seeds.

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
    /// Experiments: built-in names, or folders that hold an experiment.toml; `list` lists what is built in.
    #[arg(value_name = "NAME|FOLDER|list")]
    pub names: Vec<String>,
    /// Run all experiments that are built in: hours of work.
    #[arg(long, conflicts_with = "names")]
    pub all: bool,
    /// How many seeds each case is run with; by default as many as the experiment asks for. Tolerances
    /// hold for so many.
    #[arg(long, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub seeds: Option<u64>,
    /// The first seed.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = seed)]
    #[arg(allow_negative_numbers = true)]
    pub seed: u64,
    /// How many runs are performed at once; by default as many as there are processors. Each needs
    /// the memory of a device.
    #[arg(short, long, value_name = "N", value_parser = jobs())]
    pub jobs: Option<u32>,
    /// The folder of real traces, which are no part of ftlab; by default the one that the environment
    /// variable FTLAB_TRACES names. Cases that need a trace which is not there are not run, and named.
    #[arg(long, value_name = "FOLDER")]
    pub traces: Option<PathBuf>,
    /// Run only what the numbers of the paper need, and draw no figures.
    #[arg(long)]
    pub claims_only: bool,
    #[command(flatten)]
    pub output: OutputArgs,
}
