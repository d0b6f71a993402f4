//! The command line: its arguments and help texts.

mod devices;
mod figure;
mod fit;
mod images;
mod load;
mod reading;
mod reproduce;
#[cfg(target_os = "linux")]
mod serve;
mod sweep;
mod torture;
mod why;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use ftlab_lab::catalog::Catalog;
use ftlab_lab::load::parse_format;
use ftlab_lab::result::{Folder, ResultTarget};
use ftlab_lab::timeline::When;
use ftlab_workload::trace::Format;

pub use self::devices::{DeviceFileArgs, Endured, ScaleArgs, SheetArgs};
pub use self::figure::FigureArgs;
pub use self::fit::{FitArgs, FitDeviceArgs};
pub use self::images::{DeviceCommand, LoadImageArgs, SaveArgs, ShowImageArgs};
pub use self::load::LoadArgs;
pub use self::reading::ReadingArgs;
pub use self::reproduce::ReproduceArgs;
#[cfg(target_os = "linux")]
pub use self::serve::{CtlArgs, CtlOrder, ServeArgs};
pub use self::sweep::SweepArgs;
pub use self::torture::TortureArgs;
pub use self::why::WhyArgs;
use crate::failure::Failure;

/// The default parent folder of results.
const RESULTS: &str = "ftlab-results";
/// More threads than this are a typing mistake: the system refuses them, or they only wait for each other.
const MOST_JOBS: i64 = 1024;

/// A laboratory for flash translation layers: a fast, deterministic simulator of NAND flash SSDs.
#[derive(Debug, Parser)]
#[command(name = "ftlab", version = env!("FTLAB_VERSION"), arg_required_else_help = true, max_term_width = 100)]
#[command(
    after_help = "Exit codes: 0 done, 1 a check or an experiment failed, 2 usage, configuration or \
                        input, 130 interrupted."
)]
pub struct Cli {
    /// The command to run.
    #[command(subcommand)]
    pub command: MainCommand,
}

#[derive(Debug, Subcommand)]
pub enum MainCommand {
    /// Play a trace or a workload on a device, print a table and write a result folder.
    Run(Box<RunArgs>),
    /// Compare devices under the same load, or compare finished results.
    Compare(Box<CompareArgs>),
    /// Run all combinations of the values of some axes; write one table and a page of curves.
    Sweep(SweepArgs),
    /// Tell why requests of a finished run took as long as they did.
    Why(WhyArgs),
    /// Make a page with curves and maps from finished results.
    Report(ReportArgs),
    /// Draw a figure for a paper from finished results, or write its numbers.
    Figure(Box<FigureArgs>),
    /// Run the experiments of papers and compare their printed numbers with ours.
    Reproduce(ReproduceArgs),
    /// Cut the power of random devices again and again, and check that they keep their promises.
    Torture(TortureArgs),
    #[cfg(target_os = "linux")]
    /// Serve a simulated drive, with its data, as a block device (NBD) that real programs use.
    Serve(Box<ServeArgs>),
    #[cfg(target_os = "linux")]
    /// Look at a drive that is being served, or give it orders: cut its power, kill a die, save it.
    Ctl(CtlArgs),
    /// Inspect, compare, fit or convert traces.
    #[command(subcommand)]
    Trace(TraceCommand),
    /// List policies, devices, formats, workloads or options.
    List {
        /// What to list.
        what: Listed,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Explain an option (meaning, unit, default, range, source, policies) or a policy.
    Explain {
        /// The path of an option or a section, such as ftl.gc.victim, or the name of a policy, such as greedy.
        path: String,
    },
    /// Check a device configuration, or print it in full.
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Save a device with its whole history to a file, or load it; or write a device file: a smaller device, or a drive
    /// from its data sheet.
    #[command(subcommand)]
    Device(DeviceCommand),
    /// Print a shell script that completes this command line.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page of ftlab or of one of its commands, in roff.
    Man {
        /// The command, such as `device save`.
        command: Vec<String>,
    },
}

/// What `ftlab list` lists.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Listed {
    /// Policies, by the option that names them.
    Policies,
    /// Built-in devices.
    Devices,
    /// Trace formats.
    Formats,
    /// Built-in workloads.
    Workloads,
    /// All options of a device.
    Options,
}

impl Listed {
    /// Returns the catalog that lists it.
    pub fn catalog(self) -> Catalog {
        match self {
            Listed::Policies => Catalog::Policies,
            Listed::Devices => Catalog::Devices,
            Listed::Formats => Catalog::Formats,
            Listed::Workloads => Catalog::Workloads,
            Listed::Options => Catalog::Options,
        }
    }
}

