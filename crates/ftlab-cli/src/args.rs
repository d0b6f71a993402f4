//! The command line: what it takes and what it says about itself.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Parser, Subcommand, ValueEnum};
use ftlab::units::Ratio;
use ftlab_workload::trace::{self, BlkEvent, Format, Late, SpaceUnit, TimeUnit};

/// A laboratory for flash translation layers: a fast, deterministic simulator of NAND flash SSDs.
#[derive(Debug, Parser)]
#[command(name = "ftlab", version, arg_required_else_help = true, max_term_width = 100)]
#[command(
    after_help = "Exit codes: 0 done, 1 a check or an experiment failed, 2 usage, configuration or \
                        input, 130 interrupted."
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Play a trace or a workload on a device, print a table and write a result folder.
    Run(Box<RunArgs>),
    /// Play the same load on several devices, or take finished results, and compare them.
    Compare(Box<CompareArgs>),
    /// Make a page with curves and maps from finished results.
    Report(ReportArgs),
    /// Look into a trace, or convert it.
    #[command(subcommand)]
    Trace(TraceCommand),
    /// List what is known.
    List {
        /// Of what.
        what: Listed,
    },
    /// Say what an option is: meaning, unit, default, range, source and policies.
    Explain {
        /// The path of an option or a section, such as ftl.gc.victim.
        path: String,
    },
    /// Check a device configuration, or print it in full.
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Keep a device in a file, with everything that it has been through.
    #[command(subcommand)]
    Device(DeviceCommand),
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

/// `ftlab config`.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Report everything that is wrong with a configuration, and what is suspicious.
    Check(DeviceArg),
    /// Print the whole configuration as TOML, and where each value comes from.
    Show(DeviceArg),
}

/// A configuration named as an argument.
#[derive(Debug, Args)]
pub struct DeviceArg {
    /// A built-in device (see `ftlab list devices`) or a TOML file.
    #[arg(value_name = "NAME|FILE")]
    pub device: String,
    /// Set an option, over the device; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub sets: Vec<String>,
}

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

/// `ftlab trace`.
#[derive(Debug, Subcommand)]
pub enum TraceCommand {
    /// Say what a trace is: mix, sizes, span, rate, order, and what was assumed to read it.
    Inspect {
        /// The trace; - is standard input.
        file: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        reading: ReadingArgs,
    },
    /// Fit a workload to a trace: mix, sizes, popularity, overlap of reads and writes, runs,
    /// arrivals. `ftlab run --workload FILE` plays it.
    Fit {
        /// The trace; - is standard input.
        input: String,
        /// The workload file to write.
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
        /// What results call it; by default the trace's name and -like.
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
        /// Replace the file if it exists.
        #[arg(long)]
        force: bool,
        #[command(flatten)]
        reading: ReadingArgs,
    },
    /// Write a trace in another format.
    Convert {
        /// The trace; - is standard input.
        input: String,
        /// The file to write; .gz, .zst, .bz2 and .xz are compressed.
        output: PathBuf,
        /// The format to write; by default parquet if the name ends so.
        #[arg(long, value_name = "FORMAT", value_parser = format)]
        to: Option<&'static Format>,
        /// Leave out requests that the format can't hold, and count them.
        #[arg(long)]
        drop_unsupported: bool,
        /// Replace the file if it exists.
        #[arg(long)]
        force: bool,
        #[command(flatten)]
        reading: ReadingArgs,
    },
}

