//! The example trace in the repository equals what its generator writes.

#[path = "../../examples/office_trace.rs"]
mod office_trace;

use std::ops::ControlFlow;
use std::path::Path;

use ftlab::units::{Lba, SimTime};
use ftlab_workload::replay::Arrival;
use ftlab_workload::trace::{self, BATCH, ErrorKind, Inspection};

const SHIPPED: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/traces/office-20k.csv.gz");

fn inspect(path: &Path) -> Inspection {
    let mut trace = trace::open(path, trace::Options::default()).expect("it opens");
    trace::inspect(&mut trace).expect("it can be read")
}

#[test]
fn the_example_trace_is_what_its_generator_makes() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let made = folder.path().join("office-20k.csv.gz");
    office_trace::write(&made).expect("the generator works");
    let (made, shipped) = (inspect(&made), inspect(Path::new(SHIPPED)));
    assert_eq!(made.digest, shipped.digest, "make it anew: see examples/office_trace.rs");
    assert_eq!((shipped.format, shipped.requests), ("msr", 20_000));
    assert!(shipped.warnings.is_empty(), "{:?}", shipped.warnings);
}

#[test]
fn requests_in_memory_are_described_as_their_trace_is() {
    let mut trace = trace::open(Path::new(SHIPPED), trace::Options::default()).expect("it opens");
    let (mut requests, mut batch) = (Vec::new(), Vec::new());
    while trace.next_batch(&mut batch).expect("it can be read") {
        requests.extend(batch.iter().map(|record| Arrival::from(*record)));
    }
    // Their clock need not begin at zero.
    requests.iter_mut().for_each(|request| request.at.0 += 5_000_000_000);
    let go_on = |_| ControlFlow::Continue(());
    let found = trace::inspect_requests("mine", &requests, true, go_on).expect("it can be told");
    let mut trace = trace::open(Path::new(SHIPPED), trace::Options::default()).expect("it opens");
    let expected = trace::inspect_watched(&mut trace, true, go_on).expect("it can be read");
    assert_eq!(
        (found.file.as_str(), found.format, found.units.time.as_deref()),
        ("mine", "requests", Some("ns"))
    );
    let Inspection { file, format, compression, units, assumed, .. } = found.clone();
    assert_eq!(found, Inspection { file, format, compression, units, assumed, ..expected });

    let mut heard = Vec::new();
    let stop = |read| {
        heard.push(read);
        if read == 0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let part = trace::inspect_requests("mine", &requests, false, stop).expect("it can be told");
    assert_eq!(part.reads + part.writes + part.trims + part.flushes, BATCH as u64);
    assert_eq!(heard, [0, BATCH as u64]);

    for (lba, sectors) in [((1 << 55) - 7, 8), (u64::MAX, 8), (0, (1 << 31) + 1)] {
        let impossible = Arrival { lba: Lba(lba), sectors, at: SimTime(0), ..requests[0] };
        let refused = trace::inspect_requests("mine", &[impossible], false, go_on);
        assert_eq!(refused.expect_err("it can't be told").kind, ErrorKind::Implausible);
    }
}
