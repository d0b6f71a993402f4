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
            }
        }
    }

    /// The command that goes next: the smallest rank of all heads.
    #[inline]
    pub fn first(&self, commands: &Slab<Command>) -> Option<CommandId> {
        let mut left = self.occupied;
        let mut best: Option<CommandId> = None;
        while left != 0 {
            let head = self.head[left.trailing_zeros() as usize];
            left &= left - 1;
            let better = match (head, best) {
                (Some(head), Some(best)) => commands[head].key < commands[best].key,
                (head, None) => head.is_some(),
                (None, _) => false,
            };
            if better {
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
    }

    /// Takes up to `depth` looks into the lane of `like`, which was its head and has been taken out,
    /// and takes out the first command that `fits`.
    pub fn take_fitting(
        &mut self,
        commands: &mut Slab<Command>,
        like: CommandId,
        depth: usize,
        mut fits: impl FnMut(&Command) -> bool,
    ) -> Option<CommandId> {
        let lane = Self::lane_of(&commands[like]);
        let mut previous = None;
        let mut next = self.head[lane];
        for _ in 0..depth {
            let id = next?;
            next = commands[id].next;
            if !fits(&commands[id]) {
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
            return Some(id);
        }
        None
    }
}
