//! Where everything lies in the data file of a drive.
//!
//! The file is sparse: what was never written takes no space on disk. In order: a header, the configuration, the log of
//! commits, the tables of blocks, superblocks, pages and trims, the flash pages, and the image of a drive that was shut down.

use ftlab::config::Config;
use ftlab::device::DeviceSetup;
use ftlab::ftl::superblock;
use ftlab::units::{BlockId, Lpn, Ppn, SECTOR_BYTES};

/// Everything begins at a multiple of this, so that holes can be punched.
const ALIGN: u64 = 1 << 16;
/// The header, twice.
pub const HEADER_SLOT: u64 = 1 << 12;
/// Room for the text of the configuration.
pub const CONFIG_BYTES: u64 = 1 << 20;
/// Room for the log of commits. Tests fill it often.
pub const LOG_BYTES: u64 = if cfg!(test) { 256 << 10 } else { 16 << 20 };
/// A block in its table.
pub const BLOCK_BYTES: u64 = 40;
/// A trim in its table: the version and a checksum.
pub const TRIM_BYTES: u64 = 12;
/// The owner and the version of a part in the table of pages, without its sectors.
pub const PART_BYTES: u64 = 12;
/// The checksum at the end of a page in its table.
pub const CHECKSUM_BYTES: u64 = 4;

/// The layout of a data file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileLayout {
    /// Bytes of a page.
    pub page_bytes: u64,
    /// Sectors of a page.
    pub sectors: u32,
    /// Logical pages that may share a physical one.
    pub parts: u32,
    /// Bytes of a page in the table of pages.
    pub record_bytes: u64,
    /// Bytes of a mask of sectors.
    pub mask_bytes: u64,
    /// The most bytes of a superblock in its table; zero without superblocks.
    pub superblock_bytes: u64,
    /// Blocks of the device.
    pub block_count: u32,
    /// Physical pages of the device.
    pub physical_pages: u32,
    /// Logical pages of the device.
    pub logical_pages: u32,
    blocks: u64,
    superblocks: u64,
    pages: u64,
    trims: u64,
    data: u64,
    image: u64,
}

impl FileLayout {
    /// Lays out the file of a device.
    #[must_use]
    pub fn of(config: &Config, setup: &DeviceSetup) -> FileLayout {
        // Bytes lie as the FTL sees the flash: with parity, in the volume of its superblocks.
        let geometry = &setup.ftl.geometry;
        let logical_pages = config.logical_pages();
        // Two logical pages may share a physical one.
        let packs = config.options.ftl.mapping.policy.packs();
        let superblock_bytes = superblock::most_bytes(&setup.flash.geometry);
        let sectors = geometry.sectors_per_unit();
        let parts: u32 = if packs { 2 } else { 1 };
        let mask_bytes = u64::from(sectors.div_ceil(u8::BITS));
        // Each part, the lost sectors, who owns the second place of the data, and the checksum.
        let owner = if packs { 4 } else { 0 };
        let record_bytes =
            u64::from(parts) * (PART_BYTES + mask_bytes) + mask_bytes + owner + CHECKSUM_BYTES;
        let page_bytes = u64::from(sectors) * SECTOR_BYTES;
        let after = |start: u64, bytes: u64| (start + bytes).next_multiple_of(ALIGN);
        let physical = u64::from(geometry.physical_pages());
        let blocks = after(FileLayout::log(), LOG_BYTES);
        let superblocks = after(blocks, u64::from(geometry.blocks()) * BLOCK_BYTES);
        let pages = after(superblocks, u64::from(geometry.blocks()) * superblock_bytes);
        let trims = after(pages, physical * record_bytes);
        let data = after(trims, u64::from(logical_pages) * TRIM_BYTES);
        let image = after(data, physical * page_bytes * u64::from(parts));
        FileLayout {
            page_bytes,
            sectors,
            parts,
            record_bytes,
            mask_bytes,
            superblock_bytes,
            block_count: geometry.blocks(),
            physical_pages: geometry.physical_pages(),
            logical_pages,
            blocks,
            superblocks,
            pages,
            trims,
            data,
            image,
        }
    }

    /// Where the text of the configuration begins.
    #[must_use]
    pub const fn config() -> u64 {
        ALIGN
    }

    /// Where the mark of the end of the log is.
    #[must_use]
    pub const fn log_mark() -> u64 {
        2 * HEADER_SLOT
    }

    /// Where the log begins.
    #[must_use]
    pub const fn log() -> u64 {
        ALIGN + CONFIG_BYTES
    }

    /// Where a block is in its table.
    #[must_use]
    pub fn block(&self, block: BlockId) -> u64 {
        self.blocks + u64::from(block.get()) * BLOCK_BYTES
    }

    /// Where a superblock is in its table.
    #[must_use]
    pub fn superblock(&self, block: BlockId) -> u64 {
        self.superblocks + u64::from(block.get()) * self.superblock_bytes
    }

    /// Where a page is in its table.
    #[must_use]
    pub fn page(&self, at: Ppn) -> u64 {
        self.pages + u64::from(at.get()) * self.record_bytes
    }

    /// The table of trims, as bytes of the file.
    #[must_use]
    pub fn trims(&self) -> std::ops::Range<u64> {
        self.trims..self.trims + u64::from(self.logical_pages) * TRIM_BYTES
    }

    /// Where the trim of a page is in its table.
    #[must_use]
    pub fn trim(&self, page: Lpn) -> u64 {
        self.trims + u64::from(page.get()) * TRIM_BYTES
    }

    /// Where the data of a physical page is, or of its second part.
    #[must_use]
    pub fn data(&self, at: Ppn, second: bool) -> u64 {
        let place = u64::from(at.get()) * u64::from(self.parts) + u64::from(second);
        self.data + place * self.page_bytes
    }

    /// The bytes of `units` pages from `first` on.
    #[must_use]
    pub fn span(&self, first: Ppn, units: u32) -> (u64, u64) {
        let bytes = u64::from(units) * u64::from(self.parts) * self.page_bytes;
        (self.data(first, false), bytes)
    }

    /// Where the image of a drive that was shut down begins. A file with tables is at least so long.
    #[must_use]
    pub fn image(&self) -> u64 {
        self.image
    }
}
