//! Streams by known time of death (FK, "future knowledge"): data that dies while the next segment is written shares a
//! stream, data that dies while the second one is shares the next, and so on; the last has the rest. Copies are placed
//! by the time that they have left. No policy without this knowledge can be expected to do better, so it is the mark
//! that others are measured by.
//!
//! Source: Wang et al., "Separating Data via Block Invalidation Time Inference for Write Amplification Reduction in
//! Log-Structured Storage", FAST 2022, sections 2.4 and 4; and the authors' simulator. A segment is what a stream opens: a
//! block in each plane. Departures: the FTL keeps copies and host writes in blocks of their own, so there are two streams
//! for each class. Data that a write buffer replaces is counted as written. Who does not know the future puts everything
//! into the last stream; what a device held before its load begins is placed like this, until it is copied. If a flash
//! page holds several pages, the first one decides for all of them.

use super::{StreamCounts, StreamsFacts, StreamsPolicy, WriteStream};
use crate::engine::DeathClasses;
use crate::image::keeps_nothing;
use crate::options::declare::options;
use crate::policy::{Parts, Policy};
use crate::units::Lpn;

options! {
    /// Classes by known time of death.
    pub struct FutureStreamsOptions at "ftl.streams" {
        /// Number of classes. Each has an open block for host writes and one for copies.
        death_classes: u32 = "6", in "2"..="8", unit "classes",
            source "default: as many as sepbit has, as in its paper; range: what fits into sixteen streams";
    }
}

/// Streams by time of death.
#[derive(Clone, Debug)]
pub struct FutureStreams {
    counts: StreamCounts,
    classes: DeathClasses,
}

impl Policy for FutureStreams {
    const NAME: &'static str = "future";
    const SUMMARY: &'static str = "by known time of death, for a load that is played twice (FK)";
    const SOURCE: &'static str = "Wang et al., FAST 2022";
    type Options = FutureStreamsOptions;

    fn build(options: &Self::Options, parts: &Parts<'_>) -> Self {
        let segment = parts.geometry.units_per_block() * parts.geometry.planes();
        let counts = <FutureStreams as StreamsFacts>::counts(options);
        FutureStreams { counts, classes: DeathClasses::new(segment, counts.host) }
    }

    keeps_nothing!(FutureStreams { counts, classes });
}

impl StreamsFacts for FutureStreams {
    fn counts(options: &Self::Options) -> StreamCounts {
        StreamCounts::new(options.death_classes as u8, 0)
    }

    fn foresees(_options: &Self::Options) -> bool {
        true
    }
}

impl StreamsPolicy for FutureStreams {
    #[inline]
    fn counts(&self) -> StreamCounts {
        self.counts
    }

    #[inline]
    fn host_stream(&self, page: Lpn, _tag: u8) -> WriteStream {
        WriteStream::new(self.classes.of(page))
    }

    #[inline]
    fn wrote(&mut self, _page: Lpn) {}

    #[inline]
    fn copy_stream(&self, page: Lpn, _source: WriteStream) -> WriteStream {
        WriteStream::new(self.counts.host + self.classes.of(page))
    }

    fn death_classes(&mut self) -> Option<&mut DeathClasses> {
        Some(&mut self.classes)
    }
}
