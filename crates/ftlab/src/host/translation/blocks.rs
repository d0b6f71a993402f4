//! The blocks of a log-structured store: where they are, which places hold them, and what its zones hold.
//!
//! Places are numbered through all zones, without gaps. Both tables hold numbers plus one, and zero means "none", so that the
//! system provides them as zeroed memory.

use std::collections::{BTreeSet, VecDeque};

use super::LogRules;
use crate::host::zones::{Zone, ZoneState, Zones};

/// What a zone is used for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum LogUse {
    /// Nothing is written.
    #[default]
    Free,
    /// Appends go to it.
    Open,
    /// Every place was given to an append.
    Full,
    /// It is cleaned.
    Victim,
    /// A reset is on its way.
    Resetting,
    /// The device retired it: it is read, if at all, but neither written nor reset any more.
    Retired,
}

/// A zone of the store.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LogZone {
    pub is: LogUse,
    /// Places that hold a block.
    pub valid: u32,
    /// Places given to appends.
    pub given: u32,
    /// Appends in the device.
    pub appends: u32,
    /// Reads in the device.
    pub reads: u32,
    /// How often it was reset. Wraps.
    pub resets: u32,
    /// The mean time at which its blocks were written, drawn towards the present by each block that it loses.
    pub time: u64,
    /// Counts up as zones become full.
    pub filled: u64,
}

impl LogZone {
    /// A block is written with this time, or lost at it.
    fn touch(&mut self, time: u64) {
        let valid = u64::from(self.valid);
        self.time = (self.time * valid + time) / (valid + 1);
    }
}

/// Where blocks are.
#[derive(Clone, Debug)]
pub(super) struct LogBlocks {
    rules: LogRules,
    /// By block, its place plus one.
    places: Vec<u32>,
    /// By place, its block plus one.
    owners: Vec<u32>,
    /// Blocks whose data could not be read when it was to move, until they are written or trimmed.
    lost: BTreeSet<u32>,
    zones: Vec<LogZone>,
    /// Open zones that belong to no class: the preparation left them partly written, or appends to them were refused.
    partly: Vec<u32>,
    /// Free zones, in the order in which they became free.
    free: VecDeque<u32>,
    resetting: u32,
    /// Zones that the device may hold active: the open ones, and others whose appends have not landed.
    in_use: u32,
    filled: u64,
    /// The time: blocks that the host has written.
    pub clock: u64,
}

impl LogBlocks {
    /// The blocks on a device that is empty, or whose zones were written in order, as if block after block was written.
    pub fn new(rules: LogRules, device: &Zones) -> LogBlocks {
        let mut blocks = LogBlocks {
            rules,
            places: vec![0; rules.blocks as usize],
            owners: vec![0; rules.zones as usize * rules.zone_blocks as usize],
            lost: BTreeSet::new(),
            zones: vec![LogZone::default(); rules.zones as usize],
            partly: Vec::new(),
            free: VecDeque::new(),
            resetting: 0,
            in_use: 0,
            filled: 0,
            clock: 0,
        };
        for (zone, at) in (0..rules.zones).zip(device.all()) {
            blocks.adopt(zone, at);
        }
        let is_free = |&zone: &u32| blocks.zone(zone).is == LogUse::Free;
        blocks.free = (0..rules.zones).filter(is_free).collect();
        blocks
    }

    /// Takes over a zone as the device has it.
    fn adopt(&mut self, zone: u32, device: &Zone) {
        let written = (device.written / u64::from(self.rules.block_sectors)) as u32;
        let (is, given) = match device.state {
            ZoneState::Empty => return,
            ZoneState::ReadOnly | ZoneState::Offline => (LogUse::Retired, written),
            ZoneState::Full => (LogUse::Open, self.rules.zone_blocks),
            _ => (LogUse::Open, written),
        };
        self.zones[zone as usize] = LogZone { is, given, ..LogZone::default() };
        let first = zone * self.rules.zone_blocks;
        (first..self.rules.blocks.min(first + written)).for_each(|block| {
            self.put(block, block, 0);
        });
        if device.state == ZoneState::Offline {
            self.lose_all(zone);
        }
        self.fill(zone);
        if self.zone(zone).is == LogUse::Open {
            self.in_use += 1;
            self.partly.push(zone);
        }
    }

