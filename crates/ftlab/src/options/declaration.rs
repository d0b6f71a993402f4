//! What the declaration of an option says.

use std::fmt;

use super::text::quoted;
use super::value::{Choice, ValueKind};

/// One option, as it is declared.
#[derive(Clone, Copy, Debug)]
pub struct Declaration {
    /// The full path, such as `ftl.gc.start`.
    pub path: &'static str,
    /// What it means.
    pub doc: &'static str,
    /// What kind of value it takes.
    pub kind: ValueKind,
    /// What a count counts; empty where the value carries its unit itself.
    pub unit: &'static str,
    /// The value it has when nothing sets it; `None` if it must be set.
    pub default: Option<&'static str>,
    /// The least and the most, both allowed.
    pub range: Option<(&'static str, &'static str)>,
    /// Where the default and the range come from.
    pub source: &'static str,
    /// Under which of other options' values it does something: any of these is enough. Always if there
    /// is none.
    pub applies_with: &'static [Condition],
    /// The names it takes, if it is a choice.
    pub choices: fn() -> &'static [Choice],
}

/// What another option has to be for an option to do anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The path of the other option.
    pub path: &'static str,
    /// Whether it has to be `value`, or anything else.
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

/// Any of several conditions, in words.
#[must_use]
pub fn any_of(conditions: &[Condition]) -> String {
    let told: Vec<String> = conditions.iter().map(Condition::to_string).collect();
    told.join(" or ")
}
