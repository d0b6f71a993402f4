//! Runs on a device whose addresses the host translates (`host.translation`): loads are played on the store, and what can't be
//! done with one is refused.

use ftlab::config::Config;
use ftlab::device::{Contents, Device};
use ftlab::host::translation::LogStore;
use ftlab::scheduler::Probe;

use crate::failure::Failure;
use crate::power_cuts::Played;

impl<P: Probe, C: Contents> Played for LogStore<'_, Device<P, C>> {
    type Probe = P;
    type Contents = C;

    fn device(&self) -> &Device<P, C> {
        LogStore::device(self)
    }

    fn device_mut(&mut self) -> &mut Device<P, C> {
        LogStore::device_mut(self)
    }

    fn measures(&mut self, measured: bool) {
        LogStore::measures(self, measured);
    }
}

/// Refuses what can't be done while the host translates addresses.
///
/// # Errors
/// It does.
pub fn refuse(config: &Config, what: &str) -> Result<(), Failure> {
    if config.host_translation().is_none() {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "{what}: the host translates addresses (host.translation.policy is \"log\"), and its map exists only while a load is \
         played\n  remedy: play a load on a new device, or set host.translation.policy to \"none\""
    )))
}
