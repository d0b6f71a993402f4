//! No recovery: the device does not handle power cuts, like most simulators.

use super::{RecoveryFacts, RecoveryPolicy, Upkeep};
use crate::image::keeps_nothing;
use crate::policy::{NoOptions, Parts, Policy};

/// Keeps nothing for recovery.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unprotected;

impl Policy for Unprotected {
    const NAME: &'static str = "none";
    const SUMMARY: &'static str = "nothing is kept for recovery, and power is never cut";
    const SOURCE: &'static str = "what other simulators assume";
    type Options = NoOptions;

    fn build(_options: &Self::Options, _parts: &Parts<'_>) -> Self {
        Unprotected
    }

    keeps_nothing!(Unprotected {});
}

impl RecoveryFacts for Unprotected {
    fn survives(_options: &NoOptions) -> bool {
        false
    }
}

impl RecoveryPolicy for Unprotected {
    fn upkeep(&self) -> Option<Upkeep> {
        None
    }
}
