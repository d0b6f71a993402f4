//! A simplified model of dies that do one thing after the other, each for the time that its cells and the transfer of
//! its data take, in order of arrival. No die waits for a bus. A device that is written without a clock
//! ([`Untimed`](crate::device::Untimed)) uses it to find which die is done first, and so where dynamic placement
//! writes next and how far collection gets between two host writes.
//!
//! As with a clock, one operation serves several planes of a die if the flash can and jobs that fit wait. A die whose
//! planes collect in step then gets more done than one whose planes do not, and so more of the host's writes.
//!
//! This is accurate enough: a device that is written at full speed keeps its dies busy, and a busy die advances
//! at the speed of its cells. The total time is not modelled and is reported to nobody.

use std::collections::VecDeque;

use super::command::Origin;
use super::datasheet::Datasheet;
use super::load::Load;
use crate::engine::skills::ALL;
use crate::nand::{CellMode, Kind, MultiPlane};
use crate::shape::FlashGeometry;
use crate::units::{BlockId, DieId, Nanos, PlaneId, Ppn};

/// What a die is given to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// The reads of a read-modify-write, for the row of programs that this number leads.
    OldCopy(u32),
    /// A program of a write-back, by number.
    Program(u32),
    /// A read of the copy with this number.
    CopyRead(u32),
    /// The program of a copy for this plane's collection.
    Copy(PlaneId),
    /// The erase that ends this plane's collection.
    Erase(PlaneId),
}

/// What a die does for some work.
#[derive(Clone, Copy, Debug)]
pub struct CellJob {
    /// The kind of the operation.
    pub kind: Kind,
    /// Its origin.
    pub origin: Origin,
    /// The first page that it works on.
    pub page: Ppn,
    /// The mode of the cells.
    pub mode: CellMode,
    /// Time in the cells.
    pub takes: Nanos,
    /// Time for which its data keeps the die busy besides.
    pub moves: Nanos,
}

/// Work that waits for its die or is being done.
#[derive(Clone, Copy, Debug)]
struct DieJob {
    work: Work,
    takes: Nanos,
    moves: Nanos,
    block: BlockId,
    kind: Kind,
    /// Whether the operation of the job before it serves it, too.
    joined: bool,
}

/// What decides whether one operation serves two jobs, in a word, because many are compared: from the highest bit, the
/// *class* (kind, origin and cell mode), the block and the flash page as far as they must be the same, and the plane.
#[derive(Clone, Copy, Debug)]
struct JobFit(u64);

impl JobFit {
    const PLANE_BITS: u32 = 8;
    const PLACE_BITS: u32 = 24;
    const CLASS_SHIFT: u32 = JobFit::PLANE_BITS + 2 * JobFit::PLACE_BITS;

    fn of(job: &CellJob, plane: u32, (block, flash_page): (u32, u32)) -> JobFit {
        debug_assert!(block >> JobFit::PLACE_BITS == 0 && flash_page >> JobFit::PLACE_BITS == 0);
        let mode = u64::from(job.mode == CellMode::Slc);
        let class = (job.kind as u64) << 5 | (job.origin as u64) << 1 | mode;
        let place = u64::from(block) << JobFit::PLACE_BITS | u64::from(flash_page);
        JobFit(class << JobFit::CLASS_SHIFT | place << JobFit::PLANE_BITS | u64::from(plane))
    }

    fn plane(self) -> u32 {
        1 << (self.0 as u8)
    }

    /// Whether kind, origin and cell mode are the same.
    fn is_like(self, other: JobFit) -> bool {
        (self.0 ^ other.0) >> JobFit::CLASS_SHIFT == 0
    }

    /// Whether everything is the same but the plane.
    fn is_at(self, other: JobFit) -> bool {
        (self.0 ^ other.0) >> JobFit::PLANE_BITS == 0
    }
}

/// The jobs of a die, in the order in which they come, and beside each what it fits.
#[derive(Clone, Debug, Default)]
struct DieQueue {
    jobs: VecDeque<DieJob>,
    fits: VecDeque<JobFit>,
}

impl DieQueue {
    fn pop(&mut self) -> Option<DieJob> {
        self.fits.pop_front();
        self.jobs.pop_front()
    }

    /// The place of the first waiting job, from `from` on, that the operation of the first job can serve besides the
    /// planes that are taken.
    fn find_fitting(&self, from: usize, taken: u32, looks: usize) -> Option<usize> {
        let first = *self.fits.front()?;
        let mut left = looks;
        for (at, fit) in self.fits.range(from..).enumerate() {
            if !fit.is_like(first) {
                continue;
            }
            let at = from + at;
            if fit.is_at(first) && taken & fit.plane() == 0 && !self.stays_behind(from, at) {
                return Some(at);
            }
            left -= 1;
            if left == 0 {
                break;
            }
        }
        None
    }

