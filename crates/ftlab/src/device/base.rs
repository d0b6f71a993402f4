//! The parts that the read and write paths share: the kernel, the services, the buffers, and the
//! desk that completes requests. The paths themselves only hold what is in flight.

use crate::cache::{Buffer, ReadCache, ReadCacheSetup};
use crate::device::desk::Desk;
use crate::device::flushes::Direct;
use crate::device::idle::Idle;
use crate::device::ledger::Ledger;
use crate::device::read::under_way::{Fetched, ReadingAhead};
use crate::device::services::Services;
use crate::device::{Contents, EndOfLife};
use crate::engine::skills::{self, Skills};
use crate::ftl::cost::regulation;
use crate::ftl::map_cache::{Ready, Seeker};
use crate::ftl::service::Signals;
use crate::ftl::wear::{Life, Losses};
use crate::ftl::{Kernel, fewest_free_blocks};
use crate::host::hints::HintedWrites;
use crate::host::zones::Zones;
use crate::host::{HostRead, HostReader};
use crate::scheduler::{Levels, Note, Probe, Spent};
use crate::units::{Lpn, PlaneId, RequestId, SectorMask, SimTime};
use crate::verify::{Canary, Plant};

/// All of a device except its paths.
#[derive(Clone, Debug)]
pub(super) struct Base<P, C> {
    pub kernel: Kernel<P, C>,
    pub services: Services,
    /// The state of a device without translation, whose requests go straight to flash.
    pub direct: Option<Box<Direct>>,
    /// Written data that is not on flash, or not yet known to be there.
    pub buffer: Buffer,
    pub reads: Reads,
    pub desk: Desk,
    /// The zones; none on a conventional device.
    pub zones: Option<Box<Zones>>,
    /// The writes that carry hints of the host; none if their streams identify them.
    pub hints: Option<Box<HintedWrites>>,
    /// The chores that start when no request comes.
    pub idle: Idle,
    pub sectors_per_page: u32,
    pub units_per_page: u32,
    /// Whether capacitors carry the contents of DRAM to flash when power is cut.
    pub has_capacitors: bool,
    /// Whether flushes and FUA are answered without effect.
    pub ignores_flush: bool,
    /// The notifications that some part of this device needs; the others are never sent.
    pub wakes: Signals,
    /// Whether, when and why the device stopped taking writes.
    pub end_of_life: Option<EndOfLife>,
    /// The ledger of requests, for devices that check themselves.
    pub ledger: Ledger,
    pub plant: Plant,
}

/// The read side: the read cache, and reads in flight with a further purpose.
#[derive(Clone, Debug)]
pub(super) struct Reads {
    pub cache: ReadCache,
    /// Flash pages that are being read ahead.
    pub ahead: ReadingAhead,
    /// Reads in flight whose data stays in the buffer.
    pub fetched: Fetched,
}

impl Reads {
    pub fn new(cache: ReadCacheSetup) -> Reads {
        Reads {
            cache: ReadCache::new(cache),
            ahead: ReadingAhead::default(),
            fetched: Fetched::default(),
        }
    }
}

impl<P: Probe, C: Contents> Base<P, C> {
    /// Whether the device checks itself: a constant if checks are not compiled in.
    #[inline(always)]
    pub fn checks_itself(&self) -> bool {
        self.ledger.is_kept()
    }

    /// Whether flushes and FUA wait for nothing: DRAM is as good as flash, or the device lies.
    #[inline]
    pub fn needs_no_flush(&self) -> bool {
        self.has_capacitors || self.ignores_flush
    }

    /// The capacity that the host can address, in sectors.
    #[inline]
    pub fn capacity_sectors(&self) -> u64 {
        match &self.zones {
            Some(zones) => zones.host_sectors(),
            None => u64::from(self.kernel.ftl.logical_pages()) * u64::from(self.sectors_per_page),
        }
    }

    /// Something that a request waited for is done; `spent` is the time that it took.
    #[inline]
    pub fn settle<const S: Skills>(&mut self, id: RequestId, spent: &Spent) {
        let Kernel { now, contents, flash, .. } = &mut self.kernel;
        self.desk.settle::<S>(id, spent, *now, contents);
        flash.probe_mut().note(*now, Note::Settled { request: id });
    }

    /// How many programs and erases have failed.
    #[inline]
    pub fn failures(&self) -> u64 {
        let losses = self.kernel.ftl.life().map(Life::losses);
        losses.map_or(0, Losses::failed)
    }

    /// Tells observers that want to know how full the device is.
    #[inline]
    pub fn tell_levels(&mut self) {
        let now = self.kernel.now;
        if !self.kernel.flash.probe().follows(now) {
            return;
        }
        let free_blocks = fewest_free_blocks(&self.kernel.ftl);
        let levels = Levels { free_blocks, buffered_pages: self.buffer.pages_left() as u32 };
        self.kernel.flash.probe_mut().note(now, Note::Levels(levels));
    }

