//! `ftlab device`: what it takes.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::seed;

/// `ftlab device`.
#[derive(Debug, Subcommand)]
pub enum DeviceCommand {
    /// Prepare a device and save it: an ageing that many experiments share (run --image FILE).
    Save(Box<SaveArgs>),
    /// Say what an image holds: how it was made, wear, utilisation, free blocks.
    Show(ShowImageArgs),
    /// Check that a device takes an image up, and say which policies go on and which begin anew; with
    /// -o, save the device as it is then.
    Load(LoadImageArgs),
}

/// `ftlab device save`.
#[derive(Debug, Args)]
pub struct SaveArgs {
    /// A built-in device (see `ftlab list devices`) or a TOML file.
    #[arg(long, value_name = "NAME|FILE", required_unless_present = "image")]
    pub device: Option<String>,
    /// Begin with a saved device; without --device, of its configuration.
    #[arg(long, value_name = "FILE")]
    pub image: Option<String>,
    /// Set an option of the device; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub sets: Vec<String>,
    /// The steps, with commas between them: fill, age (to a detected steady state), workloads. See
    /// docs/ageing.md.
    #[arg(long, value_name = "STEPS")]
    pub precondition: Option<String>,
    /// Play the unmeasured beginning, mostly a fill, of a workload that is not the first step, too; it
    /// is left out otherwise.
    #[arg(long)]
    pub all_phases: bool,
    /// The seed of everything that is random.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = seed)]
    #[arg(allow_negative_numbers = true)]
    pub seed: u64,
    /// The file to write.
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Replace the image that is there.
    #[arg(long)]
    pub force: bool,
    /// Print neither a summary nor progress.
    #[arg(short, long)]
    pub quiet: bool,
}

/// `ftlab device show`.
#[derive(Debug, Args)]
pub struct ShowImageArgs {
    /// The image.
    pub file: String,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// `ftlab device load`.
#[derive(Debug, Args)]
pub struct LoadImageArgs {
    /// The image.
    pub file: String,
    /// The device that takes it up; by default that of the image.
    #[arg(long, value_name = "NAME|FILE")]
    pub device: Option<String>,
    /// Set an option of the device; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub sets: Vec<String>,
    /// Save the device as it is then.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace the image that is there.
    #[arg(long, requires = "output")]
    pub force: bool,
}
