//! The fuzz target of the trace parsers, on stable Rust: seeds and some thousand mutations.

#[path = "../../../fuzz/mutate.rs"]
mod mutate;

/// Some seconds' worth.
const ROUNDS: u64 = 10_000;

#[test]
fn no_bytes_break_a_trace_parser() {
    mutate::run("trace", &["corpus/trace"], ROUNDS, ftlab_workload::trace::fuzz::read_any);
}
