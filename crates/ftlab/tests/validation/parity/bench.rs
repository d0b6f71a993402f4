//! A device with parity beside the naive one, which judges what it returns; stripes are XORs of real data.

use std::collections::BTreeMap;
use std::ops::Range;

use ftlab::device::{Device, assemble_with};
use ftlab::host::{Advanced, Completion, Host, Op, Outcome};
use ftlab::image::Resume;
use ftlab::units::{Lpn, Nanos, SimTime};

use crate::common::random::Step;
use crate::common::{Spec, assert_no_standstill, request};
use ftlab_torture::{FoundVersions, Reference, Versions, changes};

/// A command in flight: when it began, and what it changes or reads.
#[derive(Clone, Debug)]
struct Flying {
    begun: u64,
    range: Range<u64>,
}

/// The device and its judge.
pub struct Bench {
    pub device: Device<(), Versions>,
    reference: Reference,
    per_page: u64,
    /// By tag.
    flying: BTreeMap<u32, Flying>,
    next_tag: u32,
    /// Requests that were refused, and reads of lost data.
    pub refused: u32,
    pub unreadable: u32,
    /// The least number of flash pages that the parity of closed stripes covers.
    least: usize,
}

impl Bench {
    /// A new device.
    pub fn new(spec: &Spec) -> Bench {
        let setup = spec.setup();
        let per_page = spec.sectors_per_page();
        let versions = Versions::new(setup.ftl.geometry.physical_pages(), per_page);
        let versions = versions.with_parity(setup.ftl.stripes.as_ref());
        let device = assemble_with(setup, (), versions);
        Bench {
            reference: Reference::new(device.capacity_sectors()),
            device,
            per_page: per_page.into(),
            flying: BTreeMap::new(),
            next_tag: 1,
            refused: 0,
            unreadable: 0,
            least: spec.config().options.ftl.parity.stripe().map_or(0, |width| width as usize - 1),
        }
    }

    /// From now on stripes may cover fewer pages, because something fails.
    pub fn expect_failures(mut self) -> Bench {
        self.least = 0;
        self
    }

    /// Saves the device and loads its state and data into another one of the same description.
    pub fn reload(self, spec: &Spec) -> Bench {
        self.try_reload(spec).expect("nothing is left in DRAM")
    }

    /// The same, unless the content of DRAM can no longer be written.
    pub fn try_reload(self, spec: &Spec) -> Option<Bench> {
        let mut bench = self;
        bench.device.rest(&mut Vec::new()).ok()?;
        bench.device.contents_mut().take_finished();
        let snapshot = bench.device.save();
        let versions = bench.device.contents().clone();
        let mut device = assemble_with(spec.setup(), (), versions);
        device.load(&snapshot, Resume::NONE).expect("an image that was just written");
        Some(Bench { device, ..bench })
    }

    pub fn submit(&mut self, op: Op, range: Range<u64>) {
        let tag = self.next_tag;
        self.next_tag += 1;
        // A device at its end no longer changes anything.
        let ended = self.device.end_of_life().is_some();
        let changed = if ended { 0..0 } else { changes(op, &range, self.per_page) };
        let begun = match op {
            Op::Write => self.reference.begin(changed, tag),
            Op::Trim => self.reference.begin(changed, 0),
            _ => self.reference.tick(),
        };
        let sectors = (range.end - range.start) as u32;
        let first = range.start;
        self.flying.insert(tag, Flying { begun, range });
        self.device.submit(self.device.now(), request(op, first, sectors, tag));
    }

    /// Runs the device until something completes or `limit` comes, and checks the completion.
    pub fn advance(&mut self, limit: SimTime) -> Result<Advanced, String> {
        let advanced = self.device.advance_until(limit, &mut Vec::new());
        for (completion, found) in self.device.contents_mut().take_finished() {
            self.completed(&completion, &found)?;
        }
        Ok(advanced)
    }

    fn completed(&mut self, completion: &Completion, found: &FoundVersions) -> Result<(), String> {
        let tag = completion.request.tag;
        assert_eq!(completion.breakdown.total(), completion.latency(), "{completion:?}");
        let Flying { begun, range } = self.flying.remove(&tag).expect("what completes was begun");
        match (completion.outcome, completion.request.op) {
            (Outcome::ReadOnly, op) => {
                // Whether it changed anything stays open.
                assert!(op != Op::Read && self.device.end_of_life().is_some(), "{completion:?}");
                self.refused += 1;
            }
            (Outcome::Unreadable, op) => {
                assert_eq!(op, Op::Read, "{completion:?}");
                self.unreadable += 1;
            }
            (_, op @ (Op::Write | Op::Trim)) => {
                let oldest = self.flying.values().map(|flying| flying.begun).min();
                let changed = changes(op, &range, self.per_page);
                self.reference.end(changed, begun, oldest.unwrap_or(u64::MAX));
            }
            (_, Op::Read) => self.reference.check_read(&range, found, begun)?,
            (_, _) => {}
        }
        Ok(())
    }

    /// Checks that all the device's tables agree, and every parity is the XOR of its pages.
    pub fn audit(&self) -> Result<(), String> {
        self.device.audit()?;
        let contents = self.device.contents();
        contents.parity().map_or(Ok(()), |parity| parity.check(self.least, |at| contents.words(at)))
    }

    pub fn run(&mut self, depth: usize, steps: &[Step]) -> Result<(), String> {
        self.steps(depth, steps)?;
        self.finish()
    }

    pub fn steps(&mut self, depth: usize, steps: &[Step]) -> Result<(), String> {
        let capacity = self.device.capacity_sectors();
        for (number, step) in steps.iter().enumerate() {
            while self.device.requests_in_flight() >= depth {
                if self.advance(SimTime::FOREVER)? == Advanced::Idle {
                    assert_no_standstill(&self.device);
                }
            }
            let until = self.device.now() + step.pause;
            while step.pause > Nanos::ZERO && self.advance(until)? == Advanced::Completed {}
            self.submit(step.op, step.range(capacity, self.per_page as u32));
            if number % 16 == 15 {
                self.audit()?;
            }
        }
        Ok(())
    }

    /// Completes everything, then flushes everything, then reads everything.
    pub fn finish(&mut self) -> Result<(), String> {
        let capacity = self.device.capacity_sectors();
        self.advance_to_idle()?;
        self.submit(Op::Flush, 0..0);
        self.advance_to_idle()?;
        self.audit()?;
        // Page by page, so that a lost page hides nothing else.
        for page in (0..capacity / self.per_page).map(|page| Lpn::new(page as u32)) {
            let first = u64::from(page.get()) * self.per_page;
            self.submit(Op::Read, first..first + self.per_page);
            self.advance_to_idle()?;
        }
        Ok(())
    }

    fn advance_to_idle(&mut self) -> Result<(), String> {
        while self.advance(SimTime::FOREVER)? != Advanced::Idle {}
        assert_no_standstill(&self.device);
        Ok(())
    }
}
