//! The model behind the costs: its defaults match the table; more wear, age or step never makes a
//! read cheaper; and data lasts until its errors pass a limit.

use ftlab::config::{Config, Layer};
use ftlab::device::{Device, DeviceSetup, assemble};
use ftlab::engine::Stream;
use ftlab::host::{Advanced, Host, Op, Request};
use ftlab::nand::timing::{IsppOptions, TimingChoice};
use ftlab::nand::{CostClass, Limit, ReadEffort, Reliability, ReliabilityOptions, Strain};
use ftlab::shape::Cell;
use ftlab::units::{Lba, Nanos, Ratio, SimTime};
use proptest::prelude::*;

const SECOND: u64 = 1_000_000_000;
const YEAR: u64 = 365 * 86_400 * SECOND;

fn ispp(sets: &[&str]) -> IsppOptions {
    let chosen = ["nand.cell=mlc", "nand.timing.policy=ispp"];
    let sets = chosen.iter().chain(sets).enumerate().map(|(at, set)| Layer::set(at + 1, set));
    let layers: Vec<_> = std::iter::once(Layer::preset("tiny")).chain(sets).collect();
    let config = Config::load(&layers).unwrap_or_else(|error| panic!("{error}"));
    match config.options.nand.timing.policy {
        TimingChoice::Ispp(options) => options,
        other => panic!("{other:?}"),
    }
}

fn errors(sets: &[&str]) -> String {
    let chosen = ["nand.cell=mlc", "nand.timing.policy=ispp"];
    let sets = chosen.iter().chain(sets).enumerate().map(|(at, set)| Layer::set(at + 1, set));
    let layers: Vec<_> = std::iter::once(Layer::preset("tiny")).chain(sets).collect();
    Config::load(&layers).map(|_| ()).expect_err("it should be refused").to_string()
}

fn defaults() -> ReliabilityOptions {
    ispp(&[]).reliability
}

/// Cost follows wear and age from the start.
fn as_they_are() -> ReliabilityOptions {
    ReliabilityOptions {
        wear_at_least: Ratio::default(),
        age_at_least: Ratio::default(),
        ..defaults()
    }
}

#[test]
fn the_defaults_are_the_table() {
    let options = ispp(&[]);
    let programs = options.reliability.program_step.iter().map(|&step| options.program_time(step));
    assert_eq!(programs.collect::<Vec<_>>(), [450, 600, 800].map(Nanos::from_micros));
    let levels = &options.reliability.references;
    let reads = levels.iter().map(|&count| options.read_time(Cell::Mlc, count));
    assert_eq!(reads.collect::<Vec<_>>(), [70, 170, 310].map(Nanos::from_micros));
    let model = Reliability::new(&options.reliability);
    for class in CostClass::ALL {
        // Young or at the end of its rated life: the controller plans for the latter.
        for (erases, age) in [(0, 0), (3_000, YEAR)] {
            assert_eq!(model.effort(class, erases, Nanos(age)), Some(class.effort()));
        }
    }
}

/// The same load on the table and on the model gives the same answers at the same times.
#[test]
fn a_device_with_the_defaults_is_one_with_the_table() {
    let run = |timing: &str, policy: &str| {
        let sets = [
            "nand.cell=mlc",
            &format!("nand.timing.policy={timing}"),
            &format!("ftl.cost.policy={policy}"),
            "ftl.over_provisioning=60%",
            "nand.blocks_per_plane=20",
            "nand.pages_per_block=8",
        ];
        let sets = sets.iter().enumerate().map(|(at, set)| Layer::set(at + 1, set));
        let layers: Vec<_> = std::iter::once(Layer::preset("tiny")).chain(sets).collect();
        let config = Config::load(&layers).unwrap_or_else(|error| panic!("{error}"));
        let mut device: Device = assemble(DeviceSetup::new(&config, 1));
        let pages = device.capacity_sectors() / 8;
        let (mut random, mut done) = (Stream::new(1, "load"), Vec::new());
        for tag in 0..5_000 {
            while device.requests_in_flight() >= 8 {
                device.advance_until(SimTime::FOREVER, &mut done);
            }
            let op = if random.below(2) == 0 { Op::Read } else { Op::Write };
            let lba = Lba(random.below(pages) * 8);
            device
                .submit(device.now(), Request { op, lba, sectors: 8, stream: 0, tag, fua: false });
        }
        while device.advance_until(SimTime::FOREVER, &mut done) != Advanced::Idle {}
        assert!(device.ftl_counts().gc_pages > 0, "nothing was collected");
        (done, *device.flash().costs())
    };
    for policy in ["traditional", "high-write", "low-write", "queue-driven", "agcr"] {
        assert!(run("by-cost", policy) == run("ispp", policy), "{policy}");
    }
}

