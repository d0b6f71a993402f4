//! Every key of a workload file has an effect: for each there are two files that differ only in it
//! (or in what must follow from it) and play differently. A new key fails this test until it has a
//! row.

use std::ops::ControlFlow;

use crate::common::{Keep, Model};
use ftlab::options::table::Key;
use ftlab::options::value::Value;
use ftlab::units::Nanos;
use ftlab_workload::generate::keys::{AddressKind, ArrivalKind, LoadKind, TABLES};
use ftlab_workload::generate::{Generator, Workload};
use ftlab_workload::replay::{Completed, Options, Replay};

/// Sectors of the device.
const CAPACITY: u64 = 1 << 14;

// Titles of the tables.
const FILE: &str = "the top of the file";
const PHASE: &str = "[[phase]]";
const REGION: &str = "phase.region";
const SIZE: &str = "an entry of phase.size";
const RANGE: &str = "a range of phase.size";
const ADDRESS: &str = "phase.address";
const DRIFT: &str = "phase.address.drift";
const LOAD: &str = "phase.load";
const ARRIVALS: &str = "phase.arrivals";

/// Keys that are only printed in results.
const LABELS: [(&str, &str); 3] = [(FILE, "name"), (FILE, "source"), (PHASE, "name")];

/// A table, a key, a phase and two variants of its rest.
type Row = (&'static str, &'static str, &'static str, &'static str, &'static str);

const SIZED: &str = "size = '4KiB'\nrequests = 300";
const WRITES: &str = "writes = '100%'\nsize = '4KiB'\nrequests = 300";
const BOTH: &str = "reads = '50%'\nwrites = '50%'\nsize = '4KiB'\nrequests = 300";
const NO_SIZE: &str = "writes = '100%'\nrequests = 300";
const OPERATIONS: &str = "reads = '10%'\nwrites = '90%'\nrequests = 3000";
const TWICE: &str = "writes = '100%'\nsize = '4KiB'\nrequests = 300
    [[phase]]\nwrites = '100%'\nsize = '4KiB'\nrequests = 300";

#[rustfmt::skip]
const TOP: &[Row] = &[
    (FILE, "phase", WRITES, "", "[[phase]]\nwrites = '100%'\nsize = '4KiB'\nrequests = 9"),
    (PHASE, "measure", WRITES, "", "measure = false"),
    (PHASE, "measure_first", WRITES, "", "measure_first = 100"),
    (PHASE, "with_previous", TWICE, "", "with_previous = true"),
    (PHASE, "first_stream", WRITES, "", "first_stream = 3"),
    (PHASE, "reads", SIZED, "writes = '100%'", "writes = '90%'\nreads = '10%'"),
    (PHASE, "writes", SIZED, "reads = '100%'", "reads = '90%'\nwrites = '10%'"),
    (PHASE, "trims", SIZED, "writes = '100%'", "writes = '90%'\ntrims = '10%'"),
    (PHASE, "flushes", SIZED, "writes = '100%'", "writes = '90%'\nflushes = '10%'"),
    (PHASE, "fua", WRITES, "", "fua = '50%'"),
    (PHASE, "size", NO_SIZE, "size = '4KiB'", "size = '8KiB'\nalign = '4KiB'"),
    (PHASE, "write_size", BOTH, "", "write_size = '8KiB'"),
    (PHASE, "trim_size", SIZED, "writes = '100%'", "writes = '50%'\ntrims = '50%'\ntrim_size = '64KiB'"),
    (PHASE, "unaligned", WRITES, "", "unaligned = '50%'"),
    (PHASE, "inside", NO_SIZE, "size = '2KiB'\nalign = '4KiB'",
        "size = '2KiB'\nalign = '4KiB'\ninside = '50%'"),
    (PHASE, "sequential_reads", BOTH, "", "sequential_reads = '50%'"),
    (PHASE, "sequential_writes", BOTH, "", "sequential_writes = '50%'"),
    (PHASE, "align", WRITES, "", "align = '64KiB'"),
    (PHASE, "region", WRITES, "", "region = { size = '1MiB' }"),
    (PHASE, "streams", WRITES, "", "streams = 2"),
    (PHASE, "overlap", BOTH, "", "overlap = '0%'"),
    (PHASE, "address", WRITES, "", "address = { kind = 'sequential' }"),
    (PHASE, "read_address", BOTH, "", "read_address = { kind = 'zipf', theta = 1 }"),
    (PHASE, "load", WRITES, "", "load = { kind = 'cache', log_region = '64KiB' }"),
    (PHASE, "arrivals", WRITES, "", "arrivals = { kind = 'poisson', rate = '1000/s' }"),
    (PHASE, "requests", "writes = '100%'\nsize = '4KiB'\nbytes = '1MiB'", "", "requests = 9"),
    (PHASE, "bytes", WRITES, "", "bytes = '64KiB'"),
    (PHASE, "time", WRITES, "", "time = '1ms'"),
    (REGION, "offset", WRITES, "region = { size = '1MiB' }",
        "region = { size = '1MiB', offset = '1MiB' }"),
    (REGION, "size", WRITES, "region = {}", "region = { size = '1MiB' }"),
    (SIZE, "size", NO_SIZE, "size = [{ size = '4KiB' }]",
        "align = '4KiB'\nsize = [{ size = '8KiB' }]"),
    (SIZE, "weight", NO_SIZE, "size = [{ size = '4KiB' }, { size = '8KiB' }]",
        "size = [{ size = '4KiB', weight = 3 }, { size = '8KiB' }]"),
    (RANGE, "from", NO_SIZE, "size = { from = '4KiB', to = '16KiB', step = '4KiB' }",
        "align = '4KiB'\nsize = { from = '8KiB', to = '16KiB', step = '4KiB' }"),
    (RANGE, "to", NO_SIZE, "size = { from = '4KiB', to = '16KiB' }",
        "size = { from = '4KiB', to = '32KiB' }"),
    (RANGE, "step", NO_SIZE, "size = { from = '4KiB', to = '16KiB' }",
        "size = { from = '4KiB', to = '16KiB', step = '1KiB' }"),
];

#[rustfmt::skip]
const OF_ADDRESSES: &[Row] = &[
    (ADDRESS, "kind", WRITES, "address = { kind = 'uniform' }", "address = { kind = 'sequential' }"),
    (ADDRESS, "stride", WRITES, "address = { kind = 'strided', stride = '4KiB' }",
        "address = { kind = 'strided', stride = '64KiB' }"),
    (ADDRESS, "theta", WRITES, "address = { kind = 'zipf', theta = 0.5 }",
        "address = { kind = 'zipf', theta = 1 }"),
    (ADDRESS, "hot_space", WRITES, "address = { kind = 'hot-cold' }",
        "address = { kind = 'hot-cold', hot_space = '50%' }"),
    (ADDRESS, "hot_accesses", WRITES, "address = { kind = 'hot-cold' }",
        "address = { kind = 'hot-cold', hot_accesses = '50%' }"),
    (ADDRESS, "weights", WRITES, "address = { kind = 'histogram', weights = [1, 2] }",
        "address = { kind = 'histogram', weights = [2, 1] }"),
    (ADDRESS, "spaces", WRITES, "address = { kind = 'histogram', weights = [1, 2] }",
        "address = { kind = 'histogram', weights = [1, 2], spaces = [3, 1] }"),
    (ADDRESS, "file", WRITES, "address = { kind = 'histogram', file = '10,90' }",
        "address = { kind = 'histogram', file = '90,10' }"),
    (ADDRESS, "skew", WRITES, "address = { kind = 'histogram', skew = 's0.9 f0.1 s0.1 f0.9' }",
        "address = { kind = 'histogram', skew = 's0.1 f0.9 s0.9 f0.1' }"),
    (ADDRESS, "scatter", WRITES, "address = { kind = 'zipf', theta = 1 }",
        "address = { kind = 'zipf', theta = 1, scatter = false }"),
    (ADDRESS, "scatter", WRITES, "address = { kind = 'hot-cold' }",
        "address = { kind = 'hot-cold', scatter = true }"),
    (ADDRESS, "scatter", WRITES, "address = { kind = 'histogram', weights = [9, 1] }",
        "address = { kind = 'histogram', weights = [9, 1], scatter = true }"),
    (ADDRESS, "drift", WRITES, "address = { kind = 'zipf', theta = 1 }",
        "address = { kind = 'zipf', theta = 1, drift = { every = 50, by = '10%' } }"),
    (ADDRESS, "drift", WRITES, "address = { kind = 'hot-cold' }",
        "address = { kind = 'hot-cold', drift = { every = 50, by = '10%' } }"),
    (ADDRESS, "drift", WRITES, "address = { kind = 'histogram', weights = [9, 1] }",
        "address = { kind = 'histogram', weights = [9, 1], drift = { every = 50, by = '10%' } }"),
    (DRIFT, "every", WRITES, "address = { kind = 'zipf', theta = 1, drift = { every = 50, by = '10%' } }",
        "address = { kind = 'zipf', theta = 1, drift = { every = 51, by = '10%' } }"),
    (DRIFT, "by", WRITES, "address = { kind = 'zipf', theta = 1, drift = { every = 50, by = '10%' } }",
        "address = { kind = 'zipf', theta = 1, drift = { every = 50, by = '64KiB' } }"),
];

#[rustfmt::skip]
const OF_LOADS: &[Row] = &[
    (LOAD, "kind", OPERATIONS, "load = { kind = 'lsm', data = '3MiB', memtable = '64KiB', file = '32KiB', levels = 2, ratio = 4, l0_files = 2 }",
        "load = { kind = 'cache', log_region = '64KiB' }"),
    (LOAD, "continued", OPERATIONS, "load = { kind = 'lsm', data = '3MiB', memtable = '64KiB', file = '32KiB', levels = 2, ratio = 4, l0_files = 2 }\n[[phase]]\nreads = '10%'\nwrites = '90%'\nrequests = 3000\nload = { kind = 'lsm', data = '3MiB', memtable = '64KiB', file = '32KiB', levels = 2, ratio = 4, l0_files = 2 }",
        "load = { kind = 'lsm', data = '3MiB', memtable = '64KiB', file = '32KiB', levels = 2, ratio = 4, l0_files = 2 }\n[[phase]]\nreads = '10%'\nwrites = '90%'\nrequests = 3000\nload = { kind = 'lsm', data = '3MiB', memtable = '64KiB', file = '32KiB', levels = 2, ratio = 4, l0_files = 2, continued = true }"),
    (LOAD, "data", OPERATIONS, "load = { kind = 'lsm', data = '3MiB', memtable = '64KiB', file = '32KiB', levels = 2, ratio = 4, l0_files = 2 }",
        "load = { kind = 'lsm', data = '2MiB', memtable = '64KiB', file = '32KiB', levels = 2, ratio = 4, l0_files = 2 }"),
    (LOAD, "entry", OPERATIONS, "load = { kind = 'lsm', data = '3MiB', memtable = '64KiB', file = '32KiB', levels = 2, ratio = 4, l0_files = 2 }",
        "load = { kind = 'lsm', data = '3MiB', memtable = '64KiB', file = '32KiB', levels = 2, ratio = 4, l0_files = 2, entry = '2KiB' }"),
    (LOAD, "memtable", OPERATIONS, "load = { kind = 'lsm', data = '3MiB', memtable = '64KiB', file = '32KiB', levels = 2, ratio = 4, l0_files = 2 }",
        "load = { kind = 'lsm', data = '3MiB', memtable = '32KiB', file = '32KiB', levels = 2, ratio = 4, l0_files = 2 }"),
    (LOAD, "file", OPERATIONS, "load = { kind = 'lsm', data = '3MiB', memtable = '64KiB', file = '32KiB', levels = 2, ratio = 4, l0_files = 2 }",
        "load = { kind = 'lsm', data = '3MiB', memtable = '64KiB', file = '64KiB', levels = 2, ratio = 4, l0_files = 2 }"),
    (LOAD, "levels", OPERATIONS, "load = { kind = 'lsm', data = '3MiB', memtable = '64KiB', file = '32KiB', levels = 2, ratio = 4, l0_files = 2 }",
        "load = { kind = 'lsm', data = '3MiB', memtable = '64KiB', file = '32KiB', levels = 3, ratio = 4, l0_files = 2 }"),
    (LOAD, "ratio", OPERATIONS, "load = { kind = 'lsm', data = '3MiB', memtable = '64KiB', file = '32KiB', levels = 2, ratio = 4, l0_files = 2 }",
        "load = { kind = 'lsm', data = '3MiB', memtable = '64KiB', file = '32KiB', levels = 2, ratio = 3, l0_files = 2 }"),
    (LOAD, "l0_files", OPERATIONS, "load = { kind = 'lsm', data = '3MiB', memtable = '64KiB', file = '32KiB', levels = 2, ratio = 4, l0_files = 2 }",
        "load = { kind = 'lsm', data = '3MiB', memtable = '64KiB', file = '32KiB', levels = 2, ratio = 4, l0_files = 3 }"),
    (LOAD, "wal", OPERATIONS, "load = { kind = 'lsm', data = '3MiB', memtable = '64KiB', file = '32KiB', levels = 2, ratio = 4, l0_files = 2 }",
        "load = { kind = 'lsm', data = '3MiB', memtable = '64KiB', file = '32KiB', levels = 2, ratio = 4, l0_files = 2, wal = false }"),
    (LOAD, "small_space", OPERATIONS, "load = { kind = 'cache', log_region = '64KiB' }",
        "load = { kind = 'cache', log_region = '64KiB', small_space = '10%' }"),
    (LOAD, "small_bytes", OPERATIONS, "load = { kind = 'cache', log_region = '64KiB' }",
        "load = { kind = 'cache', log_region = '64KiB', small_bytes = '50%' }"),
    (LOAD, "small_object", OPERATIONS, "load = { kind = 'cache', log_region = '64KiB' }",
        "load = { kind = 'cache', log_region = '64KiB', small_object = '100B' }"),
    (LOAD, "large_object", OPERATIONS, "load = { kind = 'cache', log_region = '64KiB' }",
        "load = { kind = 'cache', log_region = '64KiB', large_object = '8KiB' }"),
    (LOAD, "bucket", OPERATIONS, "load = { kind = 'cache', log_region = '64KiB' }",
        "load = { kind = 'cache', log_region = '64KiB', bucket = '8KiB' }"),
    (LOAD, "log_region", OPERATIONS, "load = { kind = 'cache', log_region = '64KiB' }",
        "load = { kind = 'cache', log_region = '128KiB' }"),
    (LOAD, "data", OPERATIONS, "load = { kind = 'file-system', largest_file = '64KiB', journal = '256KiB' }",
        "load = { kind = 'file-system', largest_file = '64KiB', journal = '256KiB', data = '40%' }"),
    (LOAD, "temporary", OPERATIONS, "load = { kind = 'file-system', largest_file = '64KiB', journal = '256KiB' }",
        "load = { kind = 'file-system', largest_file = '64KiB', journal = '256KiB', temporary = '50%' }"),
    (LOAD, "temporary_data", OPERATIONS, "load = { kind = 'file-system', largest_file = '64KiB', journal = '256KiB' }",
        "load = { kind = 'file-system', largest_file = '64KiB', journal = '256KiB', temporary_data = '512KiB' }"),
    (LOAD, "largest_file", OPERATIONS, "load = { kind = 'file-system', largest_file = '64KiB', journal = '256KiB' }",
        "load = { kind = 'file-system', largest_file = '128KiB', journal = '256KiB' }"),
    (LOAD, "metadata", OPERATIONS, "load = { kind = 'file-system', largest_file = '64KiB', journal = '256KiB' }",
        "load = { kind = 'file-system', largest_file = '64KiB', journal = '256KiB', metadata = '1MiB' }"),
    (LOAD, "journal", OPERATIONS, "load = { kind = 'file-system', largest_file = '64KiB', journal = '256KiB' }",
        "load = { kind = 'file-system', largest_file = '64KiB', journal = '512KiB' }"),
    (LOAD, "commit", OPERATIONS, "load = { kind = 'file-system', largest_file = '64KiB', journal = '256KiB' }",
        "load = { kind = 'file-system', largest_file = '64KiB', journal = '256KiB', commit = 2 }"),
    (LOAD, "data", OPERATIONS, "load = { kind = 'log-file-system', largest_file = '64KiB', segment = '32KiB' }",
        "load = { kind = 'log-file-system', largest_file = '64KiB', segment = '32KiB', data = '40%' }"),
    (LOAD, "temporary", OPERATIONS, "load = { kind = 'log-file-system', largest_file = '64KiB', segment = '32KiB' }",
        "load = { kind = 'log-file-system', largest_file = '64KiB', segment = '32KiB', temporary = '50%' }"),
    (LOAD, "temporary_data", OPERATIONS, "load = { kind = 'log-file-system', largest_file = '64KiB', segment = '32KiB' }",
        "load = { kind = 'log-file-system', largest_file = '64KiB', segment = '32KiB', temporary_data = '512KiB' }"),
    (LOAD, "metadata", OPERATIONS, "load = { kind = 'log-file-system', largest_file = '64KiB', segment = '32KiB' }",
        "load = { kind = 'log-file-system', largest_file = '64KiB', segment = '32KiB', metadata = '1MiB' }"),
    (LOAD, "commit", OPERATIONS, "load = { kind = 'log-file-system', largest_file = '64KiB', segment = '32KiB' }",
        "load = { kind = 'log-file-system', largest_file = '64KiB', segment = '32KiB', commit = 2 }"),
    (LOAD, "largest_file", OPERATIONS, "load = { kind = 'log-file-system', largest_file = '64KiB', segment = '32KiB' }",
        "load = { kind = 'log-file-system', largest_file = '128KiB', segment = '32KiB' }"),
    (LOAD, "segment", OPERATIONS, "load = { kind = 'log-file-system', largest_file = '64KiB', segment = '32KiB' }",
        "load = { kind = 'log-file-system', largest_file = '64KiB', segment = '64KiB' }"),
    (LOAD, "kind", OPERATIONS, "load = { kind = 'file-system', largest_file = '64KiB', journal = '256KiB' }", "load = { kind = 'cache', log_region = '64KiB' }"),
    (LOAD, "continued", OPERATIONS, "load = { kind = 'file-system', largest_file = '64KiB', journal = '256KiB' }\n[[phase]]\nreads = '10%'\nwrites = '90%'\nrequests = 3000\nload = { kind = 'file-system', largest_file = '64KiB', journal = '256KiB' }",
        "load = { kind = 'file-system', largest_file = '64KiB', journal = '256KiB' }\n[[phase]]\nreads = '10%'\nwrites = '90%'\nrequests = 3000\nload = { kind = 'file-system', largest_file = '64KiB', journal = '256KiB', continued = true }"),
];

#[rustfmt::skip]
const OF_ARRIVALS: &[Row] = &[
    (ARRIVALS, "kind", WRITES, "arrivals = { kind = 'constant', rate = '9000/s' }",
        "arrivals = { kind = 'poisson', rate = '9000/s' }"),
    (ARRIVALS, "queue_depth", WRITES, "arrivals = { kind = 'closed' }",
        "arrivals = { kind = 'closed', queue_depth = 3 }"),
    (ARRIVALS, "think_time", WRITES, "arrivals = { kind = 'closed' }",
        "arrivals = { kind = 'closed', think_time = '70us' }"),
    (ARRIVALS, "variation", WRITES,
        "arrivals = { kind = 'clustered', rate = '9000/s', variation = '200%' }",
        "arrivals = { kind = 'clustered', rate = '9000/s', variation = '500%' }"),
    (ARRIVALS, "rate", WRITES,
        "arrivals = { kind = 'clustered', rate = '9000/s', variation = '200%' }",
        "arrivals = { kind = 'clustered', rate = '5000/s', variation = '200%' }"),
    (ARRIVALS, "rate", WRITES, "arrivals = { kind = 'constant', rate = '9000/s' }",
        "arrivals = { kind = 'constant', rate = '5000/s' }"),
    (ARRIVALS, "rate", WRITES, "arrivals = { kind = 'poisson', rate = '9000/s' }",
        "arrivals = { kind = 'poisson', rate = '5000/s' }"),
    (ARRIVALS, "period", WRITES, "arrivals = { kind = 'poisson', period = '90us' }",
        "arrivals = { kind = 'poisson', period = '1ms' }"),
    (ARRIVALS, "period", WRITES, "arrivals = { kind = 'clustered', period = '90us', variation = '300%' }",
        "arrivals = { kind = 'clustered', period = '1ms', variation = '300%' }"),
    (ARRIVALS, "period", WRITES, "arrivals = { kind = 'constant', period = '90us' }",
        "arrivals = { kind = 'constant', period = '80us' }"),
    (ARRIVALS, "period", WRITES,
        "arrivals = { kind = 'bursts', period = '90us', burst_size = 4, burst_period = '1ms' }",
        "arrivals = { kind = 'bursts', period = '80us', burst_size = 4, burst_period = '1ms' }"),
    (ARRIVALS, "burst_size", WRITES,
        "arrivals = { kind = 'bursts', period = '90us', burst_size = 4, burst_period = '1ms' }",
        "arrivals = { kind = 'bursts', period = '90us', burst_size = 5, burst_period = '1ms' }"),
    (ARRIVALS, "burst_period", WRITES,
        "arrivals = { kind = 'bursts', period = '90us', burst_size = 4, burst_period = '1ms' }",
        "arrivals = { kind = 'bursts', period = '90us', burst_size = 4, burst_period = '2ms', burst_offset = '1ms' }"),
    (ARRIVALS, "burst_offset", WRITES,
        "arrivals = { kind = 'bursts', period = '90us', burst_size = 4, burst_period = '1ms' }",
        "arrivals = { kind = 'bursts', period = '90us', burst_size = 4, burst_period = '1ms', burst_offset = '3us' }"),
];

fn rows() -> impl Iterator<Item = &'static Row> {
    TOP.iter().chain(OF_ADDRESSES).chain(OF_LOADS).chain(OF_ARRIVALS)
}

