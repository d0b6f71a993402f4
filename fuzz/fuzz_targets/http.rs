//! What is sent to the control of a served drive: `cargo +nightly fuzz run http fuzz/corpus/http`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ftlab_nbd::control::fuzz::http(data));
