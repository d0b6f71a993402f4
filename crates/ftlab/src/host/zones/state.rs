//! The state machine of zones.
//!
//! Source: NVM Express Zoned Namespace Command Set 1.1, sections 2.1.1 (attributes and states), 3.4 (commands). Where it leaves a
//! choice: an implicitly opened zone is closed when another one needs its place, the one that was opened first; a command for
//! several zones (Select All) skips those whose state does not allow it.

use serde::Serialize;

use super::{ZoneError, ZoneWindow};
use crate::counters::counters;
use crate::host::{Op, Request};
use crate::shape::ZoneShape;
use crate::units::Lba;

/// The state of a zone. Conventional zones have none, and are always [`Empty`](Self::Empty).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ZoneState {
    /// Nothing is written (ZSE).
    #[default]
    Empty,
    /// Opened by a write (ZSIO).
    ImplicitlyOpen,
    /// Opened by command (ZSEO).
    ExplicitlyOpen,
    /// Active, but not open (ZSC).
    Closed,
    /// Takes no more writes until it is reset (ZSF).
    Full,
    /// Takes no more writes at all (ZSRO).
    ReadOnly,
    /// Out of service (ZSO).
    Offline,
}

impl ZoneState {
    /// All states, by number.
    pub const ALL: [ZoneState; 7] = [
        ZoneState::Empty,
        ZoneState::ImplicitlyOpen,
        ZoneState::ExplicitlyOpen,
        ZoneState::Closed,
        ZoneState::Full,
        ZoneState::ReadOnly,
        ZoneState::Offline,
    ];

    /// Whether it takes one of the places for open zones.
    #[must_use]
    pub const fn is_open(self) -> bool {
        matches!(self, ZoneState::ImplicitlyOpen | ZoneState::ExplicitlyOpen)
    }

    /// Whether it takes one of the places for active zones.
    #[must_use]
    pub const fn is_active(self) -> bool {
        self.is_open() || matches!(self, ZoneState::Closed)
    }
}

/// A zone. Positions are in sectors from its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Zone {
    /// Its state.
    pub state: ZoneState,
    /// Where the next write goes. Meaningless in a full, read-only or offline zone.
    pub write_pointer: u64,
    /// Where its data ends. A zone that was finished has less than its capacity.
    pub written: u64,
    /// Whether it has a random write area.
    pub has_window: bool,
    /// Counts up as zones are opened implicitly.
    pub(super) opened: u64,
}

counters! {
    /// What was done with zones.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct ZoneCounts {
        /// Zones that a write or an append opened.
        opened_implicitly: u64, unit "zones", at "zones/opened_implicitly";
        /// Zones that were opened by command.
        opened: u64, unit "zones", at "zones/opened";
        /// Zones that the device closed because another one needed their place.
        closed_implicitly: u64, unit "zones", at "zones/closed_implicitly";
        /// Zones that became full by writing.
        filled: u64, unit "zones", at "zones/filled";
        /// Zones that were finished before that.
        finished: u64, unit "zones", at "zones/finished";
        /// Sectors that they lacked.
        unwritten: u64, unit "sectors", at "zones/finished_unwritten_sectors",
            compared lower if any "zones, finished unwritten";
        /// Zones that were reset.
        resets: u64, unit "zones", at "zones/resets", compared lower if any "zones, resets";
        /// Zones that the device took out of service, because their dies had no blocks to spare for them.
        retired: u64, unit "zones", at "zones/retired", label "retired zones";
        /// Appends.
        appends: u64, unit "requests", at "zones/appends";
        /// Commands that failed because of the state of a zone.
        errors: u64, unit "requests", at "zones/errors", compared lower if any "zones, refused commands";
    }
}

/// The rules of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZoneRules {
    /// The zones.
    pub shape: ZoneShape,
    /// Zones that may be open at a time.
    pub max_open: u32,
    /// Zones that may be active at a time.
    pub max_active: u32,
    /// The most sectors of an append.
    pub append_limit: u64,
    /// Whether reads may cross from zone to zone.
    pub cross_reads: bool,
    /// The rules for random write areas, if there are any.
    pub window: Option<ZoneWindow>,
}

/// What becomes of a zone that the FTL has to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZoneChange {
    /// It becomes active: writes will come.
    Begins(u32),
    /// It takes no more writes.
    Ends(u32),
}

