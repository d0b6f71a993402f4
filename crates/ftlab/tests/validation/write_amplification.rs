//! Write amplification of uniform random writes under greedy collection, against the mean field.
//!
//! Van Houdt, "A Mean Field Model for a Class of Garbage Collection Algorithms in Flash-based Solid
//! State Drives", SIGMETRICS 2013, with the number of choices going to infinity; the same result
//! stands in Bux and Iliadis, "Performance of Greedy Garbage Collection in Flash-based Solid-state
//! Drives", Performance Evaluation 2010. Derived in docs/validation.md.

use ftlab::cache::WriteBufferKind;
use ftlab::device::{Device, assemble};
use ftlab::engine::Stream;
use ftlab::ftl::BlockState;
use ftlab::ftl::gc::Thresholds;
use ftlab::ftl::placement::PlacementKind;
use ftlab::host::Op;
use ftlab::units::{BlockId, Bytes, PlaneId};

use crate::common::{Spec, closed_loop, fill, lru, request};

/// The mean number of valid pages of a victim, by the mean field: `b` pages a block, of which the
/// share `rho` is valid in the blocks that may be chosen.
fn victim_valid(b: u32, rho: f64) -> f64 {
    let valid = |m: u32| {
        let (pages, level) = (f64::from(b), f64::from(m));
        let harmonic: f64 = (m + 1..=b).map(|i| 1.0 / f64::from(i)).sum();
        let inverse_rate = (pages - level - level * harmonic) / (rho * pages - level);
        let at_level = 1.0 - harmonic / inverse_rate;
        let below = level * inverse_rate * at_level;
        let fits = inverse_rate > 0.0 && at_level >= 0.0 && (0.0..=1.0).contains(&below);
        fits.then_some(level - below)
    };
    (1..b).take_while(|&m| f64::from(m) < rho * f64::from(b)).find_map(valid).expect("a level")
}

fn mean_field(b: u32, rho: f64) -> f64 {
    f64::from(b) / (f64::from(b) - victim_valid(b, rho))
}

/// For blocks without end, greedy is as good as a log that is cleaned in turn: the valid share p of a
/// victim solves rho = (p - 1) / ln p (Robinson, "Analysis of Steady-State Segment Storage Utilizations
/// in a Log-Structured File System with Least-Utilized Segment Cleaning", Operating Systems Review
/// 1996; Desnoyers, "Analytic Models of SSD Write Performance", ACM TOS 2014).
fn endless_blocks(rho: f64) -> f64 {
    let (mut low, mut high) = (1e-9, 1.0 - 1e-9);
    for _ in 0..100 {
        let p: f64 = (low + high) / 2.0;
        if (p - 1.0) / libm::log(p) < rho { low = p } else { high = p }
    }
    1.0 / (1.0 - low)
}

/// Greedy cleaning on counts alone: no device, no time, one write pointer for all. Returns the write
/// amplification with every block but the one being filled a candidate.
fn by_counting(blocks: usize, b: u32, logical: u32, writes: u32) -> f64 {
    let mut stream = Stream::new(9, "counting");
    let mut pages: Vec<Vec<u32>> = vec![Vec::new(); blocks];
    let mut valid = vec![0u32; blocks];
    let mut home = vec![usize::MAX; logical as usize];
    let (mut open, mut copies, mut counted) = (0, 0u64, 0u64);
    for step in 0..logical + writes {
        let page = if step < logical { step } else { stream.below(logical.into()) as u32 };
        if pages[open].len() == b as usize {
            let free = (0..blocks).find(|&block| pages[block].is_empty());
            open = free.unwrap_or_else(|| {
                let victim = (0..blocks).min_by_key(|&block| valid[block]).expect("blocks");
                // Cleaned in place: what is valid is written back to the front of the block.
                pages[victim].retain(|&page| home[page as usize] == victim);
                let mut seen = std::collections::BTreeSet::new();
                pages[victim].retain(|&page| seen.insert(page));
                if step > logical + writes / 2 {
                    copies += pages[victim].len() as u64;
                }
                victim
            });
        }
        if let Some(old) = valid.get_mut(home[page as usize]) {
            *old -= 1;
        }
        home[page as usize] = open;
        valid[open] += 1;
        pages[open].push(page);
        counted += u64::from(step > logical + writes / 2);
    }
    (counted + copies) as f64 / counted as f64
}

#[test]
fn the_mean_field_agrees_with_the_limit_of_endless_blocks() {
    for rho in [0.5, 0.7, 0.8, 0.9] {
        let (field, limit) = (mean_field(16_384, rho), endless_blocks(rho));
        assert!((field / limit - 1.0).abs() < 1e-3, "{field} at {rho}, {limit} in the limit");
    }
}

/// One block of 1,024 is open and holds fresh pages, so shares differ by about a thousandth.
#[test]
fn the_mean_field_agrees_with_counting() {
    for (b, rho) in [(16, 0.7), (32, 0.8), (32, 0.9)] {
        let logical = (1_024.0 * f64::from(b) * rho) as u32;
        let counted = by_counting(1_024, b, logical, 12 * logical);
        let field = mean_field(b, rho);
        println!("b = {b}, rho = {rho}: mean field {field:.4}, counting {counted:.4}");
        assert!((counted / field - 1.0).abs() < 0.01, "{counted} counted, {field} expected");
    }
}

