//! How busy engines, DRAM, link and processor were: by hand at any moment, and by the utilisation law, rate times service
//! time, over whole runs.

use ftlab::device::{Device, assemble};
use ftlab::host::{Advanced, FrontEndBusy, Host, Op, Request};
use ftlab::stats::{Circumstances, Recorder, Report};
use ftlab::units::{Nanos, SimTime};

use crate::common::{BLOCKS, DRAM, READ, Spec, closed_loop, fill, poisson, request, timed};

/// What 4 KiB take on the bus, and through DRAM.
const TRANSFER: Nanos = Nanos(10_000);
const CROSSING: Nanos = Nanos(10_000);
/// 4 KiB on four lanes of PCIe 3, and on SATA 3: see `host_side.rs`.
const PCIE_4K: u64 = 1_138;
const SATA_4K: u64 = 6_854;
const COMMAND: Nanos = Nanos(10_000);

/// Room for four hundred pages.
fn roomy() -> Spec {
    Spec::small().set(BLOCKS, 100)
}

fn slow_dram() -> Spec {
    roomy().set("controller.dram.bandwidth", "409.6MB/s")
}

fn on(interface: &str) -> Spec {
    roomy().set("host.link.interface", interface).buffered("lru", 64)
}

fn decoding(engines: u32) -> Spec {
    let spec = Spec::small().set("nand.codeword", "1KiB").set(BLOCKS, 600);
    spec.set("controller.ecc.engines", engines).set("controller.ecc.codeword", "3us")
}

/// The report of what `play` does with a device, and how long that took.
fn measured(device: &mut Device, play: impl FnOnce(&mut Device)) -> (Report, f64) {
    let start = device.now();
    let mut recorder = Recorder::new(device);
    recorder.phase_started("only", true, device);
    play(device);
    recorder.phase_ended(device);
    let span = (device.now() - start).0 as f64;
    (recorder.report(device, &Circumstances::default()), span)
}

/// Pages one after the other, sixteen at a time.
fn pages(op: Op, count: u32) -> impl Fn(&mut Device) {
    move |device| {
        let each = (0..count).map(|page| request(op, u64::from(page) * 8, 8, page));
        closed_loop(device, 16, each);
    }
}

fn equal(stated: Option<f64>, expected: f64) {
    let stated = stated.expect("the part takes time");
    assert!((stated - expected).abs() < 1e-12, "{stated} instead of {expected}");
}

/// How busy the front end has been at these moments since `requests` came at time zero.
fn busy_at<const N: usize>(
    spec: &Spec,
    requests: &[Request],
    moments: [u64; N],
) -> [FrontEndBusy; N] {
    let mut device = assemble(spec.setup());
    requests.iter().for_each(|&request| device.submit(SimTime::ZERO, request));
    moments.map(|moment| {
        while device.advance_until(SimTime(moment), &mut Vec::new()) == Advanced::Completed {}
        assert_eq!(device.now(), SimTime(moment));
        device.front().expect("something takes time").busy_until(device.now())
    })
}

#[test]
fn dram_is_busy_while_data_crosses() {
    let spec = slow_dram().buffered("lru", 64);
    let three = [0, 8, 16].map(|lba| request(Op::Write, lba, 8, 0));
    let busy = busy_at(&spec, &three, [1, 15_000, 29_999, 30_000, 90_000]);
    assert_eq!(busy.map(|busy| busy.dram.0), [1, 15_000, 29_999, 30_000, 30_000]);
}

#[test]
fn each_way_of_a_link_is_busy_while_something_passes() {
    let mix =
        [request(Op::Write, 320, 8, 0), request(Op::Read, 0, 8, 1), request(Op::Read, 8, 8, 2)];
    let from = DRAM.0;
    let moments = [PCIE_4K / 2, from, from + PCIE_4K + 100, from + 3 * PCIE_4K];
    let busy = busy_at(&on("pcie-3x4"), &mix, moments);
    assert_eq!(busy.map(|busy| busy.link_in.0), [PCIE_4K / 2, PCIE_4K, PCIE_4K, PCIE_4K]);
    assert_eq!(busy.map(|busy| busy.link_out.0), [0, 0, PCIE_4K + 100, 2 * PCIE_4K]);
    assert_eq!(busy.map(|busy| busy.link_both.0), [0; 4]);
    // The write comes first on the shared wire, and the reads after it without a gap.
    let moments = [SATA_4K - 1, 2 * SATA_4K + 5, 4 * SATA_4K];
    let busy = busy_at(&on("sata-3"), &mix, moments);
    assert_eq!(busy.map(|busy| busy.link_both.0), [SATA_4K - 1, 2 * SATA_4K + 5, 3 * SATA_4K]);
    assert_eq!(busy.map(|busy| (busy.link_in.0, busy.link_out.0)), [(0, 0); 3]);
}

