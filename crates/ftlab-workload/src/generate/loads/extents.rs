//! The space of files: a first-fit allocator of extents. A file takes the first hole that holds it
//! whole, or the first holes if none does, so it may have several extents.

use std::collections::BTreeMap;

/// A run of consecutive sectors: start and length.
pub(super) type Stretch = (u64, u64);

/// The extents of a file, in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Extents(pub Vec<Stretch>);

impl Extents {
    /// Returns the places of `sectors` sectors from `offset` of the file.
    pub fn part(&self, offset: u64, sectors: u64) -> impl Iterator<Item = Stretch> + '_ {
        let end = offset + sectors;
        let mut at = 0;
        self.0.iter().filter_map(move |&(start, length)| {
            let (begin, stop) = (offset.max(at), end.min(at + length));
            let place = (begin < stop).then(|| (start + (begin - at), stop - begin));
            at += length;
            place
        })
    }

    pub fn sectors(&self) -> u64 {
        self.0.iter().map(|run| run.1).sum()
    }
}

/// The free space: holes by their start, none adjacent to another.
#[derive(Clone, Debug)]
pub(super) struct Space {
    holes: BTreeMap<u64, u64>,
    free: u64,
}

impl Space {
    /// Creates the space of `sectors` sectors from `start`, all of it free.
    pub fn new(start: u64, sectors: u64) -> Space {
        Space { holes: BTreeMap::from([(start, sectors)]), free: sectors }
    }

    /// Takes space for a file; `None` if not enough is free.
    pub fn take(&mut self, sectors: u64) -> Option<Extents> {
        if sectors > self.free {
            return None;
        }
        self.free -= sectors;
        let whole = self.holes.iter().find(|hole| *hole.1 >= sectors).map(|hole| *hole.0);
        let (mut runs, mut left) = (Vec::with_capacity(1), sectors);
        while left > 0 {
            let hole = whole.or_else(|| self.holes.keys().next().copied());
            let start = hole.expect("holes hold what is free");
            let length = self.holes.remove(&start).expect("a hole");
            let taken = length.min(left);
            if taken < length {
                self.holes.insert(start + taken, length - taken);
            }
            runs.push((start, taken));
            left -= taken;
        }
        Some(Extents(runs))
    }

    /// Frees the space of a file.
    pub fn give_back(&mut self, extents: &Extents) {
        for &(mut start, length) in &extents.0 {
            self.free += length;
            let mut end = start + length;
            if let Some(after) = self.holes.remove(&end) {
                end += after;
            }
            if let Some((&before, &own)) = self.holes.range(..start).next_back()
                && before + own == start
            {
                start = before;
            }
            self.holes.insert(start, end - start);
        }
    }

    #[cfg(test)]
    pub fn free(&self) -> u64 {
        self.free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_takes_the_first_hole_that_holds_it() {
        let mut space = Space::new(100, 100);
        let files: Vec<_> = [10, 30, 10, 50].map(|size| space.take(size).unwrap()).into();
        assert_eq!(files[3], Extents(vec![(150, 50)]));
        space.give_back(&files[0]);
        space.give_back(&files[2]);
        assert_eq!(space.take(11), Some(Extents(vec![(100, 10), (140, 1)])), "no hole of eleven");
        assert_eq!(space.take(9), Some(Extents(vec![(141, 9)])));
        assert_eq!(space.take(1), None);
        space.give_back(&files[3]);
        space.give_back(&files[1]);
        assert_eq!((space.holes.len(), space.free()), (2, 80));
        assert_eq!(space.take(31), Some(Extents(vec![(150, 31)])));
    }

    #[test]
    fn holes_grow_together_and_parts_are_found() {
        let mut space = Space::new(0, 30);
        let files: Vec<_> = [10, 10, 10].map(|size| space.take(size).unwrap()).into();
        for file in [&files[0], &files[2], &files[1]] {
            space.give_back(file);
        }
        assert_eq!(space.holes, BTreeMap::from([(0, 30)]));
        let file = Extents(vec![(100, 10), (300, 10)]);
        let part = |offset, sectors| file.part(offset, sectors).collect::<Vec<_>>();
        assert_eq!(part(8, 4), [(108, 2), (300, 2)]);
        assert_eq!(part(12, 4), [(302, 4)]);
        assert_eq!(part(0, file.sectors()), file.0);
    }
}