#[test]
fn raw_errors_at_the_rated_point_are_those_of_the_guide() {
    let model = Reliability::new(&defaults());
    for (class, millionths) in
        [(CostClass::High, 3_150.0), (CostClass::Medium, 5_600.0), (CostClass::Low, 9_955.555_6)]
    {
        let errors = model.raw_errors(class, 3_000, Nanos(YEAR)) * 1e6;
        assert!((errors - millionths).abs() < 1e-3, "{class:?}: {errors}");
    }
}

#[test]
fn a_young_device_may_be_read_cheaply() {
    let model = Reliability::new(&as_they_are());
    // Fresh: 600 in a million at the rated step, scaled by the square of the others.
    for class in CostClass::ALL {
        assert_eq!(model.effort(class, 0, Nanos::ZERO), Some(ReadEffort(0)), "{class:?}");
    }
    // After the rated cycles, at once: 2600 at the rated step, 4622 at the coarse one.
    assert_eq!(model.effort(CostClass::Medium, 3_000, Nanos::ZERO), Some(ReadEffort(0)));
    assert_eq!(model.effort(CostClass::Low, 3_000, Nanos::ZERO), Some(ReadEffort(1)));
}

/// Reads of a block add errors in proportion to their number, and to the wear of the block.
#[test]
fn reads_of_a_block_disturb_its_pages() {
    let options =
        ReliabilityOptions { disturbed_errors: 1_000, disturbed_reads: 100_000, ..as_they_are() };
    let model = Reliability::new(&options);
    let effort = |erases, reads| {
        let strain = Strain { erases, age: Nanos::ZERO, reads };
        model.effort_after(CostClass::Medium, &strain).map(|effort| effort.0)
    };
    // 600 + 2000 + 1000 * reads / 100000 after the rated cycles, and half of the wear's part after half of them:
    // the first level corrects 4000, the last 22800.
    assert_eq!([140_000, 140_001].map(|reads| effort(3_000, reads)), [Some(0), Some(1)]);
    assert_eq!([480_000, 480_001].map(|reads| effort(1_500, reads)), [Some(0), Some(1)]);
    assert_eq!([2_020_000, 2_020_001].map(|reads| effort(3_000, reads)), [Some(5), None]);
    assert_eq!(effort(0, u32::MAX), Some(0), "new cells are not disturbed");
    assert!(!Reliability::new(&as_they_are()).is_disturbed());
}

#[test]
fn retries_continue_where_the_last_level_ends() {
    let model = Reliability::new(&as_they_are());
    // 600 + 2000 + 3000 * years, at the rated step: 12000, 15600, 19200 and 22800 are the limits.
    let at_years = |hundredths: u64| {
        model.effort(CostClass::Medium, 3_000, Nanos(hundredths * (YEAR / 100))).map(|e| e.0)
    };
    let seen = [46, 47, 146, 147, 313, 314, 433, 434, 553, 554, 673, 674].map(at_years);
    let expected = [0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5];
    assert_eq!(seen[..11], expected.map(Some));
    assert_eq!(seen[11], None, "nothing corrects it any more");
    let none = ReliabilityOptions { retries: 0, ..as_they_are() };
    let model = Reliability::new(&none);
    assert_eq!(model.effort(CostClass::Medium, 3_000, Nanos(YEAR * 314 / 100)), None);
}

