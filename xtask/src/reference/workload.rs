//! The page of a workload file's keys and of the built-in workloads.

use ftlab_workload::generate::PRESETS;
use ftlab_workload::generate::keys::TABLES;

use super::{MarkdownTable, head, schema, tables};

const ABOUT: &str = "\
A workload file describes a load to generate: a list of phases, each with its operations, sizes, addresses, \
arrivals and end. `ftlab run --workload FILE` runs one; a name from the list below works in place of a \
file. JSON schema for editors: [workload.schema.json](workload.schema.json).";

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

pub fn schema() -> String {
    schema::document("ftlab workload", &TABLES[0]())
}
