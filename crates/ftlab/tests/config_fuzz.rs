//! The fuzz target of device configs, on stable Rust: presets, seeds and some thousand mutations.

#[path = "../../../fuzz/mutate.rs"]
mod mutate;

/// Some seconds' worth.
const ROUNDS: u64 = 10_000;

#[test]
fn no_bytes_break_the_config() {
    let folders = ["corpus/config", "../presets/devices"];
    mutate::run("config", &folders, ROUNDS, ftlab::config::fuzz::parse_any);
}
