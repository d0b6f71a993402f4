//! First in, first out: each die takes its commands in order of arrival.

use super::{Arrival, SchedulerFacts, SchedulerPolicy, View};
use crate::image::keeps_nothing;
use crate::policy::{NoOptions, Parts, Policy};

/// First in, first out.
#[derive(Clone, Debug, Default)]
pub struct Fifo;

impl Policy for Fifo {
    const NAME: &'static str = "fifo";
    const SUMMARY: &'static str = "each die takes its commands in order of arrival";
    const SOURCE: &'static str = "textbook";
    type Options = NoOptions;

    fn build(_options: &Self::Options, _parts: &Parts<'_>) -> Self {
        Fifo
    }

    keeps_nothing!(Fifo {});
}

impl SchedulerFacts for Fifo {}

impl SchedulerPolicy for Fifo {
    fn overtaking(&self) -> bool {
        false
    }

    #[inline(always)]
    fn rank(&mut self, arrival: &Arrival, _view: &View<'_>) -> u64 {
        arrival.sequence
    }
}
