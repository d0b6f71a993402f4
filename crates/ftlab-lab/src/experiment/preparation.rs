//! The preparation of a device before measuring: it is loaded from an image or new, and then
//! filled, aged until it is steady, or given a workload, step by step.

use std::sync::Arc;

use ftlab::config::Config;
use ftlab::device::{Contents, Device, DeviceSetup};
use ftlab::host::Host;
use ftlab::host::translation::LogRules;
use ftlab::image::{Damage, Resume, Snapshot};
use ftlab::scheduler::Probe;
use ftlab::units::Ratio;
use ftlab_workload::generate::Generator;
use ftlab_workload::replay::{self, Ended, Source, finished};

use super::ageing;
use super::steps::{self, Start, Step};
use super::untimed;
use super::watch::{Supervision, Watcher};
use super::{LoadSource, RunOptions, phase_names, play_source};
use crate::failure::Failure;
use crate::human;
use crate::image::{ImageSource, OpenedImage};
use crate::memory::{self, Instruments};
use crate::outside::OutsidePolicies;
use crate::recording::{Flags, Recording};
use crate::result::{StepDocument, notes_on_clocks, steps_of};
use crate::stop::Stop;
use crate::translation;

/// The preparation of a device.
pub struct Preparation {
    image: Option<Arc<OpenedImage>>,
    steps: Vec<Step>,
    /// Policies that replace configured ones.
    pub(crate) outside: OutsidePolicies,
}

impl Preparation {
    /// Builds the preparation that a run asks for.
    ///
    /// # Errors
    /// A step is wrong, or the image cannot be read.
    pub fn new(options: &RunOptions, load: Option<&LoadSource>) -> Result<Preparation, Failure> {
        let image = options.image.as_ref().map(ImageSource::open).transpose()?;
        let steps = options.precondition.as_deref();
        let preparation = Preparation::of(image, steps, options.all_phases, load)?;
        Ok(Preparation { outside: options.outside.clone(), ..preparation })
    }

    /// Builds a preparation from an image, if any, and steps.
    ///
    /// # Errors
    /// A step is wrong.
    pub fn of(
        image: Option<Arc<OpenedImage>>,
        precondition: Option<&str>,
        all_phases: bool,
        load: Option<&LoadSource>,
    ) -> Result<Preparation, Failure> {
        let start = Start { is_used: image.is_some(), all_phases };
        let steps = precondition.map(|text| steps::parse(text, start, load)).transpose()?;
        let outside = OutsidePolicies::default();
        Ok(Preparation { image, steps: steps.unwrap_or_default(), outside })
    }

    /// Returns the image that it starts from, if any.
    pub fn image(&self) -> Option<&OpenedImage> {
        self.image.as_deref()
    }

    /// Returns its parts, for the fingerprint of a run.
    pub fn parts(&self) -> Vec<String> {
        let image = self.image.iter().map(|taken| {
            let resumed = (taken.image.seed, blake3::hash(&taken.image.encode()));
            format!("{} {resumed:?}", crate::load::short_name(&taken.name))
        });
        let outside = self.outside.0.iter().map(|policy| format!("{policy:?}"));
        image.chain(self.steps.iter().map(Step::parts)).chain(outside).collect()
    }

    /// Whether the device is changed at all.
    pub fn uses_device(&self) -> bool {
        self.image.is_some() || !self.steps.is_empty()
    }

    /// Refuses to prepare a device with physical addresses, which has nothing to prepare.
    pub fn refuse_physical(&self, config: &Config) -> Result<(), Failure> {
        if !self.uses_device() || !is_physical(config) {
            return Ok(());
        }
        Err(Failure::usage(format!(
            "{} translates no addresses (ftl.mapping.policy = \"physical\"): no page is ever empty and no \
             block full, so there is nothing to prepare\n  remedy: leave `precondition` and `image` out",
            config.options.device.name
        )))
    }

    /// Returns the share of the device that is certain to be written: the largest fill.
    pub fn share_filled(&self) -> Ratio {
        self.steps.iter().filter_map(Step::share_filled).max().unwrap_or_default()
    }

