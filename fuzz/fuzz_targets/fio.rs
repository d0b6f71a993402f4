//! fio job files, and what their jobs do: `cargo +nightly fuzz run fio fuzz/corpus/fio examples/fio`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ftlab_workload::fio::fuzz::parse_any(data));
