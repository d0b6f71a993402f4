//! Pages that have left their die and are decoded.

use super::{Dispatcher, Event};
use crate::nand::{CellMode, ReadEffort};
use crate::scheduler::command::CommandId;
use crate::scheduler::decoder::{PoolId, SentPage};
use crate::scheduler::probe::Probe;
use crate::units::SimTime;

impl<P: Probe> Dispatcher<P> {
    /// Hands a page that has left its die to the engines, if there are any.
    pub fn hand_to_decoder(&mut self, now: SimTime, id: CommandId) {
        let Dispatcher { array, decoder: Some(decoder), events, watch, .. } = self else { return };
        let command = &mut array.commands[id];
        let (channel, _) = array.sheet.geometry.channel_of(command.ticket.die);
        let codewords = command.codewords;
        // Blocks in SLC mode are sensed once, whatever their age.
        let effort = match command.mode {
            CellMode::Native => command.found.effort,
            _ => ReadEffort::default(),
        };
        let on_bus = array.sheet.bus.transfer(codewords);
        let page = SentPage { id, channel, codewords, on_bus, effort };
        let (done, first_of) = decoder.take(now, &page);
        command.spent.bus += done - now;
        watch.decoding(array, id, now, done);
        if let Some(pool) = first_of {
            events.schedule(now, done, Event::Decoded(pool).packed());
        }
    }

    /// Takes the page of a pool that is decoded now, if there is one.
    pub(super) fn decoded(&mut self, now: SimTime, pool: PoolId) -> Option<CommandId> {
        let (id, next) = self.decoder.as_mut()?.done(now, pool)?;
        if let Some(next) = next {
            self.events.schedule(now, next, Event::Decoded(pool).packed());
        }
        Some(id)
    }
}
