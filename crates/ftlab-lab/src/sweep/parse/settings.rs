//! Parses the settings of points: the keys of `[run]`, which the values of axes may also have.

use ftlab::config::catalog;
use ftlab::options::table::Plain;
use ftlab::options::value::ValueError;

use super::Parser;
use crate::experiment::NamedRun;
use crate::sweep::keys::PointKeys;
use crate::sweep::settings::PointSettings;
use crate::sweep::swept::Swept;

/// Returns the device, the load and the options of a run that a table sets, by name.
fn named(keys: &PointKeys) -> Vec<(&'static str, Plain)> {
    let words = [
        ("device", &keys.device),
        ("workload", &keys.workload),
        ("trace", &keys.trace),
        ("fio", &keys.fio),
        ("precondition", &keys.precondition),
        ("image", &keys.image),
        ("requests", &keys.requests),
        ("cut_power", &keys.cut_power),
        ("replay", &keys.replay),
        ("queue_depth", &keys.queue_depth),
        ("speed", &keys.speed),
        ("address", &keys.address),
    ];
    let words = words.into_iter().filter_map(|(name, plain)| Some((name, plain.clone()?)));
    let switches = [("all_phases", &keys.all_phases), ("accesses", &keys.accesses)];
    let switches = switches.into_iter();
    let switches = switches.filter_map(|(name, word)| Some((name, word.as_ref()?.0.clone())));
    let variables = keys.fio_var.iter().flat_map(|all| &all.0);
    let variables = variables.map(|plain| (NamedRun::VARIABLE, plain.clone()));
    words.chain(switches).chain(variables).collect()
}

impl Parser<'_> {
    /// Returns the settings of a table. Wrong ones are reported and left out.
    pub(super) fn settings(&mut self, keys: &PointKeys) -> PointSettings {
        let mut settings = PointSettings::default();
        let named = named(keys);
        let mut loads = named.iter().filter(|(name, _)| NamedRun::LOADS.contains(name));
        if let (Some((one, _)), Some((_, other))) = (loads.next(), loads.next()) {
            let message = format!("there is a {one} already");
            self.report_plain(other, &ValueError::new(message, "keep one of the loads"));
        }
        for (name, plain) in &named {
            self.set(&mut settings, name, plain);
        }
        for plain in keys.set.iter().flat_map(|all| &all.0) {
            let pair = plain.text.split_once('=').map(|(key, value)| (key.trim(), value.trim()));
            match pair.filter(|(key, _)| catalog().option(key).is_some()) {
                Some((key, value)) => {
                    let value = Plain { text: value.to_owned(), ..plain.clone() };
                    self.set(&mut settings, key, &value);
                }
                None => {
                    let message = "it sets no option of the device";
                    let remedy =
                        "write a path, an equals sign and a value, such as \"ftl.gc.start=4\"";
                    self.report_plain(plain, &ValueError::new(message, remedy));
                }
            }
        }
        settings
    }

    /// Sets an option to a text, or reports what is wrong with it. Returns whether it was set.
    pub(super) fn set(
        &mut self,
        settings: &mut PointSettings,
        option: &str,
        plain: &Plain,
    ) -> bool {
        let checked = Swept::named(option).and_then(|swept| match swept {
            // A value may be a list or a table in TOML; the whole configuration is checked later.
            Swept::Device(_) if plain.text.starts_with(['[', '{', '"', '\'']) => Ok(()),
            swept => swept.check(&plain.text),
        });
        let label = format!("{}, {}", self.file, plain.path);
        match checked {
            Ok(()) => settings.set(&label, option, &plain.text).is_ok(),
            Err(error) => {
                self.report_plain(plain, &error);
                false
            }
        }
    }

    fn report_plain(&mut self, plain: &Plain, error: &ValueError) {
        let (message, remedy) = (error.message.clone(), error.remedy.clone());
        self.document.report_span(&plain.path, plain.span.clone(), message, remedy);
    }
}
