//! Accesses counted by hand, and random ones compared with a count that keeps all of them.

use std::collections::BTreeMap;

use ftlab::engine::Stream;

use super::*;

/// Reports the accesses of pages, each given as a text of R and W.
fn of(pages: &[&str]) -> AccessReport {
    let mut accesses = Accesses::default();
    for (page, text) in (0..).zip(pages) {
        for letter in text.chars() {
            let op = if letter == 'R' { Op::Read } else { Op::Write };
            accesses.add(op, 0, page * SECTORS_PER_PAGE, (page + 1) * SECTORS_PER_PAGE);
        }
    }
    accesses.report()
}

fn right(report: &AccessReport) -> [u64; 3] {
    let windows = &report.identification.windows;
    [windows[0].right, windows[1].right, windows[2].right]
}

#[test]
fn pages_have_the_class_of_nearly_all_of_their_accesses() {
    let read = "R".repeat(19);
    let found = of(&["RRR", "W", "RW", &format!("{read}W"), &format!("{read}RW")]);
    assert_eq!(
        found.pages,
        ByClass { only_read: 2, only_written: 1, interleaved: 2 },
        "95 % is not more"
    );
    assert_eq!(found.reads, ByClass { only_read: 3 + 20, only_written: 0, interleaved: 1 + 19 });
    assert_eq!(found.writes, ByClass { only_read: 1, only_written: 1, interleaved: 2 });
    assert_eq!(found.only_read_reads_ratio, Some(23.0 / 43.0));
    assert_eq!(found.only_written_writes_ratio, Some(0.25));
    assert_eq!(found.never_written_reads, 3 + 1 + 19 + 20);
}

#[test]
fn a_read_finds_what_was_there_before_until_its_page_is_written() {
    assert_eq!(of(&["RRWRR", "WR"]).never_written_reads, 2);
    assert_eq!(of(&["RRWRR", "WR"]).never_written_reads_ratio, Some(0.4));
    assert_eq!(of(&["W"]).never_written_reads_ratio, None);
}

#[test]
fn windows_name_pages_by_their_last_accesses() {
    let found = of(&["WWRRRWRRR"]);
    // An interleaved page. After the first access, windows of two see W, WR, RR, RR, RW, WR, RR,
    // RR; those of three and four look further back.
    assert_eq!(found.identification.first_accesses, 1);
    assert_eq!(found.identification.first_right, 0);
    assert_eq!(found.identification.later_accesses, 8);
    assert_eq!(right(&found), [3, 5, 7]);
    let found = of(&["RRRR", "WW", "RW"]);
    assert_eq!(found.identification.first_right, 2);
    assert_eq!(right(&found), [5, 5, 5], "pages of one kind are named from the second access on");
}

#[test]
fn parts_of_pages_and_streams_are_counted() {
    let mut accesses = Accesses::default();
    accesses.add(Op::Write, 0, 7, 17); // Pages 0, 1, 2.
    accesses.add(Op::Read, 1, 8, 9); // Page 1 of another stream.
    accesses.add(Op::Trim, 0, 0, 80);
    accesses.add(Op::Flush, 0, 0, 0);
    let found = accesses.report();
    assert_eq!(found.pages, ByClass { only_read: 1, only_written: 3, interleaved: 0 });
    assert_eq!((found.reads.sum(), found.writes.sum()), (1, 3));
    assert_eq!(found.never_written_reads, 1);
}

/// Applies the rules literally to all accesses of each page.
fn naive(pages: &BTreeMap<u64, Vec<bool>>) -> (ByClass, ByClass, [u64; 3]) {
    let (mut reads, mut writes, mut right) = (ByClass::default(), ByClass::default(), [0; 3]);
    for page in pages.values() {
        let (all, read) = (page.len(), page.iter().filter(|read| **read).count());
        let share = read as f64 / all as f64;
        let class = match share {
            share if share > 0.95 => Class::Only(PageUse::Read),
            share if share < 0.05 => Class::Only(PageUse::Write),
            _ => Class::Interleaved,
        };
        reads.add(class, read as u64);
        writes.add(class, (all - read) as u64);
        for (at, window) in [2usize, 3, 4].into_iter().enumerate() {
            for coming in 1..all {
                let seen = &page[(coming + 1).saturating_sub(window)..=coming];
                let named = match (seen.iter().all(|read| *read), seen.iter().all(|read| !*read)) {
                    (true, _) => Class::Only(PageUse::Read),
                    (_, true) => Class::Only(PageUse::Write),
                    _ => Class::Interleaved,
                };
                right[at] += u64::from(named == class);
            }
        }
    }
    (reads, writes, right)
}

#[test]
fn counts_like_somebody_who_keeps_all_accesses() {
    let mut random = Stream::new(8, "accesses");
    for reads in [3, 50, 96] {
        let (mut accesses, mut plain) = (Accesses::default(), BTreeMap::<u64, Vec<bool>>::new());
        for _ in 0..3_000 {
            let page = random.below(40);
            let (lba, pages) = (page * SECTORS_PER_PAGE + random.below(8), 1 + random.below(3));
            // Half of the pages have mostly accesses of one kind.
            let bias = if page.is_multiple_of(2) { reads } else { 50 };
            let read = random.below(100) < bias;
            let end = (page + pages) * SECTORS_PER_PAGE;
            accesses.add(if read { Op::Read } else { Op::Write }, 0, lba, end);
            for page in page..page + pages {
                plain.entry(page).or_default().push(read);
            }
        }
        let found = accesses.report();
        let (reads, writes, rights) = naive(&plain);
        assert_eq!((found.reads, found.writes), (reads, writes));
        assert_eq!(right(&found), rights);
    }
}
