//! The kernel: the clock, the FTL, the flash, and the bytes. All code that moves data on flash
//! works on the kernel and on nothing else of the device.

use super::parity::Stripes;
use super::room::blocks_to_use;
use super::{FlashContents, Ftl};
use crate::engine::skills::{RARE, Skills, any};
use crate::scheduler::{CommandId, Flash, Kind, Origin, Probe};
use crate::units::SimTime;

/// The part of a device that its services work on.
#[derive(Clone, Debug)]
pub struct Kernel<P, C> {
    /// The current time.
    pub now: SimTime,
    /// The map and the blocks.
    pub ftl: Ftl,
    /// The flash.
    pub flash: Flash<P>,
    /// The bytes, if the device carries them.
    pub contents: C,
}

impl<P: Probe, C: FlashContents> Kernel<P, C> {
    /// Submits a command. The erase of a superblock becomes one for each of its blocks, and stripes add what they need.
    #[inline(always)]
    pub fn submit<const S: Skills>(&mut self, id: CommandId) {
        if any(S, RARE) && self.flash.follows_space() {
            self.tell_space(id);
        }
        if any(S, RARE) && self.ftl.features.stripes.is_some() {
            self.with_stripes(|stripes, kernel| stripes.submit(id, kernel));
        } else if any(S, RARE) && self.ftl.features.superblock.is_some() {
            self.submit_to_superblock(id);
        } else {
            self.flash.submit_with::<S>(self.now, id);
        }
    }

    /// Submits a row of programs, which may be carried out together.
    pub fn submit_row<const S: Skills>(&mut self, row: &[CommandId]) {
        if any(S, RARE) && self.ftl.features.stripes.is_some() {
            self.with_stripes(|stripes, kernel| stripes.submit_row(row, kernel));
        } else {
            self.flash.submit_row::<S>(self.now, row);
        }
    }

    /// Tells the flash how many blocks are free where a host read goes, without those that are set aside for failures: for
    /// the host and for collection, they are not there. Once nothing more is written, space is no concern.
    #[inline(never)]
    fn tell_space(&mut self, id: CommandId) {
        let Kernel { ftl, flash, .. } = self;
        let command = flash.command(id);
        if (command.kind, command.origin) != (Kind::Read, Origin::Host) {
            return;
        }
        // The planes of the volume: with superblocks, one stands for those of several dies.
        let (page, volume) = (command.page, &ftl.geometry);
        let die = volume.die_of_page(page);
        let planes = (0..volume.planes_per_die()).map(|index| volume.plane_in(die, index));
        let fewest = planes.map(|plane| blocks_to_use(plane, ftl)).min();
        let free_blocks = fewest.filter(|_| !ftl.health.read_only);
        flash.note_free_blocks(flash.geometry().die_of_page(page), free_blocks);
    }

    /// Calls `what` with the stripes, if there are any. They are taken out of the FTL meanwhile.
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
