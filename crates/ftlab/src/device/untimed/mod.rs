//! Writing a device without a clock. Ageing and filling need the state that writes leave, not their
//! times. Mapping, streams, victims, wear, the SLC cache and the write buffer advance by the same
//! functions as with a clock; flash commands, buses, events and completions are left out.
//!
//! With a clock, time decides the order of events: which die is done first, and how far collection gets between two
//! writes. Here the busy times of the dies decide it ([`Turns`](crate::scheduler)): a host that writes as fast as the
//! device accepts keeps all dies busy, so each die takes the next write when it is done with its last one. No other
//! time is simulated. The device's clock stands still, and policies that need time are not supported.

mod fill;
mod host;
mod needs_time;
mod programs;
mod rounds;

pub use needs_time::NeedsTime;

use self::programs::Programs;
use super::idle::Chore;
use super::write::stalled::Stalled;
use super::{Contents, Device};
use crate::ftl::gc::{Bench, Copies, Freed};
use crate::ftl::placement::PlacementPolicy;
use crate::ftl::relocations;
use crate::ftl::{Kernel, Relocations};
use crate::host::{Host, Request};
use crate::scheduler::{Kind, Origin, Probe, Turns, Work};
use crate::units::{PlaneId, RequestId};

/// A device that is being written without a clock. [`end`](Self::end) or [`rest`](Self::rest) ends this.
pub struct Untimed<'a, P: Probe = (), C: Contents = ()> {
    device: &'a mut Device<P, C>,
    turns: Turns,
    /// Map changes of collection that are not applied yet.
    later: Relocations,
    copies: Copies,
    programs: Programs,
    /// Programs that wait for a free page.
    stalled: Stalled,
    /// The number of programs that have had to wait. It replaces the time at which a wait began.
    waits: u64,
    requests: Vec<Outstanding>,
    /// Free request numbers.
    free: Vec<u32>,
}

/// A request in the device.
#[derive(Clone, Copy)]
struct Outstanding {
    request: Request,
    /// The number of things that it still waits for.
    left: u32,
}

/// No write can continue: collection cannot free any pages, and nothing is in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stuck;

impl<P: Probe, C: Contents> Device<P, C> {
    /// Writes this device without a clock from now on, for a host that keeps `depth` requests
    /// outstanding. First ends what is in flight, with the clock.
    ///
    /// # Errors
    /// Some part of the device needs time; the error says which.
    ///
    /// # Panics
    /// If requests are outstanding.
    pub fn untimed(&mut self, depth: u32) -> Result<Untimed<'_, P, C>, NeedsTime> {
        assert_eq!(self.base.desk.intake.in_flight(), 0, "requests are outstanding");
        if let Some(needs) = self.needs_time() {
            return Err(needs);
        }
        while self.base.kernel.flash.in_flight() > 0
            && let Some(at) = self.next_moment()
        {
            self.advance_until(at, &mut Vec::new());
        }
        self.base.host_is_back();
        self.base.kernel.ftl.comes_to(self.base.kernel.now);
        let streams = self.base.kernel.ftl.streams().host_streams();
        Ok(Untimed {
            turns: Turns::new(self.base.kernel.flash.sheet()),
            later: Relocations::new(self.base.kernel.ftl.logical_pages()),
            copies: Copies::default(),
            programs: Programs::default(),
            stalled: Stalled::new(self.base.kernel.ftl.placement().pools(), streams),
            waits: 0,
            requests: Vec::new(),
            free: (0..depth).rev().collect(),
            device: self,
        })
    }
}

impl<P: Probe, C: Contents> Untimed<'_, P, C> {
    /// The device in its present state, except that its map may still name old places of pages that
    /// collection has moved.
    pub fn device(&self) -> &Device<P, C> {
        self.device
    }

    /// Ends what is in flight, but leaves the write buffer as it is: the device is as after the
    /// last completion of a timed load.
    pub fn end(self) {}

    /// Brings the device to rest: writes the buffer to flash, and lets collection finish. If the
    /// SLC cache is folded when the host is idle, folds it.
    pub fn rest(mut self) {
        self.finish();
        self.flush();
        self.finish();
        if self.device.base.idle.waits_for(Chore::Fold) {
            self.bench().fold_all();
            self.finish();
        }
    }

    fn finish(&mut self) {
        loop {
            while self.step() {}
            self.bench().finish();
            if self.turns.is_empty() {
                break;
            }
        }
    }

    fn bench(&mut self) -> Bench<'_, P, C> {
        let Untimed { device, turns, later, copies, .. } = self;
        let Kernel { ftl, flash, contents, .. } = &mut device.base.kernel;
        Bench { ftl, flash, contents, turns, later, copies, at_end: false }
    }

    /// Ends the next operation of a die. Returns false if nothing is in flight.
    #[inline]
    fn step(&mut self) -> bool {
        let Some(work) = self.turns.next_done() else { return false };
        match work {
            Work::OldCopy(leader) => self.old_copy_read(leader),
            Work::Program(number) => self.programmed(number),
            Work::CopyRead(number) => self.bench().read(number),
            Work::Copy(plane) => {
                let freed = self.bench().copied(plane);
                self.freed(plane, freed);
            }
            Work::Erase(plane) => {
                let freed = self.bench().erased(plane);
                self.freed(plane, freed);
            }
        }
        true
    }

    /// Collection may have freed pages.
    #[inline]
    fn freed(&mut self, plane: PlaneId, freed: Freed) {
        if freed == Freed::Pages && !self.stalled.is_empty() {
            self.retry_stalled(plane);
        }
    }

    /// A program of the host is done: its pages become current, and waiting writes continue.
    fn programmed(&mut self, number: u32) {
        self.commit(number);
        self.device.base.kernel.flash.count_untimed(Origin::Host, Kind::Program, 1);
        self.bench().feed_hungry();
        if !self.stalled.is_empty() && !self.device.base.kernel.ftl.live_by_group().is_empty() {
            self.retry_stalled(PlaneId::new(0));
        }
        self.admit_waiting();
        self.write_back();
    }

    /// Something that a request waited for is done.
    #[inline]
    fn settle(requests: &mut [Outstanding], free: &mut Vec<u32>, id: RequestId) {
        let left = &mut requests[id.at()].left;
        *left -= 1;
        if *left == 0 {
            free.push(id.get());
        }
    }
}

impl<P: Probe, C: Contents> Drop for Untimed<'_, P, C> {
    fn drop(&mut self) {
        self.finish();
        let device = &mut *self.device;
        relocations::settle_all(&mut self.later, &mut device.base.kernel.ftl);
        device.base.idle.begins(device.base.kernel.now);
        device.go_on_counting();
    }
}
