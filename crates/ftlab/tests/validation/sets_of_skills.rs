//! A device runs on the smallest set of skills that covers its features, and behaves the same on each larger one:
//! every submission and completion, every counter and every byte at rest, whatever the device and the load.

use ftlab::device::{Device, DeviceSetup, assemble};
use ftlab::engine::skills::{ABOVE_FLASH, ALL, COMMON, PLAIN, Skills};
use ftlab::host::{Advanced, Completion, Host, Op, Request};
use ftlab::image::Resume;
use ftlab::units::{DieId, Lba, Nanos, Ratio, SimTime};
use proptest::prelude::*;

use crate::common::random::{self, Step, mended};
use crate::common::{Spec, assert_no_standstill};

/// Commands of a run.
const STEPS: usize = 700;

/// The device without the features that the set does not cover.
fn cut_down(spec: Spec, set: Skills) -> Spec {
    let others = [
        "host.",
        "firmware.",
        "cache.read.",
        "cache.keep_reads",
        "nand.timing.",
        "ftl.cost.",
        "ftl.mapping.policy",
        // In everything else, collection does the usual.
        "ftl.gc.scope",
        "ftl.gc.background.",
        "ftl.gc.preemptible",
        "ftl.gc.copies_per_write",
        "ftl.gc.copyback",
        "ftl.slc_cache.fold_inside",
    ];
    let packs = spec.config().options.cache.policy.packs();
    let spec = spec.without(|path| others.iter().any(|other| path.starts_with(other)));
    let spec = if packs { spec.without(|path| path.starts_with("cache.")) } else { spec };
    if set == COMMON {
        return mended(spec);
    }
    // A flash page is a mapping unit, and a die does one thing at a time, in order of arrival.
    let spec = spec.without(|path| path.starts_with("nand.multi_plane."));
    mended(
        spec.set("ftl.mapping.unit", "flash-page")
            .set("nand.planes_per_die", 1)
            .set("scheduler.policy", "fifo"),
    )
}

/// The device without rare features of flash.
fn on_common_flash(spec: Spec) -> Spec {
    let others = ["nand.timing.", "nand.bus.command", "nand.one_die", "ftl.cost."];
    mended(spec.without(|path| others.iter().any(|other| path.starts_with(other))))
}

/// Everything that can be seen of a run.
#[derive(Debug, PartialEq)]
struct Seen {
    done: Vec<Completion>,
    now: SimTime,
    counts: String,
    image: String,
}

/// What happens to a device after three quarters of its run.
#[derive(Clone, Copy, Debug)]
enum Then {
    /// Nothing.
    Nothing,
    /// It is saved, and another one goes on from the image.
    Reload,
    /// Its first die dies by order.
    Death,
}

/// A device and what it does.
#[derive(Clone, Copy)]
struct Run<'a> {
    spec: &'a Spec,
    depth: usize,
    steps: &'a [Step],
    then: Then,
}

/// Runs a device with the skills of `set` at least.
fn run(Run { spec, depth, steps, then }: Run<'_>, set: Skills) -> Seen {
    let per_page = spec.sectors_per_page();
    let new = || {
        let mut device = assemble(spec.setup().bearing_deaths());
        device.use_skills(set);
        assert_eq!(device.skills(), set);
        device
    };
    let mut device = new();
    let capacity = device.capacity_sectors();
    let (mut seen, mut done) = (Vec::new(), Vec::new());
    let advance = |device: &mut Device, limit, seen: &mut Vec<Completion>, done: &mut Vec<_>| {
        let advanced = device.advance_until(limit, done);
        seen.append(done);
        advanced
    };
    for (tag, step) in (0..).zip(steps) {
        if tag as usize == steps.len() * 3 / 4 {
            match then {
                Then::Nothing => {}
                Then::Reload => {
                    while advance(&mut device, SimTime::FOREVER, &mut seen, &mut done)
                        != Advanced::Idle
                    {}
                    device.rest(&mut done).expect("nothing is in flight");
                    let image = device.save();
                    device = new();
                    device.load(&image, Resume::ALL).expect("an image of this device");
                }
                // From then on it has all skills.
                Then::Death => device.kill_die(DieId::new(0)),
            }
        }
        let at = device.now() + step.pause;
        while advance(&mut device, at, &mut seen, &mut done) == Advanced::Completed {}
        while device.requests_in_flight() >= depth {
            let advanced = advance(&mut device, SimTime::FOREVER, &mut seen, &mut done);
            assert_eq!(advanced, Advanced::Completed, "the device is stuck");
        }
        let range = step.range(capacity, per_page);
        let (lba, sectors) = match step.op {
            Op::Flush => (Lba(0), 0),
            _ => (Lba(range.start), (range.end - range.start) as u32),
        };
        let request =
            Request { op: step.op, lba, sectors, stream: tag % 3, tag, fua: tag % 7 == 0 };
        device.submit(device.now(), request);
    }
    while advance(&mut device, SimTime::FOREVER, &mut seen, &mut done) != Advanced::Idle {}
    assert_no_standstill(&device);
    assert_eq!(device.ftl().audit(), Ok(()));
    let counts = format!(
        "{:?} {:?} {:?} {:?}",
        device.ftl_counts(),
        device.buffer_counts(),
        device.flash().done(),
        device.flash().overlaps(),
    );
    let image = match device.rest(&mut done) {
        Ok(()) => format!("{:?}", device.save()),
        // Behind a dead die there may be no place for what is in DRAM.
        Err(left) if matches!(then, Then::Death) => format!("{left:?}"),
        Err(left) => panic!("{left:?}"),
    };
    let now = device.now();
    Seen { done: seen, now, counts, image }
}

