//! Builds the variants of a comparison: devices, times the values of each option that is varied, times each
//! named variant.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use ftlab::config::{Config, Topic, explain};
use ftlab::options::presets;

use crate::device::{self, Setting};
use crate::experiment::{Experiment, LoadSource, RunOptions};
use crate::failure::Failure;
use crate::image::{self, ImageSource};
use crate::load::short_name;

/// What is compared, as a user writes it.
#[derive(Clone, Debug, Default)]
pub struct VariantsSpec {
    /// The devices: built-in names, files or images; the first is the baseline. Without one, that of the image.
    pub devices: Vec<String>,
    /// Options of every device.
    pub sets: Vec<Setting>,
    /// Options that are varied, `KEY=A,B,...`; several are combined.
    pub vary: Vec<String>,
    /// Named variants, `NAME:KEY=VALUE,...`.
    pub variants: Vec<String>,
}

/// A device to compare with others.
pub struct Variant {
    /// The name of the variant.
    pub name: String,
    /// What was set on top of the device.
    pub settings: Vec<String>,
    /// The whole configuration.
    pub config: Config,
    /// The load and its preparation.
    pub experiment: Arc<Experiment>,
    /// The preparation, as the user gives it.
    past: Past,
}

impl Variant {
    /// Creates a variant of this name from a device and an experiment.
    #[must_use]
    pub fn new(name: String, config: Config, experiment: Arc<Experiment>) -> Variant {
        Variant { name, settings: Vec::new(), config, experiment, past: Past::default() }
    }

    /// Returns the fingerprints of its runs.
    ///
    /// # Errors
    /// A trace cannot be read.
    pub fn inputs(&self, seeds: &[u64]) -> Result<Vec<String>, Failure> {
        seeds.iter().map(|&seed| self.experiment.inputs(&self.config, seed)).collect()
    }
}

/// The preparation of a device, as the user gives it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Past {
    image: Option<ImageSource>,
    precondition: Option<String>,
}

/// One value of a factor.
#[derive(Clone, Default)]
struct Choice {
    /// Its part of the variant's name.
    name: String,
    /// The device, if the factor is devices.
    device: Option<String>,
    /// The options set.
    sets: Vec<Setting>,
    /// The steps of preparation or none, if they are set.
    precondition: Option<Option<String>>,
    /// The image or none, if it is set.
    image: Option<Option<String>>,
}

/// The key for the steps of preparation, which can be varied like an option.
const PRECONDITION: &str = "precondition";
/// The key for the image.
const IMAGE: &str = "image";
/// The value of both that means none.
const NONE: &str = "none";

impl Choice {
    /// Adds `KEY=VALUE`, written at `label`.
    fn set(&mut self, label: &str, text: &str) {
        let (key, value) = text.split_once('=').unwrap_or((text, ""));
        let value = unquoted(value.trim());
        let chosen = || (value != NONE).then(|| value.to_owned());
        match key.trim() {
            PRECONDITION => self.precondition = Some(chosen()),
            IMAGE => self.image = Some(chosen()),
            _ => self.sets.push(Setting { label: label.to_owned(), text: text.to_owned() }),
        }
    }

    /// Returns the settings as the comparison lists them.
    fn settings(&self) -> Vec<String> {
        let told = |key: &str, value: &Option<Option<String>>| {
            value.as_ref().map(|value| format!("{key}={}", value.as_deref().unwrap_or(NONE)))
        };
        let past = [told(PRECONDITION, &self.precondition), told(IMAGE, &self.image)];
        let sets = self.sets.iter().map(|one| one.text.clone());
        sets.chain(past.into_iter().flatten()).collect()
    }
}

fn unquoted(text: &str) -> &str {
    let inner = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    inner('"').or_else(|| inner('\'')).unwrap_or(text)
}

/// Returns all variants under a load with these options, checked.
///
/// # Errors
/// A variant is wrong, or there are not two different ones.
pub fn all(
    spec: &VariantsSpec,
    load: &LoadSource,
    options: &RunOptions,
) -> Result<Vec<Variant>, Failure> {
    let mut factors = vec![devices(&spec.devices)];
    let varied = spec.vary.iter().enumerate().map(|(at, text)| varied(at + 1, text));
    factors.extend(varied.collect::<Result<Vec<_>, _>>()?);
    if !spec.variants.is_empty() {
        let named = spec.variants.iter().map(|text| named(text));
        factors.push(named.collect::<Result<Vec<_>, _>>()?);
    }
    refuse_overridden(spec, options, &factors)?;
    let mut experiments = Experiments { load, options, known: Vec::new() };
    let mut variants = Vec::new();
    for choices in product(&factors) {
        let parts = choices.iter().zip(&factors).filter(|(_, factor)| factor.len() > 1);
        let parts: Vec<&str> = parts.map(|(choice, _)| choice.name.as_str()).collect();
        let name = if parts.is_empty() { choices[0].name.clone() } else { parts.join(", ") };
        let variant = variant(spec, &name, &choices, &mut experiments);
        variants.push(variant.map_err(|failure| {
            failure.map_text(|text| format!("{text}\n  in the variant {name}"))
        })?);
    }
    check_names(&variants)?;
    Ok(variants)
}

