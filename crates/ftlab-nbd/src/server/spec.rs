//! What a server is asked to do, checked as a whole before it begins.

use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ftlab::host::{Op, Request};
use ftlab::units::{Lba, SimTime};
use ftlab_lab::failure::Failure;
use ftlab_workload::trace::{Format, Record, TraceWriter};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::jobs::Target;
use super::listen::Listener;
use crate::control::{Clock, OriginRules};
use crate::drive::Drive;
use crate::protocol::{Export, limits::MINIMUM_BLOCK};

/// What is added to the name of a socket for control.
const CONTROL: &str = ".ctl";
/// The preferred size of requests: what most systems use as their page.
const PREFERRED_BLOCK: u32 = 4096;
/// The exit code of a second signal.
const INTERRUPTED: i32 = 130;

/// Where a server listens.
#[derive(Clone, Debug, Default)]
pub struct Listen {
    /// The Unix socket of the block device.
    pub unix: Option<PathBuf>,
    /// Addresses of the block device.
    pub tcp: Vec<SocketAddr>,
    /// The Unix socket for control.
    pub control: PathBuf,
    /// The address of the page and the metrics.
    pub http: Option<SocketAddr>,
}

impl Listen {
    /// The control socket that belongs to a socket, or to a data file.
    #[must_use]
    pub fn control_of(path: &Path) -> PathBuf {
        let mut name = path.as_os_str().to_owned();
        name.push(CONTROL);
        PathBuf::from(name)
    }

    pub(super) fn block(&self) -> Result<Vec<Listener>, Failure> {
        let unix = self.unix.iter().map(|path| Listener::unix(path));
        unix.chain(self.tcp.iter().map(|&address| Listener::tcp(address))).collect()
    }

    pub(super) fn http(&self) -> Result<Vec<(Listener, OriginRules)>, Failure> {
        let mut all = vec![(Listener::unix(&self.control)?, OriginRules::Local)];
        if let Some(address) = self.http {
            all.push((Listener::tcp(address)?, OriginRules::Loopback));
        }
        Ok(all)
    }

    /// The addresses by which clients know an export.
    pub(super) fn uris(&self, listeners: &[Listener], export: &str) -> Vec<String> {
        // What has a meaning in addresses is written as a number there.
        let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~".contains(byte);
        let export: String = export
            .bytes()
            .map(|it| if plain(&it) { char::from(it).to_string() } else { format!("%{it:02X}") })
            .collect();
        let unix = self.unix.iter();
        let unix = unix.map(|path| format!("nbd+unix:///{export}?socket={}", path.display()));
        let tcp = listeners.iter().filter_map(Listener::address);
        unix.chain(tcp.map(|address| format!("nbd://{address}/{export}"))).collect()
    }
}

/// A part of the drive that clients can choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportSpec {
    /// Its name.
    pub name: String,
    /// Its size in bytes; none for the rest of the drive.
    pub size: Option<u64>,
    /// Whether clients may only read it.
    pub read_only: bool,
}

/// What a server is asked to do.
#[derive(Clone, Debug)]
pub struct ServerSpec {
    /// Where it listens.
    pub listen: Listen,
    /// The parts of the drive, in their order on it.
    pub exports: Vec<ExportSpec>,
    /// Who owns time.
    pub clock: Clock,
    /// How often power is cut.
    pub cut_every: Option<Duration>,
    /// Where the requests are recorded, and in which format.
    pub record: Option<(PathBuf, &'static Format)>,
    /// The most clients at once.
    pub connections: usize,
    /// Where the state goes at the end, besides the data file.
    pub save: Option<PathBuf>,
    /// Where each export begins, in bytes. Filled when the server is made.
    pub offsets: Vec<u64>,
}

impl ServerSpec {
    /// The exports, one behind the other on the drive.
    pub(super) fn exports(&self, drive: &Drive) -> Result<Vec<Export>, Failure> {
        for (number, export) in self.exports.iter().enumerate() {
            if self.exports[..number].iter().any(|other| other.name == export.name) {
                return Err(Failure::usage(format!(
                    "two exports are named \"{}\": clients could choose only the first\n  remedy: give each a name of its \
                     own",
                    export.name
                )));
            }
        }
        let capacity = drive.capacity();
        let mut at = 0;
        let mut all = Vec::new();
        for ExportSpec { name, size, read_only } in &self.exports {
            let size = size.unwrap_or(capacity.saturating_sub(at));
            let block = u64::from(MINIMUM_BLOCK);
            if size == 0 || size % block > 0 || size > capacity.saturating_sub(at) {
                return Err(Failure::usage(format!(
                    "the export \"{name}\" has {size} bytes, and the drive has {} left for it (of {capacity})\n  \
                     remedy: sizes are whole sectors of {block} bytes, and all exports together fit on the drive",
                    capacity.saturating_sub(at)
                )));
            }
            all.push(Export {
                name: name.clone(),
                description: ftlab_lab::device::title(drive.config()),
                size,
                preferred_block: PREFERRED_BLOCK,
                read_only: *read_only,
                multi_connection: true,
                fast_zeroes: drive.trims(),
            });
            at += size;
        }
        Ok(all)
    }

