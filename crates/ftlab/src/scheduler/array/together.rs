//! Operations that several commands share, on the planes of a die.

use super::FlashArray;
use crate::engine::skills::Skills;
use crate::nand::Kind;
use crate::scheduler::command::{Command, CommandId, Ticket};
use crate::scheduler::lanes::LaneChoice;
use crate::scheduler::station::{Station, StationId};
use crate::units::{Nanos, SimTime};
use crate::verify::Canary;

impl FlashArray {
    /// Takes commands from the lane of a command that begins, for other planes that its operation can serve, and
    /// links them to it. Returns their number.
    #[inline(never)]
    pub fn gather(&mut self, die: StationId, first: CommandId) -> u64 {
        // An erase must not pass a read that arrived earlier.
        let oldest_read = match self.commands[first].kind {
            Kind::Erase => self.oldest_read(die),
            _ => u64::MAX,
        };
        let FlashArray { sheet, commands, stations, plant, page_order, .. } = self;
        let Station { lanes, suspension, .. } = &mut stations[die.at()];
        if !lanes.has_more_like(&commands[first]) {
            return 0;
        }
        let (geometry, multi_plane) = (&sheet.geometry, &sheet.abilities.multi_plane);
        let planes = geometry.planes_per_die();
        let Command { kind, mode, ticket: Ticket { seat, .. }, .. } = commands[first];
        let mut taken = seat.plane;
        if page_order.is_some() {
            // A suspended program may be of the very page that a read wants.
            let left = std::iter::successors(suspension.first(), |&id| commands[id].ticket.next);
            taken |= left.fold(0, |all, id| all | commands[id].ticket.seat.plane);
        }
        let (mut last, mut joined) = (first, 0);
        let collides = plant.is(Canary::PlaneServesTwo);
        let looks = multi_plane.looks.map_or(usize::MAX, |looks| planes as usize * looks as usize);
        for _ in 1..planes {
            let fits = |other: &Command| {
                (collides || taken & other.ticket.seat.plane == 0)
                    && other.ticket.seat.address == seat.address
                    && other.mode == mode
                    && (kind != Kind::Erase || other.ticket.arrival < oldest_read)
                    && page_order.as_ref().is_none_or(|order| {
                        order.is_first(geometry.flash_page_of(other.page), other.ticket.arrival)
                    })
            };
            // The pages of a block are programmed in order.
            let may_pass = |other: &Command, earlier: &Command| {
                other.ticket.seat.block != earlier.ticket.seat.block
            };
            let found = lanes.take_fitting(commands, first, LaneChoice { looks, fits, may_pass });
            let Some(id) = found else { break };
            commands[id].ticket.next = None;
            commands[last].ticket.next = Some(id);
            taken |= commands[id].ticket.seat.plane;
            joined += 1;
            last = id;
        }
        joined
    }

    /// Finds the time in the cells of an operation that others share with a first command, which alone would take
    /// `least`, and accounts for it.
    #[cold]
    pub fn share_cells<const S: Skills>(
        &mut self,
        now: SimTime,
        others: Option<CommandId>,
        least: Nanos,
        waited: Nanos,
    ) -> Nanos {
        let mut span = least;
        let mut next = others;
        while let Some(id) = next {
            span = span.max(self.price::<S>(id, now));
            next = self.commands[id].ticket.next;
        }
        let mut next = others;
        while let Some(id) = next {
            let command = &mut self.commands[id];
            command.spent.cell += span;
            command.spent.queue += waited;
            next = command.ticket.next;
        }
        span
    }
}
