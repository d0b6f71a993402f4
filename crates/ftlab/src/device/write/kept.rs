//! Keeps data that was read, in the buffer or in the read cache.

use crate::device::base::Base;
use crate::device::read::ahead;
use crate::device::write::Writes;
use crate::device::{Contents, read};
use crate::engine::skills;
use crate::scheduler::{CellFindings, Command, CommandId, Probe};

impl Writes {
    /// Keeps the data that a flash command has read for the host in the buffer, if it keeps reads.
    /// Only sectors that are still current on flash are kept, as far as there is room.
    pub(in crate::device) fn keep_what_was_read(
        &mut self,
        command: CommandId,
        on: &mut Base<impl Probe, impl Contents>,
    ) {
        let mut reads = on.reads.fetched.take(command);
        for read in reads.drain(..) {
            read::keep_read(&read, on);
        }
        on.reads.fetched.give_back(command, reads);
        self.write_back::<{ skills::ALL }>(on);
    }

    /// A flash page was read ahead: it enters the read cache, and the requests that wait for it complete.
    pub(in crate::device) fn read_ahead_done(
        &mut self,
        command: CommandId,
        on: &mut Base<impl Probe, impl Contents>,
    ) {
        on.deliver_what_was_read(command);
        on.reads.ahead.pages.retain(|&(_, known)| known != command);
        let &Command { spent, found: CellFindings { unreadable, .. }, .. } =
            on.kernel.flash.command(command);
        let mut waiting = std::mem::take(&mut on.reads.ahead.waiting);
        waiting.retain(|&(known, request)| {
            let waited = known == command;
            if waited && unreadable {
                on.desk.intake.cannot_read(request);
            }
            if waited {
                on.settle::<{ skills::ALL }>(request, &spent);
            }
            !waited
        });
        on.reads.ahead.waiting = waiting;
        if on.kernel.flash.command(command).found.has_left {
            return;
        }
        if on.buffer.rules.keeps_reads {
            self.keep_what_was_read(command, on);
        }
        ahead::cache_what_was_read(command, on);
    }
}