/// One die whose plane has so many blocks of `pages` flash pages, with `percent` over-provisioning.
fn plane(blocks: u32, pages: u32, percent: u32) -> Spec {
    let mut spec = Spec::small();
    spec.shape.blocks_per_plane = blocks;
    spec.shape.pages_per_block = pages;
    spec.thresholds = Thresholds { start: 1, stop: 2, reserve: 1, copies_in_flight: 4 };
    spec.logical_pages = spec.geometry().physical_pages() / (100 + percent) * 100;
    spec
}

/// Writes random pages, in steady state and then `rounds` times the logical size; returns the write
/// amplification of that, padding included.
fn measure(spec: &Spec, depth: usize, rounds: u64) -> (f64, Device) {
    let sectors = spec.sectors_per_page();
    let mut device = assemble(spec.setup());
    fill(&mut device, depth, 0..spec.logical_pages, sectors);
    let mut stream = Stream::new(4, "pages");
    let pages = u64::from(spec.logical_pages);
    let mut write = |rounds| {
        let next = (0..rounds * pages).map(|_| {
            request(Op::Write, stream.below(pages) * u64::from(sectors), sectors, 0)
        });
        closed_loop(&mut device, depth, next.collect::<Vec<_>>());
    };
    // The bulge of blocks filled in one go wears off: its share shrinks with every turn.
    write(6);
    let before = *device.ftl_counts();
    let mut stream = Stream::new(5, "pages");
    let next = (0..rounds * pages)
        .map(|_| request(Op::Write, stream.below(pages) * u64::from(sectors), sectors, 0));
    closed_loop(&mut device, depth, next.collect::<Vec<_>>());
    let after = *device.ftl_counts();
    assert_eq!(device.ftl().audit(), Ok(()));
    let host = after.host_pages - before.host_pages;
    let programmed = host + after.gc_pages + after.padding - before.gc_pages - before.padding;
    (programmed as f64 / host as f64, device)
}

/// The share of valid pages in the blocks that collection may choose. Of a plane's blocks, one
/// (between `start` and `stop`) is free; one of the host and one of collection are being
/// filled, on average half full of pages nearly all valid; and one is being collected or about to be.
fn candidates_share(spec: &Spec) -> f64 {
    let geometry = spec.geometry();
    let planes = f64::from(geometry.planes());
    let block = f64::from(geometry.units_per_block());
    let free = f64::from(spec.thresholds.start + spec.thresholds.stop) / 2.0;
    let closed = f64::from(spec.shape.blocks_per_plane) - free - 2.0;
    (f64::from(spec.logical_pages) / planes - block) / (closed * block)
}

/// The same, counted on the device as it stands.
fn counted_share(device: &Device, spec: &Spec) -> f64 {
    let blocks = device.ftl().blocks();
    let geometry = spec.geometry();
    let closed = (0..geometry.blocks())
        .map(BlockId::new)
        .filter(|&block| blocks.state(block) == BlockState::Closed);
    let (count, valid) = closed.fold((0u32, 0u32), |(c, v), block| (c + 1, v + blocks.valid(block)));
    let free: u32 = (0..geometry.planes()).map(|p| device.ftl().free_blocks(PlaneId::new(p))).sum();
    println!("free {free}, closed {count} of {}", geometry.blocks());
    f64::from(valid) / (f64::from(count) * f64::from(geometry.units_per_block()))
}

fn check(name: &str, spec: &Spec, depth: usize) {
    let (measured, device) = measure(spec, depth, 8);
    let (share, counted) = (candidates_share(spec), counted_share(&device, spec));
    let expected = mean_field(spec.geometry().units_per_block(), share);
    let off = measured / expected - 1.0;
    println!(
        "{name}: share {share:.4} (counted {counted:.4}), mean field {expected:.4}, measured {measured:.4}, {:+.2} %",
        100.0 * off
    );
    assert!(off.abs() < 0.02, "{name}: {measured} instead of {expected}");
}

#[test]
fn greedy_collection_amplifies_as_the_mean_field_says() {
    for percent in [7, 15, 28, 50] {
        check(&format!("{percent} % over"), &plane(512, 32, percent), 1);
    }
}

#[test]
fn four_planes_amplify_as_one_does() {
    let mut spec = plane(192, 32, 28);
    spec.shape.channels = 2;
    spec.shape.planes_per_die = 2;
    check("four planes", &spec, 16);
}

/// Units of 4 KiB in flash pages of 16 KiB: any four may share one under dynamic placement.
#[test]
fn small_units_amplify_as_the_mean_field_says() {
    let mut spec = plane(256, 16, 28);
    spec.shape.page_size = Bytes::from_kib(16);
    spec.placement = PlacementKind::Dynamic;
    spec.buffer = lru(64);
    assert_eq!(spec.buffer.policy, WriteBufferKind::Lru);
    spec.logical_pages = spec.geometry().physical_pages() / 128 * 100;
    check("units of a quarter page", &spec, 16);
}
