//! Every key of a workload file, declared once: from here come the reading, the messages and the reference.
//!
//! Sizes end at 2^60 bytes and times at a hundred years: sums of two stay far from the end of 64 bits.

use ftlab::options::table::{Document, Field, Form, Given, Key, Table, TableInfo, Tables};
use ftlab::options::value::Raw;
use ftlab::units::{Amount, Bytes, Nanos, Ratio, RequestRate};
use ftlab::{choices, options};

use super::workload::Sizes;

/// The tables of a workload file, in the order of the reference.
pub const TABLES: [fn() -> TableInfo; 8] = [
    FileKeys::info,
    PhaseKeys::info,
    RegionKeys::info,
    SizeKeys::info,
    RangeKeys::info,
    AddressKeys::info,
    DriftKeys::info,
    ArrivalKeys::info,
];

/// The most entries in a list of sizes.
const MAX_SIZES: usize = 4096;

choices! {
    /// The kinds of address popularity.
    pub enum AddressKind {
        /// All addresses alike.
        Uniform = "uniform",
        /// One after the other, for each stream, and apart for reads, writes and trims.
        Sequential = "sequential",
        /// Likewise, with a fixed distance between the starts of requests.
        Strided = "strided",
        /// The k-th most popular place in proportion to 1 / k^theta.
        Zipf = "zipf",
        /// A part of the region takes most accesses.
        HotCold = "hot-cold",
        /// A measured curve.
        Histogram = "histogram",
    }
}

choices! {
    /// The kinds of arrivals.
    pub enum ArrivalKind {
        /// A fixed number of requests is kept outstanding.
        Closed = "closed",
        /// Independent of each other, at a mean rate.
        Poisson = "poisson",
        /// Independent of each other, in clusters: gaps are exponential, short or long.
        Clustered = "clustered",
        /// Evenly.
        Constant = "constant",
        /// Evenly, with bursts on top.
        Bursts = "bursts",
    }
}

options! {
    /// A workload.
    pub struct FileKeys in "the top of the file" {
        /// The name of the workload, as results print it.
        name: String = required;
        /// Where the figures come from: a paper, a trace.
        source: String = depends "none";
        /// The phases, one after the other: each starts when all requests of the one before have finished.
        phase: Tables<PhaseKeys> = required;
    }
}

options! {
    /// One phase.
    pub struct PhaseKeys in "[[phase]]" {
        /// The name of the phase, as results print it.
        name: String = depends "its number";
        /// Whether results count this phase. A phase that only prepares the device says false.
        measure: bool = "true";
        /// Results count only this many requests of the phase, the first. Those that follow keep the device busy until
        /// these are done; then the phase ends. Latencies, throughput and time series leave them out; counters of the
        /// device (programs, collection, wear, utilisation) do not.
        measure_first: u64 = depends "all of them", in "1"..="1000000000000000";
        /// Whether the phase plays at the same time as the one before it, as a tenant of its own. The phases after them
        /// begin when all of them have ended.
        with_previous: bool = "false";
        /// The number of the phase's first stream. A device with several submission queues spreads streams over them.
        first_stream: u32 = depends "0; in tenants after the first, the next free number", in "0"..="4096";
        /// Share of reads. The four shares sum to 100%.
        reads: Ratio = "0%";
        /// Share of writes.
        writes: Ratio = "0%";
        /// Share of trims. They use the addresses of writes.
        trims: Ratio = "0%";
        /// Share of flushes, which have no address or size.
        flushes: Ratio = "0%";
        /// Of the writes, the share that is told only when its data is on flash (force unit access).
        fua: Ratio = "0%";
        /// Sizes of requests: one, several with weights, or a range drawn uniformly.
        size: Sizes = depends "required unless every request is a flush", in "0B"..="1048576TiB";
        /// Sizes of writes and trims, where they differ from those of reads.
        write_size: Sizes = depends "as `size`", in "0B"..="1048576TiB";
        /// The share of requests that start at any sector of their place instead of its first. For places drawn by
        /// popularity.
        unaligned: Ratio = "0%";
        /// Of the requests smaller than `align`, the share that starts at any sector of its place from which it still ends
        /// within it: parts of pages, while larger requests stay aligned. For places drawn by popularity.
        inside: Ratio = "0%";
        /// The share of reads that start where the read before them ended. For places drawn by popularity.
        sequential_reads: Ratio = "0%";
        /// Likewise for writes and trims.
        sequential_writes: Ratio = "0%";
        /// Every request starts at a multiple of this from the start of the region (whose own start is rounded up to it
        /// where it is given as a share).
        align: Bytes = depends "the smallest size", in "0B"..="1048576TiB";
        /// The part of the device that is used.
        region: RegionKeys = depends "the whole device";
        /// How many streams take turns. Each carries its number; sequential and strided streams walk a slice of the region
        /// each.
        streams: u32 = "1", in "1"..="4096";
        /// Of the places that reads can reach, the share that writes can reach too (and the other way round). At 100% reads
        /// and writes share the region and its popularity; at 0% they never meet. Exact for places of `align`; longer
        /// requests reach into their neighbours.
        overlap: Ratio = "100%";
        /// How popular each address is.
        address: AddressKeys = "{ kind = \"uniform\" }";
        /// How popular each address is for reads, where that differs: uniform, zipf, hot-cold or histogram, and scattered
        /// as `address` is.
        read_address: AddressKeys = depends "as `address`";
        /// When requests arrive.
        arrivals: ArrivalKeys = "{ kind = \"closed\" }";
        /// The phase ends after this many requests. At least one of requests, bytes, time and measure_first is given; the
        /// first that is reached counts.
        requests: u64 = depends "no limit", in "1"..="1000000000000000";
        /// The phase ends after this much was read, written and trimmed; a share is one of the region. The last request is
        /// shortened to meet it.
        bytes: Amount = depends "no limit", in "0B"..="1048576TiB";
        /// The phase ends after this much simulated time: no request arrives then or later.
        time: Nanos = depends "no limit", in "0ns"..="876000h";
    }
}

