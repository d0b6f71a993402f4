//! From the figures of a data sheet to values, each with its derivation.

mod missed;
mod rates;
mod spare;

use super::forms::{GAP_US, SMALL};
use super::{DerivedLine, Forms, NandPart, PARTS, Sheet};
use crate::options::text::quoted;
use crate::options::value::Value;
use crate::shape::Cell;
use crate::units::{Bytes, BytesPerSec, Nanos};

/// Flash beyond what the host sees of a drive without other figures: it sells GiB as GB.
const LEAST_SPARE: f64 = 0.07;
/// Blocks of a plane that the checks of a configuration want beside its data, of which three hold none in the steady state.
const LEAST_FREE: f64 = 5.0;
/// The most mapping units that the simulator counts.
const MOST_UNITS: f64 = 2_147_000_000.0;
/// A link carries this share of its rate at most, by what data sheets say.
const NEAR: f64 = 0.95;
/// A drive on SATA that reads this share of its link is held up by it, and not by its buses.
const NEAR_SATA: f64 = 0.75;
/// What figures may be off without a doubt.
const ROUNDED: f64 = 1.02;
/// Data sheets state up to this share of what a link carries here, as hosts may allow larger packets: 7,450 MB/s of a 990 PRO on
/// four lanes of PCIe 4.
const LARGER_PACKETS: f64 = 1.05;
/// A figure may be missed by this share without a doubt.
const MISSED: f64 = 0.10;
/// No drive amplifies steady random writes more than this: one with 7 % to spare does so about seven times.
const MOST_AMPLIFIED: f64 = 20.0;
/// The longest time of a processor for a command, in microseconds, that is not doubtful.
const LONGEST_COMMAND: f64 = 20.0;
/// A time this many times longer or shorter than that of the part is doubtful.
const FAR: f64 = 2.0;

/// What follows from a data sheet.
pub(super) struct Derived {
    pub lines: Vec<DerivedLine>,
    pub doubts: Vec<String>,
    pub forms: Forms,
}

/// Derives a device.
pub(super) fn derive(sheet: &Sheet) -> Result<Derived, String> {
    let part = part(sheet)?;
    let mut work =
        Derivation { sheet, lines: Vec::new(), doubts: Vec::new(), forms: shape(sheet, part)? };
    work.contradictions()?;
    work.identity();
    work.buses();
    work.reads();
    work.programs()?;
    work.commands();
    work.latencies()?;
    work.spare()?;
    work.slc_cache()?;
    work.endurance()?;
    work.written();
    work.missed();
    Ok(Derived { lines: work.lines, doubts: work.doubts, forms: work.forms })
}

/// The die: the one that was named, or that of the link's time.
fn part(sheet: &Sheet) -> Result<&'static NandPart, String> {
    if let Some(part) = sheet.part {
        return match part.cell == sheet.cell {
            true => Ok(part),
            false => Err(format!(
                "`nand` {} and `cell` {2} contradict each other: that flash has {1} cells\n  remedy: leave out `nand`, or set `cell` to {1}",
                part.name,
                part.cell.print(),
                sheet.cell.print()
            )),
        };
    }
    let name = match (sheet.cell, sheet.interface.print()) {
        (Cell::Slc, _) => "z-nand",
        (Cell::Mlc, _) => "mlc-25nm",
        (Cell::Qlc, _) => "qlc-96",
        (Cell::Tlc, link) if link.starts_with("pcie-3") => "tlc-128",
        (Cell::Tlc, link)
            if ["pcie-4", "pcie-5", "pcie-6"].iter().any(|new| link.starts_with(new)) =>
        {
            "tlc-176"
        }
        (Cell::Tlc, _) => "tlc-96",
    };
    Ok(PARTS.iter().find(|part| part.name == name).expect("a part of this list"))
}

