//! Failures in the flash itself, command by command: dead dies, operations and pages that a schedule names, and reads
//! that are uncorrectable by chance.
//!
//! The flash asks when it is done with a command. Nothing here depends on the order of events elsewhere: a die is
//! dead from a given time on, and whether a read fails by chance follows from the seed, the block, its erases, the
//! flash page, and the number of reads of the block since its erase.

use super::faults::{BILLION, FaultOptions, happens, mix};
use super::{Fault, FlashPlace, Kind, Scheduled};
use crate::counters::counters;
use crate::engine::Stream;
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::shape::FlashGeometry;
use crate::units::{BlockId, DieId, Nanos, SimTime};

/// The history of blocks, as seen by the flash.
#[derive(Clone, Debug, Default)]
struct Reads {
    /// By block: reads since its erase.
    reads: Vec<u32>,
    /// By block.
    erases: Vec<u32>,
    /// Blocks that have been read often and have not been reported yet.
    often: Vec<BlockId>,
}

/// Other uses of the counts of reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counting {
    /// Whether reads add errors.
    pub disturbs: bool,
    /// Number of reads after which a block is to be refreshed, and again after as many more.
    pub often: Option<u32>,
}

counters! {
    /// Commands that failed.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct HazardCounts {
        /// Flash commands that failed because their die was dead.
        on_dead_dies: u64, unit "commands", at "health/commands_on_dead_dies";
        /// Reads of flash pages, and the sensing of copybacks, that could not be corrected, by chance, by schedule, or
        /// because the block was read too often. If the timing model has errors, its own are in `cost`.
        unreadable: u64, unit "flash pages", at "health/unreadable_flash_pages";
    }
}

/// More failures are no history of a device.
const MOST_FAILURES: u64 = 1 << 32;

/// All failures of the flash.
#[derive(Clone, Debug)]
pub struct Hazards {
    geometry: FlashGeometry,
    /// By die: when it dies.
    deaths: Vec<Option<SimTime>>,
    /// Faults that have not happened or are not over.
    ahead: Vec<Scheduled>,
    /// Faults that are over. A device that is loaded skips them.
    over: Vec<Scheduled>,
    /// The key of reads that fail by chance.
    key: u64,
    /// Reads that fail by chance, in a billion.
    read_failures: u32,
    /// Reads of a block after which it cannot be read.
    disturb_limit: Option<u32>,
    counting: Counting,
    /// `None` if nothing needs the counts.
    reads: Option<Reads>,
    counts: HazardCounts,
}

impl Hazards {
    /// Returns the failures that these options define under a seed, or `None` if there are none.
    #[must_use]
    pub fn new(
        options: &FaultOptions,
        counting: Counting,
        geometry: &FlashGeometry,
        seed: u64,
    ) -> Option<Hazards> {
        let blocks = geometry.blocks() as usize;
        let none = || Reads { reads: vec![0; blocks], erases: vec![0; blocks], often: Vec::new() };
        let Counting { disturbs, often } = counting;
        let limited = options.disturb_limit.is_some();
        let counts = disturbs || often.is_some() || limited || options.read_failures > 0;
        let mut hazards = Hazards {
            ahead: options.schedule.clone(),
            key: Stream::new(seed, "nand.faults.reads").next_u64(),
            read_failures: options.read_failures,
            disturb_limit: options.disturb_limit,
            counting,
            reads: counts.then(none),
            ..Hazards::none(geometry)
        };
        for &Scheduled { at, fault } in &options.schedule {
            if let Fault::DieDies(die) = fault {
                hazards.dies(DieId::new(die), since_power_on(at));
            }
        }
        (!options.schedule.is_empty() || counts).then_some(hazards)
    }

    /// Returns an empty set of failures, to which dead dies can be added.
    pub(crate) fn none(geometry: &FlashGeometry) -> Hazards {
        Hazards {
            geometry: geometry.clone(),
            deaths: vec![None; geometry.dies() as usize],
            ahead: Vec::new(),
            over: Vec::new(),
            key: 0,
            read_failures: 0,
            disturb_limit: None,
            counting: Counting { disturbs: false, often: None },
            reads: None,
            counts: HazardCounts::default(),
        }
    }

