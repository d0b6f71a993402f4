//! Bringing a device to rest, saving it, and loading it: see [`image`](crate::image).

use std::fmt;

use crate::device::base::Base;
use crate::device::desk::Desk;
use crate::device::front::victims;
use crate::device::write::{Writes, end_of_life, zones};
use crate::device::{Contents, Device, EndOfLife, Place, patrol};
use crate::engine::skills;
use crate::ftl::mapping::Dftl;
use crate::ftl::recovery::rebuild;
use crate::ftl::{Kernel, superblock};
use crate::host::{Advanced, Completion, Host, Op, Request};
use crate::image::{ChunkSink, Chunking, Damage, ImagePart, Resume, Snapshot, Unpack, take_up};
use crate::scheduler::Probe;
use crate::units::{BlockId, Lba, SimTime};

/// Why a device can't come to rest. It reached the end of its life with acknowledged data that
/// found no flash page, or with changes of a map on flash that are only in DRAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeftInDram {
    /// Pages that are only in DRAM.
    pub pages: usize,
    /// Translation pages with changes that are only in DRAM.
    pub translation_pages: usize,
    /// The end of life.
    pub end: EndOfLife,
}

impl fmt::Display for LeftInDram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let EndOfLife { host_written: written, reason, .. } = self.end;
        write!(f, "after {written} of writes {reason}, and ")?;
        match (self.pages, self.translation_pages) {
            (0, of_map) => write!(f, "changes of {of_map} translation pages are only in DRAM"),
            (pages, _) => write!(
                f,
                "{pages} pages that were acknowledged found no flash page that could be programmed"
            ),
        }
    }
}

impl std::error::Error for LeftInDram {}

/// A flush has neither an address nor a length.
const FLUSH: Request =
    Request { op: Op::Flush, lba: Lba(0), sectors: 0, stream: 0, tag: 0, fua: false };

impl<P: Probe, C: Contents> Device<P, C> {
    /// Brings the device to rest: completes all requests, writes the buffer to flash, and lets
    /// collection finish. Appends the completions of outstanding requests to `done`.
    ///
    /// A drive does the same when it is told to power down. Its DRAM is empty afterwards.
    ///
    /// # Errors
    /// The contents of DRAM can't be written any more. The device still serves reads, but can't be saved.
    pub fn rest(&mut self, done: &mut Vec<Completion>) -> Result<(), LeftInDram> {
        self.idle(done);
        self.base.give_up_rewrites();
        for slot in self.base.buffer.pages.clean() {
            self.base.kernel.contents.forget(Place::Buffer(slot));
            self.base.buffer.forget_clean(slot, &self.base.kernel.ftl);
        }
        let Base { reads, kernel, .. } = &mut self.base;
        reads.cache.clear(|place| kernel.contents.forget(Place::ReadCache(place)));
        if self.base.buffer.pages_held() > 0 {
            let before = done.len();
            // Capacitors only help when power is cut. Here, all data has to be on flash.
            let capacitors = std::mem::take(&mut self.base.has_capacitors);
            let ignored = std::mem::take(&mut self.base.ignores_flush);
            self.submit(self.base.kernel.now, FLUSH);
            self.idle(done);
            (self.base.has_capacitors, self.base.ignores_flush) = (capacitors, ignored);
            // The host must not see our own flush.
            let ours = done[before..].iter().position(|done| done.request == FLUSH);
            ours.map(|at| done.remove(before + at));
        }
        let pages = self.base.buffer.pages_held();
        let translation_pages = self.base.kernel.ftl.map_on_flash().map_or(0, Dftl::pages_kept);
        if let Some(&end) = self.base.end_of_life.as_ref().filter(|_| pages + translation_pages > 0)
        {
            return Err(LeftInDram { pages, translation_pages, end });
        }
        self.base.buffer.rest();
        // A device that is loaded does not make up for a patrol that was put off.
        patrol::plan_patrol(&mut self.base);
        Ok(())
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
        self.save_with(None)
    }

    /// Like [`save`](Self::save), with the largest tables in chunks, which `sink` takes: whoever loads the device then
    /// reads only what is touched. Only if the device [has](Self::has_chunks) such tables.
    ///
    /// # Panics
    /// As there.
    pub fn save_in_chunks(&self, sink: &mut dyn ChunkSink) -> Snapshot {
        let chunking = self.has_chunks().then(|| Chunking::new(sink));
        self.save_with(chunking)
    }

    /// Whether the largest tables can be saved in chunks.
    #[must_use]
    pub fn has_chunks(&self) -> bool {
        crate::ftl::image::has_chunks(&self.base.kernel.ftl)
    }

