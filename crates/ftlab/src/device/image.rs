//! A device comes to rest, is saved, and is loaded: see [`image`](crate::image).

use super::{Contents, Device};
use crate::host::{Advanced, Completion, Host, Op, Request};
use crate::image::{Damage, Part, Resume, Snapshot, take_up};
use crate::scheduler::Probe;
use crate::units::{Lba, SimTime};
use crate::verify;

/// A flush, which takes neither address nor length.
const FLUSH: Request = Request { op: Op::Flush, lba: Lba(0), sectors: 0, stream: 0, tag: 0 };

impl<P: Probe, C: Contents> Device<P, C> {
    /// Lets the device come to rest: everything that was asked of it is done, what lies in the write buffer
    /// goes to flash, collection ends where it would end by itself. Completions of what was
    /// outstanding are appended to `done`.
    ///
    /// A drive does the same when it is told to power down; its DRAM is empty afterwards.
    pub fn rest(&mut self, done: &mut Vec<Completion>) {
        self.idle(done);
        if self.buffer.pages_held() > 0 {
            let before = done.len();
            self.submit(self.now, FLUSH);
            self.idle(done);
            // The flush that was ours.
            let ours = done[before..].iter().position(|done| done.request == FLUSH);
            ours.map(|at| done.remove(before + at));
        }
        self.buffer.rest();
    }

    fn idle(&mut self, done: &mut Vec<Completion>) {
        while self.advance_until(SimTime::FOREVER, done) != Advanced::Idle {}
    }

    /// The state of a device at rest.
    ///
    /// # Panics
    /// If the device is not at rest: see [`rest`](Self::rest).
    #[must_use]
    pub fn save(&self) -> Snapshot {
        let Device {
            now,
            capacity_sectors: _,
            sectors_per_page: _,
            units_per_page: _,
            queues: _,
            front,
            intake,
            buffer,
            ftl,
            // Copies and loads of programs in flight.
            collector: _,
            flash,
            contents: _,
            loads: _,
            stalled,
            from_buffer,
            finished,
            // At rest the host has been idle for long enough.
            idle_at: _,
            batch: _,
            // Only brings tables closer to the processor.
            recent: _,
            // Follows from the blocks, as far as it is known again at the next request.
            end_of_life: _,
            // Only checks.
            ledger: _,
        } = self;
        let quiet = intake.in_flight() + flash.in_flight() + buffer.pages_held() == 0;
        let handed_out = stalled.is_empty() && from_buffer.is_empty() && finished.is_empty();
        assert!(quiet && handed_out, "only a device at rest can be saved");
        let mut snapshot = Snapshot::default();
        snapshot.write(Part::Device, |out| out.number(now.0));
        ftl.save(&mut snapshot);
        snapshot.write(Part::Policies, |out| {
            ftl.save_policies(out);
            flash.save(out);
            out.nested(|out| buffer.save(out));
            out.nested(|out| front.iter().for_each(|front| front.save(out)));
        });
        snapshot
    }

    /// Takes up a saved state, in a device that was just assembled and has the same shape. The clock
    /// goes on; what is counted begins anew.
    ///
    /// # Errors
    /// What is wrong with the snapshot. The device is of no use then.
    pub fn load(&mut self, from: &Snapshot, resume: Resume) -> Result<(), Damage> {
        let now = from.read(Part::Device, resume.random, |from| from.number())?;
        if now > LATEST.0 {
            return Err(Damage(format!("the clock stands at {now} ns, too near its end")));
        }
        self.now = SimTime(now);
        self.ftl.load(from, resume)?;
        from.read(Part::Policies, resume.random, |from| {
            self.ftl.load_policies(from, resume)?;
            self.flash.take_up(from, resume)?;
            take_up(from, resume.cache, |from| self.buffer.load(from))?;
            take_up(from, resume.host, |from| {
                self.front.as_mut().map_or(Ok(()), |front| front.load(from))
            })
        })?;
        if verify::ON {
            self.verify_loaded();
        }
        if !resume.collection {
            self.relieve();
        }
        Ok(())
    }
}

/// A clock beyond this (73 years) is damage.
const LATEST: SimTime = SimTime(u64::MAX >> 3);
