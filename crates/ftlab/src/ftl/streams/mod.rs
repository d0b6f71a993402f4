//! Streams decide which pages share blocks. A stream is a write frontier: it has its own open block
//! in each plane. Pages that will be overwritten at about the same time belong together. Then a
//! block becomes empty as a whole, and garbage collection copies less.
//!
//! Host streams are numbered first, then the streams of copies. A policy chooses the stream of each
//! page; the FTL opens the blocks.

mod ages;
mod by_host_stream;
mod dac;
pub mod fdp;
pub(crate) mod frontier;
mod future;
mod midas;
mod multi_bloom;
mod multi_hash;
mod multi_log;
mod per_page;
mod sepbit;
mod sfs;
mod single;
mod warcip;
mod zoned;

pub use by_host_stream::{ByHostStream, ByHostStreamOptions};
pub use dac::{Dac, DacOptions};
pub use fdp::{Fdp, FdpOptions};
use frontier::OF_DATA;
pub use frontier::{MOST_STREAMS, WriteStream};
pub use future::{FutureStreams, FutureStreamsOptions};
pub use midas::{Midas, MidasOptions};
pub use multi_bloom::{MultiBloom, MultiBloomOptions};
pub use multi_hash::{MultiHash, MultiHashOptions};
pub use multi_log::{MultiLog, MultiLogOptions};
pub use sepbit::SepBit;
pub use sfs::{Sfs, SfsOptions};
pub use single::Single;
pub use warcip::{Warcip, WarcipOptions};
pub use zoned::{ZonedStreams, ZonedStreamsOptions};

use self::fdp::EventLog;
use super::Blocks;
use crate::engine::DeathClasses;
use crate::options::declare::options;
use crate::policy::{contract, seam};
use crate::units::{BlockId, Lpn, PlaneId};

/// The number of streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamCounts {
    /// Streams for host writes.
    pub host: u8,
    /// Streams for the copies of garbage collection.
    pub copies: u8,
    /// The criterion that separates copies.
    pub copied: Copied,
    /// Sets of planes among which the streams of both kinds are divided: a stream's number, modulo this, is its group.
    pub groups: u8,
}

/// The criterion that separates copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copied {
    /// The host stream in which their page was written.
    ByStream,
    /// The number of times they were copied.
    ByGeneration,
}

/// What a streams policy promises to keep apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Isolates {
    /// It promises nothing.
    Nothing,
    /// What the host writes in different streams.
    Writes,
    /// That, and the copies of it.
    Copies,
}

/// What a plane that needs a victim does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The victim policy chooses.
    Choose,
    /// It collects this block, of those that the streams policy keeps.
    Collect(BlockId),
    /// One of these blocks belongs to another stream from now on. Nothing is copied, and the plane asks again.
    Regroup(BlockId, WriteStream),
}

/// Who has an open block closed before it is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClosedBy {
    /// The host, by a command.
    Host,
    /// The FTL, for reasons of its own.
    Device,
}

/// What the collection of a block did, in mapping units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Emptied {
    /// Pages that it moved.
    pub moved: u32,
    /// Units that were erased.
    pub erased: u32,
}

impl StreamCounts {
    /// Returns the counts for `host` host streams, and for `copy_streams` as given by
    /// [`CopyOptions`].
    #[must_use]
    pub const fn new(host: u8, copy_streams: u8) -> StreamCounts {
        match copy_streams {
            0 => StreamCounts { host, copies: host, copied: Copied::ByStream, groups: 1 },
            copies => StreamCounts { host, copies, copied: Copied::ByGeneration, groups: 1 },
        }
    }

    /// Returns the maximum number of open blocks of a plane.
    #[must_use]
    pub const fn open_blocks(self) -> u32 {
        (self.host as u32 + self.copies as u32) / self.groups as u32
    }

    /// Returns the stream for the copy of a page in a block of stream `source`. By generation,
    /// pages that were copied again are colder than pages that were copied once.
    #[must_use]
    pub fn next(self, source: WriteStream) -> WriteStream {
        let number = match (source.0.checked_sub(self.host), self.copied) {
            (None, Copied::ByStream) => source.0,
            (Some(copied), Copied::ByStream) => copied,
            (None, Copied::ByGeneration) => 0,
            (Some(generation), Copied::ByGeneration) => generation + 1,
        };
        WriteStream(self.host + number.min(self.copies - 1))
    }
}

options! {
    /// Streams for copies, for policies that do not decide this themselves.
    pub struct CopyOptions at "ftl.streams" {
        /// Streams for the copies that garbage collection makes. With 1, copies are separated from
        /// host writes. With more, they are separated by generation: copies of copies go to the
        /// next stream, as in DAC (Chiang, Lee and Chang, Software: Practice and Experience 1999).
        /// With 0, there is one for each host stream, so pages of different host streams stay
        /// separate.
        copy_streams: u32 = "1", in "0"..="6", unit "streams",
            source "most FTLs have one";
    }
}

