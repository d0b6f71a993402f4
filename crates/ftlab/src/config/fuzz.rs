//! The way in for fuzzing: any bytes, as a file and as an override.

use super::{Config, Layer};
use crate::nand::Geometry;

/// Loads any bytes as a config; panics only if the config code is broken.
pub fn parse_any(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let stacks = [
        vec![Layer::file("fuzz.toml", &text)],
        vec![Layer::preset("tiny"), Layer::file("fuzz.toml", &text)],
        vec![Layer::preset("tiny"), Layer::set(1, &text)],
        vec![Layer::preset(&text)],
    ];
    for stack in stacks {
        match Config::load(&stack) {
            Ok(config) => {
                let shown = config.show();
                let again = Config::load(&[Layer::file("shown.toml", &shown)]);
                let again = again.unwrap_or_else(|error| panic!("{error}\n{shown}"));
                assert_eq!(config.options, again.options, "{shown}");
                let geometry = Geometry::new(config.volume());
                assert!(config.logical_pages() <= geometry.physical_pages());
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}
