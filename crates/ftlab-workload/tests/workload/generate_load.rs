//! What the generator draws, against closed forms. Seeds are fixed, so a statistical bound that
//! holds once always holds; a correct generator exceeds each bound once in a thousand seeds.

use std::collections::BTreeSet;

use crate::common::workload;
use ftlab::engine::Stream;
use ftlab::host::Op;
use ftlab::units::Nanos;
use ftlab_workload::generate::{ArrivalTimes, Arrivals, Generator, Rate};
use ftlab_workload::replay::{Arrival, Next};
use proptest::prelude::*;

const CAPACITY: u64 = 1 << 16;

/// Returns the requests of a workload, one list per phase.
fn phases(capacity: u64, text: &str) -> Vec<Vec<Arrival>> {
    let workload = workload(&format!("name = 'x'\n{text}"));
    let mut generator =
        Generator::new(&workload, capacity, 7).unwrap_or_else(|problems| panic!("{problems}"));
    let mut phases: Vec<Vec<Arrival>> = Vec::new();
    loop {
        match generator.next_item() {
            Next::Phase(phase) => {
                assert_eq!(phase.index as usize, phases.len());
                phases.push(Vec::new());
            }
            Next::Request(arrival) => phases.last_mut().expect("in a phase").push(arrival),
            Next::End => return phases,
        }
    }
}

fn one_phase(text: &str) -> Vec<Arrival> {
    let mut all = phases(CAPACITY, &format!("[[phase]]\n{text}"));
    assert_eq!(all.len(), 1);
    all.remove(0)
}

fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole as f64
}

#[test]
fn uniform_addresses_are_uniform() {
    let requests = one_phase("writes = '100%'\nsize = '4KiB'\nrequests = 200000");
    let mut bins = [0u64; 64];
    for request in &requests {
        assert!(request.lba.0.is_multiple_of(8));
        bins[usize::try_from(request.lba.0 * 64 / CAPACITY).unwrap()] += 1;
    }
    let expected = requests.len() as f64 / 64.0;
    let chi: f64 = bins.iter().map(|&n| (n as f64 - expected).powi(2) / expected).sum();
    assert!(chi < 103.4, "chi-square with 63 degrees of freedom: {chi}");
}

#[test]
fn shares_of_operations_and_sizes_are_met() {
    let requests = one_phase(
        "reads = '60%'\nwrites = '25%'\ntrims = '10%'\nflushes = '5%'\n\
         size = [{ size = '4KiB', weight = 3 }, { size = '16KiB' }]\nrequests = 100000",
    );
    let of = |op| requests.iter().filter(|request| request.op == op).count();
    // Five standard deviations of a share of one half in 100,000 draws are 0.8 %.
    for (op, expected) in [(Op::Read, 0.6), (Op::Write, 0.25), (Op::Trim, 0.1), (Op::Flush, 0.05)] {
        assert!((share(of(op), requests.len()) - expected).abs() < 0.008, "{op:?}");
    }
    let sized = requests.len() - of(Op::Flush);
    let small = requests.iter().filter(|request| request.sectors == 8).count();
    let large = requests.iter().filter(|request| request.sectors == 32).count();
    assert_eq!(small + large, sized);
    assert!((share(small, sized) - 0.75).abs() < 0.008);
}

/// FUA writes are drawn separately: everything else stays the same.
#[test]
fn a_share_of_the_writes_is_forced() {
    let text = "reads = '50%'\nwrites = '40%'\ntrims = '10%'\nsize = '4KiB'\nrequests = 100000";
    let plain = one_phase(text);
    let forced = one_phase(&format!("{text}\nfua = '30%'"));
    let of = |fua| forced.iter().filter(|r| r.op == Op::Write && r.fua == fua).count();
    assert!((share(of(true), of(true) + of(false)) - 0.3).abs() < 0.013);
    assert!(forced.iter().all(|request| request.op == Op::Write || !request.fua));
    let without = forced.into_iter().map(|request| Arrival { fua: false, ..request });
    assert!(without.eq(plain));
}

#[test]
fn ranges_of_sizes_are_uniform_and_aligned() {
    let requests = one_phase(
        "writes = '100%'\nsize = { from = '4KiB', to = '18KiB', step = '4KiB' }\nalign = '2KiB'\n\
         requests = 40000",
    );
    for sectors in [8, 16, 24, 32] {
        let of = requests.iter().filter(|request| request.sectors == sectors).count();
        assert!((share(of, requests.len()) - 0.25).abs() < 0.011, "{sectors}: {of}");
    }
    assert!(requests.iter().all(|request| request.lba.0.is_multiple_of(4)));
    assert!(requests.iter().any(|request| !request.lba.0.is_multiple_of(8)));
}

