//! Generated load: a workload file is a list of phases, each with operations, sizes, address
//! popularity, arrivals and an end.
//!
//! [`Workload::parse`] parses the file and reports all its problems at once; [`Generator`]
//! generates its requests for a device of a given capacity. [`keys`] declares the keys of the file
//! with units and defaults, and the parser uses that declaration.

mod address;
mod arrivals;
mod drift;
mod fit;
#[doc(hidden)]
pub mod fuzz;
mod generator;
pub mod keys;
mod loads;
mod parse;
mod presets;
mod scatter;
mod skew;
mod validate;
mod weighted;
mod workload;
mod zipf;

pub use arrivals::ArrivalTimes;
pub use fit::Fit;
pub use ftlab::config::{Problem, Problems};
pub use ftlab::units::{Amount, RequestRate as Rate};
pub use generator::Generator;
pub use loads::{Application, CacheLoad, FileSystemLoad, LogFileSystemLoad, LsmLoad, PhaseLoad};
pub use presets::{PRESETS, Preset, preset};
pub use scatter::Scatter;
pub use workload::{
    Addresses, Arrivals, Bucket, Drift, Duration, Mix, Phase, Region, Sizes, Workload,
};
pub use zipf::Zipf;