    /// Where the commands of an export go.
    pub(super) fn target(&self, export: usize) -> Target {
        Target { offset: self.offsets.get(export).copied().unwrap_or(0), stream: export as u32 }
    }

    /// The files that are written at the end differ, and the format of a trace holds what clients of a block device do.
    fn check_outputs(&self) -> Result<(), Failure> {
        let Some((path, format)) = &self.record else { return Ok(()) };
        if self.save.as_ref() == Some(path) {
            return Err(Failure::usage(format!(
                "the image and the trace can't both be {}\n  remedy: choose another name for one of them",
                path.display()
            )));
        }
        match format.lacks() {
            None => Ok(()),
            Some(what) => Err(Failure::usage(format!(
                "the format {} can't express {what}, and clients of a block device send them\n  remedy: record as blkparse or \
                 parquet, and convert with `ftlab trace convert --drop-unsupported`",
                format.name
            ))),
        }
    }

    pub(super) fn recorder(&self, drive: &Drive) -> Result<Option<TraceRecorder>, Failure> {
        self.check_outputs()?;
        let record = self.record.as_ref().map(|(path, _)| path).filter(|path| path.exists());
        let image = self.save.as_ref().filter(|path| drive.keeps(path));
        if let Some(path) = record.or(image) {
            return Err(Failure::usage(format!(
                "{} exists already\n  remedy: choose another name, so that nothing is overwritten",
                path.display()
            )));
        }
        self.record.as_ref().map(|(path, format)| TraceRecorder::new(path, format)).transpose()
    }
}

/// Records requests as a trace.
pub(super) struct TraceRecorder {
    writer: TraceWriter,
    began: Option<SimTime>,
    failed: Option<Failure>,
}

impl TraceRecorder {
    fn new(path: &Path, format: &'static Format) -> Result<TraceRecorder, Failure> {
        let writer = TraceWriter::create(path, format).map_err(Failure::usage)?;
        Ok(TraceRecorder { writer, began: None, failed: None })
    }

    /// Records a request; times count from the first one.
    pub(super) fn record(&mut self, request: &Request, at: SimTime) {
        let began = *self.began.get_or_insert(at);
        let Request { op, lba, sectors, stream, fua, .. } = *request;
        let lba = if op == Op::Flush { Lba(0) } else { lba };
        let at = SimTime::ZERO + at.saturating_since(began);
        let record = Record { at, op, lba, sectors, stream, fua };
        if self.failed.is_none()
            && let Err(error) = self.writer.write(&record)
        {
            self.failed = Some(Failure::usage(error));
        }
    }

    /// Completes the trace.
    pub(super) fn finish(self) -> Result<(), Failure> {
        self.failed.map_or(Ok(()), Err)?;
        self.writer.finish().map_err(Failure::usage)
    }
}

/// SIGINT, SIGTERM, and SIGHUP of a terminal that is closed, stop the server. While it saves the drive, another one ends
/// the process at once.
pub(super) struct StopSignals {
    pipe: UnixStream,
    ends_at_once: Arc<AtomicBool>,
}

/// Signals within this time of the first count as one: a double key press means one interrupt.
const SAME: Duration = Duration::from_secs(1);

impl StopSignals {
    pub(super) fn listen() -> Result<StopSignals, Failure> {
        let failed = |error| Failure::usage(format!("can't listen for signals: {error}"));
        let (pipe, ours) = UnixStream::pair().map_err(failed)?;
        let ends_at_once = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            let ends = ends_at_once.clone();
            signal_hook::flag::register_conditional_shutdown(signal, INTERRUPTED, ends)
                .map_err(failed)?;
            let told = ours.try_clone().map_err(failed)?;
            signal_hook::low_level::pipe::register(signal, told).map_err(failed)?;
        }
        Ok(StopSignals { pipe, ends_at_once })
    }

    /// The drive is being saved: in a moment, another signal ends the process at once.
    pub(super) fn arm(&self) {
        let ends_at_once = self.ends_at_once.clone();
        std::thread::spawn(move || {
            std::thread::sleep(SAME);
            ends_at_once.store(true, Ordering::SeqCst);
        });
    }

    pub(super) fn pipe(&self) -> BorrowedFd<'_> {
        self.pipe.as_fd()
    }
}
