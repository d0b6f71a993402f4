//! Where requests are mapped on the device, and what is counted.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use crate::common::{Keep, Model};
use ftlab::host::{Op, Request};
use ftlab::units::{Lba, Nanos, SimTime};
use ftlab_workload::replay::{
    Arrival, MapError, Mapping, Options, Pacing, PageSharing, Records, Replay, ReplayError, Report,
};
use proptest::prelude::*;

const EXTENT: u64 = 2048;

fn map(
    capacity: u64,
    mapping: Mapping,
    records: &[Arrival],
) -> Result<(Vec<Request>, Report), ReplayError> {
    let mut host = Model::new(1, Nanos(10), capacity);
    let mut sink = Keep::default();
    let pacing = Pacing::Closed { depth: 1, think_time: Nanos::ZERO };
    let options = Options { pacing, mapping, count_sharing: true, ..Options::default() };
    let mut source = Records::of(records);
    let replay = Replay { host: &mut host, source: &mut source, sink: &mut sink, options };
    let report = replay.run(&mut |_| ControlFlow::Continue(()))?;
    Ok((host.submissions.into_iter().map(|(_, request)| request).collect(), report))
}

fn read(lba: u64, sectors: u32, stream: u32) -> Arrival {
    Arrival { at: SimTime::ZERO, op: Op::Read, lba: Lba(lba), sectors, stream, fua: false }
}

fn spans(requests: &[Request]) -> Vec<(u64, u32)> {
    requests.iter().map(|request| (request.lba.0, request.sectors)).collect()
}

#[test]
fn as_is_takes_what_fits_and_refuses_the_rest_with_a_remedy() {
    let flush = Arrival { op: Op::Flush, ..read(u64::MAX, 7, 0) };
    let (requests, report) =
        map(100, Mapping::AsIs, &[read(92, 8, 0), flush, read(5, 0, 0)]).unwrap();
    assert_eq!(spans(&requests), [(92, 8), (0, 0)]);
    assert_eq!((report.empty, report.mapping), (1, Default::default()));
    for bad in [read(93, 8, 0), read(u64::MAX, 1, 0)] {
        let error = map(100, Mapping::AsIs, &[read(0, 8, 0), bad]).expect_err("outside");
        assert!(matches!(error, ReplayError::Mapping(MapError::Outside { index: 1, .. })));
        assert!(error.to_string().contains("remedy:") && error.to_string().contains("fold"));
    }
}

#[test]
fn fold_wraps_and_cuts_at_the_end() {
    let records = [read(10, 8, 0), read(210, 8, 0), read(95, 8, 0), read(100, 300, 0)];
    let (requests, report) = map(100, Mapping::Fold, &records).unwrap();
    assert_eq!(spans(&requests), [(10, 8), (10, 8), (95, 5), (0, 100)]);
    let counts = report.mapping;
    assert_eq!((counts.folded, counts.clipped, counts.clipped_sectors), (2, 2, 203));
}

#[test]
fn scale_keeps_what_lies_within_an_extent() {
    let span = 64 * EXTENT;
    let records = [read(0, 8, 0), read(63 * EXTENT + 17, 8, 0), read(32 * EXTENT + 5, 8, 0)];
    let mapping = Mapping::Scale { span_sectors: span };
    let (even, _) = map(64 * EXTENT, mapping, &records).unwrap();
    assert_eq!(spans(&even), [(0, 8), (63 * EXTENT + 17, 8), (32 * EXTENT + 5, 8)]);
    let (up, _) = map(128 * EXTENT, mapping, &records).unwrap();
    assert_eq!(spans(&up), [(0, 8), (126 * EXTENT + 17, 8), (64 * EXTENT + 5, 8)]);
    let error = map(64 * EXTENT, mapping, &[read(span, 8, 0)]).expect_err("beyond the span");
    assert!(matches!(error, ReplayError::Mapping(MapError::BeyondSpan { .. })), "{error}");
    assert!(map(100, Mapping::Scale { span_sectors: 0 }, &records).is_err());
}

