//! Hints of the host, and knowledge of the future: writes carry what naive models say, and who knows the future copies
//! nothing where that is possible, and less than others where it is not.

use std::sync::Arc;

use ftlab::device::{Device, assemble, power_up};
use ftlab::engine::Stream;
use ftlab::host::{Completion, Op, Request};

use crate::common::{Spec, closed_loop, fill, request};
use crate::sepbit::zipf;
use crate::write_amplification::planes;

/// Sectors of a page.
const PAGE: u64 = 8;
/// Pages of a block.
const BLOCK: u64 = 16;

fn hinted(policy: &str) -> Spec {
    Spec::small()
        .with(
            "nand.channels = 2
             nand.blocks_per_plane = 48
             nand.pages_per_block = 16
             ftl.over_provisioning = 40%
             ftl.streams.policy = fdp
             ftl.streams.handles = 4",
        )
        .set("host.hints.policy", policy)
}

/// Random requests of several sizes, some of which continue the previous one, most of them in an eighth of the device.
fn requests(sectors: u64) -> Vec<Request> {
    let mut stream = Stream::new(5, "hints");
    let mut end = 0;
    let next = |_| {
        let op = if stream.below(12) == 0 { Op::Trim } else { Op::Write };
        let long = [4, 8, 8, 24, 40, 256][stream.below(6) as usize];
        let reach = if stream.below(4) > 0 { sectors / 8 } else { sectors };
        let first = match stream.below(6) {
            0 if end + long <= sectors => end,
            _ => stream.below((reach - long) / 4) * 4,
        };
        end = first + long;
        Request { stream: stream.below(4) as u32, ..request(op, first, long as u32, 0) }
    };
    (0..4_000).map(next).collect()
}

/// Plays requests on a filled device, which knows what comes if it wants to.
fn play(spec: &Spec, requests: &[Request], depth: usize) -> (Device, Vec<Completion>) {
    let mut device = assemble(spec.setup());
    fill(&mut device, 1, 0..spec.logical_pages(), spec.sectors_per_page());
    let mut first = device.clone();
    if first.record_future() {
        closed_loop(&mut first, depth, requests.to_vec());
        device.foresee(Arc::new(first.recorded_future().expect("it is short")));
    }
    let done = closed_loop(&mut device, depth, requests.to_vec());
    assert_eq!(device.audit(), Ok(()));
    (device, done)
}

fn pages(request: &Request) -> std::ops::Range<u64> {
    request.lba.0 / PAGE..(request.lba.0 + u64::from(request.sectors)).div_ceil(PAGE)
}

/// The identifiers of all requests, by plain models.
fn expected(policy: &str, all: &[Request], spec: &Spec) -> Vec<u32> {
    let capacity = u64::from(spec.logical_pages()) * PAGE;
    let class = |borders: [u64; 3], of: u64| borders.iter().filter(|&&it| of >= it).count() as u32;
    match policy {
        "by-size" => all.iter().map(|it| class([32, 256, 1 << 32], it.sectors.into())).collect(),
        "by-lifetime" => {
            let mut written: Vec<u64> = (0..capacity / PAGE).map(|page| page * PAGE).collect();
            let (mut now, mut previous) = (capacity, (capacity, 3));
            let mut of = |it: &Request| {
                let age = now - written[pages(it).start as usize];
                let own = class([capacity / 4, capacity / 2, capacity], age);
                let class = if it.lba.0 == previous.0 { previous.1 } else { own };
                if it.op == Op::Write {
                    pages(it).for_each(|page| written[page as usize] = now);
                    now += u64::from(it.sectors);
                    previous = (it.lba.0 + u64::from(it.sectors), class);
                }
                class
            };
            all.iter().map(&mut of).collect()
        }
        "oracle" => {
            let (mut fates, mut ends) = (Vec::new(), Vec::new());
            for it in all {
                let is_write = it.op == Op::Write;
                let whole = it.lba.0.div_ceil(PAGE)..(it.lba.0 + u64::from(it.sectors)) / PAGE;
                let touched = if is_write { pages(it) } else { whole };
                fates.extend(touched.map(|page| (is_write, page)));
                ends.push(fates.len());
            }
            let unit = BLOCK * u64::from(spec.geometry().planes());
            let of = |(it, end): (&Request, usize)| {
                let coming = &fates[end..];
                let death = coming.iter().position(|fate| fate.1 == pages(it).start);
                let left = death.map(|at| coming[..at].iter().filter(|fate| fate.0).count() as u64);
                left.map_or(3, |left| class([unit, 2 * unit, 3 * unit], left))
            };
            all.iter().zip(ends).map(of).collect()
        }
        _ => all.iter().map(|it| it.stream).collect(),
    }
}

