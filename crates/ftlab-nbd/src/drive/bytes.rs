//! The bytes of a drive: those on flash in its data file, those in DRAM in memory.
//!
//! What is programmed waits in memory for the next commit, so that neighbours are written together. It is in the file
//! before the commit counts. There is one exception: a block that was erased since the last commit may still be referred
//! to by what was committed. What is programmed there goes to the log first, and to its place after the commit.
//!
//! The bytes of a die that has died stay in the file. Whether they can be had is the device's decision, by its parity.

use std::collections::BTreeMap;
use std::io::{self, IoSlice};
use std::rc::Rc;

use ftlab::device::{Contents, Movement, Place};
use ftlab::ftl::{EmptiedBy, FlashChange, FlashContents, ReadFor};
use ftlab::host::{Completion, Op};
use ftlab::scheduler::CommandId;
use ftlab::shape::Geometry;
use ftlab::units::{BlockId, Lpn, Ppn, RequestId, SECTOR_BYTES, SectorMask};

use super::file::DriveFile;
use super::host_data::{Answer, Found, Payloads};
use super::layout::FileLayout;
use super::tables::Seconds;

/// A page in memory. A page that is written back is shared by its slot and its program.
type PageBytes = Rc<[u8]>;

/// Pages that wait to be written, by their place.
type UncommittedPages = BTreeMap<(Ppn, bool), PageBytes>;

/// The most bytes that wait for a commit.
const MOST_HELD: u64 = 4 << 20;
/// The most bytes of reads' memory that are kept to be used again.
const MOST_UNUSED: usize = 32 << 20;
/// The most pages that are written together.
const MOST_TOGETHER: usize = 256;

/// A slot of the write buffer.
#[derive(Clone, Debug, Default)]
struct BufferSlot {
    new: Option<PageBytes>,
    /// The sectors of `new` that are there.
    held: SectorMask,
    writing_back: Option<PageBytes>,
}

/// A program that is being put together.
#[derive(Clone, Debug)]
struct Program {
    to: Ppn,
    page: Lpn,
    bytes: PageBytes,
}

/// The bytes.
#[derive(Clone, Debug)]
pub struct Bytes {
    file: Rc<DriveFile>,
    layout: Rc<FileLayout>,
    geometry: Geometry,
    /// Data of the host's writes.
    pub payloads: Payloads,
    slots: Vec<BufferSlot>,
    cached: Vec<Option<PageBytes>>,
    found: Vec<Found>,
    /// Memory of reads that are done, and its bytes.
    unused: Vec<Found>,
    unused_bytes: usize,
    answers: Vec<Answer>,
    program: Option<Program>,
    /// The last page that was programmed, and where. The next one at the same place shares it.
    last: Option<(Ppn, Lpn)>,
    /// Physical pages with a second place.
    pub seconds: Seconds,
    /// Whether what the device keeps is committed. Otherwise nothing refers to an erased block.
    commits: bool,
    /// Blocks that were erased since the last commit.
    erased: Vec<BlockId>,
    /// What was programmed since.
    held: UncommittedPages,
    /// Pages that are not in use.
    spare: Vec<PageBytes>,
    /// A read or write of the file that failed. Nothing is right after it.
    failed: Option<Rc<io::Error>>,
}

impl Bytes {
    /// The bytes of a device with this file.
    #[must_use]
    pub fn new(
        file: Rc<DriveFile>,
        layout: Rc<FileLayout>,
        geometry: Geometry,
        commits: bool,
    ) -> Bytes {
        Bytes {
            commits,
            file,
            layout,
            geometry,
            payloads: Payloads::default(),
            slots: Vec::new(),
            cached: Vec::new(),
            found: Vec::new(),
            unused: Vec::new(),
            unused_bytes: 0,
            answers: Vec::new(),
            program: None,
            last: None,
            seconds: Seconds::new(),
            erased: Vec::new(),
            held: UncommittedPages::new(),
            spare: Vec::new(),
            failed: None,
        }
    }

