//! The fuzz target of workload files, on stable Rust: presets, seeds and some thousand mutations.

#[path = "../../../fuzz/mutate.rs"]
mod mutate;

/// Some seconds' worth.
const ROUNDS: u64 = 50_000;

#[test]
fn no_bytes_break_a_workload() {
    let folders = ["corpus/workload", "../presets/workloads"];
    mutate::run("workload", &folders, ROUNDS, ftlab_workload::generate::fuzz::parse_any);
}
