//! Replays requests on a device: by their timestamps, with a fixed number outstanding, or as fast
//! as their dependencies allow.
//!
//! [`Replay`] pulls requests from a [`Source`], maps their addresses to the device ([`Mapping`]),
//! and passes each completion to a [`Sink`]. It pulls a few requests ahead, to tell the device what
//! comes next ([`ftlab::host::Host::expect`]).

mod ahead;
mod crew;
mod engine;
mod held;
mod in_device;
mod mapping;
mod merge;
mod options;
mod pause;
mod sharing;
mod source;
mod tenants;
mod window;

pub use crew::{Answered, Crew, Group, Issuer, Turn};
pub use engine::Replay;
pub use mapping::{MapCounts, MapError, Mapping};
pub use merge::{Merge, Starts};
pub use options::{
    Completed, Ended, Limits, Options, Pacing, PhaseReport, Progress, ReplayError, Report, Sink,
};
pub use pause::{Going, Watch, finished, pause};
pub use sharing::PageSharing;
pub use source::{
    Arrival, Batches, Next, Pace, PhaseStart, Records, Source, SourceError, TenantPace,
};
