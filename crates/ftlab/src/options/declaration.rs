//! The declaration of an option.

use std::fmt;

use super::text::quoted;
use super::value::{Choice, ValueKind};

/// A declared option.
#[derive(Clone, Copy, Debug)]
pub struct Declaration {
    /// The full path, such as `ftl.gc.start`.
    pub path: &'static str,
    /// What it means.
    pub doc: &'static str,
    /// The kind of its values.
    pub kind: ValueKind,
    /// What a count counts; empty if the value carries its own unit.
    pub unit: &'static str,
    /// The default; `None` if the option must be set.
    pub default: Option<&'static str>,
    /// The least and the greatest value, both allowed.
    pub range: Option<(&'static str, &'static str)>,
    /// The source of the default and the range.
    pub source: &'static str,
    /// The values of other options under which it does something: any of these is enough. Empty if
    /// it always does.
    pub applies_with: &'static [Condition],
    /// The names it takes, if it is a choice.
    pub choices: fn() -> &'static [Choice],
}

/// The value that another option must have so that an option does anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The path of the other option.
    pub path: &'static str,
    /// Whether it has to be `value`, or any other value.
    pub is: bool,
    /// The value, as it is printed.
    pub value: &'static str,
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let relation = if self.is { "=" } else { "other than" };
        let number = self.value.bytes().all(|byte| byte.is_ascii_digit());
        let value = if number { self.value.to_owned() } else { quoted(self.value) };
        write!(f, "{} {relation} {value}", self.path)
    }
}

/// Puts alternative conditions into words.
#[must_use]
pub fn any_of(conditions: &[Condition]) -> String {
    let told: Vec<String> = conditions.iter().map(Condition::to_string).collect();
    told.join(" or ")
}
