//! An experiment of a paper that is ready to run: its cases, their fingerprints, and its performance.

use std::path::{Path, PathBuf};

use super::cases::{self, Case, LeftOut, Ready};
use super::declaration::{Coordinates, Declaration};
use super::document::Reproduction;
use super::judge::{self, RanExperiment};
use super::library::FoundExperiment;
use super::map::{self, HeatMap};
use super::measure::Measured;
use super::page;
use super::perform::{Jobs, Noted};
use crate::experiment::LoadSource;
use crate::failure::Failure;
use crate::lab::Lab;
use crate::pool::RunsWatcher;
use crate::result::Folder;
use crate::seeds;

/// What a reproduction is asked to do.
#[derive(Clone, Debug, Default)]
pub struct PlanOptions {
    /// Run only what the paper's numbers need, and draw no figures.
    pub claims_only: bool,
    /// Run only what the claims need that are marked as quick.
    pub quick: bool,
    /// The folder of the real traces.
    pub traces: Option<PathBuf>,
    /// The number of seeds; by default as many as the experiment asks for.
    pub seeds: Option<u64>,
    /// The first seed.
    pub first_seed: u64,
}

/// An experiment that is ready to run.
pub struct Plan {
    /// The experiment.
    pub found: FoundExperiment,
    cases: Vec<Case>,
    left_out: Vec<LeftOut>,
    seeds: Vec<u64>,
    claims_only: bool,
    quick: bool,
}

/// The outcome of an experiment.
pub struct Reproduced {
    /// `result.json`.
    pub document: Reproduction,
    measured: Measured,
}

/// Returns the number of runs that an experiment consists of; without `figures`, of its claims alone.
#[must_use]
pub fn runs_of(declaration: &Declaration, figures: bool) -> usize {
    cases::needed(declaration, figures).len() * declaration.seeds as usize
}

impl Plan {
    /// Builds the cases of an experiment, and checks them.
    ///
    /// # Errors
    /// A case is wrong, there is nothing to run, or too little memory.
    pub fn new(
        lab: &Lab,
        options: &PlanOptions,
        mut found: FoundExperiment,
    ) -> Result<Plan, Failure> {
        if options.quick {
            let declaration = &mut found.declaration;
            if !declaration.claims.iter().any(|claim| claim.quick) {
                return Err(Failure::usage(format!(
                    "no claim of {} is marked as quick\n  remedy: leave `quick` out",
                    declaration.name
                )));
            }
            declaration.claims.retain(|claim| claim.quick);
            declaration.figures.clear();
        }
        let places = cases::needed(&found.declaration, !options.claims_only);
        if places.is_empty() {
            return Err(Failure::usage(format!(
                "{} has no claims, only figures\n  remedy: leave `claims_only` out",
                found.declaration.name
            )));
        }
        let Ready { cases, left_out } = cases::ready(&found, places, options.traces.as_deref())?;
        if cases.is_empty() {
            return Err(Failure::usage(format!(
                "{} needs traces for everything that it runs, such as {}\n  remedy: name the folder of the \
                 traces with `traces`",
                found.declaration.name, left_out[0].trace
            )));
        }
        let many = options.seeds.unwrap_or(found.declaration.seeds);
        let seeds = seeds::from(options.first_seed, many)?;
        let at_once = lab.threads.min(cases.len() * seeds.len());
        cases.iter().try_for_each(|case| {
            let share = case.experiment.preparation.share_filled();
            crate::memory::refuse_too_much(&case.config, share, at_once)
        })?;
        // Only traces are read from their files later.
        let is_trace = |case: &Case| matches!(case.experiment.load, LoadSource::Trace { .. });
        if !cases.iter().any(is_trace) {
            found.unpacked = None;
        }
        Ok(Plan {
            found,
            cases,
            left_out,
            seeds,
            claims_only: options.claims_only,
            quick: options.quick,
        })
    }

