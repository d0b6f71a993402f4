//! A job done at once: where the device stands still for merges, nothing can see them half done, so it is enough
//! to know what they change and how long they take.

use super::fold::PageCopy;
use super::{Job, MergeCounts};
use crate::ftl::{FlashContents, Ftl};
use crate::scheduler::CellWork;
use crate::units::{BlockId, PlaneId};

/// Carries out a job at once. `priced` is told of each copy, unless they all cost the same.
pub(super) fn carry_out<C: FlashContents>(
    ftl: &mut Ftl,
    contents: &mut C,
    (plane, job): (PlaneId, &Job),
    counts: &mut MergeCounts,
    flat: bool,
    mut priced: impl FnMut(PageCopy),
) -> CellWork {
    let mut erases = 0;
    let mut copies = 0;
    let mut erase = |ftl: &mut Ftl, contents: &mut C, block: BlockId| {
        contents.erase(ftl.geometry.page_at(block, 0), ftl.geometry.units_per_block());
        ftl.erased_in_log(block);
        erases += 1;
    };
    let mut spent = Vec::new();
    for (number, &data) in job.merges.iter().enumerate() {
        let Some(mut fold) = ftl.begin_fold(data) else { continue };
        ftl.prefetch_folds(plane, &job.merges[number + 1..]);
        let mut each = |copy: PageCopy| {
            contents.copy(copy.from, copy.to);
            priced(copy);
        };
        let each: Option<&mut dyn FnMut(PageCopy)> =
            if C::MOVES || !flat { Some(&mut each) } else { None };
        copies += ftl.copy_all(&mut fold, each);
        spent.extend(ftl.end_fold(&fold, counts));
        if job.victim.is_some() {
            ftl.take_spent_logs(data, &mut spent);
        }
        // The order in which the `Merger` erases them is that in which they are used again.
        while let Some(block) = spent.pop() {
            erase(ftl, contents, block);
        }
    }
    if let Some(victim) = job.victim.filter(|&victim| ftl.is_log(victim)) {
        let mut from = 0;
        while let Some(copy) = ftl.next_move(victim, from) {
            from = ftl.geometry.place_of(copy.from).1 + 1;
            contents.copy(copy.from, copy.to);
            ftl.moved(copy);
            priced(copy);
            counts.moved += 1;
            copies += 1;
        }
        ftl.close_log(victim);
        erase(ftl, contents, victim);
    }
    let empty = job.erases_empty.then(|| ftl.log_view()?.empty_log(plane)).flatten();
    if let Some(empty) = empty {
        ftl.close_log(empty);
        erase(ftl, contents, empty);
        counts.erased_along += 1;
    }
    CellWork { copies, erases }
}
