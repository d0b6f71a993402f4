//! LRU over flash pages: the least recently used one makes room.
//!
//! Source: Lu, Fan and Jiang, "Improved Flash Translation Layer Algorithm Based on OpenSSD", Computer Systems &
//! Applications 27(5), 2018, section 4.2. The paper's index by logical address is a red-black tree; here it is a hash
//! table, with the same results. Every operation takes constant time.

use super::{Frame, FrameId, ReadCacheFacts, ReadOrderPolicy};
use crate::cache::order::Order;
use crate::image::keeps_nothing;
use crate::options::declare::options;
use crate::policy::{Parts, Policy};
use crate::units::Bytes;

options! {
    /// A cache of flash pages that were read.
    pub struct LruReadsOptions at "cache.read" {
        /// Capacity of the read cache, in whole flash pages.
        capacity: Bytes = "4MiB", in "4KiB"..="1TiB",
            source "assumed: as large as the write buffer of Lu et al. 2018, who do not state it";
        /// How many logical pages behind a host read are read ahead, if they lie on an idle channel.
        ahead: u32 = "0", in "0"..="1024", unit "pages",
            source "default: none; Lu et al. 2018, 4.2, read 'a few neighbours' from idle channels";
    }
}

/// Flash pages in the order of their last use.
#[derive(Clone, Debug, Default)]
pub struct LruReads {
    order: Order<Frame>,
}

impl Policy for LruReads {
    const NAME: &'static str = "lru";
    const SUMMARY: &'static str =
        "cache of flash pages that were read; the least recently used is evicted first";
    const SOURCE: &'static str = "Lu, Fan, Jiang, Computer Systems & Applications 27(5), 2018, 4.2";
    type Options = LruReadsOptions;

    fn build(_options: &Self::Options, _parts: &Parts<'_>) -> Self {
        LruReads::default()
    }

    keeps_nothing!(LruReads { order });
}

impl ReadCacheFacts for LruReads {
    fn holds(options: &Self::Options) -> Option<&LruReadsOptions> {
        Some(options)
    }
}

impl ReadOrderPolicy for LruReads {
    fn inserted(&mut self, frame: FrameId) {
        self.order.push_newest(frame);
    }

    fn used(&mut self, frame: FrameId) {
        self.order.remove(frame);
        self.order.push_newest(frame);
    }

    fn removed(&mut self, frame: FrameId) {
        self.order.remove(frame);
    }

    fn choose(&self) -> Option<FrameId> {
        self.order.oldest()
    }
}
