//! All keys of a workload file, declared once for parsing, messages and the reference.
//!
//! Sizes are limited to 2^60 bytes and times to a hundred years, so that sums of two cannot overflow.

use ftlab::options::table::{Document, Field, Form, Given, Key, Table, TableInfo, Tables};
use ftlab::options::value::Raw;
use ftlab::units::{Amount, Bytes, Nanos, Ratio, RequestRate};
use ftlab::{choices, options};

use super::workload::Sizes;

/// The tables of a workload file, in the order of the reference.
pub const TABLES: [fn() -> TableInfo; 9] = [
    FileKeys::info,
    PhaseKeys::info,
    RegionKeys::info,
    SizeKeys::info,
    RangeKeys::info,
    AddressKeys::info,
    DriftKeys::info,
    LoadKeys::info,
    ArrivalKeys::info,
];

/// The most entries in a list of sizes.
const MAX_SIZES: usize = 4096;

choices! {
    /// The kinds of address popularity.
    pub enum AddressKind {
        /// All addresses are equally likely.
        Uniform = "uniform",
        /// Consecutive addresses, separately for each stream, and for reads, writes and trims.
        Sequential = "sequential",
        /// The same with a fixed distance between the starts of requests.
        Strided = "strided",
        /// The k-th most popular place has a probability proportional to 1 / k^theta.
        Zipf = "zipf",
        /// A part of the region receives most accesses.
        HotCold = "hot-cold",
        /// A measured curve.
        Histogram = "histogram",
    }
}

choices! {
    /// The kinds of loads whose data has lifetimes.
    pub enum LoadKind {
        /// An LSM tree with levelled compaction, as in RocksDB. Writes are updates of keys, reads are lookups.
        Lsm = "lsm",
        /// A cache of small and large objects, as in CacheLib. Writes are insertions, reads are lookups.
        Cache = "cache",
        /// A file system with a journal, as ext4. Writes are new files, reads are of whole files.
        FileSystem = "file-system",
        /// A log-structured file system, as F2FS, with the same files.
        LogFileSystem = "log-file-system",
    }
}

choices! {
    /// The kinds of arrivals.
    pub enum ArrivalKind {
        /// A fixed number of requests is kept outstanding.
        Closed = "closed",
        /// Independent arrivals at a mean rate.
        Poisson = "poisson",
        /// Independent arrivals in clusters: gaps are exponential, short or long.
        Clustered = "clustered",
        /// Even arrivals.
        Constant = "constant",
        /// Even arrivals, and additional bursts.
        Bursts = "bursts",
    }
}

options! {
    /// A workload.
    pub struct FileKeys in "the top of the file" {
        /// The name of the workload in results.
        name: String = required;
        /// The source of the figures: a paper, a trace.
        source: String = depends "none";
        /// The phases, in order: each starts when all requests of the previous one have completed.
        phase: Tables<PhaseKeys> = required;
    }
}

