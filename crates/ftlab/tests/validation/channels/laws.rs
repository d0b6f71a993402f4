//! Laws that hold for every machine of the thesis, on any load.

use ftlab::engine::Stream;

use super::machine::{Machine, Params, Placement, Planner, Record, Times};

const PLANNERS: [Planner; 4] =
    [Planner::None, Planner::Synchronised, Planner::SuperDataBlock, Planner::CycleStealing];
const TIMES: Times = Times { read: 1, program: 10, erase: 100 };

fn small(planner: Planner, channels: u32) -> Params {
    Params {
        channels,
        sectors_per_page: 4,
        pages_per_block: 8,
        data_blocks: 12,
        log_blocks: 3,
        times: TIMES,
        planner,
        throttle: None,
        buffer_bytes: 0,
        in_order: false,
    }
}

/// Every planner, number of channels, throttle and buffer, in a small device.
fn all() -> impl Iterator<Item = Params> {
    let throttles = [None, Some(1), Some(3)];
    let buffers = [(0, false), (8 * 2048, false), (8 * 2048, true)];
    PLANNERS.into_iter().flat_map(move |planner| {
        [1, 2, 4].into_iter().flat_map(move |channels| {
            throttles.into_iter().flat_map(move |throttle| {
                buffers.into_iter().map(move |(buffer_bytes, in_order)| Params {
                    throttle,
                    buffer_bytes,
                    in_order,
                    ..small(planner, channels)
                })
            })
        })
    })
}

/// Random requests of up to 24 sectors: a read returns what was written last, and the tables agree
/// throughout.
fn random_run(params: Params, seed: u64) -> Record {
    let mut stream = Stream::new(seed, "requests");
    let mut machine = Machine::new(params);
    let page_sectors = match params.planner {
        Planner::Synchronised => params.sectors_per_page * params.channels,
        _ => params.sectors_per_page,
    };
    let pages = params.sectors().div_ceil(page_sectors.into()) as u32;
    let mut last = vec![0; pages as usize];
    for request in 1..=1_500 {
        let count = 1 + stream.below(24);
        let first = stream.below(params.sectors() - count + 1);
        let before = machine.now();
        machine.write(first, count);
        assert!(machine.now() >= before);
        let size = u64::from(page_sectors);
        (first / size..=(first + count - 1) / size).for_each(|page| last[page as usize] = request);
        if request % 50 == 0 {
            machine.audit();
            (0..pages).for_each(|page| assert_eq!(machine.read(page), last[page as usize]));
        }
    }
    machine.drain();
    (0..pages).for_each(|page| assert!(machine.placement(page) != Placement::Buffer));
    machine.finish()
}

#[test]
fn what_is_read_is_what_was_written_last() {
    for (seed, params) in all().enumerate() {
        let record = random_run(params, seed as u64);
        assert!(record.reclaims.len() > 20, "{params:?} hardly collected");
        assert!(
            params
                .throttle
                .is_none_or(|most| record.reclaims.iter().all(|reclaim| reclaim.merges <= most))
        );
        let moved: u64 = record.moved.iter().sum();
        assert!(params.throttle.is_some() || moved == 0);
    }
}

/// The clock is the sum of what happened; a reclaim is the sum of what its channel did.
#[test]
fn time_is_cycles_and_reclaims() {
    for params in all() {
        let record = random_run(params, 7);
        let mut own = 0;
        for reclaim in &record.reclaims {
            let copies = u64::from(reclaim.moved) * (TIMES.read + TIMES.program);
            let merges = u64::from(reclaim.merges) * params.merge_time();
            assert_eq!(reclaim.time, merges + copies + TIMES.erase);
            own += u64::from(reclaim.merges + reclaim.others_merges);
        }
        assert_eq!(own, record.merges.iter().sum::<u64>());
        let reclaims: u64 = record.reclaims.iter().map(|reclaim| reclaim.time).sum();
        let cycles = record.time - reclaims;
        let all_partial = record.write_cycles * (TIMES.program + TIMES.read);
        assert!((record.write_cycles * TIMES.program..=all_partial).contains(&cycles));
        let least: u64 =
            record.merges.iter().zip(&record.log_erases).map(|(merges, log)| merges + log).sum();
        assert_eq!(least, record.erases().iter().sum::<u64>());
    }
}

/// One channel has nobody to cooperate with.
#[test]
fn planners_are_one_on_one_channel() {
    for params in all().filter(|params| params.channels == 1) {
        let idle = Params { planner: Planner::None, ..params };
        assert_eq!(random_run(params, 3), random_run(idle, 3));
    }
}

/// Rule 1, both ways round. A synchronised machine is one channel with pages N times as large. And
/// on whole super pages independent channels never differ from one another, so a thief finds
/// just what the trigger found: stealing must give the same nanosecond. Super data blocks leave
/// each other channel an empty log block, whose erase stalls the machine once more.
#[test]
fn synchronised_is_one_wide_channel() {
    for channels in [2_u32, 4] {
        let gang = small(Planner::Synchronised, channels);
        let wide = Params { sectors_per_page: 4 * channels, ..small(Planner::None, 1) };
        assert_eq!(random_run(gang, 5), random_run(wide, 5));

        let whole = |planner| {
            let mut stream = Stream::new(9, "super pages");
            let mut machine = Machine::new(small(planner, channels));
            let size = 4 * u64::from(channels);
            (0..2_000).for_each(|_| machine.write(stream.below(12 * 8) * size, size));
            machine.finish()
        };
        let expected = whole(Planner::Synchronised);
        let stolen = whole(Planner::CycleStealing);
        assert_eq!(stolen.time, expected.time);
        assert_eq!(stolen.write_cycles, expected.write_cycles);
        assert_eq!(stolen.reclaims.len(), expected.reclaims.len());
        let merges = |record: &Record| -> Vec<u32> {
            record.reclaims.iter().map(|one| one.merges).collect()
        };
        assert_eq!(merges(&stolen), merges(&expected));
        assert!(stolen.erases().iter().all(|erases| *erases == expected.erases()[0]));

        let super_blocks = whole(Planner::SuperDataBlock);
        let more = u64::from(channels - 1) * expected.reclaims.len() as u64 * TIMES.erase;
        assert_eq!(super_blocks.time, expected.time + more);
    }
}

/// The machine asserts this of each cycle; here are its consequences.
#[test]
fn a_cycle_is_at_most_a_page_a_channel() {
    for params in all() {
        let record = random_run(params, 2);
        let wide =
            if params.planner == Planner::Synchronised { 1 } else { u64::from(params.channels) };
        assert!((record.write_cycles..=record.write_cycles * wide).contains(&record.written_pages));
    }
}