/// Whether a die of the device may die by order.
fn may_lose_a_die(spec: &Spec) -> bool {
    let schedule = "[\"1000s: die 0 dies\"]";
    let recovers = assemble(spec.setup()).kept().is_some();
    !recovers && spec.clone().set("nand.faults.schedule", schedule).check().is_ok()
}

/// Runs a case on each set that covers the device.
fn compare(case: Run<'_>, least: Skills) -> Result<(), TestCaseError> {
    // Otherwise it would be compared with itself. Too many rejections fail the test.
    prop_assume!(assemble(case.spec.setup().bearing_deaths()).skills() == least);
    let is_asked_too_much = matches!(case.then, Then::Death) && !may_lose_a_die(case.spec);
    let case = if is_asked_too_much { Run { then: Then::Reload, ..case } } else { case };
    let own = run(case, least);
    for set in [COMMON, ABOVE_FLASH, ALL].into_iter().filter(|set| least & !set == 0) {
        prop_assert_eq!(&run(case, set), &own);
    }
    Ok(())
}

fn then() -> impl Strategy<Value = Then> {
    prop_oneof![
        2 => Just(Then::Nothing),
        1 => Just(Then::Reload),
        // Most devices can't lose a die so, and are reloaded.
        3 => Just(Then::Death)
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn plain_devices_do_the_same_on_every_set(
        (spec, depth, steps) in random::run(STEPS),
        then in then(),
    ) {
        let spec = &cut_down(spec, PLAIN);
        compare(Run { spec, depth, steps: &steps, then }, PLAIN)?;
    }

    #[test]
    fn common_devices_do_the_same_on_every_set(
        (spec, depth, steps) in random::run(STEPS),
        then in then(),
    ) {
        // Whatever else was drawn, one skill that plain devices lack.
        let spec = &cut_down(spec, COMMON).set("scheduler.policy", "read-first");
        compare(Run { spec, depth, steps: &steps, then }, COMMON)?;
    }

    #[test]
    fn devices_on_common_flash_do_the_same_on_every_set(
        (spec, depth, steps) in random::run(STEPS),
        then in then(),
    ) {
        let spec = &on_common_flash(spec);
        compare(Run { spec, depth, steps: &steps, then }, ABOVE_FLASH)?;
    }
}

/// A case that proptest found when random devices were not configurations yet. Its blocks have two flash pages, and
/// collection starts at the reserve; configurations refuse both.
#[test]
fn the_smallest_device_that_ever_failed_does_the_same_on_every_set() {
    let found = Spec::small()
        .with(
            "ftl.over_provisioning = 600%
            nand.blocks_per_plane = 6
            nand.page_size = 2KiB
            nand.codeword = 512B
            nand.bus.rate = 200MB/s
            ftl.mapping.policy = reconstruction
            ftl.placement.policy = dynamic
            ftl.gc.copies_in_flight = 1
            ftl.gc.host_lead = 1
            cache.latency = 0ns",
        )
        .buffered("prlru", 1);
    let tiny = |spec: Spec| {
        let config = spec.config().clone();
        let tiny = spec.changed("blocks and thresholds", move |setup| {
            let mut config = config.clone();
            config.options.nand.pages_per_block = 2;
            (config.options.ftl.gc.start, config.options.ftl.gc.stop) = (1, 2);
            config.options.ftl.over_provisioning = Ratio { ppm: 714_000 };
            *setup = DeviceSetup::new(&config, 1);
        });
        assert_eq!(tiny.setup().ftl.logical_pages, 7);
        tiny
    };
    let steps = include_str!("sets_of_skills.txt").split_whitespace().map(step);
    let steps: Vec<Step> = steps.collect();
    let case = |spec| Run { spec, depth: 1, steps: &steps, then: Then::Nothing };
    let plain = tiny(cut_down(found.clone(), PLAIN));
    compare(case(&plain), PLAIN).expect("a plain device");
    let common = tiny(cut_down(found.clone(), COMMON).set("scheduler.policy", "read-first"));
    compare(case(&common), COMMON).expect("a common device");
    // As it was found, it has all skills, and must get through.
    run(case(&tiny(found)), ALL);
}

/// A step as `sets_of_skills.txt` has it: the operation, the place, `h` if hot, `a` if aligned, `/`, the eighths, and
/// the pause after a `+`.
fn step(text: &str) -> Step {
    let (text, pause) = text.split_once('+').unwrap_or((text, "0"));
    let (start, eighths) = text.split_once('/').expect("a length");
    let number = |text: &str| text.parse().expect("a number");
    let op = match &start[..1] {
        "w" => Op::Write,
        "r" => Op::Read,
        "t" => Op::Trim,
        _ => Op::Flush,
    };
    Step {
        op,
        place: number(start[1..].trim_end_matches(['h', 'a'])),
        hot: start.contains('h'),
        aligned: start.contains('a'),
        eighths: number(eighths),
        pause: Nanos(pause.parse().expect("a number")),
    }
}
