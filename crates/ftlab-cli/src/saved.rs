//! `ftlab device save|show|load`: devices saved in files.

use std::io::Write;

use ftlab::config::Config;
use ftlab::device::Device;
use ftlab::ftl::BlockState;
use ftlab::host::Host;
use ftlab::image::Resume;
use ftlab::saved::Image;
use ftlab::units::{BlockId, DieId, SECTOR_BYTES};
use serde::Serialize;
use serde_json::{Value, json};

use crate::args::{LoadImageArgs, SaveArgs, ShowImageArgs};
use crate::device::{Setting, settings};
use crate::experiment::{Preparation, is_physical, rest, told_of_end};
use crate::failure::Failure;
use crate::image::{self, OpenedImage};
use crate::progress::Bars;
use crate::recording::{Flags, Recording};
use crate::result::{StepDocument, notes_on_clocks, to_json};
use crate::table::{line, wrapped};
use crate::{device, human, interrupt};

/// The state of a device, as `ftlab device show` prints it.
#[derive(Debug, Serialize)]
struct State {
    /// Host pages that are written.
    mapped_pages: u64,
    logical_pages: u32,
    blocks: Blocks,
    /// Dies found dead.
    dead_dies: Vec<u32>,
    /// Host pages that are on dead dies.
    pages_on_dead_dies: u64,
    /// The smallest, mean and largest number of erases of a block.
    erases_min: u32,
    erases_mean: f64,
    erases_max: u32,
    /// The simulated time at which the device was saved.
    now_ns: u64,
}

#[derive(Debug, Default, Serialize)]
struct Blocks {
    free: u32,
    open: u32,
    closed: u32,
    to_be_collected: u32,
    bad: u32,
    /// On dead dies.
    dead: u32,
    /// The fewest free blocks of any plane.
    free_in_plane_min: u32,
}