/// All zones of a device.
#[derive(Clone, Debug)]
pub struct Zones {
    pub(super) rules: ZoneRules,
    pub(super) zones: Vec<Zone>,
    open: u32,
    active: u32,
    pub(super) windows: u32,
    openings: u64,
    pub(super) counts: ZoneCounts,
    /// Changes that the FTL does not know yet.
    changes: Vec<ZoneChange>,
}

/// A part of one zone, in sectors from its start.
#[derive(Clone, Copy, Debug)]
struct ZonePart {
    zone: u32,
    start: u64,
    sectors: u64,
}

impl Zones {
    /// Empty zones.
    #[must_use]
    pub fn new(rules: ZoneRules) -> Zones {
        Zones {
            rules,
            zones: vec![Zone::default(); rules.shape.count as usize],
            open: 0,
            active: 0,
            windows: 0,
            openings: 0,
            counts: ZoneCounts::default(),
            changes: Vec::new(),
        }
    }

    /// The rules.
    #[must_use]
    pub fn rules(&self) -> &ZoneRules {
        &self.rules
    }

    /// The zones, in the order of their addresses.
    #[must_use]
    pub fn all(&self) -> &[Zone] {
        &self.zones
    }

    /// What was done with zones.
    #[must_use]
    pub fn counts(&self) -> &ZoneCounts {
        &self.counts
    }

    /// Zones that are open, and zones that are active.
    #[must_use]
    pub fn in_use(&self) -> (u32, u32) {
        (self.open, self.active)
    }

    /// Sectors that the host can address, gaps included.
    #[must_use]
    pub fn host_sectors(&self) -> u64 {
        u64::from(self.rules.shape.count) * self.rules.shape.size_sectors()
    }

    /// Sectors that all zones hold.
    #[must_use]
    pub fn data_sectors(&self) -> u64 {
        u64::from(self.rules.shape.count) * self.rules.shape.capacity_sectors()
    }

    /// Whether there are changes that the FTL does not know yet.
    #[inline]
    #[must_use]
    pub fn has_changes(&self) -> bool {
        !self.changes.is_empty()
    }

    /// Takes the changes that the FTL does not know yet.
    pub fn take_changes(&mut self) -> Vec<ZoneChange> {
        std::mem::take(&mut self.changes)
    }

    /// Whether a zone is conventional.
    #[must_use]
    pub fn is_conventional(&self, zone: u32) -> bool {
        zone < self.rules.shape.conventional
    }

    /// The address for the host of an address without gaps.
    #[must_use]
    pub fn with_gaps(&self, lba: Lba) -> Lba {
        let (size, capacity) =
            (self.rules.shape.size_sectors(), self.rules.shape.capacity_sectors());
        Lba(lba.0 / capacity * size + lba.0 % capacity)
    }

    /// The address without gaps of a sector of the host; that of the next zone for a sector in a gap.
    #[must_use]
    pub fn without_gaps(&self, lba: Lba) -> Lba {
        Lba(self.rules.shape.sectors_before(lba.0))
    }

    /// The place of a write or an append, without gaps, if the state of its zone allows it. Nothing changes.
    ///
    /// # Errors
    /// It does not.
    pub fn check_write(&self, request: &Request) -> Result<Lba, ZoneError> {
        let part = match request.op {
            Op::Append => self.part_of_append(request)?,
            _ => self.part(request),
        };
        self.allows(part).map(|()| self.place(part))
    }

    /// A write to a zone finds no flash that takes it: the zone becomes read-only.
    pub fn lose(&mut self, zone: u32) {
        let state = self.zones[zone as usize].state;
        let is_lost = matches!(state, ZoneState::ReadOnly | ZoneState::Offline);
        if !self.is_conventional(zone) && !is_lost {
            self.becomes(zone, ZoneState::ReadOnly);
        }
    }

    /// Zones of a group that are out of service and hold nothing.
    #[must_use]
    pub fn gone(&self, group: u32) -> u32 {
        let all = self.rules.shape.sequential_of(group).map(|zone| &self.zones[zone as usize]);
        all.filter(|zone| zone.state == ZoneState::Offline && zone.written == 0).count() as u32
    }

    /// The last empty zone of a group goes out of service, for want of blocks. Returns false if there is none.
    pub fn retire(&mut self, group: u32) -> bool {
        let mut zones = self.rules.shape.sequential_of(group).rev();
        let is_empty = |&zone: &u32| self.zones[zone as usize].state == ZoneState::Empty;
        let Some(zone) = zones.find(is_empty) else { return false };
        self.counts.retired += 1;
        self.becomes(zone, ZoneState::Offline);
        true
    }

