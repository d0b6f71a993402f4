//! Blocks that never wear out, for studies of performance.

use super::{EnduranceFacts, EndurancePolicy};
use crate::image::keeps_nothing;
use crate::policy::{NoOptions, Parts, Policy};

/// Unlimited endurance.
#[derive(Clone, Copy, Debug)]
pub struct Unlimited;

impl Policy for Unlimited {
    const NAME: &'static str = "unlimited";
    const SUMMARY: &'static str = "blocks never wear out";
    const SOURCE: &'static str = "usual in performance studies";
    type Options = NoOptions;

    fn build(_options: &Self::Options, _parts: &Parts<'_>) -> Self {
        Unlimited
    }

    keeps_nothing!(Unlimited {});
}

impl EnduranceFacts for Unlimited {
    fn is_limited(_options: &NoOptions) -> bool {
        false
    }
}

impl EndurancePolicy for Unlimited {
    fn cycles(&self) -> Option<u32> {
        None
    }
}