#[test]
fn cores_are_busy_with_commands_and_while_they_fetch_them() {
    let spec = Spec::small().set("host.command_time", "10us").set("firmware.cores", 2);
    let three = [0, 8, 16].map(|lba| request(Op::Read, lba, 8, 0));
    // Two at once, then one.
    let busy = busy_at(&spec, &three, [4_000, 10_000, 15_000, 40_000]);
    assert_eq!(busy.map(|busy| busy.processor.0), [8_000, 20_000, 25_000, 30_000]);
    // A command is a packet of 88 bytes: 23 ns.
    let fetching = spec.set("host.link.interface", "pcie-3x4").set("host.link.commands", "on");
    let busy = busy_at(&fetching, &three[..1], [10, 10_023, 40_000]);
    assert_eq!(busy.map(|busy| busy.processor.0), [10, 10_023, 10_023]);
}

#[test]
fn jobs_of_the_processor_add_up() {
    let spec = roomy().set("firmware.unit", "2us").set("firmware.page", "5us");
    let spec = spec.set("firmware.poll", "1us").set("host.command_time", "10us");
    let mut device = assemble(spec.setup());
    let (report, span) = measured(&mut device, pages(Op::Write, 100));
    equal(report.utilisation.processor_ratio, 100.0 * (10_000.0 + 2_000.0 + 5_000.0) / span);
    let (report, span) = measured(&mut device, pages(Op::Read, 100));
    equal(report.utilisation.processor_ratio, 100.0 * (10_000.0 + 1_000.0) / span);
}

/// Each page has four codewords of 3 us.
#[test]
fn engines_are_busy_for_each_codeword() {
    for engines in [1, 3] {
        let mut device = assemble(decoding(engines).holding(2_400).setup());
        fill(&mut device, 64, 0..2_400, 8);
        let (report, span) = measured(&mut device, pages(Op::Read, 2_400));
        let all = 2_400.0 * 4.0 * 3_000.0 / span;
        let channels = f64::from(device.flash().geometry().channels());
        let spread = report.utilisation.decoders_ratio.expect("decoding takes time");
        equal(Some(spread.mean), all / channels / f64::from(engines));
        assert!(spread.min <= spread.mean && spread.mean <= spread.max && spread.max <= 1.0);
    }
    // One pool for all channels.
    let spec = decoding(1).set("controller.ecc.serve", "device").holding(2_400);
    let mut device = assemble(spec.setup());
    fill(&mut device, 64, 0..2_400, 8);
    let (report, span) = measured(&mut device, pages(Op::Read, 2_400));
    let spread = report.utilisation.decoders_ratio.expect("decoding takes time");
    equal(Some(spread.mean), 2_400.0 * 4.0 * 3_000.0 / span);
    assert_eq!((spread.min, spread.max), (spread.mean, spread.mean));
}

/// An engine works on the codewords of a page from the first one on, but they count when all have left the die.
#[test]
fn engines_count_a_page_when_it_has_left_its_die() {
    let mut device = assemble(decoding(1).setup());
    fill(&mut device, 1, 0..8, 8);
    let start = device.now();
    device.submit(start, request(Op::Read, 0, 8, 0));
    let sent = READ.0 + TRANSFER.0;
    let decoded: Vec<u64> = [sent - 1, sent, sent + 1_000, sent + 4_500, sent + 90_000]
        .map(|at| {
            let at = start + Nanos(at);
            while device.advance_until(at, &mut Vec::new()) == Advanced::Completed {}
            device.flash().decoders_busy(at).map(|busy| busy.0).sum()
        })
        .into();
    // Codewords come 2.5 us apart, so the engine begins 7.5 us before the end of the transfer and works for 12.
    assert_eq!(decoded, [0, 7_500, 8_500, 12_000, 12_000]);
}

#[test]
fn data_of_reads_and_writes_crosses_dram_twice() {
    let mut device = assemble(slow_dram().setup());
    let (report, span) = measured(&mut device, pages(Op::Write, 300));
    equal(report.utilisation.dram_ratio, 300.0 * 2.0 * CROSSING.0 as f64 / span);
    let (report, span) = measured(&mut device, pages(Op::Read, 300));
    equal(report.utilisation.dram_ratio, 300.0 * 2.0 * CROSSING.0 as f64 / span);
}

