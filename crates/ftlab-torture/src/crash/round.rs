//! What happens between two power cuts: commands, and the moment at which power is cut.

use std::fmt;

use ftlab::engine::Stream;
use ftlab::units::Nanos;

use crate::load::{Profile, Step};

/// When power is cut in a round. If the commands are done before, it is cut then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// So many moments at which something happens after the round began.
    Moments(u32),
    /// So many moments after the submission of a command.
    AfterStep(u32, u32),
    /// So long after the submission of a command.
    Later(u32, Nanos),
    /// When so many commands have been acknowledged, at once.
    Acknowledged(u32),
    /// So long after everything is done.
    Idle(Nanos),
}

/// Commands, a cut if power is not to stay on, and perhaps more cuts: while the device comes up, at once when it has, or
/// soon after.
#[derive(Clone, Debug)]
pub struct Round {
    /// What is asked.
    pub steps: Vec<Step>,
    /// When power is cut; none if it stays on.
    pub cut: Option<Cut>,
    /// How long after power comes back it is cut again, before the device is ready.
    pub within: Vec<Nanos>,
    /// How long after each power-up power is cut again, without a command.
    pub again: Vec<Nanos>,
}

/// Shortest and longest spans, as powers of two of nanoseconds: from within a command to many blocks.
const SPANS: u64 = 26;

impl Round {
    /// A random round.
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
        // Some events of a command, and some of the collection that it sets off.
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

/// Any order of magnitude; often none at all.
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
