//! The swarm is only worth what it finds: each planted bug must be found within a number of cases.
//!
//! `FTLAB_CANARY=BusFreeEarly` plants only that bug and prints the first finding.

use ftlab::verify::Canary;

use crate::case::Case;

/// Cases within which a bug must be found: few beside those that run every day.
const PATIENCE: u64 = 600;

/// The first case that finds the bug, and its report.
fn find(canary: Canary) -> Option<(u64, String)> {
    let found = |seed| Some((seed, Case::draw(seed).run_with(Some(canary)).err()?));
    (0..PATIENCE).find_map(found)
}

#[test]
fn every_planted_bug_is_found() {
    let only = std::env::var("FTLAB_CANARY").ok();
    let mut survived = Vec::new();
    for canary in Canary::WITH_POWER {
        let name = format!("{canary:?}");
        if only.as_ref().is_some_and(|only| *only != name) {
            continue;
        }
        match find(canary) {
            Some((seed, said)) => {
                let said = said.lines().find(|line| !line.starts_with("panicked"));
                println!("{name}: case {}, {}", seed + 1, said.unwrap_or_default());
            }
            None => survived.push(name),
        }
    }
    assert!(
        survived.is_empty(),
        "{survived:?}: not found in {PATIENCE} cases. Strengthen the checks (src/verify, audit), or \
         what the swarm draws"
    );
}
