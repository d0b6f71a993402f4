//! The options of a device as a JSON schema, for editors that complete and check TOML by one.

use ftlab::config::catalog;
use ftlab::options::value::Kind;
use ftlab::options::{OptionInfo, presets};
use serde_json::{Map, Value, json};

/// The schema.
pub fn page() -> String {
    let mut root = object("A device for ftlab");
    root["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    root["title"] = json!("ftlab device");
    let names: Vec<&str> = presets::devices().iter().map(|preset| preset.name).collect();
    root["properties"]["base"] = json!({
        "description": "The preset that the file changes, or another file, from the folder of this one on.",
        "anyOf": [{ "enum": names }, { "type": "string" }],
    });
    for section in &catalog().sections {
        *place(&mut root, section.path) = object(section.doc);
    }
    for option in &catalog().options {
        *place(&mut root, option.path) = describe(option);
    }
    let text = serde_json::to_string_pretty(&root).expect("a JSON value can be printed");
    text + "\n"
}

fn object(doc: &str) -> Value {
    json!({
        "type": "object",
        "description": doc,
        "properties": Map::new(),
        "additionalProperties": false,
    })
}

/// Where the property at a dotted path stands.
fn place<'a>(root: &'a mut Value, path: &str) -> &'a mut Value {
    path.split('.').fold(root, |value, name| &mut value["properties"][name])
}

fn describe(option: &OptionInfo) -> Value {
    let mut text = option.doc.to_owned();
    if let Some(applies_to) = &option.applies_to {
        text += &format!(" Only with {applies_to}.");
    }
    if let (Some((low, high)), true) = (option.range, option.kind != Kind::Count) {
        text += &format!(" From {low} to {high}.");
    }
    let mut schema = json!({ "description": text });
    match option.kind {
        Kind::Count => {
            // A limit that may be none is a count or that word.
            let limit = option.default.is_some_and(|default| default.parse::<u64>().is_err());
            schema["type"] = if limit { json!(["integer", "string"]) } else { json!("integer") };
            if let Some((low, high)) = option.range {
                schema["minimum"] = number(low);
                schema["maximum"] = number(high);
            }
        }
        Kind::Times | Kind::Faults => {
            schema["type"] = json!("array");
            schema["items"] = json!({ "type": "string" });
        }
        Kind::Counts => {
            schema["type"] = json!(["array", "integer"]);
            schema["items"] = json!({ "type": "integer" });
        }
        Kind::Names => {
            let names: Vec<&str> = option.choices.iter().map(|choice| choice.name).collect();
            schema["type"] = json!(["array", "string"]);
            schema["items"] = json!({ "enum": names });
        }
        Kind::Choice => {
            let names = option.choices.iter();
            schema["oneOf"] = names
                .map(|choice| json!({ "const": choice.name, "description": choice.doc }))
                .collect();
        }
        _ => schema["type"] = json!("string"),
    }
    if let Some(default) = option.default {
        schema["default"] = match option.kind {
            Kind::Count | Kind::Counts => number(default),
            _ => json!(default),
        };
    }
    schema
}

/// A count, or the word for none.
fn number(text: &str) -> Value {
    text.parse::<u64>().map_or_else(|_| json!(text), |count| json!(count))
}
