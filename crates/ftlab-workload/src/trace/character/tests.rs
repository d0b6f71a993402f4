//! Each measure against a naive one, and against what is known of simple loads.

use std::collections::{BTreeMap, BTreeSet};

use ftlab::engine::Stream;
use ftlab::host::Op;
use ftlab::units::{Lba, SimTime};
use proptest::prelude::*;

use super::*;

const SECOND: u64 = 1_000_000_000;
const HOUR: u64 = 3600 * SECOND;

fn record(at: u64, op: Op, page: u64) -> Record {
    let lba = Lba(page * SECTORS_PER_PAGE);
    Record { at: SimTime(at), op, lba, sectors: 8, stream: 0, fua: false }
}

fn character(records: impl IntoIterator<Item = Record>) -> Character {
    let mut tally = CharacterTally::default();
    records.into_iter().for_each(|record| tally.add(&record));
    tally.report()
}

fn near(found: f64, known: f64, within: f64) {
    assert!((found - known).abs() <= within, "{found}, known {known}");
}

/// The distribution of values, as it is reported.
fn distribution(values: &[u64], unit: u64) -> Distribution {
    let mut weights = Weights::default();
    values.iter().for_each(|value| weights.add(*value, 1.0));
    weights.distribution(unit)
}

fn records() -> impl Strategy<Value = Vec<Record>> {
    let gap = prop_oneof![Just(0), 1..50_000_000_u64, 1..2 * HOUR];
    let op = prop_oneof![Just(Op::Read), Just(Op::Write), Just(Op::Trim), Just(Op::Flush)];
    let one = (gap, op, 0..200_u64, 0..40_u32, 0..3_u32);
    prop::collection::vec(one, 1..120).prop_map(|all| {
        let mut at = 0;
        let made = all.into_iter().map(|(gap, op, lba, sectors, stream)| {
            at += gap;
            Record { at: SimTime(at), op, lba: Lba(lba), sectors, stream, fua: false }
        });
        made.collect()
    })
}

/// What a naive reader knows of the uses of pages.
#[derive(Default)]
struct Naive {
    uses: Vec<(u32, u64)>,
    reuse: Vec<u64>,
    lives: Vec<u64>,
    ages: Vec<u64>,
    hours: BTreeMap<u64, BTreeSet<(u32, u64)>>,
}

impl Naive {
    fn of(records: &[Record]) -> Naive {
        let (mut naive, mut written, mut sectors) = (Naive::default(), BTreeMap::new(), 0);
        for record in records.iter().filter(|one| matches!(one.op, Op::Read | Op::Write)) {
            for page in record.lba.0 / 8..record.end().div_ceil(8) {
                let page = (record.stream, page);
                if let Some(last) = naive.uses.iter().rposition(|one| *one == page) {
                    let between: BTreeSet<_> = naive.uses[last + 1..].iter().collect();
                    naive.reuse.push(between.len() as u64);
                }
                naive.uses.push(page);
                naive.hours.entry(record.at.0 / HOUR).or_default().insert(page);
                if record.op == Op::Write
                    && let Some((then, at)) = written.insert(page, (sectors, record.at.0))
                {
                    naive.lives.push(sectors - then);
                    naive.ages.push(record.at.0 - at);
                }
            }
            sectors += if record.op == Op::Write { u64::from(record.sectors) } else { 0 };
        }
        naive
    }
}

