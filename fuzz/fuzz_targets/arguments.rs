//! Flags of a load, steps, variants, settings: `cargo +nightly fuzz run arguments fuzz/corpus/arguments`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ftlab_lab::fuzz::arguments(data));
