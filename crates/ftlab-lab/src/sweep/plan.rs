//! A sweep that is ready to run: its points with their devices and experiments, all checked.

use std::collections::BTreeMap;
use std::sync::Arc;

use blake3::{Hash, Hasher};
use ftlab::config::Config;
use ftlab::saved::differences;

use super::axes::{Prepared, Sweep, SweepAxis};
use super::check;
use super::settings::PointSettings;
use crate::experiment::{Experiment, LoadSource, Preparation, RunOptions};
use crate::failure::Failure;
use crate::lab::Lab;
use crate::seeds;

/// A sweep that is ready to run.
pub struct SweepPlan {
    /// The sweep.
    pub sweep: Sweep,
    /// The seeds of each point.
    pub seeds: Vec<u64>,
    points: Vec<SweepPoint>,
    pub(super) base: Option<BaseDevice>,
}

/// A point of a sweep: a value of each axis.
pub struct SweepPoint {
    /// The index of its value on each axis.
    pub at: Vec<usize>,
    /// The configuration of its device. Points with the same device share it.
    pub config: Arc<Config>,
    /// Its load and preparation. Points with the same ones share it.
    pub experiment: Arc<Experiment>,
    pub(super) made: Arc<Made>,
    /// The digest of how its device is prepared, except for the seed; none if it is not.
    pub(super) past: Option<Hash>,
}

/// An experiment and what it was made of.
pub struct Made {
    experiment: Arc<Experiment>,
    pub load: LoadSource,
    pub options: RunOptions,
}

/// The device that is prepared for all points, once for each seed.
pub struct BaseDevice {
    pub config: Config,
    pub preparation: Preparation,
    digest: Hash,
}

/// The place of a point on those axes that matter for something.
type Key = Vec<Option<usize>>;

impl SweepPlan {
    /// Builds all points, and checks them.
    ///
    /// # Errors
    /// Everything that is wrong with any of the points, with the name of one; or it was stopped.
    pub fn new(lab: &Lab, sweep: Sweep) -> Result<SweepPlan, Failure> {
        check::check(&sweep)?;
        let seeds = seeds::from(sweep.first_seed, sweep.seeds)?;
        let base = match sweep.prepared {
            Prepared::Each => None,
            Prepared::Base => Some(BaseDevice::of(&sweep)?),
        };
        let mut maker = Maker::new(&sweep);
        let (mut points, mut wrong) = (Vec::new(), WrongPoints::default());
        for at in places(&sweep.axes) {
            lab.stop.refuse()?;
            match maker.point(at.clone()) {
                Ok(point) => points.push(point),
                Err(failure) => wrong.add(failure, &label(&sweep.axes, &at))?,
            }
        }
        let at_once = at_once(lab, &points, seeds.len());
        for point in &points {
            lab.stop.refuse()?;
            let fits = base.as_ref().map_or(Ok(()), |base| base.check(&point.config));
            let checked = fits.and_then(|()| point.experiment.check(&point.config, at_once));
            if let Err(failure) = checked {
                wrong.add(failure, &label(&sweep.axes, &point.at))?;
            }
        }
        wrong.none()?;
        Ok(SweepPlan { sweep, seeds, points, base })
    }

    /// Returns the points, in the order of the axes; the last axis varies first.
    #[must_use]
    pub fn points(&self) -> &[SweepPoint] {
        &self.points
    }

    /// Returns the number of runs.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.points.len() * self.seeds.len()
    }

    /// Returns the name of a point for people.
    #[must_use]
    pub fn label(&self, point: usize) -> String {
        label(&self.sweep.axes, &self.points[point].at)
    }

    /// Returns the fingerprint of a run: runs with the same one have the same result.
    ///
    /// # Errors
    /// A trace cannot be read.
    pub fn inputs(&self, point: usize, seed: u64) -> Result<String, Failure> {
        let SweepPoint { config, experiment, .. } = &self.points[point];
        let own = experiment.inputs(config, seed)?;
        let Some(base) = &self.base else { return Ok(own) };
        let mut hasher = Hasher::new();
        hasher.update(base.digest.as_bytes());
        hasher.update(own.as_bytes());
        Ok(hasher.finalize().to_hex().to_string())
    }

    /// Returns the fingerprint of the whole sweep.
    ///
    /// # Errors
    /// A trace cannot be read.
    pub fn fingerprint(&self) -> Result<String, Failure> {
        let Sweep { name, title, confidence, axes, .. } = &self.sweep;
        let mut hasher = Hasher::new();
        let mut add = |text: String| {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        };
        add(format!("{name:?} {title:?} {confidence:?} {:?}", self.seeds));
        for SweepAxis { name, label, values, scaled, spacing } in axes {
            add(format!("{name:?} {label:?} {scaled:?} {spacing:?}"));
            values.iter().for_each(|value| add(format!("{:?} {:?}", value.name, value.label)));
        }
        for point in 0..self.points.len() {
            for &seed in &self.seeds {
                add(self.inputs(point, seed)?);
            }
        }
        Ok(hasher.finalize().to_hex().to_string())
    }

    /// Returns what a reader of the results should know: values of axes that change nothing.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        check::idle(self)
    }
}

