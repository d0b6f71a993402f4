//! Greedy: the block with the fewest valid pages, the longest among them first.
//!
//! Candidates hang in lists by their number of valid pages, one set of lists a plane, with a bitmap
//! of lists that are not empty. Losing a page moves a block to the next lower list; choosing takes
//! the head of the lowest one. Both take constant time, whatever the number of blocks.
//!
//! Source: Rosenblum and Ousterhout, "The Design and Implementation of a Log-Structured File System",
//! SOSP 1991 (greedy); the lists are the usual firmware technique.

use crate::image::keeps_nothing;
use crate::nand::Geometry;
use crate::policy::{NoOptions, Parts, Policy};
use crate::units::{BlockId, PlaneId};

/// The two neighbours of a candidate in its list, or the two ends of a list, as raw block numbers.
/// Zero is "none", so tables of them take memory only where they were touched.
type Pair = [u32; 2];
/// The neighbour towards the head; of a list, its head.
const HEADWARD: usize = 0;
/// The neighbour towards the tail; of a list, its tail.
const TAILWARD: usize = 1;

/// Candidates by number of valid pages.
#[derive(Clone, Debug)]
pub struct Greedy {
    links: Vec<Pair>,
    /// By plane, then by number of valid pages.
    lists: Vec<Pair>,
    /// By plane: a bit for each list that is not empty.
    occupied: Vec<u64>,
    /// With more valid pages than this, collecting a block would not free one flash page.
    most_valid: u32,
    lists_per_plane: usize,
    words_per_plane: usize,
}

impl Policy for Greedy {
    const NAME: &'static str = "greedy";
    const SUMMARY: &'static str = "the block with the fewest valid pages";
    const SOURCE: &'static str = "Rosenblum and Ousterhout, SOSP 1991";
    type Options = NoOptions;

    fn build(_options: &Self::Options, parts: &Parts<'_>) -> Self {
        Greedy::new(parts.geometry)
    }

    keeps_nothing!(Greedy { links, lists, occupied, most_valid, lists_per_plane, words_per_plane });
}

impl Greedy {
    /// No candidates yet.
    #[must_use]
    pub fn new(geometry: &Geometry) -> Greedy {
        let lists_per_plane = geometry.units_per_block() as usize + 1;
        let words_per_plane = lists_per_plane.div_ceil(u64::BITS as usize);
        let planes = geometry.planes() as usize;
        Greedy {
            links: vec![Pair::default(); geometry.blocks() as usize],
            lists: vec![Pair::default(); planes * lists_per_plane],
            occupied: vec![0; planes * words_per_plane],
            most_valid: geometry.units_per_block() - geometry.units_per_page(),
            lists_per_plane,
            words_per_plane,
        }
    }

    fn list(&self, plane: PlaneId, valid: u32) -> usize {
        plane.at() * self.lists_per_plane + valid as usize
    }

    fn occupied_bit(&mut self, plane: PlaneId, valid: u32) -> (&mut u64, u64) {
        let word = plane.at() * self.words_per_plane + (valid / u64::BITS) as usize;
        (&mut self.occupied[word], 1 << (valid % u64::BITS))
    }

    fn append(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        let list = self.list(plane, valid);
        let raw = block.to_raw();
        let last = std::mem::replace(&mut self.lists[list][TAILWARD], raw);
        self.links[block.at()] = [last, 0];
        match BlockId::from_raw(last) {
            Some(last) => self.links[last.at()][TAILWARD] = raw,
            None => {
                self.lists[list][HEADWARD] = raw;
                let (word, bit) = self.occupied_bit(plane, valid);
                *word |= bit;
            }
        }
    }

    fn unlink(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        let list = self.list(plane, valid);
        let [previous, next] = self.links[block.at()];
        match BlockId::from_raw(next) {
            Some(next) => self.links[next.at()][HEADWARD] = previous,
            None => self.lists[list][TAILWARD] = previous,
        }
        match BlockId::from_raw(previous) {
            Some(previous) => self.links[previous.at()][TAILWARD] = next,
            None => self.lists[list][HEADWARD] = next,
        }
        if self.lists[list][HEADWARD] == 0 {
            let (word, bit) = self.occupied_bit(plane, valid);
            *word &= !bit;
        }
    }

    pub(super) fn closed(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        self.append(plane, block, valid);
    }

    #[inline]
    pub(super) fn lost_page(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        self.unlink(plane, block, valid + 1);
        self.append(plane, block, valid);
    }

    pub(super) fn withdrawn(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        self.unlink(plane, block, valid);
    }

    /// List by list, each from its head.
    pub(super) fn candidates(&self, plane: PlaneId) -> Vec<BlockId> {
        let mut found = Vec::new();
        for valid in 0..self.lists_per_plane {
            let mut next = self.lists[self.list(plane, valid as u32)][HEADWARD];
            while let Some(block) = BlockId::from_raw(next) {
                found.push(block);
                next = self.links[block.at()][TAILWARD];
            }
        }
        found
    }

    pub(super) fn choose(&mut self, plane: PlaneId) -> Option<BlockId> {
        let start = plane.at() * self.words_per_plane;
        let words = &self.occupied[start..start + self.words_per_plane];
        let at = words.iter().position(|&word| word != 0)?;
        let valid = at as u32 * u64::BITS + words[at].trailing_zeros();
        if valid > self.most_valid {
            return None;
        }
        let block = BlockId::from_raw(self.lists[self.list(plane, valid)][HEADWARD])?;
        self.unlink(plane, block, valid);
        Some(block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nand::Shape;
    use crate::units::Bytes;

    fn geometry() -> Geometry {
        Geometry::new(Shape {
            channels: 1,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 2,
            blocks_per_plane: 16,
            pages_per_block: 70,
            page_size: Bytes::from_kib(4),
            mapping_unit: Bytes::from_kib(4),
        })
    }

    proptest::proptest! {
        /// Against a list that is searched from end to end.
        #[test]
        fn it_chooses_the_longest_closed_of_the_emptiest(
            steps in proptest::collection::vec((0u32..5, 0u32..32), 1..600)
        ) {
            let geometry = geometry();
            let mut greedy = Greedy::new(&geometry);
            // In the order in which they came to their present number of valid pages.
            let mut naive: Vec<(BlockId, u32)> = Vec::new();
            for (step, number) in steps {
                let block = BlockId::new(number);
                let plane = geometry.plane_of(block);
                let known = naive.iter().position(|&(b, _)| b == block);
                match (step, known) {
                    (0, None) => {
                        greedy.closed(plane, block, 70);
                        naive.push((block, 70));
                    }
                    (1 | 2, Some(at)) if naive[at].1 > 0 => {
                        let (_, valid) = naive.remove(at);
                        greedy.lost_page(plane, block, valid - 1);
                        naive.push((block, valid - 1));
                    }
                    (4, Some(at)) => {
                        let (_, valid) = naive.remove(at);
                        greedy.withdrawn(plane, block, valid);
                    }
                    (3, _) => {
                        let expected = naive
                            .iter()
                            .filter(|&&(b, valid)| geometry.plane_of(b) == plane && valid < 70)
                            .min_by_key(|&&(_, valid)| valid)
                            .map(|&(b, _)| b);
                        naive.retain(|&(b, _)| Some(b) != expected);
                        proptest::prop_assert_eq!(greedy.choose(plane), expected);
                    }
                    _ => {}
                }
            }
        }
    }
}
