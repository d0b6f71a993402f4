//! Records the requests of a server as a trace.

use std::path::PathBuf;

use ftlab::host::{Op, Request};
use ftlab::units::{Lba, Nanos, SimTime};
use ftlab_lab::failure::Failure;
use ftlab_lab::human::counted;
use ftlab_workload::trace::{ConvertOptions, Format, Record, TraceWriter};

/// How requests are recorded.
#[derive(Clone, Debug)]
pub struct RecordSpec {
    /// The file.
    pub path: PathBuf,
    /// Its format.
    pub format: &'static Format,
    /// Leave out what the format can't express.
    pub drop_unsupported: bool,
}

impl RecordSpec {
    /// Refuses a format that can't express what clients may ask for, and files that are there.
    ///
    /// # Errors
    /// One of the two.
    pub fn check(&self) -> Result<(), Failure> {
        let lacks = self.format.lacks();
        if !lacks.is_empty() && !self.drop_unsupported {
            return Err(Failure::usage(format!(
                "the format {} can't express {}, which a block device gets\n  remedy: record as blkparse or parquet, \
                 which hold everything; or `drop_unsupported` leaves them out (of writes with FUA: makes them plain) and \
                 counts them",
                self.format.name,
                lacks.join(", ")
            )));
        }
        if self.path.exists() {
            return Err(Failure::usage(format!(
                "{} exists already\n  remedy: choose another name, so that nothing is overwritten",
                self.path.display()
            )));
        }
        let unfinished = TraceWriter::unfinished(&self.path);
        if unfinished.exists() {
            return Err(Failure::usage(format!(
                "{} exists already: it is what a server recorded before it was killed\n  remedy: rename or delete it, \
                 or record to another file",
                unfinished.display()
            )));
        }
        Ok(())
    }
}

/// Records requests as a trace.
pub(super) struct TraceRecorder {
    writer: TraceWriter,
    began: Option<SimTime>,
    failed: Option<Failure>,
    /// Whether the failure was told.
    told: bool,
    unfinished: PathBuf,
}

impl TraceRecorder {
    pub(super) fn new(spec: &RecordSpec) -> Result<TraceRecorder, Failure> {
        spec.check()?;
        let options = ConvertOptions { drop_unsupported: spec.drop_unsupported };
        let writer = TraceWriter::create(&spec.path, spec.format, options);
        let (writer, unfinished) =
            (writer.map_err(Failure::usage)?, TraceWriter::unfinished(&spec.path));
        Ok(TraceRecorder { writer, began: None, failed: None, told: false, unfinished })
    }

    /// Nothing was served: leaves no file.
    pub(super) fn discard(self) {
        drop(std::fs::remove_file(self.unfinished));
    }

    /// Records a request; times count from the first one.
    pub(super) fn record(&mut self, request: &Request, at: SimTime) {
        let began = *self.began.get_or_insert(at);
        let Request { op, lba, sectors, stream, fua, .. } = *request;
        let lba = if op == Op::Flush { Lba(0) } else { lba };
        let at = SimTime::ZERO + at.saturating_since(began);
        let record = Record { at, op, lba, sectors, stream, fua };
        if self.failed.is_none() {
            self.failed = self.writer.write(&record).err().map(Failure::usage);
        }
    }

    /// Hands what was recorded to the system, so that a kill leaves it. Returns why the recording has ended, once.
    pub(super) fn flush(&mut self) -> Option<String> {
        if self.failed.is_none() {
            self.failed = self.writer.flush().err().map(Failure::usage);
        }
        let failure = self.failed.as_ref().filter(|_| !self.told)?;
        self.told = true;
        Some(format!(
            "recording has ended: {failure}\n  what was recorded before is in {}",
            self.unfinished.display()
        ))
    }

