//! Ageing without a clock against ageing in time: write amplification, valid pages a block, and wear,
//! for each policy that supports it.

use std::collections::BTreeSet;

use ftlab::config::all_policies;

use super::bench::{Aged, Clock, SMALL, age, config, device};

/// How often a device is aged each way.
const SEEDS: u64 = 2;
/// By how much write amplification may differ.
const TOLERANCE: f64 = 0.005;
/// The Kolmogorov-Smirnov statistic at 0.001: of pairs of samples of one distribution, one in a thousand is
/// further apart than this, divided by the root of their sizes' harmonic sum.
const KS_OF_ONE_IN_A_THOUSAND: f64 = 1.949;

/// Ages a device with these options in time and without a clock, with `seeds` seeds each, and compares the results.
fn agree(options: &[&str], seeds: u64, tolerance: f64) {
    let config = config(options);
    let [timed, untimed] = [Clock::Timed, Clock::Untimed]
        .map(|clock| (1..=seeds).map(|seed| age(&config, clock, seed)).collect::<Vec<Aged>>());
    let mean = |runs: &[Aged]| runs.iter().map(|run| run.amplification).sum::<f64>() / seeds as f64;
    let spread = |runs: &[Aged]| {
        let all = runs.iter().map(|run| run.amplification);
        all.clone().fold(f64::MIN, f64::max) / all.fold(f64::MAX, f64::min) - 1.0
    };
    let (in_time, without) = (mean(&timed), mean(&untimed));
    let valid = distance(&pooled(&timed, Aged::valid), &pooled(&untimed, Aged::valid));
    let erases = distance(&pooled(&timed, Aged::erases), &pooled(&untimed, Aged::erases));
    println!(
        "{options:?}: {in_time:.4} and {without:.4} ({:+.2} %), seeds within {:.2} and {:.2} %; valid pages \
         {:.4} of {:.4}, erases {:.4} of {:.4}",
        100.0 * (without / in_time - 1.0),
        100.0 * spread(&timed),
        100.0 * spread(&untimed),
        valid.found,
        valid.most,
        erases.found,
        erases.most,
    );
    assert!((without / in_time - 1.0).abs() < tolerance, "{options:?}: {in_time}, {without}");
    assert!(valid.found < valid.most, "{options:?}: valid pages a block");
    assert!(erases.found < erases.most, "{options:?}: erases of a block");
}

fn pooled(runs: &[Aged], of: impl Fn(&Aged) -> Vec<u32>) -> Vec<u32> {
    let mut all: Vec<u32> = runs.iter().flat_map(of).collect();
    all.sort_unstable();
    all
}

/// The distance of two samples, and the largest allowed.
struct Distance {
    found: f64,
    most: f64,
}

fn distance(one: &[u32], other: &[u32]) -> Distance {
    let share =
        |all: &[u32], at: u32| all.partition_point(|&value| value <= at) as f64 / all.len() as f64;
    let apart = |&at: &u32| (share(one, at) - share(other, at)).abs();
    let found = one.iter().chain(other).map(apart).fold(0.0, f64::max);
    let sizes = 1.0 / one.len() as f64 + 1.0 / other.len() as f64;
    Distance { found, most: KS_OF_ONE_IN_A_THOUSAND * sizes.sqrt() }
}

