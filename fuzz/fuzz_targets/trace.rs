//! Every trace parser on any bytes: `cargo +nightly fuzz run trace`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    // The Parquet library panics on some damaged files. The reader catches these panics, but libFuzzer
    // still counts them, so only the test on stable Rust reads Parquet.
    if !data.starts_with(b"PAR1") {
        ftlab_workload::trace::fuzz::read_any(data);
    }
});