/// Otherwise pages would be overwritten that the trace never wrote twice.
#[test]
fn scale_does_not_shrink() {
    let records = [read(0, 8, 0), read(EXTENT, 8, 0)];
    for (span, capacity) in
        [(2 * EXTENT, EXTENT), (16 * EXTENT + 1, 17 * EXTENT - 1), (EXTENT + 1, 100)]
    {
        let mapping = Mapping::Scale { span_sectors: span };
        let error = map(capacity, mapping, &records).expect_err("smaller");
        assert!(matches!(error, ReplayError::Mapping(MapError::Shrinks { .. })), "{error}");
        let told = error.to_string();
        assert!(told.contains("help: choose a larger device, or compact"), "{told}");
    }
    // Exactly as many extents, the last of them partial.
    let mapping = Mapping::Scale { span_sectors: 15 * EXTENT + 1 };
    assert!(map(16 * EXTENT, mapping, &records).is_ok());
}

#[test]
fn scale_counts_requests_over_extents_that_are_torn_apart() {
    let across = read(EXTENT - 4, 8, 0);
    let mapping = Mapping::Scale { span_sectors: 4 * EXTENT };
    for (extents, torn) in [(4, 0), (8, 1)] {
        let (_, report) = map(extents * EXTENT, mapping, &[across, read(0, 2048, 0)]).unwrap();
        assert_eq!(report.mapping.torn, torn, "{extents} extents");
    }
}

fn sharing(mapping: Mapping, records: &[Arrival]) -> PageSharing {
    map(4 * EXTENT, mapping, records).unwrap().1.sharing.expect("asked for")
}

#[test]
fn pages_of_several_streams_are_counted_and_compact_keeps_them_apart() {
    let records = [
        read(0, 32, 7),
        read(16, 32, 9),
        // Half of a page, twice.
        read(28, 1, 9),
        read(28, 1, 9),
        // A stream with its own place, and a flush, which has none.
        read(800, 8, 3),
        Arrival { op: Op::Flush, ..read(0, 0, 11) },
    ];
    let shared = PageSharing {
        touched_pages_4k: 7,
        folded_pages_4k: 0,
        shared_pages_4k: 2,
        streams: 3,
        sharing_streams: 2,
    };
    assert_eq!(sharing(Mapping::AsIs, &records), shared);
    assert_eq!(sharing(Mapping::Fold, &records), shared);
    let apart = PageSharing {
        touched_pages_4k: 9,
        folded_pages_4k: 0,
        shared_pages_4k: 0,
        sharing_streams: 0,
        ..shared
    };
    assert_eq!(sharing(Mapping::Partition { slices: 3 }, &records), apart);
    assert_eq!(sharing(Mapping::Compact, &records), apart);
    let (requests, _) = map(4 * EXTENT, Mapping::Compact, &records).unwrap();
    let begins = [0, EXTENT + 16, EXTENT + 28, EXTENT + 28, 2 * EXTENT + 800, 0];
    assert_eq!(requests.iter().map(|request| request.lba.0).collect::<Vec<_>>(), begins);
}

#[test]
fn pages_that_folding_brings_together_are_counted_once_each() {
    let size = 4 * EXTENT;
    let records = [
        read(8, 16, 1),
        read(size + 8, 8, 1),
        read(2 * size + 8, 8, 1),
        read(2 * size + 8, 8, 2),
        read(size + 64, 8, 1),
        read(size + 64, 8, 1),
    ];
    let expected = PageSharing {
        touched_pages_4k: 3,
        folded_pages_4k: 1,
        shared_pages_4k: 1,
        streams: 2,
        sharing_streams: 2,
    };
    assert_eq!(sharing(Mapping::Fold, &records), expected);
    let alone = PageSharing { shared_pages_4k: 0, streams: 1, sharing_streams: 0, ..expected };
    assert_eq!(sharing(Mapping::Fold, &records[..3]), PageSharing { touched_pages_4k: 2, ..alone });
}

#[test]
fn sharing_is_counted_only_on_demand() {
    let mut host = Model::new(1, Nanos(10), 100);
    let records = [read(0, 8, 0)];
    let mut source = Records::of(&records);
    let options = Options::default();
    let (host, source, sink) = (&mut host, &mut source, &mut Keep::default());
    let report = Replay { host, source, sink, options }.run(&mut |_| ControlFlow::Continue(()));
    assert_eq!(report.unwrap().sharing, None);
}

