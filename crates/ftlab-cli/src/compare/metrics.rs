//! The metrics of comparisons, and their places in `result.json`.

use serde::Serialize;
use serde_json::Value;

use crate::tenants::queue_labels;

/// Which direction of a metric is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
}

/// One figure of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metric {
    /// The place in `result.json`, as a JSON pointer without its leading slash.
    pub id: String,
    /// The name in words.
    pub name: String,
    /// The unit; empty for a ratio.
    pub unit: &'static str,
    /// Which direction is better.
    pub better: Better,
}

impl Metric {
    /// Returns its value in a result, if known.
    pub fn of(&self, result: &Value) -> Option<f64> {
        result.pointer(&format!("/{}", self.id))?.as_f64()
    }
}

/// The names of operations in results.
pub const OPS: [&str; 4] = ["read", "write", "trim", "flush"];
const LATENCIES: [(&str, &str); 5] =
    [("mean", "mean"), ("p50", "p50"), ("p99", "p99"), ("p99_9", "p99.9"), ("max", "max")];
const HOST: [(&str, &str, &str); 2] = [
    ("report/host/throughput_mb_per_s", "throughput, MB/s", "MB/s"),
    ("report/host/iops", "IOPS", "1/s"),
];
/// How evenly the queues were served.
const FAIRNESS: [(&str, &str, &str); 3] = [
    ("report/host/fairness/jain_bytes_ratio", "fairness, bytes", ""),
    ("report/host/fairness/jain_requests_ratio", "fairness, requests", ""),
    ("report/host/fairness/min_over_max_bytes_ratio", "fairness, least / most", ""),
];
/// The write buffer.
const HITS: [(&str, &str, &str); 2] = [
    ("report/cache/write_hit_ratio", "buffer, write hits", ""),
    ("report/cache/read_hit_ratio", "buffer, read hits", ""),
];
const WRITTEN: [(&str, &str, &str); 1] =
    [("report/cache/written_back_pages", "buffer, written back", "pages")];
/// Counts of few buffers; omitted if all are zero.
const PACKED: [(&str, &str, &str); 1] =
    [("report/cache/packed_programs", "buffer, programs saved", "programs")];
const PADDED: [(&str, &str, &str); 1] = [("report/cache/padded_pages", "buffer, padding", "pages")];
/// Hit ratios of the read cache and of a map on flash.
const FOUND: [(&str, &str, &str); 2] = [
    ("report/read_cache/hit_ratio", "read cache, hits", ""),
    ("report/translation/hit_ratio", "map, hits", ""),
];
/// What the misses cost.
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
/// Costs of flash commands, if they are regulated.
const COSTS: [(&str, &str, &str); 3] = [
    ("report/cost/reads/high", "reads at high cost", "pages"),
    ("report/cost/programs/high", "programs at high cost", "pages"),
    ("report/cost/rewrites/done", "rewrites", "pages"),
];
/// Omitted if all are zero.
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
/// Omitted if zero.
const PADDING: [(&str, &str, &str); 1] =
    [("report/write_amplification/padding_pages", "padding, pages", "pages")];
/// Power cuts.
const CUTS: [(&str, &str, &str); 2] = [
    ("power_cuts/recovery_mean_ns", "power cuts, until ready", "ns"),
    ("power_cuts/recovery_most_ns", "power cuts, longest", "ns"),
];
/// Omitted if zero.
const KEPT_UP: [(&str, &str, &str); 1] =
    [("power_cuts/hold_up_mean_ns", "power cuts, hold-up", "ns")];
const CUT_READS: [(&str, &str, &str); 2] = [
    ("power_cuts/spare_reads_mean", "power cuts, spares read", "reads"),
    ("power_cuts/lost_pages_mean", "power cuts, pages lost", "pages"),
];

fn metric(id: impl Into<String>, name: String, unit: &'static str, better: Better) -> Metric {
    Metric { id: id.into(), name, unit, better }
}

