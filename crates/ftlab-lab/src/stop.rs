//! The token that stops experiments from outside, such as Ctrl-C.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::failure::Failure;

/// Stops the experiments that it was given to. Clones are the same token.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    own: Arc<AtomicBool>,
    above: Option<Arc<Stop>>,
}

impl Stop {
    /// Stops what runs, as soon as it looks; it looks thousands of times a second.
    pub fn set(&self) {
        self.own.store(true, Ordering::Relaxed);
    }

    /// Whether this token, or one that it stands below, was set.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.own.load(Ordering::Relaxed) || self.above.as_ref().is_some_and(|above| above.is_set())
    }

    /// Returns whether to continue, for those who ask now and then.
    pub fn look(&self) -> ControlFlow<()> {
        if self.is_set() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Returns whether to continue, as a failure if not.
    ///
    /// # Errors
    /// It was set.
    pub fn refuse(&self) -> Result<(), Failure> {
        if self.is_set() { Err(Failure::Interrupted) } else { Ok(()) }
    }

    /// Returns a token below this one: it is set with this one, and can be set alone.
    #[must_use]
    pub fn below(&self) -> Stop {
        Stop { own: Arc::default(), above: Some(Arc::new(self.clone())) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_below_stops_with_what_is_above() {
        let above = Stop::default();
        let (one, other) = (above.below(), above.below());
        one.set();
        assert!(one.is_set() && !other.is_set() && !above.is_set());
        above.clone().set();
        assert!(other.is_set() && other.below().is_set());
    }
}
