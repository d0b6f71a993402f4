//! The story of a request: what each nanosecond of it went to, followed to the cause.
//!
//! A request ends with the command that brought the last thing it waited for. Its story goes back from there: the
//! command at work, the command waiting for a die or a bus that others held, and, before the command came, the command
//! whose end made it come. So the pieces follow each other without a gap, and their lengths sum to the time of the
//! request in the flash.

use ftlab::nand::Kind;
use ftlab::scheduler::Origin;
use ftlab::units::{Nanos, SimTime};

use super::occupancy::{Holder, Occupancy};
use super::recorder::{DeviceRecord, FlashCommand, FlashPart};

/// What a piece of a request's time went to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// A command of the chain was at work.
    Works(FlashPart),
    /// It waited.
    Waits(Holder),
    /// Nothing is known of what came before the chain: a write waited for its turn, or for what a timer brings.
    Before,
}

/// A piece of a request's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoryPiece {
    /// The start.
    pub from: SimTime,
    /// The end.
    pub until: SimTime,
    /// The command of the chain.
    pub of: Option<u64>,
    /// How many commands of the chain came after it.
    pub depth: u32,
    /// What it went to.
    pub doing: Doing,
}

impl StoryPiece {
    /// Its length.
    #[must_use]
    pub fn length(&self) -> Nanos {
        self.until - self.from
    }
}

/// Returns the chain of commands that brought what a request waited for since `from`: the last one, the one whose end made
/// that one come, and so on.
pub fn chain(
    record: &DeviceRecord,
    last: Option<u64>,
    from: SimTime,
) -> impl Iterator<Item = &FlashCommand> {
    let find = |command: Option<u64>| command.and_then(|command| record.commands.get(&command));
    std::iter::successors(find(last), move |command| {
        if command.arrived > from { find(command.trigger) } else { None }
    })
}

/// Returns the pieces of the time from `from` to `until`, when the end of a command brought what a request waited for.
#[must_use]
pub fn story(
    record: &DeviceRecord,
    occupancy: &Occupancy,
    last: Option<u64>,
    (from, until): (SimTime, SimTime),
) -> Vec<StoryPiece> {
    let mut pieces = Vec::new();
    let (mut until, mut depth) = (until, 0);
    for command in chain(record, last, from) {
        let begin = command.arrived.max(from).min(until);
        let mut own = pieces_of(command, occupancy, begin, until);
        own.iter_mut().for_each(|piece| piece.depth = depth);
        own.reverse();
        pieces.extend(own);
        until = begin;
        depth += 1;
    }
    if until > from {
        pieces.push(StoryPiece { from, until, of: None, depth, doing: Doing::Before });
    }
    pieces.reverse();
    pieces
}

/// Returns how much of some pieces went to the device's own work: to commands that serve no request.
#[must_use]
pub fn own_work(pieces: &[StoryPiece], record: &DeviceRecord) -> Nanos {
    let at_work = |piece: &&StoryPiece| {
        let command = match piece.doing {
            Doing::Works(_) => piece.of,
            Doing::Waits(Holder::Die(by, _) | Holder::Bus(by)) => Some(by),
            Doing::Waits(Holder::Nobody) | Doing::Before => None,
        };
        let command = command.and_then(|command| record.commands.get(&command));
        command.is_some_and(|one| !matches!(one.origin, Origin::Host | Origin::ReadModifyWrite))
    };
    Nanos(pieces.iter().filter(at_work).map(|piece| piece.length().0).sum())
}

/// Returns what a command did from `from` to `until`.
fn pieces_of(
    command: &FlashCommand,
    occupancy: &Occupancy,
    from: SimTime,
    until: SimTime,
) -> Vec<StoryPiece> {
    let of = Some(command.sequence);
    let mut pieces = Vec::new();
    let mut at = from;
    let mut has_sensed = false;
    let waits = |pieces: &mut Vec<StoryPiece>, to_send: bool, from: SimTime, until: SimTime| {
        if from < until {
            let split = occupancy.split(command, to_send, (from, until)).into_iter();
            pieces.extend(split.map(|(from, until, holder)| {
                let doing = Doing::Waits(holder);
                StoryPiece { from, until, of, depth: 0, doing }
            }));
        }
    };
    for span in &command.spans {
        let (start, end) = (span.from.max(at), span.until.min(until));
        let to_send = std::mem::replace(
            &mut has_sensed,
            span.part == FlashPart::Cells && !span.suspended && command.kind == Kind::Read,
        );
        if start >= end {
            continue;
        }
        waits(&mut pieces, to_send, at, start);
        let doing = Doing::Works(span.part);
        pieces.push(StoryPiece { from: start, until: end, of, depth: 0, doing });
        at = end;
    }
    waits(&mut pieces, has_sensed, at, until);
    pieces
}
