//! Every key of a workload file, and the workloads that are built in.

use ftlab_workload::generate::PRESETS;
use ftlab_workload::generate::keys::{KEYS, Otherwise, Section};

use super::{Table, code, head};

const ABOUT: &str = "\
A workload file describes load to generate: a list of phases, each with its operations, sizes, addresses, \
arrivals and an end. `ftlab run --workload FILE` runs one; a name from the list at the end works in place of a \
file.";

const SECTIONS: [Section; 7] = [
    Section::File,
    Section::Phase,
    Section::Region,
    Section::Size,
    Section::Address,
    Section::Drift,
    Section::Arrivals,
];

/// The page.
pub fn page() -> String {
    let mut text = head("Workload files", ABOUT);
    for section in SECTIONS {
        text += &format!("\n## {}\n\n", title(section));
        let mut table = Table::new(&["Key", "Applies to", "Takes", "Without it", "Meaning"]);
        for key in KEYS.iter().filter(|key| key.section == section) {
            let kinds = if key.kinds.is_empty() { "all".to_owned() } else { key.kinds.join(", ") };
            let otherwise = match key.otherwise {
                Otherwise::Required => "must be given".to_owned(),
                Otherwise::Value(value) => code(value),
                Otherwise::Depends(words) => words.to_owned(),
            };
            table.row([
                code(key.name),
                kinds,
                key.takes.describe().to_owned(),
                otherwise,
                key.doc.to_owned(),
            ]);
        }
        text += &table.text;
    }
    text += "\n## Built-in workloads\n\n";
    let mut table = Table::new(&["Name", "What it is"]);
    for preset in PRESETS {
        let file = format!("[{}](../../presets/workloads/{}.toml)", preset.name, preset.name);
        table.row([file, preset.about().to_owned()]);
    }
    text + &table.text
}

fn title(section: Section) -> String {
    match section {
        Section::File => "The top of the file".to_owned(),
        other => code(other.title()),
    }
}
