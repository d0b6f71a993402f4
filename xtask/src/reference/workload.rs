//! Every key of a workload file, and the workloads that are built in.

use ftlab_workload::generate::PRESETS;
use ftlab_workload::generate::keys::TABLES;

use super::{MarkdownTable, head, schema, tables};

const ABOUT: &str = "\
A workload file describes load to generate: a list of phases, each with its operations, sizes, addresses, \
arrivals and an end. `ftlab run --workload FILE` runs one; a name from the list at the end works in place of a \
file. JSON schema, for editors: [workload.schema.json](workload.schema.json).";

/// The page.
pub fn page() -> String {
    let mut text = head("Workload files", ABOUT) + &tables::page(&TABLES);
    text += "\n## Built-in workloads\n\n";
    let mut table = MarkdownTable::new(&["Name", "What it is"]);
    for preset in PRESETS {
        let file = format!("[{}](../../presets/workloads/{}.toml)", preset.name, preset.name);
        table.row([file, preset.about().to_owned()]);
    }
    text + &table.text
}

/// The schema.
pub fn schema() -> String {
    schema::document("ftlab workload", &TABLES[0]())
}
