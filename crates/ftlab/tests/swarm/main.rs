//! The swarm: random devices over all options, through the configuration's own checks; random
//! loads; saved and loaded midway; judged by the naive reference, while the device checks itself.
//!
//! `FTLAB_SWARM_CASES=10000` runs that many cases, from `FTLAB_SWARM_FROM` on; a failure names its
//! seed, and `FTLAB_SWARM_FROM=SEED FTLAB_SWARM_CASES=1` runs that case alone. With
//! `FTLAB_SWARM_GOES_ON=1` all cases run, and failures are listed without being shrunk.

#![cfg(any(debug_assertions, feature = "verify"))]

mod bench;
mod canary;
mod case;
#[path = "../common/chunks.rs"]
mod chunks;

use std::collections::BTreeMap;

use case::Case;
use ftlab::config::{all_options, all_policies};
use ftlab_torture::draw;

/// Cases that run by default.
const CASES: u64 = 600;
/// Cases that are drawn to see that every option is among them.
const DRAWN: u64 = 1_500;

fn asked(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// Every device that the checks accept works: nothing is lost, nothing gets stuck, no law is broken.
#[test]
fn what_the_checks_accept_works() {
    let first = asked("FTLAB_SWARM_FROM", 0);
    let mut met = BTreeMap::<&str, u64>::new();
    let mut failures = Vec::new();
    let goes_on = asked("FTLAB_SWARM_GOES_ON", 0) > 0;
    let cases = asked("FTLAB_SWARM_CASES", CASES);
    for seed in first..first + cases {
        let case = Case::draw(seed);
        match case.run() {
            Ok(now) => {
                for (name, happened) in now.all() {
                    *met.entry(name).or_default() += u64::from(happened);
                }
            }
            Err(found) if goes_on => failures.push(format!("{seed}: {found}")),
            Err(found) => {
                let shrunk = case.shrink();
                let still = shrunk.run().err().unwrap_or_default();
                panic!(
                    "{found}\n\nreplay: FTLAB_SWARM_FROM={seed} FTLAB_SWARM_CASES=1 cargo test -p ftlab \
                     --test swarm\n\nshrunk: {still}\n{shrunk}"
                );
            }
        }
    }
    println!("{cases} cases from {first}: {met:?}");
    assert!(failures.is_empty(), "{} failed:\n{}", failures.len(), failures.join("\n"));
    // A swarm that reaches nothing finds nothing.
    if cases >= CASES {
        let rare: Vec<_> = met.iter().filter(|(_, times)| **times * 200 < cases).collect();
        assert!(rare.is_empty(), "hardly ever met: {rare:?} of {met:?}");
    }
}

/// The draw reaches every option and every policy.
#[test]
fn every_option_is_drawn() {
    let mut missing: BTreeMap<String, ()> = BTreeMap::new();
    for option in all_options() {
        if draw::is_drawn(option) {
            missing.insert(option.path.to_owned(), ());
        }
    }
    for seam in all_policies() {
        seam.policies.iter().for_each(|policy| {
            missing.insert(format!("{} = {}", seam.path, policy.name), ());
        });
    }
    for seed in 0..DRAWN {
        for (path, value) in Case::draw(seed).settings {
            missing.remove(path);
            missing.remove(&format!("{path} = {}", value.trim_matches('"')));
        }
    }
    let missing: Vec<_> = missing.into_keys().collect();
    assert!(missing.is_empty(), "never drawn: {missing:?}");
}
