//! The experiments that are built in, as `ftlab reproduce` runs them.

use serde_json::Value;

use super::common::Place;

#[test]
fn the_papers_are_listed() {
    let place = Place::new();
    let done = place.run("reproduce list");
    assert_eq!(done.code, 0);
    assert!(done.out.contains("rw-scheduler") && done.out.contains("36 numbers"), "{}", done.out);
    assert!(done.out.lines().all(|line| line.chars().count() <= 80), "{}", done.out);
    let all: Value = serde_json::from_str(&place.run("reproduce list --json").out).unwrap();
    let first = &all.as_array().unwrap()[0];
    assert_eq!((&first["name"], &first["seeds"]), (&"rw-scheduler".into(), &200.into()));
}
