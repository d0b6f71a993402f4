//! `ftlab/policies`: a module for each decision, with a class for each of its policies.

use std::fmt::Write as _;

use ftlab::config::catalog;
use ftlab::options::{OptionInfo, SeamInfo};

use super::{ReferencePage, doc, meaning, module, seam_name, sentence, type_of};

/// Returns the modules of `ftlab/policies`.
pub fn pages() -> Vec<ReferencePage> {
    let seams = &catalog().seams;
    let mut pages: Vec<ReferencePage> = seams.iter().map(page).collect();
    let mut names: Vec<&str> = seams.iter().map(|seam| seam_name(seam.path)).collect();
    names.sort_unstable();
    let listed = |quote: &str| {
        let name = |name: &&str| format!("    {quote}{name}{quote},\n");
        names.iter().map(name).collect::<String>()
    };
    let ours = [format!("from ftlab.policies import (\n{})", listed(""))];
    let body = format!("\n__all__ = [\n{}]\n", listed("\""));
    pages.push(module("policies/__init__", "The policies, by what they decide.", &ours, &body));
    pages
}

fn page(seam: &SeamInfo) -> ReferencePage {
    let mut body = String::new();
    for policy in seam.policies {
        class(&mut body, seam, policy.name, policy.summary, policy.source);
    }
    let path = format!("policies/{}", seam_name(seam.path));
    let ours = ["from ftlab._policy import Policy".to_owned()];
    module(&path, &format!("{} ({})", seam.doc, seam.path), &ours, &body)
}

fn class(out: &mut String, seam: &SeamInfo, name: &str, summary: &str, source: &str) {
    let own = catalog().options.iter().filter(|option| {
        option.applies_to.as_ref().is_some_and(|applies_to| {
            applies_to.seam == seam.path && applies_to.policies.contains(&name)
        })
    });
    // The options of a policy that stand in its own section need no more than their last name.
    let names: Vec<(String, &OptionInfo)> =
        own.map(|option| (argument(seam, option), option)).collect();
    let _ = writeln!(out, "\n\nclass {}(Policy):", class_name(name));
    let mut about = vec![format!("{} [{source}].", sentence(summary))];
    for (argument, option) in &names {
        about.extend([String::new(), format!("{argument}: {}", meaning(option))]);
    }
    doc(out, 4, &about);
    let arguments: String = names
        .iter()
        .map(|(argument, option)| {
            format!("        {argument}: {} | None = None,\n", type_of(option))
        })
        .collect();
    let star = if names.is_empty() { String::new() } else { format!("        *,\n{arguments}") };
    let _ = writeln!(out, "\n    def __init__(\n        self,\n{star}    ) -> None:");
    let given: Vec<String> =
        names.iter().map(|(argument, option)| format!("\"{}\": {argument}", option.path)).collect();
    let _ = writeln!(
        out,
        "        super().__init__(\"{}\", \"{name}\", {{{}}})",
        seam.path,
        given.join(", ")
    );
}

/// Returns the name of an option as an argument of its policy: what its path adds to the section of the seam.
fn argument(seam: &SeamInfo, option: &OptionInfo) -> String {
    let section = seam.path.rsplit_once('.').map_or("", |(section, _)| section);
    let rest = option.path.strip_prefix(section).map(|rest| rest.trim_start_matches('.'));
    let name = rest.unwrap_or(option.path).replace('.', "_");
    if name == "class" { "class_".to_owned() } else { name }
}

/// Returns the class of a policy: `d-choices` is `DChoices`.
fn class_name(name: &str) -> String {
    if name == "none" {
        return "NoPolicy".to_owned();
    }
    let word = |part: &str| {
        let mut letters = part.chars();
        match letters.next() {
            Some('2') => format!("Two{}", letters.as_str().to_uppercase()),
            Some(first) => first.to_uppercase().collect::<String>() + letters.as_str(),
            None => String::new(),
        }
    };
    name.split('-').map(word).collect()
}
