//! The preparation of a device before measuring: it is loaded from an image or new, and then
//! filled, aged until it is steady, or given a workload, step by step.

use std::sync::Arc;

use ftlab::config::Config;
use ftlab::device::Device;
use ftlab::host::Host;
use ftlab::image::Resume;
use ftlab::units::Ratio;
use ftlab_workload::generate::Generator;
use ftlab_workload::replay::{self, Ended, Source};

use super::ageing;
use super::steps::{self, Start, Step};
use super::untimed;
use super::{LoadSource, Watcher, phase_names, play_source};
use crate::args::LoadArgs;
use crate::failure::Failure;
use crate::human;
use crate::image::{self, OpenedImage};
use crate::memory;
use crate::recording::Recording;
use crate::result::{StepDocument, steps_of};

/// The preparation of a device.
pub struct Preparation {
    image: Option<Arc<OpenedImage>>,
    steps: Vec<Step>,
}

impl Preparation {
    /// Builds the preparation of the command line.
    pub fn new(args: &LoadArgs, load: Option<&LoadSource>) -> Result<Preparation, Failure> {
        let image = args.image.as_deref().map(image::take).transpose()?.map(Arc::new);
        Preparation::of(image, args.precondition.as_deref(), args.all_phases, load)
    }

    /// Builds a preparation from an image, if any, and steps.
    pub fn of(
        image: Option<Arc<OpenedImage>>,
        precondition: Option<&str>,
        all_phases: bool,
        load: Option<&LoadSource>,
    ) -> Result<Preparation, Failure> {
        let start = Start { is_used: image.is_some(), all_phases };
        let steps = precondition.map(|text| steps::parse(text, start, load)).transpose()?;
        Ok(Preparation { image, steps: steps.unwrap_or_default() })
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
        image.chain(self.steps.iter().map(Step::parts)).collect()
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
             block full, so there is nothing to prepare\n  remedy: leave --precondition and --image out",
            config.options.device.name
        )))
    }

    /// Returns the share of the device that is certain to be written: the largest fill.
    pub fn share_filled(&self) -> Ratio {
        self.steps.iter().filter_map(Step::share_filled).max().unwrap_or_default()
    }

    /// Creates the device, before the first step.
    pub fn device(&self, config: &Config, seed: u64) -> Result<Device, Failure> {
        let mut device = memory::device(config, seed)?;
        if let Some(taken) = &self.image {
            taken.check(config)?;
            let same_seed = taken.image.seed == seed;
            let resume = Resume::between(&taken.config.options, &config.options, same_seed);
            device.load(&taken.image.snapshot, resume).map_err(|damage| taken.refused(&damage))?;
        }
        Ok(device)
    }

    /// Returns warnings about options without effect, or that the image contradicts.
    pub fn hints(&self, config: &Config, device: &Device) -> Vec<String> {
        self.image().map(|taken| taken.hints(config, device)).unwrap_or_default()
    }

    /// Performs the steps, none of which is measured, and lets the device come to rest. Returns
    /// their documents.
    pub fn carry_out(
        &self,
        seed: u64,
        ssd: &mut Device,
        recording: &mut Recording<'_>,
        watcher: &mut dyn Watcher,
    ) -> Result<Vec<StepDocument>, Failure> {
        let mut done = Vec::new();
        done.extend(self.image.as_ref().map(|taken| taken.document()));
        let before = self.image.as_ref().map_or(0, |taken| steps_of(&taken.story()));
        for (at, step) in self.steps.iter().enumerate() {
            let seed = step.seed(seed, before + at);
            done.push(carry_out(step, seed, ssd, recording, watcher)?);
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

/// Whether requests carry physical addresses.
pub fn is_physical(config: &Config) -> bool {
    !config.options.ftl.mapping.policy.translates()
}

/// The remedy for a device that does not live long enough.
const LONGER_LIFE: &str = "write less in --precondition (such as age:limit=2), or make the device live \
                           longer (nand.faults, nand.endurance, ftl.over_provisioning)";

/// Lets a prepared device come to rest.
pub fn rest(ssd: &mut Device) -> Result<(), Failure> {
    ssd.rest(&mut Vec::new()).map_err(|left| {
        Failure::Experiment(format!(
            "the device reached its end while preconditioning: {left}\n  remedy: {LONGER_LIFE}"
        ))
    })
}

/// Describes when a device reached the end of its life during its preparation; a clause to be
/// continued. `None` for a device that was saved in that state.
pub fn told_of_end(ssd: &Device, steps: &[StepDocument]) -> Option<String> {
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
pub fn refuse_ended(ssd: &Device, steps: &[StepDocument]) -> Result<(), Failure> {
    told_of_end(ssd, steps).map_or(Ok(()), |told| {
        Err(Failure::Experiment(format!(
            "{told}, so there is nothing to measure\n  remedy: {LONGER_LIFE}; ftlab device save keeps the \
             device as it is"
        )))
    })
}

fn carry_out(
    step: &Step,
    seed: u64,
    ssd: &mut Device,
    recording: &mut Recording<'_>,
    watcher: &mut dyn Watcher,
) -> Result<StepDocument, Failure> {
    let capacity = ssd.capacity_sectors();
    let begun = ssd.now();
    let generator = |workload| Generator::new(workload, capacity, seed).map_err(Failure::usage);
    if !step.is_timed(ssd) {
        return untimed::carry_out(step, seed, ssd, recording, watcher);
    }
    let took = |ssd: &Device| untimed::in_time(step, ssd.needs_time(), ssd.now() - begun);
    match step {
        Step::Workload { workload, skipped } => {
            recording.names = phase_names(workload);
            let name = format!("preconditioning: {}", workload.name);
            let mut source = generator(workload)?;
            if !skipped.is_empty() {
                source.skip_unmeasured_lead();
            }
            play(&name, &mut source, ssd, recording, watcher)?;
            Ok(StepDocument::workload(workload, skipped.clone(), ssd.now() - begun))
        }
        Step::Fill(fill) => {
            recording.names = vec!["fill".to_owned()];
            match fill.in_order() {
                Some(workload) => {
                    let (source, total) = (generator(&workload)?, fill.requests(capacity));
                    play("fill", &mut steps::Counted { source, total }, ssd, recording, watcher)?;
                }
                None => play("fill", &mut fill.at_random(capacity, seed), ssd, recording, watcher)?,
            }
            Ok(fill.document(capacity, took(ssd)))
        }
        Step::Age(age) => {
            let load = age.workload();
            let flags = recording.flags;
            let mut source = ageing::UntilSteady::new(generator(&load)?, &flags.aged);
            recording.begin_ageing(age.begin(ssd), ssd);
            let mut watcher = ageing::AgeWatcher { inner: watcher, outlook: &flags.outlook };
            let played = play("age", &mut source, ssd, recording, &mut watcher);
            let ageing = recording.end_ageing(ssd).expect("nothing else takes it");
            played?;
            Ok(age.document(&load, &ageing, took(ssd)))
        }
    }
}

/// Plays an unmeasured source.
fn play<S: Source>(
    name: &str,
    source: &mut S,
    ssd: &mut Device,
    recording: &mut Recording<'_>,
    watcher: &mut dyn Watcher,
) -> Result<(), Failure> {
    watcher.begins(name, None);
    let report = play_source(ssd, source, recording, replay::Options::default(), watcher)?;
    if report.ended == Ended::Stopped {
        return Err(Failure::Interrupted);
    }
    recording.phases_before += u32::try_from(report.phases.len()).unwrap_or(u32::MAX);
    Ok(())
}
