//! The page of the result files' keys, from the doc comments of the serialized types.
//!
//! The source is scanned as text, so the page shows the very comment beside each field, and there
//! is no second list to maintain. Counters are declared, with their places in the report.

use ftlab::counters::{Counter, section_and_key};

use super::{MarkdownTable, code, head};
use crate::files::File;

const ABOUT: &str = "\
A result folder holds `result.json`, which depends only on device, load and seed, `run.json`, with \
what differs from run to run, `config.toml`, `fio.json` if a fio job file was run, and tables as Parquet \
(time series, latencies, blocks), whose metadata explains each column. Every key name carries its unit; unknown \
values are null. `schema_version` changes when a key is renamed, removed or changes its meaning.";

/// The top-level type of each file.
const TOPS: [(&str, &str); 6] = [
    ("result.json", "ResultDocument"),
    ("fio.json", "FioDocument"),
    ("run.json", "RunDocument"),
    ("compare.json", "Comparison"),
    ("sweep.json", "SweepDocument"),
    (REPRODUCTION, "Reproduction"),
];
/// The name used here for a reproduction's file, to tell it from a run's.
const REPRODUCTION: &str = "result.json of a reproduction";
/// The type whose fields are the sections of a report.
const REPORT: &str = "Report";
/// The files with the types. If two types share a name, the first one counts.
const SOURCES: [&str; 34] = [
    "crates/ftlab-lab/src/result/document.rs",
    "crates/ftlab-lab/src/power_cuts/report.rs",
    "crates/ftlab/src/stats/report.rs",
    "crates/ftlab/src/stats/amplification.rs",
    "crates/ftlab/src/stats/op_report.rs",
    "crates/ftlab/src/stats/health.rs",
    "crates/ftlab/src/stats/parity.rs",
    "crates/ftlab/src/stats/zones.rs",
    "crates/ftlab/src/stats/placement.rs",
    "crates/ftlab/src/stats/host_translation.rs",
    "crates/ftlab/src/stats/queues.rs",
    "crates/ftlab/src/stats/slc.rs",
    "crates/ftlab/src/stats/merges.rs",
    "crates/ftlab/src/stats/read_cache.rs",
    "crates/ftlab/src/stats/cost.rs",
    "crates/ftlab/src/stats/reconstruction.rs",
    "crates/ftlab/src/stats/translation.rs",
    "crates/ftlab/src/stats/utilisation.rs",
    "crates/ftlab/src/stats/steady.rs",
    "crates/ftlab-workload/src/accesses.rs",
    "crates/ftlab-workload/src/replay/options.rs",
    "crates/ftlab-workload/src/replay/mapping.rs",
    "crates/ftlab-workload/src/replay/sharing.rs",
    "crates/ftlab-workload/src/fio/report/document.rs",
    "crates/ftlab-lab/src/compare/document.rs",
    "crates/ftlab-lab/src/compare/statistics.rs",
    "crates/ftlab-lab/src/compare/metrics.rs",
    "crates/ftlab-lab/src/sweep/document.rs",
    "crates/ftlab-lab/src/sweep/statistics.rs",
    "crates/ftlab-lab/src/reproduce/document.rs",
    "crates/ftlab-lab/src/reproduce/numbers.rs",
    "crates/ftlab/src/scheduler/command.rs",
    "crates/ftlab/src/nand/operation.rs",
    "crates/ftlab/src/ftl/gc/purpose.rs",
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
#[derive(Clone, Debug, Default, PartialEq)]
struct FieldRow {
    key: String,
    of: Option<String>,
    doc: String,
    /// Whether the rows of its type stand in its place.
    is_flat: bool,
    /// Of a counter: its unit, and the section of the report that has it.
    unit: &'static str,
    section: &'static str,
}

pub fn page(files: &[File]) -> String {
    let sources = SOURCES.iter().flat_map(|path| files.iter().find(|file| file.path == *path));
    let types: Vec<Type> = sources.flat_map(|file| types(&file.text)).chain(families()).collect();
    let mut text = head("Results", ABOUT);
    let mut shown: Vec<&Type> = Vec::new();
    for (file, top) in TOPS {
        let from = shown.len();
        shown.extend(types.iter().filter(|known| known.name == top));
        let mut next = from;
        while let Some(&this) = shown.get(next) {
            for of in
                this.rows.iter().filter(|row| !row.is_flat).filter_map(|row| row.of.as_deref())
            {
                for name in of.split(|letter: char| !letter.is_alphanumeric()) {
                    let named = types.iter().find(|known| known.name == name);
                    let is_new = |found: &&Type| !shown.iter().any(|old| old.name == found.name);
                    shown.extend(named.filter(is_new));
                }
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

/// Returns the families of counters.
fn families() -> impl Iterator<Item = Type> {
    let row = |counter: &'static Counter, place: &'static str| {
        let (section, key) = section_and_key(place);
        let (key, of, doc) = (key.to_owned(), Some("u64".to_owned()), tidy(counter.doc));
        FieldRow { key, of, doc, unit: counter.unit, section, is_flat: false }
    };
    ftlab::stats::families().into_iter().map(move |family| {
        let places =
            |counter: &'static Counter| counter.places.iter().map(move |place| (counter, *place));
        let rows =
            family.counters.iter().flat_map(places).map(|(counter, place)| row(counter, place));
        let (name, doc, rows) = (family.name.to_owned(), tidy(family.doc), rows.collect());
        Type { name, doc, rows, ..Type::default() }
    })
}

/// Returns the rows of a type. Of counters that it embeds, those of its section of the report.
fn rows<'a>(this: &'a Type, types: &'a [Type]) -> impl Iterator<Item = &'a FieldRow> {
    let sections =
        types.iter().find(|known| known.name == REPORT).into_iter().flat_map(|it| &it.rows);
    let mut sections = sections.filter(|row| row.of.as_deref().map(innermost) == Some(&*this.name));
    let section = sections.next().map_or("", |row| &row.key);
    this.rows.iter().flat_map(move |row| {
        let embedded = row.of.as_deref().filter(|_| row.is_flat).map(innermost);
        let embedded = types.iter().filter(move |known| Some(&*known.name) == embedded);
        let embedded =
            embedded.flat_map(|known| &known.rows).filter(move |row| row.section == section);
        embedded.chain(Some(row).filter(|row| !row.is_flat))
    })
}

fn table(this: &Type, types: &[Type]) -> String {
    let mut table = MarkdownTable::new(&["Key", "Value", "Meaning"]);
    for row in rows(this, types) {
        let value = match (&row.of, &this.tag) {
            (Some(of), _) if row.unit.is_empty() => words(of, types),
            (Some(of), _) => format!("{}, {}", words(of, types), row.unit),
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
    if let Some((key, of)) = within("By<").and_then(|inner| inner.split_once(", ")) {
        return format!("object by {}: {}", words(key, types), words(of, types));
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
        let is_flat = serde.contains("flatten");
        return Some(FieldRow {
            key,
            of: Some(of.to_owned()),
            doc,
            is_flat,
            ..FieldRow::default()
        });
    }
    let name: String = code.chars().take_while(|letter| letter.is_alphanumeric()).collect();
    let key = quoted_after(serde, "rename = ").unwrap_or_else(|| renamed(&name, rename_all));
    (!name.is_empty()).then_some(FieldRow { key, doc, ..FieldRow::default() })
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
        assert_eq!(words("By<Why, By<Why, u64>>", &found).matches("by [Why](#why)").count(), 2);
        assert_eq!(found[1].tag.as_deref(), Some("kind"));
    }

    /// A counter that is declared for a section that does not embed it has no row.
    #[test]
    fn every_counter_has_a_row_for_each_place() {
        let root = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
        let page = page(&crate::files::all(root).expect("the project can be read"));
        for row in families().flat_map(|family| family.rows) {
            let line = format!("| `{}` | whole number, {} | {} |", row.key, row.unit, row.doc);
            assert!(page.contains(&line), "{}: {line}", row.section);
        }
    }
}
