//! Writes a trace in another format, to a temporary file that is renamed when it is complete.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use ftlab::units::SimTime;
use serde::Serialize;

use super::compressors::{self, Compressor};
use super::digest::Digest;
use super::error::{ErrorKind, TraceError};
use super::format::{Codec, FORMATS, Format, LineWriter};
use super::formats::parquet_writer::ParquetWriter;
use super::input::Compression;
use super::reader::Trace;
use super::record::Record;

/// How to write.
#[derive(Clone, Copy, Debug, Default)]
pub struct ConvertOptions {
    /// Skip requests that the format cannot express, such as trims, write plain writes for those
    /// with FUA, and count both, instead of stopping.
    pub drop_unsupported: bool,
}

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Converted {
    /// Requests written.
    pub requests: u64,
    /// Requests skipped because the format cannot express them.
    pub dropped: u64,
    /// Writes with FUA written as plain writes because the format cannot express FUA.
    pub made_plain: u64,
    /// Requests whose time was rounded down to the format's clock.
    pub rounded_times: u64,
    /// The resolution of that clock, in nanoseconds.
    pub tick_ns: u64,
    /// What the trace holds and the file does not.
    pub not_kept: Vec<String>,
    /// What a reader of the file should know.
    pub remarks: Vec<&'static str>,
    /// BLAKE3 of the records that were read; empty if no trace was read.
    pub digest: String,
}

impl Converted {
    fn nothing(format: &Format) -> Converted {
        Converted {
            requests: 0,
            dropped: 0,
            made_plain: 0,
            rounded_times: 0,
            tick_ns: format.tick.0,
            not_kept: Vec::new(),
            remarks: Vec::new(),
            digest: String::new(),
        }
    }
}

/// The end of the name of a file that is not complete.
const UNFINISHED: &str = ".unfinished";

/// Warns of a file whose writer has not completed it.
pub(crate) fn unfinished_doubt(name: &str) -> Option<String> {
    name.ends_with(UNFINISHED).then(|| {
        "the recording was not completed, as its name says: what came last may be missing"
            .to_owned()
    })
}

/// Writes a trace request by request, for a source that may die. Until it is complete, the file has another name
/// ([`TraceWriter::unfinished`]), under which what was written so far stays.
pub struct TraceWriter {
    name: String,
    path: PathBuf,
    format: &'static Format,
    target: ConvertTarget,
    options: ConvertOptions,
    done: Converted,
}

impl TraceWriter {
    /// Begins a trace in `format`. Text is compressed if the name ends in `.gz`, `.zst`, `.bz2` or `.xz`.
    ///
    /// # Errors
    /// The file can't be made, or nothing can be written in this format.
    pub fn create(
        path: &Path,
        format: &'static Format,
        options: ConvertOptions,
    ) -> Result<TraceWriter, TraceError> {
        let name = path.display().to_string();
        let file = File::create_new(Self::unfinished(path));
        let file = file.map_err(|error| TraceError::io(&name, "can't write it", &error))?;
        let target = ConvertTarget::new(format, path, file, &name).inspect_err(|_| {
            drop(fs::remove_file(Self::unfinished(path)));
        })?;
        let (path, done) = (path.to_owned(), Converted::nothing(format));
        Ok(TraceWriter { name, path, format, target, options, done })
    }

    /// The name of the file while it is not complete.
    #[must_use]
    pub fn unfinished(path: &Path) -> PathBuf {
        let mut name = path.as_os_str().to_owned();
        name.push(UNFINISHED);
        PathBuf::from(name)
    }

    /// Writes a request.
    ///
    /// # Errors
    /// The format can't express it, or the file can't be written.
    pub fn write(&mut self, record: &Record) -> Result<(), TraceError> {
        let written = self.target.put(record, self.options, &mut self.done);
        let written =
            written.map_err(|error| TraceError::io(&self.name, "can't write it", &error))?;
        written.map_err(|what| unsupported(&self.name, self.format, what))
    }

    /// Hands all requests so far to the system, as far as the format allows: Parquet and compressed text keep back some.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn flush(&mut self) -> Result<(), TraceError> {
        let flushed = self.target.flush();
        flushed.map_err(|error| TraceError::io(&self.name, "can't write it", &error))
    }

    /// Completes the trace, and returns what was written.
    ///
    /// # Errors
    /// The file can't be written, or its name was taken meanwhile.
    pub fn finish(self) -> Result<Converted, TraceError> {
        let TraceWriter { name, path, target, mut done, .. } = self;
        done.remarks.extend(target.remark());
        let complete =
            target.finish(false).and_then(|()| give_name(&Self::unfinished(&path), &path));
        complete.map_err(|error| TraceError::io(&name, "can't write it", &error))?;
        Ok(done)
    }
}

