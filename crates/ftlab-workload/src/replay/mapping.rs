//! Maps addresses of a source to addresses of the device: always an explicit choice, and always reported.

use std::collections::HashMap;

use ftlab::host::{Op, Request};
use ftlab::units::{Bytes, Lba, SECTOR_BYTES};
use serde::Serialize;
use thiserror::Error;

use super::sharing::PAGE_SECTORS;
use super::source::Arrival;

/// The sectors of an extent, the unit in which addresses are scaled, partitioned and packed:
/// neighbours within 1 MiB stay neighbours.
pub const EXTENT_SECTORS: u64 = (1 << 20) / SECTOR_BYTES;

/// How addresses are mapped. Requests that cross the end of the device (or of their slice) are cut
/// there, and counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Mapping {
    /// Unchanged; a request outside the device is an error.
    AsIs,
    /// Modulo the capacity.
    Fold,
    /// In proportion: extents of 1 MiB of an address space are spread over the device, which must
    /// be at least as large.
    Scale {
        /// The length of the source's address space.
        span_sectors: u64,
    },
    /// Each stream has its own slice of the device, in the order in which streams appear, and is folded into it.
    Partition {
        /// The number of slices.
        slices: u32,
    },
    /// Extents of 1 MiB are packed without gaps in the order of first touch, separately for each
    /// stream, because streams are devices or volumes with unrelated addresses. A request that
    /// crosses into an extent placed elsewhere continues in the adjacent one, and is counted.
    Compact,
}

impl Mapping {
    /// Describes the mapping for results.
    #[must_use]
    pub fn describe(&self) -> String {
        match self {
            Mapping::AsIs => "as is".to_owned(),
            Mapping::Fold => "folded (modulo the capacity)".to_owned(),
            Mapping::Scale { span_sectors } => {
                format!("scaled from {} by extents of 1MiB", bytes(*span_sectors))
            }
            Mapping::Partition { slices } => format!("{slices} slices, one for each stream"),
            Mapping::Compact => {
                "touched extents of 1MiB of each stream packed in order of first touch".to_owned()
            }
        }
    }
}

/// The effects of the mapping on the submitted requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MapCounts {
    /// Requests beyond the device or their slice that were folded.
    pub folded: u64,
    /// Requests that were cut at the end of the device or of their slice.
    pub clipped: u64,
    /// Sectors that were cut off.
    pub clipped_sectors: u64,
    /// Requests across extents that are no longer neighbours.
    pub torn: u64,
}

/// Why a request cannot be mapped.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MapError {
    /// A request lies outside the device.
    #[error(
        "request {index} ({sectors} sectors at {lba}) lies outside the device, which has {} \
         ({capacity} sectors)\n  remedy: choose a larger device, or map addresses (`address`): \
         fold (modulo), partition (a slice for each stream) or compact (touched extents packed)",
        bytes(*.capacity)
    )]
    Outside {
        /// The index of the request, from 0.
        index: u64,
        /// Its first sector.
        lba: u64,
        /// Its length in sectors.
        sectors: u32,
        /// The capacity of the device in sectors.
        capacity: u64,
    },
    /// The scaled space is larger than the device.
    #[error(
        "scaled onto the device, the {} of the source would become {}: pages that never met would \
         overwrite each other\n  help: choose a larger device, or compact (touched extents packed); fold \
         (modulo) brings pages together too, and counts them", bytes(*.span), bytes(*.capacity)
    )]
    Shrinks {
        /// The length of the space in sectors.
        span: u64,
        /// The capacity of the device in sectors.
        capacity: u64,
    },
    /// A request lies outside the scaled space.
    #[error(
        "request {index} at sector {lba} lies beyond the {span} sectors that are scaled onto the \
         device\n  help: give the source's whole span, as inspecting the trace prints it, or fold"
    )]
    BeyondSpan {
        /// The index of the request, from 0.
        index: u64,
        /// Its first sector.
        lba: u64,
        /// The length of the space in sectors.
        span: u64,
    },
    /// There are more streams than slices.
    #[error(
        "request {index} is of stream {stream}, one more than the {slices} slices of the device\n  \
         help: partition into at least as many slices as there are streams"
    )]
    TooManyStreams {
        /// The index of the request, from 0.
        index: u64,
        /// Its stream.
        stream: u32,
        /// The number of slices.
        slices: u32,
    },
    /// More extents are touched than fit on the device.
    #[error(
        "at request {index} the source has touched more extents of 1MiB than the {} of the device\n  \
         help: choose a larger device, or fold (modulo), which brings pages together and counts them",
        capacity / EXTENT_SECTORS
    )]
    Full {
        /// The index of the request, from 0.
        index: u64,
        /// The capacity of the device in sectors.
        capacity: u64,
    },
    /// The mapping makes no sense for this device.
    #[error("{0}")]
    Unusable(String),
}

