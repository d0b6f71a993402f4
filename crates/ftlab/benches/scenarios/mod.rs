//! What is timed and counted on devices as users have them: presets, and one device for each way of working that has a
//! path of its own, aged and under a load.
//!
//! Devices are built from configuration alone, so that the same source runs on older commits. Each is filled in order and
//! then overwritten at random as far as its scenario says, in 4 KiB, over all of its capacity. Large presets are cut down
//! for that, as tlc-32g is a cut of tlc-512g: fewer pages in a block and everything else as it is.

mod run;
mod table;

pub use run::Aged;
pub use table::SCENARIOS;

/// A part of the device that many requests go to.
#[derive(Clone, Copy)]
pub struct Hot {
    /// Its share of the device: one in so many.
    part: u64,
    /// Requests of a hundred that go there.
    share: u64,
}

/// What a device begins as.
#[derive(Clone, Copy)]
pub enum Begin {
    Preset(&'static str),
    /// The text of a device file.
    File(&'static str),
}

/// A device, and what happens to it.
pub struct Scenario {
    pub name: &'static str,
    begin: Begin,
    /// What makes it the scenario that it is.
    sets: &'static [&'static str],
    /// What makes it smaller, so that it ages in seconds.
    cut: &'static [&'static str],
    /// What makes it so small, in place of `cut`, that it ages within a test.
    small: &'static [&'static str],
    /// Whether it is filled in order first; log-block devices start full.
    fill: bool,
    /// Random overwrites before measuring, in percent of the capacity.
    overwrite: u64,
    /// Reads of a hundred requests while measuring.
    reads: u64,
    hot: Option<Hot>,
}

/// How large the device of a scenario is.
#[derive(Clone, Copy)]
pub enum Size {
    Small,
    Cut,
    Whole,
}