/// Plays a phase on two servers that take 50 us per request.
fn play(phase: &str, rest: &str) -> Vec<Completed> {
    let text = format!("name = 'x'\n[[phase]]\n{phase}\n{rest}\n");
    // The content of a file is its name, with commas for line ends.
    let mut fetch = |name: &str| Ok(name.replace(',', "\n"));
    let workload = Workload::parse("test.toml", &text, &mut fetch)
        .unwrap_or_else(|problems| panic!("{text}\n{problems}"));
    let mut host = Model::new(2, Nanos::from_micros(50), CAPACITY);
    let mut source = Generator::new(&workload, CAPACITY, 1)
        .unwrap_or_else(|problems| panic!("{text}\n{problems}"));
    let mut sink = Keep::default();
    let options = Options::default();
    let replay = Replay { host: &mut host, source: &mut source, sink: &mut sink, options };
    replay.run(&mut |_| ControlFlow::Continue(())).unwrap_or_else(|error| panic!("{error}"));
    sink.completed
}

#[test]
fn every_key_shows() {
    for &(section, key, phase, one, other) in rows() {
        let differs = play(phase, one) != play(phase, other);
        assert!(differs, "{key} of {section} changes nothing: {one:?} or {other:?}");
    }
}

/// A row is needed for each kind of table that allows the key.
#[test]
fn every_key_has_a_row() {
    let all = TABLES.iter().flat_map(|table| {
        let table = table();
        table.all_keys().into_iter().map(move |key| (table.title, key))
    });
    for (table, key) in all.filter(|(table, key)| !LABELS.contains(&(*table, key.name))) {
        let mine = || rows().filter(|row| (row.0, row.1) == (table, key.name));
        let covered = |kind: &&str| mine().any(|row| row.4.contains(&format!("'{kind}'")));
        let Key { name, of, .. } = key;
        assert!(
            mine().next().is_some() && of.iter().all(covered),
            "{name} of {table} has no row for each of its kinds: add two files in which it shows to {}",
            file!()
        );
    }
}

