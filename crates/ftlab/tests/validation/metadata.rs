//! What recovery and the map add to write amplification: programs of the system area in closed form, their time on dies,
//! and parts that sum to the whole.
//!
//! A checkpoint is one flash page of its own, and those pages of the map that changed since the last one. A page of 4 KiB
//! holds 512 entries of 8 bytes.

use std::collections::BTreeSet;

use ftlab::device::{Device, assemble};
use ftlab::engine::Stream;
use ftlab::host::{Host, Op};
use ftlab::nand::Kind;
use ftlab::scheduler::Origin;
use ftlab::stats::{Circumstances, Recorder, Report};
use ftlab::units::Nanos;

use crate::common::{BLOCKS, ERASE, PROGRAM, Spec, closed_loop, on_demand, request};

const ENTRIES: u64 = 4_096 / 8;
/// 4 KiB at 409.6 MB/s.
const TRANSFER: Nanos = Nanos(10_000);

/// Two dies, with a checkpoint after so many pages of the host.
fn checkpoints(every: u64, logical: u64) -> Spec {
    let spec = Spec::small().set("nand.dies_per_chip", 2).set(BLOCKS, 2_000);
    let spec = spec.set("ftl.recovery.policy", "checkpoint");
    spec.set("ftl.recovery.every", format!("{}KiB", 4 * every)).holding(logical as u32)
}

/// The report of these writes of a page each, one after the other, on a new device.
fn written(spec: &Spec, pages: impl IntoIterator<Item = u64>) -> (Report, Device) {
    let mut device = assemble(spec.setup());
    let mut recorder = Recorder::new(&device);
    recorder.phase_started("only", true, &device);
    let sectors = spec.sectors_per_page();
    let each = pages
        .into_iter()
        .map(|page| request(Op::Write, page * u64::from(sectors), sectors, page as u32));
    let done = closed_loop(&mut device, 1, each);
    done.iter().for_each(|done| recorder.record(done, done.submitted));
    recorder.phase_ended(&device);
    (recorder.report(&device, &Circumstances::default()), device)
}

/// Pages that all checkpoints of these writes take.
fn pages_of_checkpoints(every: u64, pages: &[u64]) -> u64 {
    let whole = pages.chunks_exact(every as usize);
    whole
        .map(|between| {
            let changed: BTreeSet<u64> = between.iter().map(|page| page / ENTRIES).collect();
            1 + changed.len() as u64
        })
        .sum()
}

fn near(stated: Option<f64>, expected: f64) {
    let stated = stated.expect("the part exists");
    assert!((stated - expected).abs() < 1e-12, "{stated} instead of {expected}");
}

/// Writes in order: entries of 8 bytes for each page of 4 KiB, 0.195 %, in whole flash pages, and one page for each
/// checkpoint. Their time on the dies is that of programs of data, and of erases.
#[test]
fn writes_in_order_amplify_by_their_entries_and_one_page_a_checkpoint() {
    // Whole pages of the map, and intervals that begin and end within one.
    for every in [512, 1_024, 2_048, 700] {
        let pages: Vec<u64> = (0..every * 8).collect();
        let (report, device) = written(&checkpoints(every, every * 8), pages.iter().copied());
        let system = &report.flash_commands[Origin::System];
        let programs = system[Kind::Program];
        assert_eq!(programs, pages_of_checkpoints(every, &pages), "{every}");
        let wa = &report.write_amplification;
        let all = pages.len() as f64;
        if every % ENTRIES == 0 {
            near(wa.total_ratio, 1.0 + 8.0 / 4_096.0 + 1.0 / every as f64);
        }
        near(wa.system_ratio, programs as f64 / all);
        near(wa.data_ratio, 1.0);
        assert_eq!((wa.ftl_ratio, wa.map_ratio, wa.parity_ratio), (Some(1.0), None, None));
        let busy: u64 = device.flash().die_busy(device.now()).map(|busy| busy.0).sum();
        let each = (PROGRAM + TRANSFER).0;
        let erases = system[Kind::Erase];
        assert_eq!(busy, (pages.len() as u64 + programs) * each + erases * ERASE.0, "{every}");
    }
}

