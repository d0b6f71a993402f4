//! The fuzz target of fio job files, on stable Rust: examples, seeds and some thousand mutations.

#[path = "../../../fuzz/mutate.rs"]
mod mutate;

/// Some seconds' worth.
const ROUNDS: u64 = 20_000;

#[test]
fn no_bytes_break_a_job_file() {
    let folders = ["corpus/fio", "../examples/fio"];
    mutate::run("fio", &folders, ROUNDS, ftlab_workload::fio::fuzz::parse_any);
}
