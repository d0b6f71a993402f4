//! Trace files: reading every format of the field, inspecting, converting.
//!
//! [`open`] finds compression and format from the content and gives a [`Trace`], which delivers
//! [`Record`]s in batches and holds a window of them at most. What the file does not say is listed
//! in [`Facts::assumed`]; what can't be true is refused with the remedy.
//!
//! The path of a line: `input` (bytes, decompressed, cut) → `formats/*` (one file each, taken apart
//! with `fields`) → `gate` (plausible?) → `reader` (sorted within a window, time from zero).

mod convert;
mod digest;
mod doubts;
mod error;
mod fields;
mod format;
mod formats;
#[doc(hidden)]
pub mod fuzz;
mod gate;
mod input;
mod inspect;
mod options;
mod pages;
mod reader;
mod record;
mod shape;
mod source;
mod units;

pub use convert::{ConvertOptions, Converted, convert};
pub use digest::Digest;
pub use error::{ErrorKind, TraceError, TracePosition};
pub use format::{FORMATS, Format, named};
pub use gate::Late;
pub use input::{Compression, Location, Meter};
pub use inspect::{Inspection, SizeClass, inspect, inspect_with_accesses};
pub use options::{BlkEvent, Options};
pub(crate) use pages::PageSet;
pub use reader::{BATCH, Facts, Trace, open};
pub use record::Record;
pub use units::{SpaceUnit, TimeUnit, Units};
