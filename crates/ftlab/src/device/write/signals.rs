//! Notifies the device, in a fixed order, of what follows from a command that is done.

use crate::device::Contents;
use crate::device::base::Base;
use crate::device::write::{Writes, end_of_life, merge, zones};
use crate::engine::skills;
use crate::ftl::service::Signals;
use crate::host::Request;
use crate::scheduler::{CommandId, Probe};
use crate::units::{PlaneId, RequestId};

impl Writes {
    /// A command of a service is done and left `what` to attend to.
    pub(in crate::device) fn handle_signals(
        &mut self,
        what: Signals,
        id: CommandId,
        on: &mut Base<impl Probe, impl Contents>,
    ) {
        if what.has(Signals::ENTRIES) {
            self.go_on_with_entries(on);
        }
        if what.has(Signals::TRIMS) {
            self.trims_are_noted(id, on);
        }
        if what.has(Signals::MERGED) {
            let token = on.kernel.flash.command(id).owner.token;
            merge::merged(PlaneId::new(token), self, on);
        }
        if what.has(Signals::FAILED) {
            on.empty_failed::<{ skills::ALL }>();
        }
        if what.has(Signals::MAP) {
            self.update_due_map_pages::<{ skills::ALL }>(on);
        }
        if what.has(Signals::FILLED) {
            let at = on.kernel.flash.command(id).page;
            on.consider_collecting_at::<{ skills::ALL }>(at);
        }
        if what.has(Signals::INVALID) {
            on.relieve::<{ skills::ALL }>();
        }
        if what.has(Signals::GIVEN_UP) {
            end_of_life::begin_after_given_up(self, on);
        }
    }

    /// Trims at once, or when the journal has recorded the trim.
    pub(in crate::device) fn trim(
        &mut self,
        id: RequestId,
        request: &Request,
        on: &mut Base<impl Probe, impl Contents>,
    ) {
        let Some(journal) = on.services.journal.as_deref_mut() else {
            return self.submit_trim(request, on);
        };
        on.desk.intake.wait_for_one(id);
        journal.note(id, &mut on.kernel);
    }

    /// A page of trims is in the journal: the trims take effect and complete.
    fn trims_are_noted(&mut self, id: CommandId, on: &mut Base<impl Probe, impl Contents>) {
        let spent = on.kernel.flash.command(id).spent;
        let Some(journal) = on.services.journal.as_deref_mut() else { return };
        for trim in journal.take_noted() {
            let request = *on.desk.intake.get(trim).request();
            match zones::may_reset(&request, on) {
                true => self.submit_trim(&request, on),
                false => on.desk.intake.refuse(trim),
            }
            on.settle::<{ skills::ALL }>(trim, &spent);
        }
        if let Some(journal) = on.services.journal.as_deref_mut() {
            journal.write(&mut on.kernel);
        }
    }
}