/// Returns the metrics that any of the results has, in the order of the table.
pub fn known_in<'a>(results: impl Iterator<Item = &'a Value> + Clone) -> Vec<Metric> {
    let of = |list: &[(&str, &str, &'static str)], better: Better| -> Vec<Metric> {
        let one = |&(id, name, unit): &(&str, &str, &'static str)| {
            metric(id, name.to_owned(), unit, better)
        };
        list.iter().map(one).collect()
    };
    let latencies = OPS.iter().flat_map(|op| latencies("report/host", "", op));
    let unreadable = OPS.iter().map(|op| {
        let id = format!("report/host/{op}/unreadable_requests");
        metric(id, format!("{op}s, unreadable"), "requests", Better::Lower)
    });
    let known = |metric: &Metric| results.clone().any(|result| metric.of(result).is_some());
    let occurs = |metric: &Metric| results.clone().any(|result| metric.of(result) > Some(0.0));
    let rare = of(&PACKED, Better::Higher).into_iter().chain(of(&PADDED, Better::Lower));
    let all = of(&HOST, Better::Higher).into_iter().chain(latencies);
    let all = all.filter(known).chain(unreadable.filter(occurs));
    let all = all.chain(of_queues(results.clone()).into_iter().filter(occurs));
    let all = all.chain(of(&FAIRNESS, Better::Higher).into_iter().filter(known));
    let buffer = of(&HITS, Better::Higher).into_iter().chain(of(&WRITTEN, Better::Lower));
    let all = all.chain(buffer.filter(known)).chain(rare.filter(occurs));
    let found = of(&FOUND, Better::Higher).into_iter().chain(of(&FETCHED, Better::Lower));
    let all = all.chain(found.filter(known));
    let all = all.chain(of(&COSTS, Better::Lower).into_iter().filter(known));
    let all = all.chain(of(&RETRIES, Better::Lower).into_iter().filter(occurs));
    let all = all.chain(of(&DEVICE, Better::Lower).into_iter().filter(known));
    let all = all.chain(of(&PADDING, Better::Lower).into_iter().filter(occurs));
    let all = all.chain(of(&CUTS, Better::Lower).into_iter().filter(known));
    let all = all.chain(of(&KEPT_UP, Better::Lower).into_iter().filter(occurs));
    all.chain(of(&CUT_READS, Better::Lower).into_iter().filter(known)).collect()
}

/// Returns the latencies of an operation. `whose` is a prefix for their names.
fn latencies(place: &str, whose: &str, op: &str) -> impl Iterator<Item = Metric> {
    LATENCIES.iter().map(move |(key, name)| {
        let id = format!("{place}/{op}/latency_ns/{key}");
        metric(id, format!("{whose}{op} latency, {name}"), "ns", Better::Lower)
    })
}

/// With more queues than this there are no rows by queue; nobody reads hundreds of rows.
const MOST_QUEUES: usize = 16;

/// Returns the tenants of each queue of a result.
fn tenants(result: &Value) -> Vec<Vec<String>> {
    let queues = result.pointer("/report/host/queues").and_then(Value::as_array);
    let names = |queue: &Value| {
        let names = queue["tenants"].as_array().into_iter().flatten();
        names.filter_map(|name| Some(name.as_str()?.to_owned())).collect()
    };
    queues.into_iter().flatten().map(names).collect()
}

/// Returns a note on why queues are not compared one by one, if any result has several.
pub fn queues_apart<'a>(results: impl Iterator<Item = &'a Value> + Clone) -> Option<String> {
    let most = results.clone().map(|result| tenants(result).len()).max().unwrap_or(0);
    match common_queues(results) {
        Some(queues) if queues.len() > MOST_QUEUES => Some(format!(
            "There are no rows for {most} submission queues; result.json of each run has them (report/host/queues)."
        )),
        Some(_) => None,
        None => Some(
            "The variants differ in their submission queues, or in who uses them, so there are no rows by queue."
                .to_owned(),
        ),
    }
}

