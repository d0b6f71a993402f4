//! The stack of texts that form a config. Below each file is its base (`base`), a preset or another
//! file, which may have a base, too.

use super::explain::catalog;
use crate::options::text::{clip, shown};
use crate::options::value::{ValueError, unknown_name};
use crate::options::{Layer, Parsed, PresetBase, Problem, parse, presets};

/// The most files that may build on each other: more than anyone can follow, and a limit for circles.
pub const MOST_FILES: usize = 8;

/// Opens the files on which files build. Configs are texts, so only the caller knows where the files are.
pub trait Files {
    /// Returns the file called `name` as a layer, or `None` if that is not the name of a file.
    /// `above` has the labels of the files that build on it, starting with the one that names it.
    ///
    /// # Errors
    /// The file can't be read, or must not be.
    fn open(&mut self, name: &str, above: &[&str]) -> Result<Option<Layer>, ValueError>;
}

/// No files: every base is a preset.
pub struct NoFiles;

impl Files for NoFiles {
    fn open(&mut self, _name: &str, _above: &[&str]) -> Result<Option<Layer>, ValueError> {
        Ok(None)
    }
}

/// Layers with everything that they build on, lowest first, and their contents.
pub(super) struct Stack {
    pub layers: Vec<Layer>,
    pub parsed: Vec<Parsed>,
}

impl Stack {
    pub fn of(layers: &[Layer], files: &mut dyn Files) -> Stack {
        let mut stack = Stack { layers: Vec::new(), parsed: Vec::new() };
        for layer in layers {
            let mut chain = chain(layer, files);
            while let Some((layer, parsed)) = chain.pop() {
                stack.layers.push(layer);
                stack.parsed.push(parsed);
            }
        }
        stack
    }
}

/// A config's texts, lowest first, and whether the next text builds on each.
#[derive(Clone, Debug)]
pub(super) struct Texts(Vec<(Layer, bool)>);

impl Texts {
    pub fn of(layers: &[Layer], parsed: &[Parsed]) -> Texts {
        let is_base = parsed.iter().skip(1).map(|above| above.base.is_some());
        let is_base = is_base.chain(std::iter::once(false));
        Texts(layers.iter().cloned().zip(is_base).collect())
    }

    pub fn builds_on(&self, above: &str, label: &str) -> bool {
        let at = |wanted: &str| self.0.iter().position(|(layer, _)| layer.label == wanted);
        match (at(label), at(above)) {
            (Some(low), Some(high)) => {
                low < high && self.0[low..high].iter().all(|(_, is_base)| *is_base)
            }
            _ => false,
        }
    }

    /// The comment at the end of a line, counted from one, of the text labelled `label`.
    pub fn comment(&self, label: &str, line: usize) -> Option<&str> {
        let (layer, _) = self.0.iter().find(|(layer, _)| layer.label == label)?;
        let line = layer.text.lines().nth(line.checked_sub(1)?)?;
        comment_of(line)
    }

    /// A comment for each text that builds on others, followed by an empty line; nothing if there are none.
    pub fn told(&self) -> String {
        let mut told = String::new();
        let mut bases: Vec<&str> = Vec::new();
        for (layer, is_base) in &self.0 {
            let label = &layer.label;
            match (bases.is_empty(), is_base) {
                (_, true) => bases.push(label),
                (true, false) => {}
                (false, false) => {
                    bases.reverse();
                    let bases = std::mem::take(&mut bases).join(", which builds on ");
                    let line = format!("{label} builds on {bases}");
                    told += &format!("# {}\n\n", line.replace(char::is_control, " "));
                }
            }
        }
        told
    }
}

/// The comment at the end of a line: after a `#` that no string holds, in either kind of quotes.
fn comment_of(line: &str) -> Option<&str> {
    let mut quote = None;
    let mut escaped = false;
    let begins = line.find(|c| {
        match (quote, c) {
            (Some('"'), _) if escaped => escaped = false,
            (Some('"'), '\\') => escaped = true,
            (Some(open), _) if open == c => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            _ => {}
        }
        c == '#' && quote.is_none()
    })?;
    Some(line[begins + 1..].trim())
}

/// A layer and everything that it builds on, lowest last.
fn chain(top: &Layer, files: &mut dyn Files) -> Vec<(Layer, Parsed)> {
    let mut chain: Vec<(Layer, Parsed)> = Vec::new();
    let mut next = Some(top.clone());
    while let Some(layer) = next.take() {
        let mut parsed = parse(&layer, catalog());
        if let Some(base) = &parsed.base {
            let above: Vec<&str> = std::iter::once(&layer)
                .chain(chain.iter().rev().map(|(layer, _)| layer))
                .map(|layer| layer.label.as_str())
                .collect();
            match find(&base.name, &above, files) {
                Ok(base) => next = Some(base),
                Err(error) => {
                    let problem = refused(base, &layer, error);
                    // Further problems may only be due to options that were not read.
                    parsed.is_read = false;
                    parsed.problems.push(problem);
                }
            }
        }
        chain.push((layer, parsed));
    }
    chain
}

fn refused(base: &PresetBase, layer: &Layer, error: ValueError) -> Problem {
    Problem {
        path: PresetBase::KEY.to_owned(),
        message: error.message,
        remedy: error.remedy,
        place: Some(layer.place(base.span.clone())),
    }
}

/// The layer that a base names: a preset first, as on the command line.
fn find(name: &str, above: &[&str], files: &mut dyn Files) -> Result<Layer, ValueError> {
    if presets::find(name).is_some() {
        return Ok(Layer::preset(name));
    }
    if above.len() == MOST_FILES {
        return Err(ValueError::new(
            format!("{MOST_FILES} files build on each other already"),
            "put some of them together, or build on a preset".to_owned(),
        ));
    }
    match files.open(name, above)? {
        Some(layer) if above.contains(&layer.label.as_str()) => Err(circle(&layer.label, above)),
        Some(layer) => Ok(layer),
        None => Err(ValueError {
            message: format!("there is no preset {}", shown(name)),
            ..unknown_name(name, &presets::names())
        }),
    }
}

/// The problem of a file that would be below itself. `above` is as in [`Files::open`].
#[must_use]
pub fn circle(label: &str, above: &[&str]) -> ValueError {
    let from = above.iter().position(|one| *one == label).unwrap_or(above.len() - 1);
    let mut round: Vec<String> = above[..=from].iter().rev().map(|one| clip(one)).collect();
    round.push(clip(label));
    ValueError::new(
        format!("the files build on each other in a circle: {}", round.join(" on ")),
        "name a preset, or a file that does not build on this one".to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::comment_of;

    #[test]
    fn comments_begin_outside_of_strings() {
        for (line, comment) in [
            ("name = 'a # b' # mine", Some("mine")),
            ("name = \"a # b\" # mine", Some("mine")),
            (r#"name = "a \" # b" # mine"#, Some("mine")),
            ("name = 'it \" is' # mine", Some("mine")),
            ("name = \"it's\" # mine", Some("mine")),
            ("name = 'a # b'", None),
        ] {
            assert_eq!(comment_of(line), comment, "{line}");
        }
    }
}