/// Returns how many devices are in memory at once: one for each thread, and as many that were prepared for several runs.
fn at_once(lab: &Lab, points: &[SweepPoint], seeds: usize) -> usize {
    let mut runs: BTreeMap<[u8; blake3::OUT_LEN], usize> = BTreeMap::new();
    points.iter().filter_map(|point| point.past).for_each(|past| {
        *runs.entry(*past.as_bytes()).or_default() += 1;
    });
    let at_once = lab.threads.min(points.len() * seeds);
    let shared = runs.values().filter(|&&runs| runs > 1).count().saturating_mul(seeds);
    at_once + shared.min(at_once)
}

/// Returns all combinations of the values of axes.
fn places(axes: &[SweepAxis]) -> Vec<Vec<usize>> {
    axes.iter().fold(vec![Vec::new()], |all, axis| {
        let with = |place: &Vec<usize>, at| place.iter().copied().chain([at]).collect();
        let values = |place| (0..axis.values.len()).map(move |at| with(place, at));
        all.iter().flat_map(values).collect()
    })
}

/// Returns the name of a point for people.
fn label(axes: &[SweepAxis], at: &[usize]) -> String {
    let one =
        |(axis, &at): (&SweepAxis, &usize)| format!("{} {}", axis.label, axis.values[at].label);
    axes.iter().zip(at).map(one).collect::<Vec<_>>().join(", ")
}

/// Makes points. What several points share is made once.
struct Maker<'a> {
    sweep: &'a Sweep,
    has_outside: bool,
    configs: BTreeMap<Key, Result<(Arc<Config>, Hash), Failure>>,
    made: BTreeMap<Key, Result<Arc<Made>, Failure>>,
}

impl Maker<'_> {
    fn new(sweep: &Sweep) -> Maker<'_> {
        let values = sweep.axes.iter().flat_map(|axis| &axis.values).map(|value| &value.settings);
        let has_outside =
            std::iter::once(&sweep.base).chain(values).any(PointSettings::has_outside);
        Maker { sweep, has_outside, configs: BTreeMap::new(), made: BTreeMap::new() }
    }

    fn point(&mut self, at: Vec<usize>) -> Result<SweepPoint, Failure> {
        let values =
            || self.sweep.axes.iter().zip(&at).map(|(axis, &at)| &axis.values[at].settings);
        let settings = values().fold(self.sweep.base.clone(), |all, later| all.with(later));
        // An option of the device may replace a policy from outside.
        let sets_policy = |one: &PointSettings| self.has_outside && !one.sets.is_empty();
        let run_key = self.key(&at, |one| one.changes_run() || sets_policy(one));
        let device_key = self.key(&at, PointSettings::changes_device);
        let sweep = self.sweep;
        let made =
            self.made.entry(run_key).or_insert_with(|| Made::of(sweep, &settings)).clone()?;
        let config = self.configs.entry(device_key).or_insert_with(|| {
            let image = made.experiment.preparation.image();
            let config = settings.config(&sweep.folder, image)?;
            let digest = blake3::hash(config.canonical().as_bytes());
            Ok((Arc::new(config), digest))
        });
        let (config, digest) = config.clone()?;
        let experiment = made.experiment.clone();
        let past = experiment.preparation.uses_device().then(|| {
            let mut hasher = Hasher::new();
            // A device prepared in the base configuration is the same for all points.
            if sweep.prepared == Prepared::Each {
                hasher.update(digest.as_bytes());
                hasher.update(format!("{:?}", experiment.preparation.parts()).as_bytes());
                // Devices are never shared by policies that are other objects, whatever their versions say.
                let policies = experiment.preparation.outside.identities();
                hasher.update(format!("{policies:?}").as_bytes());
            }
            hasher.finalize()
        });
        Ok(SweepPoint { at, config, experiment, made, past })
    }

    /// Returns the place of a point on the axes that change something.
    fn key(&self, at: &[usize], changes: impl Fn(&PointSettings) -> bool) -> Key {
        let matters = |axis: &SweepAxis| axis.values.iter().any(|value| changes(&value.settings));
        let pairs = self.sweep.axes.iter().zip(at);
        pairs.map(|(axis, &at)| matters(axis).then_some(at)).collect()
    }
}

