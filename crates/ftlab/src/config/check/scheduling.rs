//! What dies do side by side, what they suspend, and schedulers that follow how many blocks are free.

use super::Checker;
use crate::scheduler::{Pausable, SpaceLimits};

impl Checker<'_, '_> {
    pub(super) fn suspension(&mut self) {
        let options = self.options;
        if options.scheduler.suspend == Pausable::ProgramAndErase
            && options.nand.cache_ops.program.is_on()
        {
            let message = "programs can't be suspended while the register holds the next page, which it \
                           nearly always does with cache programs";
            let remedy = "switch nand.cache_ops.program off, or suspend erases only";
            let paths = ["scheduler.suspend", "nand.cache_ops.program"];
            self.warn(&paths, message.to_owned(), remedy.to_owned());
        }
    }

    /// Checks that planes which sense on their own are asked for nothing else.
    pub(super) fn planes_apart(&mut self) {
        let nand = &self.options.nand;
        let apart = "nand.multi_plane.independent_reads";
        if !nand.multi_plane.independent_reads.is_on() || nand.planes_per_die == 1 {
            return;
        }
        if nand.multi_plane.read.is_on() {
            let message = "planes that sense on their own have no reads to sense together";
            let remedy = "set nand.multi_plane.read to \"off\", or switch independent reads off";
            let paths = [apart, "nand.multi_plane.read"];
            self.fail(&paths, message.to_owned(), remedy.to_owned());
        }
        if nand.one_die_at_a_time.is_on() && nand.dies_per_chip > 1 {
            let message =
                "a chip that does one thing at a time has no planes that sense on their own";
            let remedy = "set nand.one_die_at_a_time to \"off\", or switch independent reads off";
            let paths = [apart, "nand.one_die_at_a_time", "nand.dies_per_chip"];
            self.fail(&paths, message.to_owned(), remedy.to_owned());
        }
    }

    /// Checks schedulers that follow how many blocks are free.
    pub(super) fn space(&mut self) {
        let Some(limits) = self.options.scheduler.policy.space_limits() else { return };
        if self.is_physical() {
            let message = "a device without translation has no free blocks to follow".to_owned();
            let remedy = "set scheduler.policy to \"read-first\"".to_owned();
            return self.fail(&["scheduler.policy", "ftl.mapping.policy"], message, remedy);
        }
        let SpaceLimits { short_at, ample_at } = limits;
        if ample_at <= short_at {
            let message = format!(
                "space would be ample at {ample_at} free blocks, but it is short at {short_at}"
            );
            let remedy = format!("set scheduler.ample_at to {} or more", short_at + 1);
            self.fail(&["scheduler.ample_at", "scheduler.short_at"], message, remedy);
        }
        let stop = self.options.ftl.gc.stop;
        if ample_at > stop {
            let message = format!(
                "collection stops at {stop} free blocks of a plane, so space is hardly ever ample once it was short"
            );
            let remedy = format!("set scheduler.ample_at to {stop} or less, or raise ftl.gc.stop");
            self.warn(&["scheduler.ample_at", "ftl.gc.stop"], message, remedy);
        }
    }
}
