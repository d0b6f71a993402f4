//! The closed forms: what a device with these values does.

use super::{Endurance, NandPart};
use crate::ftl::gc::closed_form::{endless_blocks, share_for};
use crate::host::Interface;
use crate::units::Bytes;

/// The mapping unit, and the size of small requests.
pub const SMALL: f64 = 4096.0;
/// What cells take longer when operations follow each other through the register (`nand.cache_ops.busy`), in microseconds.
pub const BUSY_US: f64 = 3.0;
/// Between the data of two planes (`nand.multi_plane.gap`), in microseconds.
pub const GAP_US: f64 = 0.5;

/// The values that decide the figures; times in microseconds, rates in bytes a microsecond, which are MB/s.
#[derive(Clone, Debug, PartialEq)]
pub struct Forms {
    /// The die, of which planes, pages and page size are taken.
    pub part: &'static NandPart,
    /// The link.
    pub interface: Interface,
    /// Channels.
    pub channels: f64,
    /// Dies of all channels.
    pub dies: f64,
    /// Blocks of a plane.
    pub blocks: f64,
    /// What the host sees, in bytes.
    pub capacity: f64,
    /// Bytes that a channel moves.
    pub bus: f64,
    /// Sensing a page.
    pub read: f64,
    /// Programming a page.
    pub program: f64,
    /// Whether each plane senses on its own.
    pub planes_apart: bool,
    /// The processor's time for a command.
    pub command: f64,
    /// The time of DRAM.
    pub dram: f64,
    /// Programming a page in SLC mode, if there is a cache.
    pub slc_program: Option<f64>,
    /// Erases that a block endures, if limited.
    pub cycles: Option<f64>,
}

impl Forms {
    /// Bytes a microsecond that the link carries in large transfers; a device without a link has no limit.
    #[must_use]
    pub fn link(interface: Interface) -> f64 {
        const LARGE: Bytes = Bytes(1 << 30);
        interface
            .wire()
            .map_or(f64::INFINITY, |wire| LARGE.0 as f64 * 1e3 / wire.time_for(LARGE).0 as f64)
    }

    /// Time of a small transfer on the link.
    #[must_use]
    pub fn link_small(interface: Interface) -> f64 {
        interface.wire().map_or(0.0, |wire| wire.time_for(Bytes(SMALL as u64)).0 as f64 / 1e3)
    }

    fn planes(&self) -> f64 {
        f64::from(self.part.planes)
    }

    /// Bytes of a row: a page of each plane of a die.
    #[must_use]
    pub fn row(&self) -> f64 {
        self.planes() * f64::from(self.part.page)
    }

    fn row_on_bus(&self, gaps: bool) -> f64 {
        let gaps = if gaps { (self.planes() - 1.0) * GAP_US } else { 0.0 };
        self.row() / self.bus + gaps
    }

    /// What all channels move, row by row.
    fn buses(&self, gaps: bool) -> f64 {
        self.channels * self.row() / self.row_on_bus(gaps)
    }

    pub(super) fn reading(&self) -> Ceiling {
        let gaps = !self.planes_apart;
        let cells = self.dies * self.row() / (self.read + BUSY_US).max(self.row_on_bus(gaps));
        Ceiling::least([
            ("the link", Forms::link(self.interface)),
            ("the buses of the channels", self.buses(gaps)),
            ("the dies, which sense", cells),
        ])
    }

    /// Sequential reads: the link, the buses, or the cells.
    #[must_use]
    pub fn sequential_read(&self) -> f64 {
        self.reading().most
    }

    pub(super) fn writing(&self, program: f64) -> Ceiling {
        let cells = self.dies * self.row() / (program + BUSY_US).max(self.row_on_bus(true));
        Ceiling::least([
            ("the link", Forms::link(self.interface)),
            ("the buses of the channels", self.buses(true)),
            ("programs of the dies", cells),
        ])
    }

    fn written_at(&self, program: f64) -> f64 {
        self.writing(program).most
    }

    /// Sequential writes at full density.
    #[must_use]
    pub fn sequential_write(&self) -> f64 {
        self.written_at(self.program)
    }

    /// Sequential writes into the SLC cache.
    #[must_use]
    pub fn cached_write(&self) -> Option<f64> {
        self.slc_program.map(|program| self.written_at(program))
    }

