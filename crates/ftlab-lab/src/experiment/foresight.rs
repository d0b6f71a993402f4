//! Devices that know the future of their load: a copy of the prepared device plays it first and records what happens.
//!
//! Both passes play the same requests. Where completions decide when the next request comes, jobs that run side by side
//! may meet in another order, and a load that ends after a time may end earlier in the first pass than in the second.

use std::sync::Arc;

use ftlab::config::Config;
use ftlab::device::{Contents, Device};
use ftlab::scheduler::Probe;
use ftlab_workload::replay::Ended;

use super::watch::Supervision;
use super::{Experiment, LoadSource};
use crate::failure::Failure;
use crate::recording::{Flags, Recording};

/// The remedy for a future that nobody knows.
const REMEDY: &str =
    "run a load that can be read twice (`ftlab run`, compare, sweep), or choose another policy";

/// Refuses what does not know its load beforehand.
///
/// # Errors
/// A policy of the device has to know the future.
pub fn refuse(config: &Config, what: &str) -> Result<(), Failure> {
    config.foresees().map_or(Ok(()), |policy| {
        let told = format!("{what}: {policy} has to know all requests beforehand, and they are not known\n  remedy: {REMEDY}");
        Err(Failure::usage(told))
    })
}

impl LoadSource {
    /// Whether it can be played more than once.
    fn can_be_repeated(&self) -> bool {
        match self {
            LoadSource::Requests(given) => given.requests().is_some(),
            _ => !self.is_read_once(),
        }
    }
}

impl Experiment {
    /// Refuses a load that can be played only once, if a policy has to know its future.
    ///
    /// # Errors
    /// It has to.
    pub(super) fn refuse_unforeseen(&self, config: &Config) -> Result<(), Failure> {
        match self.load.can_be_repeated() {
            true => Ok(()),
            false => refuse(config, "this load can be read only once"),
        }
    }

    /// Tells the device the future of the load, if a policy has to know it. Returns what a reader of results needs to know.
    ///
    /// # Errors
    /// Stopped; the load failed, or it is too long.
    pub(super) async fn foresee<P: Probe + Clone, C: Contents + Clone>(
        &self,
        config: &Config,
        device: &mut Device<P, C>,
        seed: u64,
        supervision: &mut Supervision<'_>,
    ) -> Result<Option<String>, Failure> {
        let Some(policy) = config.foresees() else { return Ok(None) };
        let mut first = device.clone();
        first.record_future();
        let flags = Flags::default();
        let mut recording = Recording::new(&first, None, &flags);
        recording.measuring = true;
        let load = self.load.open()?;
        supervision.watcher.foresees(Some(policy));
        let outcome = self.play(load, seed, &mut first, &mut recording, supervision).await?;
        supervision.watcher.foresees(None);
        if outcome.replayed.ended == Ended::Stopped {
            return Err(Failure::Interrupted);
        }
        let future = first.recorded_future().ok_or_else(|| {
            Failure::usage(format!(
                "{policy}: the load writes too many pages, more than four billion\n  remedy: play fewer requests (`requests`)"
            ))
        })?;
        device.foresee(Arc::new(future));
        Ok(Some(format!(
            "the future is known ({policy}): a copy of the device played the load before"
        )))
    }
}
