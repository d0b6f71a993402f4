//! The arguments of `ftlab sweep`.

use clap::Args;

use super::{OutputArgs, jobs, seed};

/// `ftlab sweep`.
#[derive(Debug, Args)]
pub struct SweepArgs {
    /// The sweep file (TOML): the device, the load, and the axes with their values.
    #[arg(value_name = "FILE")]
    pub file: String,
    /// How many seeds to run each point with; by default as many as the file says.
    #[arg(long, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub seeds: Option<u64>,
    /// The first seed; by default that of the file.
    #[arg(long, value_name = "N", value_parser = seed)]
    #[arg(allow_negative_numbers = true)]
    pub seed: Option<u64>,
    /// How many runs to perform at once; by default one per processor. Each needs the memory of a device, or of
    /// two if points share a preparation.
    #[arg(short, long, value_name = "N", value_parser = jobs())]
    pub jobs: Option<u32>,
    #[command(flatten)]
    pub output: OutputArgs,
}
