//! Texts of the library in the words of the page, which has knobs where the program has options, and not all of them.

use std::cell::Cell;

use ftlab_lab::failure::with_options_called;

/// Options that are knobs, and what they are called.
const KNOBS: [(&str, &str); 8] = [
    ("cut_power", "\"cut power every\""),
    ("device", "\"device\""),
    ("queue_depth", "\"queue depth\""),
    ("requests", "\"requests\""),
    ("seed", "\"seed\""),
    ("set", "\"More options\":"),
    ("trace", "\"or a trace\""),
    ("workload", "\"workload\""),
];
/// Where options are written: in knobs and in the box below them, and in the box of the second drive.
pub const OPTIONS: &str = "a knob, or \"More options\"";
pub const BESIDE: &str = "\"A second drive beside it\"";
/// What to do about an option that the page lacks.
const LACKS: &str = "\n  in this page: options with -- are those of the program. Run it, or convert a trace there \
                     (`ftlab trace convert`, with these options) and choose the file that it writes";

/// Writes the options in a text as the page calls them, and says what to do about those that it lacks.
pub fn told(text: &str) -> String {
    let (lacks, noted) = in_words(text);
    if lacks { noted + LACKS } else { noted }
}

/// As [`told`], for notes of a run that went well.
pub fn noted(text: &str) -> String {
    in_words(text).1
}

/// Also says whether the page lacks an option.
fn in_words(text: &str) -> (bool, String) {
    let lacks = Cell::new(false);
    let told = with_options_called(text, |name| {
        let knob = KNOBS.iter().find(|(option, _)| *option == name);
        knob.map_or_else(
            || {
                lacks.set(true);
                format!("--{}", name.replace('_', "-"))
            },
            |(_, knob)| (*knob).to_owned(),
        )
    });
    (lacks.get(), told)
}
