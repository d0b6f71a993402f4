//! How fast traces are read: MB of file and millions of requests per second for every format, from a
//! generated trace. `cargo bench -p ftlab-workload --bench trace_read [-- REQUESTS] [NAME]`
//!
//! Seconds are processor time where the system reports it (Linux), so that other work on the machine
//! does not count. An inspection has two threads, so its seconds are those on the clock.

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use ftlab::engine::Stream;
use ftlab_workload::trace::{
    ConvertOptions, Digest, FORMATS, Options, Trace, convert, inspect, named, open,
};

/// Default number of requests in the generated trace: about 100 MB of MSR CSV.
const REQUESTS: u64 = 2_000_000;
/// Number of timed rounds; the fastest counts, because the machine may have other work.
const ROUNDS: usize = 5;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
    let requests = arguments.iter().find_map(|text| text.parse().ok()).unwrap_or(REQUESTS);
    let only = arguments.iter().find(|text| text.parse::<u64>().is_err());
    let wanted = |name: &str| only.is_none_or(|only| name.contains(only.as_str()));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let origin = folder.path().join("generated.csv");
    generate(&origin, requests);
    println!("{:<22} {:>9} {:>9} {:>12}", "format", "MB", "MB/s", "M requests/s");
    for format in FORMATS.iter().filter(|format| wanted(format.name)) {
        let path = folder.path().join(format.name);
        convert(&mut opened(&origin), format, &path, ConvertOptions::default()).expect("converted");
        measure(format.name, &path, read_all);
    }
    for ending in ["gz", "zst", "bz2", "xz"].into_iter().filter(|ending| wanted(ending)) {
        let path = folder.path().join(format!("msr.{ending}"));
        let msr = named("msr").expect("known");
        convert(&mut opened(&origin), msr, &path, ConvertOptions::default()).expect("converted");
        measure(&format!("msr.{ending}"), &path, read_all);
    }
    if wanted("msr") {
        measure("msr with digest", &origin, digest);
        let inspected = |trace: &mut Trace| inspect(trace).expect("readable").requests;
        measure_by("msr inspected", &origin, inspected, || None);
    }
}

fn opened(path: &Path) -> Trace {
    open(path, Options::default()).expect("readable")
}

/// Writes a load like hm_0: half a dozen sizes, random addresses, 100 us between requests on average.
fn generate(path: &Path, requests: u64) {
    let mut random = Stream::new(1, "trace_read");
    let mut out = std::io::BufWriter::new(std::fs::File::create(path).expect("a file"));
    let mut time = 128_166_372_003_061_629_u64;
    for _ in 0..requests {
        time += random.below(2_000);
        let op = if random.below(100) < 64 { "Write" } else { "Read" };
        let offset = random.below(14 << 30) / 512 * 512;
        let size = 512 << random.below(8);
        let response = random.below(100_000);
        writeln!(out, "{time},hm,1,{op},{offset},{size},{response}").expect("written");
    }
}

fn read_all(trace: &mut Trace) -> u64 {
    let (mut batch, mut requests) = (Vec::new(), 0);
    while trace.next_batch(&mut batch).expect("readable") {
        requests += batch.len() as u64;
    }
    requests
}

fn digest(trace: &mut Trace) -> u64 {
    let (mut batch, mut requests, mut digest) = (Vec::new(), 0, Digest::new());
    while trace.next_batch(&mut batch).expect("readable") {
        requests += batch.len() as u64;
        digest.update(&batch);
    }
    std::hint::black_box(digest.finish());
    requests
}

fn measure(name: &str, path: &Path, read: impl FnMut(&mut Trace) -> u64) {
    measure_by(name, path, read, processor_seconds);
}

fn measure_by(
    name: &str,
    path: &Path,
    mut read: impl FnMut(&mut Trace) -> u64,
    processor_seconds: impl Fn() -> Option<f64>,
) {
    let (mut seconds, mut requests) = (f64::INFINITY, 0);
    for _ in 0..ROUNDS {
        let (start, on_processor) = (Instant::now(), processor_seconds());
        requests = read(&mut opened(path));
        let elapsed = start.elapsed().as_secs_f64();
        let spent = processor_seconds().zip(on_processor).map(|(end, start)| end - start);
        seconds = seconds.min(spent.unwrap_or(elapsed));
    }
    let bytes = std::fs::metadata(path).expect("there").len() as f64;
    let mega = 1e6;
    println!(
        "{name:<22} {:>9.1} {:>9.0} {:>12.1}",
        bytes / mega,
        bytes / mega / seconds,
        requests as f64 / mega / seconds
    );
}

/// Returns the processor time of this thread so far.
fn processor_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let ns: f64 = text.split_whitespace().next()?.parse().ok()?;
    Some(ns / 1e9)
}