/// The table of docs/cost-regulation.md, in years.
#[test]
fn the_guide_says_how_long_data_lasts() {
    for (share, expected) in [
        (100, [["1.4", "3.4"], ["3.1", "6.7"], ["6.2", "12.6"]]),
        (150, [["0.7", "2.1"], ["1.9", "4.3"], ["3.9", "8.2"]]),
    ] {
        let options = ReliabilityOptions { wear_at_least: Ratio::percent(share), ..as_they_are() };
        let model = Reliability::new(&options);
        let table = CostClass::ALL.map(|class| {
            [Limit::LastLevel, Limit::LastRetry].map(|limit| {
                let age = model.lasts(class, 0, limit).expect("it ages").0;
                format!("{:.1}", age as f64 / YEAR as f64)
            })
        });
        assert_eq!(table, expected.map(|row| row.map(str::to_owned)), "{share} %");
    }
}

#[test]
fn lists_that_are_out_of_order_or_too_short_are_refused() {
    for (set, said) in [
        ("nand.timing.program_step=[225, 300, 400]", "the coarsest first"),
        ("nand.timing.references=[1, 3]", "the references of three levels"),
        ("nand.timing.corrects=[4000, 12000, 7000]", "the least first"),
        ("nand.timing.cycled_errors=50000", "which cannot be corrected"),
    ] {
        let told = errors(&[set]);
        assert!(told.contains(said), "{set}: {told}");
    }
}

fn options() -> impl Strategy<Value = ReliabilityOptions> {
    let steps = prop::collection::vec(10_u32..2_000, 3);
    let corrects = prop::collection::btree_set(1_u32..500_000, 3);
    let errors = (0_u32..100_000, 0_u32..100_000, 0_u32..100_000);
    let rated = (1_u32..1_000_000, 1_u64..100 * 365 * 24);
    let floors = (0_u32..3_000_000, 0_u32..3_000_000);
    let retries = (0_u32..=16, 10_000_u32..=1_000_000);
    (steps, corrects, errors, rated, floors, retries).prop_map(
        |(mut steps, corrects, errors, rated, floors, retries)| {
            steps.sort_unstable_by(|one, other| other.cmp(one));
            ReliabilityOptions {
                program_step: steps,
                corrects: corrects.into_iter().collect(),
                fresh_errors: errors.0,
                cycled_errors: errors.1,
                retained_errors: errors.2,
                rated_cycles: rated.0,
                rated_age: Nanos(rated.1 * 3_600 * SECOND),
                wear_at_least: Ratio { ppm: floors.0 },
                age_at_least: Ratio { ppm: floors.1 },
                retries: retries.0,
                retry_gain: Ratio { ppm: retries.1 },
                ..defaults()
            }
        },
    )
}

/// An uncorrectable read ranks highest.
fn rank(effort: Option<ReadEffort>) -> u8 {
    effort.map_or(u8::MAX, |effort| effort.0)
}

