//! The page of the result files' keys, from the doc comments of the serialized types.
//!
//! The source is scanned as text, so the page shows the very comment beside each field, and there
//! is no second list to maintain.

use super::{MarkdownTable, code, head};
use crate::files::File;

const ABOUT: &str = "\
A result folder holds `result.json`, which depends only on device, load and seed, `run.json`, with \
what differs from run to run, `config.toml`, `fio.json` if a fio job file was run, and tables as Parquet \
(time series, latencies, blocks), whose metadata explains each column. Every key name carries its unit; unknown \
values are null. `schema_version` changes when a key is renamed, removed or changes its meaning.";

/// The top-level type of each file.
const TOPS: [(&str, &str); 5] = [
    ("result.json", "ResultDocument"),
    ("fio.json", "FioDocument"),
    ("run.json", "RunDocument"),
    ("compare.json", "Comparison"),
    (REPRODUCTION, "Reproduction"),
];
/// The name used here for a reproduction's file, to tell it from a run's.
const REPRODUCTION: &str = "result.json of a reproduction";
/// The files with the types. If two types share a name, the first one counts.
const SOURCES: [&str; 24] = [
    "crates/ftlab-cli/src/result/document.rs",
    "crates/ftlab-cli/src/power_cuts/report.rs",
    "crates/ftlab/src/stats/report.rs",
    "crates/ftlab/src/stats/op_report.rs",
    "crates/ftlab/src/stats/health.rs",
    "crates/ftlab/src/stats/parity.rs",
    "crates/ftlab/src/stats/queues.rs",
    "crates/ftlab/src/stats/slc.rs",
    "crates/ftlab/src/stats/merges.rs",
    "crates/ftlab/src/stats/read_cache.rs",
    "crates/ftlab/src/stats/cost.rs",
    "crates/ftlab/src/stats/reconstruction.rs",
    "crates/ftlab/src/stats/translation.rs",
    "crates/ftlab/src/stats/steady.rs",
    "crates/ftlab-workload/src/accesses.rs",
    "crates/ftlab-workload/src/replay/options.rs",
    "crates/ftlab-workload/src/replay/mapping.rs",
    "crates/ftlab-workload/src/replay/sharing.rs",
    "crates/ftlab-workload/src/fio/report/document.rs",
    "crates/ftlab-cli/src/compare/document.rs",
    "crates/ftlab-cli/src/compare/statistics.rs",
    "crates/ftlab-cli/src/compare/metrics.rs",
    "crates/ftlab-cli/src/reproduce/document.rs",
    "crates/ftlab-cli/src/reproduce/numbers.rs",
];

/// A serialized struct or enum.
#[derive(Clone, Debug, Default, PartialEq)]
struct Type {
    name: String,
    doc: String,
    /// For an enum, the key that names the variant, if any.
    tag: Option<String>,
    rename: Option<String>,
    rows: Vec<FieldRow>,
}

/// A field, or a variant, which has no type.
#[derive(Clone, Debug, PartialEq)]
struct FieldRow {
    key: String,
    of: Option<String>,
    doc: String,
}

pub fn page(files: &[File]) -> String {
    let sources = SOURCES.iter().flat_map(|path| files.iter().find(|file| file.path == *path));
    let types: Vec<Type> = sources.flat_map(|file| types(&file.text)).collect();
    let mut text = head("Results", ABOUT);
    let mut shown: Vec<&Type> = Vec::new();
    for (file, top) in TOPS {
        let from = shown.len();
        shown.extend(types.iter().filter(|known| known.name == top));
        let mut next = from;
        while let Some(&this) = shown.get(next) {
            for row in &this.rows {
                let inner = row.of.as_deref().map(innermost).unwrap_or_default();
                let named = types.iter().find(|known| known.name == inner);
                shown.extend(named.filter(|found| !shown.iter().any(|old| old.name == found.name)));
            }
            next += 1;
        }
        for (at, this) in shown[from..].iter().enumerate() {
            let title = if at == 0 { file_name(file) } else { this.name.clone() };
            text += &format!("\n## {title}\n\n{}\n\n{}", this.doc, table(this, &types));
        }
    }
    text
}

/// Formats the name of a file and what it belongs to.
fn file_name(file: &str) -> String {
    let (name, rest) = file.split_once(' ').unwrap_or((file, ""));
    format!("{} {rest}", code(name)).trim_end().to_owned()
}

fn table(this: &Type, types: &[Type]) -> String {
    let mut table = MarkdownTable::new(&["Key", "Value", "Meaning"]);
    for row in &this.rows {
        let value = match (&row.of, &this.tag) {
            (Some(of), _) => words(of, types),
            (None, Some(tag)) => {
                table.row([code(tag), format!("`\"{}\"`", row.key), row.doc.clone()]);
                continue;
            }
            (None, None) => {
                table.row([String::new(), format!("`\"{}\"`", row.key), row.doc.clone()]);
                continue;
            }
        };
        table.row([code(&row.key), value, row.doc.clone()]);
    }
    table.text
}