impl State {
    fn of(device: &Device) -> State {
        let ftl = device.ftl();
        // With parity across dies, blocks and planes are those that the FTL fills (superblocks).
        let geometry = ftl.geometry();
        let mut blocks = Blocks::default();
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
        let planes = (0..geometry.planes()).map(ftlab::units::PlaneId::new);
        blocks.free_in_plane_min = planes.map(|plane| ftl.free_blocks(plane)).min().unwrap_or(0);
        let erases = || ftl.blocks().all_erases();
        let sum: u64 = erases().map(u64::from).sum();
        State {
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

    fn print(&self, out: &mut dyn Write) -> std::io::Result<()> {
        let share = self.mapped_pages as f64 / f64::from(self.logical_pages.max(1));
        let pages = human::count(self.mapped_pages);
        line(out, "Utilisation", &format!("{} ({pages} pages written)", human::percent(share)))?;
        let Blocks { free, open, closed, to_be_collected, bad, dead, free_in_plane_min } =
            self.blocks;
        let [free, open, closed, to_be_collected, bad, dead] =
            [free, open, closed, to_be_collected, bad, dead]
                .map(|blocks| human::count(blocks.into()));
        let dead = if dead == "0" { String::new() } else { format!(", {dead} dead") };
        let blocks = format!(
            "{free} free, {open} open, {closed} closed, {to_be_collected} to be collected, {bad} bad{dead}"
        );
        line(out, "Blocks", &blocks)?;
        if !self.dead_dies.is_empty() {
            let dies: Vec<String> = self.dead_dies.iter().map(u32::to_string).collect();
            let lost = human::count(self.pages_on_dead_dies);
            let text = format!("{}; {lost} host pages are on them", dies.join(", "));
            line(out, "Dead dies", &text)?;
        }
        line(out, "Free blocks of a plane", &format!("at least {free_in_plane_min}"))?;
        let (least, mean, most) = (self.erases_min, self.erases_mean, self.erases_max);
        let erases = format!("{least} / {mean:.2} / {most} (min / mean / max)");
        line(out, "Erases of a block", &erases)?;
        line(out, "Simulated time so far", &human::span(self.now_ns))
    }
}

/// `ftlab device save`: prepares a device and writes it to a file.
pub fn save(args: &SaveArgs, out: &mut dyn Write) -> Result<(), Failure> {
    image::refuse_to_overwrite(&args.output, args.force)?;
    let taken = args.image.as_deref().map(image::take).transpose()?.map(std::sync::Arc::new);
    let config = config(args.device.as_deref(), &settings(&args.sets), taken.as_deref())?;
    let preparation = Preparation::of(taken, args.precondition.as_deref(), args.all_phases, None)?;
    if is_physical(&config) {
        return Err(Failure::usage(format!(
            "{} translates no addresses (ftl.mapping.policy = \"physical\"), so it has no state that an image \
             could hold\n  remedy: save a device with ftl.mapping.policy = \"page\"",
            config.options.device.name
        )));
    }
    crate::memory::refuse_too_much(&config, preparation.share_filled(), 1)?;
    interrupt::listen()?;
    if !args.quiet {
        device::warn(&config);
    }
    let mut ssd = preparation.device(&config, args.seed)?;
    if !args.quiet {
        preparation.hints(&config, &ssd).iter().for_each(|hint| say!("warning: {hint}."));
    }
    let steps = prepare(&preparation, args, &mut ssd)?;
    rest(&mut ssd)?;
    let image = Image {
        ftlab_version: env!("CARGO_PKG_VERSION").to_owned(),
        config: config.canonical(),
        seed: args.seed,
        story: to_json(&steps)?,
        snapshot: ssd.save(),
    };
    let length = image::write(&args.output, &image)?;
    if !args.quiet {
        writeln!(out, "{}: {}", args.output.display(), human::bytes(length))?;
        tell(&steps_value(&steps), out)?;
        State::of(&ssd).print(out)?;
    }
    let skipped = steps.iter().filter_map(StepDocument::skipped);
    skipped.chain(notes_on_clocks(&steps)).for_each(|note| say!("note: {note}"));
    let mut complaints: Vec<_> = steps.iter().filter_map(StepDocument::complaint).collect();
    if complaints.is_empty() {
        let ended = told_of_end(&ssd, &steps);
        complaints.extend(ended.map(|told| format!("{told}, and later steps were skipped")));
    }
    complaints.iter().for_each(|complaint| say!("warning: {complaint}."));
    if complaints.is_empty() { Ok(()) } else { Err(Failure::Check) }
}

fn prepare(
    preparation: &Preparation,
    args: &SaveArgs,
    ssd: &mut Device,
) -> Result<Vec<StepDocument>, Failure> {
    let flags = Flags::default();
    let mut recording = Recording::new(ssd, None, &flags);
    let mut bars = Bars::new(!args.quiet);
    let steps = preparation.carry_out(args.seed, ssd, &mut recording, &mut bars);
    steps.inspect_err(|failure| {
        if matches!(failure, Failure::Interrupted) {
            say!("Interrupted while preconditioning: nothing is written.");
        }
    })
}

/// Returns the configuration of the device, or that of the image if no device is named, with
/// options set on top.
pub fn config(
    device: Option<&str>,
    sets: &[Setting],
    image: Option<&OpenedImage>,
) -> Result<Config, Failure> {
    match (device, image) {
        (Some(device), _) => device::load(device, sets),
        (None, Some(taken)) => device::of_image(&taken.name, &taken.image.config, sets),
        (None, None) => Err(Failure::usage(
            "which device?\n  remedy: name one with --device, or an image with --image",
        )),
    }
}

fn steps_value(steps: &[StepDocument]) -> Value {
    serde_json::to_value(steps).expect("steps are plain data")
}

/// Prints how a device came to its state: its steps, and below an image the steps of the image.
fn tell(story: &Value, out: &mut dyn Write) -> std::io::Result<()> {
    let mut lines = Vec::new();
    chain(story, 0, &mut lines);
    if lines.is_empty() {
        lines.push((0, FRESH.to_owned()));
    }
    for (at, (depth, text)) in lines.iter().enumerate() {
        let name = if at == 0 { "Prepared by" } else { "" };
        wrapped(out, &format!("{name:<23}{}", "  ".repeat(*depth)), text)?;
    }
    Ok(())
}

const FRESH: &str = "nothing: it is fresh";

/// Collects the steps of a story with their depth; the steps of an image are one deeper.
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

/// `ftlab device show`: describes an image.
pub fn show(args: &ShowImageArgs, out: &mut dyn Write) -> Result<(), Failure> {
    tell_all(&image::take(&args.file)?, args.json, out)
}

/// Prints what an image holds.
pub fn tell_all(taken: &OpenedImage, json: bool, out: &mut dyn Write) -> Result<(), Failure> {
    let device = loaded(taken, &taken.config, Resume::ALL)?;
    let (state, story) = (State::of(&device), taken.story());
    let capacity = device.capacity_sectors() * SECTOR_BYTES;
    if json {
        let document = json!({
            "ftlab_version": taken.image.ftlab_version,
            "format": ftlab::saved::file::FORMAT,
            "seed": taken.image.seed,
            "device": taken.config.options.device.name,
            "capacity_bytes": capacity,
            "config": taken.image.config,
            "story": story,
            "state": state,
        });
        return Ok(out.write_all(to_json(&document)?.as_bytes())?);
    }
    let name = &taken.config.options.device.name;
    writeln!(
        out,
        "{name}, {}: saved by ftlab {}, seed {}",
        human::bytes(capacity),
        taken.image.ftlab_version,
        taken.image.seed
    )?;
    tell(&story, out)?;
    let options = &taken.config.options;
    line(out, "Mapping", options.ftl.mapping.policy.name())?;
    line(out, "Write buffer", options.cache.policy.name())?;
    Ok(state.print(out)?)
}

/// Loads and audits a device with the state of an image.
fn loaded(taken: &OpenedImage, config: &Config, resume: Resume) -> Result<Device, Failure> {
    let mut device = crate::memory::device(config, taken.image.seed)?;
    device
        .load(&taken.image.snapshot, resume)
        .and_then(|()| device.ftl().audit().map_err(ftlab::image::Damage))
        .map_err(|damage| taken.refused(&damage))?;
    Ok(device)
}

/// `ftlab device load`: checks that a device can load an image, and lists what continues.
pub fn load(args: &LoadImageArgs, out: &mut dyn Write) -> Result<(), Failure> {
    if let Some(path) = &args.output {
        image::refuse_to_overwrite(path, args.force)?;
    }
    let taken = image::take(&args.file)?;
    let config = config(args.device.as_deref(), &settings(&args.sets), Some(&taken))?;
    taken.check(&config)?;
    let resume = Resume::between(&taken.config.options, &config.options, true);
    let mut device = loaded(&taken, &config, resume)?;
    device::warn(&config);
    taken.hints(&config, &device).iter().for_each(|hint| say!("warning: {hint}."));
    writeln!(out, "{}: loaded as {}", args.file, device::title(&config))?;
    let names = |resumes: bool| {
        let told = resume.told();
        let names: Vec<_> =
            told.iter().filter(|one| one.resumes == resumes).map(|one| one.what).collect();
        if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
    };
    line(out, "Continues", &names(true))?;
    line(out, "Starts afresh", &names(false))?;
    rest(&mut device)?;
    State::of(&device).print(out)?;
    if let Some(path) = &args.output {
        let image = Image {
            ftlab_version: env!("CARGO_PKG_VERSION").to_owned(),
            config: config.canonical(),
            seed: taken.image.seed,
            story: to_json(&vec![taken.document()])?,
            snapshot: device.save(),
        };
        let length = image::write(path, &image)?;
        writeln!(out, "{}: {}", path.display(), human::bytes(length))?;
    }
    Ok(())
}
