//! A trace that is written request by request: its file while it is not complete, and its name.

use std::path::Path;

use ftlab::host::Op;
use ftlab::units::{Lba, SimTime};
use ftlab_workload::trace::{ConvertOptions, Options, Record, TraceWriter, named, open};

const RECORD: Record =
    Record { at: SimTime(1000), op: Op::Write, lba: Lba(8), sectors: 8, stream: 0, fua: false };

/// The warnings of a trace that is read to its end.
fn warnings(path: &Path) -> String {
    let mut trace = open(path, Options::default()).unwrap();
    while trace.next_batch(&mut Vec::new()).unwrap() {}
    trace.facts().warnings.join("; ")
}

#[test]
fn a_trace_takes_its_name_at_the_end_and_from_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.blkparse");
    let begun = || {
        let format = named("blkparse").unwrap();
        let mut writer = TraceWriter::create(&path, format, ConvertOptions::default()).unwrap();
        writer.write(&RECORD).unwrap();
        writer
    };
    let mut writer = begun();
    assert!(!path.exists() && TraceWriter::unfinished(&path).exists());
    writer.flush().unwrap();
    assert!(warnings(&TraceWriter::unfinished(&path)).contains("was not completed"));
    writer.finish().unwrap();
    assert!(!warnings(&path).contains("was not completed"));
    assert!(!TraceWriter::unfinished(&path).exists());
    let complete = std::fs::read(&path).unwrap();
    assert!(!complete.is_empty());

    std::fs::write(&path, "another's").unwrap();
    assert!(begun().finish().is_err());
    assert_eq!(std::fs::read(&path).unwrap(), b"another's");
    assert_eq!(std::fs::read(TraceWriter::unfinished(&path)).unwrap(), complete);
}

/// What a reader of the file should know is told at the end, as by a conversion.
#[test]
fn a_finished_trace_tells_what_its_format_does_to_it() {
    let folder = tempfile::tempdir().unwrap();
    let format = named("ssdsim").unwrap();
    let path = folder.path().join("a.ssdsim");
    let mut writer = TraceWriter::create(&path, format, ConvertOptions::default()).unwrap();
    writer.write(&Record { op: Op::Trim, ..RECORD }).unwrap();
    let done = writer.finish().unwrap();
    assert!(done.remarks[0].starts_with("trims have the flag 2"), "{:?}", done.remarks);
}
