//! Reclaim groups: what the host gives a group lies on its dies, through collection, power cuts and images; each group works like a
//! device of its size; what goes on in one does not delay another with buses of its own; and one that is full stops nobody.

use ftlab::device::{Device, assemble, power_up};
use ftlab::engine::Stream;
use ftlab::ftl::streams::fdp::PlacementEvent;
use ftlab::host::{Host, Op, Request};
use ftlab::image::Resume;
use ftlab::units::{Lpn, Nanos, SimTime};
use ftlab::verify::Canary;

use crate::common::{Spec, closed_loop, fill, request, timed};

/// Sectors of a flash page, which is a mapping unit here.
const PAGE: u32 = 8;

/// A device with so many groups and handles, on four channels with two dies each.
fn spec(groups: u32, handles: u32, isolation: &str) -> Spec {
    Spec::small()
        .with(
            "nand.channels = 4
             nand.chips_per_channel = 2
             nand.blocks_per_plane = 32
             nand.pages_per_block = 16
             ftl.over_provisioning = 40%
             ftl.placement.policy = dynamic
             ftl.streams.policy = fdp",
        )
        .set("ftl.streams.handles", handles)
        .set("ftl.streams.reclaim_groups", groups)
        .set("ftl.streams.isolation", isolation)
}

/// The pages of a group, if each has an equal part of the addresses.
fn part(spec: &Spec, group: u32, groups: u32) -> std::ops::Range<u32> {
    let each = spec.logical_pages() / groups;
    group * each..(group + 1) * each
}

/// A write of one page under an identifier.
fn write(page: u32, identifier: u32) -> Request {
    let write = request(Op::Write, u64::from(page * PAGE), PAGE, 0);
    Request { stream: identifier, ..write }
}

/// Writes each part of the addresses in order, in the first handle of its group.
fn prepare(device: &mut Device, spec: &Spec, groups: u32) {
    let pages = (0..groups).flat_map(|group| part(spec, group, groups).map(move |at| (at, group)));
    closed_loop(device, 4, pages.map(|(page, group)| write(page, group)));
}

/// The group of the die on which a page lies.
fn group_of(device: &Device, page: u32, groups: u32) -> Option<u32> {
    let (ftl, flash) = (device.ftl(), device.flash().geometry());
    let die = flash.die_of(flash.plane_of_page(ftl.look_up(Lpn::new(page))?));
    Some(die.get() / (flash.dies() / groups))
}

#[test]
fn data_stays_on_the_dies_of_its_group() {
    let all = [
        (2, 4, "initially", "none"),
        (4, 2, "persistently", "none"),
        (8, 1, "initially", "none"),
        (4, 1, "initially", "one-die"),
    ];
    for (groups, handles, isolation, superblock) in all {
        let spec = spec(groups, handles, isolation).set("ftl.recovery.policy", "scan");
        let spec = match superblock {
            "none" => spec.buffered("lru", 24),
            _ => spec.set("ftl.superblock.policy", "groups").set("ftl.superblock.dies", 1),
        };
        let mut device: Device = assemble(spec.setup().checking());
        let (mut stream, mut copies) = (Stream::new(5, "load"), 0);
        for round in 0..6 {
            let writes = (0..3_000).map(|_| {
                let group = stream.below(groups.into()) as u32;
                let pages = part(&spec, group, groups);
                let page = pages.start + stream.below(pages.len() as u64) as u32;
                write(page, stream.below(handles.into()) as u32 * groups + group)
            });
            let writes: Vec<_> = writes.collect();
            closed_loop(&mut device, 4, writes);
            closed_loop(&mut device, 1, [request(Op::Flush, 0, 0, 0)]);
            device.rest(&mut Vec::new()).expect("nothing fails");
            assert_eq!(device.audit(), Ok(()), "{spec:?}");
            copies += device.ftl_counts().gc_pages;
            let counts = device.fdp().expect("groups").placement_counts();
            assert_eq!(counts.outside_pages, 0, "{spec:?}");
            let moved: u64 = counts.moved_in_groups.iter().sum();
            assert_eq!(moved, counts.moved_pages);
            device = if round % 2 == 0 {
                power_up(spec.setup().checking(), (), device.cut_power()).expect("its own").0
            } else {
                let snapshot = device.save();
                let mut other: Device = assemble(spec.setup().checking());
                other.load(&snapshot, Resume::ALL).expect("its own image");
                other
            };
            for group in 0..groups {
                for page in part(&spec, group, groups) {
                    let lies = group_of(&device, page, groups);
                    assert!(lies.is_none_or(|lies| lies == group), "{spec:?}: page {page}");
                }
            }
        }
        assert!(copies > 1_000, "{spec:?}: {copies}");
    }
}