fn bytes(sectors: u64) -> Bytes {
    Bytes(sectors.saturating_mul(SECTOR_BYTES))
}

/// Returns the number of extents of a space; the last may be partial.
fn extents(span: u64) -> u64 {
    span.div_ceil(EXTENT_SECTORS)
}

/// Returns the number of whole extents that fit on a device, at least one.
fn fitting(capacity: u64) -> u64 {
    (capacity / EXTENT_SECTORS).max(1)
}

/// A mapped request and the effects of the mapping.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mapped {
    pub request: Request,
    /// How many times the capacity, or that of the slice, was subtracted from the address.
    pub turn: u32,
    pub torn: bool,
    pub clipped: u32,
}

impl MapCounts {
    pub(super) fn count(&mut self, mapped: &Mapped) {
        self.folded += u64::from(mapped.turn > 0);
        self.torn += u64::from(mapped.torn);
        self.clipped += u64::from(mapped.clipped > 0);
        self.clipped_sectors += u64::from(mapped.clipped);
    }
}

/// Maps requests.
#[derive(Debug)]
pub(super) struct Mapper {
    mapping: Mapping,
    capacity: u64,
    /// The slice of each stream seen.
    streams: HashMap<u32, u64>,
    /// The place of each touched extent of each stream. Only looked up, never iterated.
    packed: HashMap<(u32, u64), u64>,
}

impl Mapper {
    pub fn new(mapping: Mapping, capacity: u64) -> Result<Mapper, MapError> {
        let unusable = |text: String| Err(MapError::Unusable(text));
        match mapping {
            Mapping::Scale { span_sectors: 0 } => {
                return unusable("scaling needs the length of the source's address space".into());
            }
            Mapping::Scale { span_sectors: span } if extents(span) > fitting(capacity) => {
                return Err(MapError::Shrinks { span, capacity });
            }
            Mapping::Partition { slices }
                if capacity / u64::from(slices.max(1)) == 0 || slices == 0 =>
            {
                return unusable(format!(
                    "a device of {capacity} sectors cannot have {slices} slices"
                ));
            }
            Mapping::Compact if capacity < EXTENT_SECTORS => {
                return unusable("packing needs a device of 1MiB or more".into());
            }
            _ => {}
        }
        Ok(Mapper { mapping, capacity, streams: HashMap::new(), packed: HashMap::new() })
    }

    /// Maps a request. `index` is its index in messages.
    #[inline]
    pub fn map(&mut self, index: u64, arrival: &Arrival) -> Result<Mapped, MapError> {
        let Arrival { op, lba, sectors, stream, fua, .. } = *arrival;
        let mut request = Request { op, lba, sectors, stream, tag: 0, fua };
        if op == Op::Flush {
            (request.lba, request.sectors) = (Lba(0), 0);
            return Ok(Mapped { request, turn: 0, torn: false, clipped: 0 });
        }
        let place = match self.mapping {
            Mapping::AsIs => self.as_is(index, arrival)?,
            Mapping::Fold => MappedRange::folded(lba.0, 0, self.capacity),
            Mapping::Scale { span_sectors } => self.scaled(index, arrival, span_sectors)?,
            Mapping::Partition { slices } => self.sliced(index, arrival, slices)?,
            Mapping::Compact => self.compacted(index, arrival)?,
        };
        let room = u32::try_from(place.end - place.lba).unwrap_or(u32::MAX);
        request.lba = Lba(place.lba);
        request.sectors = sectors.min(room);
        let clipped = sectors - request.sectors;
        Ok(Mapped { request, turn: place.turn, torn: place.torn, clipped })
    }

