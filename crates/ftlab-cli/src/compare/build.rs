//! From finished results to the comparison: which belong together, and what they say.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use super::document::{
    Comparison, MetricDocument, SCHEMA_VERSION, ValuesDocument, VariantDocument,
};
use super::finished::Finished;
use super::metrics::{self, Metric};
use super::statistics::{self, Certainty, Scale};
use crate::failure::Failure;
use crate::load::short_name;

/// A variant and its results, in the order of the seeds.
pub struct Series {
    /// What it is called.
    pub name: String,
    /// What was set over the device, as far as that is known.
    pub settings: Vec<String>,
    /// The results, and what the document calls their places.
    pub results: Vec<(String, Finished)>,
}

/// Where results must agree to have been measured on the same load, and what that is called.
const SAME: [(&str, &str); 7] = [
    ("/load/kind", "kind of load"),
    ("/load/name", "name of the load"),
    ("/load/digest_blake3", "content of the load"),
    (STEPS, "preconditioning"),
    ("/replay/pacing", "pacing"),
    ("/replay/address", "mapping of addresses"),
    ("/replay/requests_limit", "limit on requests"),
];

/// Where results tell how the device was prepared.
const STEPS: &str = "/precondition";
/// What of a step was asked for; the rest was measured, and may differ.
const ASKED: [&str; 6] = ["step", "name", "digest_blake3", "order", "rule", "load"];

/// The steps that a device went through, as they were asked for.
fn steps(result: &Value) -> Value {
    let asked = |step: &Value| {
        let kept = ASKED.iter().filter_map(|key| Some(((*key).to_owned(), step.get(key)?.clone())));
        Value::Object(kept.collect())
    };
    result["precondition"].as_array().into_iter().flatten().map(asked).collect()
}

/// Sorts results that were named on the command line into variants: those of one configuration are its
/// seeds.
pub fn group(folders: &[String]) -> Result<Vec<Series>, Failure> {
    let mut series: Vec<Series> = Vec::new();
    for name in folders {
        let result = Finished::read(Path::new(name))?;
        let config = result.text("/device/config_blake3");
        let same = |known: &&mut Series| {
            known.results[0].1.text("/device/config_blake3") == config
                && known.results.iter().all(|(_, other)| other.seed() != result.seed())
        };
        match series.iter_mut().find(same) {
            Some(known) => known.results.push((name.clone(), result)),
            None => series.push(Series {
                name: result.text("/device/name").to_owned(),
                settings: Vec::new(),
                results: vec![(name.clone(), result)],
            }),
        }
    }
    for one in &mut series {
        one.results.sort_by_key(|(_, result)| result.seed());
    }
    name_apart(&mut series);
    Ok(series)
}

/// Devices of one name are called by their folders.
fn name_apart(series: &mut [Series]) {
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    series.iter().for_each(|one| *names.entry(one.name.clone()).or_default() += 1);
    let last = |one: &Series| one.results[0].0.trim_end_matches('/').to_owned();
    let short: Vec<String> = series.iter().map(|one| short_name(&last(one))).collect();
    for (at, one) in series.iter_mut().enumerate() {
        if names[&one.name] > 1 {
            let clear = short.iter().filter(|name| **name == short[at]).count() == 1;
            one.name = if clear { short[at].clone() } else { last(one) };
        }
    }
}

/// Refuses results of different loads, or whose seeds do not pair.
pub fn check(series: &[Series]) -> Result<(), Failure> {
    let (first_place, first) = &series[0].results[0];
    for (place, result) in series.iter().flat_map(|one| &one.results) {
        let value = |of: &Finished, pointer: &str| match pointer {
            STEPS => Some(steps(&of.document)),
            _ => of.document.pointer(pointer).cloned(),
        };
        let differs =
            SAME.iter().find(|(pointer, _)| value(result, pointer) != value(first, pointer));
        if let Some((pointer, what)) = differs {
            let shown = |of| value(of, pointer).unwrap_or(Value::Null);
            return Err(Failure::usage(format!(
                "{first_place} and {place} were not measured on the same load: the {what} differs, \
                 {} against {}\n  remedy: compare results of the same load, or let ftlab compare run \
                 the devices",
                shown(first),
                shown(result),
            )));
        }
    }
    let seeds = |one: &Series| one.results.iter().map(|(_, one)| one.seed()).collect::<Vec<_>>();
    let expected = seeds(&series[0]);
    match series.iter().find(|one| seeds(one) != expected) {
        None => Ok(()),
        Some(other) => Err(Failure::usage(format!(
            "{} has the seeds {expected:?} and {} has {:?}: they can't be paired\n  remedy: name \
             results of the same seeds for each configuration",
            series[0].name,
            other.name,
            seeds(other),
        ))),
    }
}

