//! What runs are made of: the keys of `[run]`, which axes and their values may give as well.

use super::Parser;
use crate::reproduce::declaration::{Settings, Written, is_load};
use crate::reproduce::keys::{KEYS, Section};
use crate::reproduce::reader::{Fields, plain};

/// What stands for the name of a value.
const NAME: &str = "{}";
/// The key of which several may be given, for different variables.
const VARIABLES: &str = "fio_var";

impl Parser<'_> {
    /// The keys of `[run]` in a table.
    pub(super) fn settings(&mut self, fields: &Fields<'_, '_>) -> Settings {
        let mut settings = Settings::default();
        for key in KEYS.iter().filter(|key| key.section == Section::Run).map(|key| key.name) {
            if !fields.has(key) {
                continue;
            }
            let written =
                |text| Written { text, path: fields.path_of(key), span: fields.span_of(key) };
            match key {
                "set" => settings.set = self.texts(fields, key),
                VARIABLES => {
                    let texts = self.texts(fields, key).into_iter();
                    settings.load.extend(texts.map(|written| (key, written)));
                }
                "device" => settings.device = self.reader.text(fields, key).map(written),
                _ => {
                    let text = self.reader.plain(fields, key);
                    settings.load.extend(text.map(|text| (key, written(text))));
                }
            }
        }
        settings
    }

    fn texts(&mut self, fields: &Fields<'_, '_>, key: &str) -> Vec<Written> {
        let mut texts = Vec::new();
        for (at, entry) in self.reader.list(fields, key).iter().enumerate() {
            let path = format!("{}[{}]", fields.path_of(key), at + 1);
            match plain(entry) {
                Some(text) => texts.push(Written { text, path, span: entry.span() }),
                None => self.reader.mismatch(fields, key, entry),
            }
        }
        texts
    }

    /// What an axis sets must differ from value to value.
    pub(super) fn check_templates(&mut self, template: &Settings, values: usize) {
        for written in template.all() {
            if values > 1 && !written.text.contains(NAME) {
                let message = "every value of the axis sets the same";
                let remedy = "write {} where the name of the value goes, or move it to [run]";
                self.reader.report(written.span.clone(), &written.path, message, remedy);
            }
        }
    }
}

impl Settings {
    fn all(&self) -> impl Iterator<Item = &Written> {
        let load = self.load.iter().map(|(_, written)| written);
        self.device.iter().chain(&self.set).chain(load)
    }

    /// With the name of a value in its places.
    pub fn filled(&self, name: &str) -> Settings {
        let fill = |written: &Written| Written {
            text: written.text.replace(NAME, name),
            ..written.clone()
        };
        Settings {
            device: self.device.as_ref().map(fill),
            set: self.set.iter().map(fill).collect(),
            load: self.load.iter().map(|(key, written)| (*key, fill(written))).collect(),
        }
    }

    /// These, and what is said later.
    pub fn with(mut self, later: Settings) -> Settings {
        self.device = later.device.or(self.device);
        self.set.extend(later.set);
        for (key, written) in later.load {
            let variable = |text: &Written| text.text.split('=').next().map(str::to_owned);
            self.load.retain(|(known, there)| {
                *known != key || (key == VARIABLES && variable(there) != variable(&written))
            });
            // A load of one kind takes the place of another.
            if is_load(key) {
                self.load.retain(|(known, _)| !is_load(known));
            }
            self.load.push((key, written));
        }
        self
    }
}
