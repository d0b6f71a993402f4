//! A run that a script steps: an experiment of the laboratory whose watcher pauses it, and what is seen meanwhile.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use ftlab::config::Config;
use ftlab::nand::Kind;
use ftlab::scheduler::Origin;
use ftlab::shape::Geometry;
use ftlab_lab::Failure;
use ftlab_lab::catalog::presets_read;
use ftlab_lab::device::{self, Setting};
use ftlab_lab::experiment::{Conduct, Experiment, LoadSource, Measured, NamedRun};
use ftlab_lab::human::bytes;
use ftlab_lab::memory::{Instruments, needed};
use ftlab_lab::result::to_json;
use ftlab_lab::stop::Stop;
use ftlab_workload::generate::Workload;
use ftlab_workload::trace;
use serde_json::{Value, json};

use crate::ask::RunPlan;
use crate::frame;
use crate::scene::{Director, Scene, SceneProbe, SharedScene, Until};
use crate::words;

type RunFuture = Pin<Box<dyn Future<Output = Result<Measured<SceneProbe>, Failure>>>>;

/// A run.
pub struct Session {
    scene: SharedScene,
    facts: Value,
    /// Nothing once it has ended.
    run: Option<RunFuture>,
    /// How it ended: the result, and what has to be known about it.
    outcome: Option<Result<Value, Failure>>,
    /// The memory that the drive needs.
    needed: u64,
}

/// The most memory of a page, in bytes.
const MEMORY: u64 = 1 << 32;

/// The options of a plan, called as in the page, which does not number those that are knobs.
fn settings(plan: &RunPlan) -> Vec<Setting> {
    let own = plan.set.iter().map(|text| (words::OPTIONS.to_owned(), text));
    let beside = plan.beside.iter().enumerate();
    let beside = beside.map(|(at, text)| (format!("{}, line {}", words::BESIDE, at + 1), text));
    own.chain(beside).map(|(label, text)| Setting { label, text: text.clone() }).collect()
}

fn config_of(plan: &RunPlan) -> Result<Config, Failure> {
    let sets = settings(plan);
    match &plan.device_text {
        Some(text) => device::of_file_text(&plan.device, text, &sets),
        None => device::load(&plan.device, &sets),
    }
}

fn load_of(plan: &mut RunPlan, kept: &Bytes) -> Result<LoadSource, Failure> {
    if let Some(file) = plan.trace.take() {
        let (held, reading) = (Some(kept.clone()), trace::Options::default());
        return Ok(LoadSource::Trace { file, held, reading });
    }
    match &plan.workload_text {
        Some(text) => {
            let mut none = |_: &str| Err("a page has no files".to_owned());
            let workload = Workload::parse(&plan.workload, text, &mut none);
            let workload = workload.map_err(Failure::usage)?;
            Ok(LoadSource::Workload(std::sync::Arc::new(workload)))
        }
        None => LoadSource::workload(&plan.workload),
    }
}

impl Session {
    /// Opens a run. Nothing happens until it is told to go on.
    ///
    /// # Errors
    /// The device, the load or an option is wrong; or the drive does not fit in memory, besides `taken` bytes of others and of the
    /// trace. `kept` is the trace, if the plan names one.
    pub fn open(mut plan: RunPlan, kept: &Bytes, taken: u64) -> Result<Session, Failure> {
        let config = config_of(&plan)?;
        let needed = needed(&config);
        if needed.saturating_add(taken) > MEMORY {
            return Err(does_not_fit(&config, needed, taken));
        }
        let seed = plan.seed.parse().map_err(|_| {
            Failure::usage(format!("`seed`: `{}` is no whole number up to {}", plan.seed, u64::MAX))
        })?;
        let mut named = NamedRun::default();
        for (name, text) in &plan.options {
            let told = |problem| Failure::usage(format!("`{name}`: {problem}"));
            named.options.set(name, text).map_err(told)?;
        }
        let experiment = Experiment::new(load_of(&mut plan, kept)?, &named.options)?;
        experiment.check(&config, 1)?;
        let load = experiment.load.open()?;
        let facts = facts(&config);
        let scene = Rc::new(RefCell::new(Scene::of(&config)));
        let of_run = Rc::clone(&scene);
        let run = async move {
            let mut director = Director::new(Rc::clone(&of_run));
            let stop = Stop::default();
            let conduct = Conduct { watcher: &mut director, stop: &stop, requests: None };
            let instruments = Instruments { probe: SceneProbe(of_run), contents: () };
            experiment.play_with(load, &config, seed, conduct, instruments).await
        };
        Ok(Session { scene, facts, run: Some(Box::pin(run)), outcome: None, needed })
    }

