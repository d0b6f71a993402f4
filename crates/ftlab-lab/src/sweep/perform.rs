//! Performs the runs of a sweep and returns their rows.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use serde_json::Value;

use super::plan::{BaseDevice, SweepPlan, SweepPoint};
use super::row::SweepRow;
use super::schedule::{RunGroup, Schedule, SharedStart, Task, taken};
use crate::compare::Share;
use crate::experiment::{Conduct, Experiment, Measured, RunOptions, Watcher, told_of_end};
use crate::failure::Failure;
use crate::image::{ImageSource, OpenedImage};
use crate::lab::Lab;
use crate::memory::Instruments;
use crate::pool::{self, RunsWatcher};
use crate::result::{self, Folder, MARK};
use crate::resume::{self, Kept, RUNS};
use crate::saved::image_of;
use crate::stop::Stop;
use crate::text_file;

/// A run of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SweepRun {
    /// The index of its point.
    pub point: usize,
    /// Its seed.
    pub seed: u64,
}

/// The name of the image of a device that was prepared in the base configuration.
const BASE: &str = "base";

impl SweepPlan {
    /// Returns all runs, in the order of the table.
    #[must_use]
    pub fn all_runs(&self) -> Vec<SweepRun> {
        let of = |point| self.seeds.iter().map(move |&seed| SweepRun { point, seed });
        (0..self.points().len()).flat_map(of).collect()
    }

    /// Returns the place of a run within the folder of the sweep.
    #[must_use]
    pub fn place(&self, run: SweepRun) -> String {
        format!("{RUNS}/{}/seed-{}", run.point + 1, run.seed)
    }

    /// Performs all runs. With a folder, each is written there when it is done, and finished runs that an earlier
    /// command left beside it, or in the result that it replaces, are taken from there; `taken` hears how many.
    ///
    /// # Errors
    /// Stopped; or a run failed, with its name.
    pub fn perform(
        &self,
        lab: &Lab,
        folder: Option<&Folder>,
        watcher: &dyn RunsWatcher,
        taken: impl FnOnce(usize),
    ) -> Result<Vec<SweepRow>, Failure> {
        if let Some(folder) = folder {
            taken(self.take_up(folder)?);
        }
        self.perform_runs(lab, &self.all_runs(), folder, watcher)
    }

    /// Copies finished runs that an earlier attempt left beside a folder, or in the result that it replaces, and returns
    /// how many.
    ///
    /// # Errors
    /// A file cannot be read or written.
    pub fn take_up(&self, folder: &Folder) -> Result<usize, Failure> {
        let runs = self.all_runs();
        let inputs = runs.iter().map(|run| self.inputs(run.point, run.seed));
        let inputs = inputs.collect::<Result<Vec<String>, _>>()?;
        let places = runs.iter().map(|&run| format!("{}/", self.place(run)));
        Kept::beside_or_in(folder).take_up(folder, inputs.iter().zip(places))
    }

    /// Whether a run is in the folder.
    #[must_use]
    pub fn is_there(&self, folder: &Folder, run: SweepRun) -> bool {
        resume::is_there(folder, &self.place(run))
    }

    /// Returns the indices of all runs in groups that start from the same prepared device.
    #[must_use]
    pub fn shared_groups(&self) -> Vec<Vec<usize>> {
        self.groups(&self.all_runs(), None).into_iter().map(|group| group.runs).collect()
    }

    /// Performs some runs, and returns their rows in the same order. Runs that may start from the same prepared device
    /// share it. Without a folder, the rows have their documents.
    ///
    /// # Errors
    /// Stopped; or a run failed, with its name.
    pub fn perform_runs(
        &self,
        lab: &Lab,
        runs: &[SweepRun],
        folder: Option<&Folder>,
        watcher: &dyn RunsWatcher,
    ) -> Result<Vec<SweepRow>, Failure> {
        let schedule = Schedule::new(self.groups(runs, folder));
        let performing = Performing { plan: self, lab, runs, folder, watcher, schedule };
        let mut rows = pool::perform(lab, runs.len(), watcher, |_, halt| performing.one(halt))?;
        rows.sort_by_key(|(at, _)| *at);
        Ok(rows.into_iter().map(|(_, row)| row).collect())
    }

