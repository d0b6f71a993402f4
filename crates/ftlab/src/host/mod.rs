//! The host side: commands arrive in submission queues, are fetched by the controller, split into
//! pages with sector masks, and completed.

pub mod arbitration;
mod busy;
mod completions;
mod dram;
mod front_end;
pub mod hints;
mod host_memory;
mod intake;
mod interface;
mod link;
mod pacing;
mod pages;
mod passage;
mod port;
mod processor;
mod queue;
mod request;
pub mod translation;
pub mod zones;

pub use busy::{FrontEndBusy, FrontEndParts, LinkWays};
pub use completions::{Coalescing, CompletionSetup};
pub(crate) use dram::Dram;
pub use dram::{Crossing, DramRateOptions, DramSetup};
pub use front_end::{FrontEnd, FrontEndSetup, FrontEvent};
pub use host_memory::{HostRead, HostReader};
pub use intake::{Active, Intake};
pub use interface::{Interface, SATA_TAGS};
pub use link::{Entries, Frames, LinkSetup, Wire};
pub use pacing::{Victims, WritePacingOptions, WritePacingSetup};
pub use pages::Pages;
pub use port::{Advanced, Host, StreamIdentities};
pub use processor::{Copies, ProcessorJob, ProcessorSetup};
pub use queue::{MOST_QUEUES, QueueId, QueueSet, Queues, StreamMap};
pub use request::{Breakdown, Completion, Op, Outcome, Request};
