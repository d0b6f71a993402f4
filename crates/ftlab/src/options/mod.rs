//! Options in general: how they are declared, read, checked, printed and explained.
//!
//! Each layer and each policy declares its options in its own file ([`declare`]). A text with values is a [`Layer`].
//! Several layers, one over the other, are read against the declarations. Every mistake becomes a [`Problem`] with its
//! place and its remedy. The modules above know the options of a device and check how they work together.

pub mod catalog;
pub mod declaration;
pub mod declare;
mod layer;
mod meant;
pub mod presets;
mod problem;
mod quantity;
pub mod reader;
mod seam;
pub mod show;
mod switch;
pub mod table;
pub mod text;
pub mod value;

pub use catalog::{AppliesTo, OptionInfo, SectionInfo};
pub use declaration::any_of;
pub use declare::Node;
pub use layer::Layer;
pub(crate) use layer::{Parsed, PresetBase, parse};
pub(crate) use meant::MEANT;
pub use problem::{ConfigError, Problem, Problems, Severity, SourcePlace, excerpt};
pub use reader::ValueOrigin;
pub use seam::{PolicyInfo, SeamInfo};
pub use switch::Switch;
