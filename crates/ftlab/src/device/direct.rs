//! Requests of a device without translation (`ftl.mapping.policy = "physical"`): each page of a
//! request is one flash command to the page with that number.
//!
//! A read senses its page, even if it was never written. A write programs its page without reading it first, so a part
//! of a page costs as much as a whole page. The issuer of physical addresses is responsible for the sectors that are
//! not written; a device that carries data leaves them as they are. A write is acknowledged when its pages are
//! programmed. A flush waits for the programs in flight. A trim does nothing, since no block could be emptied sooner.
//! Commands to one page keep their order under every scheduler ([`Flash::keep_page_order`]).
//!
//! [`Flash::keep_page_order`]: crate::scheduler::Flash::keep_page_order

use crate::ftl::cost::regulation;

use crate::device::base::Base;
use crate::device::read::under_way::FlashRead;
use crate::device::{Contents, Movement, Place};
use crate::engine::skills;
use crate::host::zones::ZoneError;
use crate::host::{Op, Outcome, Pages, Request};
use crate::scheduler::{Command, CommandId, Kind, Origin, Probe, ServiceId};
use crate::units::{Lpn, PageSpan, Ppn, RequestId};

/// Starts a request.
pub(in crate::device) fn start_direct(
    id: RequestId,
    request: &Request,
    on: &mut Base<impl Probe, impl Contents>,
) {
    let pages = Pages::new(request.lba, request.sectors, on.sectors_per_page);
    match request.op {
        Op::Read => pages.for_each(|span| sense(id, span, place_of(span.page, on), on)),
        Op::Write => pages.for_each(|span| {
            let at = place_of(span.page, on);
            program_in_place(id, request, span, at, on);
        }),
        Op::Trim => {}
        Op::Flush => {
            if on.direct.as_mut().is_some_and(|direct| direct.flush(id)) {
                on.desk.intake.wait_for_one(id);
            }
        }
        _ => on.desk.intake.fail(id, Outcome::Zone(ZoneError::InvalidField)),
    }
    if on.desk.intake.settle(id) {
        on.finish_from_buffer(id);
    }
}

/// The place of a page.
fn place_of<P, C>(page: Lpn, on: &Base<P, C>) -> Ppn {
    on.kernel.ftl.look_up(page).expect("without translation, every page has a place")
}

fn sense(id: RequestId, span: PageSpan, at: Ppn, on: &mut Base<impl Probe, impl Contents>) {
    let mut read = Command::new(Kind::Read, Origin::Host, ServiceId::READS.owner(id.get()), at);
    read.units = 1;
    read.codewords = on.kernel.flash.bus().codewords_of(span.sectors);
    read.senses = on.kernel.flash.senses::<{ skills::ALL }>(at, span.sectors);
    let read = on.kernel.flash.prepare(read);
    on.buffer.note_read(None, &on.kernel.ftl);
    on.desk.intake.wait_for_one(id);
    on.plan_read::<{ skills::ALL }>(read, FlashRead::new(id, span, at));
    on.kernel.flash.submit(on.kernel.now, read);
}

fn program_in_place(
    id: RequestId,
    request: &Request,
    span: PageSpan,
    at: Ppn,
    on: &mut Base<impl Probe, impl Contents>,
) {
    let mut program =
        Command::new(Kind::Program, Origin::Host, ServiceId::DIRECT.owner(id.get()), at);
    program.units = 1;
    program.codewords = on.kernel.flash.bus().page_codewords();
    if let Some(cost) = regulation::cost_of_write(span.page, &mut on.kernel.ftl) {
        program.set_cost(cost);
    }
    let program = on.kernel.flash.prepare(program);
    if let Some(direct) = &mut on.direct {
        direct.program_begun(program, span, request.tag);
    }
    on.desk.intake.wait_for_one(id);
    on.kernel.flash.submit(on.kernel.now, program);
}

/// A page of a write has been programmed.
pub(in crate::device) fn programmed_in_place(
    id: RequestId,
    program: CommandId,
    on: &mut Base<impl Probe, impl Contents>,
) {
    let at = on.kernel.flash.command(program).page;
    if let Some((PageSpan { page, sectors }, tag)) = on.direct.as_ref().map(|it| it.of(program)) {
        let (from, to) = (Place::Write { tag }, Place::Flash(at));
        on.kernel.contents.copy(&Movement { from, to, page, sectors });
    }
    on.kernel.ftl.programmed_in_place();
    let spent = on.kernel.flash.command(program).spent;
    on.settle::<{ skills::ALL }>(id, &spent);
    let Some(direct) = &mut on.direct else { return };
    direct.program_ended(program);
    while let Some(flush) = on.direct.as_mut().and_then(|direct| direct.next_flushed()) {
        on.settle::<{ skills::ALL }>(flush, &spent);
    }
}
