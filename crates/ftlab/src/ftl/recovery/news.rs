//! What of the things that a device keeps changes without a note. A front end that stores them is told which blocks are
//! concerned, by comparing with what it saw last: so a device without one pays nothing.

use crate::ftl::parity::KeptStripe;
use crate::ftl::{BlockState, Ftl, superblock};
use crate::units::BlockId;

use super::left;

/// What a front end has seen.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Failures so far: new ones may have cost any block.
    failures: u64,
    /// Dies known to be dead: any superblock may be narrow since.
    dead: usize,
    /// Blocks that are given up, in order.
    giving_up: Vec<BlockId>,
    /// Members of superblocks on which an operation failed, in order.
    failing: Vec<(BlockId, u32)>,
    /// Stripes with parity in DRAM, in order.
    stripes: Vec<KeptStripe>,
}

impl Seen {
    /// What there is to see now.
    pub(super) fn of(ftl: &Ftl) -> Seen {
        let losses = ftl.health.life.as_deref().map(|life| *life.losses());
        let failures = losses.map_or(0, |it| it.failed() + u64::from(it.grown_bad));
        let members = ftl.features.members();
        let mut failing: Vec<_> = members.into_iter().flat_map(|it| it.failing()).collect();
        failing.sort_unstable();
        Seen {
            failures,
            dead: members.map_or(0, |members| members.dead_dies().count()),
            giving_up: left::giving_up(ftl),
            failing,
            stripes: ftl.features.stripes.iter().flat_map(|stripes| stripes.kept()).collect(),
        }
    }

    /// The blocks that have changed since.
    pub(super) fn changed_since(&self, before: &Seen, ftl: &Ftl) -> Vec<BlockId> {
        let mut changed = Vec::new();
        let all = || (0..ftl.geometry.blocks()).map(BlockId::new);
        if self.failures != before.failures {
            changed.extend(all().filter(|&block| {
                matches!(ftl.blocks.state(block), BlockState::Bad | BlockState::Failing)
            }));
            changed.extend(self.stripes.iter().map(|it| it.stripe.block));
        }
        if self.dead != before.dead {
            changed.extend(all().filter(|&block| superblock::kept::knows(block, &ftl.features)));
        }
        changed.extend(differences(&self.giving_up, &before.giving_up));
        changed.extend(differences(&self.failing, &before.failing).map(|(block, _)| block));
        changed.extend(differences(&self.stripes, &before.stripes).map(|it| it.stripe.block));
        changed
    }
}

/// What is in only one of two ordered lists.
fn differences<'a, T: Copy + Ord>(one: &'a [T], other: &'a [T]) -> impl Iterator<Item = T> + 'a {
    let only = |these: &'a [T], those: &'a [T]| {
        these.iter().copied().filter(move |it| those.binary_search(it).is_err())
    };
    only(one, other).chain(only(other, one))
}
