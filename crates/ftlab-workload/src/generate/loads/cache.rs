//! The block requests of a cache of objects on flash, with one engine for small objects and one for
//! large ones, as in CacheLib (Berg et al., "The CacheLib Caching Engine: Design and Experiences at
//! Scale", OSDI 2020, on its hybrid cache). The names of the two designs are those of McAllister et
//! al., "Kangaroo: Caching Billions of Tiny Objects on Flash", SOSP 2021, section 2.
//!
//! - Small objects, set-associative: a hash places each in a bucket. An insertion reads its bucket
//!   and writes it anew, so writes are random and as large as a bucket.
//! - Large objects, a log: they gather in a region in memory, which is written as a whole behind the
//!   previous one. The log is a ring: a region overwrites the oldest, whose objects are evicted.
//!
//! The small engine lies before the log. A region's writes alternate with the other requests; the
//! next region gathers meanwhile. Nothing is trimmed.
//!
//! Departures: all small objects have one size, and all large ones. Every lookup reads; those of
//! large objects are uniform, and `address` is the popularity of buckets. An admission policy would
//! only change the number of insertions, so there is none.

use ftlab::engine::Stream;
use ftlab::host::Op;
use ftlab::units::{Amount, Bytes, Ratio, SECTOR_BYTES};
use serde::Serialize;

use super::queue::{Outbox, Transfer};
use crate::generate::address::{Extent, Misfit, RankedDraw};
use crate::generate::workload::Phase;

/// The streams of the two engines; stream 0 is left to other writes.
const SMALL_STREAM: u32 = 1;
const LARGE_STREAM: u32 = 2;
/// The largest region of the log, and the smallest large object.
const MOST_SECTORS: u64 = 1 << 22;
const LEAST_OBJECT: Bytes = Bytes(512);

/// A cache of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CacheLoad {
    /// The share of the space that holds small objects.
    pub small_space: Ratio,
    /// The share of small objects in the bytes that are inserted.
    pub small_bytes: Ratio,
    /// The size of a small object.
    pub small_object: Bytes,
    /// The size of a large object.
    pub large_object: Bytes,
    /// The size of a bucket.
    pub bucket: Bytes,
    /// The size of a region of the log.
    pub log_region: Amount,
}

impl CacheLoad {
    pub(super) fn streams(&self) -> u32 {
        LARGE_STREAM + 1
    }

    pub(super) fn problem(&self, phase: &Phase) -> Option<Misfit> {
        if self.small_bytes > Ratio::ONE {
            let message = format!("a share of {} is more than all", self.small_bytes);
            let remedy = "choose a share from 0% to 100%".to_owned();
            return Some(("load.small_bytes", message, remedy));
        }
        if self.small_object.0 == 0 || self.large_object < LEAST_OBJECT {
            let message = format!("objects of {} and of {}", self.small_object, self.large_object);
            let remedy = format!("choose a large object of at least {LEAST_OBJECT}");
            return Some(("load.large_object", message, remedy));
        }
        let whole = self.bucket.0 > 0 && self.bucket.0.is_multiple_of(phase.align.0);
        let message = format!("a bucket of {} with an alignment of {}", self.bucket, phase.align);
        let remedy = "make the bucket a multiple of `align`".to_owned();
        (!whole || self.bucket < self.small_object).then_some(("load.bucket", message, remedy))
    }
}

/// Where the engines lie, in sectors.
#[derive(Clone, Copy, Debug)]
struct Engines {
    start: u64,
    block: u64,
    bucket: u64,
    buckets: u64,
    log: u64,
    region: u64,
    regions: u64,
    /// The size of a large object in bytes, and how many a region holds.
    object: u64,
    objects: u64,
}

