//! `zonemode=zbd`: bends the requests of a clone to the rules of zones, as fio's zbd.c does.
//!
//! - A random write goes to the write pointer of the zone that it was drawn for. If that zone is full it is reset before.
//! - A sequential job fills one zone after the other, and resets those that are full when it comes to them.
//! - A zone whose rest is too short for a request is finished. A request shrinks to the rest if fio's smallest size fits.
//! - With `max_open_zones`, or at the limits of the device, which all jobs share, a write to a further zone goes to an open one of
//!   the job's range. With none there the job waits, and ends if all jobs wait so. `job_max_open_zones` limits a clone's own zones.
//! - A read moves below the write pointer of its zone, or to the next zone with data. With `read_beyond_wp` it stays.
//! - A trim resets its zone. A random one looks for a zone with data, and the job ends when there is none.
//! - Zones that the device has taken out of service are left out.
//! - Conventional zones take any request, up to their end.
//!
//! All jobs on a device share what is known of its zones. On a device without zones they are only kept in mind, and nothing is
//! reset. Departures: fio waits for its resets one by one, as here, but holds up all other writes to the zone by a lock; here
//! they look again after [`LOOK_AGAIN`]. Which open zone a write goes to follows from its own zone, where fio takes a neighbour.

use std::cell::RefCell;
use std::rc::Rc;

use ftlab::host::Op;
use ftlab::host::zones::{Zone, ZoneState, Zones};
use ftlab::units::{Lba, Nanos, SimTime};

use super::values::Amount;
use crate::replay::{Answered, Arrival, Issuer, Turn};

/// How long a clone waits for a zone that another one resets.
const LOOK_AGAIN: Nanos = Nanos(10_000);

/// What a job asks for; what it leaves out is as the device has it. Sizes are in sectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ZbdOptions {
    pub size: Option<u64>,
    pub capacity: Option<u64>,
    pub max_open: Option<u32>,
    /// The limit of each clone.
    pub job_max_open: Option<u32>,
    pub read_beyond: bool,
    /// What a sequential job leaves out behind each zone.
    pub skip: Amount,
}

impl Default for ZbdOptions {
    fn default() -> ZbdOptions {
        let skip = Amount::Sectors(0);
        ZbdOptions {
            size: None,
            capacity: None,
            max_open: None,
            job_max_open: None,
            read_beyond: false,
            skip,
        }
    }
}

/// A zone as the jobs know it.
#[derive(Clone, Copy, Debug, Default)]
struct KnownZone {
    /// Sectors written, from its start.
    pointer: u64,
    open: bool,
    /// The clone that opened it.
    opened_by: u32,
    /// Somebody resets or finishes it, or is about to.
    busy: bool,
    /// Writes in the device. It is reset or finished only when there are none.
    writers: u32,
    /// It takes no writes any more.
    dead: bool,
}

/// The zones of a device, shared by all clones.
#[derive(Debug)]
pub(super) struct ZoneBook {
    size: u64,
    capacity: u64,
    conventional: u64,
    /// Whether the device has zones, which have to be reset.
    real: bool,
    zones: Vec<KnownZone>,
    open: u32,
    most_open: Option<u32>,
    /// The clones that run, and those of them that wait for a place for an open zone.
    running: u32,
    stuck: u32,
}

/// The zones that jobs keep in mind. Sizes are in sectors.
#[derive(Clone, Copy, Debug)]
pub(super) struct BookShape {
    pub size: u64,
    pub capacity: u64,
    pub conventional: u32,
    /// The most open zones of all jobs together.
    pub most_open: Option<u32>,
}

