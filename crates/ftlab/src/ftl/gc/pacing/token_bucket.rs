//! Token bucket: the host's share of the flash falls with its free space.
//!
//! A plane collects at `ftl.gc.start` free blocks. From then on each flash page of the host takes a token out of a
//! bucket. Of the room that the host had then, `l` of `r` flash pages may be left; then a copy puts l / (r - l)
//! tokens into the bucket: the host gets the share l / r of what is programmed, and collection the rest. That is all
//! at the start, half of it in the middle, and nothing at the reserve.
//!
//! A host that writes all it may settles where it takes what collection frees. With a share v of valid pages in the
//! victims that is (1 - v) / v tokens a copy, and so l / r = 1 - v: the more a plane has to copy, the fewer pages it
//! keeps ready for a burst.
//!
//! Tokens come from copies, not from a clock: nothing is earned during the erase, and none that collection does not
//! pay for. So the bucket should hold what the host writes meanwhile. What does not fit is lost.
//!
//! Source: pblk's rate limiter (`drivers/lightnvm/pblk-rl.c` in Linux 4.12 to 5.14) divides the entries of its write
//! buffer so: those of the user fall with free blocks, to none at the reserve, and collection gets the others.
//! Bjørling, González and Bonnet, "LightNVM: The Linux Open-Channel SSD Subsystem", FAST 2017. Its share is of entries
//! in the buffer and falls in steps, over all dies at once. Here it is of programs, by plane, without steps.

use super::{Earned, PacingPolicy, PacingView, Thresholds};
use crate::image::keeps_nothing;
use crate::options::declare::options;
use crate::policy::{Parts, Policy};

/// Parts of a token that are counted.
const PARTS: u32 = 1 << 16;

options! {
    /// The bucket.
    pub struct BucketOptions at "ftl.gc" {
        /// Tokens that the bucket of a plane holds: flash pages that the host may take at once while the plane
        /// collects. It is full when the plane begins to collect.
        bucket: u32 = "16", in "1"..="1000000", unit "flash pages",
            source "assumed: as ftl.gc.host_lead";
    }
}

/// A bucket of tokens for each plane, filled by copies.
#[derive(Clone, Copy, Debug)]
pub struct TokenBucket {
    depth: u32,
}

impl Policy for TokenBucket {
    const NAME: &'static str = "token-bucket";
    const SUMMARY: &'static str =
        "a share of the programs that falls with free space, in tokens earned by copies";
    const SOURCE: &'static str = "pblk-rl.c (Linux 4.12); Bjørling et al., FAST 2017";
    type Options = BucketOptions;

    fn build(options: &Self::Options, parts: &Parts<'_>) -> Self {
        TokenBucket { depth: options.bucket.saturating_mul(parts.superblock) }
    }

    keeps_nothing!(TokenBucket { depth });
}

impl TokenBucket {
    /// A bucket of so many tokens for each plane.
    #[must_use]
    pub fn new(depth: u32) -> TokenBucket {
        TokenBucket { depth }
    }

    /// The tokens for a copy where `left` of `whole` flash pages of room are left.
    pub(super) fn tokens(self, left: u32, whole: u32) -> Earned {
        let used = match whole.checked_sub(left) {
            Some(used) if used > 0 => used,
            _ => return Earned { pages: self.depth, parts: 0, of: PARTS },
        };
        let parts = u64::from(left % used) * u64::from(PARTS) / u64::from(used);
        // Less than a page, as the remainder is less than the divisor.
        Earned { pages: (left / used).min(self.depth), parts: parts as u32, of: PARTS }
    }
}

impl PacingPolicy for TokenBucket {
    fn limits(&self, thresholds: &Thresholds, free_blocks: u32) -> bool {
        free_blocks <= thresholds.start
    }

    fn lead(&self) -> u32 {
        self.depth
    }

    fn most(&self) -> u32 {
        self.depth
    }

    fn share(&self, view: &PacingView<'_>) -> Earned {
        self.tokens(view.room(), view.room_at_start())
    }

    fn erased(&self, _rest: u32) -> u32 {
        0
    }
}