    /// Takes what was answered, in order, and leaves `list` behind.
    pub fn swap_answers(&mut self, list: &mut Vec<Answer>) {
        std::mem::swap(&mut self.answers, list);
    }

    /// Gives back the memory of an answer.
    pub fn recycle(&mut self, answer: Answer) {
        let Answer { mut found, .. } = answer;
        let bytes = found.bytes.capacity();
        if bytes > 0 && self.unused_bytes + bytes <= MOST_UNUSED {
            self.unused_bytes += bytes;
            found.runs.clear();
            found.bytes.clear();
            self.unused.push(found);
        }
    }

    /// Whether the file could be read and written.
    ///
    /// # Errors
    /// The first failure.
    pub fn check(&self) -> io::Result<()> {
        match &self.failed {
            Some(error) => Err(io::Error::new(error.kind(), error.to_string())),
            None => Ok(()),
        }
    }

    /// Whether a commit has something to do.
    #[must_use]
    pub fn has_news(&self) -> bool {
        !self.erased.is_empty() || !self.held.is_empty()
    }

    /// Whether so much waits that a commit should come before anything else.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.held.len() as u64 * self.layout.page_bytes >= MOST_HELD
    }

    /// Before a commit: writes what was programmed, except for what goes to the log.
    pub fn write_out(&mut self) {
        if self.erased.is_empty() {
            let held = std::mem::take(&mut self.held);
            return self.write_all(held);
        }
        let (geometry, erased) = (&self.geometry, &self.erased);
        let (logged, direct) = std::mem::take(&mut self.held)
            .into_iter()
            .partition(|&((at, _), _)| erased.contains(&geometry.block_of(at)));
        self.write_all(direct);
        self.held = logged;
    }

    /// What goes to the log: pages of blocks that were erased since the last commit.
    pub fn logged(&self) -> impl Iterator<Item = (Ppn, bool, &[u8])> {
        self.held.iter().map(|(&(at, second), bytes)| (at, second, &bytes[..]))
    }

    /// What the device keeps was committed: gives the space of erased blocks back, and writes what is in the log.
    pub fn committed(&mut self) {
        for block in std::mem::take(&mut self.erased) {
            self.give_back(block);
        }
        let held = std::mem::take(&mut self.held);
        self.write_all(held);
    }

    /// Writes pages to their places, neighbours together.
    fn write_all(&mut self, pages: UncommittedPages) {
        let size = self.layout.page_bytes;
        let mut run: Vec<IoSlice<'_>> = Vec::new();
        let mut start = 0;
        let mut written = Ok(());
        for (&(at, second), bytes) in &pages {
            let place = self.layout.data(at, second);
            let next = start + run.len() as u64 * size;
            if run.len() == MOST_TOGETHER || !run.is_empty() && place != next {
                written = written.and_then(|()| self.file.write_pages(&run, start, size));
                run.clear();
            }
            if run.is_empty() {
                start = place;
            }
            run.push(IoSlice::new(bytes));
        }
        written = written.and_then(|()| self.file.write_pages(&run, start, size));
        note(&mut self.failed, written);
        self.keep(pages.into_values());
    }

    /// Gives the space of an erased block back.
    fn give_back(&mut self, block: BlockId) {
        let first = self.geometry.page_at(block, 0);
        let (from, bytes) = self.layout.span(first, self.geometry.units_per_block());
        let punched = self.file.punch(from, bytes);
        note(&mut self.failed, punched);
    }

    fn fresh_page(&mut self) -> PageBytes {
        let size = self.layout.page_bytes as usize;
        self.spare.pop().unwrap_or_else(|| vec![0; size].into())
    }

    /// Keeps the memory of a page, if nobody else has it.
    fn keep(&mut self, page: impl IntoIterator<Item = PageBytes>) {
        self.spare.extend(page.into_iter().filter(|page| Rc::strong_count(page) == 1));
    }

    fn lba(&self, page: Lpn, sector: u32) -> u64 {
        u64::from(page.get()) * u64::from(self.layout.sectors) + u64::from(sector)
    }

    /// Whether the data of a page is in the second place of a physical page.
    fn is_second(&self, at: Ppn, page: Lpn) -> bool {
        self.layout.parts > 1 && self.seconds.get(&at) == Some(&page)
    }

    /// Reads bytes of a page from its place on flash.
    fn read_flash(&mut self, at: Ppn, page: Lpn, from: usize, to: &mut [u8]) {
        let second = self.is_second(at, page);
        self.read_place(at, second, from, to);
    }

    fn read_place(&mut self, at: Ppn, second: bool, from: usize, to: &mut [u8]) {
        if let Some(held) = self.held.get(&(at, second)) {
            return to.copy_from_slice(&held[from..from + to.len()]);
        }
        let place = self.layout.data(at, second) + from as u64;
        // Behind the end of the file nothing was ever written.
        let read = self.file.read_sparse(to, place);
        note(&mut self.failed, read);
    }

    /// Programs a page.
    fn write_flash(&mut self, at: Ppn, second: bool, bytes: PageBytes) {
        let before = self.held.insert((at, second), bytes);
        self.keep(before);
    }

    /// Moves the sectors of a movement, run by run, with what reads bytes at an offset of the page.
    fn gather(&mut self, movement: &Movement, to: &mut [u8], into_page: bool) {
        let mut filled = 0;
        for (first, count) in runs(movement.sectors) {
            let (from, bytes) = (offset(first), count as usize * SECTOR_BYTES as usize);
            let at = if into_page { from } else { filled };
            let target = &mut to[at..at + bytes];
            filled += bytes;
            match movement.from {
                Place::Write { tag } => {
                    let lba = self.lba(movement.page, first);
                    target.copy_from_slice(self.payloads.sectors(tag, lba, bytes));
                }
                Place::Buffer(slot) => self.slots[slot.at()].read(first, count, target),
                Place::WriteBack(slot) => {
                    let page = self.slots[slot.at()].writing_back.as_ref();
                    let page = page.expect("what is programmed is on its way");
                    target.copy_from_slice(&page[from..from + bytes]);
                }
                Place::ReadCache(place) => {
                    let page = self.cached[place.at()].as_ref().expect("it was put there");
                    target.copy_from_slice(&page[from..from + bytes]);
                }
                Place::Flash(at) => self.read_flash(at, movement.page, from, target),
                Place::Read(_) => unreachable!("nothing comes from a read of the host"),
            }
        }
    }

    fn move_to_read(&mut self, request: RequestId, movement: &Movement) {
        let mut found = std::mem::take(entry(&mut self.found, request.at()));
        if found.bytes.capacity() == 0 {
            found = self.unused.pop().unwrap_or_default();
            self.unused_bytes -= found.bytes.capacity();
        }
        for (first, count) in runs(movement.sectors) {
            let bytes = count as usize * SECTOR_BYTES as usize;
            let lba = self.lba(movement.page, first);
            match found.runs.last_mut() {
                Some((last, known)) if *last + *known as u64 / SECTOR_BYTES == lba => {
                    *known += bytes
                }
                _ => found.runs.push((lba, bytes)),
            }
        }
        let known = found.bytes.len();
        found.bytes.resize(known + movement.sectors.count() as usize * SECTOR_BYTES as usize, 0);
        self.gather(movement, &mut found.bytes[known..], false);
        self.found[request.at()] = found;
    }

    fn move_to_buffer(&mut self, slot: usize, movement: &Movement) {
        let known = entry(&mut self.slots, slot).new.take();
        let mut page = known.unwrap_or_else(|| self.fresh_page());
        self.gather(movement, own(&mut page), true);
        let slot = &mut self.slots[slot];
        slot.new = Some(page);
        slot.held = slot.held.and_also(movement.sectors);
    }

    /// Data comes to a place on flash: older sectors first, and what is written back last.
    fn move_to_flash(&mut self, to: Ppn, movement: &Movement) {
        let page = movement.page;
        let whole = movement.sectors == SectorMask::range(0, self.layout.sectors);
        let begun = self.program.take().filter(|begun| begun.to == to && begun.page == page);
        match movement.from {
            Place::WriteBack(slot) if whole => {
                // Reads find it in the slot, too, until the program ends, and it may have to be programmed again.
                let bytes = self.slots[slot.at()].writing_back.clone();
                self.programmed(to, page, bytes.expect("what is programmed is on its way"));
            }
            _ => {
                let mut bytes = match begun {
                    Some(begun) => begun.bytes,
                    None => self.base_of(to, movement),
                };
                self.gather(movement, own(&mut bytes), true);
                match movement.from {
                    Place::Flash(_) => self.program = Some(Program { to, page, bytes }),
                    _ => self.programmed(to, page, bytes),
                }
            }
        }
    }

    /// What a program begins with: nothing, or without translation what is there.
    fn base_of(&mut self, to: Ppn, movement: &Movement) -> PageBytes {
        let mut bytes = self.fresh_page();
        match movement.from {
            Place::Write { .. } => self.read_flash(to, movement.page, 0, own(&mut bytes)),
            _ => own(&mut bytes).fill(0),
        }
        bytes
    }

    /// A page of a program is complete.
    fn programmed(&mut self, to: Ppn, page: Lpn, bytes: PageBytes) {
        let mut second = false;
        if self.layout.parts > 1 {
            second = self.last.is_some_and(|(at, other)| at == to && other != page);
            match second {
                true => self.seconds.insert(to, page),
                false => self.seconds.remove(&to),
            };
            self.last = Some((to, page));
        }
        self.write_flash(to, second, bytes);
    }

    /// Collection copies a physical page.
    fn copied(&mut self, from: Ppn, to: Ppn) {
        self.copy_place(from, to, false);
        match self.seconds.get(&from).copied() {
            Some(page) => {
                self.copy_place(from, to, true);
                self.seconds.insert(to, page);
            }
            None => {
                self.seconds.remove(&to);
            }
        }
    }

    fn copy_place(&mut self, from: Ppn, to: Ppn, second: bool) {
        let mut bytes = self.fresh_page();
        self.read_place(from, second, 0, own(&mut bytes));
        self.write_flash(to, second, bytes);
    }

    /// A block was erased.
    fn erased(&mut self, first: Ppn, units: u32) {
        let pages = first.get()..first.get() + units;
        self.last = None;
        let places = (first, false)..(Ppn::new(pages.end), false);
        let gone: Vec<_> = self.held.range(places).map(|(&place, _)| place).collect();
        for place in gone {
            let bytes = self.held.remove(&place);
            self.keep(bytes);
        }
        let gone: Vec<Ppn> =
            self.seconds.range(first..Ppn::new(pages.end)).map(|(&at, _)| at).collect();
        for at in gone {
            self.seconds.remove(&at);
        }
        let block = self.geometry.block_of(first);
        if !self.commits {
            self.give_back(block);
        } else if !self.erased.contains(&block) {
            self.erased.push(block);
        }
    }
}

