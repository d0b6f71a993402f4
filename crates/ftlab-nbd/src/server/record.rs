//! Records the requests of a server as a trace.

use std::path::PathBuf;

use ftlab::host::{Op, Request};
use ftlab::units::{Lba, SimTime};
use ftlab_lab::failure::Failure;
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
    pub(super) fn finish(self) -> Result<Option<String>, Failure> {
        let unfinished = self.unfinished.display();
        let finished = match self.failed {
            Some(failure) => Err(failure),
            None => self.writer.finish().map_err(Failure::usage),
        };
        let done = finished.map_err(|failure| {
            failure
                .map_text(|text| format!("{text}\n  what was recorded before is in {unfinished}"))
        })?;
        let left_out = done.dropped > 0 || done.made_plain > 0;
        Ok(left_out.then(|| {
            format!(
                "the trace lacks {} requests that its format can't express, and has {} writes with FUA as plain writes",
                done.dropped, done.made_plain
            )
        }))
    }
}
