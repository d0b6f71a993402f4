//! The files of a file system: their sizes. Sizes are lognormal (Douceur and Bolosky, "A Large-Scale Study of File-System
//! Contents", SIGMETRICS 1999; the same median five years later in Agrawal et al., FAST 2007), in powers of two and even between
//! them, without any above 16 MiB.

use ftlab::engine::Stream;
use ftlab::units::{Bytes, Ratio, SECTOR_BYTES};

use crate::generate::address::Misfit;
use crate::generate::weighted::Weighted;
use crate::generate::workload::Phase;

/// About the most lasting files, which take 40 bytes and more each.
const MOST_FILES: u64 = 1 << 24;
/// The files per thousand with at most 4 KiB, 8 KiB and so on: lognormal, with a mean of 12.2 and a deviation of 3.43 of the
/// logarithm to base two of bytes.
pub(super) const SIZES: [u64; 13] = [477, 115, 108, 93, 73, 53, 35, 22, 12, 6, 3, 1, 1];
pub(super) const SMALLEST: Bytes = Bytes(4096);

/// Draws sizes of files.
#[derive(Clone, Debug)]
pub(super) struct FileSizes {
    block: u64,
    largest: u64,
    sizes: Weighted,
}

impl FileSizes {
    /// Sizes are whole blocks and at most `largest`; both in sectors.
    pub fn new(block: u64, largest: u64) -> FileSizes {
        FileSizes { block, largest, sizes: Weighted::new(&SIZES) }
    }

    /// Returns the sectors of the next file.
    pub fn draw(&self, stream: &mut Stream) -> u64 {
        let (above, most) = range(self.sizes.draw(stream));
        let sectors = above + 1 + stream.below(most - above);
        sectors.next_multiple_of(self.block).min(self.largest)
    }
}

/// The sectors of a file of each entry of `SIZES`, from more than the first number to the second.
fn range(entry: usize) -> (u64, u64) {
    let most = SMALLEST.sectors() << entry;
    (if entry == 0 { 0 } else { most / 2 }, most)
}

/// About the mean size of files, in sectors.
pub(super) fn mean_size(largest: u64) -> u64 {
    let middle = |(entry, files): (usize, &u64)| {
        let (above, most) = range(entry);
        files * largest.min(above.midpoint(most))
    };
    SIZES.iter().enumerate().map(middle).sum::<u64>() / SIZES.iter().sum::<u64>()
}

/// Returns sectors in bytes, for messages.
pub(super) fn bytes(sectors: u64) -> Bytes {
    Bytes(sectors.saturating_mul(SECTOR_BYTES))
}

/// Returns what is wrong with the shares of a phase whose writes are new files.
pub(super) fn share_problem(temporary: Ratio, phase: &Phase) -> Option<Misfit> {
    if temporary > Ratio::ONE {
        let message = format!("a share of {temporary} is more than all");
        return Some(("load.temporary", message, "choose a share from 0% to 100%".to_owned()));
    }
    let message = "a file system without new files".to_owned();
    let remedy = "write a share of writes: each is a new file".to_owned();
    (phase.mix.writes.ppm == 0).then_some(("writes", message, remedy))
}

/// Returns what is wrong with files of up to `largest` in the space of temporary files and of the others, all in sectors.
pub(super) fn size_problem(block: u64, largest: u64, most: [u64; 2]) -> Option<Misfit> {
    if largest == 0 || most.iter().any(|&most| most < largest) {
        let [temporary, lasting] = most.map(bytes);
        let message = format!(
            "files of up to {} in {temporary} for temporary ones and {lasting} for others",
            bytes(largest)
        );
        let remedy = format!(
            "choose a `largest_file` of at least {}, and no more than either space",
            bytes(block)
        );
        return Some(("load.largest_file", message, remedy));
    }
    let message = format!("more than {MOST_FILES} files");
    let remedy = "choose less data or larger files".to_owned();
    (most[1] / mean_size(largest) > MOST_FILES).then_some(("load.data", message, remedy))
}
