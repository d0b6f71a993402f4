//! Generates the project's example trace from `examples/traces/office.toml`:
//!
//! ```text
//! cargo run -p ftlab-workload --example office_trace -- examples/traces/office-20k.csv.gz
//! ```
//!
//! The file is the same on every machine; a test compares it with the one in the repository.

use std::error::Error;
use std::fmt::Write;
use std::path::Path;

use ftlab::host::Op;
use ftlab::units::{Bytes, SECTOR_BYTES, SimTime};
use ftlab_workload::generate::{Generator, Workload};
use ftlab_workload::replay::Next;
use ftlab_workload::trace::{self, ConvertOptions, Location};

const WORKLOAD: &str = include_str!("../../../examples/traces/office.toml");
const CAPACITY: Bytes = Bytes(64 << 30);
const SEED: u64 = 20;
/// Windows file time of 2 November 2009, 9:00; MSR traces use such times.
const START_FILETIME: u64 = 129_016_548_000_000_000;

/// Returns the trace as MSR CSV, one phase after another.
fn csv() -> Result<String, Box<dyn Error>> {
    let workload = Workload::parse("office.toml", WORKLOAD, &mut |name| Err(name.to_owned()))?;
    let mut generator = Generator::new(&workload, CAPACITY.sectors(), SEED)?;
    let (mut text, mut phase_start, mut latest) = (String::new(), SimTime::ZERO, SimTime::ZERO);
    loop {
        match generator.next_item() {
            Next::End => return Ok(text),
            Next::Phase(_) => phase_start = latest,
            Next::Request(request) => {
                latest = SimTime(phase_start.0 + request.at.0);
                let time = START_FILETIME + latest.0 / 100;
                let op = if request.op == Op::Read { "Read" } else { "Write" };
                let (offset, size) = (request.lba.0, u64::from(request.sectors));
                let (offset, size) = (offset * SECTOR_BYTES, size * SECTOR_BYTES);
                writeln!(text, "{time},office,0,{op},{offset},{size},0")?;
            }
        }
    }
}

/// Writes the trace to `path`, in the format and compression given by its name.
pub fn write(path: &Path) -> Result<(), Box<dyn Error>> {
    let text = Location::Memory("the generated trace".to_owned(), csv()?.into());
    let mut trace = trace::open(text, trace::Options::default())?;
    let format = trace::named("msr")?;
    trace::convert(&mut trace, format, path, ConvertOptions::default())?;
    Ok(())
}

#[allow(dead_code, reason = "the test that includes this file calls `write` alone")]
fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("name the file to write")?;
    write(Path::new(&path))
}
