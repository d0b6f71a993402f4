//! Images of devices, behind their compression: `cargo +nightly fuzz run image fuzz/corpus/image`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ftlab::saved::fuzz::load_any(data));
