//! The way to entries of a map that lies on flash (`ftl.mapping.policy = "dftl"`).
//!
//! A page that is read, or written back, looks its entry up first (`finds_entry`). If it is in memory, nothing
//! is lost. If not, the page waits for a *fetch*: the entry that made room is written first if it differs from
//! flash, then the translation page is read, once for all who wait for it. Then the page goes on where it
//! stood.
//!
//! A translation page is rewritten (`rewrite`) for an entry that made room, for what collection has moved, or
//! for a trim: its old copy is read, the new one placed and programmed as any page. One that is asked for again
//! meanwhile is rewritten once more. While it is rewritten all of it is in memory, so who looks for one of
//! its entries waits for the old copy at the most. A rewrite waits for room, never for another rewrite or a
//! fetch; nothing that makes room waits for it. So everybody gets on.
//!
//! What becomes of that when programs fail, and at the end of the device's life, stands in [`failures`].

mod failures;
mod room;

use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasherDefault;

use super::gathering::Gathering;
use super::stalled::Waiting;
use super::{Contents, Device};
use crate::cache::SlotId;
use crate::engine::skills::{self, Skills};
use crate::engine::{Handle, NumberHasher, Slab};
use crate::ftl::mapping::dftl::{Cause, DemandCounts, Found};
use crate::scheduler::{Command, CommandId, Kind, Origin, Probe, Spent, Task};
use crate::units::{Lpn, Nanos, PageSpan, PlaneId, Ppn, RequestId, SectorMask, SimTime, Tpn};
use crate::verify::Canary;

/// Who looks for the entry of a page.
#[derive(Clone, Copy, Debug)]
pub(super) enum Seeker {
    /// A read of these sectors, which are not in the buffer.
    Read(RequestId, SectorMask),
    /// The page in a slot of the buffer, for which a program waits.
    WriteBack(CommandId, SlotId),
}

impl Seeker {
    fn cause(self) -> Cause {
        match self {
            Seeker::Read(..) => Cause::HostRead,
            Seeker::WriteBack(..) => Cause::WriteBack,
        }
    }
}

/// Tables by number, which are never walked.
type Table<K, V> = HashMap<K, V, BuildHasherDefault<NumberHasher>>;

/// An entry on its way into memory.
#[derive(Clone, Debug)]
struct Fetch {
    page: Lpn,
    cause: Cause,
    seekers: Queue<Waiter>,
    /// The next one that waits for the same translation page.
    next: Option<Handle<Fetch>>,
}

/// Somebody who waits for a fetch.
#[derive(Clone, Debug)]
struct Waiter {
    who: Seeker,
    since: SimTime,
    next: Option<Handle<Waiter>>,
}

/// A queue through entries of a slab.
#[derive(Debug)]
struct Queue<T> {
    first: Option<Handle<T>>,
    last: Option<Handle<T>>,
}

// Derives would ask for more of `T` than a handle needs.
impl<T> Clone for Queue<T> {
    fn clone(&self) -> Self {
        Queue { first: self.first, last: self.last }
    }
}
impl<T> Default for Queue<T> {
    fn default() -> Self {
        Queue { first: None, last: None }
    }
}

impl<T> Queue<T> {
    /// Puts one at the end; `link` says who follows the one that was last.
    fn push(&mut self, id: Handle<T>, link: impl FnOnce(Handle<T>)) {
        match self.last.replace(id) {
            Some(last) => link(last),
            None => self.first = Some(id),
        }
    }
}

/// Reads of a translation page that have not come.
#[derive(Clone, Debug, Default)]
struct Load {
    reads: u32,
    fetches: Queue<Fetch>,
}

/// A translation page that is rewritten.
#[derive(Clone, Debug)]
struct Rewrite {
    cause: Cause,
    /// Reads of its old copy that have not come; after that it is in memory as a whole.
    reads: u32,
    /// Who wants an entry of it.
    content: Queue<Fetch>,
    /// Whose entry takes the place of one that it holds.
    room: Queue<Fetch>,
    /// It is to be rewritten once more: what for, and for whom.
    again: Option<(Cause, Queue<Fetch>)>,
}