impl Engines {
    fn of(shape: &CacheLoad, block: u64, extent: Extent) -> Result<Engines, Misfit> {
        let bucket = shape.bucket.sectors();
        let buckets = shape.small_space.of(extent.sectors) / bucket;
        let region = shape.log_region.sectors(extent.sectors) / block * block;
        let rest = extent.sectors.saturating_sub(buckets * bucket);
        let regions = rest.checked_div(region).unwrap_or(0);
        let size = |sectors| Bytes(sectors * SECTOR_BYTES);
        if buckets == 0 || regions < 2 || region > MOST_SECTORS {
            let message = format!(
                "{buckets} buckets of {}, and {regions} regions of {}, in a region of {}",
                shape.bucket,
                size(region),
                size(extent.sectors)
            );
            let remedy = format!(
                "choose `small_space` for one bucket at least, and `log_region` for two regions of \
                 at most {}",
                size(MOST_SECTORS)
            );
            return Err(("load.log_region", message, remedy));
        }
        let object = shape.large_object.0;
        let objects = size(region).0 / object;
        if objects == 0 {
            let message =
                format!("objects of {} in regions of {}", shape.large_object, size(region));
            let remedy = "choose a larger `log_region` or smaller objects".to_owned();
            return Err(("load.large_object", message, remedy));
        }
        let (start, log) = (extent.start, extent.start + buckets * bucket);
        Ok(Engines { start, block, bucket, buckets, log, region, regions, object, objects })
    }
}

/// A cache at work.
#[derive(Clone, Debug)]
pub(in crate::generate) struct CacheRun {
    engines: Engines,
    /// An object is small with the probability of the first weight among both.
    weights: [u64; 2],
    popularity: RankedDraw,
    stream: Stream,
    /// The objects in the region that gathers, and its place in the ring.
    gathered: u64,
    slot: u64,
    queue: Outbox,
}

impl CacheRun {
    pub fn new(
        shape: &CacheLoad,
        phase: &Phase,
        extent: Extent,
        stream: &dyn Fn(&str) -> Stream,
    ) -> Result<CacheRun, Misfit> {
        let engines = Engines::of(shape, phase.align.sectors(), extent)?;
        let small = u64::from(shape.small_bytes.ppm);
        // The share of bytes, as shares of objects.
        let weights = [
            small.saturating_mul(shape.large_object.0),
            (u64::from(Ratio::ONE.ppm) - small).saturating_mul(shape.small_object.0),
        ];
        Ok(CacheRun {
            engines,
            weights,
            popularity: RankedDraw::new(phase, engines.buckets, stream("load"))?,
            stream: stream("object"),
            gathered: 0,
            slot: 0,
            queue: Outbox::new(phase.size.largest().sectors()),
        })
    }

    /// Returns the next request. `is_lookup` draws whether the application looks an object up or
    /// inserts one.
    pub fn next(&mut self, mut is_lookup: impl FnMut() -> bool) -> Transfer {
        loop {
            let waits = self.gathered == self.engines.objects;
            if let Some(transfer) = self.queue.pop(waits) {
                return transfer;
            }
            if waits {
                self.write_region();
                continue;
            }
            let is_small = self.stream.below(self.weights[0] + self.weights[1]) < self.weights[0];
            match (is_small, is_lookup()) {
                (true, lookup) => self.use_bucket(lookup),
                (false, true) => self.read_object(),
                (false, false) => self.gathered += 1,
            }
        }
    }

    fn use_bucket(&mut self, is_lookup: bool) {
        let Engines { start, bucket, .. } = self.engines;
        let start = start + self.popularity.draw() * bucket;
        let read = Transfer { op: Op::Read, start, sectors: bucket, stream: SMALL_STREAM };
        self.queue.push(read);
        if !is_lookup {
            self.queue.push(Transfer { op: Op::Write, ..read });
        }
    }

    fn read_object(&mut self) {
        let Engines { log, block, region, regions, object, objects, .. } = self.engines;
        let at = self.stream.below(objects) * object;
        let block_bytes = block * SECTOR_BYTES;
        let (begin, end) = (at / block_bytes, (at + object).div_ceil(block_bytes));
        let start = log + self.stream.below(regions) * region + begin * block;
        let sectors = (end - begin) * block;
        self.queue.push(Transfer { op: Op::Read, start, sectors, stream: LARGE_STREAM });
    }

    fn write_region(&mut self) {
        let Engines { log, region, regions, .. } = self.engines;
        let start = log + self.slot * region;
        let stream = LARGE_STREAM;
        self.queue.push_behind(Transfer { op: Op::Write, start, sectors: region, stream });
        self.slot = (self.slot + 1) % regions;
        self.gathered = 0;
    }
}
