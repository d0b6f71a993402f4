//! The calculated cost of parity: programs, erases and throughput.

use ftlab::device::assemble;
use ftlab::host::{Host, Op};
use ftlab::scheduler::{Kind, Origin};
use ftlab::units::SimTime;

use super::striped;
use crate::common::{BLOCKS, PROGRAM, Spec, closed_loop, fill, request};

/// One group of `width` dies, each on its own channel; a flash page is the mapping unit.
fn group_of(width: u32) -> Spec {
    striped(Spec::small(), width, 1, width).set(BLOCKS, 12).filled(50)
}

/// Without collection, N - 1 pages of data cost N programs, and no read.
#[test]
fn parity_takes_one_program_in_a_stripe() {
    for width in 2..=6 {
        let spec = group_of(width);
        let mut device = assemble(spec.setup());
        let pages = spec.logical_pages() / (width - 1) * (width - 1);
        fill(&mut device, 8, 0..pages, spec.sectors_per_page());
        let programs = device.flash().done()[Origin::Host as usize][Kind::Program as usize];
        let counts = *device.ftl().stripes().expect("there is parity").counts();
        assert_eq!(programs * u64::from(width - 1), u64::from(pages * width), "{width} dies");
        assert_eq!(counts.programs, u64::from(pages / (width - 1)));
        assert_eq!((counts.reads, counts.reconstructed, counts.lost), (0, 0, 0));
    }
}

/// A collected superblock is erased on each of its dies.
#[test]
fn an_erase_is_one_of_each_die() {
    for width in 2..=5 {
        let spec = group_of(width).filled(100);
        let mut device = assemble(spec.setup());
        for _ in 0..3 {
            fill(&mut device, 8, 0..spec.logical_pages(), spec.sectors_per_page());
        }
        let erases = device.flash().done()[Origin::Gc as usize][Kind::Erase as usize];
        let counted: u64 = device.ftl().blocks().all_erases().map(u64::from).sum();
        assert!(counted > 4, "it collects");
        assert_eq!(erases, counted * u64::from(width));
    }
}

/// With enough writes outstanding, all dies of a group program all the time, and N - 1 of N pages are data.
#[test]
fn writes_reach_the_rate_of_the_dies_minus_parity() {
    for width in [2, 4, 8] {
        let spec = group_of(width).set(BLOCKS, 60).filled(50);
        let mut device = assemble(spec.setup());
        let pages = spec.logical_pages() / (width - 1) * (width - 1);
        fill(&mut device, 256, 0..pages, spec.sectors_per_page());
        let took = (device.now() - SimTime::ZERO).0 as f64;
        let transfer = spec.bus().transfer(spec.bus().page_codewords());
        let stripe = (PROGRAM + transfer).0 as f64;
        let least = stripe * f64::from(pages / (width - 1));
        // A superblock is filled die by die, so a stripe may have to wait for its last die.
        assert!(took >= least && took < least * 1.05, "{width} dies: {took} for {least}");
    }
}

/// Reads of pages on live dies cost the same as without parity.
#[test]
fn a_read_takes_one_die() {
    let spec = group_of(4);
    let mut device = assemble(spec.setup());
    fill(&mut device, 8, 0..spec.logical_pages(), spec.sectors_per_page());
    let sectors = spec.sectors_per_page();
    let reads = (0..spec.logical_pages())
        .map(|page| request(Op::Read, u64::from(page) * u64::from(sectors), sectors, page));
    let done = closed_loop(&mut device, 1, reads);
    let commands = device.flash().done()[Origin::Host as usize][Kind::Read as usize];
    assert_eq!(commands, done.len() as u64);
    let transfer = spec.bus().transfer(spec.bus().page_codewords());
    assert!(done.iter().all(|done| done.latency() == crate::common::READ + transfer));
}
