//! The flash itself: its times, its errors, and the state of each die and channel.
//!
//! Nothing waits here: a die or a bus is simply busy, and [`scheduler`](crate::scheduler) has the
//! queues.

mod abilities;
mod channel;
mod cost;
mod die;
pub mod endurance;
mod energy;
mod faults;
mod hazards;
mod mode;
mod operation;
mod programmed;
mod reliability;
mod schedule;
mod stripes;
pub mod timing;
mod word_line;

pub use abilities::{Abilities, AddressRule, MultiPlane, PauseCost, Row};
pub use channel::Channel;
pub use cost::{CostClass, Crowd, ProgramCost, ReadEffort};
pub use die::{Accepts, CacheOps, Cells, Die, DieStates, Register};
pub use endurance::Endurance;
pub use energy::{CellTime, DrawOptions, Draws, Energy, EnergyMeter};
pub use faults::{FaultOptions, Faults};
pub use hazards::{Counting, HazardCounts, Hazards};
pub use mode::CellMode;
pub use operation::Kind;
pub(crate) use programmed::FlashPlace;
pub use programmed::{Prior, Programmed};
pub use reliability::{LEVELS, Limit, Reliability, ReliabilityOptions, Strain};
pub use schedule::{Area, Fault, FaultSpot, Scheduled};
pub use stripes::{Stripe, StripeLayout};
pub use word_line::{ProgramUnit, Senses, WordLine};