/// Writes at random change pages of the map as balls fall into bins: of `m` pages, `n` writes change m (1 - (1 - 1/m)^n).
#[test]
fn writes_at_random_amplify_by_the_pages_of_the_map_that_they_change() {
    let bins = 16;
    let logical = bins * ENTRIES;
    for every in [16, 64] {
        let mut stream = Stream::new(8, "pages");
        let pages: Vec<u64> = (0..every * 400).map(|_| stream.below(logical)).collect();
        let (report, _) = written(&checkpoints(every, logical), pages.iter().copied());
        let programs = report.flash_commands[Origin::System][Kind::Program];
        assert_eq!(programs, pages_of_checkpoints(every, &pages), "{every}");
        let (m, n) = (bins as f64, every as f64);
        let changed = m * (1.0 - libm::pow(1.0 - 1.0 / m, n));
        let expected = (1.0 + changed) / n;
        let measured = report.write_amplification.system_ratio.expect("it has a system area");
        // Of 16 pages the changed ones vary by less than 1.5 a checkpoint; 400 checkpoints average them.
        let error = 1.5 / 20.0 / n;
        println!("every {every}: expected {expected:.5}, measured {measured:.5}");
        assert!((measured - expected).abs() < 4.0 * error, "{measured} instead of {expected}");
    }
}

/// A trim takes a page of the journal, alone.
#[test]
fn a_trim_alone_takes_a_page() {
    let spec = checkpoints(1_000, 400).set("ftl.recovery.policy", "scan");
    let mut device = assemble(spec.without(|path| path == "ftl.recovery.every").setup());
    closed_loop(&mut device, 1, (0..8).map(|page| request(Op::Write, page * 8, 8, 0)));
    closed_loop(&mut device, 1, (0..8).map(|page| request(Op::Trim, page * 8, 8, 0)));
    let done = device.flash().done()[Origin::System as usize];
    assert_eq!(done[Kind::Program as usize], 8);
    let busy: u64 = device.flash().die_busy(device.now()).map(|busy| busy.0).sum();
    assert_eq!(busy, 16 * (PROGRAM + TRANSFER).0);
}

/// Data, map and parity; data, map and checkpoints: the parts sum to the whole, and each is what its counter says.
#[test]
fn parts_of_the_amplification_sum_to_the_whole() {
    let spec = Spec::small().with(
        "nand.channels = 4
        nand.blocks_per_plane = 200
        ftl.placement.policy = dynamic",
    );
    let beside = [
        "ftl.parity.policy = dies\n ftl.parity.width = 4",
        "ftl.recovery.policy = checkpoint\n ftl.recovery.every = 256KiB",
    ];
    let mut copied = 0;
    for more in beside {
        let spec = on_demand::cached(spec.clone().with(more), 64).holding(4_000);
        let mut stream = Stream::new(9, "pages");
        let (report, _) = written(&spec, (0..20_000).map(|_| stream.below(4_000)));
        let wa = &report.write_amplification;
        let parts = [wa.data_ratio, wa.map_ratio, wa.system_ratio, wa.parity_ratio];
        near(wa.total_ratio, parts.into_iter().flatten().sum());
        assert_eq!(wa.map_ratio, report.translation.as_ref().and_then(|map| map.write_ratio));
        let host = 20_000.0;
        // Collection counts the copies of translation pages among its own.
        let of_map = report.translation.as_ref().map_or(0, |map| map.counts.copies);
        let data = wa.counts.host_pages + wa.counts.gc_pages + wa.counts.padding - of_map;
        near(wa.data_ratio, data as f64 / host);
        assert!(wa.map_ratio > Some(0.05), "its pages are updated: {wa:?}");
        copied += of_map;
        assert_eq!(
            wa.parity_ratio,
            report.parity.map(|parity| parity.counts.programs as f64 / host)
        );
        let system = report.flash_commands[Origin::System][Kind::Program];
        assert_eq!(wa.system_ratio, (system > 0).then(|| system as f64 / host));
    }
    assert!(copied > 0, "collection moves translation pages");
}
