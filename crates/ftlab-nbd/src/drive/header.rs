//! The header of a data file: whose data it is, how its server ended, and the facts as of the last fold of the log.
//!
//! It is written twice, one behind the other, with checksums. So a server that is killed meanwhile leaves one of them,
//! and if one is damaged later, the other is as new.

use std::io;

use ftlab::ftl::recovery::{JournalPages, KeptFacts};
use ftlab::ftl::wear::{EndReason, Losses};
use serde::{Deserialize, Serialize};

use super::file::DriveFile;
use super::layout::HEADER_SLOT;
use super::records::u32_at;

/// The first bytes of a data file.
pub const MAGIC: &[u8; 8] = b"ftlabdrv";
/// The version of the format.
pub const FORMAT: u32 = 4;
/// Bytes of a slot before its text: magic, length, checksum.
const PREAMBLE: usize = 16;

/// How the drive was left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// The file is being made.
    #[default]
    New,
    /// A server has it, or was killed.
    Running,
    /// It was shut down; its image is in the file.
    Saved,
}

/// What a drive counts over its whole life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LifeCounts {
    /// Bytes that the host wrote.
    pub host_written_bytes: u64,
    /// Bytes that the host read.
    pub host_read_bytes: u64,
    /// Bytes that were programmed on flash.
    pub media_written_bytes: u64,
    /// How often it was started.
    pub power_cycles: u64,
    /// How often power was cut, or its server killed.
    pub unsafe_shutdowns: u64,
    /// For how long it has been on, in simulated time.
    pub powered_on_ns: u64,
}

/// Facts of the device, as they are written. Their number is fixed, so that the header always fits into its slot: what
/// grows with the device or its age has a table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// The device's clock.
    pub now_ns: u64,
    next_version: u64,
    openings: u64,
    journal_pages: u32,
    index_pages: u32,
    trimmed: u64,
    end: Option<u8>,
    weak: Option<u64>,
    #[serde(default)]
    failed_programs: u64,
    #[serde(default)]
    failed_erases: u64,
    /// What the drive counts over its life.
    pub life: LifeCounts,
}

/// The latest time of a device that is believed: about 290 years.
const LATEST_NS: u64 = u64::MAX / 2;
/// More failed programs or erases are no history of a device.
const MOST_FAILURES: u64 = 1 << 31;
/// Reasons for the end of a device's life, by number.
const REASONS: [EndReason; 3] = [EndReason::TooFewBlocks, EndReason::NoRoom, EndReason::DiesDied];

impl Facts {
    /// The facts of a device at a moment.
    #[must_use]
    pub fn new(now_ns: u64, kept: &KeptFacts, life: LifeCounts) -> Facts {
        let end = kept.end.and_then(|end| REASONS.iter().position(|&reason| reason == end));
        Facts {
            now_ns,
            next_version: kept.next_version,
            openings: kept.openings,
            journal_pages: kept.journal_pages.trims,
            index_pages: kept.journal_pages.index,
            trimmed: kept.trimmed,
            end: end.map(|number| number as u8),
            weak: kept.weak,
            failed_programs: kept.failures.program_failures,
            failed_erases: kept.failures.erase_failures,
            life,
        }
    }

    /// The facts as the device knows them; none if they make no sense.
    #[must_use]
    pub fn kept(&self) -> Option<KeptFacts> {
        let end = self.end.map(|number| REASONS.get(usize::from(number)).copied());
        let failed = self.failed_programs.max(self.failed_erases);
        if end == Some(None) || self.now_ns > LATEST_NS || failed > MOST_FAILURES {
            return None;
        }
        Some(KeptFacts {
            next_version: self.next_version,
            openings: self.openings,
            journal_pages: JournalPages { trims: self.journal_pages, index: self.index_pages },
            trimmed: self.trimmed,
            end: end.flatten(),
            weak: self.weak,
            failures: Losses {
                program_failures: self.failed_programs,
                erase_failures: self.failed_erases,
                ..Losses::default()
            },
        })
    }
}

/// What the headers of all formats have.
#[derive(Deserialize)]
struct Version {
    format: u32,
    generation: u64,
}

