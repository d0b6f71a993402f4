//! A device that is written without a clock: ageing and filling want the state that writes leave, not how long they
//! take. Mapping, streams, victims, wear, the SLC cache and the write buffer advance by the same functions as in
//! time; flash commands, buses, events and completions are left out.
//!
//! What time decides otherwise is the order in which things happen: which die is done first, and how far collection
//! gets between two writes. The dies' cells decide that here ([`Turns`](crate::scheduler)): a host that writes as fast
//! as the device takes keeps them busy, so each die takes the next write when it is done with what it has.
//! Nothing else is known of time, the clock of the device stands still, and nothing that needs it can be told.

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
use crate::ftl::gc::{Bench, Freed};
use crate::ftl::placement::PlacementPolicy;
use crate::ftl::relocations;
use crate::ftl::{Kernel, Relocations};
use crate::host::{Host, Request};
use crate::scheduler::{Kind, Origin, Probe, Turns, Work};
use crate::units::{PlaneId, RequestId};

/// A device that is being written without a clock. [`end`](Self::end) or [`rest`](Self::rest) gives it back to time.
pub struct Untimed<'a, P: Probe = (), C: Contents = ()> {
    device: &'a mut Device<P, C>,
    turns: Turns,
    /// What collection owes the map.
    later: Relocations,
    programs: Programs,
    /// Programs that wait for a free page.
    stalled: Stalled,
    /// How many programs had to wait: who waits longest is known by that.
    waits: u64,
    requests: Vec<Outstanding>,
    /// Numbers of requests that are done.
    free: Vec<u32>,
}

/// A request that was taken in.
#[derive(Clone, Copy)]
struct Outstanding {
    request: Request,
    /// What it still waits for.
    left: u32,
}

/// No write can go on: the device has no room that collection could make, and nothing is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stuck;

impl<P: Probe, C: Contents> Device<P, C> {
    /// Writes this device without a clock from now on, by a host that keeps `depth` requests outstanding. What
    /// is under way ends first, in time.
    ///
    /// # Errors
    /// Why that can't be: something in force looks at time.
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
        let geometry = self.base.kernel.ftl.geometry();
        let streams = self.base.kernel.ftl.streams().host_streams();
        Ok(Untimed {
            turns: Turns::new(geometry),
            later: Relocations::new(self.base.kernel.ftl.logical_pages()),
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
    /// The device as it is at present, but that its map may name places which pages have left.
    pub fn device(&self) -> &Device<P, C> {
        self.device
    }

    /// Ends what is under way; what lies in the write buffer stays there. The device is as after the last completion of
    /// a timed load.
    pub fn end(self) {}

    /// Brings the device to rest: what lies in the write buffer goes to flash, collection ends where it would end by
    /// itself, and where the host's idleness folds the SLC cache, that is folded.
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
        let Kernel { ftl, flash, contents, .. } = &mut self.device.base.kernel;
        let (turns, later) = (&mut self.turns, &mut self.later);
        Bench { ftl, flash, contents, turns, later, at_end: false }
    }

    /// Something is done by a die. False if nothing is under way.
    #[inline]
    fn step(&mut self) -> bool {
        let Some(work) = self.turns.next_done() else { return false };
        match work {
            Work::OldCopy(leader) => self.old_copy_read(leader),
            Work::Program(number) => self.programmed(number),
            Work::Reads(gathered) => self.bench().read(gathered),
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

    /// Collection may have made pages free.
    #[inline]
    fn freed(&mut self, plane: PlaneId, freed: Freed) {
        if freed == Freed::Pages && !self.stalled.is_empty() {
            self.retry_stalled(plane);
        }
    }

    /// A program of the host is done: its pages become current, and what waited for them goes on.
    fn programmed(&mut self, number: u32) {
        self.commit(number);
        self.device.base.kernel.flash.count_untimed(Origin::Host, Kind::Program, 1);
        self.bench().feed_hungry();
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
        if device.base.checks_itself() {
            device.verify_loaded();
        }
    }
}
