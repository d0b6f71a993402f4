//! Two logical pages on one physical page: by hand, step by step; a golden case with exact times; and
//! random devices with packs, gathering, collection, trims, power cuts and failures.

mod by_hand;
mod golden;
mod laws;

use ftlab::device::{Device, assemble_with};
use ftlab::ftl::Fragment;
use ftlab::host::{Advanced, Completion, Host, Op};
use ftlab::scheduler::{Kind, Origin};
use ftlab::units::{Lpn, Ppn, SectorMask, SimTime};

use crate::common::{Spec, request};
use ftlab_torture::{Version, Versions};

/// Sectors of a page.
const SECTORS: u64 = 8;

/// One die, blocks of four pages of eight sectors, a PRLRU buffer of two pages, room to spare.
fn spec() -> Spec {
    let spec = Spec::small().with(
        "nand.pages_per_block = 4
        ftl.mapping.policy = reconstruction
        ftl.mapping.entries = 100%
        ftl.placement.policy = dynamic",
    );
    spec.buffered("prlru", 2).holding(24)
}

/// Sectors `first..end` of a page.
fn sectors(first: u32, end: u32) -> SectorMask {
    SectorMask::range(first, end - first)
}

/// A device driven by hand, and the contents of its flash.
struct Hand {
    device: Device<(), Versions>,
    tag: u32,
}

impl Hand {
    fn new(spec: &Spec) -> Hand {
        let physical = spec.geometry().physical_pages();
        let versions = Versions::new(physical, spec.sectors_per_page());
        Hand { device: assemble_with(spec.setup(), (), versions), tag: 0 }
    }

    /// With the first `pages` pages whole on flash, in versions from 1 on.
    fn filled(spec: &Spec, pages: u32) -> Hand {
        let mut hand = Hand::new(spec);
        for page in 0..pages {
            hand.write(page, 0, 8);
        }
        hand.flush();
        hand
    }

    /// Submits a request for sectors `first..end` of a page. A write gives them the returned version.
    fn submit(&mut self, op: Op, page: u32, first: u32, end: u32) -> Version {
        self.tag += 1;
        let lba = u64::from(page) * SECTORS + u64::from(first);
        let request = request(op, lba, end - first, self.tag);
        self.device.submit(self.device.now(), request);
        self.tag
    }

    /// Runs the device until it is idle; data may stay in the buffer.
    fn settle(&mut self) -> Vec<Completion> {
        let mut done = Vec::new();
        while self.device.advance_until(SimTime::FOREVER, &mut done) != Advanced::Idle {}
        assert_eq!(self.device.requests_in_flight(), 0, "the device is stuck");
        assert_eq!(self.device.audit(), Ok(()));
        done
    }

    fn write(&mut self, page: u32, first: u32, end: u32) -> Version {
        let version = self.submit(Op::Write, page, first, end);
        self.settle();
        version
    }

    fn trim(&mut self, page: u32) {
        self.submit(Op::Trim, page, 0, 8);
        self.settle();
    }

    fn flush(&mut self) {
        self.submit(Op::Flush, 0, 0, 0);
        self.settle();
    }

    /// The version that a read finds in each sector of a page.
    fn read(&mut self, page: u32, first: u32, end: u32) -> Vec<Version> {
        self.device.contents_mut().take_finished();
        let tag = self.submit(Op::Read, page, first, end);
        self.settle();
        self.found(tag, page, first, end)
    }

    /// What the completed read of that tag found.
    fn found(&mut self, tag: u32, page: u32, first: u32, end: u32) -> Vec<Version> {
        let finished = self.device.contents_mut().take_finished();
        let read = finished.iter().find(|(completion, _)| completion.request.tag == tag);
        let (_, found) = read.expect("it is done");
        let version = |sector: u32| {
            let lba = u64::from(page) * SECTORS + u64::from(sector);
            found.iter().find(|&&(at, _)| at == lba).map_or(0, |&(_, version)| version)
        };
        (first..end).map(version).collect()
    }

    /// Where the parts of a page lie, and with which sectors, the newest first.
    fn parts(&self, page: u32) -> Vec<(Ppn, SectorMask)> {
        let parts = self.device.ftl().fragments(Lpn::new(page));
        parts.into_iter().flatten().map(|Fragment { at, sectors }| (at, sectors)).collect()
    }

    /// Where the only part of a page lies.
    fn place(&self, page: u32) -> Ppn {
        match self.parts(page)[..] {
            [(at, _)] => at,
            ref others => panic!("page {page} lies at {others:?}"),
        }
    }

    fn is_valid(&self, at: Ppn) -> bool {
        let (block, unit) = self.device.flash().geometry().place_of(at);
        self.device.ftl().blocks().is_valid(block, unit)
    }

    fn done(&self, origin: Origin, kind: Kind) -> u64 {
        self.device.flash().done()[origin as usize][kind as usize]
    }

    fn programs(&self) -> u64 {
        self.done(Origin::Host, Kind::Program)
    }

    fn packs(&self) -> u64 {
        self.device.buffer_counts().packs
    }
}
