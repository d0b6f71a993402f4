//! Access to the entries of a map that is stored on flash (`ftl.mapping.policy = "dftl"`).
//!
//! A page that is read or written back first looks up its entry ([`MapCache::finds`]). If the entry
//! is in memory, the page continues at once. If not, the page waits for a *fetch*: if the evicted
//! entry differs from flash, its translation page is written first; then the translation page of
//! the wanted entry is read, once for all pages that wait for it. Afterwards the page continues
//! where it stopped ([`MapCache::next_ready`]).
//!
//! A translation page is updated because of an evicted entry, of pages that garbage
//! collection moved, or of a trim. Its old copy is read, and the new one is placed and programmed
//! as any page. Entries that differ from flash and lie in the host's memory are read from there meanwhile. If another update is requested meanwhile, the translation page is updated once
//! more. During an update the whole translation page is in memory, so a look-up of one of its
//! entries waits at most until the old copy is read. An update waits for room, but never for
//! another update or a fetch, and nothing that makes room waits for an update. This avoids
//! deadlock.
//!
//! [`failures`] handles failed programs and the end of the device's life.

mod failures;
mod reads;
mod ready;
mod room;
mod updates;
mod waiting;

use crate::ftl::map_pages;
use std::collections::VecDeque;

pub(crate) use self::ready::Ready;
use self::ready::Todo;
use self::room::Stalled;
use self::updates::Progress;
pub(crate) use self::waiting::Seeker;
use self::waiting::{Fetch, MapRead, NumberMap, Queue, Update, Waiter};
use crate::engine::{Handle, Slab};
use crate::ftl::gc::Collector;
use crate::ftl::mapping::dftl::{DemandCounts, LookUp};
use crate::ftl::service::{Service, Signals};
use crate::ftl::{FlashContents, Ftl, Kernel};
use crate::scheduler::{CommandId, Owner, Probe, ServiceId};
use crate::units::{Lpn, SimTime, Tpn};
use crate::verify::Canary;

/// All look-ups that wait for entries of the map, and the flash commands that they wait for.
#[derive(Clone, Debug)]
pub(crate) struct MapCache {
    fetches: Slab<Fetch>,
    waiters: Slab<Waiter>,
    by_page: NumberMap<Lpn, Handle<Fetch>>,
    map_reads: NumberMap<Tpn, MapRead>,
    updates: NumberMap<Tpn, Update>,
    /// Updates that are to read so many entries from the host's memory.
    host_reads: VecDeque<(Tpn, u32)>,
    /// Programs that wait for a place.
    stalled: Stalled,
    /// The next steps, in order.
    todo: VecDeque<Todo>,
}

/// The purpose of a flash command.
#[derive(Clone, Copy, Debug)]
enum MapCommand {
    /// A translation page is read for its entries.
    Read(Tpn),
    /// A translation page is updated.
    Update(Tpn),
}

impl MapCommand {
    fn owner(self) -> Owner {
        let (of, updates) = match self {
            MapCommand::Read(of) => (of, 0),
            MapCommand::Update(of) => (of, 1),
        };
        ServiceId::MAP.owner(of.get() << 1 | updates)
    }

    fn of(token: u32) -> MapCommand {
        let of = Tpn::new(token >> 1);
        match token & 1 {
            0 => MapCommand::Read(of),
            _ => MapCommand::Update(of),
        }
    }
}

/// How an entry of a translation page gets into memory.
enum EntrySource {
    /// The entry is in memory: its translation page is being updated, is kept in memory, or was
    /// never written.
    Memory,
    /// The translation page is already being read.
    UnderWay,
    Flash,
}

/// Updates the counts of a map that is stored on flash.
fn count(ftl: &mut Ftl, count: impl FnOnce(&mut DemandCounts)) {
    if let Some(map) = map_pages::map_on_flash_mut(ftl) {
        count(map.counts_mut());
    }
}

impl MapCache {
    /// Creates an idle map cache. Translation pages go to `pools` pools of planes.
    pub fn new(pools: u32) -> MapCache {
        MapCache {
            fetches: Slab::default(),
            waiters: Slab::default(),
            by_page: NumberMap::default(),
            map_reads: NumberMap::default(),
            updates: NumberMap::default(),
            host_reads: VecDeque::new(),
            stalled: Stalled::new(pools),
            todo: VecDeque::new(),
        }
    }

    /// Returns the translation pages that are being updated.
    pub fn being_updated(&self) -> Vec<Tpn> {
        // Sorted, because a hash table has no defined order.
        let mut all: Vec<Tpn> = self.updates.keys().copied().collect();
        all.sort_unstable();
        all
    }

