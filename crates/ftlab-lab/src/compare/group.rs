//! Groups finished results into variants, and checks that they can be compared.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::build::Series;
use super::finished::Finished;
use super::past::{difference, steps};
use crate::failure::Failure;
use crate::load::short_name;
use crate::result::{COMPARISON, MARK, VARIANTS};
use crate::resume::RUNS;
use crate::text_file;

/// The parts of a result that must be equal for the same load, with their names in messages.
const SAME: [(&str, &str); 7] = [
    ("/load/kind", "kind of load"),
    ("/load/name", "name of the load"),
    ("/load/digest_blake3", "content of the load"),
    (SKIPPED, "list of skipped phases"),
    ("/replay/pacing", "pacing"),
    ("/replay/address", "mapping of addresses"),
    ("/replay/requests_limit", "limit on requests"),
];

/// The skipped phases in a result.
const SKIPPED: &str = "/replay/skipped_phases";

/// A result named on the command line, or contained in a comparison named there.
struct Named {
    folder: PathBuf,
    /// The variant's name in its comparison, and its settings.
    variant: Option<(String, Vec<String>)>,
}

/// Whether a folder is a result or a comparison, complete or interrupted.
pub fn is_finished(name: &str) -> bool {
    [MARK, COMPARISON, VARIANTS].iter().any(|mark| Path::new(name).join(mark).is_file())
}

/// Results grouped by variant, and notes about the grouping.
pub struct Grouped {
    /// By variant.
    pub series: Vec<Series>,
    /// Which of the named results are not compared.
    pub notes: Vec<String>,
}

/// Returns the results that the command line names, including those of named comparisons.
fn named(names: &[String]) -> Result<Vec<Named>, Failure> {
    refuse_twice(names)?;
    let mut all = Vec::new();
    for name in names {
        let folder = Path::new(name);
        match [MARK, COMPARISON, VARIANTS].into_iter().find(|mark| folder.join(mark).is_file()) {
            Some(list @ (COMPARISON | VARIANTS)) => all.extend(runs_of(folder, list)?),
            _ => all.push(Named { folder: folder.to_owned(), variant: None }),
        }
    }
    Ok(all)
}

/// Refuses a folder that is named twice; it would be compared with itself.
fn refuse_twice(names: &[String]) -> Result<(), Failure> {
    let real = |name: &String| std::fs::canonicalize(name).unwrap_or_else(|_| name.into());
    let places: Vec<PathBuf> = names.iter().map(real).collect();
    let twice = (0..names.len()).find(|&at| places[..at].contains(&places[at]));
    match twice {
        None => Ok(()),
        Some(at) => Err(Failure::usage(format!(
            "{} is named twice\n  remedy: name each result once",
            names[at]
        ))),
    }
}

/// Returns the runs of a comparison that its file `list` contains.
fn runs_of(folder: &Path, list: &str) -> Result<Vec<Named>, Failure> {
    let path = folder.join(list);
    let text =
        text_file::read(&path).map_err(|error| Failure::file("can't read", &path, &error))?;
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
                    "the result {place} is not in its folder: it was a comparison of finished results, or \
                     runs were removed"
                )));
            }
            let variant = Some((name.to_owned(), texts(&variant["settings"])));
            runs.push(Named { folder, variant });
        }
    }
    if runs.is_empty() { Err(unusable("it names no runs")) } else { Ok(runs) }
}

/// Groups results into variants: results of the same configuration and preparation are its seeds.
/// Of an interrupted comparison, only seeds that all variants have are used.
pub fn group(names: &[String]) -> Result<Grouped, Failure> {
    let mut series: Vec<Series> = Vec::new();
    for Named { folder, variant } in named(names)? {
        let result = Finished::read(&folder)?;
        let place = folder.to_string_lossy().into_owned();
        let config = result.text("/device/config_blake3");
        let past = steps(&result.document);
        let same = |known: &&mut Series| {
            let first = &known.results[0].1;
            first.text("/device/config_blake3") == config
                && steps(&first.document) == past
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
    let is_partial = |name: &String| Path::new(name).join(VARIANTS).is_file();
    let notes = match names.iter().any(is_partial) {
        true => vec![keep_common_seeds(&mut series)?],
        false => Vec::new(),
    };
    Ok(Grouped { series, notes })
}

/// Keeps only the seeds that all variants have, and returns a note about it.
fn keep_common_seeds(series: &mut [Series]) -> Result<String, Failure> {
    let of = |one: &Series| -> BTreeSet<u64> {
        one.results.iter().map(|(_, result)| result.seed()).collect()
    };
    let all: BTreeSet<u64> = series.iter().flat_map(of).collect();
    let common: BTreeSet<u64> = all
        .iter()
        .copied()
        .filter(|seed| series.iter().all(|one| of(one).contains(seed)))
        .collect();
    if common.is_empty() {
        return Err(Failure::usage(
            "the comparison was interrupted before any seed had run with two variants\n  remedy: run it \
             again, with fewer seeds if it takes too long",
        ));
    }
    for one in series.iter_mut() {
        one.results.retain(|(_, result)| common.contains(&result.seed()));
    }
    let seeds: Vec<String> = common.iter().map(u64::to_string).collect();
    let left = all.len() - common.len();
    let left = match left {
        0 => String::new(),
        1 => ", and 1 other is skipped".to_owned(),
        more => format!(", and {more} others are skipped"),
    };
    Ok(format!(
        "The comparison was interrupted: only seeds that all variants finished are used ({}){left}.",
        seeds.join(", ")
    ))
}

/// Names devices of the same name by their folders.
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

/// Refuses results of different loads, and results whose seeds do not pair.
pub fn check(series: &[Series]) -> Result<(), Failure> {
    let (first_place, first) = &series[0].results[0];
    let null = Value::Null;
    for (place, result) in series.iter().flat_map(|one| &one.results) {
        let value =
            |of: &Finished, pointer: &str| of.document.pointer(pointer).unwrap_or(&null).clone();
        // Which phases are skipped follows from the preparation.
        let prepared_alike = steps(&result.document) == steps(&first.document);
        let matters = |pointer: &str| prepared_alike || pointer != SKIPPED;
        let differs =
            SAME.iter().filter(|(pointer, _)| matters(pointer)).find_map(|(pointer, what)| {
                Some((what, difference(&value(first, pointer), &value(result, pointer))?))
            });
        if let Some((what, shown)) = differs {
            return Err(Failure::usage(format!(
                "{first_place} and {place} were not measured on the same load: the {what} differs, \
                 {shown}\n  remedy: compare results of the same load, or the devices themselves"
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
