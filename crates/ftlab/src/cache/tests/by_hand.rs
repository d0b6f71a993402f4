//! Short runs whose evictions were worked out by hand from the papers.

use std::collections::VecDeque;

use super::{BLOCK, LOGICAL_PAGES, Naive, Step, compare};
use crate::cache::two_qw_clock::{ClockShape, TwoQwClock};
use crate::cache::{
    AdLru, Bplru, BufferView, Cflru, Eviction, ExLru, Fab, Leaves, LruWsr, SlotId, TwoQ,
    WriteBuffer,
};
use crate::units::{Lpn, Ratio};

/// The expected eviction, by logical page.
#[derive(Clone, Copy, Debug)]
enum Goes {
    Page(u32),
    /// A page of a block that has more to evict.
    PageOfMore(u32),
    PadOfMore(u32),
    Pad(u32),
}
use Goes::{PadOfMore, Page, PageOfMore};

/// Evictions in order.
struct Script {
    coming: VecDeque<Goes>,
    unfinished: bool,
}

impl Naive for Script {
    fn inserted(&mut self, _slot: SlotId, _view: &BufferView<'_>) {}
    fn written(&mut self, _slot: SlotId, _view: &BufferView<'_>) {}
    fn read(&mut self, _slot: SlotId, _view: &BufferView<'_>) {}
    fn removed(&mut self, _slot: SlotId, _view: &BufferView<'_>, _why: Leaves) {}

    fn choose(&mut self, view: &BufferView<'_>) -> Option<Eviction> {
        let goes = self.coming.pop_front()?;
        self.unfinished = !matches!(goes, Page(_) | Goes::Pad(_));
        Some(match goes {
            Page(page) | PageOfMore(page) => Eviction::Page(view.find(Lpn::new(page))?),
            Goes::Pad(page) | PadOfMore(page) => Eviction::Pad(Lpn::new(page)),
        })
    }

    fn unfinished(&self) -> bool {
        self.unfinished
    }
}

fn write(page: u32) -> Step {
    (0, page, u32::MAX)
}

fn read(page: u32) -> Step {
    (8, page, 0)
}

const EVICT: Step = (12, 0, 0);
const ARRIVE: Step = (19, 0, 0);

/// Takes the steps, and then evicts until all expected evictions have come.
fn assert_goes(policy: WriteBuffer, steps: &[Step], expected: &[Goes]) {
    let begun = steps.iter().filter(|&&step| step == EVICT).count();
    let rest = std::iter::repeat_n(EVICT, expected.len() - begun);
    let steps: Vec<Step> = steps.iter().copied().chain(rest).collect();
    let script = Script { coming: expected.iter().copied().collect(), unfinished: false };
    assert_eq!(compare(policy, script, &steps), Ok(()));
}

#[test]
fn a_clean_page_goes_first_if_it_is_in_the_window() {
    let steps = [write(0), EVICT, ARRIVE, write(1), write(2), read(0), EVICT, write(3), write(4)];
    // First the window has one page, which is dirty; then two, the second of which is clean.
    let expected = [Page(0), Page(1), Page(0), Page(2)];
    assert_goes(WriteBuffer::Cflru(Cflru::new(Ratio::percent(50))), &steps, &expected);
}

#[test]
fn pages_that_were_used_again_have_a_second_chance() {
    let steps = [write(0), write(1), write(0), write(1), write(2)];
    assert_goes(WriteBuffer::LruWsr(LruWsr::default()), &steps, &[Page(2), Page(0), Page(1)]);
}

#[test]
fn cold_pages_go_before_hot_ones() {
    let steps = [write(0), write(0), write(1), write(2)];
    let policy = WriteBuffer::AdLru(AdLru::new(Ratio::percent(10)));
    assert_goes(policy, &steps, &[Page(1), Page(2), Page(0)]);
}

#[test]
fn what_came_again_after_it_had_left_stays_longer() {
    let policy = || TwoQ::new(Ratio::percent(25), Ratio::percent(50), LOGICAL_PAGES);
    let again = [write(0), EVICT, ARRIVE, write(0), write(1)];
    assert_goes(WriteBuffer::TwoQ(policy()), &again, &[Page(0), Page(1), Page(0)]);
    // Uses in the buffer do not count.
    let used = [write(0), write(1), write(0), write(0)];
    assert_goes(WriteBuffer::TwoQ(policy()), &used, &[Page(0), Page(1)]);
}

#[test]
fn what_was_read_goes_before_what_was_written() {
    let shape = ClockShape { kin: Ratio::percent(25), kout: Ratio::percent(50), write_weight: 2 };
    let policy = WriteBuffer::TwoQwClock(TwoQwClock::new(shape, LOGICAL_PAGES));
    let steps = [write(2), EVICT, ARRIVE, write(0), read(2)];
    assert_goes(policy, &steps, &[Page(2), Page(2), Page(0)]);
}

/// Three uses, the last two requests ago, are worth more than one use in the previous request.
#[test]
fn uses_are_weighed_against_the_requests_since() {
    let steps = [write(0), write(0), write(0), write(1), write(2)];
    let policy = WriteBuffer::ExLru(ExLru::default());
    assert_goes(policy, &steps, &[Page(1), Page(0), Page(2)]);
}

/// After many requests the page with one use more is worth more, although its last use is older, as long as
/// uses are counted, that is up to 16.
#[test]
fn uses_count_to_a_limit() {
    let first_of = |more: usize, expected: [Goes; 2]| {
        let uses = |page, count| std::iter::repeat_n(write(page), count);
        let steps: Vec<Step> = uses(0, more).chain(uses(1, more - 1)).chain(uses(2, 300)).collect();
        assert_goes(WriteBuffer::ExLru(ExLru::default()), &steps, &expected);
    };
    first_of(16, [Page(1), Page(0)]);
    first_of(17, [Page(0), Page(1)]);
}

#[test]
fn the_block_with_most_pages_goes_first() {
    let steps = [write(0), write(4), write(5), write(8)];
    let expected = [PageOfMore(4), Page(5), Page(0), Page(8)];
    assert_goes(WriteBuffer::Fab(Fab::new(BLOCK, LOGICAL_PAGES)), &steps, &expected);
}

fn bplru(padding: bool, compensation: bool) -> WriteBuffer {
    WriteBuffer::Bplru(Bplru::new(BLOCK, LOGICAL_PAGES, padding, compensation))
}

#[test]
fn a_block_is_filled_up_from_flash() {
    let steps = [write(2), EVICT, ARRIVE, write(3), write(0), write(8)];
    let padded = [Page(2), PageOfMore(0), PadOfMore(2), Page(3), Page(8)];
    assert_goes(bplru(true, true), &steps, &padded);
    assert_goes(bplru(false, true), &steps, &[Page(2), PageOfMore(0), Page(3), Page(8)]);
}

#[test]
fn a_block_of_which_nothing_has_to_be_written_is_not_filled_up() {
    let begun = [write(2), write(3), EVICT, EVICT, ARRIVE, ARRIVE, read(2)];
    let goes = [PageOfMore(2), Page(3)];
    assert_goes(bplru(true, true), &begun, &[&goes[..], &[Page(2)]].concat());
    let written = [&begun[..], &[write(0)]].concat();
    let filled = [PageOfMore(0), PageOfMore(2), PadOfMore(2), Goes::Pad(3)];
    assert_goes(bplru(true, true), &written, &[&goes[..], &filled].concat());
}

#[test]
fn a_block_that_was_written_in_order_goes_next() {
    let in_order = [write(12), write(4), write(5), write(6), write(7)];
    let whole = [PageOfMore(4), PageOfMore(5), PageOfMore(6), Page(7)];
    assert_goes(bplru(true, true), &in_order, &[&whole[..], &[Page(12)]].concat());
    assert_goes(bplru(true, false), &in_order, &[&[Page(12)], &whole[..]].concat());
    let otherwise = [write(12), write(4), write(6), write(5), write(7)];
    assert_goes(bplru(true, true), &otherwise, &[&[Page(12)], &whole[..]].concat());
}
