//! The entry point for fuzzing: any bytes, as a file, as an override, and as files that build on each other.

use super::{Config, Files};
use crate::options::Layer;
use crate::options::value::ValueError;
use crate::shape::Geometry;

/// Separates the files in a text.
const NEXT_FILE: &str = "\n===\n";

/// Files that build on each other in order, whatever their names. If `again`, they repeat, which makes a circle.
struct Pieces<'a> {
    pieces: Vec<&'a str>,
    again: bool,
}

impl Files for Pieces<'_> {
    fn open(&mut self, _name: &str, above: &[&str]) -> Result<Option<Layer>, ValueError> {
        let at = above.len() % if self.again { self.pieces.len() } else { usize::MAX };
        Ok(self.pieces.get(at).map(|text| Layer::file(&format!("{at}.toml"), text)))
    }
}

fn judge(loaded: Result<Config, super::ConfigError>) {
    match loaded {
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

/// Loads any bytes as a config. Panics only if the config code is broken.
pub fn parse_any(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let stacks = [
        vec![Layer::file("fuzz.toml", &text)],
        vec![Layer::preset("tiny"), Layer::file("fuzz.toml", &text)],
        vec![Layer::preset("tiny"), Layer::set(1, &text)],
        vec![Layer::preset(&text)],
    ];
    stacks.iter().for_each(|stack| judge(Config::load(stack)));
    let pieces: Vec<&str> = text.split(NEXT_FILE).collect();
    for again in [false, true] {
        if pieces.len() > 1 {
            let mut files = Pieces { pieces: pieces.clone(), again };
            judge(Config::load_with(&[Layer::file("0.toml", pieces[0])], &mut files));
        }
    }
}
