//! The SW Leveler. A table has a bit for each set of blocks (Block Erasing Table, BET), which is
//! set if one of the blocks was erased since the table was cleared. If the number of erases since
//! then is high for the number of set bits, the next set without its bit is emptied. When all bits
//! are set, the table is cleared.
//!
//! So every set is erased at least once between two clearings, while the number of erases between
//! them is about the *unevenness* times the number of sets. With one block per set, no good block
//! falls behind the mean by more than this factor. The difference of erase counts is not bounded. A
//! set of several blocks is emptied as a whole when it is chosen, but a frequently erased block of
//! a set often hides the others.
//!
//! Source: Chang, Hsieh and Kuo, "Endurance Enhancement of Flash-Memory Storage Systems: An
//! Efficient Static Wear Leveling Design", DAC 2007. Departures: each plane has its own table.
//! After a clearing, the search continues from its last position instead of a random one. A set in
//! which no block can be emptied now (its blocks are free or open) is skipped until one can. A set
//! whose blocks are all bad, or belong to the SLC cache, counts as erased.

use super::{LevellingPolicy, WearView};
use crate::ftl::BlockState;
use crate::ftl::gc::Purpose;
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::options::declare::options;
use crate::policy::{Parts, Policy};
use crate::shape::Geometry;
use crate::units::BlockId;

options! {
    /// The Block Erasing Table.
    pub struct BetOptions at "ftl.wear" {
        /// Data moves when the erases of a plane since its table was cleared reach this number for
        /// each set of blocks that was erased.
        unevenness: u32 = "100", in "2"..="10000000", unit "erases",
            source "T of Chang, Hsieh and Kuo, DAC 2007, who examine 100 to 1000";
        /// Blocks that share a bit of the table.
        set_blocks: u32 = "1", in "1"..="65536", unit "blocks",
            source "2^k of Chang, Hsieh and Kuo, DAC 2007, who examine k = 0 to 3";
    }
}

/// The table of a plane.
#[derive(Clone, Debug)]
struct Table {
    /// By set: whether one of its blocks was erased.
    erased: Vec<bool>,
    /// Number of sets that are marked as erased.
    sets: u32,
    /// Erases since the table was cleared.
    erases: u64,
    /// The set at which the search continues.
    next: u32,
    /// The remaining blocks of the set that is being emptied, by index in the plane.
    rest: std::ops::Range<u32>,
}

/// Static wear levelling by Block Erasing Tables.
#[derive(Clone, Debug)]
pub struct Bet {
    unevenness: u32,
    set_blocks: u32,
    blocks_per_plane: u32,
    tables: Vec<Table>,
}

impl Policy for Bet {
    const NAME: &'static str = "bet";
    const SUMMARY: &'static str =
        "blocks that were not erased for a long time, by a bit table (SW Leveler)";
    const SOURCE: &'static str = "Chang, Hsieh and Kuo, DAC 2007";
    type Options = BetOptions;

    fn build(options: &Self::Options, parts: &Parts<'_>) -> Self {
        Bet::new(options, parts.geometry)
    }

    fn save(&self, out: &mut ImageWriter) {
        let Bet { unevenness: _, set_blocks: _, blocks_per_plane: _, tables } = self;
        for Table { erased, sets: _, erases, next, rest } in tables {
            erased.iter().for_each(|&erased| out.flag(erased));
            out.number(*erases);
            out.number(*next);
            out.number(rest.start);
            out.number(rest.end);
        }
    }

    fn load(&mut self, from: &mut ImageReader<'_>) -> Result<(), Damage> {
        /// More than any device survives, and small enough for sums.
        const MOST: u64 = 1 << 62;
        let blocks = u64::from(self.blocks_per_plane) + 1;
        for table in &mut self.tables {
            for erased in &mut table.erased {
                *erased = from.flag("whether a set of blocks was erased")?;
            }
            table.sets = table.erased.iter().filter(|&&erased| erased).count() as u32;
            table.erases = match from.number()? {
                erases if erases < MOST => erases,
                erases => return Err(Damage(format!("the number of erases is {erases}"))),
            };
            table.next = from.below(table.erased.len() as u64, "a set of blocks")?;
            let start = from.below(blocks, "a block of a set")?;
            table.rest = start..from.below(blocks, "the end of a set")?;
        }
        Ok(())
    }
}

impl Bet {
    /// Creates the tables of a device without any erases.
    #[must_use]
    pub fn new(options: &BetOptions, geometry: &Geometry) -> Bet {
        let blocks_per_plane = geometry.shape().blocks_per_plane;
        let sets = blocks_per_plane.div_ceil(options.set_blocks) as usize;
        let table = Table { erased: vec![false; sets], sets: 0, erases: 0, next: 0, rest: 0..0 };
        Bet {
            unevenness: options.unevenness,
            set_blocks: options.set_blocks,
            blocks_per_plane,
            tables: vec![table; geometry.planes() as usize],
        }
    }
}

impl LevellingPolicy for Bet {
    fn erased(&mut self, view: &WearView<'_>, block: BlockId, _purpose: Purpose) {
        let index = block.get() - view.block(0).get();
        let table = &mut self.tables[view.plane.at()];
        table.erases += 1;
        table.mark(index / self.set_blocks);
    }

    fn choose(&mut self, view: &WearView<'_>) -> Option<BlockId> {
        let closed = |index: &u32| *index < view.levelled && view.is_closed(view.block(*index));
        let table = &mut self.tables[view.plane.at()];
        if let Some(index) = table.rest.find(closed) {
            return Some(view.block(index));
        }
        if table.erases < u64::from(self.unevenness) * u64::from(table.sets) {
            return None;
        }
        let sets = table.erased.len() as u32;
        for set in (table.next..sets).chain(0..table.next) {
            if table.erased[set as usize] {
                continue;
            }
            let first = set * self.set_blocks;
            let mut blocks = first..(first + self.set_blocks).min(self.blocks_per_plane);
            let out = |index| {
                index >= view.levelled || view.blocks.state(view.block(index)) == BlockState::Bad
            };
            if blocks.clone().all(out) {
                table.mark(set);
            } else if let Some(index) = blocks.find(closed) {
                table.next = (set + 1) % sets;
                table.rest = blocks;
                return Some(view.block(index));
            }
        }
        if table.sets == sets {
            table.clear();
        }
        None
    }
}

impl Table {
    /// Marks a set as erased.
    fn mark(&mut self, set: u32) {
        self.sets += u32::from(!std::mem::replace(&mut self.erased[set as usize], true));
    }

    /// Starts a new interval.
    fn clear(&mut self) {
        self.erased.fill(false);
        (self.sets, self.erases) = (0, 0);
    }
}
