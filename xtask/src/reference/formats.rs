//! The page of trace formats.

use ftlab_workload::trace::FORMATS;

use super::{MarkdownTable, code, head};

const ABOUT: &str = "\
Trace formats that ftlab reads and writes. A file's format is detected from its content and can be forced \
with `--format`; text may be plain or compressed with gzip, zstd, bzip2 or xz. Files seldom state their units: \
those below apply unless others are given. `ftlab trace inspect FILE` prints what was detected and what was \
assumed. Below, options have their names in Python: `blkparse_event` is `--blkparse-event` of the program.";

pub fn page() -> String {
    let mut text = head("Trace formats", ABOUT);
    for format in FORMATS {
        let mut table = MarkdownTable::new(&["", ""]);
        let mut row = |name: &str, value: String| table.row([name.to_owned(), value]);
        row("Columns", code(format.columns));
        row("Times in", format.units.time.words().to_owned());
        row("Addresses in", format.units.address.words().to_owned());
        row("Sizes in", format.units.size.words().to_owned());
        row("Clock resolution", format.tick.to_string());
        row("Described in", format.source.to_owned());
        text += &format!("\n## {}\n\n{}.\n\n{}", code(format.name), format.doc, table.text);
    }
    text
}
