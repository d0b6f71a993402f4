//! Prints what a load is like, and how two loads differ.

use std::io::{self, Write};

use ftlab_lab::character::{Fact, figure_in_words, fit_in_words, numeral};
use ftlab_workload::trace::CharacterComparison;

use crate::table::{show, table, wrapped};

/// The width of names before their texts.
const NAME: usize = 19;

/// Prints facts, their further lines below the first one.
pub fn print_facts(facts: &[Fact], out: &mut dyn Write) -> io::Result<()> {
    facts.iter().try_for_each(|(name, text)| {
        let text = text.replace('\n', &format!("\n{:NAME$}", ""));
        writeln!(out, "{name:<NAME$}{text}")
    })
}

/// Prints how two loads differ.
pub fn print_comparison(
    found: &CharacterComparison,
    files: [&str; 2],
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "A  {}\nB  {}", files[0], files[1])?;
    let shown = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), numeral);
    let mut rows = table(&["Figure", "A", "B", "B / A"]);
    for of in &found.figures {
        let [first, second] = [of.first, of.second].map(|value| {
            value.map_or_else(|| "-".to_owned(), |value| figure_in_words(of.name, value))
        });
        rows.add_row([of.name.to_owned(), first, second, shown(of.ratio)]);
    }
    show(rows, out)?;
    let mut rows = table(&["Distance (0 to 1)", "Kolmogorov-Smirnov", "total variation"]);
    for of in &found.distances {
        let [most, sum] = [of.kolmogorov_smirnov, of.total_variation].map(shown);
        rows.add_row([of.name.to_owned(), most, sum]);
    }
    show(rows, out)
}

/// Prints how close a fitted workload is, and what no fit keeps.
pub fn print_verdict(found: &CharacterComparison, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out)?;
    fit_in_words(found).iter().try_for_each(|text| wrapped(out, "", text))
}
