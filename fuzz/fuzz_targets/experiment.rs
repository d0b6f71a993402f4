//! Declarations of experiments, and READMEs: `cargo +nightly fuzz run experiment fuzz/corpus/experiment`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ftlab_lab::fuzz::experiment(data));
