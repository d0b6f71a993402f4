//! The groups of blocks: which stream belongs to which, how large they may grow, and whether they do as
//! predicted.
//!
//! The first stream is that of HOT. Group 1 has two, one for the host and one for what HOT leaves. Each group up
//! to the last has one more. The last group has a stream for each generation of copies: blocks have it once they are
//! closed. Generations are written to the streams of groups that are not in use, so they keep no blocks open besides.

use super::super::{StreamCounts, WriteStream};
use super::model::Plan;
use crate::ftl::streams::Copied;
use crate::image::{Damage, ImageReader, ImageWriter};

/// The stream of hot writes, and that of all others.
pub const HOT: WriteStream = WriteStream::new(0);
pub const FIRST: WriteStream = WriteStream::new(1);
/// Generations that the last group separates.
const GENERATIONS: u8 = 4;
/// Predictions are kept in this part of a valid page.
const PARTS: u32 = 1_000_000;
/// A group whose victims hold this much more than predicted, in parts, is irregular.
const TOLERATED: u64 = PARTS as u64 / 10;

/// The victims of a group since the last check.
#[derive(Clone, Copy, Debug, Default)]
struct Victims {
    victims: u32,
    valid: u64,
}

/// The groups.
#[derive(Clone, Debug)]
pub struct Groups {
    /// The largest number of groups, with HOT and the last one.
    most: u8,
    /// The last group.
    last: u8,
    by_generation: bool,
    /// By group before the last: its size, with the open block.
    sizes: Vec<u32>,
    /// By group but HOT: the share of valid pages in its victims, in parts.
    expected: Vec<u32>,
    /// By group.
    seen: Vec<Victims>,
    /// Whether all groups have been collected since they have their sizes.
    settled: bool,
}

/// Where a block belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Belongs {
    /// In a group that is collected in turn if it is larger than this number of closed blocks.
    Limited { group: u8, closed: u32 },
    /// In the last group, with what was copied there this number of times.
    Last { generation: u8 },
}

impl Groups {
    /// A last group that has everything.
    pub fn new(most: u8) -> Groups {
        let mut groups = Groups {
            most,
            last: 1,
            by_generation: true,
            sizes: Vec::new(),
            expected: Vec::new(),
            seen: Vec::new(),
            settled: false,
        };
        groups.merge(1);
        groups
    }

    pub const fn counts(most: u8) -> StreamCounts {
        StreamCounts {
            host: 2,
            copies: most - 2 + GENERATIONS,
            copied: Copied::ByGeneration,
            groups: 1,
        }
    }

    /// The most groups.
    pub fn most(&self) -> u8 {
        self.most
    }

    /// Whether groups have sizes.
    pub fn are_sized(&self) -> bool {
        self.last > 1
    }

    /// Whether the victim policy is not to choose among blocks of a stream. It chooses among those of the last group,
    /// which have streams of their own.
    pub fn keeps(&self, stream: WriteStream) -> bool {
        (stream.at() as u8) < self.most
    }

    /// The stream of a generation in the last group.
    pub fn of_last(&self, generation: u8) -> WriteStream {
        WriteStream::new(self.most + generation)
    }

    /// The generation of blocks of a stream that belong to the last group.
    fn generation_of(&self, stream: WriteStream) -> u8 {
        let of_last = (stream.at() as u8).checked_sub(self.most);
        let generation = of_last.unwrap_or(self.group_of(stream).saturating_sub(self.last));
        generation.min(GENERATIONS - 1)
    }

    /// The group of a stream.
    fn group_of(&self, stream: WriteStream) -> u8 {
        match stream.at() as u8 {
            all if all >= self.most => self.last,
            one if one <= FIRST.at() as u8 => one,
            copies => copies - 1,
        }
    }

    /// Where a block of a stream belongs.
    pub fn place(&self, stream: WriteStream) -> Belongs {
        let group = self.group_of(stream);
        match self.sizes.get(usize::from(group)) {
            Some(&size) => Belongs::Limited { group, closed: size.saturating_sub(1) },
            None => Belongs::Last { generation: self.generation_of(stream) },
        }
    }

