//! The page of policies, seam by seam.

use ftlab::config::catalog;

use super::{MarkdownTable, code, head};

const ABOUT: &str = "\
A seam is a decision that can be made in several ways; a policy is one of them. A device names its \
policies in its configuration, or on the command line: `--set ftl.gc.victim=greedy`. To add one, see \
[CONTRIBUTING](../../CONTRIBUTING.md). The options are described in the [option reference](options.md).";

pub fn page() -> String {
    let mut text = head("Policies", ABOUT);
    for seam in &catalog().seams {
        text += &format!("\n## `{}`\n\n{} Default: `{}`.\n\n", seam.path, seam.doc, seam.default);
        let mut table =
            MarkdownTable::new(&["Policy", "What it does", "Source", "Options of its own"]);
        for policy in seam.policies {
            let own = catalog().options.iter().filter(|option| {
                option.applies_to.as_ref().is_some_and(|applies_to| {
                    applies_to.seam == seam.path && applies_to.policies.contains(&policy.name)
                })
            });
            let own: Vec<String> = own.map(|option| code(option.path)).collect();
            let own = if own.is_empty() { "none".to_owned() } else { own.join(", ") };
            table.row([
                code(policy.name),
                policy.summary.to_owned(),
                policy.source.to_owned(),
                own,
            ]);
        }
        text += &table.text;
    }
    text
}