options! {
    /// One phase.
    pub struct PhaseKeys in "[[phase]]" {
        /// The name of the phase in results.
        name: String = depends "its number";
        /// Whether results count this phase. A phase that only prepares the device sets this to false.
        measure: bool = "true";
        /// Results count only this many requests of the phase, the first ones. Later requests keep the device busy
        /// until these have completed; then the phase ends. Latencies, throughput and time series exclude them;
        /// counters of the device (programs, collection, wear, utilisation) include them.
        measure_first: u64 = depends "all of them", in "1"..="1000000000000000";
        /// Whether the phase plays at the same time as the previous one, as a separate tenant. The
        /// next phase starts when all of them have ended.
        with_previous: bool = "false";
        /// The number of the phase's first stream. A device with several submission queues
        /// distributes streams over them.
        first_stream: u32 = depends "0; in tenants after the first, the next free number", in "0"..="4096";
        /// The share of reads. The four shares sum to 100%.
        reads: Ratio = "0%";
        /// The share of writes.
        writes: Ratio = "0%";
        /// The share of trims. They use the addresses of writes.
        trims: Ratio = "0%";
        /// The share of flushes, which have no address or size.
        flushes: Ratio = "0%";
        /// The share of writes that complete only when their data is on flash (force unit access).
        fua: Ratio = "0%";
        /// The sizes of requests: one, several with weights, or a range drawn uniformly.
        size: Sizes = depends "`128KiB` with `load`; required unless every request is a flush", in "0B"..="1048576TiB";
        /// The sizes of writes and trims, if they differ from those of reads.
        write_size: Sizes = depends "as `size`", in "0B"..="1048576TiB";
        /// The sizes of trims, if they differ from those of writes.
        trim_size: Sizes = depends "as `write_size`", in "0B"..="1048576TiB";
        /// The share of requests that start at any sector of their place instead of its first. Only
        /// for places chosen by popularity.
        unaligned: Ratio = "0%";
        /// Of the requests smaller than `align`, the share that starts at any sector of its place
        /// from which it still ends within the place: parts of pages, while larger requests stay
        /// aligned. Only for places chosen by popularity.
        inside: Ratio = "0%";
        /// The share of reads that start where the previous read ended. Only for places chosen by popularity.
        sequential_reads: Ratio = "0%";
        /// The same for writes and trims.
        sequential_writes: Ratio = "0%";
        /// Every request starts at a multiple of this from the start of the region (whose own start
        /// is rounded up to a multiple if it is given as a share).
        align: Bytes = depends "the smallest size; `4KiB` with `load`", in "0B"..="1048576TiB";
        /// The part of the device that the phase uses.
        region: RegionKeys = depends "the whole device";
        /// The number of streams, which take turns. Each request carries the number of its stream;
        /// sequential and strided streams each walk a slice of the region.
        streams: u32 = "1", in "1"..="4096";
        /// Of the places that reads can reach, the share that writes can reach too (and vice
        /// versa). At 100% reads and writes share the region and its popularity; at 0% they never
        /// meet. Exact for places of `align`; longer requests extend into neighbouring places.
        overlap: Ratio = "100%";
        /// The popularity of addresses.
        address: AddressKeys = "{ kind = \"uniform\" }";
        /// The popularity of addresses for reads, if it differs: uniform, zipf, hot-cold or
        /// histogram, and scattered like `address`.
        read_address: AddressKeys = depends "as `address`";
        /// An application whose data has lifetimes of its own, instead of independent requests.
        load: LoadKeys = depends "independent requests";
        /// When requests arrive.
        arrivals: ArrivalKeys = "{ kind = \"closed\" }";
        /// The phase ends after this many requests. At least one of requests, bytes, time and
        /// measure_first is required; the first limit reached applies.
        requests: u64 = depends "no limit", in "1"..="1000000000000000";
        /// The phase ends after this amount was read, written and trimmed; a share is of the
        /// region. The last request is shortened to match.
        bytes: Amount = depends "no limit", in "0B"..="1048576TiB";
        /// The phase ends after this much simulated time: no request arrives at or after it.
        time: Nanos = depends "no limit", in "0ns"..="876000h";
    }
}

options! {
    /// The part of the device that a phase uses.
    pub struct RegionKeys in "phase.region" {
        /// The start; a share is of the device.
        offset: Amount = "0%", in "0B"..="1048576TiB";
        /// The length; a share is of the device.
        size: Amount = depends "the rest of the device", in "0B"..="1048576TiB";
    }
}

options! {
    /// A size in a list.
    pub struct SizeKeys in "an entry of phase.size" {
        /// The size.
        size: Bytes = required, in "0B"..="1048576TiB";
        /// How often it occurs, relative to the others.
        weight: u64 = "1", in "1"..="4294967295";
    }
}

options! {
    /// A range of sizes, all equally likely.
    pub struct RangeKeys in "a range of phase.size" {
        /// The smallest size of the range.
        from: Bytes = required, in "0B"..="1048576TiB";
        /// The largest size of the range.
        to: Bytes = required, in "0B"..="1048576TiB";
        /// Sizes are the smallest plus multiples of this.
        step: Bytes = depends "the smallest size", in "0B"..="1048576TiB";
    }
}

