//! How what a device keeps is written in the data file: fixed records, little-endian, each with a checksum.
//!
//! A checksum also covers the number of its record, and is never zero. So a record in the wrong place is noticed, and one
//! that was overwritten by zeros or never written. It takes some 20 ns a record, where a commit takes microseconds.

use ftlab::ftl::BlockState;
use ftlab::ftl::recovery::{KeptBlock, KeptPage, KeptPart};
use ftlab::units::{BlockId, Lpn, Ppn, SectorMask};

use super::layout::{BLOCK_BYTES, CHECKSUM_BYTES, FileLayout, PART_BYTES, TRIM_BYTES};

/// The record of a block.
pub type BlockRecord = [u8; BLOCK_BYTES as usize];

/// Where the checksum of a block is.
pub(super) const BLOCK_CHECKSUM: std::ops::Range<usize> = 12..16;

/// A page as it is stored: what the device keeps of it, and who owns the second place of its data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoredPage {
    /// What the device keeps.
    pub kept: KeptPage,
    /// The logical page whose data is in the second place, if there is one.
    pub second: Option<Lpn>,
}

/// A block as it is stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoredBlock {
    /// What the device keeps.
    pub kept: KeptBlock,
    /// Whether its pages are in their table. Those of others are empty.
    pub has_pages: bool,
    /// What of its superblock is in the table.
    pub superblock: StoredSuperblock,
}

/// What of a superblock is in its table, so that damage of it is noticed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoredSuperblock {
    /// How many bytes.
    pub bytes: u32,
    /// Their checksum; zero if there are none.
    pub checksum: u32,
}

impl StoredSuperblock {
    /// Describes what is kept of a superblock.
    #[must_use]
    pub fn of(number: BlockId, kept: &[u8]) -> StoredSuperblock {
        let checksum = if kept.is_empty() { 0 } else { checksum(number.get(), kept) };
        StoredSuperblock { bytes: kept.len() as u32, checksum }
    }
}

/// The checksum of the record with this number.
pub(super) fn checksum(number: u32, record: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new_with_initial(number);
    hasher.update(record);
    hasher.finalize().max(1)
}

/// Appends the record of a page to `out`.
pub fn put_page(at: Ppn, page: &StoredPage, layout: &FileLayout, out: &mut Vec<u8>) {
    let start = out.len();
    let mask = |mask: SectorMask, out: &mut Vec<u8>| {
        out.extend_from_slice(&mask.0.to_le_bytes()[..layout.mask_bytes as usize]);
    };
    for part in &page.kept.parts[..layout.parts as usize] {
        out.extend_from_slice(&number_of(part.owner).to_le_bytes());
        out.extend_from_slice(&part.version.to_le_bytes());
        mask(part.sectors, out);
    }
    mask(page.kept.lost, out);
    if layout.parts > 1 {
        out.extend_from_slice(&number_of(page.second).to_le_bytes());
    }
    let checksum = checksum(at.get(), &out[start..]);
    out.extend_from_slice(&checksum.to_le_bytes());
}

/// Reads a page from its record; none if it is damaged.
#[must_use]
pub fn page_of(at: Ppn, record: &[u8], layout: &FileLayout) -> Option<StoredPage> {
    let (record, checksum_there) = record.split_at(record.len() - CHECKSUM_BYTES as usize);
    (checksum(at.get(), record) == u32_at(checksum_there, 0)).then(|| parse_page(record, layout))
}

fn parse_page(record: &[u8], layout: &FileLayout) -> StoredPage {
    let mask_bytes = layout.mask_bytes as usize;
    let mask = |from: &[u8]| {
        let mut bytes = [0; size_of::<u128>()];
        bytes[..mask_bytes].copy_from_slice(&from[..mask_bytes]);
        SectorMask(u128::from_le_bytes(bytes))
    };
    let mut page = StoredPage::default();
    let mut at = 0;
    for part in &mut page.kept.parts[..layout.parts as usize] {
        let version = u64_at(record, at + 4);
        let sectors = mask(&record[at + PART_BYTES as usize..]);
        *part = KeptPart { owner: owner_of(u32_at(record, at)), sectors, version };
        at += PART_BYTES as usize + mask_bytes;
    }
    page.kept.lost = mask(&record[at..]);
    if layout.parts > 1 {
        page.second = owner_of(u32_at(record, at + mask_bytes));
    }
    page
}

/// Returns the record of a block.
#[must_use]
pub fn block_record(number: BlockId, stored: &StoredBlock) -> BlockRecord {
    let block = &stored.kept;
    let mut record = [0; BLOCK_BYTES as usize];
    record[0..4].copy_from_slice(&block.erases.to_le_bytes());
    record[4..8].copy_from_slice(&block.programmed.to_le_bytes());
    record[8] = block.state as u8;
    record[9] = block.stream;
    record[10] = u8::from(stored.has_pages);
    record[11] = u8::from(block.giving_up);
    record[16..24].copy_from_slice(&block.opening.to_le_bytes());
    record[24..32].copy_from_slice(&block.purpose.to_le_bytes());
    record[32..36].copy_from_slice(&stored.superblock.bytes.to_le_bytes());
    record[36..40].copy_from_slice(&stored.superblock.checksum.to_le_bytes());
    let checksum = checksum(number.get(), &record);
    record[BLOCK_CHECKSUM].copy_from_slice(&checksum.to_le_bytes());
    record
}

/// Reads a block from its record; none if it is damaged.
#[must_use]
pub fn block_of(number: BlockId, record: &BlockRecord) -> Option<StoredBlock> {
    let mut content = *record;
    content[BLOCK_CHECKSUM].fill(0);
    if checksum(number.get(), &content) != u32_at(record, BLOCK_CHECKSUM.start) {
        return None;
    }
    let kept = KeptBlock {
        erases: u32_at(record, 0),
        programmed: u32_at(record, 4),
        state: *BlockState::ALL.get(usize::from(record[8]))?,
        stream: record[9],
        opening: u64_at(record, 16),
        purpose: u64_at(record, 24),
        giving_up: record[11] != 0,
    };
    let superblock = StoredSuperblock { bytes: u32_at(record, 32), checksum: u32_at(record, 36) };
    Some(StoredBlock { kept, has_pages: record[10] != 0, superblock })
}

/// Appends the record of a trim: the version of the last trim of a page.
pub fn put_trim(page: Lpn, version: u64, out: &mut Vec<u8>) {
    let version = version.to_le_bytes();
    out.extend_from_slice(&version);
    out.extend_from_slice(&checksum(page.get(), &version).to_le_bytes());
}

/// Reads a trim from its record: zero if there was none. None if it is damaged.
#[must_use]
pub fn trim_of(page: Lpn, record: &[u8]) -> Option<u64> {
    const NONE: [u8; TRIM_BYTES as usize] = [0; TRIM_BYTES as usize];
    let whole = u32_at(record, 8) == checksum(page.get(), &record[..8]);
    (whole || record == NONE).then(|| u64_at(record, 0))
}

/// A page as a number that is zero for none.
fn number_of(page: Option<Lpn>) -> u32 {
    page.map_or(0, |page| page.get() + 1)
}

fn owner_of(number: u32) -> Option<Lpn> {
    number.checked_sub(1).map(Lpn::new)
}

/// Reads a number of four bytes.
#[must_use]
pub fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let mut number = [0; 4];
    number.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(number)
}

/// Reads a number of eight bytes.
#[must_use]
pub fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let mut number = [0; 8];
    number.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(number)
}