    /// Creates the device, before the first step.
    ///
    /// # Errors
    /// The image does not fit, or there is not enough memory.
    pub fn device(&self, config: &Config, seed: u64) -> Result<Device, Failure> {
        self.loaded_by(config, seed, Instruments::default(), Device::load)
    }

    /// As [`device`](Self::device), with a probe and the bytes that the device carries. Chunks of an image are read when they
    /// are needed: whatever is done with the device is [guarded](crate::chunks::guarded).
    ///
    /// # Errors
    /// As there.
    pub(super) fn device_with<P: Probe, C: Contents>(
        &self,
        config: &Config,
        seed: u64,
        instruments: Instruments<P, C>,
    ) -> Result<Device<P, C>, Failure> {
        self.loaded_by(config, seed, instruments, Device::load_packed)
    }

    fn loaded_by<P: Probe, C: Contents>(
        &self,
        config: &Config,
        seed: u64,
        instruments: Instruments<P, C>,
        load: impl FnOnce(&mut Device<P, C>, &Snapshot, Resume) -> Result<(), Damage>,
    ) -> Result<Device<P, C>, Failure> {
        let setup = || self.outside.install(DeviceSetup::new(config, seed));
        let mut device = memory::device_of(setup, config, instruments)?;
        if let Some(taken) = &self.image {
            taken.check(config)?;
            let same_seed = taken.image.seed == seed;
            let resume = Resume::between(&taken.config.options, &config.options, same_seed);
            let resume = self.outside.resume(resume);
            let loaded = load(&mut device, &taken.image.snapshot, resume);
            loaded.map_err(|damage| taken.refused(&damage))?;
        }
        Ok(device)
    }

    /// Returns warnings about options without effect, or that the image contradicts.
    pub fn hints<P: Probe, C: Contents>(
        &self,
        config: &Config,
        device: &Device<P, C>,
    ) -> Vec<String> {
        self.image().map(|taken| taken.hints(config, device)).unwrap_or_default()
    }

    /// Performs the steps, none of which is measured, and lets the device come to rest. Returns
    /// their documents.
    pub(super) async fn carry_out<P: Probe + Clone, C: Contents + Clone>(
        &self,
        config: &Config,
        seed: u64,
        ssd: &mut Device<P, C>,
        recording: &mut Recording<'_>,
        supervision: &mut Supervision<'_>,
    ) -> Result<Vec<StepDocument>, Failure> {
        let mut done = Vec::new();
        done.extend(self.image.as_ref().map(|taken| taken.document()));
        let before = self.image.as_ref().map_or(0, |taken| steps_of(&taken.story()));
        for (at, step) in self.steps.iter().enumerate() {
            let step = StepRun {
                step,
                seed: step.seed(seed, before + at),
                translation: config.host_translation(),
            };
            done.push(carry_out(step, ssd, recording, supervision).await?);
            if ssd.end_of_life().is_some() {
                break;
            }
        }
        if self.steps.last().is_some_and(|step| !step.is_timed(ssd)) {
            untimed::rest(ssd);
        }
        if !self.steps.is_empty() {
            // Like a drive left alone for a while: it continues the same way whether it is saved or not.
            rest(ssd)?;
        }
        Ok(done)
    }
}

/// A device that was prepared and is at rest.
pub struct Prepared {
    /// The device.
    pub device: Device,
    /// The steps that it went through.
    pub steps: Vec<StepDocument>,
    /// What a reader of the steps needs to know.
    pub notes: Vec<String>,
    /// Why the device is not in the state that was asked for, if it is not.
    pub complaints: Vec<String>,
}