#[test]
fn links_are_as_busy_as_what_they_carry() {
    let mut device = assemble(on("pcie-3x4").setup());
    let (report, span) = measured(&mut device, pages(Op::Write, 300));
    let used = report.utilisation;
    equal(used.link_in_ratio, 300.0 * PCIE_4K as f64 / span);
    assert_eq!((used.link_out_ratio, used.link_both_ratio), (Some(0.0), None));
    let mut device = assemble(on("sata-3").setup());
    let (report, span) = measured(&mut device, pages(Op::Write, 300));
    let used = report.utilisation;
    equal(used.link_both_ratio, 300.0 * SATA_4K as f64 / span);
    assert_eq!((used.link_in_ratio, used.link_out_ratio), (None, None));
}

/// The utilisation law: the rate of arrivals times the service time, by core. The queues are those
/// of M/D/c in `host_side.rs`.
#[test]
fn cores_under_poisson_arrivals_are_busy_by_the_utilisation_law() {
    for (cores, rho) in [(1, 0.7), (2, 0.8), (4, 0.8)] {
        let spec = Spec::small().set("host.command_time", "10us").set("firmware.cores", cores);
        let mut device = assemble(spec.buffered("lru", 64).setup());
        let (count, mean_gap) = (200_000, COMMAND.0 as f64 / (rho * f64::from(cores)));
        let (report, span) = measured(&mut device, |device| {
            let commands = (0..count).map(|tag| request(Op::Read, 0, 8, tag));
            timed(device, poisson(5, mean_gap).zip(commands), |_| {});
        });
        let used = report.utilisation.processor_ratio;
        equal(used, f64::from(count) * COMMAND.0 as f64 / (span * f64::from(cores)));
        // The rate of 200,000 arrivals is off by 0.22 % (one standard deviation).
        let off = used.expect("stated above") / rho - 1.0;
        assert!(off.abs() < 4.0 * 0.0022, "{off} at {rho} with {cores} cores");
    }
}

#[test]
fn windows_lose_no_busy_time() {
    let spec = decoding(1).set("controller.dram.bandwidth", "409.6MB/s");
    let spec = spec.set("host.link.interface", "pcie-3x4").set("host.command_time", "10us");
    let mut device = assemble(spec.setup());
    let mut recorder = Recorder::new(&device);
    recorder.phase_started("only", true, &device);
    for page in 0..400 {
        let op = if page % 2 == 0 { Op::Write } else { Op::Read };
        device.submit(device.now(), request(op, page / 2 * 8, 8, 0));
        let mut done = Vec::new();
        while device.advance_until(SimTime::FOREVER, &mut done) == Advanced::Completed {
            recorder.look(&device);
            done.drain(..).for_each(|done| recorder.record(&done, done.submitted));
        }
    }
    recorder.phase_ended(&device);
    let windows: Vec<_> = recorder.timeline().windows().map(|(_, window)| window.work).collect();
    assert!(windows.len() > 50, "{} windows", windows.len());
    let all = windows.iter().skip(1).fold(windows[0], |sum, work| sum.plus(work));
    assert_eq!(all.decoder_busy, Nanos(200 * 4 * 3_000));
    let expected = FrontEndBusy {
        dram: Nanos(400 * 2 * CROSSING.0),
        link_in: Nanos(200 * PCIE_4K),
        link_out: Nanos(200 * PCIE_4K),
        link_both: Nanos::ZERO,
        processor: Nanos(400 * COMMAND.0),
    };
    assert_eq!(all.front_end, expected);
}

#[test]
fn parts_that_take_no_time_have_no_share() {
    let mut device = assemble(roomy().setup());
    let (report, _) = measured(&mut device, pages(Op::Write, 100));
    let used = report.utilisation;
    assert!(used.dies_ratio.is_some() && used.channels_ratio.is_some());
    assert!(used.decoders_ratio.is_none());
    let others = [used.dram_ratio, used.link_in_ratio, used.link_out_ratio, used.link_both_ratio];
    assert_eq!((others, used.processor_ratio), ([None; 4], None));
    // A front end with a link alone has neither a processor nor a DRAM that takes time.
    let mut device = assemble(on("pcie-3x4").setup());
    let (report, _) = measured(&mut device, pages(Op::Write, 100));
    assert_eq!((report.utilisation.dram_ratio, report.utilisation.processor_ratio), (None, None));
}