/// How a trace is read.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Reading a trace")]
pub struct ReadingArgs {
    /// The format, instead of finding it from the content (see `ftlab list formats`).
    #[arg(long, value_name = "FORMAT", value_parser = format)]
    pub format: Option<&'static Format>,
    /// What times count: ns, filetime (100 ns), us, ms or s.
    #[arg(long, value_name = "UNIT", value_parser = time_unit)]
    pub time_unit: Option<TimeUnit>,
    /// What addresses count: byte, sector (512 bytes) or 4k.
    #[arg(long, value_name = "UNIT", value_parser = space_unit)]
    pub address_unit: Option<SpaceUnit>,
    /// What sizes count: byte, sector (512 bytes) or 4k.
    #[arg(long, value_name = "UNIT", value_parser = space_unit)]
    pub size_unit: Option<SpaceUnit>,
    /// Take reads for writes and writes for reads: for files with the flag turned.
    #[arg(long)]
    pub invert_ops: bool,
    /// Which events of blkparse output are the requests.
    #[arg(long, value_name = "EVENT")]
    pub blkparse_event: Option<Event>,
    /// Leave out malformed or impossible lines, and count them.
    #[arg(long)]
    pub skip_malformed: bool,
    /// Take what can't be true as it stands.
    #[arg(long)]
    pub accept_implausible: bool,
    /// How many records are held back to be sorted by time.
    #[arg(long, value_name = "N")]
    pub order_window: Option<usize>,
    /// What happens to a record that is later than that: refuse (an error) or clamp.
    #[arg(long, value_name = "WHAT", value_parser = late)]
    pub late: Option<Late>,
}

/// Events of blkparse output.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Event {
    /// D: issued to the driver.
    Issue,
    /// Q: queued, before merging.
    Queue,
}

impl ReadingArgs {
    /// The flags that were given.
    pub fn given(&self) -> Vec<&'static str> {
        let ReadingArgs {
            format,
            time_unit,
            address_unit,
            size_unit,
            invert_ops,
            blkparse_event,
            skip_malformed,
            accept_implausible,
            order_window,
            late,
        } = self;
        let flags = [
            ("--format", format.is_some()),
            ("--time-unit", time_unit.is_some()),
            ("--address-unit", address_unit.is_some()),
            ("--size-unit", size_unit.is_some()),
            ("--invert-ops", *invert_ops),
            ("--blkparse-event", blkparse_event.is_some()),
            ("--skip-malformed", *skip_malformed),
            ("--accept-implausible", *accept_implausible),
            ("--order-window", order_window.is_some()),
            ("--late", late.is_some()),
        ];
        flags.into_iter().filter_map(|(flag, given)| given.then_some(flag)).collect()
    }

    /// As the reader of traces takes them.
    pub fn options(&self) -> trace::Options {
        let default = trace::Options::default();
        trace::Options {
            format: self.format,
            time_unit: self.time_unit,
            address_unit: self.address_unit,
            size_unit: self.size_unit,
            invert_ops: self.invert_ops,
            blkparse_event: self.blkparse_event.map(|event| match event {
                Event::Issue => BlkEvent::Issue,
                Event::Queue => BlkEvent::Queue,
            }),
            skip_malformed: self.skip_malformed,
            accept_implausible: self.accept_implausible,
            order_window: self.order_window.unwrap_or(default.order_window),
            late: self.late.unwrap_or(default.late),
        }
    }
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
    /// The seed of everything that is random.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = seed)]
    #[arg(allow_negative_numbers = true)]
    pub seed: u64,
    #[command(flatten)]
    pub load: LoadArgs,
    /// Also write every request to requests.parquet.
    #[arg(long, conflicts_with = "no_output", help_heading = "Output")]
    pub records: bool,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// `ftlab compare`.
#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("load").args(["trace", "workload"])))]
pub struct CompareArgs {
    /// Devices (built-in names or TOML files) to run, or the folders of finished results. The first
    /// is the baseline. Results of one configuration are taken as its seeds. By default the device of
    /// --image.
    #[arg(value_name = "NAME|FILE|RESULT", required_unless_present = "image")]
    pub what: Vec<String>,
    /// Set an option of every device; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub sets: Vec<String>,
    /// Run each device with each of these values of an option; several --vary multiply.
    #[arg(long, value_name = "KEY=A,B,...")]
    pub vary: Vec<String>,
    /// Run each device with these options set, under this name; may be repeated.
    #[arg(long = "variant", value_name = "NAME:KEY=VALUE,...")]
    pub variants: Vec<String>,
    /// How many seeds each variant is run with.
    #[arg(long, default_value_t = 5, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub seeds: u64,
    /// The first seed.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = seed)]
    #[arg(allow_negative_numbers = true)]
    pub seed: u64,
    /// How many runs are performed at once; by default as many as there are processors. Each needs
    /// the memory of a device.
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub jobs: Option<u32>,
    /// The share of intervals that hold the true change.
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
    /// The page.
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    pub output: PathBuf,
    /// Replace the file if it exists.
    #[arg(long)]
    pub force: bool,
    /// The share of intervals that hold the true change.
    #[arg(long, default_value = "95%", value_name = "X", value_parser = confidence)]
    pub confidence: f64,
    /// Print nothing.
    #[arg(short, long)]
    pub quiet: bool,
}

