//! Performs the runs of a comparison and writes their results.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ftlab_workload::replay::Progress;
use ftlab_workload::trace::Meter;
use serde_json::{Value, json};

use super::variants::Variant;
use crate::experiment::Watcher;
use crate::failure::Failure;
use crate::pool;
use crate::progress::Runs;
use crate::result::{self, Folder, MARK};
use crate::resume::{self, Kept, RUNS};
use crate::run::run_document;

/// The runs of a comparison.
pub struct Jobs<'a> {
    /// The variants to run.
    pub variants: &'a [Variant],
    /// The seeds of each variant.
    pub seeds: &'a [u64],
    /// The number of threads.
    pub threads: usize,
    /// Whether to show a progress bar.
    pub bar: bool,
    /// The fingerprint of each run, by variant and seed.
    pub inputs: Vec<Vec<String>>,
}

impl Jobs<'_> {
    /// Returns the place of a run's result, within the folder of the comparison.
    pub fn place(&self, variant: usize, seed: u64) -> String {
        let name = crate::load::tidy(&self.variants[variant].name);
        format!("{RUNS}/{}-{name}/seed-{seed}", variant + 1)
    }

    /// Returns how many runs are performed at once.
    pub fn at_once(&self) -> usize {
        self.threads.min(self.runs())
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
    pub fn perform(&self, folder: &Folder) -> Result<(), Failure> {
        let variants = self.variants.len();
        let all: Vec<(usize, usize)> = (0..self.seeds.len())
            .flat_map(|seed| (0..variants).map(move |variant| (variant, seed)))
            .collect();
        let one = |at: usize, bar: &Runs, halt: &AtomicBool| {
            let (variant, seed) = all[at];
            self.one(variant, seed, folder, bar, halt)
        };
        pool::perform(all.len(), self.threads, self.bar, one).map(drop)
    }

    fn one(
        &self,
        variant: usize,
        at: usize,
        folder: &Folder,
        runs: &Runs,
        halt: &AtomicBool,
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
        let mut watcher = Share { runs, halt, shown: 0.0, stages: 0.0, meter: None };
        let measured = experiment.perform(load, config, seed, None, &mut watcher).map_err(named)?;
        if !measured.document.complete {
            return Err(Failure::Interrupted);
        }
        folder.create_folder(&within)?;
        let run = run_document(inputs.clone(), &measured.spent, measured.requests_played());
        result::write(folder, &within, config, &measured, &run)?;
        runs.advance(1.0 - watcher.shown);
        runs.one_more();
        Ok(())
    }

    /// Returns the variants and their results so far, for the folder of an interrupted comparison.
    pub fn finished(&self, folder: &Folder) -> Value {
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
}

/// The progress of one run within the bar of all runs.
struct Share<'a> {
    runs: &'a Runs,
    halt: &'a AtomicBool,
    /// The share of this run that the bar shows.
    shown: f64,
    /// How many stages have ended.
    stages: f64,
    meter: Option<Arc<Meter>>,
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
        match self.halt.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    fn ended(&mut self) {
        self.stages += 1.0;
    }
}
