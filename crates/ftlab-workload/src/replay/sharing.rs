//! Counts pages of a trace that share a page of the device: pages of several streams with equal
//! addresses, and pages that folding maps together. They overwrite and hit each other as they never
//! did where the trace was recorded, so results report their number.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use ftlab::engine::NumberHasher;
use ftlab::units::SECTOR_BYTES;
use serde::Serialize;

use super::mapping::Mapped;

/// The bytes of a page, as in all counts of traces.
const PAGE_BYTES: u64 = 4096;
/// Sectors in a page.
pub(super) const PAGE_SECTORS: u64 = PAGE_BYTES / SECTOR_BYTES;
/// The pages in a piece of the table; pieces exist only where something was touched. They are
/// small, because a trace touches few, scattered pages, and each piece has to be initialised.
const PIECE_PAGES: u64 = 64;

/// How many pages of 4 KiB of the device stand for several pages of a trace, by cause. A page may have both causes.
/// Streams after the 16,382nd count as one, and so do turns of folding after the 65,535th.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PageSharing {
    /// Touched pages of the device.
    pub touched_pages_4k: u64,
    /// Touched pages to which folding maps different addresses, of one stream or of several.
    pub folded_pages_4k: u64,
    /// Touched pages that belong to several streams, folded or not.
    pub shared_pages_4k: u64,
    /// Streams that touched pages.
    pub streams: u64,
    /// Streams with pages that belong to others too.
    pub sharing_streams: u64,
}

/// Who touched a page first, and whether others did: 14 bits for the stream, counted from one in
/// order of appearance, 16 for how often its address was folded, and two flags. Zero if nobody did.
/// Streams and turns that do not fit count as the last.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Owner(u32);

impl Owner {
    const TURN_BITS: u32 = 16;
    const LAST_TURN: u32 = (1 << Owner::TURN_BITS) - 1;
    const LAST_STREAM: u32 = (1 << 14) - 1;
    const FOLDED: u32 = 1 << 30;
    const SHARED: u32 = 1 << 31;

    fn new(stream: u32, turn: u32) -> Owner {
        Owner(stream << Owner::TURN_BITS | turn.min(Owner::LAST_TURN))
    }

    fn stream(self) -> u32 {
        self.0 >> Owner::TURN_BITS & Owner::LAST_STREAM
    }

    fn turn(self) -> u32 {
        self.0 & Owner::LAST_TURN
    }

    fn is_one_of(self, other: Owner) -> bool {
        (self.0 ^ other.0) & !(Owner::FOLDED | Owner::SHARED) == 0
    }
}

/// Counts while requests are submitted. Most traces have one stream and fold nothing; then it takes one bit per page.
/// Otherwise it also takes 4 bytes for each page around those that others touched.
#[derive(Default)]
pub(super) struct Sharing {
    /// Who touched the first page of all.
    first: Option<Owner>,
    /// A bit for each page that this first owner touched before anybody else.
    by_first: Vec<u64>,
    /// The owners of all other pages, and of pages that others touched later.
    pieces: Vec<Option<Box<[Owner; PIECE_PAGES as usize]>>>,
    /// The numbers of the streams in order of appearance. Only looked up, never iterated.
    numbers: HashMap<u32, u32, BuildHasherDefault<NumberHasher>>,
    /// By stream: whether it shares pages.
    is_sharing: Vec<bool>,
    counts: PageSharing,
}

impl Sharing {
    /// Records the pages that a request touches.
    pub fn touch(&mut self, mapped: &Mapped) {
        let request = &mapped.request;
        let sectors = u64::from(request.sectors);
        if sectors == 0 {
            return;
        }
        let stream = self.number_of(request.stream);
        let owner = Owner::new(stream, mapped.turn);
        let end = (request.lba.0 + sectors).div_ceil(PAGE_SECTORS);
        for page in request.lba.0 / PAGE_SECTORS..end {
            self.own(page, owner);
        }
    }

