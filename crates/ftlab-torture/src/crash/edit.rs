//! Steps of shrinking, short enough for a line: `page:17:o=cache.policy,r=2,s=0.3-20`.

use std::fmt;
use std::str::FromStr;

use super::Case;

/// Without this option nothing survives, so there is nothing to find.
const NEEDED: &str = "ftl.recovery.policy";

/// A step of shrinking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Edit {
    /// Removes an option: `o=PATH`.
    Option(String),
    /// Removes a round: `r=ROUND`.
    Round(usize),
    /// Removes commands of a round: `s=ROUND.FIRST-END`.
    Steps(usize, usize, usize),
    /// Cuts the power of a round only once: `a=ROUND`.
    Once(usize),
    /// Writes nothing before the first round: `f`.
    Empty,
    /// Submits one command at a time: `d`.
    OneByOne,
}

impl Edit {
    /// Applies it. Returns false if its target does not exist.
    pub(super) fn apply(&self, case: &mut Case) -> bool {
        match *self {
            Edit::Option(ref path) => {
                let known = case.settings.keys().copied().find(|known| known == path);
                known.and_then(|path| case.settings.remove(path)).is_some()
            }
            Edit::Round(at) => {
                let there = at < case.rounds.len();
                there.then(|| case.rounds.remove(at)).is_some()
            }
            Edit::Steps(round, first, end) => {
                let Some(round) = case.rounds.get_mut(round) else { return false };
                let there = first < end && end <= round.steps.len();
                there.then(|| round.steps.drain(first..end)).is_some()
            }
            Edit::Once(at) => {
                let Some(round) = case.rounds.get_mut(at) else { return false };
                let cuts = round.again.len() + round.within.len();
                round.again.clear();
                round.within.clear();
                cuts > 0
            }
            Edit::Empty => std::mem::replace(&mut case.fills, false),
            Edit::OneByOne => std::mem::replace(&mut case.depth, 1) > 1,
        }
    }

    /// Returns everything that might shrink a case, the largest steps first.
    pub(super) fn all(case: &Case) -> Vec<Edit> {
        let rounds = case.rounds.len();
        let mut all: Vec<_> = (0..rounds).rev().map(Edit::Round).collect();
        for (at, round) in case.rounds.iter().enumerate() {
            let count = round.steps.len();
            let mut piece = count;
            while piece > 0 && piece * 16 >= count.min(64) {
                let pieces = (0..count).step_by(piece);
                all.extend(pieces.map(|from| Edit::Steps(at, from, (from + piece).min(count))));
                piece /= 2;
            }
        }
        all.extend((0..rounds).map(Edit::Once));
        all.extend([Edit::Empty, Edit::OneByOne]);
        let paths = case.settings.keys().filter(|path| **path != NEEDED);
        all.extend(paths.map(|&path| Edit::Option(path.to_owned())));
        all
    }
}

impl fmt::Display for Edit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Edit::Option(path) => write!(f, "o={path}"),
            Edit::Round(at) => write!(f, "r={at}"),
            Edit::Steps(round, first, end) => write!(f, "s={round}.{first}-{end}"),
            Edit::Once(at) => write!(f, "a={at}"),
            Edit::Empty => write!(f, "f"),
            Edit::OneByOne => write!(f, "d"),
        }
    }
}

impl FromStr for Edit {
    type Err = String;

    fn from_str(text: &str) -> Result<Edit, String> {
        let unknown = || format!("`{text}` is not a step of shrinking");
        let number = |text: &str| text.parse::<usize>().map_err(|_| unknown());
        let (kind, of) = text.split_once('=').unwrap_or((text, ""));
        match kind {
            "o" if !of.is_empty() => Ok(Edit::Option(of.to_owned())),
            "r" => Ok(Edit::Round(number(of)?)),
            "s" => {
                let (round, steps) = of.split_once('.').ok_or_else(unknown)?;
                let (first, end) = steps.split_once('-').ok_or_else(unknown)?;
                Ok(Edit::Steps(number(round)?, number(first)?, number(end)?))
            }
            "a" => Ok(Edit::Once(number(of)?)),
            "f" if of.is_empty() => Ok(Edit::Empty),
            "d" if of.is_empty() => Ok(Edit::OneByOne),
            _ => Err(unknown()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let all = [
            Edit::Option("cache.policy".to_owned()),
            Edit::Round(3),
            Edit::Steps(0, 4, 17),
            Edit::Once(2),
            Edit::Empty,
            Edit::OneByOne,
        ];
        for edit in all {
            assert_eq!(edit.to_string().parse(), Ok(edit));
        }
        for bad in ["", "x", "o=", "r=", "r=-1", "s=1", "s=1.2", "s=a.b-c", "f=1"] {
            assert!(bad.parse::<Edit>().is_err_and(|said| said.contains(bad)), "{bad}");
        }
    }
}
