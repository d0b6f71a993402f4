//! The figures hold the numbers of the characters.

use ftlab::host::Op;
use ftlab::units::{Lba, SimTime};
use ftlab_workload::trace::{Character, CharacterTally, Record, compare_characters};

use super::{ShownLoad, figures_of, fit_in_words, in_words, is_trace_page, trace_page};
use crate::figure::{FigureAxis, FigureLine};

const MS: u64 = 1_000_000;

/// Reads and writes in turn, `every` nanoseconds apart: a write to one of ten pages, then a read of a new page.
fn load(requests: u64, every: u64) -> Character {
    let mut tally = CharacterTally::default();
    for number in 0..requests {
        let is_write = number % 2 == 0;
        let page = if is_write { number % 20 / 2 } else { 1_000 + 3 * number };
        tally.add(&Record {
            at: SimTime(number * every),
            op: if is_write { Op::Write } else { Op::Read },
            lba: Lba(page * 8),
            sectors: if is_write { 8 } else { 16 },
            stream: (number % 2) as u32,
            fua: false,
        });
    }
    tally.report()
}

/// The name of a line, and its points.
type Line = (String, Vec<(f64, Option<f64>)>);

/// Returns the lines of a figure.
fn lines_of(loads: &[(&str, &Character)], title: &str) -> Vec<Line> {
    let figures = figures_of(loads).into_iter().flat_map(|group| group.figures);
    let found = figures.filter(|one| one.title == title).collect::<Vec<_>>();
    assert_eq!(found.len(), 1, "{title}");
    let points = |line: &FigureLine| line.points.iter().map(|one| (one.x, one.y)).collect();
    found[0].panel.lines.iter().map(|line| (line.name.clone(), points(line))).collect()
}

#[test]
fn rates_are_the_counts_of_intervals() {
    let one = load(2_000, MS);
    let lines = lines_of(&[("one", &one)], "requests a second");
    assert_eq!(lines.iter().map(|line| line.0.as_str()).collect::<Vec<_>>(), ["reads", "writes"]);
    let seconds = one.mix.interval_ns as f64 / 1e9;
    for (at, of) in one.mix.intervals.iter().enumerate() {
        let x = at as f64 * one.mix.interval_ns as f64;
        assert_eq!(lines[0].1[at], (x, Some(of.reads as f64 / seconds)));
        assert_eq!(lines[1].1[at], (x, Some(of.writes as f64 / seconds)));
    }
    let (last, end) = (lines[0].1[one.mix.intervals.len() - 1], lines[0].1.last().unwrap());
    assert_eq!(
        (end.0, end.1),
        (one.mix.interval_ns as f64 * one.mix.intervals.len() as f64, last.1)
    );
}

#[test]
fn distributions_end_beyond_the_values_of_all_lines() {
    let one = load(2_000, MS);
    let lines = lines_of(&[("one", &one)], "request size");
    // Reads are of 8 KiB, and writes of 4 KiB.
    let end = (16_384.0, Some(100.0));
    assert_eq!(lines[0].1, [(2_048.0, Some(0.0)), (8_192.0, Some(100.0)), end]);
    assert_eq!(lines[1].1, [(2_048.0, Some(0.0)), (4_096.0, Some(100.0)), end]);
    for share in
        ["reuse distance", "overwrite distance", "time to overwrite", "gap between arrivals"]
    {
        let points = &lines_of(&[("one", &one)], share)[0].1;
        assert!(points.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1), "{share}: {points:?}");
    }
    let distance = &lines_of(&[("one", &one)], "overwrite distance")[0].1;
    assert_eq!(distance[1], (10.0 * 4_096.0, Some(100.0)));
}

#[test]
fn shares_are_those_of_the_character_in_per_cent() {
    let one = load(2_000, MS);
    let misses = &lines_of(&[("one", &one)], "misses of an LRU cache of reads and writes")[0].1;
    let told = one
        .reuse
        .lru
        .iter()
        .map(|of| (of.cache_pages as f64 * 4_096.0, Some(of.miss_ratio * 100.0)));
    assert_eq!(*misses, told.collect::<Vec<_>>());
    let top = &lines_of(&[("one", &one)], "skew: share of accesses to the pages used most")[0].1;
    assert_eq!(top[2], (10.0, Some(one.skew.top[2].accesses_ratio * 100.0)));
    assert_eq!(top[4], (100.0, Some(100.0)));
    let ranks = &lines_of(&[("one", &one)], "requests of each stream, by rank")[0].1;
    assert_eq!(*ranks, [(1.0, Some(1_000.0)), (2.0, Some(1_000.0)), (3.0, Some(1_000.0))]);
}

#[test]
fn hours_without_requests_use_no_pages_but_those_so_far_last() {
    let mut tally = CharacterTally::default();
    for hour in [0, 1, 4] {
        tally.add(&Record {
            at: SimTime(hour * 3_600_000 * MS),
            op: Op::Write,
            lba: Lba(hour * 8),
            sectors: 8,
            stream: 0,
            fua: false,
        });
    }
    let one = tally.report();
    let lines = [
        lines_of(&[("one", &one)], "pages used so far, by hour"),
        lines_of(&[("one", &one)], "pages used within each hour"),
    ]
    .concat();
    let hours = |of: &[(f64, Option<f64>)]| -> Vec<(f64, f64)> {
        of.iter().map(|(x, y)| (x / 3.6e12, y.unwrap() / 4_096.0)).collect()
    };
    assert_eq!(hours(&lines[0].1), [(0.0, 1.0), (1.0, 2.0), (2.0, 2.0), (4.0, 3.0), (5.0, 3.0)]);
    assert_eq!(hours(&lines[1].1), [(0.0, 1.0), (1.0, 1.0), (2.0, 0.0), (4.0, 1.0), (5.0, 1.0)]);
}