proptest! {
    #[test]
    fn more_wear_age_or_step_never_makes_a_read_cheaper(
        options in options(),
        erases in 0_u32..2_000_000_000,
        more in 0_u32..2_000_000_000,
        age in 0_u64..50 * YEAR,
        longer in 0_u64..50 * YEAR,
    ) {
        let model = Reliability::new(&options);
        for class in CostClass::ALL {
            let at = |erases, age| model.effort(class, erases, Nanos(age));
            prop_assert!(rank(at(erases, age)) <= rank(at(erases + more, age)));
            prop_assert!(rank(at(erases, age)) <= rank(at(erases, age + longer)));
            let errors = |erases, age| model.raw_errors(class, erases, Nanos(age));
            prop_assert!(errors(erases, age) <= errors(erases + more, age));
            prop_assert!(errors(erases, age) <= errors(erases, age + longer));
        }
        let efforts = CostClass::ALL.map(|class| rank(model.effort(class, erases, Nanos(age))));
        prop_assert!(efforts.is_sorted_by(|cheap, dear| cheap >= dear), "{:?}", efforts);
    }

    /// A code that corrects more never needs more effort.
    #[test]
    fn a_better_code_never_makes_a_read_dearer(
        options in options(),
        by in 0_u32..100_000,
        erases in 0_u32..10_000,
        age in 0_u64..50 * YEAR,
    ) {
        let better = ReliabilityOptions {
            corrects: options.corrects.iter().map(|errors| errors + by).collect(),
            ..options.clone()
        };
        let (model, better) = (Reliability::new(&options), Reliability::new(&better));
        for class in CostClass::ALL {
            let of = |model: &Reliability| rank(model.effort(class, erases, Nanos(age)));
            prop_assert!(of(&better) <= of(&model));
        }
    }

    /// The closed form gives the last second before the errors pass the limit.
    #[test]
    fn data_lasts_until_its_errors_pass_the_limit(
        options in options(),
        erases in 0_u32..2_000_000,
    ) {
        let model = Reliability::new(&options);
        for class in CostClass::ALL {
            for limit in [Limit::LastLevel, Limit::LastRetry] {
                let within = |age| model.is_within(limit, class, erases, Nanos(age));
                match model.lasts(class, erases, limit) {
                    None => prop_assert!(within(u64::MAX)),
                    Some(Nanos(0)) => prop_assert!(!within(0)),
                    Some(Nanos(age)) => {
                        prop_assert!(within(age - 1) && !within(age));
                        prop_assert!(within(age - SECOND));
                    }
                }
            }
            let readable = |age| model.effort(class, erases, Nanos(age)).is_some();
            if let Some(age) = model.lasts(class, erases, Limit::LastRetry) {
                prop_assert!(!readable(age.0));
            }
        }
    }

    /// The integer comparison agrees with the formula, away from the limits themselves.
    #[test]
    fn efforts_follow_the_formula(
        options in options(),
        erases in 0_u32..2_000_000,
        age in 0_u64..50 * YEAR,
    ) {
        let model = Reliability::new(&options);
        let last = f64::from(options.corrects[2]);
        let gain = options.retry_gain.of(u64::from(options.corrects[2])) as f64;
        let retried = (1..=options.retries).map(|retry| last + f64::from(retry) * gain);
        let limits: Vec<f64> =
            options.corrects.iter().map(|&errors| f64::from(errors)).chain(retried).collect();
        for class in CostClass::ALL {
            let step = f64::from(options.program_step[class as usize]);
            let square = (step / f64::from(options.rated_step)) * (step / f64::from(options.rated_step));
            let floor = |share: Ratio, whole: u64| share.of(whole);
            let cycles = floor(options.wear_at_least, u64::from(options.rated_cycles));
            let wear = u64::from(erases).max(cycles) as f64 / f64::from(options.rated_cycles);
            let rated = options.rated_age.0 / SECOND;
            let old = (age / SECOND).max(floor(options.age_at_least, rated)) as f64 / rated as f64;
            let [fresh, cycled, retained] =
                [options.fresh_errors, options.cycled_errors, options.retained_errors].map(f64::from);
            let errors = square * (fresh + wear * (cycled + retained * old));
            let told = model.raw_errors(class, erases, Nanos(age)) * 1e6;
            prop_assert!((told - errors).abs() <= 1e-9 * errors, "{} and {}", told, errors);
            let near = limits.iter().any(|limit| (errors - limit).abs() <= 1e-9 * limit);
            let expected = limits.iter().position(|&limit| errors <= limit);
            if !near {
                let effort = model.effort(class, erases, Nanos(age)).map(ReadEffort::at);
                prop_assert_eq!(effort, expected);
            }
        }
    }
}

/// Pages are rewritten at another cost only if that is enabled, programs have costs, and pages may
/// be placed freely: none of the three is enough alone.
#[test]
fn rewriting_needs_all_of_its_conditions() {
    let rewrites = |sets: &[&str]| {
        let sets = sets.iter().enumerate().map(|(at, set)| Layer::set(at + 1, set));
        let layers: Vec<Layer> = std::iter::once(Layer::preset("tiny")).chain(sets).collect();
        Config::load(&layers).map(|config| config.options.rewrites())
    };
    let (agcr, costs) = ("ftl.cost.policy=agcr", "nand.timing.policy=by-cost");
    let asked = rewrites(&[agcr, costs, "ftl.cost.rewrite_queue=7"]);
    assert_eq!(asked.expect("a good config"), Some(7));
    for sets in [&[costs][..], &[agcr, costs, "ftl.cost.rewrite=off"]] {
        assert_eq!(rewrites(sets).expect("a good config"), None, "{sets:?}");
    }
    for sets in [&[agcr][..], &[agcr, costs, "ftl.mapping.policy=log-block"]] {
        assert!(!matches!(rewrites(sets), Ok(Some(_))), "{sets:?}");
    }
}
