//! The commands that wait for a die: a FIFO lane for each origin and kind, linked through the commands
//! themselves.
//!
//! Ranks never decrease within a lane, so the next command is the best of a few heads, however many
//! thousands wait.

use super::command::{Command, CommandId, Origin};
use crate::engine::Slab;
use crate::nand::Kind;

const LANES: usize = Kind::ALL.len() * Origin::ALL.len();

/// The lanes of one die.
#[derive(Clone, Debug, Default)]
pub struct Lanes {
    /// Whether all commands wait in the first lane, in order of arrival.
    in_turn: bool,
    /// A bit for each lane that is not empty.
    occupied: u32,
    /// The best of the heads, cached because it is asked for more often than it changes.
    best: Option<CommandId>,
    /// The rank and the arrival number of the best.
    best_key: (u64, u64),
    lanes: [Lane; LANES],
}

/// A lane: its first and last command, next to each other because they are used together.
#[derive(Clone, Copy, Debug, Default)]
struct Lane {
    head: Option<CommandId>,
    tail: Option<CommandId>,
}

impl Lanes {
    /// Returns empty lanes. With `in_turn`, commands go in order of arrival.
    pub fn new(in_turn: bool) -> Lanes {
        Lanes { in_turn, ..Lanes::default() }
    }

    const fn lane(origin: Origin, kind: Kind) -> usize {
        origin as usize * Kind::ALL.len() + kind as usize
    }

    fn lane_of(command: &Command) -> usize {
        Self::lane(command.origin, command.kind)
    }

    /// Adds a command at the end of its lane.
    #[inline(always)]
    pub fn push(&mut self, commands: &mut Slab<Command>, id: CommandId) {
        if self.in_turn {
            return self.push_in_turn(commands, id);
        }
        let command = &mut commands[id];
        command.ticket.next = None;
        let lane = Self::lane_of(command);
        let key = command.rank();
        let waiting = self.occupied & (1 << lane) != 0;
        match self.lanes[lane].tail.replace(id) {
            Some(last) if waiting => {
                debug_assert!(commands[last].ticket.key <= key.0, "ranks decrease in a lane");
                commands[last].ticket.next = Some(id);
            }
            _ => {
                self.lanes[lane].head = Some(id);
                self.occupied |= 1 << lane;
                if self.best.is_none() || key < self.best_key {
                    (self.best, self.best_key) = (Some(id), key);
                }
            }
        }
    }

    /// The same in order of arrival.
    #[inline(always)]
    pub fn push_in_turn(&mut self, commands: &mut Slab<Command>, id: CommandId) {
        commands[id].ticket.next = None;
        match (self.best, self.lanes[0].tail.replace(id)) {
            (Some(_), Some(last)) => commands[last].ticket.next = Some(id),
            _ => {
                (self.lanes[0].head, self.best) = (Some(id), Some(id));
                self.occupied = 1;
            }
        }
    }

    /// Removes the next command in order of arrival; `next` is the one behind it.
    #[inline(always)]
    pub fn take_in_turn(&mut self, next: Option<CommandId>) {
        (self.lanes[0].head, self.best) = (next, next);
        self.occupied = u32::from(next.is_some());
    }

    /// The command that goes next: the smallest rank among the heads.
    #[inline]
    pub fn first(&self) -> Option<CommandId> {
        self.best
    }

    /// Finds the best of the heads.
    #[inline(always)]
    fn find_best(&mut self, commands: &Slab<Command>) {
        let only = self.occupied;
        if only & only.wrapping_sub(1) == 0 {
            // One lane or none: nothing to compare.
            self.best = match only {
                0 => None,
                _ => self.lanes[only.trailing_zeros() as usize % LANES].head,
            };
            if let Some(best) = self.best {
                self.best_key = commands[best].rank();
            }
            return;
        }
        self.best = None;
        let mut left = self.occupied;
        while left != 0 {
            let lane = &self.lanes[left.trailing_zeros() as usize];
            left &= left - 1;
            let Some(head) = lane.head else { continue };
            let key = commands[head].rank();
            if self.best.is_none() || key < self.best_key {
                (self.best, self.best_key) = (Some(head), key);
            }
        }
    }

