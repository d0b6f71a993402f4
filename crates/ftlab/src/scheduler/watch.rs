//! Observers of the flash: a [`Probe`] and, in devices that check themselves, the laws of flash. Both are told of
//! every span in which cells or a bus are busy. Without observers all of this compiles to nothing.

use super::array::FlashArray;
use super::command::{Arrival, Command, CommandId, Ticket};
use super::laws::{BusUse, FlashLaws, OnBus};
use super::probe::{Activity, Probe};
use crate::engine::skills;
use crate::units::SimTime;
use crate::verify;

/// The observers.
#[derive(Clone, Debug)]
pub(super) struct Watch<P> {
    /// Sees every span of activity.
    pub probe: P,
    /// The laws of flash, in devices that check themselves.
    pub laws: Option<Box<FlashLaws>>,
}

/// The activity of a command for a span of time.
fn activity(array: &FlashArray, id: CommandId, from: SimTime, until: SimTime) -> Activity {
    let Command { kind, origin, page, ticket: Ticket { die, arrival: sequence, .. }, .. } =
        array.commands[id];
    let (channel, _) = array.sheet.geometry.channel_of(die);
    Activity { kind, origin, sequence, page, die, channel, from, until }
}

impl<P: Probe> Watch<P> {
    /// Reports that a command arrives.
    #[inline(always)]
    pub fn arrives(&mut self, arrival: &Arrival, command: &Command) {
        if P::ACTIVE {
            self.probe.arrives(arrival, command);
        }
    }

    /// Reports that a command waits for its die, which has `load` others that wait or run.
    #[inline(always)]
    pub fn submitted(&mut self, now: SimTime, id: CommandId, command: &Command, load: u32) {
        if verify::ON
            && let Some(laws) = &mut self.laws
        {
            laws.submitted(id, now, command, load);
        }
    }

    /// Reports that a command is done.
    #[inline(always)]
    pub fn done(&mut self, now: SimTime, id: CommandId, command: &Command) {
        if verify::ON
            && let Some(laws) = &mut self.laws
        {
            laws.done(id, now, command);
        }
    }

    /// Reports that the cells are busy with a command and those that share its operation.
    #[inline]
    pub fn cells(&mut self, array: &FlashArray, first: CommandId, from: SimTime, until: SimTime) {
        if P::ACTIVE || verify::ON {
            let mut next = Some(first);
            while let Some(id) = next {
                let activity = activity(array, id, from, until);
                if let Some(laws) = &mut self.laws {
                    laws.cell(&activity, &array.commands[id], id == first);
                }
                self.probe.cell(&activity);
                next = array.commands[id].ticket.next;
            }
        }
    }

    /// Reports that a page is handed to the engines that decode it, until it is decoded.
    #[inline]
    pub fn decoding(&mut self, array: &FlashArray, id: CommandId, from: SimTime, until: SimTime) {
        if P::ACTIVE {
            self.probe.decoding(&activity(array, id, from, until));
        }
    }

    /// Reports that a page that was read moves into DRAM.
    #[inline]
    pub fn filling_dram(
        &mut self,
        array: &FlashArray,
        id: CommandId,
        from: SimTime,
        until: SimTime,
    ) {
        if P::ACTIVE {
            self.probe.filling_dram(&activity(array, id, from, until));
        }
    }

    /// Reports that the cells suspend what they have been doing since `from`.
    #[inline]
    pub fn pause(&mut self, array: &FlashArray, first: CommandId, from: SimTime, at: SimTime) {
        if P::ACTIVE || verify::ON {
            let mut next = Some(first);
            while let Some(id) = next {
                let activity = activity(array, id, from, at);
                if let Some(laws) = &mut self.laws {
                    laws.pauses(&activity, at);
                }
                self.probe.pause(&activity, at);
                next = array.commands[id].ticket.next;
            }
        }
    }

    /// Reports that the bus moves out what a die holds for a command.
    #[inline(always)]
    pub fn sends(&mut self, array: &FlashArray, id: CommandId, from: SimTime, until: SimTime) {
        self.bus(array, id, (from, until), |command| OnBus {
            what: BusUse::Send,
            price: array.sheet.bus.transfer(command.codewords),
            first: true,
        });
    }

    /// Reports that the bus moves in addresses, and the data of a program, for the `first` of the commands of an
    /// operation or another.
    #[inline]
    pub fn moves_in(
        &mut self,
        array: &FlashArray,
        id: CommandId,
        span: (SimTime, SimTime),
        first: bool,
    ) {
        self.bus(array, id, span, |command| {
            let price = array.sheet.in_bus::<{ skills::ALL }>(command);
            OnBus { what: BusUse::Begin, price, first }
        });
    }

    /// Reports that the bus is busy with a command; `on` says what for, and the time that it must take.
    #[inline]
    fn bus(
        &mut self,
        array: &FlashArray,
        id: CommandId,
        (from, until): (SimTime, SimTime),
        on: impl FnOnce(&Command) -> OnBus,
    ) {
        if P::ACTIVE || verify::ON {
            let activity = activity(array, id, from, until);
            if verify::ON
                && let Some(laws) = &mut self.laws
            {
                laws.bus(&activity, &on(&array.commands[id]));
            }
            self.probe.bus(&activity);
        }
    }
}
