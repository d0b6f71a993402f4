//! Merges drawn by hand, on one plane and without transfers: each write takes the time of its
//! programs, copies and erases, to the nanosecond.

use ftlab::device::{Device, assemble};
use ftlab::ftl::merge::MergeCounts;
use ftlab::host::Op;

use super::{ERASE, ONE, PAGE, PROGRAM, READ, Small};
use crate::common::{alone, request};

const COPY: u64 = READ + PROGRAM;

/// Data blocks of four pages, written in full one after another; each mapping with its own few log blocks.
struct Drawing {
    device: Device,
    pages: u64,
}

impl Drawing {
    /// A device with the first `written` data blocks written, in order.
    fn new(small: Small, written: u64) -> Drawing {
        let mut drawing =
            Drawing { device: assemble(small.setup()), pages: u64::from(small.pages) };
        for page in 0..written * drawing.pages {
            assert_eq!(drawing.write(0, page), PROGRAM, "first writes go in place");
        }
        assert_eq!(*drawing.counts(), MergeCounts::default());
        drawing
    }

    /// The time that writing a page of a data block takes.
    fn write(&mut self, data: u64, page: u64) -> u64 {
        let sectors = PAGE / 512;
        let lba = (data * self.pages + page) * sectors;
        alone(&mut self.device, request(Op::Write, lba, sectors as u32, 0)).latency().0
    }

    /// Writes pages that cause nothing but their own program.
    fn plainly(&mut self, pages: &[(u64, u64)]) {
        for &(data, page) in pages {
            assert_eq!(self.write(data, page), PROGRAM, "page {page} of data block {data}");
        }
    }

    fn counts(&self) -> &MergeCounts {
        self.device.merger().expect("a log is merged").counts()
    }

    /// Merges: switch, partial, full.
    fn merges(&self) -> [u64; 3] {
        let MergeCounts { switch, partial, full, .. } = *self.counts();
        [switch, partial, full]
    }
}

fn both_clocks(mapping: &'static str, log: u32) -> [Small; 2] {
    ["own", "lock-step"].map(|clocks| Small { mapping, log, clocks, ..ONE })
}

#[test]
fn a_data_block_overwritten_in_order_is_switched() {
    for (mapping, log) in [("bast", 1), ("fast", 2), ("nftl", 1)] {
        for small in both_clocks(mapping, log) {
            let mut drawing = Drawing::new(small, 2);
            drawing.plainly(&[(0, 0), (0, 1), (0, 2), (0, 3)]);
            // Its log block becomes the data block; the old one is erased.
            assert_eq!(drawing.write(0, 0), ERASE + PROGRAM, "{mapping}");
            assert_eq!(drawing.merges(), [1, 0, 0]);
            assert_eq!(drawing.counts().copied, 0);
            drawing.plainly(&[(0, 1), (0, 2), (0, 3)]);
            assert_eq!(drawing.write(0, 0), ERASE + PROGRAM, "{mapping}");
            assert_eq!(drawing.merges(), [2, 0, 0]);
        }
    }
}

#[test]
fn missing_pages_behind_the_last_one_are_copied() {
    for (mapping, log) in [("bast", 1), ("fast", 2), ("nftl", 1)] {
        for small in both_clocks(mapping, log) {
            let mut drawing = Drawing::new(small, 2);
            drawing.plainly(&[(0, 0)]);
            // Three pages are missing.
            assert_eq!(drawing.write(1, 0), 3 * COPY + ERASE + PROGRAM, "{mapping}");
            drawing.plainly(&[(1, 1), (1, 2)]);
            assert_eq!(drawing.write(0, 0), COPY + ERASE + PROGRAM, "{mapping}");
            assert_eq!((drawing.merges(), drawing.counts().copied), ([0, 2, 0], 4));
        }
    }
}

#[test]
fn all_pages_out_of_order_are_copied() {
    for (mapping, erased) in [("bast", 2), ("nftl", 2)] {
        for small in both_clocks(mapping, 1) {
            let mut drawing = Drawing::new(small, 2);
            drawing.plainly(&[(0, 1)]);
            // The data block and its log block.
            assert_eq!(drawing.write(1, 0), 4 * COPY + erased * ERASE + PROGRAM, "{mapping}");
            assert_eq!((drawing.merges(), drawing.counts().copied), ([0, 0, 1], 4));
        }
    }
    // A log block of any pages: every data block with a page there is merged.
    for (mapping, log) in [("log-block", 1), ("fast", 2)] {
        for small in both_clocks(mapping, log) {
            let mut drawing = Drawing::new(small, 4);
            drawing.plainly(&[(0, 1), (1, 1), (0, 2), (2, 3)]);
            assert_eq!(drawing.write(3, 2), 12 * COPY + 4 * ERASE + PROGRAM, "{mapping}");
            assert_eq!((drawing.merges(), drawing.counts().reclaims), ([0, 0, 3], 1));
        }
    }
}

/// Pages that were written elsewhere before, or again since, need no merge.
#[test]
fn a_log_block_of_old_copies_is_only_erased() {
    for small in both_clocks("log-block", 2) {
        let mut drawing = Drawing::new(small, 1);
        drawing.plainly(&[(0, 1), (0, 1), (0, 1), (0, 1), (0, 1), (0, 1), (0, 1), (0, 1)]);
        assert_eq!(drawing.write(0, 1), ERASE + PROGRAM);
        assert_eq!((drawing.merges(), drawing.counts().reclaims), ([0, 0, 0], 1));
    }
}

