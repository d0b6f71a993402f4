//! What waits for one die: a first-in-first-out lane for each origin and kind of command, threaded
//! through the commands themselves.
//!
//! Within a lane, ranks never fall, so the next command is the best of a few heads, however
//! many thousands wait.

use super::command::{Command, CommandId, Origin};
use crate::engine::Slab;
use crate::nand::Kind;

const LANES: usize = Kind::ALL.len() * Origin::ALL.len();

/// The lanes of one die.
#[derive(Clone, Debug, Default)]
pub struct Lanes {
    /// A bit for each lane that holds something.
    occupied: u32,
    /// The best of the heads: asked for more often than it changes.
    best: Option<CommandId>,
    head: [Option<CommandId>; LANES],
    tail: [Option<CommandId>; LANES],
}

impl Lanes {
    const fn lane(origin: Origin, kind: Kind) -> usize {
        origin as usize * Kind::ALL.len() + kind as usize
    }

    fn lane_of(command: &Command) -> usize {
        Self::lane(command.origin, command.kind)
    }

    /// Puts a command at the end of its lane.
    #[inline]
    pub fn push(&mut self, commands: &mut Slab<Command>, id: CommandId) {
        let lane = Self::lane_of(&commands[id]);
        commands[id].next = None;
        match self.tail[lane].replace(id) {
            Some(last) if self.occupied & (1 << lane) != 0 => {
                debug_assert!(commands[last].key <= commands[id].key, "ranks fall in a lane");
                commands[last].next = Some(id);
            }
            _ => {
                self.head[lane] = Some(id);
                self.occupied |= 1 << lane;
                self.best = match self.best {
                    Some(best) if !goes_first(&commands[id], &commands[best]) => Some(best),
                    _ => Some(id),
                };
            }
        }
    }

    /// The command that goes next: the smallest rank of all heads.
    #[inline]
    pub fn first(&self) -> Option<CommandId> {
        self.best
    }

    #[inline(always)]
    fn search(&self, commands: &Slab<Command>) -> Option<CommandId> {
        let mut left = self.occupied;
        if left == 0 {
            return None;
        }
        let mut best = self.head[left.trailing_zeros() as usize];
        left &= left - 1;
        while left != 0 {
            let head = self.head[left.trailing_zeros() as usize];
            left &= left - 1;
            if let (Some(one), Some(other)) = (head, best)
                && goes_first(&commands[one], &commands[other])
            {
                best = head;
            }
        }
        best
    }

    /// The command of an origin and a kind that goes next.
    #[inline]
    pub fn first_of(&self, origin: Origin, kind: Kind) -> Option<CommandId> {
        self.head[Self::lane(origin, kind)]
    }

    /// Takes out a command that is the head of its lane.
    #[inline]
    pub fn take(&mut self, commands: &Slab<Command>, id: CommandId) {
        let lane = Self::lane_of(&commands[id]);
        debug_assert_eq!(self.head[lane], Some(id));
        self.head[lane] = commands[id].next;
        if self.head[lane].is_none() {
            self.occupied &= !(1 << lane);
        }
        self.best = self.search(commands);
    }

    /// Looks into the lane of `like`, which was its head and has been taken out, and takes out the first
    /// command that may be chosen.
    pub fn take_fitting(
        &mut self,
        commands: &mut Slab<Command>,
        like: CommandId,
        choice: Choice<impl Fn(&Command) -> bool, impl Fn(&Command, &Command) -> bool>,
    ) -> Option<CommandId> {
        let lane = Self::lane_of(&commands[like]);
        let mut previous = None;
        let mut next = self.head[lane];
        for _ in 0..choice.looks {
            let id = next?;
            next = commands[id].next;
            let fits = (choice.fits)(&commands[id]);
            if !fits || !self.may_pass(commands, lane, id, &choice.may_pass) {
                previous = Some(id);
                continue;
            }
            match previous {
                Some(previous) => commands[previous].next = next,
                None => self.head[lane] = next,
            }
            if next.is_none() {
                self.tail[lane] = previous;
            }
            if self.head[lane].is_none() {
                self.occupied &= !(1 << lane);
            }
            self.best = self.search(commands);
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
        let all = std::iter::successors(self.head[lane], |&earlier| commands[earlier].next);
        let mut earlier = all.take_while(|&earlier| earlier != id);
        // Copybacks and programs of one block wait in two lanes.
        let command = &commands[id];
        let sibling = match command.kind {
            Kind::Program => Some(Kind::Copyback),
            Kind::Copyback => Some(Kind::Program),
            Kind::Read | Kind::Erase => None,
        };
        let head = sibling.and_then(|kind| self.head[Self::lane(command.origin, kind)]);
        let others = std::iter::successors(head, |&other| commands[other].next);
        let mut others = others.take_while(|&other| commands[other].arrival < command.arrival);
        earlier.all(|earlier| may_pass(command, &commands[earlier]))
            && others.all(|other| may_pass(command, &commands[other]))
    }
}

/// Whether a command goes before another one. Equal ranks are served as they arrived, so that
/// programs and copybacks of a block keep their order.
#[inline]
fn goes_first(one: &Command, other: &Command) -> bool {
    (one.key, one.arrival) < (other.key, other.arrival)
}

/// Which command of a lane may be taken out before its turn.
pub struct Choice<F, P> {
    /// How many are looked at.
    pub looks: usize,
    /// Whether one is wanted.
    pub fits: F,
    /// Whether one may pass another that came earlier.
    pub may_pass: P,
}
