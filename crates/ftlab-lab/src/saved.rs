//! Devices saved in images: how they are prepared, and what state they are in.

use std::sync::Arc;

use ftlab::config::Config;
use ftlab::device::{Contents, Device};
use ftlab::ftl::{BlockState, fewest_free_blocks};
use ftlab::host::Host;
use ftlab::image::{Resume, Snapshot};
use ftlab::saved::Image;
use ftlab::scheduler::Probe;
use ftlab::units::{BlockId, DieId};
use serde::Serialize;
use serde_json::Value;

use crate::chunks::PackedChunks;
use crate::experiment::{Preparation, Prepared, Watcher, is_physical, refuse_foresight, rest};
use crate::failure::Failure;
use crate::human;
use crate::image::OpenedImage;
use crate::lab::Lab;
use crate::memory::{self, Instruments};
use crate::result::{StepDocument, to_json};

/// The state of a device.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeviceState {
    /// Host pages that are written.
    pub mapped_pages: u64,
    /// Host pages of the device.
    pub logical_pages: u32,
    /// Its blocks.
    pub blocks: BlockCounts,
    /// Dies found dead.
    pub dead_dies: Vec<u32>,
    /// Host pages that are on dead dies.
    pub pages_on_dead_dies: u64,
    /// The smallest number of erases of a block.
    pub erases_min: u32,
    /// The mean number of erases of a block.
    pub erases_mean: f64,
    /// The largest number of erases of a block.
    pub erases_max: u32,
    /// The simulated time at which the device was saved.
    pub now_ns: u64,
}

/// The blocks of a device by their state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BlockCounts {
    /// Erased or to be erased.
    pub free: u32,
    /// Being filled.
    pub open: u32,
    /// Full.
    pub closed: u32,
    /// Being emptied.
    pub to_be_collected: u32,
    /// Unusable.
    pub bad: u32,
    /// On dead dies.
    pub dead: u32,
    /// The fewest free blocks of any plane.
    pub free_in_plane_min: u32,
}

impl DeviceState {
    /// Returns the state of a device.
    #[must_use]
    pub fn of(device: &Device) -> DeviceState {
        let ftl = device.ftl();
        // With parity across dies, blocks and planes are those that the FTL fills (superblocks).
        let geometry = ftl.geometry();
        let mut blocks = BlockCounts::default();
        for block in (0..geometry.blocks()).map(BlockId::new) {
            let count = match ftl.blocks().state(block) {
                BlockState::Free => &mut blocks.free,
                BlockState::Open => &mut blocks.open,
                BlockState::Closed => &mut blocks.closed,
                BlockState::Collecting | BlockState::Failing => &mut blocks.to_be_collected,
                BlockState::Bad => &mut blocks.bad,
                BlockState::Dead => &mut blocks.dead,
            };
            *count += 1;
        }
        blocks.free_in_plane_min = fewest_free_blocks(ftl);
        let erases = || ftl.blocks().all_erases();
        let sum: u64 = erases().map(u64::from).sum();
        DeviceState {
            mapped_pages: ftl.mapped_pages(),
            logical_pages: ftl.logical_pages(),
            blocks,
            dead_dies: ftl.dead_dies_on_flash().into_iter().map(DieId::get).collect(),
            pages_on_dead_dies: ftl.pages_on_dead_dies(),
            erases_min: erases().min().unwrap_or(0),
            erases_mean: sum as f64 / f64::from(geometry.blocks()),
            erases_max: erases().max().unwrap_or(0),
            now_ns: device.now().0,
        }
    }
}

/// Refuses to save a device that has no state.
///
/// # Errors
/// Its requests carry physical addresses.
pub fn refuse_physical(config: &Config) -> Result<(), Failure> {
    if !is_physical(config) {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "{} translates no addresses (ftl.mapping.policy = \"physical\"), so it has no state that an image could \
         hold\n  remedy: save a device with ftl.mapping.policy = \"page\"",
        config.options.device.name
    )))
}

impl Lab {
    /// Prepares a device, and lets it come to rest. `hint` hears warnings about options before the work begins.
    ///
    /// # Errors
    /// Stopped; the device has no state; there is too little memory; or it failed while it was prepared.
    pub fn prepare(
        &self,
        preparation: &Preparation,
        config: &Config,
        seed: u64,
        watcher: &mut dyn Watcher,
        hint: impl FnMut(&str),
    ) -> Result<Prepared, Failure> {
        refuse_physical(config)?;
        refuse_foresight(config, "a saved device")?;
        memory::refuse_too_much(config, preparation.share_filled(), 1)?;
        preparation.prepare(config, seed, watcher, &self.stop, hint)
    }
}

