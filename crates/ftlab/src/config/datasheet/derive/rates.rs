//! Rates and latencies: the bus, planes that sense apart, programs, commands, and the time to sense.

use super::{Derivation, FAR, LONGEST_COMMAND, NEAR, NEAR_SATA, ROUNDED, mb, time};
use crate::config::datasheet::Forms;
use crate::config::datasheet::forms::{BUSY_US, GAP_US, SMALL};
use crate::options::value::Value;
use crate::units::{Bytes, BytesPerSec};

impl Derivation<'_> {
    pub(super) fn buses(&mut self) {
        let link = Forms::link(self.sheet.interface);
        let part = self.forms.part;
        let most = self.forms.channels * part.bus_mb;
        let near = if self.sheet.interface.print().starts_with("sata") { NEAR_SATA } else { NEAR };
        let why = match self.sheet.read.map(mb) {
            Some(read) if read < near * link.min(most) => {
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
            Some(read) => format!(
                "{}: assumed, as the link limits sequential reads of {read} MB/s",
                part.name
            ),
            None => format!("{}: assumed", part.name),
        };
        // Rates are whole numbers of bytes a second.
        let bytes = (self.forms.bus * 1e6).round();
        self.forms.bus = bytes / 1e6;
        self.text("nand.bus.rate", &BytesPerSec(bytes as u64).print(), why);
    }

    /// Whether planes sense apart, as the random reads need.
    pub(super) fn reads(&mut self) {
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

    pub(super) fn programs(&mut self) -> Result<(), String> {
        let forms = &self.forms;
        let part = forms.part;
        let Some(write) = self.sheet.write.map(mb) else {
            self.time("nand.timing.program", part.program_us, part.name);
            return Ok(());
        };
        let limit = Forms::link(self.sheet.interface).min(forms.sequential_read());
        let needed = forms.dies * forms.row() / write - BUSY_US;
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
            BUSY_US
        );
        self.forms.program = time(needed).0 as f64 / 1e3;
        self.time("nand.timing.program", needed, why);
        Ok(())
    }

    pub(super) fn commands(&mut self) {
        let (read, write) = (self.sheet.random_read, self.sheet.random_write);
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
        if self.forms.command > LONGEST_COMMAND {
            self.doubts.push(format!(
                "`random_read` {most:.0} makes commands of {:.1} us, one after the other, where processors take less than \
                 {LONGEST_COMMAND} us: they bound random writes and lengthen latencies, too. Perhaps it was measured with few \
                 requests at a time, the map is not in DRAM (ftl.mapping.policy), or fewer dies sense at a time",
                self.forms.command
            ));
        }
    }

    /// The figure that decides the longest part of a latency, as a remedy: command, `bus` and link.
    fn blame(&self, bus: f64) -> String {
        let Forms { command, interface, .. } = self.forms;
        let link = Forms::link_small(interface);
        let (random, figure) = match (self.sheet.random_read, self.sheet.random_write) {
            (Some(read), Some(write)) if write > read => (true, "random_write"),
            (Some(_), _) => (true, "random_read"),
            (None, _) => (false, ""),
        };
        if link > command.max(bus) {
            return format!("; the link takes {link:.1} us of it (`interface`)");
        }
        match (command > bus, random, self.sheet.read.is_some()) {
            (true, true, _) => format!("; `{figure}` makes a command {command:.1} us long"),
            (true, false, _) => format!("; a command is assumed to take {command:.1} us"),
            (false, _, true) => {
                format!("; {bus:.1} us are the bus, whose rate follows from `read`")
            }
            (false, ..) => format!("; the bus takes {bus:.1} us of it"),
        }
    }

    pub(super) fn latencies(&mut self) -> Result<(), String> {
        let rest = self.forms.read_latency() - self.forms.read;
        let typical = self.forms.part.read_us;
        match self.sheet.read_latency.map(|time| time.0 as f64 / 1e3) {
            None => self.time("nand.timing.read", typical, self.forms.part.name),
            Some(asked) => {
                let read = asked - rest;
                if read < 1.0 {
                    return Err(format!(
                        "`read_latency` {asked} us leaves no time to sense: commands, bus and link take {rest:.1} us\n  \
                         remedy: check it{}",
                        self.blame(SMALL / self.forms.bus)
                    ));
                }
                if read > typical * FAR || read < typical / FAR {
                    self.doubts.push(format!(
                        "`read_latency` {asked} us leaves {read:.1} us to sense, where {} takes {typical} us: command, bus and \
                         link take {rest:.1} us. {}",
                        self.forms.part.name,
                        if read > typical {
                            "Figures of data sheets often include the host's software"
                        } else {
                            "Perhaps several commands are worked on at a time, or the flash is faster"
                        }
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
                    "`write_latency` {asked} us is shorter than command and link, {rest:.1} us\n  remedy: check it{}",
                    self.blame(0.0)
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
}