    /// The memory that the drive needs.
    pub fn needed(&self) -> u64 {
        self.needed
    }

    /// Returns what is known of the device.
    pub fn facts(&self) -> Value {
        self.facts.clone()
    }

    /// Lets the run go on, and returns what was seen.
    ///
    /// # Errors
    /// The run failed.
    pub fn go(&mut self, until: Until) -> Result<Value, Failure> {
        {
            let mut scene = self.scene.borrow_mut();
            scene.until = until;
            scene.stopped = false;
        }
        if let Some(run) = &mut self.run {
            let mut context = Context::from_waker(Waker::noop());
            if let Poll::Ready(ended) = run.as_mut().poll(&mut context) {
                self.run = None;
                self.outcome = Some(ended.and_then(|measured| self.end(&measured)));
            }
        }
        if let Some(Err(failure)) = &self.outcome {
            return Err(failure.clone());
        }
        let mut scene = self.scene.borrow_mut();
        Ok(frame::frame(&mut scene, self.run.is_none()))
    }

    /// Notes what is seen at the end, and returns the result as a text, with what has to be known about it.
    fn end(&self, measured: &Measured<SceneProbe>) -> Result<Value, Failure> {
        let mut scene = self.scene.borrow_mut();
        scene.until.views = true;
        scene.note(&measured.view());
        let document = &measured.document;
        let noted =
            |texts: &[String]| texts.iter().map(|text| words::noted(text)).collect::<Vec<_>>();
        Ok(json!({
            "text": to_json(document)?,
            "notes": noted(&document.report.notes),
            "warnings": noted(&document.warnings),
            "assumed": noted(&document.assumed),
        }))
    }

    /// Returns the result of a run that has ended.
    ///
    /// # Errors
    /// It has not ended, or failed.
    pub fn result(&self) -> Result<Value, Failure> {
        match &self.outcome {
            Some(Ok(told)) => Ok(told.clone()),
            Some(Err(failure)) => Err(failure.clone()),
            None => Err(Failure::usage("the run has not ended\n  remedy: let it go on")),
        }
    }
}

/// Says what a drive would need.
fn does_not_fit(config: &Config, needed: u64, taken: u64) -> Failure {
    let beside =
        if taken > 0 { format!(", and {} are taken", bytes(taken)) } else { String::new() };
    Failure::usage(format!(
        "{} needs about {} of memory, and a page has {}{beside}\n  remedy: take a smaller drive (fewer \
         nand.blocks_per_plane) or a larger ftl.mapping.unit, or run it with the program",
        config.options.device.name,
        bytes(needed),
        bytes(MEMORY)
    ))
}

/// The built-in devices that do not fit in the memory of a page, with what they would need.
///
/// # Errors
/// A preset is wrong.
pub fn too_large() -> Result<Value, Failure> {
    let presets = presets_read()?;
    let needs = presets.iter().map(|(name, _, config)| (*name, needed(config)));
    let too_large = needs.filter(|(_, needed)| *needed > MEMORY);
    Ok(too_large.map(|(name, needed)| (name.to_owned(), json!(bytes(needed)))).collect())
}

/// What a page needs to know of a device: whether it has a write buffer, and the blocks of each plane that are the SLC
/// cache's own, which the FTL does not count as free. Its `planes` are those of its map of blocks: where the FTL fills superblocks,
/// groups of planes.
fn facts(config: &Config) -> Value {
    let geometry = config.flash();
    let superblocks = geometry.superblocks();
    json!({
        "name": config.options.device.name,
        "dies": geometry.dies(),
        "channels": geometry.channels(),
        "planes": Geometry::new(config.volume()).planes(),
        "blocks_per_plane": config.shape().blocks_per_plane,
        "buffer": config.options.cache.policy.dram().is_some(),
        "slc_blocks": config.options.ftl.slc_cache.policy.own_blocks(),
        "superblock": superblocks.map(|span| json!({ "dies": span.dies, "planes": span.planes })),
        "kinds": Kind::ALL,
        "origins": Origin::ALL.map(Origin::name),
        "device_file": config.canonical(),
        "warnings": device::remarks([config]),
    })
}
