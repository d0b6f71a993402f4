//! The page of device presets.

use ftlab::config::{BusOptions, Config, Layer};
use ftlab::nand::timing::{TimingChoice, TransfersChoice};
use ftlab::options::presets::{self, Preset};
use ftlab::units::Nanos;

use super::{MarkdownTable, code, head};

const ABOUT: &str = "\
The built-in devices, for `--device NAME`. Each stands for a kind of drive and uses the numbers of a published \
part. Each number in a preset's file names its source, or says that it is assumed and why.";

pub fn page() -> String {
    let mut text = head("Device presets", ABOUT);
    for preset in presets::devices() {
        text += &section(preset);
    }
    text
}

fn section(preset: &Preset) -> String {
    let config = Config::load(&[Layer::preset(preset.name)]).expect("presets are tested");
    let options = &config.options;
    let (nand, shape) = (&options.nand, config.shape());
    let unit = shape.mapping_unit;
    let host = u64::from(config.logical_pages()) * unit.0;
    let flash = shape.pages() * shape.page_size.0;
    let mut table = MarkdownTable::new(&["", ""]);
    let mut row = |name: &str, value: String| table.row([name.to_owned(), value]);
    row("Host capacity", capacity(host));
    row("Flash", capacity(flash));
    row("Over-provisioning", options.ftl.over_provisioning.to_string());
    row(
        "Channels x chips x dies x planes",
        format!(
            "{} x {} x {} x {}",
            shape.channels, shape.chips_per_channel, shape.dies_per_chip, shape.planes_per_die
        ),
    );
    row(
        "Blocks per plane x flash pages per block x flash page",
        format!("{} x {} x {}", shape.blocks_per_plane, shape.pages_per_block, shape.page_size),
    );
    row("Page (mapping unit), codeword", format!("{unit}, {}", nand.codeword));
    let (read, program) = match &nand.timing.policy {
        TimingChoice::Plain(times) => (times.read.to_string(), times.program.to_string()),
        TimingChoice::PageType(times) => (all(&times.read_by_type), all(&times.program_by_type)),
        TimingChoice::ByCost(times) => (all(&times.read_by_cost), all(&times.program_by_cost)),
        TimingChoice::Ispp(model) => {
            let reads = model.reliability.references.iter();
            let reads: Vec<_> = reads.map(|&count| model.read_time(nand.cell, count)).collect();
            let steps = model.reliability.program_step.iter();
            let programs: Vec<_> = steps.map(|&step| model.program_time(step)).collect();
            (all(&reads), all(&programs))
        }
    };
    row("Flash page read (tR)", read);
    row("Flash page program (tPROG)", program);
    row("Block erase (tBERS)", nand.timing.erase.to_string());
    row("Channel bus", bus(&nand.bus));
    row("Write buffer", options.cache.policy.name().to_owned());
    let source = &options.device.source;
    format!(
        "\n## {}\n\n{}. Source: {source}. File: [presets/devices/{}.toml]\
         (../../presets/devices/{}.toml).\n\n{}",
        code(preset.name),
        options.device.description,
        preset.name,
        preset.name,
        table.text,
    )
}

fn all(times: &[Nanos]) -> String {
    times.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Formats a capacity in GB, as on labels, and in GiB.
fn capacity(bytes: u64) -> String {
    let giga = bytes as f64 / 1e9;
    let gibi = bytes as f64 / f64::from(1 << 30);
    format!("{giga:.3} GB ({gibi:.3} GiB)")
}

/// Formats the speed of a bus as its preset gives it.
fn bus(bus: &BusOptions) -> String {
    match &bus.policy {
        TransfersChoice::Rate(rate) => rate.rate.0.to_string(),
        TransfersChoice::Interface(interface) => {
            format!("{} bits, {}", interface.width, interface.transfers)
        }
        TransfersChoice::PageTime(time) => format!("{} per flash page", time.page),
    }
}