/// Whether the audit sees a copy that leaves its group.
#[test]
fn a_copy_that_leaves_its_group_is_found() {
    let spec = spec(2, 1, "initially");
    let mut device: Device = assemble(spec.setup());
    device.plant(Canary::CopyLeavesGroup);
    prepare(&mut device, &spec, 2);
    let mut stream = Stream::new(3, "load");
    let writes = (0..4_000).map(|number| {
        let pages = part(&spec, number % 2, 2);
        write(pages.start + stream.below(pages.len() as u64) as u32, number % 2)
    });
    closed_loop(&mut device, 1, writes);
    let said = device.audit().expect_err("a bug is planted");
    assert!(said.contains("outside of its reclaim group"), "{said}");
}

/// How a group of addresses is written: a place in it for each draw.
type Load = fn(&mut Stream) -> f64;

/// Pages that each group has moved after writes that come one at a time, each when collection has ended.
fn moved(spec: &Spec, loads: &[Load]) -> Vec<u64> {
    let groups = loads.len() as u32;
    let mut device: Device = assemble(spec.setup());
    prepare(&mut device, spec, groups);
    let mut streams: Vec<_> = loads.iter().map(|_| Stream::new(9, "load")).collect();
    let start = device.now();
    let load = (0..10 * spec.logical_pages()).map(|number| {
        let group = number % groups;
        let pages = part(spec, group, groups);
        let share = loads[group as usize](&mut streams[group as usize]);
        let page = pages.start + (share * pages.len() as f64) as u32;
        (SimTime(start.0 + u64::from(number) * 100_000_000), write(page, group))
    });
    timed(&mut device, load.collect::<Vec<_>>(), |_| {});
    let moved = device.fdp().expect("groups").placement_counts().moved_in_groups;
    moved[..groups as usize].to_vec()
}

#[test]
fn each_group_copies_what_a_device_of_its_size_copies() {
    let uniform: Load = |stream| stream.unit();
    // Four of five writes go to a fifth of the pages.
    let skewed: Load = |stream| match stream.below(5) {
        0 => 0.2 + 0.8 * stream.unit(),
        _ => 0.2 * stream.unit(),
    };
    let both = moved(&spec(2, 1, "initially"), &[uniform, skewed]);
    let half = spec(1, 1, "initially").set("nand.channels", 2);
    let alone = [uniform, skewed].map(|load| moved(&half, &[load])[0]);
    let host = 10 * half.logical_pages();
    println!("moved in groups {both:?}, on devices of their size {alone:?}, for {host} writes");
    assert_eq!(both, alone, "to the page");
    assert!(alone[0] > 10_000 && alone[0] != alone[1], "each load is at work: {alone:?}");
}

/// Latencies of reads in the first half of the addresses, without and with writes in the second half.
fn reads_beside_writes(groups: u32) -> [Vec<Nanos>; 2] {
    let spec = spec(groups, 1, "initially");
    [false, true].map(|writes| {
        let mut device: Device = assemble(spec.setup());
        let halves = [0, 1].map(|half| part(&spec, half, 2));
        let fill = halves
            .iter()
            .zip(0..)
            .flat_map(|(pages, half)| pages.clone().map(move |page| write(page, half % groups)));
        closed_loop(&mut device, 4, fill);
        let mut stream = Stream::new(11, "load");
        let mut at = |half: usize| {
            let pages = &halves[half];
            pages.start + stream.below(pages.len() as u64) as u32
        };
        let start = device.now();
        let load: Vec<_> = (0..8_000_u64)
            .flat_map(|number| {
                let read = request(Op::Read, u64::from(at(0) * PAGE), PAGE, 0);
                let write = write(at(1), 1 % groups);
                let when = SimTime(start.0 + number * 400_000);
                [(when, read), (when, write)]
            })
            .filter(|(_, request)| writes || request.op == Op::Read)
            .collect();
        let mut latencies = Vec::new();
        timed(&mut device, load, |completion| {
            if completion.request.op == Op::Read {
                latencies.push((completion.submitted, completion.latency()));
            }
        });
        let copied = device.ftl_counts().gc_pages;
        assert_eq!(copied > 4_000, writes, "{copied} copies");
        latencies.sort_unstable();
        latencies.into_iter().map(|(_, latency)| latency).collect()
    })
}

