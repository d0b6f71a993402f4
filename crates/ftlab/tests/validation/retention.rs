//! Data that ages: how long its reads take, when it is lost, and that refresh comes earlier. Years pass
//! in these tests, and every byte is checked.

use ftlab::device::{Contents, Device, assemble};
use ftlab::engine::Stream;
use ftlab::ftl::BlockState;
use ftlab::ftl::gc::{Purpose, Wanted};
use ftlab::ftl::wear::RefreshRule;
use ftlab::host::{Advanced, Host, Op, Outcome, Request};
use ftlab::nand::timing::{Ispp, IsppOptions, Timing, TimingChoice, TimingPolicy};
use ftlab::nand::{CostClass, Limit, Reliability};
use ftlab::scheduler::Probe;
use ftlab::shape::Cell;
use ftlab::units::{BlockId, Lba, Lpn, Nanos, Ppn, SimTime};

use crate::common::{BLOCKS, ERASE, Spec, on_demand, request};
use crate::contents::Bench;

const DAY: Nanos = Nanos(86_400_000_000_000);
const MONTH: Nanos = Nanos(30 * DAY.0);
const YEAR: Nanos = Nanos(365 * DAY.0);

/// On cells whose cost follows age from the start, and wear from this share of the rated cycles.
fn worn(spec: Spec, share: &str, regulator: &str) -> Spec {
    spec.with("nand.cell = mlc\n nand.timing.policy = ispp\n nand.timing.age_at_least = 0%")
        .set("nand.timing.wear_at_least", share)
        .set("ftl.cost.policy", regulator)
}

fn options(spec: &Spec) -> IsppOptions {
    match &spec.config().options.nand.timing.policy {
        TimingChoice::Ispp(options) => options.clone(),
        other => panic!("{other:?}"),
    }
}

fn refreshed_by(spec: Spec, when: &str) -> Spec {
    spec.set("ftl.refresh.when", when)
}

/// Two dies of two planes.
fn spec() -> Spec {
    Spec::small().with(
        "nand.channels = 2
        nand.planes_per_die = 2
        ftl.placement.policy = dynamic",
    )
}

/// What happened to a device in ten years.
struct Decade {
    unreadable: u32,
    retries: u64,
    refreshed: u64,
    lost: usize,
}

/// Writes everything, at each cost that the regulator offers; then for ten years the host comes once a
/// month, reads a little, and seldom writes. In the end everything is read.
fn ten_years(spec: &Spec) -> Decade {
    let mut bench = Bench::new(spec, None);
    let (per_page, pages) = (u64::from(spec.sectors_per_page()), u64::from(spec.logical_pages()));
    let page = |page: u64| page * per_page..(page + 1) * per_page;
    let wait = |bench: &mut Bench, limit| {
        while bench.advance(limit).expect("the right data") == Advanced::Completed {}
    };
    for number in 0..pages {
        let ops: &[Op] = match number % 3 {
            0 => &[Op::Write],
            1 => &[Op::Write, Op::Write],
            _ => &[Op::Write, Op::Read, Op::Write],
        };
        for &op in ops {
            bench.submit(op, page(number));
            wait(&mut bench, SimTime::FOREVER);
        }
    }
    let mut random = Stream::new(1, "decade");
    for month in 1..=120 {
        let until = bench.device.now() + MONTH;
        wait(&mut bench, until);
        for _ in 0..3 {
            bench.submit(Op::Read, page(random.below(pages)));
        }
        if month % 6 == 0 {
            let number = random.below(pages);
            // Half a page: the rest comes from flash.
            bench.submit(Op::Write, number * per_page..number * per_page + per_page / 2);
        }
        wait(&mut bench, SimTime::FOREVER);
        bench.audit().expect("a sound FTL");
    }
    bench.finish().expect("the right data");
    let device = &bench.device;
    let physical = spec.geometry().physical_pages();
    Decade {
        unreadable: bench.unreadable,
        retries: device.flash().costs().retries,
        refreshed: device.ftl_counts().by_purpose[Purpose::Refresh as usize].runs,
        lost: (0..physical).filter(|&at| device.ftl().lost().is_at(Ppn::new(at))).count(),
    }
}