options! {
    /// The popularity of addresses.
    pub struct AddressKeys in "phase.address" by kind: AddressKind {
        /// The distance between the starts of consecutive requests of a stream. After each pass the
        /// stream starts one `align` further along.
        stride: Bytes = required, in "0B"..="1048576TiB", of "strided";
        /// The exponent: the k-th most popular place has a probability proportional to 1 / k^theta. 0 is uniform.
        theta: f64 = required, of "zipf";
        /// The hot share of the region.
        hot_space: Ratio = "20%", of "hot-cold";
        /// Its share of the accesses.
        hot_accesses: Ratio = "80%", of "hot-cold";
        /// The accesses of each part of the region, relative to the others. All parts have the same
        /// size unless `spaces` is given.
        weights: Vec<u64> = depends "one of weights, file and skew is required", of "histogram";
        /// With `weights`: the space of each part, relative to the others.
        spaces: Vec<u64> = depends "equal parts", of "histogram";
        /// A CSV file: `accesses` or `space,accesses`, one line for each part of the region.
        file: String = depends "one of weights, file and skew is required", of "histogram";
        /// Zones as text, each with its share of the space (s) and of the accesses (f): "s0.9 f0.1 s0.1 f0.9".
        skew: String = depends "one of weights, file and skew is required", of "histogram";
        /// Whether places of similar popularity are spread over the region by a fixed permutation,
        /// instead of lying side by side with the most popular first.
        scatter: bool = depends "true for zipf, false otherwise", of "zipf" or "hot-cold" or "histogram";
        /// How the order of popularity drifts, so that cold places become hot: { every = 10000, by = "1%" }.
        drift: DriftKeys = depends "the order stays", of "zipf" or "hot-cold" or "histogram";
    }
}

options! {
    /// How a popularity drifts over its places as requests pass.
    pub struct DriftKeys in "phase.address.drift" {
        /// The number of requests with an address between two steps.
        every: u64 = required, in "1"..="1000000000000000";
        /// The size of a step: this much of the least popular places moves to the top, and all
        /// other places lose as many ranks. With a hot share of 20%, "1%" replaces a twentieth of
        /// it. A share is of the places that reads, or writes, can reach.
        by: Amount = required, in "0B"..="1048576TiB";
    }
}

options! {
    /// The load of an application that decides itself what to write, read and trim where. `reads` and `writes` are
    /// shares of its operations, `address` is the popularity of its keys, `size` its largest transfer.
    pub struct LoadKeys in "phase.load" by kind: LoadKind {
        /// Whether the load goes on where the previous phase stopped, which has the same load, region, size, align and
        /// address. Otherwise it starts anew, with all its data at the start of the region.
        continued: bool = "false";
        /// The keys and values, each once, or the space of lasting files; a share is of the region.
        data: Amount = "50%", in "0B"..="1048576TiB", of "lsm" or "file-system" or "log-file-system";
        /// The size of a key with its value.
        entry: Bytes = "1KiB", in "16B"..="1GiB", of "lsm";
        /// The size of a memtable; a share is of the region.
        memtable: Amount = "64MiB", in "0B"..="1048576TiB", of "lsm";
        /// The size of a file; a share is of the region.
        file: Amount = "64MiB", in "0B"..="1048576TiB", of "lsm";
        /// The number of levels below level 0. The last one holds all the data.
        levels: u32 = "3", in "1"..="30", of "lsm";
        /// How many times larger each level is than the one above.
        ratio: u32 = "10", in "2"..="1000", of "lsm";
        /// The files of level 0 that make a compaction.
        l0_files: u32 = "4", in "1"..="1000", of "lsm";
        /// Whether updates are logged before they are in a memtable.
        wal: bool = "true", of "lsm";
        /// The share of the region that holds small objects, in buckets; the rest is the log of large ones.
        small_space: Ratio = "4%", of "cache";
        /// The share of small objects in the bytes that are inserted.
        small_bytes: Ratio = "20%", of "cache";
        /// The size of a small object.
        small_object: Bytes = "300B", in "1B"..="1GiB", of "cache";
        /// The size of a large object.
        large_object: Bytes = "16KiB", in "512B"..="1GiB", of "cache";
        /// The size of a bucket, which an insertion of a small object reads and writes.
        bucket: Bytes = "4KiB", in "512B"..="1GiB", of "cache";
        /// The size of a region of the log; a share is of the phase's region.
        log_region: Amount = "16MiB", in "0B"..="2GiB", of "cache";
        /// The share of temporary files among new ones. The others last.
        temporary: Ratio = "80%", of "file-system" or "log-file-system";
        /// The space of temporary files; a share is of the region. A new file displaces files of its kind at random.
        temporary_data: Amount = "2%", in "0B"..="1048576TiB", of "file-system" or "log-file-system";
        /// The size to which larger files are cut; a share is of the region.
        largest_file: Amount = "16MiB", in "0B"..="1TiB", of "file-system" or "log-file-system";
        /// The space of metadata, which a `file-system` writes in place, or of directories with their nodes; a share is of the region.
        /// `address` is the popularity of its blocks, or of directories.
        metadata: Amount = "1%", in "0B"..="1048576TiB", of "file-system" or "log-file-system";
        /// The space of the journal; a share is of the region.
        journal: Amount = "1%", in "0B"..="1048576TiB", of "file-system";
        /// The new files between two commits, or checkpoints.
        commit: u32 = "100", in "1"..="1000000", of "file-system" or "log-file-system";
        /// The segments of the logs, which are cleaned and trimmed as a whole; a share is of the region.
        segment: Amount = "2MiB", in "0B"..="1TiB", of "log-file-system";
    }
}

