//! Plays requests against a device: by their timestamps, with a fixed number outstanding, or as
//! fast as their dependencies allow.
//!
//! [`Replay`] pulls requests from a [`Source`], maps their addresses onto the device in a way that
//! is chosen and reported ([`Mapping`]), and hands each completion to a [`Sink`]. A few requests are
//! pulled ahead, so that the device can be told what comes ([`ftlab::host::Host::expect`]).

mod ahead;
mod crew;
mod engine;
mod held;
mod in_device;
mod mapping;
mod merge;
mod options;
mod sharing;
mod source;
mod tenants;
mod window;

pub use crew::{Crew, Group, Issuer, Turn};
pub use engine::Replay;
pub use mapping::{MapCounts, MapError, Mapping};
pub use merge::{Merge, Starts};
pub use options::{
    Completed, Ended, Limits, Options, Pacing, PhaseReport, Progress, ReplayError, Report, Sink,
};
pub use sharing::PageSharing;
pub use source::{
    Arrival, Batches, Next, Pace, PhaseStart, Records, Source, SourceError, TenantPace,
};
