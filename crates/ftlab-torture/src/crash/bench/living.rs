//! Rounds without power cuts: dies and pages fail by the device's own schedule.

use ftlab::host::{Host, Op};

use super::Bench;
use crate::crash::Round;
use crate::judge::Command;
use crate::zoned;

impl Bench {
    /// Runs the commands, and while the last of them are in progress reads everything page by page,
    /// so that a lost page does not hide others.
    pub(in crate::crash) fn live(self, round: &Round) -> Result<Bench, String> {
        let mut bench = self;
        round.steps.iter().try_for_each(|step| bench.step(step))?;
        let capacity = bench.device.capacity_sectors();
        let pages = (0..capacity).step_by(bench.per_page as usize);
        let pages = pages.map(|first| first..(first + bench.per_page).min(capacity));
        let zones = bench.device.zones();
        let pages: Vec<_> = pages.flat_map(|page| zoned::pieces(zones, page)).collect();
        for range in pages {
            bench.make_room(0)?;
            bench.submit(Command { op: Op::Read, range, stream: 0, fua: false });
        }
        bench.advance_to_idle()?;
        bench.device.ftl().audit()?;
        let contents = bench.device.contents();
        let parity = contents.parity().map(|parity| parity.check(0, |at| contents.words(at)));
        parity.unwrap_or(Ok(())).map(|()| bench)
    }

    /// Counts dead dies and rebuilt pages.
    pub(super) fn note_deaths(&mut self) {
        let ftl = self.device.ftl();
        self.tally.deaths += ftl.dead_dies_on_flash().len() as u64;
        let Some(stripes) = ftl.stripes() else { return };
        self.tally.computed += stripes.counts().reconstructed;
        self.tally.beyond += u64::from(self.may_lose);
    }
}
