//! Fingerprints of runs. A fingerprint covers everything that a run depends on: the program itself,
//! the device, the seed, the preparation and the load, with the content of every file. Two runs
//! with the same fingerprint have the same result.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::SystemTime;

use blake3::{Hash, Hasher};
use ftlab::config::Config;

use super::{Experiment, LoadSource, Preparation, steps};
use crate::failure::Failure;
use crate::load::short_name;

/// The digest of the inputs that are the same for every device and seed; computed once.
#[derive(Debug, Default)]
pub struct Inputs(OnceLock<Hash>);

/// Adds a part after its length, so that parts cannot run into each other.
fn add(to: &mut Hasher, part: &str) {
    to.update(&(part.len() as u64).to_le_bytes());
    to.update(part.as_bytes());
}

fn add_debug(to: &mut Hasher, part: &impl Debug) {
    add(to, &format!("{part:?}"));
}

/// What tells a file from what it was before: its whole path, its length, and when it was changed.
type FileState = (PathBuf, u64, Option<SystemTime>);

/// Returns the digest of a file's content. It is cached, because many runs read the same trace.
fn digest(path: &Path) -> Result<Hash, Failure> {
    static KNOWN: Mutex<BTreeMap<FileState, Hash>> = Mutex::new(BTreeMap::new());
    let read = || -> std::io::Result<(FileState, File)> {
        let file = File::open(path)?;
        let about = file.metadata()?;
        let state = (std::path::absolute(path)?, about.len(), about.modified().ok());
        Ok((state, file))
    };
    let failed = |error| Failure::file("can't read", path, &error);
    let (state, file) = read().map_err(failed)?;
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(digest) = known.get(&state) {
        return Ok(*digest);
    }
    let mut hasher = Hasher::new();
    hasher.update_reader(file).map_err(failed)?;
    Ok(*known.entry(state).or_insert(hasher.finalize()))
}

/// The digest of the program's code, made by `build.rs`: other code may give other results.
const CODE: &str = env!("FTLAB_CODE");

impl Preparation {
    /// Returns the fingerprint of this preparation of a device with this seed. Equal ones give equal images.
    #[must_use]
    pub fn inputs(&self, config: &Config, seed: u64) -> String {
        let mut hasher = Hasher::new();
        add(&mut hasher, CODE);
        add(&mut hasher, &config.canonical());
        hasher.update(&seed.to_le_bytes());
        self.parts().iter().for_each(|part| add(&mut hasher, part));
        hasher.finalize().to_hex().to_string()
    }
}

impl Experiment {
    /// Returns the fingerprint of a run on this device with this seed.
    ///
    /// # Errors
    /// A trace cannot be read.
    pub fn inputs(&self, config: &Config, seed: u64) -> Result<String, Failure> {
        let mut hasher = Hasher::new();
        hasher.update(self.own_inputs()?.as_bytes());
        add(&mut hasher, &config.canonical());
        hasher.update(&seed.to_le_bytes());
        Ok(hasher.finalize().to_hex().to_string())
    }

    fn own_inputs(&self) -> Result<Hash, Failure> {
        let Inputs(known) = &self.inputs;
        if let Some(known) = known.get() {
            return Ok(*known);
        }
        let mut hasher = Hasher::new();
        add(&mut hasher, CODE);
        add(&mut hasher, &self.load.name());
        match &self.load {
            // What can't be read twice has no digest, so such a run never counts as finished before.
            LoadSource::Trace { reading, .. } if self.load.is_read_once() => {
                add_debug(&mut hasher, reading);
            }
            LoadSource::Trace { file, held, reading } => {
                add(&mut hasher, &short_name(file));
                add_debug(&mut hasher, reading);
                let digest = match held {
                    Some(bytes) => blake3::hash(bytes),
                    None => digest(Path::new(file))?,
                };
                hasher.update(digest.as_bytes());
            }
            LoadSource::Workload(workload) => add(&mut hasher, &steps::json(workload)),
            LoadSource::Requests(given) => add_debug(&mut hasher, given),
            LoadSource::Fio(jobs) => {
                add(&mut hasher, &short_name(&jobs.name));
                add(&mut hasher, &jobs.essence());
            }
        }
        add_debug(
            &mut hasher,
            &(&self.options, &self.arriving, &self.skipped, self.accesses, self.cut_power),
        );
        self.preparation.parts().iter().for_each(|part| add(&mut hasher, part));
        Ok(*known.get_or_init(|| hasher.finalize()))
    }
}
