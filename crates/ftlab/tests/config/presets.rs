//! The built-in presets: valid, sourced, named after their files, with the capacity they promise.

use ftlab::config::{Config, Layer};
use ftlab::device::{DeviceSetup, assemble};
use ftlab::engine::skills::{ALL, COMMON, PLAIN};
use ftlab::options::presets;

fn load(name: &str) -> Config {
    Config::load(&[Layer::preset(name)]).unwrap_or_else(|error| panic!("{name}:\n{error}"))
}

#[test]
fn every_preset_is_valid_named_and_sourced() {
    for preset in presets::devices() {
        let config = load(preset.name);
        assert_eq!(config.options.device.name, preset.name);
        assert!(!config.options.device.source.is_empty(), "{} cites no source", preset.name);
        assert!(!config.options.device.description.is_empty(), "{}", preset.name);
        assert!(config.warnings.is_empty(), "{}: {:?}", preset.name, config.warnings);
    }
}

#[test]
fn every_preset_file_is_registered() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../presets/devices");
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .expect("the folder of presets")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a plain name"))
        .collect();
    files.sort();
    let mut names: Vec<String> =
        presets::devices().iter().map(|preset| format!("{}.toml", preset.name)).collect();
    names.sort();
    assert_eq!(files, names);
}

#[test]
fn capacities_are_those_of_the_names() {
    let promised = [
        ("tiny", 24 << 20),
        ("slc-16g", 16_000_000_000),
        ("slc-240g", 240_000_000_000_u64),
        ("mlc-32g", 32_000_000_000),
        ("mlc-256g", 256_000_000_000),
        // A sixteenth of 500 GB.
        ("tlc-32g", 31_250_000_000),
        ("plain-32g", 32_000_000_000),
        ("tlc-512g", 512_000_000_000),
        ("tlc-1t", 1_000_000_000_000),
        ("qlc-1t", 1_000_000_000_000),
        ("qlc-2t", 2_000_000_000_000),
        ("970-evo-plus-500g", 500_000_000_000),
        ("980-1t", 1_000_000_000_000),
        // Intel's 1 TB.
        ("660p-1t", 1_024_000_000_000),
        ("850-pro-256g", 256_000_000_000),
        ("sz985-800g", 800_000_000_000),
        ("pm9a3-960g", 960_197_124_096),
        ("p5520-1.92t", 1_920_383_410_176),
        ("7450-max-800g", 800_166_076_416),
    ];
    for (name, bytes) in promised {
        let config = load(name);
        let host = u64::from(config.logical_pages()) * config.shape().mapping_unit.0;
        // Over-provisioning is set in parts per million, so the capacity is met that closely.
        assert!(host.abs_diff(bytes) * 1_000_000 <= 2 * bytes, "{name}: {host} is not {bytes}");
    }
}

/// A disabled feature costs nothing only if the device runs on a set of skills without it. A newly
/// added option must not take that away.
#[test]
fn common_drives_run_on_a_reduced_set_of_skills() {
    let set_of = |config: &Config| assemble(DeviceSetup::new(config, 1)).skills();
    for name in ["plain-32g", "tlc-512g", "tlc-1t", "qlc-1t", "qlc-2t", "slc-240g", "mlc-256g"] {
        assert_eq!(set_of(&load(name)), COMMON, "{name}");
    }
    // The front end's processor and link, and commands that occupy the bus.
    assert_eq!(set_of(&load("mqsim")), ALL);
    let page_map =
        Layer::file("page-map-16g", include_str!("../../benches/scenarios/page-map-16g.toml"));
    assert_eq!(set_of(&Config::load(&[page_map]).expect("a valid file")), PLAIN);
}