proptest! {
    #[test]
    fn pages_are_counted_as_a_naive_reader_counts_them(records in records()) {
        let (found, naive) = (character(records.clone()), Naive::of(&records));
        prop_assert_eq!(found.reuse.accesses, naive.uses.len() as u64);
        prop_assert_eq!(&found.reuse.reuse_pages, &distribution(&naive.reuse, 1));
        prop_assert_eq!(&found.reuse.overwrite_bytes, &distribution(&naive.lives, 512));
        prop_assert_eq!(&found.reuse.overwrite_ns, &distribution(&naive.ages, 1));
        for point in &found.reuse.lru {
            let hits = naive.reuse.iter().filter(|others| **others < point.cache_pages).count();
            let misses = 1.0 - hits as f64 / naive.uses.len() as f64;
            prop_assert!((point.miss_ratio - misses).abs() < 1e-12);
        }
        prop_assume!(!found.timeless);
        let hours: Vec<_> = found.working_set.iter().map(|of| (u64::from(of.hour), of.pages)).collect();
        let known = naive.hours.iter().map(|(hour, pages)| (*hour, pages.len() as f64));
        prop_assert_eq!(hours, known.collect::<Vec<_>>());
        let distinct: BTreeSet<_> = naive.uses.iter().collect();
        prop_assert_eq!(found.pages, distinct.len() as f64);
        let so_far = found.working_set.last().map_or(0.0, |last| last.pages_so_far);
        prop_assert_eq!(so_far, distinct.len() as f64);
        let mut uses: BTreeMap<_, u64> = BTreeMap::new();
        naive.uses.iter().for_each(|page| *uses.entry(page).or_default() += 1);
        let most = uses.values().max().copied().unwrap_or(0);
        if uses.len() <= 100 && !uses.is_empty() {
            let share = most as f64 / naive.uses.len() as f64;
            prop_assert_eq!(found.skew.top[0].accesses_ratio, share);
        }
    }

    #[test]
    fn requests_are_counted_as_a_naive_reader_counts_them(records in records()) {
        let found = character(records.clone());
        let of = |op: Op| records.iter().filter(move |one| one.op == op);
        let sizes = |op: Op| of(op).map(|one| u64::from(one.sectors)).collect::<Vec<_>>();
        prop_assert_eq!(&found.read_bytes, &distribution(&sizes(Op::Read), 512));
        prop_assert_eq!(&found.write_bytes, &distribution(&sizes(Op::Write), 512));
        prop_assume!(!found.timeless);
        let ns = found.mix.interval_ns;
        for (at, interval) in found.mix.intervals.iter().enumerate() {
            let trims = || of(Op::Trim).filter(|one| one.at.0 / ns == at as u64);
            prop_assert_eq!(interval.trims, trims().count() as u64);
            let bytes: u64 = trims().map(|one| u64::from(one.sectors) * 512).sum();
            prop_assert_eq!(interval.trim_bytes, bytes);
            let writes = of(Op::Write).filter(|one| one.at.0 / ns == at as u64);
            prop_assert_eq!(interval.writes, writes.count() as u64);
        }
        let gaps: Vec<u64> = records.windows(2).map(|two| two[1].at.0 - two[0].at.0).collect();
        prop_assert_eq!(&found.arrivals.gap_ns, &distribution(&gaps, 1));
        for idle in &found.arrivals.idle {
            let long = gaps.iter().filter(|gap| **gap >= idle.at_least_ns);
            prop_assert_eq!(idle.gaps, long.count() as u64);
        }
        let last = records.last().map_or(0, |last| last.at.0);
        let second = &found.arrivals.dispersion[2];
        prop_assert_eq!(second.intervals, last / SECOND);
        let moved = || records.iter().filter(|one| matches!(one.op, Op::Read | Op::Write));
        let (mut ends, mut next) = (BTreeMap::new(), 0);
        moved().for_each(|one| {
            next += u64::from(ends.insert(one.stream, one.end()) == Some(one.lba.0));
        });
        let ratio = (moved().count() > 0).then(|| next as f64 / moved().count() as f64);
        prop_assert_eq!(found.sequence.next_ratio, ratio);
        let runs = found.sequence.run_requests;
        prop_assert_eq!(runs.count, (moved().count() as u64 - next) as f64);
        let streams: BTreeSet<u32> = records.iter().map(|one| one.stream).collect();
        prop_assert_eq!(found.streams.len(), streams.len());
    }
}

#[test]
fn each_stream_has_its_own_last_sixteen_requests() {
    // Forty streams take turns; each reads on where it ended two requests before.
    let of = |at: u64| Record {
        stream: (at % 40) as u32,
        ..record(at, Op::Read, at / 40 / 2 + at / 40 % 2 * 1_000)
    };
    let found = character((0..40 * 20).map(of)).sequence;
    assert_eq!(found.next_ratio, Some(0.0));
    assert_eq!(found.near_ratio, Some(0.9), "all but the first two of each stream");
    // Of seventeen that take turns in one stream, none is within reach.
    let of = |at: u64| record(at, Op::Read, at / 17 + at % 17 * 1_000);
    assert_eq!(character((0..17 * 20).map(of)).sequence.near_ratio, Some(0.0));
    let of = |at: u64| record(at, Op::Read, at / 16 + at % 16 * 1_000);
    assert_eq!(character((0..16 * 20).map(of)).sequence.near_ratio, Some(0.95));
}

#[test]
fn a_cyclic_scan_reuses_a_page_after_all_others() {
    let pages = 1_000;
    let found = character((0..10 * pages).map(|at| record(at, Op::Write, at % pages)));
    let reuse = &found.reuse.reuse_pages;
    assert_eq!((reuse.count, reuse.mean, reuse.max), (9_000.0, Some(999.0), Some(999)));
    assert_eq!(found.reuse.overwrite_bytes.mean, Some(4_096_000.0));
    let misses: Vec<f64> = found.reuse.lru.iter().map(|point| point.miss_ratio).collect();
    assert_eq!(misses[9], 1.0, "512 pages hold nothing of use");
    near(misses[10], 0.1, 1e-12);
    assert_eq!(found.sequence.run_requests.mean, Some(1_000.0));
    near(found.skew.top[3].accesses_ratio, 0.2, 1e-12);
    near(found.skew.zipf_exponent.unwrap(), 0.0, 1e-3);
}

