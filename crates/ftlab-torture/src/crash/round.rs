//! A round: commands, and the time at which power is cut.

use std::fmt;

use ftlab::engine::Stream;
use ftlab::units::Nanos;

use crate::load::{Profile, Step};

/// When power is cut in a round, or at the end of its commands if that is earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// This many event times after the start of the round.
    Moments(u32),
    /// This many event times after the submission of a command.
    AfterStep(u32, u32),
    /// This long after the submission of a command.
    Later(u32, Nanos),
    /// At once when this many commands have been acknowledged.
    Acknowledged(u32),
    /// This long after everything is done.
    Idle(Nanos),
}

/// Commands, a cut unless power stays on, and possibly more cuts: during the recovery, at once
/// after it, or soon after.
#[derive(Clone, Debug)]
pub struct Round {
    /// The commands.
    pub steps: Vec<Step>,
    /// When power is cut; none if it stays on.
    pub cut: Option<Cut>,
    /// The times from power-up to another cut, before the device is ready.
    pub within: Vec<Nanos>,
    /// The times from the end of a recovery to another cut, without a command.
    pub again: Vec<Nanos>,
}

/// The longest span, as a binary logarithm of nanoseconds: from within a command to many blocks.
const SPANS: u64 = 26;

impl Round {
    /// Draws a round.
    pub(super) fn draw(stream: &mut Stream, profile: &Profile, loses_power: bool) -> Round {
        let mut any = |from: &[u64]| from[stream.below(from.len() as u64) as usize];
        let count = any(&[0, 3, 10, 10, 30, 30, 80]);
        let steps = profile.steps(stream, count);
        if !loses_power {
            return Round { steps, cut: None, within: Vec::new(), again: Vec::new() };
        }
        let cut = Some(Cut::draw(stream, count));
        let mut more = |most: u64| match stream.below(6) {
            0 => (0..=stream.below(most)).map(|_| span(stream)).collect(),
            _ => Vec::new(),
        };
        let (within, again) = (more(2), more(3));
        Round { steps, cut, within, again }
    }
}

impl Cut {
    fn draw(stream: &mut Stream, steps: u64) -> Cut {
        let steps = steps.max(1);
        // Some events of a command, and of the collection that it starts.
        let moments = |stream: &mut Stream, most: u64| 1 + stream.below(most) as u32;
        match stream.below(10) {
            0..3 => Cut::Moments(moments(stream, steps * 8)),
            3..6 => {
                Cut::AfterStep(stream.below(steps) as u32, moments(stream, 1 << (1 + steps % 6)))
            }
            6..8 => Cut::Later(stream.below(steps) as u32, span(stream)),
            8 => Cut::Acknowledged(1 + stream.below(steps) as u32),
            _ => Cut::Idle(span(stream)),
        }
    }
}

/// Draws a span of any order of magnitude; often zero.
fn span(stream: &mut Stream) -> Nanos {
    let magnitude = stream.below(SPANS);
    Nanos(stream.below(1 << magnitude))
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Cut::Moments(events) => write!(f, "power is cut {events} events later"),
            Cut::AfterStep(step, events) => {
                write!(f, "power is cut {events} events after command {} came in", step + 1)
            }
            Cut::Later(step, time) => {
                write!(f, "power is cut {time:?} after command {} came in", step + 1)
            }
            Cut::Acknowledged(count) => write!(f, "power is cut when {count} commands are done"),
            Cut::Idle(time) => write!(f, "power is cut {time:?} after all is done"),
        }
    }
}
