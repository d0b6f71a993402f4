//! What must hold for a sweep before its points are built, and what is worth knowing about them.

use std::collections::{BTreeMap, BTreeSet};

use ftlab::config::{Topic, explain};

use super::axes::{Prepared, Sweep, SweepAxis};
use super::parse::is_name;
use super::plan::SweepPlan;
use super::row::SEED;
use crate::compare::is_key;
use crate::failure::Failure;

/// The most runs of a sweep.
const MOST_RUNS: usize = 100_000;

/// Refuses what no sweep can be.
pub fn check(sweep: &Sweep) -> Result<(), Failure> {
    let mut wrong = Vec::new();
    if !is_name(&sweep.name) {
        wrong.push((
            format!("{:?} names no folder", sweep.name),
            "write letters, digits, - and _ only".to_owned(),
        ));
    }
    if sweep.axes.is_empty() {
        wrong.push(("there is no axis".to_owned(), "name what varies, and its values".to_owned()));
    }
    names(&sweep.axes, &mut wrong);
    overridden(sweep, &mut wrong);
    let values = sweep.axes.iter().map(|axis| axis.values.len());
    let points = values.fold(1usize, usize::saturating_mul);
    let runs = points.saturating_mul(usize::try_from(sweep.seeds).unwrap_or(usize::MAX));
    if runs > MOST_RUNS {
        wrong.push((
            format!("{points} points with {} seeds are more than {MOST_RUNS} runs", sweep.seeds),
            "take fewer values or seeds (`seeds`), or split the sweep".to_owned(),
        ));
    }
    if runs == 0 && !sweep.axes.is_empty() {
        wrong.push(("it has no runs".to_owned(), "give every axis a value, and a seed".to_owned()));
    }
    match wrong.is_empty() {
        true => Ok(()),
        false => {
            let told =
                wrong.into_iter().map(|(what, remedy)| format!("{what}\n  remedy: {remedy}"));
            Err(Failure::Usage(told.collect::<Vec<_>>().join("\n")))
        }
    }
}

/// Something wrong, and its remedy.
type Wrong = (String, String);

/// Refuses axes and values that share a name, and axes named like other columns.
fn names(axes: &[SweepAxis], wrong: &mut Vec<Wrong>) {
    let mut known = BTreeSet::new();
    for axis in axes {
        if !known.insert(&axis.name) {
            let remedy = "give each a `name` of its own".to_owned();
            wrong.push((format!("two axes are named {}", axis.name), remedy));
        }
        if axis.name == SEED || is_key(&axis.name) {
            let what = format!("the axis {} is named like another column of the table", axis.name);
            wrong.push((what, "give it another `name`".to_owned()));
        }
        let mut values = BTreeSet::new();
        if let Some(twice) = axis.values.iter().find(|value| !values.insert(&value.name)) {
            let what = format!("the axis {} has two values {}", axis.name, twice.name);
            wrong.push((what, "give each a name of its own".to_owned()));
        }
    }
}

/// Refuses axes of which one would override another, and what a prepared base device does not allow.
fn overridden(sweep: &Sweep, wrong: &mut Vec<Wrong>) {
    let keys = |axis: &SweepAxis| -> BTreeSet<String> {
        axis.values.iter().flat_map(|value| value.settings.keys()).collect()
    };
    let mut known: BTreeMap<String, &str> = BTreeMap::new();
    for axis in &sweep.axes {
        for key in keys(axis) {
            if let Some(other) = known.insert(key.clone(), &axis.name) {
                wrong.push((
                    format!("the axes {other} and {} both set {key}", axis.name),
                    "set it in one of them; an axis may set several things at once".to_owned(),
                ));
            }
            let prepares = ["precondition", "image"].contains(&key.as_str());
            if sweep.prepared == Prepared::Base && prepares {
                wrong.push((
                    format!(
                        "the axis {} sets {key}, but the base device is prepared for all",
                        axis.name
                    ),
                    "set it in [run], or leave prepare = \"base\" out".to_owned(),
                ));
            }
        }
    }
}

/// Returns notes on options that are set but that no point's device has.
pub fn idle(plan: &SweepPlan) -> Vec<String> {
    let values = plan.sweep.axes.iter().flat_map(|axis| &axis.values).map(|value| &value.settings);
    let all = std::iter::once(&plan.sweep.base).chain(values);
    let set: BTreeSet<String> = all.flat_map(|settings| settings.keys()).collect();
    let is_option = |path: &&String| matches!(explain(path), Ok(Topic::Option(_)));
    let is_used = |path: &str| plan.points().iter().any(|one| one.config.origin(path).is_some());
    let idle = set.iter().filter(is_option).filter(|path| !is_used(path));
    idle.map(|path| {
        format!("{path} is set but has no effect: no point has the policy that it belongs to.")
    })
    .collect()
}