#[test]
fn hot_places_take_their_share() {
    for scatter in [false, true] {
        let requests = one_phase(&format!(
            "writes = '100%'\nsize = '4KiB'\nrequests = 100000\naddress = {{ kind = 'hot-cold', \
             hot_space = '10%', hot_accesses = '90%', scatter = {scatter} }}"
        ));
        let mut counts = vec![0usize; usize::try_from(CAPACITY / 8).unwrap()];
        for request in &requests {
            counts[usize::try_from(request.lba.0 / 8).unwrap()] += 1;
        }
        let hot_places = counts.len() / 10;
        let front: usize = counts[..hot_places].iter().sum();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        // A hot place is hit 110 times on average, a cold one 1.4 times, so sorting separates them.
        let hot: usize = counts[..hot_places].iter().sum();
        assert!((share(hot, requests.len()) - 0.9).abs() < 0.006, "{hot}");
        let expected = if scatter { 0.1 } else { 0.9 };
        assert!((share(front, requests.len()) - expected).abs() < 0.04, "{front}");
    }
}

/// Parts of a page of 8 sectors start at each of its sectors with equal chance and never cross the page's
/// end. Whole pages and larger requests stay aligned, and so does the share of parts that `inside` leaves.
#[test]
fn small_requests_lie_inside_of_their_places() {
    let requests = one_phase(
        "writes = '100%'\nalign = '4KiB'\ninside = '80%'\nrequests = 60000\n\
         size = [{ size = '1.5KiB' }, { size = '4KiB' }, { size = '16KiB' }]",
    );
    let mut starts = [0usize; 8];
    let mut small = 0;
    for request in &requests {
        let start = request.lba.0 % 8;
        if request.sectors < 8 {
            starts[usize::try_from(start).unwrap()] += 1;
            small += 1;
        } else {
            assert_eq!(start, 0, "{request:?}");
        }
    }
    assert!((share(small, requests.len()) - 1.0 / 3.0).abs() < 0.007);
    // Three sectors fit at 0 to 5; a sixth of 80 % starts at each, and the rest at 0.
    for (start, &hits) in starts.iter().enumerate() {
        let expected = match start {
            0 => 0.2 + 0.8 / 6.0,
            1..=5 => 0.8 / 6.0,
            _ => 0.0,
        };
        assert!((share(hits, small) - expected).abs() < 0.012, "{start}: {hits}");
    }
}

/// Returns the `many` most hit places and their total hits.
fn hottest(requests: &[Arrival], many: usize) -> (BTreeSet<usize>, usize) {
    let mut counts = vec![0usize; usize::try_from(CAPACITY / 8).unwrap()];
    for request in requests {
        counts[usize::try_from(request.lba.0 / 8).unwrap()] += 1;
    }
    let mut places: Vec<usize> = (0..counts.len()).collect();
    places.sort_by_key(|&place| std::cmp::Reverse(counts[place]));
    places.truncate(many);
    let hits = places.iter().map(|&place| counts[place]).sum();
    (places.into_iter().collect(), hits)
}

/// Half of a hot tenth is replaced after every 20,000 requests: after two steps the old hot set is
/// no longer hot, and its share of accesses stays the same.
#[test]
fn a_hot_set_drifts_at_the_stated_pace() {
    const EVERY: usize = 20_000;
    for scatter in [false, true] {
        let requests = one_phase(&format!(
            "writes = '100%'\nsize = '4KiB'\nrequests = 100000\naddress = {{ kind = 'hot-cold', \
             hot_space = '10%', hot_accesses = '90%', scatter = {scatter}, \
             drift = {{ every = {EVERY}, by = '5%' }} }}"
        ));
        let places = usize::try_from(CAPACITY / 8).unwrap();
        let hot = places / 10;
        let sets: Vec<_> = requests.chunks(EVERY).map(|part| hottest(part, hot)).collect();
        for (at, (set, hits)) in sets.iter().enumerate() {
            // A hot place is hit 22 times between two steps, a cold one 0.3 times.
            assert!((share(*hits, EVERY) - 0.9).abs() < 0.011, "{hits}");
            let kept = |before: usize| set.intersection(&sets[before].0).count();
            if at > 0 {
                let replaced = hot - kept(at - 1);
                assert!(replaced.abs_diff(places / 20) <= 8, "{scatter}: {replaced} replaced");
            }
            if at > 1 {
                assert!(kept(at - 2) <= 8, "{scatter}: {} came back", kept(at - 2));
            }
        }
    }
}