seam! {
    /// Decides which pages share blocks.
    pub enum Streams ("ftl.streams.policy" = "single") as StreamsChoice, with streams_policy, or ExternalStreams {
        Single(Single),
        ByHostStream(ByHostStream),
        MultiHash(MultiHash),
        MultiBloom(MultiBloom),
        SepBit(SepBit),
        Dac(Dac),
        MultiLog(MultiLog),
        Sfs(Sfs),
        Warcip(Warcip),
        Midas(Midas),
        Zoned(ZonedStreams),
        Fdp(Fdp),
        Future(FutureStreams),
    }
}

contract! {
    /// The facts about a streams policy that are known before it is built.
    pub trait StreamsFacts of StreamsChoice, by streams_policy {
        /// Returns the number of streams of the policy.
        fn counts(options: &Self::Options) -> StreamCounts;

        /// Whether it separates zones, so that it needs some.
        fn is_zoned(_options: &Self::Options) -> bool {
            false
        }

        /// Whether it needs open blocks to be closed before they are full.
        fn closes_early(options: &Self::Options) -> bool {
            Self::is_zoned(options)
        }

        /// Whether pages of different host streams share no block when they are written, and whether they never do.
        fn isolates(_options: &Self::Options) -> Isolates {
            Isolates::Nothing
        }

        /// The number of placement identifiers of the host that it tells apart, if it listens to them.
        fn identifiers(_options: &Self::Options) -> Option<u32> {
            None
        }

        /// Whether it has to know the future.
        fn foresees(_options: &Self::Options) -> bool {
            false
        }

        /// The option that says how many streams the host has, if there is one.
        fn host_streams_option(_options: &Self::Options) -> Option<&'static str> {
            None
        }

        /// Returns the number of bytes that the policy stores for each logical page.
        fn bytes_per_page(_options: &Self::Options) -> u64 {
            0
        }
    }
}

contract! {
    /// The decisions of a streams policy. Host streams are numbered from zero, followed by copy
    /// streams.
    pub trait StreamsPolicy for Streams, by streams_policy, or ExternalStreams {
        /// Returns the number of streams, which never changes.
        #[must_use]
        fn counts(&self) -> StreamCounts;

        /// Returns the tag to store for a write to this stream of the host's requests.
        #[must_use]
        fn tag_of(&self, _host_stream: u32) -> u8 {
            0
        }

        /// Returns the stream for a page that the host writes, by the present state.
        #[must_use]
        fn host_stream(&self, _page: Lpn, tag: u8) -> WriteStream {
            WriteStream::new(tag)
        }

        /// Whether the tag alone determines the stream of a host page, and writes need not be
        /// recorded.
        #[must_use]
        fn goes_by_tag(&self) -> bool {
            false
        }

        /// Records that host data of a page was placed and will be programmed.
        #[inline]
        fn wrote(&mut self, _page: Lpn) {}

        /// Returns the stream for the copy of a page in a block of stream `source`.
        #[must_use]
        #[inline]
        fn copy_stream(&self, _page: Lpn, source: WriteStream) -> WriteStream {
            self.counts().next(source)
        }

        /// Whether the policy hears of copies ([`copied`](Self::copied)).
        #[must_use]
        #[inline]
        fn hears_of_copies(&self) -> bool {
            false
        }

        /// Records that garbage collection has made a copy of a page, once its program has succeeded.
        #[inline]
        fn copied(&mut self, _page: Lpn) {}

        /// Records that the zone that begins with a page becomes active; `written` pages of it are on flash. Returns its stream if no other zone has pages
        /// there: what is left of its open blocks is not used then.
        fn zone_begins(&mut self, _first: Lpn, _written: u32) -> Option<WriteStream> {
            None
        }

        /// Records that a zone takes no more writes; `written` pages of it were.
        fn zone_ends(&mut self, _first: Lpn, _written: u32) {}

        /// Whether it hears of requests, and of open blocks that are closed early.
        #[must_use]
        fn hears_of_requests(&self) -> bool {
            false
        }

        /// The writes of each host stream carry this placement identifier from now on, those of further streams none.
        fn identify_streams(&mut self, _identifiers: &[u8]) {}

        /// Records that the turn of a write of the host has come.
        fn takes_request(&mut self, _host_stream: u32, _sectors: u32) {}

        /// Its classes by time of death, if it knows the future.
        fn death_classes(&mut self) -> Option<&mut DeathClasses> {
            None
        }

        /// Returns the host stream to which the pages of a stream belong, if it is kept apart from all others. Its copies never go
        /// to blocks of another one.
        #[must_use]
        fn isolated(&self, _stream: WriteStream) -> Option<u8> {
            None
        }

        /// Records that the collection of a block of a stream begins, which has so many valid pages.
        fn moves(&mut self, _stream: WriteStream, _pages: u32) {}

        /// Records that the collection of a block of a stream has ended.
        fn emptied(&mut self, _stream: WriteStream, _by: Emptied) {}

        /// The log of events, if it keeps one. It outlives power cuts.
        fn log(&self) -> Option<&EventLog> {
            None
        }

        /// The same, to write to.
        fn log_mut(&mut self) -> Option<&mut EventLog> {
            None
        }

        /// Records that an open block of a stream is closed, although it lacks pages.
        fn closed_early(&mut self, _stream: WriteStream, _unwritten: u32, _by: ClosedBy) {}

        /// Records that a block is opened for a stream.
        #[inline]
        fn opened(&mut self, _block: BlockId, _stream: WriteStream) {}

        /// Records that a block of a stream is garbage-collected for space.
        #[inline]
        fn collects(&mut self, _block: BlockId, _stream: WriteStream) {}

        /// Whether it keeps blocks from the victim policy.
        #[must_use]
        fn keeps_blocks(&self) -> bool {
            false
        }

        /// Whether it keeps the blocks of a stream from the victim policy. This never changes.
        #[must_use]
        #[inline]
        fn keeps(&self, _stream: WriteStream) -> bool {
            false
        }

        /// Returns what a plane that needs a victim does next.
        fn next_victim(&mut self, _plane: PlaneId, _blocks: &Blocks) -> Next {
            Next::Choose
        }

        /// Records that the victim policy found nothing to choose. Returns whether to ask again.
        fn finds_no_victim(&mut self) -> bool {
            false
        }
    }
}