/// Dies in twos, and channels that carry what is read.
fn shape(sheet: &Sheet, part: &'static NandPart) -> Result<Forms, String> {
    let capacity = sheet.capacity.0 as f64;
    let wanted = (capacity * (1.0 + LEAST_SPARE) / part.die_bytes()).ceil().max(1.0);
    const MOST_DIES: f64 = 4096.0;
    if wanted > MOST_DIES {
        return Err(format!(
            "{} would need {wanted} dies of {}\n  remedy: set `capacity` to what the drive has",
            sheet.sold(),
            part.name
        ));
    }
    let dies = f64::from((wanted as u32).next_power_of_two());
    let read = sheet.read.map_or(0.0, |rate| rate.0 as f64 / 1e6);
    const MOST_CHANNELS: f64 = 32.0;
    let wanted = (read / part.bus_mb).ceil().min(MOST_CHANNELS);
    let needed = f64::from((wanted as u32).next_power_of_two());
    let usual = if dies >= 32.0 { 8.0 } else { 4.0 };
    let channels = f64::max(needed, usual).min(dies).min(MOST_CHANNELS);
    Ok(Forms {
        part,
        interface: sheet.interface,
        channels,
        dies,
        blocks: f64::from(part.blocks),
        capacity,
        bus: part.bus_mb,
        read: part.read_us,
        program: part.program_us,
        planes_apart: part.planes_apart,
        command: 1.0,
        dram: 1.0,
        slc_program: None,
        cycles: None,
    })
}

struct Derivation<'a> {
    sheet: &'a Sheet,
    lines: Vec<DerivedLine>,
    doubts: Vec<String>,
    forms: Forms,
}

fn mb(rate: BytesPerSec) -> f64 {
    rate.0 as f64 / 1e6
}

/// A time in microseconds as an option takes it.
fn time(us: f64) -> Nanos {
    Nanos((us * 1e3).round().max(0.0) as u64)
}

