//! Stall: the host writes as it likes until only the reserve is free, and then waits until a block is erased.
//!
//! Free blocks beyond the reserve take up bursts without any delay. A burst that is longer waits for all copies of a
//! victim and its erase, and for several victims where one frees less than the copies of the next take.
//!
//! Source: FEMU, `hw/femu/bbssd/ftl.c`: while few lines are free (`should_gc_high`), a write first collects line
//! after line. Its threshold is a share of the lines, and the latency that the write sees is that of the busy dies
//! afterwards. Here the write itself waits, as in firmware that collects in the foreground.

use super::{Earned, PacingPolicy, PacingView, Thresholds};
use crate::image::keeps_nothing;
use crate::policy::{NoOptions, Parts, Policy};

/// All or nothing.
#[derive(Clone, Copy, Debug)]
pub struct Stall;

impl Policy for Stall {
    const NAME: &'static str = "stall";
    const SUMMARY: &'static str =
        "freely down to the reserve, then nothing until a block is erased";
    const SOURCE: &'static str = "FEMU, ftl.c (should_gc_high); foreground collection";
    type Options = NoOptions;

    fn build(_options: &Self::Options, _parts: &Parts<'_>) -> Self {
        Stall
    }

    keeps_nothing!(Stall {});
}

impl PacingPolicy for Stall {
    fn limits(&self, thresholds: &Thresholds, free_blocks: u32) -> bool {
        free_blocks <= thresholds.reserve
    }

    fn lead(&self) -> u32 {
        0
    }

    fn most(&self) -> u32 {
        0
    }

    fn share(&self, _view: &PacingView<'_>) -> Earned {
        Earned::NONE
    }

    fn erased(&self, _rest: u32) -> u32 {
        0
    }
}
