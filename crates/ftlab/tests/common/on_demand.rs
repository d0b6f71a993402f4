//! Random devices whose map lies on flash.

use ftlab::units::Bytes;
use proptest::prelude::*;
use proptest::sample::select;

use super::random::{self, Step};
use super::{MappingKind, Spec, StreamsKind, gating};

/// A device that holds its map on flash, with any cache from one entry up. Blocks of the map want room.
pub fn spec() -> impl Strategy<Value = Spec> {
    let cache = prop_oneof![1u32..=4, 1u32..=64, Just(u32::MAX)];
    // So that the map has several translation pages; also of two units each.
    let small_pages = select(vec![Some(512), Some(512), Some(1_024), None]);
    let buffer = (any::<bool>(), gating::any_buffer());
    (random::spec(), cache, small_pages, 0u32..=4, 30u32..=100, buffer).prop_map(
        |(base, map_cache, small_pages, more, share, (by_planes, buffer))| {
            let base = match by_planes {
                true => gating::by_planes(base, buffer),
                false => base,
            };
            let mut spec = Spec { mapping: MappingKind::Dftl, map_cache, ..base };
            if let Some(size) = small_pages {
                spec.shape.page_size = Bytes(size);
                spec.shape.mapping_unit = Bytes(if by_planes { size } else { 512 });
                spec.codeword = Bytes(512);
            }
            spec.shape.blocks_per_plane += 2 + more;
            if spec.most_logical_pages() == 0 {
                (spec.streams, spec.copy_streams) = (StreamsKind::Single, 1);
            }
            spec.logical_pages = (spec.most_logical_pages() * share / 100).max(1);
            spec
        },
    )
}

/// A run: a device, how many commands it may hold at once, and the commands.
pub fn run(steps: usize) -> impl Strategy<Value = (Spec, usize, Vec<Step>)> {
    let depth = select(vec![1usize, 2, 4, 8, 16, 32, 64]);
    (spec(), depth, proptest::collection::vec(random::step(), steps / 2..=steps))
}
