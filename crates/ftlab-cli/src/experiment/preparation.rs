//! What a device goes through before it is measured: taken from an image or made new, then step after
//! step: filled, aged until it is steady, or given a workload.

use std::sync::Arc;

use ftlab::config::Config;
use ftlab::device::{Device, DeviceSetup, assemble};
use ftlab::host::Host;
use ftlab::image::Resume;
use ftlab_workload::generate::Generator;
use ftlab_workload::replay::{self, Ended, Source};

use super::ageing;
use super::steps::{self, Step};
use super::{LoadSource, Watcher, phase_names, play_source};
use crate::args::LoadArgs;
use crate::failure::Failure;
use crate::image::{self, Taken};
use crate::recording::Recording;
use crate::result::StepDocument;

/// What is done to a device first.
pub struct Preparation {
    image: Option<Arc<Taken>>,
    steps: Vec<Step>,
}

impl Preparation {
    /// What the command line asks for.
    pub fn new(args: &LoadArgs, load: Option<&LoadSource>) -> Result<Preparation, Failure> {
        let image = args.image.as_deref().map(image::take).transpose()?.map(Arc::new);
        Preparation::of(image, args.precondition.as_deref(), load)
    }

    /// From an image, if there is one, and by these steps.
    pub fn of(
        image: Option<Arc<Taken>>,
        precondition: Option<&str>,
        load: Option<&LoadSource>,
    ) -> Result<Preparation, Failure> {
        let steps =
            precondition.map(|text| steps::parse(text, image.is_some(), load)).transpose()?;
        Ok(Preparation { image, steps: steps.unwrap_or_default() })
    }

    /// The image that it begins with, if there is one.
    pub fn image(&self) -> Option<&Taken> {
        self.image.as_deref()
    }

    /// The device, before the first step.
    pub fn device(&self, config: &Config, seed: u64) -> Result<Device, Failure> {
        let mut device = assemble(DeviceSetup::new(config, seed));
        if let Some(taken) = &self.image {
            taken.check(config)?;
            let same_seed = taken.image.seed == seed;
            let resume = Resume::between(&taken.config.options, &config.options, same_seed);
            device.load(&taken.image.snapshot, resume).map_err(|damage| taken.refused(&damage))?;
        }
        Ok(device)
    }

    /// Takes the steps, none of which is measured, and lets the device come to rest. Says what was done.
    pub fn carry_out(
        &self,
        seed: u64,
        ssd: &mut Device,
        recording: &mut Recording<'_>,
        watcher: &mut dyn Watcher,
    ) -> Result<Vec<StepDocument>, Failure> {
        let mut done = Vec::new();
        done.extend(self.image.as_ref().map(|taken| taken.document()));
        for step in &self.steps {
            done.push(carry_out(step, seed, ssd, recording, watcher)?);
        }
        if !self.steps.is_empty() {
            // As a drive that was left alone for a while: saved or not, it goes on from here alike.
            rest(ssd)?;
        }
        Ok(done)
    }
}

/// Lets a device that was prepared come to rest.
pub fn rest(ssd: &mut Device) -> Result<(), Failure> {
    ssd.rest(&mut Vec::new()).map_err(|left| {
        Failure::usage(format!(
            "the device came to its end while preconditioning: {left}\n  remedy: write less in \
             --precondition, or make the device live longer (nand.faults, nand.endurance, \
             ftl.over_provisioning)"
        ))
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
    match step {
        Step::Workload(workload) => {
            recording.names = phase_names(workload);
            let name = format!("preconditioning: {}", workload.name);
            play(&name, &mut generator(workload)?, ssd, recording, watcher)?;
            Ok(StepDocument::workload(workload, ssd.now() - begun))
        }
        Step::Fill(fill) => {
            recording.names = vec!["fill".to_owned()];
            match fill.in_order() {
                Some(workload) => {
                    play("fill", &mut generator(&workload)?, ssd, recording, watcher)?;
                }
                None => play("fill", &mut fill.at_random(capacity), ssd, recording, watcher)?,
            }
            Ok(fill.document(capacity, ssd.now() - begun))
        }
        Step::Age(age) => {
            recording.names = age.phase_names();
            recording.ageing = Some(age.begin(ssd));
            let load = age.workload(capacity);
            let mut source = ageing::UntilSteady::new(generator(&load)?, recording.aged);
            let played = play("age", &mut source, ssd, recording, watcher);
            recording.aged.set(false);
            let ageing = recording.ageing.take().expect("nothing else takes it");
            played?;
            Ok(age.document(&load, &ageing, ssd.now() - begun))
        }
    }
}

/// Plays a source of which nothing is measured.
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