    /// Whether a job must not pass all from `from` on: the pages of a block are programmed in order, and an erase must
    /// not pass a read.
    fn stays_behind(&self, from: usize, at: usize) -> bool {
        let job = &self.jobs[at];
        self.jobs.range(from..at).any(|earlier| match job.kind {
            Kind::Program => earlier.kind.programs() && earlier.block == job.block,
            Kind::Erase => earlier.kind == Kind::Read,
            Kind::Read | Kind::Copyback => false,
        })
    }
}

/// The finishing time of a die that has not begun anything.
const IDLE: u64 = u64::MAX;

/// The dies.
#[derive(Clone, Debug)]
pub struct Turns {
    /// Commands that wait or run, by die: what placement sees.
    load: Load,
    /// By turn of the die.
    jobs: Vec<DieQueue>,
    /// By turn of the die: when its first job is done, in nanoseconds of cell time.
    done_at: Vec<u64>,
    /// The time at which a die last finished a job.
    now: u64,
    /// Jobs that ended together with the last one.
    also_done: VecDeque<Work>,
    /// The turn of the die that finished last, and goes on when the ends of its jobs are handled.
    finished: usize,
    geometry: FlashGeometry,
    multi_plane: MultiPlane,
}

impl Turns {
    /// Returns dies with nothing to do.
    #[must_use]
    pub fn new(sheet: &Datasheet) -> Turns {
        Turns::of(&sheet.geometry, *sheet.multi_plane())
    }

    fn of(geometry: &FlashGeometry, multi_plane: MultiPlane) -> Turns {
        let dies = geometry.dies() as usize;
        Turns {
            load: Load::of_flash(geometry),
            jobs: vec![DieQueue::default(); dies],
            done_at: vec![IDLE; dies],
            now: 0,
            also_done: VecDeque::new(),
            finished: 0,
            geometry: geometry.clone(),
            multi_plane,
        }
    }

    /// The load of each die.
    #[inline]
    #[must_use]
    pub fn load(&self) -> &Load {
        &self.load
    }