/// Gives a file its name, which nothing may have.
fn give_name(unfinished: &Path, path: &Path) -> io::Result<()> {
    match fs::hard_link(unfinished, path) {
        Ok(()) => {
            // The file has its name. A second one does no harm.
            let _ = fs::remove_file(unfinished);
            Ok(())
        }
        // Not every file system has links.
        Err(_) if !fs::exists(path)? => fs::rename(unfinished, path),
        Err(error) => Err(error),
    }
}

/// Writes the rest of `trace` to `path` in `format`. Text is compressed if the name ends in `.gz`,
/// `.zst`, `.bz2` or `.xz`. Times count from the first request, or as in the trace if that has the same format.
pub fn convert(
    trace: &mut Trace,
    format: &'static Format,
    path: &Path,
    options: ConvertOptions,
) -> Result<Converted, TraceError> {
    let name = path.display().to_string();
    let failed = |error: io::Error| TraceError::io(&name, "can't write it", &error);
    let unfinished = Unfinished::beside(path).map_err(failed)?;
    let mut target = ConvertTarget::new(format, path, unfinished.file().map_err(failed)?, &name)?;
    let mut done = Converted::nothing(format);
    let (mut digest, mut batch) = (Digest::new(), Vec::new());
    let keeps_clock = trace.format().name == format.name;
    while trace.next_batch(&mut batch)? {
        digest.update(&batch);
        let origin = if keeps_clock { trace.origin().0 } else { 0 };
        for record in &batch {
            let at = SimTime(record.at.0.saturating_add(origin));
            let written = target.put(&Record { at, ..*record }, options, &mut done);
            written.map_err(failed)?.map_err(|what| unsupported(&name, format, what))?;
        }
    }
    done.not_kept = not_kept(trace, keeps_clock);
    done.remarks.extend(target.remark());
    target.finish(trace.is_timeless()).map_err(failed)?;
    unfinished.publish(path).map_err(failed)?;
    done.digest = digest.finish();
    Ok(done)
}

/// What a trace that was read to its end holds and a file written from its records does not.
fn not_kept(trace: &Trace, keeps_clock: bool) -> Vec<String> {
    let mut lost = trace.not_read();
    if trace.origin() > SimTime::ZERO && !keeps_clock {
        lost.push("when it began (the times written begin at 0)".to_owned());
    }
    lost
}

#[cold]
fn only_read(name: &str, format: &Format) -> TraceError {
    let written: Vec<_> =
        FORMATS.iter().filter(|format| format.is_written()).map(|format| format.name).collect();
    let problem = format!("traces are read, but not written in the format {}", format.name);
    let remedy = format!("choose one of {}", written.join(", "));
    TraceError::new(ErrorKind::Unsupported, name, problem, remedy)
}

#[cold]
fn unsupported(name: &str, format: &Format, what: &str) -> TraceError {
    let problem =
        format!("the trace contains {what}, which the format {} can't express", format.name);
    let remedy = "convert to parquet or blkparse, which hold everything, or to fio-v3, which holds all but \
                  writes with FUA; or `drop_unsupported` leaves them out (of writes with FUA: makes them plain) and \
                  counts them";
    TraceError::new(ErrorKind::Unsupported, name, problem, remedy)
}

/// A temporary file that is removed unless it is published.
struct Unfinished {
    path: PathBuf,
}

impl Unfinished {
    fn beside(path: &Path) -> io::Result<Unfinished> {
        let Some(name) = path.file_name() else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "this is not a file name"));
        };
        if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
            return Err(io::Error::other("this is not a regular file"));
        }
        let mut unfinished = std::ffi::OsString::from(".");
        unfinished.push(name);
        unfinished.push(format!(".{}.part", std::process::id()));
        Ok(Unfinished { path: path.with_file_name(unfinished) })
    }

    fn file(&self) -> io::Result<File> {
        File::create(&self.path)
    }

    fn publish(self, path: &Path) -> io::Result<()> {
        fs::rename(&self.path, path)
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // After publishing no file has this name; on failure nothing better can be done.
        let _ = fs::remove_file(&self.path);
    }
}

/// The destination of records.
enum ConvertTarget {
    Text { encode: Box<dyn LineWriter>, buffer: Vec<u8>, out: Packed },
    Parquet(ParquetWriter),
}

/// Text is written in pieces of this size.
const PIECE: usize = 64 << 10;