/// A page is first written to its own place, as long as nothing behind it was programmed.
#[test]
fn first_writes_may_skip_pages_but_not_go_back() {
    for mapping in ["log-block", "bast", "fast", "nftl"] {
        let mut drawing = Drawing::new(Small { mapping, log: 2, ..ONE }, 0);
        drawing.plainly(&[(0, 0), (0, 2), (1, 3), (0, 1), (0, 3)]);
        let block_of = |drawing: &Drawing, page: u32| {
            let at = drawing.device.ftl().look_up(ftlab::units::Lpn::new(page)).expect("written");
            (at.get() / 4, at.get() % 4)
        };
        let (data, first) = block_of(&drawing, 0);
        assert_eq!((first, block_of(&drawing, 2)), (0, (data, 2)));
        assert_ne!(block_of(&drawing, 1).0, data, "{mapping}: page 1 came after page 2");
        // A log block of one data block alone takes what comes after it, too.
        let in_place = block_of(&drawing, 3) == (data, 3);
        assert_eq!(in_place, matches!(mapping, "log-block" | "fast"), "{mapping}");
    }
}

#[test]
fn fast_keeps_sequential_writes_apart() {
    for small in both_clocks("fast", 2) {
        let mut drawing = Drawing::new(small, 3);
        // Page 0 starts the sequential block, and 1 continues it; other pages don't disturb it.
        drawing.plainly(&[(0, 0), (1, 2), (0, 1), (1, 3)]);
        // Not page 2: the block ends, with pages 2 and 3 copied. The write goes to the other log block.
        assert_eq!(drawing.write(0, 3), 2 * COPY + ERASE + PROGRAM);
        assert_eq!(drawing.merges(), [0, 1, 0]);
        // That one has one page left; the sequential one can start.
        drawing.plainly(&[(2, 1), (2, 0)]);
        // Another page 0 starts it anew: 1 to 3 of data block 2 are copied, 1 out of the log.
        assert_eq!(drawing.write(1, 0), 3 * COPY + ERASE + PROGRAM);
        assert_eq!(drawing.merges(), [0, 2, 0]);
        // Page 0 again, with page 0 written: it ends, and starts anew.
        assert_eq!(drawing.write(1, 0), 3 * COPY + ERASE + PROGRAM);
        // The log block of any pages holds page 3 of data block 0; the others were merged.
        assert_eq!(drawing.write(2, 2), 4 * COPY + 2 * ERASE + PROGRAM);
        assert_eq!(drawing.merges(), [0, 3, 1]);
    }
}

#[test]
fn bast_reclaims_the_log_block_written_longest_ago() {
    for small in both_clocks("bast", 2) {
        let mut drawing = Drawing::new(small, 3);
        drawing.plainly(&[(0, 1), (1, 1), (0, 2)]);
        // That of data block 1, though that of 0 is older.
        assert_eq!(drawing.write(2, 1), 4 * COPY + 2 * ERASE + PROGRAM);
        drawing.plainly(&[(0, 3), (2, 2), (0, 1)]);
        // Now that of 0 is full, so it is merged itself.
        assert_eq!(drawing.write(0, 1), 4 * COPY + 2 * ERASE + PROGRAM);
        drawing.plainly(&[(2, 3)]);
        assert_eq!(drawing.write(1, 1), 4 * COPY + 2 * ERASE + PROGRAM);
        assert_eq!(drawing.merges(), [0, 0, 3]);
    }
}

#[test]
fn nftl_merges_the_longest_chain() {
    for small in both_clocks("nftl", 3) {
        let mut drawing = Drawing::new(small, 3);
        // A page goes to its own offset: the replacement block of data block 1 takes no further page.
        drawing.plainly(&[(0, 2), (1, 3), (1, 3)]);
        // Two replacement blocks and the data block are erased.
        assert_eq!(drawing.write(2, 1), 4 * COPY + 3 * ERASE + PROGRAM);
        // Page 3 fits behind page 2; page 2 again needs another block, and there is one.
        drawing.plainly(&[(0, 3), (0, 2)]);
        assert_eq!(drawing.write(1, 0), 4 * COPY + 3 * ERASE + PROGRAM);
        // Chains of one block: 2 was written before 1, so it is merged.
        drawing.plainly(&[(0, 0)]);
        assert_eq!(drawing.write(1, 0), 4 * COPY + 2 * ERASE + PROGRAM);
        assert_eq!((drawing.merges(), drawing.counts().reclaims), ([0, 0, 3], 3));
    }
}

/// Two of four data blocks are merged, and the pages of the others move: this throttle allows no more.
#[test]
fn a_throttle_leaves_pages_to_move() {
    for small in both_clocks("log-block", 1) {
        let mut drawing = Drawing::new(Small { throttle: Some(2), ..small }, 5);
        drawing.plainly(&[(0, 1), (1, 1), (2, 1), (3, 1)]);
        assert_eq!(drawing.write(4, 1), (8 + 2) * COPY + 3 * ERASE + PROGRAM);
        assert_eq!((drawing.merges(), drawing.counts().moved), ([0, 0, 2], 2));
        // The moved pages are now the oldest of the log.
        drawing.plainly(&[(4, 2)]);
        assert_eq!(drawing.write(0, 1), (8 + 2) * COPY + 3 * ERASE + PROGRAM);
        assert_eq!((drawing.merges(), drawing.counts().moved), ([0, 0, 4], 4));
        // What is left belongs to data block 4, twice: one merge.
        drawing.plainly(&[(0, 2)]);
        assert_eq!(drawing.write(0, 3), 8 * COPY + 3 * ERASE + PROGRAM);
        assert_eq!((drawing.merges(), drawing.counts().moved), ([0, 0, 6], 4));
    }
}
