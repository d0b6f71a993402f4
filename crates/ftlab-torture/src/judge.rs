//! The naive device as a host sees it: records the commands to a device and judges each answer.
//!
//! With power cuts it also knows the promises: after a cut each sector must contain something that
//! was written there, and nothing older than what the device promised to keep.

use std::collections::BTreeMap;
use std::ops::Range;

use ftlab::config::{Config, FlushRule};
use ftlab::host::{Completion, Op, Outcome, Request};
use ftlab::units::Lba;

use crate::reference::Reference;
use crate::versions::{FoundVersions, Version};

/// What a device promises about power cuts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Promises {
    /// What was written before a flush, or with FUA, survives.
    pub flushes: bool,
    /// Acknowledged writes survive.
    pub writes: bool,
    /// Acknowledged trims survive.
    pub trims: bool,
    /// What survives is everything written up to some time.
    pub order: bool,
}

impl Promises {
    /// Returns what a configuration promises after a power cut.
    pub fn of(config: &Config) -> Promises {
        let on_flash = Promises::on_flash(config);
        let capacitors = config.options.power.capacitors.is_on();
        Promises {
            flushes: capacitors || on_flash.flushes,
            writes: capacitors || on_flash.writes,
            ..on_flash
        }
    }

    /// Returns what is on flash at any time, without what capacitors would save.
    pub fn on_flash(config: &Config) -> Promises {
        let buffer = &config.options.cache.policy;
        Promises {
            flushes: config.options.host.flush == FlushRule::Obeyed,
            writes: buffer.dram().is_none(),
            // The journal is on flash by then.
            trims: true,
            order: buffer.gate().is_some_and(|gate| gate.prefix),
        }
    }
}

/// Whether data on flash may be lost for another reason than age.
pub fn reads_fail(config: &Config) -> bool {
    let faults = &config.options.nand.faults;
    let by_chance = faults.read_failures > 0 || faults.disturb_limit.is_some();
    let errors = config.options.nand.timing.policy.errors();
    // Reads add errors between two patrols, and no patrol foresees them.
    let disturbed = errors.is_some_and(|errors| errors.disturbed_errors > 0);
    by_chance || disturbed || !faults.schedule.is_empty()
}

/// A command in flight: when it began, its sectors, and those it changes.
#[derive(Clone, Debug)]
struct Flying {
    begun: u64,
    range: Range<u64>,
    changed: Range<u64>,
}

/// A command to the device.
#[derive(Clone, Debug)]
pub struct Command {
    /// The operation.
    pub op: Op,
    /// The sectors.
    pub range: Range<u64>,
    /// The stream.
    pub stream: u32,
    /// Whether the device may acknowledge a write only once it is on flash.
    pub fua: bool,
}

