//! From finished results to the comparison: which belong together, and what they say.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::document::{
    Comparison, MetricDocument, SCHEMA_VERSION, ValuesDocument, VariantDocument,
};
use super::finished::Finished;
use super::metrics::{self, Metric};
use super::perform::RUNS;
use super::statistics::{self, Scale};
use crate::failure::Failure;
use crate::human::{count, span};
use crate::load::short_name;
use crate::result::{COMPARISON, MARK, steps_end_steady};

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
const SAME: [(&str, &str); 8] = [
    ("/load/kind", "kind of load"),
    ("/load/name", "name of the load"),
    ("/load/digest_blake3", "content of the load"),
    (STEPS, "preconditioning"),
    ("/replay/skipped_phases", "list of phases left out"),
    ("/replay/pacing", "pacing"),
    ("/replay/address", "mapping of addresses"),
    ("/replay/requests_limit", "limit on requests"),
];

/// Where results tell how the device was prepared.
const STEPS: &str = "/precondition";
/// What of a step was asked for; the rest was measured, and may differ.
const ASKED: [&str; 7] =
    ["step", "name", "digest_blake3", "order", "rule", "load", "skipped_phases"];

/// The steps that a device went through, as they were asked for.
fn steps(result: &Value) -> Value {
    let asked = |step: &Value| {
        let kept = ASKED.iter().filter_map(|key| Some(((*key).to_owned(), step.get(key)?.clone())));
        Value::Object(kept.collect())
    };
    result["precondition"].as_array().into_iter().flatten().map(asked).collect()
}

/// A result that was named on the command line, or that a comparison named there holds.
pub struct Named {
    folder: PathBuf,
    /// What the comparison calls its variant, and what was set for it.
    variant: Option<(String, Vec<String>)>,
}

/// Whether a folder is a result or a comparison.
pub fn is_finished(name: &str) -> bool {
    [MARK, COMPARISON].iter().any(|mark| Path::new(name).join(mark).is_file())
}

/// The results that the command line names; of a comparison, those of all its runs.
pub fn named(names: &[String]) -> Result<Vec<Named>, Failure> {
    let mut all = Vec::new();
    for name in names {
        let folder = Path::new(name);
        let of_comparison = folder.join(COMPARISON).is_file() && !folder.join(MARK).is_file();
        match of_comparison {
            true => all.extend(runs_of(folder)?),
            false => all.push(Named { folder: folder.to_owned(), variant: None }),
        }
    }
    Ok(all)
}

/// The runs of a comparison.
fn runs_of(folder: &Path) -> Result<Vec<Named>, Failure> {
    let path = folder.join(COMPARISON);
    let text = std::fs::read_to_string(&path)
        .map_err(|error| Failure::file("can't read", &path, &error))?;
    let unusable = |why: &str| {
        Failure::usage(format!(
            "{} can't be used: {why}\n  remedy: name the results of its runs, in {}",
            path.display(),
            folder.join(RUNS).display()
        ))
    };
    let document: Value =
        serde_json::from_str(&text).map_err(|error| unusable(&error.to_string()))?;
    let texts = |value: &Value| -> Vec<String> {
        let items = value.as_array().into_iter().flatten();
        items.filter_map(|item| Some(item.as_str()?.to_owned())).collect()
    };
    let mut runs = Vec::new();
    for variant in document["variants"].as_array().into_iter().flatten() {
        let name = variant["name"].as_str().unwrap_or_default();
        for place in texts(&variant["results"]) {
            let folder = folder.join(&place);
            if !folder.join(MARK).is_file() {
                return Err(unusable(&format!(
                    "the result {place} is not in its folder; it was a comparison of finished results, or \
                     runs were removed"
                )));
            }
            let variant = Some((name.to_owned(), texts(&variant["settings"])));
            runs.push(Named { folder, variant });
        }
    }
    if runs.is_empty() { Err(unusable("it names no runs")) } else { Ok(runs) }
}