    pub(super) fn reading_small(&self) -> Ceiling {
        let units = if self.planes_apart { self.planes() } else { 1.0 };
        let cells = self.dies * units / (self.read + BUSY_US).max(SMALL / self.bus);
        let link = 1.0 / Forms::link_small(self.interface).max(1e-9);
        Ceiling::least([
            ("the link", 1e6 * link),
            ("the buses of the channels", 1e6 * self.channels * self.bus / SMALL),
            ("the dies, which sense", 1e6 * cells),
        ])
    }

    /// Random reads a second that the flash and the link bear, without the processor.
    #[must_use]
    pub fn random_read_flash(&self) -> f64 {
        self.reading_small().most
    }

    pub(super) fn commands(&self) -> f64 {
        if self.command > 0.0 { 1e6 / self.command } else { f64::INFINITY }
    }

    /// Random reads a second.
    #[must_use]
    pub fn random_read(&self) -> f64 {
        self.random_read_flash().min(self.commands())
    }

    /// Blocks of data of a plane.
    #[must_use]
    pub fn data_blocks(&self) -> f64 {
        self.capacity / (self.dies * self.planes() * self.part.block_bytes())
    }

    /// Write amplification of uniform random writes: of a plane's blocks one is free, and two are open.
    #[must_use]
    pub fn amplification(&self) -> f64 {
        let share = self.data_blocks() / (self.blocks - FREE_BLOCKS);
        if share >= 1.0 { f64::INFINITY } else { endless_blocks(share) }
    }

    /// Blocks of a plane with which uniform random writes are amplified this much.
    #[must_use]
    pub fn blocks_for(&self, amplification: f64) -> f64 {
        self.data_blocks() / share_for(amplification).max(1e-6) + FREE_BLOCKS
    }

    /// Time of a die for a row: (programming it, reading it page by page to copy it, its part of an erase).
    fn row_times(&self) -> [f64; 3] {
        let reads = if self.planes_apart { 1.0 } else { self.planes() };
        [self.program + BUSY_US, reads * self.read, self.part.erase_us / f64::from(self.part.pages)]
    }

    /// Random writes a second in the steady state, amplified this much. A row of the host costs `amplification` programs
    /// with their part of an erase, and one less of copies that are read.
    #[must_use]
    pub fn random_write_at(&self, amplification: f64) -> f64 {
        self.writing_small(amplification).most
    }

    pub(super) fn writing_small(&self, amplification: f64) -> Ceiling {
        let [program, copy, erase] = self.row_times();
        let row = amplification * (program + erase) + (amplification - 1.0) * copy;
        Ceiling::least([
            ("programs and copies of the dies", 1e6 * self.dies * self.row() / SMALL / row),
            ("the time of a command", self.commands()),
            ("the link", 1e6 * Forms::link(self.interface) / SMALL),
        ])
    }

    /// The write amplification that leaves this many random writes a second.
    #[must_use]
    pub fn amplification_for(&self, random_write: f64) -> f64 {
        let [program, copy, erase] = self.row_times();
        let row = 1e6 * self.dies * self.row() / SMALL / random_write;
        (row + copy) / (program + erase + copy)
    }

    /// The latency of a random read.
    #[must_use]
    pub fn read_latency(&self) -> f64 {
        self.command + self.read + SMALL / self.bus + Forms::link_small(self.interface)
    }

    /// The latency of a write.
    #[must_use]
    pub fn write_latency(&self) -> f64 {
        self.command + Forms::link_small(self.interface) + self.dram
    }

    /// Bytes that the host can write, at an amplification.
    pub(super) fn written(&self, amplification: f64) -> Option<f64> {
        let raw = self.dies * self.planes() * self.blocks * self.part.block_bytes();
        Some(self.cycles? * raw / amplification)
    }

    /// The amplification that a figure of endurance means.
    #[must_use]
    pub fn worn_by(&self, endurance: Endurance) -> f64 {
        match endurance {
            Endurance::DriveWrites { .. } => self.amplification(),
            Endurance::Written(_) => MIXED,
        }
    }
}

/// What bounds a figure, and where.
pub(super) struct Ceiling {
    pub what: &'static str,
    pub most: f64,
}

impl Ceiling {
    pub fn least<const N: usize>(limits: [(&'static str, f64); N]) -> Ceiling {
        let least = limits.into_iter().min_by(|(_, a), (_, b)| a.total_cmp(b));
        let (what, most) = least.expect("some limits");
        Ceiling { what, most }
    }
}

/// Blocks of a plane that hold no data in the steady state: one is free, and two are open.
const FREE_BLOCKS: f64 = 3.0;
/// Days of a year.
pub const DAYS: f64 = 365.0;
/// Write amplification of the loads that client drives are rated for.
pub const MIXED: f64 = 2.0;
