//! How an option is declared, read, checked for its range, printed and explained, whatever it is about.
//!
//! Each layer and each policy declares its options in its own file ([`declare`]). A text with values is a [`Layer`];
//! several, one over the other, are read against the declarations, and all that is wrong with them is noted, each
//! [`Problem`] with its place and its remedy. What options a device has, and what they mean together, is known
//! above.

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
pub use problem::{ConfigError, Level, Problem, Problems, SourcePlace, excerpt};
pub use reader::ValueOrigin;
pub use seam::{PolicyInfo, SeamInfo};
pub use switch::Switch;