/// Parses a text as an option that is varied, and as a named variant.
///
/// # Errors
/// It is neither.
pub fn read_choices(text: &str) -> Result<(), Failure> {
    varied(1, text).map(drop).and(named(text).map(drop))
}

/// Builds the variant of one choice per factor.
fn variant(
    spec: &VariantsSpec,
    name: &str,
    choices: &[Choice],
    experiments: &mut Experiments<'_>,
) -> Result<Variant, Failure> {
    let of_all = spec.sets.clone();
    let told = of_all.iter().map(|one| one.text.clone());
    let told = told.chain(choices.iter().flat_map(Choice::settings)).collect();
    let sets = choices.iter().flat_map(|choice| choice.sets.clone());
    let sets: Vec<Setting> = of_all.into_iter().chain(sets).collect();
    let chosen = |of: fn(&Choice) -> &Option<Option<String>>| {
        choices.iter().rev().find_map(|choice| of(choice).clone())
    };
    let options = experiments.options;
    let image = chosen(|choice| &choice.image).map(|image| image.map(ImageSource::File));
    let past = Past {
        image: image.unwrap_or_else(|| options.image.clone()),
        precondition: chosen(|choice| &choice.precondition)
            .unwrap_or_else(|| options.precondition.clone()),
    };
    let experiment = experiments.of(&past)?;
    let image = experiment.preparation.image();
    let config = device::of_device_or_image(choices[0].device.as_deref(), &sets, image)?;
    image.map_or(Ok(()), |image| image.check(&config))?;
    Ok(Variant { name: name.to_owned(), settings: told, config, experiment, past })
}

/// The experiments by preparation; each is created once.
struct Experiments<'a> {
    load: &'a LoadSource,
    options: &'a RunOptions,
    known: Vec<(Past, Arc<Experiment>)>,
}

impl Experiments<'_> {
    fn of(&mut self, past: &Past) -> Result<Arc<Experiment>, Failure> {
        if let Some((_, known)) = self.known.iter().find(|(known, _)| known == past) {
            return Ok(known.clone());
        }
        let Past { image, precondition } = past.clone();
        let options = RunOptions { image, precondition, ..self.options.clone() };
        let experiment = Arc::new(Experiment::new(self.load.clone(), &options)?);
        self.known.push((past.clone(), experiment.clone()));
        Ok(experiment)
    }
}

/// Refuses settings that others would silently override.
fn refuse_overridden(
    spec: &VariantsSpec,
    options: &RunOptions,
    factors: &[Vec<Choice>],
) -> Result<(), Failure> {
    let key = |text: &str| text.split_once('=').unwrap_or((text, "")).0.trim().to_owned();
    let mut given: Vec<(String, String)> = Vec::new();
    let past = [(IMAGE, options.image.is_some()), (PRECONDITION, options.precondition.is_some())];
    let past = past.into_iter().filter(|(_, is_given)| *is_given);
    given.extend(past.map(|(name, _)| (name.to_owned(), format!("`{name}`"))));
    given.extend(spec.sets.iter().map(|one| (key(&one.text), format!("`set` {}", one.text))));
    for text in &spec.vary {
        let (varied, written) = (key(text), format!("`vary` {text}"));
        if let Some((_, other)) = given.iter().find(|(known, _)| overlap(known, &varied)) {
            return Err(twice(&varied, other, &written));
        }
        given.push((varied, written));
    }
    given.retain(|(_, written)| written.starts_with("`vary` "));
    let is_image = |choice: &Choice| choice.image.is_some();
    if factors[0].iter().any(is_image) {
        given.push((IMAGE.to_owned(), "an image as a device".to_owned()));
        if options.image.is_some() {
            return Err(twice(IMAGE, "`image`", "an image as a device"));
        }
    }
    let settings = |choice: &Choice| choice.settings();
    for choice in factors.iter().skip(1 + spec.vary.len()).flatten() {
        for set in settings(choice) {
            if let Some((_, other)) = given.iter().find(|(known, _)| overlap(known, &key(&set))) {
                return Err(twice(&key(&set), other, &format!("`variant` {}", choice.name)));
            }
        }
    }
    Ok(())
}

