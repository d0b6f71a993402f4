//! Sweeps: runs at all combinations of the values of some axes, one table of their metrics, and a page of curves.
//!
//! A [`Sweep`] is made of values, or [read](find) from a file. A [`SweepPlan`] builds and checks its points, and performs
//! them. Each run gives a [`SweepRow`], wherever it is performed. The [`SweepTable`] is made of the rows alone.
//!
//! ```
//! use ftlab_lab::Lab;
//! use ftlab_lab::sweep::{PointSettings, Spacing, Sweep, SweepAxis, SweepPlan};
//!
//! let mut base = PointSettings::default();
//! for (option, value) in [("device", "tiny"), ("workload", "randwrite-4k"), ("requests", "500")] {
//!     base.set("base", option, value)?;
//! }
//! let spare = SweepAxis::range("ftl.over_provisioning", "20%..50%", 3, Spacing::Linear)?;
//! let victim = SweepAxis::list("ftl.gc.victim", &["greedy", "fifo"])?;
//! let lab = Lab::default();
//! let plan = SweepPlan::new(&lab, Sweep::new("spare", base, vec![spare, victim]))?;
//! let rows = plan.perform(&lab, None, &(), |_| ())?;
//! let table = plan.table(&rows)?;
//! assert_eq!((table.rows(), table.columns[0].name.as_str()), (6, "ftl.over_provisioning"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod axes;
mod check;
mod document;
pub mod fuzz;
mod glance;
mod keys;
mod numbers;
mod page;
mod parse;
mod perform;
mod plan;
mod row;
mod schedule;
mod settings;
mod statistics;
mod swept;
mod table;

use std::path::Path;

use crate::failure::Failure;
use crate::text_file;

pub use self::axes::{Prepared, Spacing, Sweep, SweepAxis, SweepValue};
pub use self::document::{
    SweepAxisDocument, SweepDocument, SweepMetricDocument, SweepPointDocument, SweepValueDocument,
    of_json, read,
};
pub use self::numbers::Scaled;
pub use self::perform::SweepRun;
pub use self::plan::{SweepPlan, SweepPoint};
pub use self::row::SweepRow;
pub use self::settings::{DeviceChoice, GivenDevice, PointSettings};
pub use self::statistics::{PointMean, mean as mean_of};
pub use self::table::{SweepColumn, SweepTable, SweepValues};

/// Reads a sweep from a file. Files that it names are relative to its folder.
///
/// # Errors
/// It cannot be read, or is wrong.
pub fn find(file: &str) -> Result<Sweep, Failure> {
    let path = Path::new(file);
    let text =
        text_file::read(path).map_err(|error| text_file::unreadable("sweep file", path, &error))?;
    of_text(file, &text)
}

/// Reads a sweep from a text. `file` is its name in messages, and its folder is that of the files that it names.
///
/// # Errors
/// It is wrong.
pub fn of_text(file: &str, text: &str) -> Result<Sweep, Failure> {
    parse::parse(file, text).map_err(|problems| {
        let problems = text_file::with_bare_keys(problems);
        text_file::refused("sweep file", Path::new(file), problems)
    })
}
