//! Flexible data placement: the host names a reclaim unit handle with each write, and the pages of a handle share reclaim units.
//!
//! A reclaim unit is what the FTL opens, fills, collects and erases at a time: a superblock, or a block where there are none. Then
//! a handle fills one unit in each plane. Reclaim groups (`ftl/groups.rs`) are sets of planes, and each has all
//! handles. A placement identifier is a place in the list of both: handle 0 of each group, handle 1 of each group, and so on.
//! Identifier 0 takes writes without one. A write with an unknown one goes there, too, and is logged. What is called a handle
//! below, and is counted, is a handle of a group.
//!
//! Data of initially isolated handles may meet when it is copied; that of persistently isolated handles stays apart.
//!
//! Source: NVM Express TP4146a (Flexible Data Placement), now NVMe base specification 2.1, section 8.1.10. Departures: one
//! endurance group; a unit has no time limit; the event of a full group is not one of the standard's.

mod events;

pub use events::{EventLog, LifeCounts, LoggedEvent, PlacementCounts, PlacementEvent};

use super::{ClosedBy, Emptied, Isolates, StreamCounts, StreamsFacts, StreamsPolicy, WriteStream};
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::options::declare::{choices, options};
use crate::policy::{Parts, Policy};
use crate::units::Lpn;

/// The largest number of handles: each may need a stream for its copies.
pub const MOST_HANDLES: usize = 8;

options! {
    /// Flexible data placement.
    pub struct FdpOptions at "ftl.streams" {
        /// Reclaim unit handles: placement identifiers from zero on that the host may name.
        handles: u32 = "8", in "1"..="8", unit "handles",
            source "default: the handles of a Samsung PM9D3a";
        /// Reclaim groups, each an equal part of the dies. Each has all handles: identifier 0 is handle 0 of group 0, identifier 1
        /// handle 0 of group 1, and so on. There are at most eight identifiers.
        reclaim_groups: u32 = "1", in "1"..="8", unit "groups",
            source "default: a Samsung PM9D3a has one";
        /// Whether data of several handles may meet when it is copied.
        isolation: Isolation = "initially",
            source "default: the isolation of a Samsung PM9D3a";
    }
}

choices! {
    /// How long data of different handles stays apart.
    pub enum Isolation {
        /// Until it is copied: copies share reclaim units.
        Initially = "initially",
        /// For ever.
        Persistently = "persistently",
    }
}

/// Streams by reclaim unit handle.
#[derive(Clone, Debug)]
pub struct Fdp {
    streams: StreamCounts,
    isolation: Isolation,
    /// By host stream: the placement identifier of its writes, if it is not the number of the stream. Images don't keep it.
    identifiers: Option<Vec<u8>>,
    log: EventLog,
}

impl Policy for Fdp {
    const NAME: &'static str = "fdp";
    const SUMMARY: &'static str = "the reclaim unit handle that the host gives each write";
    const SOURCE: &'static str = "NVM Express TP4146a, Flexible Data Placement";
    type Options = FdpOptions;

    fn build(options: &Self::Options, _parts: &Parts<'_>) -> Self {
        Fdp::new(options)
    }

    fn save(&self, out: &mut ImageWriter) {
        let Fdp { streams, isolation: _, identifiers: _, log } = self;
        log.save(*streams, out);
    }

    fn load(&mut self, from: &mut ImageReader<'_>) -> Result<(), Damage> {
        self.log.load(self.streams, from)
    }
}

impl StreamsFacts for Fdp {
    fn counts(options: &Self::Options) -> StreamCounts {
        let groups = options.reclaim_groups as u8;
        // Copies never leave their group.
        let copies = match options.isolation {
            Isolation::Initially => groups,
            Isolation::Persistently => 0,
        };
        let host = identifiers(options) as u8;
        StreamCounts { groups, ..StreamCounts::new(host, copies) }
    }

