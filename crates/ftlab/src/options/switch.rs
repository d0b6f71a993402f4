//! The values of an option that can be on or off.

use super::declare::choices;

choices! {
    /// Whether something is done.
    pub enum Switch {
        /// It is done.
        On = "on",
        /// It is not done.
        Off = "off",
    }
}

impl Switch {
    /// Whether it is on.
    #[must_use]
    pub const fn is_on(self) -> bool {
        matches!(self, Switch::On)
    }
}