#[test]
fn refresh_in_time_loses_nothing_in_ten_years() {
    // So worn that nothing lasts for ten years; in the end, low-cost data has to move once a week.
    for share in ["150%", "300%"] {
        for name in ["traditional", "low-write", "high-write", "agcr"] {
            let decade =
                |refresh| ten_years(&refreshed_by(worn(spec(), share, name), refresh).filled(100));
            let before_loss = decade("before-loss");
            assert_eq!((before_loss.unreadable, before_loss.lost), (0, 0), "{share} {name}");
            let before_retries = decade("before-retries");
            assert_eq!(before_retries.retries, 0, "{share} {name}");
            assert_eq!((before_retries.unreadable, before_retries.lost), (0, 0), "{share} {name}");
            assert!(before_loss.refreshed > 0, "{share} {name}");
            assert!(before_retries.refreshed > before_loss.refreshed, "{share} {name}");
        }
    }
}

/// The same ten years without refresh, to show that the test above can fail.
#[test]
fn without_refresh_data_is_lost() {
    for name in ["low-write", "agcr"] {
        let decade = ten_years(&worn(spec(), "150%", name).filled(100));
        assert!(decade.unreadable > 0 && decade.lost > 0 && decade.retries > 0);
        assert_eq!(decade.refreshed, 0);
    }
}

/// With a write buffer, several pages on a flash page, and blocks that stay open for years.
#[test]
fn open_blocks_are_refreshed_too() {
    let spec = worn(spec().set("nand.page_size", "16KiB").buffered("lru", 16), "150%", "agcr");
    for refresh in ["before-retries", "before-loss"] {
        let decade = ten_years(&refreshed_by(spec.clone(), refresh).filled(12));
        assert_eq!((decade.unreadable, decade.lost), (0, 0));
        assert!(decade.refreshed > 0);
    }
}

/// Programs fail on blocks that a patrol has just closed: these are collected like any block that fails,
/// and lose no data.
#[test]
fn a_block_that_fails_while_it_is_closed_is_collected() {
    let mut failures = 0;
    for seed in 0..6 {
        let spec = spec().set(BLOCKS, 48).set("nand.pages_per_block", 64);
        let spec = spec.set("nand.faults.program_failures", 10_000_000).seeded(seed);
        let spec = refreshed_by(worn(spec, "300%", "low-write"), "before-loss").filled(12);
        let mut bench = Bench::new(&spec, None);
        let pages = u64::from(spec.logical_pages());
        let mut random = Stream::new(seed, "patrols");
        for day in 1..=100 {
            // Many programs are in flight when the patrol comes.
            let before = SimTime(day * DAY.0 - 100_000);
            while bench.advance(before).expect("the right data") == Advanced::Completed {}
            for _ in 0..16 {
                let page = random.below(pages) * 8;
                bench.submit(Op::Write, page..page + 8);
            }
            while bench.advance(SimTime::FOREVER).expect("the right data") != Advanced::Idle {}
        }
        bench.finish().expect("the right data");
        let ftl = bench.device.ftl();
        let blocks = (0..spec.geometry().blocks()).map(BlockId::new);
        let left = blocks.filter(|&block| ftl.blocks().state(block) == BlockState::Failing);
        assert!(bench.device.end_of_life().is_none(), "seed {seed}: too many failures");
        assert_eq!((left.count(), bench.unreadable), (0, 0), "seed {seed}");
        failures += ftl.life().map_or(0, |life| life.losses().program_failures);
    }
    assert!(failures > 50, "too few: {failures}");
}

/// Reads the one page on flash at a given age.
fn read_at(device: &mut Device, at: SimTime) -> (Nanos, Outcome) {
    let mut done = Vec::new();
    while device.advance_until(at, &mut done) == Advanced::Completed {}
    let begun = device.now();
    device.submit(begun, request(Op::Read, 0, 8, 1));
    done.clear();
    while device.advance_until(SimTime::FOREVER, &mut done) != Advanced::Idle {}
    let answer = done[0];
    assert_eq!((done.len(), answer.submitted), (1, begun));
    (answer.breakdown.cell, answer.outcome)
}