    /// Performs one run, and returns its row with its document.
    ///
    /// # Errors
    /// Stopped; or the run failed, with its name.
    pub fn perform_one(&self, lab: &Lab, run: SweepRun) -> Result<SweepRow, Failure> {
        let one = Lab { threads: 1, ..lab.clone() };
        let mut rows = self.perform_runs(&one, &[run], None, &())?;
        rows.pop().ok_or(Failure::Interrupted)
    }

    /// Groups runs that start from the same prepared device. Runs that are in the folder form groups of their own.
    fn groups(&self, runs: &[SweepRun], folder: Option<&Folder>) -> Vec<RunGroup> {
        let mut groups: Vec<RunGroup> = Vec::new();
        let mut known: BTreeMap<([u8; blake3::OUT_LEN], u64), usize> = BTreeMap::new();
        for (at, run) in runs.iter().enumerate() {
            let is_there = |folder| resume::is_there(folder, &self.place(*run));
            let is_done = folder.is_some_and(is_there);
            let past = self.points()[run.point].past.filter(|_| !is_done);
            let is_prepared_apart = self.base.is_some() && !is_done;
            let next = groups.len();
            let group = past
                .map_or(next, |past| *known.entry((*past.as_bytes(), run.seed)).or_insert(next));
            match groups.get_mut(group) {
                Some(group) => group.runs.push(at),
                None => groups.push(RunGroup { runs: vec![at], is_prepared_apart }),
            }
        }
        groups
    }

    /// Reads the rows from a folder, if it contains the complete result of exactly this sweep.
    ///
    /// # Errors
    /// A trace cannot be read.
    pub fn rows_in(&self, path: &Path) -> Result<Option<Vec<SweepRow>>, Failure> {
        let Some(known) = resume::sweep_inputs_of(path) else { return Ok(None) };
        if known != self.fingerprint()? {
            return Ok(None);
        }
        let mut rows = Vec::new();
        for run in self.all_runs() {
            let place = path.join(self.place(run));
            let is_whole = resume::inputs_of(&place) == Some(self.inputs(run.point, run.seed)?);
            let Some(result) = read(&place.join(MARK)).ok().filter(|_| is_whole) else {
                return Ok(None);
            };
            rows.push(self.row(run.point, run.seed, &result)?);
        }
        Ok(Some(rows))
    }
}

fn read(path: &Path) -> Result<Value, Failure> {
    let text = text_file::read(path).map_err(|error| Failure::file("can't read", path, &error))?;
    serde_json::from_str(&text).map_err(Failure::usage)
}

/// A sweep that is being performed.
struct Performing<'a> {
    plan: &'a SweepPlan,
    lab: &'a Lab,
    runs: &'a [SweepRun],
    folder: Option<&'a Folder>,
    watcher: &'a dyn RunsWatcher,
    schedule: Schedule,
}