options! {
    /// When requests arrive.
    pub struct ArrivalKeys in "phase.arrivals" by kind: ArrivalKind {
        /// The number of outstanding requests.
        queue_depth: u32 = "32", in "1"..="1048576", of "closed";
        /// The time from a completion to the request that replaces it.
        think_time: Nanos = "0ns", in "0ns"..="876000h", of "closed";
        /// The squared coefficient of variation of the gaps between requests: 100% is Poisson; real traces have 500%
        /// and more. Gaps are exponential, short or long (hyperexponential with balanced means).
        variation: Ratio = required, of "clustered";
        /// Requests per second.
        rate: RequestRate = depends "period in its place", of "poisson" or "clustered" or "constant";
        /// The time from one request to the next, the mean one of poisson and clustered. The first of constant and bursts
        /// arrives at the start of the phase.
        period: Nanos = depends "rate in its place", in "0ns"..="876000h",
            of "poisson" or "clustered" or "constant" or "bursts", needed by "bursts";
        /// The number of requests in a burst, all at once.
        burst_size: u32 = required, in "1"..="1048576", of "bursts";
        /// The time from one burst to the next.
        burst_period: Nanos = required, in "0ns"..="876000h", of "bursts";
        /// The time of the first burst, from the start of the phase.
        burst_offset: Nanos = depends "burst_period", in "0ns"..="876000h", of "bursts";
    }
}

/// One size, a list of sizes with weights, or a range.
impl Field for Sizes {
    fn form() -> Form {
        Form::Words(
            "a size (\"4KiB\"), a list ([{ size = \"4KiB\", weight = 3 }, ...]) or a range \
             ({ from = \"4KiB\", to = \"64KiB\" })",
        )
    }

    fn read(document: &mut Document, given: &Given, key: &Key) -> Option<Sizes> {
        match &given.raw {
            Raw::Text(_) | Raw::Number(_) => Bytes::read(document, given, key).map(Sizes::Fixed),
            Raw::Table(_) => {
                let RangeKeys { table, from, to, step } = document.open(given)?;
                table.is_sound.then(|| Sizes::Range { from, to, step: step.unwrap_or(from) })
            }
            Raw::List(list) if list.is_empty() || list.len() > MAX_SIZES => {
                let message = format!("a list of {} sizes, outside 1 to {MAX_SIZES}", list.len());
                document.report(given, message, "give fewer sizes, or a range");
                None
            }
            Raw::List(_) => {
                let Tables(list) = Tables::<SizeKeys>::read(document, given, key)?;
                Some(Sizes::List(list.iter().map(|entry| (entry.size, entry.weight)).collect()))
            }
            Raw::Switch(_) | Raw::Other(_) => document.mismatch(given, key),
        }
    }

    fn stand_in(_: &str) -> Sizes {
        Sizes::Fixed(Bytes::default())
    }
}
