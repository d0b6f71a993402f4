//! Everything that can be named: policies, devices, trace formats, workloads and options, as documents.

use ftlab::config::{Config, Layer, all_options, all_policies};
use ftlab::options::{OptionInfo, SeamInfo, any_of, presets};
use ftlab::units::SECTOR_BYTES;
use ftlab_workload::generate::PRESETS;
use ftlab_workload::trace::FORMATS;
use serde_json::{Value, json};

use crate::failure::Failure;

/// A kind of thing that has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Catalog {
    /// Policies, by the option that names them.
    Policies,
    /// Built-in devices.
    Devices,
    /// Trace formats.
    Formats,
    /// Built-in workloads.
    Workloads,
    /// All options of a device.
    Options,
}

/// Returns the name, capacity in bytes and configuration of each built-in device.
///
/// # Errors
/// A preset is wrong.
pub fn presets_read() -> Result<Vec<(&'static str, u64, Config)>, Failure> {
    let read = |preset: &presets::Preset| {
        let config = Config::load(&[Layer::preset(preset.name)]).map_err(Failure::usage)?;
        let page = config.shape().mapping_unit.0;
        let capacity = u64::from(config.logical_pages()) * page / SECTOR_BYTES * SECTOR_BYTES;
        Ok((preset.name, capacity, config))
    };
    presets::devices().iter().map(read).collect()
}

/// Returns the list as JSON, with everything that is known about each entry.
///
/// # Errors
/// A preset is wrong.
pub fn document(what: Catalog) -> Result<Value, Failure> {
    Ok(match what {
        Catalog::Policies => all_policies().iter().map(policies_of).collect(),
        Catalog::Devices => {
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
        Catalog::Formats => FORMATS
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
        Catalog::Workloads => PRESETS
            .iter()
            .map(|preset| json!({ "name": preset.name, "doc": preset.about() }))
            .collect(),
        Catalog::Options => all_options().iter().map(option).collect(),
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