/// What is played, after what, and how.
#[derive(Debug, Args)]
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
    /// What the device goes through first, unmeasured: steps with commas between them. fill writes it
    /// once (fill:90%, fill:random); age overwrites it at random until it is steady (age:self,
    /// age:tolerance=5%:window=5:round=20%:limit=20); anything else is a workload.
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
    #[command(flatten)]
    pub pace: PaceArgs,
    #[command(flatten)]
    pub reading: ReadingArgs,
}

/// When requests are submitted, and where they go.
#[derive(Debug, Args)]
#[command(next_help_heading = "Replaying")]
pub struct PaceArgs {
    /// What decides when requests are submitted. By default the trace's times or the
    /// workload's arrivals; with --queue-depth, completions.
    #[arg(long, value_name = "HOW")]
    pub replay: Option<ReplayKind>,
    /// Keep so many requests outstanding. With --replay open, the most that the device takes at
    /// once; with asap, how many are looked at together.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub queue_depth: Option<u32>,
    /// Play so much faster than recorded: 2, 0.5 or 200%.
    #[arg(long, value_name = "X", value_parser = speed)]
    pub speed: Option<Ratio>,
    /// How addresses are brought onto the device: as-is, fold (modulo), scale (in proportion;
    /// scale:2TiB says from what), partition (a slice for each stream; partition:4 says how many)
    /// or compact (touched MiB packed).
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

/// What is written and printed.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// The result folder; by default ftlab-results/DEVICE-LOAD-N, N counting up.
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Write no result folder.
    #[arg(long, conflicts_with_all = ["output", "force"])]
    pub no_output: bool,
    /// Replace the result that is there.
    #[arg(long)]
    pub force: bool,
    /// Print JSON instead of the table: result.json, or compare.json.
    #[arg(long)]
    pub json: bool,
    /// Print neither the table nor progress.
    #[arg(short, long, conflicts_with = "json")]
    pub quiet: bool,
}

fn format(name: &str) -> Result<&'static Format, String> {
    trace::named(name).map_err(|error| format!("{}; {}", error.problem, error.remedy))
}

fn choice<T>(found: Option<T>, names: &[&str]) -> Result<T, String> {
    found.ok_or_else(|| format!("choose one of {}", names.join(", ")))
}

fn time_unit(name: &str) -> Result<TimeUnit, String> {
    choice(TimeUnit::named(name), &TimeUnit::ALL.map(|(name, _)| name))
}

fn space_unit(name: &str) -> Result<SpaceUnit, String> {
    choice(SpaceUnit::named(name), &SpaceUnit::ALL.map(|(name, _)| name))
}

fn late(name: &str) -> Result<Late, String> {
    let found = Late::ALL.iter().find(|(known, _)| *known == name).map(|(_, late)| *late);
    choice(found, &Late::ALL.map(|(name, _)| name))
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
    // A number without a sign is per cent as well: as a share it would be below one.
    let percent = text.strip_suffix('%').unwrap_or(text);
    match percent.trim().parse::<f64>() {
        Ok(percent) if (50.0..100.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err(help()),
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

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

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
    fn confidences_are_per_cent() {
        assert_eq!((confidence("95%"), confidence("99.5")), (Ok(0.95), Ok(0.995)));
        for bad in ["0.95", "49%", "100", "sure", ""] {
            assert!(confidence(bad).is_err_and(|told| told.contains("95%")), "{bad}");
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
