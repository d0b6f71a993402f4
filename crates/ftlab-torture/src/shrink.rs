//! Smaller devices and loads, to shrink a failing case.

use crate::draw::Settings;
use crate::load::{CaseLoad, Step};

/// Returns the settings without each one of them.
pub fn smaller_settings(settings: &Settings) -> Vec<Settings> {
    let without = |path: &&'static str| {
        let mut fewer = settings.clone();
        fewer.remove(path);
        fewer
    };
    settings.keys().map(without).collect()
}

/// Returns the load without half of the commands, a quarter, and so on; finally without each of a
/// few.
pub fn smaller_loads(load: &CaseLoad) -> Vec<CaseLoad> {
    let with = |steps: Vec<Step>| CaseLoad { steps, ..load.clone() };
    let mut all: Vec<_> = fewer(&load.steps).into_iter().map(with).collect();
    if load.fills {
        all.push(CaseLoad { fills: false, ..load.clone() });
    }
    if load.depth > 1 {
        all.push(CaseLoad { depth: 1, ..load.clone() });
    }
    all
}

/// Returns the list without half of it, a quarter, and so on; finally without each of a few.
pub fn fewer<T: Clone>(of: &[T]) -> Vec<Vec<T>> {
    let count = of.len();
    let mut all = Vec::new();
    let mut piece = count / 2;
    while piece > 0 && piece * 16 >= count.min(64) {
        for first in (0..count).step_by(piece) {
            let end = (first + piece).min(count);
            all.push([&of[..first], &of[end..]].concat());
        }
        piece /= 2;
    }
    all
}