impl ZoneBook {
    /// The zones of the device as they are, or empty ones.
    pub fn new(shape: BookShape, real: Option<&Zones>, sectors: u64) -> ZoneBook {
        let BookShape { size, capacity, conventional, most_open } = shape;
        let known = |zone: &Zone| KnownZone {
            pointer: match zone.state {
                ZoneState::Full => capacity,
                ZoneState::ReadOnly => zone.written,
                ZoneState::Offline => 0,
                _ => zone.write_pointer,
            },
            // A closed zone takes one of the places for active zones.
            open: zone.state.is_active(),
            dead: matches!(zone.state, ZoneState::ReadOnly | ZoneState::Offline),
            ..KnownZone::default()
        };
        let zones: Vec<KnownZone> = match real {
            Some(real) => real.all().iter().map(known).collect(),
            None => vec![KnownZone::default(); (sectors / size) as usize],
        };
        let open = zones.iter().filter(|zone| zone.open).count() as u32;
        let conventional = conventional.into();
        ZoneBook {
            size,
            capacity,
            conventional,
            real: real.is_some(),
            zones,
            open,
            most_open,
            running: 0,
            stuck: 0,
        }
    }

    /// A write has completed. A zone that refuses writes is left alone from then on.
    fn note_written(&mut self, write: Answered) {
        let zone = (write.lba.0 / self.size) as usize;
        if (zone as u64) < self.conventional || zone >= self.zones.len() {
            return;
        }
        self.zones[zone].writers -= 1;
        if write.failed && self.real {
            self.zones[zone].dead = true;
            self.close(zone);
        }
    }

    fn close(&mut self, zone: usize) {
        if std::mem::take(&mut self.zones[zone].open) {
            self.open -= 1;
        }
    }
}

/// The shape of a job.
#[derive(Clone, Copy, Debug)]
pub(super) struct ZbdShape {
    /// The number of the clone.
    pub clone: u32,
    /// The smallest request, in sectors.
    pub smallest: u32,
    pub random: bool,
    /// Whether it reads and writes.
    pub mixes: bool,
}

/// A clone that keeps to the rules of zones.
pub(super) struct ZbdPlayer<P> {
    inner: P,
    book: Rc<RefCell<ZoneBook>>,
    options: ZbdOptions,
    clone: u32,
    /// What a sequential job leaves out behind each zone, in zones.
    skip: usize,
    /// Whether it counts as running, and as waiting for a place for an open zone.
    runs: bool,
    is_stuck: bool,
    /// The smallest request, in sectors.
    smallest: u64,
    random: bool,
    /// The range of the job, in zones.
    range: std::ops::Range<usize>,
    /// A request that waits until a zone is reset or finished.
    held: Option<Arrival>,
    /// The zone that is being reset or finished.
    managing: Option<usize>,
    /// A zone whose rest is too short for a request.
    to_finish: Option<usize>,
    finishing: bool,
    /// Whether the job reads and writes, and whether it has written.
    mixes: bool,
    has_written: bool,
    /// Of a sequential job: the zone that it writes, and whether it has not written there yet.
    cursor: usize,
    begins: bool,
    stream: u32,
    /// Requests in the device. As in fio, a zone is reset or finished only when there are none.
    in_flight: u32,
}

/// What becomes of a request.
enum Bent {
    Submit(Arrival),
    /// This command comes first, for this zone.
    First(Op, usize),
    /// Another clone works on its zone.
    Later,
    /// No further zone may be open.
    NoPlace,
    /// There is nothing to read.
    Nothing,
}

impl<P: Issuer> ZbdPlayer<P> {
    /// `sectors` is the job's range.
    pub fn new(
        inner: P,
        book: &Rc<RefCell<ZoneBook>>,
        options: ZbdOptions,
        shape: ZbdShape,
        sectors: std::ops::Range<u64>,
    ) -> ZbdPlayer<P> {
        let size = book.borrow().size;
        // As in fio, only whole zones count.
        let range = sectors.start.div_ceil(size) as usize..(sectors.end / size) as usize;
        let skip = (options.skip.in_zones(size).of(0) / size) as usize;
        let book = Rc::clone(book);
        let conventional = book.borrow().conventional as usize;
        let range = range.start.max(conventional)..range.end.max(conventional);
        let (smallest, cursor, random) = (shape.smallest.into(), range.start, shape.random);
        ZbdPlayer {
            inner,
            book,
            options,
            clone: shape.clone,
            skip,
            runs: false,
            is_stuck: false,
            smallest,
            random,
            range,
            held: None,
            managing: None,
            to_finish: None,
            finishing: false,
            mixes: shape.mixes,
            has_written: false,
            cursor,
            begins: true,
            stream: 0,
            in_flight: 0,
        }
    }

