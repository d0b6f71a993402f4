//! Every key of `experiment.toml`, from the table by which the program reads it.

use super::{MarkdownTable, code, head, schema, tables};

/// The declarations of the command line's crate, which is no library.
#[path = "../../../crates/ftlab-cli/src/reproduce/keys.rs"]
#[allow(dead_code, reason = "only what is declared is used here, not what is read")]
mod keys;

use keys::{PICKS, TABLES};

const ABOUT: &str = "\
`experiment.toml` declares what `ftlab reproduce` runs, what is measured, what a paper prints and what is drawn. \
It lies in a folder of its own, beside the devices, workloads and job files that it names and a `README.md`; \
[reproducing papers](../reproduce.md) says how one is written. Numbers are in the units of their metrics, what \
is formed of them in per cent where that is said below. JSON schema, for editors: \
[experiment.schema.json](experiment.schema.json).";

/// The page.
pub fn page() -> String {
    let text = head("Experiment files", ABOUT) + &tables::page(&TABLES);
    let mut table = MarkdownTable::new(&["Name", "Meaning"]);
    for (name, meaning) in PICKS {
        table.row([code(name), meaning.to_owned()]);
    }
    text + "\n## What `pick` takes of a curve\n\n" + &table.text
}

/// The schema.
pub fn schema() -> String {
    schema::document("ftlab experiment", &TABLES[0]())
}
