//! The bytes of an image: a preamble, then sections, each with its name, its length and a checksum.
//!
//! ```text
//! preamble   "FTLABIMG", the number of the format (4 bytes)
//! section    name (length, bytes), content (8 bytes of length), BLAKE3 of name and content, content
//! ```
//!
//! Numbers are little-endian. The sections are `ftlab` (the version that wrote it), `config` (canonical
//! TOML), `seed`, `story` (JSON: the history of the device), the parts of the [`Snapshot`], and `chunks`: the list of its
//! [chunks](Chunks), empty if it has none. Code that writes files may compress everything after the preamble, and keeps the
//! chunks themselves.

use std::fmt;

use crate::config::{Config, ConfigError, Layer};
use crate::image::{Chunks, Damage, ImagePart, ImageReader, ImageWriter, MAP_WORDS, Snapshot};

/// The first bytes of a file.
pub const MAGIC: &[u8; 8] = b"FTLABIMG";
/// The number of the format. It increases with every change of the content of the parts.
pub const FORMAT: u32 = 9;
/// Bytes of the preamble.
pub const PREAMBLE: usize = MAGIC.len() + size_of::<u32>();
/// Bytes of a checksum.
const CHECKSUM: usize = blake3::OUT_LEN;
/// The section after the parts.
const CHUNKS: &str = "chunks";
/// The sections before the parts, in order.
const TEXTS: [&str; 4] = ["ftlab", "config", "seed", "story"];

/// A saved device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// The version of ftlab that wrote it.
    pub ftlab_version: String,
    /// The configuration of the device, as printed by [`Config::canonical`].
    pub config: String,
    /// The seed of the run that made it.
    pub seed: u64,
    /// The history of the device as JSON. Nothing here interprets it.
    pub story: String,
    /// The state.
    pub snapshot: Snapshot,
}

/// Why bytes cannot be used as an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// They do not start like an image.
    NotAnImage,
    /// The number of the format has another byte order.
    OtherByteOrder,
    /// The number of the format is another one.
    OtherFormat(u32),
    /// They end too early, have invalid content, or do not match their checksum.
    Damaged(Damage),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::NotAnImage => f.write_str(
                "this is not an image of a device\n  remedy: make one with ftlab device save",
            ),
            Refusal::OtherByteOrder => f.write_str(
                "this image has another byte order, which no version of ftlab writes: it \
                 was damaged on its way\n  remedy: fetch or make it again",
            ),
            Refusal::OtherFormat(format) => write!(
                f,
                "this image has format {format}, and this version of ftlab ({}) reads format \
                 {FORMAT}\n  remedy: make it again with ftlab device save; ftlab device show FILE of \
                 the version that wrote it says how it was made",
                env!("CARGO_PKG_VERSION")
            ),
            Refusal::Damaged(damage) => {
                write!(f, "this image is damaged: {damage}\n  remedy: fetch or make it again")
            }
        }
    }
}

impl std::error::Error for Refusal {}

impl From<Damage> for Refusal {
    fn from(damage: Damage) -> Refusal {
        Refusal::Damaged(damage)
    }
}

/// Returns the preamble of a file.
#[must_use]
pub fn preamble() -> [u8; PREAMBLE] {
    let mut bytes = [0; PREAMBLE];
    bytes[..MAGIC.len()].copy_from_slice(MAGIC);
    bytes[MAGIC.len()..].copy_from_slice(&FORMAT.to_le_bytes());
    bytes
}

/// Checks the preamble of a file.
///
/// # Errors
/// It is not a preamble, or has another format.
pub fn check_preamble(bytes: &[u8]) -> Result<(), Refusal> {
    let format = bytes.strip_prefix(MAGIC).and_then(|rest| rest.first_chunk());
    let Some(&format) = format else {
        let cut = !bytes.is_empty() && MAGIC.starts_with(&bytes[..bytes.len().min(MAGIC.len())]);
        return Err(match cut || bytes.starts_with(MAGIC) {
            true => Damage::new("it ends within the preamble").into(),
            false => Refusal::NotAnImage,
        });
    };
    match u32::from_le_bytes(format) {
        FORMAT => Ok(()),
        _ if u32::from_be_bytes(format) == FORMAT => Err(Refusal::OtherByteOrder),
        other => Err(Refusal::OtherFormat(other)),
    }
}