    fn bend(&mut self, arrival: Arrival) -> Bent {
        let mut arrival = arrival;
        if arrival.op == Op::Read && self.mixes && !self.options.read_beyond && !self.has_written {
            // As in fio, a job that reads and writes begins with a write: there may be nothing to read.
            arrival.op = Op::Write;
        }
        self.has_written |= arrival.op == Op::Write;
        let book = self.book.borrow();
        let zone = (arrival.lba.0 / book.size) as usize;
        if arrival.op == Op::Flush || zone >= book.zones.len() {
            return Bent::Submit(arrival);
        }
        if (zone as u64) < book.conventional {
            // No request crosses into the next zone.
            let room = book.size - arrival.lba.0 % book.size;
            let sectors = u64::from(arrival.sectors).min(room) as u32;
            return Bent::Submit(Arrival { sectors, ..arrival });
        }
        drop(book);
        match arrival.op {
            Op::Read => self.bend_read(arrival, zone),
            Op::Trim => self.bend_trim(zone),
            _ => self.bend_write(arrival, zone),
        }
    }

    fn bend_trim(&self, drawn: usize) -> Bent {
        let book = self.book.borrow();
        let has_data = |&zone: &usize| book.zones[zone].pointer > 0 && !book.zones[zone].dead;
        let zone = match self.random {
            true => self.next_from(drawn, has_data),
            false => Some(drawn).filter(|&zone| !book.zones[zone].dead),
        };
        match zone {
            Some(zone) if book.zones[zone].busy => Bent::Later,
            Some(zone) => Bent::First(Op::ZoneReset, zone),
            None => Bent::Nothing,
        }
    }

    /// The first zone of the range from `zone` on that suits, or one before it.
    fn next_from(&self, zone: usize, suits: impl Fn(&usize) -> bool) -> Option<usize> {
        let after = (zone..self.range.end).find(&suits);
        after.or_else(|| (self.range.start..zone).rev().find(&suits))
    }

    fn bend_read(&self, arrival: Arrival, zone: usize) -> Bent {
        let book = self.book.borrow();
        let sectors = u64::from(arrival.sectors);
        let within = arrival.lba.0 % book.size;
        if self.options.read_beyond {
            return match within + sectors <= book.capacity {
                true => Bent::Submit(arrival),
                false => Bent::Submit(Arrival { lba: Lba(zone as u64 * book.size), ..arrival }),
            };
        }
        let has_data = |&zone: &usize| book.zones[zone].pointer >= self.smallest;
        let Some(found) = self.next_from(zone, has_data) else { return Bent::Nothing };
        let data = book.zones[found].pointer;
        let sectors = sectors.min(data / self.smallest * self.smallest);
        let room = data - sectors;
        let offset = if within <= room { within } else { within % (room + 1) };
        let offset = offset / self.smallest * self.smallest;
        let lba = Lba(found as u64 * book.size + offset);
        Bent::Submit(Arrival { lba, sectors: sectors as u32, ..arrival })
    }