options! {
    /// The part of the device that a phase uses.
    pub struct RegionKeys in "phase.region" {
        /// Where it starts; a share is one of the device.
        offset: Amount = "0%", in "0B"..="1048576TiB";
        /// How long it is; a share is one of the device.
        size: Amount = depends "the rest of the device", in "0B"..="1048576TiB";
    }
}

options! {
    /// A size of several.
    pub struct SizeKeys in "an entry of phase.size" {
        /// A size of the list.
        size: Bytes = required, in "0B"..="1048576TiB";
        /// How often it occurs, relative to the others.
        weight: u64 = "1", in "1"..="4294967295";
    }
}

options! {
    /// Sizes of a range, all equally likely.
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
    /// How popular each address is.
    pub struct AddressKeys in "phase.address" by kind: AddressKind {
        /// From the start of a request to the start of the next of its stream. After each pass the stream starts one
        /// `align` further along.
        stride: Bytes = required, in "0B"..="1048576TiB", of "strided";
        /// The exponent: the k-th most popular place is hit in proportion to 1 / k^theta. 0 is uniform.
        theta: f64 = required, of "zipf";
        /// The hot share of the region.
        hot_space: Ratio = "20%", of "hot-cold";
        /// Its share of the accesses.
        hot_accesses: Ratio = "80%", of "hot-cold";
        /// Accesses to each of as many equal parts of the region, relative to the others.
        weights: Vec<u64> = depends "one of weights and file is required", of "histogram";
        /// With `weights`: the space of each part, relative to the others.
        spaces: Vec<u64> = depends "equal parts", of "histogram";
        /// A CSV file: `accesses`, or `space,accesses`, one line for each part of the region.
        file: String = depends "one of weights and file is required", of "histogram";
        /// Whether places of like popularity are spread over the region, by a fixed permutation, instead of lying side
        /// by side with the most popular first.
        scatter: bool = depends "true for zipf, false otherwise", of "zipf" or "hot-cold" or "histogram";
        /// How the order of popularity moves, so that what was cold turns hot: { every = 10000, by = "1%" }.
        drift: DriftKeys = depends "the order stays", of "zipf" or "hot-cold" or "histogram";
    }
}

options! {
    /// How a popularity moves over its places as requests pass.
    pub struct DriftKeys in "phase.address.drift" {
        /// It moves after every so many requests of the phase that have an address.
        every: u64 = required, in "1"..="1000000000000000";
        /// How far it moves: so much of what is least popular comes to the top, and all other places lose as many ranks. Of
        /// a hot share of 20%, a twentieth is replaced by "1%". A share is one of the places that reads, or writes, can
        /// reach.
        by: Amount = required, in "0B"..="1048576TiB";
    }
}

options! {
    /// When requests arrive.
    pub struct ArrivalKeys in "phase.arrivals" by kind: ArrivalKind {
        /// How many requests are kept outstanding.
        queue_depth: u32 = "32", in "1"..="1048576", of "closed";
        /// From a completion to the request that replaces it.
        think_time: Nanos = "0ns", in "0ns"..="876000h", of "closed";
        /// The squared coefficient of variation of the gaps between requests: 100% is Poisson, real traces have 500% and
        /// more. Gaps are exponential, short or long (hyperexponential with balanced means).
        variation: Ratio = required, of "clustered";
        /// Requests a second.
        rate: RequestRate = depends "constant may give period instead", of "poisson" or "clustered" or "constant",
            needed by "poisson" or "clustered";
        /// From one request to the next; the first arrives as the phase starts.
        period: Nanos = depends "constant may give rate instead", in "0ns"..="876000h",
            of "constant" or "bursts", needed by "bursts";
        /// How many requests a burst adds, all at once.
        burst_size: u32 = required, in "1"..="1048576", of "bursts";
        /// From one burst to the next.
        burst_period: Nanos = required, in "0ns"..="876000h", of "bursts";
        /// When the first burst comes, counted from the start of the phase.
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
                let RangeKeys { table, from, to, step } = document.open(given);
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
