//! Blocks by plane and number of valid pages: a list for each number, and a bitmap of the lists
//! that are not empty. A block that loses a page moves to the end of the next lower list, so the
//! head of a list is the block that has had its number of valid pages for longest. Every operation
//! takes constant time, whatever the number of blocks.

use super::lists::Lists;
use crate::shape::Geometry;
use crate::units::{BlockId, PlaneId};

/// Blocks by number of valid pages.
#[derive(Clone, Debug)]
pub struct ByValid {
    /// By plane, then by number of valid pages.
    lists: Lists,
    /// By plane: a bit for each list that is not empty.
    occupied: Vec<u64>,
    lists_per_plane: usize,
    words_per_plane: usize,
}

impl ByValid {
    /// No blocks yet.
    pub fn new(geometry: &Geometry) -> ByValid {
        let lists_per_plane = geometry.units_per_block() as usize + 1;
        let words_per_plane = lists_per_plane.div_ceil(u64::BITS as usize);
        let planes = geometry.planes() as usize;
        ByValid {
            lists: Lists::new(planes * lists_per_plane, geometry.blocks()),
            occupied: vec![0; planes * words_per_plane],
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

    /// Adds a block with this many valid pages.
    #[inline]
    pub fn add(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        if self.lists.append(self.list(plane, valid), block) {
            let (word, bit) = self.occupied_bit(plane, valid);
            *word |= bit;
        }
    }

    /// Removes a block that was added or moved with this many valid pages.
    #[inline]
    pub fn remove(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        if self.lists.unlink(self.list(plane, valid), block) {
            let (word, bit) = self.occupied_bit(plane, valid);
            *word &= !bit;
        }
    }

    /// A block lost a page and has `valid` left.
    #[inline]
    pub fn lost_page(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        self.remove(plane, block, valid + 1);
        self.add(plane, block, valid);
    }

    /// The heads of the non-empty lists of a plane, with their numbers of valid pages, in rising
    /// order.
    pub fn heads(&self, plane: PlaneId) -> impl Iterator<Item = (u32, BlockId)> {
        let start = plane.at() * self.words_per_plane;
        let words = self.occupied[start..start + self.words_per_plane].iter();
        let bits = words.enumerate().flat_map(|(at, &word)| {
            let next = |&left: &u64| Some(left & (left - 1)).filter(|&left| left != 0);
            let words = std::iter::successors(Some(word).filter(|&word| word != 0), next);
            words.map(move |left| at as u32 * u64::BITS + left.trailing_zeros())
        });
        bits.filter_map(move |valid| Some((valid, self.lists.head(self.list(plane, valid))?)))
    }

    /// The blocks of a plane, list by list, each from its head.
    pub fn all(&self, plane: PlaneId) -> impl Iterator<Item = BlockId> {
        self.heads(plane).flat_map(move |(valid, _)| self.lists.all(self.list(plane, valid)))
    }

    /// The block with the fewest valid pages. Among equals, the one that has had so few for
    /// longest.
    #[inline]
    pub fn least(&self, plane: PlaneId) -> Option<(u32, BlockId)> {
        self.heads(plane).next()
    }
}
