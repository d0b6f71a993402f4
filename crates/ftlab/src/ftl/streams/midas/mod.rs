//! MiDAS: a chain of groups of blocks. The host writes to group 1, hot pages to HOT. What a victim of a group
//! still holds goes to the next group, and from the last one back to it. So pages are sorted by age. All groups but
//! the last are collected in turn whenever they exceed their sizes; else the victim policy chooses in the last group.
//! An analytic model chooses the number of groups and their sizes at the end of each epoch, from the update intervals
//! of a sample of pages ([`uid`], [`model`]). A filter finds hot pages ([`hot`]). If victims of a group hold more than
//! predicted, the load is irregular there: this group and those behind it are merged.
//!
//! Source: Oh et al., "MiDAS: Minimizing Write Amplification in Log-Structured Systems through Adaptive Group Number
//! and Size Configuration", FAST 2024; details by the authors' simulator (MiDAS-Simulation). As there, an epoch is
//! four times the logical capacity and the first one begins after the second write of the capacity, sizes are applied if
//! the predicted amplification is not above that of the latest capacity of writes, and a group is irregular if its
//! victims hold a tenth more than predicted, checked after three tenths of an epoch.
//!
//! Departures. Groups: each plane collects by itself, so sizes are those of a plane; writes are spread evenly over
//! planes, and a segment of the model is one block of each. The FTL keeps copies and host writes in blocks of their own,
//! so what HOT leaves has an open block of its own in group 1. A block of a group in turn that would free nothing moves
//! to the next group as it is. A block that is open when the sizes change stays in its group. If the victim policy finds
//! nothing in the last group, all groups are merged; the authors count collections in a row.
//! The model: intervals come from the exact last write of each page, so none is cut off by the epoch, and short ones need
//! no count of their own; pages that are written more seldom than once in an epoch are what all others leave; policies
//! hear of no trims, which end an interval in theirs. Age in group 1 begins with the write, not with the age at which
//! pages leave HOT. Flows are solved, not iterated. If HOT took less than 15 % of the writes, or its victims held more
//! than 10 %, the model counts without it; theirs counts with what it took. An epoch is never prolonged. The hot filter:
//! the age of an overwritten page is its own, not that of its block, and the age of a HOT block begins when it is opened;
//! it learns from the first write on. If a flash page holds several pages, the first one decides where a copy of all of
//! them goes.

mod groups;
mod hot;
mod model;
mod uid;

use self::groups::{Belongs, FIRST, Groups, HOT};
use self::hot::HotFilter;
use self::model::Room;
use self::uid::Intervals;
use super::ages::Ages;
use super::{Next, StreamCounts, StreamsFacts, StreamsPolicy, WriteStream};
use crate::ftl::{BlockState, Blocks};
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::options::declare::options;
use crate::policy::{Parts, Policy};
use crate::shape::Geometry;
use crate::units::{BlockId, Lpn, PlaneId};

/// Capacities that are written before the first epoch.
const BEFORE: u64 = 2;

options! {
    /// A chain of groups.
    pub struct MidasOptions at "ftl.streams" {
        /// Maximum number of groups, with HOT and the last one. Each has an open block, and the last one up to
        /// four.
        groups: u32 = "8", in "3"..="12", unit "groups",
            source "assumed: open blocks cost space; the authors' simulator has up to ten. Range: what fits into sixteen streams";
        /// One logical page in this number is sampled for the distribution of update intervals.
        sample: u32 = "100", in "1"..="100000", unit "pages",
            source "Oh et al., FAST 2024: 1 %";
    }
}

/// A victim: its age if it is a HOT block.
#[derive(Clone, Copy, Debug)]
struct VictimAge {
    hot: Option<u32>,
}

/// The MiDAS policy. Times are in page writes of the host.
#[derive(Clone, Debug)]
pub struct Midas {
    geometry: Geometry,
    logical_pages: u32,
    ages: Ages,
    // In boxes, so that other policies do not carry their size.
    filter: Box<HotFilter>,
    intervals: Box<Intervals>,
    groups: Box<Groups>,
    /// By plane: sizes have changed, and what is too much has not moved to the last group yet.
    rearranges: Vec<bool>,
    /// By block: when it was opened for hot pages, or zero.
    opened_at: Vec<u32>,
    /// Page writes so far, in this epoch (if it has begun), and since groups were checked.
    now: u64,
    in_epoch: u64,
    unchecked: u64,
    /// Page writes and copies since the last capacity of writes was full, and in that.
    recent: [u64; 2],
    measured: [u64; 2],
    /// The block that collection takes for space.
    victim: Option<VictimAge>,
}

impl Policy for Midas {
    const NAME: &'static str = "midas";
    const SUMMARY: &'static str =
        "a chain of groups by age, sized by a model; hot pages apart (MiDAS)";
    const SOURCE: &'static str = "Oh et al., FAST 2024";
    type Options = MidasOptions;

