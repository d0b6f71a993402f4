//! Reads in flight with a further purpose, and requests that joined them.

use crate::device::FlashRead;
use crate::scheduler::CommandId;
use crate::units::RequestId;

/// By flash command: reads whose data stays in the buffer.
#[derive(Clone, Debug, Default)]
pub(in crate::device) struct Fetched {
    pub(in crate::device) by_command: Vec<Vec<FlashRead>>,
}

impl Fetched {
    pub(in crate::device) fn plan(&mut self, command: CommandId, read: FlashRead) {
        if command.at() >= self.by_command.len() {
            self.by_command.resize_with(command.at() + 1, Vec::new);
        }
        self.by_command[command.at()].push(read);
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