/// Devices with so many pages are saved with their map, in chunks: to derive it would take longer than to load the rest.
/// Images of smaller ones are half as large without.
const LARGE: u32 = 1 << 24;

/// Returns the image of a device at rest, and how it was made.
///
/// # Errors
/// The steps cannot be written as JSON.
pub fn image_of<P: Probe, C: Contents>(
    device: &Device<P, C>,
    config: &Config,
    seed: u64,
    steps: &[StepDocument],
) -> Result<Image, Failure> {
    let snapshot = match device.ftl().logical_pages() >= LARGE && device.has_chunks() {
        true => saved_in_chunks(device),
        false => device.save(),
    };
    Ok(Image {
        ftlab_version: env!("CARGO_PKG_VERSION").to_owned(),
        config: config.canonical(),
        seed,
        story: to_json(&steps)?,
        snapshot,
    })
}

/// The state of a device, with its largest tables in chunks.
pub(crate) fn saved_in_chunks<P: Probe, C: Contents>(device: &Device<P, C>) -> Snapshot {
    let mut packed = PackedChunks::default();
    let mut snapshot = device.save_in_chunks(&mut packed);
    let packed = Arc::new(packed);
    snapshot.chunks.iter_mut().for_each(|chunks| chunks.come_from(packed.clone()));
    snapshot
}

/// Loads and audits a device with the state of an image.
///
/// # Errors
/// The device rejects the state, or there is not enough memory.
pub fn loaded(taken: &OpenedImage, config: &Config, resume: Resume) -> Result<Device, Failure> {
    let mut device = memory::device(config, taken.image.seed, Instruments::default())?;
    device
        .load(&taken.image.snapshot, resume)
        .and_then(|()| device.ftl().audit().map_err(ftlab::image::Damage))
        .map_err(|damage| taken.refused(&damage))?;
    Ok(device)
}

/// Loads a device as [`loaded`], and lets it come to rest.
///
/// # Errors
/// As there; or the device reached its end.
pub fn loaded_at_rest(
    taken: &OpenedImage,
    config: &Config,
    resume: Resume,
) -> Result<Device, Failure> {
    let mut device = loaded(taken, config, resume)?;
    rest(&mut device)?;
    Ok(device)
}

const FRESH: &str = "nothing: it is fresh";

/// Describes how a device came to its state: a line for each step with its depth; the steps of an image are one
/// deeper.
#[must_use]
pub fn story_told(story: &Value) -> Vec<(usize, String)> {
    let mut lines = Vec::new();
    chain(story, 0, &mut lines);
    if lines.is_empty() {
        lines.push((0, FRESH.to_owned()));
    }
    lines
}

fn chain(story: &Value, depth: usize, lines: &mut Vec<(usize, String)>) {
    for step in story.as_array().into_iter().flatten() {
        lines.push((depth, step_told(step)));
        if step["step"] == "image" {
            let before = lines.len();
            chain(&step["story"], depth + 1, lines);
            if lines.len() == before {
                lines.push((depth + 1, FRESH.to_owned()));
            }
        }
    }
}

fn step_told(step: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or("?").to_owned();
    let took = step["duration_ns"].as_u64().map(|ns| format!(", {}", human::span(ns)));
    let without = || (step["clock"] == "none").then(|| ", without a clock".to_owned());
    let took = took.or_else(without).unwrap_or_default();
    match step["step"].as_str().unwrap_or("?") {
        "image" => {
            let seed = step["seed"].as_u64().map(|seed| format!(", seed {seed}"));
            format!("image {}{}, made by", text(&step["name"]), seed.unwrap_or_default())
        }
        "fill" => {
            let written =
                step["written_bytes"].as_u64().map(|all| format!(" of {}", human::bytes(all)));
            format!("{} fill{}{took}", text(&step["order"]), written.unwrap_or_default())
        }
        "workload" => format!("workload {}{took}", text(&step["load"]["name"])),
        "age" => format!("{}{took}", aged(step)),
        "stepped" => {
            let requests = human::count(step["requests"].as_u64().unwrap_or_default());
            format!("{requests} requests of a caller{took}")
        }
        other => other.to_owned(),
    }
}

fn aged(step: &Value) -> String {
    let verdict = step["verdict"].as_str().unwrap_or("?").replace('_', " ");
    let rounds = step["rounds"].as_array().map_or(0, Vec::len);
    let wa = step["write_amplification"]["mean"].as_f64();
    let wa = wa.map_or(String::new(), |wa| format!(", write amplification {wa:.3}"));
    let load = step["load"]["name"].as_str().unwrap_or("?");
    format!("ageing by {load}: {verdict} after {rounds} rounds{wa}")
}
