//! Streams by zone: each active zone has blocks of its own, so that a reset leaves whole blocks behind.
//!
//! Zones on the same planes need different streams. When a zone becomes active it gets the stream of its group that the fewest
//! zones use, and keeps it until all of its pages are placed. Conventional zones share a stream.
//!
//! Source: what zoned drives do (NVM Express Zoned Namespace Command Set 1.1, 2.1.1, active resources). With more active zones in
//! a group than streams, zones share blocks; a drive would rather refuse to open them.

use super::{Copied, StreamCounts, StreamsFacts, StreamsPolicy, WriteStream};
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::options::declare::options;
use crate::policy::{Parts, Policy};
use crate::shape::ZoneShape;
use crate::units::Lpn;

options! {
    /// Streams by zone.
    pub struct ZonedStreamsOptions at "ftl.streams" {
        /// Active zones on the same planes that have blocks of their own.
        zone_streams: u32 = "14", in "1"..="14", unit "streams",
            source "default: the active zones of a Western Digital Ultrastar DC ZN540";
    }
}

/// The stream of conventional zones.
const CONVENTIONAL: WriteStream = WriteStream::new(0);

/// A zone's stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Place {
    /// Its number among those of its group.
    slot: u8,
    /// Whether it uses the stream: it is active, or not all of its pages are placed.
    uses: bool,
    /// Whether it takes no more writes.
    has_ended: bool,
    /// Pages that will still be placed, as far as that is known.
    left: u32,
}

/// The streams policy of zoned drives.
#[derive(Clone, Debug)]
pub struct ZonedStreams {
    shape: ZoneShape,
    groups: u32,
    slots: u8,
    /// By zone.
    places: Vec<Place>,
    /// By group, then slot: the zones that use it.
    users: Vec<u32>,
}

impl Policy for ZonedStreams {
    const NAME: &'static str = "zoned";
    const SUMMARY: &'static str = "each active zone has blocks of its own";
    const SOURCE: &'static str = "NVM Express ZNS 1.1, 2.1.1";
    type Options = ZonedStreamsOptions;

    fn build(options: &Self::Options, parts: &Parts<'_>) -> Self {
        // A check refuses this policy on a device without zones.
        let whole = parts.logical_pages.max(1);
        let shape = parts.zones.unwrap_or(ZoneShape {
            pages: whole,
            count: 1,
            conventional: 1,
            groups: 1,
            unit: 1,
            size: whole.into(),
        });
        let slots = options.zone_streams as u8;
        ZonedStreams {
            shape,
            groups: shape.groups,
            slots,
            places: vec![Place::default(); shape.count as usize],
            users: vec![0; shape.groups as usize * usize::from(slots)],
        }
    }

    fn save(&self, out: &mut ImageWriter) {
        let ZonedStreams { shape: _, groups: _, slots: _, places, users: _ } = self;
        for Place { slot, uses, has_ended, left } in places {
            out.number(*slot);
            out.flag(*uses);
            out.flag(*has_ended);
            out.number(*left);
        }
    }

    fn load(&mut self, from: &mut ImageReader<'_>) -> Result<(), Damage> {
        for zone in 0..self.places.len() {
            self.places[zone] = Place {
                slot: from.below(self.slots.into(), "the stream of a zone")? as u8,
                uses: from.flag("whether a zone uses its stream")?,
                has_ended: from.flag("whether a zone has ended")?,
                left: from.below(u64::from(self.shape.pages) + 1, "the rest of a zone")?,
            };
            if self.places[zone].uses {
                let user = self.user(zone);
                self.users[user] += 1;
            }
        }
        Ok(())
    }
}

impl StreamsFacts for ZonedStreams {
    fn host_streams_option(_options: &Self::Options) -> Option<&'static str> {
        Some("ftl.streams.zone_streams")
    }

    fn counts(options: &Self::Options) -> StreamCounts {
        counts(options.zone_streams as u8)
    }

    fn is_zoned(_options: &Self::Options) -> bool {
        true
    }
}

/// One stream of copies, and one for conventional zones beside those of zones.
const fn counts(slots: u8) -> StreamCounts {
    StreamCounts { host: 1 + slots, copies: 1, copied: Copied::ByGeneration, groups: 1 }
}

impl ZonedStreams {
    /// The entry of a zone's stream in the table of users.
    fn user(&self, zone: usize) -> usize {
        let group = zone % self.groups as usize;
        group * usize::from(self.slots) + usize::from(self.places[zone].slot)
    }

    /// A zone leaves its stream if it has ended and all of its pages are placed.
    fn leave_if_over(&mut self, zone: usize) {
        let place = self.places[zone];
        if place.uses && place.has_ended && place.left == 0 {
            let user = self.user(zone);
            self.users[user] -= 1;
            self.places[zone].uses = false;
        }
    }
}

