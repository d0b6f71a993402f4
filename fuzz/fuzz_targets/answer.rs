//! What a server answers to `ftlab ctl`: `cargo +nightly fuzz run answer fuzz/corpus/answer`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ftlab_nbd::control::fuzz::answer(data));