impl ConvertTarget {
    fn new(
        format: &'static Format,
        path: &Path,
        file: File,
        name: &str,
    ) -> Result<ConvertTarget, TraceError> {
        let compression = Compression::of_name(path);
        match &format.codec {
            Codec::Text { writer: None, .. } | Codec::Binary { .. } => Err(only_read(name, format)),
            Codec::Text { writer: Some(writer), .. } => {
                let (mut encode, mut buffer) = (writer(), Vec::with_capacity(2 * PIECE));
                encode.begin(&mut buffer);
                let out = Packed::new(compression, file)
                    .map_err(|error| TraceError::io(name, "can't write it", &error))?;
                Ok(ConvertTarget::Text { encode, buffer, out })
            }
            Codec::Parquet if compression != Compression::None => {
                let remedy = "leave out the extension: Parquet is compressed internally";
                let problem = "Parquet is not compressed as a whole";
                Err(TraceError::new(ErrorKind::Unsupported, name, problem, remedy))
            }
            Codec::Parquet => Ok(ConvertTarget::Parquet(
                ParquetWriter::new(file)
                    .map_err(|error| TraceError::io(name, "can't write it", &error))?,
            )),
        }
    }

    /// Writes one record; the inner error names what the format cannot express.
    fn record(&mut self, record: &Record) -> io::Result<Result<(), &'static str>> {
        match self {
            ConvertTarget::Text { encode, buffer, out } => {
                if let Err(what) = encode.record(record, buffer) {
                    return Ok(Err(what));
                }
                if buffer.len() >= PIECE {
                    out.write_all(buffer)?;
                    buffer.clear();
                }
            }
            ConvertTarget::Parquet(writer) => writer.record(record)?,
        }
        Ok(Ok(()))
    }

    /// Writes one record, or leaves it out and counts it; the inner error names what the format cannot express.
    fn put(
        &mut self,
        record: &Record,
        options: ConvertOptions,
        done: &mut Converted,
    ) -> io::Result<Result<(), &'static str>> {
        let mut written = self.record(record)?;
        if written.is_err() && record.fua && options.drop_unsupported {
            done.made_plain += 1;
            written = self.record(&Record { fua: false, ..*record })?;
        }
        match written {
            Ok(()) => {
                done.requests += 1;
                done.rounded_times += u64::from(!record.at.0.is_multiple_of(done.tick_ns));
            }
            Err(_) if options.drop_unsupported => done.dropped += 1,
            Err(what) => return Ok(Err(what)),
        }
        Ok(Ok(()))
    }

    /// What a reader of the file should know.
    fn remark(&self) -> Option<&'static str> {
        match self {
            ConvertTarget::Text { encode, .. } => encode.remark(),
            ConvertTarget::Parquet(_) => None,
        }
    }

    /// Text is handed on; Parquet is written in groups.
    fn flush(&mut self) -> io::Result<()> {
        let ConvertTarget::Text { buffer, out, .. } = self else { return Ok(()) };
        out.write_all(buffer)?;
        buffer.clear();
        match out {
            Packed::Plain(out) => out.flush(),
            // To flush a compressor often makes its file longer.
            _ => Ok(()),
        }
    }

    /// Completes the file. Only Parquet can say that the requests have no times.
    fn finish(self, timeless: bool) -> io::Result<()> {
        match self {
            ConvertTarget::Text { buffer, mut out, .. } => {
                out.write_all(&buffer)?;
                out.finish()?.sync_all()
            }
            ConvertTarget::Parquet(writer) => writer.finish(timeless)?.sync_all(),
        }
    }
}

/// A file written through a compressor.
enum Packed {
    Plain(BufWriter<File>),
    Gzip(flate2::write::GzEncoder<File>),
    Bzip2(bzip2::write::BzEncoder<File>),
    InC(Box<dyn Compressor>),
}

impl Packed {
    fn new(compression: Compression, file: File) -> io::Result<Packed> {
        Ok(match compression {
            Compression::None => Packed::Plain(BufWriter::new(file)),
            Compression::Gzip => {
                Packed::Gzip(flate2::write::GzEncoder::new(file, flate2::Compression::default()))
            }
            Compression::Zstd => Packed::InC(compressors::zstd_writer(file)?),
            Compression::Bzip2 => {
                Packed::Bzip2(bzip2::write::BzEncoder::new(file, bzip2::Compression::default()))
            }
            Compression::Xz => Packed::InC(compressors::xz_writer(file)?),
        })
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Packed::Plain(out) => out.write_all(bytes),
            Packed::Gzip(out) => out.write_all(bytes),
            Packed::Bzip2(out) => out.write_all(bytes),
            Packed::InC(out) => out.write_all(bytes),
        }
    }

    fn finish(self) -> io::Result<File> {
        match self {
            Packed::Plain(out) => out.into_inner().map_err(|error| error.into_error()),
            Packed::Gzip(out) => out.finish(),
            Packed::Bzip2(out) => out.finish(),
            Packed::InC(out) => out.finish(),
        }
    }
}