    /// The stream of what is copied out of a block.
    pub fn next(&self, source: WriteStream) -> WriteStream {
        let group = self.group_of(source);
        let copies_to = |group: u8| WriteStream::new(group + 1);
        if group + 1 < self.last {
            return copies_to(group + 1);
        }
        let generation = match group < self.last {
            true => 0,
            false => (self.generation_of(source) + 1).min(GENERATIONS - 1),
        };
        let stands_in = (self.last + generation).min(self.most - 2);
        match self.by_generation && stands_in >= self.last {
            true => copies_to(stands_in),
            false => self.of_last(0),
        }
    }

    /// Gives the groups the sizes of a plan.
    pub fn arrange(&mut self, plan: &Plan) {
        self.last = plan.sizes.len() as u8 + 1;
        self.by_generation = false;
        self.sizes = std::iter::once(plan.hot.size).chain(plan.sizes.iter().copied()).collect();
        let parts = |&share: &f64| (share.clamp(0.0, 1.0) * f64::from(PARTS)) as u32;
        self.expected = plan.valid.iter().map(parts).collect();
        self.forget_seen();
        self.settled = false;
    }

    /// Merges a group and those behind it into the last group, which separates generations from now on.
    pub fn merge(&mut self, group: u8) {
        self.last = group;
        self.by_generation = true;
        self.sizes.truncate(if group > 1 { usize::from(group) } else { 0 });
        self.expected.truncate(self.sizes.len().saturating_sub(1));
        self.forget_seen();
    }

    fn forget_seen(&mut self) {
        self.seen = vec![Victims::default(); usize::from(self.last) + 1];
    }

    /// Records that a block of a stream is collected with this many valid pages. Returns whether all groups have
    /// been collected now for the first time.
    pub fn collects(&mut self, stream: WriteStream, valid: u32) -> bool {
        let group = self.group_of(stream).min(self.last);
        let seen = &mut self.seen[usize::from(group)];
        seen.victims = seen.victims.saturating_add(1);
        seen.valid += u64::from(valid);
        let settles = !self.settled && self.seen.iter().all(|seen| seen.victims > 0);
        if settles {
            self.settled = true;
            self.forget_seen();
        }
        settles
    }

    /// Whether the sizes have been in effect for long enough to check them.
    pub fn are_settled(&self) -> bool {
        self.settled && self.are_sized()
    }

    /// Compares what was seen with what was predicted. From the first group on whose victims hold many more valid pages,
    /// all are merged. `block` is the number of pages of a block.
    pub fn check(&mut self, block: u32) {
        let pages = |seen: &Victims| u64::from(seen.victims) * u64::from(block);
        let irregular = |&(seen, &expected): &(&Victims, &u32)| {
            let parts = seen.valid * u64::from(PARTS) / pages(seen).max(1);
            parts >= u64::from(expected) + TOLERATED
        };
        let found = self.seen[1..].iter().zip(&self.expected).position(|it| irregular(&it));
        self.forget_seen_or_merge(found);
    }

    fn forget_seen_or_merge(&mut self, found: Option<usize>) {
        match found {
            Some(at) => self.merge(at as u8 + 1),
            None => self.forget_seen(),
        }
    }

    pub fn save(&self, out: &mut ImageWriter) {
        let Groups { most: _, last, by_generation, sizes, expected, seen, settled } = self;
        out.number(*last);
        out.flag(*by_generation);
        out.flag(*settled);
        out.list(sizes.iter().copied());
        out.list(expected.iter().copied());
        for seen in seen {
            out.number(seen.victims);
            out.number(seen.valid);
        }
    }

