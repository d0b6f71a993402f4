//! Parses the settings of runs: the keys of `[run]`, which axes and their values may also have.

use ftlab::options::table::Plain;

use super::Parser;
use crate::experiment::NamedRun;
use crate::reproduce::declaration::Settings;
use crate::reproduce::keys::RunKeys;

/// The placeholder for the name of a value.
const NAME: &str = "{}";

/// Returns the settings of a table.
pub(super) fn of(keys: RunKeys) -> Settings {
    let flags = [
        ("workload", keys.workload),
        ("trace", keys.trace),
        ("fio", keys.fio),
        ("precondition", keys.precondition),
        ("all_phases", keys.all_phases.map(|word| word.0)),
        ("requests", keys.requests),
        ("replay", keys.replay),
        ("queue_depth", keys.queue_depth),
        ("speed", keys.speed),
        ("address", keys.address),
    ];
    let flags = flags.into_iter().filter_map(|(key, given)| Some((key, given?)));
    let variables = keys.fio_var.into_iter().flat_map(|all| all.0);
    Settings {
        device: keys.device,
        set: keys.set.map_or_else(Vec::new, |all| all.0),
        load: flags.chain(variables.map(|variable| (NamedRun::VARIABLE, variable))).collect(),
    }
}

impl Parser {
    /// Checks that the settings of an axis differ between its values.
    pub(super) fn check_templates(&mut self, template: &Settings, values: usize) {
        for written in template.all() {
            if values > 1 && !written.text.contains(NAME) {
                let message = "it is the same for every value of the axis";
                let remedy = "write {} where the name of the value goes, or move it to [run]";
                self.document.report_span(&written.path, written.span.clone(), message, remedy);
            }
        }
    }
}

impl Settings {
    fn all(&self) -> impl Iterator<Item = &Plain> {
        let load = self.load.iter().map(|(_, written)| written);
        self.device.iter().chain(&self.set).chain(load)
    }

    /// Replaces the placeholder by the name of a value.
    pub fn filled(&self, name: &str) -> Settings {
        let fill =
            |written: &Plain| Plain { text: written.text.replace(NAME, name), ..written.clone() };
        Settings {
            device: self.device.as_ref().map(fill),
            set: self.set.iter().map(fill).collect(),
            load: self.load.iter().map(|(key, written)| (*key, fill(written))).collect(),
        }
    }

    /// Overrides these settings by later ones.
    pub fn with(mut self, later: Settings) -> Settings {
        self.device = later.device.or(self.device);
        self.set.extend(later.set);
        for (key, written) in later.load {
            let variable = |text: &Plain| text.text.split('=').next().map(str::to_owned);
            self.load.retain(|(known, there)| {
                *known != key
                    || (key == NamedRun::VARIABLE && variable(there) != variable(&written))
            });
            // A load replaces a load of another kind.
            if NamedRun::LOADS.contains(&key) {
                self.load.retain(|(known, _)| !NamedRun::LOADS.contains(known));
            }
            self.load.push((key, written));
        }
        self
    }
}
