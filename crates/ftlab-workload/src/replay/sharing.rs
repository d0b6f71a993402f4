//! Which pages of a trace share a page of the device: those of several streams whose addresses are the
//! same, and those that folding brings together. They overwrite and hit each other as they never did where
//! the trace was taken, so that a result has to tell how many there are.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use ftlab::engine::NumberHasher;
use ftlab::units::SECTOR_BYTES;
use serde::Serialize;

use super::mapping::Mapped;

/// Bytes in a page, as everywhere where a trace is counted.
const PAGE_BYTES: u64 = 4096;
/// Sectors in a page.
pub(super) const PAGE_SECTORS: u64 = PAGE_BYTES / SECTOR_BYTES;
/// Pages in a piece of the table, which is only there where something was touched. Small, because a trace
/// touches few pages here and there, and each piece has to be made.
const PIECE_PAGES: u64 = 64;

/// How many pages of 4 KiB of the device stand for several of a trace, by cause. A page may have both causes.
/// Streams after the 16,382nd count as one, and so do turns of folding after the 65,535th.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PageSharing {
    /// Pages of the device that were touched.
    pub touched_pages_4k: u64,
    /// Of these, the ones on which folding brought different addresses together, of one stream or of several.
    pub folded_pages_4k: u64,
    /// Of the touched pages, the ones that belong to several streams, folded or not.
    pub shared_pages_4k: u64,
    /// Streams that touched pages.
    pub streams: u64,
    /// Of these, the ones with pages that belong to others too.
    pub sharing_streams: u64,
}

/// Who touched a page first, and whether others did: 14 bits for the stream, counted from one as streams
/// appear, 16 for how often its address was folded, two flags. Zero if nobody did. Streams and turns beyond
/// what the bits hold count as the last.
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

/// Counts while requests are submitted. It takes 4 bytes for each page around those that are touched.
#[derive(Default)]
pub(super) struct Sharing {
    pieces: Vec<Option<Box<[Owner; PIECE_PAGES as usize]>>>,
    /// The numbers of the streams, as they appear. Only looked up, never walked.
    numbers: HashMap<u32, u32, BuildHasherDefault<NumberHasher>>,
    /// Whether each of them shares pages.
    is_sharing: Vec<bool>,
    counts: PageSharing,
}

impl Sharing {
    /// Notes the pages that a request touches.
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

    /// The number of a stream, from one.
    fn number_of(&mut self, stream: u32) -> u32 {
        let Sharing { numbers, is_sharing, .. } = self;
        *numbers.entry(stream).or_insert_with(|| {
            is_sharing.push(false);
            u32::try_from(is_sharing.len()).unwrap_or(u32::MAX).min(Owner::LAST_STREAM)
        })
    }

    #[inline]
    fn own(&mut self, page: u64, owner: Owner) {
        let (piece, at) = ((page / PIECE_PAGES) as usize, (page % PIECE_PAGES) as usize);
        if piece >= self.pieces.len() {
            self.pieces.resize_with(piece + 1, || None);
        }
        let nobody = || Box::new([Owner::default(); PIECE_PAGES as usize]);
        let known = &mut self.pieces[piece].get_or_insert_with(nobody)[at];
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