    fn bend_write(&mut self, arrival: Arrival, drawn: usize) -> Bent {
        let mut book = self.book.borrow_mut();
        let smallest = self.smallest;
        let is_full =
            |book: &ZoneBook, zone: usize| book.zones[zone].pointer + smallest > book.capacity;
        if !self.random {
            if arrival.lba.0 == self.range.start as u64 * book.size {
                (self.cursor, self.begins) = (self.range.start, true);
            } else if is_full(&book, self.cursor) && !self.begins {
                let next = self.cursor + 1 + self.skip;
                self.cursor = if next < self.range.end { next } else { self.range.start };
                self.begins = true;
            }
        }
        let wanted = if self.random { drawn } else { self.cursor };
        let Some(wanted) = self.next_from(wanted, |&zone| !book.zones[zone].dead) else {
            return Bent::Nothing;
        };
        if !self.random && wanted != self.cursor {
            (self.cursor, self.begins) = (wanted, true);
        }
        let Some(zone) = self.allowed(&book, wanted) else { return Bent::NoPlace };
        if book.zones[zone].busy {
            return Bent::Later;
        }
        if is_full(&book, zone) {
            return Bent::First(Op::ZoneReset, zone);
        }
        self.begins = false;
        let at = book.zones[zone];
        let room = (book.capacity - at.pointer) / self.smallest * self.smallest;
        let sectors = u64::from(arrival.sectors).min(room);
        if !at.open {
            book.open += 1;
            book.zones[zone].opened_by = self.clone;
        }
        let written = &mut book.zones[zone];
        (written.pointer, written.open, written.writers) =
            (at.pointer + sectors, true, at.writers + 1);
        if is_full(&book, zone) {
            let is_short = book.real && book.zones[zone].pointer < book.capacity;
            match is_short {
                // The device counts the zone until it is finished, so its place is not free before.
                true => (book.zones[zone].busy, self.to_finish) = (true, Some(zone)),
                false => book.close(zone),
            }
        }
        let lba = Lba(zone as u64 * book.size + at.pointer);
        Bent::Submit(Arrival { lba, sectors: sectors as u32, ..arrival })
    }

    /// The zone itself if it may be written, otherwise an open one of the range, if there is one.
    fn allowed(&self, book: &ZoneBook, zone: usize) -> Option<usize> {
        let is_full =
            |open: usize, most: Option<u32>| most.is_some_and(|most| open >= most as usize);
        let own = |at: &&KnownZone| at.open && at.opened_by == self.clone;
        let no_place = is_full(book.open as usize, book.most_open)
            || (self.options.job_max_open.is_some()
                && is_full(book.zones.iter().filter(own).count(), self.options.job_max_open));
        if !no_place || book.zones[zone].open {
            return Some(zone);
        }
        let open: Vec<usize> = self.range.clone().filter(|&at| book.zones[at].open).collect();
        (!open.is_empty()).then(|| open[zone % open.len()])
    }

    /// Begins a command for a zone, before the request that needs it.
    fn manage(&mut self, op: Op, zone: usize, for_request: Arrival) -> Turn {
        let mut book = self.book.borrow_mut();
        self.held = (for_request.op != Op::Trim).then_some(for_request);
        book.zones[zone].pointer = 0;
        if !book.real {
            book.close(zone);
            drop(book);
            return match self.held.take() {
                Some(held) => self.submit(held),
                None => Turn::Submit(for_request),
            };
        }
        book.zones[zone].busy = true;
        self.managing = Some(zone);
        let lba = Lba(zone as u64 * book.size);
        Turn::Submit(Arrival { op, lba, sectors: book.size as u32, fua: false, ..for_request })
    }

    fn submit(&mut self, arrival: Arrival) -> Turn {
        let bent = self.bend(arrival);
        self.note_stuck(matches!(bent, Bent::NoPlace));
        match bent {
            Bent::Submit(arrival) => Turn::Submit(arrival),
            Bent::First(_, zone) if self.in_flight > 0 || self.has_writers(zone) => {
                self.held = Some(arrival);
                Turn::Wait
            }
            Bent::First(op, zone) => self.manage(op, zone, arrival),
            Bent::NoPlace if self.is_for_good() => self.end(arrival),
            Bent::Later | Bent::NoPlace => {
                self.held = Some(arrival);
                Turn::Wait
            }
            Bent::Nothing => self.end(arrival),
        }
    }

