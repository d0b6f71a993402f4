//! What happens to the device when power is cut, and how it recovers.

use crate::ftl::recovery::RecoveryChoice;
use crate::options::Switch;
use crate::options::declare::options;

options! {
    /// What happens when power is cut.
    pub struct PowerOptions at "power" {
        /// Whether capacitors keep the device up until all data that was acknowledged from DRAM is
        /// on flash. Flushes and writes with FUA then wait for no program, since DRAM is as safe as
        /// flash. Reports say how long the device was kept up after a cut.
        capacitors: Switch = "off",
            source "power-loss protection of data-centre drives; client drives have none for user data";
    }
}

options! {
    /// How the device recovers its map after a power cut.
    pub struct RecoveryOptions at "ftl.recovery" with { policy: RecoveryChoice } {}
}