/// All but a thousandth of the writes go to the first place. It moves after exactly this many
/// requests, including reads, whose own popularity stays.
#[test]
fn drift_counts_requests_of_the_phase() {
    let requests = one_phase(
        "reads = '50%'\nwrites = '50%'\nsize = '4KiB'\nrequests = 4000\n\
         address = { kind = 'zipf', theta = 10, scatter = false, drift = { every = 1000, by = '64KiB' } }\n\
         read_address = { kind = 'zipf', theta = 10, scatter = false }",
    );
    for (step, part) in requests.chunks(1000).enumerate() {
        let (reads, writes): (Vec<&Arrival>, Vec<&Arrival>) =
            part.iter().partition(|request| request.op == Op::Read);
        let at = |all: &[&Arrival], place: u64| {
            share(all.iter().filter(|request| request.lba.0 == place * 8).count(), all.len())
        };
        let top = (CAPACITY / 8 - 16 * step as u64) % (CAPACITY / 8);
        assert!(at(&writes, top) > 0.99 && at(&reads, 0) > 0.99, "step {step}");
    }
}

#[test]
fn a_histogram_is_followed() {
    let requests = one_phase(
        "writes = '100%'\nsize = '512B'\nrequests = 100000\n\
         address = { kind = 'histogram', weights = [1, 0, 6, 3] }",
    );
    for (part, expected) in [0.1, 0.0, 0.6, 0.3].into_iter().enumerate() {
        let inside = requests.iter().filter(|request| request.lba.0 * 4 / CAPACITY == part as u64);
        assert!((share(inside.count(), requests.len()) - expected).abs() < 0.008, "{part}");
    }
}

#[test]
fn zipf_hits_follow_the_law_wherever_they_are_scattered() {
    let counts = |scatter: bool| {
        let requests = one_phase(&format!(
            "writes = '100%'\nsize = '4KiB'\nrequests = 100000\n\
             address = {{ kind = 'zipf', theta = 0.9, scatter = {scatter} }}"
        ));
        let mut counts = vec![0u64; usize::try_from(CAPACITY / 8).unwrap()];
        for request in requests {
            counts[usize::try_from(request.lba.0 / 8).unwrap()] += 1;
        }
        counts
    };
    let (plain, mut scattered) = (counts(false), counts(true));
    let sum: f64 = (1..=plain.len()).map(|k| (k as f64).powf(-0.9)).sum();
    for k in 1..=5usize {
        let expected = 100_000.0 * (k as f64).powf(-0.9) / sum;
        assert!((plain[k - 1] as f64 - expected).abs() < 4.0 * expected.sqrt(), "rank {k}");
    }
    let hottest = scattered.iter().enumerate().max_by_key(|(_, n)| **n).unwrap().0;
    assert!(scattered[hottest + 1] * 20 < scattered[hottest], "its neighbour is hot too");
    // The same draws in other places.
    let mut plain = plain;
    plain.sort_unstable();
    scattered.sort_unstable();
    assert_eq!(plain, scattered);
}

#[test]
fn overlap_counts_places_exactly_and_accesses_nearly() {
    for percent in [0u32, 25, 60, 100] {
        let requests = one_phase(&format!(
            "reads = '50%'\nwrites = '50%'\nsize = '4KiB'\nregion = {{ size = '2MiB' }}\n\
             overlap = '{percent}%'\naddress = {{ kind = 'zipf', theta = 0.4 }}\nrequests = 300000"
        ));
        let places = |op| -> BTreeSet<u64> {
            requests.iter().filter(|request| request.op == op).map(|r| r.lba.0).collect()
        };
        let (reads, writes) = (places(Op::Read), places(Op::Write));
        // Of 512 places, every place in a pool of n is hit: the least popular 100 times on average.
        let pool = 512 * 100 / (200 - percent as usize);
        assert_eq!((reads.len(), writes.len()), (pool, pool), "{percent}%");
        let shared = pool * percent as usize / 100;
        assert_eq!(reads.intersection(&writes).count(), shared);
        let on_shared = requests.iter().filter(|r| r.op == Op::Read && writes.contains(&r.lba.0));
        let accesses = share(on_shared.count(), requests.len() / 2);
        assert!((accesses - f64::from(percent) / 100.0).abs() < 0.02, "{percent}%: {accesses}");
    }
}

