//! The page of device options, section by section.

use ftlab::config::catalog;
use ftlab::options::OptionInfo;

use super::{MarkdownTable, code, head};

const ABOUT: &str = "\
A device is described in TOML. Every option is listed here with the values it takes, its default \
and the source of default and range. `ftlab explain PATH` prints the same text. Sizes, times, \
rates and shares are written with their unit: `\"16KiB\"`, `\"60us\"`, `\"800MB/s\"`, `\"7%\"`. A file may \
start with `base = \"tlc-512g\"` to change only some options of a [preset](devices.md), or with `base = \
\"lab.toml\"` to build on a file of your own (relative to the file). The same rules as a \
JSON schema for editors: [device.schema.json](device.schema.json).";

pub fn page() -> String {
    let mut text = head("Options of a device", ABOUT);
    for section in &catalog().sections {
        let mut table = MarkdownTable::new(&["Option", "Takes", "Default", "Meaning"]);
        let inside = |option: &&OptionInfo| {
            option.path.rsplit_once('.').is_some_and(|(parent, _)| parent == section.path)
        };
        let options: Vec<&OptionInfo> = catalog().options.iter().filter(inside).collect();
        for option in &options {
            table.row([
                code(option.path.rsplit('.').next().unwrap_or(option.path)),
                takes(option),
                option.default.map_or("must be set".to_owned(), default),
                meaning(option),
            ]);
        }
        text += &format!("\n## `[{}]`\n\n{}\n", section.path, section.doc);
        if !options.is_empty() {
            text += &format!("\n{}", table.text);
        }
    }
    text
}

fn default(text: &str) -> String {
    if text.is_empty() { "empty".to_owned() } else { code(text) }
}

fn takes(option: &OptionInfo) -> String {
    if !option.choices.is_empty() {
        let names: Vec<String> = option.choices.iter().map(|choice| code(choice.name)).collect();
        return names.join(", ");
    }
    let kind = match option.unit {
        "" => option.kind.name().to_owned(),
        unit => format!("{} of {unit}", option.kind.name()),
    };
    match option.range {
        Some((low, high)) => format!("{kind}, {low} to {high}"),
        None => kind,
    }
}

fn meaning(option: &OptionInfo) -> String {
    let mut text = option.doc.to_owned();
    if let Some(applies_to) = &option.applies_to {
        text += &format!(" Only with `{applies_to}`.");
    }
    if !option.applies_with.is_empty() {
        let conditions: Vec<_> =
            option.applies_with.iter().map(|condition| format!("`{condition}`")).collect();
        text += &format!(" Has an effect only with {}.", conditions.join(" or "));
    }
    if option.seam.is_some() {
        text += " See [policies](policies.md).";
    }
    if !option.source.is_empty() {
        text += &format!(" *Source: {}.*", option.source);
    }
    text
}
