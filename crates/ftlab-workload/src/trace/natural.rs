//! The order of names with numbers in them: `trace.2` before `trace.10`.

/// A part of a name: a number, or anything else.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NamePart<'a> {
    Number(u128),
    Text(&'a str),
}

/// The parts of a name, to be compared in order. Numbers beyond 38 digits are text.
pub(crate) fn natural(name: &str) -> Vec<NamePart<'_>> {
    let mut parts = Vec::new();
    let mut rest = name;
    while let Some(first) = rest.bytes().next() {
        let is_number = first.is_ascii_digit();
        let end = rest.bytes().position(|byte| byte.is_ascii_digit() != is_number);
        let (part, after) = rest.split_at(end.unwrap_or(rest.len()));
        parts.push(match part.parse() {
            Ok(number) if is_number => NamePart::Number(number),
            _ => NamePart::Text(part),
        });
        rest = after;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_count_as_numbers() {
        let mut names = ["sda.10", "sda.9", "sda.1", "hm_0.csv", "hm_0", "2020", "a"];
        names.sort_by(|one, other| natural(one).cmp(&natural(other)));
        assert_eq!(names, ["2020", "a", "hm_0", "hm_0.csv", "sda.1", "sda.9", "sda.10"]);
    }
}