impl FlashContents for Bytes {
    const MOVES: bool = true;

    fn change(&mut self, change: FlashChange<'_>) {
        match change {
            FlashChange::Copied { from, to } => self.copied(from, to),
            FlashChange::Emptied { first, units, by: EmptiedBy::Erase } => {
                self.erased(first, units)
            }
            // Nothing refers to what a cut has torn, to pages of the map, to what is spoiled, or to parity.
            FlashChange::Emptied { by: EmptiedBy::Cut, .. }
            | FlashChange::MapProgrammed { .. }
            | FlashChange::Spoiled { .. }
            | FlashChange::Parity(_) => {}
        }
    }

    fn foresee(&mut self, _: CommandId, _: Ppn, _: ReadFor) {}
}

impl Contents for Bytes {
    fn copy(&mut self, movement: &Movement) {
        match movement.to {
            Place::Read(request) => self.move_to_read(request, movement),
            Place::Buffer(slot) => self.move_to_buffer(slot.at(), movement),
            Place::WriteBack(slot) => {
                let slot = entry(&mut self.slots, slot.at());
                slot.writing_back = slot.new.take();
                slot.held = SectorMask::EMPTY;
            }
            Place::ReadCache(place) => {
                let mut page = self.fresh_page();
                own(&mut page).fill(0);
                self.gather(movement, own(&mut page), true);
                *entry(&mut self.cached, place.at()) = Some(page);
            }
            Place::Flash(at) => self.move_to_flash(at, movement),
            Place::Write { .. } => unreachable!("the host sends this data"),
        }
    }