/// Read times over the years, and the number of retries, follow the closed form.
#[test]
fn retries_come_when_the_closed_form_says() {
    let options = options(&worn(Spec::small(), "100%", "traditional"));
    let model = Reliability::new(&options.reliability);
    let prices: Vec<Nanos> = options
        .reliability
        .references
        .iter()
        .map(|&references| options.read_time(Cell::Mlc, references))
        .collect();
    for (name, class) in [
        ("low-write", CostClass::Low),
        ("traditional", CostClass::Medium),
        ("high-write", CostClass::High),
    ] {
        let mut device: Device = assemble(worn(Spec::small(), "100%", name).setup());
        let mut done = Vec::new();
        device.submit(SimTime::ZERO, request(Op::Write, 0, 8, 0));
        while device.advance_until(SimTime::FOREVER, &mut done) != Advanced::Idle {}
        let (level, loss) = (
            model.lasts(class, 0, Limit::LastLevel).expect("it ages"),
            model.lasts(class, 0, Limit::LastRetry).expect("it ages"),
        );
        // Programmed within the first second, the unit of ages.
        let mut retries = 0;
        for quarter in 1..=50 {
            let age = Nanos(quarter * YEAR.0 / 4);
            let (took, outcome) = read_at(&mut device, SimTime(age.0));
            let effort = model.effort(class, 0, age);
            let tried =
                effort.map_or(options.reliability.retries, |effort| effort.retries() as u32);
            let expected = match effort {
                Some(effort) if effort.at() < prices.len() => prices[effort.at()],
                _ => Nanos(prices[2].0 * u64::from(1 + tried)),
            };
            assert_eq!(took, expected, "{class:?} after {quarter} quarters");
            assert_eq!(outcome == Outcome::Unreadable, age >= loss, "{class:?} {quarter}");
            assert_eq!(tried > 0, age >= level, "{class:?} {quarter}");
            retries += u64::from(tried);
        }
        assert_eq!(device.flash().costs().retries, retries, "{class:?}");
    }
}

/// Lost data stays lost when it is copied, never becomes part of something that looks sound, and is sound
/// again when the host writes the page again; also on a device that was saved in between.
#[test]
fn lost_data_is_marked_until_it_is_written_again() {
    let spec = worn(spec(), "150%", "low-write").filled(100);
    let new = || assemble(spec.setup());
    let mut device: Device = new();
    let mut done = Vec::new();
    let mut run = |device: &mut Device, op, lba: u64, sectors| {
        device.submit(
            device.now(),
            Request { op, lba: Lba(lba), sectors, stream: 0, tag: 0, fua: false },
        );
        done.clear();
        while device.advance_until(SimTime::FOREVER, &mut done) != Advanced::Idle {}
        done[0].outcome
    };
    for page in 0..u64::from(spec.logical_pages()) {
        run(&mut device, Op::Write, page * 8, 8);
    }
    assert_eq!(run(&mut device, Op::Read, 0, 8), Outcome::Done);
    let later = device.now() + Nanos(4 * YEAR.0);
    device.advance_until(later, &mut Vec::new());
    assert_eq!(run(&mut device, Op::Read, 0, 8), Outcome::Unreadable);
    // Half of the page is new, and the other half is lost: the page as a whole is not sound.
    assert_eq!(run(&mut device, Op::Write, 0, 4), Outcome::Done);
    assert_eq!(run(&mut device, Op::Read, 0, 8), Outcome::Unreadable);
    assert_eq!(run(&mut device, Op::Write, 0, 8), Outcome::Done);
    assert_eq!(run(&mut device, Op::Read, 0, 8), Outcome::Done);
    for round in 0..u64::from(spec.logical_pages()) * 4 {
        run(&mut device, Op::Write, round % 16 * 8, 8);
    }
    // Other pages are copied when their blocks are collected, which reads what the host does not.
    for block in (0..spec.geometry().blocks()).map(BlockId::new) {
        device.collect(Wanted { block, purpose: Purpose::WearLevel });
        while device.advance_until(SimTime::FOREVER, &mut Vec::new()) != Advanced::Idle {}
    }
    let unreadable =
        |device: &mut Device, run: &mut dyn FnMut(&mut Device, Op, u64, u32) -> Outcome| {
            let pages = 16..u64::from(spec.logical_pages());
            pages.filter(|page| run(device, Op::Read, page * 8, 8) == Outcome::Unreadable).count()
        };
    assert!(device.ftl_counts().gc_pages > 0, "nothing was copied");
    let all = spec.logical_pages() as usize - 16;
    assert_eq!(unreadable(&mut device, &mut run), all);
    let mut loaded: Device = new();
    loaded.load(&device.save(), ftlab::image::Resume::NONE).expect("a sound image");
    assert_eq!(unreadable(&mut loaded, &mut run), all);
}