    /// Whether a look-up of the entry of a page may need a flash command.
    pub fn may_wait_for(&self, page: Lpn, ftl: &Ftl) -> bool {
        let Some(map) = ftl.map_on_flash() else { return false };
        if self.by_page.contains_key(&page) {
            return true;
        }
        let cached = map.cached();
        let is_full = cached.held() == cached.capacity();
        let may_miss = is_full || map_pages::has_translation(map.page_of(page), ftl);
        cached.state(page).is_none() && may_miss && !map.keeps_entry(page)
    }

    /// Whether the entry of a page is in memory. An entry that is being fetched has space there,
    /// but is not known yet.
    pub fn knows(&self, page: Lpn, ftl: &Ftl) -> bool {
        let Some(map) = ftl.map_on_flash() else { return true };
        let is_there = map.cached().state(page).is_some() || map.keeps_entry(page);
        is_there && !self.by_page.contains_key(&page)
    }

    /// Whether the entry of a page lies in the host's memory, and is not being fetched.
    pub fn lies_with_host(&self, page: Lpn, ftl: &Ftl) -> bool {
        let Some(map) = ftl.map_on_flash() else { return false };
        let lies_there = map.cached().is_with_host(page) && !map.keeps_entry(page);
        lies_there && !self.by_page.contains_key(&page)
    }

    /// Makes `who` wait for an entry that is being read from the host's memory.
    pub fn fetch_from_host<P: Probe, C: FlashContents>(
        &mut self,
        page: Lpn,
        who: Seeker,
        on: &mut Kernel<P, C>,
    ) {
        if let Some(map) = map_pages::map_on_flash_mut(&mut on.ftl) {
            map.take_from_host(page);
        }
        let fetch = self.begin_fetch(page, who, on.now);
        self.fetches[fetch].with_host = true;
    }

    /// Whether the entry of a page is being read from the host's memory.
    fn comes_from_host(&self, page: Lpn) -> bool {
        self.by_page.get(&page).is_some_and(|&fetch| self.fetches[fetch].with_host)
    }

    /// The entries of so many pages have come from the host's memory.
    pub fn came_from_host(&mut self, first: Lpn, entries: u32) {
        let pages = (first.get()..first.get() + entries).map(Lpn::new);
        let fetches = pages.filter_map(|page| self.by_page.get(&page).copied());
        self.todo.extend(fetches.map(Todo::Fetched));
        self.todo.push_back(Todo::EndOfPage);
    }

    /// The next update that is to read entries from the host's memory, and how many. All come at once: call
    /// [`changed_entries_came`](Self::changed_entries_came).
    pub fn next_host_read(&mut self) -> Option<(Tpn, u32)> {
        self.host_reads.pop_front()
    }

    /// Looks up the entry of a page. Returns false if `who` has to wait for it. It may then be ready
    /// soon, so call [`next_ready`](Self::next_ready).
    pub fn finds(
        &mut self,
        page: Lpn,
        who: Seeker,
        on: &mut Kernel<impl Probe, impl FlashContents>,
        gc: &mut Collector,
    ) -> bool {
        let under_way = self.by_page.get(&page).copied();
        let Some(map) = map_pages::map_on_flash_mut(&mut on.ftl) else { return true };
        let (found, of) = (map.find(page, who.cause(), under_way.is_some()), map.page_of(page));
        let room = match found {
            LookUp::Hit if under_way.is_none() => return true,
            LookUp::Hit => None,
            LookUp::Miss(room) => room.filter(|_| !on.ftl.plant.is(Canary::DirtyEntryForgotten)),
        };
        let room = room.filter(|&left| !self.kept_at_once(left, &mut on.ftl));
        let now = on.now;
        let mut fetch = None;
        if let Some(under_way) = under_way {
            self.join(under_way, who, now);
            count(&mut on.ftl, |counts| counts.shared += 1);
        } else if room.is_some() {
            fetch = Some(self.begin_fetch(page, who, now));
        } else {
            let source = self.source_of(of, &mut on.ftl);
            if matches!(source, EntrySource::Memory) {
                return true;
            }
            let fetch = self.begin_fetch(page, who, now);
            self.bring_entry(fetch, of, source, on);
        }
        if let Some(left) = room {
            self.update(left, who.cause().of_room(), fetch, on, gc);
        }
        false
    }

