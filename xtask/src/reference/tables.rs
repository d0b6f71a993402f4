//! Pages of the tables of workload, experiment and sweep files, from their declarations.

use ftlab::options::table::{Form, Key, Otherwise, TableInfo};
use ftlab::options::value::ValueKind;

use super::{MarkdownTable, code};

/// Returns a section for each table, each with the meanings of its choices.
pub fn page(tables: &[fn() -> TableInfo]) -> String {
    tables.iter().map(|table| section(&table())).collect()
}

fn section(info: &TableInfo) -> String {
    let title = match info.title.strip_prefix("the ") {
        Some(rest) => format!("The {rest}"),
        None => code(info.title),
    };
    let mut text = format!("\n## {title}\n\n{}\n\n", info.doc);
    let keys: Vec<&Key> = info.by.into_iter().chain(info.keys).collect();
    let has_kinds = info.by.is_some();
    let columns = ["Key", "Applies to", "Takes", "Without it", "Meaning"];
    let kept = |column: &&&str| has_kinds || **column != "Applies to";
    let mut table = MarkdownTable::new(&columns.iter().filter(kept).copied().collect::<Vec<_>>());
    for key in &keys {
        let of = if key.of.is_empty() { "all".to_owned() } else { key.of.join(", ") };
        let otherwise = match key.otherwise {
            Otherwise::Required => "must be given".to_owned(),
            Otherwise::Value(_) => code(&key.default().unwrap_or_default()),
            Otherwise::Depends(words) if key.needed.is_empty() => words.to_owned(),
            Otherwise::Depends(words) => {
                format!("{words}; must be given for {}", key.needed.join(", "))
            }
        };
        let applies = has_kinds.then_some(of);
        let rest = [key.takes(), otherwise, key.doc.to_owned()];
        table.row([code(key.name)].into_iter().chain(applies).chain(rest));
    }
    text += &table.text;
    for embedded in info.embedded {
        text += &format!("\nThe keys of `{}` are allowed here as well.\n", embedded().title);
    }
    for key in keys {
        let Form::Value(ValueKind::Choice, choices) = (key.form)() else { continue };
        let mut table = MarkdownTable::new(&[&code(key.name), "Meaning"]);
        for choice in choices {
            table.row([code(choice.name), choice.doc.to_owned()]);
        }
        text += &format!("\n{}", table.text);
    }
    text
}
