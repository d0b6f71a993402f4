//! What a channel will do if nothing more comes: when each command that waits will be done, waits for
//! the bus included. Plays the queue to its end, so it takes time in proportion to what waits; of a queue
//! that is too long for that nothing is told.

use std::collections::VecDeque;

use super::command::CommandId;
use super::view::{Present, View};
use crate::nand::Kind;
use crate::units::{ChannelId, DieId, Nanos, SimTime};

/// The longest queue of a channel that is played: each read that comes costs some 50 ns for each command.
const LONGEST: usize = 256;

/// What waits for each die, in the order in which it will be served.
#[derive(Clone, Debug)]
pub struct LookAhead {
    dies: Vec<VecDeque<CommandId>>,
    /// What the dies of a channel do next, while that is played.
    played: Vec<Played>,
}

/// A die while the queue is played.
#[derive(Clone, Copy, Debug)]
struct Played {
    die: DieId,
    /// How many of its commands have begun.
    begun: usize,
    wish: Option<Wish>,
}

/// What a die wants the bus for.
#[derive(Clone, Copy, Debug)]
struct Wish {
    from: SimTime,
    /// The arrival number of the command: the smallest is served first.
    came: u64,
    on_bus: Nanos,
    /// How long the cells then are busy.
    cells: Nanos,
    /// What the die then sends, if it has sensed something.
    sends: Option<Nanos>,
    /// Which of those that wait it is, if it is one of them.
    id: Option<CommandId>,
    /// Whether it is to begin something; otherwise the die sends.
    begins: bool,
}

impl LookAhead {
    /// Nothing waits for so many dies.
    pub fn new(dies: u32) -> LookAhead {
        LookAhead { dies: vec![VecDeque::new(); dies as usize], played: Vec::new() }
    }

    /// A command joins the queue of its die, behind all of its rank or a smaller one.
    pub fn join(
        &mut self,
        die: DieId,
        id: CommandId,
        rank: u64,
        rank_of: impl Fn(CommandId) -> u64,
    ) {
        let queue = &mut self.dies[die.at()];
        let before = queue.partition_point(|&other| rank_of(other) <= rank);
        queue.insert(before, id);
    }

    /// A command begins.
    pub fn leave(&mut self, die: DieId, id: CommandId) {
        let queue = &mut self.dies[die.at()];
        let place = queue.iter().position(|&other| other == id);
        place.and_then(|place| queue.remove(place));
    }

    /// Whether the queue of a channel is short enough to be played.
    pub fn is_short(&self, channel: ChannelId, view: &View<'_>) -> bool {
        let geometry = view.geometry();
        let dies = (0..geometry.dies_per_channel()).map(|place| geometry.die_on(channel, place));
        dies.map(|die| self.dies[die.at()].len()).sum::<usize>() <= LONGEST
    }

    /// Tells when each command that waits on a channel will be done.
    pub fn play(
        &mut self,
        channel: ChannelId,
        now: SimTime,
        view: &View<'_>,
        mut done: impl FnMut(CommandId, SimTime),
    ) {
        let geometry = view.geometry();
        let mut played = std::mem::take(&mut self.played);
        played.clear();
        for place in 0..geometry.dies_per_channel() {
            let die = geometry.die_on(channel, place);
            let mut one = Played { die, begun: 0, wish: None };
            match view.present(die, now) {
                Present::FreeAt(at) => self.go_on(&mut one, at, view, &mut done),
                Present::Sends { from, came, on_bus } => {
                    let (cells, sends, begins) = (Nanos::ZERO, None, false);
                    one.wish = Some(Wish { from, came, on_bus, cells, sends, id: None, begins });
                }
            }
            played.push(one);
        }
        let mut free_at = now + view.left_on_bus(channel, now);
        loop {
            let wishes = || played.iter().filter_map(|one| one.wish);
            let Some(first) = wishes().map(|wish| wish.from).min() else { break };
            let granted = free_at.max(first);
            let ready = |one: &&mut Played| one.wish.is_some_and(|wish| wish.from <= granted);
            let oldest = played.iter_mut().filter(ready);
            let turn = |wish: Wish| (view.data_out_first() && wish.begins, wish.came);
            let oldest = oldest.min_by_key(|one| one.wish.map(turn));
            let Some((one, wish)) = oldest.and_then(|one| one.wish.take().map(|wish| (one, wish)))
            else {
                break;
            };
            free_at = granted + wish.on_bus;
            let end = free_at + wish.cells;
            if let Some(on_bus) = wish.sends {
                let cells = Nanos::ZERO;
                let sends = None;
                one.wish = Some(Wish { from: end, on_bus, cells, sends, begins: false, ..wish });
                continue;
            }
            wish.id.into_iter().for_each(|id| done(id, end));
            self.go_on(one, end, view, &mut done);
        }
        self.played = played;
    }

    /// A die that is free begins what waits for it, up to the first command that wants the bus.
    fn go_on(
        &self,
        one: &mut Played,
        free_at: SimTime,
        view: &View<'_>,
        done: &mut impl FnMut(CommandId, SimTime),
    ) {
        let mut at = free_at;
        while let Some(&id) = self.dies[one.die.at()].get(one.begun) {
            one.begun += 1;
            let command = view.command(id);
            let (data, cells) = (view.data_on_bus(command), view.in_cells(command));
            let begins = command.kind != Kind::Read || view.command_on_bus().is_some();
            let wish = |from, on_bus, cells, sends| {
                let (came, id) = (command.ticket.arrival, Some(id));
                Some(Wish { from, came, on_bus, cells, sends, id, begins })
            };
            one.wish = match (command.kind, view.command_on_bus()) {
                (Kind::Program, ordered) => {
                    wish(at, ordered.unwrap_or_default() + data, cells, None)
                }
                (Kind::Read, Some(ordered)) => wish(at, ordered, cells, Some(data)),
                (Kind::Read, None) => wish(at + cells, data, Nanos::ZERO, None),
                (Kind::Erase | Kind::Copyback, Some(ordered)) => wish(at, ordered, cells, None),
                (Kind::Erase | Kind::Copyback, None) => {
                    at = at + cells;
                    done(id, at);
                    continue;
                }
            };
            return;
        }
    }
}
