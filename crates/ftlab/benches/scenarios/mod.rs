//! The devices that are timed and whose instructions are counted: presets, and one device for each feature with a code
//! path of its own, aged and under a load.
//!
//! Devices are built from configuration alone, so that the same source runs on older commits. Each is filled in order and
//! then overwritten at random in 4 KiB, as often as its scenario says, over all of its capacity. Large presets are cut
//! down for that, as plain-32g is a cut of tlc-512g: fewer pages in a block and everything else the same.

mod run;
mod table;

pub use run::Aged;
pub use table::SCENARIOS;

/// A part of the device that gets many requests.
#[derive(Clone, Copy)]
pub struct Hot {
    /// Its share of the device: one in this many.
    part: u64,
    /// Requests in a hundred that go there.
    share: u64,
}

/// The configuration that a device starts from.
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
    /// The options that define the scenario.
    sets: &'static [&'static str],
    /// The options that make it smaller, so that it ages in seconds.
    cut: &'static [&'static str],
    /// Used instead of `cut` to make it so small that it ages within a test.
    small: &'static [&'static str],
    /// Whether it is filled in order first; log-block devices start full.
    fill: bool,
    /// Random overwrites before measuring, in per cent of the capacity.
    overwrite: u64,
    /// Reads in a hundred requests while measuring.
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