/// A test for each device, and a list of all.
macro_rules! devices {
    ($($(#[$meta:meta])* $name:ident: [$($option:expr),*];)+) => {
        $(
            #[test]
            $(#[$meta])*
            fn $name() {
                agree(&[$($option),*], SEEDS, TOLERANCE);
            }
        )+

        /// The options of the devices that are compared.
        const COMPARED: &[&[&str]] = &[$(&[$($option),*]),+];
    };
}

devices! {
    as_it_is: [];
    victim_cost_benefit: ["ftl.gc.victim=cost-benefit"];
    victim_cost_age_times: ["ftl.gc.victim=cost-age-times"];
    victim_d_choices: ["ftl.gc.victim=d-choices"];
    victim_random_greedy: ["ftl.gc.victim=random-greedy"];
    victim_windowed_greedy: ["ftl.gc.victim=windowed-greedy"];
    victim_fifo: ["ftl.gc.victim=fifo"];
    victim_two_region: ["ftl.gc.victim=two-region"];
    pacing_token_bucket: ["ftl.gc.pacing=token-bucket"];
    pacing_stall: ["ftl.gc.pacing=stall"];
    streams_by_host: ["ftl.streams.policy=by-host-stream"];
    streams_fdp: ["ftl.streams.policy=fdp", "ftl.streams.handles=3", "ftl.streams.isolation=persistently"];
    streams_multi_hash: ["ftl.streams.policy=multi-hash"];
    streams_multi_bloom: ["ftl.streams.policy=multi-bloom"];
    placement_zoned: ["ftl.placement.policy=zoned"];
    streams_sepbit: ["ftl.streams.policy=sepbit"];
    streams_dac: ["ftl.streams.policy=dac"];
    streams_multi_log: ["ftl.streams.policy=multi-log", "ftl.streams.logs=4"];
    streams_sfs: ["ftl.streams.policy=sfs"];
    streams_warcip: ["ftl.streams.policy=warcip"];
    streams_midas: ["ftl.streams.policy=midas"];
    streams_by_generation: ["ftl.streams.copy_streams=3"];
    placement_static: ["ftl.placement.policy=static"];
    placement_partly_dynamic: ["ftl.placement.policy=partly-dynamic"];
    free_block_least_worn: ["ftl.wear.free_block=least-worn"];
    free_block_by_heat: ["ftl.wear.free_block=by-heat"];
    wear_threshold: ["ftl.wear.policy=threshold", "ftl.wear.threshold=2"];
    wear_bet: ["ftl.wear.policy=bet"];
    slc_static: ["ftl.slc_cache.policy=static", "ftl.slc_cache.blocks=12"];
    slc_static_that_folds: [
        "ftl.slc_cache.policy=static", "ftl.slc_cache.blocks=12", "ftl.slc_cache.when_full=fold"
    ];
    slc_that_folds_inside: [
        "ftl.slc_cache.policy=static", "ftl.slc_cache.blocks=12", "ftl.slc_cache.when_full=fold",
        "ftl.slc_cache.fold_inside=on"
    ];
    slc_dynamic: ["ftl.slc_cache.policy=dynamic"];
    slc_hybrid: ["ftl.slc_cache.policy=hybrid", "ftl.slc_cache.blocks=12"];
    processor: ["cache.policy=fifo", "host.command_time=2us", "firmware.unit=1us", "firmware.pacing.program=100MB/s"];
    buffer_none: ["cache.policy=none"];
    buffer_fifo: ["cache.policy=fifo"];
    buffer_cflru: ["cache.policy=cflru"];
    buffer_lru_wsr: ["cache.policy=lru-wsr"];
    buffer_ad_lru: ["cache.policy=ad-lru"];
    buffer_2qw_clock: ["cache.policy=2qw-clock"];
    buffer_exlru: ["cache.policy=exlru"];
    #[ignore = "long: ./x test --all"]
    buffer_bplru: ["cache.policy=bplru"];
    buffer_together: ["cache.policy=fifo", "cache.write_back_together=8"];
    buffer_fab: ["cache.policy=fab"];
    buffer_2q: ["cache.policy=2q"];
    buffer_append: ["cache.policy=append"];
    planes_together: ["nand.multi_plane.program=on"];
    planes_together_in_order: ["nand.multi_plane.program=on", "ftl.placement.policy=static"];
    scope_of_a_die: ["ftl.gc.scope=die"];
    increments: ["ftl.gc.copies_per_write=8"];
    copyback: ["ftl.gc.copyback=on"];
    parts_of_pages: ["nand.page_size=8KiB", "nand.pages_per_block=128", "ftl.mapping.unit=8KiB"];
    several_units_a_page: ["nand.page_size=16KiB", "nand.blocks_per_plane=96"];
    much_spare: ["ftl.over_provisioning=50%"];
}

/// Random victims leave blocks of all ages, and amplification varies: seeds differ by 5 %, and the difference
/// of two means of six has a standard error of 1.2 %.
#[test]
fn victim_random() {
    agree(&["ftl.gc.victim=random", "ftl.over_provisioning=60%"], 6, 0.03);
}

/// Four dies that serve both planes with one operation whenever they can. Flash pages hold four mapping units, and the
/// last copy of a victim is padded.
const IN_STEP: [&str; 8] = [
    "nand.chips_per_channel=2",
    "nand.blocks_per_plane=256",
    "nand.pages_per_block=16",
    "nand.page_size=16KiB",
    "nand.multi_plane.read=on",
    "nand.multi_plane.program=on",
    "nand.multi_plane.erase=on",
    "ftl.over_provisioning=20%",
];

/// A die whose planes collect in step is faster and takes more of the host's writes, so the dies' numbers of valid pages
/// drift apart. Where copies are padded, amplification is a staircase of a victim's valid pages: dies that stay alike all
/// stand on one step, here at 3.96. In time they wander between steps, around 3.70. Seeds have a standard deviation of 2 %,
/// and so the difference of the means of four a standard error of 1.3 %.
#[test]
fn planes_in_step() {
    const SEEDS: u64 = 4;
    let config = config(&IN_STEP);
    let mean = |clock| {
        let all = (1..=SEEDS).map(|seed| age(&config, clock, seed).amplification);
        all.sum::<f64>() / SEEDS as f64
    };
    let (in_time, without) = (mean(Clock::Timed), mean(Clock::Untimed));
    assert!((without / in_time - 1.0).abs() < 0.04, "{in_time}, {without}");
}

/// The options that decide the state that ageing leaves.
const DECIDES: [&str; 7] = [
    "ftl.placement.policy",
    "ftl.streams.policy",
    "ftl.gc.victim",
    "ftl.gc.pacing",
    "ftl.slc_cache.policy",
    "ftl.wear.policy",
    "cache.policy",
];

/// Options that some of them need as well.
const NEEDS: [(&str, &str); 3] = [
    ("cache.policy=gating", "ftl.placement.policy=static"),
    ("cache.policy=prlru", "ftl.mapping.policy=reconstruction"),
    ("cache.policy=prlru-adaptive", "ftl.mapping.policy=reconstruction"),
];

/// Every policy that can be aged without a clock is compared.
#[test]
fn every_policy_that_can_do_without_a_clock_is_compared() {
    let listed = COMPARED.iter().copied().flatten().chain(&SMALL).chain(&["ftl.gc.victim=random"]);
    let compared: BTreeSet<&str> = listed.copied().collect();
    let mut missing = Vec::new();
    for path in DECIDES {
        let seam = all_policies().iter().find(|seam| seam.path == path);
        let seam = seam.unwrap_or_else(|| panic!("no policies at {path}"));
        for policy in seam.policies.iter().filter(|policy| policy.name != seam.default) {
            let option = format!("{path}={}", policy.name);
            // Zones are filled, not aged; and of the load that ages a device nobody knows the future.
            if ["ftl.streams.policy=zoned", "ftl.streams.policy=future"].contains(&&*option) {
                continue;
            }
            let beside = NEEDS.iter().filter(|(of, _)| *of == option).map(|(_, beside)| *beside);
            let options: Vec<&str> = beside.chain([option.as_str()]).collect();
            let needs_time = || device(&config(&options), 1).needs_time().is_some();
            if !compared.contains(option.as_str()) && !needs_time() {
                missing.push(option);
            }
        }
    }
    assert!(missing.is_empty(), "not compared: {missing:?}");
}