impl Derivation<'_> {
    fn set(&mut self, path: &'static str, value: impl std::fmt::Display, why: impl Into<String>) {
        self.lines.push(DerivedLine { path, value: value.to_string(), why: why.into() });
    }

    fn text(&mut self, path: &'static str, value: &str, why: impl Into<String>) {
        self.set(path, quoted(value), why);
    }

    fn time(&mut self, path: &'static str, us: f64, why: impl Into<String>) {
        self.text(path, &time(us).print(), why);
    }

    /// Figures that no flash can bring about.
    fn contradictions(&mut self) -> Result<(), String> {
        let link = Forms::link(self.sheet.interface);
        let name = self.sheet.interface.print();
        let rates = [
            ("read", self.sheet.read),
            ("write", self.sheet.write),
            ("write_cached", self.sheet.write_cached),
        ];
        for (option, rate) in rates.into_iter().filter_map(|(option, rate)| Some((option, rate?))) {
            if mb(rate) > link * LARGER_PACKETS {
                return Err(format!(
                    "`{option}` {} MB/s is more than {name} carries: {link:.0} MB/s of data\n  remedy: check the \
                     interface (`interface`) and the figure",
                    mb(rate)
                ));
            }
        }
        let random =
            [("random_read", self.sheet.random_read), ("random_write", self.sheet.random_write)];
        for (option, iops) in random.into_iter().filter_map(|(option, iops)| Some((option, iops?)))
        {
            let rate = iops * SMALL / 1e6;
            if rate > link * ROUNDED {
                return Err(format!(
                    "`{option}` {iops:.0} of 4 KiB are {rate:.0} MB/s, more than {name} carries: {link:.0} MB/s of \
                     data\n  remedy: check the interface (`interface`) and the figure"
                ));
            }
        }
        if let (Some(write), Some(cached)) = (self.sheet.write, self.sheet.write_cached)
            && cached < write
        {
            return Err(format!(
                "`write_cached` {} MB/s is below `write`, {} MB/s\n  remedy: `write` is the rate when the SLC cache is \
                 full; swap them",
                mb(cached),
                mb(write)
            ));
        }
        Ok(())
    }

    fn identity(&mut self) {
        let (sheet, forms) = (self.sheet, self.forms.clone());
        let part = forms.part;
        let described = format!(
            "{} drive, {}: {} dies of {} guessed",
            sheet.cell.print().to_uppercase(),
            sheet.sold(),
            forms.dies,
            part.name
        );
        self.text("device.name", &sheet.name, "");
        self.text("device.description", &described, "");
        self.text("device.source", "its data sheet; what it does not say is assumed", "");
        let why = match sheet.read {
            Some(read) if forms.channels * part.bus_mb / 2.0 < mb(read) => {
                format!("as many as carry {} MB/s, each at most {} MB/s", mb(read), part.bus_mb)
            }
            _ => "assumed: as controllers have for this number of dies".to_owned(),
        };
        self.set("nand.channels", forms.channels, why);
        let a_channel = forms.dies / forms.channels;
        let chips = a_channel.min(8.0);
        let why = format!(
            "{} dies of {:.1} GB hold {} and at least {:.0} % to spare, in twos",
            forms.dies,
            part.die_bytes() / 1e9,
            sheet.sold(),
            LEAST_SPARE * 100.0
        );
        self.set("nand.chips_per_channel", chips, why);
        self.set("nand.dies_per_chip", a_channel / chips, "assumed: stacked above 8 on a channel");
        self.set("nand.planes_per_die", part.planes, format!("{}: {}", part.name, part.source));
        self.set("nand.pages_per_block", part.pages, part.name);
        self.text("nand.page_size", &Bytes(part.page.into()).print(), part.name);
        self.text("nand.cell", &sheet.cell.print(), "data sheet");
        if part.page < 4096 || sheet.cell == Cell::Mlc {
            self.text("nand.codeword", "1KiB", "assumed: as BCH of the time");
        }
        self.text(
            "nand.timing.policy",
            "plain",
            "a mean for all page types: data sheets don't tell them apart",
        );
        self.time("nand.timing.erase", part.erase_us, part.name);
        self.text("host.link.interface", &sheet.interface.print(), "data sheet");
        self.unit();
        for path in [
            "nand.multi_plane.program",
            "nand.multi_plane.erase",
            "nand.cache_ops.read",
            "nand.cache_ops.program",
        ] {
            self.text(path, "on", "assumed: drives use what their flash offers");
        }
        self.text("nand.multi_plane.address", "same-page", "assumed");
        self.text("nand.multi_plane.gap", &time(GAP_US).print(), "assumed: tDBSY of ONFI");
        // Planes that collect each for themselves hardly ever share a program.
        self.text(
            "ftl.superblock.policy",
            "all",
            "assumed: drives fill and collect blocks of all dies together",
        );
        self.text("ftl.placement.policy", "dynamic", "as superblocks need it");
    }

    /// Drives map the page of file systems, unless there are too many.
    fn unit(&mut self) {
        let part = self.forms.part;
        let mut unit = SMALL;
        while self.forms.dies * part.die_bytes() / unit > MOST_UNITS && unit < f64::from(part.page)
        {
            unit *= 2.0;
        }
        let text = Bytes(unit as u64).print();
        if unit == SMALL {
            self.text("ftl.mapping.unit", &text, "assumed: drives map the page of file systems");
            return;
        }
        self.doubts.push(format!(
            "the map has units of {text}, as the simulator counts no more: random writes of 4 KiB are then slower than the \
             closed form"
        ));
        self.text(
            "ftl.mapping.unit",
            &text,
            "the least that the simulator counts for so much flash",
        );
    }
}

/// What becomes of the endurance if planes have this many blocks.
#[cfg(test)]
pub(super) fn endured_with(sheet: &Sheet, blocks: f64) -> Result<(), String> {
    let forms = Forms { blocks, ..shape(sheet, part(sheet)?)? };
    Derivation { sheet, lines: Vec::new(), doubts: Vec::new(), forms }.endurance()
}
