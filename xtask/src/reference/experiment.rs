//! Every key of `experiment.toml`, from the table by which the program reads it.

use super::{Table, code, head};

/// The declarations of the command line's crate, which is no library.
#[path = "../../../crates/ftlab-cli/src/reproduce/keys.rs"]
mod keys;

use keys::{FORMS, KEYS, KINDS, Otherwise, PICKS, Section};

const ABOUT: &str = "\
`experiment.toml` declares what `ftlab reproduce` runs, what is measured, what a paper prints and what is drawn. \
It lies in a folder of its own, beside the devices, workloads and job files that it names and a `README.md`; \
[reproducing papers](../reproduce.md) says how one is written. Numbers are in the units of their metrics, what \
is formed of them in per cent where that is said below.";

const SECTIONS: [Section; 9] = [
    Section::File,
    Section::Run,
    Section::Axis,
    Section::Value,
    Section::Curve,
    Section::Metric,
    Section::Claim,
    Section::Differs,
    Section::Figure,
];

/// The page.
pub fn page() -> String {
    let mut text = head("Experiment files", ABOUT);
    for section in SECTIONS {
        let title = match section {
            Section::File => "The top of the file".to_owned(),
            other => code(other.title()),
        };
        text += &format!("\n## {title}\n\n");
        let mut table = Table::new(&["Key", "Takes", "Without it", "Meaning"]);
        for key in KEYS.iter().filter(|key| key.section == section) {
            let otherwise = match key.otherwise {
                Otherwise::Required => "must be given".to_owned(),
                Otherwise::Depends(words) => words.to_owned(),
            };
            let takes = key.takes.describe().to_owned();
            table.row([code(key.name), takes, otherwise, key.doc.to_owned()]);
        }
        text += &table.text;
    }
    text += "\n## What `pick` takes of a curve\n\n";
    text += &words(&PICKS);
    text += "\n## What `as` forms\n\n";
    text += &words(&FORMS);
    text += "\n## Kinds of figures\n\n";
    text + &words(&KINDS)
}

fn words(all: &[(&str, &str)]) -> String {
    let mut table = Table::new(&["Name", "Meaning"]);
    for (name, meaning) in all {
        table.row([code(name), (*meaning).to_owned()]);
    }
    table.text
}