/// Data from a device without costs that is loaded into one with costs ages from the load on: neither
/// from earlier nor never.
#[test]
fn data_of_unknown_age_ages_from_the_load_on() {
    let spec = Spec::small();
    let mut plain: Device = assemble(spec.setup());
    let mut done = Vec::new();
    plain.advance_until(SimTime(50 * YEAR.0), &mut done);
    plain.submit(plain.now(), request(Op::Write, 0, 8, 0));
    plain.rest(&mut done).expect("room");
    let spec = worn(spec, "100%", "traditional");
    let options = options(&spec);
    let mut device: Device = assemble(spec.setup());
    device.load(&plain.save(), ftlab::image::Resume::NONE).expect("a sound image");
    let model = Reliability::new(&options.reliability);
    let lasts = model.lasts(CostClass::Medium, 0, Limit::LastRetry).expect("it ages");
    let loaded = device.now();
    assert!(loaded >= SimTime(50 * YEAR.0));
    assert_eq!(read_at(&mut device, loaded).1, Outcome::Done);
    assert_eq!(read_at(&mut device, loaded + Nanos(lasts.0 - DAY.0)).1, Outcome::Done);
    assert_eq!(read_at(&mut device, loaded + lasts).1, Outcome::Unreadable);
}

/// Likewise the initial data of a log mapping.
#[test]
fn initial_data_ages_from_the_start() {
    let spec = Spec::small().with("ftl.mapping.policy = bast\n ftl.mapping.start = full");
    let setup = worn(spec, "100%", "traditional").setup();
    let timing = &setup.flash.timing.native;
    let lasts = timing
        .reliability()
        .and_then(|model| model.lasts(CostClass::Medium, 0, Limit::LastRetry))
        .expect("it ages");
    let mut device: Device = assemble(setup);
    assert_eq!(read_at(&mut device, SimTime::ZERO + Nanos(lasts.0 - DAY.0)).1, Outcome::Done);
    assert_eq!(read_at(&mut device, SimTime::ZERO + lasts).1, Outcome::Unreadable);
}

/// Patrols keep neither the run nor any request from ending.
#[test]
fn a_device_that_patrols_comes_to_an_end() {
    let spec = refreshed_by(worn(Spec::small(), "100%", "traditional"), "before-loss");
    let mut device: Device = assemble(spec.setup());
    let mut done = Vec::new();
    assert_eq!(device.advance_until(SimTime::FOREVER, &mut done), Advanced::Idle);
    assert_eq!(device.now(), SimTime::ZERO);
    device.submit(SimTime::ZERO, request(Op::Write, 0, 8, 0));
    assert_eq!(device.advance_until(SimTime::FOREVER, &mut done), Advanced::Completed);
    assert_eq!(device.advance_until(SimTime::FOREVER, &mut done), Advanced::Idle);
    // Time passes only as far as somebody lets it.
    let later = SimTime(YEAR.0);
    while device.advance_until(later, &mut done) == Advanced::Completed {}
    assert_eq!(device.now(), later);
    // A request long after a patrol was due, without an advance in between.
    let much_later = SimTime(20 * YEAR.0);
    device.submit(much_later, request(Op::Read, 0, 8, 1));
    assert_eq!(device.advance_until(SimTime::FOREVER, &mut done), Advanced::Completed);
    assert_eq!(done.last().map(|done| done.outcome), Some(Outcome::Unreadable));
    assert_eq!(device.advance_until(SimTime::FOREVER, &mut done), Advanced::Idle);
}

/// A small, full device, some time later. It ages faster than any that can be configured.
fn written(options: &IsppOptions, rule: RefreshRule, wait: Nanos) -> Device {
    let spec = worn(Spec::small(), "100%", "traditional");
    let mut setup = spec.setup();
    setup.flash.timing.native = Timing::Ispp(Ispp::new(options, Cell::Mlc, ERASE));
    setup.ftl.wear.refresh = Some(rule);
    let mut device: Device = assemble(setup);
    let mut done = Vec::new();
    for page in 0..spec.logical_pages() {
        device.submit(device.now(), request(Op::Write, u64::from(page) * 8, 8, page));
        while device.advance_until(SimTime::FOREVER, &mut done) != Advanced::Idle {}
    }
    let until = device.now() + wait;
    while device.advance_until(until, &mut done) == Advanced::Completed {}
    device
}

fn refreshed(device: &Device) -> u64 {
    device.ftl_counts().by_purpose[Purpose::Refresh as usize].runs
}

