//! What the device has to live on when power is cut, and how it comes up again.

use crate::ftl::recovery::RecoveryChoice;
use crate::options::Switch;
use crate::options::declare::options;

options! {
    /// What happens when power is cut.
    pub struct PowerOptions at "power" {
        /// Whether capacitors keep the device up until all that was acknowledged from DRAM is on flash. Flushes and
        /// writes with FUA then wait for no program, as DRAM is as good as flash. How long the device is kept up after
        /// a cut is reported.
        capacitors: Switch = "off",
            source "power-loss protection of data-centre drives; client drives have none for user data";
    }
}

options! {
    /// How the device finds its map again after a power cut.
    pub struct RecoveryOptions at "ftl.recovery" with { policy: RecoveryChoice } {}
}
