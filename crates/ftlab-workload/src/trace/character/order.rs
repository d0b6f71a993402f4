//! The order in which pages were last used: how many pages came after one.
//!
//! Every use takes the next place. Places are bits, and a tree of sums over their words (P. Fenwick,
//! "A New Data Structure for Cumulative Frequency Tables", Software: Practice and Experience 24(3),
//! 1994) counts those behind one. When the places run out, the owner closes the gaps.

/// Places in a word.
const WORD: u32 = u64::BITS;

/// Places in use.
#[derive(Clone, Debug)]
pub(super) struct UseOrder {
    words: Vec<u64>,
    /// Sums of bits, numbered from one as the tree wants it.
    sums: Vec<u32>,
    next: u32,
    used: u32,
}

impl UseOrder {
    /// Makes an order of this many places, a multiple of 64.
    pub fn new(places: usize) -> UseOrder {
        let words = places / WORD as usize;
        UseOrder { words: vec![0; words], sums: vec![0; words + 1], next: 0, used: 0 }
    }

    pub fn is_full(&self) -> bool {
        self.next as usize == self.words.len() * WORD as usize
    }

    /// Frees all places.
    pub fn clear(&mut self) {
        self.words.fill(0);
        self.sums.fill(0);
        (self.next, self.used) = (0, 0);
    }

    /// Takes the next place.
    pub fn take(&mut self) -> u32 {
        let place = self.next;
        self.next += 1;
        self.used += 1;
        self.words[(place / WORD) as usize] |= 1 << (place % WORD);
        self.change(place, |sum| sum + 1);
        place
    }

    /// Frees a place, and returns how many taken ones lie behind it.
    pub fn free(&mut self, place: u32) -> u32 {
        let (word, bit) = ((place / WORD) as usize, place % WORD);
        let upto = self.words[word] & (u64::MAX >> (WORD - 1 - bit));
        let mut before = upto.count_ones();
        let mut node = word;
        while node > 0 {
            before += self.sums[node];
            node &= node - 1;
        }
        let behind = self.used - before;
        self.words[word] &= !(1 << bit);
        self.change(place, |sum| sum - 1);
        self.used -= 1;
        behind
    }

    fn change(&mut self, place: u32, by: impl Fn(u32) -> u32) {
        let mut node = (place / WORD) as usize + 1;
        while node < self.sums.len() {
            self.sums[node] = by(self.sums[node]);
            node += node & node.wrapping_neg();
        }
    }
}