fn twice(key: &str, one: &str, other: &str) -> Failure {
    Failure::usage(format!(
        "{key} is given twice, by {one} and by {other}, so one would have no effect\n  remedy: leave one out"
    ))
}

/// Whether two keys are the same option, or one is a section that contains the other.
fn overlap(one: &str, other: &str) -> bool {
    let holds = |outer: &str, inner: &str| {
        inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    holds(one, other) || holds(other, one)
}

fn devices(names: &[String]) -> Vec<Choice> {
    if names.is_empty() {
        return vec![Choice { name: IMAGE.to_owned(), ..Choice::default() }];
    }
    let short: BTreeSet<String> = names.iter().map(|name| short_name(name)).collect();
    let clear = short.len() == names.len();
    let called = |name: &String| if clear { short_name(name) } else { name.clone() };
    let choice = |name: &String| {
        let is_image = presets::find(name).is_none() && image::is_one(Path::new(name));
        match is_image {
            true => {
                Choice { name: called(name), image: Some(Some(name.clone())), ..Choice::default() }
            }
            false => Choice { name: called(name), device: Some(name.clone()), ..Choice::default() },
        }
    };
    names.iter().map(choice).collect()
}

/// Parses `KEY=a,b,c`, the `number`th option that is varied. A policy's choice is named by its value alone;
/// other values need their key.
fn varied(number: usize, text: &str) -> Result<Vec<Choice>, Failure> {
    let wrong = |what: &str| {
        Failure::usage(format!(
            "`vary` {text}: {what}\n  remedy: write an option and its values, such as \
             ftl.gc.stop=3,5,9"
        ))
    };
    let (key, values) = text.split_once('=').ok_or_else(|| wrong("there is no equals sign"))?;
    let values = split(values);
    let different: BTreeSet<&str> = values.iter().copied().collect();
    if values.iter().any(|value| value.is_empty()) {
        return Err(wrong("a value is empty"));
    }
    if different.len() < values.len() {
        return Err(wrong("a value is given twice"));
    }
    let key = key.trim();
    let is_policy = is_policy(key);
    let set = |value: &str| {
        let text = format!("{key}={value}");
        let mut choice = Choice::default();
        choice.set(&format!("`vary` {number}"), &text);
        choice.name = match key {
            PRECONDITION if unquoted(value) == NONE => "no precondition".to_owned(),
            PRECONDITION => unquoted(value).to_owned(),
            IMAGE => short_name(unquoted(value)),
            _ if is_policy => value.to_owned(),
            _ => text,
        };
        choice
    };
    Ok(values.into_iter().map(set).collect())
}

/// Whether an option chooses a policy.
fn is_policy(key: &str) -> bool {
    matches!(explain(key), Ok(Topic::Option(option)) if option.seam.is_some())
}

/// Parses `NAME:key=value,key=value`.
fn named(text: &str) -> Result<Choice, Failure> {
    let (name, sets) = text.split_once(':').unwrap_or((text, ""));
    if name.trim().is_empty() || name.contains('=') {
        return Err(Failure::usage(format!(
            "`variant` {text}: it has no name\n  remedy: write a name, a colon and settings, such \
             as late:ftl.gc.start=4,ftl.gc.stop=5; without settings the device is unchanged"
        )));
    }
    let name = name.trim().to_owned();
    let mut choice = Choice { name, ..Choice::default() };
    let sets: Vec<&str> = split(sets).into_iter().filter(|set| !set.is_empty()).collect();
    for (at, set) in sets.iter().enumerate() {
        if !set.contains('=') {
            return Err(sets_nothing(&choice.name, &sets[..at], set, &sets[at + 1..]));
        }
        choice.set(&format!("`variant` {}", choice.name), set);
    }
    Ok(choice)
}

/// Returns the failure for a part of a variant without an equals sign, usually another value of a
/// list.
fn sets_nothing(name: &str, before: &[&str], part: &str, after: &[&str]) -> Failure {
    let remedy = match before.last().and_then(|set| set.split_once('=')) {
        Some((key, value)) => {
            let more = after.iter().take_while(|set| !set.contains('='));
            let values: Vec<&str> = [value, part].into_iter().chain(more.copied()).collect();
            let values = values.join(",");
            let written = match key {
                // The shell removes one pair of quotes.
                PRECONDITION => format!("'{name}:{key}=\"{values}\"'"),
                _ if is_policy(key) => {
                    format!("`vary` {key}={values}, because an option has only one policy")
                }
                _ => format!("{key}=[{values}]"),
            };
            format!("if it belongs to {key}, write {written}; else write an option before it")
        }
        None => "write an option and its value, such as ftl.gc.stop=5".to_owned(),
    };
    Failure::usage(format!("`variant` {name}: {part} sets nothing\n  remedy: {remedy}"))
}

/// Splits at commas outside of quotes and brackets.
fn split(text: &str) -> Vec<&str> {
    let (mut depth, mut quote, mut start, mut parts) = (0i32, None, 0, Vec::new());
    for (at, letter) in text.char_indices() {
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(letter),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth -= 1,
            (None, ',') if depth <= 0 => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            (None, _) => {}
        }
    }
    parts.push(text[start..].trim());
    parts
}