/// Everything that waits for the map.
#[derive(Clone, Debug)]
pub(super) struct Translator {
    fetches: Slab<Fetch>,
    waiters: Slab<Waiter>,
    by_page: Table<Lpn, Handle<Fetch>>,
    loads: Table<Tpn, Load>,
    rewrites: Table<Tpn, Rewrite>,
    /// By pool of planes: programs that wait for a place.
    stalled: Vec<VecDeque<(Tpn, Waiting)>>,
    waiting: u32,
}

impl Translator {
    /// Translation pages that are being rewritten.
    pub(super) fn being_rewritten(&self) -> Vec<Tpn> {
        // Sorted: a hash has no order.
        let mut all: Vec<Tpn> = self.rewrites.keys().copied().collect();
        all.sort_unstable();
        all
    }

    /// Nobody waits; translation pages go to so many pools of planes.
    pub(super) fn new(pools: u32) -> Translator {
        Translator {
            fetches: Slab::default(),
            waiters: Slab::default(),
            by_page: Table::default(),
            loads: Table::default(),
            rewrites: Table::default(),
            stalled: vec![VecDeque::new(); pools as usize],
            waiting: 0,
        }
    }

    /// Whether nobody waits, and nothing is under way.
    pub(super) fn is_at_rest(&self) -> bool {
        self.by_page.is_empty() && self.loads.is_empty() && self.rewrites.is_empty()
    }

    /// Somebody waits for a fetch.
    fn join(&mut self, fetch: Handle<Fetch>, who: Seeker, since: SimTime) {
        let id = self.waiters.insert(Waiter { who, since, next: None });
        let Translator { fetches, waiters, .. } = self;
        fetches[fetch].seekers.push(id, |last| waiters[last].next = Some(id));
    }

    fn begin_fetch(&mut self, page: Lpn, who: Seeker, since: SimTime) -> Handle<Fetch> {
        let seekers = Queue::default();
        let fetch = self.fetches.insert(Fetch { page, cause: who.cause(), seekers, next: None });
        self.by_page.insert(page, fetch);
        self.join(fetch, who, since);
        fetch
    }

    fn push(fetches: &mut Slab<Fetch>, to: &mut Queue<Fetch>, fetch: Handle<Fetch>) {
        fetches[fetch].next = None;
        to.push(fetch, |last| fetches[last].next = Some(fetch));
    }
}

/// How an entry of a translation page comes into memory.
enum Source {
    /// It is there: its page is being rewritten, or was never written.
    Memory,
    /// Somebody else reads the page.
    UnderWay,
    Flash,
}

impl<P: Probe, C: Contents> Device<P, C> {
    fn translator(&mut self) -> &mut Translator {
        self.base.services.translator.as_mut().expect("only where the map lies on flash")
    }

    fn count(&mut self, count: impl FnOnce(&mut DemandCounts)) {
        if let Some(map) = self.base.kernel.ftl.map_on_flash_mut() {
            count(map.counts_mut());
        }
    }

    /// Whether looking up the entry of a page may ask something of flash.
    pub(super) fn may_wait_for_entry(&self, page: Lpn) -> bool {
        let (Some(map), Some(translator)) =
            (self.base.kernel.ftl.map_on_flash(), &self.base.services.translator)
        else {
            return false;
        };
        if translator.by_page.contains_key(&page) {
            return true;
        }
        let cached = map.cached();
        let is_full = cached.held() == cached.capacity();
        let may_miss = is_full || self.base.kernel.ftl.has_translation(map.page_of(page));
        cached.state(page).is_none() && may_miss && !map.keeps_entry(page)
    }

    /// Whether the entry of a page is in memory. One that is still being fetched has its place there, but
    /// nobody knows it.
    pub(super) fn knows_entry(&self, page: Lpn) -> bool {
        let (Some(map), Some(translator)) =
            (self.base.kernel.ftl.map_on_flash(), &self.base.services.translator)
        else {
            return true;
        };
        let is_there = map.cached().state(page).is_some() || map.keeps_entry(page);
        is_there && !translator.by_page.contains_key(&page)
    }