/// No two kinds of a table play alike.
#[test]
fn every_kind_differs() {
    let address = |kind: &&str| match *kind {
        "strided" => "address = { kind = 'strided', stride = '64KiB' }".to_owned(),
        "zipf" => "address = { kind = 'zipf', theta = 1 }".to_owned(),
        "histogram" => "address = { kind = 'histogram', weights = [9, 1] }".to_owned(),
        kind => format!("address = {{ kind = '{kind}' }}"),
    };
    let arrivals = |kind: &&str| match *kind {
        "closed" => "arrivals = { kind = 'closed' }".to_owned(),
        "clustered" => {
            "arrivals = { kind = 'clustered', rate = '9000/s', variation = '300%' }".to_owned()
        }
        "bursts" => {
            "arrivals = { kind = 'bursts', period = '1ms', burst_size = 9, burst_period = '1ms' }"
                .to_owned()
        }
        kind => format!("arrivals = {{ kind = '{kind}', rate = '9000/s' }}"),
    };
    let load = |kind: &&str| match *kind {
        "lsm" => {
            "load = { kind = 'lsm', data = '25%', memtable = '64KiB', file = '32KiB', levels = 2 }"
                .to_owned()
        }
        "file-system" => {
            "load = { kind = 'file-system', largest_file = '64KiB', journal = '256KiB' }".to_owned()
        }
        "log-file-system" => {
            "load = { kind = 'log-file-system', largest_file = '64KiB', segment = '32KiB' }"
                .to_owned()
        }
        kind => format!("load = {{ kind = '{kind}', log_region = '64KiB' }}"),
    };
    let texts = [
        AddressKind::choices().iter().map(|kind| address(&kind.name)).collect::<Vec<_>>(),
        ArrivalKind::choices().iter().map(|kind| arrivals(&kind.name)).collect(),
        LoadKind::choices().iter().map(|kind| load(&kind.name)).collect(),
    ];
    for texts in texts {
        let played: Vec<_> = texts.iter().map(|text| play(WRITES, text)).collect();
        for (at, one) in played.iter().enumerate() {
            let same = played[at + 1..].iter().position(|other| one == other);
            assert!(same.is_none(), "{} plays like another kind", texts[at]);
        }
    }
}