    /// The next command of an origin and a kind.
    #[inline]
    pub fn first_of(&self, origin: Origin, kind: Kind) -> Option<CommandId> {
        self.lanes[Self::lane(origin, kind)].head
    }

    /// Whether another command of the origin and kind of `command` waits.
    #[inline]
    pub fn has_more_like(&self, command: &Command) -> bool {
        self.occupied & (1 << Self::lane_of(command)) != 0
    }

    /// The arrival number of the earliest waiting read, or the largest number if none waits.
    pub fn oldest_read(&self, commands: &Slab<Command>) -> u64 {
        let reads = Origin::ALL.into_iter().filter_map(|origin| self.first_of(origin, Kind::Read));
        reads.map(|id| commands[id].ticket.arrival).min().unwrap_or(u64::MAX)
    }

    /// The host read that goes next.
    #[inline]
    pub fn first_host_read(&self) -> Option<CommandId> {
        self.first_of(Origin::Host, Kind::Read)
    }

    /// The last command in the lane of `command`.
    pub fn last_of(&self, command: &Command) -> Option<CommandId> {
        let lane = Self::lane_of(command);
        self.lanes[lane].tail.filter(|_| self.occupied & (1 << lane) != 0)
    }

    /// Removes a command that is the head of its lane.
    #[inline(always)]
    pub fn take(&mut self, commands: &Slab<Command>, id: CommandId) {
        if self.in_turn {
            return self.take_in_turn(commands[id].ticket.next);
        }
        let lane = Self::lane_of(&commands[id]);
        debug_assert_eq!(self.lanes[lane].head, Some(id));
        self.lanes[lane].head = commands[id].ticket.next;
        if self.lanes[lane].head.is_none() {
            self.occupied &= !(1 << lane);
        }
        self.find_best(commands);
    }

    /// Removes the first suitable command from the lane of `like`, which was its head and has been
    /// removed.
    pub fn take_fitting(
        &mut self,
        commands: &mut Slab<Command>,
        like: CommandId,
        choice: LaneChoice<impl Fn(&Command) -> bool, impl Fn(&Command, &Command) -> bool>,
    ) -> Option<CommandId> {
        let lane = Self::lane_of(&commands[like]);
        let mut previous = None;
        let mut next = self.lanes[lane].head;
        for _ in 0..choice.looks {
            let id = next?;
            next = commands[id].ticket.next;
            let fits = (choice.fits)(&commands[id]);
            if !fits || !self.may_pass(commands, lane, id, &choice.may_pass) {
                previous = Some(id);
                continue;
            }
            match previous {
                Some(previous) => commands[previous].ticket.next = next,
                None => self.lanes[lane].head = next,
            }
            if next.is_none() {
                self.lanes[lane].tail = previous;
            }
            if self.lanes[lane].head.is_none() {
                self.occupied &= !(1 << lane);
            }
            self.find_best(commands);
            return Some(id);
        }
        None
    }

    /// Whether a command may pass all that came before it in its lane.
    fn may_pass(
        &self,
        commands: &Slab<Command>,
        lane: usize,
        id: CommandId,
        may_pass: impl Fn(&Command, &Command) -> bool,
    ) -> bool {
        // Copybacks and programs of one block wait in two lanes.
        let command = &commands[id];
        let sibling = match command.kind {
            Kind::Program => Kind::Copyback,
            Kind::Copyback => Kind::Program,
            Kind::Read | Kind::Erase => return true,
        };
        let all =
            std::iter::successors(self.lanes[lane].head, |&earlier| commands[earlier].ticket.next);
        let mut earlier = all.take_while(|&earlier| earlier != id);
        let head = self.lanes[Self::lane(command.origin, sibling)].head;
        let others = std::iter::successors(head, |&other| commands[other].ticket.next);
        let mut others =
            others.take_while(|&other| commands[other].ticket.arrival < command.ticket.arrival);
        earlier.all(|earlier| may_pass(command, &commands[earlier]))
            && others.all(|other| may_pass(command, &commands[other]))
    }
}

/// The rules for removing a command before its turn.
pub struct LaneChoice<F, P> {
    /// How many commands are looked at.
    pub looks: usize,
    /// Whether a command is suitable.
    pub fits: F,
    /// Whether one command that programs may pass an earlier one. Others always may.
    pub may_pass: P,
}