/// Programs take seconds, and data lasts for half a minute: when all of it is refreshed, the first is due
/// again. Refresh in progress finishes; if more time passes, more patrols follow.
#[test]
fn refresh_that_never_gets_done_comes_to_an_end() {
    const SECOND: Nanos = Nanos(1_000_000_000);
    let mut options = options(&worn(Spec::small(), "100%", "traditional"));
    (options.reliability.rated_age, options.program_volt) = (Nanos(10 * SECOND.0), SECOND);
    let rule = RefreshRule { limit: Limit::LastLevel, period: Nanos(10 * SECOND.0) };
    let model = Reliability::new(&options.reliability);
    let lasts = model.lasts(CostClass::Medium, 0, rule.limit).expect("it ages");
    assert!(lasts > rule.period + rule.period, "refresh seems to keep up");
    let mut device = written(&options, rule, rule.period);
    let (begun, mut done) = (device.now(), Vec::new());
    assert_eq!(device.advance_until(SimTime::FOREVER, &mut done), Advanced::Idle);
    let once = refreshed(&device);
    assert!(once > 0 && device.now() - begun > lasts, "{once} blocks, {}", device.now() - begun);
    let later = device.now() + rule.period;
    while device.advance_until(later, &mut done) == Advanced::Completed {}
    assert_eq!(device.advance_until(SimTime::FOREVER, &mut done), Advanced::Idle);
    assert!(refreshed(&device) > once);
}

/// On blocks so worn that a copy is due at once, refresh gives up, and says so.
#[test]
fn data_beyond_refresh_is_left_alone() {
    let mut options = options(&worn(Spec::small(), "100%", "traditional"));
    options.reliability.rated_age = Nanos(DAY.0 / 24);
    let rule = RefreshRule { limit: Limit::LastLevel, period: DAY };
    let mut device = written(&options, rule, Nanos(10 * DAY.0));
    assert_eq!(device.advance_until(SimTime::FOREVER, &mut Vec::new()), Advanced::Idle);
    assert_eq!(refreshed(&device), 0);
    assert!(device.ftl_counts().beyond_refresh > 0);
}

/// A translation page is as old as the first page of its block. If it can't be read, the pages that only it
/// names are lost, however young, until the host writes them again; no others are, and no read is wrong.
#[test]
fn pages_of_a_lost_translation_page_are_lost() {
    let spec = spec().set("nand.page_size", "2KiB").set(BLOCKS, 32);
    let spec = worn(on_demand::cached(spec, 4), "150%", "low-write").filled(50);
    let model = Reliability::new(&options(&spec).reliability);
    let mut bench = Bench::new(&spec, None);
    let per_page = u64::from(spec.sectors_per_page());
    let wait = |bench: &mut Bench, limit| {
        while bench.advance(limit).expect("the right data") == Advanced::Completed {}
    };
    let all = |bench: &mut Bench, op| {
        let mut young = 0;
        for page in 0..spec.logical_pages() {
            let is_sound = is_sound(&bench.device, &model, Lpn::new(page));
            let before = bench.unreadable;
            let first = u64::from(page) * per_page;
            bench.submit(op, first..first + per_page);
            wait(bench, SimTime::FOREVER);
            young += u32::from(is_sound && bench.unreadable > before);
        }
        young
    };
    all(&mut bench, Op::Write);
    assert_eq!((all(&mut bench, Op::Read), bench.unreadable), (0, 0));
    let later = bench.device.now() + Nanos(4 * YEAR.0);
    wait(&mut bench, later);
    all(&mut bench, Op::Write);
    assert!(all(&mut bench, Op::Read) > 0, "no young page was lost");
    // Blocks of the map that were opened years ago get full at some time.
    for _ in 0..8 {
        all(&mut bench, Op::Write);
    }
    let before = bench.unreadable;
    assert_eq!((all(&mut bench, Op::Read), bench.unreadable), (0, before));
    bench.finish().expect("the right data");
}

/// Whether the page could be read where it lies.
fn is_sound<P: Probe, C: Contents>(device: &Device<P, C>, model: &Reliability, page: Lpn) -> bool {
    let (Some(at), Some(programmed)) = (device.ftl().look_up(page), device.flash().programmed())
    else {
        return false;
    };
    let block = device.flash().geometry().block_of(at);
    let (erases, age) = (programmed.erases(block), programmed.age(block, device.now()));
    model.effort(device.flash().class_at(at), erases, age).is_some()
}