/// Returns the queues with their tenants, if all results have the same.
fn common_queues<'a>(mut results: impl Iterator<Item = &'a Value>) -> Option<Vec<Vec<String>>> {
    let first = results.next().map(tenants).unwrap_or_default();
    results.all(|result| tenants(result) == first).then_some(first)
}

/// Returns the metrics of each queue, if all results have the same queues.
fn of_queues<'a>(results: impl Iterator<Item = &'a Value>) -> Vec<Metric> {
    let queues = common_queues(results).filter(|queues| queues.len() <= MOST_QUEUES);
    let queues = queues.unwrap_or_default();
    let of_queue = |(at, label): (usize, String)| {
        let whose = format!("{label}: ");
        let place = format!("report/host/queues/{at}");
        let rates = HOST.map(|(id, name, unit)| {
            let id = id.replacen("report/host", &place, 1);
            metric(id, format!("{whose}{name}"), unit, Better::Higher)
        });
        let latencies = OPS.iter().flat_map(|op| latencies(&place, &whose, op).collect::<Vec<_>>());
        rates.into_iter().chain(latencies).collect::<Vec<_>>()
    };
    let labels = queue_labels(queues.iter().map(Vec::as_slice));
    labels.into_iter().enumerate().flat_map(of_queue).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn result(names: &[&str]) -> Value {
        let latency = json!({"mean": 1.0, "p50": 2, "p99": null, "p99_9": null, "max": 3});
        let queue = |name: &&str| {
            json!({
                "tenants": [name], "iops": 7.0, "throughput_mb_per_s": 3.0,
                "read": {"latency_ns": latency.clone()},
            })
        };
        let queues: Vec<Value> = names.iter().map(queue).collect();
        json!({"report": {"host": {"queues": queues}}})
    }

    fn names(results: &[Value]) -> Vec<String> {
        known_in(results.iter()).into_iter().map(|metric| metric.name).collect()
    }

    #[test]
    fn queues_have_rows_where_all_results_have_the_same() {
        let same = [result(&["a", "b"]), result(&["a", "b"])];
        let rows = names(&same);
        let of_a = [
            "throughput, MB/s",
            "IOPS",
            "read latency, mean",
            "read latency, p50",
            "read latency, max",
        ];
        assert_eq!(rows[..5], of_a.map(|name| format!("a: {name}")));
        assert_eq!((rows.len(), &*rows[5]), (10, "b: throughput, MB/s"));
        assert_eq!(queues_apart(same.iter()), None);
        let last = &known_in(same.iter())[9];
        assert_eq!(
            (&*last.id, last.of(&same[0])),
            ("report/host/queues/1/read/latency_ns/max", Some(3.0))
        );
        for other in [result(&["b", "a"]), result(&["a"]), result(&["a", "b", "c"]), json!({})] {
            let differ = [same[0].clone(), other];
            assert_eq!(names(&differ), [""; 0]);
            assert!(queues_apart(differ.iter()).unwrap().contains("differ"));
        }
        assert_eq!(queues_apart([json!({}), json!({})].iter()), None);
    }

    #[test]
    fn rows_of_queues_with_long_names_differ() {
        for (one, other) in [
            ("customer-database-primary-a", "customer-database-primary-b"),
            ("customer-database-1-of-primary", "customer-database-2-of-primary"),
        ] {
            let rows = names(&[result(&[one, other]), result(&[one, other])]);
            let different: std::collections::BTreeSet<_> = rows.iter().collect();
            assert_eq!((rows.len(), different.len()), (10, 10), "{rows:?}");
        }
    }

    #[test]
    fn many_queues_have_no_rows_but_a_note() {
        let many = |count: usize| [result(&vec!["a"; count]), result(&vec!["a"; count])];
        assert_eq!(names(&many(MOST_QUEUES)).len(), 5 * MOST_QUEUES);
        assert_eq!(queues_apart(many(MOST_QUEUES).iter()), None);
        assert_eq!(names(&many(MOST_QUEUES + 1)), [""; 0]);
        assert!(
            queues_apart(many(MOST_QUEUES + 1).iter()).unwrap().contains("Of 17 submission queues")
        );
    }
}
