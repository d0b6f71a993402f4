//! Fills a device without a clock: writes everything once, in order. Data that the buffer would
//! only pass on bypasses it, one row of flash pages at a time. The last part, which stays in the
//! buffer or leaves it in an order of its own, goes through it.

use std::collections::VecDeque;
use std::future::Future;
use std::ops::{ControlFlow, Range};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use super::rounds::Rounds;
use super::{Stuck, Untimed};
use crate::device::Contents;
use crate::device::write::zones;
use crate::ftl::placement::Mate;
use crate::ftl::rows;
use crate::ftl::streams::StreamsPolicy;
use crate::host::{Op, Request};
use crate::scheduler::Probe;
use crate::units::{Lba, Lpn};

/// The size of a write, in sectors.
const AT_ONCE: u64 = 256;
/// The number of sectors after which progress is reported.
const LOOK_EVERY: u64 = 1 << 21;

/// The part of a fill that bypasses the buffer.
struct Passing {
    /// The pages; they fill whole flash pages.
    pages: Range<u32>,
    /// The most flash pages in flight.
    most: u32,
    /// Whether the flash was empty before.
    is_new: bool,
}

impl<P: Probe, C: Contents> Untimed<'_, P, C> {
    /// Writes these sectors once, in order.
    ///
    /// # Errors
    /// The device has no room.
    pub fn fill(&mut self, sectors: Range<u64>) -> Result<(), Stuck> {
        let filling = pin!(self.fill_watched(sectors, async |_| ControlFlow::Continue(())));
        match filling.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(filled) => filled.map(|_| ()),
            Poll::Pending => unreachable!("nobody pauses it"),
        }
    }

    /// Like [`fill`](Self::fill), and reports now and then up to which sector all is written. A
    /// break as the answer ends the fill; it waits for an answer that is pending.
    ///
    /// # Errors
    /// The device has no room.
    pub async fn fill_watched(
        &mut self,
        sectors: Range<u64>,
        mut look: impl AsyncFnMut(u64) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, Stuck> {
        if self.device.base.zones.is_none() {
            return self.fill_on(sectors, look).await;
        }
        let mut next = sectors.start;
        while let Some(part) = zones::begin_to_fill(next..sectors.end, &mut self.device.base) {
            next = part.host_end;
            let end = part.sectors.end;
            if self.fill_on(part.sectors, async |_| ControlFlow::Continue(())).await?.is_break() {
                break;
            }
            zones::filled_to(end, &mut self.device.base);
            if look(next).await.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Writes these sectors once, in order. Their addresses have no gaps.
    async fn fill_on(
        &mut self,
        sectors: Range<u64>,
        mut look: impl AsyncFnMut(u64) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, Stuck> {
        let mut next = sectors.start;
        if let Some(passing) = self.what_passes(&sectors) {
            let per_page = u64::from(self.device.base.sectors_per_page);
            next = u64::from(passing.pages.end) * per_page;
            let told = async |page: Lpn| look(u64::from(page.get()) * per_page).await;
            if self.fill_past_buffer(&passing, told).await?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        while next < sectors.end {
            let count = AT_ONCE.min(sectors.end - next);
            self.write(&Request {
                op: Op::Write,
                lba: Lba(next),
                sectors: count as u32,
                stream: 0,
                tag: 0,
                fua: false,
            })?;
            next += count;
            if (next - sectors.start).is_multiple_of(LOOK_EVERY) && look(next).await.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(look(next).await)
    }

    /// The sectors that may bypass the buffer; none if that might change the way of a page.
    fn what_passes(&self, sectors: &Range<u64>) -> Option<Passing> {
        let base = &self.device.base;
        let (ftl, buffer) = (&base.kernel.ftl, &base.buffer);
        let per_page = u64::from(base.sectors_per_page);
        let at_once = u32::try_from(AT_ONCE / per_page).ok()?;
        let units = base.units_per_page;
        let outstanding = at_once.checked_mul(self.free.len() as u32)?;
        let most = buffer.most_passing(outstanding, units)?;
        // One round over all planes, after which a stripe repeats.
        let round = ftl.geometry().planes() * units;
        let known = self.stalled.is_empty()
            && self.turns.is_empty()
            && ftl.streams().goes_by_tag()
            && base.hints.is_none()
            && base.reads.cache.is_empty()
            && !C::MOVES
            && !ftl.packs();
        let first = u32::try_from(sectors.start.div_ceil(per_page)).ok()?;
        let end = u32::try_from(sectors.end / per_page).ok()?;
        let aligned = sectors.start.is_multiple_of(per_page) && first.is_multiple_of(round);
        // The pages of a row that are not adjacent have to be in the buffer together.
        let apart = buffer.rules.row > 1 && !matches!(ftl.mate(Lpn::new(first), 1), Mate::Any);
        let together = !apart || round + most * units < buffer.capacity_pages() / 2;
        // A single write must fill rows.
        let whole = buffer.capacity_pages() > 0 || at_once.is_multiple_of(buffer.rules.row * units);
        // A full buffer must hold no part of a flash page, or programs begin earlier.
        let even = buffer.capacity_pages().is_multiple_of(units);
        if !(known && aligned && together && whole && even) {
            return None;
        }
        // The use of the buffer's slots repeats after filling it twice.
        let turn = buffer.capacity_pages().max(1).checked_mul(2)?;
        let step = least_multiple(least_multiple(turn, round)?, at_once)?;
        let length = end.checked_sub(first)?.checked_sub(turn)? / step * step;
        let is_new = rows::holds_nothing(ftl);
        (length > 0).then(|| Passing { pages: first..first + length, most, is_new })
    }

    /// Writes the part that bypasses the buffer.
    async fn fill_past_buffer(
        &mut self,
        passing: &Passing,
        mut look: impl AsyncFnMut(Lpn) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, Stuck> {
        let mut left = FlashPages::new(passing.pages.clone(), self.device.base.units_per_page);
        let look_every = (LOOK_EVERY / u64::from(self.device.base.sectors_per_page)) as u32;
        let mut look_at = passing.pages.start + look_every;
        let mut row = Vec::new();
        let mut rounds = Rounds::new(passing.is_new, &self.device.base.kernel);
        while let Some(first) = left.first() {
            let buffer = &self.device.base.buffer;
            if buffer.under_way.programs() + buffer.rules.row > passing.most {
                self.step_or_finish()?;
                continue;
            }
            if first.get() >= look_at {
                look_at = first.get() + look_every;
                if look(first).await.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            self.take_row(&mut left, &mut row);
            if self.device.base.checks_itself() {
                self.note_written(&row);
            }
            self.begin_whole_row(&row);
            if left.is_in_order() && rounds.may_be_over(left.next) {
                left.next += self.repeat_rounds(&mut rounds, left.next..left.end);
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Ends the next operation of a die, or else lets operations that wait for writes continue without them.
    fn step_or_finish(&mut self) -> Result<(), Stuck> {
        if self.step() {
            return Ok(());
        }
        self.bench().finish();
        if self.turns.is_empty() { Err(Stuck) } else { Ok(()) }
    }

    /// Takes the first remaining flash page, and those that share its row.
    #[inline]
    fn take_row(&self, left: &mut FlashPages, row: &mut Vec<Lpn>) {
        row.clear();
        let Some(home) = left.take_first() else { return };
        row.push(home);
        for number in 1..self.device.base.buffer.rules.row {
            row.extend(match self.device.base.kernel.ftl.mate(home, number) {
                Mate::Any => left.take_first(),
                Mate::Group(first) => left.take(first).then_some(first),
                Mate::Nothing => None,
            });
        }
    }

    #[cold]
    fn note_written(&mut self, row: &[Lpn]) {
        for first in row {
            self.note_pages(first.get()..first.get() + self.device.base.units_per_page);
        }
    }

    pub(super) fn note_pages(&mut self, mut pages: Range<u32>) {
        pages.by_ref().for_each(|page| self.device.base.ledger.written(Lpn::new(page), 0));
    }
}

fn least_multiple(one: u32, other: u32) -> Option<u32> {
    let (mut a, mut b) = (one, other);
    while b > 0 {
        (a, b) = (b, a % b);
    }
    (one / a).checked_mul(other)
}

/// The flash pages that remain to be written, in order. A row may take some before their turn.
struct FlashPages {
    next: u32,
    end: u32,
    units_per_page: u32,
    /// From the next one on: whether each is taken.
    gone: VecDeque<bool>,
}

impl FlashPages {
    fn new(pages: Range<u32>, units_per_page: u32) -> FlashPages {
        let gone = VecDeque::new();
        FlashPages { next: pages.start, end: pages.end, units_per_page, gone }
    }

    /// The next flash page.
    #[inline]
    fn first(&self) -> Option<Lpn> {
        (self.next < self.end).then(|| Lpn::new(self.next))
    }

    #[inline]
    fn take_first(&mut self) -> Option<Lpn> {
        let first = self.first()?;
        self.next += self.units_per_page;
        self.gone.pop_front();
        self.pass_gone();
        Some(first)
    }

    /// Takes the flash page that begins with this page. Returns false if it was taken already.
    fn take(&mut self, first: Lpn) -> bool {
        if first.get() < self.next || first.get() >= self.end {
            return false;
        }
        let number = ((first.get() - self.next) / self.units_per_page) as usize;
        if self.gone.len() <= number {
            self.gone.resize(number + 1, false);
        }
        let was_there = !std::mem::replace(&mut self.gone[number], true);
        self.pass_gone();
        was_there
    }

    fn pass_gone(&mut self) {
        while let Some(true) = self.gone.front() {
            self.gone.pop_front();
            self.next += self.units_per_page;
        }
    }

    /// Whether none was taken before its turn.
    fn is_in_order(&self) -> bool {
        self.gone.is_empty()
    }
}