    fn save_with(&self, chunking: Option<Chunking<'_>>) -> Snapshot {
        let Device {
            // Follows from the parts of the device.
            skills: _,
            base,
            writes,
        } = self;
        let Base {
            kernel: Kernel { now, ftl, flash, contents: _ },
            services,
            // Holds only what is in flight.
            direct: _,
            buffer,
            reads,
            desk,
            zones,
            hints,
            // At rest, the host has been idle for long enough.
            idle: _,
            sectors_per_page: _,
            units_per_page: _,
            has_capacitors: _,
            ignores_flush: _,
            // Follows from the parts of the device.
            wakes: _,
            // The FTL knows the reason; the time is of no use to those who load the image.
            end_of_life: _,
            // Only used by checks.
            ledger: _,
            plant: _,
        } = base;
        // No service has anything in flight, and rewrites that waited were cancelled. A device that
        // is shut down properly has written its map.
        let Desk { front, intake, from_buffer, finished, queues: _ } = desk;
        // The other fields only hold programs in flight or prefetch tables.
        let Writes { stalled, standstill, .. } = writes;
        let quiet = intake.in_flight() + flash.in_flight() + buffer.pages_held() == 0;
        let map = services.are_at_rest();
        let on_flash = |map: &Dftl| map.is_at_rest() && map.pages_kept() == 0;
        let map = map && ftl.map_on_flash().is_none_or(on_flash);
        let quiet = quiet && map && standstill.is_over() && reads.cache.is_empty();
        let handed_out = stalled.is_empty() && from_buffer.is_empty() && finished.is_empty();
        assert!(quiet && handed_out, "only a device at rest can be saved");
        let mut snapshot = Snapshot::default();
        snapshot.write(ImagePart::Device, |out| out.number(now.0));
        crate::ftl::image::save(&mut snapshot, chunking, ftl);
        snapshot.write(ImagePart::Policies, |out| {
            crate::ftl::image::save_policies(out, ftl);
            flash.save(out);
            out.nested(|out| buffer.save(out));
            out.nested(|out| {
                let victims = victims(ftl);
                front.iter().for_each(|front| front.save(victims, out));
                hints.iter().for_each(|hints| hints.save(out));
            });
            zones.iter().for_each(|zones| out.nested(|out| zones.save(out)));
        });
        snapshot
    }

    /// Loads a saved state into a device that was just assembled and has the same shape. The clock
    /// continues, and so does what has failed; other counters start at zero.
    ///
    /// # Errors
    /// The snapshot is damaged or does not fit. The device is unusable then.
    pub fn load(&mut self, from: &Snapshot, resume: Resume) -> Result<(), Damage> {
        self.load_with(from, resume, Unpack::Now)
    }

    /// As [`load`](Self::load), but chunks stay packed until the device needs them, and are checked only then.
    ///
    /// # Errors
    /// As there.
    ///
    /// # Panics
    /// Later, whatever is done with the device, with a [`Damage`] as the payload and without the panic hook: a chunk that
    /// is needed can't be read. Who uses such a device catches that.
    pub fn load_packed(&mut self, from: &Snapshot, resume: Resume) -> Result<(), Damage> {
        self.load_with(from, resume, Unpack::AsNeeded)
    }

    fn load_with(&mut self, from: &Snapshot, resume: Resume, unpack: Unpack) -> Result<(), Damage> {
        let now = from.read(ImagePart::Device, resume.random, |from| from.number())?;
        if now > LATEST.0 {
            return Err(Damage(format!("its clock, {now} ns, is too near the end of the range")));
        }
        self.base.kernel.now = SimTime(now);
        patrol::plan_patrol(&mut self.base);
        crate::ftl::image::load(from, resume, unpack, &mut self.base.kernel.ftl)?;
        if let Some(journal) = &mut self.base.services.journal {
            journal.begin_with(rebuild::pages_on_record(&self.base.kernel.ftl));
        }
        from.read(ImagePart::Policies, resume.random, |from| {
            let Kernel { ftl, flash, .. } = &mut self.base.kernel;
            crate::ftl::image::load_policies(from, resume, ftl)?;
            ftl.dead_dies_on_flash().into_iter().for_each(|die| flash.die_dies(die, SimTime::ZERO));
            flash.take_up(from, resume)?;
            take_up(from, resume.cache, |from| self.base.buffer.load(from))?;
            take_up(from, resume.host, |from| {
                self.base.desk.front.as_mut().map_or(Ok(()), |front| front.load(from))?;
                self.base.hints.as_mut().map_or(Ok(()), |hints| hints.load(from))
            })?;
            match &mut self.base.zones {
                Some(zones) => take_up(from, true, |from| zones.load(from)),
                None => Ok(()),
            }
        })?;
        zones::give_way(&mut self.base);
        if !resume.streams {
            zones::begin_active(&mut self.base);
        }
        for (block, erases) in
            (0..).map(BlockId::new).zip(self.base.kernel.ftl.blocks().all_erases())
        {
            superblock::room::blocks_on_flash(block, &self.base.kernel.ftl)
                .for_each(|at| self.base.kernel.flash.cells_mut().know_erases(at, erases));
        }
        self.base.begin_ages();
        self.choose_skills();
        end_of_life::consider_end::<{ skills::ALL }>(&mut self.writes, &mut self.base);
        self.go_on_counting();
        let Base { kernel, services, .. } = &mut self.base;
        services.collector.rebuild::<{ skills::ALL }>(kernel);
        if crate::ftl::image::wake_planes(&mut self.base.kernel.ftl) || !resume.collection {
            self.base.relieve::<{ skills::ALL }>();
        }
        Ok(())
    }
}

impl<P: Probe, C: Contents> Base<P, C> {
    /// Starts the age of data on flash whose time of programming is unknown, because another timing
    /// model or nobody recorded it.
    pub(super) fn begin_ages(&mut self) {
        let all = (0..self.kernel.ftl.geometry().blocks()).map(BlockId::new);
        let Some(programmed) = self.kernel.flash.cells_mut().programmed_mut() else { return };
        let holding = all.filter(|&block| self.kernel.ftl.blocks().programmed(block) > 0);
        let on_flash =
            holding.flat_map(|block| superblock::room::blocks_on_flash(block, &self.kernel.ftl));
        on_flash.for_each(|block| programmed.holds(block, self.kernel.now));
    }
}

/// A clock beyond this (73 years) is taken for damage.
const LATEST: SimTime = SimTime(u64::MAX >> 3);
