//! Loads of applications whose data has lifetimes: files that are written, read and deleted as a
//! whole, unlike the independent requests of other phases. Each application is one file; this one
//! lists them. What a load has in common with others is in [`queue`] and [`extents`].
//!
//! A load keeps a state of its own. It belongs to its phase and to a later phase that continues it;
//! images of devices do not hold it, so a load starts anew on a device that was loaded from one.

mod cache;
mod extents;
mod file_system;
mod files;
mod log_file_system;
mod lsm;
mod queue;
mod tree;

use ftlab::engine::Stream;
use ftlab::units::{Amount, Ratio};
use serde::Serialize;

pub use cache::CacheLoad;
pub use file_system::FileSystemLoad;
pub use log_file_system::LogFileSystemLoad;
pub use lsm::LsmLoad;
pub(super) use queue::Transfer;

use super::address::{Extent, Misfit};
use super::keys::{LoadKeys, LoadKind};
use super::workload::{Addresses, Phase, Sizes};
use cache::CacheRun;
use file_system::FileSystemRun;
use log_file_system::LogFileSystemRun;
use lsm::LsmRun;

/// The load of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PhaseLoad {
    /// Whether it goes on where the previous phase stopped.
    pub continued: bool,
    /// The application.
    #[serde(flatten)]
    pub application: Application,
}

/// An application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Application {
    /// An LSM tree.
    Lsm(LsmLoad),
    /// A cache of objects.
    Cache(CacheLoad),
    /// A file system.
    FileSystem(FileSystemLoad),
    /// A log-structured file system.
    LogFileSystem(LogFileSystemLoad),
}

impl PhaseLoad {
    /// Reads a load; `None` if a key of its kind is missing, which has been reported.
    pub(super) fn of(keys: &LoadKeys) -> Option<PhaseLoad> {
        let application = match keys.kind {
            LoadKind::Lsm => Application::Lsm(LsmLoad {
                data: keys.data?,
                entry: keys.entry?,
                memtable: keys.memtable?,
                file: keys.file?,
                levels: keys.levels?,
                ratio: keys.ratio?,
                l0_files: keys.l0_files?,
                wal: keys.wal?,
            }),
            LoadKind::Cache => Application::Cache(CacheLoad {
                small_space: keys.small_space?,
                small_bytes: keys.small_bytes?,
                small_object: keys.small_object?,
                large_object: keys.large_object?,
                bucket: keys.bucket?,
                log_region: keys.log_region?,
            }),
            LoadKind::FileSystem => Application::FileSystem(FileSystemLoad {
                data: keys.data?,
                temporary: keys.temporary?,
                temporary_data: keys.temporary_data?,
                largest_file: keys.largest_file?,
                metadata: keys.metadata?,
                journal: keys.journal?,
                commit: keys.commit?,
            }),
            LoadKind::LogFileSystem => Application::LogFileSystem(LogFileSystemLoad {
                data: keys.data?,
                temporary: keys.temporary?,
                temporary_data: keys.temporary_data?,
                largest_file: keys.largest_file?,
                metadata: keys.metadata?,
                commit: keys.commit?,
                segment: keys.segment?,
            }),
        };
        Some(PhaseLoad { continued: keys.continued, application })
    }

    /// Returns the number of its streams.
    pub(super) fn streams(&self) -> u32 {
        match &self.application {
            Application::Lsm(lsm) => lsm.streams(),
            Application::Cache(cache) => cache.streams(),
            Application::FileSystem(files) => files.streams(),
            Application::LogFileSystem(logs) => logs.streams(),
        }
    }
}