    /// Whether no die has anything to do.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.also_done.is_empty() && self.jobs.iter().all(|queue| queue.jobs.is_empty())
    }

    /// Time that the die of a turn still needs for its current job, if it has begun it.
    pub fn left(&self, turn: u32) -> Option<Nanos> {
        let done_at = self.done_at[turn as usize];
        (done_at != IDLE).then(|| Nanos(done_at - self.now))
    }

    /// The jobs of the die of a turn, and the time that each takes.
    pub fn jobs(&self, turn: u32) -> impl Iterator<Item = (Work, Nanos)> {
        self.jobs[turn as usize].jobs.iter().map(|job| (job.work, job.takes))
    }

    /// Gives the die of a page more work, and starts the die.
    #[inline]
    pub fn push(&mut self, work: Work, job: CellJob) {
        let die = self.put(work, job);
        self.start(die);
    }

    /// Gives the die of a page more work. Jobs that belong together are put before their dies [start](Self::start), so
    /// that they find each other. Returns the die.
    #[inline]
    pub fn put(&mut self, work: Work, job: CellJob) -> DieId {
        let CellJob { kind, page, takes, moves, .. } = job;
        let geometry = &self.geometry;
        let (block, unit) = geometry.place_of(page);
        let plane = geometry.plane_of(block);
        let address = self.multi_plane.address_of(geometry, kind, (block, unit));
        let fit = JobFit::of(&job, geometry.plane_in_die(plane), address);
        let die = geometry.die_of(plane);
        self.load.add::<ALL>(die);
        let queue = &mut self.jobs[geometry.turn_of(die) as usize];
        queue.fits.push_back(fit);
        queue.jobs.push_back(DieJob { work, takes, moves, block, kind, joined: false });
        die
    }

    /// A die begins its next job, if it is doing nothing.
    #[inline]
    pub fn start(&mut self, die: DieId) {
        self.begin(self.geometry.turn_of(die) as usize);
    }

    /// Finishes the next job: that of the die which is done first, or of the first turn in a tie. Returns `None`
    /// if there is none.
    #[inline]
    pub fn next_done(&mut self) -> Option<Work> {
        if let Some(work) = self.also_done.pop_front() {
            return Some(work);
        }
        self.begin(self.finished);
        let (mut turn, mut first) = (0, IDLE);
        for (at, &done_at) in self.done_at.iter().enumerate() {
            if done_at < first {
                (turn, first) = (at, done_at);
            }
        }
        let queue = &mut self.jobs[turn];
        let done = queue.pop()?;
        self.now = first;
        self.finished = turn;
        let die = self.geometry.die_at_turn(turn as u32);
        self.load.remove::<ALL>(die);
        self.done_at[turn] = IDLE;
        while let Some(next) = queue.jobs.front().filter(|next| next.joined) {
            if next.kind == Kind::Read {
                // The die is busy until the data of all planes is out, one after the other.
                self.done_at[turn] = first + next.moves.0;
                break;
            }
            self.load.remove::<ALL>(die);
            self.also_done.push_back(next.work);
            queue.pop();
        }
        Some(done.work)
    }

    #[inline]
    fn begin(&mut self, turn: usize) {
        let queue = &self.jobs[turn];
        let Some(first) = queue.jobs.front() else { return };
        if self.done_at[turn] != IDLE {
            return;
        }
        if queue.jobs.len() > 1 && self.multi_plane.allows(first.kind) {
            self.gather(turn);
        }
        let DieJob { takes, moves, .. } = self.jobs[turn].jobs[0];
        self.done_at[turn] = self.now + takes.0 + moves.0;
    }

    /// Moves the jobs that the operation of the first one serves, too, behind it. The rules are those of the
    /// [array](super::array).
    fn gather(&mut self, turn: usize) {
        let queue = &mut self.jobs[turn];
        let planes = self.geometry.planes_per_die() as usize;
        let looks = self.multi_plane.looks.map_or(usize::MAX, |looks| planes * looks as usize);
        let mut taken = queue.fits[0].plane();
        for place in 1..planes {
            let Some(at) = queue.find_fitting(place, taken, looks) else { return };
            let (Some(mut job), Some(fit)) = (queue.jobs.remove(at), queue.fits.remove(at)) else {
                return;
            };
            taken |= fit.plane();
            let first = &mut queue.jobs[0];
            first.takes = first.takes.max(job.takes);
            if first.kind == Kind::Program {
                first.moves = first.moves + self.multi_plane.gap + job.moves;
            }
            job.joined = true;
            queue.jobs.insert(place, job);
            queue.fits.insert(place, fit);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Shape;
    use crate::units::Bytes;

    /// One die of two planes.
    fn one_die(multi_plane: MultiPlane) -> (Turns, FlashGeometry) {
        let shape = Shape {
            channels: 1,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 2,
            blocks_per_plane: 4,
            pages_per_block: 4,
            page_size: Bytes::from_kib(4),
            mapping_unit: Bytes::from_kib(4),
        };
        let geometry = FlashGeometry::of_flash(shape, None);
        (Turns::of(&geometry, multi_plane), geometry)
    }

    fn job(kind: Kind, page: Ppn) -> CellJob {
        let (takes, moves) = (Nanos(100), Nanos(10));
        CellJob { kind, origin: Origin::Gc, page, mode: CellMode::Native, takes, moves }
    }

    /// Puts operations of these kinds, planes, and pages of a block of their plane. Returns when each is done, in order.
    fn played(multi_plane: MultiPlane, all: &[(Kind, u32, u32)]) -> Vec<(u32, u64)> {
        let (mut turns, geometry) = one_die(multi_plane);
        for (number, &(kind, plane, page)) in (0..).zip(all) {
            let block = geometry.block_in(PlaneId::new(plane), 0);
            turns.put(Work::CopyRead(number), job(kind, geometry.page_at(block, page)));
        }
        let next = || {
            let Work::CopyRead(number) = turns.next_done()? else { return None };
            Some((number, turns.now))
        };
        std::iter::from_fn(next).collect()
    }

    const ALL: MultiPlane =
        MultiPlane { read: true, program: true, erase: true, gap: Nanos(1), ..MultiPlane::NONE };

    #[test]
    fn an_operation_serves_planes_whose_jobs_fit() {
        use Kind::{Erase, Program, Read};
        // Data of reads leaves one after the other; that of programs comes in first.
        assert_eq!(played(ALL, &[(Read, 0, 1), (Read, 1, 1)]), [(0, 110), (1, 120)]);
        assert_eq!(played(ALL, &[(Program, 0, 1), (Program, 1, 1)]), [(0, 121), (1, 121)]);
        // Past one that does not fit.
        let past = [(Program, 0, 1), (Read, 0, 2), (Program, 1, 1)];
        assert_eq!(played(ALL, &past), [(0, 121), (2, 121), (1, 231)]);
        // Other pages, the same plane, and flash that cannot.
        let apart = [(0, 110), (1, 220)];
        assert_eq!(played(ALL, &[(Program, 0, 1), (Program, 1, 2)]), apart);
        assert_eq!(played(ALL, &[(Program, 0, 1), (Program, 0, 1)]), apart);
        assert_eq!(played(MultiPlane::NONE, &[(Program, 0, 1), (Program, 1, 1)]), apart);
        // The pages of a block are programmed in order, and an erase does not pass a read.
        let in_order = [(Program, 0, 1), (Program, 1, 0), (Program, 1, 1)];
        assert_eq!(played(ALL, &in_order), [(0, 110), (1, 220), (2, 330)]);
        let behind_read = [(Erase, 0, 0), (Read, 1, 0), (Erase, 1, 0)];
        assert_eq!(played(ALL, &behind_read), [(0, 110), (1, 220), (2, 330)]);
    }
}
