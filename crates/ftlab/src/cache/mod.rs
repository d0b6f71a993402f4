//! The controller's DRAM: every write passes through it.
//!
//! [`Buffer`] owns the pages and what is known of them; the policy ([`WriteBuffer`], a seam) only says
//! which page goes to flash next, and the core writes it back. Without a write buffer a page is staged
//! here just until it is programmed, and the host is told then.

mod buffer;
mod lru;
mod none;
mod order;

pub use buffer::{Buffer, BufferCounts, BufferSetup, Page, SlotId, Waiting};
pub use lru::Lru;
pub use none::WriteThrough;

use crate::config::BufferOptions;
use crate::policy::seam;

seam! {
    /// Says which page of the buffer is written back next.
    pub enum WriteBuffer ("cache.policy" = "none") as WriteBufferChoice, with buffer_policy {
        None(WriteThrough),
        Lru(Lru),
    }
}

impl WriteBufferChoice {
    /// The DRAM of the buffer, if the policy has one.
    #[must_use]
    pub fn dram(&self) -> Option<&BufferOptions> {
        match self {
            WriteBufferChoice::None(_) => None,
            WriteBufferChoice::Lru(dram) => Some(dram),
        }
    }
}

impl WriteBuffer {
    /// Whether a write is acknowledged when it is in the buffer, rather than when it is on flash.
    #[must_use]
    pub fn acknowledges_early(&self) -> bool {
        !matches!(self, WriteBuffer::None(_))
    }

    /// A page came in, or has new data again after a write-back: it may be written back.
    #[inline]
    pub fn inserted(&mut self, slot: SlotId) {
        buffer_policy!(self, policy => policy.inserted(slot));
    }

    /// A page that may be written back was written again.
    #[inline]
    pub fn written(&mut self, slot: SlotId) {
        buffer_policy!(self, policy => policy.written(slot));
    }

    /// A page that may be written back was read.
    #[inline]
    pub fn read(&mut self, slot: SlotId) {
        buffer_policy!(self, policy => policy.read(slot));
    }

    /// A page may no longer be written back: its write-back begins, or it was deallocated.
    #[inline]
    pub fn removed(&mut self, slot: SlotId) {
        buffer_policy!(self, policy => policy.removed(slot));
    }

    /// The page to write back next.
    #[inline]
    #[must_use]
    pub fn choose(&self) -> Option<SlotId> {
        buffer_policy!(self, policy => policy.choose())
    }

    /// The page to write back after `slot`, which may be written back itself.
    #[inline]
    #[must_use]
    pub fn after(&self, slot: SlotId) -> Option<SlotId> {
        buffer_policy!(self, policy => policy.after(slot))
    }
}
