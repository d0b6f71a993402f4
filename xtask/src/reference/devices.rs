//! The device presets in a table.

use ftlab::config::{BusOptions, Config, Layer};
use ftlab::nand::timing::{TimingChoice, TransfersChoice};
use ftlab::options::presets::{self, Preset};
use ftlab::units::Nanos;

use super::{MarkdownTable, code, head};

const ABOUT: &str = "\
Devices that are built in: `--device NAME`. Each stands for a kind of drive, with the numbers of a published \
part. The file of a preset says for each number which source gives it, and which numbers are assumed and why.";

/// The page.
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
    row("Capacity for the host", capacity(host));
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
        "Blocks a plane x pages a block x page",
        format!("{} x {} x {}", shape.blocks_per_plane, shape.pages_per_block, shape.page_size),
    );
    row("Mapping unit, codeword", format!("{unit}, {}", nand.codeword));
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
    row("Sensing a page (tR)", read);
    row("Programming a page (tPROG)", program);
    row("Erasing a block (tBERS)", nand.timing.erase.to_string());
    row("Bus of a channel", bus(&nand.bus));
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

/// A capacity in the units of the label and in those of the memory.
fn capacity(bytes: u64) -> String {
    let giga = bytes as f64 / 1e9;
    let gibi = bytes as f64 / f64::from(1 << 30);
    format!("{giga:.3} GB ({gibi:.3} GiB)")
}

/// How fast a bus is, as its preset says it.
fn bus(bus: &BusOptions) -> String {
    match &bus.policy {
        TransfersChoice::Rate(rate) => rate.rate.0.to_string(),
        TransfersChoice::Interface(interface) => {
            format!("{} bits, {}", interface.width, interface.transfers)
        }
        TransfersChoice::PageTime(time) => format!("{} a flash page", time.page),
    }
}
