//! The random write area of a zone (ZRWA): the sectors behind the write pointer that may be written in any order, and again,
//! until they are committed.
//!
//! Source: NVM Express TP4076, "Zone Random Write Area". Departure: a zone gets one with the command that opens it while it is
//! empty, if the device has one to spare, and not by a flag of that command.

/// The rules for random write areas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZoneWindow {
    /// Its size, in sectors.
    pub size: u64,
    /// What it moves by, in sectors (ZRWAFG).
    pub step: u64,
    /// How many zones may have one.
    pub most: u32,
}

impl ZoneWindow {
    /// Whether a write of these sectors is allowed while the write pointer is at `pointer`: it ends within the area, or
    /// within one more area behind it, and then commits what it moves past.
    #[must_use]
    pub fn admits(&self, pointer: u64, start: u64, sectors: u64) -> bool {
        start >= pointer && start + sectors <= pointer + 2 * self.size
    }

    /// Where the write pointer is after a write that ends at `end`.
    #[must_use]
    pub fn moved(&self, pointer: u64, end: u64, capacity: u64) -> u64 {
        let past = end.saturating_sub(pointer + self.size);
        (pointer + past.next_multiple_of(self.step)).min(capacity)
    }

    /// Whether the area may be committed up to `end`.
    #[must_use]
    pub fn commits(&self, pointer: u64, end: u64, capacity: u64) -> bool {
        let in_steps = end.is_multiple_of(self.step) || end == capacity;
        in_steps && end > pointer && end <= pointer + self.size && end <= capacity
    }
}
