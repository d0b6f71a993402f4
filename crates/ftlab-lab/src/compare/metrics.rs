//! The metrics of comparisons, and their places in `result.json`.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::tenants::queue_labels;

/// Which direction of a metric is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
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

/// The places in `result.json` that the keys of metrics leave out.
const LEFT_OUT: [&str; 2] = ["report/", "host/"];
/// The endings of units that the keys of metrics leave out.
const UNITS: [&str; 4] = ["_ns", "_ratio", "_mb_per_s", "_j"];

impl Metric {
    /// Returns its key: the place without the parts that all metrics share, and without units, such as
    /// `read.latency.p99`. The column of a table is named by it.
    #[must_use]
    pub fn key(&self) -> String {
        key_of(&self.id)
    }

    /// Returns its value in a result, if known.
    #[must_use]
    pub fn of(&self, result: &Value) -> Option<f64> {
        result.pointer(&format!("/{}", self.id))?.as_f64()
    }
}

/// Returns the key of the metric at this place.
pub(super) fn key_of(id: &str) -> String {
    let place = LEFT_OUT.iter().fold(id, |id, part| id.strip_prefix(part).unwrap_or(id));
    let bare = |part: &str| {
        UNITS.iter().find_map(|unit| part.strip_suffix(unit)).unwrap_or(part).to_owned()
    };
    place.split('/').map(bare).collect::<Vec<_>>().join(".")
}

/// The metrics that pages open with, by their keys.
pub const MAIN: [&str; 8] = [
    "throughput",
    "read.latency.mean",
    "read.latency.p99",
    "read.latency.p99_9",
    "write.latency.mean",
    "write.latency.p99",
    "write_amplification.total",
    "gc.erased_blocks",
];

/// The names of operations in results.
pub const OPS: [&str; 4] = ["read", "write", "trim", "flush"];
const LATENCIES: [(&str, &str); 5] =
    [("mean", "mean"), ("p50", "p50"), ("p99", "p99"), ("p99_9", "p99.9"), ("max", "max")];
const HOST: [(&str, &str, &str); 2] = [
    ("report/host/throughput_mb_per_s", "throughput, MB/s", "MB/s"),
    ("report/host/iops", "IOPS", "1/s"),
];
/// The other figures, in the order in which they are shown: which way each is to go, and whether it is left out where it
/// is 0 everywhere. Counters of a section follow the last of its figures.
const FIGURES: &[(&str, &str, &str, Better, bool)] = {
    use Better::{Higher, Lower};
    &[
        ("report/host/fairness/jain_bytes_ratio", "fairness, bytes", "", Higher, false),
        ("report/host/fairness/jain_requests_ratio", "fairness, requests", "", Higher, false),
        (
            "report/host/fairness/min_over_max_bytes_ratio",
            "fairness, least / most",
            "",
            Higher,
            false,
        ),
        ("report/cache/write_hit_ratio", "buffer, write hits", "", Higher, false),
        ("report/cache/read_hit_ratio", "buffer, read hits", "", Higher, false),
        ("report/read_cache/hit_ratio", "read cache, hits", "", Higher, false),
        ("report/translation/hit_ratio", "map, hits", "", Higher, false),
        ("report/translation/load_reads", "map, reads", "reads", Lower, false),
        (
            "report/translation/eviction_programs",
            "map, programs for room",
            "programs",
            Lower,
            false,
        ),
        ("report/translation/gc_programs", "map, programs for GC", "programs", Lower, false),
        ("report/translation/write_ratio", "map, write amplification", "", Lower, false),
        ("report/cost/reads/high", "reads at high cost", "reads", Lower, false),
        ("report/cost/programs/high", "programs at high cost", "programs", Lower, false),
        ("report/cost/reads/with_retries", "reads with retries", "reads", Lower, true),
        ("report/write_amplification/total_ratio", "write amplification", "", Lower, false),
        (
            "host_translation/host_write_amplification_ratio",
            "write amplification, by the host",
            "",
            Lower,
            false,
        ),
        (
            "host_translation/device_write_amplification_ratio",
            "write amplification, by the device",
            "",
            Lower,
            false,
        ),
        (
            "host_translation/total_write_amplification_ratio",
            "the product of both",
            "",
            Lower,
            false,
        ),
        ("host_translation/cleaned_zones", "zones that the host cleaned", "zones", Lower, true),
        ("report/gc/erased_blocks", "GC erases, blocks", "blocks", Lower, false),
        ("report/wear/erases_per_block_mean", "wear, mean", "erases", Lower, false),
        ("report/wear/erases_per_block_max", "wear, max", "erases", Lower, false),
        ("report/wear/erases_per_block_stddev", "wear, deviation", "erases", Lower, false),
        ("report/energy/total_j", "energy", "J", Lower, false),
        ("report/energy/read_j", "energy, reads", "J", Lower, false),
        ("report/energy/program_j", "energy, programs", "J", Lower, false),
        ("report/energy/erase_j", "energy, erases", "J", Lower, false),
        ("report/energy/transfer_j", "energy, transfers", "J", Lower, false),
        ("report/energy/per_host_gb_j", "energy per host GB", "J", Lower, false),
        ("power_cuts/recovery_mean_ns", "power cuts, until ready", "ns", Lower, false),
        ("power_cuts/recovery_most_ns", "power cuts, longest", "ns", Lower, false),
        ("power_cuts/hold_up_mean_ns", "power cuts, hold-up", "ns", Lower, true),
        ("power_cuts/spare_reads_mean", "power cuts, spares read", "reads", Lower, false),
        ("power_cuts/lost_pages_mean", "power cuts, pages lost", "pages", Lower, false),
    ]
};