/// Returns what is wrong with the load of a phase, apart from the device. The load replaces most of
/// the phase's own keys.
pub(super) fn problem(phase: &Phase, before: Option<&Phase>) -> Option<Misfit> {
    let load = phase.load.as_ref()?;
    let unused = [
        ("trims", phase.mix.trims.ppm > 0),
        ("flushes", phase.mix.flushes.ppm > 0),
        ("write_size", phase.write_size.is_some()),
        ("trim_size", phase.trim_size.is_some()),
        ("unaligned", phase.unaligned.ppm > 0),
        ("inside", phase.inside.ppm > 0),
        ("sequential_reads", phase.sequential_reads.ppm > 0),
        ("sequential_writes", phase.sequential_writes.ppm > 0),
        ("streams", phase.streams != 1),
        ("overlap", phase.overlap != Ratio::ONE),
        ("read_address", phase.read_address.is_some()),
    ];
    if let Some((key, _)) = unused.into_iter().find(|(_, given)| *given) {
        let message = format!("a phase with a load has no `{key}`: the load decides");
        return Some((key, message, "remove it, or `load`".to_owned()));
    }
    if matches!(phase.address, Addresses::Sequential | Addresses::Strided { .. }) {
        let message = "the address of a load is a popularity, not a walk".to_owned();
        return Some((
            "address",
            message,
            "choose uniform, zipf, hot-cold or histogram".to_owned(),
        ));
    }
    if phase.address.drift().is_some_and(|drift| matches!(drift.by, Amount::Bytes(_))) {
        let message = "the drift of a load in bytes: its keys have no place".to_owned();
        return Some(("address", message, "give `by` in per cent".to_owned()));
    }
    let blocks = |size: u64| phase.align.0 != 0 && size.is_multiple_of(phase.align.0);
    if !matches!(phase.size, Sizes::Fixed(size) if blocks(size.0)) {
        let message = format!("a load whose transfers are not whole blocks of {}", phase.align);
        let remedy = "give one `size`, a multiple of `align`".to_owned();
        return Some(("size", message, remedy));
    }
    continuation(phase, before).or_else(|| match &load.application {
        Application::Lsm(lsm) => lsm.problem(phase),
        Application::Cache(cache) => cache.problem(phase),
        Application::FileSystem(files) => files.problem(phase),
        Application::LogFileSystem(logs) => logs.problem(phase),
    })
}

/// Checks that a load that goes on is that of the previous phase.
fn continuation(phase: &Phase, before: Option<&Phase>) -> Option<Misfit> {
    let load = phase.load.as_ref().filter(|load| load.continued)?;
    let same = |before: &Phase| {
        before.load.is_some_and(|other| other.application == load.application)
            && before.region == phase.region
            && before.size == phase.size
            && before.align == phase.align
            && before.address == phase.address
    };
    if !phase.with_previous && before.is_some_and(same) {
        return None;
    }
    let message = "no load to continue: the previous phase has another one".to_owned();
    let remedy = "give both phases the same load, region, size, align and address, and this one no \
                  `with_previous`; or leave `continued` out";
    Some(("load.continued", message, remedy.to_owned()))
}

/// The state of a load.
#[derive(Clone, Debug)]
pub(super) enum LoadState {
    Lsm(Box<LsmRun>),
    Cache(Box<CacheRun>),
    FileSystem(Box<FileSystemRun>),
    LogFileSystem(Box<LogFileSystemRun>),
}

impl LoadState {
    pub fn new(
        load: &PhaseLoad,
        phase: &Phase,
        extent: Extent,
        stream: &dyn Fn(&str) -> Stream,
    ) -> Result<LoadState, Misfit> {
        Ok(match &load.application {
            Application::Lsm(lsm) => {
                LoadState::Lsm(Box::new(LsmRun::new(lsm, phase, extent, stream("load"))?))
            }
            Application::Cache(cache) => {
                LoadState::Cache(Box::new(CacheRun::new(cache, phase, extent, stream)?))
            }
            Application::FileSystem(files) => {
                LoadState::FileSystem(Box::new(FileSystemRun::new(files, phase, extent, stream)?))
            }
            Application::LogFileSystem(logs) => LoadState::LogFileSystem(Box::new(
                LogFileSystemRun::new(logs, phase, extent, stream)?,
            )),
        })
    }

    /// Returns the next request, or `None` after a failure. `is_read` draws whether the next
    /// operation of the application reads or writes.
    pub fn next(&mut self, is_read: impl FnMut() -> bool) -> Option<Transfer> {
        match self {
            LoadState::Lsm(lsm) => lsm.next(is_read),
            LoadState::Cache(cache) => Some(cache.next(is_read)),
            LoadState::FileSystem(files) => Some(files.next(is_read)),
            LoadState::LogFileSystem(logs) => logs.next(is_read),
        }
    }

    /// Whether the last request waits until the trims before it have completed, because it writes where they were.
    pub fn awaits_trims(&self) -> bool {
        match self {
            LoadState::Lsm(lsm) => lsm.awaits_trims(),
            LoadState::Cache(_) => false,
            LoadState::FileSystem(files) => files.awaits_trims(),
            LoadState::LogFileSystem(logs) => logs.awaits_trims(),
        }
    }

    /// Returns why the load ended before its phase, if it did.
    pub fn failure(&self) -> Option<String> {
        let failed = match self {
            LoadState::Lsm(lsm) => lsm.has_failed(),
            LoadState::LogFileSystem(logs) => logs.has_failed(),
            LoadState::Cache(_) | LoadState::FileSystem(_) => false,
        };
        let (key, message, remedy) = no_space();
        failed.then(|| format!("{message}\n  remedy: {key}: {remedy}"))
    }
}

fn no_space() -> Misfit {
    let message = "the load has no space left in its region for a new file".to_owned();
    ("load.data", message, "choose less data or a larger region".to_owned())
}