    /// Completes the trace. Returns what to tell of it.
    pub(super) fn finish(self) -> Result<Vec<String>, Failure> {
        let unfinished = self.unfinished.display();
        let finished = match self.failed {
            Some(failure) => Err(failure),
            None => self.writer.finish().map_err(Failure::usage),
        };
        let done = finished.map_err(|failure| {
            failure
                .map_text(|text| format!("{text}\n  what was recorded before is in {unfinished}"))
        })?;
        let mut told: Vec<String> = done.remarks.iter().map(|&remark| remark.to_owned()).collect();
        if done.dropped > 0 || done.made_plain > 0 {
            told.push(format!(
                "the trace lacks {} that its format can't express, and has {} with FUA as plain writes",
                counted(done.dropped, "request"),
                counted(done.made_plain, "write")
            ));
        }
        if done.rounded_times > 0 {
            told.push(format!(
                "times of the trace rounded down to {}, the clock of its format: {} of {}",
                Nanos(done.tick_ns),
                done.rounded_times,
                done.requests
            ));
        }
        Ok(told)
    }
}

#[cfg(test)]
mod tests {
    use ftlab_workload::trace::named;

    use super::*;

    /// Records three requests, 1.5 s apart, and returns what is told of them.
    fn told(format: &'static str, ops: [Op; 3]) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace");
        let format = named(format).unwrap();
        let spec = RecordSpec { path: path.clone(), format, drop_unsupported: true };
        let mut recorder = TraceRecorder::new(&spec).unwrap_or_else(|error| panic!("{error}"));
        for (number, op) in (0..).zip(ops) {
            let at = SimTime(number * 1_500_000_000);
            let request = Request { op, lba: Lba(8), sectors: 8, stream: 0, tag: 0, fua: false };
            recorder.record(&request, at);
        }
        let told = recorder.finish().unwrap_or_else(|error| panic!("{error}"));
        assert!(path.exists());
        told
    }

    #[test]
    fn the_end_of_a_recording_tells_what_its_format_did_to_it() {
        let rounded = told("tencent", [Op::Read, Op::Trim, Op::Write]);
        assert!(
            rounded[0].starts_with(
                "the trace lacks 1 request that its format can't express, and has 0 writes with"
            ),
            "{rounded:?}"
        );
        let rounded = told("tencent", [Op::Read, Op::Write, Op::Write]);
        assert_eq!(
            rounded,
            ["times of the trace rounded down to 1s, the clock of its format: 1 of 3"]
        );
        let trims = told("ssdsim", [Op::Read, Op::Trim, Op::Write]);
        assert!(trims[0].starts_with("trims have the flag 2"), "{trims:?}");
        assert_eq!(told("blkparse", [Op::Read, Op::Trim, Op::Write]), [""; 0]);
    }

    #[test]
    fn a_recording_that_fails_says_so_once_and_leaves_what_it_has() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace");
        let spec = RecordSpec {
            path: path.clone(),
            format: named("blkparse").unwrap(),
            drop_unsupported: false,
        };
        let mut recorder = TraceRecorder::new(&spec).unwrap_or_else(|error| panic!("{error}"));
        let record = |recorder: &mut TraceRecorder, op| {
            let request = Request { op, lba: Lba(8), sectors: 8, stream: 0, tag: 0, fua: false };
            recorder.record(&request, SimTime(1_000));
        };
        record(&mut recorder, Op::Write);
        assert_eq!(recorder.flush(), None);
        // What can't be written, like anything once the drive of the file is full.
        record(&mut recorder, Op::Append);
        let told = recorder.flush().expect("it has ended");
        assert!(
            told.starts_with("recording has ended: ") && told.contains(".unfinished"),
            "{told}"
        );
        record(&mut recorder, Op::Write);
        assert_eq!(recorder.flush(), None, "it was told");
        let failure = recorder.finish().expect_err("it failed").to_string();
        assert!(failure.contains("what was recorded before is in"), "{failure}");
        assert!(!path.exists());
        let left = std::fs::read_to_string(TraceWriter::unfinished(&path)).unwrap();
        assert_eq!(left.lines().count(), 1, "{left}");
    }
}