/// The point of it all: who reads in one group does not notice who writes in another one, with its collection.
#[test]
fn writes_in_another_group_delay_no_read() {
    let mean = |latencies: &[Nanos]| {
        latencies.iter().map(|latency| latency.0 as f64).sum::<f64>() / latencies.len() as f64
    };
    let [alone, beside] = reads_beside_writes(2);
    assert_eq!(alone, beside, "to the nanosecond");
    let [together, mixed] = reads_beside_writes(1);
    let worst = |latencies: &[Nanos]| latencies.iter().max().map_or(0, |worst| worst.0);
    println!(
        "reads alone: mean {:.0} ns, worst {}; beside writes in another group: {:.0}, {}; in the same: {:.0}, {}",
        mean(&alone),
        worst(&alone),
        mean(&beside),
        worst(&beside),
        mean(&mixed),
        worst(&mixed),
    );
    assert!(mean(&mixed) > 2.0 * mean(&together), "writes delay reads where they share dies");
}

/// The whole capacity can be written and overwritten through one group: what it has no room for goes to others.
#[test]
fn a_full_group_stops_nobody() {
    for (isolation, depth, buffer) in
        [("initially", 1, 0), ("persistently", 64, 0), ("initially", 8, 24)]
    {
        let spec = spec(4, 1, isolation);
        let spec = if buffer > 0 { spec.buffered("lru", buffer) } else { spec };
        let pages = spec.logical_pages();
        let share = pages.div_ceil(4);
        let mut device: Device = assemble(spec.setup().checking());
        fill(&mut device, depth, 0..pages, PAGE);
        closed_loop(&mut device, 1, [request(Op::Flush, 0, 0, 0)]);
        let held = device.ftl().live_by_group().to_vec();
        assert_eq!(held.iter().sum::<u32>(), pages);
        let slack = 64 + buffer;
        assert!(held.iter().all(|&held| held.abs_diff(share) <= slack), "{held:?} of {share}");
        let counts = *device.fdp().expect("groups").placement_counts();
        assert!(counts.groups_full > 0 && counts.outside_pages > u64::from(2 * share));
        let events = device.fdp().expect("groups").controller_events();
        let full = PlacementEvent::GroupFull { group: 0 };
        assert!(events.into_iter().any(|logged| logged.event == full));
        let mut stream = Stream::new(13, "load");
        let writes = (0..4 * pages).map(|_| match stream.below(10) {
            0 => request(Op::Trim, stream.below(pages.into()) * u64::from(PAGE), PAGE, 0),
            _ => write(stream.below(pages.into()) as u32, 0),
        });
        let writes: Vec<_> = writes.collect();
        closed_loop(&mut device, depth, writes);
        assert_eq!(device.audit(), Ok(()), "{spec:?}");
        let counts = device.ftl_counts();
        assert!(counts.gc_pages < 10 * counts.host_pages, "{spec:?}: {counts:?}");
    }
}

/// A fill without a clock ends in the same way.
#[test]
fn a_fill_without_a_clock_gives_each_group_its_share() {
    let spec = spec(4, 1, "initially").set("nand.blocks_per_plane", 256);
    let mut device: Device = assemble(spec.setup().checking());
    let sectors = u64::from(spec.logical_pages() * PAGE);
    device.untimed(8).expect("needs no time").fill(0..sectors).expect("there is room");
    let held = device.ftl().live_by_group();
    let share = spec.logical_pages().div_ceil(4);
    // The writes of eight requests are on their way at a time.
    assert!(held.iter().all(|&held| held.abs_diff(share) <= share / 20), "{held:?} of {share}");
    assert_eq!(device.audit(), Ok(()));
}

#[test]
fn what_does_not_go_with_groups_is_refused() {
    let refused = |spec: Spec| {
        let problems = spec.load().expect_err("it is refused").problems;
        let told = problems.iter().map(|it| format!("{}: {}; {}", it.path, it.message, it.remedy));
        told.collect::<Vec<_>>().join("\n")
    };
    let groups = |count| spec(count, 1, "initially");
    for (spec, wanted) in [
        (groups(3), "set ftl.streams.reclaim_groups to 2, which divides"),
        (spec(4, 3, "initially"), "set ftl.streams.handles to 2 or less"),
        (groups(2).set("ftl.superblock.policy", "all"), "set ftl.streams.reclaim_groups to 1"),
        (groups(2).set("ftl.placement.policy", "static"), "or ftl.placement.policy to \"dynamic\""),
        (groups(2).set("ftl.mapping.policy", "dftl"), "or ftl.mapping.policy to \"page\""),
        (groups(2).set("nand.faults.factory_bad", "1%"), "set ftl.streams.reclaim_groups to 1"),
        (
            groups(2).set("nand.endurance.policy", "fixed"),
            "or nand.endurance.policy to \"unlimited\"",
        ),
        (groups(2).set("ftl.slc_cache.policy", "static"), "set ftl.slc_cache.policy to \"none\""),
    ] {
        let told = refused(spec);
        assert!(told.contains(wanted), "{told}");
    }
}