    pub fn load(&mut self, from: &mut ImageReader<'_>) -> Result<(), Damage> {
        let last = from.below(self.most.into(), "the last group")?;
        self.last = last as u8;
        self.by_generation = from.flag("whether copies are separated by generation")?;
        self.settled = from.flag("whether groups are settled")?;
        self.sizes = from.list(u32::MAX, "the size of a group")?;
        self.expected = from.list(PARTS + 1, "a share of valid pages")?;
        let sized = if last > 1 { last as usize } else { 0 };
        let predicted = [sized.saturating_sub(1), sized];
        let fits = self.sizes.len() == sized && predicted.contains(&self.expected.len());
        if last == 0 || !fits || self.sizes.contains(&0) {
            return Err(Damage(format!("{last} groups have the sizes {:?}", self.sizes)));
        }
        self.forget_seen();
        for seen in &mut self.seen {
            seen.victims = from.below(1 << u32::BITS, "the number of victims")?;
            seen.valid = super::count(from, "the pages of victims")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::model::Hot;
    use super::*;

    fn plan(sizes: &[u32], valid: &[f64]) -> Plan {
        Plan { hot: Hot::UNUSED, sizes: sizes.to_vec(), valid: valid.to_vec(), amplification: 2.0 }
    }

    #[test]
    fn copies_go_down_the_chain_and_stay_in_the_last_group() {
        let mut groups = Groups::new(6);
        let all = |groups: &Groups| {
            (0..10).map(|at| groups.next(WriteStream::new(at)).at()).collect::<Vec<_>>()
        };
        assert_eq!(all(&groups), [2, 3, 3, 4, 5, 5, 3, 4, 5, 5], "generations");
        let generations = [0, 0, 0, 1, 2, 3].map(|generation| Belongs::Last { generation });
        let places: Vec<Belongs> = (0..6).map(|at| groups.place(WriteStream::new(at))).collect();
        assert_eq!(places, generations);
        groups.arrange(&plan(&[5, 7], &[0.5, 0.6, 0.8]));
        assert_eq!(all(&groups), [2, 3, 3, 6, 6, 6, 6, 6, 6, 6], "HOT, two groups, the last one");
        let place = |at: u8| groups.place(WriteStream::new(at));
        assert_eq!(place(0), Belongs::Limited { group: 0, closed: 0 });
        assert_eq!([place(1), place(2)], [Belongs::Limited { group: 1, closed: 4 }; 2]);
        assert_eq!(place(3), Belongs::Limited { group: 2, closed: 6 });
        assert_eq!([4, 5].map(place), [0, 1].map(|generation| Belongs::Last { generation }));
    }

    #[test]
    fn groups_merge_where_victims_hold_more_than_predicted() {
        let mut groups = Groups::new(6);
        groups.arrange(&plan(&[5, 7], &[0.5, 0.6, 0.8]));
        let collect = |groups: &mut Groups, stream: u8, valid| {
            groups.collects(WriteStream::new(stream), valid)
        };
        let settled = [0, 1, 3, 6].map(|stream| collect(&mut groups, stream, 100));
        assert_eq!(settled, [false, false, false, true], "what was seen before does not count");
        for (stream, valid) in [(1, 55), (3, 69), (6, 85)] {
            collect(&mut groups, stream, valid);
        }
        groups.check(100);
        assert_eq!(groups.last, 3, "less than a tenth more");
        for (stream, valid) in [(1, 10), (3, 71), (6, 85)] {
            collect(&mut groups, stream, valid);
        }
        groups.check(100);
        assert_eq!((groups.last, groups.by_generation), (2, true));
        assert_eq!((&groups.sizes[..], &groups.expected[..]), (&[1, 5][..], &[500_000][..]));
        collect(&mut groups, 2, 100);
        groups.check(100);
        assert_eq!((groups.last, groups.sizes.len()), (1, 0), "one group is left");
    }

    #[test]
    fn damaged_sizes_are_found() {
        let mut groups = Groups::new(6);
        groups.arrange(&plan(&[5, 7], &[0.5, 0.6, 0.8]));
        let load = |groups: &Groups, most| {
            let mut out = ImageWriter::default();
            groups.save(&mut out);
            let bytes = out.into_bytes();
            let mut loaded = Groups::new(most);
            loaded.load(&mut ImageReader::new(&bytes, false)).map(|()| loaded.sizes)
        };
        assert_eq!(load(&groups, 6), Ok(vec![1, 5, 7]));
        assert!(load(&groups, 3).is_err(), "more groups than there are");
        groups.sizes[1] = 0;
        assert!(load(&groups, 6).is_err(), "no size");
        groups.sizes.pop();
        assert!(load(&groups, 6).is_err(), "a size is missing");
    }
}