#[test]
fn figures_by_hour_go_on_to_the_last_request() {
    let mut tally = CharacterTally::default();
    for (hour, op) in [(0, Op::Write), (3, Op::Trim)] {
        tally.add(&Record {
            at: SimTime(hour * 3_600_000 * MS),
            op,
            lba: Lba(0),
            sectors: 8,
            stream: 0,
            fua: false,
        });
    }
    let one = tally.report();
    let hours = |title: &str| -> Vec<(f64, f64)> {
        let points = lines_of(&[("one", &one)], title).remove(0).1;
        points.iter().map(|(x, y)| (x / 3.6e12, y.unwrap() / 4_096.0)).collect()
    };
    assert_eq!(hours("pages used so far, by hour"), [(0.0, 1.0), (1.0, 1.0), (4.0, 1.0)]);
    assert_eq!(hours("pages used within each hour"), [(0.0, 1.0), (1.0, 0.0), (4.0, 0.0)]);
}

#[test]
fn of_a_load_without_times_no_figure_has_time_on_an_axis() {
    let (timed, without) = (load(2_000, MS), load(2_000, 0));
    assert!(without.timeless);
    let figures = figures_of(&[("one", &without)]);
    let of_time = |axis: &FigureAxis| ["ns", "1/s", "B/s"].contains(&axis.unit.as_str());
    for figure in figures.iter().flat_map(|group| &group.figures) {
        let panel = &figure.panel;
        assert!(!of_time(&panel.x) && !of_time(&panel.y), "{}", figure.title);
    }
    assert!(in_words(&without)[0].1.contains("all requests have the same time"));
    // Beside a load with times, that one is drawn over its own.
    let loads = [("A", &without), ("B", &timed)];
    let reads = lines_of(&loads, "requests a second: reads");
    assert!(reads[0].1.is_empty() && reads[1].1.last().unwrap().0 > 1e9, "{reads:?}");
}

#[test]
fn the_verdict_on_a_fit_names_what_is_furthest_off() {
    let (one, slow) = (load(2_000, MS), load(2_000, 9 * MS));
    let told = fit_in_words(&compare_characters(&one, &slow));
    assert!(told[0].contains("mean_gap_ns: 1.00 ms in the trace, 9.00 ms in"), "{}", told[0]);
    assert!(told[0].contains("(9.00 times as much)"), "{}", told[0]);
    assert!(told[1].contains("never keeps streams, the order"), "{}", told[1]);
    let same = fit_in_words(&compare_characters(&one, &one));
    assert!(same[0].contains("All figures"), "{}", same[0]);
}

#[test]
fn equal_caches_are_told_once() {
    let words = in_words(&load(20, MS));
    let misses = &words.iter().find(|fact| fact.0 == "LRU misses").unwrap().1;
    let sizes: Vec<&str> =
        misses.split(", ").filter_map(|one| one.split(" with ").nth(1)).collect();
    let mut once = sizes.clone();
    once.dedup();
    assert_eq!(sizes, once, "{misses}");
}

#[test]
fn two_loads_have_a_line_each_in_every_panel() {
    let (one, other) = (load(2_000, MS), load(2_000, 2 * MS));
    let loads = [("A", &one), ("B", &other)];
    for figure in figures_of(&loads).iter().flat_map(|group| &group.figures) {
        let names: Vec<&str> = figure.panel.lines.iter().map(|line| line.name.as_str()).collect();
        assert_eq!(names, ["A", "B"], "{}", figure.title);
    }
    let gaps = lines_of(&loads, "gap between arrivals");
    assert_eq!(gaps[0].1.last(), gaps[1].1.last());
    assert_eq!(lines_of(&loads, "request size: reads")[1].1[1], (8_192.0, Some(100.0)));
    // Over shares of time, where one load is much longer.
    let long = load(2_000, 10 * MS);
    let reads = lines_of(&[("A", &one), ("B", &long)], "requests a second: reads");
    let ends: Vec<f64> = reads.iter().map(|line| line.1.last().unwrap().0).collect();
    assert!(ends.iter().all(|end| (end - 100.0).abs() < 1e-9), "{ends:?}");
}

#[test]
fn the_page_of_a_long_trace_is_small_and_says_what_made_it() {
    let mut tally = CharacterTally::default();
    for number in 0..50_000 {
        tally.add(&Record {
            at: SimTime(number * 360_000 * MS),
            op: if number % 3 == 0 { Op::Read } else { Op::Write },
            lba: Lba(number * number % 1_000_003 * 8),
            sectors: 1 + (number % 999) as u32,
            stream: (number % 2_000) as u32,
            fua: false,
        });
    }
    let character = tally.report();
    assert_eq!((character.working_set.len(), character.streams.len()), (4_096, 1_025));
    let load = ShownLoad { name: "</script>", character: &character, inspection: None };
    let page = trace_page(&[load], &["ftlab".to_owned(), "x y".to_owned()]).unwrap();
    assert!(page.len() < 600_000, "{}", page.len());
    assert!(is_trace_page(page.as_bytes()) && page.contains("ftlab 'x y'"));
    assert!(page.contains("\"loads\":[\"\\u003c/script>\"]"));
}
