//! The health of a device that can fail: its losses, and the end of its life.

use super::wear::{DeadDies, Life};
use crate::units::{BlockId, DieId};

/// The health of a device.
#[derive(Clone, Debug)]
pub(crate) struct Health {
    /// None if nothing ever fails.
    pub life: Option<Box<Life>>,
    /// The life that begins when a die dies by order, of a device on which nothing else fails.
    pub life_after_death: Option<Box<Life>>,
    /// None as long as all dies live.
    pub dead: Option<Box<DeadDies>>,
    /// Whether the device has not yet handled the last death.
    pub death_is_news: bool,
    /// Dies of the flash that were found dead, and that nobody has been told of.
    pub found_dead: Vec<DieId>,
    /// Blocks that failed and wait to be emptied.
    pub failed: Vec<BlockId>,
    /// Whether the device has reached the end of its life.
    pub read_only: bool,
}

impl Health {
    /// The health of a new device. It can fail if it has a life.
    pub fn new(life: Option<Box<Life>>) -> Health {
        Health {
            life,
            life_after_death: None,
            dead: None,
            death_is_news: false,
            found_dead: Vec::new(),
            failed: Vec::new(),
            read_only: false,
        }
    }
}
