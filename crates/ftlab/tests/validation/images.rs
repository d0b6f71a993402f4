//! A saved and loaded device continues as if nothing had happened; one with other policies takes
//! the state over and keeps every promise; damaged bytes are refused and break nothing.

use ftlab::device::{Device, assemble};
use ftlab::host::{Advanced, Completion, Host, Op, Request};
use ftlab::image::{ImagePart, Resume, Snapshot};
use ftlab::units::{DieId, PlaneId, SimTime};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::common::caching;
use crate::common::chunks::{FEW, saved_in_chunks};
use crate::common::random::{self, Step};
use crate::common::{
    BLOCKS, Spec, assert_no_standstill, closed_loop, fill, gating, logs, on_demand, policies,
    request,
};

/// Performs steps, at most `depth` at once, and lets the device become idle.
fn perform(device: &mut Device, per_page: u32, depth: usize, steps: &[Step]) -> Vec<Completion> {
    let capacity = device.capacity_sectors();
    let mut done = Vec::new();
    for (tag, step) in (0u32..).zip(steps) {
        while device.requests_in_flight() >= depth {
            if device.advance_until(SimTime::FOREVER, &mut done) == Advanced::Idle {
                assert_no_standstill(device);
            }
        }
        let until = device.now() + step.pause;
        while device.advance_until(until, &mut done) == Advanced::Completed {}
        let range = step.range(capacity, per_page);
        let sectors = (range.end - range.start) as u32;
        let request = request(step.op, range.start, sectors, tag);
        device.submit(device.now(), Request { stream: tag / 3, ..request });
    }
    assert_eq!(device.rest(&mut done), Ok(()));
    assert_no_standstill(device);
    done
}

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(5),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// The random devices use every policy of every seam.
fn goes_on(spec: &Spec, depth: usize, before: &[Step], after: &[Step]) -> Result<(), String> {
    let per_page = spec.sectors_per_page();
    let mut saved = assemble(spec.setup());
    perform(&mut saved, per_page, depth, before);
    let snapshot = saved.save();
    let mut loaded = assemble(spec.setup());
    loaded.load(&snapshot, Resume::ALL).map_err(|damage| damage.to_string())?;
    loaded.ftl().audit()?;
    if loaded.save() != snapshot {
        return Err("saving the loaded device gives other bytes".to_owned());
    }
    let mut in_chunks = assemble(spec.setup());
    let chunked = saved_in_chunks(&saved, FEW);
    in_chunks.load_packed(&chunked, Resume::ALL).map_err(|damage| damage.to_string())?;
    let expected = perform(&mut saved, per_page, depth, after);
    for mut loaded in [loaded, in_chunks] {
        let got = perform(&mut loaded, per_page, depth, after);
        if expected != got || saved.now() != loaded.now() {
            let at = expected.iter().zip(&got).position(|(a, b)| a != b);
            let at = at.map(|at| (expected[at], got[at]));
            return Err(format!("the loaded device behaves differently: {at:?}"));
        }
        loaded.ftl().audit()?;
        if saved.save() != loaded.save() {
            return Err("the loaded device ends in another state".to_owned());
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn a_loaded_device_continues_like_the_saved_one(
        (spec, depth, steps) in
            prop_oneof![
                random::run(500), caching::run(500), gating::run(500),
                logs::run(&["own", "lock-step"], 500), on_demand::run(500),
            ],
        share in 0usize..=100,
    ) {
        let (before, after) = steps.split_at(steps.len() * share / 100);
        let checked = goes_on(&spec, depth, before, after);
        prop_assert!(checked.is_ok(), "{}", checked.unwrap_err());
    }
}

/// A die that was short of space stays so until space is ample, also if its device is saved and loaded between.
#[test]
fn a_loaded_device_knows_which_dies_are_short_of_space() {
    let spec = Spec::small().with(
        "scheduler.policy = read-first-with-space
        scheduler.short_at = 2
        scheduler.ample_at = 12",
    );
    let (pages, sectors) = (u64::from(spec.logical_pages()), spec.sectors_per_page());
    let mixed = |device: &mut Device, first: u32| {
        let requests = (first..first + 200).map(|tag| {
            let op = if tag % 3 == 0 { Op::Read } else { Op::Write };
            let page = u64::from(tag) * 37 % pages;
            request(op, page * u64::from(sectors), sectors, tag)
        });
        closed_loop(device, 8, requests)
    };
    let mut saved = assemble(spec.setup());
    fill(&mut saved, 4, 0..spec.logical_pages(), sectors);
    mixed(&mut saved, 0);
    assert_eq!(saved.rest(&mut Vec::new()), Ok(()));
    assert!((3..12).contains(&saved.ftl().free_blocks(PlaneId::new(0))), "neither few nor ample");
    let snapshot = saved.save();
    let goes_on_with = |resume: Resume| {
        let mut loaded = assemble(spec.setup());
        loaded.load(&snapshot, resume).expect("it is whole");
        mixed(&mut loaded, 200)
    };
    let expected = mixed(&mut saved, 200);
    assert_eq!(goes_on_with(Resume::ALL), expected);
    assert_ne!(goes_on_with(Resume { scheduler: false, ..Resume::ALL }), expected);
}

/// A device in use: collection has run, some pages are partial, some were trimmed.
fn used() -> (Spec, Device) {
    used_by(Spec::small())
}

fn used_by(spec: Spec) -> (Spec, Device) {
    let spec = spec.set("nand.channels", 2).buffered("lru", 8).filled(100);
    let mut device = assemble(spec.setup());
    fill(&mut device, 4, 0..spec.logical_pages(), spec.sectors_per_page());
    let pages = u64::from(spec.logical_pages());
    let step = |n: u64| n * 37 % pages * 8;
    closed_loop(&mut device, 8, (0..600).map(|n| request(Op::Write, step(n), 5, 0)));
    closed_loop(&mut device, 8, (0..40).map(|n| request(Op::Trim, step(n * 3), 8, 0)));
    assert_eq!(device.rest(&mut Vec::new()), Ok(()));
    assert!(device.ftl_counts().gc_runs > 20 && device.ftl_counts().trimmed > 10);
    (spec, device)
}

#[test]
fn only_touched_pages_take_room_in_an_image() {
    let spec = Spec::small().set(BLOCKS, 100_000).set("nand.pages_per_block", 1_024);
    let spec = spec.holding(80_000_000);
    let mut device = assemble(spec.setup());
    fill(&mut device, 4, 0..5_000, spec.sectors_per_page());
    assert_eq!(device.rest(&mut Vec::new()), Ok(()));
    let snapshot = device.save();
    let bytes: usize = ImagePart::ALL.iter().map(|&part| snapshot.part(part).len()).sum();
    // An owner written in order takes a byte, a valid bit an eighth of one.
    assert!(bytes < 5_000 * 10 / 8 + 1_000, "{bytes} bytes for 5000 pages");
    let mut loaded = assemble(spec.setup());
    assert_eq!(loaded.load(&snapshot, Resume::ALL), Ok(()));
    assert_eq!(loaded.ftl().mapped_pages(), 5_000);
}

/// Other collection thresholds than those of the saved device, and no free block to spare.
#[test]
fn a_device_short_of_free_blocks_collects_when_it_is_loaded() {
    let (spec, device) = used();
    let snapshot = device.save();
    // Fuller than a configuration with these thresholds allows.
    let spec = spec.set("cache.policy", "none").changed("thresholds", |setup| {
        let thresholds = &mut setup.ftl.thresholds;
        thresholds.start += 1;
        thresholds.stop += 2;
        thresholds.reserve += 1;
    });
    let mut loaded = assemble(spec.setup());
    assert_eq!(loaded.load(&snapshot, Resume::NONE), Ok(()));
    assert_eq!(loaded.rest(&mut Vec::new()), Ok(()));
    assert_eq!(loaded.ftl().audit(), Ok(()));
    let pages = u64::from(spec.logical_pages());
    closed_loop(&mut loaded, 8, (0..600).map(|n| request(Op::Write, n * 37 % pages * 8, 8, 0)));
    assert_eq!(loaded.ftl().audit(), Ok(()));
}

/// A device that refuses the bytes says why; one that accepts them works.
fn survives(spec: &Spec, snapshot: &Snapshot, resume: Resume) -> bool {
    let mut device = assemble(spec.setup());
    match device.load(snapshot, resume) {
        Err(damage) => {
            assert!(damage.to_string().contains(": "), "no part is named: {damage}");
            false
        }
        Ok(()) => {
            assert_eq!(device.ftl().audit(), Ok(()));
            let pages = u64::from(spec.logical_pages());
            let next = |n: u64| request(Op::Write, n * 29 % pages * 8, 8, 0);
            closed_loop(&mut device, 4, (0..400).map(next));
            assert_eq!(device.ftl().audit(), Ok(()));
            true
        }
    }
}

#[test]
fn no_damage_breaks_the_device() {
    let (spec, device) = used();
    let snapshot = device.save();
    assert!(survives(&spec, &snapshot, Resume::ALL) && survives(&spec, &snapshot, Resume::NONE));
    let (mut refused, mut taken) = (0, 0);
    for part in ImagePart::ALL {
        let bytes = snapshot.part(part).to_vec();
        for at in 0..bytes.len() {
            for change in [bytes[at] ^ 1, bytes[at] ^ 0x80, 0, 0xff, bytes[at].wrapping_add(2)] {
                let mut damaged = bytes.clone();
                damaged[at] = change;
                let mut snapshot = snapshot.clone();
                snapshot.put(part, damaged);
                let resume = if at % 2 == 0 { Resume::ALL } else { Resume::NONE };
                let taken_up = survives(&spec, &snapshot, resume);
                *if taken_up { &mut taken } else { &mut refused } += 1;
            }
            let mut cut = snapshot.clone();
            cut.put(part, bytes[..at].to_vec());
            assert!(!survives(&spec, &cut, Resume::ALL), "{part:?} cut at {at} is taken for whole");
        }
        let mut longer = snapshot.clone();
        longer.put(part, [&bytes[..], &[0]].concat());
        assert!(!survives(&spec, &longer, Resume::ALL), "{part:?} is longer than it should be");
    }
    println!("{refused} damaged snapshots refused, {taken} accepted and working");
    assert!(refused > 1_000 && taken > 100);
}

/// A policy's memory may hold anything, too.
#[test]
fn no_damage_breaks_a_policy() {
    let each = |spec: Spec, path: &'static str| {
        policies(path).into_iter().map(move |policy| spec.clone().set(path, policy))
    };
    let roomy = Spec::small().set(BLOCKS, 40).set("ftl.placement.policy", "dynamic");
    let victims = each(Spec::small(), "ftl.gc.victim");
    // This load does not keep to the rules of zones, which have images of their own (zones.rs).
    let streams = each(roomy, "ftl.streams.policy")
        .filter(|spec| spec.get("ftl.streams.policy") != Some("zoned"));
    let levelling = each(Spec::small(), "ftl.wear.policy");
    let (mut refused, mut taken) = (0, 0);
    for spec in victims.chain(streams).chain(levelling) {
        let (spec, device) = used_by(spec);
        let snapshot = device.save();
        assert!(survives(&spec, &snapshot, Resume::ALL), "{spec:?}");
        let bytes = snapshot.part(ImagePart::Policies).to_vec();
        let step = (bytes.len() / 200).max(1);
        for at in (0..bytes.len()).step_by(step) {
            for change in [bytes[at] ^ 1, bytes[at] ^ 0x80, 0, 0xff, 0x7f] {
                let mut damaged = bytes.clone();
                damaged[at] = change;
                let mut snapshot = snapshot.clone();
                snapshot.put(ImagePart::Policies, damaged);
                let taken_up = survives(&spec, &snapshot, Resume::ALL);
                *if taken_up { &mut taken } else { &mut refused } += 1;
            }
        }
    }
    println!("{refused} damaged memories refused, {taken} accepted and working");
    assert!(refused > 100 && taken > 100);
}

#[test]
fn an_image_keeps_its_weak_blocks_under_another_seed() {
    let spec = Spec::small().set(BLOCKS, 60).set("nand.faults.factory_bad", "20%").holding(96);
    let mut device = assemble(spec.setup());
    fill(&mut device, 4, 0..spec.logical_pages() / 2, spec.sectors_per_page());
    assert_eq!(device.rest(&mut Vec::new()), Ok(()));
    let snapshot = device.save();
    let expected = *device.ftl().life().expect("blocks are bad").losses();
    assert!(expected.factory_bad > 0 && expected.grown_bad == 0);
    let mut loaded = assemble(spec.seeded(2).setup());
    assert_ne!(loaded.ftl().life().unwrap().losses(), &expected, "the seeds should differ");
    assert_eq!(loaded.load(&snapshot, Resume::NONE), Ok(()));
    assert_eq!(loaded.ftl().life().unwrap().losses(), &expected);
    assert_eq!(loaded.save(), snapshot);
}

/// Every program fails from some time on, without a write buffer that could keep anything.
#[test]
fn a_device_at_its_end_is_still_at_its_end_when_it_is_loaded() {
    let spec = Spec::small().set("nand.faults.program_failures", 300_000_000);
    let mut device = assemble(spec.setup());
    let pages = u64::from(spec.logical_pages());
    closed_loop(&mut device, 8, (0..4 * pages).map(|n| request(Op::Write, n % pages * 8, 8, 0)));
    assert_eq!(device.rest(&mut Vec::new()), Ok(()));
    let end = device.end_of_life().expect("the device can't live long").reason;
    let snapshot = device.save();
    let mut loaded = assemble(spec.seeded(2).setup());
    assert_eq!(loaded.load(&snapshot, Resume::ALL), Ok(()));
    assert_eq!(loaded.ftl().audit(), Ok(()));
    assert_eq!(loaded.end_of_life().map(|end| end.reason), Some(end));
    let losses = |device: &Device| device.ftl().life().map(|life| *life.losses());
    assert!(losses(&device).is_some_and(|losses| losses.program_failures > 0));
    assert_eq!(losses(&loaded), losses(&device), "what failed counts from when the device was new");
    assert_eq!(loaded.save(), snapshot);
}

/// A die that died by order needs no faults in the configuration.
#[test]
fn commands_on_a_die_that_was_killed_are_counted_through_an_image() {
    let spec = Spec::small().set("nand.channels", 2);
    let mut device = assemble(spec.setup().bearing_deaths());
    fill(&mut device, 4, 0..spec.logical_pages() / 2, spec.sectors_per_page());
    device.kill_die(DieId::new(1));
    closed_loop(&mut device, 4, (0..100).map(|n| request(Op::Write, n % 50 * 8, 8, 0)));
    closed_loop(&mut device, 4, (0..100).map(|n| request(Op::Read, n * 8, 8, 0)));
    assert_eq!(device.rest(&mut Vec::new()), Ok(()));
    let failed = |device: &Device| device.flash().hazards().map(|it| it.counts().on_dead_dies);
    let snapshot = device.save();
    let mut loaded = assemble(spec.setup().bearing_deaths());
    assert_eq!(loaded.load(&snapshot, Resume::ALL), Ok(()));
    assert_eq!(failed(&loaded), failed(&device));
    assert!(failed(&device) > Some(0), "{:?}", failed(&device));
    assert_eq!(loaded.save(), snapshot);
}

/// The device with `reserve` blocks of a plane for collection alone, even if it is too full for that.
fn reserving(spec: Spec, reserve: u32) -> Spec {
    spec.changed("thresholds", move |setup| {
        let thresholds = &mut setup.ftl.thresholds;
        (thresholds.reserve, thresholds.start, thresholds.stop) =
            (reserve, reserve + 1, reserve + 2);
    })
}

/// Flags that falsely claim that no plane has anything to collect must not get the device stuck.
#[test]
fn false_flags_in_an_image_do_not_get_a_device_stuck() {
    let (spec, mut device) = used();
    let pages = u64::from(spec.logical_pages());
    let planes = device.flash().geometry().planes();
    let all = || (0..planes).map(PlaneId::new);
    let mut stuck = 0;
    for n in 0..100 {
        closed_loop(&mut device, 8, [request(Op::Write, n * 37 % pages * 8, 8, 0)]);
        assert_eq!(device.rest(&mut Vec::new()), Ok(()));
        let snapshot = device.save();
        // The host may open no block on any plane, and finds no room where none is open.
        let free = all().map(|plane| device.ftl().free_blocks(plane)).max().expect("planes");
        let spec = reserving(spec.clone(), free);
        let bytes = snapshot.part(ImagePart::Planes).to_vec();
        let (&list, rest) = bytes.split_last().expect("it holds something");
        let flags = rest.len() - planes as usize;
        assert!(list == 0 && rest[flags..].iter().all(|&flag| flag <= 1), "flags, and no list");
        for hungry in [0, 1] {
            let mut planted = bytes.clone();
            planted[flags..rest.len()].fill(hungry);
            let mut snapshot = snapshot.clone();
            snapshot.put(ImagePart::Planes, planted);
            let mut loaded = assemble(spec.setup());
            assert_eq!(loaded.load(&snapshot, Resume::ALL), Ok(()));
            stuck += u32::from(all().all(|plane| !loaded.ftl().may_write_any(plane)));
            assert!(survives(&spec, &snapshot, Resume::ALL), "it is refused");
        }
    }
    assert!(stuck > 0, "no device was without room");
}

/// A device with failures may lose more blocks before its end than one without an end may have
/// lost.
#[test]
fn bad_blocks_are_accepted_only_if_collection_can_continue() {
    let carefree = Spec::small().set(BLOCKS, 60).holding(400);
    let spec = carefree.clone().set("nand.faults.factory_bad", "20%");
    let mut device = assemble(spec.setup());
    fill(&mut device, 4, 0..spec.logical_pages(), spec.sectors_per_page());
    assert_eq!(device.rest(&mut Vec::new()), Ok(()));
    let snapshot = device.save();
    let bad = device.ftl().life().expect("blocks are bad").losses().factory_bad;
    let (mut refused, mut taken) = (0, 0);
    for reserve in 1..40 {
        let spec = reserving(carefree.clone(), reserve);
        // All logical pages fill 34 blocks; one is open, and one must be worth collecting.
        let enough = 60 - bad > 34 + reserve;
        match assemble(spec.setup()).load(&snapshot, Resume::NONE) {
            Ok(()) => {
                assert!(enough, "accepted with a reserve of {reserve} and {bad} bad blocks");
                assert!(survives(&spec, &snapshot, Resume::NONE));
                taken += 1;
            }
            Err(damage) => {
                let told = damage.to_string();
                assert!(told.contains("good blocks") && told.contains("ftl.gc.reserve"), "{told}");
                refused += 1;
            }
        }
    }
    assert!(taken > 3 && refused > 3, "{taken} taken, {refused} refused");
}

/// An image fits a device that has a front end only for its DRAM or for memory of the host, and the other way round.
#[test]
fn dram_and_memory_of_the_host_come_and_go() {
    let plain = on_demand::cached(Spec::small(), 8);
    let others = [("controller.dram.bandwidth", "1GB/s"), ("ftl.mapping.host_memory", "64B")];
    for (path, value) in others {
        let other = plain.clone().set(path, value);
        for (from, to) in [(&plain, &other), (&other, &plain)] {
            let mut saved = assemble(from.setup());
            fill(&mut saved, 1, 0..24, 8);
            assert_eq!(saved.rest(&mut Vec::new()), Ok(()));
            let resume = Resume::between(&from.config().options, &to.config().options, true);
            let mut loaded = assemble(to.setup());
            assert_eq!(loaded.load(&saved.save(), resume), Ok(()), "{path}");
        }
    }
}