/// Sorts results into variants: those of one configuration are its seeds.
pub fn group(names: &[String]) -> Result<Vec<Series>, Failure> {
    let mut series: Vec<Series> = Vec::new();
    for Named { folder, variant } in named(names)? {
        let result = Finished::read(&folder)?;
        let place = folder.to_string_lossy().into_owned();
        let config = result.text("/device/config_blake3");
        let same = |known: &&mut Series| {
            known.results[0].1.text("/device/config_blake3") == config
                && known.results.iter().all(|(_, other)| other.seed() != result.seed())
        };
        match series.iter_mut().find(same) {
            Some(known) => known.results.push((place, result)),
            None => {
                let of_device = || (result.text("/device/name").to_owned(), Vec::new());
                let (name, settings) = variant.unwrap_or_else(of_device);
                series.push(Series { name, settings, results: vec![(place, result)] });
            }
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
        end_of_life_ns: one.results.iter().map(|(_, result)| result.end_of_life_ns()).collect(),
        refused_requests: one.results.iter().map(|(_, result)| result.refused()).collect(),
        config_blake3: first.text("/device/config_blake3").to_owned(),
        results: one.results.iter().map(|(place, _)| place.clone()).collect(),
    }
}

/// Whether all of its devices did everything that was asked of them.
fn did_all(one: &Series) -> bool {
    one.results.iter().all(|(_, result)| result.end_of_life_ns().is_none() && result.refused() == 0)
}

/// What a variant left undone, if it did.
fn undone(one: &VariantDocument, is_base: bool) -> Option<String> {
    let runs = one.refused_requests.len();
    let ended: Vec<u64> = one.end_of_life_ns.iter().copied().flatten().collect();
    let refused: u64 = one.refused_requests.iter().sum();
    let mut told = Vec::new();
    if let Some(&first) = ended.iter().min() {
        let (count, after) = (ended.len(), span(first));
        told.push(match runs {
            1 => format!("the device came to the end of its life, after {after}"),
            _ => format!(
                "the device came to the end of its life in {count} of {runs} runs, first after {after}"
            ),
        });
    }
    if refused > 0 {
        let so = if ended.is_empty() { "the device " } else { "" };
        told.push(format!("{so}refused {} measured requests", count(refused)));
    }
    let what = if is_base { "so nothing is compared with it" } else { "so it is not compared" };
    (!told.is_empty()).then(|| {
        format!("{}: {}; it did not do the same work, {what}.", one.name, told.join(" and "))
    })
}

fn compared(metric: &Metric, series: &[Series], confidence: f64) -> MetricDocument {
    let values = |one: &Series| -> Vec<Option<f64>> {
        one.results.iter().map(|(_, result)| metric.of(&result.document)).collect()
    };
    let known = |values: &[Option<f64>]| values.iter().copied().collect::<Option<Vec<f64>>>();
    // Devices that did not do all of the work have figures, but no better or worse ones.
    let base = known(&values(&series[0])).filter(|_| did_all(&series[0]));
    // Only variants of which all values are known are shown as a mean, or compared.
    let shown = series.iter().filter_map(|one| known(&values(one))).flatten();
    let scale = Scale::of(shown);
    let variants = series.iter().enumerate().map(|(at, one)| {
        let values = values(one);
        let all = known(&values);
        let compared = at > 0 && did_all(one);
        let pairs = compared.then_some(base.as_ref()).flatten().zip(all.as_ref());
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
    let variants = comparison.variants.iter().enumerate();
    let mut notes: Vec<String> =
        variants.filter_map(|(at, one)| undone(one, at == 0 && series.len() > 1)).collect();
    if comparison.seeds.len() == 1 {
        notes.push(
            "There is one seed: no interval can be given. Run with --seeds 5 or more.".into(),
        );
    } else if seeds_agree(comparison) {
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
            "too_little_written" if steps_end_steady(&result.document["precondition"]) => continue,
            "too_little_written" => "too little was written to tell whether it was steady",
            "not_steady" => "it was not in a steady state",
            "gc_never_started" => "garbage collection never started",
            _ => continue,
        };
        notes.push(format!("{}: {told}.", one.name));
    }
    notes
}

/// Whether each variant has the same figures with each seed. That each shows the same change says less:
/// variants that are equal do so whatever the seeds do.
fn seeds_agree(comparison: &Comparison) -> bool {
    let values = || comparison.metrics.iter().flat_map(|metric| &metric.variants);
    let same = |one: &ValuesDocument| one.values.iter().all(|value| *value == one.values[0]);
    values().count() > 0 && values().all(same)
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
