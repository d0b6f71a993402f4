//! The main area of a log-structured file system: what each block holds, and the segments that its logs take one after the other.

use std::collections::VecDeque;

use super::logs::{ActiveLog, LiveBlock};

/// What a segment is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    /// A log may take it.
    Free,
    /// A log writes it.
    Open,
    /// It is full.
    Closed,
}

/// A segment.
#[derive(Clone, Copy, Debug)]
struct Segment {
    is: Use,
    live: u32,
}

/// The part of a log's segment that is not written.
#[derive(Clone, Copy, Debug)]
struct Open {
    next: u32,
    end: u32,
}

/// The main area. Blocks are counted from its beginning.
#[derive(Clone, Debug)]
pub(super) struct MainArea {
    /// The blocks of a segment.
    segment: u32,
    segments: Vec<Segment>,
    held: Vec<Option<LiveBlock>>,
    open: [Option<Open>; ActiveLog::ALL.len()],
    /// The free segments, in the order in which they are taken.
    free: VecDeque<u32>,
    /// Full segments that hold nothing any more.
    emptied: Vec<u32>,
}

impl MainArea {
    pub fn new(segments: u32, segment: u32) -> MainArea {
        let empty = Segment { is: Use::Free, live: 0 };
        MainArea {
            segment,
            segments: vec![empty; segments as usize],
            held: vec![None; segments as usize * segment as usize],
            open: [None; ActiveLog::ALL.len()],
            free: (0..segments).collect(),
            emptied: Vec::new(),
        }
    }

    pub fn free_segments(&self) -> u32 {
        u32::try_from(self.free.len()).expect("no more than there are segments")
    }

    pub fn emptied_segments(&self) -> u32 {
        u32::try_from(self.emptied.len()).expect("no more than there are segments")
    }

    /// Puts a block at the end of a log, and returns its place.
    ///
    /// # Panics
    ///
    /// If the log needs a segment and none is free.
    pub fn append(&mut self, log: ActiveLog, held: LiveBlock) -> u32 {
        let open = self.open[log as usize].unwrap_or_else(|| {
            let segment = self.free.pop_front().expect("the cleaner keeps segments free");
            self.segments[segment as usize].is = Use::Open;
            Open { next: segment * self.segment, end: (segment + 1) * self.segment }
        });
        let block = open.next;
        self.held[block as usize] = Some(held);
        self.segments[(block / self.segment) as usize].live += 1;
        let next = Open { next: block + 1, ..open };
        self.open[log as usize] = Some(next).filter(|open| open.next < open.end);
        if next.next == next.end {
            self.segments[(block / self.segment) as usize].is = Use::Closed;
        }
        block
    }

    /// Forgets what a block holds.
    pub fn drop_block(&mut self, block: u32) {
        let number = block / self.segment;
        let segment = &mut self.segments[number as usize];
        segment.live -= u32::from(self.held[block as usize].take().is_some());
        if segment.live == 0 && segment.is == Use::Closed {
            self.emptied.push(number);
        }
    }

    /// Returns the full segment with the fewest live blocks, of those that have some and not only such.
    pub fn victim(&self) -> Option<u32> {
        let closed = (0..).zip(&self.segments).filter(|(_, segment)| segment.is == Use::Closed);
        let partly = closed.filter(|(_, segment)| (1..self.segment).contains(&segment.live));
        partly.min_by_key(|(_, segment)| segment.live).map(|(number, _)| number)
    }

    /// Returns the live blocks of a segment with what they hold.
    pub fn live(&self, segment: u32) -> Vec<(u32, LiveBlock)> {
        let blocks = segment * self.segment..(segment + 1) * self.segment;
        blocks.filter_map(|block| Some((block, self.held[block as usize]?))).collect()
    }

    /// Returns the full segments that hold nothing; they are free when the caller says so.
    pub fn take_emptied(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.emptied)
    }

    /// A segment is free again.
    pub fn free(&mut self, segment: u32) {
        self.segments[segment as usize].is = Use::Free;
        self.free.push_back(segment);
    }
}