/// `ftlab config`.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Report everything that is wrong with a configuration, and what is suspicious.
    Check(DeviceArg),
    /// Print the whole configuration as TOML, and where each value comes from.
    Show(DeviceArg),
}

/// The configuration that `ftlab config` works on.
#[derive(Debug, Args)]
pub struct DeviceArg {
    /// A built-in device (see `ftlab list devices`) or a TOML file.
    #[arg(value_name = "NAME|FILE")]
    pub device: String,
    /// Set an option of the device; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub sets: Vec<String>,
}

/// `ftlab trace`.
#[derive(Debug, Subcommand)]
pub enum TraceCommand {
    /// Describe a trace: mix, sizes, span, rate, order, sequentiality, bursts, working set, reuse, skew, and the
    /// assumptions made to read it.
    Inspect {
        /// The trace; - is standard input.
        file: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
        /// Also report how reads and writes share pages (only read, only written or both) and how well a short
        /// history predicts it. Takes about 100 bytes of memory per 4 KiB page touched.
        #[arg(long)]
        accesses: bool,
        #[command(flatten)]
        page: TracePageArgs,
        #[command(flatten)]
        reading: ReadingArgs,
    },
    /// Compare what two traces are like: figures with their ratio, and the distances of their distributions.
    Compare {
        /// The first trace.
        first: String,
        /// The second trace, read with the same options.
        second: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        page: TracePageArgs,
        #[command(flatten)]
        reading: ReadingArgs,
    },
    /// Fit a workload to a trace: mix, sizes, popularity, overlap of reads and writes, runs,
    /// arrivals. `ftlab run --workload FILE` plays it.
    Fit(FitArgs),
    /// Write a trace in another format.
    Convert {
        /// The trace; - is standard input.
        input: String,
        /// The file to write; compressed if it ends in .gz, .zst, .bz2 or .xz.
        output: PathBuf,
        /// The format to write; by default parquet if the name ends in .parquet.
        #[arg(long, value_name = "FORMAT", value_parser = parse_format)]
        to: Option<&'static Format>,
        /// Drop requests that the format cannot express, and count them.
        #[arg(long)]
        drop_unsupported: bool,
        /// Replace the file if it exists.
        #[arg(long)]
        force: bool,
        #[command(flatten)]
        reading: ReadingArgs,
    },
}

/// The page that `ftlab trace` also writes.
#[derive(Debug, Args)]
pub struct TracePageArgs {
    /// Also write a page that draws this. It needs no other file and fetches nothing.
    #[arg(long, value_name = "FILE.html")]
    pub page: Option<PathBuf>,
    /// Replace a page of this kind.
    #[arg(long, requires = "page")]
    pub force: bool,
}

