//! What an axis can set, and which values it takes: an option of the device, or one of a run.

use ftlab::config::{Topic, explain};
use ftlab::options::OptionInfo;
use ftlab::options::text::nearest;
use ftlab::options::value::{ValueError, ValueKind, unknown_choice};

use super::numbers::NumberKind;
use super::settings::{PointSettings, names};

/// Something that an axis sets.
#[derive(Clone, Copy, Debug)]
pub enum Swept {
    /// An option of the device.
    Device(&'static OptionInfo),
    /// The device, the load or an option of a run, by its name.
    Run(&'static str),
}

/// The kinds of those options of a run that take numbers.
const NUMBERS: [(&str, NumberKind); 4] = [
    ("requests", NumberKind::Of(ValueKind::Count)),
    ("queue_depth", NumberKind::Of(ValueKind::Count)),
    ("cut_power", NumberKind::Of(ValueKind::Time)),
    ("speed", NumberKind::Factor),
];

impl Swept {
    /// Finds an option by its path or name.
    ///
    /// # Errors
    /// There is none.
    pub fn named(option: &str) -> Result<Swept, ValueError> {
        if let Some(name) = names().find(|name| *name == option) {
            return Ok(Swept::Run(name));
        }
        let known: Vec<&str> = names().collect();
        let list = known.join(", ");
        match explain(option) {
            Ok(Topic::Option(info)) => Ok(Swept::Device(info)),
            Ok(Topic::Section(..)) => Err(ValueError::new(
                format!("{option} is a section, not an option"),
                "write one of its options; ftlab list options lists them",
            )),
            Ok(Topic::Policies(_)) => Err(ValueError::new(
                format!("{option} is a policy, not an option"),
                "write the option that names it, and list policies in `values`",
            )),
            Err(unknown) => {
                let remedy = match nearest(option, known) {
                    Some(near) => format!("did you mean {near}?"),
                    None => format!("{}; or write one of {list}", unknown.remedy),
                };
                Err(ValueError::new("there is no such option", remedy))
            }
        }
    }

    /// Returns the kind of its numbers, if it takes numbers.
    pub fn numbers(self) -> Option<NumberKind> {
        match self {
            Swept::Device(info) => NumberKind::of(info.kind),
            Swept::Run(name) => NUMBERS.iter().find(|(known, _)| *known == name).map(|one| one.1),
        }
    }

    /// Returns what its counts count; empty for other values.
    pub fn counted(self) -> &'static str {
        match self {
            Swept::Device(info) => info.unit,
            Swept::Run("requests") => "requests",
            Swept::Run(_) => "",
        }
    }

    /// Checks a value, as far as it can be checked without the other options.
    ///
    /// # Errors
    /// It is not such a value.
    pub fn check(self, text: &str) -> Result<(), ValueError> {
        match self {
            Swept::Run(name) => PointSettings::default()
                .set("", name, text)
                .map_err(|message| ValueError::new(message, "write it as for a single run")),
            Swept::Device(info) if info.kind == ValueKind::Choice => {
                let is_known = info.choices.iter().any(|choice| choice.name == text);
                if is_known { Ok(()) } else { Err(unknown_choice(text, &info.choices)) }
            }
            Swept::Device(info) => check_number(info, text),
        }
    }
}

fn check_number(info: &OptionInfo, text: &str) -> Result<(), ValueError> {
    // A limit may also be the word for none.
    let is_word = info.default == Some(text) || !text.starts_with(|c: char| c.is_ascii_digit());
    let Some(kind) = NumberKind::of(info.kind).filter(|_| !is_word) else { return Ok(()) };
    let number = kind.smallest(text)?;
    let end = |text: &str| kind.smallest(text).ok();
    match info.range.map(|(low, high)| (end(low), end(high), low, high)) {
        Some((Some(least), Some(most), low, high)) if !(least..=most).contains(&number) => {
            let remedy = format!("write {low} to {}", info.with_unit(high));
            Err(ValueError::new(format!("{text} is out of range"), remedy))
        }
        _ => Ok(()),
    }
}
