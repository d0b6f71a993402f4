//! From the command line to the variants: devices, times the values of each `--vary`, times each
//! `--variant`.

use std::collections::BTreeSet;

use ftlab::config::Config;

use crate::args::CompareArgs;
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

/// One way to go on from a variant: what is added to its name, and what is set.
type Choice = (String, Vec<String>);

/// All variants, checked. Without a device it is that of the image.
pub fn all(args: &CompareArgs, image: Option<&Taken>) -> Result<Vec<Variant>, Failure> {
    let mut factors = vec![devices(&args.what)];
    factors.extend(args.vary.iter().map(|text| varied(text)).collect::<Result<Vec<_>, _>>()?);
    if !args.variants.is_empty() {
        let named = args.variants.iter().map(|text| named(text));
        factors.push(named.collect::<Result<Vec<_>, _>>()?);
    }
    let mut variants = Vec::new();
    // The first choice holds the device in place of a setting.
    for choices in product(&factors) {
        let device = choices[0].1.first().map(String::as_str);
        let settings = choices[1..].iter().flat_map(|choice| choice.1.clone());
        let settings: Vec<String> = args.sets.iter().cloned().chain(settings).collect();
        let parts = choices.iter().zip(&factors).filter(|(_, factor)| factor.len() > 1);
        let parts: Vec<&str> = parts.map(|(choice, _)| choice.0.as_str()).collect();
        let name = if parts.is_empty() { choices[0].0.clone() } else { parts.join(", ") };
        let config = saved::config(device, &settings, image).map_err(|failure| match failure {
            Failure::Usage(text) => Failure::Usage(format!("{text}\n  in the variant {name}")),
            other => other,
        })?;
        variants.push(Variant { name, settings, config });
    }
    check_names(&variants)?;
    Ok(variants)
}

fn devices(names: &[String]) -> Vec<Choice> {
    if names.is_empty() {
        return vec![("image".to_owned(), Vec::new())];
    }
    let short: BTreeSet<String> = names.iter().map(|name| short_name(name)).collect();
    let clear = short.len() == names.len();
    let called = |name: &String| if clear { short_name(name) } else { name.clone() };
    names.iter().map(|name| (called(name), vec![name.clone()])).collect()
}

/// `KEY=a,b,c`.
fn varied(text: &str) -> Result<Vec<Choice>, Failure> {
    let wrong = |what: &str| {
        Failure::usage(format!(
            "--vary {text}: {what}\n  remedy: write an option and its values, such as \
             ftl.gc.start=2,4,8"
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
    let set = |value: &str| (value.to_owned(), vec![format!("{key}={value}")]);
    Ok(values.into_iter().map(set).collect())
}

/// `NAME:key=value,key=value`.
fn named(text: &str) -> Result<Choice, Failure> {
    let (name, sets) = text.split_once(':').unwrap_or((text, ""));
    if name.trim().is_empty() || name.contains('=') {
        return Err(Failure::usage(format!(
            "--variant {text}: it has no name\n  remedy: write a name, a colon and what is set, such \
             as late:ftl.gc.start=2,ftl.gc.stop=3; without settings it is the device as it is"
        )));
    }
    let sets = split(sets).into_iter().filter(|set| !set.is_empty()).map(str::to_owned);
    Ok((name.trim().to_owned(), sets.collect()))
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
        let factor =
            |names: &[&str]| names.iter().map(|name| (name.to_string(), Vec::new())).collect();
        let all = product(&[factor(&["a", "b"]), factor(&["1", "2"])]);
        let names = all.iter().map(|row| format!("{}{}", row[0].0, row[1].0));
        assert_eq!(names.collect::<Vec<_>>(), ["a1", "a2", "b1", "b2"]);
    }
}