    fn build(options: &Self::Options, parts: &Parts<'_>) -> Self {
        Midas::new(options, parts.geometry, parts.logical_pages)
    }

    fn save(&self, out: &mut ImageWriter) {
        let Midas { geometry: _, logical_pages: _, ages, filter, intervals, .. } = self;
        let Midas { groups, rearranges, opened_at, now, in_epoch, unchecked, .. } = self;
        let Midas { recent, measured, victim: _, .. } = self;
        ages.save(out);
        filter.save(out);
        intervals.save(out);
        groups.save(out);
        rearranges.iter().for_each(|&rearranges| out.flag(rearranges));
        opened_at.iter().for_each(|&at| out.number(at));
        let times = [now, in_epoch, unchecked].into_iter();
        times.chain(recent).chain(measured).for_each(|&number| out.number(number));
    }

    fn load(&mut self, from: &mut ImageReader<'_>) -> Result<(), Damage> {
        self.ages.load(from)?;
        self.filter.load(from)?;
        self.intervals.load(from)?;
        self.groups.load(from)?;
        for rearranges in &mut self.rearranges {
            *rearranges = from.flag("whether a plane rearranges its groups")?;
        }
        for at in &mut self.opened_at {
            *at = from.below(1 << u32::BITS, "the opening of a block")?;
        }
        for number in [&mut self.now, &mut self.in_epoch, &mut self.unchecked] {
            *number = count(from, "a number of page writes")?;
        }
        for number in self.recent.iter_mut().chain(&mut self.measured) {
            *number = count(from, "a number of page writes")?;
        }
        Ok(())
    }
}

/// Reads a number of pages or of page writes: more than any run has, and small enough for products, is damage.
fn count(from: &mut ImageReader<'_>, what: &str) -> Result<u64, Damage> {
    match from.number()? {
        number if number < 1 << 40 => Ok(number),
        number => Err(Damage(format!("{what} is {number}"))),
    }
}

impl StreamsFacts for Midas {
    fn counts(options: &Self::Options) -> StreamCounts {
        Groups::counts(options.groups as u8)
    }

    fn bytes_per_page(_options: &Self::Options) -> u64 {
        (size_of::<u32>() + size_of::<u8>()) as u64
    }
}

impl Midas {
    /// Creates the policy. At first there is one group.
    #[must_use]
    pub fn new(options: &MidasOptions, geometry: &Geometry, logical_pages: u32) -> Midas {
        let segment = u64::from(geometry.planes()) * u64::from(geometry.units_per_block());
        Midas {
            geometry: geometry.clone(),
            logical_pages,
            ages: Ages::new(logical_pages),
            filter: Box::new(HotFilter::new(logical_pages)),
            intervals: Box::new(Intervals::new(options.sample, segment, logical_pages)),
            groups: Box::new(Groups::new(options.groups as u8)),
            rearranges: vec![false; geometry.planes() as usize],
            opened_at: vec![0; geometry.blocks() as usize],
            now: 0,
            in_epoch: 0,
            unchecked: 0,
            recent: [0; 2],
            measured: [0; 2],
            victim: None,
        }
    }

    /// Counts a page write for the epoch, the checks and the measured amplification.
    #[inline]
    fn pass_time(&mut self, page: Lpn) {
        self.now += 1;
        if self.in_epoch < self.intervals.epoch()
            && self.now > BEFORE * u64::from(self.logical_pages)
        {
            self.in_epoch += 1;
            self.intervals.wrote(page.get(), self.ages.of(page));
        }
        self.unchecked += 1;
        if self.unchecked > self.intervals.epoch() * 3 / 10 {
            self.unchecked = 0;
            if self.groups.are_settled() {
                self.groups.check(self.geometry.units_per_block());
            }
        }
        self.recent[0] += 1;
        if self.recent[0] == u64::from(self.logical_pages) {
            self.measured = std::mem::take(&mut self.recent);
        }
    }

    /// An epoch is over: chooses groups anew.
    #[cold]
    fn configure(&mut self, blocks: &Blocks) {
        let works = self.filter.ends_epoch(self.in_epoch, self.geometry.units_per_block());
        self.in_epoch = 0;
        let room = self.room(blocks);
        let plan = self
            .intervals
            .distribution()
            .and_then(|lifetimes| model::best(works, self.groups.most().into(), room, &lifetimes));
        self.intervals.clear();
        let [writes, copies] = self.measured.map(|pages| pages as f64);
        let better = |plan: &model::Plan| plan.amplification * writes <= writes + copies;
        if let Some(plan) = plan.filter(|plan| !plan.sizes.is_empty() && better(plan)) {
            self.groups.arrange(&plan);
            self.rearranges.fill(true);
        }
    }

