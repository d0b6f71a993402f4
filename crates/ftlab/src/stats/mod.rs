//! Measurement: latencies and their causes, the work of the flash, changes over time, the steady
//! state, and the report that contains it all.
//!
//! A [`Recorder`] takes every completion and observes the device from time to time. Its [`Report`]
//! is what the command line prints, `result.json` holds and Python returns. Recording allocates
//! nothing once it runs. Ratios are computed when the report is built, from integer counters.

mod ageing;
mod amplification;
mod block_map;
mod cost;
mod counters;
mod energy;
mod figures;
mod health;
mod host;
mod host_translation;
mod merges;
mod notes;
mod op_report;
mod parity;
mod phase;
mod placement;
mod queues;
mod read_cache;
mod reconstruction;
mod recorder;
mod report;
mod slc;
mod steady;
mod summary;
mod timeline;
mod translation;
mod utilisation;
mod window_latencies;
mod zones;

pub use ageing::{Aged, AgedRound, Ageing, AgeingOutlook, AgeingRule};
pub use amplification::WriteAmplification;
pub use block_map::BlockGroup;
pub use cost::{CostReport, ProgramsByCost, ReadsByCost};
pub use counters::{DeviceCounters, families};
pub use energy::EnergyReport;
pub use health::{EndReport, Health};
pub use host::{HostStats, OpStats, PARTS, TimeParts};
pub use host_translation::HostTranslationReport;
pub use merges::{Merges, PerReclaim};
pub use notes::{AgedBefore, Arriving, Circumstances, phase_called};
pub use op_report::{LatencyReport, OpReport, TimeShares};
pub use parity::ParityReport;
pub use phase::{PhaseStats, Unmeasured};
pub use placement::PlacementReport;
pub use queues::{Fairness, QueueReport};
pub use read_cache::ReadCacheReport;
pub use reconstruction::{PageReconstruction, RmapMemory};
pub use recorder::{PhaseSoFar, Recorder};
pub use report::{Cache, Gc, HostReport, PhaseSummary, Report, SCHEMA_VERSION, Wear};
pub use slc::SlcCache;
pub use steady::{Round, Steadiness, SteadyReport, Verdict};
pub use timeline::{Timeline, Window, WindowCounts, WindowOp};
pub use translation::Translation;
pub use utilisation::{Spread, Utilisation};
pub use zones::{ZonesByState, ZonesReport};