/// The header.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The version of the format.
    pub format: u32,
    /// Counts the headers written; the newer slot counts.
    pub generation: u64,
    /// How the drive was left.
    pub state: State,
    /// The seed of the device.
    pub seed: u64,
    /// Bytes of the configuration.
    pub config_bytes: u32,
    /// Its checksum.
    pub config_checksum: u32,
    /// Bytes of the image, if the drive was shut down.
    pub image_bytes: u64,
    /// Its checksum.
    pub image_checksum: u32,
    /// The commits of this number in the log count.
    pub epoch: u64,
    /// What their checksums begin with. Data of the host, which the log has had before, can't look like a commit.
    pub log_secret: u64,
    /// Whether the device keeps what it needs to recover.
    pub recovers: bool,
    /// The facts as of the beginning of the log.
    pub facts: Facts,
}

impl Header {
    /// Writes the header to both slots.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn write(&mut self, file: &DriveFile) -> io::Result<()> {
        self.generation += 1;
        let text = serde_json::to_vec(self)?;
        if text.len() + PREAMBLE > HEADER_SLOT as usize {
            return Err(io::Error::other("the header of the data file is too long"));
        }
        let mut slot = Vec::with_capacity(PREAMBLE + text.len());
        slot.extend_from_slice(MAGIC);
        slot.extend_from_slice(&(text.len() as u32).to_le_bytes());
        slot.extend_from_slice(&crc32fast::hash(&text).to_le_bytes());
        slot.extend_from_slice(&text);
        file.write_at(&slot, 0)?;
        file.write_at(&slot, HEADER_SLOT)
    }

    /// Reads the newer header. None if the file is no data file.
    ///
    /// # Errors
    /// The file can't be read.
    pub fn read(file: &DriveFile) -> io::Result<Option<Header>> {
        let slots = [read_slot(file, 0)?, read_slot(file, HEADER_SLOT)?];
        Ok(slots.into_iter().flatten().max_by_key(|header| header.generation))
    }

    /// Whether a file without a header is a new one: empty, or its server was killed while writing the first header.
    ///
    /// # Errors
    /// The file can't be read.
    pub fn is_missing(file: &DriveFile) -> io::Result<bool> {
        let length = file.length()?;
        let mut begin = [0; PREAMBLE];
        file.read_sparse(&mut begin, 0)?;
        let whole = (PREAMBLE + u32_at(&begin, 8) as usize) as u64;
        Ok(length == 0 || length < whole && begin.starts_with(MAGIC))
    }
}

fn read_slot(file: &DriveFile, at: u64) -> io::Result<Option<Header>> {
    let mut slot = vec![0; HEADER_SLOT as usize];
    // A file that was only begun ends within a slot.
    file.read_sparse(&mut slot, at)?;
    if &slot[..MAGIC.len()] != MAGIC {
        return Ok(None);
    }
    let (length, checksum) = (u32_at(&slot, 8) as usize, u32_at(&slot, 12));
    let text = slot.get(PREAMBLE..PREAMBLE.saturating_add(length)).unwrap_or_default();
    if crc32fast::hash(text) != checksum {
        return Ok(None);
    }
    let Ok(Version { format, generation }) = serde_json::from_slice(text) else { return Ok(None) };
    Ok(match format {
        FORMAT => serde_json::from_slice(text).ok(),
        // Nothing else of it is understood.
        format => Some(Header { format, generation, ..Header::default() }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However old and large a drive is, its header fits into a slot.
    #[test]
    fn every_header_fits() {
        let (small, large) = (u32::MAX, u64::MAX);
        let life = LifeCounts {
            host_written_bytes: large,
            host_read_bytes: large,
            media_written_bytes: large,
            power_cycles: large,
            unsafe_shutdowns: large,
            powered_on_ns: large,
        };
        let facts = Facts {
            now_ns: large,
            next_version: large,
            openings: large,
            journal_pages: small,
            index_pages: small,
            trimmed: large,
            end: Some(u8::MAX),
            weak: Some(large),
            failed_programs: large,
            failed_erases: large,
            life,
        };
        let mut header = Header {
            format: small,
            generation: large - 1,
            state: State::Running,
            seed: large,
            config_bytes: small,
            config_checksum: small,
            image_bytes: large,
            image_checksum: small,
            epoch: large,
            log_secret: large,
            recovers: false,
            facts,
        };
        let file = DriveFile::new(tempfile::tempfile().unwrap());
        header.write(&file).unwrap();
        assert_eq!(Header::read(&file).unwrap().map(|it| it.format), Some(small));
    }
}
