//! What traces and other loads are like, for people: in words, in figures, and as a page of one load or of two.
//!
//! The numbers are those of [`Character`](ftlab_workload::trace::Character); nothing is measured here.

mod figures;
mod page;
#[cfg(test)]
mod tests;
mod words;

pub use self::figures::{LoadFigure, LoadFigures, figures_of};
pub use self::page::{ShownLoad, is_trace_page, trace_page};
pub use self::words::{
    Fact, NO_TIMES, accesses_in_words, figure_in_words, fit_in_words, in_words,
    inspection_in_words, numeral,
};

/// Bytes of a page.
const PAGE: f64 = 4096.0;
