//! From the figures of a data sheet to values, each with its derivation.

use super::forms::{DAYS, GAP_US, MIXED, SMALL};
use super::{DerivedLine, Endurance, Forms, NandPart, PARTS, Sheet};
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
/// What figures may be off without a doubt.
const ROUNDED: f64 = 1.02;
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
    work.commands()?;
    work.latencies()?;
    work.spare()?;
    work.slc_cache()?;
    work.endurance();
    work.written();
    Ok(Derived { lines: work.lines, doubts: work.doubts, forms: work.forms })
}

/// The die: the one that was named, or that of the link's time.
fn part(sheet: &Sheet) -> Result<&'static NandPart, String> {
    if let Some(part) = sheet.part {
        return match part.cell == sheet.cell {
            true => Ok(part),
            false => Err(format!(
                "{} has {} cells, but the drive is said to have {}\n  remedy: leave out `nand`, or set `cell` to {0}",
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
            if mb(rate) > link * ROUNDED {
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

    fn buses(&mut self) {
        let link = Forms::link(self.sheet.interface);
        let part = self.forms.part;
        let most = self.forms.channels * part.bus_mb;
        let why = match self.sheet.read.map(mb) {
            Some(read) if read < NEAR * link.min(most) => {
                let gaps =
                    if part.planes_apart { 0.0 } else { f64::from(part.planes - 1) * GAP_US };
                self.forms.bus =
                    self.forms.row() / (self.forms.row() * self.forms.channels / read - gaps);
                format!(
                    "sequential read {read} MB/s / {} channels, as {} allows more",
                    self.forms.channels,
                    self.sheet.interface.print()
                )
            }
            Some(read) if read > most * ROUNDED => {
                self.forms.bus = read / self.forms.channels;
                format!(
                    "sequential read {read} MB/s / {} channels: more than {} has",
                    self.forms.channels, part.name
                )
            }
            _ => format!("{}: the link limits sequential reads", part.name),
        };
        // Rates are whole numbers of bytes a second.
        let bytes = (self.forms.bus * 1e6).round();
        self.forms.bus = bytes / 1e6;
        self.text("nand.bus.rate", &BytesPerSec(bytes as u64).print(), why);
    }

    /// Whether planes sense apart, as the random reads need.
    fn reads(&mut self) {
        let part = self.forms.part;
        let asked = self.sheet.random_read.unwrap_or(0.0);
        let mut why = format!("{} and its time", part.name);
        if !self.forms.planes_apart && asked > self.forms.random_read_flash() {
            self.forms.planes_apart = true;
            why = format!(
                "{asked:.0} random reads a second are more than {} dies sense, one page of each at a time",
                self.forms.dies
            );
        }
        match self.forms.planes_apart {
            true => self.text("nand.multi_plane.independent_reads", "on", why),
            false => self.text("nand.multi_plane.read", "on", "assumed"),
        }
    }

    fn programs(&mut self) -> Result<(), String> {
        let forms = &self.forms;
        let part = forms.part;
        let Some(write) = self.sheet.write.map(mb) else {
            self.time("nand.timing.program", part.program_us, part.name);
            return Ok(());
        };
        let limit = Forms::link(self.sheet.interface).min(forms.sequential_read());
        let needed = forms.dies * forms.row() / write - super::forms::BUSY_US;
        if write > NEAR * limit && needed >= part.program_us {
            self.time(
                "nand.timing.program",
                part.program_us,
                format!("{}: the link limits writes", part.name),
            );
            return Ok(());
        }
        if needed < part.program_us / FAR {
            let told = format!(
                "`write` {write} MB/s needs programs of {needed:.0} us on {} dies of {} planes; {} takes {:.0} us. That is \
                 the rate of an SLC cache: say it as `write_cached`",
                forms.dies, part.planes, part.name, part.program_us
            );
            if needed < part.program_us / (FAR * FAR) {
                return Err(format!(
                    "{told}\n  remedy: `write_cached` with `slc_cache`, and `write` of a full cache"
                ));
            }
            self.doubts.push(told);
        } else if needed > part.program_us * FAR {
            self.doubts.push(format!(
                "`write` {write} MB/s is slow for {} dies: programs of {needed:.0} us, where {} takes {:.0} us. Perhaps \
                 the controller or its power limits writes, or there are fewer dies",
                forms.dies, part.name, part.program_us
            ));
        }
        let why = format!(
            "{} dies x {} planes x {} / {write} MB/s of sequential writes, less {} us of nand.cache_ops.busy",
            forms.dies,
            part.planes,
            Bytes(part.page.into()),
            super::forms::BUSY_US
        );
        self.forms.program = time(needed).0 as f64 / 1e3;
        self.time("nand.timing.program", needed, why);
        Ok(())
    }

    fn commands(&mut self) -> Result<(), String> {
        let flash = self.forms.random_read_flash();
        let (read, write) = (self.sheet.random_read, self.sheet.random_write);
        if let Some(read) = read.filter(|&read| read > flash * ROUNDED) {
            self.doubts.push(format!(
                "`random_read` {read:.0} is more than the flash bears: {flash:.0}. Perhaps there are more dies, or pages are \
                 sensed faster than {} us (`nand`)",
                self.forms.read
            ));
        }
        let (most, why) = match (read, write) {
            (Some(read), Some(write)) if write > read => {
                (write, "random writes, which are more than reads")
            }
            (Some(read), _) => (read, "random reads"),
            (None, Some(write)) if write > 1e6 => (write, "random writes"),
            _ => (1e6, "commands: assumed"),
        };
        let takes = time(1e6 / most);
        self.forms.command = takes.0 as f64 / 1e3;
        self.text("host.command_time", &takes.print(), format!("1 s / {most:.0} {why}"));
        Ok(())
    }

    fn latencies(&mut self) -> Result<(), String> {
        let rest = self.forms.read_latency() - self.forms.read;
        let typical = self.forms.part.read_us;
        match self.sheet.read_latency.map(|time| time.0 as f64 / 1e3) {
            None => self.time("nand.timing.read", typical, self.forms.part.name),
            Some(asked) => {
                let read = asked - rest;
                if read < 1.0 {
                    return Err(format!(
                        "`read_latency` {asked} us leaves no time to sense: commands, bus and link take {rest:.1} us\n  \
                         remedy: check it; `random_read` decides the time of a command"
                    ));
                }
                if read > typical * FAR || read < typical / FAR {
                    self.doubts.push(format!(
                        "`read_latency` {asked} us leaves {read:.1} us to sense, where {} takes {typical} us. Figures of \
                         data sheets often include the host's software",
                        self.forms.part.name
                    ));
                }
                self.forms.read = time(read).0 as f64 / 1e3;
                self.time(
                    "nand.timing.read",
                    read,
                    format!("read latency {asked} us, less {rest:.1} us of command, bus and link"),
                );
            }
        }
        self.text("cache.policy", "lru", "assumed");
        let buffer = self.sheet.buffer.unwrap_or(Bytes(64 << 20));
        let why = if self.sheet.buffer.is_some() { "data sheet" } else { "assumed" };
        self.text("cache.capacity", &buffer.print(), why);
        let rest = self.forms.write_latency() - self.forms.dram;
        match self.sheet.write_latency.map(|time| time.0 as f64 / 1e3) {
            None => self.text("cache.latency", "1us", "assumed: the default"),
            Some(asked) if asked < rest => {
                return Err(format!(
                    "`write_latency` {asked} us is shorter than command and link, {rest:.1} us\n  remedy: check it; \
                     `random_read` decides the time of a command"
                ));
            }
            Some(asked) => {
                self.forms.dram = time(asked - rest).0 as f64 / 1e3;
                self.time(
                    "cache.latency",
                    asked - rest,
                    format!("write latency {asked} us, less {rest:.1} us of command and link"),
                );
            }
        }
        Ok(())
    }

    /// Spare blocks, from the steady random writes.
    fn spare(&mut self) -> Result<(), String> {
        let part = self.forms.part;
        let mut why = format!("all of {}", part.name);
        if let Some(write) = self.sheet.random_write {
            let amplification = self.forms.amplification_for(write);
            let sequential = self.forms.sequential_write();
            if amplification < 1.0 {
                let rate = write * SMALL / 1e6;
                return Err(format!(
                    "`random_write` {write:.0} of 4 KiB are {rate:.0} MB/s, more than the flash programs: {sequential:.0} \
                     MB/s. It is no figure of a full drive\n  remedy: leave it out, or take that of the steady state"
                ));
            }
            let wanted = self.forms.blocks_for(amplification).round();
            why = format!(
                "a write amplification of {amplification:.2} leaves {write:.0} random writes a second, and needs so many blocks"
            );
            if wanted > f64::from(part.blocks) {
                let given = self.forms.random_write_at(self.forms.amplification());
                self.doubts.push(format!(
                    "`random_write` {write:.0} needs a write amplification of {amplification:.2}, so {wanted:.0} blocks of \
                     a plane in place of {}: more flash than {} dies have. With all of it {given:.0} remain. Perhaps it \
                     is no figure of a full drive, or there are more dies",
                    part.blocks, self.forms.dies
                ));
                why = format!("all of {}: random writes want more", part.name);
            }
            self.forms.blocks = wanted.min(f64::from(part.blocks));
        } else if self.forms.dies == 1.0 {
            let needed = (self.forms.data_blocks() * (1.0 + LEAST_SPARE)).ceil() + LEAST_FREE;
            self.forms.blocks = needed.min(self.forms.blocks);
            why = format!(
                "assumed: what holds {} and some to spare, of one die",
                self.sheet.capacity
            );
        }
        let raw = self.forms.dies * f64::from(part.planes) * self.forms.blocks * part.block_bytes();
        self.set("nand.blocks_per_plane", self.forms.blocks, why);
        let ppm = ((raw / self.forms.capacity - 1.0) * 1e6).floor().max(0.0);
        let share = crate::units::Ratio { ppm: ppm as u32 };
        self.set(
            "ftl.over_provisioning",
            share.to_toml(),
            format!("{:.1} GB of flash, of which the host sees {}", raw / 1e9, self.sheet.sold()),
        );
        Ok(())
    }

    fn slc_cache(&mut self) -> Result<(), String> {
        let part = self.forms.part;
        if self.sheet.slc_cache.is_none() && self.sheet.write_cached.is_none() {
            return Ok(());
        }
        if self.sheet.cell == Cell::Slc {
            return Err("SLC has no SLC cache\n  remedy: leave out `slc_cache` and `write_cached`"
                .to_owned());
        }
        let bits = f64::from(self.sheet.cell.bits());
        let planes = self.forms.dies * f64::from(part.planes);
        self.text(
            "ftl.slc_cache.policy",
            "dynamic",
            "assumed: free blocks, as most client drives since 2014",
        );
        if let Some(size) = self.sheet.slc_cache {
            let blocks = (size.0 as f64 / (planes * part.block_bytes() / bits)).round().max(1.0);
            if blocks > self.forms.blocks {
                return Err(format!(
                    "`slc_cache` {size} takes {bits} times as much flash, more than there is\n  remedy: check it, or leave it \
                     out: all free blocks are used"
                ));
            }
            let why = format!(
                "{size} over {planes} planes, in blocks of {:.1} MB",
                part.block_bytes() / bits / 1e6
            );
            self.set("ftl.slc_cache.most_borrowed", blocks, why);
        }
        const SLC_PROGRAM_US: f64 = 200.0;
        let mut program = SLC_PROGRAM_US;
        let mut why = "assumed: as SLC parts (Grupp et al., MICRO 2009)".to_owned();
        if let Some(rate) = self.sheet.write_cached.map(mb) {
            let needed = self.forms.dies * self.forms.row() / rate - super::forms::BUSY_US;
            let limit = Forms::link(self.sheet.interface).min(self.forms.sequential_read());
            if rate < NEAR * limit || needed < program {
                program = needed.max(1.0);
                why = format!(
                    "{} dies x {} planes x {} / {rate} MB/s of cached writes",
                    self.forms.dies,
                    part.planes,
                    Bytes(part.page.into())
                );
                if needed < SLC_PROGRAM_US / FAR {
                    self.doubts.push(format!(
                        "`write_cached` {rate} MB/s needs programs of {needed:.0} us in SLC mode; about {SLC_PROGRAM_US} are \
                         usual"
                    ));
                }
            }
        }
        let shown = time(program);
        self.forms.slc_program = Some(shown.0 as f64 / 1e3);
        self.time("nand.slc_mode.program", program, why);
        self.text("nand.slc_mode.read", "25us", "assumed: as SLC parts (Grupp et al., MICRO 2009)");
        self.time("nand.slc_mode.erase", part.erase_us, "assumed: as blocks of full density");
        Ok(())
    }

    fn endurance(&mut self) {
        let Some(endurance) = self.sheet.endurance else { return };
        let part = self.forms.part;
        let raw = self.forms.dies * f64::from(part.planes) * self.forms.blocks * part.block_bytes();
        let amplification = self.forms.worn_by(endurance);
        let (written, told) = match endurance {
            Endurance::Written(bytes) => (
                bytes.0 as f64,
                format!("at a write amplification of {MIXED}, assumed for client loads"),
            ),
            Endurance::DriveWrites { a_day, years } => (
                a_day * years * DAYS * self.forms.capacity,
                format!("at the write amplification of random writes, {amplification:.2}"),
            ),
        };
        let cycles = (written * amplification / raw).ceil().clamp(1.0, 1e7);
        if cycles > part.cycles() * FAR * FAR {
            self.doubts.push(format!(
                "`endurance` takes {cycles:.0} cycles of each block, where {} cells endure about {:.0}",
                self.sheet.cell.print().to_uppercase(),
                part.cycles()
            ));
        }
        self.forms.cycles = Some(cycles);
        self.text("nand.endurance.policy", "fixed", "assumed: all blocks endure as much");
        let why =
            format!("{:.0} TB written {told}, over {:.1} GB of flash", written / 1e12, raw / 1e9);
        self.set("nand.endurance.cycles", cycles, why);
    }

    fn written(&mut self) {
        let capacity = self.sheet.capacity;
        self.text("ftl.capacity", &capacity.print(), format!("data sheet: {}", self.sheet.sold()));
    }
}