#[test]
fn random_pages_have_uniform_reuse_distances() {
    let (pages, mut random) = (1_024, Stream::new(1, "uniform"));
    let found = character((0..400_000).map(|at| record(at, Op::Read, random.below(pages))));
    let reuse = &found.reuse.reuse_pages;
    // All stack distances are equally likely, so the mean is half of the other pages.
    near(reuse.mean.unwrap(), 511.5, 2.0);
    for point in &found.reuse.lru {
        let known = 1.0 - point.cache_pages as f64 / pages as f64;
        near(point.miss_ratio, known, 0.005);
    }
}

#[test]
fn poisson_arrivals_are_as_variable_as_they_must_be() {
    let (mut at, mut random) = (0.0, Stream::new(2, "poisson"));
    let found = character((0..400_000).map(|_| {
        let uniform = (random.below(1 << 53) as f64 + 0.5) / libm::exp2(53.0);
        at -= 5e5 * libm::log(uniform);
        record(at as u64, Op::Read, 0)
    }));
    near(found.arrivals.gap_variation.unwrap(), 1.0, 0.01);
    for of in &found.arrivals.dispersion[..2] {
        near(of.index.unwrap(), 1.0, 0.08);
    }
    let idle = found.arrivals.idle[0];
    // A gap of at least x means has the chance e^-x, and on average x + 1 means.
    near(idle.time_ratio.unwrap(), 21.0 * libm::exp(-20.0), 1e-4);
}

#[test]
fn even_arrivals_have_no_variation() {
    let found = character((0..5_000).map(|at| record(at * SECOND / 1_000, Op::Read, 0)));
    near(found.arrivals.gap_variation.unwrap(), 0.0, 1e-6);
    let second = found.arrivals.dispersion[2];
    assert_eq!((second.intervals, second.index, second.peak_to_mean), (4, Some(0.0), Some(1.0)));
    assert_eq!(found.arrivals.dispersion[3].index, None, "not a whole minute");
}

#[test]
fn of_requests_without_times_nothing_is_said_of_time() {
    let without = character((0..100).map(|at| record(0, Op::Write, at % 10)));
    assert!(without.timeless && without.mix.intervals.is_empty() && without.working_set.is_empty());
    assert_eq!(without.arrivals, ArrivalCharacter::default());
    assert_eq!(without.reuse.overwrite_ns, Distribution::default());
    assert_eq!((without.streams[0].first_ns, without.streams[0].last_ns), (None, None));
    // What needs no time is said.
    assert_eq!(without.reuse.overwrite_bytes.mean, Some(40_960.0));
    let with = character((0..100).map(|at| record(at / 99, Op::Write, at % 10)));
    assert!(!with.timeless && with.arrivals.gap_ns.count == 99.0);
    assert!(!character([record(0, Op::Read, 1)]).timeless, "one request has a time");
    let ratios = compare(&without, &with).figures;
    let of_time = ["mean_gap_ns", "largest_hour_pages", "dispersion_1s", "idle_100ms_time_ratio"];
    for figure in ratios.iter().filter(|of| of_time.contains(&of.name)) {
        assert_eq!(figure.first, None, "{}", figure.name);
    }
}

#[test]
fn interleaved_streams_of_one_number_are_near_sequential() {
    let page = |at: u64| (at % 4) * 10_000 + at / 4;
    let found = character((0..4_000).map(|at| record(at, Op::Read, page(at))));
    assert_eq!(found.sequence.next_ratio, Some(0.0));
    assert_eq!(found.sequence.near_ratio, Some(3_996.0 / 4_000.0));
}

/// A skewed load: pages by an inverse power of a uniform number, scattered over the addresses.
fn skewed(requests: u64, pages: u64, power: f64) -> impl Iterator<Item = Record> {
    let mut random = Stream::new(3, "skewed");
    (0..requests).map(move |at| {
        let uniform = (random.below(1 << 53) as f64 + 0.5) / libm::exp2(53.0);
        let rank = (pages as f64 * libm::pow(uniform, power)) as u64;
        let op = if random.below(3) == 0 { Op::Read } else { Op::Write };
        record(at * 1_000_000, op, rank.wrapping_mul(0x9E37_79B1) % (1 << 32))
    })
}

