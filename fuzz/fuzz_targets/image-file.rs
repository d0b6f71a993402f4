//! Image files as the command line takes them: `cargo +nightly fuzz run image-file fuzz/corpus/image-file`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ftlab_lab::fuzz::image_file(data));
