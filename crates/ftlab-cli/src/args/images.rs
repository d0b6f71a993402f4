//! The arguments of `ftlab device`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::devices::{ScaleArgs, SheetArgs};
use super::seed;

/// `ftlab device`.
#[derive(Debug, Subcommand)]
pub enum DeviceCommand {
    /// Prepare a device and save it as an image that many experiments can start from (run --image
    /// FILE).
    Save(Box<SaveArgs>),
    /// Show what an image holds: how it was made, wear, utilisation, free blocks.
    Show(ShowImageArgs),
    /// Check that a device can load an image, and list the policies that continue and those that
    /// start afresh. With -o, save the loaded device.
    Load(LoadImageArgs),
    /// Write a device file with a part of the flash: as many channels, dies and planes, and as much write amplification.
    Scale(ScaleArgs),
    /// Write a first guess of a device from what the data sheet of a drive says, with the derivation of each number.
    FromDatasheet(Box<SheetArgs>),
}

/// `ftlab device save`.
#[derive(Debug, Args)]
pub struct SaveArgs {
    /// A built-in device (see `ftlab list devices`) or a TOML file.
    #[arg(long, value_name = "NAME|FILE", required_unless_present = "image")]
    pub device: Option<String>,
    /// Start from a saved device; without --device, its configuration is used too.
    #[arg(long, value_name = "FILE")]
    pub image: Option<String>,
    /// Set an option of the device; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub sets: Vec<String>,
    /// The steps, separated by commas: fill, age (to a detected steady state), workloads. See
    /// docs/ageing.md.
    #[arg(long, value_name = "STEPS")]
    pub precondition: Option<String>,
    /// Also play the unmeasured beginning (usually a fill) of workloads after the first step; by
    /// default it is skipped.
    #[arg(long)]
    pub all_phases: bool,
    /// The seed of all random decisions.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = seed)]
    #[arg(allow_negative_numbers = true)]
    pub seed: u64,
    /// The file to write.
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Replace an existing image.
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
    /// The device that loads the image; by default the image's own configuration.
    #[arg(long, value_name = "NAME|FILE")]
    pub device: Option<String>,
    /// Set an option of the device; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub sets: Vec<String>,
    /// Save the loaded device.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace an existing image.
    #[arg(long, requires = "output")]
    pub force: bool,
}
