//! Reads in flight: what they bring, and requests that joined them.

use crate::device::{Contents, Movement, Place};
use crate::scheduler::CommandId;
use crate::units::{Lpn, PageSpan, Ppn, RequestId, SectorMask};

/// A page that is read from flash for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::device) struct FlashRead {
    pub request: RequestId,
    pub page: Lpn,
    pub at: Ppn,
    /// The sectors that the request wants from flash.
    pub sectors: SectorMask,
    /// Whether the request has them already.
    delivered: bool,
}

impl FlashRead {
    pub(in crate::device) fn new(request: RequestId, wanted: PageSpan, at: Ppn) -> FlashRead {
        let PageSpan { page, sectors } = wanted;
        FlashRead { request, page, at, sectors, delivered: false }
    }

    /// Moves what was read to its request, once.
    pub(in crate::device) fn deliver(&mut self, contents: &mut impl Contents) {
        let &mut FlashRead { request, page, at, sectors, .. } = self;
        if !std::mem::replace(&mut self.delivered, true) {
            let (from, to) = (Place::Flash(at), Place::Read(request));
            contents.copy(&Movement { from, to, page, sectors });
        }
    }
}

/// By flash command: reads in flight for the host, if their data stays in the buffer or is carried at all.
#[derive(Clone, Debug, Default)]
pub(in crate::device) struct Fetched {
    pub(in crate::device) by_command: Vec<Vec<FlashRead>>,
}

impl Fetched {
    pub(in crate::device) fn plan(&mut self, command: CommandId, read: FlashRead) {
        self.of(command).push(read);
    }

    /// The reads that a command carries out.
    pub(in crate::device) fn of(&mut self, command: CommandId) -> &mut Vec<FlashRead> {
        if command.at() >= self.by_command.len() {
            self.by_command.resize_with(command.at() + 1, Vec::new);
        }
        &mut self.by_command[command.at()]
    }

    /// Delivers what is being read from these pages, as it is now.
    #[cold]
    pub(in crate::device) fn deliver_from(
        &mut self,
        pages: std::ops::Range<u32>,
        contents: &mut impl Contents,
    ) {
        let reads = self.by_command.iter_mut().flatten();
        reads.filter(|read| pages.contains(&read.at.get())).for_each(|read| read.deliver(contents));
    }

    pub(in crate::device) fn take(&mut self, command: CommandId) -> Vec<FlashRead> {
        self.by_command.get_mut(command.at()).map(std::mem::take).unwrap_or_default()
    }

    /// Reuses the memory of an empty list for the next command with this number.
    pub(in crate::device) fn give_back(&mut self, command: CommandId, list: Vec<FlashRead>) {
        if let Some(place) = self.by_command.get_mut(command.at()) {
            *place = list;
        }
    }
}

/// Flash pages that are being read ahead, and the requests that wait for them. They are few, at
/// most one per channel.
#[derive(Clone, Debug, Default)]
pub(in crate::device) struct ReadingAhead {
    pub(in crate::device) pages: Vec<(u32, CommandId)>,
    pub(in crate::device) waiting: Vec<(CommandId, RequestId)>,
}

impl ReadingAhead {
    pub(in crate::device) fn find(&self, flash_page: u32) -> Option<CommandId> {
        self.pages.iter().find(|&&(page, _)| page == flash_page).map(|&(_, command)| command)
    }
}