    /// Makes a die dead from `at` on.
    pub(crate) fn dies(&mut self, die: DieId, at: SimTime) {
        let death = &mut self.deaths[die.at()];
        *death = Some(death.map_or(at, |before| before.min(at)));
    }

    /// Whether any die dies.
    #[must_use]
    pub(crate) fn kills(&self) -> bool {
        self.deaths.iter().any(Option::is_some)
    }

    /// Whether a die is dead.
    #[must_use]
    pub fn is_dead(&self, die: DieId, now: SimTime) -> bool {
        self.deaths[die.at()].is_some_and(|at| at <= now)
    }

    /// The counts so far.
    #[must_use]
    pub fn counts(&self) -> &HazardCounts {
        &self.counts
    }

    /// Scheduled faults later than `now`, in the order of the schedule.
    pub fn to_come(&self, now: SimTime) -> impl Iterator<Item = &Scheduled> {
        self.ahead.iter().filter(move |scheduled| since_power_on(scheduled.at) > now)
    }

    /// Scheduled operations that should have failed by `now` but have not taken place.
    pub fn unmet(&self, now: SimTime) -> impl Iterator<Item = &Scheduled> {
        let is_next = |fault| matches!(fault, Fault::ProgramFails(_) | Fault::EraseFails(_));
        let due = move |one: &&Scheduled| since_power_on(one.at) <= now && is_next(one.fault);
        self.ahead.iter().filter(due)
    }

    /// Reads of a block since its erase; zero if reads are not counted.
    #[must_use]
    pub fn reads_of(&self, block: BlockId) -> u32 {
        self.reads.as_ref().map_or(0, |reads| reads.reads[block.at()])
    }

    /// Takes the next block that has been read often.
    #[inline]
    pub(crate) fn next_read_often(&mut self) -> Option<BlockId> {
        self.reads.as_mut()?.often.pop()
    }

    /// Counts a read of a flash page. Returns whether it is uncorrectable, by chance or because its block has been
    /// read too often.
    pub(crate) fn read_fails(&mut self, at: &FlashPlace) -> bool {
        let Some(Reads { reads, erases, often }) = &mut self.reads else { return false };
        let reads = &mut reads[at.block.at()];
        let life = u64::from(at.block.get()) << 32 | u64::from(erases[at.block.at()]);
        let event = u64::from(at.flash_page) << 32 | u64::from(*reads);
        let disturbed = self.disturb_limit.is_some_and(|limit| *reads >= limit);
        *reads = reads.saturating_add(1);
        if self.counting.often.is_some_and(|many| reads.is_multiple_of(many)) {
            often.push(at.block);
        }
        let number = mix(self.key ^ mix(mix(life) ^ event));
        let by_chance = happens(number, self.read_failures.into(), BILLION);
        let fails = disturbed || by_chance;
        self.counts.unreadable += u64::from(fails);
        fails
    }

    /// Returns whether a command of the system area that is done has failed: it does only if its die is dead.
    pub(crate) fn fails_in_system_area(&mut self, now: SimTime, die: DieId) -> bool {
        let is_dead = self.is_dead(die, now);
        self.counts.on_dead_dies += u64::from(is_dead);
        is_dead
    }

    /// Returns whether a command that is done has failed. Counts erases.
    pub(crate) fn fails(&mut self, now: SimTime, die: DieId, kind: Kind, at: &FlashPlace) -> bool {
        if self.is_dead(die, now) {
            self.counts.on_dead_dies += 1;
            return true;
        }
        let plane = self.geometry.plane_of(at.block);
        let comes = |scheduled: &Scheduled| {
            since_power_on(scheduled.at) <= now
                && scheduled.fault.fails(kind, at.block.get(), plane.get())
        };
        let failed = self.ahead.iter().position(comes).map(|number| self.ahead.remove(number));
        self.over.extend(failed);
        if kind == Kind::Erase {
            self.erased(now, at.block);
        }
        failed.is_some()
    }

