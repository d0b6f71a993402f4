//! The fast path of a write: a whole page that is only staged on its way to flash is placed and submitted at once.

use crate::device::base::Base;
use crate::device::write::{Writes, fill};
use crate::device::{Contents, Movement, Place};
use crate::engine::skills::{RARE, Skills, UNITS, any};
use crate::ftl::streams::StreamsPolicy;
use crate::host::Request;
use crate::scheduler::{Command, Kind, Origin, Probe, ServiceId};
use crate::units::{Lpn, Ppn, RequestId};

impl Writes {
    /// Writes one whole page that nothing delays on its way to flash. Returns false if this path does not apply.
    #[inline(always)]
    pub(in crate::device) fn pass_through<const S: Skills>(
        &mut self,
        id: RequestId,
        request: &Request,
        on: &mut Base<impl Probe, impl Contents>,
    ) -> bool {
        let shift = on.sectors_per_page.trailing_zeros();
        let page = request.lba.0 >> shift;
        if any(S, RARE | UNITS) || page << shift != request.lba.0 || !on.buffer.passes_through() {
            return false;
        }
        let page = Lpn::new(page as u32);
        if on.buffer.find(page).is_some() {
            return false;
        }
        let tag = on.kernel.ftl.streams().tag_of(on.identifier::<S>(id, request));
        let slot = on.buffer.pass_through(page, tag, id);
        let whole = on.kernel.ftl.full_page();
        let from = Place::Write { tag: request.tag };
        let to = Place::Buffer(slot);
        on.kernel.contents.copy(&Movement { from, to, page, sectors: whole });
        if on.checks_itself() {
            on.ledger.written(page, tag);
        }
        on.desk.intake.wait_for_one(id);
        on.move_to_write_back(slot, page, whole);
        self.prepare_tables(page, on);
        let stream = on.kernel.ftl.streams().host_stream(page, tag);
        let first = match self.stalled.is_empty() {
            true => on.kernel.ftl.place::<S>(page, stream, on.kernel.flash.load()),
            false => None,
        };
        let (kind, at) = (Kind::Program, first.unwrap_or(Ppn::new(0)));
        let (owner, codewords) =
            (ServiceId::WRITES.owner(0), on.kernel.flash.bus().page_codewords());
        let program = on
            .kernel
            .flash
            .prepare_with(|| Command::new(kind, Origin::Host, owner, at).carrying(1, codewords));
        self.loads.row_mut(program)[0] = slot.get();
        match first {
            Some(at) => {
                fill::fill_page::<S>(slot, at, on);
                on.hand_over::<S>(program, at);
            }
            None if self.place_behind::<S>(program, stream, on) => {
                on.hand_over::<S>(program, on.kernel.flash.command(program).page);
            }
            None => {}
        }
        true
    }
}
