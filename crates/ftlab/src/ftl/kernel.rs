//! The kernel: the moment, the FTL with its blocks and its map, the flash, and the bytes. Everything that moves data
//! on flash works on it, and on nothing else of the device.

use super::parity::Stripes;
use super::{FlashContents, Ftl};
use crate::engine::skills::{RARE, Skills, any};
use crate::scheduler::{CommandId, Flash, Probe};
use crate::units::SimTime;

/// What services of a device work on.
#[derive(Clone, Debug)]
pub struct Kernel<P, C> {
    /// The present moment.
    pub now: SimTime,
    /// Map and blocks.
    pub ftl: Ftl,
    /// The flash that does the work.
    pub flash: Flash<P>,
    /// The bytes, if the device carries them.
    pub contents: C,
}

impl<P: Probe, C: FlashContents> Kernel<P, C> {
    /// Hands a command whose page is known to the flash, or to the stripes that it becomes a part of.
    #[inline(always)]
    pub fn submit<const S: Skills>(&mut self, id: CommandId) {
        if any(S, RARE) && self.ftl.features.stripes.is_some() {
            self.with_stripes(|stripes, kernel| stripes.submit(id, kernel));
        } else {
            self.flash.submit_with::<S>(self.now, id);
        }
    }

    /// Stripes to which nothing more comes, because a die has died, get their parity.
    pub(crate) fn close_stripes(&mut self) {
        self.with_stripes(|stripes, kernel| stripes.close(kernel));
    }

    /// Lets the stripes do something, if there are any. They find none meanwhile.
    pub(in crate::ftl) fn with_stripes<R>(
        &mut self,
        what: impl FnOnce(&mut Stripes, &mut Self) -> R,
    ) -> Option<R> {
        let mut stripes = self.ftl.features.stripes.take()?;
        let result = what(&mut stripes, self);
        self.ftl.features.stripes = Some(stripes);
        Some(result)
    }
}
