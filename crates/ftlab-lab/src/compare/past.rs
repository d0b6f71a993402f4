//! Compares and describes how devices were prepared before measuring, as recorded in results.

use std::collections::BTreeSet;

use serde_json::Value;

use super::build::Series;

/// The keys of a step that were requested. The others were measured and may differ.
const ASKED: [&str; 9] = [
    "step",
    "name",
    "digest_blake3",
    "order",
    "share_ratio",
    "rule",
    "load",
    "skipped_phases",
    "clock",
];
/// The most characters of a value in a message.
const LONGEST: usize = 60;

/// Returns the steps of preparation, as requested.
pub fn steps(result: &Value) -> Value {
    let asked = |step: &Value| {
        let kept = ASKED.iter().filter_map(|key| Some(((*key).to_owned(), step.get(key)?.clone())));
        Value::Object(kept.collect())
    };
    result["precondition"].as_array().into_iter().flatten().map(asked).collect()
}

/// Returns the steps of a variant.
fn of(one: &Series) -> Value {
    steps(&one.results[0].1.document)
}

/// Returns the steps of all variants, or null if they differ.
pub fn of_all(series: &[Series]) -> Value {
    let first = of(&series[0]);
    if series.iter().all(|one| of(one) == first) { first } else { Value::Null }
}

/// Returns a note if the variants were prepared differently.
pub fn note(series: &[Series]) -> Option<String> {
    if !of_all(series).is_null() {
        return None;
    }
    let all: Vec<Value> = series.iter().map(of).collect();
    let words: Vec<String> = all.iter().map(told).collect();
    let named = series.iter().zip(&words).map(|(one, words)| format!("{}: {words}", one.name));
    let named = named.collect::<Vec<_>>().join("; ");
    let different: BTreeSet<&String> = words.iter().collect();
    let prepared: BTreeSet<String> = all.iter().map(Value::to_string).collect();
    // If the descriptions are equal, name the key that differs.
    let key = match different.len() < prepared.len() {
        true => all.iter().find_map(|one| difference(&all[0], one)),
        false => None,
    };
    let key = key.map_or(String::new(), |key| format!(", {key}"));
    Some(format!(
        "The devices were prepared differently ({named}{key}): the changes include the effects of \
         preparation."
    ))
}

/// Describes steps briefly.
pub fn told(steps: &Value) -> String {
    let words: Vec<String> = steps.as_array().into_iter().flatten().map(step_told).collect();
    if words.is_empty() { "nothing".to_owned() } else { words.join(", ") }
}

fn step_told(step: &Value) -> String {
    let share = step["share_ratio"].as_f64().filter(|share| *share < 1.0);
    let share = share.map_or(String::new(), |share| format!(" of {} %", share * 100.0));
    match step["step"].as_str() {
        Some("workload") => load_told(&step["load"]),
        Some("fill") if step["order"] == "random" => format!("random fill{share}"),
        Some("fill") => format!("fill{share}"),
        Some("age") => "ageing".to_owned(),
        Some("image") => format!("image {}", step["name"].as_str().unwrap_or_default()),
        other => other.unwrap_or_default().to_owned(),
    }
}

/// Describes a load briefly.
pub fn load_told(load: &Value) -> String {
    let text = |key: &str| load[key].as_str().unwrap_or_default().to_owned();
    format!("{} {}", text("kind"), text("name"))
}

/// Returns the first place at which two values differ, with the two values there.
pub fn difference(a: &Value, b: &Value) -> Option<String> {
    if a == b {
        return None;
    }
    let deeper = match (a, b) {
        (Value::Object(one), Value::Object(other)) => {
            let mut keys = one.keys().chain(other.keys().filter(|key| !one.contains_key(*key)));
            // Digests, and loads that follow from a rule, differ only because something else does.
            let is_cause = |key: &&String| !key.starts_with("digest") && *key != "load";
            let differs = |key: &&String| a[key.as_str()] != b[key.as_str()];
            let causes = keys.clone().filter(is_cause);
            let rest =
                ["load"].iter().filter_map(|key| one.get_key_value(*key)).map(|(key, _)| key);
            let found = causes.chain(rest).find(differs).or_else(|| keys.find(differs));
            found.map(|key| (key.clone(), &a[key.as_str()], &b[key.as_str()]))
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            let at = one.iter().zip(other).position(|(one, other)| one != other);
            at.map(|at| (format!("{}", at + 1), &one[at], &other[at]))
        }
        _ => None,
    };
    match deeper {
        None => Some(format!("{} against {}", short(a), short(b))),
        Some((key, one, other)) => {
            let rest = difference(one, other).unwrap_or_default();
            let is_leaf = rest.starts_with(&format!("{} against", short(one)));
            Some(if is_leaf { format!("{key}: {rest}") } else { format!("{key}.{rest}") })
        }
    }
}

fn short(value: &Value) -> String {
    let text = match value {
        Value::Null => "nothing".to_owned(),
        Value::Object(_) | Value::Array(_) => "something else".to_owned(),
        other => other.to_string(),
    };
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn one_key_is_named_when_something_differs() {
        let step = |tolerance: u32, digest: &str| json!([{"step": "fill"}, {"digest_blake3": digest, "rule": {"round": 1, "tolerance": tolerance}}]);
        let told = difference(&step(5, "ab"), &step(10, "cd"));
        assert_eq!(told.as_deref(), Some("2.rule.tolerance: 5 against 10"));
        assert_eq!(difference(&step(5, "ab"), &step(5, "ab")), None);
        assert_eq!(difference(&json!("a"), &json!(null)).unwrap(), "\"a\" against nothing");
        let long = difference(&json!({"key": "x".repeat(900)}), &json!({"key": [1]})).unwrap();
        assert!(long.starts_with("key: \"xxx") && long.chars().count() < 100, "{long}");
    }
}
