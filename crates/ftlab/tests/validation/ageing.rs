//! The steady state that ageing finds is the one in which the device stays.

use ftlab::device::{Device, assemble};
use ftlab::engine::Stream;
use ftlab::host::Op;
use ftlab::stats::{Aged, Ageing, AgeingRule};

use crate::common::{Spec, closed_loop, fill, request};
use crate::write_amplification::{expected_share, mean_field, planes};

/// Random writes until `ageing` is satisfied or `most` drives have been written. Returns the drives written.
fn age(device: &mut Device, spec: &Spec, ageing: &mut Ageing, most: f64) -> f64 {
    let (sectors, pages) = (spec.sectors_per_page(), u64::from(spec.logical_pages()));
    let mut stream = Stream::new(8, "ageing");
    let mut written = 0;
    while (written as f64) < most * pages as f64 {
        let page = stream.below(pages) * u64::from(sectors);
        for done in closed_loop(device, 1, [request(Op::Write, page, sectors, 0)]) {
            if ageing.look(device) {
                return written as f64 / pages as f64;
            }
            ageing.record(&done);
        }
        written += 1;
    }
    written as f64 / pages as f64
}

fn programmed(device: &Device) -> u64 {
    let counts = device.ftl_counts();
    counts.host_pages + counts.gc_pages + counts.padding
}

/// Within 2 % of the mean over the next eight drive writes, and of the mean field; from little
/// over-provisioning, where collection starts at once, to much, where it starts only after a full
/// drive write and write amplification then overshoots.
#[test]
fn the_steady_state_that_is_found_lasts() {
    const AFTER: u64 = 8;
    for (percent, blocks) in [(7, 2_048), (15, 1_024), (28, 512), (50, 512), (100, 512)] {
        let spec = planes(Spec::small(), blocks, 32, percent);
        let mut device = assemble(spec.setup());
        fill(&mut device, 1, 0..spec.logical_pages(), spec.sectors_per_page());
        let mut ageing = Ageing::new(AgeingRule::default(), &device);
        let took = age(&mut device, &spec, &mut ageing, 20.0);
        assert_eq!(ageing.verdict(), Aged::Steady);
        let found = ageing.write_amplification().expect("rounds were judged").mean;
        let (before, pages) = (programmed(&device), u64::from(spec.logical_pages()));
        let mut stream = Stream::new(9, "after");
        let sectors = spec.sectors_per_page();
        let next = (0..AFTER * pages)
            .map(|_| request(Op::Write, stream.below(pages) * u64::from(sectors), sectors, 0));
        closed_loop(&mut device, 1, next);
        let lasting = (programmed(&device) - before) as f64 / (AFTER * pages) as f64;
        let field = mean_field(spec.geometry().units_per_block(), expected_share(&spec));
        println!(
            "{percent} % over: {took:.1} drive writes, found {found:.3}, lasting {lasting:.3} \
             ({:+.2} %), mean field {field:.3}",
            100.0 * (found / lasting - 1.0)
        );
        assert!((found / lasting - 1.0).abs() < 0.02, "{found} found, {lasting} later");
        assert!((found / field - 1.0).abs() < 0.03, "{found} found, {field} expected");
    }
}

/// A device much larger than what is written never collects, and that is no steady state.
#[test]
fn the_plateau_before_collection_is_not_the_steady_state() {
    let spec = planes(Spec::small(), 512, 32, 100);
    let mut device = assemble(spec.setup());
    let mut ageing = Ageing::new(AgeingRule::default(), &device);
    // Seven rounds at a write amplification of one, all alike.
    age(&mut device, &spec, &mut ageing, 1.5);
    assert!(ageing.rounds().len() >= 6 && device.ftl_counts().gc_runs == 0);
    assert_eq!(ageing.write_amplification().map(|wa| wa.steady), Some(true));
    assert_eq!(ageing.verdict(), Aged::GcNeverStarted);
    age(&mut device, &spec, &mut ageing, 0.9);
    assert!(device.ftl_counts().gc_runs > 0);
    assert_eq!(ageing.verdict(), Aged::NotSteady, "collection has only just begun");
}
