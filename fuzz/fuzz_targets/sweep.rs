//! Sweep files: `cargo +nightly fuzz run sweep fuzz/corpus/sweep`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ftlab_lab::fuzz::sweep(data));
