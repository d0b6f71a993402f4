//! A device that carries bytes beside the naive one: lighter than that of `contents`, and without a
//! probe unless one is given, so that merges carried out at once are tested as well.

use std::collections::BTreeMap;
use std::ops::Range;

use ftlab::device::{Device, DeviceSetup, assemble_with};
use ftlab::host::{Advanced, Completion, Host, Op};
use ftlab::image::Resume;
use ftlab::scheduler::{Activity, Probe};
use ftlab::units::{Lpn, SimTime};

use crate::common::random::Step;
use crate::common::{assert_no_standstill, request};
use ftlab_torture::Reference;
use ftlab_torture::{AnyProbe, FoundVersions, Listens, Versions, changes};

/// A probe: if there is one, merges are carried out copy by copy.
#[derive(Clone, Copy, Debug)]
struct Onlooker;

/// The onlooker as a probe.
pub fn onlooker() -> AnyProbe {
    AnyProbe::new(Onlooker)
}

impl Listens for Onlooker {
    fn cell(&mut self, _activity: &Activity) {}
}

/// The device and its judge.
pub struct Bench<P: Probe> {
    pub device: Device<P, Versions>,
    reference: Reference,
    pub per_page: u64,
    /// By tag: when a command began, and its range.
    flying: BTreeMap<u32, (u64, Range<u64>)>,
    next_tag: u32,
}

/// Assembles a device that starts with zeros.
pub fn assemble<P: Probe>(setup: DeviceSetup, probe: P) -> Device<P, Versions> {
    let geometry = setup.ftl.geometry.clone();
    let versions = Versions::new(geometry.physical_pages(), geometry.sectors_per_unit());
    let mut device = assemble_with(setup, probe, versions);
    let all = (0..device.ftl().logical_pages()).map(Lpn::new);
    let held: Vec<_> = all.filter_map(|page| Some((page, device.ftl().look_up(page)?))).collect();
    device.contents_mut().hold(held.into_iter());
    device
}

impl<P: Probe> Bench<P> {
    pub fn new(setup: DeviceSetup, probe: P) -> Bench<P> {
        let per_page = setup.ftl.geometry.sectors_per_unit().into();
        let device = assemble(setup, probe);
        let reference = Reference::new(device.capacity_sectors());
        Bench { reference, device, per_page, flying: BTreeMap::new(), next_tag: 1 }
    }

    /// Loads this device's state and data into another device once it is idle. No request may be in flight.
    pub fn reload(self, setup: DeviceSetup, probe: P, resume: Resume) -> Result<Bench<P>, String> {
        let mut bench = self;
        assert_eq!(bench.device.rest(&mut Vec::new()), Ok(()));
        bench.device.contents_mut().take_finished();
        let snapshot = bench.device.save();
        let mut device = assemble_with(setup, probe, bench.device.contents().clone());
        device.load(&snapshot, resume).map_err(|damage| damage.to_string())?;
        device.ftl().audit()?;
        Ok(Bench { device, ..bench })
    }

    pub fn submit(&mut self, op: Op, range: Range<u64>) {
        let tag = self.next_tag;
        self.next_tag += 1;
        let changed = changes(op, &range, self.per_page);
        let begun = match op {
            Op::Write => self.reference.begin(changed, tag),
            Op::Trim => self.reference.begin(changed, 0),
            _ => self.reference.tick(),
        };
        let sectors = (range.end - range.start) as u32;
        self.flying.insert(tag, (begun, range.clone()));
        self.device.submit(self.device.now(), request(op, range.start, sectors, tag));
    }

    fn completed(&mut self, completion: &Completion, found: &FoundVersions) -> Result<(), String> {
        assert_eq!(completion.breakdown.total(), completion.latency(), "{completion:?}");
        let (op, tag) = (completion.request.op, completion.request.tag);
        let (begun, range) = self.flying.remove(&tag).expect("what completes was begun");
        match op {
            Op::Write | Op::Trim => {
                let oldest = self.flying.values().map(|&(begun, _)| begun).min();
                let changed = changes(op, &range, self.per_page);
                self.reference.end(changed, begun, oldest.unwrap_or(u64::MAX));
                Ok(())
            }
            Op::Read => self.reference.check_read(&range, found, begun),
            _ => self.check_flash(begun),
        }
    }

    pub fn advance(&mut self, limit: SimTime) -> Result<Advanced, String> {
        let advanced = self.device.advance_until(limit, &mut Vec::new());
        for (completion, found) in self.device.contents_mut().take_finished() {
            self.completed(&completion, &found)?;
        }
        Ok(advanced)
    }

    /// What the mapping names on flash holds everything that was completed before `begun`.
    fn check_flash(&self, begun: u64) -> Result<(), String> {
        for page in (0..self.device.ftl().logical_pages()).map(Lpn::new) {
            let held = self.device.ftl().look_up(page);
            let held = held.map(|at| self.device.contents().on_flash(at).expect("programmed"));
            for sector in 0..self.per_page {
                let version = held.map_or(0, |(_, versions)| versions[sector as usize]);
                let at = u64::from(page.get()) * self.per_page + sector;
                self.reference.check(at, version, begun).map_err(|e| format!("on flash: {e}"))?;
            }
        }
        Ok(())
    }

    pub fn advance_to_idle(&mut self) -> Result<(), String> {
        while self.advance(SimTime::FOREVER)? != Advanced::Idle {}
        assert_no_standstill(&self.device);
        Ok(())
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
            while step.pause.0 > 0 && self.advance(until)? == Advanced::Completed {}
            self.submit(step.op, step.range(capacity, self.per_page as u32));
            if number % 32 == 31 {
                self.device.ftl().audit()?;
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
        self.device.ftl().audit()?;
        self.submit(Op::Read, 0..capacity);
        self.advance_to_idle()
    }
}
