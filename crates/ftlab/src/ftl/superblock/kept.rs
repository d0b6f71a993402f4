//! What is kept of each superblock outside of the device, for a front end that stores it: which of its blocks are bad, and
//! what is known of its stripes. It has a bound for each superblock, so a file has a place for each, and only those
//! that change are written.

use crate::ftl::{BlockState, Features};
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::shape::FlashGeometry;
use crate::units::BlockId;

/// The most bytes of a number of 32 bits in an image, and of one of 64 bits.
const SMALL: u64 = 5;
const LARGE: u64 = 10;

/// The most bytes that are kept of a superblock; zero without superblocks.
#[must_use]
pub fn most_bytes(flash: &FlashGeometry) -> u64 {
    let Some(span) = flash.superblocks() else { return 0 };
    let list = SMALL + u64::from(span.blocks()) * SMALL;
    if !span.has_parity {
        return 2 * list;
    }
    let stripes = u64::from(flash.shape().pages_per_block) * u64::from(span.planes);
    let running = SMALL + stripes * (SMALL + LARGE + 1);
    let missing = SMALL + stripes * u64::from(span.dies) * (SMALL + SMALL + 1);
    let narrow = 1 + SMALL + SMALL + stripes * (SMALL + LARGE);
    2 * list + running + missing + narrow
}

/// What is kept of a superblock; empty if nothing is known that its block does not say.
pub(in crate::ftl) fn save(block: BlockId, features: &Features) -> Vec<u8> {
    let mut out = ImageWriter::default();
    if knows(block, features) {
        features.members().into_iter().for_each(|members| members.save_of(block, &mut out));
        features.stripes.iter().for_each(|stripes| stripes.save_of(block, &mut out));
    }
    let bytes = out.into_bytes();
    let most = features.members().map_or(0, |members| most_bytes(members.flash()));
    debug_assert!(bytes.len() as u64 <= most, "a file has no more room for {block:?}");
    bytes
}

/// Whether anything is known of a superblock.
pub(in crate::ftl) fn knows(block: BlockId, features: &Features) -> bool {
    features.members().is_some_and(|members| members.knows(block))
        || features.stripes.as_ref().is_some_and(|stripes| stripes.knows(block))
}

/// Loads what was kept of a superblock in this state.
///
/// # Errors
/// It is damaged, or of another device.
pub(in crate::ftl) fn load(
    (block, state): (BlockId, BlockState),
    bytes: &[u8],
    features: &mut Features,
) -> Result<(), Damage> {
    if bytes.is_empty() {
        return Ok(());
    }
    let mut from = ImageReader::new(bytes, false);
    if let Some(known) = &mut features.superblock {
        known.members.load_of(block, &mut from)?;
    }
    if let Some(stripes) = &mut features.stripes {
        stripes.load_of((block, state), &mut from)?;
    }
    from.end()
}