impl Performing<'_> {
    /// Performs the next run, and returns its index and row.
    fn one(&self, halt: &Stop) -> Result<(usize, SweepRow), Failure> {
        let task = self.schedule.next(halt).ok_or(Failure::Interrupted)?;
        let mut share = Share::of(self.watcher);
        let (at, start) = match task {
            Task::Alone(at) => (at, None),
            Task::Continue(at, start) => (at, Some(start)),
            Task::Begin(runs) => {
                let prepare = |run| self.schedule.prepare(|| self.prepare(run, &mut share, halt));
                let start = self.named(runs[0], prepare)?;
                self.schedule.prepared(start.clone(), runs[1..].to_vec());
                (runs[0], Some(start))
            }
        };
        let row = self.named(at, |run| self.row(run, start, &mut share, halt))?;
        share.finish();
        self.watcher.one_more();
        Ok((at, row))
    }

    /// Names the run in a failure.
    fn named<T>(
        &self,
        at: usize,
        work: impl FnOnce(SweepRun) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let run = self.runs[at];
        work(run).map_err(|failure| {
            failure.map_text(|text| {
                let label = self.plan.label(run.point);
                format!("the run of {label} with seed {} failed: {text}", run.seed)
            })
        })
    }

    fn prepare(
        &self,
        run: SweepRun,
        watcher: &mut dyn Watcher,
        halt: &Stop,
    ) -> Result<SharedStart, Failure> {
        if let Some(base) = &self.plan.base {
            let image = base.prepare(run.seed, watcher, halt)?;
            return Ok(SharedStart::Image(Arc::new(image)));
        }
        let SweepPoint { config, experiment, .. } = &self.plan.points()[run.point];
        let instruments = Instruments::default();
        let prepared = experiment.prepare(config, run.seed, watcher, halt, instruments)?;
        Ok(SharedStart::Device(Arc::new(Mutex::new(prepared))))
    }

    /// Returns the row of a run, from the folder if it is there.
    fn row(
        &self,
        run: SweepRun,
        start: Option<SharedStart>,
        watcher: &mut dyn Watcher,
        halt: &Stop,
    ) -> Result<SweepRow, Failure> {
        let within = format!("{}/", self.plan.place(run));
        if let Some(folder) = self.folder.filter(|folder| resume::is_there(folder, &within)) {
            let result = read(&folder.path().join(&within).join(MARK))?;
            return self.plan.row(run.point, run.seed, &result);
        }
        let conduct = Conduct { watcher, stop: halt, requests: None };
        let measured = self.plan.points()[run.point].measure(run.seed, start, conduct)?;
        if !measured.document.complete {
            return Err(Failure::Interrupted);
        }
        let result = serde_json::to_value(&measured.document).map_err(Failure::usage)?;
        let mut row = self.plan.row(run.point, run.seed, &result)?;
        match self.folder {
            Some(folder) => {
                folder.create_folder(&within)?;
                let document = self.lab.run_document(row.inputs.clone(), &measured);
                let config = &self.plan.points()[run.point].config;
                result::write(folder, &within, config, &measured, &document)?;
            }
            None => row.document = Some(result::to_json(&measured.document)?),
        }
        Ok(row)
    }
}

impl SweepPoint {
    /// Performs the load of the point on a prepared device, or on a new one.
    fn measure(
        &self,
        seed: u64,
        start: Option<SharedStart>,
        conduct: Conduct<'_>,
    ) -> Result<Measured, Failure> {
        let load = self.experiment.load.open()?;
        match start {
            None => self.experiment.perform(load, &self.config, seed, conduct),
            Some(SharedStart::Device(prepared)) => {
                self.experiment.measure(taken(prepared), load, &self.config, conduct)
            }
            Some(SharedStart::Image(image)) => {
                let options = RunOptions {
                    image: Some(ImageSource::Opened(image)),
                    precondition: None,
                    ..self.made.options.clone()
                };
                let experiment = Experiment::new(self.made.load.clone(), &options)?;
                experiment.perform(load, &self.config, seed, conduct)
            }
        }
    }
}

impl BaseDevice {
    /// Prepares the device, and returns its image.
    fn prepare(
        &self,
        seed: u64,
        watcher: &mut dyn Watcher,
        halt: &Stop,
    ) -> Result<OpenedImage, Failure> {
        let prepared = self.preparation.prepare(&self.config, seed, watcher, halt, |_| ())?;
        if let Some(told) = told_of_end(&prepared.device, &prepared.steps) {
            return Err(Failure::Experiment(format!(
                "{told}, so there is nothing to measure\n  remedy: write less in `precondition`"
            )));
        }
        let image = image_of(&prepared.device, &self.config, seed, &prepared.steps)?;
        Ok(OpenedImage { name: BASE.to_owned(), image, config: self.config.clone() })
    }
}