impl Image {
    /// Returns the sections that follow the [`preamble`]. Chunks are only listed there, with their digests.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let Image { ftlab_version, config, seed, story, snapshot } = self;
        let seed = seed.to_le_bytes();
        let texts = [ftlab_version.as_bytes(), config.as_bytes(), &seed, story.as_bytes()];
        let parts = ImagePart::ALL.map(|part| (part.name(), snapshot.part(part)));
        let mut list = ImageWriter::default();
        snapshot.chunks.iter().for_each(|chunks| chunks.save(&mut list));
        let list = list.into_bytes();
        let mut out = Vec::new();
        let chunks = [(CHUNKS, &*list)];
        for (name, content) in TEXTS.into_iter().zip(texts).chain(parts).chain(chunks) {
            out.push(name.len() as u8);
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(&(content.len() as u64).to_le_bytes());
            out.extend_from_slice(&checksum(name, content));
            out.extend_from_slice(content);
        }
        out
    }

    /// Reads the sections that follow the [`preamble`]. Chunks still need a [source](Chunks::come_from).
    ///
    /// # Errors
    /// The first problem with them. Whether the state is consistent is checked when a device loads it.
    pub fn decode(bytes: &[u8]) -> Result<Image, Refusal> {
        let mut left = bytes;
        let [version, config, seed, story] = TEXTS.map(|name| section(&mut left, name));
        let text = |name: &str, content: &[u8]| {
            String::from_utf8(content.to_vec())
                .map_err(|_| Damage(format!("section {name} is not a text")))
        };
        // Report the first damaged section: later ones are out of place.
        let (ftlab_version, config, seed, story) = (version?, config?, seed?, story?);
        let seed = seed.try_into().map_err(|_| Damage::new("section seed is not a number"))?;
        let mut snapshot = Snapshot::default();
        for part in ImagePart::ALL {
            snapshot.put(part, section(&mut left, part.name())?.to_vec());
        }
        let list = section(&mut left, CHUNKS)?;
        if !list.is_empty() {
            snapshot.chunks = Some(Chunks::load(&mut ImageReader::new(list, true))?);
        }
        if !left.is_empty() {
            return Err(Damage(format!("{} bytes follow its last section", left.len())).into());
        }
        Ok(Image {
            ftlab_version: text("ftlab", ftlab_version)?,
            config: text("config", config)?,
            seed: u64::from_le_bytes(seed),
            story: text("story", story)?,
            snapshot,
        })
    }

    /// The configuration of the device that was saved. Messages call it `label`.
    ///
    /// # Errors
    /// This version of ftlab does not accept it.
    pub fn config(&self, label: &str) -> Result<Config, ConfigError> {
        Config::load(&[Layer::saved(label, &self.config)])
    }
}

/// Returns the maximum size of the sections of an image, given at least the first [`LONGEST_TEXTS`]
/// bytes of them. Code that decompresses a file stops there.
///
/// # Errors
/// The sections do not start correctly, or their configuration is not valid.
pub fn most_bytes(sections: &[u8]) -> Result<u64, Refusal> {
    let mut left = sections;
    let [version, config, ..] = TEXTS.map(|name| section(&mut left, name));
    let (_, config) = (version?, config?);
    let config = String::from_utf8_lossy(config).into_owned();
    let config = Config::load(&[Layer::saved("image", &config)])
        .map_err(|error| Damage(format!("its configuration is refused:\n{error}")))?;
    let geometry = config.flash();
    let pages = u64::from(geometry.physical_pages()) * MOST_PER_PAGE;
    Ok(LONGEST_TEXTS + pages + u64::from(geometry.blocks()) * MOST_PER_BLOCK)
}

/// Returns the length of the longest chunk that an image of this device can have.
#[must_use]
pub fn longest_chunk(config: &Config) -> usize {
    // The owners of a superblock are a chunk.
    let words = config.flash().volume().units_per_block().max(MAP_WORDS);
    words as usize * size_of::<u32>()
}

/// Maximum total size of the texts of an image.
pub const LONGEST_TEXTS: u64 = 4 << 20;
/// An owner, a mask of sectors with its place, a valid bit.
const MOST_PER_PAGE: u64 = 32;
/// A record, and places in lists and policies.
const MOST_PER_BLOCK: u64 = 256;

fn checksum(name: &str, content: &[u8]) -> [u8; CHECKSUM] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(name.as_bytes());
    hasher.update(content);
    *hasher.finalize().as_bytes()
}

/// Takes the next section, which must be called `name`, from the bytes.
fn section<'a>(left: &mut &'a [u8], name: &str) -> Result<&'a [u8], Damage> {
    let cut = || Damage(format!("it ends before or within section {name}"));
    let mut take = |length: usize| {
        let (taken, rest) = left.split_at_checked(length).ok_or_else(cut)?;
        *left = rest;
        Ok(taken)
    };
    let named = take(1)?[0];
    if take(usize::from(named))? != name.as_bytes() {
        return Err(Damage(format!("it has another section instead of {name}")));
    }
    let mut length = [0; size_of::<u64>()];
    length.copy_from_slice(take(size_of::<u64>())?);
    let sum = take(CHECKSUM)?;
    let length = usize::try_from(u64::from_le_bytes(length)).map_err(|_| cut())?;
    let content = take(length)?;
    match sum == checksum(name, content) {
        true => Ok(content),
        false => Err(Damage(format!("section {name} does not match its checksum"))),
    }
}