    /// Looks up the entry of a page. False if `who` has to wait for it.
    pub(super) fn finds_entry(&mut self, page: Lpn, who: Seeker) -> bool {
        let Some(map) = self.base.kernel.ftl.map_on_flash_mut() else { return true };
        let under_way = self
            .base
            .services
            .translator
            .as_ref()
            .and_then(|translator| translator.by_page.get(&page).copied());
        let (found, of) = (map.find(page, who.cause(), under_way.is_some()), map.page_of(page));
        let room = match found {
            Found::Hit if under_way.is_none() => return true,
            Found::Hit => None,
            Found::Miss(room) => room.filter(|_| !self.base.plant.is(Canary::DirtyEntryForgotten)),
        };
        let room = room.filter(|&left| !self.kept_at_once(left));
        let now = self.base.kernel.now;
        let mut fetch = None;
        if let Some(under_way) = under_way {
            self.translator().join(under_way, who, now);
            self.count(|counts| counts.shared += 1);
        } else if room.is_some() {
            fetch = Some(self.translator().begin_fetch(page, who, now));
        } else {
            let source = self.source_of(of);
            if matches!(source, Source::Memory) {
                return true;
            }
            let fetch = self.translator().begin_fetch(page, who, now);
            self.bring_entry(fetch, of, source);
        }
        if let Some(left) = room {
            self.rewrite(left, who.cause().of_room(), fetch);
        }
        match who {
            Seeker::Read(request, _) => self.base.desk.intake.wait_for_one(request),
            Seeker::WriteBack(program, _) => {
                self.base.kernel.flash.command_mut(program).waits_for += 1
            }
        }
        false
    }

    /// Where an entry that is not in memory comes from, counted.
    fn source_of(&mut self, of: Tpn) -> Source {
        let is_kept = self.base.kernel.ftl.map_on_flash().is_some_and(|map| map.keeps(of));
        let translator = self.translator();
        let rewrite = translator.rewrites.get(&of).map(|rewrite| rewrite.reads);
        let is_read = translator.loads.contains_key(&of);
        let was_written = self.base.kernel.ftl.has_translation(of);
        let source = match rewrite {
            Some(0) => Source::Memory,
            Some(_) => Source::UnderWay,
            None if is_read => Source::UnderWay,
            None if is_kept => Source::Memory,
            None if was_written => Source::Flash,
            None => Source::Memory,
        };
        match source {
            Source::Memory if rewrite.is_none() => self.count(|c| c.unwritten += 1),
            Source::Memory | Source::UnderWay => self.count(|c| c.shared += 1),
            Source::Flash => {}
        }
        source
    }

    /// There is room for the entry of a fetch.
    fn fetch_entry(&mut self, fetch: Handle<Fetch>) {
        let page = self.translator().fetches[fetch].page;
        let Some(of) = self.base.kernel.ftl.map_on_flash().map(|map| map.page_of(page)) else {
            return;
        };
        let source = self.source_of(of);
        self.bring_entry(fetch, of, source);
    }

    /// Brings the entry of a fetch into memory.
    fn bring_entry(&mut self, fetch: Handle<Fetch>, of: Tpn, source: Source) {
        if matches!(source, Source::Memory) {
            let mut only = Queue::default();
            Translator::push(&mut self.translator().fetches, &mut only, fetch);
            return self.all_fetched(only);
        }
        if matches!(source, Source::Flash) {
            let cause = self.translator().fetches[fetch].cause;
            let reads = self.read_map(of, cause, Task::LoadMap(of));
            self.translator().loads.insert(of, Load { reads, fetches: Queue::default() });
        }
        let Translator { fetches, loads, rewrites, .. } = self.translator();
        let queue = match rewrites.get_mut(&of) {
            Some(rewrite) => &mut rewrite.content,
            None => &mut loads.entry(of).or_default().fetches,
        };
        Translator::push(fetches, queue, fetch);
    }

    /// Begins to read a translation page. Returns how many reads that takes: one, unless collection has
    /// parted it.
    fn read_map(&mut self, of: Tpn, cause: Cause, task: Task) -> u32 {
        let Some(pages) = self.base.kernel.ftl.map_on_flash().map(|map| map.pages_of(of)) else {
            return 0;
        };
        let (mut reads, mut open) = (0, None);
        for page in pages {
            let Some(at) = self.base.kernel.ftl.look_up(page) else { continue };
            if self.base.kernel.ftl.is_lost(at) {
                // A copy of what nothing read.
                self.lose_entries(of);
            }
            let flash_page = self.base.kernel.flash.geometry().flash_page_of(at);
            open = match open {
                Some((first, of_page, units)) if of_page == flash_page => {
                    Some((first, of_page, units + 1))
                }
                other => {
                    reads += u32::from(self.submit_map_read(other, cause, task));
                    Some((at, flash_page, 1))
                }
            };
        }
        reads += u32::from(self.submit_map_read(open, cause, task));
        self.count(|counts| counts.reads[cause as usize] += u64::from(reads));
        reads
    }