/// Compares them.
pub fn comparison(series: &[Series], confidence: f64, notes: Vec<String>) -> Comparison {
    let all = series.iter().flat_map(|one| one.results.iter().map(|(_, one)| &one.document));
    let metrics = metrics::known_in(all);
    let mut metrics: Vec<MetricDocument> =
        metrics.iter().map(|metric| compared(metric, series, confidence)).collect();
    let values = metrics.iter_mut().flat_map(|metric| &mut metric.variants);
    statistics::correct(values.filter_map(|one| one.change.as_mut()), confidence);
    let first = &series[0].results[0].1;
    let mut comparison = Comparison {
        schema_version: SCHEMA_VERSION,
        ftlab_version: env!("CARGO_PKG_VERSION").to_owned(),
        confidence_ratio: confidence,
        seeds: series[0].results.iter().map(|(_, one)| one.seed()).collect(),
        load: first.document["load"].clone(),
        precondition: steps(&first.document),
        variants: series.iter().map(variant).collect(),
        metrics,
        notes,
    };
    comparison.notes.extend(remarks(&comparison, series));
    comparison
}

fn variant(one: &Series) -> VariantDocument {
    let first = &one.results[0].1;
    VariantDocument {
        name: one.name.clone(),
        device: first.text("/device/name").to_owned(),
        capacity_bytes: first.document["device"]["capacity_bytes"].as_u64().unwrap_or_default(),
        settings: one.settings.clone(),
        config_blake3: first.text("/device/config_blake3").to_owned(),
        results: one.results.iter().map(|(place, _)| place.clone()).collect(),
    }
}

fn compared(metric: &Metric, series: &[Series], confidence: f64) -> MetricDocument {
    let values = |one: &Series| -> Vec<Option<f64>> {
        one.results.iter().map(|(_, result)| metric.of(&result.document)).collect()
    };
    let known = |values: &[Option<f64>]| values.iter().copied().collect::<Option<Vec<f64>>>();
    let base = known(&values(&series[0]));
    // Only variants of which all values are known are shown as a mean, or compared.
    let shown = series.iter().filter_map(|one| known(&values(one))).flatten();
    let scale = Scale::of(shown);
    let variants = series.iter().enumerate().map(|(at, one)| {
        let values = values(one);
        let all = known(&values);
        let pairs = (at > 0).then_some(base.as_ref()).flatten().zip(all.as_ref());
        let change = pairs.and_then(|(base, all)| {
            let pairs: Vec<(f64, f64)> = base.iter().copied().zip(all.iter().copied()).collect();
            statistics::compare(&pairs, scale, confidence)
        });
        let mean = all.as_deref().and_then(|all| statistics::middle(all, scale));
        ValuesDocument { mean, values, change }
    });
    MetricDocument {
        id: metric.id.clone(),
        name: metric.name.clone(),
        unit: metric.unit,
        better: metric.better,
        variants: variants.collect(),
    }
}

/// What is to be known to read the numbers.
fn remarks(comparison: &Comparison, series: &[Series]) -> Vec<String> {
    let mut notes = Vec::new();
    let changes = || {
        let values = comparison.metrics.iter().flat_map(|metric| &metric.variants);
        values.filter_map(|one| one.change.as_ref())
    };
    if comparison.seeds.len() == 1 {
        notes.push(
            "There is one seed: no interval can be given. Run with --seeds 5 or more.".into(),
        );
    } else if changes().count() > 0 && changes().all(|one| one.certainty == Certainty::Exact) {
        notes.push(
            "All seeds gave the same numbers: nothing random has a part in this load and these \
             devices, so there are no intervals, and one seed would do. Whether another load would \
             show the same is another question."
                .into(),
        );
    }
    let capacities = || comparison.variants.iter().map(|one| one.capacity_bytes);
    if capacities().any(|bytes| Some(bytes) != capacities().next()) {
        notes.push("The devices differ in capacity: a workload spreads over all of it.".into());
    }
    notes.extend(versions(series));
    notes.extend(warnings(series));
    for one in series {
        let (_, result) = &one.results[0];
        let verdict = result.text("/report/steady_state/verdict");
        let told = match verdict {
            "too_little_written" => "too little was written to tell whether it was steady",
            "not_steady" => "it was not in a steady state",
            "gc_never_started" => "garbage collection never started",
            _ => continue,
        };
        notes.push(format!("{}: {told}.", one.name));
    }
    notes
}

/// A difference may lie between versions of ftlab instead of between devices.
fn versions(series: &[Series]) -> Option<String> {
    let all = series.iter().flat_map(|one| &one.results);
    let versions: BTreeSet<&str> = all.map(|(_, one)| one.text("/ftlab_version")).collect();
    let listed: Vec<&str> = versions.into_iter().collect();
    (listed.len() > 1).then(|| {
        format!(
            "The results come from different versions of ftlab ({}): what differs may be the \
             simulator. Run them again with one version to be sure.",
            listed.join(", ")
        )
    })
}

/// What the first run of each variant complained of; once what all complained of.
fn warnings(series: &[Series]) -> Vec<String> {
    let of = |one: &Series| -> Vec<String> {
        let all = one.results[0].1.document["warnings"].as_array().cloned().unwrap_or_default();
        all.iter().filter_map(|warning| Some(format!("{}.", warning.as_str()?))).collect()
    };
    let everywhere = |warning: &String| series.iter().all(|one| of(one).contains(warning));
    let mut all: Vec<String> = of(&series[0]).into_iter().filter(everywhere).collect();
    for one in series {
        let own = of(one).into_iter().filter(|warning| !everywhere(warning));
        all.extend(own.map(|warning| format!("{}: {warning}", one.name)));
    }
    all
}
