//! Every key of a workload file, declared once: the reader takes names and defaults from this table,
//! and so does the generated reference.

/// The table of the file in which a key stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// The top of the file.
    File,
    /// One `[[phase]]`.
    Phase,
    /// `phase.region`.
    Region,
    /// An entry of a list of sizes, or a range of sizes.
    Size,
    /// `phase.address`; which keys apply depends on `kind`.
    Address,
    /// `drift` of an address.
    Drift,
    /// `phase.arrivals`; which keys apply depends on `kind`.
    Arrivals,
}

impl Section {
    /// How the section is written in a file.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Section::File => "the top of the file",
            Section::Phase => "[[phase]]",
            Section::Region => "phase.region",
            Section::Size => "phase.size",
            Section::Address => "phase.address",
            Section::Drift => "phase.address.drift",
            Section::Arrivals => "phase.arrivals",
        }
    }
}

/// What a value looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Free text.
    Text,
    /// `true` or `false`.
    Switch,
    /// A whole number.
    Count,
    /// A number with or without a fraction.
    Number,
    /// A size in bytes.
    Size,
    /// A share.
    Share,
    /// A size in bytes or a share of a whole.
    Amount,
    /// A span of time.
    Time,
    /// Requests a second.
    Rate,
    /// A table.
    Table,
    /// A list of numbers.
    Numbers,
    /// A size, a list of sizes with weights, or a range of sizes.
    Sizes,
    /// Several `[[...]]` tables.
    Tables,
}

impl Takes {
    /// The form in words, with an example.
    #[must_use]
    pub fn describe(self) -> &'static str {
        match self {
            Takes::Text => "text in quotes, such as \"main\"",
            Takes::Switch => "true or false",
            Takes::Count => "a whole number, such as 32",
            Takes::Number => "a number, such as 0.99",
            Takes::Size => "a size with its unit, such as \"4KiB\"",
            Takes::Share => "a share in per cent, such as \"70%\"",
            Takes::Amount => "a size or a share, such as \"2GiB\" or \"50%\"",
            Takes::Time => "a time with its unit, such as \"200us\"",
            Takes::Rate => "a rate, such as \"50000/s\"",
            Takes::Table => "a table, such as { kind = \"...\" }",
            Takes::Numbers => "a list of whole numbers, such as [5, 3, 1]",
            Takes::Sizes => {
                "a size (\"4KiB\"), a list ([{ size = \"4KiB\", weight = 3 }, ...]) or a range \
                 ({ from = \"4KiB\", to = \"64KiB\" })"
            }
            Takes::Tables => "one or more [[phase]] tables",
        }
    }
}

/// What holds where a key is not given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Otherwise {
    /// The key must be given.
    Required,
    /// This value, as it would be written in the file.
    Value(&'static str),
    /// Something that depends on the rest, in words.
    Depends(&'static str),
}

/// One key.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Where it stands.
    pub section: Section,
    /// Its name.
    pub name: &'static str,
    /// The kinds to which it applies; empty where the section has no kinds or for all of them.
    pub kinds: &'static [&'static str],
    /// What it takes.
    pub takes: Takes,
    /// What holds without it.
    pub otherwise: Otherwise,
    /// What it means.
    pub doc: &'static str,
}

impl Key {
    /// Whether the key may stand in a table of `section` whose `kind` is `kind`.
    #[must_use]
    pub fn applies(&self, section: Section, kind: &str) -> bool {
        self.section == section && (self.kinds.is_empty() || self.kinds.contains(&kind))
    }
}

/// The kinds of address popularity.
pub const ADDRESS_KINDS: [&str; 6] =
    ["uniform", "sequential", "strided", "zipf", "hot-cold", "histogram"];

/// The kinds of arrivals.
pub const ARRIVAL_KINDS: [&str; 5] = ["closed", "poisson", "clustered", "constant", "bursts"];

/// The forms of a table under `size`.
pub(super) const SIZE_ENTRY: &str = "entry of a list";
pub(super) const SIZE_RANGE: &str = "range";

const SCATTERED: &[&str] = &["zipf", "hot-cold", "histogram"];

macro_rules! keys {
    ($($section:ident . $name:literal $(($($kind:expr),+))? : $takes:ident, $otherwise:expr, $doc:literal;)+) => {
        &[$(Key {
            section: Section::$section,
            name: $name,
            kinds: &[$($($kind),+)?],
            takes: Takes::$takes,
            otherwise: $otherwise,
            doc: $doc,
        }),+]
    };
}

