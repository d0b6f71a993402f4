//! `ftlab list` and `ftlab explain`.

use std::io::{self, Write};

use ftlab::config::{Config, Layer, all_options, all_policies, explain as look_up};
use ftlab::options::{OptionInfo, SeamInfo, any_of, presets};
use ftlab::units::SECTOR_BYTES;
use ftlab_workload::generate::PRESETS;
use ftlab_workload::trace::FORMATS;
use serde_json::{Value, json};

use crate::args::Listed;
use crate::failure::Failure;
use crate::human::bytes;
use crate::table::{wrapped, wrapped_lines};
use ftlab_lab::result::to_json;

/// `ftlab list`: lists everything of one kind.
pub fn list(what: Listed, json: bool, out: &mut dyn Write) -> Result<(), Failure> {
    if json {
        return Ok(out.write_all(to_json(&document(what)?)?.as_bytes())?);
    }
    match what {
        Listed::Policies => policies(out)?,
        Listed::Devices => devices(out)?,
        Listed::Formats => rows(
            out,
            FORMATS
                .iter()
                .map(|format| (format.name, format!("{} ({})", format.doc, format.source))),
        )?,
        Listed::Workloads => {
            rows(out, PRESETS.iter().map(|preset| (preset.name, preset.about().to_owned())))?;
        }
        Listed::Options => rows(
            out,
            all_options().iter().map(|option| {
                let default = option.default.filter(|text| !text.is_empty());
                let default = default
                    .map_or(String::new(), |text| format!(" [default {}]", option.with_unit(text)));
                (option.path, format!("{}{default}", first_sentence(option.doc)))
            }),
        )?,
    }
    Ok(())
}

fn first_sentence(text: &str) -> &str {
    text.split_inclusive(". ").next().unwrap_or(text).trim_end()
}

fn rows<'a>(out: &mut dyn Write, rows: impl Iterator<Item = (&'a str, String)>) -> io::Result<()> {
    let rows: Vec<(&str, String)> = rows.collect();
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, text) in rows {
        wrapped(out, &format!("{name:<width$}  "), &text)?;
    }
    Ok(())
}

fn policies(out: &mut dyn Write) -> io::Result<()> {
    for (at, seam) in all_policies().iter().enumerate() {
        if at > 0 {
            writeln!(out)?;
        }
        wrapped(out, "", &format!("{}: {}", seam.path, seam.doc))?;
        let width = seam.policies.iter().map(|policy| policy.name.len()).max().unwrap_or(0);
        for policy in seam.policies {
            let default = if policy.name == seam.default { " (default)" } else { "" };
            let (name, summary, source) = (policy.name, policy.summary, policy.source);
            let lead = format!("  {name:<width$}  ");
            wrapped(out, &lead, &format!("{summary} [{source}]{default}"))?;
        }
    }
    Ok(())
}

/// Returns the name, capacity in bytes and configuration of each built-in device.
fn presets_read() -> Result<Vec<(&'static str, u64, Config)>, Failure> {
    let read = |preset: &presets::Preset| {
        let config = Config::load(&[Layer::preset(preset.name)]).map_err(Failure::usage)?;
        let page = config.shape().mapping_unit.0;
        let capacity = u64::from(config.logical_pages()) * page / SECTOR_BYTES * SECTOR_BYTES;
        Ok((preset.name, capacity, config))
    };
    presets::devices().iter().map(read).collect()
}

fn devices(out: &mut dyn Write) -> Result<(), Failure> {
    let found = presets_read()?;
    let told = found.iter().map(|(name, capacity, config)| {
        (*name, format!("{}: {}", bytes(*capacity), config.options.device.description))
    });
    Ok(rows(out, told)?)
}

/// Returns the list as JSON, with everything that is known about each entry.
fn document(what: Listed) -> Result<Value, Failure> {
    Ok(match what {
        Listed::Policies => all_policies().iter().map(policies_of).collect(),
        Listed::Devices => {
            let devices = presets_read()?;
            devices
                .iter()
                .map(|(name, capacity, config)| {
                    let device = &config.options.device;
                    json!({
                        "name": name,
                        "capacity_bytes": capacity,
                        "description": device.description,
                        "source": device.source,
                    })
                })
                .collect()
        }
        Listed::Formats => FORMATS
            .iter()
            .map(|format| {
                json!({
                    "name": format.name,
                    "doc": format.doc,
                    "columns": format.columns,
                    "source": format.source,
                })
            })
            .collect(),
        Listed::Workloads => PRESETS
            .iter()
            .map(|preset| json!({ "name": preset.name, "doc": preset.about() }))
            .collect(),
        Listed::Options => all_options().iter().map(option).collect(),
    })
}

fn policies_of(seam: &SeamInfo) -> Value {
    let policies = seam.policies.iter().map(
        |policy| json!({ "name": policy.name, "doc": policy.summary, "source": policy.source }),
    );
    json!({
        "option": seam.path,
        "doc": seam.doc,
        "default": seam.default,
        "policies": policies.collect::<Value>(),
    })
}

fn option(option: &OptionInfo) -> Value {
    let choices = option.choices.iter();
    let conditions = (!option.applies_with.is_empty()).then(|| any_of(option.applies_with));
    json!({
        "path": option.path,
        "doc": option.doc,
        "kind": option.kind_name(),
        "unit": (!option.unit.is_empty()).then_some(option.unit),
        "default": option.default,
        "min": option.range.map(|(low, _)| low),
        "max": option.range.map(|(_, high)| high),
        "choices": choices.map(|one| json!({ "name": one.name, "doc": one.doc })).collect::<Value>(),
        "applies_to": option.applies_to.as_ref().map(ToString::to_string),
        "only_with": conditions,
        "source": (!option.source.is_empty()).then_some(option.source),
    })
}

/// `ftlab explain`: describes an option, a section or a policy.
pub fn explain(path: &str, out: &mut dyn Write) -> Result<(), Failure> {
    let topic = look_up(path).map_err(Failure::usage)?;
    Ok(wrapped_lines(out, &topic.to_string())?)
}
