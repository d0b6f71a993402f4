//! Every trace parser on any bytes: `cargo +nightly fuzz run trace`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    // The Parquet library panics on some damaged files, which the reader catches and libFuzzer still
    // counts. The test on stable Rust has those.
    if !data.starts_with(b"PAR1") {
        ftlab_workload::trace::fuzz::read_any(data);
    }
});
