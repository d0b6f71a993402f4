//! The work by which a plane gets a log block back, and its cost.

use crate::ftl::mapping::hybrid::{DataBlock, LogView, Spot};
use crate::scheduler::CellWork;
use crate::units::{BlockId, PlaneId, Ppn};

/// Work for a plane.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MergeJob {
    /// The data blocks to merge, in this order.
    pub merges: Vec<DataBlock>,
    /// The log block to empty and erase after that.
    pub victim: Option<BlockId>,
    /// Whether a full log block without valid pages is erased at the end, if there is one.
    pub erases_empty: bool,
    /// The expected cost of the merges and of the erase of the victim.
    pub cost: CellWork,
}

impl MergeJob {
    /// Creates the job that empties a log block with at most `throttle` merges.
    #[must_use]
    pub fn to_empty(view: &LogView<'_>, victim: BlockId, throttle: Option<u32>) -> MergeJob {
        let mut job = MergeJob { victim: Some(victim), ..MergeJob::default() };
        view.pages_of(victim).for_each(|spot| {
            job.add(view, spot, throttle.unwrap_or(u32::MAX), None);
        });
        let becomes_data = |&data: &DataBlock| view.tables.heir(data, view.blocks) == Some(victim);
        if !job.merges.iter().any(becomes_data) {
            job.cost = job.cost.and(CellWork::ERASE);
        }
        job
    }

    /// Adds the merge of the data block of `spot`, unless the job already contains it, already has
    /// `most` merges, or would then cost more than `limit`.
    pub fn add(&mut self, view: &LogView<'_>, spot: Spot, most: u32, limit: Option<CellWork>) {
        let full = self.merges.len() >= most as usize;
        if full || self.merges.contains(&spot.data) {
            return;
        }
        let cost = self.cost.and(view.cost(spot.data));
        if limit.is_none_or(|limit| cost.fits(limit)) {
            self.cost = cost;
            self.merges.push(spot.data);
        }
    }

    /// Whether there is nothing to do.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.merges.is_empty() && self.victim.is_none() && !self.erases_empty
    }
}

impl LogView<'_> {
    /// Returns the positions of the valid pages of a log block, in the order in which they were
    /// written.
    pub fn pages_of(&self, log: BlockId) -> impl Iterator<Item = Spot> + '_ {
        let first = self.blocks.next_valid(log, 0);
        let valid = std::iter::successors(first, move |at| self.blocks.next_valid(log, at + 1));
        valid.filter_map(move |at| {
            let page = log.get() * self.tables.pages_per_block() + at;
            Some(self.tables.spot(self.spare.owner(Ppn::new(page))?))
        })
    }

    /// Returns the cost of merging a data block.
    #[must_use]
    pub fn cost(&self, data: DataBlock) -> CellWork {
        let block = self.tables.block_of(data);
        let erases = u32::from(block.is_some());
        let in_data = block.map_or(0, |block| self.blocks.valid(block));
        let in_log = self.tables.newer_count(data);
        let there = self.tables.heir(data, self.blocks).map_or(0, |heir| self.blocks.valid(heir));
        CellWork { copies: in_data + in_log - there, erases }
    }

    /// Returns the first full log block of a plane, in the order of the log, that has no valid
    /// page.
    #[must_use]
    pub fn empty_log(&self, plane: PlaneId) -> Option<BlockId> {
        let mut logs = self.tables.logs(plane);
        logs.find(|&log| self.blocks.valid(log) == 0 && self.tables.is_full(log))
    }
}
