//! Performs the runs of a comparison and writes their results.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ftlab_workload::replay::Progress;
use ftlab_workload::trace::Meter;
use serde_json::{Value, json};

use super::build::Series;
use super::finished::Finished;
use super::variants::Variant;
use crate::experiment::{Conduct, Watcher};
use crate::failure::Failure;
use crate::lab::Lab;
use crate::pool::{self, RunsWatcher};
use crate::result::{self, COMPARISON, Folder, MARK, VARIANTS};
use crate::resume::{self, Kept, RUNS};
use crate::stop::Stop;

/// The runs of a comparison.
pub struct ComparisonRuns<'a> {
    /// The variants to run.
    pub variants: &'a [Variant],
    /// The seeds of each variant.
    pub seeds: &'a [u64],
    /// Who performs them.
    pub lab: &'a Lab,
    /// The fingerprint of each run, by variant and seed.
    inputs: Vec<Vec<String>>,
}

impl<'a> ComparisonRuns<'a> {
    /// Plans the runs of variants, and checks that they can be performed.
    ///
    /// # Errors
    /// A device cannot do what its experiment asks; there is too little memory; or a trace cannot be read.
    pub fn new(
        variants: &'a [Variant],
        seeds: &'a [u64],
        lab: &'a Lab,
    ) -> Result<ComparisonRuns<'a>, Failure> {
        let inputs = variants.iter().map(|one| one.inputs(seeds)).collect::<Result<Vec<_>, _>>()?;
        let at_once = lab.threads.min(variants.len() * seeds.len());
        for Variant { name, config, experiment, .. } in variants {
            experiment.check(config, at_once).map_err(|failure| {
                failure.map_text(|text| format!("{text}\n  in the variant {name}"))
            })?;
        }
        Ok(ComparisonRuns { variants, seeds, lab, inputs })
    }

    /// Returns the place of a run's result, within the folder of the comparison.
    pub fn place(&self, variant: usize, seed: u64) -> String {
        let name = crate::load::tidy(&self.variants[variant].name);
        format!("{RUNS}/{}-{name}/seed-{seed}", variant + 1)
    }

    /// Copies finished runs of an earlier command into `folder`, and returns their number.
    pub fn take_up(&self, folder: &Folder) -> Result<usize, Failure> {
        let runs = self.inputs.iter().enumerate().flat_map(|(variant, inputs)| {
            let of = move |(inputs, &seed)| (inputs, format!("{}/", self.place(variant, seed)));
            inputs.iter().zip(self.seeds).map(of)
        });
        Kept::beside(folder).take_up(folder, runs)
    }

    /// Returns the number of runs.
    pub fn runs(&self) -> usize {
        self.variants.len() * self.seeds.len()
    }

    /// Performs the runs that are not in `folder` yet, and writes their results there.
    ///
    /// # Errors
    /// Interrupted; or the first run that failed, in the order of the runs, with its name.
    pub fn perform(&self, folder: &Folder, watcher: &dyn RunsWatcher) -> Result<(), Failure> {
        let variants = self.variants.len();
        let all: Vec<(usize, usize)> = (0..self.seeds.len())
            .flat_map(|seed| (0..variants).map(move |variant| (variant, seed)))
            .collect();
        let one = |at: usize, halt: &Stop| {
            let (variant, seed) = all[at];
            self.one(variant, seed, folder, watcher, halt)
        };
        pool::perform(self.lab, all.len(), watcher, one).map(drop)
    }

    fn one(
        &self,
        variant: usize,
        at: usize,
        folder: &Folder,
        runs: &dyn RunsWatcher,
        halt: &Stop,
    ) -> Result<(), Failure> {
        let (seed, inputs) = (self.seeds[at], &self.inputs[variant][at]);
        let within = format!("{}/", self.place(variant, seed));
        if resume::is_there(folder, &within) {
            runs.advance(1.0);
            runs.one_more();
            return Ok(());
        }
        let Variant { name, config, experiment, .. } = &self.variants[variant];
        let named = |failure: Failure| {
            failure.map_text(|text| format!("the run of {name} with seed {seed} failed: {text}"))
        };
        let load = experiment.load.open().map_err(named)?;
        let mut watcher = Share::of(runs);
        let conduct = Conduct { watcher: &mut watcher, stop: halt, requests: None };
        let measured = experiment.perform(load, config, seed, conduct).map_err(named)?;
        if !measured.document.complete {
            return Err(Failure::Interrupted);
        }
        folder.create_folder(&within)?;
        let run = self.lab.run_document(inputs.clone(), &measured);
        result::write(folder, &within, config, &measured, &run)?;
        watcher.finish();
        runs.one_more();
        Ok(())
    }

    /// Lists the variants and their results so far in the folder of an interrupted comparison. Returns whether any run has
    /// finished; if none has, nothing is written.
    ///
    /// # Errors
    /// The list cannot be written.
    pub fn list_finished(&self, folder: &Folder) -> Result<bool, Failure> {
        if !folder.path().join(RUNS).exists() {
            return Ok(false);
        }
        folder.write(VARIANTS, result::to_json(&self.finished(folder))?.as_bytes())?;
        Ok(true)
    }

    fn finished(&self, folder: &Folder) -> Value {
        let is_there = |place: &String| folder.path().join(place).join(MARK).is_file();
        let of = |(at, variant): (usize, &Variant)| {
            let places = self.seeds.iter().map(|&seed| self.place(at, seed)).filter(is_there);
            json!({
                "name": variant.name,
                "settings": variant.settings,
                "results": places.collect::<Vec<_>>(),
            })
        };
        json!({ "variants": self.variants.iter().enumerate().map(of).collect::<Vec<_>>() })
    }

    /// Returns the folders of the results within the comparison, by variant and seed.
    pub fn places(&self) -> Vec<Vec<PathBuf>> {
        let of = |variant| self.seeds.iter().map(move |&seed| self.place(variant, seed).into());
        (0..self.variants.len()).map(|variant| of(variant).collect()).collect()
    }

    /// Returns the folder of a comparison, if it already contains one of exactly these runs.
    pub fn done_already<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        let is_comparison = path.join(COMPARISON).is_file();
        let mut runs = self.places().into_iter().zip(&self.inputs).flat_map(|(places, inputs)| {
            let of = |(place, inputs): (PathBuf, &String)| (path.join(place), inputs.clone());
            places.into_iter().zip(inputs).map(of).collect::<Vec<_>>()
        });
        let is_run = |(place, inputs): (PathBuf, String)| resume::inputs_of(&place) == Some(inputs);
        (is_comparison && runs.all(is_run)).then_some(path)
    }

    /// Reads the results of all runs from the folder of the comparison.
    ///
    /// # Errors
    /// A result is missing or damaged.
    pub fn series_in(&self, folder: &Path) -> Result<Vec<Series>, Failure> {
        let mut series = Vec::new();
        for (variant, places) in self.variants.iter().zip(self.places()) {
            let read = |place: PathBuf| {
                let result = Finished::read(&folder.join(&place))?;
                Ok((place.to_string_lossy().into_owned(), result))
            };
            let results = places.into_iter().map(read).collect::<Result<_, Failure>>()?;
            let (name, settings) = (variant.name.clone(), variant.settings.clone());
            series.push(Series { name, settings, results });
        }
        Ok(series)
    }
}

