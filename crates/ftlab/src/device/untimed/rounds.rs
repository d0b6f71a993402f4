//! Repeating rounds of a fill. A device that is filled in order falls into a rhythm: each die takes
//! the next row in turn, and after some flash pages of each plane the state is the same as before,
//! except for addresses. From there on it repeats until a block is full, so all these rounds can be
//! written at once. The repetition is observed, not assumed: the jobs of each die and their times,
//! the progress of each plane, and the places of the pages of the last two rounds.

use std::ops::Range;

use super::Untimed;
use crate::device::Contents;
use crate::ftl::rows::{self, Again, Front};
use crate::ftl::{Ftl, Kernel};
use crate::nand::CellMode;
use crate::scheduler::{Flash, Kind, Origin, Probe, Work};
use crate::units::{BlockId, Lpn, Nanos, PlaneId, Ppn};

/// The longest period, in flash pages of a plane, of program times: the pages of a word line.
const MOST_PAGES: u32 = 6;

/// The observed rounds.
pub(super) struct Rounds {
    /// The period and its shift in addresses, if rounds can repeat.
    again: Option<Again>,
    /// Logical pages of a round over all planes.
    round: u32,
    /// The state at the end of the last period, and the page before which this was.
    before: Option<(u32, Standing)>,
    /// The page at which the next period ends.
    ends_at: u32,
}

/// The state of dies and planes.
#[derive(PartialEq, Eq)]
struct Standing {
    jobs: Vec<DieProgram>,
    fronts: Vec<Front>,
}

/// A program of a die.
#[derive(Clone, Copy, PartialEq, Eq)]
struct DieProgram {
    number: u32,
    turn: u32,
    /// For how long its die remains busy with its current operation.
    left: Option<Nanos>,
    takes: Nanos,
    at: Ppn,
    first: Lpn,
}

impl Rounds {
    /// Nothing observed so far. `is_new`: whether the device was never written.
    pub fn new<P: Probe, C: Contents>(is_new: bool, kernel: &Kernel<P, C>) -> Rounds {
        let geometry = kernel.ftl.geometry();
        let round = geometry.planes() * geometry.units_per_page();
        let pages = if is_new { period_of_prices(&kernel.ftl, &kernel.flash) } else { None };
        let again = pages
            .map(|pages| Again { period: pages * geometry.units_per_page(), shift: pages * round });
        Rounds { again, round, before: None, ends_at: 0 }
    }

    /// Whether a period may have ended before this page.
    #[inline]
    pub fn may_be_over(&self, next: u32) -> bool {
        self.again.is_some() && next >= self.ends_at
    }
}

/// The number of pages of a block after which the program times repeat.
fn period_of_prices<P>(ftl: &Ftl, flash: &Flash<P>) -> Option<u32> {
    let geometry = ftl.geometry();
    let pages = geometry.units_per_block() / geometry.units_per_page();
    let price = |page: u32, mode| {
        let at = geometry.page_at(BlockId::new(0), page * geometry.units_per_page());
        flash.sheet().price_of(Kind::Program, at, mode)
    };
    let alike = |period: u32| {
        let same = |page: u32, mode| price(page, mode) == price(page - period, mode);
        (period..pages).all(|page| same(page, CellMode::Native) && same(page, CellMode::Slc))
    };
    (1..=MOST_PAGES).find(|&period| alike(period))
}