/// `ftlab run`.
#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("load").required(true).args(["trace", "workload", "fio"])))]
pub struct RunArgs {
    /// A built-in device (see `ftlab list devices`) or a TOML file; by default that of --image.
    #[arg(long, value_name = "NAME|FILE", required_unless_present = "image")]
    pub device: Option<String>,
    /// Set an option of the device; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub sets: Vec<String>,
    /// The seed of all random decisions.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = seed)]
    #[arg(allow_negative_numbers = true)]
    pub seed: u64,
    #[command(flatten)]
    pub load: LoadArgs,
    /// Also write every request to requests.parquet.
    #[arg(long, conflicts_with = "no_output", help_heading = "Output")]
    pub records: bool,
    /// Also write a time line of what requests, dies and buses did at WHEN to timeline.pftrace, for https://ui.perfetto.dev:
    /// 120ms..140ms from the start of measuring, slowest:5ms around the slowest request, slowest:read:10 during the
    /// ten slowest reads, or cut around the first power cut. The run is performed a second time for it. `ftlab report`
    /// shows it.
    #[arg(long, value_name = "WHEN", conflicts_with = "no_output", help_heading = "Output")]
    pub timeline: Option<When>,
    /// Also write the results of the --fio jobs as `fio --output-format=json` prints them; - is standard
    /// output, in place of the table. The result folder contains them as fio.json in any case.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["trace", "workload"])]
    #[arg(help_heading = "Output")]
    pub fio_json: Option<PathBuf>,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// `ftlab compare`.
#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("load").args(["trace", "workload", "fio"])))]
pub struct CompareArgs {
    /// Devices to run (built-in names, TOML files or images), or folders of finished results. The
    /// first is the baseline. Results with the same configuration and preparation count as seeds of
    /// one variant. By default the device of --image.
    #[arg(value_name = "NAME|FILE|RESULT")]
    #[arg(required_unless_present_any = ["image", "vary", "variants"])]
    pub what: Vec<String>,
    /// Set an option of every device; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub sets: Vec<String>,
    /// Run each device with each of these values of an option; several --vary are combined. Also
    /// precondition=none,"fill,age" and image=A,B.
    #[arg(long, value_name = "KEY=A,B,...")]
    pub vary: Vec<String>,
    /// Run each device with these options set, under this name; may be repeated. Also
    /// precondition=STEPS and image=FILE.
    #[arg(long = "variant", value_name = "NAME:KEY=VALUE,...")]
    pub variants: Vec<String>,
    /// How many seeds to run each variant with.
    #[arg(long, default_value_t = 5, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub seeds: u64,
    /// The first seed.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = seed)]
    #[arg(allow_negative_numbers = true)]
    pub seed: u64,
    /// How many runs to perform at once; by default one per processor. Each needs the memory of a device.
    #[arg(short, long, value_name = "N", value_parser = jobs())]
    pub jobs: Option<u32>,
    /// The confidence level of the intervals.
    #[arg(long, default_value = "95%", value_name = "X", value_parser = confidence)]
    pub confidence: f64,
    #[command(flatten)]
    pub load: LoadArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// `ftlab report`.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// The folders of finished results; the first is the baseline.
    #[arg(value_name = "RESULT", required = true)]
    pub results: Vec<String>,
    /// The HTML page to write.
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    pub output: PathBuf,
    /// Replace the file if it exists.
    #[arg(long)]
    pub force: bool,
    /// The confidence level of the intervals.
    #[arg(long, default_value = "95%", value_name = "X", value_parser = confidence)]
    pub confidence: f64,
    /// Print nothing.
    #[arg(short, long)]
    pub quiet: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// The result folder; by default a numbered folder in ftlab-results, named after the run.
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Write no result folder.
    #[arg(long, conflicts_with = "output")]
    pub no_output: bool,
    /// Replace an existing result.
    #[arg(long)]
    pub force: bool,
    /// Print result.json, compare.json or sweep.json instead of the table.
    #[arg(long)]
    pub json: bool,
    /// Print neither the table nor progress.
    #[arg(short, long, conflicts_with = "json")]
    pub quiet: bool,
}

impl OutputArgs {
    /// Returns where the result goes: the folder that was named, or the next numbered one.
    pub fn target(&self, stem: String) -> ResultTarget {
        match &self.output {
            Some(path) => ResultTarget::Named(path.clone()),
            None => ResultTarget::Counted { parent: PathBuf::from(RESULTS), stem },
        }
    }

    /// Prepares the result folder, unless none is wanted.
    pub fn folder(&self, stem: String) -> Result<Option<Folder>, Failure> {
        if self.no_output {
            return Ok(None);
        }
        Ok(Folder::prepare(self.target(stem), self.force).map(Some)?)
    }

    /// Refuses `--force` if nothing is written that it could replace.
    pub fn refuse_idle_force(&self, writes_file: bool) -> Result<(), Failure> {
        match self.force && self.no_output && !writes_file {
            true => Err(Failure::usage(
                "the argument '--no-output' cannot be used with '--force': nothing is written\n  remedy: leave \
                 one of them out",
            )),
            false => Ok(()),
        }
    }
}

/// Parses a number of threads.
fn jobs() -> impl clap::builder::TypedValueParser<Value = u32> {
    clap::value_parser!(u32).range(1..=MOST_JOBS)
}

fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| match text.starts_with('-') {
        true => "a seed can't be negative: write a whole number from 0".to_owned(),
        false => format!("a seed is a whole number from 0 to {}", u64::MAX),
    })
}

fn confidence(text: &str) -> Result<f64, String> {
    let help =
        || format!("`{text}` is no confidence: write per cent from 50% to below 100%, such as 95%");
    // A number without a sign is per cent as well; as a share it would be below 1.
    let percent = text.strip_suffix('%').unwrap_or(text);
    match percent.trim().parse::<f64>() {
        Ok(percent) if (50.0..100.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err(help()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn confidences_are_per_cent() {
        assert_eq!((confidence("95%"), confidence("99.5")), (Ok(0.95), Ok(0.995)));
        for bad in ["0.95", "49%", "100", "sure", ""] {
            assert!(confidence(bad).is_err_and(|told| told.contains("95%")), "{bad}");
        }
    }
}