    /// Reads so many units of a flash page, if there is anything to read.
    fn submit_map_read(&mut self, what: Option<(Ppn, u32, u32)>, cause: Cause, task: Task) -> bool {
        let Some((at, _, units)) = what else { return false };
        let origin = match cause {
            Cause::HostRead | Cause::RoomForRead => Origin::Host,
            Cause::WriteBack | Cause::RoomForWrite | Cause::Trim => Origin::Merge,
            Cause::Collection => Origin::Gc,
            Cause::Recovery => Origin::Merge,
        };
        let mut read = Command::new(Kind::Read, origin, task, at);
        read.units = units;
        read.codewords = units * self.base.kernel.flash.bus().codewords_per_unit();
        let read = self.base.kernel.flash.prepare(read);
        if origin == Origin::Host {
            self.base.kernel.contents.plan_map_read(read, at);
        }
        self.base.kernel.flash.submit(self.base.kernel.now, read);
        true
    }

    /// Nothing reads a translation page, or a part of it: whose entry is not in memory is lost with it, and reads of it
    /// end as unreadable until the host writes it again. (A drive could find these pages by their spare areas.)
    #[cold]
    pub(super) fn lose_entries(&mut self, of: Tpn) {
        let entries = self.base.kernel.ftl.map_on_flash().map(|map| map.entries_of(of));
        for page in entries.into_iter().flatten().map(Lpn::new) {
            if !self.knows_entry(page) {
                self.base.kernel.ftl.lose_page(page);
            }
        }
    }

    /// A translation page was read, or a part of it.
    pub(super) fn map_loaded(&mut self, of: Tpn) {
        let Some(load) = self.translator().loads.get_mut(&of) else { return };
        load.reads -= 1;
        if load.reads > 0 {
            return;
        }
        let fetches = std::mem::take(&mut load.fetches);
        self.translator().loads.remove(&of);
        self.all_fetched(fetches);
        self.begin_after_given_up();
    }

    /// A translation page is to be rewritten; for a fetch whose entry takes the place of one of its own, if
    /// for one.
    fn rewrite(&mut self, of: Tpn, cause: Cause, room_for: Option<Handle<Fetch>>) {
        let Translator { fetches, rewrites, .. } = self.translator();
        if let Some(rewrite) = rewrites.get_mut(&of) {
            let (_, room) = rewrite.again.get_or_insert_with(|| (cause, Queue::default()));
            if let Some(fetch) = room_for {
                Translator::push(fetches, room, fetch);
            }
            return;
        }
        let mut room = Queue::default();
        if let Some(fetch) = room_for {
            Translator::push(fetches, &mut room, fetch);
        }
        self.begin_rewrite(of, cause, room);
    }

    fn begin_rewrite(&mut self, of: Tpn, cause: Cause, room: Queue<Fetch>) {
        if let Some(map) = self.base.kernel.ftl.map_on_flash_mut() {
            map.rewrite(of);
        }
        let reads = self.read_map(of, cause, Task::RewriteMap(of));
        let content = Queue::default();
        let rewrite = Rewrite { cause, reads, content, room, again: None };
        self.translator().rewrites.insert(of, rewrite);
        if reads == 0 {
            self.program_map(of);
        }
    }

    /// A read or the program of a rewrite is done.
    pub(super) fn map_command_done(&mut self, of: Tpn, id: CommandId) {
        if self.base.kernel.flash.command(id).kind == Kind::Program {
            return self.map_rewritten(of, id);
        }
        let Some(rewrite) = self.translator().rewrites.get_mut(&of) else { return };
        rewrite.reads -= 1;
        if rewrite.reads == 0 {
            let content = std::mem::take(&mut rewrite.content);
            self.program_map(of);
            self.all_fetched(content);
            self.begin_after_given_up();
        }
    }