    /// Returns the number of a stream, from one.
    fn number_of(&mut self, stream: u32) -> u32 {
        let Sharing { numbers, is_sharing, .. } = self;
        *numbers.entry(stream).or_insert_with(|| {
            is_sharing.push(false);
            u32::try_from(is_sharing.len()).unwrap_or(u32::MAX).min(Owner::LAST_STREAM)
        })
    }

    #[inline]
    fn own(&mut self, page: u64, owner: Owner) {
        let (word, bit) =
            ((page / u64::from(u64::BITS)) as usize, 1 << (page % u64::from(u64::BITS)));
        if word >= self.by_first.len() {
            self.by_first.resize(word + 1, 0);
        }
        let is_known = self.by_first[word] & bit != 0;
        if owner != *self.first.get_or_insert(owner) {
            return self.own_beside(page, owner, is_known);
        }
        if is_known {
            return;
        }
        // Nobody else has touched anything.
        if self.pieces.is_empty() {
            self.by_first[word] |= bit;
            self.counts.touched_pages_4k += 1;
            return;
        }
        self.own_beside(page, owner, false);
    }

    /// Records a page in the pieces. `by_first` says whether the first owner had touched it before.
    fn own_beside(&mut self, page: u64, owner: Owner, by_first: bool) {
        let (piece, at) = ((page / PIECE_PAGES) as usize, (page % PIECE_PAGES) as usize);
        if piece >= self.pieces.len() {
            self.pieces.resize_with(piece + 1, || None);
        }
        let nobody = || Box::new([Owner::default(); PIECE_PAGES as usize]);
        let known = &mut self.pieces[piece].get_or_insert_with(nobody)[at];
        if by_first && *known == Owner::default() {
            *known = self.first.unwrap_or_default();
        }
        if known.is_one_of(owner) {
            return;
        }
        if *known == Owner::default() {
            *known = owner;
            self.counts.touched_pages_4k += 1;
            return;
        }
        if known.turn() != owner.turn() && known.0 & Owner::FOLDED == 0 {
            known.0 |= Owner::FOLDED;
            self.counts.folded_pages_4k += 1;
        }
        if known.stream() != owner.stream() {
            if known.0 & Owner::SHARED == 0 {
                known.0 |= Owner::SHARED;
                self.counts.shared_pages_4k += 1;
            }
            for sharing in [known.stream(), owner.stream()] {
                self.is_sharing[sharing as usize - 1] = true;
            }
        }
    }

    pub fn report(&self) -> PageSharing {
        PageSharing {
            streams: self.is_sharing.len() as u64,
            sharing_streams: self.is_sharing.iter().filter(|sharing| **sharing).count() as u64,
            ..self.counts
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    proptest::proptest! {
        /// Compares with a list of all touches.
        #[test]
        fn it_counts_what_a_list_of_all_touches_tells(
            touches in proptest::collection::vec((0u64..300, 1u32..4, 0u32..3), 0..400),
            // At first only one owner, as in most traces.
            alone in 0usize..400,
        ) {
            let (mut sharing, mut seen) = (Sharing::default(), BTreeMap::<u64, Vec<Owner>>::new());
            (0..3).for_each(|stream| { sharing.number_of(stream); });
            for (at, (page, stream, turn)) in touches.into_iter().enumerate() {
                let owner = if at < alone { Owner::new(1, 0) } else { Owner::new(stream, turn) };
                sharing.own(page, owner);
                seen.entry(page).or_default().push(owner);
            }
            // Whether a later touch differs from the first.
            let differs = |owners: &[Owner], of: fn(Owner) -> u32| {
                owners.iter().any(|&owner| of(owner) != of(owners[0]))
            };
            let folded = seen.values().filter(|owners| differs(owners, Owner::turn)).count();
            let shared = seen.values().filter(|owners| differs(owners, Owner::stream));
            let streams: BTreeSet<u32> =
                shared.clone().flatten().map(|owner| owner.stream()).collect();
            proptest::prop_assert_eq!(sharing.report(), PageSharing {
                touched_pages_4k: seen.len() as u64,
                folded_pages_4k: folded as u64,
                shared_pages_4k: shared.count() as u64,
                streams: 3,
                sharing_streams: streams.len() as u64,
            });
        }
    }
}