    /// Returns the number of runs.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.cases.len() * self.seeds.len()
    }

    /// Performs one run with one seed, which reveals missing metrics.
    ///
    /// # Errors
    /// The run fails, or lacks a metric.
    pub fn try_out(&self, lab: &Lab) -> Result<(), Failure> {
        let jobs = Jobs {
            cases: &self.cases[..1],
            seeds: &self.seeds[..1],
            metrics: &self.found.declaration.metrics,
            curves: &self.found.declaration.curves,
            kept: &[Vec::new()],
            lab: &Lab { threads: 1, ..lab.clone() },
            watcher: &(),
            notes: None,
        };
        jobs.perform().map(drop)
    }

    /// Returns the fingerprint of each run, by case and seed.
    fn inputs(&self) -> Result<Vec<Vec<String>>, Failure> {
        let of = |case: &Case| -> Result<Vec<String>, Failure> {
            self.seeds.iter().map(|&seed| case.experiment.inputs(&case.config, seed)).collect()
        };
        self.cases.iter().map(of).collect()
    }

    /// Returns the fingerprint of the whole experiment.
    ///
    /// # Errors
    /// A trace cannot be read.
    pub fn fingerprint(&self) -> Result<String, Failure> {
        let FoundExperiment { text, readme, .. } = &self.found;
        let left_out: Vec<&String> = self.left_out.iter().map(|one| &one.trace).collect();
        let whole =
            format!("{:?}", (text, readme, self.claims_only, self.quick, left_out, self.inputs()?));
        Ok(blake3::hash(whole.as_bytes()).to_hex().to_string())
    }

    /// Performs the runs. Finished ones are kept in `folder`, if there is one, and those that an earlier attempt left
    /// beside it are taken from there; `taken` hears how many.
    ///
    /// # Errors
    /// Stopped; or a run failed.
    pub fn perform(
        &self,
        lab: &Lab,
        folder: Option<&Folder>,
        watcher: &dyn RunsWatcher,
        taken: impl FnOnce(usize),
    ) -> Result<Reproduced, Failure> {
        let declaration = &self.found.declaration;
        let places: Vec<Coordinates> = self.cases.iter().map(|case| case.place.clone()).collect();
        let kept = match self.claims_only {
            true => vec![Vec::new(); places.len()],
            false => cases::curves_drawn(declaration, &places),
        };
        let inputs = self.inputs()?;
        let jobs = Jobs {
            cases: &self.cases,
            seeds: &self.seeds,
            metrics: &declaration.metrics,
            curves: &declaration.curves,
            kept: &kept,
            lab,
            watcher,
            notes: folder.map(|folder| Noted { folder, inputs: &inputs }),
        };
        taken(jobs.take_up()?);
        let performed = jobs.perform()?;
        let measured = Measured {
            places,
            numbers: performed.numbers,
            curves: performed.curves,
            axes: declaration.axes.clone(),
        };
        let ran = RanExperiment {
            cases: &self.cases,
            loads: &performed.loads,
            seeds: &self.seeds,
            left_out: &self.left_out,
        };
        let document = judge::judged(&self.found, self.figures(), &ran, &measured);
        Ok(Reproduced { document, measured })
    }

    fn figures(&self) -> &[super::declaration::Figure] {
        if self.claims_only { &[] } else { &self.found.declaration.figures }
    }

    /// Returns the heat maps of an outcome, with the titles of their figures.
    #[must_use]
    pub fn maps(&self, reproduced: &Reproduced) -> Vec<(String, HeatMap)> {
        let figures = self.figures().iter();
        let map = |figure| map::of(&self.found.declaration, figure, &reproduced.measured);
        figures.filter_map(|figure| Some((figure.title.clone(), map(figure)?))).collect()
    }

    /// Returns the page of an outcome, made by `command`.
    ///
    /// # Errors
    /// The data cannot be written as JSON.
    pub fn page(&self, reproduced: &Reproduced, command: &[String]) -> Result<String, Failure> {
        let Reproduced { document, measured } = reproduced;
        page::of(&self.found, self.figures(), document, measured, command)
    }
}

/// Refuses a folder of traces that does not exist.
///
/// # Errors
/// It does not exist.
pub fn refuse_no_folder(traces: Option<&Path>) -> Result<(), Failure> {
    match traces {
        Some(folder) if !folder.is_dir() => Err(Failure::usage(format!(
            "there is no folder {}\n  remedy: name the folder of the traces with `traces`",
            folder.display()
        ))),
        _ => Ok(()),
    }
}