    fn host_streams_option(_options: &Self::Options) -> Option<&'static str> {
        Some("ftl.streams.handles")
    }

    fn closes_early(_options: &Self::Options) -> bool {
        true
    }

    fn identifiers(options: &Self::Options) -> Option<u32> {
        Some(identifiers(options))
    }

    fn isolates(options: &Self::Options) -> Isolates {
        match options.isolation {
            _ if identifiers(options) == 1 => Isolates::Nothing,
            Isolation::Initially => Isolates::Writes,
            Isolation::Persistently => Isolates::Copies,
        }
    }
}

/// Placement identifiers: handles of groups.
fn identifiers(options: &FdpOptions) -> u32 {
    options.handles * options.reclaim_groups
}

impl Fdp {
    /// Handles with these options.
    #[must_use]
    pub fn new(options: &FdpOptions) -> Fdp {
        let streams = <Fdp as StreamsFacts>::counts(options);
        Fdp { streams, isolation: options.isolation, identifiers: None, log: EventLog::default() }
    }

    /// How long data of its handles stays apart.
    #[must_use]
    pub fn isolation(&self) -> Isolation {
        self.isolation
    }

    /// What was counted since the device was made, loaded or powered up.
    #[must_use]
    pub fn placement_counts(&self) -> &PlacementCounts {
        &self.log.counts
    }

    /// What is counted as long as the drive exists.
    #[must_use]
    pub fn life_counts(&self) -> &LifeCounts {
        &self.log.life
    }

    /// The latest events that the host caused, the oldest first.
    pub fn host_events(&self) -> impl Iterator<Item = LoggedEvent> {
        self.log.events(true)
    }

    /// The latest events that the controller caused, the oldest first.
    pub fn controller_events(&self) -> impl Iterator<Item = LoggedEvent> {
        self.log.events(false)
    }

    /// The handle for the writes of a host stream, and whether their placement identifier is a known one.
    fn handle(&self, host_stream: u32) -> (u8, bool) {
        let identifier = match &self.identifiers {
            Some(identifiers) => identifiers.get(host_stream as usize).map_or(0, |&it| it.into()),
            None => host_stream,
        };
        match u8::try_from(identifier) {
            Ok(handle) if handle < self.streams.host => (handle, true),
            _ => (0, false),
        }
    }
}

impl StreamsPolicy for Fdp {
    #[inline]
    fn counts(&self) -> StreamCounts {
        self.streams
    }

    #[inline]
    fn tag_of(&self, host_stream: u32) -> u8 {
        self.handle(host_stream).0
    }

    fn goes_by_tag(&self) -> bool {
        true
    }

    fn copy_stream(&self, _page: Lpn, source: WriteStream) -> WriteStream {
        let StreamCounts { host, groups, .. } = self.streams;
        match self.isolation {
            Isolation::Initially => WriteStream::new(host + source.at() as u8 % groups),
            Isolation::Persistently => self.streams.next(source),
        }
    }

    fn hears_of_requests(&self) -> bool {
        true
    }

    fn identify_streams(&mut self, identifiers: &[u8]) {
        self.identifiers = Some(identifiers.to_vec());
    }

    fn takes_request(&mut self, host_stream: u32, sectors: u32) {
        let (handle, is_known) = self.handle(host_stream);
        self.log.counts.sectors[usize::from(handle)] += u64::from(sectors);
        self.log.life.host_sectors += u64::from(sectors);
        if !is_known {
            self.log.note(PlacementEvent::UnknownIdentifier { stream: host_stream });
        }
    }

    fn isolated(&self, stream: WriteStream) -> Option<u8> {
        if !stream.is_of_policy() {
            return None;
        }
        let number = stream.at() as u8;
        let is_copy = number >= self.streams.host;
        match self.isolation {
            Isolation::Initially => (!is_copy).then_some(number),
            Isolation::Persistently if is_copy => Some(number - self.streams.host),
            Isolation::Persistently => Some(number),
        }
    }

