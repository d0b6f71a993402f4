//! The comparison as tables: one for each variant against the baseline.

use std::io::{self, Write};

use comfy_table::Table;
use ftlab_lab::compare::Comparison;
use ftlab_lab::compare::words::{LEGEND, changed, head, interval, mean, uncompared};

use crate::failure::with_flags;
use crate::table::{fits, show, table, wrapped};

/// Prints the comparison.
pub fn print(comparison: &Comparison, out: &mut dyn Write) -> io::Result<()> {
    let base = &comparison.variants[0];
    wrapped(out, "", &head(comparison))?;
    for (at, variant) in comparison.variants.iter().enumerate().skip(1) {
        writeln!(out)?;
        wrapped(out, "", &format!("{} against {}", variant.name, base.name))?;
        if let Some(why) = uncompared(base, variant) {
            wrapped(out, "", &why)?;
        }
        let mut named = changes(comparison, at, [&base.name, &variant.name]);
        // The line above gives the names.
        let table = match fits(&mut named) {
            true => named,
            false => changes(comparison, at, ["baseline", "variant"]),
        };
        show(table, out)?;
    }
    writeln!(out)?;
    wrapped(out, "", LEGEND)?;
    if !comparison.notes.is_empty() {
        writeln!(out, "\nNotes")?;
    }
    comparison.notes.iter().try_for_each(|note| wrapped(out, "- ", &with_flags(note)))
}

/// Creates the table of the baseline and variant `at`, with these column names.
fn changes(comparison: &Comparison, at: usize, names: [&str; 2]) -> Table {
    let mut table = table(&["", names[0], names[1], "change", &interval(comparison)]);
    for metric in &comparison.metrics {
        let (old, new) = (&metric.variants[0], &metric.variants[at]);
        if old.mean.is_none() && new.mean.is_none() {
            continue;
        }
        let [change, interval, mark] = changed(metric, new);
        let interval = format!("{interval} {mark}").trim().to_owned();
        let value = |one| mean(metric, one);
        table.add_row([metric.name.clone(), value(old), value(new), change, interval]);
    }
    table
}
