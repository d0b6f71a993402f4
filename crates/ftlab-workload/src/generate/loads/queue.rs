//! The requests that a load has decided on but not issued: those of the application, and those of
//! its background work. They take turns, since background work goes on while the application
//! runs. Long transfers are cut into requests only when they are issued, so a queue is short.
//!
//! Space that was trimmed may be written again only when the trim has completed, since a drive may do requests in any order. The
//! first request that does so says that it waits for the trims before it.

use std::collections::VecDeque;

use ftlab::host::Op;

use super::extents::{Extents, Stretch};

/// The largest trim, in sectors: 512 MiB.
const LARGEST_TRIM: u64 = 1 << 20;

/// A transfer of consecutive sectors, or a request cut from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::generate) struct Transfer {
    pub op: Op,
    pub start: u64,
    pub sectors: u64,
    /// The stream, from the first one of the load.
    pub stream: u32,
}

/// The waiting transfers of a load.
#[derive(Clone, Debug)]
pub(super) struct Outbox {
    /// The largest read or write, in sectors.
    largest: u64,
    front: VecDeque<Transfer>,
    /// Reads and writes, which alternate, so that a read comes before the write of what was read.
    behind: [VecDeque<Transfer>; 2],
    trims: VecDeque<Transfer>,
    /// Whether the background comes next, and which part of it.
    background_turn: bool,
    part: usize,
    /// Trimmed space that is free again, since a request last waited for trims.
    freed: Vec<Stretch>,
    /// Whether the last request waits for trims.
    awaits_trims: bool,
}

impl Outbox {
    pub fn new(largest: u64) -> Outbox {
        Outbox {
            largest,
            front: VecDeque::new(),
            behind: Default::default(),
            trims: VecDeque::new(),
            background_turn: false,
            part: 0,
            freed: Vec::new(),
            awaits_trims: false,
        }
    }

    /// Adds a transfer of the application.
    pub fn push(&mut self, transfer: Transfer) {
        self.front.push_back(transfer);
    }

    /// Adds a transfer of background work. Trims follow all its reads and writes.
    pub fn push_behind(&mut self, transfer: Transfer) {
        match transfer.op {
            Op::Trim => self.trims.push_back(transfer),
            op => self.behind[usize::from(op != Op::Read)].push_back(transfer),
        }
    }

    /// Notes that space is free whose trims have been issued.
    pub fn note_freed(&mut self, place: &Extents) {
        self.freed.extend(&place.0);
    }

    /// Whether the request that was returned last waits until the trims before it have completed.
    pub fn awaits_trims(&self) -> bool {
        self.awaits_trims
    }

    /// Whether all background work has been issued.
    pub fn is_background_done(&self) -> bool {
        self.trims.is_empty() && self.behind.iter().all(VecDeque::is_empty)
    }

    /// Returns the next request: the application and its background work take turns. A `stalled`
    /// application waits for its background work.
    pub fn pop(&mut self, stalled: bool) -> Option<Transfer> {
        let transfer = self.choose(stalled)?;
        let end = transfer.start + transfer.sectors;
        let is_in = |&(start, length): &Stretch| start < end && transfer.start < start + length;
        self.awaits_trims = transfer.op == Op::Write && self.freed.iter().any(is_in);
        if self.awaits_trims {
            self.freed.clear();
        }
        Some(transfer)
    }

    fn choose(&mut self, stalled: bool) -> Option<Transfer> {
        if (self.background_turn || (stalled && self.front.is_empty()))
            && let Some(transfer) = self.pop_behind()
        {
            self.background_turn = false;
            return Some(transfer);
        }
        let transfer = cut(&mut self.front, self.largest)?;
        self.background_turn = true;
        Some(transfer)
    }

    fn pop_behind(&mut self) -> Option<Transfer> {
        let part = if self.behind[self.part].is_empty() { 1 - self.part } else { self.part };
        self.part = 1 - part;
        cut(&mut self.behind[part], self.largest).or_else(|| cut(&mut self.trims, self.largest))
    }
}

/// Takes at most `largest` sectors off the first transfer, or the sectors of the largest trim.
fn cut(transfers: &mut VecDeque<Transfer>, largest: u64) -> Option<Transfer> {
    let first = transfers.front_mut()?;
    let most = if first.op == Op::Trim { LARGEST_TRIM } else { largest };
    let taken = Transfer { sectors: first.sectors.min(most), ..*first };
    first.start += taken.sectors;
    first.sectors -= taken.sectors;
    if first.sectors == 0 {
        transfers.pop_front();
    }
    Some(taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_background_takes_turns_and_trims_last() {
        let transfer = |op, start, sectors| Transfer { op, start, sectors, stream: 0 };
        let mut queue = Outbox::new(8);
        queue.push_behind(transfer(Op::Trim, 900, 4));
        queue.push_behind(transfer(Op::Write, 200, 12));
        queue.push_behind(transfer(Op::Read, 100, 16));
        queue.push(transfer(Op::Write, 0, 10));
        let starts = |queue: &mut Outbox, stalled| {
            std::iter::from_fn(|| queue.pop(stalled).map(|t| (t.start, t.sectors)))
                .collect::<Vec<_>>()
        };
        assert_eq!(starts(&mut queue, false), [(0, 8), (100, 8), (8, 2), (200, 8)]);
        assert!(!queue.is_background_done());
        assert_eq!(starts(&mut queue, true), [(108, 8), (208, 4), (900, 4)]);
        assert!(queue.is_background_done());
    }
}