    /// The part of a zone that a request covers.
    fn part(&self, request: &Request) -> ZonePart {
        let size = self.rules.shape.size_sectors();
        let zone = (request.lba.0 / size) as u32;
        ZonePart { zone, start: request.lba.0 % size, sectors: request.sectors.into() }
    }

    /// The zones that a command covers.
    ///
    /// # Errors
    /// It does not begin with a zone.
    pub(super) fn covered(&self, request: &Request) -> Result<std::ops::Range<u32>, ZoneError> {
        let size = self.rules.shape.size_sectors();
        let first = request.lba.0 / size;
        if !request.lba.0.is_multiple_of(size) {
            return Err(ZoneError::InvalidField);
        }
        let end = (request.lba.0 + u64::from(request.sectors)).div_ceil(size);
        Ok(first as u32..end as u32)
    }

    /// Decides about a command whose turn has come, and changes the state of zones accordingly. Returns the command without
    /// gaps in its address. A reset only [takes effect](Self::reset) later.
    ///
    /// # Errors
    /// The state of a zone does not allow it; nothing has changed.
    pub fn admit(&mut self, request: &Request) -> Result<Request, ZoneError> {
        let admitted = match request.op {
            Op::Flush => Ok(request.lba),
            Op::Read => self.admit_read(request),
            Op::Write => self.admit_write(self.part(request)),
            Op::Append => self.admit_append(request),
            Op::Trim => self.admit_trim(self.part(request)),
            Op::ZoneReset => self.admit_reset(request),
            Op::ZoneCommit => self.commit(self.part(request)),
            Op::ZoneOpen | Op::ZoneClose | Op::ZoneFinish | Op::ZoneOffline => self.manage(request),
        };
        self.counts.errors += u64::from(admitted.is_err());
        admitted.map(|lba| Request { lba, ..*request })
    }

    fn admit_read(&self, request: &Request) -> Result<Lba, ZoneError> {
        let ZonePart { zone, start, sectors } = self.part(request);
        let (size, capacity) =
            (self.rules.shape.size_sectors(), self.rules.shape.capacity_sectors());
        let last = ((request.lba.0 + sectors - 1) / size) as u32;
        let crosses = start + sectors > capacity;
        if crosses && !(self.rules.cross_reads && size == capacity) {
            return Err(ZoneError::Boundary);
        }
        let zones = &self.zones[zone as usize..=last as usize];
        match zones.iter().any(|zone| zone.state == ZoneState::Offline) {
            true => Err(ZoneError::Offline),
            false => Ok(self.without_gaps(request.lba)),
        }
    }

    fn admit_trim(&self, part: ZonePart) -> Result<Lba, ZoneError> {
        if !self.is_conventional(part.zone) {
            return Err(ZoneError::InvalidField);
        }
        self.within(part)?;
        Ok(self.place(part))
    }

    /// Checks that a part does not reach beyond the capacity.
    fn within(&self, part: ZonePart) -> Result<(), ZoneError> {
        match part.start + part.sectors <= self.rules.shape.capacity_sectors() {
            true => Ok(()),
            false => Err(ZoneError::Boundary),
        }
    }

    /// The address of a part without gaps.
    fn place(&self, part: ZonePart) -> Lba {
        Lba(u64::from(part.zone) * self.rules.shape.capacity_sectors() + part.start)
    }

    fn admit_append(&mut self, request: &Request) -> Result<Lba, ZoneError> {
        let lba = self.admit_write(self.part_of_append(request)?)?;
        self.counts.appends += 1;
        Ok(lba)
    }

    /// Where an append goes.
    fn part_of_append(&self, request: &Request) -> Result<ZonePart, ZoneError> {
        let ZonePart { zone, start, sectors } = self.part(request);
        let too_long = sectors > self.rules.append_limit;
        if start != 0 || too_long || self.is_conventional(zone) {
            return Err(ZoneError::InvalidField);
        }
        let at = self.zones[zone as usize];
        match at.has_window {
            // TP4076: not where there is a random write area.
            true => Err(ZoneError::InvalidOperation),
            false => Ok(ZonePart { zone, start: at.write_pointer, sectors }),
        }
    }