fn product(factors: &[Vec<Choice>]) -> Vec<Vec<Choice>> {
    factors.iter().fold(vec![Vec::new()], |all, factor| {
        let with = |before: &Vec<Choice>| -> Vec<Vec<Choice>> {
            let add = |choice: &Choice| before.iter().cloned().chain([choice.clone()]).collect();
            factor.iter().map(add).collect()
        };
        all.iter().flat_map(with).collect()
    })
}

fn check_names(variants: &[Variant]) -> Result<(), Failure> {
    let names: BTreeSet<&str> = variants.iter().map(|variant| variant.name.as_str()).collect();
    if variants.len() < 2 {
        return Err(Failure::usage(
            "there is only one variant: nothing to compare\n  remedy: name several devices, or vary \
             an option, such as `vary` scheduler.policy=fifo,read-first",
        ));
    }
    if names.len() < variants.len() {
        return Err(Failure::usage(
            "two variants have the same name\n  remedy: name each device and each `variant` once",
        ));
    }
    Ok(())
}

/// Returns pairs of variants that differ only in their names.
pub fn equal_ones(variants: &[Variant]) -> Vec<(&str, &str)> {
    let text = |variant: &Variant| {
        let text = variant.config.canonical();
        let name = format!("name = \"{}\"", variant.config.options.device.name);
        text.replacen(&name, "", 1)
    };
    // Devices in memory have states and policies of their own.
    let parts = |variant: &Variant| variant.experiment.preparation.parts();
    let texts: Vec<(String, &Past, Vec<String>)> =
        variants.iter().map(|variant| (text(variant), &variant.past, parts(variant))).collect();
    let mut found = Vec::new();
    for (at, variant) in variants.iter().enumerate() {
        if let Some(earlier) = texts[..at].iter().position(|text| *text == texts[at]) {
            found.push((variants[earlier].name.as_str(), variant.name.as_str()));
        }
    }
    found
}

/// Returns options that were set but have no effect in any variant.
pub fn unused(variants: &[Variant]) -> BTreeSet<&str> {
    let (mut set, mut used) = (BTreeSet::new(), BTreeSet::new());
    for Variant { settings, config, .. } in variants {
        for text in settings {
            let path = text.split_once('=').map_or(text.as_str(), |(path, _)| path).trim();
            set.insert(path);
            // Only options are checked: a key may also be the preparation or a section.
            let is_option = matches!(explain(path), Ok(Topic::Option(_)));
            used.extend((!is_option || config.origin(path).is_some()).then_some(path));
        }
    }
    &set - &used
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_within_quotes_and_brackets_do_not_part() {
        assert_eq!(split("a, b,c"), ["a", "b", "c"]);
        assert_eq!(
            split("[1,2],\"x,y\",'z,',{a=1,b=2}"),
            ["[1,2]", "\"x,y\"", "'z,'", "{a=1,b=2}"]
        );
        assert_eq!(split(""), [""]);
    }

    #[test]
    fn the_product_keeps_the_order_in_which_it_is_written() {
        let choice = |name: &&str| Choice { name: (*name).to_owned(), ..Choice::default() };
        let factor = |names: &[&str]| names.iter().map(choice).collect();
        let all = product(&[factor(&["a", "b"]), factor(&["1", "2"])]);
        let names = all.iter().map(|row| format!("{}{}", row[0].name, row[1].name));
        assert_eq!(names.collect::<Vec<_>>(), ["a1", "a2", "b1", "b2"]);
    }
}