impl Streams {
    /// Returns the number of host streams.
    #[inline]
    #[must_use]
    pub fn host_streams(&self) -> u8 {
        self.counts().host
    }

    /// Returns the maximum number of open blocks of a plane.
    #[must_use]
    pub fn open_blocks(&self) -> u32 {
        self.counts().open_blocks()
    }

    /// Whether all of its streams are kept apart.
    #[must_use]
    pub(crate) fn isolates(&self) -> bool {
        let mut copies = self.all_copy_streams();
        copies.all(|stream| self.isolated(stream).is_some())
    }

    /// Returns a stream for blocks of which nothing is known: the first that it leaves to the victim policy.
    #[must_use]
    pub(crate) fn of_unknown(&self) -> WriteStream {
        let mut all = (0..OF_DATA).map(WriteStream);
        all.find(|&stream| !self.keeps(stream)).expect("some blocks are left to the victim policy")
    }

    /// Flexible data placement, if this is what the policy does.
    #[must_use]
    pub fn fdp(&self) -> Option<&Fdp> {
        match self {
            Streams::Fdp(fdp) => Some(fdp),
            _ => None,
        }
    }

    /// Returns the host streams.
    #[inline]
    pub fn all_host_streams(&self) -> impl Iterator<Item = WriteStream> + use<> {
        (0..self.counts().host).map(WriteStream)
    }

    /// Returns the copy streams.
    pub fn all_copy_streams(&self) -> impl Iterator<Item = WriteStream> + use<> {
        let StreamCounts { host, copies, .. } = self.counts();
        (host..host + copies).map(WriteStream)
    }
}

/// Returns hash function number `which` of a page: multiplication by odd constants, folded (Knuth,
/// "The Art of Computer Programming" 3, 6.4).
#[inline]
fn hash(page: Lpn, which: u32) -> u64 {
    const ODD: [u64; 4] = [
        0x9E37_79B9_7F4A_7C15,
        0xC2B2_AE3D_27D4_EB4F,
        0x1656_67B1_9E37_79F9,
        0xD6E8_FEB8_6659_FD93,
    ];
    let mixed = (u64::from(page.get()) + 1).wrapping_mul(ODD[which as usize % ODD.len()]);
    (mixed ^ (mixed >> 32)).wrapping_mul(ODD[(which as usize + 1) % ODD.len()]) >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_stay_apart_by_stream_or_by_generation() {
        let all = |counts: StreamCounts| {
            let streams = (0..counts.open_blocks() as u8).map(WriteStream);
            streams.map(|source| counts.next(source).0).collect::<Vec<_>>()
        };
        assert_eq!(all(StreamCounts::new(2, 0)), [2, 3, 2, 3]);
        assert_eq!(all(StreamCounts::new(2, 1)), [2, 2, 2]);
        assert_eq!(all(StreamCounts::new(2, 3)), [2, 2, 3, 4, 4]);
    }

    #[test]
    fn hashes_spread_neighbours() {
        for which in 0..4 {
            let mut seen = vec![0; 64];
            (0..6_400).for_each(|page| seen[hash(Lpn::new(page), which) as usize % 64] += 1);
            assert!(seen.iter().all(|&count| (40..180).contains(&count)), "{which}: {seen:?}");
        }
    }
}