/// The progress of one run within that of all runs.
pub(crate) struct Share<'a> {
    runs: &'a dyn RunsWatcher,
    /// The share of this run that was told.
    shown: f64,
    /// How many stages have ended.
    stages: f64,
    meter: Option<Arc<Meter>>,
}

impl<'a> Share<'a> {
    /// Nothing of the run is done.
    pub fn of(runs: &'a dyn RunsWatcher) -> Share<'a> {
        Share { runs, shown: 0.0, stages: 0.0, meter: None }
    }

    /// Tells the rest.
    pub fn finish(self) {
        self.runs.advance(1.0 - self.shown);
    }
}

impl Watcher for Share<'_> {
    fn begins(&mut self, _name: &str, meter: Option<Arc<Meter>>) {
        self.meter = meter;
    }

    fn goes_on(&mut self, progress: &Progress) -> ControlFlow<()> {
        self.writes(progress.completed, progress.total)
    }

    fn writes(&mut self, done: u64, total: Option<u64>) -> ControlFlow<()> {
        let by_count = total.map(|total| done as f64 / total.max(1) as f64);
        let share = by_count.or_else(|| self.meter.as_ref()?.share()).unwrap_or(0.0).min(1.0);
        // The number of stages is unknown, so each takes half of what is left.
        let done = 1.0 - 0.5f64.powf(self.stages) * (1.0 - 0.5 * share);
        if done > self.shown {
            self.runs.advance(done - self.shown);
            self.shown = done;
        }
        ControlFlow::Continue(())
    }

    fn ended(&mut self) {
        self.stages += 1.0;
    }
}
