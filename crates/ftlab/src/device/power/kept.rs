//! The state on flash of a device that carries bytes for a block device: what changed, and a device that is brought up
//! again from what was stored, after its process was killed.

use crate::device::{Contents, Device, DeviceSetup, Remains, assemble};
use crate::ftl::journal::JournalPages;
use crate::ftl::recovery::{Kept, KeptSource, Touched, kept};
use crate::image::Damage;
use crate::scheduler::Probe;
use crate::units::{BlockId, Nanos, SimTime};

impl<P: Probe, C: Contents> Device<P, C> {
    /// What the device keeps on flash for recovery, or none if it keeps nothing.
    #[must_use]
    pub fn kept(&self) -> Option<Kept<'_>> {
        let journal_pages =
            self.base.services.journal.as_ref().map_or(JournalPages::default(), |it| it.pages());
        Kept::of(&self.base.kernel.ftl, journal_pages)
    }

    /// Exchanges what changed of it since the last call for an empty list. The first call finds nothing: changes are
    /// noted from then on.
    pub fn swap_touched(&mut self, list: &mut Touched) {
        kept::swap_touched(list, &mut self.base.kernel.ftl);
    }
}

impl<C: Contents> Remains<C> {
    /// Returns what remains of a device that was cut off at `at`, from what was kept of it. `setup` must be the setup of
    /// the same device, with the same seed.
    ///
    /// # Errors
    /// What was kept contradicts itself, or is of another device.
    pub fn of_kept(
        setup: DeviceSetup,
        at: SimTime,
        contents: C,
        kept: &impl KeptSource,
    ) -> Result<Remains<C>, Damage> {
        let mut contents = contents;
        let geometry = setup.flash.geometry.clone();
        let device = assemble(setup);
        let plant = device.base.plant;
        let (ftl, mut flash) = (device.base.kernel.ftl, device.base.kernel.flash);
        let volume = ftl.geometry().clone();
        let left = kept::left_of(kept, ftl)?;
        let cells = flash.cells_mut();
        let all = (0..volume.blocks()).map(BlockId::new);
        let parts = |block| geometry.blocks_of_superblock(block).map(move |part| (block, part));
        for (block, part) in all.flat_map(parts) {
            let known = kept.block(block);
            if known.erases > 0 {
                cells.know_erases(part, known.erases);
            }
            if let Some(programmed) = cells.programmed_mut().filter(|_| known.programmed > 0) {
                programmed.holds(part, at);
            }
        }
        left.tear(&volume, &mut contents);
        Ok(Remains {
            at,
            contents,
            hold_up: Nanos::ZERO,
            lost_pages: 0,
            left,
            cells: flash.into_cells(),
            journal_pages: kept.facts().journal_pages,
            // A served drive has none.
            zones: None,
            // The host has started anew.
            hints: None,
            // What is kept outside does not hold it.
            events: None,
            plant,
        })
    }
}
