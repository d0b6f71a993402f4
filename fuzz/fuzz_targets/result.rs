//! Results and comparisons, including the page made from them: `cargo +nightly fuzz run result fuzz/corpus/result`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ftlab_lab::fuzz::result_files(data));