    /// Checks that the state of a zone allows writes.
    fn may_write(&self, zone: u32) -> Result<(), ZoneError> {
        match self.zones[zone as usize].state {
            ZoneState::Full => Err(ZoneError::Full),
            ZoneState::ReadOnly => Err(ZoneError::ReadOnly),
            ZoneState::Offline => Err(ZoneError::Offline),
            _ => Ok(()),
        }
    }

    /// Checks that a part may be written.
    fn allows(&self, part: ZonePart) -> Result<(), ZoneError> {
        let ZonePart { zone, start, sectors } = part;
        if !self.is_conventional(zone) {
            self.may_write(zone)?;
            let pointer = self.zones[zone as usize].write_pointer;
            let is_in_order = match self.window_of(zone) {
                None => start == pointer,
                Some(window) => window.admits(pointer, start, sectors),
            };
            if !is_in_order {
                return Err(ZoneError::InvalidWrite);
            }
        }
        self.within(part)
    }

    /// The rules for the random write area of a zone, if it has one.
    fn window_of(&self, zone: u32) -> Option<ZoneWindow> {
        self.rules.window.filter(|_| self.zones[zone as usize].has_window)
    }

    fn admit_write(&mut self, part: ZonePart) -> Result<Lba, ZoneError> {
        let ZonePart { zone, start, sectors } = part;
        self.allows(part)?;
        if self.is_conventional(zone) {
            return Ok(self.place(part));
        }
        self.open_for_write(zone)?;
        let (end, capacity) = (start + sectors, self.rules.shape.capacity_sectors());
        let window = self.window_of(zone);
        let at = &mut self.zones[zone as usize];
        at.written = at.written.max(end);
        let pointer = match window {
            None => end,
            Some(window) => window.moved(at.write_pointer, end, capacity),
        };
        self.moves_to(zone, pointer);
        Ok(self.place(part))
    }

    /// Moves the write pointer of a zone. At the end the zone is full.
    fn moves_to(&mut self, zone: u32, pointer: u64) {
        self.zones[zone as usize].write_pointer = pointer;
        if pointer == self.rules.shape.capacity_sectors() {
            self.counts.filled += 1;
            self.becomes(zone, ZoneState::Full);
        }
    }

    /// Commits the random write area of a zone up to the end of a part.
    fn commit(&mut self, part: ZonePart) -> Result<Lba, ZoneError> {
        let end = part.start + part.sectors;
        let window = self.window_of(part.zone).ok_or(ZoneError::InvalidOperation)?;
        let capacity = self.rules.shape.capacity_sectors();
        if !window.commits(self.zones[part.zone as usize].write_pointer, end, capacity) {
            return Err(ZoneError::InvalidField);
        }
        self.moves_to(part.zone, end);
        Ok(self.place(part))
    }

    /// Opens a zone implicitly, unless it is open.
    fn open_for_write(&mut self, zone: u32) -> Result<(), ZoneError> {
        if self.zones[zone as usize].state.is_open() {
            return Ok(());
        }
        self.make_room_for(zone)?;
        self.openings += 1;
        self.zones[zone as usize].opened = self.openings;
        self.counts.opened_implicitly += 1;
        self.becomes(zone, ZoneState::ImplicitlyOpen);
        Ok(())
    }

    /// Makes room for one more open zone. Closes the zone that was opened implicitly first, if necessary.
    pub(super) fn make_room_for(&mut self, zone: u32) -> Result<(), ZoneError> {
        let is_active = self.zones[zone as usize].state.is_active();
        if !is_active && self.active >= self.rules.max_active {
            return Err(ZoneError::TooManyActive);
        }
        if self.open < self.rules.max_open {
            return Ok(());
        }
        let implicit = |at: &(u32, &Zone)| at.1.state == ZoneState::ImplicitlyOpen;
        let open = (0..).zip(&self.zones).filter(implicit);
        let (first, _) = open.min_by_key(|(_, zone)| zone.opened).ok_or(ZoneError::TooManyOpen)?;
        self.counts.closed_implicitly += 1;
        self.becomes(first, ZoneState::Closed);
        Ok(())
    }

