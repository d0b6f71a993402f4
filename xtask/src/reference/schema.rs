//! JSON schemas of device, workload, experiment and sweep files, for editors that complete and check TOML.

use ftlab::config::catalog;
use ftlab::options::table::{Form, Key, Otherwise, TableInfo};
use ftlab::options::value::{Choice, Raw, ValueKind};
use ftlab::options::{OptionInfo, presets};
use serde_json::{Map, Value, json};

/// Returns the schema of a device file.
pub fn device() -> String {
    let mut root = object("A device for ftlab.");
    let names: Vec<&str> = presets::devices().iter().map(|preset| preset.name).collect();
    root["properties"]["base"] = json!({
        "description": "The preset to start from, or another file, relative to this one's folder.",
        "anyOf": [{ "enum": names }, { "type": "string" }],
    });
    for section in &catalog().sections {
        *place(&mut root, section.path) = object(section.doc);
    }
    for option in &catalog().options {
        *place(&mut root, option.path) = describe(option);
    }
    print(root, "ftlab device")
}

/// Returns the schema of a document with this top-level table.
pub fn document(title: &str, info: &TableInfo) -> String {
    print(table(info), title)
}

fn print(mut root: Value, title: &str) -> String {
    root["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    root["title"] = json!(title);
    let text = serde_json::to_string_pretty(&root).expect("a JSON value can be printed");
    text + "\n"
}

/// Returns the schema of a table: its keys, those required and, for each kind, those not allowed.
fn table(info: &TableInfo) -> Value {
    let keys = info.all_keys();
    let mut schema = object(info.doc);
    for key in &keys {
        schema["properties"][key.name] = describe_key(key);
    }
    schema["required"] = required(&keys, None);
    let Some(by) = info.by else { return schema };
    let Form::Value(_, kinds) = (by.form)() else { return schema };
    let of_kind = |kind: &Choice| {
        let others = keys.iter().filter(|key| !key.applies(Some(kind.name)));
        let others: Map<String, Value> =
            others.map(|key| (key.name.to_owned(), json!(false))).collect();
        json!({
            "if": { "properties": { by.name: { "const": kind.name } } },
            "then": { "required": required(&keys, Some(kind.name)), "properties": others },
        })
    };
    schema["allOf"] = kinds.iter().map(of_kind).collect();
    schema
}

/// Returns the keys required for a kind of table; without a kind, those that every kind requires.
fn required(keys: &[&Key], kind: Option<&str>) -> Value {
    let must = |key: &&&Key| {
        let is_named = kind.is_some_and(|kind| key.needed.contains(&kind));
        is_named || (key.applies(kind) && key.otherwise == Otherwise::Required)
    };
    keys.iter().filter(must).map(|key| json!(key.name)).collect()
}

fn describe_key(key: &Key) -> Value {
    let mut text = key.doc.to_owned();
    if !key.of.is_empty() {
        text += &format!(" Only for {}.", key.of.join(", "));
    }
    if let Otherwise::Depends(words) = key.otherwise {
        text += &format!(" Without it: {words}.");
    }
    let mut schema = match (key.form)() {
        Form::Value(kind, choices) => of_value(kind, choices, key.range, is_limit(key.default())),
        Form::Switch => json!({ "type": "boolean" }),
        Form::Number => json!({ "type": "number" }),
        Form::Table(info) => table(&info),
        Form::Tables(info) => json!({ "type": "array", "items": table(&info) }),
        Form::Words(words) => {
            text += &format!(" It takes {words}.");
            json!({})
        }
    };
    schema["description"] = json!(text);
    if let Otherwise::Value(default) = key.otherwise {
        match Raw::bare(default) {
            Raw::Text(default) => schema["default"] = json!(default),
            Raw::Switch(default) => schema["default"] = json!(default),
            Raw::Number(default) => schema["default"] = number(&default),
            Raw::List(_) | Raw::Table(_) | Raw::Other(_) => {}
        }
    }
    schema
}

fn object(doc: &str) -> Value {
    json!({
        "type": "object",
        "description": doc,
        "properties": Map::new(),
        "additionalProperties": false,
    })
}

/// Returns the property at a dotted path.
fn place<'a>(root: &'a mut Value, path: &str) -> &'a mut Value {
    path.split('.').fold(root, |value, name| &mut value["properties"][name])
}

fn describe(option: &OptionInfo) -> Value {
    let mut text = option.doc.to_owned();
    if let Some(applies_to) = &option.applies_to {
        text += &format!(" Only with {applies_to}.");
    }
    if let (Some((low, high)), true) = (option.range, option.kind != ValueKind::Count) {
        text += &format!(" From {low} to {high}.");
    }
    let limit = is_limit(option.default.map(str::to_owned));
    let mut schema = of_value(option.kind, &option.choices, option.range, limit);
    schema["description"] = json!(text);
    if let Some(default) = option.default {
        schema["default"] = match option.kind {
            ValueKind::Count | ValueKind::Counts => number(default),
            _ => json!(default),
        };
    }
    schema
}

/// Whether a count may also be a word because its default is one, such as a limit of none.
fn is_limit(default: Option<String>) -> bool {
    default.is_some_and(|default| default.parse::<u64>().is_err())
}