    /// Whether the schedule says that a flash page, just sensed, is unreadable.
    pub(crate) fn is_unreadable(&mut self, now: SimTime, flash_page: u32) -> bool {
        let found = self.ahead.iter().any(|scheduled| match scheduled.fault {
            Fault::Unreadable(spot) => {
                since_power_on(scheduled.at) <= now
                    && spot.flash_pages(&self.geometry).contains(&flash_page)
            }
            _ => false,
        });
        self.counts.unreadable += u64::from(found);
        found
    }

    /// Records the erase of a block, which ends its unreadable pages.
    pub(crate) fn erased(&mut self, now: SimTime, block: BlockId) {
        if let Some(Reads { reads, erases, .. }) = &mut self.reads {
            reads[block.at()] = 0;
            erases[block.at()] += 1;
        }
        let Hazards { geometry, ahead, over, .. } = self;
        let first = block.get() * geometry.shape().pages_per_block;
        let pages = first..first + geometry.shape().pages_per_block;
        ahead.retain(|scheduled| {
            let Fault::Unreadable(spot) = scheduled.fault else { return true };
            let came = since_power_on(scheduled.at) <= now;
            let gone = came && pages.contains(&spot.flash_pages(geometry).start);
            over.extend(gone.then_some(*scheduled));
            !gone
        });
    }

    /// Sets how often a block was erased before the device was loaded.
    pub(crate) fn set_erases(&mut self, block: BlockId, count: u32) {
        if let Some(Reads { erases, .. }) = &mut self.reads {
            erases[block.at()] = count;
        }
    }

    /// Saves past faults and the reads of blocks.
    pub(crate) fn save(&self, out: &mut ImageWriter) {
        let Hazards {
            geometry: _,
            // The FTL knows dead dies, and the schedule future faults.
            deaths: _,
            ahead: _,
            over,
            key,
            read_failures: _,
            disturb_limit: _,
            counting: _,
            reads,
            counts: HazardCounts { on_dead_dies, unreadable },
        } = self;
        out.number(*key);
        out.number(*on_dead_dies);
        out.number(*unreadable);
        out.number(over.len() as u64);
        over.iter().for_each(|scheduled| scheduled.save(out));
        // The erases of blocks are saved with the blocks.
        let reads = reads.iter().flat_map(|reads| (0u32..).zip(&reads.reads));
        let read: Vec<_> = reads.filter(|&(_, &reads)| reads > 0).collect();
        out.number(read.len() as u64);
        for (block, &reads) in read {
            out.number(block);
            out.number(reads);
        }
    }

    /// Loads what [`save`](Self::save) wrote. Past faults do not happen again.
    pub(crate) fn load(&mut self, from: &mut ImageReader<'_>) -> Result<(), Damage> {
        self.key = from.number()?;
        let on_dead_dies = from.below(MOST_FAILURES, "the number of commands on dead dies")?;
        let unreadable = from.below(MOST_FAILURES, "the number of unreadable flash pages")?;
        self.counts =
            HazardCounts { on_dead_dies: on_dead_dies.into(), unreadable: unreadable.into() };
        for _ in 0..from.number()? {
            let scheduled = Scheduled::load(from)?;
            if let Some(at) = self.ahead.iter().position(|other| *other == scheduled) {
                self.over.push(self.ahead.remove(at));
            }
        }
        let blocks = u64::from(self.geometry.blocks());
        for _ in 0..from.below(blocks + 1, "the number of blocks that were read")? {
            let block = from.below(blocks, "a block that was read")?;
            let count = from.below(u64::from(u32::MAX), "how often a block was read")?;
            if let Some(Reads { reads, .. }) = &mut self.reads {
                reads[block as usize] = count;
            }
        }
        Ok(())
    }
}

fn since_power_on(at: Nanos) -> SimTime {
    SimTime(at.0)
}