    /// A translation page is on flash.
    fn map_rewritten(&mut self, of: Tpn, id: CommandId) {
        let Command { page: first, failed, .. } = *self.base.kernel.flash.command(id);
        if self.base.kernel.ftl.program_fails::<{ skills::ALL }>(
            first,
            failed,
            &mut self.base.kernel.contents,
        ) {
            return self.program_map_again(of, id);
        }
        let Some(rewrite) = self.translator().rewrites.remove(&of) else { return };
        self.base.kernel.ftl.commit_translation(of, first);
        self.count(|counts| counts.programs[rewrite.cause as usize] += 1);
        if let Some((cause, room)) = rewrite.again {
            self.begin_rewrite(of, cause, room);
        }
        self.there_is_room(rewrite.room);
        self.empty_failed::<{ skills::ALL }>();
        self.rewrite_what_is_due::<{ skills::ALL }>();
        self.relieve::<{ skills::ALL }>();
        self.begin_after_given_up();
    }

    /// These fetches have room for their entries.
    fn there_is_room(&mut self, fetches: Queue<Fetch>) {
        let mut next = fetches.first;
        while let Some(fetch) = next {
            next = self.translator().fetches[fetch].next;
            self.fetch_entry(fetch);
        }
    }

    /// Rewrites the translation pages that collection, trims and writes have made stale.
    #[inline]
    pub(super) fn rewrite_what_is_due<const S: Skills>(&mut self) {
        if skills::any(S, skills::RARE) && self.base.services.translator.is_some() {
            self.rewrite_due();
        }
    }

    fn rewrite_due(&mut self) {
        while let Some((of, cause)) =
            self.base.kernel.ftl.map_on_flash_mut().and_then(|map| map.next_due())
        {
            self.rewrite(of, cause, None);
        }
    }

    /// The entries of these fetches are in memory: who waits for them goes on.
    fn all_fetched(&mut self, fetches: Queue<Fetch>) {
        let mut gathering = None;
        let mut next = fetches.first;
        while let Some(id) = next {
            let translator = self.translator();
            let Fetch { page, ref seekers, next: after, .. } = translator.fetches[id];
            let mut waiter = seekers.first;
            translator.by_page.remove(&page);
            translator.fetches.release(id);
            while let Some(id) = waiter {
                let Waiter { who, since, next } = self.translator().waiters[id];
                self.translator().waiters.release(id);
                self.go_on_with_entry(page, who, self.base.kernel.now - since, &mut gathering);
                waiter = next;
            }
            next = after;
        }
        self.end_gathering(&mut gathering);
    }

    fn end_gathering(&mut self, open: &mut Option<(RequestId, Gathering)>) {
        if let Some((_, Gathering { command, .. })) = open.take() {
            self.base.kernel.flash.submit(self.base.kernel.now, command);
        }
    }

    /// The entry of a page is in memory for which somebody has `waited`. Neighbours of one request that lie
    /// on one flash page are read together, as those that did not wait.
    fn go_on_with_entry(
        &mut self,
        page: Lpn,
        who: Seeker,
        waited: Nanos,
        open: &mut Option<(RequestId, Gathering)>,
    ) {
        let (id, sectors) = match who {
            Seeker::WriteBack(program, slot) => {
                self.end_gathering(open);
                self.merge_if_partial::<{ skills::ALL }>(slot, program, waited);
                return self.input_came::<{ skills::ALL }>(program, Spent::on_translation(waited));
            }
            Seeker::Read(id, sectors) => (id, sectors),
        };
        let Some(at) = self.base.kernel.ftl.look_up_for_host::<{ skills::ALL }>(page) else {
            return self.base.settle::<{ skills::ALL }>(id, &Spent::on_translation(waited));
        };
        // Others may have brought it meanwhile.
        if self.base.reads.is_on()
            && let Some(place) = self.base.reads.read(page)
        {
            self.base.kernel.contents.read_cached(id, page, sectors, place);
            return self.base.settle::<{ skills::ALL }>(id, &Spent::on_translation(waited));
        }
        if self.base.kernel.ftl.regulation().is_some() {
            self.note_flash_read(page, sectors);
        }
        if open.as_ref().is_some_and(|(of, _)| *of != id) {
            self.end_gathering(open);
        }
        let mut gathering = open.take().map(|(_, gathering)| gathering);
        self.read_from::<{ skills::ALL }>(id, at, PageSpan { page, sectors }, &mut gathering);
        if let Some(gathering) = gathering {
            self.base.kernel.flash.command_mut(gathering.command).spent.translation = waited;
            *open = Some((id, gathering));
        }
        let last = self.base.desk.intake.settle(id);
        debug_assert!(!last, "it waits for what it reads");
    }
}