fn metric(id: impl Into<String>, name: String, unit: &'static str, better: Better) -> Metric {
    Metric { id: id.into(), name, unit, better }
}

/// Returns the metrics that any of the results has, in the order of the table.
pub fn known_in<'a>(results: impl Iterator<Item = &'a Value> + Clone) -> Vec<Metric> {
    let known = |metric: &Metric| results.clone().any(|result| metric.of(result).is_some());
    let occurs = |metric: &Metric| results.clone().any(|result| metric.of(result) > Some(0.0));
    let shown = |metrics: Vec<(Metric, bool)>| {
        let metrics = metrics.into_iter();
        let shown =
            metrics.filter(|(metric, if_any)| if *if_any { occurs(metric) } else { known(metric) });
        shown.map(|(metric, _)| metric).collect::<Vec<Metric>>()
    };
    let queues = of_queues(results.clone()).into_iter().filter(occurs);
    shown(of_host()).into_iter().chain(queues).chain(shown(figures_and_counters())).collect()
}

/// The metrics of the host, each with whether it is left out where it is 0 everywhere.
fn of_host() -> Vec<(Metric, bool)> {
    let rates = HOST.map(|(id, name, unit)| metric(id, name.to_owned(), unit, Better::Higher));
    let latencies = OPS.iter().flat_map(|op| latencies("report/host", "", op));
    let unreadable = OPS.iter().map(|op| {
        let id = format!("report/host/{op}/unreadable_requests");
        metric(id, format!("{op}s, unreadable"), "requests", Better::Lower)
    });
    let always = rates.into_iter().chain(latencies).map(|metric| (metric, false));
    always.chain(unreadable.map(|metric| (metric, true))).collect()
}

/// All metrics that any result can have, except those of queues, in the order of tables; each with whether it is left
/// out where it is 0 everywhere.
pub static COLUMNS: LazyLock<Vec<(Metric, bool)>> =
    LazyLock::new(|| of_host().into_iter().chain(figures_and_counters()).collect());

/// Returns all metrics that a result can have, known or not.
pub fn all_metrics(result: &Value) -> Vec<Metric> {
    let queues = of_queues(std::iter::once(result));
    COLUMNS.iter().map(|(metric, _)| metric.clone()).chain(queues).collect()
}

/// The first part of the keys of queues' metrics.
const QUEUES: &str = "queues.";

/// Whether a text is the key of a metric.
pub fn is_key(text: &str) -> bool {
    described(text).is_some()
}

/// Returns the metric with a key. Those of queues are named by the number of the queue.
pub fn described(key: &str) -> Option<Metric> {
    let known = |key: &str| COLUMNS.iter().find(|(metric, _)| metric.key() == key);
    if let Some((metric, _)) = known(key) {
        return Some(metric.clone());
    }
    let (queue, of_queue) = key.strip_prefix(QUEUES)?.split_once('.')?;
    let queue: u64 = queue.parse().ok()?;
    let (metric, _) = known(of_queue)?;
    let id = metric.id.replacen("report/host", &format!("report/host/queues/{queue}"), 1);
    Some(Metric { id, name: format!("queue {queue}: {}", metric.name), ..metric.clone() })
}

/// [`FIGURES`] and the counters that ask for a row, each with whether it is left out where it is 0 everywhere.
fn figures_and_counters() -> Vec<(Metric, bool)> {
    let mut counters = Vec::new();
    for counter in ftlab::stats::families().into_iter().flat_map(|family| family.counters) {
        if let (Some(row), Some(place)) = (&counter.compared, counter.places.first()) {
            let better = if row.higher_is_better { Better::Higher } else { Better::Lower };
            let metric =
                metric(format!("report/{place}"), row.name.to_owned(), counter.unit, better);
            counters.push((metric, row.if_any));
        }
    }
    let section = |id: &str| id.splitn(3, '/').take(2).collect::<Vec<_>>().join("/");
    let mut all = Vec::new();
    for figures in FIGURES.chunk_by(|(one, ..), (next, ..)| section(one) == section(next)) {
        all.extend(figures.iter().map(|&(id, name, unit, better, if_any)| {
            (metric(id, name.to_owned(), unit, better), if_any)
        }));
        let here = section(figures[0].0);
        all.extend(counters.extract_if(.., |(metric, _)| section(&metric.id) == here));
    }
    all.extend(counters);
    all
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
pub(crate) fn tenants(result: &Value) -> Vec<Vec<String>> {
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

    #[test]
    fn keys_are_short_and_differ() {
        let latencies = OPS.iter().flat_map(|op| latencies("report/host", "", op));
        let figures = figures_and_counters().into_iter().map(|(metric, _)| metric);
        let hosts = HOST.map(|(id, name, unit)| metric(id, name.to_owned(), unit, Better::Higher));
        let keys: Vec<String> =
            latencies.chain(figures).chain(hosts).map(|metric| metric.key()).collect();
        let different: std::collections::BTreeSet<_> = keys.iter().collect();
        assert_eq!(different.len(), keys.len(), "{keys:?}");
        for known in ["read.latency.p99_9", "throughput", "iops", "write_amplification.total"] {
            assert!(keys.iter().any(|key| key == known), "{known} in {keys:?}");
        }
    }

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
            queues_apart(many(MOST_QUEUES + 1).iter())
                .unwrap()
                .contains("no rows for 17 submission queues")
        );
    }
}
