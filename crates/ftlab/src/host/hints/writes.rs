//! The writes under way, with the identifiers that they carry.

use super::{Hints, HintsPolicy};
use crate::host::Request;
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::units::RequestId;

/// Writes whose identifiers a policy of the host has chosen.
#[derive(Clone, Debug)]
pub struct HintedWrites {
    /// The policy.
    pub policy: Hints,
    /// By request: its identifier.
    identifiers: Vec<u32>,
}

impl HintedWrites {
    /// No writes yet.
    #[must_use]
    pub fn new(policy: Hints) -> HintedWrites {
        HintedWrites { policy, identifiers: Vec::new() }
    }

    /// The host submits a write.
    pub fn submit(&mut self, id: RequestId, write: &Request) {
        let identifier = self.policy.identify(write);
        if self.identifiers.len() <= id.at() {
            self.identifiers.resize(id.at() + 1, 0);
        }
        self.identifiers[id.at()] = identifier;
    }

    /// The identifier of a write.
    #[must_use]
    pub fn identifier(&self, id: RequestId) -> u32 {
        self.identifiers[id.at()]
    }

    /// Saves what the policy remembers.
    pub fn save(&self, out: &mut ImageWriter) {
        let HintedWrites { policy, identifiers: _ } = self;
        policy.save(out);
    }

    /// Loads what [`save`](Self::save) wrote.
    ///
    /// # Errors
    /// The damage.
    pub fn load(&mut self, from: &mut ImageReader<'_>) -> Result<(), Damage> {
        self.policy.load(from)
    }
}
