//! Every trace parser on any bytes: `cargo +nightly fuzz run trace`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ftlab_workload::trace::fuzz::read_any(data));
