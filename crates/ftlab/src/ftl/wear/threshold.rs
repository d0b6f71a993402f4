//! Empties the least worn block with data if the most worn block of its plane is ahead of it by
//! more than a threshold.
//!
//! Each erase for a purpose other than wear levelling allows `moves` moves; unused ones expire. So
//! levelling costs at most `moves` collections for each other collection. If `moves` is at least
//! the number of blocks in a plane, the spread of erase counts is bounded. A move erases a block
//! that is behind, so the maximum does not change, and moves continue until no closed block is
//! behind by more than the threshold. The next erase adds at most one. With fewer moves, the spread
//! can exceed the threshold while moves catch up. As long as it does, `moves` of every `moves + 1`
//! erases go to the least worn block.
//!
//! The least worn block is found by a search of all blocks of the plane. The search runs once after
//! an erase, and only if the spread may exceed the threshold according to bounds on the lowest and
//! the highest erase count.
//!
//! Source: Agrawal et al., "Design Tradeoffs for SSD Performance", USENIX ATC 2008, section 3.5
//! (cold data moves to worn blocks, at a limited rate); MQSim's static wear levelling (Tavakkol et
//! al., FAST 2018), which compares erase counts with a threshold as here. Agrawal limits the use of
//! worn blocks at random. Here the number of moves is limited, which needs no random numbers.

use super::{LevellingPolicy, WearView};
use crate::ftl::BlockState;
use crate::ftl::gc::Purpose;
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::options::declare::options;
use crate::policy::{Parts, Policy};
use crate::shape::Geometry;
use crate::units::BlockId;

options! {
    /// When cold data moves.
    pub struct ThresholdOptions at "ftl.wear" {
        /// Data moves off the least worn block of a plane when the most worn block has more erases
        /// by more than this number.
        threshold: u32 = "100", in "1"..="10000000", unit "cycles",
            source "Static_Wearleveling_Threshold of MQSim (Tavakkol et al., FAST 2018)";
        /// Maximum number of blocks of a plane that wear levelling empties for each block that
        /// garbage collection erases.
        moves: u32 = "1", in "1"..="1000000", unit "blocks",
            source "assumed: Agrawal et al., USENIX ATC 2008, limit the rate without a number";
    }
}

/// Bounds on the erase counts of a plane.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    /// No good block has fewer erases.
    least: u32,
    /// No good block has more erases.
    most: u32,
}

/// Static wear levelling by a threshold on erase counts.
#[derive(Clone, Debug)]
pub struct Threshold {
    threshold: u32,
    moves: u32,
    /// By plane: `None` before the first search. They only save searches, so images do not contain
    /// them.
    bounds: Vec<Option<Bounds>>,
    /// By plane: moves that the last erase still allows.
    allowed: Vec<u32>,
}

impl Policy for Threshold {
    const NAME: &'static str = "threshold";
    const SUMMARY: &'static str =
        "the least worn block, when the erase counts of a plane differ too much";
    const SOURCE: &'static str =
        "Agrawal et al., USENIX ATC 2008; MQSim (Tavakkol et al., FAST 2018)";
    type Options = ThresholdOptions;

    fn build(options: &Self::Options, parts: &Parts<'_>) -> Self {
        Threshold::new(options, parts.geometry)
    }

    fn save(&self, out: &mut ImageWriter) {
        let Threshold { threshold: _, moves: _, bounds: _, allowed } = self;
        allowed.iter().for_each(|&allowed| out.number(allowed));
    }

    fn load(&mut self, from: &mut ImageReader<'_>) -> Result<(), Damage> {
        for allowed in &mut self.allowed {
            *allowed = from.below(u64::from(self.moves) + 1, "the number of allowed moves")?;
        }
        Ok(())
    }
}

impl Threshold {
    /// Creates the policy for a device without any erases.
    #[must_use]
    pub fn new(options: &ThresholdOptions, geometry: &Geometry) -> Threshold {
        let planes = geometry.planes() as usize;
        Threshold {
            threshold: options.threshold,
            moves: options.moves,
            bounds: vec![None; planes],
            allowed: vec![0; planes],
        }
    }

    /// Searches all blocks of the plane. Returns the least worn closed block if it is too far
    /// behind.
    fn search(&mut self, view: &WearView<'_>) -> Option<BlockId> {
        let (mut least, mut most) = (u32::MAX, 0);
        let mut behind: Option<(u32, BlockId)> = None;
        for block in (0..view.levelled).map(|index| view.block(index)) {
            let (state, erases) = (view.blocks.state(block), view.blocks.erases(block));
            if state == BlockState::Bad {
                continue;
            }
            (least, most) = (least.min(erases), most.max(erases));
            if view.is_closed(block) && behind.is_none_or(|(fewest, _)| erases < fewest) {
                behind = Some((erases, block));
            }
        }
        self.bounds[view.plane.at()] = Some(Bounds { least: least.min(most), most });
        behind.filter(|&(fewest, _)| most - fewest > self.threshold).map(|(_, block)| block)
    }
}

impl LevellingPolicy for Threshold {
    fn erased(&mut self, view: &WearView<'_>, block: BlockId, purpose: Purpose) {
        let plane = view.plane.at();
        if purpose != Purpose::WearLevel {
            self.allowed[plane] = self.moves;
        }
        if let Some(bounds) = &mut self.bounds[plane] {
            bounds.most = bounds.most.max(view.blocks.erases(block));
        }
    }

    fn choose(&mut self, view: &WearView<'_>) -> Option<BlockId> {
        let plane = view.plane.at();
        let near = |bounds: Bounds| bounds.most - bounds.least <= self.threshold;
        if self.allowed[plane] == 0 || self.bounds[plane].is_some_and(near) {
            return None;
        }
        let block = self.search(view)?;
        self.allowed[plane] -= 1;
        Some(block)
    }
}