#[test]
fn partition_gives_each_stream_its_slice() {
    let records = [read(0, 8, 9), read(10, 8, 4), read(3 * EXTENT, 8, 9), read(EXTENT - 4, 8, 4)];
    let mapping = Mapping::Partition { slices: 2 };
    let (requests, report) = map(2 * EXTENT + 100, mapping, &records).unwrap();
    assert_eq!(spans(&requests), [(0, 8), (EXTENT + 10, 8), (0, 8), (2 * EXTENT - 4, 4)]);
    assert_eq!((report.mapping.folded, report.mapping.clipped), (1, 1));
    let error = map(2 * EXTENT, mapping, &[&records[..], &[read(0, 8, 1)]].concat());
    let error = error.expect_err("a third stream");
    assert!(error.to_string().contains("stream 1, one more than the 2 slices"), "{error}");
    assert!(map(1, mapping, &records).is_err());
}

#[test]
fn compact_packs_in_order_of_first_touch() {
    let far = 1_000_000 * EXTENT;
    let records = [
        read(far + 3, 8, 0),
        read(5, 8, 0),
        read(far + 100, 8, 0),
        // From the last sectors of an extent into the next one, which is new: they become
        // neighbours.
        read(50 * EXTENT - 4, 8, 0),
        // From extent 0, packed second, into extent 1, packed last.
        read(EXTENT - 4, 8, 0),
    ];
    let (requests, report) = map(8 * EXTENT, Mapping::Compact, &records).unwrap();
    let expected = [(3, 8), (EXTENT + 5, 8), (100, 8), (3 * EXTENT - 4, 8), (2 * EXTENT - 4, 8)];
    assert_eq!(spans(&requests), expected);
    assert_eq!(report.mapping.torn, 1);
    let error = map(4 * EXTENT, Mapping::Compact, &records).expect_err("five extents");
    assert!(matches!(error, ReplayError::Mapping(MapError::Full { index: 4, .. })), "{error}");
}

/// Slices smaller than an extent are whole pages, so neighbouring streams share none.
#[test]
fn small_slices_share_no_page() {
    let records: Vec<Arrival> = (0..30).map(|stream| read(0, 1, stream)).collect();
    let (requests, _) = map(24 * EXTENT, Mapping::Partition { slices: 30 }, &records).unwrap();
    assert!(requests.iter().all(|request| request.lba.0 % 8 == 0), "{:?}", spans(&requests));
}

proptest! {
    /// With every mapping, requests lie on the device (asserted by the model), cut sectors are
    /// accounted for, offsets within an extent survive, and equal addresses stay equal.
    #[test]
    fn mappings_are_functions_onto_the_device(
        extents in 1u64..50,
        rest in 0u64..EXTENT,
        records in prop::collection::vec((0u64..100 * EXTENT, 1u32..3000, 0u32..3), 1..60),
        kind in 0usize..3,
    ) {
        let (extents, mapping) = [
            (extents, Mapping::Fold),
            (100 + extents, Mapping::Scale { span_sectors: 100 * EXTENT }),
            (extents, Mapping::Partition { slices: 3 }),
        ][kind];
        let capacity = extents * EXTENT + rest;
        let records: Vec<Arrival> =
            records.into_iter().map(|(lba, sectors, stream)| read(lba, sectors, stream)).collect();
        let (requests, report) = map(capacity, mapping, &records).unwrap();
        let asked: u64 = records.iter().map(|record| u64::from(record.sectors)).sum();
        prop_assert_eq!(asked, report.sectors + report.mapping.clipped_sectors);
        let mut seen = BTreeMap::new();
        for (record, request) in records.iter().zip(&requests) {
            prop_assert!(request.sectors >= 1 && request.sectors <= record.sectors);
            prop_assert_eq!(request.stream, record.stream);
            let key = match mapping {
                Mapping::Partition { .. } => (record.lba, record.stream),
                _ => (record.lba, 0),
            };
            prop_assert_eq!(*seen.entry(key).or_insert(request.lba), request.lba);
            if let Mapping::Scale { .. } = mapping {
                prop_assert_eq!(request.lba.0 % EXTENT, record.lba.0 % EXTENT);
            }
        }
    }
}
