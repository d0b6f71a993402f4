//! Which pages share blocks. A stream is a write frontier: it has an open block of its own in each
//! plane. Pages that will be overwritten at about the same time belong together, because a block then
//! empties as a whole and collection copies less.
//!
//! The streams of the host come first, then those of copies. A policy says to which a page belongs;
//! the FTL opens the blocks.

mod ages;
mod by_host_stream;
mod multi_bloom;
mod multi_hash;
mod sepbit;
mod single;

pub use by_host_stream::{ByHostStream, ByHostStreamOptions};
pub use multi_bloom::{MultiBloom, MultiBloomOptions};
pub use multi_hash::{MultiHash, MultiHashOptions};
pub use sepbit::SepBit;
pub use single::Single;

use crate::options::declare::options;
use crate::policy::{contract, seam};
use crate::units::{BlockId, Lpn};

/// What the ranges of the options add up to, for the host and for copies.
const OF_DATA: u8 = 16;
/// Streams that a plane has room for: those, the SLC cache, the two of a map that lies on flash, and rewrites.
pub const MOST_STREAMS: usize = OF_DATA as usize + 4;

/// A write frontier, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WriteStream(u8);

impl WriteStream {
    /// Stream number `number`.
    #[must_use]
    pub const fn new(number: u8) -> WriteStream {
        WriteStream(number)
    }

    /// The frontier of the SLC cache: a block of this stream is in SLC mode. It takes what the host writes in
    /// any stream.
    pub const SLC: WriteStream = WriteStream::new(OF_DATA);

    /// The frontier of translation pages, where the map lies on flash.
    pub const MAP: WriteStream = WriteStream::new(OF_DATA + 1);
    /// That of their copies.
    pub const MAP_COPIES: WriteStream = WriteStream::new(OF_DATA + 2);

    /// The frontier of pages that are programmed again at another cost.
    pub const REWRITES: WriteStream = WriteStream::new(OF_DATA + 3);

    /// Whether blocks of this stream are of the map.
    #[inline]
    #[must_use]
    pub const fn is_of_map(self) -> bool {
        self.0 == WriteStream::MAP.0 || self.0 == WriteStream::MAP_COPIES.0
    }

    /// Whether it is for the policy to say which pages are in it.
    #[inline]
    #[must_use]
    pub const fn is_of_policy(self) -> bool {
        self.0 < OF_DATA
    }

    /// The stream as a table position.
    #[inline]
    #[must_use]
    pub const fn at(self) -> usize {
        self.0 as usize
    }
}

/// How many streams there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamCounts {
    /// For what the host writes.
    pub host: u8,
    /// For what collection copies.
    pub copies: u8,
    /// What separates them.
    pub copied: Copied,
}

/// What separates copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copied {
    /// The stream of the host in which their page was written.
    ByStream,
    /// How often they were copied.
    ByGeneration,
}

impl StreamCounts {
    /// So many streams for the host, and the copies that an option asks for: see [`CopyOptions`].
    #[must_use]
    pub const fn new(host: u8, copy_streams: u8) -> StreamCounts {
        match copy_streams {
            0 => StreamCounts { host, copies: host, copied: Copied::ByStream },
            copies => StreamCounts { host, copies, copied: Copied::ByGeneration },
        }
    }

    /// Blocks of a plane that may be partly filled at a time.
    #[must_use]
    pub const fn open_blocks(self) -> u32 {
        self.host as u32 + self.copies as u32
    }

    /// Where the copy of a page goes that lies in a block of stream `source`. By generation: what was
    /// copied again is colder than what was copied once.
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
    /// Where copies go, for policies that leave that open.
    pub struct CopyOptions at "ftl.streams" {
        /// Streams for what collection copies. With 1, copies are kept apart from what the host writes.
        /// With more, by generation: copies of copies go one stream further, as in DAC (Chiang, Lee and
        /// Chang, Software: Practice and Experience 1999). With 0, one for each stream of the
        /// host: what was written apart stays apart.
        copy_streams: u32 = "1", in "0"..="6", unit "streams",
            source "one is what most FTLs have";
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
    }
}

contract! {
    /// What is known of a policy of streams before it is built.
    pub trait StreamsFacts of StreamsChoice, by streams_policy {
        /// How many streams the policy has.
        fn counts(options: &Self::Options) -> StreamCounts;

        /// Bytes that it remembers of each logical page.
        fn bytes_per_page(_options: &Self::Options) -> u64 {
            0
        }
    }
}

contract! {
    /// What a policy of streams decides. Streams of the host are numbered from zero, those of copies after them.
    pub trait StreamsPolicy for Streams, by streams_policy, or ExternalStreams {
        /// How many streams there are. Always the same.
        #[must_use]
        fn counts(&self) -> StreamCounts;

        /// What is remembered of the stream that the host gave a write.
        #[must_use]
        fn tag_of(&self, _host_stream: u32) -> u8 {
            0
        }

        /// The stream to which a page belongs that the host writes, as things stand.
        #[must_use]
        fn host_stream(&self, page: Lpn, tag: u8) -> WriteStream;

        /// Whether the tag alone says where a page of the host goes, and nothing is noted of what is written.
        #[must_use]
        fn goes_by_tag(&self) -> bool {
            false
        }

        /// The host's data of a page is placed: it is on its way to flash.
        fn wrote(&mut self, page: Lpn);

        /// The stream to which the copy of a page goes that lies in a block of stream `source`.
        #[must_use]
        #[inline]
        fn copy_stream(&self, _page: Lpn, source: WriteStream) -> WriteStream {
            self.counts().next(source)
        }

        /// A block is opened for a stream.
        #[inline]
        fn opened(&mut self, _block: BlockId, _stream: WriteStream) {}

        /// A block of a stream is collected.
        #[inline]
        fn collects(&mut self, _block: BlockId, _stream: WriteStream) {}
    }
}

impl Streams {
    /// How many streams the host has.
    #[inline]
    #[must_use]
    pub fn host_streams(&self) -> u8 {
        self.counts().host
    }

    /// Blocks of a plane that may be partly filled at a time.
    #[must_use]
    pub fn open_blocks(&self) -> u32 {
        self.counts().open_blocks()
    }

    /// The streams of the host.
    #[inline]
    pub fn all_host_streams(&self) -> impl Iterator<Item = WriteStream> + use<> {
        (0..self.counts().host).map(WriteStream)
    }

    /// The streams into which copies go.
    pub fn all_copy_streams(&self) -> impl Iterator<Item = WriteStream> + use<> {
        let StreamCounts { host, copies, .. } = self.counts();
        (host..host + copies).map(WriteStream)
    }
}

/// One of the hash functions of a page: multiplication by odd constants, folded (Knuth, "The Art of
/// Computer Programming" 3, 6.4).
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
