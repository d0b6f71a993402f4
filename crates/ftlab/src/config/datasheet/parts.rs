//! NAND dies that data sheets of drives don't name: one of each generation, with published figures.

use crate::shape::Cell;

/// A die, by its published figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NandPart {
    /// Its short name.
    pub name: &'static str,
    /// Its cells.
    pub cell: Cell,
    /// Planes of a die.
    pub planes: u32,
    /// Blocks of a plane.
    pub blocks: u32,
    /// Pages of a block.
    pub pages: u32,
    /// Bytes of a page.
    pub page: u32,
    /// Sensing a page, in microseconds: the mean over page types.
    pub read_us: f64,
    /// Programming a page, in microseconds: a word line's time divided by its pages.
    pub program_us: f64,
    /// Erasing a block, in microseconds.
    pub erase_us: f64,
    /// The rate of its bus, in MB/s.
    pub bus_mb: f64,
    /// Whether each plane senses pages of its own.
    pub planes_apart: bool,
    /// Where the figures come from.
    pub source: &'static str,
}

/// The parts, of each kind of cell the oldest first.
pub const PARTS: [NandPart; 6] = [
    NandPart {
        name: "z-nand",
        cell: Cell::Slc,
        planes: 4,
        blocks: 1365,
        pages: 384,
        page: 4096,
        read_us: 3.0,
        program_us: 100.0,
        erase_us: 1500.0,
        bus_mb: 1200.0,
        planes_apart: false,
        source: "48-layer Z-NAND of 64 Gb: Samsung, ISSCC 2018, 20.2; what that leaves open as in preset slc-240g",
    },
    NandPart {
        name: "mlc-25nm",
        cell: Cell::Mlc,
        planes: 2,
        blocks: 2048,
        pages: 256,
        page: 8192,
        read_us: 65.5,
        program_us: 1300.0,
        erase_us: 3800.0,
        bus_mb: 200.0,
        planes_apart: false,
        source: "Micron MT29F64G08CBAA (L74A, 64 Gb) data sheet, Rev. G; as in preset mlc-256g",
    },
    NandPart {
        name: "tlc-96",
        cell: Cell::Tlc,
        planes: 2,
        blocks: 1821,
        pages: 1152,
        page: 16384,
        read_us: 58.0,
        program_us: 575.0,
        erase_us: 5000.0,
        bus_mb: 533.0,
        planes_apart: false,
        source: "96-layer BiCS4 of 512 Gb: Toshiba and WD, ISSCC 2018, 20.1; as in preset tlc-512g",
    },
    NandPart {
        name: "tlc-128",
        cell: Cell::Tlc,
        planes: 4,
        blocks: 682,
        pages: 1536,
        page: 16384,
        read_us: 56.0,
        program_us: 497.0,
        erase_us: 5000.0,
        bus_mb: 1066.0,
        planes_apart: false,
        source: "128-layer BiCS5 of 512 Gb: KIOXIA and WD, ISSCC 2019; as in preset tlc-1t",
    },
    NandPart {
        name: "tlc-176",
        cell: Cell::Tlc,
        planes: 4,
        blocks: 682,
        pages: 1536,
        page: 16384,
        read_us: 50.0,
        // 168 MB/s with four planes busy is 1170 us for the three pages of a word line.
        program_us: 390.0,
        erase_us: 5000.0,
        bus_mb: 1600.0,
        planes_apart: true,
        source: "176-layer TLC of 512 Gb: SK hynix, ISSCC 2021, as tabled in AnandTech, 2021 NAND flash updates from ISSCC: \
                 tR 50 us, 168 MB/s, 4 planes, 1.6 Gb/s; blocks and erase as tlc-128; planes sense apart: assumed",
    },
    NandPart {
        name: "qlc-96",
        cell: Cell::Qlc,
        planes: 4,
        blocks: 1365,
        pages: 1536,
        page: 16384,
        read_us: 170.0,
        program_us: 2184.0,
        erase_us: 6340.0,
        bus_mb: 800.0,
        planes_apart: false,
        source: "96-layer QLC of 1 Tb: SK hynix, ISSCC 2020, 13.2; as in preset qlc-2t",
    },
];

impl NandPart {
    /// The part of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static NandPart> {
        PARTS.iter().find(|part| part.name == name)
    }

    /// Bytes of a block.
    #[must_use]
    pub fn block_bytes(&self) -> f64 {
        f64::from(self.pages) * f64::from(self.page)
    }

    /// Bytes of a die.
    #[must_use]
    pub fn die_bytes(&self) -> f64 {
        f64::from(self.planes) * f64::from(self.blocks) * self.block_bytes()
    }

    /// Erases that its cells endure, by the source of `nand.endurance.cycles`.
    #[must_use]
    pub fn cycles(&self) -> f64 {
        match self.cell {
            Cell::Slc => 100_000.0,
            Cell::Mlc | Cell::Tlc => 3_000.0,
            Cell::Qlc => 1_000.0,
        }
    }
}
