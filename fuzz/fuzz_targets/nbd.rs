//! What a client of the block device sends: `cargo +nightly fuzz run nbd fuzz/corpus/nbd`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ftlab_nbd::protocol::fuzz::session(data));