impl Preparation {
    /// Prepares a device, and lets it come to rest. `hint` hears warnings about options before the work begins.
    ///
    /// # Errors
    /// Stopped; there is too little memory; or the device failed.
    pub fn prepare(
        &self,
        config: &Config,
        seed: u64,
        watcher: &mut dyn Watcher,
        stop: &Stop,
        mut hint: impl FnMut(&str),
    ) -> Result<Prepared, Failure> {
        let mut device = self.device(config, seed)?;
        self.hints(config, &device).iter().for_each(|text| hint(text));
        let flags = Flags::default();
        let mut recording = Recording::new(&device, None, &flags);
        let mut supervision = Supervision { watcher, stop };
        translation::refuse(config, "a prepared device can't be kept")?;
        let steps = self.carry_out(config, seed, &mut device, &mut recording, &mut supervision);
        let steps = finished(steps)?;
        rest(&mut device)?;
        let skipped = steps.iter().filter_map(StepDocument::skipped);
        let notes = skipped.chain(notes_on_clocks(&steps)).collect();
        let mut complaints: Vec<_> = steps.iter().filter_map(StepDocument::complaint).collect();
        if complaints.is_empty() {
            let ended = told_of_end(&device, &steps);
            complaints.extend(ended.map(|told| format!("{told}, and later steps were skipped")));
        }
        Ok(Prepared { device, steps, notes, complaints })
    }
}

/// Whether requests carry physical addresses.
pub fn is_physical(config: &Config) -> bool {
    !config.options.ftl.mapping.policy.translates()
}

/// The remedy for a device that does not live long enough.
const LONGER_LIFE: &str = "write less in `precondition` (such as age:limit=2), or make the device live \
                           longer (nand.faults, nand.endurance, ftl.over_provisioning)";

/// Lets a prepared device come to rest.
pub fn rest<P: Probe, C: Contents>(ssd: &mut Device<P, C>) -> Result<(), Failure> {
    ssd.rest(&mut Vec::new()).map_err(|left| {
        Failure::Experiment(format!(
            "the device reached its end while preconditioning: {left}\n  remedy: {LONGER_LIFE}"
        ))
    })
}

/// Describes when a device reached the end of its life during its preparation; a clause to be
/// continued. `None` for a device that was saved in that state.
pub fn told_of_end<P: Probe, C: Contents>(
    ssd: &Device<P, C>,
    steps: &[StepDocument],
) -> Option<String> {
    let last = steps.last().filter(|step| !matches!(step, StepDocument::Image { .. }))?;
    ssd.end_of_life().map(|end| {
        format!(
            "the device reached the end of its life while it was prepared, in the step {}: after {}, when the \
             host had written {}. It accepts no more writes",
            last.told(),
            human::span(end.at.0),
            human::bytes(end.host_written.0),
        )
    })
}

/// Refuses to measure a device that reached its end during its preparation, because it would refuse
/// every write.
pub fn refuse_ended<P: Probe, C: Contents>(
    ssd: &Device<P, C>,
    steps: &[StepDocument],
) -> Result<(), Failure> {
    told_of_end(ssd, steps).map_or(Ok(()), |told| {
        Err(Failure::Experiment(format!(
            "{told}, so there is nothing to measure\n  remedy: {LONGER_LIFE}; an image keeps the device \
             as it is"
        )))
    })
}

/// A store takes over zones that were filled in order.
const ON_STORE: &str = "the host translates addresses (host.translation.policy is \"log\"): its store begins empty, or filled in order and \
                        without a clock\n  remedy: prepare it with `fill`, and let the load begin with a phase that is not measured \
                        (measure = false)";

/// A step that is carried out.
#[derive(Clone, Copy)]
pub(super) struct StepRun<'a> {
    pub step: &'a Step,
    pub seed: u64,
    /// The rules of the store on the device, if the host translates addresses.
    pub translation: Option<LogRules>,
}

