//! The naive device as a host sees it: takes down what is asked of a device, and judges each answer.
//!
//! With power cuts it also knows what is promised: after a cut each sector must hold something that was
//! written there, and nothing older than what the device promised to keep.

use std::collections::BTreeMap;
use std::ops::Range;

use ftlab::config::Config;
use ftlab::host::{Completion, Op, Outcome, Request};
use ftlab::units::Lba;

use crate::reference::Reference;
use crate::versions::{FoundVersions, Version};

/// What a device promises beyond that flushed data survives a power cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Promises {
    /// A write that is acknowledged survives.
    pub writes: bool,
    /// A trim that is acknowledged survives.
    pub trims: bool,
    /// What survives is all that was written up to some moment.
    pub order: bool,
}

impl Promises {
    /// What a configuration promises to be there after a power cut.
    pub fn of(config: &Config) -> Promises {
        let on_flash = Promises::on_flash(config);
        Promises { writes: config.options.power.capacitors.is_on() || on_flash.writes, ..on_flash }
    }

    /// What lies on flash at any moment: not what capacitors would carry there.
    pub fn on_flash(config: &Config) -> Promises {
        let buffer = &config.options.cache.policy;
        Promises {
            writes: buffer.dram().is_none(),
            // The journal has it on flash by then.
            trims: true,
            order: buffer.gate().is_some_and(|gate| gate.prefix),
        }
    }
}

/// Whether what is on flash may be lost for another reason than age.
pub fn reads_fail(config: &Config) -> bool {
    let faults = &config.options.nand.faults;
    let by_chance = faults.read_failures > 0 || faults.disturb_limit.is_some();
    by_chance || !faults.schedule.is_empty()
}

/// A command in flight: when it began, its sectors, and which of them it changes.
#[derive(Clone, Debug)]
struct Flying {
    begun: u64,
    range: Range<u64>,
    changed: Range<u64>,
}

/// What is asked.
#[derive(Clone, Debug)]
pub struct Command {
    /// What to do.
    pub op: Op,
    /// With which sectors.
    pub range: Range<u64>,
    /// For whom.
    pub stream: u32,
    /// Whether the device may only say that it is done when it is on flash.
    pub fua: bool,
}

/// Takes down and judges.
#[derive(Clone, Debug)]
pub struct Judge {
    reference: Reference,
    promises: Promises,
    per_page: u64,
    /// By tag.
    flying: BTreeMap<u32, Flying>,
    next_tag: u32,
}

impl Judge {
    /// Of a device that holds nothing yet, whose pages have so many sectors.
    pub fn new(sectors: u64, per_page: u64, promises: Promises) -> Judge {
        let mut reference = Reference::new(sectors);
        reference.expect_cuts();
        Judge { reference, promises, per_page, flying: BTreeMap::new(), next_tag: 1 }
    }

    /// The request for a command that is submitted now. A device that does not go on is read-only, and
    /// changes nothing.
    pub fn begin(&mut self, command: Command, goes_on: bool) -> Request {
        let Command { op, range, stream, fua } = command;
        let tag = self.next_tag;
        self.next_tag += 1;
        let changed = if goes_on { changes(op, &range, self.per_page) } else { 0..0 };
        let begun = match op {
            Op::Write => self.reference.begin(changed.clone(), tag),
            Op::Trim => self.reference.begin(changed.clone(), 0),
            Op::Read | Op::Flush => self.reference.tick(),
        };
        let sectors = (range.end - range.start) as u32;
        let request = Request { op, lba: Lba(range.start), sectors, stream, tag, fua };
        self.flying.insert(tag, Flying { begun, range, changed });
        request
    }

    /// Another device took over, which promises this.
    pub fn promise(&mut self, promises: Promises) {
        self.promises = promises;
    }

    /// Something is done. A refused command leaves open for ever whether it changed anything, a read of
    /// lost data says nothing.
    ///
    /// # Errors
    /// A read returned what it may not.
    pub fn end(&mut self, completion: &Completion, found: &FoundVersions) -> Result<(), String> {
        let Request { op, tag, fua, .. } = completion.request;
        let Flying { begun, range, changed } =
            self.flying.remove(&tag).expect("what completes was begun");
        if completion.outcome != Outcome::Done {
            return Ok(());
        }
        let safe = match op {
            Op::Write => self.promises.writes || fua,
            _ => self.promises.trims,
        };
        match op {
            Op::Write | Op::Trim => {
                let oldest = self.flying.values().map(|flying| flying.begun).min();
                let oldest = oldest.unwrap_or(u64::MAX);
                match safe {
                    true => self.reference.end_safely(changed, begun, oldest),
                    false => self.reference.end(changed, begun, oldest),
                }
            }
            Op::Read => self.reference.check_read(&range, found, begun)?,
            Op::Flush => self.reference.flush(begun),
        }
        Ok(())
    }

    /// Whether a power cut now may leave this version on flash.
    ///
    /// # Errors
    /// It may not.
    pub fn check_remains(&self, sector: u64, version: Version) -> Result<(), String> {
        let flushed = self.reference.flushed().expect("cuts are expected");
        self.reference.check_remains(sector, version, flushed)
    }

    /// Power was cut: the host never hears of what was in flight.
    pub fn lose_power(&mut self) {
        self.flying.clear();
    }

    /// After a power cut, sectors hold this; `None` is lost, and the device says so. From now on that is
    /// what the sectors hold.
    ///
    /// # Errors
    /// They may not, or the device may not say so.
    pub fn survey(&mut self, found: &[Option<Version>], may_lose: bool) -> Result<(), String> {
        for (sector, version) in (0..).zip(found) {
            match version {
                Some(version) => self.check_remains(sector, *version)?,
                None if may_lose => {}
                None => return Err(format!("sector {sector} is lost, and nothing has failed")),
            }
        }
        if self.promises.order {
            self.check_order(found)?;
        }
        self.accept(found);
        Ok(())
    }

    /// From now on sectors hold this, whatever was promised; what `None` stands for nobody can tell.
    pub fn accept(&mut self, found: &[Option<Version>]) {
        for (sector, version) in (0..).zip(found) {
            match version {
                Some(version) => self.reference.settle(sector, *version),
                None => self.reference.leave_open(sector),
            }
        }
    }

    /// What was done before the newest that survived began has survived.
    fn check_order(&self, found: &[Option<Version>]) -> Result<(), String> {
        let sectors = || (0..).zip(found).filter_map(|(at, version)| Some((at, (*version)?)));
        let begun = |(sector, version)| self.reference.begin_of(sector, version);
        let Some(newest) = sectors().filter_map(begun).max() else { return Ok(()) };
        for (sector, version) in sectors() {
            if self.reference.misses(sector, version, newest) {
                return Err(format!(
                    "sector {sector} holds {version}, though something newer was written there before a \
                     write began at {newest} that survived: the order is lost"
                ));
            }
        }
        Ok(())
    }
}

/// The sectors that a command changes, of a device with so many in a page: a trim leaves pages alone that it covers in
/// part.
pub fn changes(op: Op, range: &Range<u64>, per_page: u64) -> Range<u64> {
    match op {
        Op::Write => range.clone(),
        Op::Trim => {
            let first = range.start.next_multiple_of(per_page);
            let end = range.end - range.end % per_page;
            first..end.max(first)
        }
        Op::Read | Op::Flush => 0..0,
    }
}