/// Records commands and judges answers.
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
    /// Creates the judge of an empty device with `sectors` sectors, `per_page` in a page.
    pub fn new(sectors: u64, per_page: u64, promises: Promises) -> Judge {
        let mut reference = Reference::new(sectors);
        reference.expect_cuts();
        Judge { reference, promises, per_page, flying: BTreeMap::new(), next_tag: 1 }
    }

    /// Returns the request for a command that is submitted now. If `goes_on` is false, the device
    /// is read-only and changes nothing.
    pub fn begin(&mut self, command: Command, goes_on: bool) -> Request {
        let Command { op, range, stream, fua } = command;
        let tag = self.next_tag;
        self.next_tag += 1;
        let changed = if goes_on { changes(op, &range, self.per_page) } else { 0..0 };
        let begun = match op {
            Op::Write | Op::Append => self.reference.begin(changed.clone(), tag),
            Op::Trim | Op::ZoneReset => self.reference.begin(changed.clone(), 0),
            _ => self.reference.tick(),
        };
        let sectors = (range.end - range.start) as u32;
        let request = Request { op, lba: Lba(range.start), sectors, stream, tag, fua };
        self.flying.insert(tag, Flying { begun, range, changed });
        request
    }

    /// Sets the promises, after another device took over.
    pub fn promise(&mut self, promises: Promises) {
        self.promises = promises;
    }

    /// Judges a completion. After a refused command it stays open whether it changed anything; a
    /// read of lost data proves nothing.
    ///
    /// # Errors
    /// A read returned what it must not.
    pub fn end(&mut self, completion: &Completion, found: &FoundVersions) -> Result<(), String> {
        let Request { op, tag, fua, .. } = completion.request;
        let Flying { begun, range, changed } =
            self.flying.remove(&tag).expect("what completes was begun");
        if completion.outcome != Outcome::Done {
            return Ok(());
        }
        let at = completion.request.lba.0;
        if op == Op::Append && at != range.start {
            return Err(format!("an append to {at}, where {} was next", range.start));
        }
        let safe = match op {
            Op::Write | Op::Append => self.promises.writes || fua && self.promises.flushes,
            _ => self.promises.trims,
        };
        match op {
            Op::Write | Op::Append | Op::Trim | Op::ZoneReset => {
                let oldest = self.flying.values().map(|flying| flying.begun).min();
                let oldest = oldest.unwrap_or(u64::MAX);
                match safe {
                    true => self.reference.end_safely(changed, begun, oldest),
                    false => self.reference.end(changed, begun, oldest),
                }
            }
            Op::Read => self.reference.check_read(&range, found, begun)?,
            Op::Flush if self.promises.flushes => self.reference.flush(begun),
            _ => {}
        }
        Ok(())
    }

    /// Checks that those sectors of a command may hold nothing that are in zones out of service.
    ///
    /// # Errors
    /// One holds data that was acknowledged, and not reset.
    pub fn check_gone(&self, tag: u32, is_gone: impl Fn(u64) -> bool) -> Result<(), String> {
        let Flying { begun, range, .. } = &self.flying[&tag];
        let mut gone = range.clone().filter(|&sector| is_gone(sector));
        gone.try_for_each(|sector| self.reference.check(sector, 0, *begun))
    }

    /// Whether a power cut now may leave this version on flash.
    ///
    /// # Errors
    /// It must not.
    pub fn check_remains(&self, sector: u64, version: Version) -> Result<(), String> {
        let flushed = self.reference.flushed().expect("cuts are expected");
        self.reference.check_remains(sector, version, flushed)
    }

    /// Handles a power cut: commands in flight are never answered.
    pub fn lose_power(&mut self) {
        self.flying.clear();
    }

    /// Judges the sectors after a power cut; `None` means that the device reports a sector as lost.
    /// From now on the sectors contain this.
    ///
    /// # Errors
    /// The sectors must not contain this, or no data may be lost.
    pub fn survey(&mut self, found: &[Option<Version>], may_lose: bool) -> Result<(), String> {
        for (sector, version) in (0..).zip(found) {
            match version {
                Some(version) => self.check_remains(sector, *version)?,
                None if may_lose => {}
                None => return Err(format!("sector {sector} is lost, but nothing has failed")),
            }
        }
        if self.promises.order {
            self.check_order(found)?;
        }
        self.accept(found);
        Ok(())
    }

    /// Sets what the sectors contain, whatever was promised; `None` leaves it open.
    pub fn accept(&mut self, found: &[Option<Version>]) {
        for (sector, version) in (0..).zip(found) {
            match version {
                Some(version) => self.reference.settle(sector, *version),
                None => self.reference.leave_open(sector),
            }
        }
    }

    /// Checks that everything completed before the newest survivor began has survived.
    fn check_order(&self, found: &[Option<Version>]) -> Result<(), String> {
        let sectors = || (0..).zip(found).filter_map(|(at, version)| Some((at, (*version)?)));
        let begun = |(sector, version)| self.reference.begin_of(sector, version);
        let Some(newest) = sectors().filter_map(begun).max() else { return Ok(()) };
        for (sector, version) in sectors() {
            if self.reference.misses(sector, version, newest) {
                return Err(format!(
                    "sector {sector} holds {version}, but something newer was written there before a \
                     write began at {newest} that survived: the order is lost"
                ));
            }
        }
        Ok(())
    }
}

/// Returns the sectors that a command changes. A trim does not change pages that it covers only in part.
pub fn changes(op: Op, range: &Range<u64>, per_page: u64) -> Range<u64> {
    match op {
        Op::Write | Op::Append | Op::ZoneReset => range.clone(),
        Op::Trim => {
            let first = range.start.next_multiple_of(per_page);
            let end = range.end - range.end % per_page;
            first..end.max(first)
        }
        _ => 0..0,
    }
}