/// Returns the type inside options and lists, without its path.
fn innermost(of: &str) -> &str {
    let inner = of.rsplit('<').next().unwrap_or(of).trim_end_matches('>');
    inner.rsplit("::").next().unwrap_or(inner)
}

/// Describes a type.
fn words(of: &str, types: &[Type]) -> String {
    let within = |outer: &str| of.strip_prefix(outer).and_then(|rest| rest.strip_suffix('>'));
    if let Some(inner) = within("Option<") {
        return format!("{} or null", words(inner, types));
    }
    if let Some(inner) = within("Vec<") {
        return format!("list of {}", words(inner, types));
    }
    if let Some(inner) = within("Pairs<") {
        return format!("object of names, each with a {}", words(inner, types));
    }
    match innermost(of) {
        "u32" | "u64" | "usize" | "Nanos" | "SimTime" | "Ratio" => "whole number".to_owned(),
        "f64" => "number".to_owned(),
        "bool" => "true or false".to_owned(),
        "String" | "&'static str" => "text".to_owned(),
        name if types.iter().any(|known| known.name == name) => {
            format!("[{name}](#{})", name.to_lowercase())
        }
        _ => "object".to_owned(),
    }
}

/// Returns the types in a source file that derive `Serialize`.
fn types(text: &str) -> Vec<Type> {
    let mut found = Vec::new();
    let (mut doc, mut serde, mut derives) = (String::new(), String::new(), false);
    let mut open: Option<Type> = None;
    for line in text.lines() {
        let code = line.trim();
        if let Some(words) = code.strip_prefix("///") {
            doc = format!("{doc}{words}");
            continue;
        }
        if code.starts_with("#[") {
            derives |= code.contains("Serialize");
            serde += if code.contains("serde(") { code } else { "" };
            continue;
        }
        if line.starts_with("pub struct ") || line.starts_with("pub enum ") {
            let name = code.split([' ', '<', '{', '(', ';']).nth(2).unwrap_or_default().to_owned();
            let attribute = |key| quoted_after(&serde, key);
            let (tag, rename) = (attribute("tag = "), attribute("rename_all = "));
            let this = Type { name, doc: tidy(&doc), tag, rename, rows: Vec::new() };
            open = (derives && code.ends_with('{')).then_some(this);
        } else if line == "}" {
            found.extend(open.take());
        } else if let Some(this) = &mut open {
            this.rows.extend(row(code, &doc, &serde, this.rename.as_deref()));
        }
        (doc, serde, derives) = (String::new(), String::new(), false);
    }
    found
}

/// Returns the row of a field or variant.
fn row(code: &str, doc: &str, serde: &str, rename_all: Option<&str>) -> Option<FieldRow> {
    let doc = tidy(doc);
    let field = code.trim_start_matches("pub ").trim_end_matches(',').split_once(": ");
    if let Some((name, of)) = field {
        let key = quoted_after(serde, "rename = ").unwrap_or_else(|| name.to_owned());
        return Some(FieldRow { key, of: Some(of.to_owned()), doc });
    }
    let name: String = code.chars().take_while(|letter| letter.is_alphanumeric()).collect();
    let key = renamed(&name, rename_all);
    (!name.is_empty()).then_some(FieldRow { key, of: None, doc })
}

fn quoted_after(text: &str, key: &str) -> Option<String> {
    let (_, rest) = text.split_once(key)?;
    rest.split('"').nth(1).map(str::to_owned)
}

/// Returns the serialized name of a variant.
fn renamed(name: &str, rule: Option<&str>) -> String {
    let joint = match rule {
        Some("kebab-case") => "-",
        Some("snake_case") => "_",
        Some("lowercase") => "",
        _ => return name.to_owned(),
    };
    let mut text = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !text.is_empty() {
            text += joint;
        }
        text.extend(letter.to_lowercase());
    }
    text
}

/// Removes the marks of intra-doc links.
fn tidy(doc: &str) -> String {
    doc.replace("[`", "`").replace("`]", "`").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "\
/// A run. See [`Why`].
#[derive(Debug, Serialize)]
pub struct Run {
    /// How long.
    #[serde(rename = \"span_ns\")]
    pub span: Option<Nanos>,
    /// Why it ended.
    pub why: Vec<Why>,
}

/// Not written out.
pub struct Other {
    pub a: u8,
}

/// An end.
#[derive(Serialize)]
#[serde(tag = \"kind\", rename_all = \"kebab-case\")]
pub enum Why {
    /// Nothing was left.
    SourceEnded,
}
";

    #[test]
    fn types_are_read_with_their_names_as_written_out() {
        let found = types(SOURCE);
        let names: Vec<&str> = found.iter().map(|this| this.name.as_str()).collect();
        assert_eq!(names, ["Run", "Why"]);
        assert_eq!(found[0].doc, "A run. See `Why`.");
        assert_eq!(found[0].rows[0].key, "span_ns");
        assert_eq!(words("Option<Nanos>", &found), "whole number or null");
        assert_eq!(words("Vec<Why>", &found), "list of [Why](#why)");
        assert_eq!(found[1].rows[0].key, "source-ended");
        assert_eq!(found[1].tag.as_deref(), Some("kind"));
    }
}
