//! Reads of neighbours, on their way into one flash command.

use crate::scheduler::CommandId;

/// A flash read that is being put together: neighbours on one flash page are sensed once.
pub(super) struct Gathering {
    pub(super) command: CommandId,
    pub(super) flash_page: u32,
}
