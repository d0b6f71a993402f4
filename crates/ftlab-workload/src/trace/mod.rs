//! Trace files: reading all common formats, inspecting, converting.
//!
//! [`open`] detects compression and format and returns a [`Trace`], which delivers [`Record`]s in
//! batches and never holds more than a window of them. [`Facts::assumed`] lists assumptions about
//! what the file does not say; impossible values are refused with a remedy.
//!
//! The path of a line: `input` (bytes, decompressed, split) → `formats/*` (one file each, parsed
//! with `fields`) → `gate` (plausibility) → `reader` (sorted within a window, time from zero).

mod archive;
mod chance;
mod character;
mod clock;
mod columns;
mod compressors;
mod convert;
mod digest;
mod doubts;
mod error;
mod fields;
mod folder;
mod format;
mod formats;
#[doc(hidden)]
pub mod fuzz;
mod gate;
mod head;
mod input;
mod inspect;
mod keys;
mod lastline;
mod likely;
mod mistaken;
mod mixed;
mod moments;
mod names_of_columns;
mod natural;
mod numbers;
mod odd_tables;
mod op_words;
mod options;
mod pages;
mod parts;
mod reader;
mod record;
mod seams;
mod second;
mod shape;
mod source;
mod suggest;
mod table;
mod table_layout;
mod units;
mod utf16;
mod words;

pub use character::{
    ArrivalCharacter, Character, CharacterComparison, CharacterTally, ComparedFigure,
    CurveDistance, Dispersion, Distribution, DistributionBin, HourUse, IdleGaps, LruMisses,
    MixInterval, MixOverTime, ReuseCharacter, Sequence, SkewCharacter, StreamUse, TopShare,
    compare as compare_characters,
};
pub use columns::{ColumnPlan, RequestPart};
pub use convert::{ConvertOptions, Converted, TraceWriter, convert};
pub use digest::Digest;
pub use error::{ErrorKind, TraceError, TracePosition};
pub use format::{FORMATS, Format, named};
pub use gate::Late;
pub use input::{Compression, Location, Meter};
pub use inspect::{Inspection, SizeClass, inspect, inspect_requests, inspect_watched};
pub use op_words::OpWords;
pub use options::{BlkEvent, Options};
pub(crate) use pages::PageSet;
pub use reader::{BATCH, Facts, Trace, open};
pub use record::Record;
pub use suggest::suggested_columns;
pub use units::{SpaceUnit, TimeUnit, UnitNames, Units};
