//! Jobs that are done at once. If the whole device stops during merges, nothing can observe them
//! half done, so only their result and duration matter.

use super::fold::PageCopy;
use super::{MergeCounts, MergeJob};
use crate::ftl::merge::fold;
use crate::ftl::{EmptiedBy, FlashChange, FlashContents, Ftl};
use crate::scheduler::CellWork;
use crate::units::{BlockId, PlaneId};

/// Carries out a job at once.
pub(super) fn carry_out<C: FlashContents>(
    ftl: &mut Ftl,
    contents: &mut C,
    (plane, job): (PlaneId, &MergeJob),
    counts: &mut MergeCounts,
) -> CellWork {
    let mut erases = 0;
    let mut copies = 0;
    let mut erase = |ftl: &mut Ftl, contents: &mut C, block: BlockId| {
        let (first, units) = (ftl.geometry.page_at(block, 0), ftl.geometry.units_per_block());
        contents.change(FlashChange::Emptied { first, units, by: EmptiedBy::Erase });
        fold::erased_in_log(block, ftl);
        erases += 1;
    };
    let mut spent = Vec::new();
    for (number, &data) in job.merges.iter().enumerate() {
        let Some(mut fold) = fold::begin_fold(data, ftl) else { continue };
        fold::prefetch_folds(plane, &job.merges[number + 1..], ftl);
        let mut each =
            |copy: PageCopy| contents.change(FlashChange::Copied { from: copy.from, to: copy.to });
        let each: Option<&mut dyn FnMut(PageCopy)> = if C::MOVES { Some(&mut each) } else { None };
        copies += fold::copy_all(&mut fold, each, ftl);
        spent.extend(fold::end_fold(&fold, counts, ftl));
        if job.victim.is_some() {
            fold::take_spent_logs(data, &mut spent, ftl);
        }
        // Blocks are used again in the order of their erases, so this must be the order of the
        // `Merger`.
        while let Some(block) = spent.pop() {
            erase(ftl, contents, block);
        }
    }
    if let Some(victim) = job.victim.filter(|&victim| fold::is_log(victim, ftl)) {
        let mut from = 0;
        while let Some(copy) = fold::next_move(victim, from, ftl) {
            from = ftl.geometry.place_of(copy.from).1 + 1;
            contents.change(FlashChange::Copied { from: copy.from, to: copy.to });
            fold::moved(copy, ftl);
            counts.moved += 1;
            copies += 1;
        }
        fold::close_log(victim, ftl);
        erase(ftl, contents, victim);
    }
    let empty = job.erases_empty.then(|| fold::log_view(ftl)?.empty_log(plane)).flatten();
    if let Some(empty) = empty {
        fold::close_log(empty, ftl);
        erase(ftl, contents, empty);
        counts.erased_along += 1;
    }
    CellWork { copies, erases }
}
