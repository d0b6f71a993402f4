//! Texts in messages, and the search for similar names.

/// The most characters of a text that a message shows. A longer word is not a typo of a known name,
/// and a longer number is not a number.
pub(super) const LONGEST: usize = 60;

/// `text` as a TOML string.
#[must_use]
pub fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// `text` for a message: its beginning, on one line.
#[must_use]
pub fn clip(text: &str) -> String {
    let mut shown: String = text.chars().take(LONGEST).map(printable).collect();
    if is_long(text) {
        shown.push('…');
    }
    shown
}

/// `text` in quotes for a message: its beginning, on one line.
#[must_use]
pub fn shown(text: &str) -> String {
    quoted(&clip(text))
}

/// A number for a message. A very large or very small number is printed as a power of ten.
#[must_use]
pub fn legible(number: f64) -> String {
    const PLAIN: std::ops::Range<f64> = 1e-6..1e15;
    match number == 0.0 || PLAIN.contains(&number.abs()) {
        true => number.to_string(),
        false => format!("{number:e}"),
    }
}

/// Whether messages show only the beginning of `text`.
pub(super) fn is_long(text: &str) -> bool {
    text.chars().nth(LONGEST).is_some()
}

/// The character, or a blank if it would control the terminal.
pub(super) fn printable(character: char) -> char {
    if character.is_control() { ' ' } else { character }
}

/// The name most similar to `wanted`, if any is similar enough.
pub fn nearest<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // This catches a typo or two, a missing part and a doubled letter, but not chance.
    const ALIKE: f64 = 0.6;
    if is_long(wanted) {
        return None;
    }
    let lower = wanted.to_lowercase();
    known
        .into_iter()
        .map(|name| {
            let edits = strsim::normalized_damerau_levenshtein(&lower, &name.to_lowercase());
            let start = strsim::jaro_winkler(&lower, &name.to_lowercase());
            (if start > 0.9 { edits.max(start) } else { edits }, name)
        })
        .filter(|(alike, _)| *alike >= ALIKE)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_long_as_people_read_them() {
        let told = [0.0, 0.99, 12.5, -3.0, 123_456_789.0, 1e308, -1e308, 5e-324].map(legible);
        let expected = ["0", "0.99", "12.5", "-3", "123456789", "1e308", "-1e308", "5e-324"];
        assert_eq!(told, expected);
    }
}
