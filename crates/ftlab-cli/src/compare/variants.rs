//! From the command line to the variants: devices, times the values of each `--vary`, times each
//! `--variant`.

use std::collections::BTreeSet;

use ftlab::config::{Config, Topic, explain};

use crate::args::CompareArgs;
use crate::device::{Setting, settings};
use crate::failure::Failure;
use crate::image::Taken;
use crate::load::short_name;
use crate::saved;

/// A device to be compared with others.
pub struct Variant {
    /// What it is called.
    pub name: String,
    /// What was set over the device.
    pub settings: Vec<String>,
    /// All of it.
    pub config: Config,
}

/// One way to go on from a variant.
#[derive(Clone)]
struct Choice {
    /// What is added to its name.
    name: String,
    /// The device, if this is the choice of one.
    device: Option<String>,
    /// What is set.
    sets: Vec<Setting>,
}

/// All variants, checked. Without a device it is that of the image.
pub fn all(args: &CompareArgs, image: Option<&Taken>) -> Result<Vec<Variant>, Failure> {
    let mut factors = vec![devices(&args.what)];
    let varied = args.vary.iter().enumerate().map(|(at, text)| varied(at + 1, text));
    factors.extend(varied.collect::<Result<Vec<_>, _>>()?);
    if !args.variants.is_empty() {
        let named = args.variants.iter().map(|text| named(text));
        factors.push(named.collect::<Result<Vec<_>, _>>()?);
    }
    let mut variants = Vec::new();
    for choices in product(&factors) {
        let device = choices[0].device.as_deref();
        let sets = choices.iter().flat_map(|choice| choice.sets.clone());
        let sets: Vec<Setting> = settings(&args.sets).into_iter().chain(sets).collect();
        let parts = choices.iter().zip(&factors).filter(|(_, factor)| factor.len() > 1);
        let parts: Vec<&str> = parts.map(|(choice, _)| choice.name.as_str()).collect();
        let name = if parts.is_empty() { choices[0].name.clone() } else { parts.join(", ") };
        let config = saved::config(device, &sets, image).map_err(|failure| match failure {
            Failure::Usage(text) => Failure::Usage(format!("{text}\n  in the variant {name}")),
            other => other,
        })?;
        let settings = sets.into_iter().map(|one| one.text).collect();
        variants.push(Variant { name, settings, config });
    }
    check_names(&variants)?;
    Ok(variants)
}

fn devices(names: &[String]) -> Vec<Choice> {
    if names.is_empty() {
        return vec![Choice { name: "image".to_owned(), device: None, sets: Vec::new() }];
    }
    let short: BTreeSet<String> = names.iter().map(|name| short_name(name)).collect();
    let clear = short.len() == names.len();
    let called = |name: &String| if clear { short_name(name) } else { name.clone() };
    let choice =
        |name: &String| Choice { name: called(name), device: Some(name.clone()), sets: Vec::new() };
    names.iter().map(choice).collect()
}

/// `KEY=a,b,c`, the `number`th of its kind. A policy is known by its name; any other value says little
/// without the option that has it.
fn varied(number: usize, text: &str) -> Result<Vec<Choice>, Failure> {
    let wrong = |what: &str| {
        Failure::usage(format!(
            "--vary {text}: {what}\n  remedy: write an option and its values, such as \
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
    let is_policy = matches!(explain(key), Ok(Topic::Option(option)) if option.seam.is_some());
    let set = |value: &str| {
        let text = format!("{key}={value}");
        let name = if is_policy { value.to_owned() } else { text.clone() };
        Choice {
            name,
            device: None,
            sets: vec![Setting { flag: format!("--vary {number}"), text }],
        }
    };
    Ok(values.into_iter().map(set).collect())
}

/// `NAME:key=value,key=value`.
fn named(text: &str) -> Result<Choice, Failure> {
    let (name, sets) = text.split_once(':').unwrap_or((text, ""));
    if name.trim().is_empty() || name.contains('=') {
        return Err(Failure::usage(format!(
            "--variant {text}: it has no name\n  remedy: write a name, a colon and what is set, such \
             as late:ftl.gc.start=4,ftl.gc.stop=5; without settings it is the device as it is"
        )));
    }
    let name = name.trim().to_owned();
    let flag = format!("--variant {name}");
    let sets = split(sets).into_iter().filter(|set| !set.is_empty());
    let sets = sets.map(|set| Setting { flag: flag.clone(), text: set.to_owned() }).collect();
    Ok(Choice { name, device: None, sets })
}

/// Parts between commas that stand in no quotes and no brackets.
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
             an option, such as --vary scheduler.policy=fifo,read-first",
        ));
    }
    if names.len() < variants.len() {
        return Err(Failure::usage(
            "two variants have the same name\n  remedy: name each device and each --variant once",
        ));
    }
    Ok(())
}

/// Pairs of variants that are the same but for their names.
pub fn equal_ones(variants: &[Variant]) -> Vec<(&str, &str)> {
    let text = |variant: &Variant| {
        let text = variant.config.canonical();
        let name = format!("name = \"{}\"", variant.config.options.device.name);
        text.replacen(&name, "", 1)
    };
    let texts: Vec<String> = variants.iter().map(text).collect();
    let mut found = Vec::new();
    for (at, variant) in variants.iter().enumerate() {
        if let Some(earlier) = texts[..at].iter().position(|text| *text == texts[at]) {
            found.push((variants[earlier].name.as_str(), variant.name.as_str()));
        }
    }
    found
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
    fn the_product_keeps_the_order_of_the_command_line() {
        let choice =
            |name: &&str| Choice { name: (*name).to_owned(), device: None, sets: Vec::new() };
        let factor = |names: &[&str]| names.iter().map(choice).collect();
        let all = product(&[factor(&["a", "b"]), factor(&["1", "2"])]);
        let names = all.iter().map(|row| format!("{}{}", row[0].name, row[1].name));
        assert_eq!(names.collect::<Vec<_>>(), ["a1", "a2", "b1", "b2"]);
    }
}
