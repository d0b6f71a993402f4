//! The trace formats.

use ftlab_workload::trace::FORMATS;

use super::{MarkdownTable, code, head};

const ABOUT: &str = "\
Formats of traces that can be read and written. The format of a file is found from its content and can be forced \
with `--format`; text may be plain or packed by gzip, zstd, bzip2 or xz. Files seldom say what their numbers count: \
the units below hold unless others are given. `ftlab trace inspect FILE` prints what was found and what was \
assumed.";

/// The page.
pub fn page() -> String {
    let mut text = head("Trace formats", ABOUT);
    for format in FORMATS {
        let mut table = MarkdownTable::new(&["", ""]);
        let mut row = |name: &str, value: String| table.row([name.to_owned(), value]);
        row("Columns", code(format.columns));
        row("Times in", format.units.time.words().to_owned());
        row("Addresses in", format.units.address.words().to_owned());
        row("Sizes in", format.units.size.words().to_owned());
        row("Finest step of its clock", format.tick.to_string());
        row("Described in", format.source.to_owned());
        text += &format!("\n## {}\n\n{}.\n\n{}", code(format.name), format.doc, table.text);
    }
    text
}