    /// Changes the state of a zone, and everything that depends on it.
    pub(super) fn becomes(&mut self, zone: u32, state: ZoneState) {
        let at = &mut self.zones[zone as usize];
        let before = std::mem::replace(&mut at.state, state);
        self.open = self.open - u32::from(before.is_open()) + u32::from(state.is_open());
        self.active = self.active - u32::from(before.is_active()) + u32::from(state.is_active());
        if at.has_window && !state.is_active() {
            at.has_window = false;
            self.windows -= 1;
        }
        match (before.is_active(), state.is_active()) {
            (false, true) => self.changes.push(ZoneChange::Begins(zone)),
            (true, false) => self.changes.push(ZoneChange::Ends(zone)),
            _ => {}
        }
    }

    /// Checks a reset. The address that it returns is that of its first sequential zone.
    fn admit_reset(&self, request: &Request) -> Result<Lba, ZoneError> {
        let covered = self.covered(request)?;
        if covered.len() == 1 {
            let zone = covered.start;
            match self.zones[zone as usize].state {
                _ if self.is_conventional(zone) => return Err(ZoneError::InvalidField),
                ZoneState::ReadOnly | ZoneState::Offline => {
                    return Err(ZoneError::InvalidTransition);
                }
                _ => {}
            }
        }
        Ok(self.without_gaps(request.lba))
    }

    /// Whether an admitted reset may take effect: not if it is for one zone that takes no more writes now. One that went out of
    /// service while it was empty is as it would be.
    #[must_use]
    pub fn may_reset(&self, request: &Request) -> bool {
        let shape = self.rules.shape;
        let zone = (request.lba.0 / shape.capacity_sectors()) as usize;
        let is_one = u64::from(request.sectors) <= shape.size_sectors();
        let Zone { state, written, .. } = self.zones[zone];
        let is_gone = state == ZoneState::Offline && written == 0;
        !(is_one && matches!(state, ZoneState::ReadOnly | ZoneState::Offline)) || is_gone
    }

    /// A reset takes effect on the zones that it covers. `request` has no gaps in its address. Returns them.
    pub fn reset(&mut self, request: &Request) -> Vec<u32> {
        let (size, capacity) =
            (self.rules.shape.size_sectors(), self.rules.shape.capacity_sectors());
        let first = (request.lba.0 / capacity) as u32;
        let end = first + u64::from(request.sectors).div_ceil(size) as u32;
        let first = first.max(self.rules.shape.conventional);
        let mut reset = Vec::new();
        for zone in first..end {
            let at = self.zones[zone as usize];
            if matches!(at.state, ZoneState::ReadOnly | ZoneState::Offline) {
                continue;
            }
            self.counts.resets += u64::from(at.state != ZoneState::Empty);
            if !at.state.is_active() {
                // Some of its pages may not be placed yet.
                self.changes.push(ZoneChange::Ends(zone));
            }
            self.becomes(zone, ZoneState::Empty);
            let at = &mut self.zones[zone as usize];
            (at.write_pointer, at.written) = (0, 0);
            reset.push(zone);
        }
        reset
    }

    /// Zones are not written any more, because the device takes no more writes.
    pub fn wear_out(&mut self) {
        for zone in self.rules.shape.conventional..self.rules.shape.count {
            if self.zones[zone as usize].state != ZoneState::Offline {
                self.becomes(zone, ZoneState::ReadOnly);
            }
        }
    }

    /// A zone was written in order up to this address, without gaps and without a clock.
    pub fn filled_to(&mut self, lba: Lba) {
        let capacity = self.rules.shape.capacity_sectors();
        let Some(last) = lba.0.checked_sub(1) else { return };
        let (zone, written) = ((last / capacity) as u32, last % capacity + 1);
        if self.is_conventional(zone) {
            return;
        }
        let at = &mut self.zones[zone as usize];
        (at.write_pointer, at.written) = (written, written);
        let state = if written == capacity { ZoneState::Full } else { ZoneState::Closed };
        self.becomes(zone, state);
    }

    pub(super) fn parts_mut(&mut self) -> (&mut Vec<Zone>, &mut u64) {
        (&mut self.zones, &mut self.openings)
    }

    pub(super) fn openings(&self) -> u64 {
        self.openings
    }

    /// Counts the zones by state again.
    pub(crate) fn recount(&mut self) {
        let count =
            |is: fn(&Zone) -> bool| self.zones.iter().filter(|zone| is(zone)).count() as u32;
        self.open = count(|zone| zone.state.is_open());
        self.active = count(|zone| zone.state.is_active());
        self.windows = count(|zone| zone.has_window);
        self.changes.clear();
    }
}
