//! What is compared, and where it stands in `result.json`.

use serde::Serialize;
use serde_json::Value;

/// Which way a metric is to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
}

/// One of the figures of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metric {
    /// The place in `result.json`, as a JSON pointer without its first slash.
    pub id: String,
    /// In words.
    pub name: String,
    /// The unit; empty for a ratio.
    pub unit: &'static str,
    /// Which way it is to go.
    pub better: Better,
}

impl Metric {
    /// Its value in a result; none if it is not known.
    pub fn of(&self, result: &Value) -> Option<f64> {
        result.pointer(&format!("/{}", self.id))?.as_f64()
    }
}

/// Operations, as results name them.
pub const OPS: [&str; 4] = ["read", "write", "trim", "flush"];
const LATENCIES: [(&str, &str); 5] =
    [("mean", "mean"), ("p50", "p50"), ("p99", "p99"), ("p99_9", "p99.9"), ("max", "max")];
const HOST: [(&str, &str, &str); 2] = [
    ("report/host/throughput_mb_per_s", "throughput, MB/s", "MB/s"),
    ("report/host/iops", "IOPS", "1/s"),
];
/// Of the write buffer.
const HITS: [(&str, &str, &str); 2] = [
    ("report/cache/write_hit_ratio", "buffer, write hits", ""),
    ("report/cache/read_hit_ratio", "buffer, read hits", ""),
];
const WRITTEN: [(&str, &str, &str); 1] =
    [("report/cache/written_back_pages", "buffer, written back", "pages")];
/// What few buffers do: left out where none did.
const PACKED: [(&str, &str, &str); 1] =
    [("report/cache/packed_programs", "buffer, programs saved", "programs")];
const PADDED: [(&str, &str, &str); 1] = [("report/cache/padded_pages", "buffer, padding", "pages")];
/// Of the read cache, and of a map on flash.
const FOUND: [(&str, &str, &str); 2] = [
    ("report/read_cache/hit_ratio", "read cache, hits", ""),
    ("report/translation/hit_ratio", "map, hits", ""),
];
/// What they cost.
const FETCHED: [(&str, &str, &str); 8] = [
    ("report/read_cache/read_ahead_flash_pages", "read cache, read ahead", "pages"),
    ("report/translation/read_misses", "map, misses of reads", "pages"),
    ("report/translation/write_misses", "map, misses of writes", "pages"),
    ("report/translation/written_back_entries", "map, written back", "entries"),
    ("report/translation/load_reads", "map, pages read", "pages"),
    ("report/translation/eviction_programs", "map, pages for room", "pages"),
    ("report/translation/gc_programs", "map, pages for GC", "pages"),
    ("report/translation/write_ratio", "map, write amplification", ""),
];
/// Of regulated costs.
const COSTS: [(&str, &str, &str); 3] = [
    ("report/cost/reads/high", "reads at high cost", "pages"),
    ("report/cost/programs/high", "programs at high cost", "pages"),
    ("report/cost/rewrites/done", "programmed again", "pages"),
];
/// Left out where there were none.
const RETRIES: [(&str, &str, &str); 1] =
    [("report/cost/reads/with_retries", "reads with retries", "pages")];
const DEVICE: [(&str, &str, &str); 6] = [
    ("report/write_amplification/total_ratio", "write amplification", ""),
    ("report/gc/copied_pages", "GC copies, pages", "pages"),
    ("report/gc/erased_blocks", "GC erases, blocks", "blocks"),
    ("report/wear/erases_per_block_mean", "wear, mean", "erases"),
    ("report/wear/erases_per_block_max", "wear, max", "erases"),
    ("report/wear/erases_per_block_stddev", "wear, deviation", "erases"),
];
/// Of power cuts.
const CUTS: [(&str, &str, &str); 2] = [
    ("power_cuts/recovery_mean_ns", "power cuts, until ready", "ns"),
    ("power_cuts/recovery_most_ns", "power cuts, longest", "ns"),
];
/// Left out where there was none of it.
const KEPT_UP: [(&str, &str, &str); 1] =
    [("power_cuts/hold_up_mean_ns", "power cuts, kept up", "ns")];
const CUT_READS: [(&str, &str, &str); 2] = [
    ("power_cuts/spare_reads_mean", "power cuts, spares read", "reads"),
    ("power_cuts/lost_pages_mean", "power cuts, pages lost", "pages"),
];

fn metric(id: impl Into<String>, name: String, unit: &'static str, better: Better) -> Metric {
    Metric { id: id.into(), name, unit, better }
}

/// Those that any of the results knows, in the order in which they are shown.
pub fn known_in<'a>(results: impl Iterator<Item = &'a Value> + Clone) -> Vec<Metric> {
    let of = |list: &[(&str, &str, &'static str)], better: Better| -> Vec<Metric> {
        let one = |&(id, name, unit): &(&str, &str, &'static str)| {
            metric(id, name.to_owned(), unit, better)
        };
        list.iter().map(one).collect()
    };
    let latencies = OPS.iter().flat_map(|op| {
        LATENCIES.iter().map(move |(key, name)| {
            let id = format!("report/host/{op}/latency_ns/{key}");
            metric(id, format!("{op} latency, {name}"), "ns", Better::Lower)
        })
    });
    let known = |metric: &Metric| results.clone().any(|result| metric.of(result).is_some());
    let occurs = |metric: &Metric| results.clone().any(|result| metric.of(result) > Some(0.0));
    let rare = of(&PACKED, Better::Higher).into_iter().chain(of(&PADDED, Better::Lower));
    let all = of(&HOST, Better::Higher).into_iter().chain(latencies);
    let all = all.chain(of(&HITS, Better::Higher)).chain(of(&WRITTEN, Better::Lower));
    let all = all.filter(known).chain(rare.filter(occurs));
    let found = of(&FOUND, Better::Higher).into_iter().chain(of(&FETCHED, Better::Lower));
    let all = all.chain(found.filter(known));
    let all = all.chain(of(&COSTS, Better::Lower).into_iter().filter(known));
    let all = all.chain(of(&RETRIES, Better::Lower).into_iter().filter(occurs));
    let all = all.chain(of(&DEVICE, Better::Lower).into_iter().filter(known));
    let all = all.chain(of(&CUTS, Better::Lower).into_iter().filter(known));
    let all = all.chain(of(&KEPT_UP, Better::Lower).into_iter().filter(occurs));
    all.chain(of(&CUT_READS, Better::Lower).into_iter().filter(known)).collect()
}
