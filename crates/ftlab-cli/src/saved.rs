//! `ftlab device save|show|load`: devices saved in files.

use std::io::Write;

use ftlab::host::Host;
use ftlab::image::Resume;
use ftlab::units::SECTOR_BYTES;
use ftlab_lab::device::of_device_or_image;
use ftlab_lab::experiment::{Preparation, rest};
use ftlab_lab::image::{self, OpenedImage};
use ftlab_lab::result::to_json;
use ftlab_lab::saved::{BlockCounts, DeviceState, image_of, loaded, refuse_physical, story_told};
use serde_json::{Value, json};

use crate::args::{LoadImageArgs, SaveArgs, ShowImageArgs};
use crate::device::settings;
use crate::failure::{Failure, with_flags};
use crate::human;
use crate::progress::Bars;
use crate::table::{line, wrapped};
use crate::{device, interrupt};

/// Prints the state of a device.
fn print_state(state: &DeviceState, out: &mut dyn Write) -> std::io::Result<()> {
    let share = state.mapped_pages as f64 / f64::from(state.logical_pages.max(1));
    let pages = human::count(state.mapped_pages);
    line(out, "Utilisation", &format!("{} ({pages} pages written)", human::percent(share)))?;
    let BlockCounts { free, open, closed, to_be_collected, bad, dead, free_in_plane_min } =
        state.blocks.clone();
    let [free, open, closed, to_be_collected, bad, dead] =
        [free, open, closed, to_be_collected, bad, dead].map(|blocks| human::count(blocks.into()));
    let dead = if dead == "0" { String::new() } else { format!(", {dead} dead") };
    let blocks = format!(
        "{free} free, {open} open, {closed} closed, {to_be_collected} to be collected, {bad} bad{dead}"
    );
    line(out, "Blocks", &blocks)?;
    if !state.dead_dies.is_empty() {
        let dies: Vec<String> = state.dead_dies.iter().map(u32::to_string).collect();
        let lost = human::count(state.pages_on_dead_dies);
        let text = format!("number {}, with {lost} host pages", dies.join(", "));
        line(out, "Dead dies", &text)?;
    }
    line(out, "Free blocks of a plane", &format!("at least {free_in_plane_min}"))?;
    let (least, mean, most) = (state.erases_min, state.erases_mean, state.erases_max);
    let erases = format!("{least} / {mean:.2} / {most} (min / mean / max)");
    line(out, "Erases of a block", &erases)?;
    line(out, "Simulated time so far", &human::span(state.now_ns))
}

/// `ftlab device save`: prepares a device and writes it to a file.
pub fn save(args: &SaveArgs, out: &mut dyn Write) -> Result<(), Failure> {
    image::refuse_to_overwrite(&args.output, args.force)?;
    let taken = args.image.as_deref().map(image::take).transpose()?.map(std::sync::Arc::new);
    let settings = settings(&args.sets);
    let config = of_device_or_image(args.device.as_deref(), &settings, taken.as_deref())?;
    let preparation = Preparation::of(taken, args.precondition.as_deref(), args.all_phases, None)?;
    refuse_physical(&config)?;
    interrupt::listen()?;
    if !args.quiet {
        device::warn(&config);
    }
    let hint = |hint: &str| {
        if !args.quiet {
            say!("warning: {}.", with_flags(hint));
        }
    };
    let mut bars = Bars::new(!args.quiet);
    let lab = interrupt::lab(Some(1));
    let prepared = lab.prepare(&preparation, &config, args.seed, &mut bars, hint);
    let prepared = prepared.map_err(Failure::from).inspect_err(|failure| {
        if failure.is_interrupted() {
            say!("Interrupted while preconditioning: nothing is written.");
        }
    })?;
    let image = image_of(&prepared.device, &config, args.seed, &prepared.steps)?;
    let length = image::write(&args.output, &image, args.force)?;
    if !args.quiet {
        writeln!(out, "{}: {}", args.output.display(), human::bytes(length))?;
        let steps = serde_json::to_value(&prepared.steps).map_err(Failure::usage)?;
        tell(&steps, out)?;
        print_state(&DeviceState::of(&prepared.device), out)?;
    }
    prepared.notes.iter().for_each(|note| say!("note: {}", with_flags(note)));
    let complaints = prepared.complaints.iter().map(|text| with_flags(text));
    complaints.for_each(|complaint| say!("warning: {complaint}."));
    if prepared.complaints.is_empty() { Ok(()) } else { Err(Failure::Check) }
}

/// Prints how a device came to its state.
fn tell(story: &Value, out: &mut dyn Write) -> std::io::Result<()> {
    for (at, (depth, text)) in story_told(story).iter().enumerate() {
        let name = if at == 0 { "Prepared by" } else { "" };
        wrapped(out, &format!("{name:<23}{}", "  ".repeat(*depth)), text)?;
    }
    Ok(())
}

/// `ftlab device show`: describes an image.
pub fn show(args: &ShowImageArgs, out: &mut dyn Write) -> Result<(), Failure> {
    tell_all(&image::take(&args.file)?, args.json, out)
}

/// Prints what an image holds.
fn tell_all(taken: &OpenedImage, json: bool, out: &mut dyn Write) -> Result<(), Failure> {
    let device = loaded(taken, &taken.config, Resume::ALL)?;
    let (state, story) = (DeviceState::of(&device), taken.story());
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
    Ok(print_state(&state, out)?)
}

/// `ftlab device load`: checks that a device can load an image, and lists what continues.
pub fn load(args: &LoadImageArgs, out: &mut dyn Write) -> Result<(), Failure> {
    if let Some(path) = &args.output {
        image::refuse_to_overwrite(path, args.force)?;
    }
    let taken = image::take(&args.file)?;
    let settings = settings(&args.sets);
    let config = of_device_or_image(args.device.as_deref(), &settings, Some(&taken))?;
    taken.check(&config)?;
    let resume = Resume::between(&taken.config.options, &config.options, true);
    let mut device = loaded(&taken, &config, resume)?;
    device::warn(&config);
    taken.hints(&config, &device).iter().for_each(|hint| say!("warning: {}.", with_flags(hint)));
    writeln!(out, "{}: loaded as {}", args.file, device::title(&config))?;
    let names = |resumes: bool| {
        let told = resume.told();
        let told = told.iter().filter(|one| one.resumes == resumes).map(|one| one.what);
        let system = (!resumes && device.kept().is_some()).then_some("system area");
        let names: Vec<_> = told.chain(system).collect();
        if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
    };
    line(out, "Continues", &names(true))?;
    line(out, "Starts afresh", &names(false))?;
    rest(&mut device)?;
    print_state(&DeviceState::of(&device), out)?;
    if let Some(path) = &args.output {
        let image = image_of(&device, &config, taken.image.seed, &[taken.document()])?;
        let length = image::write(path, &image, args.force)?;
        writeln!(out, "{}: {}", path.display(), human::bytes(length))?;
    }
    Ok(())
}
