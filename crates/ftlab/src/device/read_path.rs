//! A read on its way down: the buffer, then the mapping, then flash.

use super::{Contents, Device, FlashRead};
use crate::host::{PageSpan, Pages, Request, RequestId};
use crate::scheduler::{Command, CommandId, Kind, Origin, Probe, Task};
use crate::verify::Canary;

/// A flash read that is being put together: neighbours on one flash page are sensed once.
struct Gathering {
    command: CommandId,
    flash_page: u32,
}

impl<P: Probe, C: Contents> Device<P, C> {
    pub(super) fn submit_read(&mut self, id: RequestId, request: &Request) {
        let mut gathering = None;
        for span in Pages::new(request.lba, request.sectors, self.sectors_per_page) {
            self.read_page(id, span, &mut gathering);
        }
        if let Some(Gathering { command, .. }) = gathering {
            self.flash.submit(self.now, command);
        }
    }

    fn read_page(&mut self, id: RequestId, span: PageSpan, gathering: &mut Option<Gathering>) {
        let passes = self.plant.is(Canary::ReadPassesBuffer);
        let slot = self.buffer.find(span.page).filter(|_| !passes);
        let mut missing = span.sectors;
        let mut version = slot;
        while let Some(slot) = version {
            let there = self.buffer.page(slot).readable().within(missing);
            missing = missing.without(there);
            if !there.is_empty() {
                self.contents.read_buffer(id, span.page, there, slot);
            }
            version = self.buffer.older(slot).filter(|_| !missing.is_empty());
        }
        self.buffer.note_read(slot.filter(|_| missing.is_empty()));
        if missing.is_empty() {
            return;
        }
        // A page that was never written reads as zeros, straight from the map.
        let Some(at) = self.ftl.look_up_for_host(span.page) else { return };
        let flash_page = self.flash.geometry().flash_page_of(at);
        let command = match gathering {
            Some(open) if open.flash_page == flash_page => open.command,
            _ => {
                let mut command = Command::new(Kind::Read, Origin::Host, Task::Request(id), at);
                command.mode = self.ftl.mode_at(at);
                let command = self.flash.prepare(command);
                self.intake.wait_for_one(id);
                if let Some(full) = gathering.replace(Gathering { command, flash_page }) {
                    self.flash.submit(self.now, full.command);
                }
                command
            }
        };
        let codewords = self.flash.bus().codewords_of(missing);
        let open = self.flash.command_mut(command);
        open.units += 1;
        open.codewords += codewords;
        let read = FlashRead { request: id, page: span.page, at, sectors: missing };
        self.contents.plan_read(command, read);
    }
}