    pub fn zone(&self, zone: u32) -> &LogZone {
        &self.zones[zone as usize]
    }

    pub fn zone_mut(&mut self, zone: u32) -> &mut LogZone {
        &mut self.zones[zone as usize]
    }

    pub fn zones(&self) -> &[LogZone] {
        &self.zones
    }

    pub fn zone_of(&self, place: u32) -> u32 {
        place / self.rules.zone_blocks
    }

    /// Zones that are free.
    pub fn free(&self) -> u32 {
        self.free.len() as u32
    }

    /// Zones that are free or soon will be.
    pub fn free_soon(&self) -> u32 {
        self.free() + self.resetting
    }

    pub fn place_of(&self, block: u32) -> Option<u32> {
        self.places[block as usize].checked_sub(1)
    }

    /// Whether a block had data that could not be read when it was to move.
    pub fn is_lost(&self, block: u32) -> bool {
        self.lost.contains(&block)
    }

    /// The data at a place can't be read. Returns whether a block was there.
    pub fn lose(&mut self, place: u32) -> bool {
        let Some(block) = self.owner_of(place) else { return false };
        self.forget(block);
        self.lost.insert(block)
    }

    /// Nothing in a zone can be read. Returns how many blocks that was.
    pub fn lose_all(&mut self, zone: u32) -> u32 {
        let first = zone * self.rules.zone_blocks;
        (first..first + self.rules.zone_blocks).map(|place| u32::from(self.lose(place))).sum()
    }

    /// The place of a block, with how often its zone has been reset: what lies there now, and not later in time.
    pub fn source_of(&self, block: u32) -> Option<(u32, u32)> {
        let place = self.place_of(block)?;
        Some((place, self.zone(self.zone_of(place)).resets))
    }

    pub fn owner_of(&self, place: u32) -> Option<u32> {
        self.owners[place as usize].checked_sub(1)
    }

    /// A block has landed at a place, with the time that its data has. Returns the zone that held it before.
    pub fn put(&mut self, block: u32, place: u32, time: u64) -> Option<u32> {
        let before = self.forget(block);
        self.places[block as usize] = place + 1;
        self.owners[place as usize] = block + 1;
        let zone = self.zone_of(place);
        let at = self.zone_mut(zone);
        at.touch(time);
        at.valid += 1;
        before
    }

    /// A block has no data any more. Returns the zone that held it.
    pub fn forget(&mut self, block: u32) -> Option<u32> {
        self.lost.remove(&block);
        let place = self.place_of(block)?;
        self.places[block as usize] = 0;
        self.owners[place as usize] = 0;
        let (zone, now) = (self.zone_of(place), self.clock);
        let at = self.zone_mut(zone);
        at.touch(now);
        at.valid -= 1;
        Some(zone)
    }

    /// Opens an open zone that belongs to no class, or else the zone that has been free for longest, if more than `kept` are,
    /// and the device may hold one more active.
    pub fn open(&mut self, kept: u32) -> Option<u32> {
        while let Some(zone) = self.partly.pop() {
            if self.zone(zone).is == LogUse::Open {
                return Some(zone);
            }
        }
        if self.free() <= kept || self.in_use >= self.rules.most_active {
            return None;
        }
        self.in_use += 1;
        let zone = self.free.pop_front()?;
        self.zone_mut(zone).is = LogUse::Open;
        Some(zone)
    }

    /// Places of an open zone that no append has.
    pub fn room_in(&self, zone: u32) -> u32 {
        self.rules.zone_blocks - self.zone(zone).given
    }

    /// Gives places of a zone to an append.
    pub fn give(&mut self, zone: u32, count: u32) {
        let at = self.zone_mut(zone);
        at.given += count;
        at.appends += 1;
        self.fill(zone);
    }

    /// An append to a zone is done.
    pub fn appended(&mut self, zone: u32) {
        let at = self.zone_mut(zone);
        at.appends -= 1;
        let ends = at.is != LogUse::Open && at.appends == 0;
        self.in_use -= u32::from(ends);
    }

