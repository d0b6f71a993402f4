//! Blocks that last for ever: what a study of performance wants.

use crate::image::keeps_nothing;
use crate::policy::{NoOptions, Parts, Policy};

/// No limit.
#[derive(Clone, Copy, Debug)]
pub struct Unlimited;

impl Policy for Unlimited {
    const NAME: &'static str = "unlimited";
    const SUMMARY: &'static str = "blocks never wear out";
    const SOURCE: &'static str = "usual in studies of performance";
    type Options = NoOptions;

    fn build(_options: &Self::Options, _parts: &Parts<'_>) -> Self {
        Unlimited
    }

    keeps_nothing!(Unlimited {});
}

impl Unlimited {
    pub(super) const fn cycles(self) -> Option<u32> {
        None
    }
}
