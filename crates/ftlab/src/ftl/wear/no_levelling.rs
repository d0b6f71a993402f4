//! No static wear levelling: static data stays in its blocks for good.

use super::{LevellingPolicy, WearView};
use crate::ftl::gc::Purpose;
use crate::image::keeps_nothing;
use crate::policy::{NoOptions, Parts, Policy};
use crate::units::BlockId;

/// Moves nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoLevelling;

impl Policy for NoLevelling {
    const NAME: &'static str = "none";
    const SUMMARY: &'static str = "static data stays in its blocks";
    const SOURCE: &'static str = "the baseline of Chang, Hsieh and Kuo, DAC 2007";
    type Options = NoOptions;

    fn build(_options: &Self::Options, _parts: &Parts<'_>) -> Self {
        NoLevelling
    }

    keeps_nothing!(NoLevelling {});
}

impl LevellingPolicy for NoLevelling {
    fn erased(&mut self, _view: &WearView<'_>, _block: BlockId, _purpose: Purpose) {}

    fn choose(&mut self, _view: &WearView<'_>) -> Option<BlockId> {
        None
    }

    fn is_off(&self) -> bool {
        true
    }
}
