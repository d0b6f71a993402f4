//! Device configs, as a file and as an override:
//! `cargo +nightly fuzz run config fuzz/corpus/config presets/devices`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ftlab::config::fuzz::parse_any(data));