#[test]
fn sequential_streams_walk_their_slices_and_wrap() {
    let requests = one_phase(
        "writes = '100%'\nsize = '12KiB'\nalign = '4KiB'\nregion = { offset = '4KiB', size = '64KiB' }\n\
         streams = 2\naddress = { kind = 'sequential' }\nrequests = 8",
    );
    let steps: Vec<_> = requests.iter().map(|r| (r.stream, r.lba.0, r.sectors)).collect();
    // Slices of 32 KiB: 12 + 12 + 8, then from the start.
    let expected = [
        (0, 8, 24),
        (1, 72, 24),
        (0, 32, 24),
        (1, 96, 24),
        (0, 56, 16),
        (1, 120, 16),
        (0, 8, 24),
        (1, 72, 24),
    ];
    assert_eq!(steps, expected);
}

#[test]
fn a_sequential_fill_covers_every_sector_once() {
    // A capacity that is a multiple of neither the size nor the alignment.
    let requests = phases(
        10_007,
        "[[phase]]\nwrites = '100%'\nsize = '128KiB'\naddress = { kind = 'sequential' }\nbytes = '100%'",
    )
    .remove(0);
    let mut next = 0;
    for request in requests {
        assert_eq!(request.lba.0, next);
        next += u64::from(request.sectors);
    }
    assert_eq!(next, 10_007);
}

#[test]
fn strided_passes_shift_until_all_places_are_hit() {
    let requests = one_phase(
        "reads = '100%'\nsize = '4KiB'\nregion = { size = '40KiB' }\n\
         address = { kind = 'strided', stride = '16KiB' }\nrequests = 11",
    );
    let places: Vec<u64> = requests.iter().map(|request| request.lba.0 / 8).collect();
    assert_eq!(places, [0, 4, 8, 1, 5, 9, 2, 6, 3, 7, 0]);
}

#[test]
fn durations_are_exact() {
    let text = "[[phase]]\nwrites = '100%'\nsize = '12KiB'\nalign = '4KiB'\nbytes = '1MiB'\n\
                [[phase]]\nwrites = '100%'\nsize = '4KiB'\nrequests = 17\nbytes = '1GiB'\n\
                [[phase]]\nwrites = '100%'\nsize = '4KiB'\ntime = '1ms'\n\
                arrivals = { kind = 'constant', period = '100us' }";
    let all = phases(CAPACITY, text);
    let sectors: u64 = all[0].iter().map(|request| u64::from(request.sectors)).sum();
    assert_eq!((sectors, all[0].last().unwrap().sectors), (2048, 8));
    assert_eq!(all[1].len(), 17);
    let times: Vec<u64> = all[2].iter().map(|request| request.at.0).collect();
    assert_eq!(times, (0..10).map(|i| i * 100_000).collect::<Vec<u64>>());
}

/// Also with a mean gap of a few nanoseconds, where rounding each gap would show.
#[test]
fn poisson_gaps_have_the_mean_and_variance_of_their_rate() {
    for mean_gap in [5.0, 40_000.0] {
        let rate = Rate { per_kilosecond: (1e12 / mean_gap) as u64 };
        let mut times = ArrivalTimes::new(Arrivals::Poisson { rate }, Stream::new(5, "test"));
        let (n, mut last, mut sum, mut squares) = (200_000, 0, 0.0, 0.0);
        for _ in 0..n {
            let now = times.next_time().0;
            let gap = (now - last) as f64;
            (sum, squares, last) = (sum + gap, squares + gap * gap, now);
        }
        let mean = sum / f64::from(n);
        // Rounding to whole nanoseconds adds variance at both ends of the gap.
        let variance = squares / f64::from(n) - mean * mean - 1.0 / 6.0;
        // The standard error of the mean is 0.22 % of it, that of the variance 0.63 % (the fourth
        // moment is 9).
        assert!((mean / mean_gap - 1.0).abs() < 0.0075, "{mean}");
        assert!((variance / mean_gap.powi(2) - 1.0).abs() < 0.021, "{variance}");
    }
}

#[test]
fn constant_rates_do_not_drift() {
    let arrivals = Arrivals::ConstantRate { rate: Rate { per_kilosecond: 30_000_000 } };
    let mut times = ArrivalTimes::new(arrivals, Stream::new(5, "test"));
    for i in 0..90_001u64 {
        assert_eq!(times.next_time(), Nanos(i * 1_000_000_000 / 30_000));
    }
}