/// Zones are filled in order, and nothing else: other writes would have to keep to their write pointers.
fn refuse_on_zones<P: Probe, C: Contents>(
    run: &StepRun<'_>,
    ssd: &Device<P, C>,
) -> Result<(), Failure> {
    let step = run.step;
    let Some(zones) = ssd.zones() else { return Ok(()) };
    if run.translation.is_some() {
        let fits =
            matches!(step, Step::Fill(fill) if fill.in_order().is_some() && !step.is_timed(ssd));
        return if fits { Ok(()) } else { Err(Failure::usage(ON_STORE)) };
    }
    let shape = zones.rules().shape;
    let has_gaps = shape.size_sectors() != shape.capacity_sectors();
    let fits = match step {
        Step::Fill(fill) => fill.in_order().is_some() && !(has_gaps && step.is_timed(ssd)),
        Step::Workload { .. } | Step::Age(_) => false,
    };
    match fits {
        true => Ok(()),
        false => Err(Failure::usage(
            "the device has zones, which are written in order: it can be filled in order and without a clock, but not written at \
             random before a run\n  remedy: prepare it with `fill`, or let the first job of a fio job file write it \
             (zonemode=zbd)"
                .to_owned(),
        )),
    }
}

async fn carry_out<P: Probe + Clone, C: Contents + Clone>(
    run: StepRun<'_>,
    ssd: &mut Device<P, C>,
    recording: &mut Recording<'_>,
    supervision: &mut Supervision<'_>,
) -> Result<StepDocument, Failure> {
    let StepRun { step, seed, .. } = run;
    let capacity = ssd.capacity_sectors();
    refuse_on_zones(&run, ssd)?;
    let begun = ssd.now();
    let generator = |workload| Generator::new(workload, capacity, seed).map_err(Failure::usage);
    if !step.is_timed(ssd) {
        return untimed::carry_out(run, ssd, recording, supervision).await;
    }
    let took = |ssd: &Device<P, C>| untimed::in_time(step, ssd.needs_time(), ssd.now() - begun);
    match step {
        Step::Workload { workload, skipped } => {
            recording.names = phase_names(workload);
            let name = format!("preconditioning: {}", workload.name);
            let mut source = generator(workload)?;
            if !skipped.is_empty() {
                source.skip_unmeasured_lead();
            }
            play(&name, &mut source, ssd, recording, supervision).await?;
            Ok(StepDocument::workload(workload, skipped.clone(), ssd.now() - begun))
        }
        Step::Fill(fill) => {
            recording.names = vec!["fill".to_owned()];
            match fill.in_order() {
                Some(workload) => {
                    let (source, total) = (generator(&workload)?, fill.requests(capacity));
                    let mut source = steps::Counted { source, total };
                    play("fill", &mut source, ssd, recording, supervision).await?;
                }
                None => {
                    let mut source = fill.at_random(capacity, seed);
                    play("fill", &mut source, ssd, recording, supervision).await?;
                }
            }
            Ok(fill.document(fill.sectors(capacity), took(ssd)))
        }
        Step::Age(age) => {
            let load = age.workload();
            let flags = recording.flags;
            let mut source = ageing::UntilSteady::new(generator(&load)?, &flags.aged);
            recording.begin_ageing(age.begin(ssd), ssd);
            let mut watcher =
                ageing::AgeWatcher { inner: supervision.watcher, outlook: &flags.outlook };
            let mut supervision = Supervision { watcher: &mut watcher, stop: supervision.stop };
            let played = play("age", &mut source, ssd, recording, &mut supervision).await;
            let ageing = recording.end_ageing(ssd).expect("nothing else takes it");
            played?;
            Ok(age.document(&load, &ageing, took(ssd)))
        }
    }
}

/// Plays an unmeasured source.
async fn play<S: Source, P: Probe + Clone, C: Contents + Clone>(
    name: &str,
    source: &mut S,
    ssd: &mut Device<P, C>,
    recording: &mut Recording<'_>,
    supervision: &mut Supervision<'_>,
) -> Result<(), Failure> {
    supervision.watcher.begins(name, None);
    let report =
        play_source(ssd, source, recording, replay::Options::default(), supervision).await?;
    if report.ended == Ended::Stopped {
        return Err(Failure::Interrupted);
    }
    recording.phases_before += u32::try_from(report.phases.len()).unwrap_or(u32::MAX);
    Ok(())
}