    fn emptied(&mut self, stream: WriteStream, by: Emptied) {
        self.log.life.erased += u64::from(by.erased);
        if stream.is_of_policy() && by.moved > 0 {
            let (handle, pages) = (self.isolated(stream), by.moved);
            self.log.counts.moved_pages += u64::from(pages);
            let group = stream.at() % usize::from(self.streams.groups);
            self.log.counts.moved_in_groups[group] += u64::from(pages);
            self.log.note(PlacementEvent::Reallocated { handle, pages });
        }
    }

    fn log(&self) -> Option<&EventLog> {
        Some(&self.log)
    }

    fn log_mut(&mut self) -> Option<&mut EventLog> {
        Some(&mut self.log)
    }

    fn closed_early(&mut self, stream: WriteStream, unwritten: u32, by: ClosedBy) {
        // No handle refers to a unit of copies.
        let handle = stream.at() as u8;
        if handle >= self.streams.host {
            return;
        }
        self.log.note(match by {
            ClosedBy::Host => PlacementEvent::NotFullyWritten { handle, pages: unwritten },
            ClosedBy::Device => PlacementEvent::ImplicitlyModified { handle, pages: unwritten },
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fdp(handles: u32, isolation: Isolation) -> Fdp {
        Fdp::new(&FdpOptions { handles, reclaim_groups: 1, isolation })
    }

    #[test]
    fn copies_meet_unless_handles_are_isolated_persistently() {
        let next =
            |policy: &Fdp, source| policy.copy_stream(Lpn::new(0), WriteStream::new(source)).at();
        let initially = fdp(3, Isolation::Initially);
        assert_eq!([0, 1, 2, 3].map(|source| next(&initially, source)), [3; 4]);
        assert_eq!(initially.isolated(WriteStream::new(2)), Some(2));
        assert_eq!(initially.isolated(WriteStream::new(3)), None);
        let persistently = fdp(3, Isolation::Persistently);
        let sources = [0, 1, 2, 3, 4, 5];
        assert_eq!(sources.map(|source| next(&persistently, source)), [3, 4, 5, 3, 4, 5]);
        let isolated = |source| persistently.isolated(WriteStream::new(source));
        assert_eq!(sources.map(isolated), [0, 1, 2, 0, 1, 2].map(Some));
    }

    #[test]
    fn no_copy_leaves_its_group() {
        for isolation in [Isolation::Initially, Isolation::Persistently] {
            let policy = Fdp::new(&FdpOptions { handles: 2, reclaim_groups: 3, isolation });
            let StreamCounts { host, copies, groups, .. } = policy.counts();
            assert_eq!((host, groups), (6, 3));
            assert_eq!(copies, if isolation == Isolation::Initially { 3 } else { 6 });
            for source in 0..host + copies {
                let copy = policy.copy_stream(Lpn::new(0), WriteStream::new(source)).at() as u8;
                assert!((host..host + copies).contains(&copy));
                assert_eq!(copy % groups, source % groups, "{isolation:?}: {source} to {copy}");
            }
        }
    }

    #[test]
    fn unknown_identifiers_go_to_handle_zero_and_are_logged() {
        let mut policy = fdp(2, Isolation::Initially);
        assert_eq!([0, 1, 2, 300].map(|stream| policy.tag_of(stream)), [0, 1, 0, 0]);
        for stream in [1, 2, 300] {
            policy.takes_request(stream, 8);
        }
        let mut named = policy.clone();
        named.identify_streams(&[1, 7]);
        assert_eq!(
            [0, 1, 2].map(|stream| named.handle(stream)),
            [(1, true), (0, false), (0, true)]
        );
        assert_eq!(policy.placement_counts().sectors[..2], [16, 8]);
        let unknown = [2, 300].map(|stream| PlacementEvent::UnknownIdentifier { stream });
        assert!(policy.host_events().map(|logged| logged.event).eq(unknown));
    }
}
