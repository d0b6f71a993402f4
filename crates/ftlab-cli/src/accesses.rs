//! Prints how reads and writes share pages, in an inspected trace or in a load that was played.

use std::io::{self, Write};

use ftlab_lab::character::accesses_in_words;
use ftlab_workload::accesses::{AccessReport, ByClass};

use crate::human::count;
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
    accesses_in_words(found).iter().try_for_each(|(name, text)| line(out, name, text))
}
