//! The data of figures for papers: chosen metrics and curves of results, ready to be drawn.
//!
//! This crate chooses and names the numbers, and writes them as JSON or as a table. The Python package draws them with
//! matplotlib.

mod choice;
mod curves;
mod document;
mod measured;
mod swept;
mod table;

use std::path::Path;

use crate::compare::{self, Grouped};
use crate::failure::Failure;
use crate::result::SWEEP;
use crate::sweep;

pub use self::choice::{FigureChoice, FigureCurve, OverTime, with_choices_called};
pub use self::document::{
    Drawn, FigureAxis, FigureDocument, FigureLine, FigureLook, FigurePanel, FigurePoint,
};
pub use self::measured::of_comparison;
pub use self::swept::of_sweep;

/// Returns the figure of finished results: one sweep, one comparison, or results of runs under the same load.
///
/// # Errors
/// A result is missing or damaged, the results cannot be compared, or they lack what is chosen.
pub fn of_results(results: &[String], choice: &FigureChoice) -> Result<FigureDocument, Failure> {
    let is_sweep = |name: &&String| Path::new(name).join(SWEEP).is_file();
    match (results, results.iter().find(is_sweep)) {
        ([folder], Some(_)) => of_sweep(&sweep::read(Path::new(folder))?, choice),
        (_, Some(folder)) => Err(Failure::usage(format!(
            "{folder} is a sweep, and a figure is of one sweep alone\n  remedy: name it alone, or name results of runs"
        ))),
        (_, None) => {
            let Grouped { series, notes } = compare::group(results)?;
            compare::check(&series)?;
            let comparison = compare::comparison(&series, choice.confidence, notes);
            let mut panels = measured::panels(&comparison, choice)?;
            panels.extend(curves::panels(&series, choice)?);
            FigureDocument::new(panels, &choice.names)
        }
    }
}