    fn forget(&mut self, place: Place) {
        let page = match place {
            Place::Buffer(slot) => {
                let slot = entry(&mut self.slots, slot.at());
                slot.held = SectorMask::EMPTY;
                slot.new.take()
            }
            Place::WriteBack(slot) => entry(&mut self.slots, slot.at()).writing_back.take(),
            Place::ReadCache(place) => self.cached[place.at()].take(),
            Place::Write { .. } | Place::Read(_) | Place::Flash(_) => None,
        };
        self.keep(page);
    }

    fn deliver(&mut self, request: RequestId, completion: &Completion) {
        let found = std::mem::take(entry(&mut self.found, request.at()));
        if completion.request.op == Op::Write {
            self.payloads.take(completion.request.tag);
        }
        self.answers.push(Answer { completion: *completion, found });
    }

    fn lose_power(&mut self) {
        self.slots.clear();
        self.cached.clear();
        self.found.clear();
        self.answers.clear();
        self.payloads = Payloads::default();
        (self.program, self.last) = (None, None);
    }
}

/// Keeps the first failure.
fn note(failed: &mut Option<Rc<io::Error>>, done: io::Result<()>) {
    if let Err(error) = done {
        failed.get_or_insert(Rc::new(error));
    }
}

impl BufferSlot {
    /// Reads sectors, the newest of each.
    fn read(&self, first: u32, count: u32, to: &mut [u8]) {
        if self.held.covers(SectorMask::range(first, count))
            && let Some(page) = &self.new
        {
            return to.copy_from_slice(&page[offset(first)..offset(first + count)]);
        }
        for (number, sector) in (first..first + count).enumerate() {
            let newer = self.new.as_ref().filter(|_| self.held.0 >> sector & 1 != 0);
            let page = newer.or(self.writing_back.as_ref());
            let page = page.expect("what is taken from the buffer is in it");
            let (from, at) = (offset(sector), number * SECTOR_BYTES as usize);
            let size = SECTOR_BYTES as usize;
            to[at..at + size].copy_from_slice(&page[from..from + size]);
        }
    }
}

/// The bytes of a page that nobody else has.
fn own(page: &mut PageBytes) -> &mut [u8] {
    Rc::get_mut(page).expect("a page is shared only once it is complete")
}

fn offset(sector: u32) -> usize {
    sector as usize * SECTOR_BYTES as usize
}

/// The runs of sectors in a mask: the first, and how many.
fn runs(mask: SectorMask) -> impl Iterator<Item = (u32, u32)> {
    let mut left = mask.0;
    std::iter::from_fn(move || {
        if left == 0 {
            return None;
        }
        let first = left.trailing_zeros();
        let count = (left >> first).trailing_ones();
        let run = if count == u128::BITS { u128::MAX } else { ((1 << count) - 1) << first };
        left &= !run;
        Some((first, count))
    })
}

fn entry<T: Default + Clone>(table: &mut Vec<T>, at: usize) -> &mut T {
    if at >= table.len() {
        table.resize(at + 1, T::default());
    }
    &mut table[at]
}
