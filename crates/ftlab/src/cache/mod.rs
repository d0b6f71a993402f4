//! The controller's DRAM: every write passes through it.
//!
//! [`Buffer`] owns the pages and what is known of them; the policy ([`WriteBuffer`], a seam) only says
//! which page goes to flash next, and the core writes it back. Without a write buffer a page is staged
//! here just until it is programmed, and the host is told then.

mod buffer;
mod gating;
mod lru;
mod none;
mod order;

pub use buffer::{Buffer, BufferCounts, BufferSetup, Gate, Page, SlotId, Waiting};
pub use gating::{Gating, GatingOptions, USUAL_CAPACITY};
pub use lru::Lru;
pub use none::WriteThrough;

use crate::config::DramOptions;
use crate::policy::seam;
use crate::units::Ratio;

seam! {
    /// Says which page of the buffer is written back next.
    pub enum WriteBuffer ("cache.policy" = "none") as WriteBufferChoice, with buffer_policy {
        None(WriteThrough),
        Lru(Lru),
        Gating(Gating),
    }
}

/// The DRAM of a write buffer, and when it is written back.
#[derive(Clone, Copy, Debug)]
pub struct Dram<'a> {
    /// Its size.
    pub options: &'a DramOptions,
    /// The share of it above which what is dirty is written back.
    pub write_back_start: Ratio,
    /// Programs under way at once, as a mean over the dies; none if it is one for each plane.
    pub programs_per_die: Option<u32>,
}

impl WriteBufferChoice {
    /// The DRAM of the buffer, if the policy has one.
    #[must_use]
    pub fn dram(&self) -> Option<Dram<'_>> {
        match self {
            WriteBufferChoice::None(_) => None,
            WriteBufferChoice::Lru(buffer) => Some(Dram {
                options: &buffer.dram,
                write_back_start: buffer.write_back_start,
                programs_per_die: Some(buffer.programs_per_die),
            }),
            WriteBufferChoice::Gating(gating) => Some(Dram {
                options: &gating.dram,
                write_back_start: Ratio::ONE,
                programs_per_die: None,
            }),
        }
    }

    /// How write-backs begin, if they do so by planes.
    #[must_use]
    pub fn gate(&self) -> Option<Gate> {
        let WriteBufferChoice::Gating(gating) = self else { return None };
        let in_order = gating.in_order.is_on();
        Some(Gate { barrier: in_order, prefix: in_order })
    }
}

impl WriteBuffer {
    /// Whether a write is acknowledged when it is in the buffer, rather than when it is on flash.
    #[must_use]
    pub fn acknowledges_early(&self) -> bool {
        !matches!(self, WriteBuffer::None(_))
    }

    /// Whether each write of a page is a version of its own, and requests come in as a whole.
    #[inline]
    #[must_use]
    pub fn gathers(&self) -> bool {
        matches!(self, WriteBuffer::Gating(_))
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