impl<P: Probe, C: Contents> Untimed<'_, P, C> {
    /// Checks at the end of a period whether the state repeats. If so, writes all rounds that repeat at once. `left`
    /// are the pages that remain to be written. Returns how many of them were written.
    pub(super) fn repeat_rounds(&mut self, rounds: &mut Rounds, left: Range<u32>) -> u32 {
        let Some(again) = rounds.again else { return 0 };
        let next = left.start;
        let (over, before) = (rounds.ends_at, rounds.before.take());
        rounds.ends_at = next + again.shift;
        let Some(now) = self.standing() else { return 0 };
        let alike = next == over
            && before.is_some_and(|(_, before)| self.has_gone_on(&before, &now, again));
        let units = if alike { self.alike_ahead(&now, &left, rounds) } else { 0 };
        if units == 0 {
            rounds.before = Some((next, now));
            return 0;
        }
        let pages = units / again.period * again.shift;
        self.go_on(&now, units, pages, again);
        if self.device.base.checks_itself() {
            self.note_pages(next..next + pages);
        }
        rounds.ends_at = next + pages + again.shift;
        pages
    }

    /// The state, if the only activity is writing whole pages to one block of each plane.
    fn standing(&self) -> Option<Standing> {
        let ftl = &self.device.base.kernel.ftl;
        let geometry = ftl.geometry();
        if !self.stalled.is_empty() || !rows::only_host_writes(ftl) {
            return None;
        }
        let planes = (0..geometry.planes()).map(PlaneId::new);
        let fronts = planes.map(|plane| rows::front(plane, ftl)).collect::<Option<Vec<Front>>>()?;
        let mut jobs = Vec::new();
        for turn in 0..geometry.dies() {
            for (work, takes) in self.turns.jobs(turn) {
                let Work::Program(number) = work else { return None };
                let (at, first) = self.whole_at(number)?;
                jobs.push(DieProgram {
                    number,
                    turn,
                    left: self.turns.left(turn),
                    takes,
                    at,
                    first,
                });
            }
        }
        // Every page that was taken but not programmed belongs to a job, and lies in these blocks.
        let on_way = |front: &Front| (front.taken - front.landed) / geometry.units_per_page();
        let is_there = |job: &DieProgram| {
            let (block, unit) = geometry.place_of(job.at);
            let front = fronts[geometry.plane_of(block).at()];
            block == front.block && (front.landed..front.taken).contains(&unit)
        };
        let all = fronts.iter().map(on_way).sum::<u32>() as usize == jobs.len();
        (all && jobs.iter().all(is_there)).then_some(Standing { jobs, fronts })
    }

    /// Whether the state repeats, one period further on.
    fn has_gone_on(&self, before: &Standing, now: &Standing, again: Again) -> bool {
        let further = |job: &DieProgram| DieProgram {
            at: Ppn::new(job.at.get() + again.period),
            first: Lpn::new(job.first.get() + again.shift),
            ..*job
        };
        let same = |(before, now): (&DieProgram, &DieProgram)| {
            DieProgram { number: now.number, ..further(before) } == *now
        };
        let fronts = before.fronts.iter().map(|front| front.further(again.period));
        before.jobs.len() == now.jobs.len()
            && before.jobs.iter().zip(&now.jobs).all(same)
            && fronts.eq(now.fronts.iter().copied())
            && now
                .fronts
                .iter()
                .all(|front| rows::was_alike(front, again, &self.device.base.kernel.ftl))
    }

    /// The number of units of each plane, in whole periods, that repeat before a block is full or the fill ends.
    fn alike_ahead(&self, now: &Standing, left: &Range<u32>, rounds: &Rounds) -> u32 {
        let ftl = &self.device.base.kernel.ftl;
        let Some(again) = rounds.again else { return 0 };
        let room = now.fronts.iter().map(|front| front.room(ftl)).min().unwrap_or(0);
        let rest = (left.end - left.start) / rounds.round * ftl.geometry().units_per_page();
        room.min(rest).saturating_sub(again.period) / again.period * again.period
    }

    /// Advances everything by this many units of each plane, which hold this many logical pages.
    fn go_on(&mut self, now: &Standing, units: u32, pages: u32, again: Again) {
        for job in &now.jobs {
            self.move_whole(job.number, units, pages);
        }
        let base = &mut self.device.base;
        rows::go_on(&now.fronts, units, again, &mut base.kernel.ftl);
        let programs = u64::from(pages / base.units_per_page);
        base.kernel.flash.count_untimed(Origin::Host, Kind::Program, programs);
        base.buffer.count_passing(pages.into());
    }
}
