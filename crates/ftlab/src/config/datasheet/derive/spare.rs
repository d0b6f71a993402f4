//! Flash beyond what the host sees, the SLC cache in it, and what it endures.

use super::{Derivation, FAR, LEAST_FREE, LEAST_SPARE, MOST_AMPLIFIED, NEAR, mb, time};
use crate::config::datasheet::forms::{BUSY_US, DAYS, MIXED, SMALL};
use crate::config::datasheet::{Endurance, Forms};
use crate::options::value::Value;
use crate::shape::Cell;
use crate::units::Bytes;

impl Derivation<'_> {
    /// Spare blocks, from the steady random writes.
    pub(super) fn spare(&mut self) -> Result<(), String> {
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
            let mut wanted = self.forms.blocks_for(amplification).round();
            why = format!(
                "a write amplification of {amplification:.2} leaves {write:.0} random writes a second, and needs so many blocks"
            );
            if amplification > MOST_AMPLIFIED {
                wanted = (self.forms.data_blocks() * (1.0 + LEAST_SPARE) + LEAST_FREE).ceil();
                why = format!(
                    "assumed: {:.0} % to spare, as no over-provisioning leaves {write:.0} random writes a second",
                    LEAST_SPARE * 100.0
                );
            }
            if wanted > f64::from(part.blocks) {
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

    pub(super) fn slc_cache(&mut self) -> Result<(), String> {
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
            let needed = self.forms.dies * self.forms.row() / rate - BUSY_US;
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

    pub(super) fn endurance(&mut self) -> Result<(), String> {
        let Some(endurance) = self.sheet.endurance else { return Ok(()) };
        let part = self.forms.part;
        let raw = self.forms.dies * f64::from(part.planes) * self.forms.blocks * part.block_bytes();
        let amplification = self.forms.worn_by(endurance);
        if !amplification.is_finite() {
            return Err(format!(
                "`endurance` can't be met: {} dies hold {} of data and nothing to spare, so writes have no end\n  remedy: leave \
                 it out, or check `capacity`",
                self.forms.dies,
                self.sheet.sold()
            ));
        }
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
        Ok(())
    }

    pub(super) fn written(&mut self) {
        let capacity = self.sheet.capacity;
        self.text("ftl.capacity", &capacity.print(), format!("data sheet: {}", self.sheet.sold()));
    }
}