    /// The segments in use, and what lies there.
    fn room(&self, blocks: &Blocks) -> Room {
        /// This share of the last group's blocks are full because they were just filled.
        const JUST_FILLED: f64 = 0.05;
        let whole = self.geometry.units_per_block();
        let (mut used, mut valid, mut last, mut full) = (0, 0, 0, 0);
        for block in (0..self.geometry.blocks()).map(BlockId::new) {
            let (state, stream) = (blocks.state(block), blocks.stream(block));
            let in_use = [BlockState::Open, BlockState::Closed, BlockState::Collecting];
            if !stream.is_of_policy() || !in_use.contains(&state) {
                continue;
            }
            used += 1;
            valid += u64::from(blocks.valid(block));
            if !self.groups.keeps(stream) {
                last += 1;
                full += u32::from(blocks.valid(block) == whole);
            }
        }
        let planes = f64::from(self.geometry.planes());
        Room {
            segments: f64::from(used) / planes,
            valid: valid as f64 / (planes * f64::from(whole)),
            full: (f64::from(full) - JUST_FILLED * f64::from(last)) / planes,
        }
    }

    /// The oldest block of the first group of a plane that is too large, or any that belongs to the last group.
    fn too_much(&self, plane: PlaneId, blocks: &Blocks) -> Option<(BlockId, Belongs)> {
        let mut oldest: [Option<(u64, BlockId)>; super::MOST_STREAMS] = [None; super::MOST_STREAMS];
        let mut closed = [0; super::MOST_STREAMS];
        for index in 0..self.geometry.shape().blocks_per_plane {
            let block = self.geometry.block_in(plane, index);
            let stream = blocks.stream(block);
            if !self.groups.keeps(stream) || blocks.state(block) != BlockState::Closed {
                continue;
            }
            let place = self.groups.place(stream);
            let Belongs::Limited { group, .. } = place else {
                return Some((block, place));
            };
            let (group, this) = (usize::from(group), (blocks.closing(block), block));
            closed[group] += 1;
            oldest[group] = Some(oldest[group].map_or(this, |other| other.min(this)));
        }
        oldest.iter().zip(closed).find_map(|(oldest, closed)| {
            let (_, block) = (*oldest)?;
            let place = self.groups.place(blocks.stream(block));
            matches!(place, Belongs::Limited { closed: limit, .. } if closed > limit)
                .then_some((block, place))
        })
    }
}

impl StreamsPolicy for Midas {
    #[inline]
    fn counts(&self) -> StreamCounts {
        Groups::counts(self.groups.most())
    }

    #[inline]
    fn host_stream(&self, page: Lpn, _tag: u8) -> WriteStream {
        if self.filter.is_hot(page, &self.ages) { HOT } else { FIRST }
    }

    #[inline]
    fn wrote(&mut self, page: Lpn) {
        self.filter.wrote(page, &self.ages);
        self.pass_time(page);
        self.ages.wrote(page);
    }

    #[inline]
    fn copy_stream(&self, _page: Lpn, source: WriteStream) -> WriteStream {
        self.groups.next(source)
    }

    fn hears_of_copies(&self) -> bool {
        true
    }

    #[inline]
    fn copied(&mut self, page: Lpn) {
        self.recent[1] += 1;
        self.filter.copied(page);
    }

    fn opened(&mut self, block: BlockId, stream: WriteStream) {
        self.opened_at[block.at()] = if stream == HOT { (self.now as u32).max(1) } else { 0 };
    }

    fn collects(&mut self, block: BlockId, _stream: WriteStream) {
        let opened = self.opened_at[block.at()];
        let hot = (opened > 0).then(|| (self.now as u32).wrapping_sub(opened));
        self.victim = Some(VictimAge { hot });
    }

    fn moves(&mut self, stream: WriteStream, pages: u32) {
        let Some(victim) = self.victim.take() else { return };
        if let Some(age) = victim.hot {
            self.filter.collects(age.into(), pages);
        }
        if self.groups.collects(stream, pages) {
            self.unchecked = 0;
        }
    }

    fn keeps_blocks(&self) -> bool {
        true
    }

    fn keeps(&self, stream: WriteStream) -> bool {
        self.groups.keeps(stream)
    }

    fn next_victim(&mut self, plane: PlaneId, blocks: &Blocks) -> Next {
        if self.in_epoch == self.intervals.epoch() {
            self.configure(blocks);
        }
        let Some((block, place)) = self.too_much(plane, blocks) else {
            self.rearranges[plane.at()] = false;
            return Next::Choose;
        };
        let frees =
            blocks.valid(block) + self.geometry.units_per_page() <= self.geometry.units_per_block();
        match place {
            Belongs::Limited { .. } if self.rearranges[plane.at()] => {
                Next::Regroup(block, self.groups.of_last(0))
            }
            Belongs::Limited { .. } if frees => Next::Collect(block),
            Belongs::Limited { .. } => Next::Regroup(block, self.groups.next(blocks.stream(block))),
            Belongs::Last { generation } => Next::Regroup(block, self.groups.of_last(generation)),
        }
    }

    fn finds_no_victim(&mut self) -> bool {
        let sized = self.groups.are_sized();
        if sized {
            self.groups.merge(1);
        }
        sized
    }
}