impl Made {
    fn of(sweep: &Sweep, settings: &PointSettings) -> Result<Arc<Made>, Failure> {
        let named = settings.named_run(&sweep.folder)?;
        let load = settings.load(&named)?.ok_or_else(|| {
            Failure::usage(
                "there is no load\n  remedy: name one for all points, such as workload = \"randwrite-4k\" in [run], or make \
                 it an axis",
            )
        })?;
        if load.is_read_once() {
            return Err(Failure::usage(
                "standard input and pipes can be read only once, but each run has to read it\n  remedy: save the trace to a file",
            ));
        }
        let options = named.options;
        let experiment = Arc::new(Experiment::new(load.clone(), &options)?);
        // Report a load that cannot be opened before anything runs.
        if !matches!(load, LoadSource::Requests(_)) {
            drop(load.open()?);
        }
        Ok(Arc::new(Made { experiment, load, options }))
    }
}

impl BaseDevice {
    fn of(sweep: &Sweep) -> Result<BaseDevice, Failure> {
        let named = sweep.base.named_run(&sweep.folder)?;
        let load = sweep.base.load(&named)?;
        let preparation = Preparation::new(&named.options, load.as_ref())?;
        if !preparation.uses_device() {
            return Err(Failure::usage(
                "the base device is to be prepared once, but nothing prepares it\n  remedy: write `precondition` into [run], \
                 such as precondition = \"fill,age\", or leave `prepare` out",
            ));
        }
        let config = sweep.base.config(&sweep.folder, preparation.image())?;
        preparation.refuse_physical(&config)?;
        let mut hasher = Hasher::new();
        hasher.update(config.canonical().as_bytes());
        hasher.update(format!("{:?}", preparation.parts()).as_bytes());
        Ok(BaseDevice { config, preparation, digest: hasher.finalize() })
    }

    /// Checks that a device can start from the state of this one.
    fn check(&self, config: &Config) -> Result<(), Failure> {
        let differences = differences(&self.config, config);
        if differences.is_empty() {
            return Ok(());
        }
        let told: String = differences.iter().map(|one| format!("  {one}\n")).collect();
        Err(Failure::usage(format!(
            "the device can't start from the prepared base device, which must have the same shape and capacity:\n{told}  \
             remedy: prepare the device of each point (leave prepare = \"base\" out), or sweep other options"
        )))
    }
}

/// What is wrong with points; each distinct text once.
#[derive(Default)]
struct WrongPoints(Vec<(String, String, usize)>);

impl WrongPoints {
    /// Adds a failure of a point.
    ///
    /// # Errors
    /// It says nothing about the point.
    fn add(&mut self, failure: Failure, label: &str) -> Result<(), Failure> {
        if let Failure::Interrupted = failure {
            return Err(failure);
        }
        let text = failure.text();
        match self.0.iter_mut().find(|(known, ..)| known == text) {
            Some((_, _, points)) => *points += 1,
            None => self.0.push((text.to_owned(), label.to_owned(), 1)),
        }
        Ok(())
    }

    fn none(self) -> Result<(), Failure> {
        if self.0.is_empty() {
            return Ok(());
        }
        let told = self.0.into_iter().map(|(text, label, points)| {
            let others = match points {
                1 => String::new(),
                2 => ", and in another one".to_owned(),
                more => format!(", and in {} others", more - 1),
            };
            format!("{text}\n  in the point {label}{others}")
        });
        Err(Failure::Config(told.collect::<Vec<_>>().join("\n")))
    }
}