    /// A request is done now.
    #[inline]
    pub fn finish(&mut self, id: RequestId) {
        let Kernel { now, contents, .. } = &mut self.kernel;
        self.desk.finish::<{ skills::ALL }>(id, *now, contents);
    }

    /// A request that needs only DRAM completes after the buffer's latency.
    pub fn finish_from_buffer(&mut self, id: RequestId) {
        let (now, latency) = (self.kernel.now, self.buffer.rules.latency);
        self.kernel.flash.probe_mut().note(now, Note::Settled { request: id });
        self.desk.intake.breakdown_mut(id).buffer += latency;
        let at = match self.plant.is(Canary::EventInThePast) {
            true => SimTime(now.0.saturating_sub(latency.0)),
            false => now + latency,
        };
        self.desk.from_buffer.push_back((at, id));
    }

    /// Looks up the entry of a page. Returns false if `who` has to wait for it.
    pub fn finds_entry(&mut self, page: Lpn, who: Seeker) -> bool {
        let Base { kernel, services: Services { map, collector, .. }, desk, .. } = self;
        let Some(map) = map else { return true };
        let by = || match who {
            Seeker::Read(id, _) => HostReader::Request(id),
            Seeker::WriteBack(program, _) => HostReader::Program(program),
        };
        if map.lies_with_host(page, &kernel.ftl)
            && let Some(front) = &mut desk.front
            && front.read_host_memory(kernel.now, HostRead::Entries(page, 1), by())
        {
            map.fetch_from_host(page, who, kernel);
            return false;
        }
        let finds = map.finds(page, who, kernel, collector);
        if !finds {
            self.read_changed_entries();
        }
        finds
    }

    /// Begins the reads of the host's memory that updates of translation pages need.
    fn read_changed_entries(&mut self) {
        let Base { kernel, services, desk, .. } = self;
        let (Some(map), Some(front)) = (&mut services.map, &mut desk.front) else { return };
        while let Some((of, entries)) = map.next_host_read() {
            let (what, by) = (HostRead::Changed(of, entries), HostReader::Update(of));
            front.read_host_memory(kernel.now, what, by);
        }
    }

    /// Whether the look-up of a page's entry may need a flash command.
    pub fn may_wait_for_entry(&self, page: Lpn) -> bool {
        let map = self.services.map.as_ref();
        map.is_some_and(|map| map.may_wait_for(page, &self.kernel.ftl))
    }

    /// Whether the entry of a page is in the controller's memory.
    pub fn knows_entry(&self, page: Lpn) -> bool {
        let map = self.services.map.as_ref();
        let ftl = &self.kernel.ftl;
        map.is_none_or(|map| map.knows(page, ftl) && !map.lies_with_host(page, ftl))
    }

    /// The next waiter whose entry is in memory now.
    pub fn next_with_entry(&mut self) -> Option<Ready> {
        self.services.map.as_mut()?.next_ready(&mut self.kernel)
    }

    /// Updates the translation pages that are due.
    pub fn update_map(&mut self) {
        let Base { kernel, services: Services { map, collector, .. }, .. } = self;
        map.iter_mut().for_each(|map| map.update_due(kernel, collector));
        self.read_changed_entries();
    }

    /// A plane has free pages again: places translation pages that are waiting for one.
    pub fn retry_map(&mut self, plane: PlaneId) {
        let Base { kernel, services: Services { map, collector, .. }, .. } = self;
        map.iter_mut().for_each(|map| map.retry(plane, kernel, collector));
    }

    /// The host reads sectors of a page from flash: a regulator may want the page at another cost.
    pub fn note_flash_read(&mut self, page: Lpn, wanted: SectorMask) {
        let past = regulation::read_by_host(page, &mut self.kernel.ftl);
        if let Some(rewriter) = &mut self.services.rewriter {
            rewriter.note_read(page, past, wanted, &self.kernel);
        }
    }

    /// Whether an idle die has pages to rewrite.
    #[inline]
    pub fn may_rewrite(&self) -> bool {
        self.services.rewriter.as_ref().is_some_and(|rewriter| rewriter.has_idle_dies())
    }

    /// Nothing more happens at this moment: dies that are still idle rewrite pages.
    #[cold]
    pub fn rewrite(&mut self) {
        let Base { kernel, services, buffer, .. } = self;
        if let Some(rewriter) = &mut services.rewriter {
            rewriter.work_on_idle_dies(|page| buffer.pages.is_being_written(page), kernel);
        }
    }

    /// The device comes to rest or is prepared: cancels rewrites that are waiting.
    pub fn give_up_rewrites(&mut self) {
        if let Some(rewriter) = &mut self.services.rewriter {
            rewriter.give_up(&mut self.kernel.flash);
        }
    }
}