    fn as_is(&self, index: u64, arrival: &Arrival) -> Result<MappedRange, MapError> {
        let Arrival { lba: Lba(lba), sectors, .. } = *arrival;
        let capacity = self.capacity;
        match lba.checked_add(u64::from(sectors)) {
            Some(end) if end <= capacity => Ok(MappedRange::plain(lba, capacity)),
            _ => Err(MapError::Outside { index, lba, sectors, capacity }),
        }
    }

    fn scaled(&self, index: u64, arrival: &Arrival, span: u64) -> Result<MappedRange, MapError> {
        let Arrival { lba: Lba(lba), sectors, .. } = *arrival;
        if lba >= span {
            return Err(MapError::BeyondSpan { index, lba, span });
        }
        let (from, to) = (u128::from(extents(span)), u128::from(fitting(self.capacity)));
        let spread = |extent: u64| {
            u64::try_from(u128::from(extent) * to / from).expect("below the capacity")
        };
        let first = lba / EXTENT_SECTORS;
        let last = (lba + u64::from(sectors.max(1)) - 1).min(span - 1) / EXTENT_SECTORS;
        let lba = spread(first) * EXTENT_SECTORS + lba % EXTENT_SECTORS;
        // A device of less than one extent must still contain the offset.
        let place = MappedRange::plain(lba % self.capacity, self.capacity);
        Ok(MappedRange { torn: spread(last) - spread(first) != last - first, ..place })
    }

    fn sliced(
        &mut self,
        index: u64,
        arrival: &Arrival,
        slices: u32,
    ) -> Result<MappedRange, MapError> {
        let stream = arrival.stream;
        let seen = self.streams.len() as u64;
        let slice = match self.streams.get(&stream) {
            Some(&slice) => slice,
            None if seen < u64::from(slices) => {
                self.streams.insert(stream, seen);
                seen
            }
            None => return Err(MapError::TooManyStreams { index, stream, slices }),
        };
        let even = self.capacity / u64::from(slices);
        // Whole extents if they fit, otherwise whole pages, so that slices start aligned and no
        // page belongs to two of them.
        let grains = [EXTENT_SECTORS, PAGE_SECTORS];
        let grain = grains.into_iter().find(|grain| even >= *grain).unwrap_or(1);
        let len = even - even % grain;
        Ok(MappedRange::folded(arrival.lba.0, slice * len, len))
    }

    fn compacted(&mut self, index: u64, arrival: &Arrival) -> Result<MappedRange, MapError> {
        let Lba(lba) = arrival.lba;
        let last = lba.saturating_add(u64::from(arrival.sectors).saturating_sub(1));
        let first = lba / EXTENT_SECTORS;
        let begin = self.pack(index, arrival.stream, first)?;
        let mut torn = false;
        for extent in first + 1..=last / EXTENT_SECTORS {
            torn |= self.pack(index, arrival.stream, extent)? != begin + (extent - first);
        }
        let place =
            MappedRange::plain(begin * EXTENT_SECTORS + lba % EXTENT_SECTORS, self.capacity);
        Ok(MappedRange { torn, ..place })
    }

    fn pack(&mut self, index: u64, stream: u32, extent: u64) -> Result<u64, MapError> {
        let next = self.packed.len() as u64;
        let capacity = self.capacity;
        let at = *self.packed.entry((stream, extent)).or_insert(next);
        if at < capacity / EXTENT_SECTORS {
            Ok(at)
        } else {
            Err(MapError::Full { index, capacity })
        }
    }
}

/// Where a request starts and where it must end at the latest.
struct MappedRange {
    lba: u64,
    end: u64,
    turn: u32,
    torn: bool,
}

impl MappedRange {
    fn plain(lba: u64, end: u64) -> MappedRange {
        MappedRange { lba, end, turn: 0, torn: false }
    }

    #[inline]
    fn folded(lba: u64, start: u64, len: u64) -> MappedRange {
        if lba < len {
            return MappedRange::plain(start + lba, start + len);
        }
        let turn = u32::try_from(lba / len).unwrap_or(u32::MAX);
        MappedRange { lba: start + lba % len, end: start + len, turn, torn: false }
    }
}
