//! The short way of a write: a whole page that is only staged on its way to flash is placed and handed over at once.

use super::{Contents, Device};
use crate::engine::skills::{RARE, Skills, UNITS, any};
use crate::ftl::streams::StreamsPolicy;
use crate::host::Request;
use crate::scheduler::{Command, Kind, Origin, Probe, Task};
use crate::units::{Lpn, Ppn, RequestId};
use crate::verify as laws;

impl<P: Probe, C: Contents> Device<P, C> {
    /// A write of one whole page that nothing holds up on its way to flash.
    #[inline(always)]
    pub(super) fn pass_through<const S: Skills>(
        &mut self,
        id: RequestId,
        request: &Request,
    ) -> bool {
        let shift = self.base.sectors_per_page.trailing_zeros();
        let page = request.lba.0 >> shift;
        if any(S, RARE | UNITS)
            || page << shift != request.lba.0
            || !self.base.buffer.passes_through()
        {
            return false;
        }
        let page = Lpn::new(page as u32);
        if self.base.buffer.find(page).is_some() {
            return false;
        }
        let tag = self.base.kernel.ftl.streams().tag_of(request.stream);
        let slot = self.base.buffer.pass_through(page, tag, id);
        let whole = self.base.kernel.ftl.full_page();
        self.base.kernel.contents.write(request, page, whole, slot);
        if laws::ON {
            self.base.ledger.written(page);
        }
        self.base.desk.intake.wait_for_one(id);
        self.base.kernel.contents.begin_write_back(slot, whole);
        self.prepare_tables(page);
        let stream = self.base.kernel.ftl.streams().host_stream(page, tag);
        let first = match self.writes.stalled.is_empty() {
            true => self.base.kernel.ftl.place::<S>(page, stream, self.base.kernel.flash.load()),
            false => None,
        };
        let (kind, at) = (Kind::Program, first.unwrap_or(Ppn::new(0)));
        let mut program = Command::new(kind, Origin::Host, Task::WriteBack, at);
        program.codewords = self.base.kernel.flash.bus().page_codewords();
        program.units = 1;
        let program = self.base.kernel.flash.prepare(program);
        self.writes.loads.row_mut(program)[0] = slot.get();
        match first {
            Some(at) => {
                self.base.fill_page::<S>(slot, at);
                self.base.hand_over::<S>(program, at);
            }
            None if self.place_behind::<S>(program, stream) => {
                self.base.hand_over::<S>(program, self.base.kernel.flash.command(program).page);
            }
            None => {}
        }
        true
    }
}
