//! What a server is asked to do, checked as a whole before it begins.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ftlab_lab::failure::Failure;
use ftlab_lab::human;

use super::jobs::Target;
use super::listen::Listener;
use super::record::RecordSpec;
use crate::control::{Clock, OriginRules};
use crate::drive::Drive;
use crate::protocol::{Export, limits::MINIMUM_BLOCK};

/// What is added to the name of a socket for control.
const CONTROL: &str = ".ctl";
/// The preferred size of requests: what most systems use as their page.
const PREFERRED_BLOCK: u32 = 4096;
/// What stands for itself in a URI.
const PLAIN: &[u8] = b"-._~/";

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

    /// The addresses by which clients know an export, with its size if it has a name.
    pub(super) fn uris(&self, listeners: &[Listener], export: &Export) -> Vec<String> {
        let name = escaped(&export.name);
        let unix = self.unix.iter();
        let unix = unix.map(|path| {
            format!("nbd+unix:///{name}?socket={}", escaped(&path.display().to_string()))
        });
        let tcp = listeners.iter().filter_map(Listener::address);
        let all = unix.chain(tcp.map(|address| format!("nbd://{address}/{name}")));
        let told = match (export.name.as_str(), export.read_only) {
            ("", false) => String::new(),
            ("", true) => " (read-only)".to_owned(),
            (name, read_only) => {
                let rights = if read_only { ", read-only" } else { "" };
                format!(" (export {name:?}, {}{rights})", human::bytes(export.size))
            }
        };
        all.map(|uri| uri + &told).collect()
    }
}

/// Writes a text as a part of a URI.
fn escaped(text: &str) -> String {
    let byte = |byte: u8| match byte.is_ascii_alphanumeric() || PLAIN.contains(&byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
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

/// Where the state of the drive goes at the end, besides its data file.
#[derive(Clone, Debug)]
pub struct SaveSpec {
    /// The image's file.
    pub path: PathBuf,
    /// Whether it may replace an image.
    pub force: bool,
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
    /// Where and how the requests are recorded.
    pub record: Option<RecordSpec>,
    /// The most clients at once.
    pub connections: usize,
    /// Where the state goes at the end, besides the data file.
    pub save: Option<SaveSpec>,
}

impl ServerSpec {
    /// The exports, one behind the other on the drive.
    pub(super) fn exports(&self, drive: &Drive) -> Result<Vec<Export>, Failure> {
        let capacity = drive.capacity();
        let mut at = 0;
        let mut all = Vec::new();
        for ExportSpec { name, size, read_only } in &self.exports {
            if all.iter().any(|other: &Export| other.name == *name) {
                return Err(Failure::usage(format!(
                    "two exports are called \"{name}\"\n  remedy: give each its own name; clients choose by it"
                )));
            }
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
                description: ftlab_lab::device::title_of_kept(drive.config()),
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

    /// Refuses to write over the drive's data file at the end.
    pub(super) fn check_files(&self, drive: &Drive) -> Result<(), Failure> {
        let clash = self.save.as_ref().filter(|save| drive.keeps(&save.path));
        clash.map_or(Ok(()), |save| {
            Err(Failure::usage(format!(
                "{} is the data file of this drive\n  remedy: choose another name, so that nothing is overwritten",
                save.path.display()
            )))
        })
    }

    /// What a file is for already, besides the data file: a save by order must not take its name.
    pub(super) fn user_of(&self, path: &Path) -> Option<&'static str> {
        let record = self.record.as_ref().map(|record| record.path.as_path());
        let save = self.save.as_ref().map(|save| save.path.as_path());
        let users =
            [("the recording (--record)", record), ("the end of the server (--save)", save)];
        let is_it = |known: &Path| place(known) == place(path);
        users.into_iter().find(|(_, known)| known.is_some_and(is_it)).map(|(user, _)| user)
    }
}

/// A path in its only form, also of a file that is not there yet.
#[must_use]
pub fn place(path: &Path) -> PathBuf {
    let whole = std::fs::canonicalize(path);
    whole.unwrap_or_else(|_| {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let folder = path.parent().and_then(|folder| std::fs::canonicalize(folder).ok());
        match (folder, path.file_name()) {
            (Some(folder), Some(name)) => folder.join(name),
            _ => path,
        }
    })
}

/// Where the commands of each export go: they are one behind the other on the drive.
pub(super) fn targets(exports: &[Export]) -> Vec<Target> {
    let mut next = 0;
    let target = |(stream, export): (usize, &Export)| {
        let offset = next;
        next += export.size;
        Target { offset, stream: stream as u32 }
    };
    exports.iter().enumerate().map(target).collect()
}