/// A policy of the host is as good as a sender that numbers its streams like this: the same completions, the same
/// counts of each handle.
#[test]
fn hints_are_the_identifiers_that_naive_models_give() {
    for buffer in [0, 24] {
        for policy in ["by-stream", "by-size", "by-lifetime", "oracle"] {
            let spec = |policy| match buffer {
                0 => hinted(policy),
                units => hinted(policy).buffered("lru", units),
            };
            let all = requests(u64::from(spec(policy).logical_pages()) * PAGE);
            let identifiers = expected(policy, &all, &spec(policy));
            let mut seen = [0; 4];
            let writes = all.iter().zip(&identifiers).filter(|(it, _)| it.op == Op::Write);
            writes.for_each(|(_, &identifier)| seen[identifier as usize] += 1);
            let least = if policy == "by-size" { 3 } else { 4 };
            assert!(seen[..least].iter().all(|&count| count > 50), "{policy}: {seen:?}");
            let (device, done) = play(&spec(policy), &all, 4);
            let named = all.iter().zip(&identifiers).map(|(it, &stream)| Request { stream, ..*it });
            let filled = if ["by-lifetime", "oracle"].contains(&policy) { 3 } else { 0 };
            let (other, by_hand) = play_named(&spec("by-stream"), named.collect(), filled);
            let times = |done: &[Completion]| {
                done.iter().map(|it| (it.submitted, it.finished)).collect::<Vec<_>>()
            };
            assert_eq!(times(&done), times(&by_hand), "{policy}, {buffer}");
            assert_eq!(sectors(&device), sectors(&other), "{policy}, {buffer}");
        }
    }
}

/// What the host knows outlives the device: after a power cut, identifiers are those without one.
#[test]
fn hints_outlive_power_cuts() {
    for policy in ["by-lifetime", "oracle"] {
        let spec = hinted(policy).set("ftl.recovery.policy", "scan");
        let all = requests(u64::from(spec.logical_pages()) * PAGE);
        let mut device = assemble(spec.setup());
        fill(&mut device, 1, 0..spec.logical_pages(), spec.sectors_per_page());
        let mut first = device.clone();
        if first.record_future() {
            closed_loop(&mut first, 1, all.clone());
            device.foresee(Arc::new(first.recorded_future().expect("it is short")));
        }
        let mut without = device.clone();
        let (before, after) = all.split_at(all.len() / 2);
        closed_loop(&mut device, 1, before.to_vec());
        let earlier = sectors(&device);
        let (mut device, _) = power_up(spec.setup(), (), device.cut_power()).expect("its remains");
        closed_loop(&mut device, 1, after.to_vec());
        closed_loop(&mut without, 1, all.clone());
        let sum: Vec<_> =
            earlier.iter().zip(sectors(&device)).map(|(one, two)| one + two).collect();
        assert_eq!(sum, sectors(&without), "{policy}");
    }
}

/// The sectors that each handle got.
fn sectors(device: &Device) -> Vec<u64> {
    device.fdp().expect("it has handles").placement_counts().sectors.to_vec()
}

/// Plays requests whose streams are their identifiers, on a device that was filled in stream `filled`.
fn play_named(spec: &Spec, all: Vec<Request>, filled: u32) -> (Device, Vec<Completion>) {
    let mut device = assemble(spec.setup());
    let page = |page: u32| request(Op::Write, u64::from(page) * PAGE, PAGE as u32, page);
    let fill = (0..spec.logical_pages()).map(page);
    closed_loop(&mut device, 1, fill.map(|it| Request { stream: filled, ..it }));
    let done = closed_loop(&mut device, 4, all);
    (device, done)
}

fn streams(policy: &str) -> Spec {
    planes(Spec::small(), 256, 32, 28).set("ftl.streams.policy", policy)
}

/// Pages programmed for each page of the host.
fn amplification(device: &Device, requests: usize, filled: u32) -> f64 {
    let counts = device.ftl_counts();
    assert_eq!(counts.host_pages, requests as u64 + u64::from(filled));
    1.0 + counts.gc_pages as f64 / requests as f64
}

/// Eight of nine writes go round a small ring, the others round the rest. Everything dies in the order in which it
/// was written, so with one stream for each ring no block that is collected holds anything.
#[test]
fn who_knows_the_future_copies_nothing_where_rings_are_written() {
    let rings = |spec: &Spec| -> Vec<Request> {
        let (pages, hot) = (u64::from(spec.logical_pages()), 48);
        let page = |number: u64| match number % 9 {
            0 => hot + number / 9 % (pages - hot),
            _ => (number - number / 9 - 1) % hot,
        };
        (0..12 * pages)
            .map(|number| request(Op::Write, page(number) * PAGE, PAGE as u32, 0))
            .collect()
    };
    let measure = |spec: Spec| {
        let all = rings(&spec);
        amplification(&play(&spec, &all, 1).0, all.len(), spec.logical_pages())
    };
    let hints = streams("by-host-stream")
        .set("ftl.streams.copy_streams", 0)
        .set("host.hints.policy", "oracle");
    let [single, future, oracle] = [streams("single"), streams("future"), hints].map(measure);
    println!("single {single:.4}, future {future:.4}, oracle {oracle:.4}");
    assert!(single > 1.05 && future < 1.001 && oracle < 1.001, "{single}, {future}, {oracle}");
}

/// Zipf: knowing is better than guessing, and guessing is better than nothing.
#[test]
fn who_knows_the_future_copies_less_than_who_guesses() {
    for theta in [0.8, 1.0] {
        let measure = |policy| {
            let spec = streams(policy);
            let pages = spec.logical_pages() as usize;
            let write = |page: usize| request(Op::Write, page as u64 * PAGE, PAGE as u32, 0);
            let all: Vec<_> = zipf(pages, theta, 16 * pages).into_iter().map(write).collect();
            amplification(&play(&spec, &all, 1).0, all.len(), pages as u32)
        };
        let [single, sepbit, future] = ["single", "sepbit", "future"].map(measure);
        println!("Zipf {theta}: single {single:.3}, sepbit {sepbit:.3}, future {future:.3}");
        assert!(sepbit < single && future < sepbit, "{single}, {sepbit}, {future}");
    }
}
