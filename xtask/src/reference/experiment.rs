//! The page of `experiment.toml`'s keys, from the table that the program parses it by.

use super::{MarkdownTable, code, head, schema, tables};

/// The declarations, included by path because the command line's crate does not export them.
#[path = "../../../crates/ftlab-lab/src/reproduce/keys.rs"]
#[allow(dead_code, reason = "only what is declared is used here, not what is read")]
mod keys;

use keys::{PICKS, TABLES};

const ABOUT: &str = "\
`experiment.toml` declares what `ftlab reproduce` runs and measures, what the paper prints, and what is drawn. \
It has its own folder, with a `README.md` and the devices, workloads and job files that it names; \
[reproducing papers](../reproduce.md) explains how to write one. Numbers are in the units of their metrics; derived \
values are in per cent where stated below. JSON schema for editors: \
[experiment.schema.json](experiment.schema.json).";

pub fn page() -> String {
    let text = head("Experiment files", ABOUT) + &tables::page(&TABLES);
    let mut table = MarkdownTable::new(&["Name", "Meaning"]);
    for (name, meaning) in PICKS {
        table.row([code(name), meaning.to_owned()]);
    }
    text + "\n## What `pick` takes from a curve\n\n" + &table.text
}

pub fn schema() -> String {
    schema::document("ftlab experiment", &TABLES[0]())
}