#[test]
fn bursts_are_exact() {
    let requests = one_phase(
        "writes = '100%'\nsize = '4KiB'\ntime = '2520us'\n\
         arrivals = { kind = 'bursts', period = '40us', burst_size = 10, burst_period = '1200us' }",
    );
    let times: Vec<u64> = requests.iter().map(|request| request.at.0 / 1000).collect();
    let mut expected: Vec<u64> = (0..63).map(|i| i * 40).collect();
    expected.extend([1200; 10].into_iter().chain([2400; 10]));
    expected.sort_unstable();
    assert_eq!(times, expected);
}

/// Each part of a phase has its own random stream: changing one leaves the draws of the others.
#[test]
fn parts_of_a_phase_do_not_disturb_each_other() {
    let base = "size = '4KiB'\nrequests = 500\nstreams = 3\n";
    let timed = "arrivals = { kind = 'poisson', rate = '1000/s' }\n";
    let writes = one_phase(&format!("{base}writes = '100%'"));
    let mixed = one_phase(&format!("{base}writes = '50%'\nreads = '50%'\n{timed}"));
    let lbas = |requests: &[Arrival]| requests.iter().map(|r| r.lba).collect::<Vec<_>>();
    assert_eq!(lbas(&writes), lbas(&mixed));
    let zipf = one_phase(&format!(
        "{base}writes = '50%'\nreads = '50%'\n{timed}address = {{ kind = 'zipf', theta = 1.0 }}"
    ));
    assert_ne!(lbas(&zipf), lbas(&mixed));
    assert!(zipf.iter().zip(&mixed).all(|(a, b)| (a.op, a.at) == (b.op, b.at)));
}

#[test]
fn a_phase_does_not_depend_on_how_far_the_one_before_got() {
    let workload = workload(
        "name = 'x'\n[[phase]]\nwrites = '100%'\nsize = '4KiB'\ntime = '1s'\n\
         [[phase]]\nwrites = '100%'\nsize = '4KiB'\nrequests = 5",
    );
    let second = |before: usize| {
        let mut generator = Generator::new(&workload, CAPACITY, 3).unwrap();
        (0..=before).for_each(|_| _ = generator.next_item());
        generator.skip_phase();
        (0..6).map(|_| generator.next_item()).collect::<Vec<_>>()
    };
    assert_eq!(second(1), second(1000));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_request_lies_in_its_region(
        capacity in 300u64..5_000_000,
        kind in 0usize..6,
        align in 1u64..40,
        offset in 0u64..90,
        overlap in 0u64..=100,
        streams in 1u64..4,
        sizes in (1u64..16, 0u64..16),
        seed: u64,
    ) {
        let address = [
            "{ kind = 'uniform' }".to_owned(),
            "{ kind = 'sequential' }".to_owned(),
            format!("{{ kind = 'strided', stride = '{}B' }}", align * 512 * 2),
            "{ kind = 'zipf', theta = 1.1 }".to_owned(),
            "{ kind = 'hot-cold', scatter = true }".to_owned(),
            "{ kind = 'histogram', weights = [4, 1] }".to_owned(),
        ];
        let text = format!(
            "name = 'x'\n[[phase]]\nreads = '40%'\nwrites = '40%'\ntrims = '20%'\n\
             size = {{ from = '{}B', to = '{}B', step = '512B' }}\nalign = '{}B'\n\
             region = {{ offset = '{offset}%', size = '10%' }}\noverlap = '{overlap}%'\n\
             streams = {streams}\naddress = {}\nrequests = 300",
            sizes.0 * 512, (sizes.0 + sizes.1) * 512, align * 512, address[kind]
        );
        let workload = workload(&text);
        // A small device may have no room for the region: that is an error, not a request.
        let Ok(mut generator) = Generator::new(&workload, capacity, seed) else { return Ok(()) };
        let begin = capacity * offset / 100;
        let end = begin.next_multiple_of(align) + capacity / 10;
        let mut seen = 0;
        loop {
            match generator.next_item() {
                Next::Request(request) => {
                    seen += 1;
                    prop_assert!(request.sectors > 0);
                    prop_assert!(request.lba.0.is_multiple_of(align), "{request:?}");
                    prop_assert!(request.lba.0 >= begin);
                    let last = request.lba.0 + u64::from(request.sectors);
                    prop_assert!(last <= end.min(capacity), "{request:?}");
                }
                Next::Phase(_) => {}
                Next::End => break,
            }
        }
        prop_assert_eq!(seen, 300);
    }
}