    /// As in fio, the job ends when there is nothing to do.
    fn end(&mut self, arrival: Arrival) -> Turn {
        self.inner.stop();
        self.inner
            .completed(Answered { op: arrival.op, lba: arrival.lba, failed: false }, Nanos::ZERO);
        Turn::Wait
    }

    fn has_writers(&self, zone: usize) -> bool {
        self.book.borrow().zones[zone].writers > 0
    }

    fn note_stuck(&mut self, is_stuck: bool) {
        let mut book = self.book.borrow_mut();
        match (std::mem::replace(&mut self.is_stuck, is_stuck), is_stuck) {
            (false, true) => book.stuck += 1,
            (true, false) => book.stuck -= 1,
            _ => {}
        }
    }

    /// Whether all clones that run wait for a place, and nothing that is under way gives one.
    fn is_for_good(&self) -> bool {
        let book = self.book.borrow();
        let is_still = |zone: &KnownZone| zone.writers == 0 && !zone.busy;
        book.stuck == book.running && book.zones.iter().all(is_still)
    }

    /// Counts the clone as running, or no longer.
    fn note_running(&mut self, runs: bool) {
        let mut book = self.book.borrow_mut();
        match (std::mem::replace(&mut self.runs, runs), runs) {
            (false, true) => book.running += 1,
            (true, false) => book.running -= 1,
            _ => {}
        }
    }
}

impl<P: Issuer> Issuer for ZbdPlayer<P> {
    fn turn(&mut self, now: Nanos) -> Turn {
        self.note_running(true);
        if self.managing.is_some() || self.to_finish.is_some() && self.in_flight > 0 {
            return Turn::Wait;
        }
        if self.to_finish.is_some_and(|zone| self.has_writers(zone)) {
            return Turn::Until(Nanos(now.0 + LOOK_AGAIN.0));
        }
        if let Some(zone) = self.to_finish.take() {
            self.managing = Some(zone);
            self.finishing = true;
            let (size, at) = (self.book.borrow().size, SimTime::ZERO);
            let (op, lba) = (Op::ZoneFinish, Lba(zone as u64 * size));
            let sectors = size as u32;
            return Turn::Submit(Arrival { at, op, lba, sectors, stream: self.stream, fua: false });
        }
        let arrival = match self.held.take() {
            Some(held) => held,
            None => match self.inner.turn(now) {
                Turn::Submit(arrival) => {
                    self.stream = arrival.stream;
                    arrival
                }
                other => {
                    self.note_stuck(false);
                    self.note_running(!matches!(other, Turn::Done { .. }));
                    return other;
                }
            },
        };
        let turn = self.submit(arrival);
        self.in_flight += u32::from(matches!(turn, Turn::Submit(_)) && self.managing.is_none());
        match turn {
            Turn::Wait if self.in_flight > 0 => Turn::Wait,
            Turn::Wait if self.held.is_some() => Turn::Until(Nanos(now.0 + LOOK_AGAIN.0)),
            Turn::Wait => {
                // It has ended.
                self.note_stuck(false);
                let turn = self.inner.turn(now);
                self.note_running(!matches!(turn, Turn::Done { .. }));
                turn
            }
            turn => turn,
        }
    }

    fn completed(&mut self, ended: Answered, now: Nanos) {
        if !ended.op.manages_zones() {
            self.in_flight -= 1;
            if ended.op == Op::Write {
                self.book.borrow_mut().note_written(ended);
            }
            return self.inner.completed(ended, now);
        }
        if let Some(zone) = self.managing.take() {
            let mut book = self.book.borrow_mut();
            if self.finishing {
                // Requests of other sizes don't fit either.
                book.zones[zone].pointer = book.capacity;
            }
            book.zones[zone].busy = false;
            book.close(zone);
        }
        if !std::mem::take(&mut self.finishing) && self.held.is_none() {
            // The reset was the request itself.
            self.inner.completed(Answered { op: Op::Trim, ..ended }, now);
        }
    }

    fn stop(&mut self) {
        self.inner.stop();
    }
}
