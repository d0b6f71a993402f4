//! Prints how reads and writes share pages, in an inspected trace or in a load that was played.

use std::io::{self, Write};

use ftlab_workload::accesses::{AccessReport, ByClass};

use crate::human::{count, percent};
use crate::table::{line, show, table};

pub fn print(found: &AccessReport, out: &mut dyn Write) -> io::Result<()> {
    let mut rows = table(&["Accesses", "4 KiB pages", "reads", "writes"]);
    let mut row = |name: &str, of: fn(&ByClass) -> u64| {
        let counts =
            [&found.pages, &found.reads, &found.writes].map(|by_class| count(of(by_class)));
        let [pages, reads, writes] = counts;
        rows.add_row([name.to_owned(), pages, reads, writes]);
    };
    row("pages only read", |by_class| by_class.only_read);
    row("pages only written", |by_class| by_class.only_written);
    row("interleaved", |by_class| by_class.interleaved);
    row("all", ByClass::sum);
    show(rows, out)?;
    writeln!(out)?;
    for (name, ratio) in [
        ("Reads", found.only_read_reads_ratio.map(|ratio| (ratio, "on pages only read"))),
        ("Writes", found.only_written_writes_ratio.map(|ratio| (ratio, "on pages only written"))),
        (
            "Reads",
            found.never_written_reads_ratio.map(|ratio| (ratio, "of pages not written before")),
        ),
    ] {
        if let Some((ratio, what)) = ratio {
            line(out, name, &format!("{} {what}", percent(ratio)))?;
        }
    }
    for window in &found.identification.windows {
        let Some(ratio) = window.right_ratio else { continue };
        let text = format!(
            "{} correctly by the last {} accesses of a page, the current one included",
            percent(ratio),
            window.window_accesses
        );
        line(out, "Identified", &text)?;
    }
    Ok(())
}
