//! Builds the cases of an experiment: the configuration and experiment of each.

use std::collections::BTreeSet;
use std::path::{Component, Path};
use std::sync::Arc;

use ftlab::config::{Config, Problem, Problems, SourcePlace};
use ftlab::options::table::Plain;

use super::declaration::{
    Axis, Coordinates, Declaration, Drawn, Figure, Point, Settings, over, places,
};
use super::library::FoundExperiment;
use crate::bases::lies_within;
use crate::device::{self, Setting};
use crate::experiment::{Experiment, NamedRun};
use crate::failure::Failure;
use crate::load::in_folder;

/// A case; it is run with every seed.
pub struct Case {
    /// Its value on each axis.
    pub place: Coordinates,
    /// The name for people.
    pub label: String,
    /// The configuration of the device.
    pub config: Config,
    /// The preparation and the load.
    pub experiment: Experiment,
}

/// A case that cannot be run here.
pub struct LeftOut {
    /// Its value on each axis.
    pub place: Coordinates,
    /// The missing trace, by its path in the folder of traces.
    pub trace: String,
}

/// The cases that can be run, and those that cannot.
pub struct Ready {
    /// The cases to run.
    pub cases: Vec<Case>,
    /// The cases that cannot be run.
    pub left_out: Vec<LeftOut>,
}

/// The prefix of a trace in the user's folder of traces.
const IN_TRACES: &str = "$FTLAB_TRACES/";

/// Returns the places that claims and figures need, in the order of the axes; without `figures`,
/// only those of claims.
pub fn needed(declaration: &Declaration, figures: bool) -> Vec<Coordinates> {
    let axes = &declaration.axes;
    let mut all = BTreeSet::new();
    for claim in &declaration.claims {
        for row in &claim.rows {
            all.extend(claim.quantity.pairs(&row.at, axes).into_iter().flat_map(|(a, b)| [a, b]));
        }
    }
    for figure in declaration.figures.iter().filter(|_| figures) {
        all.extend(figure.places(axes));
    }
    all.into_iter().collect()
}

impl Figure {
    /// Returns the places that the figure needs.
    fn places(&self, axes: &[Axis]) -> Vec<Coordinates> {
        let open = self.open().into_iter().map(|axis| (axis, self.shown(axis, axes)));
        let drawn = places(&self.at, &open.collect::<Vec<_>>());
        let along = match &self.drawn {
            Drawn::Curves(_) => return drawn,
            Drawn::Map(across) => {
                let beside = drawn.iter().map(|place| across.quantity.elsewhere(place));
                return drawn.iter().cloned().chain(beside).collect();
            }
            Drawn::Metrics(along) => along,
        };
        let with = |points: &Option<Point>| -> Vec<Coordinates> {
            let Some(point) = points else { return Vec::new() };
            let moved = drawn.iter().map(|place| {
                let base: Point = place.iter().map(|&value| Some(value)).collect();
                over(&base, point).into_iter().map(Option::unwrap_or_default).collect()
            });
            moved.collect()
        };
        let across = with(&along.reference);
        let beside = with(&Some(along.against.clone()));
        // The places of a horizontal line are compared, too.
        let both: Vec<Coordinates> = across
            .iter()
            .map(|place| {
                let pairs = place.iter().zip(&along.against);
                pairs.map(|(here, there)| there.unwrap_or(*here)).collect()
            })
            .collect();
        drawn.iter().cloned().chain(across).chain(beside).chain(both).collect()
    }
}

/// Returns, by place, the curves that figures draw there.
pub fn curves_drawn(declaration: &Declaration, places: &[Coordinates]) -> Vec<Vec<usize>> {
    let mut drawn = vec![Vec::new(); places.len()];
    for figure in &declaration.figures {
        let Drawn::Curves(curves) = &figure.drawn else { continue };
        for place in figure.places(&declaration.axes) {
            let Ok(at) = places.binary_search(&place) else { continue };
            drawn[at].extend(curves.iter().copied());
        }
    }
    for of_place in &mut drawn {
        of_place.sort_unstable();
        of_place.dedup();
    }
    drawn
}

/// Returns the name of a case: its values on the axes that have several.
pub fn label(place: &Coordinates, axes: &[Axis]) -> String {
    let several = axes.iter().zip(place).filter(|(axis, _)| axis.values.len() > 1);
    let names = several.map(|(axis, &at)| format!("{} {}", axis.label, axis.values[at].label));
    let names: Vec<String> = names.collect();
    if names.is_empty() { "the only case".to_owned() } else { names.join(", ") }
}

/// Builds the cases. Real traces are in the folder `traces`, if there is one.
///
/// # Errors
/// Everything that is wrong with any of the cases.
pub fn ready(
    found: &FoundExperiment,
    places: Vec<Coordinates>,
    traces: Option<&Path>,
) -> Result<Ready, Failure> {
    let mut told: Vec<String> = Vec::new();
    let mut ready = Ready { cases: Vec::new(), left_out: Vec::new() };
    for place in places {
        match ready_one(found, place, traces) {
            Ok(Readied::Case(case)) => ready.cases.push(*case),
            Ok(Readied::LeftOut(one)) => ready.left_out.push(one),
            Err(Failure::Usage(text) | Failure::Config(text) | Failure::File(text)) => {
                // An error that several cases share is reported once.
                if !told.contains(&text) {
                    told.push(text);
                }
            }
            Err(other) => return Err(other),
        }
    }
    match told.is_empty() {
        true => Ok(ready),
        false => Err(Failure::Usage(told.join("\n"))),
    }
}

