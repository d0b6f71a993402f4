//! What all experiments of a caller share.

use std::path::PathBuf;
use std::thread::available_parallelism;

use ftlab::config::Config;
use ftlab::scheduler::Probe;
use ftlab_workload::replay::finished;

use ftlab::device::Contents;

use crate::experiment::{Conduct, Experiment, Measured, OpenedLoad, Watcher};
use crate::failure::Failure;
use crate::memory::Instruments;
use crate::result::{self, Folder, Requests, RunDocument};
use crate::stop::Stop;

/// A laboratory: it performs experiments, until it is stopped.
#[derive(Clone, Debug)]
pub struct Lab {
    /// Stops what it performs.
    pub stop: Stop,
    /// The command that asks, as results state it; empty without one.
    pub command: Vec<String>,
    /// How many runs are performed at once. Each needs the memory of a device.
    pub threads: usize,
}

impl Default for Lab {
    /// A laboratory that uses every processor.
    fn default() -> Lab {
        let threads = available_parallelism().map_or(1, usize::from);
        Lab { stop: Stop::default(), command: Vec::new(), threads }
    }
}

impl Lab {
    /// Performs an experiment on a new device that was [checked](Experiment::check). Every request is recorded in
    /// `requests`, if given.
    ///
    /// # Errors
    /// Stopped before anything was measured; or the load, the device or the file of requests failed.
    pub fn run(
        &self,
        experiment: &Experiment,
        config: &Config,
        seed: u64,
        watcher: &mut dyn Watcher,
        requests: Option<Requests>,
    ) -> Result<Measured, Failure> {
        let load = experiment.load.open()?;
        self.run_opened(experiment, load, config, seed, watcher, requests)
    }

    /// As [`run`](Self::run), with a load that is open already.
    ///
    /// # Errors
    /// As there.
    pub fn run_opened(
        &self,
        experiment: &Experiment,
        load: OpenedLoad,
        config: &Config,
        seed: u64,
        watcher: &mut dyn Watcher,
        requests: Option<Requests>,
    ) -> Result<Measured, Failure> {
        let conduct = Conduct { watcher, stop: &self.stop, requests };
        experiment.perform(load, config, seed, conduct)
    }

    /// As [`run`](Self::run), on a device with a probe and with the bytes that it carries.
    ///
    /// # Errors
    /// As there.
    pub fn run_with<P: Probe + Clone, C: Contents + Clone>(
        &self,
        experiment: &Experiment,
        config: &Config,
        seed: u64,
        watcher: &mut dyn Watcher,
        instruments: Instruments<P, C>,
    ) -> Result<Measured<P, C>, Failure> {
        let load = experiment.load.open()?;
        let conduct = Conduct { watcher, stop: &self.stop, requests: None };
        finished(experiment.play_with(load, config, seed, conduct, instruments))
    }

    /// Writes the result of a run into a folder, and gives the folder its name. `inputs` is the run's
    /// [fingerprint](Experiment::inputs).
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn write(
        &self,
        folder: Folder,
        config: &Config,
        measured: &mut Measured,
        inputs: String,
    ) -> Result<PathBuf, Failure> {
        if let Some(requests) = measured.requests.take() {
            let unwritten = result::unwritten(folder.path(), result::REQUESTS);
            requests.finish(&measured.document.report.host.queues).map_err(unwritten)?;
        }
        let run = self.run_document(inputs, measured);
        result::write(&folder, "", config, measured, &run)?;
        folder.publish(measured.document.complete).map(|published| published.path)
    }

    /// Returns `run.json` of a run.
    #[must_use]
    pub fn run_document<P: Probe, C: Contents>(
        &self,
        inputs: String,
        measured: &Measured<P, C>,
    ) -> RunDocument {
        RunDocument::new(inputs, &self.command, &measured.spent, measured.requests_played())
    }
}
