//! Builds the comparison document from finished results.

use std::collections::BTreeSet;

use serde_json::Value;

use super::document::{
    Comparison, MetricDocument, SCHEMA_VERSION, ValuesDocument, VariantDocument,
};
use super::finished::Finished;
use super::metrics::{self, Metric};
use super::past::{self, steps};
use super::statistics::{self, Scale};
use crate::human::{count, span};

/// A variant and its results, in the order of the seeds.
pub struct Series {
    /// The name of the variant.
    pub name: String,
    /// The options that were set for it, as far as they are known.
    pub settings: Vec<String>,
    /// The results, each with its place in the document.
    pub results: Vec<(String, Finished)>,
}

/// Compares the variants with the first one.
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
        precondition: past::of_all(series),
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
        precondition: steps(&first.document),
        end_of_life_ns: one.results.iter().map(|(_, result)| result.end_of_life_ns()).collect(),
        refused_requests: one.results.iter().map(|(_, result)| result.refused()).collect(),
        config_blake3: first.text("/device/config_blake3").to_owned(),
        results: one.results.iter().map(|(place, _)| place.clone()).collect(),
    }
}

/// Whether all devices of a variant performed all requests.
fn did_all(one: &Series) -> bool {
    one.results.iter().all(|(_, result)| result.end_of_life_ns().is_none() && result.refused() == 0)
}

/// Describes what a variant did not complete, if anything.
fn undone(one: &VariantDocument, is_base: bool) -> Option<String> {
    let runs = one.refused_requests.len();
    let ended: Vec<u64> = one.end_of_life_ns.iter().copied().flatten().collect();
    let refused: u64 = one.refused_requests.iter().sum();
    let mut told = Vec::new();
    if let Some(&first) = ended.iter().min() {
        let (count, after) = (ended.len(), span(first));
        told.push(match runs {
            1 => format!("the device reached the end of its life after {after}"),
            _ => format!(
                "the device reached the end of its life in {count} of {runs} runs, first after {after}"
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
    // Devices that did not perform all requests have values, but no changes.
    let base = known(&values(&series[0])).filter(|_| did_all(&series[0]));
    // A variant has a mean, and is compared, only if its values are known for all seeds.
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

/// Returns notes that a reader of the numbers needs.
fn remarks(comparison: &Comparison, series: &[Series]) -> Vec<String> {
    let variants = comparison.variants.iter().enumerate();
    let mut notes: Vec<String> =
        variants.filter_map(|(at, one)| undone(one, at == 0 && series.len() > 1)).collect();
    if series.len() == 1 {
        // Nothing is compared.
    } else if comparison.seeds.len() == 1 {
        notes.push(
            "There is only one seed, so there are no intervals. Compare devices with several (`seeds`); \
             of finished results, name those of several seeds."
                .into(),
        );
    } else if seeds_agree(comparison) {
        notes.push(
            "All seeds gave the same numbers: nothing in this load and these devices is random, \
             so there are no intervals, and one seed is enough. Another load may behave \
             differently."
                .into(),
        );
    }
    let capacities = || comparison.variants.iter().map(|one| one.capacity_bytes);
    if capacities().any(|bytes| Some(bytes) != capacities().next()) {
        notes.push("The devices differ in capacity: a workload uses all of it.".into());
    }
    let results = series.iter().flat_map(|one| one.results.iter().map(|(_, one)| &one.document));
    notes.extend(metrics::queues_apart(results));
    notes.extend(past::note(series));
    notes.extend(idle(comparison));
    notes.extend(versions(series));
    notes.extend(said(series));
    notes
}

/// Notes variants whose values are equal to the last digit although their devices differ.
fn idle(comparison: &Comparison) -> Vec<String> {
    let variants = &comparison.variants;
    let values =
        |at: usize| comparison.metrics.iter().map(move |metric| &metric.variants[at].values);
    let mut notes = Vec::new();
    for (at, one) in variants.iter().enumerate() {
        let twin = (0..at).find(|&earlier| {
            values(earlier).eq(values(at)) && values(at).flatten().any(Option::is_some)
        });
        let Some(other) = twin.map(|twin| &variants[twin]) else { continue };
        let told = format!("{} and {} are the same device", other.name, one.name);
        if !comparison.notes.iter().any(|note| note.starts_with(&told)) {
            notes.push(format!(
                "{} and {} have the same figures with every seed: the difference between them had no \
                 effect.",
                other.name, one.name
            ));
        }
    }
    notes
}

/// Whether each variant has the same values for all seeds. Equal changes would prove less: equal
/// variants have them whatever the seeds do.
fn seeds_agree(comparison: &Comparison) -> bool {
    let values = || comparison.metrics.iter().flat_map(|metric| &metric.variants);
    let same = |one: &ValuesDocument| one.values.iter().all(|value| *value == one.values[0]);
    values().count() > 0 && values().all(same)
}

/// Notes results of different versions of ftlab.
fn versions(series: &[Series]) -> Option<String> {
    let all = series.iter().flat_map(|one| &one.results);
    let versions: BTreeSet<&str> = all.map(|(_, one)| one.text("/ftlab_version")).collect();
    let listed: Vec<&str> = versions.into_iter().collect();
    (listed.len() > 1).then(|| {
        format!(
            "The results come from different versions of ftlab ({}), so differences may come from \
             the simulator. Run them again with one version to be sure.",
            listed.join(", ")
        )
    })
}

/// Returns the warnings and notes of all runs; those that all variants share appear once.
fn said(series: &[Series]) -> Vec<String> {
    let of: Vec<Vec<String>> = series.iter().map(said_by).collect();
    let everywhere = |note: &String| of.iter().all(|notes| notes.contains(note));
    let mut all: Vec<String> = of[0].iter().filter(|note| everywhere(note)).cloned().collect();
    for (one, notes) in series.iter().zip(&of) {
        let own = notes.iter().filter(|note| !everywhere(note));
        all.extend(own.map(|note| format!("{}: {note}", one.name)));
    }
    all
}

/// Returns the notes of a variant's runs. Of notes that differ only in their numbers, only the
/// first is kept.
fn said_by(one: &Series) -> Vec<String> {
    let mut known: Vec<(String, String, u64, bool)> = Vec::new();
    for (_, result) in &one.results {
        for text in said_in(&result.document) {
            let shape = text.replace(|letter: char| letter.is_ascii_digit() || letter == '.', "");
            match known.iter_mut().find(|(known, ..)| *known == shape) {
                Some((_, first, _, differs)) => *differs |= *first != text,
                None => known.push((shape, text, result.seed(), false)),
            }
        }
    }
    let told = |(_, text, seed, differs): (String, String, u64, bool)| match differs {
        true => format!("{text} (Seed {seed}; the numbers of other seeds differ.)"),
        false => text,
    };
    known.into_iter().map(told).collect()
}

/// Returns the warnings and notes of a result.
fn said_in(result: &Value) -> Vec<String> {
    let texts = |list: &Value| -> Vec<String> {
        let list = list.as_array().into_iter().flatten();
        list.filter_map(|text| Some(text.as_str()?.to_owned())).collect()
    };
    let warnings =
        texts(&result["warnings"]).into_iter().map(|warning| match warning.ends_with('.') {
            true => warning,
            false => format!("{warning}."),
        });
    warnings.chain(texts(&result["report"]["notes"])).collect()
}
