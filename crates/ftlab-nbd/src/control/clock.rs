//! How simulated time follows the clock on the wall, and its name in orders and readings.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What is before the factor of a scaled clock.
const SCALED: &str = "scaled:";
/// The slowest and the fastest scaled clock.
const LEAST_SCALE: f64 = 0.001;
const MOST_SCALE: f64 = 1000.0;

/// How simulated time follows the clock on the wall.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Clock {
    /// A reply leaves when the simulated device would have sent it.
    #[default]
    Wall,
    /// A reply leaves at once; simulated time is only counted.
    Simulated,
    /// Simulated time passes this many times as fast as time on the wall.
    Scaled(f64),
}

impl Clock {
    /// How to write a clock, for messages.
    pub const ALLOWED: &str =
        "\"wall\", \"simulated\", or \"scaled:F\" with F from 0.001 to 1000 (2 is twice as fast)";
}

impl fmt::Display for Clock {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wall => to.write_str("wall"),
            Self::Simulated => to.write_str("simulated"),
            Self::Scaled(factor) => write!(to, "{SCALED}{factor}"),
        }
    }
}

/// A text that names no clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a clock is {}", Clock::ALLOWED)]
pub struct UnknownClock;

impl FromStr for Clock {
    type Err = UnknownClock;

    fn from_str(text: &str) -> Result<Self, UnknownClock> {
        match text {
            "wall" => return Ok(Self::Wall),
            "simulated" => return Ok(Self::Simulated),
            _ => {}
        }
        let factor = text.strip_prefix(SCALED).and_then(|factor| factor.parse().ok());
        let allowed = factor.filter(|factor| (LEAST_SCALE..=MOST_SCALE).contains(factor));
        allowed.map(Self::Scaled).ok_or(UnknownClock)
    }
}

impl Serialize for Clock {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Clock {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for clock in [Clock::Wall, Clock::Simulated, Clock::Scaled(2.0), Clock::Scaled(0.001)] {
            assert_eq!(clock.to_string().parse(), Ok(clock));
        }
    }

    #[test]
    fn other_names_are_refused() {
        for text in ["", "Wall", "scaled", "scaled:", "scaled:0", "scaled:-1", "scaled:1001"] {
            assert_eq!(text.parse::<Clock>(), Err(UnknownClock), "{text}");
        }
        for text in ["scaled:nan", "scaled:inf", "scaled: 2", "scaled:2x"] {
            assert_eq!(text.parse::<Clock>(), Err(UnknownClock), "{text}");
        }
    }
}