/// Returns the schema of a value.
fn of_value(
    kind: ValueKind,
    choices: &[Choice],
    range: Option<(&str, &str)>,
    limit: bool,
) -> Value {
    let names = || choices.iter().map(|choice| choice.name).collect::<Vec<&str>>();
    match kind {
        ValueKind::Count => {
            let kind = if limit { json!(["integer", "string"]) } else { json!("integer") };
            match range {
                Some((low, high)) => {
                    json!({ "type": kind, "minimum": number(low), "maximum": number(high) })
                }
                None => json!({ "type": kind }),
            }
        }
        ValueKind::Times | ValueKind::Faults => {
            json!({ "type": "array", "items": { "type": "string" } })
        }
        ValueKind::Counts => {
            json!({ "type": ["array", "integer"], "items": { "type": "integer" } })
        }
        ValueKind::Names => json!({ "type": ["array", "string"], "items": { "enum": names() } }),
        ValueKind::Choice => {
            let choices = choices.iter();
            let one = |choice: &Choice| json!({ "const": choice.name, "description": choice.doc });
            json!({ "oneOf": choices.map(one).collect::<Vec<Value>>() })
        }
        _ => json!({ "type": "string" }),
    }
}

/// Returns a number, or a word such as the one for none.
fn number(text: &str) -> Value {
    let fraction = || text.parse::<f64>().map_or_else(|_| json!(text), |number| json!(number));
    text.parse::<u64>().map_or_else(|_| fraction(), |count| json!(count))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use crate::files;
    use crate::reference::{experiment, sweep, workload};

    /// Adds what a schema forbids in a value. Knows only the keywords that this file writes.
    fn judge(value: &Value, schema: &Value, path: &str, wrong: &mut Vec<String>) {
        if *schema == Value::Bool(false) {
            wrong.push(format!("{path} is not allowed"));
        }
        let kinds: Vec<&str> = match &schema["type"] {
            Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
            kind => kind.as_str().into_iter().collect(),
        };
        let is_of = |kind: &&str| match *kind {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "integer" => value.is_i64() || value.is_u64(),
            "number" => value.is_number(),
            "boolean" => value.is_boolean(),
            other => panic!("{other} is no type that schemas use"),
        };
        if !kinds.is_empty() && !kinds.iter().any(is_of) {
            wrong.push(format!("{path} is no {kinds:?}"));
        }
        if let Some(choices) = schema["oneOf"].as_array()
            && !choices.iter().any(|choice| choice["const"] == *value)
        {
            wrong.push(format!("{path} is none of the choices"));
        }
        for required in schema["required"].as_array().into_iter().flatten() {
            if value.get(required.as_str().expect("a name")).is_none() {
                wrong.push(format!("{path} lacks {required}"));
            }
        }
        for (name, value) in value.as_object().into_iter().flatten() {
            match schema["properties"].get(name) {
                Some(schema) => judge(value, schema, &format!("{path}.{name}"), wrong),
                None if schema["additionalProperties"] == false => {
                    wrong.push(format!("{path} has {name}"));
                }
                None => {}
            }
        }
        let items = schema.get("items");
        for (value, schema) in value.as_array().into_iter().flatten().zip(items.into_iter().cycle())
        {
            judge(value, schema, &format!("{path}[]"), wrong);
        }
        for rule in schema["allOf"].as_array().into_iter().flatten() {
            let (name, of) =
                rule["if"]["properties"].as_object().and_then(|of| of.iter().next()).expect("one");
            if value[name] == of["const"] {
                judge(value, &rule["then"], path, wrong);
            }
        }
    }

    /// Returns what a schema forbids in a TOML text.
    fn wrong(schema: &str, text: &str) -> Vec<String> {
        let value = toml::from_str(text).expect("TOML");
        let mut wrong = Vec::new();
        judge(&value, &serde_json::from_str(schema).expect("JSON"), "", &mut wrong);
        wrong
    }

    #[test]
    fn the_files_of_the_project_conform() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let files = files::all(&root).expect("files can be read");
        let is_experiment = |path: &str| path.ends_with("/experiment.toml");
        let (mut seen, mut sweeps) = ((0, 0), 0);
        for file in files.iter().filter(|file| file.path.ends_with(".toml")) {
            let schema = match file.path.as_str() {
                path if path.starts_with("presets/workloads/") => workload::schema(),
                path if path.starts_with("experiments/") && is_experiment(path) => {
                    experiment::schema()
                }
                path if path.starts_with("examples/sweep/") => {
                    sweeps += 1;
                    assert_eq!(wrong(&sweep::schema(), &file.text), Vec::<String>::new());
                    continue;
                }
                _ => continue,
            };
            assert_eq!(wrong(&schema, &file.text), Vec::<String>::new(), "{}", file.path);
            *(if is_experiment(&file.path) { &mut seen.1 } else { &mut seen.0 }) += 1;
        }
        assert!(seen.0 >= 10 && seen.1 >= 5 && sweeps >= 1, "{seen:?}, {sweeps}");
    }

    #[test]
    fn what_a_file_can_not_have_is_forbidden() {
        let text = "name = 'a'\n[[phase]]\nsize = '4KiB'\nread = '100%'\n\
                    address = { kind = 'zipf', stride = '4KiB' }\n";
        let found = wrong(&workload::schema(), text);
        assert_eq!(
            found,
            [
                ".phase[].address lacks \"theta\"",
                ".phase[].address.stride is not allowed",
                ".phase[] has read"
            ]
        );
    }
}