impl StreamsPolicy for ZonedStreams {
    fn counts(&self) -> StreamCounts {
        counts(self.slots)
    }

    #[inline]
    fn host_stream(&self, page: Lpn, _tag: u8) -> WriteStream {
        let zone = self.shape.zone_of(page);
        match zone < self.shape.conventional {
            true => CONVENTIONAL,
            false => WriteStream::new(1 + self.places[zone as usize].slot),
        }
    }

    fn wrote(&mut self, page: Lpn) {
        let zone = self.shape.zone_of(page);
        if zone < self.shape.conventional {
            return;
        }
        let place = &mut self.places[zone as usize];
        // A page that is written in parts may be placed several times.
        place.left = place.left.saturating_sub(1);
        self.leave_if_over(zone as usize);
    }

    fn zone_begins(&mut self, first: Lpn, written: u32) -> Option<WriteStream> {
        let zone = self.shape.zone_of(first) as usize;
        let was_used = self.places[zone].uses;
        if !was_used {
            let group = (zone % self.groups as usize) * usize::from(self.slots);
            let users = &self.users[group..group + usize::from(self.slots)];
            let slot = (0..self.slots).min_by_key(|&slot| users[usize::from(slot)])?;
            self.places[zone].slot = slot;
            self.users[group + usize::from(slot)] += 1;
        }
        let place = &mut self.places[zone];
        (place.uses, place.has_ended, place.left) = (true, false, self.shape.pages - written);
        let slot = place.slot;
        let is_alone = self.users[self.user(zone)] == 1;
        (is_alone && !was_used).then(|| WriteStream::new(1 + slot))
    }

    fn zone_ends(&mut self, first: Lpn, written: u32) {
        let zone = self.shape.zone_of(first) as usize;
        let place = &mut self.places[zone];
        place.has_ended = true;
        place.left = place.left.saturating_sub(self.shape.pages - written);
        self.leave_if_over(zone);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Eight zones of ten pages on two groups, the first one conventional.
    fn policy() -> ZonedStreams {
        let shape =
            ZoneShape { pages: 10, count: 8, conventional: 1, groups: 2, unit: 4096, size: 40_960 };
        ZonedStreams {
            shape,
            groups: 2,
            slots: 2,
            places: vec![Place::default(); 8],
            users: vec![0; 4],
        }
    }

    fn page(zone: u32, page: u32) -> Lpn {
        Lpn::new(zone * 10 + page)
    }

    #[test]
    fn active_zones_of_a_group_have_streams_of_their_own() {
        let mut policy = policy();
        let [first, second] = [1, 2].map(WriteStream::new);
        assert_eq!(policy.host_stream(page(0, 3), 0), CONVENTIONAL);
        assert_eq!(policy.zone_begins(page(1, 0), 0), Some(first));
        assert_eq!(policy.zone_begins(page(2, 0), 0), Some(first), "on other planes");
        assert_eq!(policy.zone_begins(page(3, 0), 0), Some(second));
        (0..9).for_each(|at| policy.wrote(page(1, at)));
        policy.zone_ends(page(1, 0), 10);
        assert_eq!(policy.zone_begins(page(5, 0), 0), None, "a page of zone 1 is to come");
        assert_eq!(policy.host_stream(page(5, 0), 0), first);
        policy.wrote(page(1, 9));
        policy.zone_ends(page(5, 0), 0);
        assert_eq!(policy.zone_begins(page(7, 0), 0), Some(first), "nobody uses it");
    }

    #[test]
    fn a_zone_that_is_finished_or_reset_leaves_its_stream() {
        let mut policy = policy();
        assert!(policy.zone_begins(page(1, 0), 0).is_some());
        (0..3).for_each(|at| policy.wrote(page(1, at)));
        policy.zone_ends(page(1, 0), 4);
        assert_eq!(policy.users, [0, 0, 1, 0], "one page is to come");
        policy.wrote(page(1, 3));
        assert_eq!(policy.users, [0; 4]);
        assert!(policy.zone_begins(page(1, 0), 0).is_some());
        policy.zone_ends(page(1, 0), 0);
        policy.zone_ends(page(1, 0), 0);
        assert_eq!(policy.users, [0; 4], "a reset, twice");
        assert!(policy.zone_begins(page(1, 0), 7).is_some(), "most of it was there before");
        (7..10).for_each(|at| policy.wrote(page(1, at)));
        policy.zone_ends(page(1, 0), 10);
        assert_eq!(policy.users, [0; 4], "only the rest was placed");
    }
}