/// A case, or the reason why it cannot be run.
enum Readied {
    Case(Box<Case>),
    LeftOut(LeftOut),
}

fn ready_one(
    found: &FoundExperiment,
    place: Coordinates,
    traces: Option<&Path>,
) -> Result<Readied, Failure> {
    let declaration = &found.declaration;
    let label = label(&place, &declaration.axes);
    let values = declaration.axes.iter().zip(&place).map(|(axis, &at)| &axis.values[at]);
    let settings = values
        .fold(declaration.run.clone(), |settings, value| settings.with(value.settings.clone()));
    let config = config(found, &settings)?;
    let lacking = lacking(&settings, traces);
    let wanted = wanted(found, &settings, traces)?;
    if let Some(trace) = lacking {
        return Ok(Readied::LeftOut(LeftOut { place, trace }));
    }
    let load = wanted.load()?.ok_or_else(|| lacks_load(found))?;
    let mut experiment = Experiment::new(load, &wanted.options)?;
    experiment.accesses |= declaration.asks_for("/accesses/");
    // Report a load that cannot be opened before anything runs.
    drop(experiment.load.open()?);
    Ok(Readied::Case(Box::new(Case { place, label, config, experiment })))
}

/// Returns the real trace that a case needs, if it is missing.
fn lacking(settings: &Settings, traces: Option<&Path>) -> Option<String> {
    let (_, written) = settings.load.iter().find(|(key, _)| *key == "trace")?;
    let name = written.text.strip_prefix(IN_TRACES)?;
    let is_there = traces.is_some_and(|folder| folder.join(name).is_file());
    (!is_there).then(|| name.to_owned())
}

fn config(found: &FoundExperiment, settings: &Settings) -> Result<Config, Failure> {
    let Some(device) = &settings.device else {
        return Err(lacks(found, "device", "device = \"tiny\""));
    };
    let set = |written: &Plain| Setting {
        label: format!("{}, {}", found.label, written.path),
        text: written.text.clone(),
    };
    let settings: Vec<Setting> = settings.set.iter().map(set).collect();
    refuse_elsewhere(found, device, &device.text)?;
    device::load_within_folder(&in_folder(&found.folder, &device.text), &settings, &found.folder)
}

fn wanted(
    found: &FoundExperiment,
    settings: &Settings,
    traces: Option<&Path>,
) -> Result<NamedRun, Failure> {
    if !settings.load.iter().any(|(key, _)| NamedRun::LOADS.contains(key)) {
        return Err(lacks_load(found));
    }
    let located = |key: &str, written: &Plain| match key {
        "workload" => in_folder(&found.folder, &written.text),
        "trace" if written.text.starts_with(IN_TRACES) => {
            let name = &written.text[IN_TRACES.len()..];
            traces.unwrap_or(Path::new("")).join(name).to_string_lossy().into_owned()
        }
        // There are no built-in ones.
        "trace" | "fio" => found.folder.join(&written.text).to_string_lossy().into_owned(),
        "precondition" => {
            let steps = written.text.split(',').map(str::trim);
            let steps: Vec<String> = steps.map(|step| in_folder(&found.folder, step)).collect();
            steps.join(",")
        }
        _ => written.text.clone(),
    };
    let (mut wanted, mut problems) = (NamedRun::default(), Vec::new());
    for (key, written) in &settings.load {
        match *key {
            "workload" | "fio" => refuse_elsewhere(found, written, &written.text)?,
            "trace" => {
                let name = written.text.strip_prefix(IN_TRACES);
                name.map_or(Ok(()), |name| refuse_elsewhere(found, written, name))?;
            }
            "precondition" => {
                let mut steps = written.text.split(',');
                steps.try_for_each(|step| refuse_elsewhere(found, written, step.trim()))?;
            }
            _ => {}
        }
        if let Err(error) = wanted.set(key, &located(key, written)) {
            problems.push(problem(found, written, error));
        }
    }
    match problems.is_empty() {
        true => Ok(wanted),
        false => Err(Failure::usage(Problems { problems })),
    }
}

fn problem(found: &FoundExperiment, written: &Plain, message: String) -> Problem {
    let text: Arc<str> = found.text.as_str().into();
    Problem {
        path: written.path.clone(),
        message,
        remedy: "write it as for a single run".to_owned(),
        place: Some(SourcePlace::new(&found.label, &text, written.span.clone())),
    }
}

fn lacks_load(found: &FoundExperiment) -> Failure {
    lacks(found, "load", "workload = \"randwrite-4k\"")
}

fn lacks(found: &FoundExperiment, what: &str, example: &str) -> Failure {
    Failure::usage(format!(
        "{}: some of the cases have no {what}\n  remedy: write {example} into [run], or into the axis \
         whose values differ in it",
        found.label
    ))
}

/// Refuses files outside of the experiment's folder, so that the folder can be passed on. Only
/// traces may lie elsewhere, because they are large.
fn refuse_elsewhere(found: &FoundExperiment, written: &Plain, name: &str) -> Result<(), Failure> {
    let is_within = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    // A link may lead out of the folder. A missing file is reported when it is opened.
    let leads_out = || lies_within(&found.folder.join(name), &found.folder).is_ok_and(|is| !is);
    if Path::new(name).components().all(is_within) && !leads_out() {
        return Ok(());
    }
    let message = format!("{name} is outside the experiment's folder");
    let remedy = "copy it into the folder, and name it by its path from there";
    let problems = vec![Problem { remedy: remedy.to_owned(), ..problem(found, written, message) }];
    Err(Failure::usage(Problems { problems }))
}
