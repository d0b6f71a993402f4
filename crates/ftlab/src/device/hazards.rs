//! Dies that are found dead, or killed by order, and blocks that were read too often: tells the parts that go on with
//! the work.

use crate::device::write::dead_dies;
use crate::device::{Contents, Device, patrol, read};
use crate::ftl::Kernel;
use crate::ftl::wear::dies;
use crate::scheduler::{Note, Probe};
use crate::units::DieId;

impl<P: Probe, C: Contents> Device<P, C> {
    /// Handles dies that died and blocks that were read too often.
    pub(super) fn look_for_hazards(&mut self) {
        if dies::has_news_of_death(&mut self.base.kernel.ftl) {
            let Kernel { now, flash, ftl, .. } = &mut self.base.kernel;
            for die in dies::take_found_dead(ftl) {
                flash.probe_mut().note(*now, Note::DieDied { die });
            }
            dead_dies::go_on_without_die(&mut self.writes, &mut self.base);
        }
        while let Some(block) = self.base.kernel.flash.cells_mut().next_read_often() {
            patrol::refresh_read_often(block, &mut self.base);
        }
    }

    /// Lets a die die now. Its commands fail from now on, and the device knows it at once: an image of it tells.
    ///
    /// Devices that merge blocks can't go on without a die: see what the configuration refuses beside a
    /// `nand.faults.schedule` with a death. Those that recover from power cuts keep the index that this takes only if their
    /// schedule has a death.
    pub fn kill_die(&mut self, die: DieId) {
        let now = self.base.kernel.now;
        self.base.kernel.flash.die_dies(die, now);
        self.choose_skills();
        read::die_is_dead(die, &mut self.base);
        self.look_for_hazards();
        self.choose_skills();
    }
}
