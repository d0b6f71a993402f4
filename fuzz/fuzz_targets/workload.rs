//! Workload files and the loads generated from them:
//! `cargo +nightly fuzz run workload fuzz/corpus/workload presets/workloads`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ftlab_workload::generate::fuzz::parse_any(data));