    /// Makes `who` wait for a fetch.
    fn join(&mut self, fetch: Handle<Fetch>, who: Seeker, since: SimTime) {
        let id = self.waiters.insert(Waiter { who, since, next: None });
        let MapCache { fetches, waiters, .. } = self;
        fetches[fetch].seekers.push(id, |last| waiters[last].next = Some(id));
    }

    fn begin_fetch(&mut self, page: Lpn, who: Seeker, since: SimTime) -> Handle<Fetch> {
        let seekers = Queue::default();
        let cause = who.cause();
        let fetch =
            self.fetches.insert(Fetch { page, cause, with_host: false, seekers, next: None });
        self.by_page.insert(page, fetch);
        self.join(fetch, who, since);
        fetch
    }

    fn push(fetches: &mut Slab<Fetch>, to: &mut Queue<Fetch>, fetch: Handle<Fetch>) {
        fetches[fetch].next = None;
        to.push(fetch, |last| fetches[last].next = Some(fetch));
    }

    /// Returns the source of an entry that is not in memory, and counts the miss.
    fn source_of(&self, of: Tpn, ftl: &mut Ftl) -> EntrySource {
        let is_kept = ftl.map_on_flash().is_some_and(|map| map.keeps(of));
        let update = self.updates.get(&of).map(|update| update.reads);
        let is_read = self.map_reads.contains_key(&of);
        let was_written = map_pages::has_translation(of, ftl);
        let source = match update {
            Some(0) => EntrySource::Memory,
            Some(_) => EntrySource::UnderWay,
            None if is_read => EntrySource::UnderWay,
            None if is_kept => EntrySource::Memory,
            None if was_written => EntrySource::Flash,
            None => EntrySource::Memory,
        };
        match source {
            EntrySource::Memory if update.is_none() => count(ftl, |counts| counts.unwritten += 1),
            EntrySource::Memory | EntrySource::UnderWay => count(ftl, |counts| counts.shared += 1),
            EntrySource::Flash => {}
        }
        source
    }

    /// Continues a fetch that now has space for its entry.
    fn fetch_entry(
        &mut self,
        fetch: Handle<Fetch>,
        on: &mut Kernel<impl Probe, impl FlashContents>,
    ) {
        let page = self.fetches[fetch].page;
        let Some(of) = on.ftl.map_on_flash().map(|map| map.page_of(page)) else { return };
        let source = self.source_of(of, &mut on.ftl);
        self.bring_entry(fetch, of, source, on);
    }

    /// Gets the entry of a fetch into memory.
    fn bring_entry(
        &mut self,
        fetch: Handle<Fetch>,
        of: Tpn,
        source: EntrySource,
        on: &mut Kernel<impl Probe, impl FlashContents>,
    ) {
        if matches!(source, EntrySource::Memory) {
            return self.is_fetched(fetch);
        }
        if matches!(source, EntrySource::Flash) {
            let cause = self.fetches[fetch].cause;
            let reads = self.read_map(of, cause, MapCommand::Read(of).owner(), on);
            self.map_reads.insert(of, MapRead { reads, fetches: Queue::default() });
        }
        let MapCache { fetches, map_reads, updates, .. } = self;
        let queue = match updates.get_mut(&of) {
            Some(update) => &mut update.content,
            None => &mut map_reads.entry(of).or_default().fetches,
        };
        MapCache::push(fetches, queue, fetch);
    }
}

impl Service for MapCache {
    const ID: ServiceId = ServiceId::MAP;
    const NEEDS_TIME: &'static str = "its map lies on flash, and writes wait for entries of it";

    fn done(
        &mut self,
        token: u32,
        id: CommandId,
        on: &mut Kernel<impl Probe, impl FlashContents>,
        gc: &mut Collector,
    ) -> Signals {
        let entries = Signals::ENTRIES.and(Signals::GIVEN_UP);
        let changed = entries.and(Signals::FAILED).and(Signals::MAP);
        match MapCommand::of(token) {
            MapCommand::Read(of) if self.map_read_done(of) => entries,
            MapCommand::Read(_) => Signals::NONE,
            MapCommand::Update(of) => match self.command_done(of, id, on, gc) {
                Progress::Waits => Signals::NONE,
                Progress::Read => entries,
                Progress::Failed => changed,
                Progress::Written => changed.and(Signals::INVALID),
            },
        }
    }

    fn unreadable(&mut self, token: u32, ftl: &mut Ftl) {
        let (MapCommand::Read(of) | MapCommand::Update(of)) = MapCommand::of(token);
        self.lose_entries(of, ftl);
    }

    fn is_at_rest(&self) -> bool {
        self.by_page.is_empty() && self.map_reads.is_empty() && self.updates.is_empty()
    }
}