/// The mean and the largest difference of two curves of misses, at the sizes that both have.
fn curve_error(one: &Character, other: &Character) -> (f64, f64) {
    let same = |a: &LruMisses| {
        let b = other.reuse.lru.iter().find(|b| b.cache_pages == a.cache_pages)?;
        Some((a.miss_ratio - b.miss_ratio).abs())
    };
    let apart: Vec<f64> = one.reuse.lru.iter().filter_map(same).collect();
    let sum: f64 = apart.iter().sum();
    (sum / apart.len() as f64, apart.iter().copied().fold(0.0, f64::max))
}

#[test]
fn a_sample_is_near_the_truth() {
    for (power, pages) in [(1.0, 200_000), (2.0, 400_000), (4.0, 1_000_000)] {
        let all = |most: usize| {
            let mut tally = CharacterTally::following(most);
            skewed(600_000, pages, power).for_each(|record| tally.add(&record));
            tally.report()
        };
        let (exact, sampled) = (all(1 << 20), all(MOST_PAGES));
        assert_eq!(exact.followed_ratio, 1.0);
        assert!(sampled.followed_ratio < 1.0);
        // Caches that hold too few of the pages followed are left out, and larger ones are not.
        let least = 16.0 / sampled.followed_ratio;
        assert_eq!(exact.reuse.lru[0].cache_pages, 1);
        assert_eq!(sampled.reuse.lru[0].cache_pages, (least as u64).next_power_of_two());
        let (mean, most) = curve_error(&exact, &sampled);
        let pages = sampled.pages / exact.pages - 1.0;
        let top = sampled.skew.top[2].accesses_ratio - exact.skew.top[2].accesses_ratio;
        let zipf = sampled.skew.zipf_exponent.unwrap() - exact.skew.zipf_exponent.unwrap();
        let life = compare(&exact, &sampled).distances[5].kolmogorov_smirnov.unwrap();
        let at = sampled.followed_ratio;
        println!(
            "power {power}: followed {at}, misses {mean:.4} mean {most:.4} most, pages {pages:+.4}, \
             top tenth {top:+.4}, Zipf {zipf:+.4}, lifetimes {life:.4}"
        );
        assert!(mean < 0.01 && most < 0.03, "{mean} {most}");
        assert!(pages.abs() < 0.03 && top.abs() < 0.03, "{pages} {top}");
        // In the last load, 3 % of all accesses go to one page, which is followed by chance.
        assert!(life < 0.03 || power > 3.0, "{life}");
    }
}

#[test]
fn loads_are_compared_with_distances_from_none_to_all() {
    let scan = character((0..1_000).map(|at| record(at, Op::Write, at % 100)));
    let same = compare(&scan, &scan);
    assert!(same.figures.iter().all(|of| of.ratio.is_none_or(|ratio| ratio == 1.0)));
    let distance = |of: &CharacterComparison, name: &str| {
        let found = of.distances.iter().find(|one| one.name == name).unwrap();
        (found.kolmogorov_smirnov, found.total_variation)
    };
    assert_eq!(distance(&same, "reuse_pages"), (Some(0.0), Some(0.0)));
    assert_eq!(distance(&same, "read_bytes"), (None, None), "nothing is read");
    let half = character((0..1_000).map(|at| Record {
        sectors: if at % 2 == 0 { 8 } else { 16 },
        ..record(at, Op::Write, at % 100)
    }));
    let apart = compare(&scan, &half);
    assert_eq!(distance(&apart, "write_bytes"), (Some(0.5), Some(0.5)));
    let figure = apart.figures.iter().find(|of| of.name == "mean_write_bytes").unwrap();
    assert_eq!(figure.ratio, Some(1.5));
}

#[test]
fn the_report_has_a_size_that_no_trace_exceeds() {
    // Everything at once: new pages, streams and sizes all the time, and gaps of all lengths.
    let requests = if std::env::var_os("FTLAB_LONG").is_some() { 20_000_000 } else { 1_000_000 };
    let (mut tally, mut at, mut random) = (CharacterTally::default(), 0, Stream::new(4, "long"));
    for number in 0..requests {
        let longest = 1 << random.below(34);
        at += random.below(longest);
        let page = random.below(1 << 40);
        let stream = (number / 8) as u32;
        let largest = 1 << random.below(8);
        let sectors = 1 + random.below(largest) as u32;
        tally.add(&Record { stream, sectors, ..record(at, Op::Write, page) });
    }
    let found = tally.report();
    assert!(tally.sample.pages().count() <= MOST_PAGES);
    assert!(found.mix.intervals.len() <= 256 && found.streams.len() <= 1_025);
    assert!(found.working_set.len() <= 4_096 && found.arrivals.gap_ns.bins.len() < 1_000);
    near(found.pages / found.reuse.accesses as f64, 1.0, 0.05);
}