use Otherwise::{Depends, Required, Value};

/// All keys, in the order of the reference.
pub const KEYS: &[Key] = keys![
    File."name": Text, Required, "The name of the workload, as results print it.";
    File."source": Text, Depends("none"), "Where the figures come from: a paper, a trace.";
    File."phase": Tables, Required, "The phases, one after the other: each starts when all requests of the one before have finished.";

    Phase."name": Text, Depends("its number"), "The name of the phase, as results print it.";
    Phase."measure": Switch, Value("true"),
        "Whether results count this phase. A phase that only prepares the device says false.";
    Phase."measure_first": Count, Depends("all of them"),
        "Results count only this many requests of the phase, the first. Those that follow keep the \
         device busy until these are done; then the phase ends. Latencies, throughput and time series \
         leave them out; counters of the device (programs, collection, wear, utilisation) do not.";
    Phase."with_previous": Switch, Value("false"),
        "Whether the phase plays at the same time as the one before it, as a tenant of its own. The \
         phases after them begin when all of them have ended.";
    Phase."first_stream": Count, Depends("0; in tenants after the first, the next free number"),
        "The number of the phase's first stream. A device with several submission queues spreads \
         streams over them.";
    Phase."reads": Share, Value("\"0%\""), "Share of reads. The four shares sum to 100%.";
    Phase."writes": Share, Value("\"0%\""), "Share of writes.";
    Phase."trims": Share, Value("\"0%\""), "Share of trims. They use the addresses of writes.";
    Phase."flushes": Share, Value("\"0%\""), "Share of flushes, which have no address or size.";
    Phase."fua": Share, Value("\"0%\""),
        "Of the writes, the share that is told only when its data is on flash (force unit access).";
    Phase."size": Sizes, Depends("required unless every request is a flush"),
        "Sizes of requests: one, several with weights, or a range drawn uniformly.";
    Phase."write_size": Sizes, Depends("as `size`"),
        "Sizes of writes and trims, where they differ from those of reads.";
    Phase."unaligned": Share, Value("\"0%\""),
        "The share of requests that start at any sector of their place instead of its first. For \
         places drawn by popularity.";
    Phase."inside": Share, Value("\"0%\""),
        "Of the requests smaller than `align`, the share that starts at any sector of its place from which it \
         still ends within it: parts of pages, while larger requests stay aligned. For places drawn by popularity.";
    Phase."sequential_reads": Share, Value("\"0%\""),
        "The share of reads that start where the read before them ended. For places drawn by \
         popularity.";
    Phase."sequential_writes": Share, Value("\"0%\""), "Likewise for writes and trims.";
    Phase."align": Size, Depends("the smallest size"),
        "Every request starts at a multiple of this from the start of the region (whose own start is \
         rounded up to it where it is given as a share).";
    Phase."region": Table, Depends("the whole device"), "The part of the device that is used.";
    Phase."streams": Count, Value("1"),
        "How many streams take turns. Each carries its number; sequential and strided streams walk \
         a slice of the region each.";
    Phase."overlap": Share, Value("\"100%\""),
        "Of the places that reads can reach, the share that writes can reach too (and the other way \
         round). At 100% reads and writes share the region and its popularity; at 0% they never \
         meet. Exact for places of `align`; longer requests reach into their neighbours.";
    Phase."address": Table, Value("{ kind = \"uniform\" }"), "How popular each address is.";
    Phase."read_address": Table, Depends("as `address`"),
        "How popular each address is for reads, where that differs: uniform, zipf, hot-cold or \
         histogram, and scattered as `address` is.";
    Phase."arrivals": Table, Value("{ kind = \"closed\" }"), "When requests arrive.";
    Phase."requests": Count, Depends("no limit"),
        "The phase ends after this many requests. At least one of requests, bytes, time and \
         measure_first is given; the first that is reached counts.";
    Phase."bytes": Amount, Depends("no limit"),
        "The phase ends after this much was read, written and trimmed; a share is one of the \
         region. The last request is shortened to meet it.";
    Phase."time": Time, Depends("no limit"),
        "The phase ends after this much simulated time: no request arrives then or later.";

    Region."offset": Amount, Value("\"0%\""), "Where it starts; a share is one of the device.";
    Region."size": Amount, Depends("the rest of the device"),
        "How long it is; a share is one of the device.";

    Size."size"(SIZE_ENTRY): Size, Required, "A size of the list.";
    Size."weight"(SIZE_ENTRY): Count, Value("1"), "How often it occurs, relative to the others.";
    Size."from"(SIZE_RANGE): Size, Required, "The smallest size of the range.";
    Size."to"(SIZE_RANGE): Size, Required, "The largest size of the range.";
    Size."step"(SIZE_RANGE): Size, Depends("the smallest size"),
        "Sizes are the smallest plus multiples of this.";

    Address."kind": Text, Required,
        "uniform, sequential, strided, zipf, hot-cold or histogram.";
    Address."stride"("strided"): Size, Required,
        "From the start of a request to the start of the next of its stream. After each pass the \
         stream starts one `align` further along.";
    Address."theta"("zipf"): Number, Required,
        "The exponent: the k-th most popular place is hit in proportion to 1 / k^theta. 0 is uniform.";
    Address."hot_space"("hot-cold"): Share, Value("\"20%\""), "The hot share of the region.";
    Address."hot_accesses"("hot-cold"): Share, Value("\"80%\""), "Its share of the accesses.";
    Address."weights"("histogram"): Numbers, Depends("one of weights and file is required"),
        "Accesses to each of as many equal parts of the region, relative to the others.";
    Address."spaces"("histogram"): Numbers, Depends("equal parts"),
        "With `weights`: the space of each part, relative to the others.";
    Address."file"("histogram"): Text, Depends("one of weights and file is required"),
        "A CSV file: `accesses`, or `space,accesses`, one line for each part of the region.";
    Address."scatter"("zipf", "hot-cold", "histogram"): Switch,
        Depends("true for zipf, false otherwise"),
        "Whether places of like popularity are spread over the region, by a fixed permutation, \
         instead of lying side by side with the most popular first.";
    Address."drift"("zipf", "hot-cold", "histogram"): Table, Depends("the order stays"),
        "How the order of popularity moves, so that what was cold turns hot: { every = 10000, by = \"1%\" }.";

    Drift."every": Count, Required,
        "It moves after every so many requests of the phase that have an address.";
    Drift."by": Amount, Required,
        "How far it moves: so much of what is least popular comes to the top, and all other places lose as \
         many ranks. Of a hot share of 20%, a twentieth is replaced by \"1%\". A share is one of the places \
         that reads, or writes, can reach.";

    Arrivals."kind": Text, Required, "closed, poisson, clustered, constant or bursts.";
    Arrivals."queue_depth"("closed"): Count, Value("32"),
        "How many requests are kept outstanding.";
    Arrivals."think_time"("closed"): Time, Value("\"0ns\""),
        "From a completion to the request that replaces it.";
    Arrivals."variation"("clustered"): Share, Required,
        "The squared coefficient of variation of the gaps between requests: 100% is Poisson, real \
         traces have 500% and more. Gaps are exponential, short or long (hyperexponential with \
         balanced means).";
    Arrivals."rate"("poisson", "clustered", "constant"): Rate, Depends("constant may give period instead"),
        "Requests a second.";
    Arrivals."period"("constant", "bursts"): Time,
        Depends("constant may give rate instead; required for bursts"),
        "From one request to the next; the first arrives as the phase starts.";
    Arrivals."burst_size"("bursts"): Count, Required,
        "How many requests a burst adds, all at once.";
    Arrivals."burst_period"("bursts"): Time, Required, "From one burst to the next.";
    Arrivals."burst_offset"("bursts"): Time, Depends("burst_period"),
        "When the first burst comes, counted from the start of the phase.";
];

/// Whether `scatter` holds where it is not given.
pub(super) fn scatters_by_default(kind: &str) -> bool {
    debug_assert!(SCATTERED.contains(&kind));
    kind == "zipf"
}

/// The key `name` of `section`. Panics if the table lacks it: then reader and table disagree.
pub(super) fn key(section: Section, name: &str) -> &'static Key {
    KEYS.iter()
        .find(|key| key.section == section && key.name == name)
        .unwrap_or_else(|| panic!("no key {name} in {section:?}"))
}