    /// The device refused an append to a zone that it has not retired: its places go to other appends.
    pub fn refused(&mut self, zone: u32, count: u32) {
        let at = self.zone_mut(zone);
        at.given -= count;
        if at.is == LogUse::Full {
            at.is = LogUse::Open;
            self.partly.push(zone);
        }
    }

    /// Closes an open zone if it has no room.
    fn fill(&mut self, zone: u32) {
        if self.zone(zone).is == LogUse::Open && self.room_in(zone) == 0 {
            self.filled += 1;
            let filled = self.filled;
            let at = self.zone_mut(zone);
            (at.is, at.filled) = (LogUse::Full, filled);
        }
    }

    /// Begins the reset of a zone if nothing in it is needed any more. Returns whether it does.
    pub fn resets(&mut self, zone: u32) -> bool {
        let at = self.zone_mut(zone);
        let begins = at.is == LogUse::Full && at.valid + at.appends + at.reads == 0;
        if begins {
            at.is = LogUse::Resetting;
            self.resetting += 1;
        }
        begins
    }

    /// A zone was reset.
    pub fn was_reset(&mut self, zone: u32) {
        let at = self.zone_mut(zone);
        *at = LogZone { resets: at.resets.wrapping_add(1), ..LogZone::default() };
        self.resetting -= 1;
        self.free.push_back(zone);
    }

    /// The device has retired a zone.
    pub fn retire(&mut self, zone: u32) {
        let at = self.zone_mut(zone);
        let was = std::mem::replace(&mut at.is, LogUse::Retired);
        let ends = was == LogUse::Open && at.appends == 0;
        self.in_use -= u32::from(ends);
        self.resetting -= u32::from(was == LogUse::Resetting);
        if was == LogUse::Free {
            self.free.retain(|&free| free != zone);
        }
    }

    /// The memory of the tables, in bytes.
    pub fn bytes(&self) -> u64 {
        self.rules.table_bytes() + std::mem::size_of_val(&self.zones[..]) as u64
    }

    /// Checks that everything that is kept twice agrees.
    ///
    /// # Errors
    /// What does not.
    pub fn audit(&self) -> Result<(), String> {
        let mut valid = vec![0; self.zones.len()];
        let mut owned = 0;
        for (place, _) in (0..).zip(&self.owners) {
            let Some(block) = self.owner_of(place) else { continue };
            if self.place_of(block) != Some(place) {
                return Err(format!(
                    "place {place} holds block {block}, which is at {:?}",
                    self.place_of(block)
                ));
            }
            owned += 1;
            valid[self.zone_of(place) as usize] += 1;
        }
        let mapped = self.places.iter().filter(|&&place| place != 0).count();
        if mapped != owned {
            return Err(format!("{mapped} blocks have places, and {owned} places blocks"));
        }
        for (zone, (at, &counted)) in self.zones.iter().zip(&valid).enumerate() {
            let is_empty = matches!(at.is, LogUse::Free | LogUse::Resetting);
            let is_left = at.is == LogUse::Full && at.valid + at.appends + at.reads == 0;
            if at.valid != counted || is_empty && counted != 0 || is_left {
                return Err(format!("zone {zone} holds {counted} blocks, and is {at:?}"));
            }
        }
        let count = |is: fn(&LogZone) -> bool| self.zones.iter().filter(|zone| is(zone)).count();
        let counts = [
            ("free", count(|zone| zone.is == LogUse::Free), self.free.len()),
            ("resetting", count(|zone| zone.is == LogUse::Resetting), self.resetting as usize),
            (
                "in use",
                count(|zone| zone.is == LogUse::Open || zone.appends > 0),
                self.in_use as usize,
            ),
        ];
        if let Some((what, counted, kept)) =
            counts.into_iter().find(|(_, counted, kept)| counted != kept)
        {
            return Err(format!("{counted} zones are {what}, and {kept} are taken for it"));
        }
        match self.lost.iter().find(|&&block| self.place_of(block).is_some()) {
            None => Ok(()),
            Some(block) => Err(format!("block {block} is lost and has a place")),
        }
    }
}
