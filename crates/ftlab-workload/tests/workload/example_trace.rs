//! The example trace in the repository equals what its generator writes.

#[path = "../../examples/office_trace.rs"]
mod office_trace;

use std::path::Path;

use ftlab_workload::trace::{self, Inspection};

fn inspect(path: &Path) -> Inspection {
    let mut trace = trace::open(path, trace::Options::default()).expect("it opens");
    trace::inspect(&mut trace).expect("it can be read")
}

#[test]
fn the_example_trace_is_what_its_generator_makes() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let made = folder.path().join("office-20k.csv.gz");
    office_trace::write(&made).expect("the generator works");
    let shipped = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/traces/office-20k.csv.gz");
    let (made, shipped) = (inspect(&made), inspect(Path::new(shipped)));
    assert_eq!(made.digest, shipped.digest, "make it anew: see examples/office_trace.rs");
    assert_eq!((shipped.format, shipped.requests), ("msr", 20_000));
    assert!(shipped.warnings.is_empty(), "{:?}", shipped.warnings);
}
