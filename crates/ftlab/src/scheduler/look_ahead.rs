//! Predicts when each command that waits on a channel will be done if nothing more comes, including waits
//! for the bus. It simulates the queue to its end, in time proportional to its length, and makes no
//! prediction for long queues.

use std::collections::VecDeque;

use super::command::CommandId;
use super::view::{Present, View};
use crate::nand::Kind;
use crate::units::{ChannelId, DieId, Nanos, SimTime};

/// The longest queue that is simulated. Each new read costs about 50 ns per command.
const LONGEST: usize = 256;

/// The commands that wait for each die, in the order in which they will be served.
#[derive(Clone, Debug)]
pub struct LookAhead {
    dies: Vec<VecDeque<CommandId>>,
    /// The dies of a channel during a simulation.
    played: Vec<Played>,
}

/// A die during a simulation.
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
    /// The arrival number of the command; the smallest is served first.
    came: u64,
    on_bus: Nanos,
    /// Time in the cells afterwards.
    cells: Nanos,
    /// Time of the data that the die then sends, if it senses.
    sends: Option<Nanos>,
    /// The waiting command, if it is one.
    id: Option<CommandId>,
    /// Whether it begins a command; otherwise the die sends.
    begins: bool,
}

impl LookAhead {
    /// Returns empty queues for `dies` dies.
    pub fn new(dies: u32) -> LookAhead {
        LookAhead { dies: vec![VecDeque::new(); dies as usize], played: Vec::new() }
    }

    /// Adds a command to the queue of its die, behind all of the same or a smaller rank.
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

    /// Removes a command that begins.
    pub fn leave(&mut self, die: DieId, id: CommandId) {
        let queue = &mut self.dies[die.at()];
        let place = queue.iter().position(|&other| other == id);
        place.and_then(|place| queue.remove(place));
    }

    /// Whether the queue of a channel is short enough to be simulated.
    pub fn is_short(&self, channel: ChannelId, view: &View<'_>) -> bool {
        let geometry = view.geometry();
        let dies = (0..geometry.dies_per_channel()).map(|place| geometry.die_on(channel, place));
        dies.map(|die| self.dies[die.at()].len()).sum::<usize>() <= LONGEST
    }

    /// Reports to `done` when each command that waits on a channel will be done.
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

    /// Lets a free die begin its commands, up to the first one that wants the bus.
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
